/*-------------------------------------------------------------------------
 *
 * expr.c
 *	  The one place that says which expressions the device computes, and how.
 *
 * Three ways, tried in this order:
 *	- an expression without Vars is a parameter: PostgreSQL computes it once per
 *	  execution;
 *	- operators and functions that kernels know (operators.c, comparisons.c, cases.c, functions.c, cuda/gc_value.h);
 *	- any other immutable expression of a single Var with few values becomes a
 *	  lookup table that PostgreSQL fills (lookup.c).  A dictionary, dates and small
 *	  integers have few.  There is one entry per value: LIKE, substring, extract,
 *	  to_char, ...  Of two texts there is one per pair: ||, replace, ...
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
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "../base/append.h"
#include "../base/builder.h"
#include "../base/builtins.h"
#include "functions.h"
#include "instants.h"
#include "../base/leaf.h"
#include "lookup.h"
#include "origin.h"
#include "../../columns/encode/pgkinds.h"

static int	translate_any(GcTranslation *tr, GcLeaf *leaf, Expr *expr);
static int	translate_lookup(GcTranslation *tr, GcLeaf *leaf, Expr *expr);

#define BUILTIN(oid)	((oid) < FirstGenbkiObjectId)

/*-------------------------------------------------------------------------
 * Operators
 *-------------------------------------------------------------------------
 */

/* Both arguments, and then the operation. */
static int
translate_arith(GcTranslation *tr, GcLeaf *leaf, List *args, Oid type, GcOp what)
{
	int			a = translate_any(tr, leaf, linitial(args));
	int			b = a < 0 ? GC_NO_EXPR : translate_any(tr, leaf, lsecond(args));

	return b < 0 ? GC_NO_EXPR : gc_translate_arith(tr, type, what, a, b);
}

