/*-------------------------------------------------------------------------
 *
 * arithmetic.c
 *	  Arithmetic and comparisons of values that are there: one statement each.  Quotients of numerics: expr.c.
 *
 * cuda/gc_value.h defines the semantics.  The code here only chooses among them, by the registers
 * and checks that typing.c found.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "expr.h"
#include "emit.h"
#include "operand.h"

#include <stdio.h>
#include <string.h>

#define EXPR(cg, i)		(&gc_exprs((cg)->p)[i])

void
cg_either_null(char *buf, size_t size, const Operand *a, const Operand *b)
{
	if (never_null(a))
		snprintf(buf, size, "%s", b->n);
	else if (never_null(b) || strcmp(a->n, b->n) == 0)
		snprintf(buf, size, "%s", a->n);
	else
		snprintf(buf, size, "(%s | %s)", a->n, b->n);
}

/* Arithmetic of floats, with PostgreSQL's errors for overflow, underflow and division by zero. */
static Operand
emit_float_arith(Cg *cg, const GcExpr *e, const Operand *a, const Operand *b, const char *null)
{
	static const char *const ops[] = {[GC_OP_ADD] = "+", [GC_OP_SUB] = "-",
	[GC_OP_MUL] = "*", [GC_OP_DIV] = "/"};
	static const char *const checks[] = {[GC_OP_ADD] = "GC_CHECK_FINITE",
		[GC_OP_SUB] = "GC_CHECK_FINITE", [GC_OP_MUL] = "GC_CHECK_MUL",
	[GC_OP_DIV] = "GC_CHECK_FDIV"};
	char		buf[256];
	Operand		o;

	if (e->op == GC_OP_MOD)
	{
		cg_fail(cg, GC_UNSUPPORTED, "float remainder");
		return *a;
	}
	snprintf(buf, sizeof(buf), "%s %s %s", a->v, ops[e->op], b->v);
	o = cg_temp(cg, cg_ctype[e->reg], buf, null);
	text_addf(cg->out, "if (!(%s)) %s(%s, %s, %s);\n", null, checks[e->op], o.v, a->v, b->v);
	return o;
}

/* The value computed in e->opreg, as expression e has it. */
static Operand
result_of(const GcExpr *e, Operand o)
{
	const Operand narrow = o;

	if (e->opreg != e->reg)
		snprintf(o.v, sizeof(o.v), "((%s) %s)", cg_ctype[e->reg], narrow.v);
	return o;
}

/* A timestamp and its addend: sum, unless the timestamp is infinite. */
static Operand
emit_passed_infinite(Cg *cg, const GcExpr *e, const Operand *a, const Operand *b, const char *sum, const char *null)
{
	const Operand *instant = GC_KIND_IS_INSTANT(EXPR(cg, e->arg[0])->kind) ? a : b;
	char		infinite[160],
				buf[900],
				either[300];
	Operand		o;

	cg_is_infinite(infinite, sizeof(infinite), instant);
	snprintf(buf, sizeof(buf), "%s ? %s : %s", infinite, instant->v, sum);
	o = cg_temp(cg, cg_ctype[e->opreg], buf, null);
	if (e->flags & GC_CHECKED)
	{
		snprintf(either, sizeof(either), "%s | %s", o.n, infinite);
		cg_check_kind(cg, e->kind, o.v, either);
	}
	return result_of(e, o);
}

Operand
cg_arith(Cg *cg, u16 i, const Operand *a, const Operand *b)
{
	static const char *const ops[] = {[GC_OP_ADD] = "+", [GC_OP_SUB] = "-", [GC_OP_MUL] = "*"};
	const GcExpr *e = EXPR(cg, i);
	Operand		o;
	char		null[96],
				x[192],
				y[192],
				buf[512];

	cg_either_null(null, sizeof(null), a, b);
	if (e->reg == GC_F32 || e->reg == GC_F64)
		return emit_float_arith(cg, e, a, b, null);

	cg_as(cg, x, sizeof(x), e->arg[0], a, e->opreg, e->rescale[0]);
	cg_as(cg, y, sizeof(y), e->arg[1], b, e->opreg, e->rescale[1]);

	/* PostgreSQL decides on dates that may be infinite, and on differences. */
	for (int k = 0; k < 2 && (e->flags & GC_CHECKED) && !GC_KIND_IS_INSTANT(e->kind); k++)
	{
		u8			kind = EXPR(cg, e->arg[k])->kind;

		if (kind == GC_DATE || GC_KIND_IS_INSTANT(kind))
			cg_check_kind(cg, kind, k == 0 ? a->v : b->v, null);
	}
	if (e->op == GC_OP_DIV || e->op == GC_OP_MOD)
	{
		if (e->flags & GC_CHECKED)
			text_addf(cg->out, "GC_CHECK(%s || %s != 0);\n", null, b->v);
		snprintf(buf, sizeof(buf), "%s(%s, %s)", e->op == GC_OP_DIV ? "GC_DIV" : "GC_MOD", x, y);
	}
	else
		snprintf(buf, sizeof(buf), "%s %s %s", x, ops[e->op], y);
	if (e->flags & GC_INFINITE)
		return emit_passed_infinite(cg, e, a, b, buf, null);
	o = cg_temp(cg, cg_ctype[e->opreg], buf, null);
	if ((e->flags & GC_CHECKED) && e->kind != GC_NUMERIC)
		cg_check_kind(cg, e->kind, o.v, o.n);
	return result_of(e, o);
}

