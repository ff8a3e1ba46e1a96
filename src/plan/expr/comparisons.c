/*-------------------------------------------------------------------------
 *
 * comparisons.c
 *	  Comparisons of two values, of one with a list, and of rows.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "expr.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "../base/builder.h"
#include "instants.h"
#include "lookup.h"
#include "functions.h"
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"

#define IS_BUILTIN(oid)	((oid) < FirstGenbkiObjectId)

/* Elements of a list that are compared one by one: each is a parameter of the query. */
#define MOST_COMPARED	24

int
gc_age_of_times(GcTranslation *tr, GcLeaf *leaf, const FuncExpr *f)
{
	int			a = tr->translate(tr, leaf, linitial(f->args));
	int			b = a < 0 ? GC_NO_EXPR : tr->translate(tr, leaf, lsecond(f->args));

	return b < 0 ? GC_NO_EXPR : gc_translate_age(tr, f, a, b);
}

/* How long an interval is, of which parts may be added up or multiplied: as it is compared. */
static int
translate_span(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	const OpExpr *op = (const OpExpr *) expr;
	Expr	   *args[2];
	GcOp		what;
	int			a,
				b;

	if (!gc_has_vars((Node *) expr))
		return gc_translate_param(tr, gc_comparable_interval(expr), GC_SPACE_NONE);
	if (gc_is_age(expr))
		return gc_age_span(tr, gc_age_of_times(tr, leaf, (FuncExpr *) expr));
	what = gc_span_operator(op, args);
	if (what == 0)
		return tr->translate(tr, leaf, expr);
	check_stack_depth();
	a = args[0] ? translate_span(tr, leaf, args[0]) : gc_build_int8(tr, 0);
	if (a < 0)
		return a;
	b = what == GC_OP_MUL ? gc_build_int8(tr, (int64) DatumGetFloat8(((Const *) args[1])->constvalue)) :
		translate_span(tr, leaf, args[1]);
	return b < 0 ? b : gc_build_expr(tr, what, GC_INTERVAL, a, b, -1, -1);
}

static int
translate_side(GcTranslation *tr, GcLeaf *leaf, Expr *side)
{
	Expr	   *args[2];

	if (gc_span_operator((OpExpr *) side, args) != 0)
		return translate_span(tr, leaf, side);
	return gc_is_age(side) ? gc_age_span(tr, gc_age_of_times(tr, leaf, (FuncExpr *) side))
		: tr->translate(tr, leaf, side);
}

/* Both sides of a comparison; text constants become codes of the other side. */
static bool
translate_pair(GcTranslation *tr, GcLeaf *leaf, Expr *left, Expr *right, int *a, int *b)
{
	bool		lconst = !gc_has_vars((Node *) left);
	bool		rconst = !gc_has_vars((Node *) right);
	bool		text = GC_KIND_IS_CODE(gc_type_kind(exprType((Node *) left))) &&
		GC_KIND_IS_CODE(gc_type_kind(exprType((Node *) right)));

	left = gc_comparable_interval(lconst ? gc_comparable_instant(left, exprType((Node *) right)) : left);
	right = gc_comparable_interval(rconst ? gc_comparable_instant(right, exprType((Node *) left)) : right);
	if (!text || lconst == rconst)
	{
		*a = translate_side(tr, leaf, left);
		*b = *a < 0 ? GC_NO_EXPR : translate_side(tr, leaf, right);
	}
	else if (rconst)
	{
		*a = tr->translate(tr, leaf, left);
		*b = *a < 0 ? GC_NO_EXPR : gc_translate_param(tr, right, tr->space[*a]);
	}
	else
	{
		*b = tr->translate(tr, leaf, right);
		*a = *b < 0 ? GC_NO_EXPR : gc_translate_param(tr, left, tr->space[*b]);
	}
	return gc_align_kinds(tr, a, b);
}

