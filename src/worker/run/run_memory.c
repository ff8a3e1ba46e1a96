/*-------------------------------------------------------------------------
 *
 * run_memory.c
 *	  A request's data in device memory, and the work that brings it there: copies, builds, groups.
 *
 * Everything goes to the run's stream, in the order of the calls; nothing waits.  A failure leaves queued work: the
 * caller waits for it before it gives memory back (run.c).
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "run.h"

#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "launch.h"
#include "passes.h"
#include "stop.h"
#include "wave_scan.h"

/*
 * Allocate flags and sink of the main kernel, in one piece, with the groups that are chosen or collected.
 */
static GcCode
allocate(GcRun *run)
{
	const int	main = run->p->npipelines - 1;
	const GcChosenMemory chosen = gc_chosen_memory(run->request, run->result.gather, run->result.choose);
	GcSinkMemory sketch;
	u64			bytes = gc_sink_align(gc_lay_out_sink(run->request, main, 0, &sketch));

	run->memory.sink = gc_device_alloc(bytes + chosen.top + chosen.words + chosen.keys);
	if (run->memory.sink == 0)
		return gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for a result of %llu kB.",
					   (unsigned long long) (bytes + chosen.words + chosen.keys) / 1024);
	gc_device_label(run->memory.sink, GC_MEMORY_GROUPS);
	(void) gc_lay_out_sink(run->request, main, run->memory.sink, &run->memory.sinks[main]);
	run->memory.top = run->memory.sink + bytes;
	run->memory.gathered = run->memory.top + chosen.top;
	run->memory.gathered_keys = run->memory.gathered + chosen.words;
	run->memory.sink_zero = run->result.choose ? bytes + chosen.top : run->memory.sinks[main].zero;
	return GC_OK;
}

/*
 * Inner addresses of the device part are offsets at first: make them addresses.  A request that is
 * tried again may have its device part elsewhere.
 */
static void
relocate(GcRun *run)
{
	const GcRequest *r = run->request;
	u64			base = run->memory.device_part - run->memory.relocated;
	u64			bitmaps = run->memory.bitmaps - run->memory.bitmaps_relocated;

	run->memory.relocated = run->memory.device_part;
	run->memory.bitmaps_relocated = run->memory.bitmaps;
	for (int i = 0; i < run->p->ninputs; i++)
	{
		const GcInputValue *in = &r->inputs[i];
		GcSource   *sources = (GcSource *) (r->device_part + in->sources_off);

		for (u32 s = 0; s < in->nsources; s++)
		{
			if (sources[s].valid)
				sources[s].valid += bitmaps;
		}
	}
	for (u32 i = 0; i < r->nvisible; i++)
	{
		GcVisible  *v = (GcVisible *) (r->device_part + r->visible_off) + i;

		v->holes += base;
		v->bitmap += bitmaps;
	}
	for (int c = 0; c < run->p->ncolumns; c++)
	{
		GcCol	   *col;

		if (r->columns[c].private_off == 0)
			continue;
		col = (GcCol *) (r->device_part + r->columns[c].private_off);
		col->data += base;
		if (col->nulls)
			col->nulls += base;
	}
}

/* Queue the kernel that executes a program for values `from` .. `count` of a dictionary. */
static GcCode
launch_text(GcRun *run, const GcLutValue *v, const GcDeviceDict *dict, GcDeviceLookup *l, u32 from)
{
	bool		failed;
	const GcPipelineKernel *k = gc_fixed_kernel(GC_FIXED_TEXT, &run->err, &failed);
	GcArgs		args = {0};
	GcLaunch	launch = {.blocks = (v->count - from + GC_TEXT_VALUES - 1) / GC_TEXT_VALUES,
	.threads = Min(GC_TEXT_VALUES, k->info.max_threads)};

	args.w[0] = gc_device_dict_bytes(dict);
	args.w[1] = gc_device_dict_starts(dict);
	args.w[2] = gc_device_lookup_data(l);
	args.w[3] = v->width;
	args.w[4] = from;
	args.w[5] = v->count;
	args.w[6] = run->memory.device_part + v->data_off;
	args.w[7] = v->nops;
	args.w[8] = v->utf8;
	gc_stop_with_run(run, &args.scan);
	gc_slot_run_info(run->slot)->kernels++;
	return gc_worker.ops->launch(run->memory.stream, k->kernel, &launch, &args, GC_TEXT_WORDS, &run->err);
}

