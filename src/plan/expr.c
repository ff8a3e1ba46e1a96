/*-------------------------------------------------------------------------
 *
 * expr.c
 *	  The one place that says which expressions the device computes, and how.
 *
 * Three ways, tried in this order:
 *	- an expression without Vars is a parameter: PostgreSQL computes it once per
 *	  execution;
 *	- operators and functions that kernels know (operators.c, cuda/gc_value.h);
 *	- any other immutable expression of a single Var with few values (a
 *	  dictionary, dates, small integers) becomes a lookup table that PostgreSQL
 *	  fills, one entry per value: LIKE, substring, extract, to_char, ...; and of two
 *	  texts, one per pair: ||, replace, ... (lookup.c)
 * Everything else is refused, with a reason.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "expr.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "append.h"
#include "attach.h"
#include "builder.h"
#include "cases.h"
#include "functions.h"
#include "instants.h"
#include "leaf.h"
#include "lookup.h"
#include "operators.h"
#include "quotient.h"
#include "row_compare.h"
#include "../columns/pgkinds.h"

static int	translate_any(GcTranslation *tr, GcLeaf *leaf, Expr *expr);
static int	translate_lookup(GcTranslation *tr, GcLeaf *leaf, Expr *expr);

#define BUILTIN(oid)	((oid) < FirstGenbkiObjectId)

/* Aggregates stand for values of groups. */
static bool
has_vars(Node *node)
{
	return contain_var_clause(node) || contain_agg_clause(node);
}

/*-------------------------------------------------------------------------
 * Parameters
 *-------------------------------------------------------------------------
 */

/* An expression without Vars.  space: where a text value will be looked up. */
static int
translate_param(GcTranslation *tr, Expr *expr, uint16 space)
{
	GcKind		kind = gc_type_kind(exprType((Node *) expr));

	if (kind == GC_KIND_NONE)
		return gc_refuse(tr, "type %s is not supported", format_type_be(exprType((Node *) expr)));
	if (contain_volatile_functions((Node *) expr))
		return gc_refuse(tr, "a volatile function is called");
	if (contain_subplans((Node *) expr))
		return gc_refuse(tr, "a subplan is used in an expression");
	if (GC_KIND_IS_CODE(kind) && space == GC_SPACE_NONE)
		return kind == GC_TEXT ? gc_refuse(tr, "a text constant is used other than in a comparison") :
			gc_refuse(tr, "a constant of type %s is used other than in a comparison", format_type_be(exprType((Node *) expr)));
	if (gc_interval_refusal(expr))
		return gc_refuse(tr, "%s", gc_interval_refusal(expr));
	if (IsA(expr, Const) && ((Const *) expr)->constisnull)
		return gc_build_null(tr, kind);
	return gc_build_param(tr, expr, kind, space);
}

/*-------------------------------------------------------------------------
 * Comparisons
 *-------------------------------------------------------------------------
 */

/* age(), of the kind that it alone has. */
static int
translate_age(GcTranslation *tr, GcLeaf *leaf, const FuncExpr *f)
{
	int			a = translate_any(tr, leaf, linitial(f->args));
	int			b = a < 0 ? GC_NO_EXPR : translate_any(tr, leaf, lsecond(f->args));

	return b < 0 ? GC_NO_EXPR : gc_translate_age(tr, f, a, b);
}

/* One side of a comparison. */
static int
translate_side(GcTranslation *tr, GcLeaf *leaf, Expr *side)
{
	return gc_is_age(side) ? gc_age_span(tr, translate_age(tr, leaf, (FuncExpr *) side)) : translate_any(tr, leaf, side);
}

