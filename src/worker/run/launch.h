/*-------------------------------------------------------------------------
 *
 * launch.h
 *	  The launch of a pipeline: of one kernel, or of those on both sides of an edge, through which packets go.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LAUNCH_H
#define GC_LAUNCH_H

#include "run.h"

/* Sources of the words of a kernel's parameter. */
typedef struct GcArgSource
{
	const GcRequest *request;
	GcTable   **tables;			/* per column of the program; NULL: no cached chunk */
	const GcAddr *wave;			/* of a launch in waves: GcCols, per column of the program */
	GcBuildTable **builds;		/* per build */
	const GcAddr *matched;		/* GcRun's */
	GcDeviceLookup **lookups;	/* per lookup table; NULL: it travels with the request */
	GcAddr		device_part;	/* where the request's device part is */
	const GcSinkMemory *sinks;	/* per pipeline */
	GcAddr		gathered;		/* GcRun's */
	GcAddr		gathered_keys;
	GcAddr		top;
	u32			pass;
	GcPairs		pairs;			/* of the pipeline that is launched */
	const u64  *edge;			/* by GC_EDGE_WORD_*; NULL: no packets are read or written */
	const struct GcPasses *passes;	/* NULL: there is one pass */
	const GcRun *run;			/* for words that only shared scans know (GcRunHooks) */
} GcArgSource;

extern u64	gc_arg_word(const GcArgSource *src, const GcArgWord *word);
extern void gc_fill_args(const GcArgSource *src, const GcPipelineKernel *kernel, GcArgs *args);

/*
 * One launch of a pipeline's kernel k: over sources first .. first + n - 1 of its input, from
 * tile first_tile on.
 */
typedef struct GcScanPart
{
	u32			first;
	u32			n;
	u32			first_tile;
	u32			tile_shift;		/* as GcScan's */
	bool		timed;			/* its times are noted behind the flags */
	GcAddr		before;			/* as GcScan's */
	bool		whole_shared;	/* as GcLaunch's */
	GcPairs		pairs;			/* of a scan that tries pairs: its units */
	bool		last;			/* no later launch writes to the sink: this one delivers the
								 * result, if it can */
	GcAddr		sources;		/* of a wave: its sources; 0: the input's */
	const GcAddr *columns;		/* and, per column of the program, its columns */
	double		link_bytes;		/* as GcLaunch's */
} GcScanPart;

/*
 * The launch and its arguments.  Notes both for EXPLAIN, and in run->result.delivered whether the kernel will deliver
 * the result.
 */
extern GcLaunch gc_describe_launch(GcRun *run, int pipeline, const GcPipelineKernel *k, const GcGrid *grid,
								   const GcScanPart *part, GcAddr flags, const u64 *edge, GcArgs *args);

extern u64	gc_run_shared_bytes(const GcRun *run, int pipeline, const GcVariant *variant);

/*
 * Blocks of the kernel, of this size, that a multiprocessor can hold; the device is asked once.
 */
extern int	gc_run_occupancy(GcPipelineKernel *k, int threads, u64 shared_bytes);
extern void gc_run_arg_source(const GcRun *run, GcArgSource *src);

/* The whole device, for so many tiles of a pipeline's kernel. */
extern GcGrid gc_run_whole_grid(const GcRun *run, int pipeline, GcPipelineKernel *k, u64 tiles);

/* Blocks that may be of use for a scan of groups, each of which a thread takes alone. */
extern u32	gc_group_blocks(const GcInputValue *in);

/* Tiles of the main pipeline's scan. */
extern u32	gc_run_ntiles(const GcRun *run);

/* Does the pipeline's kernel write packets? */
static inline bool
gc_has_packets(const GcPipelineKernel *k)
{
	return k->variant.edge != GC_EDGE_FUSE;
}

/* Does any kernel of the run? */
extern bool gc_edges_wanted(const GcRun *run);

/*
 * Is there memory for packets beside all else that the run wants, without anything that would have to go?
 * For an edge that the setting demands others may go.
 */
extern bool gc_edges_fit(const GcRun *run);

/* Allocate memory for packets; all of the run's pipelines use it, one after another. */
extern GcCode gc_edge_allocate(GcRun *run);

/* Launch a pipeline's kernel, or kernels, where its steps have an edge between them. */
extern GcCode gc_run_launch(GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part,
							GcAddr flags);

/* Queue the kernels that compute the windows of a pipeline's rows, behind those that make the rows. */
extern GcCode gc_run_windows(GcRun *run, int pipeline);

#endif							/* GC_LAUNCH_H */
