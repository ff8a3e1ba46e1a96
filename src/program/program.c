/*-------------------------------------------------------------------------
 *
 * program.c
 *	  Layout, checking and hashing of pipeline programs.
 *
 * Pure C: runs in backends (which build and bind programs) and in the worker
 * (which checks and executes them).  Owns nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "program.h"

#include "functions.h"

#include <string.h>

#define ALIGN8(n)	(((n) + 7u) & ~7u)

/* The arrays in layout order. */
enum
{
	ARR_INPUTS, ARR_COLUMNS, ARR_EXPRS, ARR_STEPS, ARR_PIPELINES, ARR_BUILDS,
	ARR_PAYLOADS, ARR_AGGS, ARR_PARAMS, ARR_LUTS, ARR_LISTS, ARR_WINDOWS, ARR_REFS, NARRAYS
};

/*
 * Offset of array `which`; of the end of the program for NARRAYS.  Inlined, so that a few additions are left of it
 * where `which` is constant: programs are looked at everywhere.
 */
static inline __attribute__((always_inline)) u32
array_offset(const GcProgram *p, int which)
{
	u32			offset = ALIGN8(sizeof(GcProgram));

#define PASS(array, n, type) \
	if (which > (array)) \
		offset += ALIGN8((u32) ((n) * sizeof(type)))

	PASS(ARR_INPUTS, p->ninputs, GcPInput);
	PASS(ARR_COLUMNS, p->ncolumns, GcPColumn);
	PASS(ARR_EXPRS, p->nexprs, GcExpr);
	PASS(ARR_STEPS, p->nsteps, GcPStep);
	PASS(ARR_PIPELINES, p->npipelines, GcPPipeline);
	PASS(ARR_BUILDS, p->nbuilds, GcPBuild);
	PASS(ARR_PAYLOADS, p->npayloads, GcPPayload);
	PASS(ARR_AGGS, p->naggs, GcPAgg);
	PASS(ARR_PARAMS, p->nparams, GcPParam);
	PASS(ARR_LUTS, p->nluts, GcPLut);
	PASS(ARR_LISTS, p->nlists, GcPList);
	PASS(ARR_WINDOWS, p->nwindows, GcPWindow);
	PASS(ARR_REFS, p->nrefs, u16);
#undef PASS
	return offset;
}

#define ARRAY_ACCESSOR(name, type, which) \
type * \
name(const GcProgram *p) \
{ \
	return (type *) ((char *) p + array_offset(p, which)); \
}

ARRAY_ACCESSOR(gc_inputs, GcPInput, ARR_INPUTS)
ARRAY_ACCESSOR(gc_columns, GcPColumn, ARR_COLUMNS)
ARRAY_ACCESSOR(gc_exprs, GcExpr, ARR_EXPRS)
ARRAY_ACCESSOR(gc_steps, GcPStep, ARR_STEPS)
ARRAY_ACCESSOR(gc_pipelines, GcPPipeline, ARR_PIPELINES)
ARRAY_ACCESSOR(gc_builds, GcPBuild, ARR_BUILDS)
ARRAY_ACCESSOR(gc_payloads, GcPPayload, ARR_PAYLOADS)
ARRAY_ACCESSOR(gc_aggs, GcPAgg, ARR_AGGS)
ARRAY_ACCESSOR(gc_params, GcPParam, ARR_PARAMS)
ARRAY_ACCESSOR(gc_luts, GcPLut, ARR_LUTS)
ARRAY_ACCESSOR(gc_lists, GcPList, ARR_LISTS)
ARRAY_ACCESSOR(gc_windows, GcPWindow, ARR_WINDOWS)
ARRAY_ACCESSOR(gc_refs, u16, ARR_REFS)

u32
gc_program_size(const GcProgram *p)
{
	return array_offset(p, NARRAYS);
}

/*-------------------------------------------------------------------------
 * Checking
 *-------------------------------------------------------------------------
 */

/* Programs come from shared memory: a bad one is an error, and not a crash. */
static GcCode
bad(GcError *err, const char *what)
{
	return gc_fail(err, GC_BAD_PROGRAM, "The pipeline program has a bad %s.", what);
}

/* Are n entries from `first` on within the total? */
static bool
span_ok(u32 first, u32 n, u32 total)
{
	return first <= total && n <= total - first;
}

