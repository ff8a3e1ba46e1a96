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

#include "launch_kernel.h"
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
extern GcCode gc_run_first_builds(GcRun *run);
extern GcCode gc_run_below(GcRun *run, int pipeline);

/* Launch a pipeline's kernel, or kernels, where its steps have an edge between them. */
extern GcCode gc_run_launch(GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part,
							GcAddr flags);
extern GcCode gc_run_launch_compactor(GcRun *run);
extern GcCode gc_run_launch_choice(GcRun *run);
extern GcCode gc_run_launch_rests(GcRun *run, int pipeline, GcAddr flags);

/* Does the kernel of the pipeline read this column at all? */
extern bool gc_run_reads_column(const GcRun *run, int pipeline, int column);

/* Tiles of the main pipeline's scan. */
extern u32	gc_run_ntiles(const GcRun *run);

/* Does the result come as groups with keys (or numbers), in no order? */
extern bool gc_run_keyed(const GcRun *run);

/* 64-bit words of a group's key. */
extern int	gc_run_key_words(const GcRun *run);

#endif							/* GC_LAUNCH_H */
