/*-------------------------------------------------------------------------
 *
 * shared_scan.c
 *	  One shared scan: from its members to their results.
 *
 * A shared scan reads the cached chunks that any member reads, on the stream of its
 * first member, once the others have what their bodies need; then every member fetches
 * its result on its own stream.  A member's private chunks (rows of pages that no
 * chunk may serve) are read by its own kernel, into the same sink, on its own stream.
 *
 * The worker's main thread.  The launch owns the merged sources, on host and device.
 *
 *-------------------------------------------------------------------------
 */
#include "fused.h"

#include "../../columns/arena.h"

/*
 * The sources of all members, merged: both are in the order of chunks.  Written to
 * `sources` and, for each member, its valid words, if these are not NULL.
 */
static void
merge_sources(GcScanMembers *scan, GcSource *sources, u64 *const *valid)
{
	u32			at[GC_MAX_MARKED] = {0};
	u32			n = 0;

	for (;; n++)
	{
		GcSource	next = {.chunk = PG_UINT32_MAX};

		for (int m = 0; m < scan->n; m++)
		{
			if (at[m] < scan->nsources[m])
				next.chunk = Min(next.chunk, scan->sources[m][at[m]].chunk);
		}
		if (next.chunk == PG_UINT32_MAX)
			break;
		for (int m = 0; m < scan->n; m++)
		{
			const GcSource *s = &scan->sources[m][at[m]];

			if (at[m] == scan->nsources[m] || s->chunk != next.chunk)
				continue;
			next.valid |= 1u << scan->body[m];
			next.nrows = s->nrows;
			at[m]++;
			if (s->valid == 0)
				continue;
			scan->partly_visible[m] = true;
			if (valid)
				valid[m][n] = s->valid;
		}
		scan->max_rows = Max(scan->max_rows, next.nrows);
		if (sources)
			sources[n] = next;
	}
	scan->nunion = n;
}

GcCode
gc_scan_upload(GcScanMembers *scan, u64 *visible, Size more,
			   Size *at, void (*fill) (GcScanMembers *scan, void *to, void *arg), void *arg)
{
	GcMainLaunch *l = scan->launch;
	GcStream   *stream = scan->run[0]->stream;
	u64		   *valid[GC_MAX_MARKED];
	Size		one;
	Size		size;
	GcAddr		base;

	merge_sources(scan, NULL, NULL);
	one = visible ? scan->nunion * sizeof(u64) : 0;
	*at = scan->nunion * sizeof(GcSource) + scan->n * one;
	l->staging_size = size = *at + more;
	l->staging = gc_arena_alloc(size);
	if (l->staging == NULL)
		return gc_fail(scan->err, GC_RESULT_TOO_LARGE, "No shared memory for the sources of a shared scan.");
	memset(l->staging, 0, size);
	base = (GcAddr) l->staging;
	if (!gc_worker.dev->info.host_memory)
	{
		base = l->memory = gc_device_alloc(size);
		if (base == 0)
			return gc_fail(scan->err, GC_DEVICE_MEMORY, "No device memory for the sources of a shared scan.");
	}
	l->sources = base;
	for (int m = 0; visible && m < scan->n; m++)
	{
		Size		words = scan->nunion * sizeof(GcSource) + m * one;

		valid[m] = (u64 *) ((char *) l->staging + words);
		visible[m] = scan->partly_visible[m] ? base + words : 0;
	}
	merge_sources(scan, l->staging, visible ? valid : NULL);
	if (fill)
		fill(scan, (char *) l->staging + *at, arg);
	return gc_worker.dev->info.host_memory ? GC_OK
		: gc_copy_in(stream, base, l->staging, size, scan->err);
}

/*
 * Where the description of a column is: any member's that reads it, for a directory's
 * column has one table (device_cache.c).
 */
u64
gc_scan_column(const GcScanMembers *scan, i16 dir_column)
{
	for (int m = 0; m < scan->n; m++)
	{
		const GcRun *run = scan->run[m];
		const i16  *columns = run->scan_shape->columns;

		for (int c = 0; c < run->p->ncolumns; c++)
		{
			if (columns[c] == dir_column && run->tables[c])
				return gc_table_array(run->tables[c]);
		}
	}
	return 0;
}

