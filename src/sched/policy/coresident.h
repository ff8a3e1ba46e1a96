/*-------------------------------------------------------------------------
 *
 * coresident.h
 *	  The objective makespan: how long kernels take that are co-resident, and the
 *	  sizes with which that is least.
 *
 * Kernels that fill the device one behind the other take the sum of their times.
 * Resident together, each with a part of every multiprocessor, they keep three things busy
 * at the same time:
 *
 *	  memory	the columns that they read, each column of a table once, by the device's
 *				bandwidth, or less, where one alone is done sooner: filters spare it a part
 *				of them; what one has read, the caches give to the others, as long as they
 *				are in step, which their sizes see to; the more they are, the less so
 *	  issue		the sum of what each takes of the multiprocessors' instructions and lookups
 *				even where memory takes no time; more of it, where the tables that they look
 *				up at random are too large for L2 together
 *	  latency	each kernel's own time in so few warps: w warps with f bytes in flight each
 *				use w * f / flight_bytes of the bandwidth, less the more they issue meanwhile
 *
 * None hides the others wholly: together they take the cube root of the sum of their cubes.
 * (Scans of four 4-byte columns on an H200, 2 to 8 together in 4 to 16 warps each: within an
 * eighth.)  So sharing gains what memory takes beyond issue: two thirds of the time of those
 * scans, and less than half of that of scans of narrow columns.
 *
 * Every kernel is given the warps with which its own latency is no longer than the others', in
 * blocks that tiles divide (coresident.c); the kernel model says whether they fit a multiprocessor;
 * bisection finds the least latency that fits.  Pure functions; times are in microseconds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CORESIDENT_H
#define GC_CORESIDENT_H

#include "sched.h"

/*
 * Kernels that are co-resident at most; of more, as few even sets follow one another as
 * it takes.  Measured on an H200, eight scans, all together in 4 warps each, and twice four in 8
 * warps each: of four 4-byte columns 558 and 562 us, of narrow ones, bound by issue, 635 and 725.
 */
#define GC_CORESIDENT_MAX		8

/* Of n items that are co-resident: what memory and what issue take. */
typedef struct GcCoresidentTimes
{
	double		memory_us;
	double		issue_us;
} GcCoresidentTimes;

extern GcCoresidentTimes gc_coresident_times(const GcSchedule *s, const int *pick, int n);

/*
 * Which of the items pick[0 .. n - 1] had better be resident with the first of them: of those
 * that scan the same table and are bound by reading memory, one after another the one with which
 * they save most, as far as that can be told without placing them.  Returns their number, the
 * first included; 0: that may not be resident.
 */
extern int	gc_coresident_set(const GcSchedule *s, const int *pick, int n, int set[GC_CORESIDENT_MAX]);

/*
 * Start the items pick[0 .. n - 1] so that they are co-resident, in the sizes with which
 * they are done soonest if that is predicted to take less time than one behind
 * the other, sequence_us, and, unless co-resident kernels are forced, less than other_us (HUGE_VAL: nothing else is
 * known).  False: it is not, or they do not fit.
 */
extern bool gc_start_coresident(const GcSchedule *s, const int *pick, int n, double sequence_us, double other_us,
							  GcDecideWork *work, GcDecision *d);

/* Warps per multiprocessor with which the item's latency is not longer, and of how many a block is. */
extern int	gc_coresident_warps(const GcSchedule *s, int i, double latency_us, int *block);

/* Until all are done. */
extern double gc_coresident_us(const GcCoresidentTimes *t, double latency_us);

/*
 * What issue took of the time of a batch, in which memory and latency took shared_us
 * (GcStart).  Never 0.
 */
extern double gc_coresident_issue(double time_us, double shared_us);

/*
 * The issue part of a kernel of which n alike took time_us side by side, in so many warps per
 * multiprocessor each, that read the same columns, which takes memory_us: what neither that nor their
 * latency explains.  At most 1.
 */
extern double gc_coresident_issue_part(const GcCalibration *c, const GcKernelNeeds *o, int n, int warps,
									 double memory_us, double time_us);

/*
 * A co-resident batch of n kernels took so long, and nothing else was there: issue_part[k] of each,
 * of which one launch is share[k] of the batch's issue, by its time alone (GcStart's
 * issue_share / alone_us).  From the batch's time, not from the kernels' own: the others may
 * have kept the device busy before one was done, or after.
 */
extern void gc_coresident_learn(GcLearned *const *issue_part, const double *share, int n, double time_us,
							  double shared_us);

#endif							/* GC_CORESIDENT_H */
