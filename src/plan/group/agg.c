/*-------------------------------------------------------------------------
 *
 * agg.c
 *	  Group keys, aggregates and plain outputs: the main pipeline's sink.
 *
 * The device delivers accumulators (counts, sums, extremes).  The executor turns them
 * into SQL's aggregates, with PostgreSQL's own functions where there is more to it than a
 * conversion (exec/aggregates.c).  HAVING and the projections on top are the custom
 * scan's own qual and target list.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "groups.h"

#include "access/transam.h"
#include "datatype/timestamp.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "../base/builder.h"
#include "../base/quotient.h"
#include "../expr/expr.h"
#include "../expr/origin.h"
#include "aggregates.h"
#include "sets.h"

/*
 * A column of the scan tuple.  A Var that is there for lookup expressions already
 * becomes an output: setrefs.c finds the first entry that matches.
 */
static GcPlanOutput *
add_output(GcTranslation *tr, Node *expr, GcOutputType type)
{
	int			attno = gc_scan_attno(tr, expr);
	GcPlanOutput *out = list_nth(tr->outputs, attno - 1);

	out->type = type;
	out->ref = out->ref2 = out->scale_ref = out->square_ref = out->lut = GC_NONE;
	out->space = GC_SPACE_NONE;
	return out;
}

/* Is it an output already?  One that is not computed by the device does not count. */
static bool
in_scan_tlist(GcTranslation *tr, Node *expr)
{
	ListCell   *lc;

	foreach(lc, tr->scan_tlist)
	{
		if (gc_equal(lfirst_node(TargetEntry, lc)->expr, expr))
			return ((GcPlanOutput *) list_nth(tr->outputs, foreach_current_index(lc)))->type != GC_OUT_NONE;
	}
	return false;
}

/* A group key as an output, with what decoding wants to know of its display scale. */
static bool
add_group_key(GcTranslation *tr, Node *expr)
{
	GcPlanOutput *out;
	int			key,
				e;

	/* A key without Vars splits nothing, and projection computes it; a volatile one is refused as any expression is. */
	if ((!contain_var_clause(expr) && !contain_volatile_functions(expr)) || in_scan_tlist(tr, expr))
		return true;
	key = gc_group_key(tr, expr);
	if (key < 0)
		return false;
	out = add_output(tr, expr, GC_OUT_VALUE);
	out->ref = key;
	e = list_nth_int(tr->group_keys[tr->streamed->pipeline], key);
	out->space = tr->space[e];
	if (!gc_scale_may_vary(tr, e))
		return true;
	out->scale_ref = gc_key_scale(tr, key, GC_AGG_MAX);
	out->square_ref = gc_key_scale(tr, key, GC_AGG_MIN);
	return tr->reason == NULL;
}

/* An accumulator that the aggregate is made of. */
static int
accumulate(GcTranslation *tr, const Aggref *agg, GcAggFn fn, int arg)
{
	return gc_accumulator(tr, gc_agg_in_parts(tr, agg), fn, arg);
}

/* An aggregate that is one accumulator's value, and the count that says whether it is NULL. */
static bool
add_plain(GcTranslation *tr, Aggref *agg, int arg, GcAggFn fn)
{
	GcPlanOutput *out;
	int			lut = -1;

	if (GC_KIND_IS_CODE(tr->pexprs[arg].kind))
	{
		GcPlanLut	rank = gc_rank_table(tr, agg, arg);

		if (tr->reason)
			return false;
		arg = gc_build_lut(tr, arg, GC_INT4, &rank);
		if (arg < 0)
			return false;
		lut = tr->pexprs[arg].ref;
	}
	if (GC_KIND_IS_FLOAT(tr->pexprs[arg].kind))
		tr->float_aggs = true;
	out = add_output(tr, (Node *) agg, GC_OUT_PLAIN);
	out->ref = accumulate(tr, agg, fn, arg);
	out->ref2 = accumulate(tr, agg, GC_AGG_COUNT, arg);
	if (gc_scale_may_vary(tr, arg))
	{
		out->scale_ref = accumulate(tr, agg, fn, gc_build_expr(tr, GC_OP_TAG, GC_NUMERIC, arg, -1, -1, 0));
		out->square_ref = accumulate(tr, agg, fn, gc_build_expr(tr, GC_OP_TAG, GC_NUMERIC, arg, -1, -1, 1));
	}
	out->space = lut >= 0 ? tr->plan->luts[lut].space : GC_SPACE_NONE;
	out->lut = lut >= 0 ? lut : GC_NONE;
	return tr->reason == NULL;
}

