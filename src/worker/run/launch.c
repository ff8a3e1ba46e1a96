/*-------------------------------------------------------------------------
 *
 * launch.c
 *	  The launch of one kernel of a pipeline: its parameter, its shared memory, its grid.
 *
 * Words of a parameter are in the order that the code generator laid down.  Shared scans fill those that only they know, by
 * a hook (run.h).
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "launch.h"

#include "../memory/state.h"
#include "passes.h"
#include "stop.h"

/* A thread of a scan of groups takes one of these at a time. */
#define GROUPS_PER_BLOCK	1024

/*-------------------------------------------------------------------------
 * The parameter
 *-------------------------------------------------------------------------
 */

/* An offset into the request's device part as an address; 0 stays 0. */
static u64
device_address(const GcArgSource *src, u64 off)
{
	return off ? src->device_part + off : 0;
}

static u64
build_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcBuildTable *t = src->builds[w->index];
	const GcBuildValue *v = &src->request->builds[w->index];

	switch (w->part)
	{
		case GC_BUILD_PART_BITMAP:
			return t->bitmap;
		case GC_BUILD_PART_BASE:
			return (u64) v->base;
		case GC_BUILD_PART_RANGE:
			return v->range;
		case GC_BUILD_PART_SLOTS:
			return t->slots;
		case GC_BUILD_PART_MASK:
			return v->slots - 1;
		case GC_BUILD_PART_KEYS:
			return t->keys;
		case GC_BUILD_PART_NEXT:
			return t->next;
		case GC_BUILD_PART_MATCHED:
			return src->matched[w->index];
		case GC_BUILD_PART_FLAGS:
			return t->flags;
		default:
			return v->cap;
	}
}

static u64
payload_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcPPayload *pay = &gc_payloads(src->request->program)[w->index];
	const GcPBuild *build = &gc_builds(src->request->program)[pay->build];

	if (w->part == 1)
		return (u64) src->request->payload_bases[w->index];
	return src->builds[pay->build]->payload[w->index - build->first_payload];
}

static u64
group_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcSinkMemory *sink = &src->sinks[w->index];

	switch (w->part)
	{
		case GC_GROUP_PART_TABLE:
			return sink->groups;
		case GC_GROUP_PART_COUNT:
			return src->request->sinks[w->index].ngroups;
		case GC_GROUP_PART_SLOTS:
			return sink->group_slots;
		case GC_GROUP_PART_MASK:
			return src->request->sinks[w->index].group_slots - 1;
		case GC_GROUP_PART_FLAGS:
			return sink->memory;
		default:
			return sink->group_keys;
	}
}

static u64
choice_word(const GcArgSource *src, u8 part)
{
	const GcRequest *r = src->request;

	switch (part)
	{
		case GC_CHOICE_WORDS:
			return src->gathered;
		case GC_CHOICE_KEYS:
			return src->gathered_keys;
		case GC_CHOICE_CAP:
			return r->sinks[r->program->npipelines - 1].rows_cap;
		case GC_CHOICE_TOP:
			return src->top;
		case GC_CHOICE_PASS:
			return src->pass;
		case GC_CHOICE_BEST:
			return r->best;
		default:
			return r->wanted;
	}
}

static u64
pairs_word(const GcPairs *pairs, const GcArgWord *w)
{
	switch (w->part)
	{
		case GC_PAIRS_FROM:
			return pairs->from;
		case GC_PAIRS_COUNT:
			return pairs->count;
		case GC_PAIRS_SLICES:
			return pairs->slices;
		case GC_PAIRS_PARTS:
			return pairs->parts;
		case GC_PAIRS_LIST_SLICES:
			return pairs->list_slices[w->index];
		default:
			return pairs->list_rows[w->index];
	}
}

static u64
lut_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcLutValue *v = &src->request->luts[w->index];
	const GcDeviceLookup *shared = src->lookups[w->index];

	switch (w->part)
	{
		case GC_LUT_DATA:
			return shared ? gc_device_lookup_data(shared) : device_address(src, v->data_off);
		case GC_LUT_NULLS:
			return shared ? gc_device_lookup_nulls(shared) : device_address(src, v->nulls_off);
		default:
			return (u64) v->base;
	}
}

u64
gc_arg_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcRequest *r = src->request;

	switch (w->type)
	{
		case GC_ARG_COLUMN:
			if (w->part == GC_COLUMN_PRIVATE)
				return device_address(src, r->columns[w->index].private_off);
			if (src->wave && src->wave[w->index])
				return src->wave[w->index];
			return src->tables[w->index] ? gc_table_array(src->tables[w->index]) : 0;
		case GC_ARG_PARAM:
			return w->part == 1 ? r->params[w->index].hi : r->params[w->index].lo;
		case GC_ARG_LUT:
			return lut_word(src, w);
		case GC_ARG_LIST:
			return w->part == 1 ? r->lists[w->index].count
				: device_address(src, r->lists[w->index].data_off);
		case GC_ARG_BUILD:
			return build_word(src, w);
		case GC_ARG_PAYLOAD:
			return payload_word(src, w);
		case GC_ARG_GROUP:
			return group_word(src, w);
		case GC_ARG_GROUP_KEY:
			return w->part == 1 ? r->group_keys[w->index].stride : (u64) r->group_keys[w->index].base;
		case GC_ARG_SELECTION:
		case GC_ARG_PREDICATE:
		case GC_ARG_DIRECT:
			return src->run->hooks->arg_word(src->run->schedule.share, w);
		case GC_ARG_CHOICE:
			return choice_word(src, w->part);
		case GC_ARG_PAIRS:
			return pairs_word(&src->pairs, w);
		case GC_ARG_EDGE:
			return src->edge ? src->edge[w->part] : 0;
		case GC_ARG_SPLIT:
			return gc_passes_word(src->passes, w);
		default:				/* GC_ARG_ROWS */
			return w->part == 1 ? r->sinks[w->index].rows_cap : src->sinks[w->index].rows;
	}
}

void
gc_fill_args(const GcArgSource *src, const GcPipelineKernel *kernel, GcArgs *args)
{
	for (int i = 0; i < kernel->nwords; i++)
		args->w[i] = gc_arg_word(src, &kernel->words[i]);
}

/*-------------------------------------------------------------------------
 * The launch
 *-------------------------------------------------------------------------
 */

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
	const GcRunMemory *m = &run->memory;

	*src = (GcArgSource) {.request = run->request,.tables = m->tables,.builds = m->builds,.matched = m->matched,
		.lookups = m->lookups,.device_part = m->device_part,.sinks = m->sinks,.gathered = m->gathered,
	.gathered_keys = m->gathered_keys,.top = m->top,.pass = run->result.pass,.passes = run->scan.passes,.run = run};
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

/* Blocks that may be of use for a scan of groups, each of which a thread takes alone. */
u32
gc_group_blocks(const GcInputValue *in)
{
	return (in->max_rows + GROUPS_PER_BLOCK - 1) / GROUPS_PER_BLOCK;
}

u32
gc_run_ntiles(const GcRun *run)
{
	const GcInputValue *in = &run->request->inputs[run->main->input];

	if (gc_inputs(run->p)[run->main->input].groups_of)
		return gc_group_blocks(in);
	if (run->scan.pairs.slices > 0)
		return gc_pairs_blocks(run->scan.pairs.count - run->scan.piece.from - run->scan.piece.count,
							   gc_run_own_kernel(run)->variant.threads);
	return in->nsources * ((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS);
}