/* Both sides of a comparison; text constants become codes of the other side. */
static bool
translate_pair(GcTranslation *tr, GcLeaf *leaf, Expr *left, Expr *right, int *a, int *b)
{
	bool		lconst = !has_vars((Node *) left);
	bool		rconst = !has_vars((Node *) right);
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
		*a = translate_any(tr, leaf, left);
		*b = *a < 0 ? GC_NO_EXPR : translate_param(tr, right, tr->space[*a]);
	}
	else
	{
		*b = translate_any(tr, leaf, right);
		*a = *b < 0 ? GC_NO_EXPR : translate_param(tr, left, tr->space[*b]);
	}
	return gc_align_kinds(tr, a, b);
}

/*-------------------------------------------------------------------------
 * Operators
 *-------------------------------------------------------------------------
 */

static int
translate_arith(GcTranslation *tr, GcLeaf *leaf, List *args, Oid type, GcOp what)
{
	static const char *const names[] = {[GC_OP_ADD] = "+", [GC_OP_SUB] = "-", [GC_OP_MUL] = "*",
	[GC_OP_DIV] = "/", [GC_OP_MOD] = "%"};
	GcKind		kind = gc_type_kind(type);
	int			a = translate_any(tr, leaf, linitial(args));
	int			b = a < 0 ? GC_NO_EXPR : translate_any(tr, leaf, lsecond(args));
	GcKind		ka,
				kb;

	if (a < 0 || b < 0)
		return GC_NO_EXPR;
	ka = tr->pexprs[a].kind;
	kb = tr->pexprs[b].kind;

	if (gc_is_time_arithmetic(tr, what, kind, &a, &b))
	{
		/* as they are */
	}
	else if (ka == GC_DATE || kb == GC_DATE)
	{
		bool		ok = (what == GC_OP_ADD && ((ka == GC_DATE && kb == GC_INT4) || (ka == GC_INT4 && kb == GC_DATE))) ||
		(what == GC_OP_SUB && ka == GC_DATE && (kb == GC_INT4 || kb == GC_DATE));

		if (!ok)
			return gc_refuse(tr, "operator %s is not supported for these types", names[what]);
	}
	else if (GC_KIND_IS_INT(kind) && GC_KIND_IS_INT(ka) && GC_KIND_IS_INT(kb))
	{
		/* the arguments' own ranges count: nothing to convert */
	}
	else if (GC_KIND_IS_FLOAT(kind) && ka != GC_MONEY && what != GC_OP_MOD)
	{
		a = gc_build_cast(tr, a, kind);
		b = gc_build_cast(tr, b, kind);
	}
	else if (kind != GC_NUMERIC || ka != GC_NUMERIC || kb != GC_NUMERIC)
		return gc_refuse(tr, "operator %s is not supported for type %s", names[what], format_type_be(type));
	if (a < 0 || b < 0 ||
		(what == GC_OP_DIV && kind == GC_NUMERIC && !(gc_no_quotient(tr, a, "divided") && gc_no_quotient(tr, b, "divided by"))))
		return GC_NO_EXPR;
	return gc_build_expr(tr, what, kind, a, b, -1, -1);
}

static int
translate_unary(GcTranslation *tr, GcLeaf *leaf, OpExpr *op, const char *name)
{
	GcKind		kind = gc_type_kind(op->opresulttype);
	int			a = translate_any(tr, leaf, linitial(op->args));

	if (a < 0)
		return a;
	if (!GC_KIND_IS_INT(kind) && !GC_KIND_IS_FLOAT(kind) && kind != GC_NUMERIC)
		return gc_refuse(tr, "operator %s is not supported for type %s", name,
						 format_type_be(op->opresulttype));
	if (strcmp(name, "-") == 0)
		return gc_build_expr(tr, GC_OP_NEG, kind, a, -1, -1, -1);
	if (strcmp(name, "+") == 0)
		return a;
	if (strcmp(name, "@") == 0)
		return gc_build_expr(tr, GC_OP_ABS, kind, a, -1, -1, -1);
	return gc_refuse(tr, "operator %s is not supported", name);
}

/*
 * Is a function of a text compared with a constant?  As a lookup table, it takes a byte for each value,
 * and no dictionary of the function's results.
 */