/* Have a text program's results for the values of a dictionary. */
static GcCode
compute_text(GcRun *run, int i, u64 *copied)
{
	const GcLutValue *v = &run->request->luts[i];
	GcDeviceDict *dict;
	u32			filled;
	GcCode		code;

	run->memory.lookups[i] = gc_device_lookup_computed(gc_dict_contents(v->dict).id, v->function, v->count, v->width,
													   &filled,
												run->memory.stream, &run->err);
	if (run->memory.lookups[i] == NULL)
		return run->err.code;
	if (filled >= v->count)
	{
		pg_atomic_fetch_add_u64(&gc_stats()->lookups_shared, 1);
		return GC_OK;
	}
	dict = run->memory.dicts[i] = gc_device_dict_use(v->dict, v->count, run->memory.stream, &run->memory.copies, copied,
													 &run->err);
	if (dict == NULL)
		return run->err.code;
	pg_atomic_fetch_add_u64(&gc_stats()->lookups_made, 1);
	code = launch_text(run, v, dict, run->memory.lookups[i], filled);
	return code == GC_OK ? gc_device_lookup_filled(run->memory.lookups[i], v->count, run->memory.stream, &run->err)
		: code;
}

/* Have the lookup tables on the device that do not travel with the request. */
static GcCode
have_lookups(GcRun *run)
{
	u64			copied = 0;
	GcCode		code = GC_OK;

	for (int i = 0; i < run->p->nluts && code == GC_OK; i++)
	{
		const GcLutValue *v = &run->request->luts[i];

		if (v->dict)
			code = compute_text(run, i, &copied);
		else if (v->shared)
		{
			run->memory.lookups[i] = gc_device_lookup_use(v->shared, run->memory.stream, &run->memory.copies, &copied,
														  &run->err);
			code = run->memory.lookups[i] ? GC_OK : run->err.code;
		}
	}
	gc_slot_run_info(run->slot)->copied_bytes += copied;
	run->memory.copied_lookups += copied;
	return code;
}

/* Queue the kernel that makes the bitmaps of visible rows. */
static GcCode
make_bitmaps(GcRun *run)
{
	const GcRequest *r = run->request;
	bool		failed;
	const GcPipelineKernel *k = gc_fixed_kernel(GC_FIXED_HOLES, &run->err, &failed);
	GcArgs		args = {0};
	const u32	words = (r->visible_rows + GC_PAD_ROWS - 1) / GC_PAD_ROWS * (GC_PAD_ROWS / 64);
	const u32	pieces = (words + GC_HOLES_WORDS - 1) / GC_HOLES_WORDS;
	GcLaunch	launch = {.blocks = r->nvisible * pieces,.threads = Min(256, k->info.max_threads)};

	args.w[0] = run->memory.device_part + r->visible_off;
	args.w[1] = r->nvisible;
	args.w[2] = pieces;
	gc_slot_run_info(run->slot)->kernels++;
	return gc_worker.ops->launch(run->memory.stream, k->kernel, &launch, &args, GC_HOLES_KERNEL_WORDS, &run->err);
}

/* Copy the request's own data to the device, or let kernels read it where it is. */
static GcCode
upload_device_part(GcRun *run)
{
	GcRequest  *r = run->request;

	if (r->nvisible > 0 && (run->memory.bitmaps = gc_device_alloc(r->bitmap_bytes)) == 0)
		return gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for %llu kB of visible rows.",
					   (unsigned long long) r->bitmap_bytes / 1024);

	if (gc_worker.dev->info.host_memory)
	{
		run->memory.device_part = (GcAddr) r->device_part;
		relocate(run);
		return GC_OK;
	}
	run->memory.device_part = gc_device_alloc(r->device_bytes);
	if (run->memory.device_part == 0)
		return gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for a request of %llu kB.",
					   (unsigned long long) r->device_bytes / 1024);
	run->memory.device_part_owned = true;
	relocate(run);
	gc_slot_run_info(run->slot)->copied_bytes += r->device_bytes;
	return gc_copy_in(run->memory.stream, run->memory.device_part, r->device_part, r->device_bytes, &run->err);
}

