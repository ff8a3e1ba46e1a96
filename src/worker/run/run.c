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
 * The scan of its main pipeline is one launch, or one piece after the other, or waves (wave_scan.c).  A scan in passes
 * has one of these in each pass, and may begin again for another part of its groups.
 *
 * The worker's main thread.  A run owns its stream, its events and its sink from prepare() on,
 * and its result until the session has it.  It holds tables, builds and its launch.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "../memory/device_memory.h"
#include "../memory/eviction.h"
#include "../memory/state.h"
#include "launch.h"
#include "passes.h"
#include "stop.h"
#include "wave_scan.h"

/* A dense group table of more groups is compacted on the device first. */
#define GATHER_GROUPS	16384

/* How often a request that does not fit is planned, with more passes or more room for each. */
#define MOST_PLANS		12

const GcRunHooks *gc_run_hooks = NULL;

/* Do two requests ask for exactly the same?  Edges that are forced are to be compared, so each is launched. */
static bool
same_request(const GcRequest *a, const GcRequest *b)
{
	return a->share.h[0] != 0 && memcmp(&a->share, &b->share, sizeof(GcHash)) == 0 &&
		a->edge == b->edge && a->edge_tile == b->edge_tile && a->edge_step == b->edge_step &&
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

		if (other->leader == NULL && !other->schedule.stopped && other->state != RUN_FINISHED &&
			run->state != RUN_FINISHED && same_request(other->request, run->request))
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

/*
 * Requests with the same number can share a scan.  It is a scan of the same chunks of the heap, or,
 * where no page is in one, of the same directory.
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
	hot = gc_cached_sources(in) > 0 && sources[0].chunk >= dir->nheap;
	run->schedule.scan = (u32) ((hot ? 2 * dir->id + 1 : 2 * dir->heap_id) % PG_UINT32_MAX) + 1;
	run->schedule.scan_chunks = hot ? dir->nchunks : dir->nheap;
}

/*-------------------------------------------------------------------------
 * Its kernels
 *-------------------------------------------------------------------------
 */

/* Ask for the kernels of all pipelines; the run is FINISHED if there can be none. */
static void
ask_kernels(GcRun *run)
{
	for (int i = 0; i < run->p->npipelines && run->state != RUN_FINISHED; i++)
	{
		const GcSplits splits = run->scan.passes ? gc_passes_splits(run->scan.passes, i) : (GcSplits) {0};

		if (i + 1 == run->p->select && !run->result.choose)
			continue;
		run->kernels.of[i] = gc_signature_kernel(run->request, i, &splits, &run->kernels.fresh[i], &run->err);
		if (run->kernels.of[i] == NULL)
			run->state = RUN_FINISHED;
	}
}

/* Ask for other kernels, of pipelines whose steps are fused.  False if there are none: the run is FINISHED. */
static bool
ask_again(GcRun *run)
{
	run->request->edge = GC_EDGE_FUSE;
	run->state = RUN_COMPILING;
	ask_kernels(run);
	return run->state != RUN_FINISHED;
}

/*
 * Plan passes, or more of them; less: memory ran out.  True if the run is to be tried again.  Its kernels
 * may be others then.
 */
static bool
plan_passes(GcRun *run, bool less)
{
	if (run->kernels.attempts++ == MOST_PLANS)
		return false;
	if (run->scan.passes == NULL)
		run->scan.passes = gc_passes_make(run->request, run->result.gather, run->result.choose, run->cxt);
	if (!gc_passes_plan(run->scan.passes, run->kernels.attempts > 1, less))
		return false;
	gc_slot_run_info(run->slot)->passes = gc_passes_count(run->scan.passes);
	return ask_again(run);
}

/* Are there lookup tables that the device computes itself? */
static bool
computes_lookups(const GcRun *run)
{
	for (int i = 0; i < run->p->nluts; i++)
	{
		if (run->request->luts[i].dict)
			return true;
	}
	return false;
}

/* Is a kernel there?  If it cannot be had, the run is FINISHED. */
static bool
is_ready(GcRun *run, GcPipelineKernel *k)
{
	if (k->final)
		return true;
	switch (gc_kernel_poll(k, &run->err))
	{
		case GC_KERNEL_COMPILING:
			return false;
		case GC_KERNEL_FAILED:
			run->state = RUN_FINISHED;
			return true;
		default:
			return true;
	}
}

/* True once every kernel is loaded, or one failed, which finishes the run. */
static bool
kernels_ready(GcRun *run)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	const bool	wanted[GC_NFIXED] = {[GC_FIXED_COMPACTOR] = run->result.gather,[GC_FIXED_TEXT] = computes_lookups(run),
	[GC_FIXED_HOLES] = run->request->nvisible > 0,[GC_FIXED_WINDOW] = run->p->nwindows > 0};
	bool		failed;

	for (int i = 0; i < run->p->npipelines; i++)
	{
		for (GcPipelineKernel *k = run->kernels.of[i]; k; k = k->consumer)
		{
			if (!is_ready(run, k))
				return false;
			if (run->state == RUN_FINISHED)
				return true;
		}
	}
	for (int i = 0; i < GC_NFIXED; i++)
	{
		if (!wanted[i] || gc_fixed_kernel(i, &run->err, &failed) != NULL)
			continue;
		if (failed)
			run->state = RUN_FINISHED;
		return failed;
	}
	for (int i = 0; i < run->p->npipelines; i++)
	{
		GcKernelOrigin origin;

		if (!run->kernels.fresh[i])
			continue;
		origin = gc_kcache_origin(run->kernels.of[i]->entry);
		info->compiled += origin == GC_ORIGIN_COMPILED;
		info->from_disk += origin == GC_ORIGIN_DISK;
	}
	info->compile_ms = (GetCurrentTimestamp() - run->schedule.taken) / 1000.0;
	return true;
}

