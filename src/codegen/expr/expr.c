/*-------------------------------------------------------------------------
 *
 * expr.c
 *	  Expressions: from GcExpr trees to statements; arithmetic and comparisons are in arithmetic.c.
 *
 * cuda/gc_value.h defines the semantics.  The code here only chooses among them, by the registers
 * and checks that typing.c found.  SQL promises lazy evaluation of untaken arms of CASE and of
 * right sides of AND and OR.  An expression with checks is evaluated lazily there; all others are
 * computed without branches.
 *
 * Invariant: the value of a NULL boolean is 0.
 *
 * A numeric's value is at the largest scale of its expression.  Where its display scale differs from row to row,
 * PostgreSQL's is computed where it is asked for, by its rule (program/scales.h).  Where such values are stored each
 * has its scale with it (program/tagged.h).
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "expr.h"
#include "analysis.h"
#include "emit.h"
#include "operand.h"
#include "../../program/functions.h"
#include "../../program/scales.h"
#include "../../program/tagged.h"

#include <stdio.h>
#include <string.h>

#define EXPR(cg, i)		(&gc_exprs((cg)->p)[i])

/* A column, payload, parameter or constant, where it was made available (cg_require). */
static Operand
emit_leaf(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		o;
	char		v[40];
	int			k;

	strcpy(o.n, "0");
	switch (e->op)
	{
		case GC_OP_COLUMN:
			k = cg->column[e->ref];
			snprintf(v, sizeof(v), cg->in_rows ? "v%d" : "c%d[gc_j]", k);
			if (e->flags & GC_NULLABLE)
				snprintf(o.n, sizeof(o.n), cg->in_rows ? "vn%d" : "GC_IS_NULL(n%d, gc_j)", k);
			break;
		case GC_OP_PAYLOAD:
			snprintf(v, sizeof(v), "y%d", cg->payload[e->ref]);
			if (e->flags & GC_NULLABLE)
				snprintf(o.n, sizeof(o.n), "yn%d", cg->payload[e->ref]);
			break;
		case GC_OP_PARAM:
			snprintf(v, sizeof(v), "p%d", cg->param[e->ref]);
			break;
		case GC_OP_ROUND:
			snprintf(v, sizeof(v), "(gc_this_round == %d)", e->ref);
			break;
		case GC_OP_ROW_ID:
			snprintf(v, sizeof(v), "GC_ROW_ID(%s, %d)", cg_ctype[e->reg], e->cast_scale);
			break;
		case GC_OP_SET:
			if (e->kind == GC_INT4)
				strcpy(v, "gc_this_set");
			else
				snprintf(v, sizeof(v), "(gc_this_set < %d)", e->ref);
			break;
		case GC_OP_WINDOW:
			snprintf(v, sizeof(v), "((%s) 0)", cg_ctype[e->reg]);
			break;
		default:				/* GC_OP_NULL */
			snprintf(v, sizeof(v), "((%s) 0)", cg_ctype[e->reg]);
			strcpy(o.n, "1");
			break;
	}
	/* A NULL's code is any value of the column. */
	if (e->kind == GC_BOOL && !never_null(&o))
		snprintf(o.v, sizeof(o.v), "(%s & !%s)", v, o.n);
	else
		snprintf(o.v, sizeof(o.v), "%s", v);
	return o;
}

/* One that is not called where an argument is NULL. */
static Operand
emit_guarded_call(Cg *cg, const GcExpr *e, const GcFunctionTraits *f, Operand null)
{
	char		args[300];
	char		buf[500];
	char		last[32] = "";
	int			at = 0;

	for (int i = 0; i < f->nargs; i++)
	{
		Operand		arg = i == 0 ? null : cg_expr(cg, e->arg[i]);
		char		either[100];

		cg_either_null(either, sizeof(either), &null, &arg);
		/* A test of two columns' bits is too long for an operand. */
		if (strlen(either) >= sizeof(null.n))
			snprintf(either, sizeof(either), "%s", cg_temp(cg, "i32", either, "0").v);
		snprintf(null.n, sizeof(null.n), "%s", either);
		at += snprintf(args + at, sizeof(args) - at, i == 0 ? "%s" : ", %s", arg.v);
		if (at >= (int) sizeof(args))
		{
			cg_fail(cg, GC_UNSUPPORTED, "a function's arguments are too long");
			return null;
		}
	}
	if (f->of_scale)
		snprintf(last, sizeof(last), ", 1e%d", EXPR(cg, e->arg[f->nargs - 1])->scale);
	snprintf(buf, sizeof(buf), "%s ? 0 : %s(%s%s)", null.n, f->name, args, f->notes ? ", &gc_bad" : last);
	return cg_temp(cg, cg_ctype[e->reg], buf, null.n);
}

