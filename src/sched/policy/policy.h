/*-------------------------------------------------------------------------
 *
 * policy.h
 *	  The policies other than twostage (twostage.h); for tests and benchmarks.
 *
 * Pure functions; the work space is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_POLICY_H
#define GC_POLICY_H

#include "work.h"

/*
 * Steps of the kernel model (kernel_model.h) that one decision may take, so that the model is done
 * in 100 microseconds.  The rest of a decision takes a few.  With 1,500 steps, a few hard sets
 * start fewer kernels than they could; 4,000 steps gain nothing that matters.
 */
#define GC_DECIDE_STEPS	3000

/* Policy kernel within a number of steps; work->steps: the steps left.  For tests and benchmarks. */
extern void gc_decide_kernel(const GcSchedule *s, int64_t steps, GcDecideWork *work, GcDecision *d);

#endif							/* GC_POLICY_H */
