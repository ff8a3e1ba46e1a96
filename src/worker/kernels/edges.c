/*-------------------------------------------------------------------------
 *
 * edges.c
 *	  Edges of pipelines: which one a request has, and where.
 *
 * Inputs of the model of edges (sched/model/edges.c): how many rows pass a step is the planner's estimate; sizes of
 * tables are the request's.  Whether keys lie in order is seen by the ranges of the chunks.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "edges.h"

#include <math.h>

#include "../../program/edge.h"
#include "../memory/state.h"

/*-------------------------------------------------------------------------
 * A pipeline's description for the model
 *-------------------------------------------------------------------------
 */

/*
 * Accesses of a row to a hash build, one behind the other: to slots, and to each key's array.  With half of the
 * slots in use, a row meets one and a half.  A payload is one more, and the chain of rows with the same key.
 */
#define SLOT_ACCESSES		1.5
/* Words of slots for each of its rows. */
#define SLOTS_OF_ROW		3

/* To a hashed group table: slot, and keys that lie side by side.  Their words are added to. */
#define GROUP_ACCESSES		2.5
#define GROUP_ATOMICS		2

/* A column whose width differs between chunks, mostly since the last one is short. */
#define MIXED_WIDTH			4

/* A chunk has this part of an ordered column's range at most, on the average. */
#define ORDERED_PART		0.25
#define ORDERED_CHUNKS		4

/* Rows of a vector of device host. */
#define HOST_VECTOR			1024

/* Which columns some part of a pipeline has read already. */
typedef struct ColumnsRead
{
	bool		read[GC_MAX_COLUMNS];
	int			n;				/* how many */
} ColumnsRead;

/* Bytes of a row's columns that an expression is the first to read. */
static double
bytes_of_expr(const GcProgram *p, u16 e, ColumnsRead *columns)
{
	const GcExpr *x;
	double		bytes = 0;

	if (e == GC_NONE)
		return 0;
	x = &gc_exprs(p)[e];
	if (x->op == GC_OP_COLUMN)
	{
		if (!columns->read[x->ref])
		{
			bytes = gc_columns(p)[x->ref].width > 0 ? gc_columns(p)[x->ref].width : MIXED_WIDTH;
			columns->n++;
		}
		columns->read[x->ref] = true;
		return bytes;
	}
	for (int a = 0; a < 3; a++)
		bytes += bytes_of_expr(p, x->arg[a], columns);
	return bytes;
}

/* Bytes of the lookup tables that an expression asks. */
static double
bytes_of_lookups(const GcRequest *request, u16 e)
{
	const GcExpr *x;
	double		bytes = 0;

	if (e == GC_NONE)
		return 0;
	x = &gc_exprs(request->program)[e];
	if (x->op == GC_OP_LUT)
		bytes = (double) request->luts[x->ref].count * Max(request->luts[x->ref].width, 1);
	for (int a = 0; a < 3; a++)
		bytes += bytes_of_lookups(request, x->arg[a]);
	return bytes;
}

/* Do a probe's first keys come in order, as the input's rows do? */
static bool
in_order(const GcRequest *request, const GcPStep *step)
{
	const GcProgram *p = request->program;
	const GcExpr *key = &gc_exprs(p)[gc_refs(p)[step->first_key]];
	const GcDirectory *dir;
	const GcCellRange *range;
	double		covered = 0;
	i64			min = PG_INT64_MAX;
	i64			max = PG_INT64_MIN;

	if (gc_builds(p)[step->build].nkeys != 1 || key->op != GC_OP_COLUMN)
		return false;
	dir = request->inputs[gc_columns(p)[key->ref].input].dir;
	if (dir == NULL || request->columns[key->ref].dir_column < 0 || dir->nchunks < ORDERED_CHUNKS)
		return false;
	range = GC_COLUMN_RANGES(dir, request->columns[key->ref].dir_column);
	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		if (range[i].min > range[i].max)
			continue;
		covered += (double) range[i].max - (double) range[i].min;
		min = Min(min, range[i].min);
		max = Max(max, range[i].max);
	}
	return max > min && covered <= ORDERED_PART * dir->nchunks * ((double) max - (double) min);
}

