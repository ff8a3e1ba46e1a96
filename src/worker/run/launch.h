/*-------------------------------------------------------------------------
 *
 * launch.h
 *	  What is queued on the device for a request: memory, copies, builds, kernels.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LAUNCH_H
#define GC_LAUNCH_H

#include "run.h"

/* Each of these queues on the run's stream. */
extern GcCode gc_run_upload(GcRun *run);
extern GcCode gc_run_allocate(GcRun *run);
extern GcCode gc_run_upload_columns(GcRun *run, int pipeline);

/*
 * Have column c of an input for what is queued on the stream next, even if the run's kernels do
 * not read it.
 */
extern GcCode gc_run_have_column(GcRun *run, int input, int c, GcStream *stream, GcError *err);
extern GcCode gc_run_below(GcRun *run, int pipeline);

/*
 * One launch of a pipeline's kernel k: over sources first .. first + n - 1 of its input, from
 * tile first_tile on.
 */
typedef struct GcScanPart
{
	u32			first;
	u32			n;
	u32			first_tile;
	bool		timed;			/* its times are noted behind the flags */
	GcAddr		before;			/* as GcScan's */
	bool		whole_shared;	/* as GcLaunch's */
	GcPairs		pairs;			/* of a scan that tries pairs: its units */
	bool		last;			/* no later launch writes to the sink: this one delivers the
								 * result, if it can */
	GcAddr		sources;		/* of a wave: its sources; 0: the input's */
	const GcAddr *columns;		/* and, per column of the program, its columns */
} GcScanPart;
extern GcCode gc_run_launch(GcRun *run, int pipeline, const GcPipelineKernel *k, const GcGrid *grid,
							const GcScanPart *part, GcAddr flags);
extern u64	gc_run_shared_bytes(const GcRun *run, int pipeline, const GcVariant *variant);

/*
 * Blocks of the kernel, of this size, that a multiprocessor can hold; the device is asked once.
 */
extern int	gc_run_occupancy(GcPipelineKernel *k, int threads, u64 shared_bytes);
extern void gc_run_arg_source(const GcRun *run, GcArgSource *src);
extern GcCode gc_run_launch_compactor(GcRun *run);
extern GcCode gc_run_launch_choice(GcRun *run);
extern GcCode gc_run_launch_rests(GcRun *run, int pipeline, GcAddr flags);

/* The whole device, for so many tiles of a pipeline's kernel. */
extern GcGrid gc_run_whole_grid(const GcRun *run, int pipeline, GcPipelineKernel *k, u64 tiles);

/* Does the kernel of the pipeline read this column at all? */
extern bool gc_run_reads_column(const GcRun *run, int pipeline, int column);

/* Tiles of the main pipeline's scan. */
extern u32	gc_run_ntiles(const GcRun *run);

/* Does the result come as groups with keys (or numbers), in no order? */
extern bool gc_run_keyed(const GcRun *run);

/* 64-bit words of a group's key. */
extern int	gc_run_key_words(const GcRun *run);

#endif							/* GC_LAUNCH_H */
