/*-------------------------------------------------------------------------
 *
 * builder.c
 *	  Growing a program piece by piece, and packing it with its GcPlan.
 *
 * Parts are appended in any order while the join tree is walked; packing brings
 * them into the layout of program.h: columns by input, steps by pipeline, payloads
 * by build.  Only expressions keep their numbers, since each refers to earlier
 * ones.  Everything lives in the planner's memory.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "builder.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "source.h"
#include "../columns/pgkinds.h"

int
gc_refuse(GcTranslation *tr, const char *fmt,...)
{
	if (tr->reason == NULL)
	{
		StringInfoData buf;

		initStringInfo(&buf);
		for (;;)
		{
			va_list		args;
			int			needed;

			va_start(args, fmt);
			needed = appendStringInfoVA(&buf, fmt, args);
			va_end(args);
			if (needed == 0)
				break;
			enlargeStringInfo(&buf, needed);
		}
		tr->reason = buf.data;
	}
	return GC_NO_EXPR;
}

void
gc_builder_init(GcTranslation *tr)
{
	tr->plan = palloc0(sizeof(GcPlan));
	tr->columns = palloc0(GC_MAX_COLUMNS * sizeof(GcPColumn));
	tr->column_nodes = palloc0(GC_MAX_COLUMNS * sizeof(Node *));
	tr->column_leaf = palloc0(GC_MAX_COLUMNS * sizeof(GcLeaf *));
	tr->pexprs = palloc0(GC_MAX_EXPRS * sizeof(GcExpr));
	tr->space = palloc0(GC_MAX_EXPRS * sizeof(uint16));
	tr->pipelines = palloc0((GC_MAX_BUILDS + 1) * sizeof(GcPPipeline));
	tr->builds = palloc0(GC_MAX_BUILDS * sizeof(GcPBuild));
	tr->payloads = palloc0(GC_MAX_BUILDS * GC_MAX_PAYLOADS * sizeof(GcBuildPayload));
	tr->aggs = palloc0(GC_MAX_AGGS * sizeof(GcPAgg));
}

/* Number of expression e; the same computation again is the same expression. */
static int
add_expr(GcTranslation *tr, const GcExpr *e)
{
	for (int i = tr->nexprs - 1; i >= 0; i--)
	{
		if (memcmp(&tr->pexprs[i], e, sizeof(*e)) == 0)
			return i;
	}
	if (tr->nexprs == GC_MAX_EXPRS)
		return gc_refuse(tr, "the query has too many expressions");
	tr->pexprs[tr->nexprs] = *e;
	tr->space[tr->nexprs] = GC_SPACE_NONE;
	return tr->nexprs++;
}

int
gc_build_expr(GcTranslation *tr, GcOp op, GcKind kind, int a, int b, int c, int ref)
{
	GcExpr		e;
	int			args[3] = {a, b, c};

	memset(&e, 0, sizeof(e));
	e.op = op;
	e.kind = kind;
	e.ref = ref < 0 ? GC_NONE : ref;
	for (int i = 0; i < 3; i++)
		e.arg[i] = args[i] < 0 ? GC_NONE : args[i];
	return add_expr(tr, &e);
}

/* Cast to numeric(precision, scale). */
int
gc_build_numeric_cast(GcTranslation *tr, int arg, int precision, int scale)
{
	GcExpr		e;

	memset(&e, 0, sizeof(e));
	e.op = GC_OP_CAST;
	e.kind = GC_NUMERIC;
	e.ref = GC_NONE;
	e.arg[0] = arg;
	e.arg[1] = e.arg[2] = GC_NONE;
	e.flags = GC_CAST_SCALE;
	e.cast_precision = precision;
	e.cast_scale = scale;
	return add_expr(tr, &e);
}

int
gc_build_cast(GcTranslation *tr, int arg, GcKind kind)
{
	if (arg < 0 || tr->pexprs[arg].kind == kind)
		return arg;
	return gc_build_expr(tr, GC_OP_CAST, kind, arg, -1, -1, -1);
}

int
gc_build_null(GcTranslation *tr, GcKind kind)
{
	return gc_build_expr(tr, GC_OP_NULL, kind, -1, -1, -1, -1);
}

