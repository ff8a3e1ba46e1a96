/*-------------------------------------------------------------------------
 *
 * near.c
 *	  Conditions on groups by near values of numerics.
 *
 * The digits of a quotient or of a standard deviation are PostgreSQL's to make, a microsecond for each.  But most
 * groups are far from where a condition changes.  A near value is a float in the place of the numeric.  It is 0
 * where that is 0, infinite where that is NULL, else as far from it as said here at most.  It may be NaN.  A
 * condition by near values drops the groups of which it is certain that PostgreSQL does.  The session decodes the
 * others, and tests HAVING itself.  Of a subquery's groups, the device tests the others (relations/pipelines.c).
 *
 * NaN says that nothing is known: of divisions by zero, where digits cancel out, and far from 1.  What is made of NaN
 * is NaN, even beside NULL.  So no group is dropped whose condition raises an error.
 *
 * Errors are relative ones.  Those of a float's and of a numeric's operation are below ROUNDING, as numerics are
 * rounded to 16 significant digits or more.  Not so standard deviations, which have as many digits as the variance.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "choice.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "../base/builder.h"
#include "../base/quotient.h"
#include "../../columns/encode/pgkinds.h"
#include "../expr/expr.h"
#include "../expr/functions.h"
#include "../expr/raises.h"
#include "../../program/functions.h"

#define ROUNDING		1e-15
#define ROOT_ERROR		1e-9	/* of roots up to gc_near_root()'s limit */
#define MOST_ERROR		5e-8	/* of either side: half of what GC_NEAR_APART() asks for */
#define CANCELLATION	32		/* gc_near_sum(): how much smaller than its parts a sum may be */

/* A near value; expr: a float8 that is never NULL, or GC_NO_EXPR. */
typedef struct Near
{
	int			expr;
	double		error;
} Near;

static const Near nothing = {GC_NO_EXPR, 0};

static Near near_value(GcTranslation *tr, Expr *expr);
static int	maybe(GcTranslation *tr, Expr *clause, bool wanted);

/*-------------------------------------------------------------------------
 * Errors
 *-------------------------------------------------------------------------
 */

/* Can the operator raise no error, whatever its arguments are? */
static bool
is_harmless(const OpExpr *op)
{
	const char *name = get_opname(op->opno);

	if (op->opno >= FirstGenbkiObjectId || gc_type_kind(exprType(linitial(op->args))) == GC_KIND_NONE)
		return false;
	return gc_comparison_op(name) != 0 ||
		(op->opresulttype == NUMERICOID &&
		 (strcmp(name, "+") == 0 || strcmp(name, "-") == 0 || strcmp(name, "*") == 0));
}

GcRaises
gc_call_raises(const Node *node)
{
	List	   *args;
	const GcBuiltin *b = gc_builtin_called(node, &args);

	return ((b->flags & GC_SAFE_OF_GROUPS) && gc_are_harmless(b, args)) ||
		(IsA(node, OpExpr) && is_harmless((const OpExpr *) node)) ? GC_RAISES_BELOW : GC_RAISES_UNKNOWN;
}

bool
gc_is_sorted_by(const EquivalenceClass *ec, const Node *expr)
{
	return list_length(ec->ec_members) == 1 && equal(linitial_node(EquivalenceMember, ec->ec_members)->em_expr, expr);
}

typedef struct GroupsContext
{
	List	   *keys;			/* what the pipeline groups by */
	EquivalenceClass *order;	/* what the device computes of each group, or NULL */
} GroupsContext;

/* Keys and arguments of aggregates raise nothing: the device has computed them. */
static GcRaises
of_groups_raises(Node *node, void *of)
{
	const GroupsContext *context = of;

	if (IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, PlaceHolderVar) || IsA(node, Param) ||
		list_member(context->keys, node) || (context->order && gc_is_sorted_by(context->order, node)))
		return GC_RAISES_NOTHING;
	return gc_call_raises(node);
}

bool
gc_groups_may_raise(GcTranslation *tr, int pipeline, Node *node, EquivalenceClass *order)
{
	GroupsContext context = {tr->key_nodes[pipeline], order};

	return gc_may_raise(node, of_groups_raises, &context);
}

/*-------------------------------------------------------------------------
 * Values
 *-------------------------------------------------------------------------
 */

