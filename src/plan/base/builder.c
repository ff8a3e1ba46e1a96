/*-------------------------------------------------------------------------
 *
 * builder.c
 *	  Growing a program piece by piece.
 *
 * Parts are appended in any order while the join tree is walked; relations/pack.c brings them
 * into the layout of program.h.  Everything lives in the planner's memory.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "builder.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"

#include "make.h"
#include "query_summary.h"
#include "source.h"
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"

/* Entries of an array that grows, at first; a power of two. */
#define FIRST_ROOM	64

/* Parameters up to which constants of conditions are told apart; with more, room for them would be short. */
#define MOST_APART	(GC_MAX_PARAMS / 4)

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
	tr->plan->inputs = palloc0(GC_MAX_INPUTS * sizeof(GcPlanInput));
	tr->plan->luts = palloc(GC_MAX_LUTS * sizeof(GcPlanLut));
	tr->plan->lists = palloc(GC_MAX_LISTS * sizeof(GcPlanList));
	tr->kept_windows = palloc(GC_MAX_WINDOWS_KEPT * sizeof(GcPWindow));
	/* These can be far larger: they grow (room()). */
	tr->plan->params = palloc0(FIRST_ROOM * sizeof(GcPlanParam));
	tr->plan->columns = palloc0(FIRST_ROOM * sizeof(GcPlanColumn));
	tr->columns = palloc0(FIRST_ROOM * sizeof(GcPColumn));
	tr->column_nodes = palloc0(FIRST_ROOM * sizeof(Node *));
	tr->column_leaf = palloc0(FIRST_ROOM * sizeof(GcLeaf *));
	tr->pexprs = palloc0(FIRST_ROOM * sizeof(GcExpr));
	tr->space = palloc0(FIRST_ROOM * sizeof(uint16));
	tr->exprs_before = palloc0(FIRST_ROOM * sizeof(uint16));
	memset(tr->last_exprs, 0xFF, sizeof(tr->last_exprs));
	tr->payloads = palloc0(FIRST_ROOM * sizeof(GcBuildPayload));
	tr->aggs = palloc0(FIRST_ROOM * sizeof(GcPAgg));
	tr->pipelines = palloc0((GC_MAX_PIPELINES + 1) * sizeof(GcPPipeline));
	tr->builds = palloc0(GC_MAX_BUILDS * sizeof(GcPBuild));
	tr->fewer = 1;
}

/* An array of `n` entries, which are all that is used of it, with room for one more: the next power of two. */
static void *
room(void *array, int n, Size size)
{
	void	   *larger;

	if (n < FIRST_ROOM || (n & (n - 1)) != 0)
		return array;
	larger = palloc0(2 * n * size);
	memcpy(larger, array, n * size);
	return larger;
}

bool
gc_column_room(GcTranslation *tr)
{
	if (tr->ncolumns == GC_MAX_COLUMNS)
	{
		gc_refuse(tr, "the query reads too many columns");
		return false;
	}
	tr->columns = room(tr->columns, tr->ncolumns, sizeof(GcPColumn));
	tr->plan->columns = room(tr->plan->columns, tr->ncolumns, sizeof(GcPlanColumn));
	tr->column_nodes = room(tr->column_nodes, tr->ncolumns, sizeof(Node *));
	tr->column_leaf = room(tr->column_leaf, tr->ncolumns, sizeof(GcLeaf *));
	return true;
}

int
gc_sink_pipeline(const GcTranslation *tr, int n)
{
	while (tr->rest_of[n])
		n = tr->rest_of[n] - 1;
	return n;
}

/* Where the last expression is noted whose hash falls there, too. */
static uint16 *
last_expr(GcTranslation *tr, const GcExpr *e)
{
	uint64		words[sizeof(GcExpr) / sizeof(uint64)];
	uint64		hash = 0;

	StaticAssertStmt(sizeof(words) == sizeof(GcExpr), "an expression is not made of words");
	memcpy(words, e, sizeof(words));
	for (int i = 0; i < lengthof(words); i++)
		hash = gc_summary_mix(hash, words[i]);
	return &tr->last_exprs[hash % lengthof(tr->last_exprs)];
}