/* A function of the device library. */
static Operand
emit_call(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	const GcFunctionTraits *f = &gc_functions[e->ref];
	Operand		a = cg_expr(cg, e->arg[0]);
	Operand		b = a;
	Operand		o;
	char		null[300],
				infinite[160],
				buf[500];

	if (f->notes || f->of_scale || e->kind == GC_BOOL)
		return emit_guarded_call(cg, e, f, a);
	strcpy(null, a.n);
	if (f->nargs == 2)
	{
		b = cg_expr(cg, e->arg[1]);
		cg_either_null(null, sizeof(null), &a, &b);
	}
	if (f->bad)
	{
		snprintf(buf, sizeof(buf), f->bad, a.v);
		text_addf(cg->out, "GC_CHECK(%s || !(%s));\n", null, buf);
	}
	/* PostgreSQL decides on timestamps that may be infinite, if their function is not known. */
	if (f->of_time && f->infinite == GC_INFINITE_ASKED && (e->flags & GC_CHECKED))
		cg_check_kind(cg, GC_TIMESTAMP, a.v, null);
	if (f->nargs == 2)
		snprintf(buf, sizeof(buf), "%s(%s, %s)", f->name, a.v, b.v);
	else
		snprintf(buf, sizeof(buf), "%s(%s)", f->name, a.v);
	if (e->flags & GC_INFINITE)
	{
		char		call[400];

		strcpy(call, buf);
		cg_is_infinite(infinite, sizeof(infinite), &a);
		snprintf(buf, sizeof(buf), "%s ? %s : %s", infinite, f->infinite == GC_INFINITE_SELF ? a.v : "0", call);
		if (f->infinite == GC_INFINITE_NULL)
			snprintf(null + strlen(null), sizeof(null) - strlen(null), " | %s", infinite);
	}
	o = cg_temp(cg, e->kind == GC_TIMESTAMP ? "i64" : cg_ctype[e->reg], buf, null);
	if (e->kind == GC_TIMESTAMP && (e->flags & GC_CHECKED))
	{
		snprintf(null, sizeof(null), "%s%s%s", o.n, e->flags & GC_INFINITE ? " | " : "", e->flags & GC_INFINITE ? infinite : "");
		cg_check_kind(cg, GC_TIMESTAMP, o.v, null);
	}
	if (e->kind == GC_TIMESTAMP && e->reg != GC_I64)
	{
		Operand		wide = o;

		snprintf(o.v, sizeof(o.v), "((%s) %s)", cg_ctype[e->reg], wide.v);
	}
	return o;
}

/* Value and NULL flag of a AND b, a OR b, for values that are 0 where NULL. */
static void
logic_text(bool is_and, const Operand *a, const Operand *b, char *v, char *n, size_t size)
{
	snprintf(v, size, "%s %c %s", a->v, is_and ? '&' : '|', b->v);
	if (never_null(a) && never_null(b))
		snprintf(n, size, "0");
	else if (is_and)
		snprintf(n, size, "(%s & (%s | %s)) | (%s & %s)", a->n, b->n, b->v, b->n, a->v);
	else
		snprintf(n, size, "(%s | %s) & !(%s | %s)", a->n, b->n, a->v, b->v);
}

/* AND and OR of three values.  A right side that may raise an error is computed only where the left does not decide. */
static Operand
emit_logic(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	bool		is_and = e->op == GC_OP_AND;
	Operand		a = cg_expr(cg, e->arg[0]);
	Operand		b,
				o;
	char		v[200],
				n[400];
	int			t;

	if (!cg_checked(cg->p, e->arg[1]))
	{
		b = cg_expr(cg, e->arg[1]);
		logic_text(is_and, &a, &b, v, n, sizeof(v));
		return cg_temp(cg, "i32", v, n);
	}

	/* Evaluate the right side only if the left does not decide. */
	t = cg->ntemps++;
	text_addf(cg->out, "i32 t%d = %d, tn%d = 0;\n", t, !is_and, t);
	if (is_and)
		text_addf(cg->out, "if (%s | %s) {\n", a.v, a.n);
	else
		text_addf(cg->out, "if (!%s) {\n", a.v);
	b = cg_expr(cg, e->arg[1]);
	logic_text(is_and, &a, &b, v, n, sizeof(v));
	text_addf(cg->out, "t%d = %s; tn%d = %s;\n}\n", t, v, t, n);
	snprintf(o.v, sizeof(o.v), "t%d", t);
	if (e->flags & GC_NULLABLE)
		snprintf(o.n, sizeof(o.n), "tn%d", t);
	else
		strcpy(o.n, "0");
	return o;
}

/* NOT and tests for NULL and truth; all but NOT are never NULL. */
static Operand
emit_test(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		a = cg_expr(cg, e->arg[0]);
	char		buf[160];

	switch (e->op)
	{
		case GC_OP_NOT:
			snprintf(buf, sizeof(buf), "!%s", a.v);
			return cg_temp_bool(cg, buf, a.n);
		case GC_OP_ISNULL:
			snprintf(buf, sizeof(buf), "%s != 0", a.n);
			break;
		case GC_OP_NOTNULL:
			snprintf(buf, sizeof(buf), "!%s", a.n);
			break;
		case GC_OP_ISTRUE:
			snprintf(buf, sizeof(buf), "%s", a.v);
			break;
		case GC_OP_NOTTRUE:
			snprintf(buf, sizeof(buf), "!%s", a.v);
			break;
		case GC_OP_ISFALSE:
			snprintf(buf, sizeof(buf), "!(%s | %s)", a.v, a.n);
			break;
		default:				/* GC_OP_NOTFALSE */
			snprintf(buf, sizeof(buf), "(%s | %s) != 0", a.v, a.n);
			break;
	}
	return cg_temp(cg, "i32", buf, "0");
}

