/*-------------------------------------------------------------------------
 *
 * groups.c
 *	  Aggregations of a query level, and what later pipelines read of their groups.
 *
 * The groups of a pipeline are an input of another one: of the pipeline of a subquery
 * that is joined (relations/subquery.c), or of the one that chooses which groups are returned
 * (choice.c).  Columns of such an input are keys and accumulators.  Here expressions
 * of SQL over them become expressions of the program.
 *
 * Aggregates with DISTINCT are computed by two levels of groups.  The first level groups by the
 * argument, too.  So each of its groups has one value, and the second level takes each value once.
 * Aggregates without DISTINCT are computed in parts by the first level: the second adds up sums and
 * counts, and takes the least of minima.
 *
 * Arguments of several aggregates are keys of one table.  A row comes to it in rounds, one
 * for each argument, and in each round all other arguments are NULL.  The first round takes
 * the parts, too.  A group in which all arguments are NULL may be one of several rounds: no
 * aggregate counts NULL.
 *
 * With grouping sets, the first level groups by the number of the set, and so does the second
 * (sets.c).  Without DISTINCT, the first level has the finest groups, and the second alone groups by the number.
 *
 * Rows of a join that is read several times (relations/subquery.c) are kept in the way of groups, without any: their
 * outputs take the place of keys.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "groups.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "aggregates.h"
#include "../base/builder.h"
#include "../base/display.h"
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"
#include "../base/quotient.h"
#include "../expr/expr.h"
#include "../expr/origin.h"

/*-------------------------------------------------------------------------
 * Keys
 *-------------------------------------------------------------------------
 */

/* The place of an expression among keys; -1: it is none. */
static int
find_key(List *nodes, Node *expr)
{
	ListCell   *lc;

	foreach(lc, nodes)
	{
		if (gc_equal(lfirst(lc), expr))
			return foreach_current_index(lc);
	}
	return -1;
}

int
gc_group_key(GcTranslation *tr, Node *expr)
{
	int			pipeline = tr->streamed->pipeline;
	int			key = find_key(tr->key_nodes[pipeline], expr);
	int			e;

	if (key >= 0)
		return key;
	/* Over groups of sets (gc_distinct_open) it is a key that a set may have left out already. */
	e = gc_translate_expr(tr, tr->streamed, (Expr *) (tr->groups ? expr : GC_BELOW_GROUPING(tr->root, expr)));
	return e < 0 ? -1 : gc_group_key_expr(tr, e, expr);
}

/* The number that an expression gets among a pipeline's keys, or among its outputs for others. */
static int
append_key(GcTranslation *tr, int pipeline, int e, Node *expr)
{
	tr->group_keys[pipeline] = lappend_int(tr->group_keys[pipeline], e);
	tr->key_nodes[pipeline] = lappend(tr->key_nodes[pipeline], expr);
	return list_length(tr->group_keys[pipeline]) - 1;
}

int
gc_group_key_expr(GcTranslation *tr, int e, Node *expr)
{
	int			pipeline = tr->streamed->pipeline;

	if (!gc_no_quotient(tr, e, "grouped by"))
		return -1;
	if (gc_scales_differ(tr, e))
		return gc_refuse(tr, "numerics of different scales are grouped by");
	if (gc_kinds[tr->pexprs[e].kind].opaque)
		return gc_refuse(tr, "equal values of a type that is grouped by may differ in spelling");
	if (GC_KIND_IS_CODE(tr->pexprs[e].kind) && tr->space[e] == GC_SPACE_NONE)
		return gc_refuse(tr, "grouping by a constant of type %s is not supported", format_type_be(exprType(expr)));
	if (list_length(tr->group_keys[pipeline]) == GC_MAX_KEYS)
		return gc_refuse(tr, "the query groups by too many expressions");
	return append_key(tr, pipeline, e, expr);
}

/* The number of an output of rows that others read. */
static int
add_output(GcTranslation *tr, int pipeline, int e, Expr *expr)
{
	int			n = expr ? find_key(tr->key_nodes[pipeline], (Node *) expr) : -1;

	if (n >= 0)
		return n;
	if (list_length(tr->group_keys[pipeline]) == GC_MAX_OUTPUTS)
		return gc_refuse(tr, "too many columns are kept in rows");
	return append_key(tr, pipeline, e, (Node *) expr);
}

/*-------------------------------------------------------------------------
 * Columns
 *-------------------------------------------------------------------------
 */

