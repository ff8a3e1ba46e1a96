/*-------------------------------------------------------------------------
 *
 * work.h
 *	  The work space of one decision; private to policy/, its tests and benchmarks.
 *
 * The caller of gc_decide owns it (sched.h); one decision at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DECIDE_WORK_H
#define GC_DECIDE_WORK_H

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

#endif							/* GC_DECIDE_WORK_H */