/* IF with arms that may not both be evaluated. */
static Operand
emit_lazy_if(Cg *cg, u16 i, const Operand *cond)
{
	const GcExpr *e = EXPR(cg, i);
	int			t = cg->ntemps++;
	Operand		o;
	char		x[192];

	text_addf(cg->out, "%s t%d; i32 tn%d;\n", cg_ctype[e->reg], t, t);
	for (int arm = 0; arm < 2; arm++)
	{
		text_addf(cg->out, arm == 0 ? "if (%s) {\n" : "else {\n", cond->v);
		o = cg_expr(cg, e->arg[1 + arm]);
		cg_as(cg, x, sizeof(x), e->arg[1 + arm], &o, e->reg, e->rescale[arm]);
		text_addf(cg->out, "t%d = %s; tn%d = %s;\n}\n", t, x, t, o.n);
	}
	snprintf(o.v, sizeof(o.v), "t%d", t);
	if (e->flags & GC_NULLABLE)
		snprintf(o.n, sizeof(o.n), "tn%d", t);
	else
	{
		text_addf(cg->out, "(void) tn%d;\n", t);
		strcpy(o.n, "0");
	}
	return o;
}

/* CASE and its like.  Arms that may raise an error are computed only for rows that come to them. */
static Operand
emit_if(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		c = cg_expr(cg, e->arg[0]);
	Operand		a,
				b;
	char		x[192],
				y[192],
				buf[512],
				null[160];

	if (cg_checked(cg->p, e->arg[1]) || cg_checked(cg->p, e->arg[2]))
		return emit_lazy_if(cg, i, &c);
	a = cg_expr(cg, e->arg[1]);
	b = cg_expr(cg, e->arg[2]);
	cg_as(cg, x, sizeof(x), e->arg[1], &a, e->reg, e->rescale[0]);
	cg_as(cg, y, sizeof(y), e->arg[2], &b, e->reg, e->rescale[1]);
	snprintf(buf, sizeof(buf), "%s ? %s : %s", c.v, x, y);
	if (never_null(&a) && never_null(&b))
		strcpy(null, "0");
	else
		snprintf(null, sizeof(null), "(%s ? %s : %s)", c.v, a.n, b.n);
	return cg_temp(cg, cg_ctype[e->reg], buf, null);
}

/* COALESCE, GREATEST, LEAST of two. */
static Operand
emit_choice(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		a = cg_expr(cg, e->arg[0]);
	Operand		b = cg_expr(cg, e->arg[1]);
	char		x[192],
				y[192],
				cmp[500],
				buf[1100],
				null[96];

	cg_as(cg, x, sizeof(x), e->arg[0], &a, e->reg, e->rescale[0]);
	cg_as(cg, y, sizeof(y), e->arg[1], &b, e->reg, e->rescale[1]);
	if (never_null(&a) || never_null(&b))
		strcpy(null, "0");
	else
		snprintf(null, sizeof(null), "(%s & %s)", a.n, b.n);
	if (e->op == GC_OP_COALESCE)
		snprintf(buf, sizeof(buf), "%s ? %s : %s", a.n, y, x);
	else
	{
		/* ties give the first argument, as ExecEvalMinMax */
		if (e->reg == GC_F32 || e->reg == GC_F64)
			snprintf(cmp, sizeof(cmp), "gc_f_lt(%s, %s)",
					 e->op == GC_OP_LEAST ? y : x, e->op == GC_OP_LEAST ? x : y);
		else
			snprintf(cmp, sizeof(cmp), "%s %s %s", y, e->op == GC_OP_LEAST ? "<" : ">", x);
		snprintf(buf, sizeof(buf), "%s ? %s : %s ? %s : %s ? %s : %s", a.n, y, b.n, x, cmp, y, x);
	}
	return cg_temp(cg, cg_ctype[e->reg], buf, null);
}

/* The value in this pipeline's arm, which both arguments are by now (emit.c). */
static Operand
emit_arm(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		a = cg_expr(cg, e->arg[0]);
	char		x[192];

	if (EXPR(cg, e->arg[0])->reg == e->reg && e->rescale[0] == 0)
		return a;
	cg_as(cg, x, sizeof(x), e->arg[0], &a, e->reg, e->rescale[0]);
	return cg_temp(cg, cg_ctype[e->reg], x, a.n);
}

