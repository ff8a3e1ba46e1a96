/*-------------------------------------------------------------------------
 *
 * result.c
 *	  A request's result: its block, the copies that fill it, and its kernels' notes.
 *
 * The block lies in the arena.  The run holds it until gc_slot_finish hands it to the session, and so do the sessions
 * of its followers.
 * The part that can be had at once is copied behind the main kernel (gc_run_queue_result).  The rest of a hashed or row
 * result is copied once its size is known (fetch_rest()).
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "../../queue/batchlog.h"
#include "../../queue/build_keys.h"
#include "../../queue/route.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "passes.h"
#include "run_memory.h"
#include "wave_scan.h"

/*
 * The kernel itself brings a result of at most so many bytes to the host.  Larger results are
 * copied.  The limit is a guess.
 */
#define DELIVER_MOST	(32 * 1024)

/* So many groups of a hashed group table are fetched before their number is known. */
#define EARLY_GROUPS	1024

/* Does the result come as groups with keys (or numbers), in no order? */
static bool
is_keyed(const GcRun *run)
{
	return run->result.gather || run->result.choose || (run->main->sink == GC_SINK_AGGREGATE &&
										  run->main->group_mode == GC_GROUP_HASH);
}

/* 64-bit words of a group's key. */
static int
key_words(const GcRun *run)
{
	return run->main->group_mode == GC_GROUP_DENSE ? 1 : gc_run_main_sink(run)->key_words;
}

/* A result block with room for n groups or rows. */
static GcResult *
make_result(GcRun *run, u64 n, u64 stride)
{
	u64			word_bytes,
				key_bytes = 0;
	Size		size;
	GcResult   *result;

	if (run->main->sink == GC_SINK_ROWS)
		word_bytes = gc_row_words(run->p, run->main) * stride * 8;
	else
		word_bytes = n * run->main->group_words * 8;
	if (is_keyed(run))
		key_bytes = n * key_words(run) * 8;
	StaticAssertStmt(GC_NFLAGS * sizeof(u32) <= GC_TIMES_AT, "times lie behind the flags");
	StaticAssertStmt(GC_TIMES_AT + GC_NTIMES * sizeof(u64) <= GC_BLOCKS_AT && GC_BLOCKS_AT < GC_PACKETS_AT &&
					 GC_HELD_AT < GC_DONE_AT, "and before what tells that all is done");
	size = MAXALIGN(sizeof(GcResult)) + GC_FLAGS_ROOM + word_bytes + key_bytes;
	result = gc_arena_alloc(size);
	if (result == NULL)
	{
		gc_fail(&run->err, GC_RESULT_TOO_LARGE, "A result of %zu kB does not fit the shared memory.",
				size / 1024);
		return NULL;
	}
	result->size = size;
	pg_atomic_init_u32(&result->holders, 1);
	result->count = n;
	result->stride = stride;
	result->gathered = run->result.gather || (run->result.choose && run->main->group_mode == GC_GROUP_DENSE);
	result->chosen = run->result.choose;
	result->words = (u64 *) ((char *) result + MAXALIGN(sizeof(GcResult)) + GC_FLAGS_ROOM);
	result->keys = (i64 *) ((char *) result->words + word_bytes);
	return result;
}

/* A result's flags, which lie behind its header. */
static u32 *
result_flags(GcResult *result)
{
	return (u32 *) ((char *) result + MAXALIGN(sizeof(GcResult)));
}

/* Where the groups to be fetched have their words. */
static GcAddr
group_words_at(const GcRun *run)
{
	return run->result.gather || run->result.choose ? run->memory.gathered
		: run->memory.sinks[run->p->npipelines - 1].groups;
}

/* And their keys, or numbers. */
static GcAddr
group_keys_at(const GcRun *run)
{
	return run->result.gather || run->result.choose ? run->memory.gathered_keys
		: run->memory.sinks[run->p->npipelines - 1].group_keys;
}

