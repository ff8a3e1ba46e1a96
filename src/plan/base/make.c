/*-------------------------------------------------------------------------
 *
 * make.c
 *	  SQL expressions that the planner writes itself.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "make.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

Expr *
gc_make_int8(int64 value)
{
	return (Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false, FLOAT8PASSBYVAL);
}

Expr *
gc_make_operation(Oid operator, Oid type, Expr *left, Expr *right)
{
	OpExpr	   *op = (OpExpr *) make_opclause(operator, type, false, left, right, InvalidOid, InvalidOid);

	set_opfuncid(op);
	return (Expr *) op;
}

Expr *
gc_make_case(Expr *condition, Expr *value, Expr *otherwise)
{
	CaseExpr   *result = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = condition;
	when->result = value;
	when->location = -1;
	result->casetype = exprType((Node *) value);
	result->casecollid = exprCollation((Node *) value);
	result->args = list_make1(when);
	result->defresult = otherwise ? otherwise :
		(Expr *) makeNullConst(result->casetype, exprTypmod((Node *) value), result->casecollid);
	result->location = -1;
	return (Expr *) result;
}
