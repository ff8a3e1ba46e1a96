/*-------------------------------------------------------------------------
 *
 * shared_scan.c
 *	  One fused scan: from its members to their results.
 *
 * The kernel contains a member for each request, which writes to the request's sink.  So behind
 * the kernel each request only fetches its result, on its own stream.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "scan_members.h"

#include "../memory/state.h"
#include "../run/launch.h"
#include "../run/stop.h"
#include "scan_set.h"
#include "share_launch.h"

/*
 * Does every request have the chunks of all columns that its member in the kernel reads?  Its own
 * kernel normally reads the same columns, but that is not relied on.  Other requests' chunks may
 * be different ones.
 */
static GcCode
have_columns(const GcScanMembers *scan)
{
	GcStream   *stream = scan->run[0]->memory.stream;
	GcCode		code = GC_OK;

	for (int i = 0; i < scan->f->nwords; i++)
	{
		const GcFusedWord *w = &scan->f->words[i];

		for (int m = 0; w->readers != 0 && m < scan->n && code == GC_OK; m++)
		{
			GcRun	   *run = scan->run[m];
			const i16  *columns = run->schedule.share->scan_shape->columns;
			int			c = 0;

			if (!(w->readers >> scan->member_no[m] & 1))
				continue;
			while (columns[c] != scan->f->physical[w->word.index])
				c++;
			Assert(c < run->p->ncolumns);
			code = gc_run_have_column(run, run->main->input, c, stream, scan->err);
		}
	}
	return code;
}

/* Each word of the fused kernel is a member's own, or one for all: a column, or which members there are. */
static void
fill_words(const GcScanMembers *scan, const u64 *visible, GcArgs *args)
{
	int			member_of[GC_MAX_FUSED];
	GcArgSource src[GC_MAX_FUSED];

	memset(member_of, -1, sizeof(member_of));
	for (int m = 0; m < scan->n; m++)
	{
		member_of[scan->member_no[m]] = m;
		gc_run_arg_source(scan->run[m], &src[m]);
	}
	for (int i = 0; i < scan->f->nwords; i++)
	{
		const GcFusedWord *w = &scan->f->words[i];
		int			m = w->member == GC_FUSED_ANY ? 0 : member_of[w->member];
		u64			v = 0;

		if (w->word.type == GC_ARG_MEMBERS)
			v = scan->launch->share->member_mask;
		else if (w->member == GC_FUSED_ANY)
			v = gc_scan_column(scan, scan->f->physical[w->word.index]);
		else if (m < 0)
			v = 0;
		else if (w->word.type == GC_ARG_FLAGS)
			v = scan->run[m]->memory.sink;
		else if (w->word.type == GC_ARG_VISIBLE)
			v = visible[m];
		else if (w->word.type == GC_ARG_SHARED)
			v = scan->starts[scan->member_no[m]];
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
		int			member_no = scan->member_no[m];

		for (int b = 0; b < scan->run[m]->p->nbuilds; b++)
			range[member_no][b] = r->builds[b].range;
		ranges[member_no] = range[member_no];
		ngroups[member_no] = r->sinks[r->program->npipelines - 1].ngroups;
	}
	return gc_fused_shared_bytes(scan->f->member, scan->f->n, scan->launch->share->member_mask, ranges, ngroups,
								 scan->starts);
}

/* Queue what comes before the kernel, on the first member's stream, and describe its launch. */
static GcCode
prepare(GcScanMembers *scan, GcLaunch *launch, GcArgs *args)
{
	GcMainLaunch *l = scan->launch;
	u64			visible[GC_MAX_SELECTED];
	GcCode		code;
	u32			dynamic;
	int			per_sm;
	Size		end;

	dynamic = (u32) shared_bytes(scan);
	l->shared_bytes = dynamic + scan->f->info.shared_static;
	per_sm = gc_worker.ops->occupancy(scan->f->kernel, l->grid.threads, dynamic);
	if (per_sm == 0)
		return gc_fail(scan->err, GC_DEVICE_MEMORY, "A shared scan does not fit a multiprocessor.");
	if ((code = gc_scan_upload(scan, visible, 0, &end, NULL, NULL)) != GC_OK)
		return code;
	for (int m = 1; m < scan->n; m++)
	{
		if ((code = gc_scan_wait(scan, m)) != GC_OK)
			return code;
	}
	if ((code = have_columns(scan)) != GC_OK || (code = gc_scan_complete(scan)) != GC_OK)
		return code;
	/* From here on nothing should be short of memory: the requests cannot begin anew. */
	for (int m = 0; m < scan->n; m++)
	{
		GcRun	   *run = scan->run[m];

		if ((code = gc_scan_alone(run)) != GC_OK)
		{
			*scan->err = run->err;
			return code;
		}
		scan->added = scan->added || run->request->inputs[run->main->input].nalone > 0;
	}
	memset(args, 0, sizeof(GcArgs));
	fill_words(scan, visible, args);
	args->scan = gc_scan_args(scan);
	gc_stop_with_all(scan->run[0], l, &args->scan);
	l->ntiles = args->scan.ntiles;
	l->grid = gc_sched_full(&gc_worker.profile, l->grid.threads, per_sm, l->ntiles);
	*launch = (GcLaunch) {.blocks = l->grid.blocks,.threads = l->grid.threads,.shared_bytes = dynamic};
	return GC_OK;
}

/* Queue the fused kernel, and an event behind it. */
static GcCode
launch_scan(GcScanMembers *scan)
{
	GcStream   *stream = scan->run[0]->memory.stream;
	GcLaunch	launch;
	GcArgs		args;
	GcCode		code = prepare(scan, &launch, &args);

	if (code != GC_OK)
		return code;
	pg_atomic_fetch_add_u64(&gc_stats()->main_launches, 1);
	code = gc_worker.ops->launch(stream, scan->f->kernel, &launch, &args, scan->f->nwords, scan->err);
	scan->added = scan->added || code == GC_OK;
	if (code == GC_OK && (scan->launch->share->computed = gc_worker.ops->event(stream, scan->err)) == NULL)
		code = scan->err->code;
	return code;
}

/* Note what EXPLAIN shows of member m, and queue the copies of its result. */
static GcCode
follow(GcScanMembers *scan, int m)
{
	GcRun	   *run = scan->run[m];
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	const GcMainLaunch *l = scan->launch;
	GcCode		code = GC_OK;

	info->kernels++;
	info->blocks = l->grid.blocks;
	info->threads = l->grid.threads;
	info->shared_bytes = l->shared_bytes;
	info->registers = l->registers;
	info->first_tile = l->first_tile;
	info->ntiles = l->ntiles;
	if (m > 0)
		code = gc_worker.ops->stream_wait(run->memory.stream, l->share->computed, &run->err);
	return code != GC_OK ? code : gc_run_queue_result(run);
}

void
gc_fused_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs)
{
	GcScanMembers scan;
	GcError		err;

	gc_scan_begin(&scan, launch, f, start, runs, &err);
	gc_scan_started(&scan, launch_scan(&scan), follow);
}