/* GcRunResult.delivers. */
static u32
words_delivered(const GcRun *run)
{
	const u64	bytes = GC_FLAGS_ROOM + run->result.early * run->main->group_words * 8;

	/* The rests of the main pipeline write to its sink, too. */
	for (int n = 0; n < run->p->npipelines; n++)
	{
		if (gc_pipelines(run->p)[n].rest_of == run->p->npipelines)
			return 0;
	}
	if (is_keyed(run) || bytes > DELIVER_MOST || !gc_kernels_reach(run->result.flags, bytes))
		return 0;
	return bytes / 8;
}

/* Make the block for flags and the part of the result that can be had at once. */
GcCode
gc_run_make_result(GcRun *run)
{
	bool		keyed = is_keyed(run);

	run->result.early = run->main->sink == GC_SINK_ROWS ? 0
		: keyed
		? Min(run->result.choose ? gc_run_main_sink(run)->rows_cap : gc_run_main_sink(run)->ngroups, EARLY_GROUPS)
		: gc_run_main_sink(run)->ngroups;
	run->result.block = make_result(run, run->result.early, 0);
	if (run->result.block == NULL)
		return run->err.code;
	run->result.flags = result_flags(run->result.block);
	memset(run->result.flags, 0, GC_FLAGS_ROOM);
	run->result.delivers = words_delivered(run);
	run->result.delivered = false;
	return GC_OK;
}

/* Queue the copies that fill the block. */
static GcCode
fetch_first(GcRun *run)
{
	u64			n = run->result.early;
	u64			words = n * run->main->group_words * 8;
	GcCode		code;

	code = gc_copy_out(run->memory.stream, run->result.flags, run->memory.sink,
					   run->result.gather || run->result.choose ? GC_FLAGS_ROOM : GC_FLAGS_ROOM + words, &run->err);
	if (code == GC_OK && (run->result.gather || run->result.choose) && n > 0)
		code = gc_copy_out(run->memory.stream, run->result.block->words, run->memory.gathered, words, &run->err);
	if (code == GC_OK && is_keyed(run))
		code = gc_copy_out(run->memory.stream, run->result.block->keys, group_keys_at(run),
						   n * key_words(run) * 8, &run->err);
	return code;
}

/* Queue the copies of a result whose size is known only now: n groups or rows. */
static GcCode
fetch_rest(GcRun *run, u64 n)
{
	GcResult   *result = make_result(run, n, n);
	GcCode		code = GC_OK;

	if (result == NULL)
		return run->err.code;
	gc_result_put(run->result.block);
	run->result.block = result;
	gc_copies_begin(&run->result.fetch, run->memory.stream);
	if (run->main->sink == GC_SINK_ROWS)
	{
		const u32	nwords = gc_row_words(run->p, run->main);

		for (u64 c = 0; c < nwords && code == GC_OK && n > 0; c++)
			code = gc_copy_out(run->memory.stream, result->words + c * n,
								 run->memory.sinks[run->p->npipelines - 1].rows + c * gc_run_main_sink(run)->rows_cap * 8, n * 8, &run->err);
		return code;
	}
	code = gc_copy_out(run->memory.stream, result->words, group_words_at(run), n * run->main->group_words * 8,
					   &run->err);
	if (code == GC_OK)
		code = gc_copy_out(run->memory.stream, result->keys, group_keys_at(run), n * key_words(run) * 8, &run->err);
	return code;
}

/* Queue the compactor behind the main kernel. */
static GcCode
launch_compactor(GcRun *run)
{
	bool		failed;
	const GcPipelineKernel *k = gc_fixed_kernel(GC_FIXED_COMPACTOR, &run->err, &failed);
	GcArgs		args = {.scan.flags = run->memory.sink};
	GcLaunch	l = {.blocks = (gc_run_main_sink(run)->ngroups + 255) / 256,.threads = Min(256, k->info.max_threads)};

	args.w[0] = run->memory.sinks[run->p->npipelines - 1].groups;
	args.w[1] = gc_run_main_sink(run)->ngroups;
	args.w[2] = run->main->group_words;
	args.w[3] = run->memory.gathered;
	args.w[4] = run->memory.gathered_keys;
	gc_slot_run_info(run->slot)->kernels++;
	return gc_worker.ops->launch(run->memory.stream, k->kernel, &l, &args, GC_COMPACTOR_WORDS, &run->err);
}