static bool
compares_text_function(OpExpr *op)
{
	Expr	   *left = linitial(op->args);
	Expr	   *right = lsecond(op->args);

	if (IsA(right, Const) == IsA(left, Const) || !GC_KIND_IS_CODE(gc_type_kind(exprType((Node *) left))))
		return false;
	if (IsA(left, Const))
		left = right;
	while (IsA(left, RelabelType))
		left = ((RelabelType *) left)->arg;
	return IsA(left, FuncExpr) || IsA(left, OpExpr);
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

	if (cmp == GC_OP_EQ || cmp == GC_OP_NE || cmp == GC_OP_DISTINCT || !has_vars((Node *) left) ||
		!has_vars((Node *) right) || getBaseType(type) != getBaseType(exprType((Node *) right)))
		return gc_refuse(tr, "two texts are compared by operator %s", get_opname(op->opno));
	a = translate_any(tr, leaf, left);
	b = a < 0 ? GC_NO_EXPR : translate_any(tr, leaf, right);
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

static int
translate_op(GcTranslation *tr, GcLeaf *leaf, OpExpr *op, bool distinct)
{
	const char *name = get_opname(op->opno);
	GcOp		cmp = distinct ? GC_OP_DISTINCT : gc_comparison_op(name);
	int			a,
				b;

	if (!BUILTIN(op->opno))
		return gc_refuse(tr, "operator %s is not built in", name);
	if (list_length(op->args) == 1)
		return translate_unary(tr, leaf, op, name);
	if (cmp != 0)
	{
		if (!gc_text_equality_ok(op, cmp))
		{
			const Oid	type = exprType(linitial(op->args));

			if (gc_type_kind(type) != GC_TEXT)
				return gc_refuse(tr, "operator %s is not supported for type %s", name, format_type_be(type));
			return translate_text_order(tr, leaf, op, cmp);
		}
		if (compares_text_function(op))
		{
			const char *reason = tr->reason;
			int			e = translate_lookup(tr, leaf, (Expr *) op);

			if (e >= 0)
				return e;
			tr->reason = reason;
		}
		if (!translate_pair(tr, leaf, linitial(op->args), lsecond(op->args), &a, &b))
			return GC_NO_EXPR;
		return gc_build_expr(tr, cmp, GC_BOOL, a, b, -1, -1);
	}
	if (gc_adds_interval(op))
	{
		a = translate_any(tr, leaf, linitial(op->args));
		return a < 0 ? a : gc_translate_add_interval(tr, op, a);
	}
	if (gc_arith_op(name) != 0)
		return translate_arith(tr, leaf, op->args, op->opresulttype, gc_arith_op(name));
	return gc_refuse_call(tr, "operator", name, op->args);
}

/*-------------------------------------------------------------------------
 * Functions: casts and a few others
 *-------------------------------------------------------------------------
 */

static int
translate_epoch_of_difference(GcTranslation *tr, GcLeaf *leaf, FuncExpr *f)
{
	OpExpr	   *difference = gc_epoch_of_difference(f);
	int			a = translate_any(tr, leaf, linitial(difference->args));
	int			b = a < 0 ? GC_NO_EXPR : translate_any(tr, leaf, lsecond(difference->args));

	return b < 0 ? GC_NO_EXPR : gc_translate_epoch(tr, f, a, b);
}

static int
translate_width_bucket(GcTranslation *tr, GcLeaf *leaf, FuncExpr *f)
{
	int			args[4];

	for (int i = 0; i < 4; i++)
	{
		args[i] = translate_any(tr, leaf, list_nth(f->args, i));
		if (args[i] < 0)
			return GC_NO_EXPR;
	}
	return gc_translate_width_bucket(tr, args);
}

static int
translate_date_bin(GcTranslation *tr, GcLeaf *leaf, FuncExpr *f)
{
	int			ts = translate_any(tr, leaf, lsecond(f->args));
	int			origin = ts < 0 ? GC_NO_EXPR : translate_any(tr, leaf, lthird(f->args));

	return origin < 0 ? GC_NO_EXPR : gc_translate_date_bin(tr, f, ts, origin);
}

static int
translate_func(GcTranslation *tr, GcLeaf *leaf, FuncExpr *f)
{
	const char *name = get_func_name(f->funcid);
	GcKind		kind = gc_type_kind(f->funcresulttype);
	int			a;

	if (!BUILTIN(f->funcid))
		return gc_refuse(tr, "function %s is not built in", name);
	if (gc_epoch_of_difference(f))
		return translate_epoch_of_difference(tr, leaf, f);
	if (gc_is_age((Expr *) f))
		return gc_refuse(tr, "an age is used other than in a comparison");
	if (gc_is_date_bin(f))
		return translate_date_bin(tr, leaf, f);
	if (gc_function_argument(f) >= 0)
	{
		Expr	   *arg = list_nth(f->args, gc_function_argument(f));

		a = gc_is_age(arg) ? translate_age(tr, leaf, (FuncExpr *) arg) : translate_any(tr, leaf, arg);
		return a < 0 ? a : gc_translate_function(tr, f, a);
	}
	if (f->funcid == F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4)
		return translate_width_bucket(tr, leaf, f);
	if (strcmp(name, "mod") == 0 && list_length(f->args) == 2)
		return translate_arith(tr, leaf, f->args, f->funcresulttype, GC_OP_MOD);
	if (list_length(f->args) == 1 && gc_is_cast_call(f) && kind != GC_KIND_NONE &&
		!GC_KIND_IS_CODE(kind))
	{
		a = translate_any(tr, leaf, linitial(f->args));
		if (a < 0)
			return a;
		if (!gc_cast_supported(tr->pexprs[a].kind, kind))
			return gc_refuse(tr, "the cast from %s to %s is not supported", format_type_be(exprType(linitial(f->args))),
							 format_type_be(f->funcresulttype));
		return gc_build_cast(tr, a, kind);
	}
	return gc_refuse_call(tr, "function", name, f->args);
}

/*-------------------------------------------------------------------------
 * The other node types
 *-------------------------------------------------------------------------
 */

static int
translate_bool(GcTranslation *tr, GcLeaf *leaf, BoolExpr *b)
{
	ListCell   *lc;
	int			e = GC_NO_EXPR;

	foreach(lc, b->args)
	{
		int			a = translate_any(tr, leaf, lfirst(lc));

		if (a < 0)
			return a;
		if (b->boolop == NOT_EXPR)
			return gc_build_expr(tr, GC_OP_NOT, GC_BOOL, a, -1, -1, -1);
		e = e < 0 ? a : gc_build_expr(tr, b->boolop == AND_EXPR ? GC_OP_AND : GC_OP_OR,
									  GC_BOOL, e, a, -1, -1);
		if (e < 0)
			return e;
	}
	return e;
}

static int
translate_boolean_test(GcTranslation *tr, GcLeaf *leaf, BooleanTest *t)
{
	static const GcOp ops[] = {[IS_TRUE] = GC_OP_ISTRUE, [IS_NOT_TRUE] = GC_OP_NOTTRUE,
		[IS_FALSE] = GC_OP_ISFALSE, [IS_NOT_FALSE] = GC_OP_NOTFALSE,
	[IS_UNKNOWN] = GC_OP_ISNULL, [IS_NOT_UNKNOWN] = GC_OP_NOTNULL};
	int			a = translate_any(tr, leaf, t->arg);

	return a < 0 ? a : gc_build_expr(tr, ops[t->booltesttype], GC_BOOL, a, -1, -1, -1);
}

/* One arm; a text constant belongs to the constants' dictionary. */
static int
translate_arm(GcTranslation *tr, GcLeaf *leaf, const GcChoice *choice, Expr *arm)
{
	if (choice->texts_mix && !has_vars((Node *) arm) && !IsA(arm, PlaceHolderVar))
		return translate_param(tr, arm, GC_SPACE_CONSTANTS);
	return translate_any(tr, leaf, arm);
}

static int
translate_case(GcTranslation *tr, GcLeaf *leaf, CaseExpr *c)
{
	GcKind		kind = gc_type_kind(c->casetype);
	GcChoice	choice;
	uint16		space;
	int			e;

	if (c->arg)
		c = gc_put_operand(c);
	if (kind == GC_KIND_NONE)
		return gc_refuse(tr, "type %s is not supported", format_type_be(c->casetype));
	choice = gc_begin_choice(tr, (Expr *) c);
	tr->choices++;
	e = c->defresult ? translate_arm(tr, leaf, &choice, c->defresult) : gc_build_null(tr, kind);
	for (int i = list_length(c->args) - 1; i >= 0 && e >= 0; i--)
	{
		CaseWhen   *w = list_nth_node(CaseWhen, c->args, i);
		int			cond = translate_any(tr, leaf, w->expr);
		int			then = cond < 0 ? cond : translate_arm(tr, leaf, &choice, w->result);

		if (then < 0 || !gc_join_arms(tr, &choice, &then, &e))
		{
			e = GC_NO_EXPR;
			break;
		}
		space = gc_common_space(tr->space[then], tr->space[e]);
		e = gc_build_expr(tr, GC_OP_IF, kind, cond, then, e, -1);
		if (e >= 0)
			tr->space[e] = space;
	}
	tr->choices--;
	return e;
}

/* GREATEST or LEAST of texts. */
static int
translate_text_extreme(GcTranslation *tr, GcLeaf *leaf, MinMaxExpr *m)
{
	GcChoice	choice = gc_begin_choice(tr, (Expr *) m);
	List	   *arms = NIL;
	ListCell   *lc;

	foreach(lc, m->args)
	{
		int			a = translate_arm(tr, leaf, &choice, lfirst(lc));

		if (a < 0)
			return a;
		if (tr->pexprs[a].op != GC_OP_NULL)
			arms = lappend_int(arms, a);
	}
	return arms == NIL ? gc_build_null(tr, gc_type_kind(m->minmaxtype)) : gc_text_extreme(tr, m, &choice, arms);
}

/* COALESCE, GREATEST, LEAST: folded pairwise, from the left. */
static int
translate_choice(GcTranslation *tr, GcLeaf *leaf, Expr *expr, List *args, GcOp op)
{
	GcChoice	choice = gc_begin_choice(tr, expr);
	ListCell   *lc;
	uint16		space;
	int			e = GC_NO_EXPR;

	foreach(lc, args)
	{
		int			a = translate_arm(tr, leaf, &choice, lfirst(lc));

		if (a < 0)
			return a;
		if (e >= 0)
		{
			if (!gc_join_arms(tr, &choice, &e, &a))
				return GC_NO_EXPR;
			space = gc_common_space(tr->space[e], tr->space[a]);
			e = gc_build_expr(tr, op, tr->pexprs[a].kind, e, a, -1, -1);
			if (e >= 0)
				tr->space[e] = space;
		}
		else
			e = a;
		if (e < 0)
			return e;
	}
	return e;
}

/* NULLIF(a, b) is CASE WHEN a = b THEN NULL ELSE a END. */
static int
translate_nullif(GcTranslation *tr, GcLeaf *leaf, NullIfExpr *n)
{
	int			a,
				b,
				eq;
	int			first = translate_any(tr, leaf, linitial(n->args));

	if (first < 0 || !BUILTIN(n->opno) || strcmp(get_opname(n->opno), "=") != 0 ||
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

static int
translate_saop(GcTranslation *tr, GcLeaf *leaf, ScalarArrayOpExpr *s)
{
	const char *name = get_opname(s->opno);
	Expr	   *array = lsecond(s->args);
	GcKind		elem = gc_type_kind(get_element_type(exprType((Node *) array)));
	GcPlanList *list;
	int			a,
				e;

	if (!BUILTIN(s->opno) || strcmp(name, s->useOr ? "=" : "<>") != 0)
		return gc_refuse(tr, "operator %s with an array is not supported", name);
	if (has_vars((Node *) array) || contain_volatile_functions((Node *) array) ||
		contain_subplans((Node *) array))
		return gc_refuse(tr, "an array that is not constant is not supported");
	if (GC_KIND_IS_CODE(elem))
		return gc_refuse(tr, "IN is not supported for type %s", format_type_be(exprType(linitial(s->args))));
	a = translate_any(tr, leaf, linitial(s->args));
	if (a < 0)
		return a;
	/* Integers of any width, else the very same kind.  Of texts there is a lookup table. */
	if (!(GC_KIND_IS_INT(tr->pexprs[a].kind) && GC_KIND_IS_INT(elem)) &&
		(tr->pexprs[a].kind != elem || GC_KIND_IS_FLOAT(elem)))
		return gc_refuse(tr, "IN is not supported for type %s", format_type_be(exprType(linitial(s->args))));
	if (tr->nlists == GC_MAX_LISTS)
		return gc_refuse(tr, "the query has too many IN lists");
	list = &tr->plan->lists[tr->nlists];
	list->expr = gc_exec_expr(tr, array);
	list->arg = a;
	e = gc_build_expr(tr, GC_OP_IN, GC_BOOL, a, -1, -1, tr->nlists++);
	if (e >= 0 && !s->useOr)
		e = gc_build_expr(tr, GC_OP_NOT, GC_BOOL, e, -1, -1, -1);
	return e;
}

/*
 * A column of a semi or anti join's inner side, above the join.  Of a semi join, only one that is
 * equal to an outer column is used there.
 */
static int
translate_hidden(GcTranslation *tr, GcLeaf *leaf, GcLeaf *hiding, Node *node)
{
	GcKind		kind = gc_type_kind(exprType(node));
	ListCell   *lc;

	if (kind == GC_KIND_NONE)
		return gc_refuse(tr, "type %s is not supported", format_type_be(exprType(node)));
	if (hiding->join == GC_JOIN_ANTI)
		return gc_build_null(tr, kind);
	foreach(lc, hiding->keys)
	{
		GcJoinKey  *key = lfirst(lc);

		if (equal(key->build_side, node) && exprType(node) == exprType((Node *) key->probe_side))
			return translate_any(tr, leaf, key->probe_side);
	}
	return gc_refuse(tr, "a column of a semi join's inner side is used above it");
}

static int
translate_var(GcTranslation *tr, GcLeaf *leaf, Node *node)
{
	GcLeaf	   *from;
	GcLeaf	   *hiding;
	int			e;

	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varlevelsup > 0)
			return gc_refuse(tr, "an outer query's column is used");
		if (var->varattno <= 0 && tr->root->simple_rel_array[var->varno]->rtekind == RTE_RELATION)
			return gc_refuse(tr, var->varattno < 0 ? "a system column is used" : "a whole-row reference is used");
		from = gc_leaf_of(tr, bms_make_singleton(var->varno));
	}
	else
		from = gc_leaf_of(tr, gc_base_relids(tr, pull_varnos(tr->root, node)));
	if (from == NULL)
		return gc_refuse(tr, "a column of a relation outside the join is used");
	hiding = gc_hiding_leaf(tr, leaf, from);
	if (hiding)
		return translate_hidden(tr, leaf, hiding, node);
	if (from->append && IsA(node, Var))
	{
		Expr	   *column = gc_append_expr(from->append, (Var *) node);

		if (column == NULL)
			return gc_refuse(tr, "a column is not one of all tables");
		if (!IsA(column, Var))
		{
			e = translate_any(tr, from, column);
			return e < 0 ? e : gc_bring(tr, leaf, from, e);
		}
	}
	/* In its own table's pipeline nothing has made it NULL, so that it is what it stands for. */
	if (IsA(node, PlaceHolderVar) && !gc_leaf_is_source(from))
		e = translate_any(tr, from, ((PlaceHolderVar *) node)->phexpr);
	else
		e = from->groups ? from->groups->column(tr, from, (Var *) node) :
			from->arms ? from->arms->column(tr, from, (Var *) node) :
			gc_build_column(tr, from, gc_unnulled(tr, from, node));
	return e < 0 ? e : gc_bring(tr, leaf, from, e);
}

/* What an expression is that kernels do not compute. */
static const char *
form_refusal(const Expr *expr)
{
	switch (nodeTag(expr))
	{
		case T_SubPlan:
		case T_AlternativeSubPlan:
			return "a subquery in an expression is executed for each row, or hashed";
		case T_ArrayExpr:
			return "an array is made";
		case T_RowExpr:
			return "a row is made of values";
		case T_CoerceViaIO:
			return "a value is cast to or from text";
		case T_ArrayCoerceExpr:
			return "the elements of an array are converted";
		case T_SubscriptingRef:
			return "an element is taken of a value";
		case T_FieldSelect:
			return "a field is taken of a composite value";
		case T_SQLValueFunction:
			return "CURRENT_DATE or its like is used";
		default:
			return "an expression of this form is not supported";
	}
}

/* What kernels compute themselves. */
static int
translate_native(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	switch (nodeTag(expr))
	{
		case T_Var:
		case T_PlaceHolderVar:
			return translate_var(tr, leaf, (Node *) expr);
		case T_RelabelType:
			{
				RelabelType *r = (RelabelType *) expr;
				Oid			from = getBaseType(exprType((Node *) r->arg));
				Oid			to = getBaseType(r->resulttype);

				/* bpchar relabelled as text would keep its blanks: not the same */
				if ((from == BPCHAROID) != (to == BPCHAROID))
					return gc_refuse(tr, "type character is used as text");
				/* COLLATE: values that it calls equal have different codes */
				if (GC_KIND_IS_CODE(gc_type_kind(to)) && !gc_collation_deterministic(r->resultcollid))
					return gc_refuse(tr, "a nondeterministic collation is used");
				/* integer relabelled as oid has another order */
				if (gc_type_kind(from) != gc_type_kind(to))
					return gc_refuse(tr, "a value of type %s is used as %s", format_type_be(from), format_type_be(to));
				return translate_any(tr, leaf, r->arg);
			}
		case T_OpExpr:
			return translate_op(tr, leaf, (OpExpr *) expr, false);
		case T_DistinctExpr:
			if (strcmp(get_opname(((OpExpr *) expr)->opno), "=") != 0)
				return gc_refuse(tr, "IS DISTINCT FROM is not supported for these types");
			return translate_op(tr, leaf, (OpExpr *) expr, true);
		case T_NullIfExpr:
			return translate_nullif(tr, leaf, (NullIfExpr *) expr);
		case T_FuncExpr:
			return translate_func(tr, leaf, (FuncExpr *) expr);
		case T_BoolExpr:
			return translate_bool(tr, leaf, (BoolExpr *) expr);
		case T_NullTest:
			{
				NullTest   *t = (NullTest *) expr;
				int			a = t->argisrow ? gc_refuse(tr, "a row is tested for NULL")
					: translate_any(tr, leaf, t->arg);

				return a < 0 ? a : gc_build_expr(tr, t->nulltesttype == IS_NULL ? GC_OP_ISNULL : GC_OP_NOTNULL,
												 GC_BOOL, a, -1, -1, -1);
			}
		case T_BooleanTest:
			return translate_boolean_test(tr, leaf, (BooleanTest *) expr);
		case T_CaseExpr:
			return translate_case(tr, leaf, (CaseExpr *) expr);
		case T_CoalesceExpr:
			return translate_choice(tr, leaf, expr, ((CoalesceExpr *) expr)->args, GC_OP_COALESCE);
		case T_MinMaxExpr:
			if (GC_KIND_IS_CODE(gc_type_kind(exprType((Node *) expr))))
				return translate_text_extreme(tr, leaf, (MinMaxExpr *) expr);
			return translate_choice(tr, leaf, expr, ((MinMaxExpr *) expr)->args,
									((MinMaxExpr *) expr)->op == IS_GREATEST ? GC_OP_GREATEST : GC_OP_LEAST);
		case T_ScalarArrayOpExpr:
			return translate_saop(tr, leaf, (ScalarArrayOpExpr *) expr);
		case T_RowCompareExpr:
			if ((expr = gc_row_comparison((RowCompareExpr *) expr)) != NULL)
				return translate_any(tr, leaf, expr);
			return gc_refuse(tr, "rows of several values are compared");
		default:
			return gc_refuse(tr, "%s", form_refusal(expr));
	}
}

/* The same of an expression of two texts. */
static int
translate_pair_lookup(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	const GcKind kind = gc_type_kind(exprType((Node *) expr));
	Var		   *vars[2];
	int			codes[2];

	if (kind == GC_INTERVAL || !gc_lookup_pair(tr, expr, vars))
		return GC_NO_EXPR;
	for (int i = 0; i < 2; i++)
	{
		const int	nluts = tr->nluts;

		codes[i] = translate_any(tr, leaf, (Expr *) vars[i]);
		if (codes[i] < 0)
			return GC_NO_EXPR;
		/* An outer join may have made it NULL for good. */
		if (tr->pexprs[codes[i]].op == GC_OP_NULL)
			return GC_NO_EXPR;
		codes[i] = gc_lookup_codes(tr, codes[i], nluts);
	}
	return gc_pair_table(tr, expr, vars, codes);
}

/*
 * Expression of one Var as a lookup table, or GC_NO_EXPR without setting a reason
 * if it does not qualify.
 */
static int
translate_lookup(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	/* An interval's form is not known before. */
	Var		   *var = gc_type_kind(exprType((Node *) expr)) == GC_INTERVAL ? NULL : gc_lookup_argument(tr, expr);
	int			nluts = tr->nluts;
	int			arg = var ? translate_any(tr, leaf, (Expr *) var) : GC_NO_EXPR;

	if (var == NULL)
		return translate_pair_lookup(tr, leaf, expr);
	if (arg < 0 || tr->pexprs[arg].op == GC_OP_NULL || !gc_lookup_enumerable(tr, arg))
		return GC_NO_EXPR;
	arg = gc_lookup_codes(tr, arg, nluts);
	return arg < 0 ? GC_NO_EXPR : gc_lookup_table(tr, expr, var, arg);
}

static int
translate_any(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	const char *reason = tr->reason;
	int			e;

	check_stack_depth();
	if (tr->depth == GC_MAX_DEPTH)
	{
		tr->too_deep = true;
		return gc_refuse(tr, "an expression is nested too deeply");
	}
	if (tr->groups && tr->groups->part(tr, expr, &e))
		return e;
	if (!has_vars((Node *) expr) && !IsA(expr, PlaceHolderVar))
		return translate_param(tr, expr, GC_SPACE_NONE);
	tr->depth++;
	e = translate_native(tr, leaf, expr);
	tr->depth--;
	/* No other way at each of many levels: each looks at all that is below it. */
	if (e < 0 && !tr->too_deep)
	{
		/* A reason found on the native way stands unless the other way works. */
		const char *native = tr->reason;

		tr->reason = reason;
		e = translate_lookup(tr, leaf, expr);
		if (e < 0 && tr->reason == reason)
			tr->reason = native;
	}
	return e;
}

int
gc_translate_expr(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	return translate_any(tr, leaf, expr);
}

int
gc_translate_output(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	return gc_is_age(expr) ? translate_age(tr, leaf, (FuncExpr *) expr) : translate_any(tr, leaf, expr);
}
