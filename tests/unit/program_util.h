/*-------------------------------------------------------------------------
 *
 * program_util.h
 *	  Pipeline programs made by hand, for tests of the code generator.
 *
 * A Maker collects a program's parts in arrays of fixed size; maker_finish() lays
 * them out, types them with typing.c and checks them with program.c, as the planner
 * and the executor would.  Builds come before the pipelines that probe them, and the
 * columns of an input directly behind it.  All made-up programs are small, so going
 * over an array's end is not guarded against.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROGRAM_UTIL_H
#define GC_PROGRAM_UTIL_H

#include "harness.h"

#include "../../src/codegen/codegen.h"
#include "../../src/program/typing.h"

#define MAKER_MAX	80

/* Bits of a row's number in row ids, of up to 63 chunks. */
#define MAKER_ROW_BITS	20

typedef struct Maker
{
	GcProgram	head;
	GcPInput	inputs[MAKER_MAX];
	GcPColumn	columns[MAKER_MAX];
	GcExpr		exprs[2 * MAKER_MAX];
	GcPStep		steps[MAKER_MAX];
	GcPPipeline pipelines[MAKER_MAX];
	GcPBuild	builds[MAKER_MAX];
	GcPPayload	payloads[MAKER_MAX];
	GcPAgg		aggs[MAKER_MAX];
	GcPParam	params[MAKER_MAX];
	GcPLut		luts[MAKER_MAX];
	GcPList		lists[MAKER_MAX];
	u16			refs[MAKER_MAX];
	GcFact		column_facts[MAKER_MAX];
	GcFact		param_facts[MAKER_MAX];
	GcFact		lut_facts[MAKER_MAX];
	u8			list_flags[MAKER_MAX];
	u64			lut_words[MAKER_MAX][3];	/* by GC_LUT_*; the test's to fill in */
	u64			list_words[MAKER_MAX][2];	/* address and count, likewise */
	i64			values[MAKER_MAX];	/* of the parameters */
	i16			source[MAKER_MAX];	/* of the columns: the test's own number */
	GcRange		ranges[2 * MAKER_MAX];	/* of the expressions, once finished */
} Maker;

static u16 __attribute__((unused))
maker_input(Maker *m)
{
	m->inputs[m->head.ninputs] = (GcPInput) {.first_column = m->head.ncolumns};
	return m->head.ninputs++;
}

/* A column of the newest input. */
static u16 __attribute__((unused))
maker_column(Maker *m, i16 source, u8 kind, const GcFact *fact)
{
	u16			i = m->head.ncolumns++;

	m->columns[i] = (GcPColumn) {.input = m->head.ninputs - 1,.attnum = i + 1,.kind = kind};
	m->column_facts[i] = *fact;
	m->source[i] = source;
	m->inputs[m->head.ninputs - 1].ncolumns++;
	return i;
}

static u16 __attribute__((unused))
maker_expr(Maker *m, u8 op, u8 kind, u16 a, u16 b, u16 ref)
{
	m->exprs[m->head.nexprs] = (GcExpr) {.op = op,.kind = kind,.arg = {a, b, GC_NONE},.ref = ref};
	return m->head.nexprs++;
}

static u16 __attribute__((unused))
maker_read(Maker *m, u16 column)
{
	return maker_expr(m, GC_OP_COLUMN, m->columns[column].kind, GC_NONE, GC_NONE, column);
}

static u16 __attribute__((unused))
maker_param(Maker *m, u8 kind, i64 value, i16 scale)
{
	u16			i = m->head.nparams++;

	m->params[i] = (GcPParam) {.kind = kind};
	m->values[i] = value;
	/* As the executor does it: a register of the kind's size, not of the value's. */
	m->param_facts[i] = (GcFact) {.range = {value, value},.scale = scale};
	(void) gc_kind_range(kind, &m->param_facts[i].range);
	return maker_expr(m, GC_OP_PARAM, kind, GC_NONE, GC_NONE, i);
}

/* Comparison or logic. */
static u16 __attribute__((unused))
maker_test(Maker *m, u8 op, u16 a, u16 b)
{
	return maker_expr(m, op, GC_BOOL, a, b, GC_NONE);
}

/* f(x) by a table of such results, and x IN (a list). */
static u16 __attribute__((unused))
maker_lut(Maker *m, u16 x, u8 kind, const GcFact *fact)
{
	m->luts[m->head.nluts] = (GcPLut) {.kind = kind};
	m->lut_facts[m->head.nluts] = *fact;
	return maker_expr(m, GC_OP_LUT, kind, x, GC_NONE, m->head.nluts++);
}

static u16 __attribute__((unused))
maker_in(Maker *m, u16 x, u8 flags)
{
	m->lists[m->head.nlists] = (GcPList) {.kind = m->exprs[x].kind};
	m->list_flags[m->head.nlists] = flags;
	return maker_expr(m, GC_OP_IN, GC_BOOL, x, GC_NONE, m->head.nlists++);
}

static u16 __attribute__((unused))
maker_pipeline(Maker *m, u16 input, u8 sink, u8 survive)
{
	m->pipelines[m->head.npipelines] = (GcPPipeline) {.input = input,.first_step = m->head.nsteps,
		.build = GC_NONE,.sink = sink,.survive = survive};
	return m->head.npipelines++;
}

