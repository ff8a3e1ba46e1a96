/*-------------------------------------------------------------------------
 *
 * operators.c
 *	  Which comparisons, operators and casts kernels know, and of which kinds.
 *
 * Operators are recognised by name: the built-in operator of that name on these types.
 * Their semantics follows from the kinds of their arguments.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "functions.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"

#include "../base/builder.h"
#include "instants.h"
#include "lookup.h"
#include "../../columns/encode/pgkinds.h"

/* Common kind of two kinds that compare with each other, or NONE. */
static GcKind
common_kind(GcKind a, GcKind b)
{
	if (a == b)
		return a;
	if (GC_KIND_IS_INT(a) && GC_KIND_IS_INT(b))
		return Max(a, b);		/* INT2 < INT4 < INT8 */
	if (GC_KIND_IS_FLOAT(a) && GC_KIND_IS_FLOAT(b))
		return GC_FLOAT8;
	/* Codes of one dictionary, which knows both by the same bytes. */
	if ((a == GC_NAME && b == GC_TEXT) || (a == GC_TEXT && b == GC_NAME))
		return GC_TEXT;
	if ((a == GC_DATE && b == GC_TIMESTAMP) || (a == GC_TIMESTAMP && b == GC_DATE))
		return GC_TIMESTAMP;
	return GC_KIND_NONE;
}

bool
gc_align_kinds(GcTranslation *tr, int *a, int *b)
{
	GcKind		kind;

	if (*a < 0 || *b < 0)
		return false;
	/* PostgreSQL compares a timestamp as the instant that the session's time zone makes of it. */
	if (tr->pexprs[*a].kind == GC_TIMESTAMP && tr->pexprs[*b].kind == GC_TIMESTAMPTZ)
		*a = gc_build_instant(tr, *a, NULL);
	else if (tr->pexprs[*a].kind == GC_TIMESTAMPTZ && tr->pexprs[*b].kind == GC_TIMESTAMP)
		*b = gc_build_instant(tr, *b, NULL);
	if (*a < 0 || *b < 0)
		return false;
	kind = common_kind(tr->pexprs[*a].kind, tr->pexprs[*b].kind);
	if (kind == GC_KIND_NONE)
	{
		gc_refuse(tr, "values of these two types cannot be compared");
		return false;
	}
	if (GC_KIND_IS_CODE(kind))
	{
		if (tr->space[*a] == GC_SPACE_NONE)
			*a = gc_translate_space(tr, *a, tr->space[*b]);
		else
			*b = gc_translate_space(tr, *b, tr->space[*a]);
		return *a >= 0 && *b >= 0;
	}
	/* Integers compare without conversion, whatever their width. */
	if (!GC_KIND_IS_INT(kind))
	{
		*a = gc_build_cast(tr, *a, kind);
		*b = gc_build_cast(tr, *b, kind);
	}
	return *a >= 0 && *b >= 0;
}

GcOp
gc_comparison_op(const char *name)
{
	static const struct
	{
		const char *name;
		GcOp		op;
	}			ops[] = {
		{"=", GC_OP_EQ}, {"<>", GC_OP_NE}, {"<", GC_OP_LT},
		{"<=", GC_OP_LE}, {">", GC_OP_GT}, {">=", GC_OP_GE},
	};

	for (int i = 0; i < lengthof(ops); i++)
	{
		if (strcmp(ops[i].name, name) == 0)
			return ops[i].op;
	}
	return 0;
}

bool
gc_text_equality_ok(OpExpr *op, GcOp cmp)
{
	Expr	   *l = linitial(op->args);
	Expr	   *r = lsecond(op->args);
	const GcKind kind = gc_type_kind(exprType((Node *) l));

	if (!GC_KIND_IS_CODE(kind))
		return true;
	if (gc_kinds[kind].opaque)
		return false;
	if (cmp != GC_OP_EQ && cmp != GC_OP_NE && cmp != GC_OP_DISTINCT)
		return false;
	if (!gc_collation_deterministic(op->inputcollid))
		return false;
	/* bpchar ignores trailing blanks, text does not: both sides alike. */
	return (gc_base_type(exprType((Node *) l)) == BPCHAROID) ==
		(gc_base_type(exprType((Node *) r)) == BPCHAROID);
}

GcOp
gc_arith_op(const char *name)
{
	if (name[0] == '\0' || name[1] != '\0')
		return 0;
	switch (name[0])
	{
		case '+':
			return GC_OP_ADD;
		case '-':
			return GC_OP_SUB;
		case '*':
			return GC_OP_MUL;
		case '/':
			return GC_OP_DIV;
		case '%':
			return GC_OP_MOD;
		default:
			return 0;
	}
}

int
gc_translate_arith(GcTranslation *tr, Oid type, GcOp what, int a, int b)
{
	static const char *const names[] = {[GC_OP_ADD] = "+", [GC_OP_SUB] = "-", [GC_OP_MUL] = "*",
	[GC_OP_DIV] = "/", [GC_OP_MOD] = "%"};
	const GcKind kind = gc_type_kind(type);
	const GcKind ka = tr->pexprs[a].kind;
	const GcKind kb = tr->pexprs[b].kind;

	if (gc_is_time_arithmetic(tr, what, kind, &a, &b))
	{
		/* as they are */
	}
	else if (ka == GC_DATE || kb == GC_DATE)
	{
		bool		ok = (what == GC_OP_ADD &&
						  ((ka == GC_DATE && kb == GC_INT4) || (ka == GC_INT4 && kb == GC_DATE))) ||
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
	if (a < 0 || b < 0)
		return GC_NO_EXPR;
	return gc_build_expr(tr, what, kind, a, b, -1, -1);
}

int
gc_translate_unary(GcTranslation *tr, Oid type, const char *name, int a)
{
	const GcKind kind = gc_type_kind(type);

	if (!GC_KIND_IS_INT(kind) && !GC_KIND_IS_FLOAT(kind) && kind != GC_NUMERIC)
		return gc_refuse(tr, "operator %s is not supported for type %s", name, format_type_be(type));
	if (strcmp(name, "-") == 0)
		return gc_build_expr(tr, GC_OP_NEG, kind, a, -1, -1, -1);
	if (strcmp(name, "+") == 0)
		return a;
	if (strcmp(name, "@") == 0)
		return gc_build_expr(tr, GC_OP_ABS, kind, a, -1, -1, -1);
	return gc_refuse(tr, "operator %s is not supported", name);
}

bool
gc_cast_supported(GcKind from, GcKind to)
{
	bool		fnum = GC_KIND_IS_INT(from) || from == GC_NUMERIC || GC_KIND_IS_FLOAT(from);

	if (from == to)
		return true;
	if (GC_KIND_IS_INT(to))
		return fnum || (from == GC_BOOL && to == GC_INT4);
	if (to == GC_NUMERIC)
		return GC_KIND_IS_INT(from);
	if (GC_KIND_IS_FLOAT(to))
		return fnum;
	if (to == GC_BOOL)
		return from == GC_INT4;
	return (from == GC_DATE && to == GC_TIMESTAMP) || (from == GC_TIMESTAMP && to == GC_DATE);
}

bool
gc_is_cast_call(FuncExpr *f)
{
	Oid			castfunc;

	if (list_length(f->args) < 1)
		return false;
	return find_coercion_pathway(f->funcresulttype, exprType(linitial(f->args)),
								 COERCION_EXPLICIT, &castfunc) == COERCION_PATH_FUNC &&
		castfunc == f->funcid;
}
