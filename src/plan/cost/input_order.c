/*-------------------------------------------------------------------------
 *
 * input_order.c
 *	  Whether a query level shows the order of the subquery that it reads.
 *
 * SQL says nothing of the order of rows above a subquery's ORDER BY.  But PostgreSQL keeps it where the level
 * reads that subquery alone, and its manual has array_agg() and the like rely on it.  LIMIT without
 * an ORDER BY of its own, DISTINCT ON and row_number() OVER () are used alike.
 *
 * A join of such a subquery keeps the order in some of PostgreSQL's plans only, so that is not looked at.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "input_order.h"

#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"

#include "../base/source.h"
#include "../../compat.h"

/*
 * Has what this level reads, if that is one subquery, an ORDER BY?  Rows of a CTE, and of a subquery that is not part of
 * a node, stay PostgreSQL's where they are read alone.
 */
static bool
reads_in_order(PlannerInfo *root)
{
	const RangeTblEntry *rte;
	int			rti;

	if (!bms_get_singleton_member(root->all_baserels, &rti))
		return false;
	rte = planner_rt_fetch(rti, root);
	return rte->rtekind == RTE_SUBQUERY && rte->subquery && rte->subquery->sortClause != NIL;
}

/* Does an expression hold an aggregate or a window function that takes rows as they come? */
static bool
takes_as_they_come(Node *node, void *context)
{
	const Query *query = context;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		const Aggref *agg = (Aggref *) node;

		if (agg->agglevelsup == 0 && agg->aggorder == NIL && agg->aggdistinct == NIL &&
			!gc_is_orderless(agg->aggfnoid, agg->aggtype))
			return true;
	}
	if (IsA(node, WindowFunc))
	{
		const WindowFunc *func = (WindowFunc *) node;
		const WindowClause *window = list_nth(query->windowClause, func->winref - 1);

		if (window->orderClause == NIL && !gc_is_orderless(func->winfnoid, func->wintype))
			return true;
	}
	return expression_tree_walker(node, takes_as_they_come, context);
}

bool
gc_shows_input_order(PlannerInfo *root)
{
	Query	   *query = root->parse;

	if (!reads_in_order(root))
		return false;
	if (query->hasDistinctOn ||
		takes_as_they_come((Node *) query->targetList, query) || takes_as_they_come(query->havingQual, query))
		return true;
	return !query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL && query->distinctClause == NIL &&
		query->sortClause == NIL;
}
