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

#include "edge_model.h"
#include "kernels.h"

/*
 * Choose the edge of a pipeline's variant, by the request's settings or by the model.  Returns what the model
 * predicts with it, in microseconds; 0: nothing.
 */
extern double gc_choose_edge(const GcRequest *request, int pipeline, GcPipelineEdges *edges, GcVariant *v);

/*
 * The variant with this edge, where the model would have it; *v is the fused one before.  Returns the prediction; 0: there
 * is no such edge.
 */
extern double gc_explored_edge(const GcRequest *request, int pipeline, GcPipelineEdges *edges, GcEdge edge, GcVariant *v);

/* GC_EDGE_MATERIALIZE: the variant of the consumer that comes behind a producer. */
extern GcVariant gc_consumer_variant(const GcVariant *producer);

#endif							/* GC_RUN_EDGES_H */