/* Number of expression e; the same computation again is the same expression. */
static int
add_expr(GcTranslation *tr, const GcExpr *e)
{
	uint16	   *last = last_expr(tr, e);

	for (uint16 i = *last; i != GC_NONE; i = tr->exprs_before[i])
	{
		if (memcmp(&tr->pexprs[i], e, sizeof(*e)) == 0)
			return i;
	}
	if (tr->nexprs == GC_MAX_EXPRS)
		return gc_refuse(tr, "the query has too many expressions");
	tr->pexprs = room(tr->pexprs, tr->nexprs, sizeof(GcExpr));
	tr->space = room(tr->space, tr->nexprs, sizeof(uint16));
	tr->exprs_before = room(tr->exprs_before, tr->nexprs, sizeof(uint16));
	tr->pexprs[tr->nexprs] = *e;
	tr->space[tr->nexprs] = GC_SPACE_NONE;
	tr->exprs_before[tr->nexprs] = *last;
	*last = tr->nexprs;
	return tr->nexprs++;
}

void
gc_builder_drop_exprs(GcTranslation *tr, int n)
{
	while (tr->nexprs > n)
	{
		tr->nexprs--;
		*last_expr(tr, &tr->pexprs[tr->nexprs]) = tr->exprs_before[tr->nexprs];
	}
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

/* Cast to numeric(precision, scale).  rounding: 0, as numeric does it, or GC_CAST_DOWN, GC_CAST_UP. */
int
gc_build_numeric_cast(GcTranslation *tr, int arg, int precision, int scale, uint8 rounding)
{
	GcExpr		e;

	memset(&e, 0, sizeof(e));
	e.op = GC_OP_CAST;
	e.kind = GC_NUMERIC;
	e.ref = GC_NONE;
	e.arg[0] = arg;
	e.arg[1] = e.arg[2] = GC_NONE;
	e.flags = GC_CAST_SCALE | rounding;
	e.cast_precision = precision;
	e.cast_scale = scale;
	return add_expr(tr, &e);
}

/* An expression with all fields of *e; equal ones are one. */
int
gc_build_copy(GcTranslation *tr, const GcExpr *e)
{
	return add_expr(tr, e);
}

/* An expression of another kind; as it is if it is of that kind, or was refused. */
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
		if (gc_equal(lfirst(lc), expr))
			return foreach_current_index(lc);
	}
	refusal = gc_subplans_refusal(tr->root, (Node *) expr);
	if (refusal)
		gc_refuse(tr, "%s", refusal);
	tr->exprs = lappend(tr->exprs, expr);
	return list_length(tr->exprs) - 1;
}

/*
 * A parameter; equal ones are one.  Constants of conditions are not: whether they are equal changes from one text of a
 * statement to the next, and kernels would change with it.
 */
static int
build_param(GcTranslation *tr, const GcPlanParam *param, GcKind kind)
{
	const bool	apart = tr->in_condition && tr->nparams < MOST_APART && param->expr >= 0 &&
		IsA(list_nth(tr->exprs, param->expr), Const);
	int			e;

	for (int i = 0; i < tr->nparams && !apart; i++)
	{
		const GcPlanParam *p = &tr->plan->params[i];

		if (!p->apart && p->expr == param->expr && p->space == param->space && p->more == param->more)
		{
			for (e = 0; e < tr->nexprs; e++)
			{
				if (tr->pexprs[e].op == GC_OP_PARAM && tr->pexprs[e].ref == i)
					return e;
			}
		}
	}
	if (tr->nparams == GC_MAX_PARAMS)
		return gc_refuse(tr, "the query has too many constants");
	tr->plan->params = room(tr->plan->params, tr->nparams, sizeof(GcPlanParam));
	tr->plan->params[tr->nparams] = *param;
	tr->plan->params[tr->nparams].apart = apart;
	e = gc_build_expr(tr, GC_OP_PARAM, kind, -1, -1, -1, tr->nparams++);
	if (e >= 0)
		tr->space[e] = param->expr < 0 ? GC_SPACE_NONE : param->space;
	return e;
}

int
gc_build_param(GcTranslation *tr, Expr *expr, GcKind kind, uint16 space)
{
	const GcPlanParam p = {.expr = gc_exec_expr(tr, expr),.space = space};

	return build_param(tr, &p, kind);
}

int
gc_build_count(GcTranslation *tr, uint16 space, int more)
{
	const GcPlanParam p = {.expr = -1,.space = space,.more = more};

	return build_param(tr, &p, GC_INT8);
}