/* Place of an expression to be evaluated at execution in custom_exprs. */
int
gc_exec_expr(GcTranslation *tr, Expr *expr)
{
	const char *refusal;
	ListCell   *lc;

	foreach(lc, tr->exprs)
	{
		if (equal(lfirst(lc), expr))
			return foreach_current_index(lc);
	}
	refusal = gc_subplans_refusal(tr->root, (Node *) expr);
	if (refusal)
		gc_refuse(tr, "%s", refusal);
	tr->exprs = lappend(tr->exprs, expr);
	return list_length(tr->exprs) - 1;
}

int
gc_build_param(GcTranslation *tr, Expr *expr, GcKind kind, uint16 space)
{
	int			at = gc_exec_expr(tr, expr);
	GcPlanParam *p;

	for (int i = 0; i < tr->nparams; i++)
	{
		if (tr->plan->params[i].expr == at && tr->plan->params[i].space == space)
		{
			for (int e = 0; e < tr->nexprs; e++)
			{
				if (tr->pexprs[e].op == GC_OP_PARAM && tr->pexprs[e].ref == i)
					return e;
			}
		}
	}
	if (tr->nparams == GC_MAX_PARAMS)
		return gc_refuse(tr, "the query has too many constants");
	p = &tr->plan->params[tr->nparams];
	p->expr = at;
	p->space = space;
	at = gc_build_expr(tr, GC_OP_PARAM, kind, -1, -1, -1, tr->nparams++);
	if (at >= 0)
		tr->space[at] = space;
	return at;
}

/* Where the rows of a row source have an expression, from 1; 0 if they do not have it. */
static int
source_resno(GcLeaf *leaf, Node *node)
{
	ListCell   *lc;

	foreach(lc, leaf->path->pathtarget->exprs)
	{
		if (equal(lfirst(lc), node))
			return foreach_current_index(lc) + 1;
	}
	return 0;
}

/*
 * A column of a leaf: a Var of a table, or any expression that a row source
 * computes.
 */
int
gc_build_column(GcTranslation *tr, GcLeaf *leaf, Node *node)
{
	GcPColumn  *c;
	GcPlanColumn *pc;
	GcKind		kind = gc_type_kind(exprType(node));
	int			e;
	int			resno = 0;

	for (int i = 0; i < tr->ncolumns; i++)
	{
		if (tr->column_leaf[i] == leaf && equal(tr->column_nodes[i], node))
			return gc_build_expr(tr, GC_OP_COLUMN, tr->columns[i].kind, -1, -1, -1, i);
	}
	if (kind == GC_KIND_NONE)
		return gc_refuse(tr, "type %s is not supported", format_type_be(exprType(node)));
	if (kind == GC_TEXT && !gc_collation_deterministic(exprCollation(node)))
		return gc_refuse(tr, "a nondeterministic collation is used");
	if (kind == GC_TEXT && getBaseType(exprType(node)) == BPCHAROID && exprTypmod(node) < 0)
		return gc_refuse(tr, "type character without a length is not supported");
	if (tr->ncolumns == GC_MAX_COLUMNS)
		return gc_refuse(tr, "the query reads too many columns");
	if (!OidIsValid(leaf->relid) && (resno = source_resno(leaf, node)) == 0)
		return gc_refuse(tr, "a row source does not deliver a column");

	c = &tr->columns[tr->ncolumns];
	c->input = leaf->input;
	c->kind = kind;
	c->rtrim = getBaseType(exprType(node)) == BPCHAROID;
	c->attnum = resno > 0 ? resno : IsA(node, Var) ? ((Var *) node)->varattno : 0;
	pc = &tr->plan->columns[tr->ncolumns];
	pc->typid = exprType(node);
	pc->typmod = exprTypmod(node);
	pc->collation = exprCollation(node);
	tr->column_nodes[tr->ncolumns] = node;
	tr->column_leaf[tr->ncolumns] = leaf;
	e = gc_build_expr(tr, GC_OP_COLUMN, kind, -1, -1, -1, tr->ncolumns);
	if (e >= 0 && kind == GC_TEXT)
		tr->space[e] = tr->ncolumns;
	tr->ncolumns++;
	return e;
}