/* Is the value in a list, which comes with the request?  Not found in one with a NULL, it is NULL. */
static Operand
emit_in(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		a = cg_expr(cg, e->arg[0]);
	Operand		found;
	char		buf[300],
				null[160];
	int			n = 0;

	if (e->flags & GC_LIST_EMPTY)
		return cg_temp(cg, "i32", "0", "0");
	if (cg->list[e->ref] < 0)
	{
		cg->list[e->ref] = cg->nlists++;
		text_addf(&cg->decls, "const i64 *I%d = (const i64 *) gc_a.w[%d];\n",
				  cg->list[e->ref], cg_word(cg, GC_ARG_LIST, e->ref, 0));
		text_addf(&cg->decls, "const u64 I%d_n = gc_a.w[%d];\n",
				  cg->list[e->ref], cg_word(cg, GC_ARG_LIST, e->ref, 1));
	}
	if (EXPR(cg, e->arg[0])->reg == GC_I128)
		n = snprintf(buf, sizeof(buf), "(i64) %s == %s && ", a.v, a.v);
	snprintf(buf + n, sizeof(buf) - n, "gc_in_list((i64) %s, I%d, I%d_n)", a.v, cg->list[e->ref], cg->list[e->ref]);
	found = cg_temp_bool(cg, buf, a.n);
	if (e->flags & GC_LIST_NULL)
	{
		snprintf(null, sizeof(null), "(%s | !%s)", a.n, found.v);
		return cg_temp(cg, "i32", found.v, null);
	}
	return found;
}

/* The entry of a lookup table; entry 0 is the one for NULL. */
static Operand
emit_lut(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	const GcPLut *lut = &gc_luts(cg->p)[e->ref];
	Operand		a = cg_expr(cg, e->arg[0]);
	Operand		at;
	const char *type = lut->width == 1 ? "u8" : cg_ctype[lut->reg];
	char		buf[192],
				null[64];
	int			k = cg->lut[e->ref];

	if (k < 0)
	{
		k = cg->lut[e->ref] = cg->nluts++;
		text_addf(&cg->decls, "const %s *L%d = (const %s *) gc_a.w[%d];\n", type, k, type,
				  cg_word(cg, GC_ARG_LUT, e->ref, GC_LUT_DATA));
		text_addf(&cg->decls, "const i64 L%d_base = (i64) gc_a.w[%d];\n", k,
				  cg_word(cg, GC_ARG_LUT, e->ref, GC_LUT_BASE));
		if (lut->nullable)
			text_addf(&cg->decls, "const u8 *L%d_null = (const u8 *) gc_a.w[%d];\n", k,
					  cg_word(cg, GC_ARG_LUT, e->ref, GC_LUT_NULLS));
	}
	if (never_null(&a))
		snprintf(buf, sizeof(buf), "(u32) ((i64) %s - L%d_base) + 1", a.v, k);
	else
		snprintf(buf, sizeof(buf), "%s ? 0 : (u32) ((i64) %s - L%d_base) + 1", a.n, a.v, k);
	at = cg_temp(cg, "u32", buf, "0");
	if (lut->nullable)
		snprintf(null, sizeof(null), "L%d_null[%s]", k, at.v);
	else
		strcpy(null, "0");
	snprintf(buf, sizeof(buf), "L%d[%s]", k, at.v);
	return cg_temp(cg, cg_ctype[lut->reg], buf, null);
}

/* A leaf as it is stored: a numeric may have its display scale as a tag. */
static Operand
stored_leaf(Cg *cg, u16 i)
{
	return EXPR(cg, i)->op == GC_OP_LUT ? emit_lut(cg, i) : emit_leaf(cg, i);
}

/*-------------------------------------------------------------------------
 * Casts
 *-------------------------------------------------------------------------
 */

/* Float argument to an integer kind: dtoi2, dtoi4, dtoi8. */
static Operand
emit_float_to_int(Cg *cg, const GcExpr *e, const Operand *a)
{
	static const char *const lo[] = {[GC_INT2] = "-32768.0", [GC_INT4] = "-2147483648.0",
	[GC_INT8] = "-9223372036854775808.0"};
	static const char *const hi[] = {[GC_INT2] = "32768.0", [GC_INT4] = "2147483648.0",
	[GC_INT8] = "9223372036854775808.0"};
	char		buf[160];
	Operand		r;

	if (!GC_KIND_IS_INT(e->kind))
	{
		cg_fail(cg, GC_UNSUPPORTED, "cast from a float");
		return *a;
	}
	snprintf(buf, sizeof(buf), "GC_RINT((double) %s)", a->v);
	r = cg_temp(cg, "double", buf, a->n);
	text_addf(cg->out, "if (!(%s)) GC_CHECK_FTOI(%s, %s, %s);\n", r.n, r.v, lo[e->kind], hi[e->kind]);
	snprintf(buf, sizeof(buf), "(%s >= %s && %s < %s) ? (%s) %s : 0", r.v, lo[e->kind],
			 r.v, hi[e->kind], cg_ctype[e->reg], r.v);
	return cg_temp(cg, cg_ctype[e->reg], buf, r.n);
}