/* A constant of type int8. */
int
gc_build_int8(GcTranslation *tr, int64 value)
{
	return gc_build_param(tr, gc_make_int8(value), GC_INT8, GC_SPACE_NONE);
}

int
gc_build_float8(GcTranslation *tr, double value)
{
	return gc_build_param(tr, (Expr *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(double), Float8GetDatum(value),
												 false, FLOAT8PASSBYVAL), GC_FLOAT8, GC_SPACE_NONE);
}

/* Where the rows of a row source have an expression, from 1; 0 if they do not have it. */
static int
source_resno(GcLeaf *leaf, Node *node)
{
	ListCell   *lc;

	foreach(lc, leaf->path->pathtarget->exprs)
	{
		if (gc_equal(lfirst(lc), node))
			return foreach_current_index(lc) + 1;
	}
	return 0;
}

/*
 * The first lookup table that has all of the dictionary that codes are translated to: the last
 * addition to it comes before.
 */
static int
first_whole(const GcTranslation *tr, const GcPlanLut *lut)
{
	int			first = 0;

	for (int i = 0; i < tr->nluts && lut->type == GC_LUT_TRANSLATE; i++)
	{
		if (tr->plan->luts[i].type == GC_LUT_ADD && tr->plan->luts[i].to_space == lut->to_space)
			first = i;
	}
	return first;
}

int
gc_build_lut(GcTranslation *tr, int arg, GcKind kind, const GcPlanLut *lut)
{
	int			e;

	for (int i = first_whole(tr, lut); i < tr->nluts; i++)
	{
		GcPlanLut	l = tr->plan->luts[i];

		if (l.arg == arg && l.type == lut->type && l.space == lut->space &&
			l.to_space == lut->to_space && l.expr == lut->expr && l.collation == lut->collation &&
			l.rank == lut->rank && l.second == lut->second)
		{
			for (e = 0; e < tr->nexprs; e++)
			{
				if (tr->pexprs[e].op == GC_OP_LUT && tr->pexprs[e].ref == i)
					return e;
			}
		}
	}
	/* All its values are NULL, in a way that only the kernel sees: as a build's probe, or a result of CASE. */
	if (GC_KIND_IS_CODE(tr->pexprs[arg].kind) && lut->space == GC_SPACE_NONE)
		return gc_refuse(tr, "a text that is always NULL is looked up");
	if (tr->nluts == GC_MAX_LUTS)
		return gc_refuse(tr, "the query needs too many lookup tables");
	tr->plan->luts[tr->nluts] = *lut;
	tr->plan->luts[tr->nluts].arg = arg;
	e = gc_build_expr(tr, GC_OP_LUT, kind, arg, -1, -1, tr->nluts);
	if (e >= 0 && GC_KIND_IS_CODE(kind))
		tr->space[e] = lut->to_space != GC_SPACE_NONE ? lut->to_space : GC_SPACE_LUT + tr->nluts;
	tr->nluts++;
	return e;
}

int
gc_build_rank(GcTranslation *tr, int text, Oid type, Oid collation)
{
	GcPlanLut	rank = {.type = GC_LUT_RANK,.space = tr->space[text],.to_space = GC_SPACE_NONE,.expr = -1,
	.collation = collation,.argtype = type};

	if (gc_kinds[tr->pexprs[text].kind].opaque || !gc_collation_deterministic(collation))
		return gc_refuse(tr, "texts of that type or collation have no ranks");
	return gc_build_lut(tr, text, GC_INT4, &rank);
}

/* Texts of an append input have codes of several dictionaries: bring them to one. */
static int
unify_texts(GcTranslation *tr, int column)
{
	GcPlanLut	lut = {.type = GC_LUT_UNIFY,.space = tr->space[column],.to_space = GC_SPACE_NONE,.expr = -1};

	return gc_build_lut(tr, column, tr->pexprs[column].kind, &lut);
}

