/*-------------------------------------------------------------------------
 *
 * groups.c
 *	  Aggregations of a query level, and what later pipelines read of their groups.
 *
 * The groups of a pipeline are an input of another one: of the pipeline of a subquery
 * that is joined (subquery.c), or of the one that chooses which groups are returned
 * (choice.c).  Columns of such an input are keys and accumulators.  Here expressions
 * of SQL over them become expressions of the program.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "groups.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "aggregates.h"
#include "builder.h"
#include "expr.h"
#include "../columns/pgkinds.h"
#include "../compat.h"

GcLevel
gc_level_enter(GcTranslation *tr, PlannerInfo *root, List *leaves, GcLeaf *streamed, GcGroups *groups)
{
	GcLevel		level = {tr->root, tr->leaves, tr->streamed, tr->groups};

	tr->root = root;
	tr->leaves = leaves;
	tr->streamed = streamed;
	tr->groups = groups;
	return level;
}

void
gc_level_leave(GcTranslation *tr, const GcLevel *level)
{
	tr->root = level->root;
	tr->leaves = level->leaves;
	tr->streamed = level->streamed;
	tr->groups = level->groups;
}

/*-------------------------------------------------------------------------
 * Keys
 *-------------------------------------------------------------------------
 */

static int
find_key(List *nodes, Node *expr)
{
	ListCell   *lc;

	foreach(lc, nodes)
	{
		if (equal(lfirst(lc), expr))
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
	e = gc_translate_expr(tr, tr->streamed, (Expr *) GC_BELOW_GROUPING(tr->root, expr));
	if (e < 0)
		return -1;
	/* -0 and 0 are one group with two spellings */
	if (GC_KIND_IS_FLOAT(tr->pexprs[e].kind))
		return gc_refuse(tr, "grouping by a float is not supported");
	if (tr->pexprs[e].kind == GC_TEXT && tr->space[e] == GC_SPACE_NONE)
		return gc_refuse(tr, "grouping by a text constant is not supported");
	if (list_length(tr->group_keys[pipeline]) == GC_MAX_KEYS)
		return gc_refuse(tr, "the query groups by too many expressions");
	tr->group_keys[pipeline] = lappend_int(tr->group_keys[pipeline], e);
	tr->key_nodes[pipeline] = lappend(tr->key_nodes[pipeline], expr);
	return list_length(tr->group_keys[pipeline]) - 1;
}

/*-------------------------------------------------------------------------
 * Columns
 *-------------------------------------------------------------------------
 */

static int
group_column(GcTranslation *tr, GcKind kind, int key, int agg, int count)
{
	GcPColumn	c = {.input = tr->groups->input,.attnum = agg < 0 ? key : 0,.kind = kind,
		.agg = agg < 0 ? GC_NONE : agg,.count = count < 0 ? GC_NONE : count};

	for (int i = 0; i < tr->ncolumns; i++)
	{
		if (memcmp(&tr->columns[i], &c, sizeof(c)) == 0)
			return gc_build_expr(tr, GC_OP_COLUMN, kind, -1, -1, -1, i);
	}
	if (tr->ncolumns == GC_MAX_COLUMNS)
		return gc_refuse(tr, "the query reads too many columns");
	tr->columns[tr->ncolumns] = c;
	tr->column_nodes[tr->ncolumns] = NULL;
	tr->column_leaf[tr->ncolumns] = NULL;
	return gc_build_expr(tr, GC_OP_COLUMN, kind, -1, -1, -1, tr->ncolumns++);
}

static int
key_column(GcTranslation *tr, int key)
{
	int			k = list_nth_int(tr->group_keys[tr->groups->pipeline], key);
	int			e = group_column(tr, tr->pexprs[k].kind, key, -1, -1);

	if (e >= 0)
		tr->space[e] = tr->space[k];
	return e;
}

/* The sum that sum() or avg() is made of; *count receives the accumulator of its values. */
static int
sum_column(GcTranslation *tr, const GcLevel *rows, int arg, bool is_sum, int *count)
{
	GcKind		kind = tr->pexprs[arg].kind;
	GcLevel		here = gc_level_enter(tr, rows->root, rows->leaves, rows->streamed, rows->groups);
	int			sum = gc_build_agg(tr, GC_AGG_SUM, arg);

	*count = gc_build_agg(tr, GC_AGG_COUNT, arg);
	gc_level_leave(tr, &here);
	if (sum < 0 || *count < 0)
		return GC_NO_EXPR;
	if (GC_KIND_IS_FLOAT(kind))
		tr->float_aggs = true;
	/* sum(int8) is numeric, and so is what an average divides. */
	return group_column(tr, kind == GC_INT8 || (GC_KIND_IS_INT(kind) && !is_sum) ? GC_NUMERIC :
						GC_KIND_IS_INT(kind) ? GC_INT8 : kind == GC_FLOAT4 && !is_sum ? GC_FLOAT8 : kind, -1, sum, *count);
}

bool
gc_groups_avg_parts(GcTranslation *tr, Aggref *agg, int *sum, int *count)
{
	GcLevel		rows = {tr->groups->root, tr->groups->leaves, tr->groups->streamed, tr->groups->over};
	GcLevel		here = gc_level_enter(tr, rows.root, rows.leaves, rows.streamed, rows.groups);
	int			arg = gc_agg_argument(tr, agg);
	int			n;

	gc_level_leave(tr, &here);
	if (arg < 0 || gc_scale_varies(tr, arg))
		return gc_refuse(tr, "numeric values of varying scale are aggregated in parts") >= 0;
	*sum = sum_column(tr, &rows, arg, true, &n);
	if (*sum < 0)
		return false;
	tr->aggs[n].exact = 1;
	*count = group_column(tr, GC_INT8, -1, n, -1);
	return *count >= 0;
}

static int
sum_or_avg(GcTranslation *tr, const GcLevel *rows, int arg, bool is_sum)
{
	GcKind		kind = tr->pexprs[arg].kind;
	int			count;
	int			sum;
	int			n;

	if (!GC_KIND_IS_INT(kind) && !GC_KIND_IS_FLOAT(kind) && kind != GC_NUMERIC)
		return gc_refuse(tr, "an aggregate is not supported for this type");
	if (gc_scale_varies(tr, arg))
		return gc_refuse(tr, "numeric values of varying scale are aggregated in a subquery");
	sum = sum_column(tr, rows, arg, is_sum, &count);
	if (sum < 0 || is_sum)
		return sum;
	tr->aggs[count].exact = 1;
	n = group_column(tr, GC_INT8, -1, count, -1);
	if (n < 0)
		return n;
	if (GC_KIND_IS_FLOAT(kind))
		return gc_build_expr(tr, GC_OP_DIV, GC_FLOAT8, sum, gc_build_cast(tr, n, GC_FLOAT8), -1, -1);
	return gc_build_expr(tr, GC_OP_AVG, GC_NUMERIC, sum, n, -1, -1);
}

static int
extreme_column(GcTranslation *tr, const GcLevel *rows, int arg, bool is_min)
{
	GcKind		kind = tr->pexprs[arg].kind;
	GcLevel		here;
	int			extreme,
				count;

	if (kind == GC_TEXT)
		return gc_refuse(tr, "the minimum or maximum of this type in a subquery is not supported");
	if (gc_scale_varies(tr, arg))
		return gc_refuse(tr, "numeric values of varying scale are aggregated in a subquery");
	if (GC_KIND_IS_FLOAT(kind))
		tr->float_aggs = true;
	here = gc_level_enter(tr, rows->root, rows->leaves, rows->streamed, rows->groups);
	extreme = gc_build_agg(tr, is_min ? GC_AGG_MIN : GC_AGG_MAX, arg);
	count = gc_build_agg(tr, GC_AGG_COUNT, arg);
	gc_level_leave(tr, &here);
	return extreme < 0 || count < 0 ? GC_NO_EXPR : group_column(tr, kind, -1, extreme, count);
}

static int
aggregate_column(GcTranslation *tr, Aggref *agg)
{
	GcGroups   *groups = tr->groups;
	GcLevel		rows = {groups->root, groups->leaves, groups->streamed, groups->over};
	const char *name = get_func_name(agg->aggfnoid);
	Aggref		plain = *agg;
	const char *refusal;
	GcAggregation how;
	GcLevel		here;
	int			arg;
	int			count = GC_NO_EXPR;

	/* Over groups by its argument, an aggregate with DISTINCT is like any other. */
	if (groups->over)
		plain.aggdistinct = NIL;
	refusal = gc_aggregate_refusal(&plain, name);
	if (refusal)
		return gc_refuse(tr, "%s", refusal);
	if (groups->over && agg->aggdistinct == NIL)
		return gc_refuse(tr, "an aggregate in parts is needed");
	here = gc_level_enter(tr, rows.root, rows.leaves, rows.streamed, rows.groups);
	arg = gc_agg_argument(tr, agg);
	how = gc_sql_aggregate(name)->how;
	if (tr->reason == NULL && how == GC_AGGREGATE_COUNT && (count = gc_build_agg(tr, GC_AGG_COUNT, arg)) >= 0)
		tr->aggs[count].exact = 1;
	gc_level_leave(tr, &here);
	if (tr->reason)
		return GC_NO_EXPR;
	if (count >= 0)
		return group_column(tr, GC_INT8, -1, count, -1);
	if (arg >= 0 && (how == GC_AGGREGATE_SUM || how == GC_AGGREGATE_AVG))
		return sum_or_avg(tr, &rows, arg, how == GC_AGGREGATE_SUM);
	if (arg >= 0 && (how == GC_AGGREGATE_MIN || how == GC_AGGREGATE_MAX))
		return extreme_column(tr, &rows, arg, how == GC_AGGREGATE_MIN);
	return gc_refuse(tr, "aggregate %s is not supported in a subquery", name);
}

static bool
groups_part(GcTranslation *tr, Expr *expr, int *e)
{
	int			key = find_key(tr->key_nodes[tr->groups->pipeline], (Node *) expr);

	if (key >= 0)
		*e = key_column(tr, key);
	else if (IsA(expr, Aggref))
		*e = aggregate_column(tr, (Aggref *) expr);
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

GcGroups *
gc_groups_open(GcTranslation *tr)
{
	GcGroups   *groups = palloc0(sizeof(GcGroups));

	if (tr->ninputs == GC_MAX_INPUTS)
	{
		gc_refuse(tr, "too many relations are joined");
		return NULL;
	}
	groups->part = groups_part;
	groups->root = tr->root;
	groups->leaves = tr->leaves;
	groups->streamed = tr->streamed;
	groups->over = tr->groups;
	groups->pipeline = tr->streamed->pipeline;
	groups->input = tr->ninputs++;
	tr->groups_of[groups->input] = groups->pipeline + 1;
	tr->plan->inputs[groups->input] = (GcPlanInput) {.relid = InvalidOid,.child = -1};
	tr->pipelines[groups->pipeline].sink = GC_SINK_AGGREGATE;
	return groups;
}

int
gc_groups_expr(GcTranslation *tr, GcGroups *groups, Expr *expr)
{
	GcLevel		level = gc_level_enter(tr, groups->root, groups->leaves, groups->streamed, groups);
	int			e = gc_translate_expr(tr, NULL, expr);

	gc_level_leave(tr, &level);
	return e;
}