static void __attribute__((unused))
maker_filter(Maker *m, u16 expr, u8 selectivity)
{
	m->steps[m->head.nsteps++] = (GcPStep) {.type = GC_STEP_FILTER,.expr = expr,.build = GC_NONE,
		.selectivity = selectivity};
	m->pipelines[m->head.npipelines - 1].nsteps++;
}

static u16 __attribute__((unused))
maker_ref(Maker *m, u16 expr)
{
	m->refs[m->head.nrefs] = expr;
	return m->head.nrefs++;
}

static void __attribute__((unused))
maker_probe(Maker *m, u16 build, u16 key, u8 selectivity, bool in_range)
{
	m->steps[m->head.nsteps++] = (GcPStep) {.type = GC_STEP_PROBE,.expr = GC_NONE,.build = build,
		.first_key = maker_ref(m, key),.selectivity = selectivity,.in_range = in_range};
	m->pipelines[m->head.npipelines - 1].nsteps++;
}

/* A pipeline over `input` that builds on one key, with at most one payload (or GC_NONE). */
static u16 __attribute__((unused))
maker_build(Maker *m, u16 input, u8 mode, bool unique, u16 key, u16 payload)
{
	u16			b = m->head.nbuilds++;

	m->pipelines[maker_pipeline(m, input, GC_SINK_BUILD, 0)].build = b;
	m->builds[b] = (GcPBuild) {.pipeline = m->head.npipelines - 1,.first_key = maker_ref(m, key),
		.nkeys = 1,.first_payload = m->head.npayloads,.mode = mode,.unique = unique};
	if (payload != GC_NONE)
	{
		m->payloads[m->head.npayloads++] = (GcPPayload) {.build = b,.expr = payload,
			.kind = m->exprs[payload].kind};
		m->builds[b].npayloads = 1;
	}
	return b;
}

static void __attribute__((unused))
maker_group(Maker *m, u8 mode, int nkeys, u16 a, u16 b)
{
	GcPPipeline *pl = &m->pipelines[m->head.npipelines - 1];

	pl->group_mode = mode;
	pl->first_key = m->head.nrefs;
	pl->nkeys = nkeys;
	if (nkeys > 0)
		maker_ref(m, a);
	if (nkeys > 1)
		maker_ref(m, b);
}

static void __attribute__((unused))
maker_agg(Maker *m, u8 fn, u16 arg)
{
	GcPPipeline *pl = &m->pipelines[m->head.npipelines - 1];

	if (pl->naggs++ == 0)
		pl->first_agg = m->head.naggs;
	m->aggs[m->head.naggs++] = (GcPAgg) {.fn = fn,.arg = arg,.factor = GC_NONE,.exact = 1};
}

static void __attribute__((unused))
maker_out(Maker *m, u16 expr)
{
	GcPPipeline *pl = &m->pipelines[m->head.npipelines - 1];
	u16			ref = maker_ref(m, expr);

	if (pl->nouts++ == 0)
		pl->first_out = ref;
}

/* The bound program, malloc'd. */
static GcProgram * __attribute__((unused))
maker_finish(Maker *m, u64 rows)
{
	GcFacts		facts = {.columns = m->column_facts,.params = m->param_facts,.luts = m->lut_facts,
	.list_flags = m->list_flags,.rows = rows};
	GcRowIds	row_ids[MAKER_MAX];
	GcError		err = {GC_OK, ""};
	GcProgram  *p;

	for (int i = 0; i < MAKER_MAX; i++)
		row_ids[i] = (GcRowIds) {.range = {0, ((i64) 64 << MAKER_ROW_BITS) - 1},.bits = MAKER_ROW_BITS};
	facts.row_ids = row_ids;
	m->head.size = gc_program_size(&m->head);
	p = calloc(1, m->head.size);
	*p = m->head;
	memcpy(gc_inputs(p), m->inputs, p->ninputs * sizeof(GcPInput));
	memcpy(gc_columns(p), m->columns, p->ncolumns * sizeof(GcPColumn));
	memcpy(gc_exprs(p), m->exprs, p->nexprs * sizeof(GcExpr));
	memcpy(gc_steps(p), m->steps, p->nsteps * sizeof(GcPStep));
	memcpy(gc_pipelines(p), m->pipelines, p->npipelines * sizeof(GcPPipeline));
	memcpy(gc_builds(p), m->builds, p->nbuilds * sizeof(GcPBuild));
	memcpy(gc_payloads(p), m->payloads, p->npayloads * sizeof(GcPPayload));
	memcpy(gc_aggs(p), m->aggs, p->naggs * sizeof(GcPAgg));
	memcpy(gc_params(p), m->params, p->nparams * sizeof(GcPParam));
	memcpy(gc_luts(p), m->luts, p->nluts * sizeof(GcPLut));
	memcpy(gc_lists(p), m->lists, p->nlists * sizeof(GcPList));
	memcpy(gc_refs(p), m->refs, p->nrefs * sizeof(u16));
	if (gc_program_type(p, &facts, m->ranges, &err) != GC_OK ||
		gc_program_check(p, p->size, &err) != GC_OK)
		tap_bail(err.detail);
	return p;
}

#endif							/* GC_PROGRAM_UTIL_H */
