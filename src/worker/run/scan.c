/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  A run on the device: its main kernel, which may be launched for one piece, pass, wave or part of its
 *	  groups after the other, and what follows the last one.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "../memory/state.h"
#include "launch.h"
#include "passes.h"
#include "stop.h"
#include "wave_scan.h"

/* Is a part of the scan left to be launched? */
static bool
has_more_pieces(const GcRun *run)
{
	return run->scan.piece.from + run->scan.piece.count < run->scan.pairs.count;
}

/* All of a pass of the main pipeline, or a piece of it, is queued: queue what comes behind that. */
static GcCode
end_queueing(GcRun *run, bool last)
{
	GcCode		code;

	if (last)
		return gc_run_queue_result(run);
	if (!has_more_pieces(run) && (code = gc_run_launch_rests(run, run->p->npipelines - 1, run->memory.sink)) != GC_OK)
		return code;
	run->scan.done = gc_worker.ops->event(run->memory.stream, &run->err);
	run->state = RUN_RUNNING;
	gc_run_takes_less(run);
	return run->scan.done ? GC_OK : run->err.code;
}

GcCode
gc_run_start_main(GcRun *run, GcPipelineKernel *k, const GcGrid *grid, u32 first_tile)
{
	int			main = run->p->npipelines - 1;
	const bool	last_pass = gc_passes_last(run->scan.passes, main);
	GcScanPart	part = {.n = run->request->inputs[run->main->input].nsources,.first_tile = first_tile,.timed = true,
	.whole_shared = run->schedule.launch->whole_shared,.last = last_pass};
	GcCode		code;

	run->schedule.launch->effort = k->effort;
	if (gc_run_in_waves(run))
	{
		gc_wave_scan_begin(run, last_pass);
		run->scan.streaming = true;
		run->state = RUN_RUNNING;
		gc_run_takes_less(run);
		return GC_OK;
	}
	if (run->scan.pairs.slices > 0)
	{
		run->scan.piece = gc_pairs_piece(run->request, main, &run->scan.pairs, run->scan.piece.from + run->scan.piece.count,
									run->scan.piece_pairs > 0 ? run->scan.piece_pairs : gc_pairs_first());
		part.pairs = run->scan.piece;
		part.last = last_pass && !has_more_pieces(run);
		INSTR_TIME_SET_CURRENT(run->scan.piece_began);
	}
	code = gc_run_launch(run, main, k, grid, &part, run->memory.sink);
	if (code != GC_OK)
		return code;
	run->schedule.launch->ntiles = gc_slot_run_info(run->slot)->ntiles;
	return end_queueing(run, part.last);
}

/*
 * Launch the main kernel once more, for the next piece of the scan or the next pass.  The request ends if
 * nobody waits for it.  Where other requests are there, it is READY, so that they get their turn.
 */
static void
go_on(GcRun *run, int others)
{
	if (run->scan.done)
		gc_worker.ops->event_put(gc_worker.dev, run->scan.done);
	run->scan.done = NULL;
	if (gc_run_nobody_waits(run))
	{
		run->state = RUN_FINISHED;
		return;
	}
	if (others == 0)
	{
		if (gc_run_start_main(run, gc_run_own_kernel(run), &run->schedule.launch->grid, 0) != GC_OK)
			gc_run_fail_start(run);
		return;
	}
	gc_run_not_prepared(run);
	gc_run_unstart(run);
}

/* A piece of a scan is done, and there are more. */
static void
end_piece(GcRun *run, int others)
{
	run->scan.piece_pairs = gc_pairs_next(run->request, run->p->npipelines - 1, &run->scan.pairs, &run->scan.piece,
									 gc_us_since(run->scan.piece_began));
	go_on(run, others);
}

/* Queue what the main pipeline's next pass probes and scans. */
static GcCode
prepare_pass(GcRun *run)
{
	memset(&run->scan.piece, 0, sizeof(run->scan.piece));
	return gc_run_below(run, run->p->npipelines - 1);
}

/* A pass of the main pipeline is done, and there are more. */
static void
end_pass(GcRun *run, int others)
{
	(void) gc_passes_next(run->scan.passes, run->p->npipelines - 1);
	if (prepare_pass(run) != GC_OK)
		gc_run_fail_start(run);
	else
		go_on(run, others);
}

/*
 * The result of one part of the groups is there, and there are more: set it aside, and begin with an
 * empty sink.
 */
