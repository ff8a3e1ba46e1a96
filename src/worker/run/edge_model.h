/*-------------------------------------------------------------------------
 *
 * edge_model.h
 *	  What the model of edges has to know of a request's pipeline.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EDGE_MODEL_H
#define GC_EDGE_MODEL_H

#include "../../codegen/codegen.h"
#include "../../queue/queue.h"
#include "../../sched/model/edges.h"

/* Steps of a pipeline that the model takes in. */
#define GC_MODEL_STEPS	(GC_EDGE_STAGES - 2)

/*
 * What the kernel signature knows of a pipeline's edges: before which steps they may lie (gc_pipeline_edges), and what
 * passes them.
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

/* Describe it, with sizes of this request's tables, for a variant.  False: nothing can be predicted of it. */
extern bool gc_describe_edges(const GcRequest *request, int pipeline, const GcPipelineEdges *edges, const GcVariant *v,
							  GcEdgePipeline *p);

#endif							/* GC_EDGE_MODEL_H */