/* A key, or an accumulator's value.  word: of a precise sum's two. */
static int
group_word(GcTranslation *tr, GcKind kind, int key, int agg, int count, int word)
{
	GcPColumn	c = {.input = tr->groups->input,.attnum = agg < 0 ? key : word,.kind = kind,
		.agg = agg < 0 ? GC_NONE : agg,.count = count < 0 ? GC_NONE : count};

	for (int i = 0; i < tr->ncolumns; i++)
	{
		if (memcmp(&tr->columns[i], &c, sizeof(c)) == 0)
			return gc_build_expr(tr, GC_OP_COLUMN, kind, -1, -1, -1, i);
	}
	if (!gc_column_room(tr))
		return GC_NO_EXPR;
	tr->columns[tr->ncolumns] = c;
	tr->plan->columns[tr->ncolumns] = (GcPlanColumn) {0};
	tr->column_nodes[tr->ncolumns] = NULL;
	tr->column_leaf[tr->ncolumns] = NULL;
	return gc_build_expr(tr, GC_OP_COLUMN, kind, -1, -1, -1, tr->ncolumns++);
}

/* A key, or an aggregate, of an earlier pipeline's groups as a column. */
static int
group_column(GcTranslation *tr, GcKind kind, int key, int agg, int count)
{
	return group_word(tr, kind, key, agg, count, 0);
}

int
gc_groups_key(GcTranslation *tr, int key)
{
	int			k = list_nth_int(tr->group_keys[tr->groups->pipeline], key);
	int			e = group_column(tr, tr->pexprs[k].kind, key, -1, -1);

	if (e >= 0)
		tr->space[e] = tr->space[k];
	return e;
}

/* Kind of a part of an accumulator, where the groups of parts are scanned. */
static GcKind
part_kind(const GcTranslation *tr, GcAggFn fn, int arg)
{
	const GcKind kind = arg < 0 ? GC_INT8 : tr->pexprs[arg].kind;

	if (gc_accumulators[fn].value == GC_VALUE_COUNT)
		return GC_INT8;
	/* That no sum of money leaves 64 bits is known of rows, not of parts. */
	if (gc_accumulators[fn].value == GC_VALUE_SUM)
		return GC_KIND_IS_INT(kind) || kind == GC_MONEY ? GC_NUMERIC : GC_KIND_IS_FLOAT(kind) ? GC_FLOAT8 : kind;
	return kind;
}

int
gc_accumulator(GcTranslation *tr, bool in_parts, GcAggFn fn, int arg)
{
	const GcAccumulator *accumulator = &gc_accumulators[fn];
	GcLevel		here;
	int			part;
	int			count = GC_NO_EXPR;
	int			e;

	/* A least or greatest quotient has more than 64 bits. */
	if (accumulator->value == GC_VALUE_ONE && !gc_no_quotient(tr, arg, "compared by an aggregate"))
		return GC_NO_EXPR;
	if (accumulator->value == GC_VALUE_SUM && !gc_may_be_summed(tr, arg))
		return GC_NO_EXPR;
	if (!in_parts)
		return gc_build_agg(tr, fn, arg);
	here = gc_level_below(tr, tr->groups);
	part = gc_build_agg(tr, fn, arg);
	if (accumulator->value != GC_VALUE_COUNT)
		count = gc_build_agg(tr, GC_AGG_COUNT, arg);
	else if (part >= 0)
		tr->aggs[part].exact = 1;
	gc_level_leave(tr, &here);
	e = tr->reason ? GC_NO_EXPR : group_column(tr, part_kind(tr, fn, arg), -1, part, count);
	return e < 0 ? e : gc_build_agg(tr, accumulator->parts, e);
}

int
gc_key_scale(GcTranslation *tr, int key, GcAggFn fn)
{
	Node	   *expr = list_nth(tr->key_nodes[tr->streamed->pipeline], key);
	const bool	parts = tr->groups != NULL && tr->groups->root == tr->root;
	int			below = parts ? find_key(tr->key_nodes[tr->groups->pipeline], expr) : -1;
	int			e;

	if (parts && below < 0)
		below = find_key(tr->key_nodes[tr->groups->pipeline], GC_BELOW_GROUPING(tr->root, expr));
	e = list_nth_int(below < 0 ? tr->group_keys[tr->streamed->pipeline] : tr->group_keys[tr->groups->pipeline],
					 below < 0 ? key : below);
	return gc_accumulator(tr, below >= 0, fn, gc_build_expr(tr, GC_OP_SCALE, GC_INT4, e, -1, -1, -1));
}

int
gc_precise_part(GcTranslation *tr, int arg, int factor, int word)
{
	GcLevel		here = gc_level_below(tr, tr->groups);
	int			part = gc_build_precise_sum(tr, arg, factor);
	int			count = gc_build_agg(tr, GC_AGG_COUNT, arg);
	int			e;

	gc_level_leave(tr, &here);
	e = tr->reason ? GC_NO_EXPR : group_word(tr, GC_FLOAT8, -1, part, count, word);
	return e < 0 ? e : gc_build_precise_sum(tr, e, -1);
}

/*-------------------------------------------------------------------------
 * Arguments of aggregates
 *-------------------------------------------------------------------------
 */

typedef struct Search
{
	List	   *values;			/* GcDistinct */
	const char *refusal;
} Search;