static GcCode
upload(GcRun *run)
{
	GcCode		code = upload_device_part(run);

	if (code == GC_OK && run->request->nvisible > 0)
		code = make_bitmaps(run);
	return code == GC_OK ? have_lookups(run) : code;
}

/* Have all of the columns that a pipeline reads on the device. */
static GcCode
upload_columns(GcRun *run, int pipeline)
{
	const GcRequest *r = run->request;
	int			input = gc_pipelines(run->p)[pipeline].input;
	const GcInputValue *in = &r->inputs[input];
	const GcPInput *pin = &gc_inputs(run->p)[input];
	const GcSource *sources = (const GcSource *) (r->device_part + in->sources_off);
	GcRunInfo  *info = gc_slot_run_info(run->slot);

	for (int c = pin->first_column; in->dir && c < pin->first_column + pin->ncolumns; c++)
	{
		u64			copied = 0;

		if (run->memory.tables[c] || !gc_kernel_reads_column(run->kernels.of[pipeline], c))
			continue;
		run->memory.tables[c] = gc_table_use(in->dir, r->columns[c].dir_column, sources, gc_cached_sources(in),
									  gc_wave_scan_spared(run, pipeline, c), run->memory.stream,
									  run->memory.copied ? NULL : &run->memory.copies, &copied, &run->err);
		if (run->memory.tables[c] == NULL)
			return run->err.code;
		info->copied_bytes += copied;
		run->memory.copied_columns += run->memory.copied ? 0 : copied;
		if (pipeline == run->p->npipelines - 1)
			info->read_bytes += in->rows * Max(gc_columns(run->p)[c].width, 1);
	}
	return GC_OK;
}

/* Have the columns that a pipeline reads on the device, or memory to scan them in waves. */
static GcCode
have_columns(GcRun *run, int pipeline)
{
	GcCode		code;

	if (run->scan.waves[pipeline])
		return GC_OK;
	if (!gc_wave_scan_wanted(run, pipeline))
		return upload_columns(run, pipeline);
	if (gc_has_packets(run->kernels.of[pipeline]))
		return gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for the packets of a scan in waves.");
	code = gc_wave_scan_make(run, pipeline);
	if (code != GC_DEVICE_MEMORY)
		return code;
	/* Two waves of large chunks take more than the columns may. */
	run->err = (GcError) {GC_OK, ""};
	return upload_columns(run, pipeline);
}

GcCode
gc_run_have_column(GcRun *run, int input, int c, GcStream *stream, GcError *err)
{
	const GcInputValue *in = &run->request->inputs[input];
	u64			copied = 0;

	if (run->memory.tables[c])
		return GC_OK;
	run->memory.tables[c] = gc_table_use(in->dir, run->request->columns[c].dir_column,
								  (const GcSource *) (run->request->device_part + in->sources_off),
								  gc_cached_sources(in), 1, stream, NULL, &copied, err);
	gc_slot_run_info(run->slot)->copied_bytes += copied;
	return run->memory.tables[c] ? GC_OK : err->code;
}

/*-------------------------------------------------------------------------
 * Memory that kernels fill
 *-------------------------------------------------------------------------
 */

/* Is this kernel all that fills the groups of a pipeline before the main one?  Then its times tell the cost of that. */
static bool
makes_groups_alone(const GcRun *run, int pipeline)
{
	if (run->memory.sinks[pipeline].memory == 0 || pipeline == run->p->npipelines - 1 || run->scan.passes ||
		run->scan.waves[pipeline] ||
		gc_pipelines(run->p)[pipeline].sink != GC_SINK_AGGREGATE || gc_pairs_of(run->request, pipeline).slices > 0)
		return false;
	for (int n = 0; n < run->p->npipelines; n++)
	{
		if (gc_pipelines(run->p)[n].rest_of == pipeline + 1)
			return false;
	}
	return true;
}