/* The aggregate, made of sum and count of the values; NULL, with a reason, if that cannot be. */
static GcPlanOutput *
add_sums(GcTranslation *tr, Aggref *agg, int arg, GcOutputType type)
{
	GcPlanOutput *out;
	/* A sum of nothing but -0 is -0, which accumulators do not begin with: the greatest value tells. */
	bool		greatest = type == GC_OUT_SUM && GC_KIND_IS_FLOAT(tr->pexprs[arg].kind);
	int			sum = accumulate(tr, agg, GC_AGG_SUM, arg);
	int			count = accumulate(tr, agg, greatest ? GC_AGG_MAX : GC_AGG_COUNT, arg);
	int			scale = GC_NO_EXPR;

	if (gc_scale_may_vary(tr, arg))
		scale = accumulate(tr, agg, GC_AGG_MAX,
							 gc_build_expr(tr, GC_OP_SCALE, GC_INT4, arg, -1, -1, -1));
	if (tr->reason)
		return NULL;
	if (type != GC_OUT_SUM)
		tr->aggs[count].exact = 1;
	out = add_output(tr, (Node *) agg, type);
	out->ref = sum;
	out->ref2 = count;
	out->scale_ref = scale < 0 ? GC_NONE : scale;
	out->argtype = exprType((Node *) linitial_node(TargetEntry, agg->args)->expr);
	return out;
}

/* Refuse an aggregate for its argument's type; returns false for the caller to return. */
static bool
refuse_type(GcTranslation *tr, Aggref *agg)
{
	gc_refuse(tr, "aggregate %s is not supported for this type", get_func_name(agg->aggfnoid));
	return false;
}

/* Days and times of intervals are added up apart, as interval_pl() does. */
static bool
add_interval_sums(GcTranslation *tr, Aggref *agg, int arg, GcOutputType type)
{
	const int	day = gc_build_int8(tr, USECS_PER_DAY);
	const int	days = gc_build_expr(tr, GC_OP_DIV, GC_INT8, arg, day, -1, -1);
	const int	times = gc_build_expr(tr, GC_OP_MOD, GC_INT8, arg, day, -1, -1);
	GcPlanOutput *out;

	if (tr->reason)
		return false;
	out = add_output(tr, (Node *) agg, type);
	out->ref = accumulate(tr, agg, GC_AGG_SUM, days);
	out->ref2 = accumulate(tr, agg, GC_AGG_COUNT, arg);
	out->square_ref = accumulate(tr, agg, GC_AGG_SUM, times);
	out->nsums = 2;
	out->sums[0] = accumulate(tr, agg, GC_AGG_MIN, arg);
	out->sums[1] = accumulate(tr, agg, GC_AGG_MAX, arg);
	if (tr->reason)
		return false;
	tr->aggs[out->ref2].exact = 1;
	return true;
}

/* sum() or avg(), of which the session makes the value from sums and a count. */
static bool
add_sum_avg(GcTranslation *tr, Aggref *agg, int arg, bool is_sum)
{
	GcKind		kind = tr->pexprs[arg].kind;

	if (kind == GC_INTERVAL)
		return add_interval_sums(tr, agg, arg, is_sum ? GC_OUT_INTERVAL_SUM : GC_OUT_INTERVAL_AVG);
	if (!GC_KIND_IS_INT(kind) && !GC_KIND_IS_FLOAT(kind) && kind != GC_NUMERIC && kind != GC_MONEY)
		return refuse_type(tr, agg);
	if (kind == GC_MONEY && gc_may_overflow(tr, arg))
	{
		gc_refuse(tr, "a sum of money may be out of range");
		return false;
	}
	if (GC_KIND_IS_FLOAT(kind))
		tr->float_aggs = true;
	return add_sums(tr, agg, arg, is_sum ? GC_OUT_SUM : GC_OUT_AVG) != NULL;
}

/*
 * A variance or standard deviation: what PostgreSQL's own final function makes of count, sum
 * and sum of squares.  Its functions for integers come to the same as numeric's.
 */
static bool
add_variance(GcTranslation *tr, Aggref *agg, int arg, Oid finalfn)
{
	GcPlanOutput *out;
	int			value;
	int			square;

	/* The square of an integer need not be one of its type. */
	value = gc_build_cast(tr, arg, GC_NUMERIC);
	if (value < 0 || (square = gc_build_expr(tr, GC_OP_MUL, GC_NUMERIC, value, value, -1, -1)) < 0)
		return false;
	square = accumulate(tr, agg, GC_AGG_SUM, square);
	if (tr->reason || (out = add_sums(tr, agg, arg, GC_OUT_VARIANCE)) == NULL)
		return false;
	out->square_ref = square;
	out->finalfn = finalfn;
	return true;
}