static void
end_part(GcRun *run, int others)
{
	gc_run_keep_part(run);
	(void) gc_passes_next(run->scan.passes, run->p->npipelines - 1);
	gc_passes_next_groups(run->scan.passes);
	if (gc_run_make_result(run) != GC_OK || gc_worker.ops->fill(run->memory.stream, run->memory.sink, 0, run->memory.sink_zero, &run->err) != GC_OK ||
		prepare_pass(run) != GC_OK)
		gc_run_fail_start(run);
	else
		go_on(run, others);
}

/*
 * The run is over, with this code.  Where a part of a build or of groups had no room, the request is tried
 * with more.
 */
static void
end_run(GcRun *run, GcCode code)
{
	const u64	number = run->err.number;

	bool		again;

	if (code == GC_OK)
		code = gc_run_join_parts(run);
	run->err.code = code;
	again = gc_passes_grow(run->scan.passes, code, number) && !gc_slot_abandoned(run->slot);
	if (again)
	{
		gc_run_unstart(run);
		gc_run_give_back(run);
	}
	run->state = RUN_FINISHED;
	if (again && !gc_run_plan_passes(run, false) && run->err.code == code)
		gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for parts of unequal size.");
}

/*
 * Queue more waves of the main pipeline's scan, and behind the last one what follows.  A request that nobody
 * waits for takes part in no more waves, and ends when the device is done with those that it has.
 */
static bool
advance_streaming(GcRun *run)
{
	bool		moved = false;
	bool		over = false;
	GcCode		code = GC_OK;
	const bool	stop = gc_run_nobody_waits(run);

	if (stop)
		gc_wave_scan_stop(run);
	else
		code = gc_wave_scan_drive(run, &moved, &over);
	if (code == GC_OK && stop)
	{
		run->scan.streaming = false;
		run->scan.done = gc_worker.ops->event(run->memory.stream, NULL);
		code = run->scan.done ? GC_OK : GC_DEVICE_FAILED;
		moved = true;
	}
	else if (code == GC_OK && over)
	{
		run->scan.streaming = false;
		code = end_queueing(run, gc_passes_last(run->scan.passes, run->p->npipelines - 1));
		moved = true;
	}
	if (code == GC_OK)
		return moved;
	gc_run_fail_start(run);
	return true;
}

bool
gc_run_advance_running(GcRun *run, int others)
{
	bool		done = false;
	GcCode		code;
	u64			n;

	if (run->scan.streaming)
		return advance_streaming(run);
	/* It comes behind the selection bitmaps, and gc_schedule_due looks for those. */
	if (run->schedule.launch->selection && !run->schedule.launch->select_done)
		return false;
	code = gc_worker.ops->event_done(run->scan.done, &done, &run->err);
	if (code == GC_OK && !done)
		return false;
	if (code == GC_OK && (run->schedule.stopped || run->err.code == GC_CANCELLED))
	{
		gc_fail(&run->err, GC_CANCELLED, "The request was abandoned.");
		run->state = RUN_FINISHED;
		return true;
	}
	if (code == GC_OK && has_more_pieces(run))
	{
		end_piece(run, others);
		return true;
	}
	if (code == GC_OK && run->state == RUN_RUNNING && !gc_passes_last(run->scan.passes, run->p->npipelines - 1))
	{
		end_pass(run, others);
		return true;
	}
	if (code == GC_OK && run->state == RUN_RUNNING)
	{
		gc_run_note_times(run);
		code = gc_run_check_flags(run);
		n = run->main->sink == GC_SINK_ROWS || run->result.choose ? run->result.flags[GC_FLAG_ROWS] : run->result.flags[GC_FLAG_GROUPS];
		if (code == GC_OK && (run->main->sink == GC_SINK_ROWS || (gc_run_keyed(run) && n > run->result.early)))
		{
			code = gc_run_fetch_rest(run, n);
			if (code == GC_OK)
			{
				gc_worker.ops->event_put(gc_worker.dev, run->scan.done);
				run->scan.done = gc_worker.ops->event_timed(run->memory.stream, &run->err);
				run->state = RUN_FETCHING;
				gc_run_takes_less(run);
				if (run->scan.done)
					return true;
				code = run->err.code;
			}
			else
				gc_run_await(run);
		}
		else if (code == GC_OK && gc_run_keyed(run))
			run->result.block->count = n;
	}
	else if (code == GC_OK)
		gc_run_note_fetched(run);
	if (code == GC_OK && !gc_passes_last_groups(run->scan.passes))
		end_part(run, others);
	else
		end_run(run, code);
	return true;
}
