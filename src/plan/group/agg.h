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

#include "../base/translate.h"

/* Has the query aggregates, or grouping, that are never offloaded? */
extern bool gc_aggregates_refused(PlannerInfo *root);

/* The sink of the main pipeline; false, with tr->reason, if it cannot be. */
extern bool gc_translate_aggregate(GcTranslation *tr, PathTarget *target, List *having);
extern bool gc_translate_distinct(GcTranslation *tr, PathTarget *target);
extern bool gc_translate_rows(GcTranslation *tr, PathTarget *target);

#endif							/* GC_AGG_H */
