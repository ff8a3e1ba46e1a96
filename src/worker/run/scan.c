/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  A run on the device: the scan of its main pipeline, and what follows it.
 *
 * A scan is one launch, or one piece after the other, or waves (wave_scan.c).  A scan in passes has one of these in
 * each pass, and may begin again for another part of its groups.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "../memory/state.h"
#include "edge_launch.h"
#include "passes.h"
#include "stop.h"
#include "wave_scan.h"

/*-------------------------------------------------------------------------
 * Whole scans, and pieces
 *-------------------------------------------------------------------------
 */

/* Launch the main kernel for a part of the scan. */
static GcScanStep
launch_part(GcRun *run, const GcScanLaunch *launch, GcPairs pairs, bool last, GcScanStep step)
{
	const GcScanPart part = {.n = run->request->inputs[run->main->input].nsources,.first_tile = launch->first_tile,.timed = true,
	.whole_shared = run->schedule.launch->whole_shared,.pairs = pairs,.last = last};

	if (gc_run_launch(run, run->p->npipelines - 1, launch->k, launch->grid, &part, run->memory.sink) != GC_OK)
		return GC_SCAN_FAILED;
	run->schedule.launch->ntiles = gc_slot_run_info(run->slot)->ntiles;
	return step;
}

/* Waves begin and end as whole scans do: nothing is noted of it here. */
static void
begin_whole(GcRun *run)
{
}

static GcScanStep
next_whole(GcRun *run, const GcScanLaunch *launch, bool last)
{
	return launch_part(run, launch, (GcPairs) {0}, last, GC_SCAN_LAST);
}

static bool
end_whole(GcRun *run, bool fetched)
{
	return false;
}

static bool
has_more_pieces(const GcRun *run)
{
	return run->scan.piece.from + run->scan.piece.count < run->scan.pairs.count;
}

static void
begin_pieces(GcRun *run)
{
	memset(&run->scan.piece, 0, sizeof(run->scan.piece));
}

static GcScanStep
next_piece(GcRun *run, const GcScanLaunch *launch, bool last)
{
	GcRunScan  *s = &run->scan;

	s->piece = gc_pairs_piece(run->request, run->p->npipelines - 1, &s->pairs, s->piece.from + s->piece.count,
							  s->piece_pairs > 0 ? s->piece_pairs : gc_pairs_first());
	INSTR_TIME_SET_CURRENT(s->piece_began);
	return has_more_pieces(run) ? launch_part(run, launch, s->piece, false, GC_SCAN_QUEUED)
		: launch_part(run, launch, s->piece, last, GC_SCAN_LAST);
}

static bool
end_piece(GcRun *run, bool fetched)
{
	GcRunScan  *s = &run->scan;

	if (!has_more_pieces(run))
		return false;
	s->piece_pairs = gc_pairs_next(run->request, run->p->npipelines - 1, &s->pairs, &s->piece, gc_us_since(s->piece_began));
	return true;
}

/* The kind of a pass's scan, or of the whole scan where there is one pass. */
static const GcScanKind *
kind_within(const GcRun *run)
{
	static const GcScanKind whole = {begin_whole, next_whole, end_whole};
	static const GcScanKind pieces = {begin_pieces, next_piece, end_piece};
	static const GcScanKind waves = {begin_whole, gc_wave_scan_next, end_whole};

	return gc_run_in_waves(run) ? &waves : run->scan.pairs.slices > 0 ? &pieces : &whole;
}

/*-------------------------------------------------------------------------
 * Passes
 *-------------------------------------------------------------------------
 */

static void
begin_passes(GcRun *run)
{
	gc_passes_begin(run->scan.passes);
	kind_within(run)->begin(run);
}

static GcScanStep
next_in_pass(GcRun *run, const GcScanLaunch *launch, bool last)
{
	const int	main = run->p->npipelines - 1;
	const bool	last_pass = gc_passes_last(run->scan.passes, main);
	const GcScanStep step = kind_within(run)->next(run, launch, last && last_pass);

	if (step != GC_SCAN_LAST || last_pass)
		return step;
	return gc_run_launch_rests(run, main, run->memory.sink) == GC_OK ? GC_SCAN_QUEUED : GC_SCAN_FAILED;
}

