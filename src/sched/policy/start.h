/*-------------------------------------------------------------------------
 *
 * start.h
 *	  Launches of candidates' own kernels, as the policies add them to a decision; private to
 *	  policy/, its tests and benchmarks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_START_H
#define GC_START_H

#include "../model/kernel_model.h"
#include "sched.h"

/*
 * Fewest warps per multiprocessor that a kernel is given next to others.  Measured on an
 * H200 (docs/results.md): eight co-resident scans are fastest with 4 warps each.
 */
#define GC_LEAST_WARPS	4

/* Add a launch of candidate i's own kernel, with a grid for the whole device. */
extern void gc_start_alone(const GcSchedule *s, int i, GcDecision *d);

/*
 * Start the candidates pick[0 .. n - 1] with their fair shares next to active launches.  Blocks for which there is no
 * room yet wait in the hardware's queue.
 */
extern void gc_start_fair(const GcSchedule *s, const int *pick, int n, GcDecision *d);

/* Add a launch of candidate i's own kernel. */
extern void gc_add_start(GcDecision *d, int i, GcGrid grid, double predicted_us);

/* Candidate i, which wants this many warps per multiprocessor, as an item of the kernel model. */
extern void gc_describe_candidate(const GcSchedule *s, int i, int warps, GcKernelItem *k);

/*
 * Start the picked candidates in the sizes of choice[], in the order that makes them co-resident
 * (launch_order.h).  predicted_us: until all are done; 0: each is predicted next to the others.
 * Returns the first of the n starts.
 */
extern GcStart *gc_start_placed(const GcSchedule *s, const int *pick, int n, const GcKernelChoice *choice,
								double predicted_us, GcDecision *d);

/*
 * Warps per multiprocessor that a kernel should have next to `beside` others.  That is an even
 * part of the warps, or as large a part as it takes of the shared memory.  A kernel that holds
 * much shared memory keeps others out until it is done, so it should be done soon.
 */
extern int	gc_fair_warps(const GcSchedule *s, const GcKernelNeeds *o, int beside);

/* The least that candidate i can be given, as an item of the kernel model. */
extern void gc_least_share(const GcSchedule *s, int i, GcKernelItem *k);

#endif							/* GC_START_H */