/* The near value of NULL. */
static Near
near_null(GcTranslation *tr)
{
	return (Near) {gc_build_float8(tr, get_float8_infinity()), 0};
}

/* A call of a function that makes near values of others, which may be NULL. */
static Near
near_call(GcTranslation *tr, GcFunction function, int a, int b, int c)
{
	const int	e = gc_build_expr(tr, GC_OP_CALL, GC_FLOAT8, a, b, c, function);

	return (Near) {e < 0 ? e : gc_build_expr(tr, GC_OP_COALESCE, GC_FLOAT8, e, near_null(tr).expr, -1, -1), ROUNDING};
}

/* The near value of an integer or a numeric of the program. */
static Near
near_of(GcTranslation *tr, int e)
{
	if (e < 0 || (!GC_KIND_IS_INT(tr->pexprs[e].kind) && tr->pexprs[e].kind != GC_NUMERIC))
	{
		gc_refuse(tr, "a condition on groups is not of numbers");
		return nothing;
	}
	return near_call(tr, GC_CALL_NEAR, e, -1, -1);
}

/* A near value that is made of two. */
static Near
combine(GcTranslation *tr, GcFunction function, Near a, Near b)
{
	const double error = function == GC_CALL_NEAR_PRODUCT || function == GC_CALL_NEAR_QUOTIENT ? a.error + b.error :
	(function == GC_CALL_NEAR_SUM ? CANCELLATION : 1) * Max(a.error, b.error);
	Near		result = {GC_NO_EXPR, 1.001 * error + 2 * ROUNDING};

	if (a.expr >= 0 && b.expr >= 0)
		result.expr = gc_build_expr(tr, GC_OP_CALL, GC_FLOAT8, a.expr, b.expr, -1, function);
	if (result.expr >= 0 && result.error > MOST_ERROR)
		result.expr = gc_refuse(tr, "a condition on groups is made of too many values");
	return result;
}

/* A number that PostgreSQL computes once. */
static Near
near_param(GcTranslation *tr, Expr *expr)
{
	Expr	   *as_float = (Expr *) makeFuncExpr(F_FLOAT8_NUMERIC, FLOAT8OID, list_make1(expr), InvalidOid, InvalidOid,
												 COERCE_EXPLICIT_CAST);
	const int	e = gc_translate_param(tr, as_float, GC_SPACE_NONE);

	return e < 0 ? nothing : near_call(tr, GC_CALL_NEAR_PARAM, e, -1, -1);
}

/* A variance or a standard deviation; of one value, that of a sample is NULL. */
static Near
near_variance(GcTranslation *tr, const GcSums *sums, Oid finalfn)
{
	const bool	of_sample = finalfn == F_NUMERIC_VAR_SAMP || finalfn == F_NUMERIC_STDDEV_SAMP;
	const Near	n = near_of(tr, sums->count);
	const Near	minus_one = {gc_build_float8(tr, -1), 0};
	const Near	spread = near_call(tr, GC_CALL_NEAR_SPREAD, sums->count, sums->sum, sums->squares);
	Near		v = combine(tr, GC_CALL_NEAR_PRODUCT, n, of_sample ? combine(tr, GC_CALL_NEAR_SUM, n, minus_one) : n);

	v = combine(tr, GC_CALL_NEAR_QUOTIENT, spread, v);
	if (v.expr >= 0 && (finalfn == F_NUMERIC_STDDEV_SAMP || finalfn == F_NUMERIC_STDDEV_POP))
		v = (Near) {gc_build_expr(tr, GC_OP_CALL, GC_FLOAT8, v.expr, -1, -1, GC_CALL_NEAR_ROOT), ROOT_ERROR};
	if (v.expr >= 0 && of_sample)
		v.expr = gc_build_expr(tr, GC_OP_IF, GC_FLOAT8,
							   gc_build_expr(tr, GC_OP_GT, GC_BOOL, sums->count, gc_build_int8(tr, 1), -1, -1),
							   v.expr, near_null(tr).expr, -1);
	return v;
}