/* Queue the kernel that chooses among the groups, behind the main kernel. */
static GcCode
launch_choice(GcRun *run)
{
	const int	passes = gc_pipelines(run->p)[run->p->select - 1].nkeys > 0 ? 3 : 1;
	GcCode		code = GC_OK;

	/* Only the last pass chooses. */
	for (run->result.pass = 3 - passes; run->result.pass < 3 && code == GC_OK; run->result.pass++)
		code = gc_run_launch_whole(run, run->p->select - 1, run->memory.sink);
	return code;
}

GcCode
gc_run_queue_result(GcRun *run)
{
	u32		   *word = (u32 *) ((char *) run->result.flags + GC_DONE_AT);
	GcStream   *stream = run->schedule.ganged ? run->schedule.launch->gang->stream : run->memory.stream;
	GcCode		code = GC_OK;

	if (!run->result.delivered &&
		((code = gc_run_launch_rests(run, run->p->npipelines - 1, run->memory.sink)) != GC_OK ||
		 (run->result.gather && (code = launch_compactor(run)) != GC_OK) ||
		 (run->result.choose && (code = launch_choice(run)) != GC_OK) || (code = fetch_first(run)) != GC_OK))
		return code;
	run->scan.done = run->result.delivered ? gc_worker.ops->event_written(stream, word, &run->err)
		: gc_worker.ops->event_word(run->memory.stream, word, &run->err);
	if (run->scan.done == NULL)
		return run->err.code;
	run->state = RUN_RUNNING;
	return GC_OK;
}

/* Status by the flags of a pipeline's kernel; build is -1 where it fills none. */
static GcCode
code_of_flags(const GcRun *run, const u32 *flags, int build)
{
	if (flags[GC_FLAG_DATA])
		return GC_DATA;
	if (flags[GC_FLAG_DUPLICATE] && build >= 0 && gc_builds(run->p)[build].unique)
		return GC_RETRY_DUPLICATE;
	return flags[GC_FLAG_BUILD_FULL] ? GC_RETRY_BUILD_FULL : flags[GC_FLAG_GROUPS_FULL] ? GC_RETRY_GROUPS :
		flags[GC_FLAG_ROWS_FULL] ? GC_RETRY_ROWS : GC_OK;
}

/* The code of these flags, with a hint for the session. */
static GcCode
check_flags(GcRun *run, const u32 *flags, int pipeline, int build)
{
	const GcCode code = code_of_flags(run, flags, build);

	switch (code)
	{
		case GC_DATA:
			return gc_fail(&run->err, code, "PostgreSQL might raise an error for some row.");
		case GC_RETRY_DUPLICATE:
			return gc_fail_number(&run->err, code, build, "Build %d has duplicate keys.", build);
		case GC_RETRY_BUILD_FULL:
			return gc_fail_number(&run->err, code, build, "Build %d is full.", build);
		case GC_RETRY_GROUPS:
			return gc_fail_number(&run->err, code, pipeline, "The group table is full.");
		case GC_RETRY_ROWS:
			return gc_fail_number(&run->err, code, (u64) pipeline << 32 | flags[GC_FLAG_ROWS],
								  "The result has %u rows.", flags[GC_FLAG_ROWS]);
		default:
			return GC_OK;
	}
}