/*
 * How often tiles of a scan before the main one are halved (gc_sched_tile_shift).  A block's threads are to have a
 * vector each.  Packets and pairs are divided otherwise.
 */
static u32
tile_shift(const GcRun *run, const GcPipelineKernel *k, const GcInputValue *in, int threads)
{
	if (gc_has_packets(k) || run->scan.passes)
		return 0;
	return gc_sched_tile_shift(&gc_worker.profile, (in->rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS, GC_TILE_ROWS,
							   threads * k->variant.vec);
}

/* Queue a kernel other than the main one, on the whole device. */
GcCode
gc_run_launch_whole(GcRun *run, int pipeline, GcAddr flags)
{
	GcPipelineKernel *k = run->kernels.of[pipeline];
	const GcPPipeline *pl = &gc_pipelines(run->p)[pipeline];
	const GcInputValue *in = &run->request->inputs[pl->input];
	GcScanPart	part = {.n = in->nsources};
	int			threads = Min(k->variant.threads, k->info.max_threads);
	GcPairs		pairs = gc_pairs_of(run->request, pipeline);
	u64			tiles = gc_inputs(run->p)[pl->input].groups_of || gc_inputs(run->p)[pl->input].unmatched_of
		? gc_group_blocks(in)
		: pairs.slices > 0 ? gc_pairs_blocks(pairs.count, threads) : (in->rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS;
	GcGrid		grid;
	GcCode		code = have_columns(run, pipeline);

	if (pairs.slices == 0 && !gc_inputs(run->p)[pl->input].groups_of && !gc_inputs(run->p)[pl->input].unmatched_of)
		part.tile_shift = tile_shift(run, k, in, threads);
	grid = gc_run_whole_grid(run, pipeline, k, tiles << part.tile_shift);
	if (code == GC_OK && run->scan.waves[pipeline])
		return gc_wave_scan_whole(run->scan.waves[pipeline], flags);
	part.timed = makes_groups_alone(run, pipeline);
	run->kernels.timed[pipeline] = part.timed ? 1 + k->effort : 0;
	if (pairs.slices == 0)
		return code == GC_OK ? gc_run_launch(run, pipeline, k, &grid, &part, flags) : code;
	/* In pieces, so that other requests' kernels come between them. */
	for (u64 from = 0; from < pairs.count && code == GC_OK; from += part.pairs.count)
	{
		part.pairs = gc_pairs_piece(run->request, pipeline, &pairs, from, GC_PIECE_FACTOR * gc_pairs_first());
		code = gc_run_launch(run, pipeline, k, &grid, &part, flags);
	}
	return code;
}

/* Queue the kernels of the arms and rests of a pipeline, behind its own. */
GcCode
gc_run_launch_rests(GcRun *run, int pipeline, GcAddr flags)
{
	GcCode		code = GC_OK;

	for (int n = 0; n < run->p->npipelines && code == GC_OK; n++)
	{
		if (gc_pipelines(run->p)[n].rest_of == pipeline + 1 && gc_passes_due_rest(run->scan.passes, n))
			code = gc_run_launch_whole(run, n, flags);
	}
	return code;
}

/* Queue a pipeline other than the main one in all of its passes, with the tables that each of them probes and scans. */
static GcCode
run_pipeline(GcRun *run, int pipeline, GcAddr flags)
{
	GcCode		code;

	do
	{
		if ((code = gc_run_below(run, pipeline)) != GC_OK ||
			(code = gc_run_launch_whole(run, pipeline, flags)) != GC_OK ||
			(code = gc_run_launch_rests(run, pipeline, flags)) != GC_OK)
			return code;
	} while (gc_passes_next(run->scan.passes, pipeline));
	return GC_OK;
}

/* Zero flags and the table behind them; again: flags of earlier parts stay, but not a counter. */
static GcCode
clear_table(GcRun *run, GcAddr flags, u64 room, u64 bytes, int counter, bool again)
{
	GcCode		code;

	if (!again)
		return gc_worker.ops->fill(run->memory.stream, flags, 0, bytes, &run->err);
	code = gc_worker.ops->fill(run->memory.stream, flags + counter * sizeof(u32), 0, sizeof(u32), &run->err);
	if (code == GC_OK && bytes > room)
		code = gc_worker.ops->fill(run->memory.stream, flags + room, 0, bytes - room, &run->err);
	return code;
}

/* Queue the pipeline that fills a table; again: with another part. */
static GcCode
fill_build(GcRun *run, int b, GcBuildTable *t, bool again)
{
	GcCode		code;

	if ((code = clear_table(run, t->memory, GC_BUILD_FLAGS_ROOM, t->zero_bytes, GC_FLAG_BUILT, again)) != GC_OK ||
		(code = run_pipeline(run, gc_builds(run->p)[b].pipeline, t->flags)) != GC_OK ||
		(code = gc_copy_out(run->memory.stream, t->host_flags, t->flags, GC_NFLAGS * sizeof(u32), &run->err)) != GC_OK)
		return code;
	if (!again)
		t->built = gc_worker.ops->event(run->memory.stream, &run->err);
	return t->built ? GC_OK : run->err.code;
}

/* Note that copies are over and builds begin, if this is the first. */
static GcCode
note_copied(GcRun *run)
{
	if (run->memory.copied == NULL)
		run->memory.copied = gc_worker.ops->event_timed(run->memory.stream, &run->err);
	return run->memory.copied ? GC_OK : run->err.code;
}

/*
 * Have build b: take over a table that another request fills or has filled, or fill a new one.  A
 * new one needs the builds below it, too.  Of a split build have the part of this pass.
 */
static GcCode
do_build(GcRun *run, int b)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcBuildTable *t = run->memory.builds[b];
	GcCode		code;

	if (t)
		return gc_passes_due_build(run->scan.passes, b) ? fill_build(run, b, t, true) : GC_OK;
	t = gc_build_find_shared(run->request->builds[b].share);
	if (t)
	{
		run->memory.builds[b] = t;
		info->builds_shared++;
		return t->checked ? GC_OK : gc_worker.ops->stream_wait(run->memory.stream, t->built, &run->err);
	}
	if ((code = note_copied(run)) != GC_OK)
		return code;
	/* The table has room for any part; the first one may be smaller. */
	gc_passes_room(run->scan.passes, b);
	t = run->memory.builds[b] = gc_build_create(run->request, b, &run->err);
	if (t == NULL)
		return run->err.code;
	(void) gc_passes_due_build(run->scan.passes, b);
	info->builds_run++;
	/* No other request may find it before its kernel is queued. */
	t->bad = true;
	code = fill_build(run, b, t, false);
	t->bad = code != GC_OK;
	return code;
}

/* Queue the pipeline of the groups that another pipeline scans: all of them, or their next part. */
static GcCode
fill_groups(GcRun *run, int pipeline)
{
	GcSinkMemory *sink = &run->memory.sinks[pipeline];
	const bool	again = sink->memory != 0;
	GcCode		code;

	if (!again)
	{
		GcSinkMemory sketch;
		u64			bytes = gc_lay_out_sink(run->request, pipeline, 0, &sketch);
		GcAddr		memory = gc_device_alloc(bytes);

		if (memory == 0)
			return gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for a group table of %llu kB.",
						   (unsigned long long) bytes / 1024);
		gc_device_label(memory, GC_MEMORY_GROUPS);
		(void) gc_lay_out_sink(run->request, pipeline, memory, sink);
	}
	if ((code = note_copied(run)) != GC_OK ||
		(code = clear_table(run, sink->memory, GC_FLAGS_ROOM, sink->zero, GC_FLAG_GROUPS, again)) != GC_OK ||
		(code = run_pipeline(run, pipeline, sink->memory)) != GC_OK ||
		(code = gc_run_windows(run, pipeline)) != GC_OK)
		return code;
	return gc_copy_out(run->memory.stream, run->request->group_flags + pipeline * GC_GROUP_FLAG_WORDS, sink->memory,
					   GC_GROUP_FLAG_WORDS * sizeof(u32), &run->err);
}