/* Bytes that a code can have. */
static bool
is_width(u8 width)
{
	return width > 0 && width <= 16 && (width & (width - 1)) == 0;
}

/* Number of arguments that an operator takes. */
static int
op_nargs(const GcExpr *e)
{
	switch (e->op)
	{
		case GC_OP_COLUMN:
		case GC_OP_PAYLOAD:
		case GC_OP_PARAM:
		case GC_OP_NULL:
		case GC_OP_ROUND:
		case GC_OP_ROW_ID:
		case GC_OP_SET:
			return 0;
		case GC_OP_NEG:
		case GC_OP_ABS:
		case GC_OP_NOT:
		case GC_OP_ISNULL:
		case GC_OP_NOTNULL:
		case GC_OP_ISTRUE:
		case GC_OP_NOTTRUE:
		case GC_OP_ISFALSE:
		case GC_OP_NOTFALSE:
		case GC_OP_CAST:
		case GC_OP_IN:
		case GC_OP_LUT:
		case GC_OP_SCALE:
		case GC_OP_TAG:
		case GC_OP_NUMBER:
		case GC_OP_OUTER:
			return 1;
		case GC_OP_CALL:
			return e->ref < GC_NCALLS ? gc_functions[e->ref].nargs : 0;
		case GC_OP_WINDOW:
			return (e->cast_scale >= GC_OVER_COUNT) + gc_over_has_second(e->cast_scale);
		case GC_OP_IF:
		case GC_OP_STDDEV:
			return 3;
		default:
			return 2;
	}
}

/* The expression that a column of groups or rows stands for comes before expression i, which reads it. */
static GcCode
check_group_column(const GcProgram *p, const GcPColumn *c, u16 i, GcError *err)
{
	const GcPPipeline *pl;
	u16			ref;

	if (gc_inputs(p)[c->input].groups_of == 0)
		return GC_OK;
	pl = &gc_pipelines(p)[gc_inputs(p)[c->input].groups_of - 1];
	if (c->agg == GC_NONE)
	{
		if (c->attnum < 0 || c->attnum >= (pl->sink == GC_SINK_ROWS ? pl->nouts : pl->nkeys) ||
			gc_first_read(pl) + c->attnum >= p->nrefs)
			return bad(err, "column of groups");
		ref = gc_refs(p)[gc_first_read(pl) + c->attnum];
		return ref < i ? GC_OK : bad(err, "column of groups");
	}
	if (pl->sink == GC_SINK_ROWS || c->agg < pl->first_agg || c->agg >= pl->first_agg + pl->naggs ||
		(c->count != GC_NONE && (c->count < pl->first_agg || c->count >= pl->first_agg + pl->naggs)))
		return bad(err, "column of groups");
	if (c->attnum != 0 && (c->attnum != 1 || gc_accumulator_of(&gc_aggs(p)[c->agg])->merge != GC_MERGE_PRECISE))
		return bad(err, "column of groups");
	ref = gc_aggs(p)[c->agg].arg;
	return ref == GC_NONE || ref < i ? GC_OK : bad(err, "column of groups");
}