/* The values that an aggregate with DISTINCT takes, if another one takes them, too. */
static GcDistinct *
find_value(List *values, const Aggref *agg)
{
	ListCell   *lc;

	foreach(lc, values)
	{
		GcDistinct *d = lfirst(lc);

		if (equal(d->argument, linitial_node(TargetEntry, agg->args)->expr) && equal(d->filter, agg->aggfilter))
			return d;
	}
	return NULL;
}

/* Note what aggregates with DISTINCT take once.  Stops at a refusal. */
static bool
search_walker(Node *node, Search *search)
{
	Aggref	   *agg = (Aggref *) node;

	if (node == NULL)
		return false;
	if (!IsA(node, Aggref) || !gc_distinct_matters(agg))
		return expression_tree_walker(node, search_walker, search);
	if (list_length(agg->args) != 1)
		search->refusal = "an aggregate with DISTINCT of several values is not supported";
	else if (find_value(search->values, agg) == NULL)
	{
		GcDistinct *d = palloc0(sizeof(GcDistinct));

		d->argument = (Node *) linitial_node(TargetEntry, agg->args)->expr;
		d->filter = agg->aggfilter;
		search->values = lappend(search->values, d);
	}
	if (search->refusal == NULL && strcmp(get_func_name(agg->aggfnoid), "count") != 0)
		find_value(search->values, agg)->shown = true;
	return search->refusal != NULL;
}

List *
gc_distinct_values(PlannerInfo *root, const char **refusal)
{
	Search		search = {NIL, NULL};

	/* The planner has counted aggregates with DISTINCT, with others. */
	if (root->numOrderedAggs > 0)
		(void) (search_walker((Node *) root->processed_tlist, &search) ||
				search_walker(root->parse->havingQual, &search));
	*refusal = search.refusal;
	return search.values;
}

/* While expressions are over the first level: the value that an aggregate takes once. */
static int
distinct_value(GcTranslation *tr, const Aggref *agg)
{
	GcDistinct *d = find_value(tr->groups->distinct, agg);

	return d ? gc_groups_key(tr, d->key) : gc_refuse(tr, "an aggregate with DISTINCT is not one of its query level");
}

/* An expression in round n of a row, and NULL in others; without an expression, true. */
static int
distinct_round(GcTranslation *tr, int expr, int n)
{
	int			round = gc_build_expr(tr, GC_OP_ROUND, GC_BOOL, -1, -1, -1, n);
	int			e;

	if (expr < 0)
		expr = round;
	if (round < 0)
		return GC_NO_EXPR;
	e = gc_build_expr(tr, GC_OP_IF, tr->pexprs[expr].kind, round, expr, gc_build_null(tr, tr->pexprs[expr].kind), -1);
	if (e >= 0)
		tr->space[e] = tr->space[expr];
	return e;
}

/* Argument of an aggregate over rows, with its FILTER: NULL where that is not true. */
static int
row_argument(GcTranslation *tr, const Aggref *agg)
{
	int			arg = GC_NO_EXPR;

	if (agg->args != NIL)
	{
		arg = gc_translate_expr(tr, tr->streamed, linitial_node(TargetEntry, agg->args)->expr);
		if (arg < 0)
			return GC_NO_EXPR;
	}
	if (agg->aggfilter)
	{
		int			f = gc_translate_expr(tr, tr->streamed, agg->aggfilter);
		GcKind		kind;
		uint16		space;

		if (f < 0)
			return GC_NO_EXPR;
		if (arg < 0)
			arg = f;			/* count(*): anything that is not NULL */
		kind = tr->pexprs[arg].kind;
		space = tr->space[arg];
		arg = gc_build_expr(tr, GC_OP_IF, kind, f, arg, gc_build_null(tr, kind), -1);
		if (arg >= 0)
			tr->space[arg] = space;
	}
	return arg;
}

int
gc_agg_argument(GcTranslation *tr, const Aggref *agg)
{
	GcGroups   *groups = tr->groups;
	GcLevel		here;
	int			arg;

	if (groups == NULL)
		return row_argument(tr, agg);
	if (!gc_agg_in_parts(tr, agg))
		return distinct_value(tr, agg);
	here = gc_level_below(tr, groups);
	arg = row_argument(tr, agg);
	/* A row counts in its first round. */
	if (tr->reason == NULL && list_length(groups->distinct) > 1)
		arg = distinct_round(tr, arg, 0);
	gc_level_leave(tr, &here);
	return arg;
}

