/*-------------------------------------------------------------------------
 *
 * rewrite_sets.c
 *	  Constants in grouping sets.
 *
 * A constant that is grouped by splits no group, but it is NULL in the groups of a set that leaves it
 * out.  PostgreSQL tells such an output from the same constant elsewhere by its place in the target list.
 * A node of ours finds its outputs by equal().  So there the output becomes CASE WHEN GROUPING(constant) =
 * 0 THEN constant END, and nobody gets the constant itself.
 *
 * A set operation of PostgreSQL's takes such a constant from the target list of its SELECT, for all rows: it stays
 * there (gc_shows_constant_sets).
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "../../compat.h"

/*
 * Is the output sorted by, or told apart by DISTINCT or a window?  PostgreSQL takes it for the same in all rows there.
 */
static bool
is_used_again(const Query *query, Index ref)
{
	ListCell   *lc;

	foreach(lc, query->windowClause)
	{
		const WindowClause *window = lfirst_node(WindowClause, lc);

		if (get_sortgroupref_clause_noerr(ref, window->partitionClause) ||
			get_sortgroupref_clause_noerr(ref, window->orderClause))
			return true;
	}
	return get_sortgroupref_clause_noerr(ref, query->sortClause) ||
		get_sortgroupref_clause_noerr(ref, query->distinctClause);
}

static bool
is_constant(const TargetEntry *tle)
{
	Node	   *expr = (Node *) tle->expr;

	return !tle->resjunk && !contain_vars_of_level(expr, 0) && !contain_volatile_functions(expr) &&
		!contain_subplans(expr);
}

bool
gc_groups_by_constant(const Query *query)
{
	ListCell   *lc;

	/* From 18 on it is an output of the grouping, which has an entry in the range table. */
	foreach(lc, query->groupingSets && PG_VERSION_NUM < 180000 ? query->groupClause : NIL)
	{
		if (is_constant(get_sortgroupclause_tle(lfirst(lc), query->targetList)))
			return true;
	}
	return false;
}

/* The output that is grouped by, if it is a constant. */
static TargetEntry *
constant_output(Query *query, const SortGroupClause *clause)
{
	TargetEntry *tle = get_sortgroupref_tle(clause->tleSortGroupRef, query->targetList);
	Node	   *expr = (Node *) tle->expr;
	ListCell   *lc;

	if (!is_constant(tle) || is_used_again(query, clause->tleSortGroupRef))
		return NULL;
	expr = eval_const_expressions(NULL, copyObject(expr));
	/* Of an expression that is computed at execution, PostgreSQL finds all places by equal(), too. */
	if (!IsA(expr, Const))
		return NULL;
	/* GROUPING() of an equal constant is equal, whichever it is of. */
	foreach(lc, query->groupClause)
	{
		const SortGroupClause *other = lfirst_node(SortGroupClause, lc);

		if (other->tleSortGroupRef != clause->tleSortGroupRef &&
			equal(eval_const_expressions(NULL, (Node *) copyObject(get_sortgroupref_tle(other->tleSortGroupRef, query->targetList)->expr)), expr))
			return NULL;
	}
	return tle;
}

bool
gc_has_constant_sets(Query *query)
{
	ListCell   *lc;

	foreach(lc, gc_groups_by_constant(query) ? query->groupClause : NIL)
	{
		if (constant_output(query, lfirst_node(SortGroupClause, lc)))
			return true;
	}
	return false;
}

/* CASE WHEN GROUPING(expr) = 0 THEN expr END */
static Expr *
unless_left_out(Expr *expr, Index ref)
{
	GroupingFunc *grouping = makeNode(GroupingFunc);
	Const	   *zero = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);

	grouping->args = list_make1(copyObject(expr));
	grouping->refs = list_make1_int(ref);
	grouping->location = -1;
	return gc_make_case(gc_make_operation(Int4EqualOperator, BOOLOID, (Expr *) grouping, (Expr *) zero),
						copyObject(expr), NULL);
}

void
gc_turn_constant_sets(Query *query, bool *changed)
{
	ListCell   *lc;

	if (!gc_has_constant_sets(query))
		return;
	foreach(lc, query->groupClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		TargetEntry *tle = constant_output(query, clause);
		TargetEntry *grouped;

		if (tle == NULL)
			continue;
		grouped = makeTargetEntry(copyObject(tle->expr), list_length(query->targetList) + 1, NULL, true);
		grouped->ressortgroupref = clause->tleSortGroupRef;
		query->targetList = lappend(query->targetList, grouped);
		tle->expr = unless_left_out(tle->expr, clause->tleSortGroupRef);
		tle->ressortgroupref = 0;
	}
	*changed = true;
}