int
gc_build_lut(GcTranslation *tr, int arg, GcKind kind, const GcPlanLut *lut)
{
	int			e;

	for (int i = 0; i < tr->nluts; i++)
	{
		GcPlanLut	l = tr->plan->luts[i];

		if (l.arg == arg && l.type == lut->type && l.space == lut->space &&
			l.to_space == lut->to_space && l.expr == lut->expr)
		{
			for (e = 0; e < tr->nexprs; e++)
			{
				if (tr->pexprs[e].op == GC_OP_LUT && tr->pexprs[e].ref == i)
					return e;
			}
		}
	}
	if (tr->nluts == GC_MAX_LUTS)
		return gc_refuse(tr, "the query needs too many lookup tables");
	tr->plan->luts[tr->nluts] = *lut;
	tr->plan->luts[tr->nluts].arg = arg;
	e = gc_build_expr(tr, GC_OP_LUT, kind, arg, -1, -1, tr->nluts);
	if (e >= 0 && kind == GC_TEXT)
		tr->space[e] = lut->to_space != GC_SPACE_NONE ? lut->to_space : GC_SPACE_LUT + tr->nluts;
	tr->nluts++;
	return e;
}

/* The value of expr, an expression of build's pipeline, where build is probed. */
int
gc_build_payload(GcTranslation *tr, int build, int expr)
{
	int			n = 0;
	int			e;

	for (int i = 0; i < tr->npayloads; i++)
	{
		if (tr->payloads[i].build != build)
			continue;
		if (tr->payloads[i].expr == expr)
			return gc_build_expr(tr, GC_OP_PAYLOAD, tr->pexprs[expr].kind, -1, -1, -1, i);
		n++;
	}
	if (n == GC_MAX_PAYLOADS)
		return gc_refuse(tr, "too many columns of one joined table are needed");
	tr->payloads[tr->npayloads] = (GcBuildPayload) {.build = build,.expr = expr};
	e = gc_build_expr(tr, GC_OP_PAYLOAD, tr->pexprs[expr].kind, -1, -1, -1, tr->npayloads++);
	if (e >= 0)
		tr->space[e] = tr->space[expr];
	return e;
}

int
gc_build_agg(GcTranslation *tr, GcAggFn fn, int arg)
{
	for (int i = 0; i < tr->naggs; i++)
	{
		if (tr->aggs[i].fn == fn && tr->aggs[i].arg == (arg < 0 ? GC_NONE : arg))
			return i;
	}
	if (tr->naggs == GC_MAX_AGGS)
		return gc_refuse(tr, "the query has too many aggregates");
	tr->aggs[tr->naggs] = (GcPAgg) {.fn = fn,.arg = arg < 0 ? GC_NONE : arg};
	return tr->naggs++;
}

static uint8
halvings(double selectivity)
{
	int			n = 0;

	while (selectivity <= 0.5 && n < 30)
	{
		selectivity *= 2;
		n++;
	}
	return n;
}

void
gc_build_filter(GcTranslation *tr, int pipeline, int expr, double selectivity)
{
	GcPStep    *step = palloc0(sizeof(GcPStep));

	step->type = GC_STEP_FILTER;
	step->expr = expr;
	step->build = GC_NONE;
	step->selectivity = halvings(selectivity);
	tr->steps[pipeline] = lappend(tr->steps[pipeline], step);
	tr->step_keys[pipeline] = lappend(tr->step_keys[pipeline], NIL);
}

void
gc_build_probe(GcTranslation *tr, int pipeline, int build, List *keys, double selectivity)
{
	GcPStep    *step = palloc0(sizeof(GcPStep));

	step->type = GC_STEP_PROBE;
	step->expr = GC_NONE;
	step->build = build;
	step->selectivity = halvings(selectivity);
	tr->steps[pipeline] = lappend(tr->steps[pipeline], step);
	tr->step_keys[pipeline] = lappend(tr->step_keys[pipeline], keys);
}

/* Place of an expression in custom_scan_tlist, where it is put if need be. */
int
gc_scan_attno(GcTranslation *tr, Node *expr)
{
	ListCell   *lc;
	GcPlanOutput *out;

	foreach(lc, tr->scan_tlist)
	{
		if (equal(lfirst_node(TargetEntry, lc)->expr, expr))
			return lfirst_node(TargetEntry, lc)->resno;
	}
	out = palloc0(sizeof(GcPlanOutput));
	out->type = GC_OUT_NONE;
	out->typid = exprType(expr);
	tr->outputs = lappend(tr->outputs, out);
	tr->scan_tlist = lappend(tr->scan_tlist,
							 makeTargetEntry(copyObject((Expr *) expr),
											 list_length(tr->scan_tlist) + 1, NULL, false));
	return list_length(tr->scan_tlist);
}

