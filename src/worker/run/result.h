/*-------------------------------------------------------------------------
 *
 * result.h
 *	  A request's result: its block, the copies that fill it, and what its kernels noted.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_RESULT_H
#define GC_RUN_RESULT_H

#include "run.h"

/* Make the block for flags and what can be had of the result at once: run->result.block, run->result.flags. */
extern GcCode gc_run_make_result(GcRun *run);

/* Queue what comes behind the main kernel; the run is RUNNING after it. */
extern GcCode gc_run_queue_result(GcRun *run);

/* Queue the copies of a result whose size is known only now: n groups or rows. */
extern GcCode gc_run_fetch_rest(GcRun *run, u64 n);

/*
 * Check all flags, once the run is done: of the builds that this result rests on, and of the main
 * kernel.
 */
extern GcCode gc_run_check_flags(GcRun *run);

/*
 * Take the times that the run's kernels have noted; those of copies and builds come from events.
 */
extern void gc_run_note_times(GcRun *run);

/* The rest of the result is there: tell the timeline of its copy. */
extern void gc_run_note_fetched(GcRun *run);

/*
 * Results of parts of the main groups: set run->result.block aside; make one of all, as run->result.block; give back
 * what was set aside.
 */
extern void gc_run_keep_part(GcRun *run);
extern GcCode gc_run_join_parts(GcRun *run);
extern void gc_run_free_parts(GcRun *run);

/* A follower holds the result, too; returns it. */
extern GcResult *gc_result_hold(GcResult *result);

#endif							/* GC_RUN_RESULT_H */
