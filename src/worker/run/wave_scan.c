/*-------------------------------------------------------------------------
 *
 * wave_scan.c
 *	  The scan of a pipeline in waves: which pipelines, and the launch of a wave's part.
 *
 * A pipeline is scanned in waves if its columns do not fit beside those that others use, or if memory ran out.  A
 * launch for a wave is one for a part of the sources, which adds to the pipeline's sink.  A main pipeline has its waves
 * queued while the request is RUNNING, few at a time.  Any other pipeline is queued as a whole.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "wave_scan.h"

#include <math.h>

#include "../../device/memory.h"
#include "../../settings.h"
#include "../memory/device_cache.h"
#include "../memory/device_memory.h"
#include "../memory/eviction.h"
#include "../memory/state.h"
#include "../waves/waves.h"
#include "launch.h"
#include "stop.h"

/* No estimate is trusted that says of fewer rows that they come to where a column is read. */
#define LEAST_SHARE		(1.0 / 4096)

/* How kernels read columns in the host's memory is kept for so many kinds of reads. */
#define LINK_READS		256

/* So many bytes are read of device memory while a kernel's reads move one over the link (an H100 on PCIe 5.0). */
#define MEMORY_PER_LINK	100

/* A kernel that waits for the link has at least this share of the device. */
#define LEAST_GRID		0.125

struct GcWaveScan
{
	GcRun	   *run;
	int			pipeline;
	GcWaveMember *member;
	GcAddr		flags;
	bool		last;			/* nothing writes to the sink behind this scan */
	int			ncolumns;
	int			columns[GC_MAX_COLUMNS];	/* of the program */
	GcAddr		addresses[GC_MAX_COLUMNS];	/* per column of the program */
};

/* Has the pipeline cached columns, of which kernels can take any part? */
static bool
may_be(const GcRun *run, int pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(run->p)[pipeline];
	const GcPInput *in = &gc_inputs(run->p)[pl->input];

	return !gc_worker.dev->info.host_memory && run->request->inputs[pl->input].dir && !in->groups_of &&
		!in->unmatched_of && gc_pairs_of(run->request, pipeline).slices == 0;
}

bool
gc_wave_scan_possible(const GcRun *run)
{
	for (int n = 0; n < run->p->npipelines; n++)
	{
		if (may_be(run, n))
			return true;
	}
	return false;
}

/* Chunks that a pipeline's input has, as the host sees them. */
static const GcSource *
sources_of(const GcRun *run, int pipeline)
{
	return (const GcSource *) (run->request->device_part +
							   run->request->inputs[gc_pipelines(run->p)[pipeline].input].sources_off);
}

/* The columns that a pipeline reads: their numbers in the program and in the directory.  Returns how many. */
static int
columns_of(const GcRun *run, int pipeline, int *columns, int *of_directory)
{
	const GcPInput *pin = &gc_inputs(run->p)[gc_pipelines(run->p)[pipeline].input];
	int			n = 0;

	for (int c = pin->first_column; c < pin->first_column + pin->ncolumns; c++)
	{
		if (!gc_kernel_reads_column(run->kernels.of[pipeline], c))
			continue;
		columns[n] = c;
		of_directory[n++] = run->request->columns[c].dir_column;
	}
	return n;
}

/*
 * Are there so many columns that they do not fit beside those that others use?  The main pipeline's are had first, and
 * leave room for all that the request makes.  Nor are they to put others out of memory, or to take memory that is left
 * free for the state of requests.  Policies of replacement other than `value` have them do both.
 */
