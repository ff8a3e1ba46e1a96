/*-------------------------------------------------------------------------
 *
 * coresident.h
 *	  The objective makespan: how long co-resident kernels take, and the sizes with which
 *	  they take least.
 *
 * Kernels that run in sequence, each with the whole device, take the sum of their times.
 * Co-resident kernels, each with a part of every multiprocessor, keep three things busy at
 * the same time:
 *
 *	  memory	The columns that the kernels read, each column of a table once, divided by the
 *				device's bandwidth.  Less where a kernel alone is done sooner than that, because
 *				its filters skip a part of the column.  The caches give the bytes that one kernel has
 *				read to the others, as long as all are in step.  The sizes keep them in step; with
 *				more kernels this works less well.
 *	  issue		The sum of each kernel's time for instructions and lookups even where memory takes
 *				no time.  More where the tables that all of them look up at random are too large
 *				for L2 together.
 *	  latency	Each kernel's own time with few warps: w warps with f bytes in flight each use
 *				w * f / flight_bytes of the bandwidth; the more they issue, the less.
 *
 * None of the three hides the others wholly: together they take the cube root of the sum of
 * their cubes.  (An H200, scans of four 4-byte columns, 2 to 8 together in 4 to 16 warps each:
 * the error is within an eighth.)  So sharing gains the time that memory takes beyond issue.  That is two thirds of the
 * time of these scans, and less than half of the time of scans of narrow columns.
 *
 * Every kernel is given the warps with which its latency is no longer than the others', in
 * blocks that divide tiles evenly (coresident.c).  The kernel model says whether all fit a
 * multiprocessor; bisection finds the least latency that fits.
 *
 * Pure functions; times are in microseconds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CORESIDENT_H
#define GC_CORESIDENT_H

#include "sched.h"

/*
 * Most kernels that are co-resident.  More kernels are split into as few sets of even size as
 * possible, which follow one another.  Measured on an H200: eight scans together in 4 warps each, or
 * twice four in 8 warps each.  They take 558 and 562 us for four 4-byte columns.  For narrow columns,
 * which are bound by issue, they take 635 and 725 us.
 */
#define GC_CORESIDENT_MAX		8

/* Times of memory and issue for n co-resident candidates. */
typedef struct GcCoresidentTimes
{
	double		memory_us;
	double		issue_us;
} GcCoresidentTimes;

extern GcCoresidentTimes gc_coresident_times(const GcSchedule *s, const int *pick, int n);

/*
 * Choose the candidates out of pick[0 .. n - 1] that should be co-resident with the first.  Suitable
 * are candidates that scan the same table and are bound by reading memory.  The set grows by the one
 * that saves most, as far as this can be told without the kernel model.  Returns the size of the
 * set, the first candidate included; 0: the first may not be co-resident.
 */
extern int	gc_coresident_set(const GcSchedule *s, const int *pick, int n, int set[GC_CORESIDENT_MAX]);

/*
 * Start the candidates pick[0 .. n - 1] co-resident, in the sizes with which they are done soonest.
 * The prediction has to be less than sequence_us, their time in sequence.  Unless co-resident kernels
 * are forced, it also has to be less than other_us (HUGE_VAL: there is no other way).  False: the
 * prediction is not, or the candidates do not fit.
 */
extern bool gc_start_coresident(const GcSchedule *s, const int *pick, int n, double sequence_us, double other_us,
							  GcDecideWork *work, GcDecision *d);

/* Warps per multiprocessor with which candidate i's latency is at most latency_us; *block: warps of a block. */
extern int	gc_coresident_warps(const GcSchedule *s, int i, double latency_us, int *block);

/* Time until all co-resident kernels are done. */
extern double gc_coresident_us(const GcCoresidentTimes *t, double latency_us);

/*
 * Issue's part of a batch's time, when memory and latency took shared_us (GcStart) of it.
 * Never 0.
 */
extern double gc_coresident_issue(double time_us, double shared_us);

/*
 * The issue part of a kernel, from n launches of it that were co-resident and took time_us.  Each had
 * `warps` warps per multiprocessor, and all read the same columns, which takes memory_us.  Neither
 * memory nor latency explains the issue part.  At most 1.
 */
extern double gc_coresident_issue_part(const GcCalibration *c, const GcKernelNeeds *o, int n, int warps,
									 double memory_us, double time_us);

/*
 * Learn from a co-resident batch of n kernels that took time_us with nothing else on the device.
 * issue_part[k] gets the learned part of kernel k; share[k] is its part of the batch's issue, divided by its time alone
 * (GcStart's issue_share / alone_us).  The batch's time counts, not each kernel's: other kernels may have kept the
 * device busy before or after one kernel was done.
 */
extern void gc_coresident_learn(GcLearned *const *issue_part, const double *share, int n, double time_us,
							  double shared_us);

#endif							/* GC_CORESIDENT_H */
