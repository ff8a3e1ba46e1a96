/*-------------------------------------------------------------------------
 *
 * rewrite.c
 *	  Queries rewritten before planning, so that more of them can be offloaded.
 *
 * PostgreSQL executes a correlated scalar subquery for each row, and NOT IN by a hashed subplan.  A CTE
 * that is read twice is executed apart from its readers.  A node of ours computes joins, and none of these
 * is one.  Here they become joins, and UNION becomes DISTINCT, in a copy of the query tree; hooks.c plans
 * it and decides which plan is taken.  Percentiles and DISTINCT ON become windows, which the device sorts.
 * Each level is rewritten after those below it, so a subquery's subquery is a part of its join tree by then.
 *
 * Planner, in backends.  The copy lives in the memory context of the planner's run.
 *
 *-------------------------------------------------------------------------
 */
#include "rewrite.h"

#include "nodes/nodeFuncs.h"

#include "rules.h"
#include "rewrite_tree.h"
#include "../../compat.h"

/*-------------------------------------------------------------------------
 * Is there anything to rewrite?
 *-------------------------------------------------------------------------
 */

/* Is there something in this query itself? */
static bool
level_may_gain(Query *query, bool within)
{
	ListCell   *lc;

	if (gc_has_union(query, within) || gc_has_ordered_sets(query) ||
		gc_has_distinct_on(query))
		return true;
	foreach(lc, query->cteList)
	{
		if (gc_may_inline(lfirst_node(CommonTableExpr, lc)))
			return true;
	}
	if (!query->hasSubLinks)
		return false;
	if (gc_may_unnest((Node *) query->targetList))
		return true;
	foreach(lc, gc_list_conjuncts(query))
	{
		if (gc_has_not_in(lfirst(lc)) || gc_may_unnest(lfirst(lc)))
			return true;
	}
	return false;
}

/* Does any query at or below this level gain by a rewrite? */
static bool
level_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		bool		within = true;

		return level_may_gain((Query *) node, *(bool *) context) ||
			query_tree_walker((Query *) node, level_walker, &within, 0);
	}
	return expression_tree_walker(node, level_walker, context);
}

/* Has the query, or a subquery in FROM, anything of which a part could be rewritten?  Most have nothing. */
static bool
has_parts(const Query *query)
{
	ListCell   *lc;

	if (query->hasSubLinks || query->cteList || query->setOperations || query->groupingSets || query->hasDistinctOn ||
		gc_has_ordered_sets(query))
		return true;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY && has_parts(rte->subquery))
			return true;
	}
	return false;
}

/* May WHERE CURRENT OF want to know which row of its table a row of the cursor is? */
static bool
is_updatable(const Query *query)
{
	return !query->hasAggs && !query->groupClause && !query->sortClause && !query->distinctClause &&
		!query->hasWindowFuncs && list_length(query->rtable) == 1;
}

/* Is it a statement that is offloaded at all? */
static bool
is_eligible(Query *parse, bool cursor)
{
	if (parse->commandType != CMD_SELECT && parse->commandType != CMD_INSERT)
		return false;
	return !parse->hasModifyingCTE && !parse->rowMarks && !(cursor && is_updatable(parse));
}

/*-------------------------------------------------------------------------
 * Levels, from the innermost
 *-------------------------------------------------------------------------
 */

typedef struct Rewriting
{
	ParamListInfo params;
	const GcQueryLevel *level;
	GcCteChoice *ctes;
	bool		changed;
} Rewriting;

/* The rewrites of subqueries in a level's expressions. */
static void
rewrite_sublinks(const GcQueryLevel *level, bool *changed)
{
	Query	   *query = level->query;
	List	   *conjuncts = gc_take_conjuncts(query);

	conjuncts = gc_turn_not_in(level, conjuncts, changed);
	conjuncts = gc_unnest_sublinks(level, conjuncts, changed);
	query->jointree->quals = gc_quals(conjuncts);
}

/* All rewrites of one level, in their order: the last ones put a level between. */
static void
rewrite_level(const GcQueryLevel *level, GcCteChoice *ctes, bool *changed)
{
	Query	   *query = level->query;

	if (query->commandType != CMD_SELECT)
		return;
	gc_inline_ctes(level, ctes, changed);
	gc_turn_unions(level, changed);
	if (query->hasSubLinks)
		rewrite_sublinks(level, changed);
	gc_turn_ordered_sets(query, changed);
	gc_turn_distinct_on(query, changed);
}

/*
 * Rewrite the levels below first.  A level that locks rows stays as it is.  It tests its conditions again for rows that
 * another transaction has changed, and that finds no other match for one in an anti join.
 */
static bool
rewrite_walker(Node *node, Rewriting *rewriting)
{
	const GcQueryLevel *outer = rewriting->level;
	GcQueryLevel level;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, rewrite_walker, rewriting);
	if (gc_shows_constant_sets((Query *) node) || ((Query *) node)->rowMarks)
		return false;
	gc_expand_grouping((Query *) node);
	level = (GcQueryLevel) {(Query *) node, outer, rewriting->params};
	rewriting->level = &level;
	(void) query_tree_walker((Query *) node, rewrite_walker, rewriting, 0);
	rewriting->level = outer;
	rewrite_level(&level, rewriting->ctes, &rewriting->changed);
	return false;
}

Query *
gc_rewrite(Query *parse, bool cursor, ParamListInfo params, GcCteChoice *ctes)
{
	Rewriting	rewriting = {.params = params,.ctes = ctes};
	Query	   *copy;
	bool		within = false;

	if (!is_eligible(parse, cursor) || !has_parts(parse) || !level_walker((Node *) parse, &within))
		return NULL;
	copy = copyObject(parse);
	(void) rewrite_walker((Node *) copy, &rewriting);
	return rewriting.changed ? copy : NULL;
}