/* A clause for EXPLAIN. */
void
gc_build_display(GcTranslation *tr, int pipeline, int what, Expr *expr)
{
	List	   *vars = pull_var_clause((Node *) expr, PVC_RECURSE_PLACEHOLDERS);
	ListCell   *lc;

	/* setrefs.c wants every Var of custom_exprs in custom_scan_tlist. */
	foreach(lc, vars)
		(void) gc_scan_attno(tr, lfirst(lc));
	tr->display = lappend(tr->display, expr);
	tr->display_tags = lappend_int(tr->display_tags, GC_DISPLAY_TAG(pipeline, what));
}

/*-------------------------------------------------------------------------
 * Packing
 *-------------------------------------------------------------------------
 */

/* Appends a list of expression numbers to refs; returns where it begins. */
static u16
pack_refs(GcProgram *p, List *exprs)
{
	u16			first = p->nrefs;
	ListCell   *lc;

	foreach(lc, exprs)
		gc_refs(p)[p->nrefs++] = lfirst_int(lc);
	return first;
}

/* Columns in order of their inputs; spaces and references follow. */
static void
pack_columns(GcTranslation *tr, GcProgram *p, GcPlan *plan, int *column_map)
{
	int			n = 0;

	for (int i = 0; i < tr->ninputs; i++)
	{
		gc_inputs(p)[i].first_column = n;
		for (int c = 0; c < tr->ncolumns; c++)
		{
			if (tr->columns[c].input != i)
				continue;
			column_map[c] = n;
			gc_columns(p)[n] = tr->columns[c];
			plan->columns[n] = tr->plan->columns[c];
			n++;
		}
		gc_inputs(p)[i].ncolumns = n - gc_inputs(p)[i].first_column;
	}
}

static void
pack_payloads(GcTranslation *tr, GcProgram *p, int *payload_map)
{
	int			n = 0;

	for (int b = 0; b < tr->nbuilds; b++)
	{
		gc_builds(p)[b] = tr->builds[b];
		gc_builds(p)[b].first_payload = n;
		for (int i = 0; i < tr->npayloads; i++)
		{
			GcPPayload *pay = &gc_payloads(p)[n];

			if (tr->payloads[i].build != b)
				continue;
			pay->build = b;
			pay->expr = tr->payloads[i].expr;
			pay->kind = tr->pexprs[pay->expr].kind;
			payload_map[i] = n++;
		}
		gc_builds(p)[b].npayloads = n - gc_builds(p)[b].first_payload;
		gc_builds(p)[b].nkeys = list_length(tr->build_keys[b]);
		gc_builds(p)[b].first_key = pack_refs(p, tr->build_keys[b]);
	}
}

static void
pack_pipelines(GcTranslation *tr, GcProgram *p)
{
	int			n = 0;

	for (int i = 0; i < tr->npipelines; i++)
	{
		GcPPipeline *pl = &gc_pipelines(p)[i];
		ListCell   *ls,
				   *lk;
		int			passed = 0;

		*pl = tr->pipelines[i];
		pl->first_step = n;
		forboth(ls, tr->steps[i], lk, tr->step_keys[i])
		{
			GcPStep    *step = &gc_steps(p)[n++];

			*step = *(GcPStep *) lfirst(ls);
			if (step->type == GC_STEP_PROBE)
				step->first_key = pack_refs(p, (List *) lfirst(lk));
			passed += step->selectivity;
		}
		pl->nsteps = n - pl->first_step;
		pl->survive = Min(passed, 30);
		if (pl->sink == GC_SINK_AGGREGATE)
		{
			pl->nkeys = list_length(tr->group_keys);
			pl->first_key = pack_refs(p, tr->group_keys);
		}
		else if (pl->sink == GC_SINK_ROWS)
		{
			pl->nouts = list_length(tr->row_outputs);
			pl->first_out = pack_refs(p, tr->row_outputs);
		}
	}
}

static int
count_list_members(List **lists, int n)
{
	int			total = 0;

	for (int i = 0; i < n; i++)
		total += list_length(lists[i]);
	return total;
}

/* Total number of references that packing will append. */
static int
count_refs(GcTranslation *tr)
{
	int			n = count_list_members(tr->build_keys, tr->nbuilds) +
		list_length(tr->group_keys) + list_length(tr->row_outputs);

	for (int i = 0; i < tr->npipelines; i++)
	{
		ListCell   *lc;

		foreach(lc, tr->step_keys[i])
			n += list_length((List *) lfirst(lc));
	}
	return n;
}

