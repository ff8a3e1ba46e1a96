/*-------------------------------------------------------------------------
 *
 * edges.c
 *	  Edges of pipelines: which one a request has, and where.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "edges.h"

#include "../../program/edge.h"
#include "../memory/state.h"

/* For scans of fewer rows no edge is chosen; how long they take is predicted all the same. */
#define LEAST_ROWS	1000000

/* Requests that a plan of the model is used for. */
#define PLAN_USES	1024

/* Has the kernel a part of builds or groups only? */
static bool
has_splits(const GcVariant *v)
{
	return v->splits.builds != 0 || v->splits.groups;
}

/*
 * Before which of `steps` the edge lies.  That is where the request wants it, else before the first probe
 * that it can lie before, else before the first of them.
 */
static int
choose_step(const GcRequest *request, int pipeline, u64 steps)
{
	const GcPPipeline *pl = &gc_pipelines(request->program)[pipeline];
	int			first = -1;

	if (request->edge_step >= 0 && request->edge_step < 64 && steps >> request->edge_step & 1)
		return request->edge_step;
	for (int s = 0; s <= pl->nsteps; s++)
	{
		if (!(steps >> s & 1))
			continue;
		if (first < 0)
			first = s;
		if (s < pl->nsteps && gc_steps(request->program)[pl->first_step + s].type == GC_STEP_PROBE)
			return s;
	}
	return first;
}

/*
 * What the model makes of the request's pipeline.  A plan is used again for requests like the one that it was made
 * for.  To describe a pipeline takes longer than a short query should wait.
 */
static const GcEdgePlan *
plan_of(const GcRequest *request, int pipeline, GcPipelineEdges *edges, const GcVariant *v)
{
	const u64	rows = request->inputs[gc_pipelines(request->program)[pipeline].input].rows;
	const int	wanted = edges->steps == 0 || rows < LEAST_ROWS ? GC_EDGE_FUSE : request->edge;
	GcEdgePipeline p;

	if (edges->uses > 0 && edges->uses < PLAN_USES && edges->edge == request->edge && edges->step == request->edge_step &&
		edges->tile == request->edge_tile && rows <= edges->rows + edges->rows / 8 && rows >= edges->rows - edges->rows / 8)
	{
		edges->uses++;
		return &edges->plan;
	}
	if (!gc_describe_edges(request, pipeline, edges, v, &p))
		return NULL;
	edges->plan = gc_edge_plan(&gc_worker.profile, &gc_worker.calibration, &p, wanted, request->edge_step, request->edge_tile);
	edges->rows = rows;
	edges->edge = request->edge;
	edges->step = request->edge_step;
	edges->tile = request->edge_tile;
	edges->uses = 1;
	return &edges->plan;
}

/* A prediction for an edge that is wanted where choose_step has it. */
static double
predict(const GcRequest *request, int pipeline, const GcPipelineEdges *edges, const GcVariant *v)
{
	GcEdgePipeline p;

	if (!gc_describe_edges(request, pipeline, edges, v, &p))
		return 0;
	return gc_edge_plan(&gc_worker.profile, &gc_worker.calibration, &p, v->edge, v->edge_step, request->edge_tile).us;
}

static void
set_edge(GcVariant *v, int edge, int step)
{
	v->edge = edge;
	v->edge_step = step;
	v->edge_side = edge == GC_EDGE_MATERIALIZE ? GC_EDGE_PRODUCER : GC_EDGE_BOTH;
}

double
gc_choose_edge(const GcRequest *request, int pipeline, GcPipelineEdges *edges, GcVariant *v)
{
	const GcEdgePlan *plan;

	if (has_splits(v))
		return 0;
	if (edges->steps != 0 && request->edge != GC_EDGE_AUTO && request->edge != GC_EDGE_FUSE)
	{
		set_edge(v, request->edge, choose_step(request, pipeline, edges->steps));
		return predict(request, pipeline, edges, v);
	}
	plan = plan_of(request, pipeline, edges, v);
	if (plan == NULL)
		return 0;
	if (plan->edge != GC_EDGE_FUSE)
		set_edge(v, plan->edge, plan->step);
	return plan->us;
}

double
gc_explored_edge(const GcRequest *request, int pipeline, GcPipelineEdges *edges, GcEdge edge, GcVariant *v)
{
	GcEdgePipeline p;

	if (!edges->explored[edge].known)
	{
		GcEdgePlan	plan = {.edge = GC_EDGE_FUSE};

		if (gc_describe_edges(request, pipeline, edges, v, &p))
			plan = gc_edge_plan(&gc_worker.profile, &gc_worker.calibration, &p, edge, -1, 0);
		edges->explored[edge].known = true;
		edges->explored[edge].step = plan.edge == edge ? plan.step : -1;
		edges->explored[edge].us = plan.us;
	}
	if (edges->explored[edge].step < 0)
		return 0;
	set_edge(v, edge, edges->explored[edge].step);
	return edges->explored[edge].us;
}

GcVariant
gc_consumer_variant(const GcVariant *producer)
{
	GcVariant	v = *producer;

	/* Only whole vectors and gathered rows are tested with bitmaps in shared memory, before the edge. */
	v.edge_side = GC_EDGE_CONSUMER;
	v.shared_builds = 0;
	return v;
}