/* Bytes a row that a step reads of columns which no earlier one has read. */
static double
bytes_of_step(const GcProgram *p, const GcPStep *step, ColumnsRead *columns)
{
	double		bytes = bytes_of_expr(p, step->expr, columns);

	for (int k = 0; step->type == GC_STEP_PROBE && k < gc_builds(p)[step->build].nkeys; k++)
		bytes += bytes_of_expr(p, gc_refs(p)[step->first_key + k], columns);
	return bytes;
}

/* Bytes a row that the sink reads of columns which no step has read. */
static double
bytes_of_sink(const GcProgram *p, const GcPPipeline *pl, ColumnsRead *columns)
{
	double		bytes = 0;

	for (int k = 0; pl->sink == GC_SINK_AGGREGATE && k < pl->nkeys; k++)
		bytes += bytes_of_expr(p, gc_refs(p)[pl->first_key + k], columns);
	for (int i = 0; pl->sink == GC_SINK_AGGREGATE && i < pl->naggs; i++)
		bytes += bytes_of_expr(p, gc_aggs(p)[pl->first_agg + i].arg, columns);
	for (int i = 0; pl->sink == GC_SINK_ROWS && i < pl->nouts; i++)
		bytes += bytes_of_expr(p, gc_refs(p)[pl->first_out + i], columns);
	for (int k = 0; pl->sink == GC_SINK_BUILD && k < gc_builds(p)[pl->build].nkeys; k++)
		bytes += bytes_of_expr(p, gc_refs(p)[gc_builds(p)[pl->build].first_key + k], columns);
	return bytes;
}

/*
 * Bytes of a dense build's bitmap, or of slots and keys of a hash build's rows that are expected; and of its payloads.
 */
static double
bytes_of_keys(const GcRequest *request, u16 build)
{
	const GcPBuild *b = &gc_builds(request->program)[build];
	const GcBuildValue *v = &request->builds[build];

	if (b->mode == GC_BUILD_LIST)
		return 0;
	return b->mode == GC_BUILD_DENSE ? v->range / 8.0 : v->expected * 8.0 * (SLOTS_OF_ROW + b->nkeys);
}

/* Bytes of a build's payloads, of all its rows. */
static double
bytes_of_payloads(const GcRequest *request, u16 build)
{
	const GcProgram *p = request->program;
	const GcPBuild *b = &gc_builds(p)[build];
	const GcBuildValue *v = &request->builds[build];
	double		width = 0;

	for (int i = 0; i < b->npayloads; i++)
		width += gc_payloads(p)[b->first_payload + i].width;
	return width * (b->mode == GC_BUILD_DENSE ? v->range : v->expected);
}

/* A step that is tested on whole vectors, or on gathered rows.  Of a build it asks the bitmap only. */
static GcEdgeVectorStep
describe_vector_step(const GcRequest *request, const GcPStep *step, const GcVariant *v, bool gathered,
					 ColumnsRead *columns)
{
	const int	before = columns->n;
	GcEdgeVectorStep s = {.pass = gc_edge_pass(step->selectivity),.gathered = gathered,
	.column_bytes = bytes_of_step(request->program, step, columns),
	.table_bytes = bytes_of_lookups(request, step->expr)};

	s.columns = columns->n - before;
	if (step->type != GC_STEP_PROBE)
		return s;
	s.table_bytes = bytes_of_keys(request, step->build);
	s.shared = (v->shared_builds >> step->build & 1) != 0;
	s.ordered = in_order(request, step);
	return s;
}

