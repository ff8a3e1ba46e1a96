/*-------------------------------------------------------------------------
 *
 * run.c
 *	  One request, from the queue to its result.
 *
 *	COMPILING --kernels ready--> WAITING --memory--> READY --its turn--> RUNNING
 *	    --device done--> (maybe FETCHING the rest of a hashed or row result) --> FINISHED
 *
 * A request has one stream.  First come copies of chunks that are not cached on the device, and
 * of the request's device part.  Then comes each build that is not shared, with a copy of its
 * flags.  The request is then READY, and waits for the scheduler (schedule.c) while the device
 * works.  Then comes the main kernel, or a wait for the shared scan that serves the request
 * (share/).  Copies of its flags and result come last.  So one event tells that all of it is done.
 * A request is admitted before it takes device memory (memory_demand.c).  If memory runs out all the
 * same, the request goes back to WAITING as long as others hold some.
 *
 * The worker's main thread.  A run owns its stream, its events and its sink from prepare() on,
 * and its result until the session has it.  It holds tables, builds and its launch.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "utils/memutils.h"

#include "../../columns/arena.h"
#include "../memory/column_uses.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "edge_launch.h"
#include "hooks.h"
#include "launch.h"
#include "memory_demand.h"
#include "pairs.h"
#include "passes.h"
#include "result.h"
#include "run_kernels.h"
#include "wave_scan.h"

/* A dense group table of more groups is compacted on the device first. */
#define GATHER_GROUPS	16384

/* A request that does not fit is planned so many times with more passes, or more room for each. */
#define MOST_PLANS		12

/* Do two requests ask for exactly the same? */
static bool
same_request(const GcRequest *a, const GcRequest *b)
{
	return a->share.h[0] != 0 && memcmp(&a->share, &b->share, sizeof(GcHash)) == 0 &&
		a->program->size == b->program->size &&
		memcmp(a->program, b->program, a->program->size) == 0;
}

/*
 * If another unfinished request asks for the same, wait for its result instead of computing it
 * again.
 */
void
gc_run_join(GcRun *run, List *runs)
{
	ListCell   *lc;

	foreach(lc, runs)
	{
		GcRun	   *other = lfirst(lc);

		if (other->leader == NULL && other->state != RUN_FINISHED && run->state != RUN_FINISHED &&
			same_request(other->request, run->request))
		{
			MemoryContext old = MemoryContextSwitchTo(other->cxt);

			other->followers = lappend(other->followers, run);
			MemoryContextSwitchTo(old);
			run->leader = other;
			gc_slot_run_info(run->slot)->shared_result = 1;
			return;
		}
	}
}

/* Ask for other kernels, of pipelines whose steps are fused.  False if there are none. */
static bool
ask_again(GcRun *run)
{
	run->request->edge = GC_EDGE_FUSE;
	run->state = RUN_COMPILING;
	gc_run_ask_kernels(run);
	return run->state != RUN_FINISHED;
}

/*
 * Plan passes, or more of them; less: memory ran out.  True if the run is to be tried again.  Its kernels
 * may be others then.
 */
static bool
plan_passes(GcRun *run, bool less)
{
	if (run->attempts++ == MOST_PLANS)
		return false;
	if (run->passes == NULL)
		run->passes = gc_passes_make(run->request, run->gather, run->choose, run->cxt);
	if (!gc_passes_plan(run->passes, run->attempts > 1, less))
		return false;
	gc_slot_run_info(run->slot)->passes = gc_passes_count(run->passes);
	return ask_again(run);
}

/*
 * Requests with the same number can share a scan: of the same chunks of the heap, or, where no page
 * is in one, of the same directory.
 */
static void
number_scan(GcRun *run)
{
	const GcInputValue *in = &run->request->inputs[run->main->input];
	const GcSource *sources = (const GcSource *) (run->request->device_part + in->sources_off);
	const GcDirectory *dir = in->dir;
	bool		hot;

	if (dir == NULL)
		return;
	hot = in->nsources > in->nprivate && sources[0].chunk >= dir->nheap;
	run->scan = (u32) ((hot ? 2 * dir->id + 1 : 2 * dir->heap_id) % PG_UINT32_MAX) + 1;
	run->scan_chunks = hot ? dir->nchunks : dir->nheap;
}

