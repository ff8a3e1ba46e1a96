/*-------------------------------------------------------------------------
 *
 * edge.c
 *	  Where a pipeline may be cut, and which of its steps lie before and behind the cut.
 *
 * An edge that is not fused lies before a step of the row phase, or before the sink.  Steps on whole vectors and
 * on gathered rows always come before it.  No step before it finds several matches for a row.  So no more
 * packets pass the edge than the scan has rows, and room for them can be had before.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "edge.h"
#include "../expr/analysis.h"
#include "../expr/arms.h"

#include <stdlib.h>
#include <string.h>

void
cg_divide_own(const GcProgram *p, const GcPPipeline *pl, StepLists *lists, bool *filtered)
{
	*filtered = cg_few_reach_sink(pl) && !cg_scans_pairs(p, pl) && cg_divide_filtered(p, pl, lists);
	if (!*filtered)
		cg_divide_steps(p, pl, NULL, lists);
}

/* The number of a step in its pipeline. */
static int
step_number(const GcProgram *p, const GcPPipeline *pl, const GcPStep *step)
{
	return (int) (step - &gc_steps(p)[pl->first_step]);
}

int
cg_before_edge(const GcProgram *p, const GcPPipeline *pl, const GcPStep **steps, int n, int edge_step)
{
	int			before = 0;

	while (before < n && step_number(p, pl, steps[before]) < edge_step)
		before++;
	return before;
}

/* May the step go on with a row several times? */
static bool
finds_several(const GcProgram *p, const GcPStep *step)
{
	return cg_may_multiply(p, step) && !gc_builds(p)[step->build].unique && !gc_builds(p)[step->build].set;
}

static u64
edges_of(const GcProgram *p, const GcPPipeline *pl)
{
	StepLists	lists;
	bool		filtered;
	u64			steps = 0;

	if (cg_groups_of(p, pl) || cg_unmatched_of(p, pl) != GC_NONE || cg_scans_pairs(p, pl) || pl->nsteps > 63)
		return 0;
	cg_divide_own(p, pl, &lists, &filtered);
	for (int i = lists.ngathered; i < lists.nrow; i++)
	{
		steps |= (u64) 1 << step_number(p, pl, lists.row[i]);
		if (finds_several(p, lists.row[i]))
			return steps;
	}
	return steps | (u64) 1 << pl->nsteps;
}

bool
gc_pipeline_edges(const GcProgram *p, u16 pipeline, u64 *steps)
{
	GcProgram  *settled;
	GcError		err;

	*steps = 0;
	if (cg_settle_arms(p, pipeline, &settled, &err) != GC_OK)
		return false;
	*steps = edges_of(settled ? settled : p, &gc_pipelines(settled ? settled : p)[pipeline]);
	free(settled);
	return *steps != 0;
}

static void
note_phases(const GcProgram *p, const GcPPipeline *pl, u8 *phase)
{
	StepLists	lists;
	bool		filtered;

	memset(phase, GC_PHASE_ROW, pl->nsteps);
	/* A thread takes such a row alone, with all of its steps. */
	if (cg_groups_of(p, pl) || cg_unmatched_of(p, pl) != GC_NONE)
		return;
	cg_divide_own(p, pl, &lists, &filtered);
	for (int i = 0; i < lists.nvector; i++)
		phase[step_number(p, pl, lists.vector[i])] = GC_PHASE_VECTOR;
	for (int i = 0; i < lists.ngathered; i++)
		phase[step_number(p, pl, lists.row[i])] = GC_PHASE_GATHERED;
}

bool
gc_step_phases(const GcProgram *p, u16 pipeline, u8 *phase)
{
	GcProgram  *settled;
	GcError		err;

	if (cg_scans_pairs(p, &gc_pipelines(p)[pipeline]) || cg_settle_arms(p, pipeline, &settled, &err) != GC_OK)
		return false;
	note_phases(settled ? settled : p, &gc_pipelines(settled ? settled : p)[pipeline], phase);
	free(settled);
	return true;
}

/*-------------------------------------------------------------------------
 * What passes
 *-------------------------------------------------------------------------
 */

static u32	builds_of_match(const GcProgram *p, const GcPPipeline *pl, u16 build);

/* Builds whose matches an expression needs. */
static u32
builds_of_expr(const GcProgram *p, const GcPPipeline *pl, u16 e)
{
	const GcExpr *x;
	u32			builds = 0;

	if (e == GC_NONE)
		return 0;
	x = &gc_exprs(p)[e];
	if (x->op == GC_OP_PAYLOAD)
		return builds_of_match(p, pl, gc_payloads(p)[x->ref].build);
	for (int a = 0; a < 3; a++)
		builds |= builds_of_expr(p, pl, x->arg[a]);
	return builds;
}