/* Precise sums; those of lower halves follow if the aggregate is in parts. */
static void
add_precise_sums(GcTranslation *tr, const Aggref *agg, GcPlanOutput *out, int y, int x)
{
	const int	terms[GC_REGRESSION_SUMS][2] = {{x, -1}, {x, x}, {y, -1}, {y, y}, {x, y}};
	const int	n = y < 0 ? GC_VARIANCE_SUMS : GC_REGRESSION_SUMS;

	out->in_halves = gc_agg_in_parts(tr, agg);
	out->nsums = out->in_halves ? 2 * n : n;
	for (int i = 0; i < out->nsums; i++)
	{
		const int  *term = terms[i % n];

		out->sums[i] = out->in_halves ? gc_precise_part(tr, term[0], term[1], i / n) :
			gc_build_precise_sum(tr, term[0], term[1]);
	}
}

/*
 * An aggregate of floats that PostgreSQL computes from a state of sums (exec/aggregates.c); y: of
 * pairs, or GC_NO_EXPR.
 */
static bool
add_regression(GcTranslation *tr, Aggref *agg, int y, int x, Oid finalfn)
{
	GcPlanOutput *out;
	int			count = accumulate(tr, agg, GC_AGG_COUNT, x);

	if (tr->reason)
		return false;
	tr->float_aggs = true;
	tr->aggs[count].exact = 1;
	out = add_output(tr, (Node *) agg, GC_OUT_REGRESSION);
	out->ref = count;
	out->finalfn = finalfn;
	add_precise_sums(tr, agg, out, y, x);
	return tr->reason == NULL;
}

/* An aggregate over pairs of values: a regression, or a count of pairs without NULL. */
static bool
add_over_pairs(GcTranslation *tr, Aggref *agg, const GcSqlAggregate *sql)
{
	int			y,
				x,
				count;

	if (!gc_agg_pair(tr, agg, &y, &x))
		return false;
	if (sql->how == GC_AGGREGATE_REGRESSION)
		return add_regression(tr, agg, y, x, sql->floatfn);
	count = accumulate(tr, agg, GC_AGG_COUNT, x);
	if (count < 0)
		return false;
	tr->aggs[count].exact = 1;
	add_output(tr, (Node *) agg, GC_OUT_COUNT)->ref = count;
	return true;
}

/* Is there an aggregate that would be refused, whatever its argument is? */
static bool
has_unknown_aggregate(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		Aggref		plain = *(Aggref *) node;

		plain.aggdistinct = NIL;
		/* There are none in its arguments. */
		return gc_aggregate_refusal(&plain, get_func_name(plain.aggfnoid)) != NULL;
	}
	return expression_tree_walker(node, has_unknown_aggregate, context);
}

bool
gc_aggregates_refused(PlannerInfo *root)
{
	const char *refusal;

	(void) gc_distinct_values(root, &refusal);
	return refusal || gc_sets_refusal(root) != NULL ||
		has_unknown_aggregate((Node *) root->processed_tlist, NULL) ||
		has_unknown_aggregate(root->parse->havingQual, NULL);
}

static bool
add_over_argument(GcTranslation *tr, Aggref *agg, const GcSqlAggregate *sql, int arg)
{
	switch (sql->how)
	{
		case GC_AGGREGATE_SUM:
		case GC_AGGREGATE_AVG:
			return add_sum_avg(tr, agg, arg, sql->how == GC_AGGREGATE_SUM);
		case GC_AGGREGATE_PLAIN:
			return add_plain(tr, agg, arg, sql->fn);
		case GC_AGGREGATE_VARIANCE:
			if (!GC_KIND_IS_FLOAT(tr->pexprs[arg].kind))
				return add_variance(tr, agg, arg, sql->finalfn);
			return add_regression(tr, agg, GC_NO_EXPR, arg, sql->floatfn);
		default:
			return refuse_type(tr, agg);
	}
}

/* An aggregate as an output, from accumulators of the main pipeline. */
static bool
add_aggregate(GcTranslation *tr, Aggref *agg)
{
	const char *name = get_func_name(agg->aggfnoid);
	Aggref		plain = *agg;
	const char *refusal;
	int			arg;

	if (in_scan_tlist(tr, (Node *) agg))
		return true;
	if (tr->groups || !gc_distinct_matters(agg))
		plain.aggdistinct = NIL;
	refusal = gc_aggregate_refusal(&plain, name);
	if (refusal)
	{
		gc_refuse(tr, "%s", refusal);
		return false;
	}
	if (gc_aggregates_pairs(gc_sql_aggregate(name)))
		return add_over_pairs(tr, agg, gc_sql_aggregate(name));

	arg = gc_agg_argument(tr, agg);
	if (tr->reason)
		return false;
	if (strcmp(name, "count") == 0)
	{
		GcPlanOutput *out = add_output(tr, (Node *) agg, GC_OUT_COUNT);

		out->ref = accumulate(tr, agg, GC_AGG_COUNT, arg);
		if (tr->reason)
			return false;
		tr->aggs[out->ref].exact = 1;
		return true;
	}
	if (arg >= 0)
		return add_over_argument(tr, agg, gc_sql_aggregate(name), arg);
	gc_refuse(tr, "aggregate %s is not supported", name);
	return false;
}