/* The first column with the same dictionary: the same one of its table, which several leaves may be. */
static uint16
column_space(const GcTranslation *tr, int column)
{
	const GcLeaf *leaf = tr->column_leaf[column];

	for (int i = 0; i < column && OidIsValid(leaf->relid); i++)
	{
		if (tr->column_leaf[i] && tr->column_leaf[i]->relid == leaf->relid &&
			tr->columns[i].attnum == tr->columns[column].attnum)
			return i;
	}
	return column;
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
		if (tr->column_leaf[i] != leaf || !gc_equal(tr->column_nodes[i], node))
			continue;
		e = gc_build_expr(tr, GC_OP_COLUMN, tr->columns[i].kind, -1, -1, -1, i);
		return leaf->append && GC_KIND_IS_CODE(kind) && e >= 0 ? unify_texts(tr, e) : e;
	}
	if (kind == GC_KIND_NONE)
		return gc_refuse(tr, "type %s is not supported", format_type_be(exprType(node)));
	if (GC_KIND_IS_CODE(kind) && !gc_collation_deterministic(exprCollation(node)))
		return gc_refuse(tr, "a nondeterministic collation is used");
	if (GC_KIND_IS_CODE(kind) && gc_base_type(exprType(node)) == BPCHAROID && exprTypmod(node) < 0)
		return gc_refuse(tr, "type character without a length is not supported");
	if (!gc_column_room(tr))
		return GC_NO_EXPR;
	if (gc_leaf_is_source(leaf) && (resno = source_resno(leaf, node)) == 0)
		return gc_refuse(tr, "a row source does not deliver a column");
	if (leaf->append && (!IsA(node, Var) || ((Var *) node)->varattno <= 0))
		return gc_refuse(tr, "a system column or whole-row reference is used");

	c = &tr->columns[tr->ncolumns];
	c->input = leaf->input;
	c->kind = kind;
	c->rtrim = gc_base_type(exprType(node)) == BPCHAROID;
	c->attnum = resno > 0 ? resno : IsA(node, Var) ? ((Var *) node)->varattno : 0;
	pc = &tr->plan->columns[tr->ncolumns];
	pc->typid = exprType(node);
	pc->typmod = exprTypmod(node);
	pc->collation = exprCollation(node);
	tr->column_nodes[tr->ncolumns] = node;
	tr->column_leaf[tr->ncolumns] = leaf;
	e = gc_build_expr(tr, GC_OP_COLUMN, kind, -1, -1, -1, tr->ncolumns);
	if (e >= 0 && GC_KIND_IS_CODE(kind))
		tr->space[e] = column_space(tr, tr->ncolumns);
	tr->ncolumns++;
	return leaf->append && GC_KIND_IS_CODE(kind) && e >= 0 ? unify_texts(tr, e) : e;
}

/* A payload of a build; equal ones are one.  Refused if there are too many. */
static int
add_payload(GcTranslation *tr, int build, int expr, bool greatest)
{
	int			n = 0;
	int			e;

	for (int i = 0; i < tr->npayloads; i++)
	{
		if (tr->payloads[i].build != build)
			continue;
		if (tr->payloads[i].expr == expr && tr->payloads[i].greatest == greatest)
			return gc_build_expr(tr, GC_OP_PAYLOAD, tr->pexprs[expr].kind, -1, -1, -1, i);
		n++;
	}
	if (n == GC_MAX_PAYLOADS)
		return gc_refuse(tr, "too many columns of one joined table are needed");
	tr->payloads = room(tr->payloads, tr->npayloads, sizeof(GcBuildPayload));
	tr->payloads[tr->npayloads] = (GcBuildPayload) {.build = build,.expr = expr,.greatest = greatest};
	e = gc_build_expr(tr, GC_OP_PAYLOAD, tr->pexprs[expr].kind, -1, -1, -1, tr->npayloads++);
	if (e >= 0)
		tr->space[e] = tr->space[expr];
	return e;
}

/* The value of expr, an expression of build's pipeline, where build is probed. */
int
gc_build_payload(GcTranslation *tr, int build, int expr)
{
	return add_payload(tr, build, expr, false);
}

/* The greatest value that it has in rows with the key. */
int
gc_build_greatest(GcTranslation *tr, int build, int expr)
{
	return add_payload(tr, build, expr, true);
}

/* An accumulator of the streamed leaf's pipeline; equal ones are one.  Refused if there are too many. */
static int
add_agg(GcTranslation *tr, GcPAgg agg)
{
	int			pipeline = tr->streamed->pipeline;

	for (int i = 0; i < tr->naggs; i++)
	{
		if (tr->agg_pipeline[i] == pipeline && tr->aggs[i].fn == agg.fn && tr->aggs[i].arg == agg.arg &&
			tr->aggs[i].factor == agg.factor)
			return i;
	}
	if (tr->naggs == GC_MAX_AGGS)
		return gc_refuse(tr, "the query has too many aggregates");
	tr->aggs = room(tr->aggs, tr->naggs, sizeof(GcPAgg));
	tr->aggs[tr->naggs] = agg;
	tr->agg_pipeline[tr->naggs] = pipeline;
	return tr->naggs++;
}

