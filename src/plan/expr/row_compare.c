/*-------------------------------------------------------------------------
 *
 * row_compare.c
 *	  Comparisons of rows as comparisons of their values.
 *
 * PostgreSQL compares the columns from left to right, and the first ones that are unequal, or NULL, decide.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "row_compare.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"
#include "utils/lsyscache.h"
#include "../../compat.h"

/* The comparison of one column by an operator of its family; NULL if that has none. */
static Expr *
compare(RowCompareExpr *row, int column, int strategy)
{
	Expr	   *left = list_nth(row->largs, column);
	Expr	   *right = list_nth(row->rargs, column);
	Oid			family = list_nth_oid(row->opfamilies, column);
	int			listed;
	Oid			lefttype;
	Oid			righttype;
	Oid			operator;
	Expr	   *op;

	get_op_opfamily_properties(list_nth_oid(row->opnos, column), family, false, &listed, &lefttype, &righttype);
	operator = get_opfamily_member(family, lefttype, righttype, strategy);
	if (!OidIsValid(operator))
		return NULL;
	op = make_opclause(operator, BOOLOID, false, left, right, InvalidOid, list_nth_oid(row->inputcollids, column));
	set_opfuncid((OpExpr *) op);
	return op;
}

Expr *
gc_row_comparison(RowCompareExpr *row)
{
	const int	strategy = (int) GC_ROW_COMPARISON(row);
	const bool	less = strategy == BTLessStrategyNumber || strategy == BTLessEqualStrategyNumber;
	const int	last = list_length(row->opnos) - 1;
	Expr	   *whole;

	if (!less && strategy != BTGreaterStrategyNumber && strategy != BTGreaterEqualStrategyNumber)
		return NULL;
	whole = compare(row, last, strategy);
	for (int i = last - 1; i >= 0 && whole; i--)
	{
		Expr	   *unequal = compare(row, i, less ? BTLessStrategyNumber : BTGreaterStrategyNumber);
		Expr	   *equal = compare(row, i, BTEqualStrategyNumber);

		if (unequal == NULL || equal == NULL)
			return NULL;
		whole = makeBoolExpr(OR_EXPR, list_make2(unequal, makeBoolExpr(AND_EXPR, list_make2(equal, whole), -1)), -1);
	}
	return whole;
}
