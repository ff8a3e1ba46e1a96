/*-------------------------------------------------------------------------
 *
 * launch.c
 *	  The launch of a pipeline: of one kernel, or of those on both sides of an edge, through which packets go.
 *
 * Words of a kernel's parameter are in the order that the code generator laid down.  Shared scans fill those that only
 * they know, by a hook (run.h).
 *
 * GC_EDGE_MATERIALIZE: the producer's and the consumer's kernel, by turns, for a tile of the table each time: some
 * of its chunks.  Counts of packets stay on the device.  GC_EDGE_CHANNEL, GC_EDGE_REFILL: one kernel
 * (cuda/gc_packet.h).
 *
 * Memory for packets is had before the request is READY.  Without it, the request's pipelines are fused.  For an edge
 * that the model chose nothing leaves device memory: columns that went would be copied anew each time.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "launch.h"

#include "../../device/memory.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "passes.h"
#include "stop.h"

/* A thread of a scan of groups takes one of these at a time. */
#define GROUPS_PER_BLOCK	1024

/* Packets take this part of device memory at most. */
#define MOST_PART		4

/* Packets that a run of tiles is expected to leave at least, if it has no more than MOST_RUN_TILES. */
#define LEAST_PACKETS_LOG	10
#define MOST_RUN_TILES	16

/* Packets that are enough for a slot of a channel, for each thread of its consumers. */
#define ENOUGH_PACKETS	4

/* Slots besides one for each block. */
#define SPARE_SLOTS		32

/* Alignment of the slots behind the control words. */
#define SLOT_ALIGN		256

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

/* A word of a build: by GC_BUILD_PART_*. */
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

/* Where a payload's values lie, or (part 1) the base of its codes. */
static u64
payload_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcPPayload *pay = &gc_payloads(src->request->program)[w->index];
	const GcPBuild *build = &gc_builds(src->request->program)[pay->build];

	if (w->part == 1)
		return (u64) src->request->payload_bases[w->index];
	return src->builds[pay->build]->payload[w->index - build->first_payload];
}

/* A word of a pipeline's groups: by GC_GROUP_PART_*. */
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

/* A word of the choice among groups: by GC_CHOICE_*. */
static u64
choice_word(const GcArgSource *src, const GcArgWord *w)
{
	const GcRequest *r = src->request;

	switch (w->part)
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
		case GC_CHOICE_END:
			return r->ends[w->index];
		default:
			return r->wanted;
	}
}

/* A word of a scan that tries pairs: by GC_PAIRS_*. */
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

/* Where a lookup table lies, on the device or with the request, or the base of its codes. */
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
			return choice_word(src, w);
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
 * The launch of one kernel
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
	GcScan		scan = {.flags = flags,.nsources = part->n,.first_tile = part->first_tile,
	.tile_shift = part->tile_shift,
	.timed = part->timed,.before = part->before};

	gc_stop_with_run(run, &scan);
	scan.sources = part->sources ? part->sources
		: run->memory.device_part + in->sources_off + part->first * sizeof(GcSource);
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