/*-------------------------------------------------------------------------
 * Its start
 *-------------------------------------------------------------------------
 */

/* A run for a request that was taken from the queue.  Its kernels are asked for; FINISHED if there can be none. */
GcRun *
gc_run_start(int slot)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext, "gpuconc run", ALLOCSET_SMALL_SIZES);
	GcRun	   *run = MemoryContextAllocZero(cxt, sizeof(GcRun));
	const bool	whole = gc_slot_request(slot)->split_groups == 0;
	GcProgram  *p;

	run->cxt = cxt;
	run->slot = slot;
	run->request = gc_slot_request(slot);
	run->p = p = run->request->program;
	run->schedule.taken = GetCurrentTimestamp();
	gc_slot_run_info(slot)->queue_ms = (run->schedule.taken - gc_slot_submitted(slot)) / 1000.0;
	run->main = &gc_pipelines(p)[p->npipelines - 1];
	run->kernels.set = gc_kernels_hold(NULL);
	run->kernels.of = MemoryContextAllocZero(cxt, p->npipelines * sizeof(GcPipelineKernel *));
	run->kernels.fresh = MemoryContextAllocZero(cxt, p->npipelines * sizeof(bool));
	run->memory.tables = MemoryContextAllocZero(cxt, (p->ncolumns + 1) * sizeof(GcTable *));
	run->memory.builds = MemoryContextAllocZero(cxt, (p->nbuilds + 1) * sizeof(GcBuildTable *));
	run->memory.matched = MemoryContextAllocZero(cxt, (p->nbuilds + 1) * sizeof(GcAddr));
	run->scan.waves = MemoryContextAllocZero(cxt, p->npipelines * sizeof(struct GcWaveScan *));
	run->memory.dicts = MemoryContextAllocZero(cxt, (p->nluts + 1) * sizeof(GcDeviceDict *));
	run->memory.lookups = MemoryContextAllocZero(cxt, (p->nluts + 1) * sizeof(GcDeviceLookup *));
	run->result.gather = run->main->sink == GC_SINK_AGGREGATE &&
		run->main->group_mode == GC_GROUP_DENSE && gc_run_main_sink(run)->ngroups > GATHER_GROUPS;
	/* A part of a request does not know groups' totals: the session chooses. */
	run->result.choose = p->select > 0 && run->request->nparts == 1 &&
		(run->result.gather || run->main->group_mode == GC_GROUP_HASH);
	run->result.gather = run->result.gather && !run->result.choose;
	run->memory.sinks = MemoryContextAllocZero(cxt, p->npipelines * sizeof(GcSinkMemory));
	run->kernels.timed = MemoryContextAllocZero(cxt, p->npipelines);
	run->state = RUN_COMPILING;
	run->scan.pairs = gc_pairs_of(run->request, p->npipelines - 1);
	number_scan(run);
	run->schedule.ticket = gc_stop_ticket();
	run->hooks = gc_run_hooks;
	run->schedule.share = run->hooks->begins(run);

	gc_slot_run_info(slot)->passes = 1;
	if (!gc_signature_check(run->request, &run->err))
		run->state = RUN_FINISHED;
	/* Passes know which groups are this device's, though all may fit. */
	else if ((whole && gc_passes_fit(run->request, run->result.gather, run->result.choose)) || !plan_passes(run, whole))
		ask_kernels(run);
	return run;
}