/* An expression's operator, kind, arguments and reference are within bounds. */
static GcCode
check_expr(const GcProgram *p, u16 i, GcError *err)
{
	const GcExpr *e = &gc_exprs(p)[i];
	u16			limit;

	if (e->op == 0 || e->op >= GC_NOPS)
		return bad(err, "operator");
	if (e->kind == GC_KIND_NONE || e->kind >= GC_NKINDS || e->reg > GC_F64 || e->opreg > GC_F64)
		return bad(err, "value kind");

	/* Arguments come first: no cycles, and one pass types them all. */
	for (int a = 0; a < 3; a++)
	{
		if (a < op_nargs(e) ? e->arg[a] >= i : e->arg[a] != GC_NONE)
			return bad(err, "argument");
	}
	switch (e->op)
	{
		case GC_OP_COLUMN:
			limit = p->ncolumns;
			break;
		case GC_OP_PAYLOAD:
			limit = p->npayloads;
			break;
		case GC_OP_PARAM:
			limit = p->nparams;
			break;
		case GC_OP_LUT:
			limit = p->nluts;
			break;
		case GC_OP_IN:
			limit = p->nlists;
			break;
		case GC_OP_ROUND:
			limit = GC_MAX_KEYS;
			break;
		case GC_OP_TAG:
			limit = 2;
			break;
		case GC_OP_STDDEV:
			limit = 4;
			break;
		case GC_OP_SET:
			limit = GC_MAX_SETS + 1;
			break;
		case GC_OP_OUTER:
			limit = p->nbuilds;
			break;
		case GC_OP_CALL:
			limit = GC_NCALLS;
			break;
		case GC_OP_ROW_ID:
			limit = p->ninputs;
			break;
		case GC_OP_ARM:
			limit = p->npipelines;
			break;
		case GC_OP_WINDOW:
			if (e->cast_scale <= GC_OVER_NONE || e->cast_scale >= GC_NOVERS)
				return bad(err, "window function");
			limit = p->nwindows;
			break;
		default:
			return e->ref == GC_NONE ? GC_OK : bad(err, "reference");
	}
	if (e->ref >= limit)
		return bad(err, "reference");
	if (e->op == GC_OP_PAYLOAD && gc_payloads(p)[e->ref].expr >= i)
		return bad(err, "payload reference");
	if (e->op == GC_OP_ROW_ID && (e->kind != GC_INT8 || gc_inputs(p)[e->ref].groups_of || gc_inputs(p)[e->ref].unmatched_of))
		return bad(err, "row id");
	return e->op == GC_OP_COLUMN ? check_group_column(p, &gc_columns(p)[e->ref], i, err) : GC_OK;
}

/* n references from `first` on are of expressions. */
static GcCode
check_refs(const GcProgram *p, u16 first, u16 n, GcError *err)
{
	if (!span_ok(first, n, p->nrefs))
		return bad(err, "reference list");
	for (u32 i = first; i < (u32) first + n; i++)
	{
		if (gc_refs(p)[i] >= p->nexprs)
			return bad(err, "reference list");
	}
	return GC_OK;
}

int
gc_output_of(const GcProgram *p, const GcPPipeline *pl, u16 e)
{
	for (u16 i = 0; i < pl->nouts; i++)
	{
		if (gc_refs(p)[pl->first_out + i] == e)
			return i;
	}
	return -1;
}

bool
gc_has_windows(const GcProgram *p, u16 pipeline)
{
	for (u16 i = 0; i < p->nwindows; i++)
	{
		if (gc_windows(p)[i].pipeline == pipeline)
			return true;
	}
	return false;
}

bool
gc_build_is_optional(const GcProgram *p, u16 build)
{
	for (u16 s = 0; s < p->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[s];

		if (step->type == GC_STEP_PROBE && step->build == build &&
			(step->join == GC_JOIN_LEFT || step->join == GC_JOIN_FULL))
			return true;
	}
	return false;
}

int
gc_first_list_probe(const GcProgram *p, const GcPPipeline *pl)
{
	for (u16 s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];

		if (step->type == GC_STEP_PROBE && gc_builds(p)[step->build].nkeys == 0)
			return s;
	}
	return -1;
}

bool
gc_is_sliced(const GcProgram *p, const GcPStep *step)
{
	return step->type == GC_STEP_PROBE && gc_builds(p)[step->build].nkeys == 0 &&
		(step->join == GC_JOIN_INNER || step->join == GC_JOIN_LEFT);
}

u16
gc_group_origin(const GcProgram *p, const GcPColumn *c, bool sums)
{
	const GcPAgg *agg;
	u8			value;

	if (c->agg == GC_NONE)
		return gc_refs(p)[gc_first_read(&gc_pipelines(p)[gc_inputs(p)[c->input].groups_of - 1]) + c->attnum];
	agg = &gc_aggs(p)[c->agg];
	value = gc_accumulator_of(agg)->value;
	return value == GC_VALUE_ONE || (sums && value == GC_VALUE_SUM) ? agg->arg : GC_NONE;
}