/* Have the groups that a pipeline scans, with all that these are made of. */
static GcCode
have_groups(GcRun *run, int pipeline)
{
	const int	from = gc_inputs(run->p)[gc_pipelines(run->p)[pipeline].input].groups_of - 1;

	if (from < 0 || (!gc_passes_due_groups(run->scan.passes, from) && run->memory.sinks[from].memory))
		return GC_OK;
	return fill_groups(run, from);
}

/*
 * Have a byte for each row of build b, in which matches are noted.  They are noted in all passes, unless each
 * has other rows.
 */
static GcCode
have_matched(GcRun *run, int b, bool first)
{
	const u64	bytes = run->request->builds[b].cap;

	if (run->memory.matched[b] && !first && !gc_passes_split_build(run->scan.passes, b))
		return GC_OK;
	if (run->memory.matched[b] == 0)
		run->memory.matched[b] = gc_device_alloc(bytes);
	if (run->memory.matched[b] == 0)
		return gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for the matches of a hash table, %llu kB.",
					   (unsigned long long) bytes / 1024);
	return gc_worker.ops->fill(run->memory.stream, run->memory.matched[b], 0, bytes, &run->err);
}

static GcCode
have_builds(GcRun *run, int pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(run->p)[pipeline];
	GcCode		code = GC_OK;

	for (int s = 0; s < pl->nsteps && code == GC_OK; s++)
	{
		const GcPStep *step = &gc_steps(run->p)[pl->first_step + s];

		if (step->type == GC_STEP_PROBE)
			code = do_build(run, step->build);
		if (code == GC_OK && step->type == GC_STEP_PROBE && gc_join_keeps(step->join))
			code = have_matched(run, step->build, gc_passes_first(run->scan.passes, gc_sink_owner(run->p, pipeline)));
	}
	return code;
}

