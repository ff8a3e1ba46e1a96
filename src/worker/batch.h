/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  The launches that one decision started: their record, and lessons from their times.
 *
 * The worker's main thread.  Each request holds its batch until it ends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BATCH_H
#define GC_BATCH_H

#include "../sched/policy/sched.h"
#include "run/run.h"

/* A batch lives until the last of its requests ends. */
typedef struct GcBatch GcBatch;

/* The factors of GcSchedule that batches teach. */
typedef struct GcFactors
{
	double		idle_overlap;
	double		busy_overlap;
	double		residual_part;
} GcFactors;

extern GcFactors gc_batch_factors(void);

/*
 * Begin a batch for a decision.  on_device: requests that are on the device already; waiting: ready
 * requests that the decision does not start.  The caller holds the batch until gc_batch_release.
 */
extern GcBatch *gc_batch_begin(const GcDecision *d, int on_device, int waiting, float decision_us);
extern void gc_batch_release(GcBatch *batch);

/* Number of the batch's next launch. */
extern u32	gc_batch_number(GcBatch *batch);

/* Add a run that this launch of the decision starts. */
extern void gc_batch_add(GcBatch *batch, GcRun *run, const GcStart *start);

/* Requests that the batch started. */
extern int	gc_batch_size(const GcBatch *batch);

/* Take a run out of its batch; its entry in the record stays empty. */
extern void gc_batch_run_leaves(GcRun *run);

/* Note how the run went.  It is over, and still has its launch. */
extern void gc_batch_run_ends(GcRun *run);

#endif							/* GC_BATCH_H */