u16
gc_origin_column(const GcProgram *p, u16 e, bool sums)
{
	while (e != GC_NONE)
	{
		const GcExpr *x = &gc_exprs(p)[e];

		switch (x->op)
		{
			case GC_OP_PAYLOAD:
				e = gc_payloads(p)[x->ref].expr;
				break;
			case GC_OP_OUTER:
			case GC_OP_SHOWN:
			case GC_OP_NUMBER:
				e = x->arg[0];
				break;
			case GC_OP_COLUMN:
				if (gc_inputs(p)[gc_columns(p)[x->ref].input].groups_of == 0)
					return x->ref;
				e = gc_group_origin(p, &gc_columns(p)[x->ref], sums);
				break;
			default:
				return GC_NONE;
		}
	}
	return GC_NONE;
}

bool
gc_has_arms(const GcProgram *p, u16 pipeline)
{
	for (u16 n = 0; n < p->npipelines; n++)
	{
		if (gc_is_arm_of(p, n, pipeline))
			return true;
	}
	return false;
}

u32
gc_wide_word(const GcProgram *p, const GcPPipeline *pl, u16 i)
{
	u32			word = pl->nouts + GC_NULL_WORDS(pl->nouts);

	for (u16 k = 0; k < i; k++)
		word += gc_is_wide(&gc_exprs(p)[gc_refs(p)[pl->first_out + k]]);
	return word;
}

u32
gc_row_words(const GcProgram *p, const GcPPipeline *pl)
{
	return gc_wide_word(p, pl, pl->nouts);
}

void
gc_bind_rests(GcProgram *p)
{
	for (u16 n = 0; n < p->npipelines; n++)
	{
		GcPPipeline *pl = &gc_pipelines(p)[n];
		const GcPPipeline *owner = &gc_pipelines(p)[gc_sink_owner(p, n)];

		pl->group_mode = owner->group_mode;
		pl->group_words = owner->group_words;
	}
}

/* Does the build have all that the probe asks for? */
static bool
probe_ok(const GcProgram *p, u16 pipeline, const GcPStep *step)
{
	const GcPBuild *build = &gc_builds(p)[step->build];

	if (step->build >= p->nbuilds || build->pipeline >= pipeline || step->join > GC_JOIN_RIGHT ||
		(gc_join_keeps(step->join) && !build->keeps))
		return false;
	/* Only whether a key is there is known of a set. */
	if (build->set && step->join != GC_JOIN_SEMI && step->join != GC_JOIN_ANTI)
		return false;
	return step->expr == GC_NONE || (step->expr < p->nexprs && step->join != GC_JOIN_INNER);
}

/* Builds and their pipelines refer to each other; keys and payloads are within bounds. */
static GcCode
check_builds(const GcProgram *p, GcError *err)
{
	for (u16 b = 0; b < p->nbuilds; b++)
	{
		const GcPBuild *build = &gc_builds(p)[b];
		GcCode		code;

		if (build->pipeline >= p->npipelines ||
			gc_pipelines(p)[build->pipeline].sink != GC_SINK_BUILD ||
			gc_pipelines(p)[build->pipeline].build != b || gc_pipelines(p)[build->pipeline].rest_of ||
			build->nkeys > GC_MAX_KEYS ||
			!span_ok(build->first_payload, build->npayloads, p->npayloads) ||
			build->npayloads > GC_MAX_PAYLOADS)
			return bad(err, "build");
		if ((code = check_refs(p, build->first_key, build->nkeys, err)) != GC_OK)
			return code;
		for (u16 i = 0; i < build->npayloads; i++)
		{
			const GcPPayload *pay = &gc_payloads(p)[build->first_payload + i];

			if (pay->build != b || pay->expr >= p->nexprs || pay->greatest != build->set ||
				(pay->greatest && GC_KIND_IS_FLOAT(pay->kind)))
				return bad(err, "payload");
		}
		if (p->bound && build->mode != GC_BUILD_DENSE && build->mode != GC_BUILD_HASH && build->mode != GC_BUILD_LIST)
			return bad(err, "build mode");
		if (p->bound && (build->mode == GC_BUILD_LIST) != (build->nkeys == 0))
			return bad(err, "build mode");
		if (build->nkeys == 0 && (build->set || build->keeps))
			return bad(err, "build");
		if (build->mode == GC_BUILD_DENSE && (build->nkeys != 1 || build->keeps))
			return bad(err, "build mode");
		if (build->keeps && build->set)
			return bad(err, "build");
	}
	return GC_OK;
}