GcRun *
gc_run_start(int slot)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "gpuconc run", ALLOCSET_SMALL_SIZES);
	GcRun	   *run = MemoryContextAllocZero(cxt, sizeof(GcRun));
	GcProgram  *p;

	run->cxt = cxt;
	run->slot = slot;
	run->request = gc_slot_request(slot);
	run->p = p = run->request->program;
	run->taken = GetCurrentTimestamp();
	gc_slot_run_info(slot)->queue_ms = (run->taken - gc_slot_submitted(slot)) / 1000.0;
	run->main = &gc_pipelines(p)[p->npipelines - 1];
	run->kernels = MemoryContextAllocZero(cxt, p->npipelines * sizeof(GcPipelineKernel *));
	run->fresh = MemoryContextAllocZero(cxt, p->npipelines * sizeof(bool));
	run->tables = MemoryContextAllocZero(cxt, (p->ncolumns + 1) * sizeof(GcTable *));
	run->builds = MemoryContextAllocZero(cxt, (p->nbuilds + 1) * sizeof(GcBuildTable *));
	run->matched = MemoryContextAllocZero(cxt, (p->nbuilds + 1) * sizeof(GcAddr));
	run->waves = MemoryContextAllocZero(cxt, p->npipelines * sizeof(struct GcWaveScan *));
	run->dicts = MemoryContextAllocZero(cxt, (p->nluts + 1) * sizeof(GcDeviceDict *));
	run->lookups = MemoryContextAllocZero(cxt, (p->nluts + 1) * sizeof(GcDeviceLookup *));
	run->gather = run->main->sink == GC_SINK_AGGREGATE &&
		run->main->group_mode == GC_GROUP_DENSE && gc_run_main_sink(run)->ngroups > GATHER_GROUPS;
	run->choose = p->select > 0 && (run->gather || run->main->group_mode == GC_GROUP_HASH);
	run->gather = run->gather && !run->choose;
	run->sinks = MemoryContextAllocZero(cxt, p->npipelines * sizeof(GcSinkMemory));
	run->share = gc_run_hooks->begins(run);
	run->state = RUN_COMPILING;
	run->pairs = gc_pairs_of(run->request, p->npipelines - 1);
	number_scan(run);

	gc_slot_run_info(slot)->passes = 1;
	if (!gc_signature_check(run->request, &run->err))
		run->state = RUN_FINISHED;
	else if (gc_passes_fit(run->request, run->gather, run->choose) || !plan_passes(run, true))
		gc_run_ask_kernels(run);
	return run;
}

bool
gc_run_finished(const GcRun *run)
{
	return run->state == RUN_FINISHED;
}

/* Has the device failed, so that nothing else will work either? */
bool
gc_run_device_failed(const GcRun *run)
{
	return run->err.code == GC_DEVICE_FAILED;
}

bool
gc_run_on_device(const GcRun *run)
{
	return run->state == RUN_RUNNING || run->state == RUN_FETCHING;
}

/* Does the run hold device memory that it will give back? */
bool
gc_run_holds_device(const GcRun *run)
{
	return run->state == RUN_READY || gc_run_on_device(run);
}

/*-------------------------------------------------------------------------
 * States
 *-------------------------------------------------------------------------
 */

static void
leave_launch(GcRun *run)
{
	if (run->launch == NULL)
		return;
	if (--run->launch->runs == 0)
		gc_main_launch_strip(run->launch);
	gc_main_launch_release(run->launch);
	run->launch = NULL;
}

void
gc_run_unstart(GcRun *run)
{
	leave_launch(run);
	gc_run_hooks->leaves(run);
	run->state = RUN_READY;
}