static u32
builds_of_refs(const GcProgram *p, const GcPPipeline *pl, u16 first, int n)
{
	u32			builds = 0;

	for (int i = 0; i < n; i++)
		builds |= builds_of_expr(p, pl, gc_refs(p)[first + i]);
	return builds;
}

/* A match that a step only tests for is computed again, from the keys. */
static u32
builds_of_match(const GcProgram *p, const GcPPipeline *pl, u16 build)
{
	const GcPStep *probe = cg_find_probe(p, pl, build);
	u32			builds = 1u << build;

	if (probe && cg_is_test(p, probe))
		builds |= builds_of_refs(p, pl, probe->first_key, gc_builds(p)[build].nkeys);
	return builds;
}

static u32
builds_of_step(const GcProgram *p, const GcPPipeline *pl, const GcPStep *step)
{
	u32			builds = builds_of_expr(p, pl, step->expr);

	if (step->type == GC_STEP_PROBE)
		builds |= builds_of_refs(p, pl, step->first_key, gc_builds(p)[step->build].nkeys);
	return builds;
}

static u32
builds_of_sink(const GcProgram *p, const GcPPipeline *pl)
{
	u32			builds = builds_of_refs(p, pl, pl->first_key, pl->sink == GC_SINK_BUILD ? 0 : pl->nkeys);

	if (pl->sink == GC_SINK_ROWS)
		builds |= builds_of_refs(p, pl, pl->first_out, pl->nouts);
	for (u16 i = 0; pl->sink == GC_SINK_AGGREGATE && i < pl->naggs; i++)
	{
		const GcPAgg *agg = &gc_aggs(p)[pl->first_agg + i];

		builds |= builds_of_expr(p, pl, agg->arg) | builds_of_expr(p, pl, agg->factor);
	}
	if (pl->sink == GC_SINK_BUILD)
	{
		const GcPBuild *b = &gc_builds(p)[pl->build];

		builds |= builds_of_refs(p, pl, b->first_key, b->nkeys);
		for (u16 i = 0; i < b->npayloads; i++)
			builds |= builds_of_expr(p, pl, gc_payloads(p)[b->first_payload + i].expr);
	}
	return builds;
}

u32
cg_passed_builds(const GcProgram *p, const GcPPipeline *pl, const GcPStep **steps, int before, int n)
{
	u32			wanted = builds_of_sink(p, pl);
	u32			found = 0;

	for (int i = before; i < n; i++)
		wanted |= builds_of_step(p, pl, steps[i]);
	for (int i = 0; i < before; i++)
	{
		if (steps[i]->type == GC_STEP_PROBE && !cg_is_test(p, steps[i]) && steps[i]->join != GC_JOIN_SEMI &&
			steps[i]->join != GC_JOIN_ANTI)
			found |= 1u << steps[i]->build;
	}
	return wanted & found;
}

int
cg_match_bytes(const GcProgram *p, u16 build)
{
	return gc_builds(p)[build].mode == GC_BUILD_HASH ? 4 : 8;
}

u32
cg_packet_bytes(const GcProgram *p, u32 passed)
{
	u32			bytes = sizeof(u32);

	for (u16 b = 0; b < p->nbuilds; b++)
	{
		if (passed >> b & 1)
			bytes += cg_match_bytes(p, b);
	}
	return bytes;
}

static GcEdgeShape
shape_of(const GcProgram *p, const GcPPipeline *pl, int edge_step)
{
	GcEdgeShape shape = {0};
	StepLists	lists;
	bool		filtered;
	const GcPStep **steps;
	int			n;

	cg_divide_own(p, pl, &lists, &filtered);
	steps = lists.row + lists.ngathered;
	n = lists.nrow - lists.ngathered;
	shape.before = cg_before_edge(p, pl, steps, n, edge_step);
	shape.packet_bytes = cg_packet_bytes(p, cg_passed_builds(p, pl, steps, shape.before, n));
	for (int i = 0; i < lists.nvector; i++)
		shape.passed += lists.vector[i]->selectivity;
	for (int i = 0; i < lists.ngathered + shape.before; i++)
		shape.passed += lists.row[i]->selectivity;
	shape.before += lists.nvector + lists.ngathered;
	return shape;
}

GcEdgeShape
gc_edge_shape(const GcProgram *p, u16 pipeline, int edge_step)
{
	GcProgram  *settled;
	GcEdgeShape shape = {.packet_bytes = sizeof(u32)};
	GcError		err;

	if (cg_settle_arms(p, pipeline, &settled, &err) != GC_OK)
		return shape;
	shape = shape_of(settled ? settled : p, &gc_pipelines(settled ? settled : p)[pipeline], edge_step);
	free(settled);
	return shape;
}
