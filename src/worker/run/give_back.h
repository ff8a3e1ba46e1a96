/*-------------------------------------------------------------------------
 *
 * give_back.h
 *	  What a run gives back, and when: its memory on the device, its launch, its result.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_GIVE_BACK_H
#define GC_RUN_GIVE_BACK_H

#include "run.h"

/* Has every session left that waits for the run?  Then run->err says so. */
extern bool gc_run_nobody_waits(GcRun *run);

/*
 * An event behind what is queued before the main kernel, for others to wait for.  NULL if the
 * device gives none (run->err).  Do not keep it: more may be queued later.
 */
extern GcEvent *gc_run_prepared(GcRun *run);

/* More was queued before the main kernel. */
extern void gc_run_not_prepared(GcRun *run);

/* The shared scan that the run was to be in failed: the run is READY for its own kernel. */
extern void gc_run_unstart(GcRun *run);

/* Give back everything on the device, which no longer uses it; the run may be started again. */
extern void gc_run_release_device(GcRun *run);

/* Give back the result, too. */
extern void gc_run_give_back(GcRun *run);

/* Wait until all is over that is queued on the run's stream. */
extern void gc_run_await(GcRun *run);

/* The same as gc_run_give_back, once what was queued is over: before that, no other run may be given its memory. */
extern void gc_run_back_out(GcRun *run);

/* The run could not be started: it ends with run->err, and has given back all. */
extern void gc_run_fail_start(GcRun *run);

/* The device is closed and the worker exits: only shared memory is given back. */
extern void gc_run_forget(GcRun *run);

#endif							/* GC_RUN_GIVE_BACK_H */