/* Is there a full or right join before the pipeline's steps, of which it is the rest, in a pipeline with its sink? */
static bool
is_behind_join(const GcProgram *p, const GcPPipeline *pl)
{
	const u16	build = gc_inputs(p)[pl->input].unmatched_of - 1;

	for (u16 n = 0; n < p->npipelines; n++)
	{
		const GcPPipeline *q = &gc_pipelines(p)[n];
		const GcPStep *join = &gc_steps(p)[pl->first_step] - 1;

		if ((n + 1 == pl->rest_of || gc_is_arm_of(p, n, pl->rest_of - 1)) &&
			span_ok(q->first_step, q->nsteps, p->nsteps) && pl->first_step > q->first_step &&
			pl->first_step + pl->nsteps == q->first_step + q->nsteps &&
			join->type == GC_STEP_PROBE && join->build == build && gc_join_keeps(join->join))
			return true;
	}
	return false;
}

/* Does it end in the sink of another pipeline, as an arm or a rest of that? */
static bool
rest_ok(const GcProgram *p, const GcPPipeline *pl)
{
	const GcPPipeline *owner = &gc_pipelines(p)[pl->rest_of - 1];

	return owner->rest_of == 0 &&
		(gc_inputs(p)[pl->input].unmatched_of == 0 || is_behind_join(p, pl)) &&
		pl->sink == owner->sink && pl->sink != GC_SINK_SELECT && pl->build == owner->build &&
		pl->first_key == owner->first_key && pl->nkeys == owner->nkeys &&
		pl->first_out == owner->first_out && pl->nouts == owner->nouts &&
		pl->first_agg == owner->first_agg && pl->naggs == owner->naggs && pl->rounds == owner->rounds &&
		pl->group_words == owner->group_words && pl->group_mode == owner->group_mode;
}

/* Has a bound group a word for each accumulator? */
static bool
has_words(const GcProgram *p, const GcPPipeline *pl)
{
	if (pl->group_words == 0 || pl->group_mode < GC_GROUP_NONE || pl->group_mode > GC_GROUP_HASH ||
		(pl->group_mode == GC_GROUP_NONE) != (pl->nkeys == 0))
		return false;
	for (u16 i = 0; i < pl->naggs; i++)
	{
		const GcPAgg *agg = &gc_aggs(p)[pl->first_agg + i];

		/* Word 0 counts rows. */
		if (agg->word > 0 && agg->word + gc_merge_width(gc_merge_of(agg)) > pl->group_words)
			return false;
	}
	return true;
}

/* A sink is within bounds; what other sinks have is, too, since it is looked at without asking for the sink. */
static GcCode
check_sink(const GcProgram *p, u16 n, GcError *err)
{
	const GcPPipeline *pl = &gc_pipelines(p)[n];
	const bool	last = n == p->npipelines - 1;

	if ((pl->sink == GC_SINK_SELECT) != (n + 1 == p->select) ||
		(last && pl->sink != GC_SINK_AGGREGATE && pl->sink != GC_SINK_ROWS))
		return bad(err, "sink");
	if (pl->nkeys > GC_MAX_KEYS || pl->rounds > GC_MAX_KEYS || ((pl->rounds > 0 || pl->sets > 0) && pl->nkeys == 0))
		return bad(err, "group key count");
	if (!span_ok(pl->first_agg, pl->naggs, p->naggs))
		return bad(err, "aggregate list");
	if (pl->nouts > GC_MAX_OUTPUTS)
		return bad(err, "output count");
	if (check_refs(p, pl->first_key, pl->nkeys, err) != GC_OK || check_refs(p, pl->first_out, pl->nouts, err) != GC_OK)
		return err->code;
	switch (pl->sink)
	{
		case GC_SINK_BUILD:
			return pl->build < p->nbuilds ? GC_OK : bad(err, "sink");
		case GC_SINK_SELECT:
			return pl->nkeys <= 2 && gc_inputs(p)[pl->input].groups_of == p->npipelines &&
				gc_pipelines(p)[p->npipelines - 1].sink == GC_SINK_AGGREGATE ? GC_OK : bad(err, "choice of groups");
		case GC_SINK_AGGREGATE:
			return !p->bound || has_words(p, pl) ? GC_OK : bad(err, "group");
		case GC_SINK_ROWS:
			/* Pipelines that read them want all of them. */
			return pl->nkeys <= (last || gc_sink_owner(p, n) == p->npipelines - 1 ? 1 : 0) ? GC_OK : bad(err, "choice of rows");
		default:
			return bad(err, "sink");
	}
}