/* Both values of a pair, NULL unless neither is NULL and the filter takes the row. */
static bool
row_pair(GcTranslation *tr, const Aggref *agg, int *y, int *x)
{
	int			both;
	int			filter;

	*y = gc_translate_expr(tr, tr->streamed, linitial_node(TargetEntry, agg->args)->expr);
	*x = *y < 0 ? *y : gc_translate_expr(tr, tr->streamed, lsecond_node(TargetEntry, agg->args)->expr);
	if (*x < 0)
		return false;
	both = gc_build_expr(tr, GC_OP_AND, GC_BOOL, gc_build_expr(tr, GC_OP_NOTNULL, GC_BOOL, *y, -1, -1, -1),
						 gc_build_expr(tr, GC_OP_NOTNULL, GC_BOOL, *x, -1, -1, -1), -1, -1);
	if (agg->aggfilter)
	{
		filter = gc_translate_expr(tr, tr->streamed, agg->aggfilter);
		both = filter < 0 ? filter : gc_build_expr(tr, GC_OP_AND, GC_BOOL, filter, both, -1, -1);
	}
	if (both < 0)
		return false;
	*y = gc_build_expr(tr, GC_OP_IF, tr->pexprs[*y].kind, both, *y, gc_build_null(tr, tr->pexprs[*y].kind), -1);
	*x = gc_build_expr(tr, GC_OP_IF, tr->pexprs[*x].kind, both, *x, gc_build_null(tr, tr->pexprs[*x].kind), -1);
	return tr->reason == NULL;
}

bool
gc_agg_pair(GcTranslation *tr, const Aggref *agg, int *y, int *x)
{
	GcGroups   *groups = tr->groups;
	GcLevel		here;

	if (groups == NULL)
		return row_pair(tr, agg, y, x);
	here = gc_level_below(tr, groups);
	/* A row counts in its first round. */
	if (row_pair(tr, agg, y, x) && list_length(groups->distinct) > 1)
	{
		*y = distinct_round(tr, *y, 0);
		*x = distinct_round(tr, *x, 0);
	}
	gc_level_leave(tr, &here);
	return tr->reason == NULL;
}

/*-------------------------------------------------------------------------
 * Aggregates as columns
 *-------------------------------------------------------------------------
 */

/* An aggregate of groups that are scanned, and its argument among the rows below them. */
typedef struct Source
{
	const GcGroups *groups;
	const Aggref *agg;
	bool		in_parts;
	int			arg;
} Source;

/* An accumulator of these rows. */
static int
accumulate(GcTranslation *tr, const Source *s, GcAggFn fn)
{
	GcLevel		here = gc_level_below(tr, s->groups);
	int			agg = gc_accumulator(tr, s->in_parts, fn, s->arg);

	gc_level_leave(tr, &here);
	return agg;
}

/* The number of rows or values, as a column. */
static int
count_column(GcTranslation *tr, const Source *s)
{
	int			count = accumulate(tr, s, GC_AGG_COUNT);

	if (count < 0)
		return GC_NO_EXPR;
	tr->aggs[count].exact = 1;
	return group_column(tr, GC_INT8, -1, count, -1);
}

static int	plain_column(GcTranslation *tr, const Source *s, GcAggFn fn);

/* The least or greatest text: its rank in the collation, and the text of that rank. */
static int
text_column(GcTranslation *tr, const Source *s, GcAggFn fn)
{
	Source		ranks = *s;
	GcPlanLut	rank = gc_rank_table(tr, s->agg, s->arg);
	GcPlanLut	ranked = {.type = GC_LUT_RANKED,.space = rank.space,.to_space = rank.space,.expr = -1};
	int			e;

	if (tr->reason || (ranks.arg = gc_build_lut(tr, s->arg, GC_INT4, &rank)) < 0)
		return GC_NO_EXPR;
	ranked.rank = tr->pexprs[ranks.arg].ref;
	e = plain_column(tr, &ranks, fn);
	return e < 0 ? e : gc_build_lut(tr, e, tr->pexprs[s->arg].kind, &ranked);
}

/* The value of one accumulator. */
static int
plain_column(GcTranslation *tr, const Source *s, GcAggFn fn)
{
	GcKind		kind = tr->pexprs[s->arg].kind;
	int			agg,
				count;

	if (GC_KIND_IS_CODE(kind))
		return text_column(tr, s, fn);
	if (gc_scale_varies(tr, s->arg))
		return gc_refuse(tr, "numeric values of varying scale are aggregated in a subquery");
	if (GC_KIND_IS_FLOAT(kind))
		tr->float_aggs = true;
	agg = accumulate(tr, s, fn);
	count = accumulate(tr, s, GC_AGG_COUNT);
	return agg < 0 || count < 0 ? GC_NO_EXPR : group_column(tr, kind, -1, agg, count);
}

/* A sum of numerics whose display scale, that of the result as well, may differ from row to row. */
static int
shown_sum(GcTranslation *tr, const Source *s, int sum, int count)
{
	Source		scales = *s;
	GcLevel		here = gc_level_below(tr, s->groups);
	int			scale;

	scales.arg = gc_build_expr(tr, GC_OP_SCALE, GC_INT4, s->arg, -1, -1, -1);
	gc_level_leave(tr, &here);
	scale = scales.arg < 0 ? GC_NO_EXPR : accumulate(tr, &scales, GC_AGG_MAX);
	if (scale < 0)
		return GC_NO_EXPR;
	return gc_build_expr(tr, GC_OP_SHOWN, GC_NUMERIC, group_column(tr, GC_NUMERIC, -1, sum, count),
						 group_column(tr, GC_INT4, -1, scale, count), -1, -1);
}