/* The argument, and then the operation. */
static int
translate_unary(GcTranslation *tr, GcLeaf *leaf, OpExpr *op, const char *name)
{
	int			a = translate_any(tr, leaf, linitial(op->args));

	return a < 0 ? a : gc_translate_unary(tr, op->opresulttype, name, a);
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

/* A number of days that is multiplied by an expression. */
static int
translate_days(GcTranslation *tr, GcLeaf *leaf, const GcScaledInterval *interval)
{
	int			factor = translate_any(tr, leaf, interval->factor);

	return factor < 0 ? factor : gc_translate_days(tr, interval, factor);
}

/* An operator: a comparison, arithmetic, or one that is a lookup table over one column. */
static int
translate_op(GcTranslation *tr, GcLeaf *leaf, OpExpr *op, bool distinct)
{
	const char *name = get_opname(op->opno);
	GcOp		cmp = distinct ? GC_OP_DISTINCT : gc_comparison_op(name);
	GcScaledInterval interval;
	int			factor = GC_NO_EXPR;
	int			a;

	if (!BUILTIN(op->opno))
		return gc_refuse(tr, "operator %s is not built in", name);
	if (list_length(op->args) == 1)
		return translate_unary(tr, leaf, op, name);
	if (cmp != 0)
	{
		if (gc_text_equality_ok(op, cmp) && compares_text_function(op))
		{
			const char *reason = tr->reason;
			int			e = translate_lookup(tr, leaf, (Expr *) op);

			if (e >= 0)
				return e;
			tr->reason = reason;
		}
		return gc_translate_comparison(tr, leaf, op, cmp);
	}
	if (gc_adds_interval(op, &interval))
	{
		a = translate_any(tr, leaf, linitial(op->args));
		if (a >= 0 && interval.factor)
			factor = translate_any(tr, leaf, interval.factor);
		return a < 0 || (interval.factor && factor < 0) ? GC_NO_EXPR
			: gc_translate_add_interval(tr, op, &interval, a, factor);
	}
	if (gc_scales_days((Expr *) op, &interval))
		return translate_days(tr, leaf, &interval);
	if (gc_arith_op(name) != 0)
		return translate_arith(tr, leaf, op->args, op->opresulttype, gc_arith_op(name));
	return gc_refuse_call(tr, "operator", name, op->args);
}

/*-------------------------------------------------------------------------
 * Functions: casts and a few others
 *-------------------------------------------------------------------------
 */

/* The epoch of a difference of two timestamps, without an interval in between. */
static int
translate_epoch_of_difference(GcTranslation *tr, GcLeaf *leaf, FuncExpr *f)
{
	OpExpr	   *difference = gc_epoch_of_difference(f);
	int			a = translate_any(tr, leaf, linitial(difference->args));
	int			b = a < 0 ? GC_NO_EXPR : translate_any(tr, leaf, lsecond(difference->args));

	return b < 0 ? GC_NO_EXPR : gc_translate_epoch(tr, f, a, b);
}

/* width_bucket() of four numbers. */
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

/* date_bin(): its stride is constant. */
static int
translate_date_bin(GcTranslation *tr, GcLeaf *leaf, FuncExpr *f)
{
	int			ts = translate_any(tr, leaf, lsecond(f->args));
	int			origin = ts < 0 ? GC_NO_EXPR : translate_any(tr, leaf, lthird(f->args));

	return origin < 0 ? GC_NO_EXPR : gc_translate_date_bin(tr, f, ts, origin);
}

/* A function, by what plan/base/builtins.c says of it. */
static int
translate_func(GcTranslation *tr, GcLeaf *leaf, FuncExpr *f)
{
	const char *name = get_func_name(f->funcid);
	const GcBuiltin *builtin = gc_builtin(f->funcid);
	GcKind		kind = gc_type_kind(f->funcresulttype);
	GcScaledInterval days;
	int			a;

	if (!BUILTIN(f->funcid))
		return gc_refuse(tr, "function %s is not built in", name);
	if (gc_epoch_of_difference(f))
		return translate_epoch_of_difference(tr, leaf, f);
	if (gc_is_age((Expr *) f))
		return gc_refuse(tr, "an age is used other than in a comparison");
	if (builtin->how == GC_HOW_DATE_BIN)
		return translate_date_bin(tr, leaf, f);
	if (gc_scales_days((Expr *) f, &days))
		return translate_days(tr, leaf, &days);
	if (gc_rounds_float(f))
	{
		a = translate_any(tr, leaf, linitial(linitial_node(FuncExpr, f->args)->args));
		return a < 0 ? a : gc_translate_rounded_float(tr, f, a);
	}
	if (builtin->of > 0)
	{
		Expr	   *arg = list_nth(f->args, builtin->of - 1);

		/* A lookup table of the whole has one scale, where one of the argument may need too many digits. */
		if (gc_rounds_parsed(f))
			return gc_refuse(tr, "a numeric of a text or of JSON is rounded");
		a = gc_is_age(arg) ? gc_age_of_times(tr, leaf, (FuncExpr *) arg) : translate_any(tr, leaf, arg);
		return a < 0 ? a : gc_translate_function(tr, f, a);
	}
	if (builtin->how == GC_HOW_WIDTH_BUCKET)
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

/* AND and OR of any number of arguments, two by two; NOT of one. */
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

/* IS TRUE and its like. */
static int
translate_boolean_test(GcTranslation *tr, GcLeaf *leaf, BooleanTest *t)
{
	static const GcOp ops[] = {[IS_TRUE] = GC_OP_ISTRUE, [IS_NOT_TRUE] = GC_OP_NOTTRUE,
		[IS_FALSE] = GC_OP_ISFALSE, [IS_NOT_FALSE] = GC_OP_NOTFALSE,
	[IS_UNKNOWN] = GC_OP_ISNULL, [IS_NOT_UNKNOWN] = GC_OP_NOTNULL};
	int			a = translate_any(tr, leaf, t->arg);

	return a < 0 ? a : gc_build_expr(tr, ops[t->booltesttype], GC_BOOL, a, -1, -1, -1);
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

		if (gc_equal(key->build_side, node) && exprType(node) == exprType((Node *) key->probe_side))
			return translate_any(tr, leaf, key->probe_side);
	}
	return gc_refuse(tr, "a column of a semi join's inner side is used above it");
}

/* A column, or a placeholder, of the leaf itself, of one that it probes or of a level of groups. */
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
		from = gc_leaf_of_rel(tr, var->varno);
	}
	else
		from = gc_leaf_among(tr->leaves, gc_base_relids(tr, pull_varnos(tr->root, node)));
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
		/* Another column of the input may stand for it, as for an arm's text of another collation. */
		if (!IsA(column, Var) || ((Var *) column)->varattno != ((Var *) node)->varattno)
		{
			e = translate_any(tr, from, column);
			return e < 0 ? e : gc_bring(tr, leaf, from, e);
		}
	}
	/* In its own table's pipeline nothing has made it NULL, so that its expression stands for it. */
	if (IsA(node, PlaceHolderVar) && !gc_leaf_is_source(from))
		e = translate_any(tr, from, ((PlaceHolderVar *) node)->phexpr);
	else
		e = from->groups ? from->groups->column(tr, from, (Var *) node) :
			from->arms ? from->arms->column(tr, from, (Var *) node) :
			gc_build_column(tr, from, gc_unnulled(tr, from, node));
	return e < 0 ? e : gc_bring(tr, leaf, from, e);
}

