/*-------------------------------------------------------------------------
 *
 * edges.h
 *	  Edges of pipelines: which one a request has, and where.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_EDGES_H
#define GC_RUN_EDGES_H

#include "kernels.h"

/*
 * Choose the edge of a pipeline's variant, by the request's settings or by the model.  steps: as
 * gc_pipeline_edges has them.
 */
extern void gc_choose_edge(const GcRequest *request, int pipeline, u64 steps, const GcPipelineDemand *demand,
						   GcVariant *v);

/* GC_EDGE_MATERIALIZE: the variant of the consumer that comes behind a producer. */
extern GcVariant gc_consumer_variant(const GcVariant *producer);

#endif							/* GC_RUN_EDGES_H */