/* The flags of the builds and groups that this result rests on, in order.  *n: the first pipeline that has failed. */
static GcCode
check_below(GcRun *run, int *n)
{
	for (*n = 0; *n < run->p->npipelines - 1; (*n)++)
	{
		const GcPPipeline *pl = &gc_pipelines(run->p)[*n];
		const u32  *flags = run->request->group_flags + *n * GC_GROUP_FLAG_WORDS;
		const GcBuildTable *t = pl->sink == GC_SINK_BUILD ? run->memory.builds[pl->build] : NULL;
		GcCode		code = GC_OK;

		if (t && !t->checked && gc_builds(run->p)[pl->build].pipeline == *n)
			code = check_flags(run, t->host_flags, *n, pl->build);
		else if (run->memory.sinks[*n].memory)
			code = check_flags(run, flags, *n, -1);
		if (code == GC_OK && run->memory.sinks[*n].memory && pl->needs_group && flags[GC_FLAG_GROUPS] == 0)
			code = gc_fail(&run->err, GC_UNSUPPORTED, "A grouping set without columns has a group of no row.");
		if (code != GC_OK)
			return code;
	}
	return GC_OK;
}

/* A build is whole and good: tell sessions which keys a dense one has. */
static void
note_keys(const GcRun *run, int b)
{
	const GcBuildTable *t = run->memory.builds[b];

	if (t->share.h[0] != 0 && gc_builds(run->p)[b].mode == GC_BUILD_DENSE)
		gc_build_keys_note(t->share, (GcBuildKeys) {.least = ~t->host_flags[GC_FLAG_LEAST],
			.greatest = Max(t->host_flags[GC_FLAG_BUILT], 1) - 1});
}

/*
 * All flags: of the builds and groups that this result rests on, and of the main kernel.  Builds rest on
 * each other: what was filled behind one that failed may be as bad, whatever its own flags say.
 */
static GcCode
check_all_flags(GcRun *run)
{
	int			failed;
	GcCode		code = check_below(run, &failed);

	for (int b = 0; b < run->p->nbuilds; b++)
	{
		GcBuildTable *t = run->memory.builds[b];
		bool		good = code == GC_OK || gc_builds(run->p)[b].pipeline < failed;

		if (t == NULL || t->checked)
			continue;
		good = good || (!t->rests && code_of_flags(run, t->host_flags, b) == GC_OK);
		t->bad = t->bad || !good;
		/* A split build's next part is to come. */
		t->checked = good && !t->bad && !gc_passes_split_build(run->scan.passes, b);
		if (t->checked)
			note_keys(run, b);
	}
	return code == GC_OK ? check_flags(run, run->result.flags, run->p->npipelines - 1, -1) : code;
}

/* Microseconds between two of a kernel's times; 0: it noted none. */
static float
us_between(u64 began_ns, u64 ended_ns)
{
	return began_ns != 0 && ended_ns > began_ns ? (ended_ns - began_ns) / 1000.0 : 0;
}

/* Tell the timeline of copies that took this long. */
static void
log_copies(const GcRun *run, GcWaveKind kind, const GcCopies *copies, float ms)
{
	GcWaveRecord r = {.kind = kind,.pid = gc_slot_pid(run->slot),.began = copies->at,.copies_us = ms * 1000,
	.requests = 1,
	.device = gc_my_device()};

	r.lookups = kind == GC_REQUEST_COPIED ? run->memory.copied_lookups : 0;
	r.bytes = kind == GC_REQUEST_COPIED ? run->memory.copied_columns + run->memory.copied_lookups
		: run->result.block->size;
	gc_wavelog_add(&r);
}

void
gc_run_note_fetched(GcRun *run)
{
	if (run->result.fetch.began == NULL)
		return;
	log_copies(run, GC_RESULT_COPIED, &run->result.fetch,
			   gc_worker.ops->event_ms(run->result.fetch.began, run->scan.done));
	gc_worker.ops->event_put(gc_worker.dev, run->result.fetch.began);
	run->result.fetch.began = NULL;
}

/*
 * Learn the times of kernels that made groups for other pipelines.  Their edges are chosen by these, as main kernels'
 * are.  They count where no other request was on the device.
 */
