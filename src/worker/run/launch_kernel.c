/*-------------------------------------------------------------------------
 *
 * launch_kernel.c
 *	  The launch of one kernel of a pipeline: its parameter, its shared memory, its grid.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "launch_kernel.h"

#include "../memory/state.h"
#include "stop.h"

u64
gc_run_shared_bytes(const GcRun *run, int pipeline, const GcVariant *variant)
{
	u64			ranges[GC_MAX_BUILDS] = {0};

	for (int b = 0; b < run->p->nbuilds; b++)
		ranges[b] = run->request->builds[b].range;
	return gc_shared_bytes(run->p, pipeline, variant, ranges, run->request->sinks[pipeline].ngroups);
}

int
gc_run_occupancy(GcPipelineKernel *k, int threads, u64 shared_bytes)
{
	if (k->occupancy < 0 || k->occupancy_shared != shared_bytes || k->occupancy_threads != threads)
	{
		k->occupancy = gc_worker.ops->occupancy(k->kernel, threads, shared_bytes);
		k->occupancy_shared = shared_bytes;
		k->occupancy_threads = threads;
	}
	return k->occupancy;
}

/* Collect the sources of the argument words of this run's kernels. */
void
gc_run_arg_source(const GcRun *run, GcArgSource *src)
{
	*src = (GcArgSource) {.request = run->request,.tables = run->memory.tables,.builds = run->memory.builds,
		.matched = run->memory.matched,.lookups = run->memory.lookups,
		.device_part = run->memory.device_part,.sinks = run->memory.sinks,.gathered = run->memory.gathered,
	.gathered_keys = run->memory.gathered_keys,.top = run->memory.top,.pass = run->result.pass,.passes = run->scan.passes,.share = run->schedule.share};
}

/* Describe a part of a scan, whose flags are at an address, to the scan skeleton. */
static GcScan
describe_scan(const GcRun *run, const GcInputValue *in, const GcScanPart *part, GcAddr flags)
{
	GcScan		scan = {.flags = flags,.nsources = part->n,.first_tile = part->first_tile,.tile_shift = part->tile_shift,
	.timed = part->timed,.before = part->before};

	gc_stop_with_run(run, &scan);
	scan.sources = part->sources ? part->sources : run->memory.device_part + in->sources_off + part->first * sizeof(GcSource);
	scan.tiles_per_source = (in->max_rows + GC_ROWS_OF_TILE(scan) - 1) / GC_ROWS_OF_TILE(scan);
	scan.ntiles = part->n * scan.tiles_per_source;
	if (part->last && run->result.delivered)
	{
		scan.deliver_to = (GcAddr) run->result.flags;
		scan.delivered = run->result.delivers;
	}
	return scan;
}

GcLaunch
gc_describe_launch(GcRun *run, int pipeline, const GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part,
				   GcAddr flags, const u64 *edge, GcArgs *args)
{
	const GcInputValue *in = &run->request->inputs[gc_pipelines(run->p)[pipeline].input];
	GcArgSource src;
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcLaunch	l = {.blocks = grid->blocks,.threads = grid->threads,
	.shared_bytes = gc_run_shared_bytes(run, pipeline, &k->variant),.whole_shared = part->whole_shared,
	.link_bytes = part->link_bytes};

	/* an empty part launches no block, so no block would deliver */
	if (part->last)
		run->result.delivered = run->result.delivers > 0 && l.blocks > 0;
	gc_run_arg_source(run, &src);
	src.pairs = part->pairs;
	src.wave = part->columns;
	src.edge = edge;
	gc_fill_args(&src, k, args);
	args->scan = describe_scan(run, in, part, flags);
	info->blocks = l.blocks;
	info->threads = l.threads;
	info->shared_bytes = l.shared_bytes;
	info->registers = k->info.registers;
	/* The prediction is for producer and consumer together, and the consumer comes last. */
	if (pipeline == run->p->npipelines - 1 && k->variant.edge_side != GC_EDGE_CONSUMER)
		info->edge_predicted_ms = k == run->kernels.of[pipeline] ? k->predicted_us / 1000 : 0;
	info->first_tile = part->first_tile;
	info->ntiles = args->scan.ntiles;
	return l;
}

GcCode
gc_launch_kernel(GcRun *run, int pipeline, const GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part,
				 GcAddr flags, const u64 *edge)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcArgs		args;
	const GcLaunch l = gc_describe_launch(run, pipeline, k, grid, part, flags, edge, &args);

	info->kernels++;
	if (pipeline == run->p->npipelines - 1)
		pg_atomic_fetch_add_u64(&gc_stats()->main_launches, 1);
	return gc_worker.ops->launch(run->memory.stream, k->kernel, &l, &args, k->nwords, &run->err);
}

GcGrid
gc_run_whole_grid(const GcRun *run, int pipeline, GcPipelineKernel *k, u64 tiles)
{
	const int	threads = Min(k->variant.threads, k->info.max_threads);

	return gc_sched_full(&gc_worker.profile, threads,
						 gc_run_occupancy(k, threads, gc_run_shared_bytes(run, pipeline, &k->variant)), tiles);
}
