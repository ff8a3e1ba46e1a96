/*-------------------------------------------------------------------------
 *
 * policy.h
 *	  What the policies share; private to policy.c and twostage.c, their tests and benchmarks.
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
 * Fewest warps per multiprocessor that a kernel is given beside others.  Measured on an
 * H200 (design.md, section 1): eight co-resident scans are fastest with 4 warps each.
 */
#define GC_LEAST_WARPS	4

/* Add a launch of item i alone by its own kernel, as if it had the device to itself. */
extern void gc_start_alone(const GcSchedule *s, int i, GcDecision *d);

/*
 * Start the items pick[0 .. n - 1] in sizes that are fair beside what is active, resident
 * or not: blocks for which there is no room yet wait in the hardware's queue.
 */
extern void gc_start_fair(const GcSchedule *s, const int *pick, int n, GcDecision *d);

/*
 * Start the items pick[0 .. n - 1] so that they are resident together, in the sizes with which
 * they are done soonest (coresident.h), if that is predicted to take less time than one behind
 * the other, line_us, and, unless residents are forced, less than other_us (HUGE_VAL: nothing else is
 * known).  False: it is not, or they do not fit.
 */
extern bool gc_start_resident(const GcSchedule *s, const int *pick, int n, double line_us, double other_us,
							  GcDecideWork *work, GcDecision *d);

/* Add a launch of item i by its own kernel. */
extern void gc_add_start(GcDecision *d, int i, GcShape shape, double predicted_us);

/* Item i with so many warps wanted per multiprocessor, as an item of the kernel model. */
extern void gc_describe_item(const GcSchedule *s, int i, int warps, GcKernelItem *k);

/*
 * Start the picked items as they are placed, in the order in which they will be side by side
 * (launch_order.h).  predicted_us: of all of them; 0: of each beside the others.  Returns the first of
 * their n starts.
 */
extern GcStart *gc_start_placed(const GcSchedule *s, const int *pick, int n, const GcKernelChoice *choice,
								double predicted_us, GcDecision *d);

/* Warps that a kernel has per multiprocessor when alone. */
extern int	gc_full_warps(const GcSchedule *s, const GcOption *o);

/* The least that item i can be given, as an item of the kernel model. */
extern void gc_least_share(const GcSchedule *s, int i, GcKernelItem *k);

/*
 * Steps of the kernel model (kernel_model.h) that one decision may take, so that it is done in
 * 100 microseconds; the rest of it takes some microseconds.  With 1,500 a few sets that are
 * hard start fewer kernels than they could; 4,000 gain nothing that matters.
 */
#define GC_DECIDE_STEPS	3000

/* Policy twostage, which asks the batch model too, leaves the kernel model so many. */
#define GC_RESIDENT_STEPS	1500

/* Policy kernel, within so many steps; work->steps: those left.  For tests and benchmarks. */
extern void gc_decide_kernel(const GcSchedule *s, int64_t steps, GcDecideWork *work, GcDecision *d);

extern void gc_decide_twostage(const GcSchedule *s, GcDecideWork *work, GcDecision *d);

#endif							/* GC_POLICY_H */