static void
note_groups(GcRun *run, GcRunInfo *info)
{
	for (int n = 0; n < run->p->npipelines - 1; n++)
	{
		const u64  *times = (const u64 *) ((const char *) (run->request->group_flags + n * GC_GROUP_FLAG_WORDS) +
										   GC_TIMES_AT);
		GcPipelineKernel *k = run->kernels.of[n];
		float		us;

		if (run->kernels.timed[n] == 0 || times[GC_TIME_BEGAN] == 0)
			continue;
		us = us_between(~times[GC_TIME_BEGAN], times[GC_TIME_ENDED]);
		if (us / 1000 > info->below_ms)
		{
			info->below_edge = k->variant.edge;
			info->below_step = k->variant.edge_step;
			info->below_predicted_ms = k->predicted_us / 1000;
			info->below_ms = us / 1000;
		}
		if (us > 0 && run->memory.prepared_alone && run->schedule.launch->alone)
			gc_kernel_ran(k, (GcEffort) (run->kernels.timed[n] - 1), us,
						  (run->request->inputs[gc_pipelines(run->p)[n].input].rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS);
	}
}

/*
 * Rows that pipelines made, where kernels count them: entries of hash tables and lists, hashed groups, rows.
 * In passes, a count is that of the last part.  A part of a request may have any of the groups, so it does not count
 * them.
 */
static void
note_rows(GcRun *run, GcRunInfo *info)
{
	const int	last = run->p->npipelines - 1;

	for (int n = 0; n <= last && !run->scan.passes; n++)
	{
		const GcPPipeline *pl = &gc_pipelines(run->p)[n];
		const GcBuildTable *t = pl->sink == GC_SINK_BUILD ? run->memory.builds[pl->build] : NULL;
		const u32  *flags = n == last ? run->result.flags : run->request->group_flags + n * GC_GROUP_FLAG_WORDS;

		if (pl->rest_of || (n < last && t == NULL && run->memory.sinks[n].memory == 0))
			continue;
		if (pl->sink == GC_SINK_AGGREGATE && pl->group_mode == GC_GROUP_HASH && run->request->nparts == 1)
			info->rows_made[n] = 1 + (u64) flags[GC_FLAG_GROUPS];
		else if (pl->sink == GC_SINK_ROWS)
			info->rows_made[n] = 1 + (u64) flags[GC_FLAG_ROWS];
		else if (t && gc_builds(run->p)[pl->build].pipeline == n && gc_builds(run->p)[pl->build].mode != GC_BUILD_DENSE)
			info->rows_made[n] = 1 + (u64) t->host_flags[GC_FLAG_BUILT];
	}
}

/*
 * Take the times that the run's kernels have noted; those of copies and builds come from events.
 */
static void
note_all_times(GcRun *run)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcMainLaunch *l = run->schedule.launch;
	const u64  *times = (const u64 *) ((const char *) run->result.flags + GC_TIMES_AT);
	const u64  *kernel = l->selection ? times + GC_TIME_BEFORE_BEGAN : times;

	l->began_ns = kernel[GC_TIME_BEGAN] ? ~kernel[GC_TIME_BEGAN] : 0;
	l->kernel_us = us_between(l->began_ns, kernel[GC_TIME_ENDED]);
	run->result.main_us = us_between(l->began_ns, times[GC_TIME_ENDED]);
	if (l->ops)
		l->ops->member_ran(run, us_between(l->began_ns, ~times[GC_TIME_BEGAN]), run->result.main_us);
	info->run_ms = info->main_ms = run->result.main_us / 1000;
	info->empty_build = run->scan.passes ? 0 : run->result.flags[GC_FLAG_EMPTY];
	note_groups(run, info);
	note_rows(run, info);
	info->edge_packets = *(const u64 *) ((const char *) run->result.flags + GC_PACKETS_AT);
	info->edge_held = *(const u64 *) ((const char *) run->result.flags + GC_HELD_AT);
	/* Between pieces and waves of a scan it did not run, or it scanned nothing: nothing is learned of these times. */
	if (run->scan.piece.from > 0 || run->scan.passes || gc_run_in_waves(run) || info->empty_build)
		run->result.main_us = l->kernel_us = 0;
	if (run->memory.copies.began && run->memory.copied)
	{
		info->copy_ms = ops->event_ms(run->memory.copies.began, run->memory.copied);
		log_copies(run, GC_REQUEST_COPIED, &run->memory.copies, info->copy_ms);
	}
	if (run->memory.built)
		info->run_ms += ops->event_ms(run->memory.copied, run->memory.built);
}