static void
map_space(uint16 *space, const int *column_map)
{
	if (*space < GC_SPACE_LUT)
		*space = column_map[*space];
}

static void
pack_exprs(GcTranslation *tr, GcProgram *p, const int *column_map, const int *payload_map)
{
	memcpy(gc_exprs(p), tr->pexprs, tr->nexprs * sizeof(GcExpr));
	for (int i = 0; i < tr->nexprs; i++)
	{
		GcExpr	   *e = &gc_exprs(p)[i];

		if (e->op == GC_OP_COLUMN)
			e->ref = column_map[e->ref];
		else if (e->op == GC_OP_PAYLOAD)
			e->ref = payload_map[e->ref];
		else if (e->op == GC_OP_PARAM)
			gc_params(p)[e->ref].kind = e->kind;
		else if (e->op == GC_OP_LUT)
			gc_luts(p)[e->ref].kind = e->kind;
		else if (e->op == GC_OP_IN)
			gc_lists(p)[e->ref].kind = gc_exprs(p)[e->arg[0]].kind;
	}
}

static GcProgram *
pack_program(GcTranslation *tr, GcPlan *plan, int *column_map)
{
	GcProgram	head = {
		.ninputs = tr->ninputs,.ncolumns = tr->ncolumns,.nexprs = tr->nexprs,
		.nsteps = count_list_members(tr->steps, tr->npipelines),
		.npipelines = tr->npipelines,.nbuilds = tr->nbuilds,
		.npayloads = tr->npayloads,.naggs = tr->naggs,.nparams = tr->nparams,
		.nluts = tr->nluts,.nlists = tr->nlists,.nrefs = count_refs(tr),
	};
	GcProgram  *p = palloc0(gc_program_size(&head));
	int		   *payload_map = palloc0((tr->npayloads + 1) * sizeof(int));

	*p = head;
	p->size = gc_program_size(p);
	p->nrefs = 0;				/* grows as references are packed */
	pack_columns(tr, p, plan, column_map);
	pack_payloads(tr, p, payload_map);
	pack_pipelines(tr, p);
	Assert(p->nrefs == head.nrefs);
	pack_exprs(tr, p, column_map, payload_map);
	memcpy(gc_aggs(p), tr->aggs, tr->naggs * sizeof(GcPAgg));
	return p;
}

/*
 * Make the flat GcPlan of a finished translation, which stays as it is.  NULL, with a
 * reason, where the program is not one.
 */
GcPlan *
gc_builder_finish(GcTranslation *tr)
{
	int		   *column_map = palloc0((tr->ncolumns + 1) * sizeof(int));
	GcPlan	   *head = palloc(sizeof(GcPlan));
	GcProgram  *p;
	GcPlan	   *plan;
	GcError		err;
	ListCell   *lc;

	memcpy(head, tr->plan, sizeof(GcPlan));
	p = pack_program(tr, head, column_map);
	if (gc_program_check(p, p->size, &err) != GC_OK)
	{
		gc_refuse(tr, "its program is malformed (%s)", err.detail);
		return NULL;
	}

	head->ninputs = tr->ninputs;
	head->ncolumns = tr->ncolumns;
	head->nparams = tr->nparams;
	head->nluts = tr->nluts;
	head->nlists = tr->nlists;
	head->noutputs = list_length(tr->outputs);
	head->nexprs = list_length(tr->exprs);
	head->float_aggs = tr->float_aggs;
	head->program_size = p->size;
	for (int i = 0; i < tr->nparams; i++)
		map_space(&head->params[i].space, column_map);
	for (int i = 0; i < tr->nluts; i++)
	{
		map_space(&head->luts[i].space, column_map);
		map_space(&head->luts[i].to_space, column_map);
	}
	head->size = MAXALIGN(offsetof(GcPlan, outputs) + head->noutputs * sizeof(GcPlanOutput)) + p->size;

	plan = palloc0(head->size);
	memcpy(plan, head, offsetof(GcPlan, outputs));
	foreach(lc, tr->outputs)
	{
		GcPlanOutput *out = lfirst(lc);

		plan->outputs[foreach_current_index(lc)] = *out;
		map_space(&plan->outputs[foreach_current_index(lc)].space, column_map);
	}
	memcpy(GC_PLAN_PROGRAM(plan), p, p->size);
	return plan;
}
