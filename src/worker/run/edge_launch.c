/*-------------------------------------------------------------------------
 *
 * edge_launch.c
 *	  The launch of a pipeline: of one kernel, or of those on both sides of an edge, through which packets go.
 *
 * GC_EDGE_MATERIALIZE: the producer's and the consumer's kernel, by turns, for a tile of the table each time: some
 * of its chunks.  Counts of packets stay on the device.  GC_EDGE_CHANNEL, GC_EDGE_REFILL: one kernel (cuda/gc_packet.h).
 *
 * Memory for packets is had before the request is READY.  Without it, the request's pipelines are fused.  For an edge
 * that the model chose nothing leaves device memory: columns that went would be copied anew each time.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "edge_launch.h"

#include "../../device/memory.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"

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

static u32
tiles_per_source(const GcInputValue *in)
{
	return Max((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS, 1);
}

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

static EdgePlan
plan_edge(const GcRun *run, int pipeline, GcPipelineKernel *k, u64 most)
{
	const GcInputValue *in = &run->request->inputs[gc_pipelines(run->p)[pipeline].input];

	return k->variant.edge == GC_EDGE_MATERIALIZE ? plan_materialize(run, in, k, most) : plan_blocks(run, pipeline, in, k, most);
}

/*-------------------------------------------------------------------------
 * Memory
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

void
gc_edge_free(GcRun *run)
{
	gc_device_free(run->memory.edge_memory);
	run->memory.edge_memory = 0;
}

/*-------------------------------------------------------------------------
 * Launches
 *-------------------------------------------------------------------------
 */

static void
fill_words(const GcRun *run, const EdgePlan *plan, const GcGrid *grid, u64 *words)
{
	words[GC_EDGE_WORD_SLOTS] = run->memory.edge_memory + plan->control_bytes;
	words[GC_EDGE_WORD_CONTROL] = run->memory.edge_memory;
	words[GC_EDGE_WORD_CAP] = plan->cap;
	words[GC_EDGE_WORD_RUNS] = plan->runs;
	words[GC_EDGE_WORD_NSLOTS] = plan->nslots;
	words[GC_EDGE_WORD_ENOUGH] = Max(ENOUGH_PACKETS * grid->threads, 1 << LEAST_PACKETS_LOG);
	words[GC_EDGE_WORD_TILES] = run->request->edge_tile > 0 ? Max(run->request->edge_tile / GC_TILE_ROWS, 1) : PG_UINT32_MAX;
	words[GC_EDGE_WORD_FILLERS] = grid->blocks / 2;
}

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
	return code == GC_OK ? gc_launch_kernel(run, pipeline, k, &clipped, part, flags, words) : code;
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
			(code = gc_launch_kernel(run, pipeline, k, grid, &tile, flags, words)) != GC_OK)
			return code;
		tile.last = part->last && done == part->n;
		code = gc_launch_kernel(run, pipeline, k->consumer, &consumer, &tile, flags, words);
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

static GcCode
launch_edge(GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part, GcAddr flags)
{
	EdgePlan	plan = plan_edge(run, pipeline, k, run->memory.edge_bytes - SLOT_ALIGN);

	/* It is planned as it was when memory was had for it, or smaller. */
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
		: gc_launch_kernel(run, pipeline, k, grid, part, flags, NULL);
}
