/*-------------------------------------------------------------------------
 *
 * steps.c
 *	  How a pipeline's steps are divided: on whole vectors, on gathered rows, row by row; and where it may be cut.
 *
 * Only the planner's estimates decide, so that a kernel signature has one text.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "steps.h"
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "packed.h"

#include <stdlib.h>
#include <string.h>

/*-------------------------------------------------------------------------
 * Vectors, gathered rows, rows
 *-------------------------------------------------------------------------
 */

/* At most one row in 2^FEW_LEFT is live: too few for another stage on whole vectors. */
#define FEW_LEFT			5

/*
 * Survivors are gathered where a stage leaves at most one row in 2^GATHER_LEFT and at least
 * GATHER_JOINS joins come after it.  Else whole vectors take less time (an H200, the queries of
 * the Star Schema Benchmark).
 */
#define GATHER_LEFT			4
#define GATHER_JOINS		2

/*
 * Which steps are tested on whole vectors, and which row by row on the survivors?  Vectors pay
 * while steps drop rows.  Once few rows are left, or the rest drops hardly any, one row's loads
 * together take less time than one more stage.
 */
void
cg_divide_steps(const GcProgram *p, const GcPPipeline *pl, const GcVariant *variant, StepLists *lists)
{
	const u64	selection = variant ? variant->selection : 0;
	int			useful = 0;
	int			passed = 0;

	memset(lists, 0, sizeof(*lists));
	for (int s = 0; s < pl->nsteps && s < MAX_STEPS; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		/* A selection bitmap leaves few rows, so stages on whole vectors have nothing to do. */
		if (selection != 0 || !cg_is_vector_step(p, step) || passed >= FEW_LEFT)
			continue;
		passed += step->selectivity;
		if (step->selectivity > 0 || step->type == GC_STEP_FILTER)
			useful = s + 1;
	}
	passed = 0;
	for (int s = 0; s < pl->nsteps && s < MAX_STEPS; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		/* The step stays although its rows are selected, since it may find several matches. */
		if (s < 64 && selection >> s & 1 &&
			(!(variant->direct >> s & 1) || gc_builds(p)[step->build].unique))
			continue;
		if (s < useful && cg_is_vector_step(p, step) && passed < FEW_LEFT)
		{
			passed += step->selectivity;
			lists->vector[lists->nvector++] = step;
		}
		else
			lists->row[lists->nrow++] = step;
	}
}

/*
 * Divide the steps of a kernel of its own whose sink few rows reach.  One stage on whole vectors
 * tests the filters on packed codes, and one other step if too many rows are left.  Other tests of
 * columns follow on gathered rows (cuda/gc_visit.h).  False if that does not pay.
 */
bool
cg_divide_filtered(const GcProgram *p, const GcPPipeline *pl, StepLists *lists)
{
	const GcPStep *late[MAX_STEPS];
	int			nlate = 0;
	int			passed = 0;
	int			joins = 0;
	int			packs;

	memset(lists, 0, sizeof(*lists));
	for (int s = 0; s < pl->nsteps && s < MAX_STEPS; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (!cg_is_packed(p, step))
			continue;
		passed += step->selectivity;
		lists->vector[lists->nvector++] = step;
	}
	packs = lists->nvector;
	for (int s = 0; s < pl->nsteps && s < MAX_STEPS; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (cg_is_packed(p, step))
			continue;
		if (!cg_is_vector_step(p, step) || (step->type == GC_STEP_PROBE && step->selectivity == 0))
			late[nlate++] = step;
		else if (passed < GATHER_LEFT && lists->nvector == packs && !cg_may_fail(p, step))
		{
			passed += step->selectivity;
			lists->vector[lists->nvector++] = step;
		}
		else
			lists->row[lists->ngathered++] = step;
	}
	memcpy(lists->row + lists->ngathered, late, nlate * sizeof(late[0]));
	lists->nrow = lists->ngathered + nlate;
	for (int i = 0; i < lists->nrow; i++)
		joins += lists->row[i]->type == GC_STEP_PROBE;
	return passed >= GATHER_LEFT && joins >= GATHER_JOINS;
}

bool
gc_tries_pairs(const GcProgram *p, u16 pipeline)
{
	return cg_scans_pairs(p, &gc_pipelines(p)[pipeline]);
}

/* Traits of a pipeline of a program whose arms are settled. */
static GcPipelineTraits
traits_of(const GcProgram *p, u16 pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	StepLists	lists;
	GcPipelineTraits traits = {.gathers = cg_few_reach_sink(pl) && !cg_scans_pairs(p, pl) && cg_divide_filtered(p, pl, &lists),
	.pairs = cg_scans_pairs(p, pl),.group_key_words = cg_group_key_words(p, pl),
	.per_warp_words = cg_per_warp_words(p, pl)};

	if (!traits.gathers)
		cg_divide_steps(p, pl, NULL, &lists);
	for (int i = 0; i < lists.nvector + lists.ngathered; i++)
	{
		const GcPStep *step = i < lists.nvector ? lists.vector[i] : lists.row[i - lists.nvector];

		if (step->type == GC_STEP_PROBE)
			traits.candidates |= 1u << step->build;
	}
	return traits;
}

/* As traits_of(), of any program. */
GcPipelineTraits
gc_pipeline_traits(const GcProgram *p, u16 pipeline)
{
	GcProgram  *settled;
	GcPipelineTraits traits;
	GcError		err;

	/* Without memory, nothing special is known of it: generating will fail, too. */
	if (cg_settle_arms(p, pipeline, &settled, &err) != GC_OK)
		return (GcPipelineTraits) {0};
	traits = traits_of(settled ? settled : p, pipeline);
	free(settled);
	return traits;
}

/*-------------------------------------------------------------------------
 * Where a pipeline may be cut, and which of its steps lie before and behind the cut
 *
 * An edge that is not fused lies before a step of the row phase, or before the sink.  Steps on whole vectors and
 * on gathered rows always come before it.  No step before it finds several matches for a row.  So no more
 * packets pass the edge than the scan has rows, and room for them can be had before.
 *-------------------------------------------------------------------------
 */

void
cg_divide_own(const GcProgram *p, const GcPPipeline *pl, StepLists *lists, bool *filtered)
{
	*filtered = cg_few_reach_sink(pl) && !cg_scans_pairs(p, pl) && cg_divide_filtered(p, pl, lists);
	if (!*filtered)
		cg_divide_steps(p, pl, NULL, lists);
}

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

/* A bit for each step before which an edge may lie; bit nsteps: before the sink; 0: it may have none. */
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

/* The phase of each step: with a vector's rows, with those gathered of some vectors, or row by row. */
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

/* False: such a scan has no phases, or memory is short. */
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
 * Packets
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

/* Builds whose matches n expressions read, a bit each. */
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

/* Builds whose matches a step reads. */
static u32
builds_of_step(const GcProgram *p, const GcPPipeline *pl, const GcPStep *step)
{
	u32			builds = builds_of_expr(p, pl, step->expr);

	if (step->type == GC_STEP_PROBE)
		builds |= builds_of_refs(p, pl, step->first_key, gc_builds(p)[step->build].nkeys);
	return builds;
}

/* Builds whose matches the sink reads. */
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

/* An edge before this step: the packet's size, the steps before, how few rows are left. */
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

/* As shape_of(), of any program; without memory, of a packet that is a row's number. */
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