Operand
cg_neg_abs(Cg *cg, u16 i, const Operand *a)
{
	const GcExpr *e = EXPR(cg, i);
	char		x[192],
				buf[600];
	Operand		o;

	if (e->reg == GC_F32 || e->reg == GC_F64)
	{
		if (e->op == GC_OP_NEG)
			snprintf(buf, sizeof(buf), "-%s", a->v);
		else
			snprintf(buf, sizeof(buf), "%s(%s)", e->reg == GC_F32 ? "GC_FABSF" : "GC_FABS", a->v);
		return cg_temp(cg, cg_ctype[e->reg], buf, a->n);
	}
	cg_as(cg, x, sizeof(x), e->arg[0], a, e->opreg, 0);
	if (e->op == GC_OP_NEG)
		snprintf(buf, sizeof(buf), "-%s", x);
	else
		snprintf(buf, sizeof(buf), "%s < 0 ? -%s : %s", x, x, x);
	o = cg_temp(cg, cg_ctype[e->opreg], buf, a->n);
	if (e->flags & GC_CHECKED)
		cg_check_kind(cg, e->kind, o.v, o.n);
	return result_of(e, o);
}

/* Text of a comparison of two non-NULL values. */
static void
compare_text(Cg *cg, const GcExpr *e, const Operand *a, const Operand *b, u8 op,
			 char *buf, size_t size)
{
	static const char *const ops[] = {[GC_OP_EQ] = "==", [GC_OP_NE] = "!=",
		[GC_OP_LT] = "<", [GC_OP_LE] = "<=", [GC_OP_GT] = ">", [GC_OP_GE] = ">=",
	[GC_OP_DISTINCT] = "!="};
	u8			areg = EXPR(cg, e->arg[0])->reg;
	char		x[192],
				y[192];

	if (e->flags & GC_COMPARE_WIDE)
	{
		if (e->rescale[0] > 0)
			snprintf(buf, size, "gc_compare_scaled((i128) %s, %d, (i128) %s) %s 0", a->v, e->rescale[0], b->v, ops[op]);
		else
			snprintf(buf, size, "0 %s gc_compare_scaled((i128) %s, %d, (i128) %s)", ops[op], b->v, e->rescale[1], a->v);
		return;
	}
	if (areg != GC_F32 && areg != GC_F64)
	{
		cg_as(cg, x, sizeof(x), e->arg[0], a, e->opreg, e->rescale[0]);
		cg_as(cg, y, sizeof(y), e->arg[1], b, e->opreg, e->rescale[1]);
		snprintf(buf, size, "%s %s %s", x, ops[op], y);
		return;
	}
	switch (op)
	{
		case GC_OP_EQ:
			snprintf(buf, size, "gc_f_eq(%s, %s)", a->v, b->v);
			break;
		case GC_OP_NE:
		case GC_OP_DISTINCT:
			snprintf(buf, size, "!gc_f_eq(%s, %s)", a->v, b->v);
			break;
		case GC_OP_LT:
			snprintf(buf, size, "gc_f_lt(%s, %s)", a->v, b->v);
			break;
		case GC_OP_LE:
			snprintf(buf, size, "!gc_f_lt(%s, %s)", b->v, a->v);
			break;
		case GC_OP_GT:
			snprintf(buf, size, "gc_f_lt(%s, %s)", b->v, a->v);
			break;
		default:
			snprintf(buf, size, "!gc_f_lt(%s, %s)", a->v, b->v);
			break;
	}
}

Operand
cg_compare(Cg *cg, u16 i, const Operand *a, const Operand *b)
{
	const GcExpr *e = EXPR(cg, i);
	char		cmp[420],
				null[96],
				buf[600];

	compare_text(cg, e, a, b, e->op, cmp, sizeof(cmp));
	if (e->op == GC_OP_DISTINCT)
	{
		if (never_null(a) && never_null(b))
			return cg_temp(cg, "i32", cmp, "0");
		snprintf(buf, sizeof(buf), "%s | %s ? %s != %s : (%s)", a->n, b->n, a->n, b->n, cmp);
		return cg_temp(cg, "i32", buf, "0");
	}
	cg_either_null(null, sizeof(null), a, b);
	return cg_temp_bool(cg, cmp, null);
}
