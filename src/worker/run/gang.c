/*-------------------------------------------------------------------------
 *
 * gang.c
 *	  Gang launches: the main kernels of several requests, of one text, in one launch.
 *
 * Shards of one table are tables of their own, so that no scan can be shared between them.  But their kernels
 * mostly have the same text, and differ in arguments only.  Such kernels that start together are one launch
 * (GcGang in cuda/gc_abi.h).  Each member keeps its blocks, as they were decided, its flags, sink and result.
 * So a member that is cancelled, or whose kernel fails, concerns no other.  Where the launch cannot be queued, all
 * fail.
 *
 * A gang has a stream of its own, which waits for each member's queued work.  A member whose kernel delivers its result
 * needs nothing behind that; others' streams wait for the launch, and copy.
 *
 * The worker's main thread.  Members' launches hold the gang (main_launch.h).
 *
 *-------------------------------------------------------------------------
 */
#include "gang.h"

#include "../memory/state.h"
#include "launch.h"
#include "wave_scan.h"

/* The arguments of the launch that is being made: too many for the stack. */
static GcArgs args[GC_GANG_MOST];

/* Queue one launch of a gang's kernel for n members, whose arguments are filled.  Their own launches would be these. */
static GcCode
queue(GcStream *stream, GcKernel *kernel, const GcLaunch *own, int n, int nwords, GcError *err)
{
	GcGangMember members[GC_GANG_MOST];
	GcLaunch	all = {.threads = own[0].threads};

	for (int m = 0; m < n; m++)
	{
		members[m] = (GcGangMember) {.args = &args[m],.blocks = own[m].blocks};
		all.shared_bytes = Max(all.shared_bytes, own[m].shared_bytes);
		all.whole_shared = all.whole_shared || own[m].whole_shared;
	}
	return gc_worker.ops->launch_gang(stream, kernel, &all, members, n, nwords, err);
}

bool
gc_gang_possible(const GcRun *run)
{
	const GcPipelineKernel *k = gc_run_own_kernel(run);

	/* The gang's kernel is a full one. */
	return k->final && k->effort == GC_EFFORT_FULL && !gc_has_packets(k) && run->scan.passes == NULL &&
		run->scan.pairs.slices == 0 && !gc_run_in_waves(run);
}

u64
gc_gang_id(const GcRun *run)
{
	const GcGangKernel *gang = gc_run_own_kernel(run)->gang;

	return gang && gang->kernel ? (u64) (uintptr_t) gang->kernel : 0;
}

int
gc_gang_most(const GcRun *run)
{
	return gc_run_own_kernel(run)->gang->most;
}

bool
gc_gang_pending(const GcRun *run)
{
	const GcGangKernel *gang = gc_run_own_kernel(run)->gang;

	return gang && gc_gang_kernel_pending(gang);
}

void
gc_gang_want(const GcRun *run)
{
	GcPipelineKernel *k = gc_run_own_kernel(run);

	if (k->gang == NULL)
		gc_kernel_ask_gang(k, run->p, run->p->npipelines - 1);
}

/* Have the gang's stream wait for the run's work before its main kernel. */
static GcCode
wait_for(GcRun *run, GcGangLaunch *gang, GcError *err)
{
	GcEvent	   *prepared = gc_run_prepared(run);

	if (prepared)
		return gc_worker.ops->stream_wait(gang->stream, prepared, err);
	*err = run->err;
	return err->code;
}

static GcCode
launch(GcRun *const *runs, int n, GcGangLaunch *gang, GcEvent **launched, GcError *err)
{
	const GcGangKernel *kernel = gc_run_own_kernel(runs[0])->gang;
	GcLaunch	own[GC_GANG_MOST];
	GcCode		code = GC_OK;

	for (int m = 0; m < n; m++)
	{
		GcRun	   *run = runs[m];
		const GcMainLaunch *l = run->schedule.launch;
		const GcScanPart part = {.n = run->request->inputs[run->main->input].nsources,.first_tile = l->first_tile,
		.timed = true,
		.whole_shared = l->whole_shared,.last = true};

		if ((code = wait_for(run, gang, err)) != GC_OK)
			return code;
		own[m] = gc_describe_launch(run, run->p->npipelines - 1, gc_run_own_kernel(run), &l->grid, &part,
									run->memory.sink, NULL, &args[m]);
	}
	code = queue(gang->stream, kernel->kernel, own, n, kernel->nwords, err);
	if (code == GC_OK && (*launched = gc_worker.ops->event(gang->stream, err)) == NULL)
		code = err->code;
	return code;
}

