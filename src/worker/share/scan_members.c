/*-------------------------------------------------------------------------
 *
 * scan_members.c
 *	  The members of one shared scan, and the common part of fused scans and selection scans.
 *
 * A shared scan reads the heap's chunks that any member reads.  It runs on the stream of its
 * first member, once the other members' queued work is done.  Then every member gets its result
 * on its own stream.  A member's own kernel reads its hot chunks, and its private chunks (rows of
 * pages that no chunk may serve).  That kernel adds to the same sink, on the member's stream.
 *
 * Where no page is in a chunk of the heap, it reads hot chunks of one directory instead.
 *
 * Members' directories may differ in their hot chunks.  So each has device tables of its own
 * for the same columns, and a scan reads those of any member.
 *
 * The worker's main thread.  The launch owns the merged sources, on host and device.
 *
 *-------------------------------------------------------------------------
 */
#include "scan_members.h"

#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "../run/launch.h"
#include "../run/stop.h"
#include "scan_set.h"
#include "share_launch.h"

/*
 * Merge the sources of all members, each in the order of chunks.  Write them to `sources`, and
 * each member's valid words, where these are not NULL.
 */
static void
merge_sources(GcScanMembers *scan, GcSource *sources, u64 *const *valid)
{
	u32			at[GC_MAX_SELECTED] = {0};
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
			next.valid |= 1u << scan->member_no[m];
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
	GcStream   *stream = scan->run[0]->memory.stream;
	u64		   *valid[GC_MAX_SELECTED];
	Size		one;
	Size		size;
	GcAddr		base;

	merge_sources(scan, NULL, NULL);
	one = visible ? scan->nunion * sizeof(u64) : 0;
	*at = scan->nunion * sizeof(GcSource) + scan->n * one;
	l->share->staging_size = size = *at + more;
	l->share->staging = gc_arena_alloc(size);
	if (l->share->staging == NULL)
		return gc_fail(scan->err, GC_RESULT_TOO_LARGE, "No shared memory for the sources of a shared scan.");
	memset(l->share->staging, 0, size);
	base = (GcAddr) l->share->staging;
	if (!gc_worker.dev->info.host_memory)
	{
		base = l->share->memory = gc_device_alloc(size);
		if (base == 0)
			return gc_fail(scan->err, GC_DEVICE_MEMORY, "No device memory for the sources of a shared scan.");
	}
	l->share->sources = base;
	for (int m = 0; visible && m < scan->n; m++)
	{
		Size		words = scan->nunion * sizeof(GcSource) + m * one;

		valid[m] = (u64 *) ((char *) l->share->staging + words);
		visible[m] = scan->partly_visible[m] ? base + words : 0;
	}
	merge_sources(scan, l->share->staging, visible ? valid : NULL);
	if (fill)
		fill(scan, (char *) l->share->staging + *at, arg);
	scan->queued = true;
	return gc_worker.dev->info.host_memory ? GC_OK
		: gc_copy_in(stream, base, l->share->staging, size, scan->err);
}

/*
 * The table of a column, and the member whose it is: the first one that has it.  Members with the same
 * directory have the same table (device_cache.c).
 */
static GcTable *
column_table(const GcScanMembers *scan, i16 dir_column, int *member)
{
	for (int m = 0; m < scan->n; m++)
	{
		const GcRun *run = scan->run[m];
		const i16  *columns = run->schedule.share->scan_shape->columns;

		for (int c = 0; c < run->p->ncolumns; c++)
		{
			if (columns[c] == dir_column && run->memory.tables[c])
			{
				*member = m;
				return run->memory.tables[c];
			}
		}
	}
	return NULL;
}

u64
gc_scan_column(const GcScanMembers *scan, i16 dir_column)
{
	int			m;
	GcTable    *table = column_table(scan, dir_column, &m);

	return table ? gc_table_array(table) : 0;
}

/* The directory that the run's main pipeline scans. */
static const GcDirectory *
directory_of(const GcRun *run)
{
	return run->request->inputs[run->main->input].dir;
}

