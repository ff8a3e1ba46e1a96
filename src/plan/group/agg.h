/*-------------------------------------------------------------------------
 *
 * agg.h
 *	  Group keys, aggregates and plain outputs; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_AGG_H
#define GC_AGG_H

#include "../base/translate.h"

/* Has the query aggregates, or grouping, that are never offloaded? */
extern bool gc_aggregates_refused(PlannerInfo *root);

/*
 * Have what the level's groups are made of, if that is not its rows.  It is finer groups, for grouping sets and for
 * aggregates that take each value once.  With sets, their number is the level's first key.  False, with a reason, if
 * that cannot be.
 */
extern bool gc_open_finer_groups(GcTranslation *tr, List *group_exprs);

/* The sink of the main pipeline; false, with tr->reason, if it cannot be. */
extern bool gc_translate_aggregate(GcTranslation *tr, PathTarget *target, List *having);
extern bool gc_translate_distinct(GcTranslation *tr, PathTarget *target);
extern bool gc_translate_rows(GcTranslation *tr, List *exprs);

/* Translate the parts of expressions above windows: window functions, aggregates, grouping columns, columns. */
extern bool gc_translate_parts(GcTranslation *tr, List *exprs);

#endif							/* GC_AGG_H */