/* The order of two texts of rows.  Beside a constant, a lookup table of the result is better. */
static int
translate_text_order(GcTranslation *tr, GcLeaf *leaf, OpExpr *op, GcOp cmp)
{
	Expr	   *left = linitial(op->args);
	Expr	   *right = lsecond(op->args);
	const Oid	type = exprType((Node *) left);
	uint16		space;
	int			table = GC_NO_EXPR;
	int			a,
				b;

	if (cmp == GC_OP_EQ || cmp == GC_OP_NE || cmp == GC_OP_DISTINCT || !gc_has_vars((Node *) left) ||
		!gc_has_vars((Node *) right) || gc_base_type(type) != gc_base_type(exprType((Node *) right)))
		return gc_refuse(tr, "two texts are compared by operator %s", get_opname(op->opno));
	a = tr->translate(tr, leaf, left);
	b = a < 0 ? GC_NO_EXPR : tr->translate(tr, leaf, right);
	if (b < 0)
		return GC_NO_EXPR;
	space = gc_common_space(tr->space[a], tr->space[b]);
	if (tr->space[a] != tr->space[b])
	{
		a = gc_add_to_space(tr, a, space);
		b = a < 0 ? GC_NO_EXPR : gc_add_to_space(tr, b, space);
	}
	a = a < 0 || b < 0 ? GC_NO_EXPR : gc_text_rank(tr, type, op->inputcollid, a, &table);
	b = a < 0 ? GC_NO_EXPR : gc_text_rank(tr, type, op->inputcollid, b, &table);
	return b < 0 ? GC_NO_EXPR : gc_build_expr(tr, cmp, GC_BOOL, a, b, -1, -1);
}

int
gc_translate_comparison(GcTranslation *tr, GcLeaf *leaf, OpExpr *op, GcOp cmp)
{
	const Oid	type = exprType(linitial(op->args));
	int			a,
				b;

	if (gc_text_equality_ok(op, cmp))
		return translate_pair(tr, leaf, linitial(op->args), lsecond(op->args), &a, &b) ?
			gc_build_expr(tr, cmp, GC_BOOL, a, b, -1, -1) : GC_NO_EXPR;
	if (gc_type_kind(type) != GC_TEXT)
		return gc_refuse(tr, "operator %s is not supported for type %s", get_opname(op->opno), format_type_be(type));
	return translate_text_order(tr, leaf, op, cmp);
}

/* NULLIF(a, b) is CASE WHEN a = b THEN NULL ELSE a END. */
int
gc_translate_nullif(GcTranslation *tr, GcLeaf *leaf, NullIfExpr *n)
{
	int			a,
				b,
				eq;
	int			first = tr->translate(tr, leaf, linitial(n->args));

	if (first < 0 || !IS_BUILTIN(n->opno) || strcmp(get_opname(n->opno), "=") != 0 ||
		!gc_text_equality_ok((OpExpr *) n, GC_OP_EQ))
		return gc_refuse(tr, "NULLIF is not supported for these types");
	if (!translate_pair(tr, leaf, linitial(n->args), lsecond(n->args), &a, &b))
		return GC_NO_EXPR;
	eq = gc_build_expr(tr, GC_OP_EQ, GC_BOOL, a, b, -1, -1);
	a = gc_build_expr(tr, GC_OP_IF, tr->pexprs[first].kind, eq,
					  gc_build_null(tr, tr->pexprs[first].kind), first, -1);
	if (a >= 0)
		tr->space[a] = tr->space[first];
	return a;
}

/* The elements of a list as expressions; NIL: they are not known here, or too many, or there are none. */
static List *
elements_of(Expr *array)
{
	const Const *c = (const Const *) array;
	List	   *elements = NIL;
	ArrayType  *values;
	Datum	   *elems;
	bool	   *nulls;
	int16		len;
	bool		byval;
	char		align;
	int			n;

	if (IsA(array, ArrayExpr))
	{
		elements = ((ArrayExpr *) array)->multidims ? NIL : ((ArrayExpr *) array)->elements;
		return list_length(elements) > MOST_COMPARED ? NIL : elements;
	}
	if (!IsA(array, Const) || c->constisnull)
		return NIL;
	values = DatumGetArrayTypeP(c->constvalue);
	if (ArrayGetNItems(ARR_NDIM(values), ARR_DIMS(values)) > MOST_COMPARED)
		return NIL;
	get_typlenbyvalalign(ARR_ELEMTYPE(values), &len, &byval, &align);
	deconstruct_array(values, ARR_ELEMTYPE(values), len, byval, align, &elems, &nulls, &n);
	for (int i = 0; i < n; i++)
		elements = lappend(elements, makeConst(ARR_ELEMTYPE(values), -1, InvalidOid, len, elems[i], nulls[i], byval));
	return elements;
}

