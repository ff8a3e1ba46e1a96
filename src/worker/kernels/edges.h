/*-------------------------------------------------------------------------
 *
 * edges.h
 *	  Edges of pipelines: which one a request has, and where.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_EDGES_H
#define GC_RUN_EDGES_H

#include "../../codegen/codegen.h"
#include "../../queue/queue.h"
#include "../../sched/model/edges.h"

/* Steps of a pipeline that the model takes in. */
#define GC_MODEL_STEPS	(GC_EDGE_STAGES - 2)

/*
 * A pipeline's edges, as the kernel signature knows them: before which steps they may lie (gc_pipeline_edges), and the
 * values that pass them.
 */
typedef struct GcPipelineEdges
{
	u64			steps;
	bool		gathers;		/* GcPipelineTraits */
	u8		   *phase;			/* GcStepPhase by step; NULL: no predictions are made */
	GcEdgeShape *shape;			/* by step; NULL where steps is 0 */

	/* The newest plan, of a request that was like this. */
	GcEdgePlan	plan;
	u64			rows;
	i32			edge;
	i32			step;
	u32			tile;
	u32			uses;			/* since it was made; 0: there is none */

	/* Where each edge would lie that is tried though the model chose fuse, and its prediction. */
	struct
	{
		bool		known;
		i16			step;		/* -1: nowhere */
		float		us;
	}			explored[GC_EDGE_MATERIALIZE + 1];
} GcPipelineEdges;

/*
 * Choose the edge of a pipeline's variant, by the request's settings or by the model.  Returns the model's prediction
 * with it, in microseconds; 0: none.
 */
extern double gc_choose_edge(const GcRequest *request, int pipeline, GcPipelineEdges *edges, GcVariant *v);

/*
 * The variant with this edge, where the model would have it; *v is the fused one before.  Returns the prediction; 0:
 * there is no such edge.
 */
extern double gc_explored_edge(const GcRequest *request, int pipeline, GcPipelineEdges *edges, GcEdge edge,
							   GcVariant *v);

/* GC_EDGE_MATERIALIZE: the variant of the consumer that comes behind a producer. */
extern GcVariant gc_consumer_variant(const GcVariant *producer);

#endif							/* GC_RUN_EDGES_H */