typedef struct PartContext
{
	GcTranslation *tr;
	List	   *group_exprs;
} PartContext;

typedef struct BareContext
{
	List	   *group_exprs;
	Node	   *wanted;
} BareContext;

/* Is `wanted` used outside of grouped expressions and aggregates? */
static bool
bare_walker(Node *node, BareContext *context)
{
	if (node == NULL || list_member(context->group_exprs, node) || IsA(node, Aggref))
		return false;
	return equal(node, context->wanted) || expression_tree_walker(node, bare_walker, context);
}

/*
 * A column that is no grouping expression.  One that a primary key determines may be a
 * key as well: it splits no group.  One that the query does not use by itself is a part
 * of a grouped expression.  make_window_input_target() has put it here, and nodes above
 * find that expression whole.  Any other is left to PostgreSQL, which takes it from some
 * row of the group: simplifying a condition can bring it about.
 */
static bool
add_plain_column(GcTranslation *tr, List *group_exprs, Node *node)
{
	BareContext bare = {group_exprs, node};

	if (gc_groups_determine(tr->root, group_exprs, node))
		return add_group_key(tr, node);
	if (bare_walker((Node *) tr->root->processed_tlist, &bare) ||
		bare_walker(tr->root->parse->havingQual, &bare))
	{
		gc_refuse(tr, "a column is used that the groups do not determine");
		return false;
	}
	(void) gc_scan_attno(tr, node);
	return true;
}

/* GROUPING() as an output. */
static bool
add_grouping(GcTranslation *tr, GroupingFunc *grouping)
{
	int			ref;

	if (in_scan_tlist(tr, (Node *) grouping))
		return true;
	ref = gc_translate_grouping(tr, grouping);
	if (ref < 0)
		return false;
	add_output(tr, (Node *) grouping, GC_OUT_GROUPING)->ref = ref;
	return true;
}

/*
 * Find what an output expression is made of: group keys, aggregates, and plain
 * columns.  True stops the walk, with a reason set.
 */
static bool
add_parts(Node *node, PartContext *context)
{
	if (node == NULL || list_member(context->group_exprs, node))
		return false;
	if (IsA(node, Aggref))
		return !add_aggregate(context->tr, (Aggref *) node);
	if (IsA(node, GroupingFunc))
		return !add_grouping(context->tr, (GroupingFunc *) node);
	if (IsA(node, Var) || IsA(node, PlaceHolderVar))
		return !add_plain_column(context->tr, context->group_exprs, node);
	return expression_tree_walker(node, add_parts, context);
}

/* Group by what aggregates take once, too, and aggregate those groups. */
static bool
open_distinct(GcTranslation *tr, List *group_exprs, List *values)
{
	const bool	sets = tr->root->parse->groupingSets != NIL;
	double		rows = tr->streamed->tuples * tr->streamed->share;
	double		groups = 0;
	ListCell   *lc;

	if (sets && !gc_sets_group(tr))
		return false;
	if (!gc_distinct_open(tr, group_exprs, values))
		return false;
	foreach(lc, values)
		groups += sets ? gc_sets_groups(tr->root, list_make1(((GcDistinct *) lfirst(lc))->argument), rows) : 0;
	if (sets)
		tr->plan->groups[tr->groups->pipeline] = groups;
	return true;
}

/* Sets are made of the finest groups.  Without keys, there is such a group even of no row. */
static bool
open_sets(GcTranslation *tr, List *group_exprs)
{
	if (contain_var_clause((Node *) group_exprs) && !gc_parts_open(tr, group_exprs))
		return false;
	return gc_sets_group(tr);
}

bool
gc_open_finer_groups(GcTranslation *tr, List *group_exprs)
{
	const bool	sets = tr->root->parse->groupingSets != NIL;
	const char *refusal;
	List	   *distinct = gc_distinct_values(tr->root, &refusal);

	if (refusal)
		return gc_refuse(tr, "%s", refusal) >= 0;
	if (distinct == NIL)
		return !sets || open_sets(tr, group_exprs);
	return open_distinct(tr, group_exprs, distinct) && (!sets || gc_group_key_expr(tr, gc_groups_key(tr, 0), NULL) >= 0);
}

