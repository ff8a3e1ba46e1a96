/*-------------------------------------------------------------------------
 *
 * steps.h
 *	  In which order a pipeline filters and probes; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_STEPS_H
#define GC_STEPS_H

#include "../base/translate.h"

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

#endif							/* GC_STEPS_H */