/* The result of one part of the groups is there: set it aside, and begin with an empty sink. */
static GcCode
next_part(GcRun *run)
{
	gc_run_keep_part(run);
	gc_passes_next_groups(run->scan.passes);
	return gc_run_make_result(run) != GC_OK ? run->err.code
		: gc_worker.ops->fill(run->memory.stream, run->memory.sink, 0, run->memory.sink_zero, &run->err);
}

/* Behind the last pass comes the first one again, for another part of the groups. */
static bool
end_pass(GcRun *run, bool fetched)
{
	GcPasses   *passes = run->scan.passes;
	const int	main = run->p->npipelines - 1;
	GcCode		code = GC_OK;

	if (kind_within(run)->end(run, fetched))
		return true;
	if (fetched ? gc_passes_last_groups(passes) : gc_passes_last(passes, main))
		return false;
	(void) gc_passes_next(passes, main);
	if (fetched)
		code = next_part(run);
	kind_within(run)->begin(run);
	/* Queue what the next pass probes and scans. */
	if (code != GC_OK || gc_run_below(run, main) != GC_OK)
		gc_run_fail_start(run);
	return true;
}

const GcScanKind *
gc_scan_kind(const GcRun *run)
{
	static const GcScanKind passes = {begin_passes, next_in_pass, end_pass};

	return run->scan.passes ? &passes : kind_within(run);
}

/*-------------------------------------------------------------------------
 * A run on the device
 *-------------------------------------------------------------------------
 */

/* Queue what comes next of the scan, and behind the last of it the result. */
static GcCode
queue_next(GcRun *run, const GcScanLaunch *launch, bool *moved)
{
	const GcScanStep step = gc_scan_kind(run)->next(run, launch, true);

	*moved = step != GC_SCAN_WAITS;
	if (step == GC_SCAN_FAILED)
		return run->err.code;
	run->scan.streaming = step == GC_SCAN_WAITS || step == GC_SCAN_MOVED;
	if (step == GC_SCAN_LAST)
		return gc_run_queue_result(run);
	run->state = RUN_RUNNING;
	if (run->scan.streaming)
		return GC_OK;
	run->scan.done = gc_worker.ops->event(run->memory.stream, &run->err);
	gc_run_takes_less(run);
	return run->scan.done ? GC_OK : run->err.code;
}

GcCode
gc_run_start_main(GcRun *run, GcPipelineKernel *k, const GcGrid *grid, u32 first_tile)
{
	const GcScanLaunch launch = {k, grid, first_tile};
	bool		moved;

	run->schedule.launch->effort = k->effort;
	return queue_next(run, &launch, &moved);
}

/*
 * Go on with the scan.  The request ends if
 * nobody waits for it.  Where other requests are there, it is READY, so that they get their turn.
 */
static void
go_on(GcRun *run, int others)
{
	if (run->state == RUN_FINISHED)
		return;
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

/* The device is done with what was queued: go on with the scan, or take the result. */
static void
end_queued(GcRun *run, int others)
{
	const GcScanKind *kind = gc_scan_kind(run);
	bool		fetching = false;
	GcCode		code = GC_OK;

	if (run->state == RUN_FETCHING)
		gc_run_note_fetched(run);
	else if (kind->end(run, false))
	{
		go_on(run, others);
		return;
	}
	else
		code = gc_run_take_result(run, &fetching);
	if (fetching)
	{
		run->state = RUN_FETCHING;
		gc_run_takes_less(run);
	}
	else if (code == GC_OK && kind->end(run, true))
		go_on(run, others);
	else
		end_run(run, code);
}

bool
gc_run_advance_running(GcRun *run, int others)
{
	bool		done = false;
	bool		moved;
	GcCode		code;

	if (run->scan.streaming)
	{
		if (queue_next(run, NULL, &moved) == GC_OK)
			return moved;
		gc_run_fail_start(run);
		return true;
	}
	/* It comes behind the selection bitmaps, and gc_schedule_due looks for those. */
	if (run->schedule.launch->selection && !run->schedule.launch->select_done)
		return false;
	code = gc_worker.ops->event_done(run->scan.done, &done, &run->err);
	if (code != GC_OK)
		end_run(run, code);
	else if (!done)
		return false;
	else if (run->schedule.stopped || run->err.code == GC_CANCELLED)
	{
		gc_fail(&run->err, GC_CANCELLED, "The request was abandoned.");
		run->state = RUN_FINISHED;
	}
	else
		end_queued(run, others);
	return true;
}
