/*-------------------------------------------------------------------------
 *
 * cast.c
 *	  Casts: statements that make a value of another kind.
 *
 * As in expr.c, typing.c has found what may fail, and by which range.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "cast.h"
#include "emit.h"
#include "operand.h"

#include <stdio.h>

#define EXPR(cg, i)		(&gc_exprs((cg)->p)[i])

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

Operand
cg_cast(Cg *cg, u16 i, const Operand *a)
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