/* Accesses of a probe to its table, one after the other and altogether, and how large the table is. */
static void
describe_probe(const GcRequest *request, const GcPStep *step, GcEdgeStage *stage)
{
	const GcPBuild *b = &gc_builds(request->program)[step->build];

	if (b->mode == GC_BUILD_HASH)
	{
		stage->accesses = SLOT_ACCESSES + b->nkeys + !b->unique + (b->npayloads > 0);
		stage->chain = SLOT_ACCESSES + 1 + !b->unique + (b->npayloads > 0);
	}
	else
		stage->accesses = 1 + (b->npayloads > 0);
	stage->table_bytes = bytes_of_keys(request, step->build) + bytes_of_payloads(request, step->build);
}

/*
 * Groups in a block's own memory are few; others are met in the L2 cache, or beyond it.  rows: that come to the sink.
 */
static void
describe_sink(const GcRequest *request, int pipeline, const GcVariant *v, double rows, GcEdgeStage *stage)
{
	const GcPPipeline *pl = &gc_pipelines(request->program)[pipeline];
	const GcSinkValue *sink = &request->sinks[pipeline];

	stage->pass = 1;
	if (pl->sink == GC_SINK_BUILD)
	{
		const GcPBuild *b = &gc_builds(request->program)[pl->build];

		stage->accesses = b->mode == GC_BUILD_HASH ? SLOT_ACCESSES + b->nkeys : 0;
		stage->atomics = 1 + (b->npayloads > 0);
		stage->table_bytes = bytes_of_keys(request, pl->build) + bytes_of_payloads(request, pl->build);
		if (b->mode == GC_BUILD_HASH)
			stage->new_groups = Min((double) request->builds[pl->build].expected, rows);
	}
	else if (pl->sink == GC_SINK_AGGREGATE && pl->nkeys > 0)
	{
		stage->atomics = GROUP_ATOMICS;
		if (v->group_local)
			return;
		stage->accesses = pl->group_mode == GC_GROUP_HASH ? GROUP_ACCESSES : 1;
		stage->chain = pl->group_mode == GC_GROUP_HASH ? GROUP_ACCESSES + 0.5 : 1;
		stage->table_bytes = (double) sink->expected * pl->group_words * 8;
		if (pl->group_mode == GC_GROUP_HASH)
		{
			stage->table_bytes += sink->expected * 8.0 * (SLOTS_OF_ROW + sink->key_words);
			stage->new_groups = Min((double) sink->expected, rows);
		}
	}
}

/* The payloads of builds that are only tested before the stages: the sink reads them. */
static void
describe_payloads(const GcRequest *request, const GcPStep *step, GcEdgeStage *stage)
{
	const GcPBuild *b = &gc_builds(request->program)[step->build];

	if (b->npayloads == 0)
		return;
	stage->table_bytes = Max(stage->table_bytes, bytes_of_payloads(request, step->build));
	stage->accesses += b->npayloads;
	stage->chain = 1;
}

/* The steps before the first stage, in the order in which they are tested. */
static void
describe_vector_steps(const GcRequest *request, int pipeline, const GcPipelineEdges *edges, const GcVariant *v,
					  GcEdgePipeline *p, GcEdgeStage *payloads, ColumnsRead *columns)
{
	const GcPPipeline *pl = &gc_pipelines(request->program)[pipeline];

	for (int phase = GC_PHASE_VECTOR; phase <= GC_PHASE_GATHERED; phase++)
	{
		for (int s = 0; s < pl->nsteps; s++)
		{
			const GcPStep *step = &gc_steps(request->program)[pl->first_step + s];

			if (edges->phase[s] != phase)
				continue;
			p->vector[p->nvector++] = describe_vector_step(request, step, v, phase == GC_PHASE_GATHERED, columns);
			if (step->type == GC_STEP_PROBE)
				describe_payloads(request, step, payloads);
		}
	}
}

/* Rows that come to the next stage. */
static double
rows_left(const GcEdgePipeline *p)
{
	double		rows = p->rows;

	for (int i = 0; i < p->nvector; i++)
		rows *= p->vector[i].pass;
	for (int i = 0; i < p->nstages; i++)
		rows *= p->stage[i].pass;
	return rows;
}