/* A pipeline's steps and sink are within bounds, and come after their inputs. */
static GcCode
check_pipeline(const GcProgram *p, u16 n, GcError *err)
{
	const GcPPipeline *pl = &gc_pipelines(p)[n];
	GcCode		code;

	if (!span_ok(pl->first_step, pl->nsteps, p->nsteps) || pl->survive > GC_MOST_HALVINGS)
		return bad(err, "pipeline");
	if (pl->rest_of ? !rest_ok(p, pl) || n == p->npipelines - 1 : gc_inputs(p)[pl->input].unmatched_of > 0)
		return bad(err, "rest of a pipeline");
	/* Groups come from an earlier pipeline; only the choice among the main one's comes after it. */
	if (gc_inputs(p)[pl->input].groups_of > n && pl->sink != GC_SINK_SELECT)
		return bad(err, "input of groups");
	for (u32 s = pl->first_step; s < (u32) pl->first_step + pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[s];

		if (step->selectivity > GC_MOST_HALVINGS)
			return bad(err, "step");
		if (step->type == GC_STEP_FILTER)
		{
			if (step->expr >= p->nexprs)
				return bad(err, "filter");
		}
		else if (step->type == GC_STEP_PROBE)
		{
			if (!probe_ok(p, n, step))
				return bad(err, "probe");
			if ((code = check_refs(p, step->first_key, gc_builds(p)[step->build].nkeys, err)) != GC_OK)
				return code;
		}
		else
			return bad(err, "step");
	}
	return check_sink(p, n, err);
}

/* Parts of a row that the kernel of a pipeline can read, at one of its steps. */
typedef struct Reader
{
	const GcProgram *p;
	u16			pipeline;
	u32			builds;			/* a bit for each of which the row has a match's payloads */
	u64			seen[(GC_MAX_EXPRS + 63) / 64]; /* a bit for each expression that is known to be readable */
} Reader;

/* Does an expression read nothing but the pipeline's input, and builds that it has probed? */
static bool
can_read(Reader *r, u16 e)
{
	const GcProgram *p = r->p;
	const GcExpr *x = &gc_exprs(p)[e];
	const u16	input = gc_pipelines(p)[r->pipeline].input;

	if (r->seen[e / 64] >> (e % 64) & 1)
		return true;
	if ((x->op == GC_OP_COLUMN && gc_columns(p)[x->ref].input != input) || (x->op == GC_OP_ROW_ID && x->ref != input) ||
		(x->op == GC_OP_PAYLOAD && !(r->builds >> gc_payloads(p)[x->ref].build & 1)))
		return false;
	for (int a = 0; a < op_nargs(x); a++)
	{
		/* Another arm's value is not computed, nor one from before the join that the rows have no match in. */
		if ((x->op == GC_OP_ARM && a != (x->ref == r->pipeline ? 0 : 1)) || x->op == GC_OP_WINDOW ||
			(x->op == GC_OP_OUTER && x->ref + 1 == gc_inputs(p)[input].unmatched_of))
			continue;
		if (!can_read(r, x->arg[a]))
			return false;
	}
	r->seen[e / 64] |= 1ull << (e % 64);
	return true;
}

static bool
can_read_refs(Reader *r, u16 first, u16 n)
{
	for (u16 i = 0; i < n; i++)
	{
		if (!can_read(r, gc_refs(r->p)[first + i]))
			return false;
	}
	return true;
}

/* Does a step read nothing else?  Steps behind it can read the build that it probes. */
static bool
can_read_step(Reader *r, const GcPStep *step)
{
	Reader		matched = *r;

	if (step->type == GC_STEP_FILTER)
		return can_read(r, step->expr);
	matched.builds |= 1u << step->build;
	if (!can_read_refs(r, step->first_key, gc_builds(r->p)[step->build].nkeys) ||
		(step->expr != GC_NONE && !can_read(&matched, step->expr)))
		return false;
	if (step->join != GC_JOIN_SEMI && step->join != GC_JOIN_ANTI)
		r->builds = matched.builds;
	return true;
}

