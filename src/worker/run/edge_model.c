/*-------------------------------------------------------------------------
 *
 * edge_model.c
 *	  What the model of edges has to know of a request's pipeline.
 *
 * How many rows pass a step is the planner's estimate; sizes of tables are the request's.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "edge_model.h"

#include <math.h>

#include "../memory/state.h"

/*
 * Accesses of a row to a hash build, one behind the other: to slots, and to each key's array.  With half of the
 * slots in use, a row meets one and a half.  A payload is one more, and the chain of rows with the same key.
 */
#define SLOT_ACCESSES		1.5

/* To a hashed group table: slot, and keys that lie side by side. */
#define GROUP_ACCESSES		2.5

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
			bytes = Max(gc_columns(p)[x->ref].width, 1);
			columns->n++;
		}
		columns->read[x->ref] = true;
		return bytes;
	}
	for (int a = 0; a < 3; a++)
		bytes += bytes_of_expr(p, x->arg[a], columns);
	return bytes;
}

static double
bytes_of_step(const GcProgram *p, const GcPStep *step, ColumnsRead *columns)
{
	double		bytes = bytes_of_expr(p, step->expr, columns);

	for (int k = 0; step->type == GC_STEP_PROBE && k < gc_builds(p)[step->build].nkeys; k++)
		bytes += bytes_of_expr(p, gc_refs(p)[step->first_key + k], columns);
	return bytes;
}

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

/* Bytes of a build that probes of it meet. */
static double
bytes_of_build(const GcRequest *request, u16 build)
{
	const GcProgram *p = request->program;
	const GcPBuild *b = &gc_builds(p)[build];
	const GcBuildValue *v = &request->builds[build];
	double		payload = 0;

	for (int i = 0; i < b->npayloads; i++)
		payload += gc_payloads(p)[b->first_payload + i].width;
	if (b->mode == GC_BUILD_DENSE)
		return v->range / 8.0 + v->range * payload;
	return v->slots * 8.0 + v->cap * (8.0 * b->nkeys + payload);
}

static void
describe_probe(const GcRequest *request, const GcPStep *step, GcEdgeStage *stage)
{
	const GcPBuild *b = &gc_builds(request->program)[step->build];

	stage->accesses = (b->mode == GC_BUILD_HASH ? SLOT_ACCESSES + b->nkeys + !b->unique : 1) + (b->npayloads > 0);
	stage->table_bytes = bytes_of_build(request, step->build);
}

/* Groups in a block's own memory are few; others are met in the L2 cache. */
static void
describe_sink(const GcRequest *request, int pipeline, GcEdgeStage *stage)
{
	const GcPPipeline *pl = &gc_pipelines(request->program)[pipeline];
	const GcSinkValue *v = &request->sinks[pipeline];

	stage->pass = 1;
	if (pl->sink == GC_SINK_BUILD)
	{
		stage->accesses = SLOT_ACCESSES + gc_builds(request->program)[pl->build].nkeys;
		stage->table_bytes = bytes_of_build(request, pl->build);
	}
	else if (pl->sink == GC_SINK_AGGREGATE && pl->nkeys > 0)
	{
		stage->accesses = pl->group_mode == GC_GROUP_HASH ? GROUP_ACCESSES + 1 : 1;
		stage->table_bytes = (double) v->ngroups * pl->group_words * 8;
	}
}

static double
part_of(int log)
{
	return ldexp(1, -Min(log, 60));
}

bool
gc_describe_edges(const GcRequest *request, int pipeline, const GcPipelineEdges *edges, int vec, GcEdgePipeline *p)
{
	const GcProgram *program = request->program;
	const GcPPipeline *pl = &gc_pipelines(program)[pipeline];
	ColumnsRead columns = {{false}, 0};
	int			before;
	int			first = 0;
	int			last = 0;

	if (edges->steps == 0 || edges->shape == NULL || pl->nsteps > GC_MODEL_STEPS)
		return false;
	memset(p, 0, sizeof(*p));
	while (!(edges->steps >> first & 1))
		first++;
	for (int s = first; s <= pl->nsteps; s++)
		last = edges->steps >> s & 1 ? s : last;
	p->rows = request->inputs[pl->input].rows;
	p->left = part_of(edges->shape[first].passed);
	p->vec = vec > 0 ? vec : HOST_VECTOR;
	p->gathered = edges->gathers;
	p->warps = gc_worker.profile.max_warps > 0 ? gc_worker.profile.max_warps / 2.0 : 1;
	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(program)[pl->first_step + s];
		const bool	edge = (edges->steps >> s & 1) != 0;
		GcEdgeStage *stage = &p->stage[p->nstages];

		/* Behind a step that finds several rows there are no edges, but such steps. */
		if (s < first || (!edge && s < last))
		{
			p->scan_bytes += bytes_of_step(program, step, &columns);
			continue;
		}
		before = columns.n;
		*stage = (GcEdgeStage) {.step = s,.edge = edge,.pass = part_of(step->selectivity),
			.column_bytes = bytes_of_step(program, step, &columns),.packet_bytes = edge ? edges->shape[s].packet_bytes : 0};
		stage->columns = columns.n - before;
		if (step->type == GC_STEP_PROBE)
			describe_probe(request, step, stage);
		p->nstages++;
	}
	before = columns.n;
	p->stage[p->nstages] = (GcEdgeStage) {.step = pl->nsteps,.edge = (edges->steps >> pl->nsteps & 1) != 0,
		.column_bytes = bytes_of_sink(program, pl, &columns)};
	p->stage[p->nstages].columns = columns.n - before;
	if (p->stage[p->nstages].edge)
		p->stage[p->nstages].packet_bytes = edges->shape[pl->nsteps].packet_bytes;
	describe_sink(request, pipeline, &p->stage[p->nstages]);
	p->nstages++;
	return true;
}