/*-------------------------------------------------------------------------
 * Memory that a run gives back
 *-------------------------------------------------------------------------
 */

void
gc_run_unstart(GcRun *run)
{
	gc_main_launch_leave(&run->schedule);
	run->hooks->leaves(run);
	run->state = RUN_READY;
}

/* Give back everything on the device, which no longer uses it. */
static void
release_device(GcRun *run)
{
	gc_wave_scans_leave(run);
	run->hooks->gives_back(run);
	gc_main_launch_leave(&run->schedule);
	gc_run_free_memory(run);
	gc_run_free_parts(run);
	gc_run_leave_admitted(run, false);
}

/* Give back the result, too; the run may be started again. */
static void
give_back(GcRun *run)
{
	gc_run_drop_result(run);
	release_device(run);
}

/* May something of the run be on other streams: waves, or a launch that it shares? */
static bool
on_other_streams(const GcRun *run)
{
	for (int n = 0; n < run->p->npipelines; n++)
	{
		if (run->scan.waves[n])
			return true;
	}
	return run->schedule.launch != NULL;
}

/*
 * As give_back, once queued work is over: before that, no other run may be given its memory.  Others' kernels
 * may run for long, and the worker serves nobody while it waits for them.
 */
static void
back_out(GcRun *run)
{
	if (run->memory.stream && !on_other_streams(run))
		gc_run_await(run);
	else if (run->memory.stream)
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	give_back(run);
}

void
gc_run_fail_start(GcRun *run)
{
	back_out(run);
	run->state = RUN_FINISHED;
}

void
gc_run_forget(GcRun *run)
{
	gc_run_drop_result(run);
	gc_run_free_parts(run);
	if (run->schedule.launch && run->schedule.launch->ops)
		run->schedule.launch->ops->forget(run->schedule.launch);
}

/*-------------------------------------------------------------------------
 * Whole scans, and pieces
 *-------------------------------------------------------------------------
 */

/*
 * A kind of scan.  A run is begin; next, until all is queued, with an end whenever queued work is done; the fetching of
 * its result; end.
 */
typedef struct GcScanKind
{
	/* Nothing of it is queued. */
	void		(*begin) (GcRun *run);
	/*
	 * Queue the next piece of work.  last: nothing comes behind this scan, so that its last launch can deliver the
	 * result.
	 */
	GcScanStep	(*next) (GcRun *run, const GcScanLaunch *launch, bool last);
	/*
	 * Its queued work is done; fetched: its result is on the host.  Does the scan go on, or the run end with run->err?
	 */
	bool		(*end) (GcRun *run, bool fetched);
} GcScanKind;