bool
gc_wave_scan_wanted(const GcRun *run, int pipeline)
{
	const GcInputValue *in = &run->request->inputs[gc_pipelines(run->p)[pipeline].input];
	const bool	is_main = pipeline == run->p->npipelines - 1;
	int			columns[GC_MAX_COLUMNS],
				of_directory[GC_MAX_COLUMNS];
	const u64	besides = is_main ? run->memory.claim.bytes : 0;
	const u64	unused = gc_pool_size(gc_worker.pool) - gc_pool_used(gc_worker.pool);
	u64			missing = 0;
	int			n;

	if (!may_be(run, pipeline))
		return false;
	if (run->scan.all_waves)
		return true;
	/* Nothing has left device memory since the request was admitted, as there is room for all that it makes. */
	if (run->memory.claim.admitted && run->memory.claim.missing == 0 && run->memory.claim.bytes <= unused)
		return false;
	n = columns_of(run, pipeline, columns, of_directory);
	for (int c = 0; c < n; c++)
		missing += gc_table_missing(in->dir, of_directory[c], sources_of(run, pipeline), gc_cached_sources(in), NULL);
	if (is_main && missing > 0 && gc_replacement == GC_REPLACE_VALUE)
		return missing + besides + gc_device_spare_room() > unused;
	if (missing + besides <= unused)
		return false;
	return !gc_tables_fit(in->dir, of_directory, n, sources_of(run, pipeline), gc_cached_sources(in), besides,
						  gc_builds_unused());
}

/*
 * How a pipeline's kernel would read a column in the host's memory.  Each request asks for all columns, of few kinds.
 */
static const GcLinkRead *
link_read(const GcRun *run, int pipeline, int column)
{
	static struct
	{
		bool		known;
		GcColumnReach reach;
		GcLinkRead	read;
	}			made[LINK_READS];
	const GcColumnReach *reach = &run->kernels.of[pipeline]->reach[column];
	const int	at = (reach->passed * 8 + reach->rows) % LINK_READS;

	if (!made[at].known || made[at].reach.passed != reach->passed || made[at].reach.rows != reach->rows)
	{
		made[at].read = gc_link_read(Max(exp2(-reach->passed / 2.0), LEAST_SHARE), reach->rows);
		made[at].reach = *reach;
		made[at].known = true;
	}
	return &made[at].read;
}

float
gc_wave_scan_spared(const GcRun *run, int pipeline, int column)
{
	return gc_link_spared(link_read(run, pipeline, column), gc_columns(run->p)[column].width);
}

/* A column is to be read in waves.  How many bytes of it are worth being cached in place of others? */
static GcWaveColumn
wave_column(const GcRun *run, int pipeline, int column, int dir_column)
{
	const GcInputValue *in = &run->request->inputs[gc_pipelines(run->p)[pipeline].input];
	const u64	missing = gc_table_missing(in->dir, dir_column, sources_of(run, pipeline), gc_cached_sources(in), NULL);
	GcWaveColumn c = {.column = dir_column,.link = *link_read(run, pipeline, column)};

	c.uses = gc_table_read_in_waves(in->dir, dir_column, sources_of(run, pipeline), gc_cached_sources(in),
									gc_wave_scan_spared(run, pipeline, column));
	if (gc_replacement == GC_REPLACE_VALUE && missing > 0)
		c.displace = gc_eviction_pays(missing, &c.uses, GC_WORTH_A_COPY);
	return c;
}

/*
 * Blocks for a wave's part.  A kernel that waits for the link most of the time leaves room for kernels of other
 * requests.  Some thousand sectors under way keep the link busy.
 */
static GcGrid
wave_grid(const GcRun *run, int pipeline, GcPipelineKernel *k, const GcWavePart *part, u64 tiles)
{
	GcGrid		grid = gc_run_whole_grid(run, pipeline, k, tiles);
	const double link = (double) part->in_place_bytes * MEMORY_PER_LINK;
	const double share = link > 0 ? 2 * (double) part->read_bytes / link : 1;

	if (share < 1)
		grid.blocks = Max((u32) (grid.blocks * Max(share, LEAST_GRID)), 1);
	return grid;
}

