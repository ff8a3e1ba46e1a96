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
	int64_t		steps;			/* left to the kernel model in this decision */
	GcBatchWork batch;
	GcBatchPlan plan;
	GcItemType	type[GC_BATCH_MAX_TYPES];
};

/*
 * Steps of the kernel model (kernel_model.h) that one decision may take, so that the model is done
 * in 100 microseconds.  The rest of a decision takes a few.  With 1,500 steps, a few hard sets
 * start fewer kernels than they could; 4,000 steps gain nothing that matters.
 */
#define GC_DECIDE_STEPS	3000

/* Policy kernel within a number of steps; work->steps: the steps left.  For tests and benchmarks. */
extern void gc_decide_kernel(const GcSchedule *s, int64_t steps, GcDecideWork *work, GcDecision *d);

extern void gc_decide_twostage(const GcSchedule *s, GcDecideWork *work, GcDecision *d);

#endif							/* GC_POLICY_H */