static bool
can_read_sink(Reader *r, const GcPPipeline *pl)
{
	const GcProgram *p = r->p;
	const GcPBuild *build = &gc_builds(p)[pl->build];

	if (pl->sink == GC_SINK_BUILD)
	{
		for (u16 i = 0; i < build->npayloads; i++)
		{
			if (!can_read(r, gc_payloads(p)[build->first_payload + i].expr))
				return false;
		}
		return can_read_refs(r, build->first_key, build->nkeys);
	}
	for (u16 i = 0; i < pl->naggs; i++)
	{
		const GcPAgg *agg = &gc_aggs(p)[pl->first_agg + i];

		if ((agg->arg != GC_NONE && !can_read(r, agg->arg)) || (agg->factor != GC_NONE && !can_read(r, agg->factor)))
			return false;
	}
	return can_read_refs(r, pl->first_key, pl->nkeys) && can_read_refs(r, pl->first_out, pl->nouts);
}

/* All that a pipeline computes is of its own rows: those of another one are not there. */
static bool
reads_own_rows(const GcProgram *p, u16 n)
{
	const GcPPipeline *pl = &gc_pipelines(p)[n];
	const u16	unmatched_of = gc_inputs(p)[pl->input].unmatched_of;
	Reader		r = {.p = p,.pipeline = n,.builds = unmatched_of ? 1u << (unmatched_of - 1) : 0};

	for (u16 s = 0; s < pl->nsteps; s++)
	{
		if (!can_read_step(&r, &gc_steps(p)[pl->first_step + s]))
			return false;
	}
	return can_read_sink(&r, pl);
}

static bool
bound_ok(const GcPPipeline *pl, const GcPWindow *w, u8 bound)
{
	return bound < pl->nouts || (bound == GC_NO_BOUND && w->frame == GC_FRAME_RANGE);
}

/* Is it a window over kept rows, whose keys are outputs of these? */
static bool
window_ok(const GcProgram *p, const GcPWindow *w)
{
	const GcPPipeline *pl = &gc_pipelines(p)[w->pipeline];

	if (w->pipeline >= p->npipelines - 1 || pl->sink != GC_SINK_ROWS || pl->rest_of ||
		w->npartition > w->nkeys || w->nkeys > GC_MAX_KEYS || w->frame >= GC_NFRAMES || w->exclude >= GC_NEXCLUSIONS)
		return false;
	if (w->frame == GC_FRAME_RANGE && (w->npartition == w->nkeys || w->by >= pl->nouts))
		return false;
	if (w->frame >= GC_FRAME_BETWEEN && !(bound_ok(pl, w, w->start) && bound_ok(pl, w, w->end)))
		return false;
	for (int k = 0; k < w->nkeys; k++)
	{
		if (w->keys[k] >= pl->nouts)
			return false;
	}
	return true;
}

/* The functions of windows are outputs of the windows' pipelines, and so are their arguments. */
static GcCode
check_windows(const GcProgram *p, GcError *err)
{
	for (u16 i = 0; i < p->nwindows; i++)
	{
		if (!window_ok(p, &gc_windows(p)[i]))
			return bad(err, "window");
	}
	for (u16 i = 0; i < p->nexprs; i++)
	{
		const GcExpr *e = &gc_exprs(p)[i];
		const GcPPipeline *pl;

		if (e->op != GC_OP_WINDOW)
			continue;
		pl = &gc_pipelines(p)[gc_windows(p)[e->ref].pipeline];
		if (gc_output_of(p, pl, i) < 0)
			return bad(err, "window function");
		for (int k = 0; k < 2; k++)
		{
			if (e->arg[k] != GC_NONE && gc_output_of(p, pl, e->arg[k]) < 0)
				return bad(err, "argument of a window function");
		}
	}
	return GC_OK;
}

/* Has a pipeline groups or rows that others can read? */
static bool
is_read(const GcPPipeline *pl)
{
	return pl->rest_of == 0 && (pl->sink == GC_SINK_AGGREGATE || pl->sink == GC_SINK_ROWS);
}