/* An aggregate; of those that are one accumulator's value, that. */
static Near
near_aggregate(GcTranslation *tr, Aggref *agg)
{
	GcSums		sums;
	const GcSqlAggregate *sql = gc_groups_sums(tr, agg, &sums);

	if (sql == NULL)
		return tr->reason ? nothing : near_of(tr, tr->translate(tr, NULL, (Expr *) agg));
	if (sql->how == GC_AGGREGATE_VARIANCE)
		return near_variance(tr, &sums, sql->finalfn);
	return sql->how == GC_AGGREGATE_SUM ? near_of(tr, sums.sum) :
		combine(tr, GC_CALL_NEAR_QUOTIENT, near_of(tr, sums.sum), near_of(tr, sums.count));
}

/* The operator's name, if it is a numeric's and built in. */
static const char *
numeric_operator(const OpExpr *op)
{
	if (op->opno >= FirstGenbkiObjectId || exprType(llast(op->args)) != NUMERICOID ||
		exprType(linitial(op->args)) != NUMERICOID)
		return NULL;
	return get_opname(op->opno);
}

/* Arithmetic of numerics. */
static Near
near_operation(GcTranslation *tr, OpExpr *op)
{
	const char *name = numeric_operator(op);
	const GcOp	what = name ? gc_arith_op(name) : 0;
	Near		a,
				b;

	if (what != GC_OP_ADD && what != GC_OP_SUB && what != GC_OP_MUL && what != GC_OP_DIV)
	{
		gc_refuse(tr, "a condition on groups has an operator that is not known");
		return nothing;
	}
	b = near_value(tr, llast(op->args));
	if (what == GC_OP_SUB)
		b = combine(tr, GC_CALL_NEAR_PRODUCT, b, (Near) {gc_build_float8(tr, -1), 0});
	if (list_length(op->args) == 1)
		return b;
	a = b.expr < 0 ? b : near_value(tr, linitial(op->args));
	return combine(tr, what == GC_OP_MUL ? GC_CALL_NEAR_PRODUCT : what == GC_OP_DIV ? GC_CALL_NEAR_QUOTIENT : GC_CALL_NEAR_SUM, a, b);
}

/* CASE, by what its conditions may be: a value where it is certain which one it is. */
static Near
near_case(GcTranslation *tr, CaseExpr *c)
{
	Near		result;

	c = gc_case_by_conditions(c);
	result = c->defresult ? near_value(tr, c->defresult) : near_null(tr);
	for (int i = list_length(c->args) - 1; i >= 0 && result.expr >= 0; i--)
	{
		CaseWhen   *when = list_nth_node(CaseWhen, c->args, i);
		const Near	then = near_value(tr, when->result);
		const int	is_true = then.expr < 0 ? GC_NO_EXPR : maybe(tr, when->expr, true);
		const int	is_not = is_true < 0 ? GC_NO_EXPR : maybe(tr, when->expr, false);

		if (is_not < 0)
			return nothing;
		result.expr = gc_build_expr(tr, GC_OP_IF, GC_FLOAT8, is_true, gc_build_float8(tr, get_float8_nan()),
									result.expr, -1);
		result.expr = gc_build_expr(tr, GC_OP_IF, GC_FLOAT8, is_not, result.expr, then.expr, -1);
		result.error = Max(result.error, then.error);
	}
	return result;
}

/* NULLIF() by PostgreSQL's own equality. */
static Near
near_nullif(GcTranslation *tr, const NullIfExpr *n)
{
	const char *name = numeric_operator(n);
	Near		a;

	if (name == NULL || gc_comparison_op(name) != GC_OP_EQ)
	{
		gc_refuse(tr, "a condition on groups has an operator that is not known");
		return nothing;
	}
	a = near_value(tr, linitial(n->args));
	return a.expr < 0 ? a : combine(tr, GC_CALL_NEAR_NULLIF, a, near_value(tr, lsecond(n->args)));
}

/* The first of several values that is not NULL. */
static Near
near_coalesce(GcTranslation *tr, const CoalesceExpr *c)
{
	Near		result = near_value(tr, linitial(c->args));
	ListCell   *lc;

	for_each_from(lc, c->args, 1)
	{
		if (result.expr >= 0)
			result = combine(tr, GC_CALL_NEAR_COALESCE, result, near_value(tr, lfirst(lc)));
	}
	return result;
}

