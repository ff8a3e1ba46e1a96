/*-------------------------------------------------------------------------
 *
 * efforts.h
 *	  Two kernels of one text, compiled quickly and with full effort: which one to launch.
 *
 * The full kernel mostly takes less time.  Nothing ensures it: it has other vectors and registers than the quick
 * one, and so other accesses in flight.  The full kernel may have taken longer than the quick one had, or the quick
 * one was measured too seldom to say.  Then the quick one is launched again a few times, and the faster one stays.
 *
 * Times are compared by tile, as requests of one kernel signature may scan more or less.  The shortest counts,
 * since a kernel's first launches meet cold caches.
 *
 * Pure functions; the caller owns the trial, which begins as zeros.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCHED_EFFORTS_H
#define GC_SCHED_EFFORTS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum GcEffort
{
	GC_EFFORT_FULL,
	GC_EFFORT_QUICK,
	GC_NEFFORTS
} GcEffort;

/* Launches of each that are compared. */
#define GC_EFFORT_RUNS		3

/*
 * Requests that may take the quick kernel on trial.  Beside others none of them is measured, and
 * the trial would not end.
 */
#define GC_EFFORT_ASKED		64

/* The quick kernel is only taken if it spares this many microseconds, and a tenth. */
#define GC_EFFORT_LEAST_US	20
#define GC_EFFORT_PART		0.9

/*
 * How many times the full kernel's time the first launches of the quick one may have taken for it to be tried again.
 * TPC-H's Q5 on an H100: .51 ms, then .19; the full one takes .24.
 */
#define GC_EFFORT_COLD		4

typedef struct GcEffortTrial
{
	double		best_us[GC_NEFFORTS];	/* of a tile */
	int			runs[GC_NEFFORTS];
	bool		repeated;		/* the quick kernel is launched again */
	int			asked;			/* how often since */
	bool		decided;
	GcEffort	keep;			/* decided: which one */
} GcEffortTrial;

/* A kernel scanned `tiles` in `us` microseconds, alone on the device. */
extern void gc_effort_ran(GcEffortTrial *t, GcEffort effort, double us, uint32_t tiles);

/* Which one is to be launched next, where both are loaded.  Asked once for each request, as a trial must end. */
extern GcEffort gc_effort_next(GcEffortTrial *t);

/* May the kernel still become another one?  Not before a quick one was measured, or is on trial. */
extern bool gc_effort_open(const GcEffortTrial *t);

#endif							/* GC_SCHED_EFFORTS_H */