/* Is a build read by anything but pipelines that fill builds which are there? */
static bool
is_wanted(const GcRun *run, int b)
{
	for (int n = 0; n < run->p->npipelines; n++)
	{
		const GcPPipeline *pl = &gc_pipelines(run->p)[n];
		const GcPPipeline *owner = &gc_pipelines(run->p)[gc_sink_owner(run->p, n)];

		for (int s = 0; s < pl->nsteps; s++)
		{
			const GcPStep *step = &gc_steps(run->p)[pl->first_step + s];

			if (step->type == GC_STEP_PROBE && step->build == b &&
				(owner->sink != GC_SINK_BUILD || !gc_build_known(run->request->builds[owner->build].share)))
				return true;
		}
	}
	return false;
}

/*
 * Others may share a build that is being filled, if it rests on no other.  So these come first: the work behind them on
 * the stream may take long.  Parts of builds come with the passes that want them.
 */
static GcCode
first_builds(GcRun *run)
{
	GcCode		code = GC_OK;

	for (int b = 0; b < run->p->nbuilds && !run->scan.passes && code == GC_OK; b++)
	{
		if (!gc_build_rests(run->p, b) && is_wanted(run, b))
			code = do_build(run, b);
	}
	return code;
}

/* Have all that a pipeline and its arms read, but the pipeline's own columns. */
GcCode
gc_run_below(GcRun *run, int pipeline)
{
	GcCode		code = have_groups(run, pipeline);

	if (code == GC_OK)
		code = have_builds(run, pipeline);
	for (int n = 0; n < run->p->npipelines && code == GC_OK; n++)
	{
		if (gc_is_arm_of(run->p, n, pipeline) && (code = have_groups(run, n)) == GC_OK &&
			(code = have_builds(run, n)) == GC_OK)
			code = have_columns(run, n);
	}
	return code;
}