static GcCode
check_inputs(const GcProgram *p, GcError *err)
{
	for (u16 i = 0; i < p->npipelines; i++)
	{
		if (gc_pipelines(p)[i].input >= p->ninputs || gc_pipelines(p)[i].rest_of > p->npipelines)
			return bad(err, "pipeline");
	}
	for (u16 i = 0; i < p->ninputs; i++)
	{
		const GcPInput *in = &gc_inputs(p)[i];

		if (!span_ok(in->first_column, in->ncolumns, p->ncolumns))
			return bad(err, "input");
		if (in->groups_of > p->npipelines || (in->groups_of && !is_read(&gc_pipelines(p)[in->groups_of - 1])))
			return bad(err, "input of groups");
		if (in->unmatched_of > p->nbuilds || (in->unmatched_of && (in->groups_of || in->ncolumns > 0)))
			return bad(err, "input of rows without a match");
	}
	for (u16 i = 0; i < p->ncolumns; i++)
	{
		const GcPColumn *c = &gc_columns(p)[i];
		const GcPInput *in = &gc_inputs(p)[c->input];

		if (c->input >= p->ninputs || i < in->first_column || i >= in->first_column + in->ncolumns ||
			c->kind >= GC_NKINDS || c->reg > GC_F64 || (c->width > 0 && !is_width(c->width)))
			return bad(err, "column");
	}
	return GC_OK;
}

/* Payloads, accumulators, parameters and lookup tables, each by itself. */
static GcCode
check_values(const GcProgram *p, GcError *err)
{
	for (u16 i = 0; i < p->npayloads; i++)
	{
		const GcPPayload *pay = &gc_payloads(p)[i];
		const GcPBuild *build = &gc_builds(p)[pay->build];

		if (pay->build >= p->nbuilds || i < build->first_payload || i >= build->first_payload + build->npayloads ||
			pay->kind >= GC_NKINDS || pay->reg > GC_F64 || (p->bound && !is_width(pay->width)))
			return bad(err, "payload");
	}
	for (u16 i = 0; i < p->naggs; i++)
	{
		const GcPAgg *agg = &gc_aggs(p)[i];

		if (agg->fn == 0 || agg->fn >= GC_NAGG_FNS ||
			(agg->arg == GC_NONE ? agg->fn != GC_AGG_COUNT : agg->arg >= p->nexprs) ||
			(agg->factor != GC_NONE && agg->factor >= p->nexprs))
			return bad(err, "aggregate");
	}
	for (u16 i = 0; i < p->nparams; i++)
	{
		if (gc_params(p)[i].kind >= GC_NKINDS || gc_params(p)[i].reg > GC_F64)
			return bad(err, "parameter");
	}
	for (u16 i = 0; i < p->nluts; i++)
	{
		if (gc_luts(p)[i].kind >= GC_NKINDS || gc_luts(p)[i].reg > GC_F64)
			return bad(err, "lookup table");
	}
	return GC_OK;
}

GcCode
gc_program_check(const GcProgram *p, size_t size, GcError *err)
{
	GcCode		code;

	if (size < sizeof(GcProgram) || p->size > size || p->size != gc_program_size(p))
		return bad(err, "size");
	if (p->ninputs > GC_MAX_INPUTS || p->ncolumns > GC_MAX_COLUMNS ||
		p->nexprs > GC_MAX_EXPRS || p->nbuilds > GC_MAX_BUILDS ||
		p->naggs > GC_MAX_AGGS || p->nparams > GC_MAX_PARAMS ||
		p->nluts > GC_MAX_LUTS || p->nlists > GC_MAX_LISTS || p->nwindows > GC_MAX_WINDOWS_KEPT || p->npipelines == 0 ||
		p->npipelines > GC_MAX_PIPELINES || p->select > p->npipelines)
		return bad(err, "count");

	if ((code = check_inputs(p, err)) != GC_OK || (code = check_values(p, err)) != GC_OK)
		return code;
	for (u16 i = 0; i < p->nexprs; i++)
	{
		if ((code = check_expr(p, i, err)) != GC_OK)
			return code;
	}
	if ((code = check_builds(p, err)) != GC_OK)
		return code;
	for (u16 i = 0; i < p->npipelines; i++)
	{
		if ((code = check_pipeline(p, i, err)) != GC_OK)
			return code;
		if (!reads_own_rows(p, i))
			return bad(err, "expression, which reads what its pipeline has not");
	}
	return check_windows(p, err);
}