/* An expression that kernels do not compute. */
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

/* An expression that kernels compute themselves. */
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
				Oid			from = gc_base_type(exprType((Node *) r->arg));
				Oid			to = gc_base_type(r->resulttype);

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
			return gc_translate_nullif(tr, leaf, (NullIfExpr *) expr);
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
			return gc_translate_case(tr, leaf, (CaseExpr *) expr);
		case T_CoalesceExpr:
			return gc_translate_choice(tr, leaf, expr, ((CoalesceExpr *) expr)->args, GC_OP_COALESCE);
		case T_MinMaxExpr:
			if (GC_KIND_IS_CODE(gc_type_kind(exprType((Node *) expr))))
				return gc_translate_text_extreme(tr, leaf, (MinMaxExpr *) expr);
			return gc_translate_choice(tr, leaf, expr, ((MinMaxExpr *) expr)->args,
									((MinMaxExpr *) expr)->op == IS_GREATEST ? GC_OP_GREATEST : GC_OP_LEAST);
		case T_ScalarArrayOpExpr:
			return gc_translate_in(tr, leaf, (ScalarArrayOpExpr *) expr);
		case T_RowCompareExpr:
			if ((expr = gc_row_comparison((RowCompareExpr *) expr)) != NULL)
				return translate_any(tr, leaf, expr);
			return gc_refuse(tr, "rows of several values are compared");
		default:
			return gc_refuse(tr, "%s", form_refusal(expr));
	}
}

/* A column itself, of any type of texts? */
static bool
is_column(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var);
}

/* A text that a table is of, as a code; GC_NO_EXPR: it has none, or an outer join has made it NULL for good. */
static int
translate_part(GcTranslation *tr, GcLeaf *leaf, Expr *part)
{
	const int	nluts = tr->nluts;
	int			code = translate_any(tr, leaf, part);

	if (code < 0 || !GC_KIND_IS_CODE(tr->pexprs[code].kind) || tr->pexprs[code].op == GC_OP_NULL)
		return GC_NO_EXPR;
	code = gc_lookup_codes(tr, code, nluts);
	/* Texts that a choice adds to a dictionary are known only later. */
	if (!is_column(part) &&
		(tr->pexprs[code].op != GC_OP_LUT || tr->plan->luts[tr->pexprs[code].ref].type != GC_LUT_EXPR))
		return GC_NO_EXPR;
	return code;
}

/* A concatenation of several texts, as a table of two codes; GC_NO_EXPR as above. */
static int
translate_concatenation(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	Expr	   *parts[2];
	int			codes[2] = {GC_NO_EXPR, GC_NO_EXPR};

	if (!gc_lookup_concatenation(tr, expr, parts))
		return GC_NO_EXPR;
	for (int i = 0; i < 2; i++)
	{
		if (gc_has_vars((Node *) parts[i]) && (codes[i] = translate_part(tr, leaf, parts[i])) < 0)
			return GC_NO_EXPR;
	}
	return gc_concatenation_table(tr, expr, parts, codes);
}

/* An expression of two texts, or integers, as a table of both; GC_NO_EXPR as above. */
static int
translate_pair_lookup(GcTranslation *tr, GcLeaf *leaf, Expr *expr)
{
	const GcKind kind = gc_type_kind(exprType((Node *) expr));
	Var		   *vars[2];
	int			codes[2];

	if (kind == GC_INTERVAL)
		return GC_NO_EXPR;
	if (!gc_lookup_pair(tr, expr, false, vars))
	{
		const int	e = tr->reason ? GC_NO_EXPR : translate_concatenation(tr, leaf, expr);

		if (e >= 0 || tr->reason || !gc_lookup_pair(tr, expr, true, vars))
			return e;
	}
	for (int i = 0; i < 2; i++)
	{
		if ((codes[i] = translate_part(tr, leaf, gc_pair_part(vars[i]))) < 0)
			return GC_NO_EXPR;
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

/* An expression as kernels compute it; else as a lookup table, or not at all, with the first reason. */
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
	if (!gc_has_vars((Node *) expr) && !IsA(expr, PlaceHolderVar))
		return gc_translate_param(tr, expr, GC_SPACE_NONE);
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
	return gc_is_age(expr) ? gc_age_of_times(tr, leaf, (FuncExpr *) expr) : translate_any(tr, leaf, expr);
}
