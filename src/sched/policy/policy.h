/*-------------------------------------------------------------------------
 *
 * policy.h
 *	  The policies beside twostage (twostage.h); for tests and benchmarks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_POLICY_H
#define GC_POLICY_H

#include "work.h"

/*
 * Steps of the kernel model (kernel_model.h) that one decision may take, so that it is done in
 * 100 microseconds; the rest of it takes some microseconds.  With 1,500 a few sets that are
 * hard start fewer kernels than they could; 4,000 gain nothing that matters.
 */
#define GC_DECIDE_STEPS	3000

/* Policy kernel, within so many steps; work->steps: those left.  For tests and benchmarks. */
extern void gc_decide_kernel(const GcSchedule *s, int64_t steps, GcDecideWork *work, GcDecision *d);

#endif							/* GC_POLICY_H */