/* To a float; a narrower one fails where PostgreSQL's cast does. */
static Operand
emit_to_float(Cg *cg, const GcExpr *e, const GcExpr *from, const Operand *a)
{
	char		buf[256],
				ten[96];
	Operand		o;

	if (from->kind == GC_NUMERIC && from->scale > 0)
		snprintf(buf, sizeof(buf), "(double) %s / (double) %s", a->v,
				 cg_pow10(from->scale, ten, sizeof(ten)));
	else
		snprintf(buf, sizeof(buf), "(%s) %s", cg_ctype[e->reg], a->v);
	o = cg_temp(cg, cg_ctype[e->reg], buf, a->n);
	/* dtof: neither overflow nor underflow */
	if (from->kind == GC_FLOAT8 && e->kind == GC_FLOAT4)
		text_addf(cg->out, "if (!(%s)) { GC_CHECK(!GC_ISINF(%s) || GC_ISINF(%s)); GC_CHECK(%s != 0 || %s == 0); }\n",
				  a->n, o.v, a->v, o.v, a->v);
	return o;
}

/* A function that divides by a power of ten, and rounds. */
static const char *
rounding(const GcExpr *e, u8 reg)
{
	switch (e->flags & (GC_CAST_DOWN | GC_CAST_UP))
	{
		case GC_CAST_DOWN:
			return reg == GC_I128 ? "gc_floor_div128" : "gc_floor_div";
		case GC_CAST_UP:
			return reg == GC_I128 ? "gc_ceil_div128" : "gc_ceil_div";
		case GC_CAST_DOWN | GC_CAST_UP:
			return reg == GC_I128 ? "gc_trunc_div128" : "gc_trunc_div";
		default:
			return reg == GC_I128 ? "gc_round_div" : "gc_round_div64";
	}
}

/* Numeric to numeric(p,s), or to an integer: a change of scale. */
static Operand
emit_round(Cg *cg, const GcExpr *e, const GcExpr *from, u16 arg, const Operand *a)
{
	int			down = from->scale - (e->kind == GC_NUMERIC ? e->scale : 0);
	char		x[192],
				buf[320],
				ten[96];
	Operand		o;
	u8			reg = from->reg;

	if (down > 0)
	{
		/* 10^down must fit the register that divides. */
		if (down > 18 || reg == GC_I128)
			reg = GC_I128;
		else
			reg = GC_I64;
		cg_as(cg, x, sizeof(x), arg, a, reg, 0);
		snprintf(buf, sizeof(buf), "%s(%s, %s)", rounding(e, reg), x, cg_pow10(down, ten, sizeof(ten)));
	}
	else
	{
		reg = e->kind == GC_NUMERIC ? e->opreg : from->reg;
		cg_as(cg, x, sizeof(x), arg, a, reg, e->rescale[0]);
		snprintf(buf, sizeof(buf), "%s", x);
	}
	o = cg_temp(cg, cg_ctype[reg], buf, a->n);
	if (e->flags & GC_CHECKED)
	{
		if (e->kind == GC_NUMERIC)
			text_addf(cg->out, "GC_CHECK(%s || (%s < %s && %s > -%s));\n", o.n, o.v,
					  cg_pow10(e->cast_precision, ten, sizeof(ten)), o.v, ten);
		else
			cg_check_kind(cg, e->kind, o.v, o.n);
	}
	if (reg != e->reg)
	{
		snprintf(buf, sizeof(buf), "(%s) %s", cg_ctype[e->reg], o.v);
		o = cg_temp(cg, cg_ctype[e->reg], buf, o.n);
	}
	return o;
}

/* A cast between kinds, by one of the functions above or in place. */
static Operand
emit_cast(Cg *cg, u16 i, const Operand *a)
{
	const GcExpr *e = EXPR(cg, i);
	u16			arg = e->arg[0];
	const GcExpr *from = EXPR(cg, arg);
	char		buf[256];

	if (GC_KIND_IS_FLOAT(from->kind) && !GC_KIND_IS_FLOAT(e->kind))
		return emit_float_to_int(cg, e, a);
	if (GC_KIND_IS_FLOAT(e->kind))
		return emit_to_float(cg, e, from, a);
	if (from->kind == GC_NUMERIC || (e->kind == GC_NUMERIC && (e->flags & GC_CAST_SCALE)))
		return emit_round(cg, e, from, arg, a);
	if (e->kind == GC_BOOL && from->kind != GC_BOOL)
	{
		snprintf(buf, sizeof(buf), "%s != 0", a->v);
		return cg_temp_bool(cg, buf, a->n);
	}
	if (from->kind == GC_DATE && e->kind != GC_DATE)
	{
		if (e->flags & GC_CHECKED)
			text_addf(cg->out, "GC_CHECK(%s || %s == GC_DATE_NOBEGIN || %s == GC_DATE_NOEND || "
					  "((i64) %s >= GC_TS_LO / GC_USECS_PER_DAY && (i64) %s <= GC_TS_HI / GC_USECS_PER_DAY));\n",
					  a->n, a->v, a->v, a->v, a->v);
		if (e->flags & GC_CAST_FINITE)
			snprintf(buf, sizeof(buf), "(i64) %s * GC_USECS_PER_DAY", a->v);
		else
			snprintf(buf, sizeof(buf), "gc_date_to_ts(%s)", a->v);
		return cg_temp(cg, cg_ctype[e->reg], buf, a->n);
	}
	if (from->kind == GC_TIMESTAMP && e->kind == GC_DATE)
	{
		snprintf(buf, sizeof(buf), "gc_ts_to_date(%s)", a->v);
		return cg_temp(cg, cg_ctype[e->reg], buf, a->n);
	}
	if (e->flags & GC_CHECKED)
		cg_check_kind(cg, e->kind, a->v, a->n);
	if (from->reg != e->reg)
	{
		snprintf(buf, sizeof(buf), "(%s) %s", cg_ctype[e->reg], a->v);
		return cg_temp(cg, cg_ctype[e->reg], buf, a->n);
	}
	return *a;
}