/* The sum that sum() or avg() is made of. */
static int
sum_column(GcTranslation *tr, const Source *s, bool is_sum)
{
	GcKind		kind = tr->pexprs[s->arg].kind;
	int			sum = accumulate(tr, s, GC_AGG_SUM);
	int			count = accumulate(tr, s, GC_AGG_COUNT);
	int			greatest;

	if (sum < 0 || count < 0)
		return GC_NO_EXPR;
	if (GC_KIND_IS_FLOAT(kind))
		tr->float_aggs = true;
	if (GC_KIND_IS_FLOAT(kind) && is_sum)
	{
		/* A sum of nothing but -0 is -0, which accumulators do not begin with. */
		greatest = plain_column(tr, s, GC_AGG_MAX);
		sum = greatest < 0 ? greatest : group_column(tr, kind, -1, sum, count);
		return sum < 0 ? sum :
			gc_build_expr(tr, GC_OP_IF, kind, gc_build_expr(tr, GC_OP_EQ, GC_BOOL, sum, greatest, -1, -1), greatest, sum, -1);
	}
	if (is_sum && gc_scale_may_vary(tr, s->arg))
		return shown_sum(tr, s, sum, count);
	/* sum(int8) is numeric, and so is an average's dividend. */
	return group_column(tr, kind == GC_INT8 || (GC_KIND_IS_INT(kind) && !is_sum) ? GC_NUMERIC :
						GC_KIND_IS_INT(kind) ? GC_INT8 : kind == GC_FLOAT4 && !is_sum ? GC_FLOAT8 : kind, -1, sum, count);
}

/* sum() or avg() of groups as a column.  An average is computed on the device, unlike a statement's own. */
static int
sum_or_avg(GcTranslation *tr, const Source *s, bool is_sum)
{
	GcKind		kind = tr->pexprs[s->arg].kind;
	int			sum;
	int			n;

	if (!GC_KIND_IS_INT(kind) && !GC_KIND_IS_FLOAT(kind) && kind != GC_NUMERIC && kind != GC_MONEY)
		return gc_refuse(tr, "an aggregate is not supported for this type");
	if (kind == GC_MONEY && gc_may_overflow(tr, s->arg))
		return gc_refuse(tr, "a sum of money may be out of range");
	if (!is_sum && gc_scale_varies(tr, s->arg))
		return gc_refuse(tr, "numeric values of varying scale are averaged in a subquery");
	sum = sum_column(tr, s, is_sum);
	if (sum < 0 || is_sum)
		return sum;
	n = count_column(tr, s);
	if (n < 0)
		return n;
	if (GC_KIND_IS_FLOAT(kind))
		return gc_build_expr(tr, GC_OP_DIV, GC_FLOAT8, sum, gc_build_cast(tr, n, GC_FLOAT8), -1, -1);
	return gc_build_expr(tr, GC_OP_AVG, GC_NUMERIC, sum, n, -1, -1);
}

/*
 * A variance of a subquery's groups, or its root.  That of a statement's own groups is the session's, which has more
 * digits: conditions on it are by near values.
 */
static int
stddev_column(GcTranslation *tr, const Source *s, Oid finalfn)
{
	GcSums		sums;

	if (s->groups->query == NULL || GC_KIND_IS_FLOAT(tr->pexprs[s->arg].kind) || !gc_has_few_decimals(tr, s->arg))
		return gc_refuse(tr, "this aggregate is not supported in a subquery");
	return gc_groups_sums(tr, s->agg, &sums) == NULL ? GC_NO_EXPR :
		gc_build_expr(tr, GC_OP_STDDEV, GC_NUMERIC, sums.sum, sums.squares, sums.count,
					  (finalfn == F_NUMERIC_STDDEV_SAMP || finalfn == F_NUMERIC_VAR_SAMP ? GC_VARIANCE_OF_SAMPLE : 0) |
					  (finalfn == F_NUMERIC_STDDEV_SAMP || finalfn == F_NUMERIC_STDDEV_POP ? GC_VARIANCE_ROOT : 0));
}

/* An aggregate of groups as a column, by how it is computed. */
static int
column_of(GcTranslation *tr, const Source *s, const GcSqlAggregate *sql)
{
	switch (sql->how)
	{
		case GC_AGGREGATE_COUNT:
			return count_column(tr, s);
		case GC_AGGREGATE_SUM:
		case GC_AGGREGATE_AVG:
			return sum_or_avg(tr, s, sql->how == GC_AGGREGATE_SUM);
		case GC_AGGREGATE_PLAIN:
			return plain_column(tr, s, sql->fn);
		case GC_AGGREGATE_VARIANCE:
			return stddev_column(tr, s, sql->finalfn);
		default:
			return gc_refuse(tr, "this aggregate is not supported in a subquery");
	}
}

