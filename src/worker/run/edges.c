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

/* Has the kernel a part of builds or groups only? */
static bool
has_splits(const GcVariant *v)
{
	return v->splits.builds != 0 || v->splits.groups;
}

/*
 * Before which of `steps` the edge lies: where the request wants it, else before the first probe that it can
 * lie before, else before the first of them.
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

void
gc_choose_edge(const GcRequest *request, int pipeline, u64 steps, const GcPipelineDemand *demand, GcVariant *v)
{
	const int	edge = request->edge == GC_EDGE_AUTO ? GC_EDGE_FUSE : request->edge;

	if (steps == 0 || edge == GC_EDGE_FUSE || has_splits(v))
		return;
	v->edge = edge;
	v->edge_step = choose_step(request, pipeline, steps);
	v->edge_side = edge == GC_EDGE_MATERIALIZE ? GC_EDGE_PRODUCER : GC_EDGE_BOTH;
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