/*-------------------------------------------------------------------------
 * Display scales of numerics
 *-------------------------------------------------------------------------
 */

/* Is it a column, payload or lookup whose values are tagged? */
static bool
is_tagged(Cg *cg, u16 i)
{
	const u16	ref = EXPR(cg, i)->ref;

	switch (EXPR(cg, i)->op)
	{
		case GC_OP_COLUMN:
			return gc_columns(cg->p)[ref].min_scale < gc_columns(cg->p)[ref].scale;
		case GC_OP_PAYLOAD:
			return gc_payloads(cg->p)[ref].min_scale < gc_payloads(cg->p)[ref].scale;
		case GC_OP_LUT:
			return gc_luts(cg->p)[ref].min_scale < gc_luts(cg->p)[ref].scale;
		default:
			return false;
	}
}

/* A numeric's value without the tag of its display scale. */
static Operand
untagged(Cg *cg, u16 i)
{
	Operand		o = stored_leaf(cg, i);
	char		buf[100];

	snprintf(buf, sizeof(buf), "(%s) %s(%s, %d)", cg_ctype[EXPR(cg, i)->reg], gc_is_wide(EXPR(cg, i)) ? "gc_untag_wide" : "gc_untag", o.v,
			 EXPR(cg, i)->scale);
	return cg_temp(cg, cg_ctype[EXPR(cg, i)->reg], buf, o.n);
}

static void scale_text(Cg *cg, u16 i, char *buf, size_t size);

/* The larger of the display scales of a quotient's arguments. */
static void
shown_scale(Cg *cg, const GcExpr *e, char *buf, size_t size)
{
	char		x[300],
				y[300];

	/* An integer's display scale is 0. */
	scale_text(cg, e->arg[0], x, sizeof(x));
	scale_text(cg, e->arg[1], y, sizeof(y));
	snprintf(buf, size, "GC_MAX(%s, %s)", x, y);
}

/* The arguments that a variance and its display scale have in common. */
static void
stddev_arguments(Cg *cg, const GcExpr *e, char *buf, size_t size)
{
	Operand		sum = cg_expr(cg, e->arg[0]);
	Operand		squares = cg_expr(cg, e->arg[1]);
	Operand		count = cg_expr(cg, e->arg[2]);

	snprintf(buf, size, "(i128) %s, (i128) %s, (i64) %s, %d, %d", sum.v, squares.v, count.v,
			 EXPR(cg, e->arg[0])->scale, (e->ref & GC_VARIANCE_OF_SAMPLE) != 0);
}

/* Display scale of a quotient of numerics; the dividend may be a sum, of which the divisor is the count. */
static void
quotient_scale_text(Cg *cg, const GcExpr *e, char *buf, size_t size)
{
	Operand		a = cg_expr(cg, e->arg[0]);
	Operand		b = cg_expr(cg, e->arg[1]);
	char		shown[700];

	if (e->op == GC_OP_STDDEV)
	{
		stddev_arguments(cg, e, shown, sizeof(shown));
		snprintf(buf, size, "gc_numeric_stddev_scale(%s)", shown);
		return;
	}
	shown_scale(cg, e, shown, sizeof(shown));
	snprintf(buf, size, "gc_numeric_div_scale((i128) %s, %d, (i128) %s, %d, %s)", a.v, EXPR(cg, e->arg[0])->scale,
					b.v, EXPR(cg, e->arg[1])->kind == GC_NUMERIC ? EXPR(cg, e->arg[1])->scale : 0, shown);
}

/* Display scale of the greater or lesser of two numerics, as emit_choice() takes one; first, second: that of each. */
static int
extreme_scale_text(Cg *cg, const GcExpr *e, const char *first, const char *second, char *buf, size_t size)
{
	Operand		a = cg_expr(cg, e->arg[0]);
	Operand		b = cg_expr(cg, e->arg[1]);
	char		x[192],
				y[192];

	cg_as(cg, x, sizeof(x), e->arg[0], &a, e->reg, e->rescale[0]);
	cg_as(cg, y, sizeof(y), e->arg[1], &b, e->reg, e->rescale[1]);
	return snprintf(buf, size, "(%s ? %s : %s ? %s : %s %s %s ? %s : %s)", a.n, second, b.n, first,
					y, e->op == GC_OP_LEAST ? "<" : ">", x, second, first);
}