/* Queue one member's work behind the launch. */
static GcCode
follow(GcRun *run, GcEvent *launched)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcMainLaunch *l = run->schedule.launch;
	GcCode		code = GC_OK;

	info->registers = gc_run_own_kernel(run)->gang->info.registers;
	info->gang_members = l->gang->members;
	l->ntiles = info->ntiles;
	if (!run->result.delivered)
		code = gc_worker.ops->stream_wait(run->memory.stream, launched, &run->err);
	return code == GC_OK ? gc_run_queue_result(run) : code;
}

void
gc_gang_start(GcRun *const *runs, int n)
{
	GcEvent	   *launched = NULL;
	GcError		err = {GC_OK, ""};
	GcGangLaunch *gang = gc_gang_launch_new(&err);
	GcCode		code = err.code;

	for (int m = 0; m < n && gang; m++)
	{
		gc_gang_launch_join(gang, runs[m]->schedule.launch, 1);
		runs[m]->schedule.ganged = true;
	}
	if (gang)
	{
		gc_slot_run_info(runs[0]->slot)->kernels++;
		pg_atomic_fetch_add_u64(&gc_stats()->main_launches, 1);
		pg_atomic_fetch_add_u64(&gc_stats()->ganged, n);
		code = launch(runs, n, gang, &launched, &err);
	}
	for (int m = 0; m < n; m++)
	{
		if (code != GC_OK)
			runs[m]->err = err;
		if (code != GC_OK || follow(runs[m], launched) != GC_OK)
			gc_run_fail_start(runs[m]);
	}
	if (launched)
		gc_worker.ops->event_put(gc_worker.dev, launched);
	if (gang)
		gc_gang_launch_release(gang);
}

/*-------------------------------------------------------------------------
 * A main kernel's needs, as sched/ wants to know them
 *-------------------------------------------------------------------------
 */

GcKernelNeeds
gc_describe_needs(const GcRun *run, GcPipelineKernel *k, double alone_us)
{
	const GcPInput *in = &gc_inputs(run->p)[run->main->input];
	u32			shared = (u32) gc_run_shared_bytes(run, run->p->npipelines - 1, &k->variant);
	int			threads = Min(k->variant.threads, k->info.max_threads);
	int			registers = k->info.registers;
	u32			shared_static = k->info.shared_static;
	u32			row_bytes = 0;

	/* A producer and its consumer come one after the other, with one demand: the greater one of each resource. */
	for (GcPipelineKernel *c = k->consumer; c; c = c->consumer)
	{
		threads = Min(threads, c->info.max_threads);
		registers = Max(registers, c->info.registers);
		shared = Max(shared, (u32) gc_run_shared_bytes(run, run->p->npipelines - 1, &c->variant));
		shared_static = Max(shared_static, c->info.shared_static);
	}
	for (int c = in->first_column; c < in->first_column + in->ncolumns; c++)
		row_bytes += run->memory.tables[c] ? Max(gc_columns(run->p)[c].width, 1) : 0;
	return (GcKernelNeeds) {.issue_part = k->issue_part.samples > 0 ? k->issue_part.value : gc_worker.calibration.overlap_same_table,
		.warp_flight = row_bytes * Max(k->variant.vec, 1) * gc_worker.profile.warp_size,
		.registers = registers,.max_threads = threads,.threads = threads,
		.shared_bytes = shared + shared_static,.occupancy = gc_run_occupancy(k, threads, shared),
		.alone_us = alone_us};
}

void
gc_describe_loads(const GcRun *run, const GcPipelineKernel *k, GcCandidate *candidate)
{
	const GcPInput *in = &gc_inputs(run->p)[run->main->input];
	const double rows = run->request->inputs[run->main->input].rows;

	candidate->nloads = 0;
	candidate->lookup_bytes = 0;
	for (int c = in->first_column; c < in->first_column + in->ncolumns && k->alone_us.samples > 0; c++)
	{
		const GcPColumn *column = &gc_columns(run->p)[c];

		if (run->memory.tables[c] == NULL)
			continue;
		if (candidate->nloads < GC_LOAD_COLUMNS)
			candidate->load[candidate->nloads++] = (GcColumnLoad) {.column = (u32) column->attnum};
		candidate->load[candidate->nloads - 1].bytes += (float) (rows * Max(column->width, 1));
	}
	for (int b = 0; b < run->p->nbuilds; b++)
		candidate->lookup_bytes += run->memory.builds[b] ? run->memory.builds[b]->bytes : 0;
}