/* Give back everything on the device; the run may be started again. */
static void
release_device(GcRun *run)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcEvent	  **events[] = {&run->began, &run->copied, &run->built, &run->prepared, &run->done};

	run->streaming = false;
	gc_wave_scans_leave(run);
	for (int i = 0; i < run->p->ncolumns; i++)
	{
		if (run->tables[i])
			gc_table_release(run->tables[i]);
		run->tables[i] = NULL;
	}
	for (int i = 0; i < run->p->nbuilds; i++)
	{
		if (run->builds[i])
			gc_build_release(run->builds[i]);
		run->builds[i] = NULL;
		gc_device_free(run->matched[i]);
		run->matched[i] = 0;
	}
	for (int i = 0; i < run->p->nluts; i++)
	{
		if (run->lookups[i])
			gc_device_lookup_release(run->lookups[i]);
		if (run->dicts[i])
			gc_device_dict_release(run->dicts[i]);
		run->lookups[i] = NULL;
		run->dicts[i] = NULL;
	}
	if (run->device_part_owned)
		gc_device_free(run->device_part);
	run->device_part_owned = false;
	gc_device_free(run->bitmaps);
	run->bitmaps = 0;
	for (int i = 0; i < run->p->npipelines; i++)
	{
		if (i < run->p->npipelines - 1)
			gc_device_free(run->sinks[i].memory);
		run->sinks[i].memory = 0;
	}
	gc_device_free(run->sink);
	run->sink = 0;
	gc_edge_free(run);
	gc_run_hooks->gives_back(run);
	leave_launch(run);
	for (int i = 0; i < lengthof(events); i++)
	{
		if (*events[i])
			ops->event_put(gc_worker.dev, *events[i]);
		*events[i] = NULL;
	}
	if (run->stream)
		ops->stream_put(gc_worker.dev, run->stream);
	run->stream = NULL;
	gc_run_free_parts(run);
	gc_run_leave_admitted(run, false);
}

/* Columns leave the room that builds and groups take, which come behind them. */
static GcCode
upload_main_columns(GcRun *run)
{
	GcCode		code;

	gc_device_reserve(gc_run_state_bytes(run));
	code = gc_run_upload_columns(run, run->p->npipelines - 1);
	gc_device_reserve(0);
	return code;
}

/* Queue everything that comes before the main kernel. */
static GcCode
prepare(GcRun *run)
{
	const GcDeviceOps *ops = gc_worker.ops;
	int			main = run->p->npipelines - 1;
	GcCode		code;

	if (!run->begun)
		gc_request_begins(run->slot);
	run->begun = true;
	memset(&run->err, 0, sizeof(run->err));
	memset(&run->piece, 0, sizeof(run->piece));
	gc_passes_begin(run->passes);
	run->stream = ops->stream_get(gc_worker.dev, &run->err);
	if (run->stream == NULL)
		return run->err.code;
	if ((code = gc_run_make_result(run)) != GC_OK || (code = gc_run_upload(run)) != GC_OK ||
		(code = gc_run_allocate(run)) != GC_OK || (code = gc_edge_allocate(run)) != GC_OK ||
		(code = upload_main_columns(run)) != GC_OK)
		return code;
	if ((code = gc_run_below(run, main)) != GC_OK ||
		(code = ops->fill(run->stream, run->sink, 0, run->sink_zero, &run->err)) != GC_OK)
		return code;
	if (run->copied)
		run->built = ops->event_timed(run->stream, &run->err);
	else if (run->began)
		run->copied = ops->event_timed(run->stream, &run->err);
	return run->err.code;
}

GcEvent *
gc_run_prepared(GcRun *run)
{
	if (run->prepared == NULL)
		run->prepared = gc_worker.ops->event(run->stream, &run->err);
	return run->prepared;
}

void
gc_run_not_prepared(GcRun *run)
{
	if (run->prepared)
		gc_worker.ops->event_put(gc_worker.dev, run->prepared);
	run->prepared = NULL;
}

/* Is a part of the scan left to be launched? */
static bool
has_more_pieces(const GcRun *run)
{
	return run->piece.from + run->piece.count < run->pairs.count;
}