GcCode
gc_run_take_result(GcRun *run, bool *fetching)
{
	const bool	rows = run->main->sink == GC_SINK_ROWS;
	const GcRunInfo *info = gc_slot_run_info(run->slot);
	GcCode		code;
	u64			n;

	note_all_times(run);
	code = check_all_flags(run);
	/* A request in waves waits for copies, too, so its time says nothing of the next one. */
	if (code == GC_OK && info->main_ms > 0 && !info->empty_build && !gc_run_in_waves(run))
		gc_route_learn(run->request, info->run_ms * 1000);
	n = rows || run->result.choose ? run->result.flags[GC_FLAG_ROWS] : run->result.flags[GC_FLAG_GROUPS];
	if (code == GC_OK && !rows && is_keyed(run) && n <= run->result.early)
		run->result.block->count = n;
	else if (code == GC_OK && (rows || is_keyed(run)))
	{
		code = fetch_rest(run, n);
		if (code == GC_OK)
		{
			gc_worker.ops->event_put(gc_worker.dev, run->scan.done);
			run->scan.done = gc_worker.ops->event_timed(run->memory.stream, &run->err);
			code = run->scan.done ? GC_OK : run->err.code;
		}
		*fetching = code == GC_OK;
		if (code != GC_OK)
			gc_run_await(run);
	}
	return code;
}

/* Set the result aside, since it is of one part of the groups. */
void
gc_run_keep_part(GcRun *run)
{
	MemoryContext old = MemoryContextSwitchTo(run->cxt);

	run->result.parts = lappend(run->result.parts, run->result.block);
	MemoryContextSwitchTo(old);
	run->result.block = NULL;
}

void
gc_run_free_parts(GcRun *run)
{
	ListCell   *lc;

	foreach(lc, run->result.parts)
	{
		GcResult   *part = lfirst(lc);

		gc_result_put(part);
	}
	list_free(run->result.parts);
	run->result.parts = NIL;
}

/* Make one result of that of all parts; no group is in two of them. */
GcCode
gc_run_join_parts(GcRun *run)
{
	const u64	words = run->main->group_words;
	const u64	keys = key_words(run);
	GcResult   *whole;
	u64			n = 0;
	ListCell   *lc;

	gc_run_keep_part(run);
	foreach(lc, run->result.parts)
		n += ((GcResult *) lfirst(lc))->count;
	whole = make_result(run, n, 0);
	if (whole == NULL)
		return run->err.code;
	n = 0;
	foreach(lc, run->result.parts)
	{
		const GcResult *part = lfirst(lc);

		memcpy(whole->words + n * words, part->words, part->count * words * sizeof(u64));
		memcpy(whole->keys + n * keys, part->keys, part->count * keys * sizeof(i64));
		n += part->count;
	}
	gc_run_free_parts(run);
	run->result.block = whole;
	run->result.flags = result_flags(whole);
	return GC_OK;
}

void
gc_run_drop_result(GcRun *run)
{
	if (run->result.block)
		gc_result_put(run->result.block);
	run->result.block = NULL;
}

/* A follower holds the result, too. */
GcResult *
gc_result_hold(GcResult *result)
{
	(void) pg_atomic_fetch_add_u32(&result->holders, 1);
	return result;
}
