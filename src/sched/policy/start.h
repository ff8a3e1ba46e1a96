/*-------------------------------------------------------------------------
 *
 * start.h
 *	  Launches of kernels of their own, as the policies add them to a decision; private to
 *	  policy/, its tests and benchmarks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_START_H
#define GC_START_H

#include "../model/kernel_model.h"
#include "sched.h"

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

/* Add a launch of item i by its own kernel. */
extern void gc_add_start(GcDecision *d, int i, GcGrid grid, double predicted_us);

/* Item i with so many warps wanted per multiprocessor, as an item of the kernel model. */
extern void gc_describe_candidate(const GcSchedule *s, int i, int warps, GcKernelItem *k);

/*
 * Start the picked items as they are placed, in the order in which they will be side by side
 * (launch_order.h).  predicted_us: of all of them; 0: of each beside the others.  Returns the first of
 * their n starts.
 */
extern GcStart *gc_start_placed(const GcSchedule *s, const int *pick, int n, const GcKernelChoice *choice,
								double predicted_us, GcDecision *d);

/*
 * Warps per multiprocessor that a kernel should have among `beside` others: its part of
 * them, or as large a part as it takes of the shared memory.  Who holds much of that
 * keeps others out until it is done, so it had better be done soon.
 */
extern int	gc_fair_warps(const GcSchedule *s, const GcKernelNeeds *o, int beside);

/* The least that item i can be given, as an item of the kernel model. */
extern void gc_least_share(const GcSchedule *s, int i, GcKernelItem *k);

#endif							/* GC_START_H */