/* All of a pass of the main pipeline, or a piece of it, is queued: queue what comes behind that. */
static GcCode
end_queueing(GcRun *run, bool last)
{
	GcCode		code;

	if (last)
		return gc_run_queue_result(run);
	if (!has_more_pieces(run) && (code = gc_run_launch_rests(run, run->p->npipelines - 1, run->sink)) != GC_OK)
		return code;
	run->done = gc_worker.ops->event(run->stream, &run->err);
	run->state = RUN_RUNNING;
	gc_run_takes_less(run);
	return run->done ? GC_OK : run->err.code;
}

GcCode
gc_run_start_main(GcRun *run, GcPipelineKernel *k, const GcGrid *grid, u32 first_tile)
{
	int			main = run->p->npipelines - 1;
	const bool	last_pass = gc_passes_last(run->passes, main);
	GcScanPart	part = {.n = run->request->inputs[run->main->input].nsources,.first_tile = first_tile,.timed = true,
	.whole_shared = run->launch->whole_shared,.last = last_pass};
	GcCode		code;

	if (gc_run_in_waves(run))
	{
		gc_wave_scan_begin(run, last_pass);
		run->streaming = true;
		run->state = RUN_RUNNING;
		gc_run_takes_less(run);
		return GC_OK;
	}
	if (run->pairs.slices > 0)
	{
		run->piece = gc_pairs_piece(run->request, main, &run->pairs, run->piece.from + run->piece.count,
									run->piece_pairs > 0 ? run->piece_pairs : gc_pairs_first());
		part.pairs = run->piece;
		part.last = last_pass && !has_more_pieces(run);
		INSTR_TIME_SET_CURRENT(run->piece_began);
	}
	code = gc_run_launch(run, main, k, grid, &part, run->sink);
	if (code != GC_OK)
		return code;
	run->launch->ntiles = gc_slot_run_info(run->slot)->ntiles;
	return end_queueing(run, part.last);
}

static void
give_back(GcRun *run)
{
	if (run->result)
		gc_arena_free(run->result, run->result->size);
	run->result = NULL;
	release_device(run);
}

