/*-------------------------------------------------------------------------
 *
 * result.h
 *	  A request's result: its block, the copies that fill it, and its kernels' notes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_RESULT_H
#define GC_RUN_RESULT_H

#include "nodes/pg_list.h"

#include "../memory/device_memory.h"
#include "main_launch.h"

/* Its result, on the way to the host. */
typedef struct GcRunResult
{
	GcResult   *block;
	u32		   *flags;			/* of the main kernel, on the host; times behind them */
	bool		gather;			/* the compactor collects existing groups of a dense table */
	bool		choose;			/* the program's `select` chooses among the groups */
	u32			pass;			/* of the choice, while it is launched */
	u64			early;			/* groups fetched with the first copy */
	u32			delivers;		/* most words, from the flags on, that its kernel can deliver
								 * to the host; 0: copies do it */
	bool		delivered;		/* as launched, its kernel delivers */
	GcCopies	fetch;			/* of the rest of it to the host */
	List	   *parts;			/* GcResult: of the parts of its groups so far */
	float		main_us;		/* from the launch's start to where its rows were read, once
								 * it is done; 0: not known */
} GcRunResult;

/* Make the block for flags and the part of the result that can be had at once: run->result.block, run->result.flags. */
extern GcCode gc_run_make_result(GcRun *run);

/* Queue the work behind the main kernel; the run is RUNNING after it. */
extern GcCode gc_run_queue_result(GcRun *run);

/*
 * The scan is over: check the flags of all that this result rests on, and take the times that kernels have noted.
 * *fetching: copies of the rest of it were queued, since its size is known only now.
 */
extern GcCode gc_run_take_result(GcRun *run, bool *fetching);

/* The rest of the result is there: tell the timeline of its copy. */
extern void gc_run_note_fetched(GcRun *run);

/*
 * Results of parts of the main groups: set run->result.block aside; make one of all, as run->result.block; give back
 * the blocks that were set aside.
 */
extern void gc_run_keep_part(GcRun *run);
extern GcCode gc_run_join_parts(GcRun *run);
extern void gc_run_free_parts(GcRun *run);

/* Give back the block, if there is one. */
extern void gc_run_drop_result(GcRun *run);

/* A follower holds the result, too; returns it. */
extern GcResult *gc_result_hold(GcResult *result);

#endif							/* GC_RUN_RESULT_H */
