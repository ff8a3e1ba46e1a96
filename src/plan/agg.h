/*-------------------------------------------------------------------------
 *
 * agg.h
 *	  Group keys, aggregates and plain outputs; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_AGG_H
#define GC_AGG_H

#include "translate.h"

/* Has the query aggregates, or grouping, that are never offloaded? */
extern bool gc_aggregates_refused(PlannerInfo *root);

/* The sink of the main pipeline; false, with tr->reason, if it cannot be. */
extern bool gc_translate_aggregate(GcTranslation *tr, PathTarget *target, List *having);
extern bool gc_translate_rows(GcTranslation *tr, PathTarget *target);

/* The argument of an aggregate, NULL where its FILTER is not true; GC_NO_EXPR without one. */
extern int	gc_agg_argument(GcTranslation *tr, Aggref *agg);

/* What is against an aggregate, whatever its arguments; NULL if nothing is. */
extern const char *gc_aggregate_refusal(const Aggref *agg, const char *name);

/* Do this numeric expression's values differ in display scale from row to row? */
extern bool gc_scale_varies(GcTranslation *tr, int e);

#endif							/* GC_AGG_H */
