/*-------------------------------------------------------------------------
 *
 * result.h
 *	  A request's result: its block, the copies that fill it, and what its kernels noted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_RESULT_H
#define GC_RUN_RESULT_H

#include "run.h"

/* The block for flags and what can be had of the result at once: run->result, run->flags. */
extern GcCode gc_run_make_result(GcRun *run);

/* Queue what comes behind the main kernel; the run is then RUNNING. */
extern GcCode gc_run_queue_result(GcRun *run);

/* Queue the copies of a result whose size is known only now: n groups or rows. */
extern GcCode gc_run_fetch_rest(GcRun *run, u64 n);

/* All flags, once it is done: of the builds that this result rests on, and of the main kernel. */
extern GcCode gc_run_check_flags(GcRun *run);

/* What its kernels have noted; what is to be had only by marks, where there was any. */
extern void gc_run_note_times(GcRun *run);

/* A follower's own copy of the result, or NULL. */
extern GcResult *gc_result_copy(const GcResult *from);

#endif							/* GC_RUN_RESULT_H */