/* Launch the pipeline's kernel for a wave. */
static GcCode
launch_wave(void *arg, const GcWavePart *part, GcError *err)
{
	GcWaveScan *scan = arg;
	GcRun	   *run = scan->run;
	GcRunInfo  *info = gc_slot_run_info(run->slot);
	GcPipelineKernel *k = run->kernels.of[scan->pipeline];
	const bool	is_main = scan->pipeline == run->p->npipelines - 1;
	const GcInputValue *in = &run->request->inputs[gc_pipelines(run->p)[scan->pipeline].input];
	const u64	tiles = part->nsources * (u64) ((in->max_rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS);
	const GcGrid grid = wave_grid(run, scan->pipeline, k, part,
								  Min(tiles, (part->rows + GC_TILE_ROWS - 1) / GC_TILE_ROWS));
	GcScanPart	p = {.n = part->nsources,.timed = is_main,.sources = part->sources,.columns = scan->addresses,
	.last = is_main && scan->last && part->last,.link_bytes = part->in_place_price};
	GcCode		code;

	for (int c = 0; c < scan->ncolumns; c++)
		scan->addresses[scan->columns[c]] = part->columns[c];
	info->waves++;
	info->wave_bytes += part->copied;
	info->wave_bytes_shared += part->shared;
	info->copied_bytes += part->copied;
	info->link_reads += part->in_place;
	info->link_read_bytes += part->in_place_bytes;
	code = gc_run_launch(run, scan->pipeline, k, &grid, &p, scan->flags);
	if (code != GC_OK)
		*err = run->err;
	return code;
}

GcCode
gc_wave_scan_make(GcRun *run, int pipeline)
{
	const GcRequest *r = run->request;
	const int	input = gc_pipelines(run->p)[pipeline].input;
	const GcInputValue *in = &r->inputs[input];
	GcWaveScan *scan = MemoryContextAllocZero(run->cxt, sizeof(GcWaveScan));
	int			of_directory[GC_MAX_COLUMNS];
	GcWaveColumn columns[GC_MAX_COLUMNS];

	scan->run = run;
	scan->pipeline = pipeline;
	scan->ncolumns = columns_of(run, pipeline, scan->columns, of_directory);
	for (int c = 0; c < scan->ncolumns; c++)
	{
		columns[c] = wave_column(run, pipeline, scan->columns[c], of_directory[c]);
		if (pipeline == run->p->npipelines - 1)
			gc_slot_run_info(run->slot)->read_bytes += in->rows * Max(gc_columns(run->p)[scan->columns[c]].width, 1);
	}
	scan->member = gc_wave_join(in->dir, columns, scan->ncolumns, sources_of(run, pipeline), in->nsources,
								launch_wave, scan, &run->err);
	if (scan->member == NULL)
	{
		pfree(scan);
		return run->err.code;
	}
	run->scan.waves[pipeline] = scan;
	return GC_OK;
}

GcCode
gc_wave_scan_whole(GcWaveScan *scan, GcAddr flags)
{
	GcCode		code = GC_OK;

	scan->flags = flags;
	gc_wave_begin(scan->member, scan->run->memory.stream);
	while (code == GC_OK && gc_wave_left(scan->member) > 0)
	{
		code = gc_wave_step(scan->member, &scan->run->err);
		gc_wave_let_others(scan->member);
		if (code == GC_OK)
			code = gc_wave_failure(scan->member, &scan->run->err);
	}
	if (code != GC_OK)
		gc_wave_stop(scan->member);
	return code;
}

/*
 * A request that nobody waits for takes part in no more waves, and ends when the device is done with those that it has.
 */
GcScanStep
gc_wave_scan_next(GcRun *run, const GcScanLaunch *launch, bool last)
{
	GcWaveScan *scan = run->scan.waves[run->p->npipelines - 1];
	bool		moved;

	if (!run->scan.streaming)
	{
		scan->flags = run->memory.sink;
		scan->last = last;
		run->result.delivered = false;
		gc_wave_begin(scan->member, run->memory.stream);
		gc_run_takes_less(run);
		return GC_SCAN_MOVED;
	}
	if (gc_run_nobody_waits(run))
	{
		gc_wave_stop(scan->member);
		return GC_SCAN_QUEUED;
	}
	if (gc_wave_drive(scan->member, &moved, &run->err) != GC_OK)
		return GC_SCAN_FAILED;
	return gc_wave_left(scan->member) == 0 ? GC_SCAN_LAST : moved ? GC_SCAN_MOVED : GC_SCAN_WAITS;
}

void
gc_wave_scans_leave(GcRun *run)
{
	run->scan.streaming = false;
	for (int n = 0; n < run->p->npipelines; n++)
	{
		if (run->scan.waves[n] == NULL)
			continue;
		gc_wave_leave(run->scan.waves[n]->member);
		pfree(run->scan.waves[n]);
		run->scan.waves[n] = NULL;
	}
}