/* A list whose elements are compared one by one: x = a OR x = b, NULLs included. */
static int
translate_compared(GcTranslation *tr, int x, List *elements)
{
	int			e = GC_NO_EXPR;
	ListCell   *lc;

	foreach(lc, elements)
	{
		int			a = x;
		int			b = gc_translate_param(tr, lfirst(lc), GC_SPACE_NONE);

		if (b < 0 || !gc_align_kinds(tr, &a, &b))
			return GC_NO_EXPR;
		a = gc_build_expr(tr, GC_OP_EQ, GC_BOOL, a, b, -1, -1);
		e = a < 0 || e < 0 ? a : gc_build_expr(tr, GC_OP_OR, GC_BOOL, e, a, -1, -1);
		if (e < 0)
			return e;
	}
	return e;
}

/* Lists of floats there are none, and the scale of numerics is known before execution of a table's columns alone. */
static bool
is_compared(const GcTranslation *tr, int x, GcKind elem)
{
	if (GC_KIND_IS_FLOAT(elem))
		return GC_KIND_IS_FLOAT(tr->pexprs[x].kind);
	if (elem != GC_NUMERIC || tr->pexprs[x].kind != GC_NUMERIC)
		return false;
	while (tr->pexprs[x].op == GC_OP_PAYLOAD)
		x = tr->payloads[tr->pexprs[x].ref].expr;
	return tr->pexprs[x].op != GC_OP_COLUMN || tr->groups_of[tr->columns[tr->pexprs[x].ref].input] != 0;
}

/* x IN a list that is evaluated at execution. */
static int
translate_list(GcTranslation *tr, int x, Expr *array)
{
	GcPlanList *list = &tr->plan->lists[tr->nlists];

	if (tr->nlists == GC_MAX_LISTS)
		return gc_refuse(tr, "the query has too many IN lists");
	list->expr = gc_exec_expr(tr, array);
	list->arg = x;
	return gc_build_expr(tr, GC_OP_IN, GC_BOOL, x, -1, -1, tr->nlists++);
}

int
gc_translate_in(GcTranslation *tr, GcLeaf *leaf, ScalarArrayOpExpr *s)
{
	const char *name = get_opname(s->opno);
	Expr	   *array = lsecond(s->args);
	GcKind		elem = gc_type_kind(get_element_type(exprType((Node *) array)));
	List	   *elements;
	int			a,
				e;

	if (!IS_BUILTIN(s->opno) || strcmp(name, s->useOr ? "=" : "<>") != 0)
		return gc_refuse(tr, "operator %s with an array is not supported", name);
	if (gc_has_vars((Node *) array) || contain_volatile_functions((Node *) array) ||
		contain_subplans((Node *) array))
		return gc_refuse(tr, "an array that is not constant is searched");
	if (GC_KIND_IS_CODE(elem))
		return gc_refuse(tr, "IN is not supported for type %s", format_type_be(exprType(linitial(s->args))));
	a = tr->translate(tr, leaf, linitial(s->args));
	if (a < 0)
		return a;
	elements = is_compared(tr, a, elem) ? elements_of(array) : NIL;
	/* Integers of any width, else the very same kind.  Of texts there is a lookup table. */
	if (elements == NIL && !(GC_KIND_IS_INT(tr->pexprs[a].kind) && GC_KIND_IS_INT(elem)) &&
		(tr->pexprs[a].kind != elem || GC_KIND_IS_FLOAT(elem)))
		return gc_refuse(tr, "IN is not supported for type %s", format_type_be(exprType(linitial(s->args))));
	e = elements ? translate_compared(tr, a, elements) : translate_list(tr, a, array);
	if (e >= 0 && !s->useOr)
		e = gc_build_expr(tr, GC_OP_NOT, GC_BOOL, e, -1, -1, -1);
	return e;
}

/*-------------------------------------------------------------------------
 * Rows
 *
 * PostgreSQL compares the columns from left to right, and the first ones that are unequal, or NULL, decide.
 *-------------------------------------------------------------------------
 */

/* The comparison of one column by an operator of its family; NULL if that has none. */
static Expr *
compare_column(RowCompareExpr *row, int column, int strategy)
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
	whole = compare_column(row, last, strategy);
	for (int i = last - 1; i >= 0 && whole; i--)
	{
		Expr	   *unequal = compare_column(row, i, less ? BTLessStrategyNumber : BTGreaterStrategyNumber);
		Expr	   *equal = compare_column(row, i, BTEqualStrategyNumber);

		if (unequal == NULL || equal == NULL)
			return NULL;
		whole = makeBoolExpr(OR_EXPR, list_make2(unequal, makeBoolExpr(AND_EXPR, list_make2(equal, whole), -1)), -1);
	}
	return whole;
}