/* The near value of a number; nothing, with a reason, if it has none. */
static Near
near_value(GcTranslation *tr, Expr *expr)
{
	int			e;

	check_stack_depth();
	if (IsA(expr, Aggref))
		return near_aggregate(tr, (Aggref *) expr);
	if (tr->groups->part(tr, expr, &e))
		return near_of(tr, e);
	if (exprType((Node *) expr) == NUMERICOID && !gc_has_vars((Node *) expr))
		return near_param(tr, expr);
	switch (nodeTag(expr))
	{
		case T_OpExpr:
			return near_operation(tr, (OpExpr *) expr);
		case T_CaseExpr:
			return near_case(tr, (CaseExpr *) expr);
		case T_NullIfExpr:
			return near_nullif(tr, (NullIfExpr *) expr);
		case T_CoalesceExpr:
			return near_coalesce(tr, (CoalesceExpr *) expr);
		default:
			e = tr->translate(tr, NULL, expr);
			return e < 0 || !gc_no_quotient(tr, e, "part of a condition on groups") ? nothing : near_of(tr, e);
	}
}

/*-------------------------------------------------------------------------
 * Conditions
 *-------------------------------------------------------------------------
 */

/* Where the comparison of two numerics may be true; or, if that is not wanted, where it may not be. */
static int
maybe_compared(GcTranslation *tr, OpExpr *op, GcOp cmp, bool wanted)
{
	/* gc_near_may(): bits for less, equal and greater; one more for NULL. */
	static const int results[] = {[GC_OP_EQ] = 2, [GC_OP_NE] = 5, [GC_OP_LT] = 1, [GC_OP_LE] = 3, [GC_OP_GT] = 4, [GC_OP_GE] = 6};
	const int	bits = wanted ? results[cmp] : 15 - results[cmp];
	const Near	a = near_value(tr, linitial(op->args));
	const Near	b = a.expr < 0 ? a : near_value(tr, lsecond(op->args));

	return b.expr < 0 ? GC_NO_EXPR :
		gc_build_expr(tr, GC_OP_CALL, GC_BOOL, a.expr, b.expr, gc_build_int8(tr, bits), GC_CALL_NEAR_MAY);
}

/*
 * AND or OR of what each of the conditions may be.  Of AND, one that may raise an error is asked alone: NULL in front
 * of it does not spare it.  No condition is asked that stands behind one that may raise an error and could hide it.
 */
static int
maybe_all(GcTranslation *tr, BoolExpr *b, bool wanted)
{
	const GcOp	op = (b->boolop == AND_EXPR) == wanted ? GC_OP_AND : GC_OP_OR;
	int			e = GC_NO_EXPR;
	ListCell   *lc;

	foreach(lc, b->args)
	{
		const bool	raises = op == GC_OP_AND && gc_groups_may_raise(tr, tr->groups->pipeline, lfirst(lc), NULL);
		const int	next = maybe(tr, lfirst(lc), wanted);

		e = next < 0 || e < 0 || (raises && wanted) ? next : gc_build_expr(tr, op, GC_BOOL, e, next, -1, -1);
		if (e < 0 || raises)
			break;
	}
	return e;
}

/* True wherever a clause may be true; or, if that is not wanted, wherever it may be false or NULL. */
static int
maybe(GcTranslation *tr, Expr *clause, bool wanted)
{
	GcOp		cmp = 0;
	int			e;

	check_stack_depth();
	if (IsA(clause, BoolExpr) && ((BoolExpr *) clause)->boolop != NOT_EXPR)
		return maybe_all(tr, (BoolExpr *) clause, wanted);
	if (IsA(clause, OpExpr) && numeric_operator((OpExpr *) clause))
		cmp = gc_comparison_op(numeric_operator((OpExpr *) clause));
	if (cmp != 0)
		return maybe_compared(tr, (OpExpr *) clause, cmp, wanted);
	e = tr->translate(tr, NULL, clause);
	return e < 0 || wanted ? e : gc_build_expr(tr, GC_OP_NOTTRUE, GC_BOOL, e, -1, -1, -1);
}

int
gc_groups_maybe(GcTranslation *tr, GcGroups *groups, Expr *clause)
{
	GcLevel		level = gc_level_over(tr, groups);
	int			e = maybe(tr, clause, true);

	gc_level_leave(tr, &level);
	return e;
}
