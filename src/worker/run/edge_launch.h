/*-------------------------------------------------------------------------
 *
 * edge_launch.h
 *	  The launch of a pipeline: of one kernel, or of those on both sides of an edge, through which packets go.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EDGE_LAUNCH_H
#define GC_EDGE_LAUNCH_H

#include "launch.h"

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
extern void gc_edge_free(GcRun *run);

/* Launch a pipeline's kernel, or kernels, where its steps have an edge between them. */
extern GcCode gc_run_launch(GcRun *run, int pipeline, GcPipelineKernel *k, const GcGrid *grid, const GcScanPart *part,
							GcAddr flags);

#endif							/* GC_EDGE_LAUNCH_H */