int
gc_build_agg(GcTranslation *tr, GcAggFn fn, int arg)
{
	return add_agg(tr, (GcPAgg) {.fn = fn,.arg = arg < 0 ? GC_NONE : arg,.factor = GC_NONE});
}

/* The sum of products with a factor, or GC_NO_EXPR. */
int
gc_build_precise_sum(GcTranslation *tr, int arg, int factor)
{
	return add_agg(tr, (GcPAgg) {.fn = GC_AGG_PRECISE_SUM,.arg = arg,.factor = factor < 0 ? GC_NONE : factor});
}

/* How often rows are halved before a share of them is left; 30 at most. */
static uint8
halvings(double selectivity)
{
	int			n = 0;

	while (selectivity <= 0.5 && n < GC_MOST_HALVINGS)
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
gc_build_always(GcTranslation *tr, int pipeline, int e)
{
	const int	known = gc_build_expr(tr, GC_OP_OR, GC_BOOL, gc_build_expr(tr, GC_OP_ISNULL, GC_BOOL, e, -1, -1, -1),
									  gc_build_expr(tr, GC_OP_NOTNULL, GC_BOOL, e, -1, -1, -1), -1, -1);
	ListCell   *lc;

	foreach(lc, tr->steps[pipeline])
	{
		if (((GcPStep *) lfirst(lc))->type == GC_STEP_FILTER && ((GcPStep *) lfirst(lc))->expr == known)
			return;
	}
	if (known >= 0)
		gc_build_filter(tr, pipeline, known, 1);
}

/* Probe the build of `child`; condition: on a match, or GC_NO_EXPR. */
void
gc_build_probe(GcTranslation *tr, int pipeline, GcLeaf *child, List *keys, int condition)
{
	GcPStep    *step = palloc0(sizeof(GcPStep));

	step->type = GC_STEP_PROBE;
	step->join = child->join;
	step->expr = condition < 0 ? GC_NONE : condition;
	step->build = child->build;
	step->selectivity = halvings(child->outer_share);
	tr->steps[pipeline] = lappend(tr->steps[pipeline], step);
	tr->step_keys[pipeline] = lappend(tr->step_keys[pipeline], keys);
}

/*
 * Are they the same column?  Which outer joins may have made it NULL depends on where it stands.  But in the result of
 * one node a column is one thing.
 */
static bool
same_column(const Node *a, const Node *b)
{
	return IsA(a, Var) && IsA(b, Var) && ((const Var *) a)->varno == ((const Var *) b)->varno &&
		((const Var *) a)->varattno == ((const Var *) b)->varattno &&
		((const Var *) a)->varlevelsup == ((const Var *) b)->varlevelsup;
}

/* Place of an expression in custom_scan_tlist, where it is put if need be. */
int
gc_scan_attno(GcTranslation *tr, Node *expr)
{
	ListCell   *lc;
	GcPlanOutput *out;

	foreach(lc, tr->scan_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (gc_equal(entry->expr, expr))
			return entry->resno;
		if (same_column((Node *) entry->expr, expr))
		{
			/* Other translations may have the same entries. */
			entry = lfirst(lc) = copyObject(entry);
			GC_SET_NULLED_BY((Var *) entry->expr,
							 bms_union(GC_NULLED_BY((Var *) entry->expr), GC_NULLED_BY((Var *) expr)));
			return entry->resno;
		}
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

/*-------------------------------------------------------------------------
 * Copies
 *-------------------------------------------------------------------------
 */

/* An array of `n` entries, with the room that it has (room()) for more, or for `most`. */
static void *
copy_array(const void *array, int n, int most, Size size)
{
	const int	entries = most > 0 ? most : n <= FIRST_ROOM ? FIRST_ROOM : pg_nextpower2_32(n);
	char	   *copy = palloc(entries * size);

	memcpy(copy, array, n * size);
	memset(copy + n * size, 0, (entries - n) * size);
	return copy;
}

#define COPY_ARRAY(field, n, most) \
	(to->field = copy_array(from->field, (n), (most), sizeof(*from->field)))

/* Copy the arrays that a translation may write to, as far as they are in use. */
static void
copy_arrays(GcTranslation *to, const GcTranslation *from)
{
	to->plan = palloc(sizeof(GcPlan));
	memcpy(to->plan, from->plan, sizeof(GcPlan));
	COPY_ARRAY(plan->inputs, from->ninputs, GC_MAX_INPUTS);
	/* The largest: its entries are set as a whole, so that those behind the last need not be zero. */
	to->plan->luts = palloc(GC_MAX_LUTS * sizeof(GcPlanLut));
	memcpy(to->plan->luts, from->plan->luts, from->nluts * sizeof(GcPlanLut));
	COPY_ARRAY(plan->lists, from->nlists, GC_MAX_LISTS);
	COPY_ARRAY(plan->params, from->nparams, 0);
	COPY_ARRAY(plan->columns, from->ncolumns, 0);
	COPY_ARRAY(columns, from->ncolumns, 0);
	COPY_ARRAY(column_nodes, from->ncolumns, 0);
	COPY_ARRAY(column_leaf, from->ncolumns, 0);
	COPY_ARRAY(pexprs, from->nexprs, 0);
	COPY_ARRAY(space, from->nexprs, 0);
	COPY_ARRAY(exprs_before, from->nexprs, 0);
	COPY_ARRAY(payloads, from->npayloads, 0);
	COPY_ARRAY(aggs, from->naggs, 0);
	COPY_ARRAY(pipelines, from->npipelines, GC_MAX_PIPELINES + 1);
	COPY_ARRAY(builds, from->nbuilds, GC_MAX_BUILDS);
	COPY_ARRAY(kept_windows, from->nkept_windows, GC_MAX_WINDOWS_KEPT);
}

static void
copy_lists(GcTranslation *to, const GcTranslation *from)
{
	to->leaves = list_copy(from->leaves);
	to->appends = list_copy(from->appends);
	to->subqueries = list_copy(from->subqueries);
	to->lower = list_copy(from->lower);
	to->init_plans = list_copy(from->init_plans);
	to->outputs = list_copy(from->outputs);
	to->scan_tlist = list_copy(from->scan_tlist);
	to->exprs = list_copy(from->exprs);
	to->display = list_copy(from->display);
	to->display_tags = list_copy(from->display_tags);
	to->lower_display = list_copy(from->lower_display);
	to->row_outputs = list_copy(from->row_outputs);
	to->choice_keys = list_copy(from->choice_keys);
	for (int i = 0; i < from->npipelines; i++)
	{
		to->steps[i] = list_copy(from->steps[i]);
		to->step_keys[i] = list_copy(from->step_keys[i]);
		to->group_keys[i] = list_copy(from->group_keys[i]);
		to->key_nodes[i] = list_copy(from->key_nodes[i]);
	}
	for (int i = 0; i < from->nbuilds; i++)
		to->build_keys[i] = list_copy(from->build_keys[i]);
}

GcLevel
gc_level_enter(GcTranslation *tr, PlannerInfo *root, List *leaves, GcLeaf *streamed, GcGroups *groups)
{
	GcLevel		level = {tr->root, tr->leaves, tr->streamed, tr->groups, tr->in_condition};

	tr->root = root;
	tr->leaves = leaves;
	tr->streamed = streamed;
	tr->groups = groups;
	tr->in_condition = false;
	return level;
}

GcLevel
gc_level_over(GcTranslation *tr, GcGroups *groups)
{
	return gc_level_enter(tr, groups->root, groups->leaves, groups->streamed, groups);
}

GcLevel
gc_level_below(GcTranslation *tr, const GcGroups *groups)
{
	return gc_level_enter(tr, groups->root, groups->leaves, groups->streamed, groups->over);
}

void
gc_level_leave(GcTranslation *tr, const GcLevel *level)
{
	tr->root = level->root;
	tr->leaves = level->leaves;
	tr->streamed = level->streamed;
	tr->groups = level->groups;
	tr->in_condition = level->in_condition;
}

GcTranslation *
gc_builder_save(const GcTranslation *tr)
{
	GcTranslation *copy = palloc(sizeof(GcTranslation));

	memcpy(copy, tr, sizeof(GcTranslation));
	copy_arrays(copy, tr);
	copy_lists(copy, tr);
	return copy;
}

void
gc_builder_restore(GcTranslation *tr, const GcTranslation *saved)
{
	memcpy(tr, saved, sizeof(GcTranslation));
}