/* What was queued must be over before its memory is given to other runs. */
static void
back_out(GcRun *run)
{
	(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	give_back(run);
}

void
gc_run_fail_start(GcRun *run)
{
	back_out(run);
	run->state = RUN_FINISHED;
}

/* Has every session left that waits for the run? */
static bool
nobody_waits(GcRun *run)
{
	if (!gc_slot_abandoned(run->slot) || run->followers != NIL)
		return false;
	gc_fail(&run->err, GC_CANCELLED, "The request was abandoned.");
	return true;
}

/*
 * Queue what comes before the main kernel.  Where memory runs out, the steps of pipelines are fused, so that packets
 * between them take none.  If that is not enough, columns are scanned in waves.  If that
 * is not enough either, the request waits as long as others hold memory; then it has more passes.
 */
static bool
advance_waiting(GcRun *run, int others)
{
	GcCode		code;

	if (nobody_waits(run))
	{
		run->state = RUN_FINISHED;
		return true;
	}
	if (gc_edges_wanted(run) && !gc_edges_fit(run))
	{
		(void) ask_again(run);
		return true;
	}
	if (!gc_run_admit(run))
		return false;
	/* Builds queue all their waves.  Alone, the request itself is what holds the memory that it lacks. */
	gc_device_may_wait(others == 0);
	code = prepare(run);
	gc_device_may_wait(false);
	if (code == GC_OK)
	{
		run->state = RUN_READY;
		return true;
	}
	if (code == GC_DEVICE_MEMORY && gc_edges_wanted(run))
	{
		gc_run_leave_admitted(run, true);
		back_out(run);
		run->refused_change = 0;
		(void) ask_again(run);
		return true;
	}
	if (code == GC_DEVICE_MEMORY && !run->all_waves && gc_wave_scan_possible(run))
	{
		/* Others get nothing by this, and need not try again; this one may at once. */
		gc_run_leave_admitted(run, true);
		back_out(run);
		run->refused_change = 0;
		run->all_waves = true;
		return true;
	}
	gc_run_leave_admitted(run, true);
	back_out(run);
	if (code == GC_DEVICE_MEMORY && others > 0)
	{
		/* Try again when another run is done. */
		run->all_waves = false;
		return false;
	}
	if (code != GC_DEVICE_MEMORY || !plan_passes(run, true))
		run->state = RUN_FINISHED;
	return true;
}

/* A READY run waits for the scheduler; it ends if no session waits for it any more. */
static bool
advance_ready(GcRun *run, int others)
{
	GcEvent	   *prepared;
	bool		done = false;

	gc_run_hooks->waits(run, others);
	if (run->state == RUN_FINISHED)
		return true;

	if (!gc_slot_abandoned(run->slot) || run->followers != NIL)
		return false;
	prepared = gc_run_prepared(run);
	if (prepared && gc_worker.ops->event_done(prepared, &done, &run->err) == GC_OK && !done)
		return false;
	(void) nobody_waits(run);
	give_back(run);
	run->state = RUN_FINISHED;
	return true;
}

/*
 * Launch the main kernel once more, for the next piece of the scan or the next pass.  The request ends if
 * nobody waits for it.  Where other requests are there, it is READY, so that they get their turn.
 */
static void
go_on(GcRun *run, int others)
{
	if (run->done)
		gc_worker.ops->event_put(gc_worker.dev, run->done);
	run->done = NULL;
	if (nobody_waits(run))
	{
		run->state = RUN_FINISHED;
		return;
	}
	if (others == 0)
	{
		if (gc_run_start_main(run, gc_run_own_kernel(run), &run->launch->grid, 0) != GC_OK)
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
	run->piece_pairs = gc_pairs_next(run->request, run->p->npipelines - 1, &run->piece, gc_us_since(run->piece_began));
	go_on(run, others);
}

/* Queue what the main pipeline's next pass probes and scans. */
static GcCode
prepare_pass(GcRun *run)
{
	memset(&run->piece, 0, sizeof(run->piece));
	return gc_run_below(run, run->p->npipelines - 1);
}

/* A pass of the main pipeline is done, and there are more. */
static void
end_pass(GcRun *run, int others)
{
	(void) gc_passes_next(run->passes, run->p->npipelines - 1);
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
	(void) gc_passes_next(run->passes, run->p->npipelines - 1);
	gc_passes_next_groups(run->passes);
	if (gc_run_make_result(run) != GC_OK || gc_worker.ops->fill(run->stream, run->sink, 0, run->sink_zero, &run->err) != GC_OK ||
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
	again = gc_passes_grow(run->passes, code, number) && !gc_slot_abandoned(run->slot);
	if (again)
	{
		gc_run_unstart(run);
		give_back(run);
	}
	run->state = RUN_FINISHED;
	if (again && !plan_passes(run, false) && run->err.code == code)
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
	const bool	stop = nobody_waits(run);

	if (stop)
		gc_wave_scan_stop(run);
	else
		code = gc_wave_scan_drive(run, &moved, &over);
	if (code == GC_OK && stop)
	{
		run->streaming = false;
		run->done = gc_worker.ops->event(run->stream, NULL);
		code = run->done ? GC_OK : GC_DEVICE_FAILED;
		moved = true;
	}
	else if (code == GC_OK && over)
	{
		run->streaming = false;
		code = end_queueing(run, gc_passes_last(run->passes, run->p->npipelines - 1));
		moved = true;
	}
	if (code == GC_OK)
		return moved;
	gc_run_fail_start(run);
	return true;
}

static bool
advance_running(GcRun *run, int others)
{
	bool		done = false;
	GcCode		code;
	u64			n;

	if (run->streaming)
		return advance_streaming(run);
	/* It comes behind the selection bitmaps, and gc_schedule_due looks for those. */
	if (run->launch->selection && !run->launch->select_done)
		return false;
	code = gc_worker.ops->event_done(run->done, &done, &run->err);
	if (code == GC_OK && !done)
		return false;
	if (code == GC_OK && run->err.code == GC_CANCELLED)
	{
		run->state = RUN_FINISHED;
		return true;
	}
	if (code == GC_OK && has_more_pieces(run))
	{
		end_piece(run, others);
		return true;
	}
	if (code == GC_OK && run->state == RUN_RUNNING && !gc_passes_last(run->passes, run->p->npipelines - 1))
	{
		end_pass(run, others);
		return true;
	}
	if (code == GC_OK && run->state == RUN_RUNNING)
	{
		gc_run_note_times(run);
		code = gc_run_check_flags(run);
		n = run->main->sink == GC_SINK_ROWS || run->choose ? run->flags[GC_FLAG_ROWS] : run->flags[GC_FLAG_GROUPS];
		if (code == GC_OK && (run->main->sink == GC_SINK_ROWS || (gc_run_keyed(run) && n > run->early)))
		{
			code = gc_run_fetch_rest(run, n);
			if (code == GC_OK)
			{
				gc_worker.ops->event_put(gc_worker.dev, run->done);
				run->done = gc_worker.ops->event(run->stream, &run->err);
				run->state = RUN_FETCHING;
				gc_run_takes_less(run);
				if (run->done)
					return true;
				code = run->err.code;
			}
			else
				(void) gc_worker.ops->drain(gc_worker.dev, NULL);
		}
		else if (code == GC_OK && gc_run_keyed(run))
			run->result->count = n;
	}
	if (code == GC_OK && !gc_passes_last_groups(run->passes))
		end_part(run, others);
	else
		end_run(run, code);
	return true;
}

/* A follower for which no session waits any more leaves its leader. */
static bool
advance_follower(GcRun *run)
{
	if (!nobody_waits(run))
	{
		gc_slot_note_compiling(run->slot, gc_slot_compiling(run->leader->slot));
		return false;
	}
	run->leader->followers = list_delete_ptr(run->leader->followers, run);
	run->leader = NULL;
	run->state = RUN_FINISHED;
	return true;
}

bool
gc_run_advance(GcRun *run, int others)
{
	if (run->leader)
		return advance_follower(run);
	switch (run->state)
	{
		case RUN_COMPILING:
			if (nobody_waits(run))
				run->state = RUN_FINISHED;
			else if (!gc_run_kernels_ready(run))
			{
				gc_slot_note_compiling(run->slot, true);
				return false;
			}
			gc_slot_note_compiling(run->slot, false);
			if (run->state != RUN_FINISHED)
				run->state = RUN_WAITING;
			return true;
		case RUN_WAITING:
			return advance_waiting(run, others);
		case RUN_READY:
			return advance_ready(run, others);
		case RUN_RUNNING:
		case RUN_FETCHING:
			return advance_running(run, others);
		default:
			return false;
	}
}

static void
finish_follower(GcRun *leader, GcRun *run)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcRunInfo	own = *info;
	GcError		err = leader->err;
	GcResult   *result = NULL;

	/* What the kernels did is the leader's; the time in the queue is the follower's own. */
	*info = *gc_slot_run_info(leader->slot);
	info->queue_ms = own.queue_ms;
	info->shared_result = 1;
	info->kernels = info->compiled = info->builds_run = 0;
	if (err.code == GC_OK && (result = gc_result_copy(leader->result)) == NULL)
		gc_fail(&err, GC_RESULT_TOO_LARGE, "A result of %zu kB does not fit the shared memory.",
				leader->result->size / 1024);
	run->leader = NULL;
	run->state = RUN_FINISHED;
	run->err = err;
	run->result = result;
}

/* The device is closed and the worker exits: only shared memory is given back. */
void
gc_run_forget(GcRun *run)
{
	if (run->result)
		gc_arena_free(run->result, run->result->size);
	run->result = NULL;
	gc_run_free_parts(run);
	if (run->launch)
		gc_main_launch_forget(run->launch);
}

/*
 * Hand the result over (or give it back) and free the run.  Its followers become
 * finished too.
 */
void
gc_run_free(GcRun *run)
{
	GcCode		code = run->err.code;
	ListCell   *lc;

	foreach(lc, run->followers)
		finish_follower(run, lfirst(lc));
	gc_run_hooks->ends(run);
	release_device(run);
	if (code != GC_OK && run->result)
	{
		gc_arena_free(run->result, run->result->size);
		run->result = NULL;
	}
	gc_slot_finish(run->slot, &run->err, run->result);
	MemoryContextDelete(run->cxt);
}