/* Display scale of that of two numerics which is chosen. */
static int
chosen_scale_text(Cg *cg, const GcExpr *e, char *buf, size_t size)
{
	const int	first = gc_first_choice(e);
	const bool	extreme = e->op == GC_OP_GREATEST || e->op == GC_OP_LEAST;
	char		x[300],
				y[300];
	Operand		c;

	if (!extreme)
		c = cg_expr(cg, e->arg[0]);
	scale_text(cg, e->arg[first], x, sizeof(x));
	scale_text(cg, e->arg[first + 1], y, sizeof(y));
	if (extreme)
		return extreme_scale_text(cg, e, x, y, buf, size);
	if (e->op == GC_OP_IF)
		return snprintf(buf, size, "(%s ? %s : %s)", c.v, x, y);
	return snprintf(buf, size, "(%s ? %s : %s)", c.n, y, x);
}

/* Display scale of numeric expression i, which differs from row to row: gc_scale_rule(). */
static void
scale_text(Cg *cg, u16 i, char *buf, size_t size)
{
	const GcExpr *e = EXPR(cg, i);
	GcScaleRule rule = gc_scale_rule(e);
	char		x[300],
				y[300];
	char		quotient[900];
	int			n;

	if (!gc_is_varying(e))
	{
		snprintf(buf, size, "%d", e->kind == GC_NUMERIC ? e->scale : 0);
		return;
	}
	if (e->op == GC_OP_SHOWN)
	{
		snprintf(buf, size, "%s", cg_expr(cg, e->arg[1]).v);
		return;
	}
	/* Both arguments are the one that this pipeline has. */
	if (e->op == GC_OP_ARM)
		rule = GC_SCALE_ARGUMENT;
	switch (rule)
	{
		case GC_SCALE_ARGUMENT:
			if (e->op == GC_OP_OUTER && e->ref == cg->unmatched)
				snprintf(buf, size, "0");
			else
				scale_text(cg, e->arg[0], buf, size);
			return;
		case GC_SCALE_LARGER:
		case GC_SCALE_SUM:
			scale_text(cg, e->arg[0], x, sizeof(x));
			scale_text(cg, e->arg[1], y, sizeof(y));
			n = snprintf(buf, size, rule == GC_SCALE_SUM ? "(%s + %s)" : "GC_MAX(%s, %s)", x, y);
			break;
		case GC_SCALE_QUOTIENT:
			quotient_scale_text(cg, e, quotient, sizeof(quotient));
			n = snprintf(buf, size, "%s", cg_temp(cg, "i32", quotient, "0").v);
			break;
		case GC_SCALE_CHOSEN:
			n = chosen_scale_text(cg, e, buf, size);
			break;
		default:				/* Groups' values are not tagged. */
			n = is_tagged(cg, i) ? snprintf(buf, size, "GC_TAG_SCALE(%s)", stored_leaf(cg, i).v) : -1;
			break;
	}
	if (n < 0 || (size_t) n >= size)
		cg_fail(cg, GC_UNSUPPORTED, "numeric expression whose scale varies");
}

/* A quotient with as many digits as PostgreSQL's; gc_bad where it does not fit. */
static Operand
emit_quotient(Cg *cg, u16 i, const Operand *a, const Operand *b)
{
	const GcExpr *e = EXPR(cg, i);
	char		null[96],
				shown[700],
				buf[1100];

	cg_either_null(null, sizeof(null), a, b);
	shown_scale(cg, e, shown, sizeof(shown));
	snprintf(buf, sizeof(buf), "%s ? 0 : (%s) gc_numeric_div((i128) %s, %d, (i128) %s, %d, %s, &gc_bad)", null,
			 cg_ctype[e->reg], a->v, EXPR(cg, e->arg[0])->scale, b->v, EXPR(cg, e->arg[1])->scale, shown);
	return cg_temp(cg, cg_ctype[e->reg], buf, null);
}

/* An average by a sum and a count, rounded as PostgreSQL's; NULL where the sum is. */
static Operand
emit_avg(Cg *cg, u16 i, const Operand *sum, const Operand *count)
{
	const GcExpr *e = EXPR(cg, i);
	char		buf[300];

	snprintf(buf, sizeof(buf), "%s ? 0 : (%s) gc_numeric_avg((i128) %s, (i64) %s, %d, &gc_bad)", sum->n,
			 cg_ctype[e->reg], sum->v, count->v, EXPR(cg, e->arg[0])->scale);
	return cg_temp(cg, cg_ctype[e->reg], buf, sum->n);
}

/* A variance or its root by sums, rounded as PostgreSQL's; NULL where they are, and that of a sample of one value. */
static Operand
emit_stddev(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		sum = cg_expr(cg, e->arg[0]);
	Operand		count = cg_expr(cg, e->arg[2]);
	char		arguments[400];
	char		null[200];
	char		buf[800];

	stddev_arguments(cg, e, arguments, sizeof(arguments));
	snprintf(null, sizeof(null), e->ref & GC_VARIANCE_OF_SAMPLE ? "(%s || %s < 2)" : "%s", sum.n, count.v);
	snprintf(buf, sizeof(buf), "%s ? 0 : (%s) gc_numeric_stddev(%s, %d, &gc_bad)", null, cg_ctype[e->reg], arguments,
			 (e->ref & GC_VARIANCE_ROOT) != 0);
	return cg_temp(cg, cg_ctype[e->reg], buf, null);
}