/* The stage before a step, with the packets that an edge there would have. */
static GcEdgeStage *
add_stage(GcEdgePipeline *p, const GcPipelineEdges *edges, int step)
{
	GcEdgeStage *stage = &p->stage[p->nstages];

	*stage = (GcEdgeStage) {.step = step,.edge = (edges->steps >> step & 1) != 0};
	if (stage->edge)
		stage->packet_bytes = edges->shape[step].packet_bytes;
	return stage;
}

/* The pipeline as sched/model/edges.h wants to know it.  False: it has no edges, or too many steps. */
static bool
describe_edges(const GcRequest *request, int pipeline, const GcPipelineEdges *edges, const GcVariant *v,
			   GcEdgePipeline *p)
{
	const GcProgram *program = request->program;
	const GcPPipeline *pl = &gc_pipelines(program)[pipeline];
	const GcPInput *input = &gc_inputs(program)[pl->input];
	ColumnsRead columns = {{false}, 0};
	GcEdgeStage payloads = {.step = pl->nsteps + 1,.pass = 1};
	GcEdgeStage *stage;
	int			before;

	if (edges->phase == NULL || pl->nsteps > GC_MODEL_STEPS)
		return false;
	memset(p, 0, sizeof(*p));
	p->rows = request->inputs[pl->input].rows;
	p->vec = input->groups_of || input->unmatched_of ? 1 : v->vec > 0 ? v->vec : HOST_VECTOR;
	p->gathered = edges->gathers;
	p->warps = gc_worker.profile.max_warps > 0 ? gc_worker.profile.max_warps / 2.0 : 1;
	describe_vector_steps(request, pipeline, edges, v, p, &payloads, &columns);
	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(program)[pl->first_step + s];

		if (edges->phase[s] != GC_PHASE_ROW)
			continue;
		before = columns.n;
		stage = add_stage(p, edges, s);
		stage->pass = gc_edge_pass(step->selectivity);
		stage->column_bytes = bytes_of_step(program, step, &columns);
		stage->columns = columns.n - before;
		if (step->type == GC_STEP_PROBE)
			describe_probe(request, step, stage);
		p->nstages++;
	}
	before = columns.n;
	stage = add_stage(p, edges, pl->nsteps);
	stage->column_bytes = bytes_of_sink(program, pl, &columns);
	stage->columns = columns.n - before;
	describe_sink(request, pipeline, v, rows_left(p), stage);
	p->nstages++;
	if (payloads.accesses > 0)
		p->stage[p->nstages++] = payloads;
	return true;
}

/*-------------------------------------------------------------------------
 * The choice
 *-------------------------------------------------------------------------
 */

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
 * The model's plan for the request's pipeline.  A plan is used again for requests like the one that it was made
 * for.  To describe a pipeline takes longer than a short query should wait.
 */
static const GcEdgePlan *
plan_of(const GcRequest *request, int pipeline, GcPipelineEdges *edges, const GcVariant *v)
{
	const u64	rows = request->inputs[gc_pipelines(request->program)[pipeline].input].rows;
	const int	wanted = edges->steps == 0 || rows < LEAST_ROWS ? GC_EDGE_FUSE : request->edge;
	GcEdgePipeline p;

	if (edges->uses > 0 && edges->uses < PLAN_USES && edges->edge == request->edge &&
		edges->step == request->edge_step &&
		edges->tile == request->edge_tile && rows <= edges->rows + edges->rows / 8 && rows >= edges->rows - edges->rows / 8)
	{
		edges->uses++;
		return &edges->plan;
	}
	if (!describe_edges(request, pipeline, edges, v, &p))
		return NULL;
	edges->plan = gc_edge_plan(&gc_worker.profile, &gc_worker.calibration, &p, wanted, request->edge_step,
							   request->edge_tile);
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

	if (!describe_edges(request, pipeline, edges, v, &p))
		return 0;
	return gc_edge_plan(&gc_worker.profile, &gc_worker.calibration, &p, v->edge, v->edge_step, request->edge_tile).us;
}

/* The variant's edge lies before this step; the first kernel is its producer. */
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

		if (describe_edges(request, pipeline, edges, v, &p))
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