/* Launch the main kernel for a part of the scan. */
static GcScanStep
launch_part(GcRun *run, const GcScanLaunch *launch, GcPairs pairs, bool last, GcScanStep step)
{
	const GcScanPart part = {.n = run->request->inputs[run->main->input].nsources,.first_tile = launch->first_tile,
	.timed = true,
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

/* There is nothing to go on with. */
static bool
end_whole(GcRun *run, bool fetched)
{
	return false;
}

/* Are there pairs behind the piece that was launched last? */
static bool
has_more_pieces(const GcRun *run)
{
	return run->scan.piece.from + run->scan.piece.count < run->scan.pairs.count;
}

/* The next piece is the first one. */
static void
begin_pieces(GcRun *run)
{
	memset(&run->scan.piece, 0, sizeof(run->scan.piece));
}

/* Launch as many pairs as take the time that a piece is to take. */
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

/* Go on if there are more; the next piece is as long as this one's time says. */
static bool
end_piece(GcRun *run, bool fetched)
{
	GcRunScan  *s = &run->scan;

	if (!has_more_pieces(run))
		return false;
	s->piece_pairs = gc_pairs_next(run->request, run->p->npipelines - 1, &s->pairs, &s->piece,
								   gc_us_since(s->piece_began));
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
 * Scans in passes
 *-------------------------------------------------------------------------
 */

/* The first pass, and the scan within it. */
static void
begin_passes(GcRun *run)
{
	gc_passes_begin(run->scan.passes);
	kind_within(run)->begin(run);
}

/*
 * Go on within the pass.  The last one delivers the result; behind each other one come the rests
 * (gc_run_launch_rests).
 */
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
	/* Queue the tables that the next pass probes and scans. */
	if (code != GC_OK || gc_run_below(run, main) != GC_OK)
		gc_run_fail_start(run);
	return true;
}

/* The kind of the run's scan: passes, or kind_within()'s. */
static const GcScanKind *
scan_kind(const GcRun *run)
{
	static const GcScanKind passes = {begin_passes, next_in_pass, end_pass};

	return run->scan.passes ? &passes : kind_within(run);
}

/*-------------------------------------------------------------------------
 * A run on the device
 *-------------------------------------------------------------------------
 */

/* Queue the next part of the scan, and behind the last of it the result. */
static GcCode
queue_next(GcRun *run, const GcScanLaunch *launch, bool *moved)
{
	const GcScanStep step = scan_kind(run)->next(run, launch, true);

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

	if (code == GC_OK && run->result.parts != NIL)
		code = gc_run_join_parts(run);
	run->err.code = code;
	again = run->scan.passes && gc_passes_grow(run->scan.passes, code, number) && !gc_slot_abandoned(run->slot);
	if (again)
	{
		gc_run_unstart(run);
		give_back(run);
	}
	run->state = RUN_FINISHED;
	if (again && !plan_passes(run, false) && run->err.code == code)
		gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for parts of unequal size.");
}

/* The device is done with queued work: go on with the scan, or take the result. */
static void
end_queued(GcRun *run, int others)
{
	const GcScanKind *kind = scan_kind(run);
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

/* A run that is RUNNING or FETCHING. */
static bool
advance_running(GcRun *run, int others)
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
	/* The launch comes behind the selection bitmaps, and gc_schedule_due looks for those. */
	if (run->schedule.launch->selection && !run->schedule.launch->select_done)
		return false;
	code = gc_worker.ops->event_done(run->scan.done, &done, &run->err);
	if (code != GC_OK)
		gc_run_fail_start(run);
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

/*-------------------------------------------------------------------------
 * Its states
 *-------------------------------------------------------------------------
 */

/* The scan begins, and everything is queued that comes before the main kernel. */
static GcCode
prepare(GcRun *run)
{
	if (!run->schedule.begun)
		gc_request_begins();
	run->schedule.begun = true;
	memset(&run->err, 0, sizeof(run->err));
	scan_kind(run)->begin(run);
	return gc_run_make_result(run) == GC_OK ? gc_run_prepare(run) : run->err.code;
}

/* Is a pipeline whose kernel writes packets to be scanned in waves?  Such a scan has none. */
static bool
packets_in_waves(const GcRun *run)
{
	for (int n = 0; n < run->p->npipelines; n++)
	{
		if (run->kernels.of[n] && gc_has_packets(run->kernels.of[n]) && gc_wave_scan_wanted(run, n))
			return true;
	}
	return false;
}

/*
 * Queue the work before the main kernel.  Where memory runs out, the steps of pipelines are fused, so that packets
 * between them take none.  If that is not enough, columns are scanned in waves.  If that is not enough either, the
 * request waits as long as others hold memory; then it has more passes.
 */
static bool
advance_waiting(GcRun *run, int others)
{
	GcCode		code;

	if (gc_run_nobody_waits(run))
	{
		run->state = RUN_FINISHED;
		return true;
	}
	if (gc_edges_wanted(run) && (packets_in_waves(run) || !gc_edges_fit(run)))
	{
		(void) ask_again(run);
		return true;
	}
	if (!gc_run_admit(run))
		return false;
	/* Builds queue all their waves.  Alone, the request itself holds the memory that it lacks. */
	gc_worker.may_wait = others == 0;
	run->memory.prepared_alone = others == 0;
	code = prepare(run);
	gc_worker.may_wait = false;
	if (code == GC_OK)
	{
		run->state = RUN_READY;
		gc_slot_note_begun(run->slot);
		return true;
	}
	if (code == GC_DEVICE_MEMORY && gc_edges_wanted(run))
	{
		gc_run_leave_admitted(run, true);
		back_out(run);
		run->memory.claim.refused_change = 0;
		(void) ask_again(run);
		return true;
	}
	if (code == GC_DEVICE_MEMORY && !run->scan.all_waves && gc_wave_scan_possible(run))
	{
		/* Others get nothing by this, and need not try again; this one may at once. */
		gc_run_leave_admitted(run, true);
		back_out(run);
		run->memory.claim.refused_change = 0;
		run->scan.all_waves = true;
		return true;
	}
	gc_run_leave_admitted(run, true);
	back_out(run);
	if (code == GC_DEVICE_MEMORY && others > 0)
	{
		/* Try again when another run is done. */
		run->scan.all_waves = false;
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

	run->hooks->waits(run, others);
	if (run->state == RUN_FINISHED)
		return true;

	if (gc_run_wanted(run))
		return false;
	prepared = gc_run_prepared(run);
	if (prepared && gc_worker.ops->event_done(prepared, &done, &run->err) == GC_OK && !done)
		return false;
	(void) gc_run_nobody_waits(run);
	if (done)
		give_back(run);
	else
		back_out(run);
	run->state = RUN_FINISHED;
	return true;
}

/* A follower for which no session waits any more leaves its leader. */
static bool
advance_follower(GcRun *run)
{
	if (!gc_run_nobody_waits(run))
	{
		gc_slot_note_compiling(run->slot, gc_slot_compiling(run->leader->slot));
		if (gc_run_holds_device(run->leader))
			gc_slot_note_begun(run->slot);
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
			if (gc_run_nobody_waits(run))
				run->state = RUN_FINISHED;
			else if (!kernels_ready(run))
			{
				gc_slot_note_compiling(run->slot, true);
				return false;
			}
			gc_slot_note_compiling(run->slot, false);
			if (run->state != RUN_FINISHED)
				run->state = run->request->only_compiles ? RUN_FINISHED : RUN_WAITING;
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

/* The leader is over: the follower holds its result, or has its error. */
static void
finish_follower(GcRun *leader, GcRun *run)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcRunInfo	own = *info;

	/* The kernels' results are the leader's; the time in the queue is the follower's own. */
	*info = *gc_slot_run_info(leader->slot);
	info->queue_ms = own.queue_ms;
	info->shared_result = 1;
	info->kernels = info->compiled = info->builds_run = 0;
	run->leader = NULL;
	run->state = RUN_FINISHED;
	run->err = leader->err;
	run->result.block = leader->err.code == GC_OK ? gc_result_hold(leader->result.block) : NULL;
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
	run->hooks->ends(run);
	release_device(run);
	if (code != GC_OK)
		gc_run_drop_result(run);
	gc_slot_finish(run->slot, &run->err, run->result.block);
	gc_kernels_let_go(run->kernels.set);
	MemoryContextDelete(run->cxt);
}
