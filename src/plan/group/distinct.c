/*-------------------------------------------------------------------------
 *
 * distinct.c
 *	  Aggregates with DISTINCT, by two levels of groups.
 *
 * The first level groups by the argument, too.  So each of its groups has one value, and
 * the second level takes each value once.  Aggregates without DISTINCT are computed in
 * parts by the first level: the second adds up sums and counts, and takes the least of
 * minima.
 *
 * Arguments of several aggregates are keys of one table.  A row comes to it in rounds, one
 * for each argument, and in each round all other arguments are NULL.  The first round takes
 * the parts, too.  A group in which all arguments are NULL may be one of several rounds: no
 * aggregate counts NULL.
 *
 * With grouping sets, the first level groups by the number of the set, and so does the second
 * (sets.c).
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "distinct.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "aggregates.h"
#include "../base/builder.h"
#include "../base/display.h"
#include "groups.h"
#include "../../columns/encode/pgkinds.h"

/*-------------------------------------------------------------------------
 * What is distinct
 *-------------------------------------------------------------------------
 */

bool
gc_distinct_matters(const Aggref *agg)
{
	const GcSqlAggregate *sql;

	if (agg->aggdistinct == NIL)
		return false;
	sql = gc_sql_aggregate(get_func_name(agg->aggfnoid));
	return sql == NULL || sql->how != GC_AGGREGATE_PLAIN || !gc_takes_twice(sql->fn);
}

typedef struct Search
{
	List	   *values;			/* GcDistinct */
	const char *refusal;
} Search;

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

int
gc_distinct_value(GcTranslation *tr, const Aggref *agg)
{
	GcDistinct *d = find_value(tr->groups->distinct, agg);

	return d ? gc_groups_key(tr, d->key) : gc_refuse(tr, "an aggregate with DISTINCT is not one of its query level");
}

/*-------------------------------------------------------------------------
 * The first level
 *-------------------------------------------------------------------------
 */

int
gc_distinct_round(GcTranslation *tr, int expr, int n)
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
			e = gc_distinct_round(tr, e, n);
		d->key = e < 0 ? -1 : gc_group_key_expr(tr, e, NULL);
	}
	return d->key >= 0;
}

/* Groups of the first level: those of each round, added up. */
static double
number_of_groups(GcTranslation *tr, List *group_exprs, List *values, double rows)
{
	double		n = 0;
	ListCell   *lc;

	foreach(lc, values)
	{
		List	   *exprs = lappend(list_copy(group_exprs), ((GcDistinct *) lfirst(lc))->argument);

		n += estimate_num_groups(tr->root, exprs, clamp_row_est(rows), NULL, NULL);
	}
	return n;
}

/* A pipeline over the first level's groups, which everything is translated for from here on. */
static void
open_second_level(GcTranslation *tr, GcGroups *groups)
{
	GcLeaf	   *leaf = palloc0(sizeof(GcLeaf));
	GcPPipeline *pl;

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
}

/* Make keys of what is grouped by. */
static bool
group_by(GcTranslation *tr, List *group_exprs)
{
	ListCell   *lc;

	/* Those of grouping sets are there. */
	if (tr->plan->numbered_sets)
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

bool
gc_distinct_open(GcTranslation *tr, List *group_exprs, List *values)
{
	const bool	alone = list_length(values) == 1;
	double		rows = tr->streamed->tuples * tr->streamed->share;
	GcGroups   *groups;
	ListCell   *lc;

	if (!group_by(tr, group_exprs))
		return false;
	foreach(lc, values)
	{
		if (contain_var_clause(((GcDistinct *) lfirst(lc))->argument))
			gc_build_display(tr, tr->streamed->pipeline, GC_DISPLAY_GROUP_KEY, (Expr *) ((GcDistinct *) lfirst(lc))->argument);
		if (!add_value(tr, lfirst(lc), foreach_current_index(lc), alone))
			return false;
	}
	groups = gc_groups_open(tr);
	if (groups == NULL || tr->npipelines == GC_MAX_PIPELINES)
		return gc_refuse(tr, "too many relations are joined") >= 0;
	groups->distinct = values;
	tr->pipelines[groups->pipeline].rounds = alone ? 0 : list_length(values);
	tr->plan->groups[groups->pipeline] = number_of_groups(tr, group_exprs, values, rows);
	open_second_level(tr, groups);
	return true;
}