/* How an aggregate of the groups is computed, and of what; NULL, with a reason, if it is not. */
static const GcSqlAggregate *
find_source(GcTranslation *tr, const Aggref *agg, Source *s)
{
	const GcGroups *groups = tr->groups;
	const char *name = get_func_name(agg->aggfnoid);
	Aggref		plain = *agg;
	const char *refusal;
	GcLevel		here;

	/* Over groups by its argument, an aggregate with DISTINCT is like any other. */
	if (groups->over || !gc_distinct_matters(agg))
		plain.aggdistinct = NIL;
	refusal = gc_aggregate_refusal(&plain, name);
	if (refusal)
	{
		gc_refuse(tr, "%s", refusal);
		return NULL;
	}
	*s = (Source) {groups, agg};
	here = gc_level_below(tr, s->groups);
	s->in_parts = gc_agg_in_parts(tr, agg);
	s->arg = gc_agg_argument(tr, agg);
	gc_level_leave(tr, &here);
	return tr->reason ? NULL : gc_sql_aggregate(name);
}

/* An aggregate of a subquery's groups as a column of these. */
static int
aggregate_column(GcTranslation *tr, Aggref *agg)
{
	Source		s;
	const GcSqlAggregate *sql = find_source(tr, agg, &s);

	return sql ? column_of(tr, &s, sql) : GC_NO_EXPR;
}

const GcSqlAggregate *
gc_groups_sums(GcTranslation *tr, const Aggref *agg, GcSums *sums)
{
	Source		s;
	const GcSqlAggregate *sql = find_source(tr, agg, &s);
	int			value;

	if (sql == NULL || (sql->how != GC_AGGREGATE_SUM && sql->how != GC_AGGREGATE_AVG && sql->how != GC_AGGREGATE_VARIANCE) ||
		(!GC_KIND_IS_INT(tr->pexprs[s.arg].kind) && tr->pexprs[s.arg].kind != GC_NUMERIC))
		return NULL;
	sums->count = count_column(tr, &s);
	sums->sum = sum_column(tr, &s, false);
	if (sql->how == GC_AGGREGATE_VARIANCE)
	{
		value = gc_build_cast(tr, s.arg, GC_NUMERIC);
		s.arg = value < 0 ? value : gc_build_expr(tr, GC_OP_MUL, GC_NUMERIC, value, value, -1, -1);
		sums->squares = s.arg < 0 ? s.arg : sum_column(tr, &s, false);
	}
	return tr->reason ? NULL : sql;
}

/* A column that a primary key among the grouping columns determines: a key as well, which splits no group. */
static int
determined_column(GcTranslation *tr, Expr *expr)
{
	GcLevel		here = gc_level_below(tr, tr->groups);
	int			key = gc_group_key(tr, (Node *) expr);

	gc_level_leave(tr, &here);
	return key < 0 ? GC_NO_EXPR : gc_groups_key(tr, key);
}

/* An integer constant. */
static int
build_int4(GcTranslation *tr, int32 value)
{
	return gc_build_param(tr, (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true),
						  GC_INT4, GC_SPACE_NONE);
}

/* The bits of GROUPING() for a set: those of arguments that it leaves out. */
static int
grouping_bits(GcTranslation *tr, const GroupingFunc *grouping, const List *set)
{
	int32		bits = 0;
	ListCell   *lc;

	foreach(lc, grouping->refs)
		bits = bits << 1 | !list_member_int(set, lfirst_int(lc));
	return build_int4(tr, bits);
}

/* GROUPING(), by the number of the group's set, which is its first key. */
static int
grouping_column(GcTranslation *tr, const GroupingFunc *grouping)
{
	const List *sets = tr->root->parse->groupingSets;
	int			e;
	ListCell   *lc;

	if (grouping->agglevelsup > 0)
		return gc_refuse(tr, "GROUPING of an outer query is used");
	if (sets == NIL)
		return build_int4(tr, 0);
	e = grouping_bits(tr, grouping, linitial(sets));
	for_each_from(lc, sets, 1)
	{
		const int	is_set = gc_build_expr(tr, GC_OP_EQ, GC_BOOL, gc_groups_key(tr, 0), build_int4(tr, foreach_current_index(lc)), -1, -1);

		e = gc_build_expr(tr, GC_OP_IF, GC_INT4, is_set, grouping_bits(tr, grouping, lfirst(lc)), e, -1);
	}
	return tr->reason ? GC_NO_EXPR : e;
}

