/*-------------------------------------------------------------------------
 *
 * hot_plan.h
 *	  Which hot pages a load reads, and which hot chunks it merges.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_HOT_PLAN_H
#define GC_HOT_PLAN_H

#include "../serve/visibility.h"
#include "job.h"

/*
 * Decide on the hot chunks after a load: `delta` is what chunks of plan->base do not serve,
 * plan->work what is to be done about the chunks of the heap.  Counts what is to be done in plan.
 * Needs a guard.
 */
extern void gc_plan_hot(GcProof *proof, GcLoadPlan *plan, const GcServed *delta);

#endif							/* GC_HOT_PLAN_H */
