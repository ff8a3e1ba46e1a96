/*-------------------------------------------------------------------------
 *
 * aggregates.h
 *	  SQL's aggregates: which can be computed, and of what; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_AGGREGATES_H
#define GC_PLAN_AGGREGATES_H

#include "translate.h"

/* The argument of an aggregate, NULL where its FILTER is not true; GC_NO_EXPR without one. */
extern int	gc_agg_argument(GcTranslation *tr, Aggref *agg);

/* What is against an aggregate, whatever its arguments; NULL if nothing is. */
extern const char *gc_aggregate_refusal(const Aggref *agg, const char *name);

/* Do this numeric expression's values differ in display scale from row to row? */
extern bool gc_scale_varies(GcTranslation *tr, int e);

#endif							/* GC_PLAN_AGGREGATES_H */
