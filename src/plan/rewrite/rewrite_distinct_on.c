/*-------------------------------------------------------------------------
 *
 * rewrite_distinct_on.c
 *	  DISTINCT ON as the first row of a window's partition.
 *
 * PostgreSQL sorts all rows to find the first ones.  A window over kept rows is sorted on the device
 * (group/kept_windows.c), so
 *
 *   SELECT DISTINCT ON (k) k, v FROM t ORDER BY k, v DESC		becomes
 *   SELECT k, v FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS place FROM t) r
 *   WHERE place = 1 ORDER BY k, v DESC
 *
 * Above a subquery with an ORDER BY, however deep, DISTINCT ON stays as it is: PostgreSQL shows that order where this
 * query's order has ties.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"

/* Has a subquery or a CTE of the query an order, or one of theirs? */
static bool
has_order_below(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY && (rte->subquery->sortClause || has_order_below(rte->subquery)))
			return true;
	}
	foreach(lc, query->cteList)
	{
		const Query *cte = (const Query *) lfirst_node(CommonTableExpr, lc)->ctequery;

		if (IsA(cte, Query) && (cte->sortClause || has_order_below(cte)))
			return true;
	}
	return false;
}

bool
gc_has_distinct_on(const Query *query)
{
	ListCell   *lc;

	if (!query->hasDistinctOn || !grouping_is_sortable(query->distinctClause) || !gc_may_become(query) ||
		has_order_below(query))
		return false;
	/* A window is not over another one of its level. */
	foreach(lc, query->targetList)
	{
		const TargetEntry *tle = lfirst_node(TargetEntry, lc);

		if (tle->ressortgroupref && contain_window_function((Node *) tle->expr))
			return false;
	}
	return true;
}

/* The window in which the row that is wanted is the first of its partition. */
static WindowClause *
window_of(const Query *query)
{
	WindowClause *window = gc_make_window(query, copyObject(query->distinctClause), NIL);
	ListCell   *lc;

	foreach(lc, query->sortClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);

		if (!get_sortgroupref_clause_noerr(clause->tleSortGroupRef, query->distinctClause))
			window->orderClause = lappend(window->orderClause, copyObject(clause));
	}
	return window;
}

/* Have the rows say their place in a window, in one more column, and be all there. */
static Query *
numbered_rows(const Query *query)
{
	Query	   *rows = makeNode(Query);
	WindowClause *window = window_of(query);
	Expr	   *place = (Expr *) gc_make_window_function(window, F_ROW_NUMBER, INT8OID, NULL);
	ListCell   *lc;

	*rows = *query;
	rows->targetList = copyObject(query->targetList);
	foreach(lc, rows->targetList)
		lfirst_node(TargetEntry, lc)->resjunk = false;
	rows->targetList = lappend(rows->targetList,
							   makeTargetEntry(place, list_length(rows->targetList) + 1, "place", false));
	rows->windowClause = lappend(list_copy(query->windowClause), window);
	rows->hasWindowFuncs = true;
	rows->distinctClause = rows->sortClause = NIL;
	rows->hasDistinctOn = false;
	rows->limitCount = rows->limitOffset = NULL;
	return rows;
}

void
gc_turn_distinct_on(Query *query, bool *changed)
{
	Query	   *first;
	ListCell   *lo,
			   *lc;

	if (!gc_has_distinct_on(query))
		return;
	first = gc_select_all(numbered_rows(query), "rows");
	first->jointree->quals = (Node *) gc_make_is_one((Expr *) ((TargetEntry *) llast(first->targetList))->expr);
	first->targetList = list_delete_last(first->targetList);
	forboth(lo, first->targetList, lc, query->targetList)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lo);
		Expr	   *column = tle->expr;

		*tle = *lfirst_node(TargetEntry, lc);
		tle->expr = column;
	}
	gc_become(query, first);
	*changed = true;
}
