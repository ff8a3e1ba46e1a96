/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  What one decision started: its record, and what it teaches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BATCH_H
#define GC_BATCH_H

#include "../sched/policy/sched.h"
#include "run/run.h"

/* It lives until the last of its requests ends. */
typedef struct GcBatch GcBatch;

/* GcSchedule's, as they are learned. */
typedef struct GcFactors
{
	double		idle_overlap;
	double		busy_overlap;
	double		residual_part;
} GcFactors;

extern GcFactors gc_batch_factors(void);

/*
 * A batch that starts what was decided.  on_device: requests there before; waiting: those that it
 * does not start.  The caller holds it until gc_batch_release.
 */
extern GcBatch *gc_batch_begin(const GcDecision *d, int on_device, int waiting, float decision_us);
extern void gc_batch_release(GcBatch *batch);

/* Number of its next launch. */
extern u32	gc_batch_number(GcBatch *batch);

/* The run starts in it, by this launch of the decision. */
extern void gc_batch_add(GcBatch *batch, GcRun *run, const GcStart *start);

/* Requests that it started. */
extern int	gc_batch_size(const GcBatch *batch);

/* The run is not part of its batch after all; its place in the record stays empty. */
extern void gc_batch_run_leaves(GcRun *run);

/* The run is over, and has its launch still: note how it went. */
extern void gc_batch_run_ends(GcRun *run);

#endif							/* GC_BATCH_H */