bool
gc_translate_aggregate(GcTranslation *tr, PathTarget *target, List *having)
{
	Query	   *parse = tr->root->parse;
	PartContext context = {tr, get_sortgrouplist_exprs(parse->groupClause, tr->root->processed_tlist)};
	ListCell   *lc;

	if (!gc_open_finer_groups(tr, context.group_exprs))
		return false;
	tr->main = tr->streamed->pipeline;
	tr->pipelines[tr->streamed->pipeline].sink = GC_SINK_AGGREGATE;
	tr->plan->grouped = parse->groupClause != NIL;
	foreach(lc, context.group_exprs)
	{
		if (!add_group_key(tr, lfirst(lc)))
			return false;
	}
	if (parse->groupingSets != NIL && !gc_translate_sets(tr))
		return false;
	return !add_parts((Node *) target->exprs, &context) &&
		!add_parts((Node *) having, &context) && tr->reason == NULL;
}

/* The rows of SELECT DISTINCT are groups. */
bool
gc_translate_distinct(GcTranslation *tr, PathTarget *target)
{
	ListCell   *lc;

	tr->pipelines[tr->streamed->pipeline].sink = GC_SINK_AGGREGATE;
	tr->plan->grouped = true;
	foreach(lc, target->exprs)
	{
		if (!add_group_key(tr, lfirst(lc)))
			return false;
	}
	return tr->reason == NULL;
}

/* Place of an expression among the outputs of rows; -1, with a reason, if there is none. */
static int
row_output(GcTranslation *tr, int e)
{
	if (list_length(tr->row_outputs) == GC_MAX_OUTPUTS)
		return gc_refuse(tr, "the query returns too many columns");
	tr->row_outputs = lappend_int(tr->row_outputs, e);
	return list_length(tr->row_outputs) - 1;
}

/* Numerics are divided when they are decoded: a quotient has digits of its own in each row. */
static bool
add_quotient(GcTranslation *tr, Node *expr, int e)
{
	int			dividend;
	int			divisor = -1;
	GcPlanOutput *out;

	dividend = row_output(tr, tr->pexprs[e].arg[0]);
	if (dividend >= 0)
		divisor = row_output(tr, tr->pexprs[e].arg[1]);
	if (divisor < 0)
		return false;
	out = add_output(tr, expr, GC_OUT_QUOTIENT);
	out->ref = dividend;
	out->ref2 = divisor;
	return true;
}

bool
gc_translate_rows(GcTranslation *tr, List *exprs)
{
	GcPPipeline *pl = &tr->pipelines[tr->streamed->pipeline];
	ListCell   *lc;

	pl->sink = GC_SINK_ROWS;
	foreach(lc, exprs)
	{
		Node	   *expr = lfirst(lc);
		GcPlanOutput *out;
		int			e;
		int			ref;

		if (in_scan_tlist(tr, expr))
			continue;
		e = gc_translate_output(tr, tr->streamed, (Expr *) expr);
		if (e >= 0 && gc_is_quotient(&tr->pexprs[e]) && tr->pexprs[e].op != GC_OP_STDDEV)
		{
			if (!add_quotient(tr, expr, e))
				return false;
			continue;
		}
		if (e < 0 || tr->reason || (ref = row_output(tr, e)) < 0)
			return false;
		out = add_output(tr, expr, GC_OUT_VALUE);
		out->ref = ref;
		out->space = tr->space[e];
	}
	return true;
}

typedef struct AboveWindows
{
	List	   *group_exprs;
	List	   *found;
} AboveWindows;

/* Find what expressions above windows are made of, each once. */
static bool
parts_walker(Node *node, AboveWindows *parts)
{
	if (node == NULL)
		return false;
	if (!IsA(node, WindowFunc) && !IsA(node, Aggref) && !IsA(node, GroupingFunc) && !IsA(node, Var) && !IsA(node, PlaceHolderVar) &&
		!(list_member(parts->group_exprs, node) && contain_var_clause(node)))
		return expression_tree_walker(node, parts_walker, parts);
	parts->found = list_append_unique(parts->found, node);
	return false;
}

bool
gc_translate_parts(GcTranslation *tr, List *exprs)
{
	AboveWindows parts = {get_sortgrouplist_exprs(tr->root->parse->groupClause, tr->root->processed_tlist), NIL};

	(void) parts_walker((Node *) exprs, &parts);
	return gc_translate_rows(tr, parts.found);
}