/* Is the expression a key, an aggregate or determined by the keys?  Then *e is its column, or it is refused. */
static bool
groups_part(GcTranslation *tr, Expr *expr, int *e)
{
	int			key = find_key(tr->key_nodes[tr->groups->pipeline], (Node *) expr);

	if (key >= 0)
		*e = gc_groups_key(tr, key);
	else if (IsA(expr, Aggref))
		*e = aggregate_column(tr, (Aggref *) expr);
	else if (IsA(expr, GroupingFunc))
		*e = grouping_column(tr, (GroupingFunc *) expr);
	else if (gc_groups_determine(tr->root, tr->groups->by, (Node *) expr))
		*e = determined_column(tr, expr);
	else if (IsA(expr, Var) || IsA(expr, PlaceHolderVar))
		*e = gc_refuse(tr, "a column is used that the groups do not determine");
	else
		return false;
	return true;
}

/*-------------------------------------------------------------------------
 * Groups
 *-------------------------------------------------------------------------
 */

/* Have a later pipeline's input of the groups. */
static bool
open_input(GcTranslation *tr, GcGroups *groups)
{
	if (tr->ninputs == GC_MAX_INPUTS)
	{
		gc_refuse(tr, "too many relations are joined");
		return false;
	}
	groups->input = tr->ninputs++;
	tr->groups_of[groups->input] = groups->pipeline + 1;
	tr->plan->inputs[groups->input] = (GcPlanInput) {.relid = InvalidOid,.child = -1};
	return true;
}

GcGroups *
gc_groups_open(GcTranslation *tr)
{
	GcGroups   *groups = palloc0(sizeof(GcGroups));

	groups->part = groups_part;
	groups->root = tr->root;
	groups->leaves = tr->leaves;
	groups->streamed = tr->streamed;
	groups->over = tr->groups;
	groups->pipeline = tr->streamed->pipeline;
	if (!open_input(tr, groups))
		return NULL;
	tr->pipelines[groups->pipeline].sink = GC_SINK_AGGREGATE;
	return groups;
}

GcGroups *
gc_rows_open(GcTranslation *tr)
{
	GcGroups   *rows = gc_groups_open(tr);

	if (rows == NULL)
		return NULL;
	tr->pipelines[rows->pipeline].sink = GC_SINK_ROWS;
	rows->rows = true;
	return rows;
}

int
gc_rows_output(GcTranslation *tr, GcGroups *rows, Expr *expr)
{
	GcLevel		level = gc_level_below(tr, rows);
	int			e = gc_translate_expr(tr, rows->streamed, expr);
	int			n = -1;

	if (e >= 0)
	{
		if (GC_KIND_IS_CODE(tr->pexprs[e].kind) && (tr->space[e] == GC_SPACE_NONE || tr->space[e] == GC_SPACE_CONSTANTS))
			gc_refuse(tr, "a constant of type %s is kept in rows", format_type_be(exprType((Node *) expr)));
		else
			n = add_output(tr, rows->pipeline, e, expr);
	}
	gc_level_leave(tr, &level);
	return n;
}

int
gc_rows_output_of(GcTranslation *tr, GcGroups *rows, int e)
{
	ListCell   *lc;

	foreach(lc, tr->group_keys[rows->pipeline])
	{
		if (lfirst_int(lc) == e)
			return foreach_current_index(lc);
	}
	return e < 0 ? -1 : add_output(tr, rows->pipeline, e, NULL);
}

int
gc_rows_column(GcTranslation *tr, GcGroups *rows, Expr *expr)
{
	GcLevel		level = gc_level_over(tr, rows);
	int			n = gc_rows_output(tr, rows, expr);
	int			e = n < 0 ? GC_NO_EXPR : gc_groups_key(tr, n);

	gc_level_leave(tr, &level);
	return e;
}

GcGroups *
gc_groups_again(GcTranslation *tr, const GcGroups *groups)
{
	GcGroups   *again = palloc(sizeof(GcGroups));

	*again = *groups;
	again->shared = true;
	return open_input(tr, again) ? again : NULL;
}

int
gc_groups_expr(GcTranslation *tr, GcGroups *groups, Expr *expr)
{
	GcLevel		level = gc_level_over(tr, groups);
	int			e = gc_translate_expr(tr, NULL, expr);

	gc_level_leave(tr, &level);
	return e;
}

/*-------------------------------------------------------------------------
 * Two levels of groups, for aggregates with DISTINCT
 *-------------------------------------------------------------------------
 */

/* -0 counts as 0.  Other than as a number of values, it is left to PostgreSQL, which shows the first of them. */
static int
without_negative_zero(GcTranslation *tr, int e)
{
	const GcKind kind = tr->pexprs[e].kind;
	Const	   *zero = kind == GC_FLOAT4 ?
		makeConst(FLOAT4OID, -1, InvalidOid, sizeof(float4), Float4GetDatum(0), false, true) :
		makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(0), false, FLOAT8PASSBYVAL);
	int			param = gc_build_param(tr, (Expr *) zero, kind, GC_SPACE_NONE);

	return param < 0 ? param : gc_build_expr(tr, GC_OP_ADD, kind, e, param, -1, -1);
}

