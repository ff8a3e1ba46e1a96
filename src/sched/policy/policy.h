/*-------------------------------------------------------------------------
 *
 * policy.h
 *	  The work space of one decision, and the policies that need it; private to policy/, its tests and benchmarks.
 *
 * Pure functions; the caller of gc_decide owns the work space (sched.h), for one decision at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_POLICY_H
#define GC_POLICY_H

#include "../model/batch_model.h"
#include "../model/kernel_model.h"
#include "sched.h"

struct GcDecideWork
{
	GcKernelWork kernel;
	GcKernelItem kitem[GC_KERNEL_MAX];
	GcKernelChoice choice[GC_KERNEL_MAX];
	GcKernelChoice trial[GC_KERNEL_MAX];
	GcBatchWork batch;
	GcBatchPlan plan;
	GcItemType	type[GC_BATCH_MAX_TYPES];
};

extern void gc_decide_twostage(const GcSchedule *s, GcDecideWork *work, GcDecision *d);

#endif							/* GC_POLICY_H */
