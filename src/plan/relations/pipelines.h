/*-------------------------------------------------------------------------
 *
 * pipelines.h
 *	  From the tree of leaves to the steps of pipelines, and their order (steps.c); private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PIPELINES_H
#define GC_PIPELINES_H

#include "../base/translate.h"

/* Pipelines of all leaves of the tree; false, with tr->reason, if one cannot be. */
extern bool gc_translate_steps(GcTranslation *tr);

/*
 * Make the subquery that a leaf stands for a part of the program: the leaf's pipeline scans its
 * groups.  False, and the translation is as it was, if that cannot be.
 */
extern bool gc_subquery_embed(GcTranslation *tr, GcLeaf *leaf);

/*
 * Make the UNION ALL that a leaf stands for a part of the program: each SELECT has pipelines of its
 * own, which end in the leaf's sink.  False, and the translation is as it was, if that cannot be;
 * leaf->refusal says why.
 */
extern bool gc_union_embed(GcTranslation *tr, GcLeaf *leaf);

/*
 * Is one of a level's conditions false?  Conditions that PostgreSQL moved here from HAVING were not simplified with
 * the others.
 */
extern bool gc_is_false(const Query *query);

/*
 * Have the rows of the node's own level kept, with its window functions over them.  The level's results are
 * translated for a pipeline that scans them.  conditions: on these, which the rows meet.  False, with a reason, if
 * that cannot be.
 */
extern bool gc_windows_stream(GcTranslation *tr, List *conditions);

/* One step of a pipeline before it is translated: a probe, or filters on one set of columns. */
typedef struct GcStepPlan
{
	List	   *filters;		/* RestrictInfo, on the same columns ... */
	List	   *vars;			/* ... namely these; or: */
	GcLeaf	   *probe;
	double		share;			/* of the rows that pass */
	double		bytes;			/* cost per row */
} GcStepPlan;

/*
 * Share of rows that pass clauses, together, since two on one column are often a range;
 * and of those that pass a leaf's filters.
 */
extern double gc_clauses_share(GcTranslation *tr, List *clauses);
extern double gc_filters_share(GcTranslation *tr, GcLeaf *leaf);

/* Filters and probes of one pipeline, as they are to be tested: GcStepPlan. */
extern List *gc_order_steps(GcTranslation *tr, GcLeaf *leaf);

#endif							/* GC_PIPELINES_H */