/* A member with another directory may read chunks that the first one's request does not. */
GcCode
gc_scan_complete(const GcScanMembers *scan)
{
	GcStream   *stream = scan->run[0]->memory.stream;
	bool		same = true;

	for (int m = 1; m < scan->n; m++)
		same = same && directory_of(scan->run[m]) == directory_of(scan->run[0]);
	for (int c = 0; !same && c < scan->run[0]->schedule.share->scan_shape->set->ncolumns; c++)
	{
		u64			copied = 0;
		int			m;
		GcTable    *table = column_table(scan, c, &m);
		GcCode		code;

		if (table == NULL)
			continue;
		code = gc_table_complete(table, directory_of(scan->run[m]), scan->launch->share->staging, scan->nunion,
								 stream, NULL, &copied, scan->err);
		if (code != GC_OK)
			return code;
		gc_slot_run_info(scan->run[m]->slot)->copied_bytes += copied;
	}
	return GC_OK;
}

GcScan
gc_scan_args(const GcScanMembers *scan)
{
	GcScan		args = {.sources = scan->launch->share->sources,.nsources = scan->nunion,.timed = 1};

	gc_stop_with_worker(&args);
	args.tiles_per_source = (scan->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS;
	args.ntiles = scan->nunion * args.tiles_per_source;
	return args;
}

GcCode
gc_scan_wait(GcScanMembers *scan, int m)
{
	GcEvent	   *prepared = gc_run_prepared(scan->run[m]);

	if (prepared == NULL)
	{
		*scan->err = scan->run[m]->err;
		return scan->err->code;
	}
	return gc_worker.ops->stream_wait(scan->run[0]->memory.stream, prepared, scan->err);
}

/* Have a member's own kernel read its hot and private chunks, into its own sink. */
GcCode
gc_scan_alone(GcRun *run)
{
	const GcInputValue *in = &run->request->inputs[run->main->input];
	int			main = run->p->npipelines - 1;
	GcPipelineKernel *k = run->kernels.of[main];
	GcScanPart	part = {.first = in->nsources - in->nalone,.n = in->nalone};
	int			threads = Min(k->variant.threads, k->info.max_threads);
	GcGrid		shape;

	if (in->nalone == 0)
		return GC_OK;
	shape = gc_sched_full(&gc_worker.profile, threads,
						  gc_run_occupancy(k, threads, gc_run_shared_bytes(run, run->p->npipelines - 1, &k->variant)),
						  part.n * ((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS));
	return gc_run_launch(run, main, k, &shape, &part, run->memory.sink);
}

/* Begin a shared scan's launch: its kernel, its members, and room for their common data. err has the first failure. */
void
gc_scan_begin(GcScanMembers *scan, GcMainLaunch *launch, GcFused *f, const GcStart *start,
			  GcRun *const *runs, GcError *err)
{
	memset(scan, 0, sizeof(*scan));
	*err = (GcError) {GC_OK, ""};
	scan->launch = launch;
	scan->n = start->ncandidates;
	scan->err = err;
	scan->f = f;
	f->users++;
	launch->share->kernel = f;
	launch->registers = f->info.registers;
	for (int m = 0; m < scan->n; m++)
	{
		GcRun	   *run = runs[start->candidate[m]];
		const GcInputValue *in = &run->request->inputs[run->main->input];

		scan->run[m] = run;
		run->schedule.share->scan_member = m;
		scan->member_no[m] = start->member_no[m];
		launch->share->member_mask |= 1u << start->member_no[m];
		scan->sources[m] = (const GcSource *) (run->request->device_part + in->sources_off);
		scan->nsources[m] = in->nsources - in->nalone;
	}
}

void
gc_scan_started(GcScanMembers *scan, GcCode code, GcCode (*follow) (GcScanMembers *scan, int m))
{
	if ((code == GC_DEVICE_MEMORY || code == GC_RESULT_TOO_LARGE) && !scan->added)
	{
		/* The launch's memory goes to others at once. */
		if (scan->queued)
			(void) gc_worker.ops->drain(gc_worker.dev, NULL);
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
