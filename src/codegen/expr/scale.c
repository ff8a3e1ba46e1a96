/*-------------------------------------------------------------------------
 *
 * scale.c
 *	  Numerics whose display scale differs from row to row, and quotients, whose scale depends on their value.
 *
 * An expression's value is at the largest scale.  The scale that PostgreSQL would show is computed where it is asked for,
 * by its rule (program/scales.h).  Where values are stored each has its scale with it (program/tagged.h).
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "scale.h"
#include "arithmetic.h"
#include "emit.h"
#include "expr.h"
#include "operand.h"
#include "../../program/scales.h"
#include "../../program/tagged.h"

#include <stdio.h>

#define EXPR(cg, i)		(&gc_exprs((cg)->p)[i])

bool
cg_is_tagged(Cg *cg, u16 i)
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

Operand
cg_untagged(Cg *cg, u16 i)
{
	Operand		o = cg_stored_leaf(cg, i);
	char		buf[100];

	snprintf(buf, sizeof(buf), "(%s) gc_untag(%s, %d)", cg_ctype[EXPR(cg, i)->reg], o.v, EXPR(cg, i)->scale);
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

/* Display scale of a quotient of numerics; the dividend may be a sum, of which the divisor is the count. */
static int
quotient_scale_text(Cg *cg, const GcExpr *e, char *buf, size_t size)
{
	Operand		a = cg_expr(cg, e->arg[0]);
	Operand		b = cg_expr(cg, e->arg[1]);
	char		shown[700];

	shown_scale(cg, e, shown, sizeof(shown));
	return snprintf(buf, size, "gc_numeric_div_scale((i128) %s, %d, (i128) %s, %d, %s)", a.v, EXPR(cg, e->arg[0])->scale,
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
	int			n;

	if (!gc_is_varying(e))
	{
		snprintf(buf, size, "%d", e->kind == GC_NUMERIC ? e->scale : 0);
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
			n = quotient_scale_text(cg, e, buf, size);
			break;
		case GC_SCALE_CHOSEN:
			n = chosen_scale_text(cg, e, buf, size);
			break;
		default:				/* Groups' values are not tagged. */
			n = cg_is_tagged(cg, i) ? snprintf(buf, size, "GC_TAG_SCALE(%s)", cg_stored_leaf(cg, i).v) : -1;
			break;
	}
	if (n < 0 || (size_t) n >= size)
		cg_fail(cg, GC_UNSUPPORTED, "numeric expression whose scale varies");
}

Operand
cg_quotient(Cg *cg, u16 i, const Operand *a, const Operand *b)
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

Operand
cg_avg(Cg *cg, u16 i, const Operand *sum, const Operand *count)
{
	const GcExpr *e = EXPR(cg, i);
	char		buf[300];

	snprintf(buf, sizeof(buf), "%s ? 0 : (%s) gc_numeric_avg((i128) %s, (i64) %s, %d, &gc_bad)", sum->n,
			 cg_ctype[e->reg], sum->v, count->v, EXPR(cg, e->arg[0])->scale);
	return cg_temp(cg, cg_ctype[e->reg], buf, sum->n);
}

Operand
cg_scale(Cg *cg, u16 i)
{
	const GcExpr *e = EXPR(cg, i);
	Operand		a = cg_expr(cg, e->arg[0]);
	char		buf[700];

	scale_text(cg, e->arg[0], buf, sizeof(buf));
	return cg_temp(cg, "i32", buf, a.n);
}

Operand
cg_tag(Cg *cg, u16 i)
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
	if (cg_is_tagged(cg, i))
		return cg_stored_leaf(cg, i);
	scale_text(cg, i, scale, sizeof(scale));
	snprintf(buf, sizeof(buf), "gc_tag((i64) %s, %d, %s)", o.v, e->scale, scale);
	return cg_temp(cg, "i64", buf, o.n);
}