GcScan
gc_scan_args(const GcScanMembers *scan)
{
	GcScan		args = {.sources = scan->launch->sources,.nsources = scan->nunion,.timed = 1};

	args.tiles_per_source = (scan->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS;
	args.ntiles = scan->nunion * args.tiles_per_source;
	return args;
}

/*
 * Has every member the chunks of all columns that its body reads?  Its own kernel reads the same, as
 * a rule, but nothing rests on that, nor on other members, whose chunks may be others.
 */
static GcCode
have_columns(const GcScanMembers *scan)
{
	GcStream   *stream = scan->run[0]->stream;
	GcCode		code = GC_OK;

	for (int i = 0; i < scan->f->nwords; i++)
	{
		const GcFusedWord *w = &scan->f->words[i];

		for (int m = 0; w->readers != 0 && m < scan->n && code == GC_OK; m++)
		{
			GcRun	   *run = scan->run[m];
			const i16  *columns = run->scan_shape->columns;
			int			c = 0;

			if (!(w->readers >> scan->body[m] & 1))
				continue;
			while (columns[c] != scan->f->physical[w->word.index])
				c++;
			Assert(c < run->p->ncolumns);
			code = gc_run_have_column(run, run->main->input, c, stream, scan->err);
		}
	}
	return code;
}

static void
fill_words(const GcScanMembers *scan, const u64 *visible, GcArgs *args)
{
	int			member_of[GC_MAX_FUSED];
	GcArgSource src[GC_MAX_FUSED];

	memset(member_of, -1, sizeof(member_of));
	for (int m = 0; m < scan->n; m++)
	{
		member_of[scan->body[m]] = m;
		gc_run_arg_source(scan->run[m], &src[m]);
	}
	for (int i = 0; i < scan->f->nwords; i++)
	{
		const GcFusedWord *w = &scan->f->words[i];
		int			m = w->member == GC_FUSED_ANY ? 0 : member_of[w->member];
		u64			v = 0;

		if (w->word.type == GC_ARG_MEMBERS)
			v = scan->launch->bodies;
		else if (w->member == GC_FUSED_ANY)
			v = gc_scan_column(scan, scan->f->physical[w->word.index]);
		else if (m < 0)
			v = 0;
		else if (w->word.type == GC_ARG_FLAGS)
			v = scan->run[m]->sink;
		else if (w->word.type == GC_ARG_VISIBLE)
			v = visible[m];
		else if (w->word.type == GC_ARG_SHARED)
			v = scan->starts[scan->body[m]];
		else
			v = gc_arg_word(&src[m], &w->word);
		args->w[i] = v;
	}
}

/* Shared memory of a launch with these members; fills starts. */
static u64
shared_bytes(GcScanMembers *scan)
{
	u64			range[GC_MAX_FUSED][GC_MAX_BUILDS];
	const u64  *ranges[GC_MAX_FUSED] = {NULL};
	u64			ngroups[GC_MAX_FUSED] = {0};

	for (int m = 0; m < scan->n; m++)
	{
		const GcRequest *r = scan->run[m]->request;
		int			body = scan->body[m];

		for (int b = 0; b < scan->run[m]->p->nbuilds; b++)
			range[body][b] = r->builds[b].range;
		ranges[body] = range[body];
		ngroups[body] = r->ngroups;
	}
	return gc_fused_shared_bytes(scan->f->member, scan->f->n, scan->launch->bodies, ranges, ngroups,
								 scan->starts);
}

GcCode
gc_scan_wait(GcScanMembers *scan, int m)
{
	GcMark	   *prepared = gc_run_prepared(scan->run[m]);

	if (prepared == NULL)
	{
		*scan->err = scan->run[m]->err;
		return scan->err->code;
	}
	return gc_worker.ops->stream_wait(scan->run[0]->stream, prepared, scan->err);
}

/* A member's rows that are in no cached chunk, by its own kernel into its own sink. */
GcCode
gc_scan_private(GcRun *run)
{
	const GcInputValue *in = &run->request->inputs[run->main->input];
	int			main = run->p->npipelines - 1;
	GcPipelineKernel *k = run->kernels[main];
	GcScanPart	part = {.first = in->nsources - in->nprivate,.n = in->nprivate};
	int			threads = Min(k->variant.threads, k->info.max_threads);
	GcShape		shape;

	if (in->nprivate == 0)
		return GC_OK;
	shape = gc_sched_full(&gc_worker.profile, threads,
						  gc_run_occupancy(k, threads, gc_run_shared_bytes(run, &k->variant)),
						  part.n * ((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS));
	return gc_run_launch(run, main, k, &shape, &part, run->sink);
}

static GcCode
launch_scan(GcScanMembers *scan)
{
	const GcDeviceOps *ops = gc_worker.ops;
	GcMainLaunch *l = scan->launch;
	GcStream   *stream = scan->run[0]->stream;
	GcArgs		args = {0};
	u64			visible[GC_MAX_MARKED];
	GcLaunch	launch;
	GcCode		code;
	u32			dynamic;
	int			per_sm;
	Size		end;

	dynamic = (u32) shared_bytes(scan);
	l->shared_bytes = dynamic + scan->f->info.shared_static;
	per_sm = ops->occupancy(scan->f->kernel, l->shape.threads, dynamic);
	if (per_sm == 0)
		return gc_fail(scan->err, GC_DEVICE_MEMORY, "A shared scan does not fit a multiprocessor.");
	if ((code = gc_scan_upload(scan, visible, 0, &end, NULL, NULL)) != GC_OK)
		return code;
	for (int m = 0; m < scan->n; m++)
	{
		if ((m > 0 && (code = gc_scan_wait(scan, m)) != GC_OK) ||
			(code = gc_scan_private(scan->run[m])) != GC_OK)
			return code;
	}
	if ((code = have_columns(scan)) != GC_OK)
		return code;
	fill_words(scan, visible, &args);
	args.scan = gc_scan_args(scan);
	l->ntiles = args.scan.ntiles;
	l->first_tile = 0;
	l->shape = gc_sched_full(&gc_worker.profile, l->shape.threads, per_sm, l->ntiles);
	launch = (GcLaunch) {.blocks = l->shape.blocks,.threads = l->shape.threads,.shared_bytes = dynamic};
	code = ops->launch(stream, scan->f->kernel, &launch, &args, scan->f->nwords, scan->err);
	if (code == GC_OK && (l->computed = ops->mark(stream, scan->err)) == NULL)
		code = scan->err->code;
	return code;
}

/* What EXPLAIN tells of a member, and the copies of its result. */
static GcCode
follow_scan(GcScanMembers *scan, int m)
{
	GcRun	   *run = scan->run[m];
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	const GcMainLaunch *l = scan->launch;
	GcCode		code = GC_OK;

	info->kernels++;
	info->blocks = l->shape.blocks;
	info->threads = l->shape.threads;
	info->shared_bytes = l->shared_bytes;
	info->registers = scan->f->info.registers;
	info->first_tile = l->first_tile;
	info->ntiles = l->ntiles;
	if (m > 0)
		code = gc_worker.ops->stream_wait(run->stream, l->computed, &run->err);
	return code != GC_OK ? code : gc_run_queue_result(run);
}

void
gc_scan_begin(GcScanMembers *scan, GcMainLaunch *launch, GcFused *f, const GcStart *start,
			  GcRun *const *runs, GcError *err)
{
	memset(scan, 0, sizeof(*scan));
	*err = (GcError) {GC_OK, ""};
	scan->launch = launch;
	scan->n = start->nitems;
	scan->err = err;
	scan->f = f;
	f->users++;
	launch->kernel = f;
	launch->registers = f->info.registers;
	for (int m = 0; m < scan->n; m++)
	{
		GcRun	   *run = runs[start->item[m]];
		const GcInputValue *in = &run->request->inputs[run->main->input];

		scan->run[m] = run;
		run->scan_member = m;
		scan->body[m] = start->body[m];
		launch->bodies |= 1u << start->body[m];
		scan->sources[m] = (const GcSource *) (run->request->device_part + in->sources_off);
		scan->nsources[m] = in->nsources - in->nprivate;
	}
}

void
gc_scan_started(GcScanMembers *scan, GcCode code, GcCode (*follow) (GcScanMembers *scan, int m))
{
	if (code == GC_DEVICE_MEMORY || code == GC_RESULT_TOO_LARGE)
	{
		/* Nothing of it was launched: they can still run by their own kernels. */
		for (int m = 0; m < scan->n; m++)
			gc_run_unstart(scan->run[m]);
		return;
	}
	for (int m = 0; m < scan->n; m++)
	{
		if (code != GC_OK)
			scan->run[m]->err = *scan->err;
		if (code != GC_OK || follow(scan, m) != GC_OK)
			gc_run_fail_start(scan->run[m]);
	}
}

void
gc_fused_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs)
{
	GcScanMembers scan;
	GcError		err;

	gc_scan_begin(&scan, launch, f, start, runs, &err);
	gc_scan_started(&scan, launch_scan(&scan), follow_scan);
}