/* Columns of the main pipeline leave the room that builds and groups take, which come behind them. */
GcCode
gc_run_prepare(GcRun *run)
{
	const GcDeviceOps *ops = gc_worker.ops;
	const int	main = run->p->npipelines - 1;
	GcCode		code;

	run->memory.stream = ops->stream_get(gc_worker.dev, &run->err);
	if (run->memory.stream == NULL)
		return run->err.code;
	if ((code = upload(run)) != GC_OK || (code = allocate(run)) != GC_OK || (code = gc_edge_allocate(run)) != GC_OK)
		return code;
	gc_worker.reserved = run->memory.claim.state_bytes;
	code = have_columns(run, main);
	gc_worker.reserved = 0;
	if (code != GC_OK || (code = first_builds(run)) != GC_OK || (code = gc_run_below(run, main)) != GC_OK ||
		(code = ops->fill(run->memory.stream, run->memory.sink, 0, run->memory.sink_zero, &run->err)) != GC_OK)
		return code;
	if (run->memory.copied)
		run->memory.built = ops->event_timed(run->memory.stream, &run->err);
	else if (run->memory.copies.began)
		run->memory.copied = ops->event_timed(run->memory.stream, &run->err);
	return run->err.code;
}

/*-------------------------------------------------------------------------
 * Giving back
 *-------------------------------------------------------------------------
 */

GcEvent *
gc_run_prepared(GcRun *run)
{
	if (run->memory.prepared == NULL)
		run->memory.prepared = gc_worker.ops->event(run->memory.stream, &run->err);
	return run->memory.prepared;
}

void
gc_run_not_prepared(GcRun *run)
{
	if (run->memory.prepared)
		gc_worker.ops->event_put(gc_worker.dev, run->memory.prepared);
	run->memory.prepared = NULL;
}

void
gc_run_await(GcRun *run)
{
	GcEvent	   *event = run->memory.stream ? gc_worker.ops->event(run->memory.stream, NULL) : NULL;

	/* An event that fails tells of no end. */
	if (event == NULL || gc_worker.ops->event_wait(event, NULL) != GC_OK)
		(void) gc_worker.ops->drain(gc_worker.dev, NULL);
	if (event)
		gc_worker.ops->event_put(gc_worker.dev, event);
}

/* Give back the events and the stream. */
static void
end_stream(GcRun *run)
{
	GcEvent	  **events[] = {&run->memory.copies.began, &run->result.fetch.began, &run->memory.copied,
	&run->memory.built, &run->memory.prepared, &run->scan.done};

	for (int i = 0; i < lengthof(events); i++)
	{
		if (*events[i])
			gc_worker.ops->event_put(gc_worker.dev, *events[i]);
		*events[i] = NULL;
	}
	if (run->memory.stream)
		gc_worker.ops->stream_put(gc_worker.dev, run->memory.stream);
	run->memory.stream = NULL;
}

void
gc_run_free_memory(GcRun *run)
{
	GcRunMemory *m = &run->memory;

	m->copied_columns = m->copied_lookups = 0;
	for (int i = 0; i < run->p->ncolumns; i++)
	{
		if (m->tables[i])
			gc_table_release(m->tables[i]);
		m->tables[i] = NULL;
	}
	for (int i = 0; i < run->p->nbuilds; i++)
	{
		if (m->builds[i])
			gc_build_release(m->builds[i]);
		m->builds[i] = NULL;
		gc_device_drop(&m->matched[i]);
	}
	for (int i = 0; i < run->p->nluts; i++)
	{
		if (m->lookups[i])
			gc_device_lookup_release(m->lookups[i]);
		if (m->dicts[i])
			gc_device_dict_release(m->dicts[i]);
		m->lookups[i] = NULL;
		m->dicts[i] = NULL;
	}
	if (m->device_part_owned)
		gc_device_free(m->device_part);
	m->device_part_owned = false;
	gc_device_drop(&m->bitmaps);
	/* The main pipeline's memory is m->sink. */
	m->sinks[run->p->npipelines - 1].memory = 0;
	for (int i = 0; i < run->p->npipelines - 1; i++)
		gc_device_drop(&m->sinks[i].memory);
	gc_device_drop(&m->sink);
	gc_device_drop(&m->edge_memory);
	end_stream(run);
}