/* The display scale of a numeric, which may differ by row. */
static Operand
emit_scale(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		a = cg_expr(cg, e->arg[0]);
	char		buf[700];

	scale_text(cg, e->arg[0], buf, sizeof(buf));
	return cg_temp(cg, "i32", buf, a.n);
}

/* A numeric of varying display scale, with that as a tag; others are as they are. */
static Operand
emit_tag(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		a = cg_expr(cg, e->arg[0]);
	char		scale[700];
	char		buf[800];

	if (!gc_is_varying(EXPR(cg, e->arg[0])))
		return a;
	scale_text(cg, e->arg[0], scale, sizeof(scale));
	snprintf(buf, sizeof(buf), "(%s) GC_TAGGED((i64) %s, %s%s)", cg_ctype[e->reg], a.v, e->ref == 0 ? "" : "GC_TAG_SCALES - 1 - ", scale);
	return cg_temp(cg, cg_ctype[e->reg], buf, a.n);
}

Operand
cg_stored(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		o = cg_expr(cg, i);
	char		scale[700];
	char		buf[800];

	if (!gc_is_varying(e))
		return o;
	if (is_tagged(cg, i))
		return stored_leaf(cg, i);
	scale_text(cg, i, scale, sizeof(scale));
	snprintf(buf, sizeof(buf), gc_is_wide(e) ? "gc_tag_wide(%s, %d, %s)" : "gc_tag((i64) %s, %d, %s)", o.v, e->scale, scale);
	return cg_temp(cg, gc_is_wide(e) ? "i128" : "i64", buf, o.n);
}

/*-------------------------------------------------------------------------
 * All of them
 *-------------------------------------------------------------------------
 */

/* One that is computed of the value of its argument. */
static Operand
emit_of_one(Cg *cg, u16 i, Operand (*emit) (Cg *, u16, const Operand *))
{
	Operand		a = cg_expr(cg, EXPR(cg, i)->arg[0]);

	return emit(cg, i, &a);
}

/* One that is computed of the values of both of its arguments. */
static Operand
emit_of_two(Cg *cg, u16 i, Operand (*emit) (Cg *, u16, const Operand *, const Operand *))
{
	Operand		a = cg_expr(cg, EXPR(cg, i)->arg[0]);
	Operand		b = cg_expr(cg, EXPR(cg, i)->arg[1]);

	return emit(cg, i, &a, &b);
}

Operand
cg_expr(Cg *cg, u16 i)
{
	switch (EXPR(cg, i)->op)
	{
		case GC_OP_COLUMN:
		case GC_OP_PAYLOAD:
		case GC_OP_LUT:
			return is_tagged(cg, i) ? untagged(cg, i) : stored_leaf(cg, i);
		case GC_OP_PARAM:
		case GC_OP_NULL:
		case GC_OP_ROUND:
		case GC_OP_ROW_ID:
		case GC_OP_SET:
		case GC_OP_WINDOW:
			return emit_leaf(cg, i);
		case GC_OP_ADD:
		case GC_OP_SUB:
		case GC_OP_MUL:
		case GC_OP_MOD:
			return emit_of_two(cg, i, cg_arith);
		case GC_OP_DIV:
			return emit_of_two(cg, i, EXPR(cg, i)->kind == GC_NUMERIC ? emit_quotient : cg_arith);
		case GC_OP_NEG:
		case GC_OP_ABS:
			return emit_of_one(cg, i, cg_neg_abs);
		case GC_OP_EQ:
		case GC_OP_NE:
		case GC_OP_LT:
		case GC_OP_LE:
		case GC_OP_GT:
		case GC_OP_GE:
		case GC_OP_DISTINCT:
			return emit_of_two(cg, i, cg_compare);
		case GC_OP_AND:
		case GC_OP_OR:
			return emit_logic(cg, i);
		case GC_OP_IF:
			return emit_if(cg, i);
		case GC_OP_COALESCE:
		case GC_OP_GREATEST:
		case GC_OP_LEAST:
			return emit_choice(cg, i);
		case GC_OP_CAST:
			return emit_of_one(cg, i, emit_cast);
		case GC_OP_IN:
			return emit_in(cg, i);
		case GC_OP_SCALE:
			return emit_scale(cg, i);
		case GC_OP_TAG:
			return emit_tag(cg, i);
		case GC_OP_SHOWN:
		case GC_OP_NUMBER:
			return cg_expr(cg, EXPR(cg, i)->arg[0]);
		case GC_OP_CALL:
			return emit_call(cg, i);
		case GC_OP_AVG:
			return emit_of_two(cg, i, emit_avg);
		case GC_OP_STDDEV:
			return emit_stddev(cg, i);
		case GC_OP_ARM:
			return emit_arm(cg, i);
		case GC_OP_OUTER:
			return EXPR(cg, i)->ref == cg->unmatched ? emit_leaf(cg, i) : cg_expr(cg, EXPR(cg, i)->arg[0]);
		default:
			return emit_test(cg, i);
	}
}