/* edge: by GC_EDGE_WORD_*, of a kernel that reads or writes packets; else NULL. */
static GcCode
launch_kernel(GcRun *run, int pipeline, const GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part,
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

/*-------------------------------------------------------------------------
 * Edges: how packets lie in memory
 *-------------------------------------------------------------------------
 */

/* How memory is divided among the slots of an edge. */
typedef struct EdgePlan
{
	u32			cap;			/* packets of a slot */
	u32			runs;			/* slots of a chunk */
	u32			sources;		/* chunks that are materialized at a time */
	u32			nslots;
	u64			slot_bytes;
	u64			control_bytes;
	u64			bytes;
} EdgePlan;

/* Tiles of each source; one at least, also of an empty table. */
static u32
tiles_per_source(const GcInputValue *in)
{
	return Max((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS, 1);
}

/* The slots begin behind the control words, aligned. */
static void
add_up(EdgePlan *plan)
{
	plan->control_bytes = TYPEALIGN(SLOT_ALIGN, plan->control_bytes);
	plan->bytes = plan->control_bytes + plan->nslots * plan->slot_bytes;
}

/* As many chunks at a time as the request wants, whose packets take this many bytes at most; 0: any number. */
static EdgePlan
plan_materialize(const GcRun *run, const GcInputValue *in, const GcPipelineKernel *k, u64 most)
{
	const u32	tiles = tiles_per_source(in);
	const int	log = Max(k->edge.passed + LEAST_PACKETS_LOG - 14, 0);
	const u32	run_tiles = Min(Min(log > 30 ? MOST_RUN_TILES : 1u << log, MOST_RUN_TILES), tiles);
	EdgePlan	plan = {.cap = run_tiles * GC_TILE_ROWS,.runs = (tiles + run_tiles - 1) / run_tiles,
	.sources = Max(in->nsources, 1)};
	u64			per_source;

	plan.slot_bytes = (u64) plan.cap * k->edge.packet_bytes;
	per_source = plan.runs * (plan.slot_bytes + sizeof(u32));
	if (run->request->edge_tile > 0)
		plan.sources = Min(plan.sources, Max(run->request->edge_tile / Max(in->max_rows, 1), 1));
	if (most > 0)
		plan.sources = Min(plan.sources, Max(most / per_source, 1));
	plan.nslots = plan.sources * plan.runs;
	plan.control_bytes = (plan.nslots + 1) * sizeof(u32);
	add_up(&plan);
	return plan;
}

/* The number of slots that fit into `most` bytes (0: any), at least one.  Blocks without a slot are not launched. */
static u32
slots_within(const EdgePlan *plan, u32 wanted, u64 most)
{
	return most == 0 ? wanted : Min(wanted, Max(most / plan->slot_bytes, 1));
}

/* A slot for each block that the kernel may have, if there is room; of a channel some more. */
static EdgePlan
plan_blocks(const GcRun *run, int pipeline, const GcInputValue *in, GcPipelineKernel *k, u64 most)
{
	const GcGrid grid = gc_run_whole_grid(run, pipeline, k, (u64) in->nsources * tiles_per_source(in));
	const bool	channel = k->variant.edge == GC_EDGE_CHANNEL;
	EdgePlan	plan = {.cap = GC_CHANNEL_TILES * GC_TILE_ROWS};

	plan.slot_bytes = (u64) plan.cap * k->edge.packet_bytes;
	plan.nslots = slots_within(&plan, grid.blocks + (channel ? SPARE_SLOTS : 0), most);
	plan.control_bytes = channel ? GC_CHANNEL_BYTES(plan.nslots, in->nsources) : sizeof(u32);
	add_up(&plan);
	return plan;
}

/* The plan within about `most` bytes (0: any number).  An equal request gives an equal plan. */
static EdgePlan
plan_edge(const GcRun *run, int pipeline, GcPipelineKernel *k, u64 most)
{
	const GcInputValue *in = &run->request->inputs[gc_pipelines(run->p)[pipeline].input];

	return k->variant.edge == GC_EDGE_MATERIALIZE ? plan_materialize(run, in, k, most)
		: plan_blocks(run, pipeline, in, k, most);
}

/*-------------------------------------------------------------------------
 * Memory for packets
 *-------------------------------------------------------------------------
 */

bool
gc_edges_wanted(const GcRun *run)
{
	for (int n = 0; n < run->p->npipelines; n++)
	{
		if (run->kernels.of[n] && gc_has_packets(run->kernels.of[n]))
			return true;
	}
	return false;
}

/* The most that a pipeline's packets take where each takes about `most` bytes; *least: true if it cannot be less. */
static u64
bytes_wanted(const GcRun *run, u64 most, bool *least)
{
	u64			bytes = 0;

	*least = true;
	for (int n = 0; n < run->p->npipelines; n++)
	{
		EdgePlan	plan;

		if (run->kernels.of[n] == NULL || !gc_has_packets(run->kernels.of[n]))
			continue;
		plan = plan_edge(run, n, run->kernels.of[n], most);
		if (plan.bytes > bytes)
		{
			bytes = plan.bytes;
			*least = plan.sources <= 1;
		}
	}
	return bytes;
}

/* Bytes for packets: as many as are of use and free in one piece, or else the least.  *fit: are they free? */
static u64
bytes_within(const GcRun *run, u64 free, bool *fit)
{
	u64			most = gc_pool_size(gc_worker.pool) / MOST_PART;
	u64			bytes;
	bool		least;

	for (;;)
	{
		bytes = bytes_wanted(run, most, &least) + SLOT_ALIGN;
		*fit = bytes <= free;
		if (*fit || least)
			return bytes;
		most = bytes / 2;
	}
}

bool
gc_edges_fit(const GcRun *run)
{
	const u64	unused = gc_pool_size(gc_worker.pool) - gc_pool_used(gc_worker.pool);
	bool		least;
	bool		fit;
	u64			bytes;

	if (run->request->edge != GC_EDGE_AUTO)
	{
		(void) bytes_within(run, gc_pool_largest_free(gc_worker.pool), &fit);
		return fit;
	}
	bytes = bytes_wanted(run, gc_pool_size(gc_worker.pool) / MOST_PART, &least) + SLOT_ALIGN;
	return bytes <= gc_pool_largest_free(gc_worker.pool) &&
		bytes + gc_run_state_bytes(run) + gc_run_missing_bytes(run) <= unused;
}

GcCode
gc_edge_allocate(GcRun *run)
{
	bool		fit;

	if (!gc_edges_wanted(run))
		return GC_OK;
	run->memory.edge_bytes = bytes_within(run, gc_pool_largest_free(gc_worker.pool), &fit);
	run->memory.edge_memory = fit ? gc_device_alloc_free(run->memory.edge_bytes) : 0;
	return run->memory.edge_memory ? GC_OK : gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for packets of %llu kB.",
											  (unsigned long long) run->memory.edge_bytes / 1024);
}

/*-------------------------------------------------------------------------
 * Launches on both sides of an edge
 *-------------------------------------------------------------------------
 */

/* The words of an edge that both sides' kernels read, by GC_EDGE_WORD_*. */
static void
fill_words(const GcRun *run, const EdgePlan *plan, const GcGrid *grid, u64 *words)
{
	words[GC_EDGE_WORD_SLOTS] = run->memory.edge_memory + plan->control_bytes;
	words[GC_EDGE_WORD_CONTROL] = run->memory.edge_memory;
	words[GC_EDGE_WORD_CAP] = plan->cap;
	words[GC_EDGE_WORD_RUNS] = plan->runs;
	words[GC_EDGE_WORD_NSLOTS] = plan->nslots;
	words[GC_EDGE_WORD_ENOUGH] = Max(ENOUGH_PACKETS * grid->threads, 1 << LEAST_PACKETS_LOG);
	words[GC_EDGE_WORD_TILES] = run->request->edge_tile > 0 ? Max(run->request->edge_tile / GC_TILE_ROWS, 1)
		: PG_UINT32_MAX;
	words[GC_EDGE_WORD_FILLERS] = grid->blocks / 2;
}

/* Queue that counts of packets, and of slots in use, begin at 0. */
static GcCode
clear_control(GcRun *run, const EdgePlan *plan)
{
	return gc_worker.ops->fill(run->memory.stream, run->memory.edge_memory, 0, plan->control_bytes, &run->err);
}

/* GC_EDGE_REFILL, too. */
static GcCode
launch_channel(GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part, GcAddr flags,
			   const EdgePlan *plan)
{
	GcGrid		clipped = *grid;
	u64			words[GC_EDGE_WORDS];
	GcCode		code = clear_control(run, plan);

	clipped.blocks = Min(clipped.blocks, plan->nslots);
	fill_words(run, plan, &clipped, words);
	return code == GC_OK ? launch_kernel(run, pipeline, k, &clipped, part, flags, words) : code;
}

/* The consumer's grid: as much of the whole device as the producer has. */
static GcGrid
consumer_grid(const GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const EdgePlan *plan)
{
	const u64	units = (u64) plan->nslots * plan->cap / GC_TILE_ROWS;
	const GcGrid producer = gc_run_whole_grid(run, pipeline, k, units);
	GcGrid		consumer = gc_run_whole_grid(run, pipeline, k->consumer, 4 * units);

	if (grid->blocks < producer.blocks)
		consumer.blocks = Max((u64) consumer.blocks * grid->blocks / producer.blocks, 1);
	return consumer;
}

/* Producer and consumer by turns, for as many sources at a time as the plan has memory for. */
static GcCode
launch_tiles(GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part, GcAddr flags,
			 EdgePlan *plan)
{
	const GcGrid consumer = consumer_grid(run, pipeline, k, grid, plan);
	u64			words[GC_EDGE_WORDS];
	u32			done = 0;
	GcCode		code;

	do
	{
		GcScanPart	tile = *part;

		tile.first = part->first + done;
		tile.n = Min(part->n - done, plan->sources);
		tile.first_tile = 0;
		tile.last = false;
		done += tile.n;
		plan->nslots = tile.n * plan->runs;
		fill_words(run, plan, grid, words);
		if ((code = clear_control(run, plan)) != GC_OK ||
			(code = launch_kernel(run, pipeline, k, grid, &tile, flags, words)) != GC_OK)
			return code;
		tile.last = part->last && done == part->n;
		code = launch_kernel(run, pipeline, k->consumer, &consumer, &tile, flags, words);
	} while (code == GC_OK && done < part->n);
	return code;
}

/* Note the main pipeline's edge for EXPLAIN. */
static void
note_edge(const GcRun *run, const GcPipelineKernel *k, const GcInputValue *in, const EdgePlan *plan)
{
	GcRunInfo  *info = gc_slot_run_info(run->slot);

	info->edge = k->variant.edge;
	info->edge_step = k->variant.edge_step;
	info->edge_packet_bytes = k->edge.packet_bytes;
	if (k->variant.edge == GC_EDGE_CHANNEL)
		info->edge_tile = Max(run->request->edge_tile / GC_TILE_ROWS, 0) * GC_TILE_ROWS;
	else if (k->variant.edge == GC_EDGE_REFILL)
		info->edge_tile = 0;
	else
		info->edge_tile = plan->sources < in->nsources ? plan->sources * in->max_rows : 0;
}

/* Launch both sides of the edge, in memory that the request has for it.  Waves have no edges. */
static GcCode
launch_edge(GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part, GcAddr flags)
{
	EdgePlan	plan = plan_edge(run, pipeline, k, run->memory.edge_bytes - SLOT_ALIGN);

	/* The edge is planned as it was when memory was had for it, or smaller. */
	if (run->memory.edge_memory == 0 || plan.bytes > run->memory.edge_bytes || part->sources)
		return gc_fail(&run->err, GC_DEVICE_MEMORY, "No device memory for the packets of a pipeline.");
	if (pipeline == run->p->npipelines - 1)
		note_edge(run, k, &run->request->inputs[run->main->input], &plan);
	return k->variant.edge != GC_EDGE_MATERIALIZE ? launch_channel(run, pipeline, k, grid, part, flags, &plan)
		: launch_tiles(run, pipeline, k, grid, part, flags, &plan);
}

GcCode
gc_run_launch(GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part, GcAddr flags)
{
	return gc_has_packets(k) ? launch_edge(run, pipeline, k, grid, part, flags)
		: launch_kernel(run, pipeline, k, grid, part, flags, NULL);
}