/* Make a key of value number n. */
static bool
add_value(GcTranslation *tr, GcDistinct *d, int n, bool alone)
{
	Aggref		agg = {.args = list_make1(makeTargetEntry((Expr *) d->argument, 1, NULL, false)),.aggfilter = d->filter};
	const bool	is_float = GC_KIND_IS_FLOAT(gc_type_kind(exprType(d->argument)));
	int			e;

	/* A key of grouping sets is NULL where a set leaves it out, and this one is not. */
	if (alone && d->filter == NULL && contain_var_clause(d->argument) && tr->root->parse->groupingSets == NIL && !is_float)
		d->key = gc_group_key(tr, d->argument);
	else
	{
		e = gc_agg_argument(tr, &agg);
		if (e >= 0 && is_float && !d->shown)
			e = without_negative_zero(tr, e);
		if (e >= 0 && !alone)
			e = distinct_round(tr, e, n);
		d->key = e < 0 ? -1 : gc_group_key_expr(tr, e, NULL);
	}
	return d->key >= 0;
}

/* Groups of the first level: those of each round, added up. */
static double
number_of_groups(GcTranslation *tr, List *group_exprs, List *values, double rows)
{
	double		n = values == NIL ? estimate_num_groups(tr->root, group_exprs, clamp_row_est(rows), NULL, NULL) : 0;
	ListCell   *lc;

	foreach(lc, values)
	{
		List	   *exprs = lappend(list_copy(group_exprs), ((GcDistinct *) lfirst(lc))->argument);

		n += estimate_num_groups(tr->root, exprs, clamp_row_est(rows), NULL, NULL);
	}
	return n;
}

bool
gc_groups_stream(GcTranslation *tr, GcGroups *groups)
{
	GcLeaf	   *leaf = palloc0(sizeof(GcLeaf));
	GcPPipeline *pl;

	if (tr->npipelines == GC_MAX_PIPELINES)
		return gc_refuse(tr, "too many relations are joined") >= 0;
	leaf->groups = groups;
	leaf->input = groups->input;
	leaf->tuples = tr->plan->groups[groups->pipeline];
	leaf->share = 1;
	leaf->build = -1;
	leaf->pipeline = tr->npipelines++;
	pl = &tr->pipelines[leaf->pipeline];
	memset(pl, 0, sizeof(*pl));
	pl->input = groups->input;
	pl->build = GC_NONE;
	tr->streamed = leaf;
	tr->groups = groups;
	return true;
}

/* Make keys of the expressions that are grouped by. */
static bool
group_by(GcTranslation *tr, List *group_exprs)
{
	ListCell   *lc;

	/* Those of grouping sets are there. */
	if (tr->pipelines[tr->streamed->pipeline].sets > 0)
		return true;
	foreach(lc, group_exprs)
	{
		if (!contain_var_clause(lfirst(lc)))
			continue;
		if (gc_group_key(tr, lfirst(lc)) < 0)
			return false;
		gc_build_display(tr, tr->streamed->pipeline, GC_DISPLAY_GROUP_KEY, lfirst(lc));
	}
	return true;
}

/* The second level aggregates the first, which has its keys. */
static bool
open_levels(GcTranslation *tr, List *group_exprs, List *values, List *by)
{
	const double rows = tr->streamed->tuples * tr->streamed->share;
	GcGroups   *groups = gc_groups_open(tr);

	if (groups == NULL)
		return false;
	groups->distinct = values;
	groups->by = by;
	tr->pipelines[groups->pipeline].rounds = list_length(values) > 1 ? list_length(values) : 0;
	tr->plan->groups[groups->pipeline] = number_of_groups(tr, group_exprs, values, rows);
	return gc_groups_stream(tr, groups);
}

bool
gc_distinct_open(GcTranslation *tr, List *group_exprs, List *values)
{
	ListCell   *lc;

	if (!group_by(tr, group_exprs))
		return false;
	foreach(lc, values)
	{
		if (contain_var_clause(((GcDistinct *) lfirst(lc))->argument))
			gc_build_display(tr, tr->streamed->pipeline, GC_DISPLAY_GROUP_KEY, (Expr *) ((GcDistinct *) lfirst(lc))->argument);
		if (!add_value(tr, lfirst(lc), foreach_current_index(lc), list_length(values) == 1))
			return false;
	}
	return open_levels(tr, group_exprs, values, tr->root->parse->groupingSets ? NIL : group_exprs);
}

bool
gc_parts_open(GcTranslation *tr, List *group_exprs)
{
	return group_by(tr, group_exprs) && open_levels(tr, group_exprs, NIL, group_exprs);
}
