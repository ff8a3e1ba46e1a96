/*-------------------------------------------------------------------------
 *
 * typing.c
 *	  Bound types of a program: registers, scales, NULLs and checks, derived
 *	  from the value ranges that the columns actually have.
 *
 * The rule for every operator: compute the range of the exact result.  Where it lies within the range of PostgreSQL's
 * type, no check is compiled.  Where it does not, the operation is checked at run time and its range cut to the type's.
 * The register is the narrowest that holds the range.  So int4 columns of small values multiply in 32 bits without a
 * check.  Numeric columns multiply as plain integers for as long as they fit, exactly.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "typing.h"

#include "functions.h"
#include "groups.h"
#include "scales.h"
#include "tagged.h"
#include "typer.h"

/* More digits than 128 bits hold. */
#define MANY_DIGITS		39

/*
 * Bring both numeric arguments to the larger scale; ra, rb receive the ranges of
 * the rescaled values.  False if 128 bits do not hold these.  Does nothing for other kinds.
 */
static bool
scale_alike(const GcTyper *t, GcExpr *e, int first, GcRange *ra, GcRange *rb)
{
	const GcExpr *a = &t->exprs[e->arg[first]];
	const GcExpr *b = &t->exprs[e->arg[first + 1]];
	int			scale = a->scale > b->scale ? a->scale : b->scale;

	*ra = t->ranges[e->arg[first]];
	*rb = t->ranges[e->arg[first + 1]];
	if (a->kind != GC_NUMERIC)
		return true;
	e->rescale[0] = scale - a->scale < MANY_DIGITS ? scale - a->scale : MANY_DIGITS;
	e->rescale[1] = scale - b->scale < MANY_DIGITS ? scale - b->scale : MANY_DIGITS;
	return e->rescale[0] < MANY_DIGITS && e->rescale[1] < MANY_DIGITS &&
		gc_range_scale_up(ra, e->rescale[0]) && gc_range_scale_up(rb, e->rescale[1]);
}

/* Bring two arguments to one display scale, or fail for too many digits. */
static GcCode
align_scales(GcTyper *t, GcExpr *e, int first, GcRange *ra, GcRange *rb)
{
	return scale_alike(t, e, first, ra, rb) ? GC_OK : gc_too_wide(t);
}

/* A sum's range.  Where dates or instants may be infinite, kernels look, or leave it to PostgreSQL. */
static GcCode
type_add_sub(GcTyper *t, GcExpr *e, GcRange *r)
{
	GcRange		arg[2];
	GcRange		ra,
				rb;
	bool		over;

	if (GC_KIND_IS_FLOAT(e->kind))
	{
		e->flags |= GC_CHECKED;
		return GC_OK;
	}
	/* date +- int4, date - date, timestamp - timestamp: only finite ones; else let PostgreSQL do it. */
	for (int i = 0; i < 2; i++)
	{
		arg[i] = t->ranges[e->arg[i]];
		if ((t->exprs[e->arg[i]].kind == GC_DATE && gc_range_clip(&arg[i], DATE_LO, DATE_HI)) ||
			(GC_KIND_IS_INSTANT(t->exprs[e->arg[i]].kind) && gc_range_clip(&arg[i], TIMESTAMP_LO, TIMESTAMP_HI)))
			e->flags |= GC_KIND_IS_INSTANT(e->kind) ? GC_INFINITE : GC_CHECKED;
	}
	if (t->exprs[e->arg[0]].kind == GC_NUMERIC)
	{
		GcCode		code = align_scales(t, e, 0, &ra, &rb);

		if (code != GC_OK)
			return code;
	}
	else
	{
		/* A timestamp that is infinite stays so, whatever is added. */
		ra = e->flags & GC_INFINITE ? arg[0] : t->ranges[e->arg[0]];
		rb = e->flags & GC_INFINITE ? arg[1] : t->ranges[e->arg[1]];
	}
	if (e->op == GC_OP_ADD)
		over = __builtin_add_overflow(ra.lo, rb.lo, &r->lo) ||
			__builtin_add_overflow(ra.hi, rb.hi, &r->hi);
	else
		over = __builtin_sub_overflow(ra.lo, rb.hi, &r->lo) ||
			__builtin_sub_overflow(ra.hi, rb.lo, &r->hi);
	if (over)
		return gc_too_wide(t);
	e->opreg = gc_range_common_reg(&ra, &rb, r);
	gc_clip_to_kind(e, r);
	for (int i = 0; i < 2 && (e->flags & GC_INFINITE); i++)
	{
		if (GC_KIND_IS_INSTANT(t->exprs[e->arg[i]].kind))
			gc_add_infinities(&t->ranges[e->arg[i]], r);
	}
	return GC_OK;
}

/* A product's range. */
static GcCode
type_mul(GcTyper *t, GcExpr *e, GcRange *r)
{
	if (GC_KIND_IS_FLOAT(e->kind))
	{
		e->flags |= GC_CHECKED;
		return GC_OK;
	}
	if (!gc_range_mul(&t->ranges[e->arg[0]], &t->ranges[e->arg[1]], r))
		return gc_too_wide(t);
	e->opreg = gc_range_common_reg(&t->ranges[e->arg[0]], &t->ranges[e->arg[1]], r);
	gc_clip_to_kind(e, r);
	return GC_OK;
}

/* The largest absolute value of a range, and the smallest above 0. */
static i128
most_of(const GcRange *r)
{
	return r->hi > -r->lo ? r->hi : -r->lo;
}

/* The least absolute value of the range, other than 0. */
static i128
least_of(const GcRange *r)
{
	return r->lo > 0 ? r->lo : r->hi < 0 ? -r->hi : 1;
}

/* Division of numerics: GC_AVG_SCALE digits, of which each row shows some. */
static GcCode
type_numeric_div(GcTyper *t, GcExpr *e, GcRange *r)
{
	const GcExpr *a = &t->exprs[e->arg[0]];
	const GcExpr *b = &t->exprs[e->arg[1]];
	const GcRange *ra = &t->ranges[e->arg[0]];
	const GcRange *rb = &t->ranges[e->arg[1]];
	GcRange		bound = {1, 1};
	GcRange		q = {0, 0};

	e->flags |= GC_CHECKED;
	if (a->min_scale > GC_AVG_SCALE || b->min_scale > GC_AVG_SCALE)
		return gc_fail(t->err, GC_UNSUPPORTED, "A quotient of numeric values of many digits is needed.");
	(void) gc_range_scale_up(&bound, GC_QUOTIENT_DIGITS);
	q.hi = bound.hi;
	if (ra->lo != I128_MIN && rb->lo != I128_MIN)
	{
		q.hi = most_of(ra);
		/* Rounding adds less than 1 in the last digit that is kept for sure. */
		if (!gc_range_scale_up(&q, GC_AVG_SCALE - a->scale + b->scale))
			q.hi = bound.hi;
		else
			q.hi = q.hi / least_of(rb) + bound.hi / 1000000000000;
	}
	if (q.hi > bound.hi)
		q.hi = bound.hi;
	*r = (GcRange) {ra->lo >= 0 && rb->lo >= 0 ? 0 : -q.hi, q.hi};
	return GC_OK;
}

/* Division of integers; remainder of integers and numerics. */
static GcCode
type_div_mod(GcTyper *t, GcExpr *e, GcRange *r)
{
	GcRange		a,
				b;
	GcCode		code;
	i128		m;

	if (e->kind == GC_NUMERIC && e->op == GC_OP_DIV)
		return type_numeric_div(t, e, r);
	if ((code = align_scales(t, e, 0, &a, &b)) != GC_OK)
		return code;
	if (a.lo == I128_MIN || b.lo == I128_MIN)
		return gc_too_wide(t);
	m = a.hi > -a.lo ? a.hi : -a.lo;
	if (GC_KIND_IS_FLOAT(e->kind) || (b.lo <= 0 && b.hi >= 0))
		e->flags |= GC_CHECKED;
	if (GC_KIND_IS_FLOAT(e->kind))
		return GC_OK;
	if (e->op == GC_OP_DIV)
		*r = (GcRange) {-m, m};
	else
	{
		i128		n = b.hi > -b.lo ? b.hi : -b.lo;

		n = n > 0 ? n - 1 : 0;
		if (m < n)
			n = m;
		*r = (GcRange) {a.lo < 0 ? -n : 0, a.hi > 0 ? n : 0};
	}
	e->opreg = gc_range_common_reg(&a, &b, r);
	gc_clip_to_kind(e, r);
	return GC_OK;
}

/* The range of a negated or absolute value. */
static GcCode
type_neg_abs(GcTyper *t, GcExpr *e, GcRange *r)
{
	GcRange		ra = t->ranges[e->arg[0]];

	if (GC_KIND_IS_FLOAT(e->kind))
		return GC_OK;
	if (ra.lo == I128_MIN)
		return gc_too_wide(t);
	if (e->op == GC_OP_NEG)
		*r = (GcRange) {-ra.hi, -ra.lo};
	else if (ra.lo >= 0)
		*r = ra;
	else if (ra.hi <= 0)
		*r = (GcRange) {-ra.hi, -ra.lo};
	else
		*r = (GcRange) {0, ra.hi > -ra.lo ? ra.hi : -ra.lo};
	e->opreg = gc_range_common_reg(&ra, &ra, r);
	gc_clip_to_kind(e, r);
	return GC_OK;
}

/*
 * Numerics are brought to one scale where 128 bits hold both then; else gc_compare_scaled() compares them as they are.
 */
static void
type_comparison(GcTyper *t, GcExpr *e)
{
	GcRange		ra,
				rb;

	if (scale_alike(t, e, 0, &ra, &rb))
		e->opreg = gc_range_common_reg(&ra, &rb, &gc_empty_as_zero);
	else
	{
		e->flags |= GC_COMPARE_WIDE;
		e->opreg = GC_I128;
	}
}

static GcCode
type_arithmetic(GcTyper *t, GcExpr *e, GcRange *r)
{
	switch (e->op)
	{
		case GC_OP_ADD:
		case GC_OP_SUB:
			return type_add_sub(t, e, r);
		case GC_OP_MUL:
			return type_mul(t, e, r);
		case GC_OP_DIV:
		case GC_OP_MOD:
			return type_div_mod(t, e, r);
		default:				/* GC_OP_NEG, GC_OP_ABS */
			return type_neg_abs(t, e, r);
	}
}

/* IF, COALESCE, GREATEST, LEAST, ARM: one of two values. */
static GcCode
type_choice(GcTyper *t, GcExpr *e, GcRange *r)
{
	const int	first = gc_first_choice(e);
	const GcExpr *a = &t->exprs[e->arg[first]];
	const GcExpr *b = &t->exprs[e->arg[first + 1]];
	GcRange		ra,
				rb;
	GcCode		code = align_scales(t, e, first, &ra, &rb);

	if (code != GC_OK)
		return code;
	/* A NULL constant has no value: its range does not count. */
	if (a->op == GC_OP_NULL)
		ra = rb;
	if (b->op == GC_OP_NULL)
		rb = ra;
	r->lo = ra.lo < rb.lo ? ra.lo : rb.lo;
	r->hi = ra.hi > rb.hi ? ra.hi : rb.hi;
	return GC_OK;
}

/* A leaf: column, payload, parameter, lookup result; and an expression that is one of these, or NULL. */
static void
type_fact(GcExpr *e, const GcFact *fact, GcRange *r)
{
	*r = fact->range.lo <= fact->range.hi ? fact->range : gc_empty_as_zero;
	e->scale = e->kind == GC_NUMERIC ? fact->scale : 0;
	e->min_scale = e->kind == GC_NUMERIC ? fact->scale - fact->scale_spread : 0;
	if (fact->nullable)
		e->flags |= GC_NULLABLE;
}

/* The range of a leaf, as facts tell it. */
static GcCode
type_leaf(GcTyper *t, GcExpr *e, GcRange *r)
{
	switch (e->op)
	{
		case GC_OP_COLUMN:
			if (gc_inputs(t->p)[gc_columns(t->p)[e->ref].input].groups_of)
				return gc_type_group_column(t, e, r);
			type_fact(e, &t->facts->columns[e->ref], r);
			break;
		case GC_OP_PARAM:
			type_fact(e, &t->facts->params[e->ref], r);
			if (t->facts->params[e->ref].nullable)
			{
				e->op = GC_OP_NULL;
				e->ref = GC_NONE;
				*r = gc_empty_as_zero;
			}
			break;
		case GC_OP_LUT:
			type_fact(e, &t->facts->luts[e->ref], r);
			if ((t->exprs[e->arg[0]].flags & GC_NULLABLE) && t->facts->luts[e->ref].null_of_null)
			{
				e->flags |= GC_NULLABLE;
				gc_luts(t->p)[e->ref].nullable = 1;
			}
			break;
		case GC_OP_PAYLOAD:
			{
				const GcExpr *src = &t->exprs[gc_payloads(t->p)[e->ref].expr];

				*r = t->ranges[gc_payloads(t->p)[e->ref].expr];
				e->scale = src->scale;
				e->min_scale = src->min_scale;
				if (!gc_payloads(t->p)[e->ref].greatest)
					e->flags |= src->flags & GC_NULLABLE;
				if (gc_build_is_optional(t->p, gc_payloads(t->p)[e->ref].build))
					e->flags |= GC_NULLABLE;
				break;
			}
		case GC_OP_OUTER:
			*r = t->ranges[e->arg[0]];
			e->flags |= GC_NULLABLE;
			break;
		default:				/* GC_OP_NULL */
			e->flags |= GC_NULLABLE;
			*r = gc_empty_as_zero;
			break;
	}
	return GC_OK;
}

/* Result of an operator is NULL if an argument is, unless said otherwise. */
static void
type_nullable(GcTyper *t, GcExpr *e)
{
	bool		n[3] = {false, false, false};

	for (int i = 0; i < 3; i++)
	{
		if (e->arg[i] != GC_NONE)
			n[i] = (t->exprs[e->arg[i]].flags & GC_NULLABLE) != 0;
	}
	switch (e->op)
	{
		case GC_OP_COLUMN:
		case GC_OP_PAYLOAD:
		case GC_OP_PARAM:
		case GC_OP_NULL:
		case GC_OP_LUT:
			return;
		case GC_OP_ISNULL:
		case GC_OP_NOTNULL:
		case GC_OP_ISTRUE:
		case GC_OP_NOTTRUE:
		case GC_OP_ISFALSE:
		case GC_OP_NOTFALSE:
		case GC_OP_DISTINCT:
			return;
		case GC_OP_IF:
			n[0] = false;
			break;
		case GC_OP_COALESCE:
		case GC_OP_GREATEST:
		case GC_OP_LEAST:
			n[0] = n[0] && n[1];
			n[1] = false;
			break;
		case GC_OP_WINDOW:
			n[0] = n[0] && e->cast_scale != GC_OVER_COUNT;
			break;
		case GC_OP_IN:
			n[0] = !(e->flags & GC_LIST_EMPTY) && (n[0] || (e->flags & GC_LIST_NULL));
			break;
		default:
			break;
	}
	if (n[0] || n[1] || n[2])
		e->flags |= GC_NULLABLE;
}

/* As far as is seen of it, its values have one scale. */
static GcCode
type_tag(GcTyper *t, GcExpr *e, GcRange *r)
{
	const GcExpr *x = &t->exprs[e->arg[0]];

	*r = t->ranges[e->arg[0]];
	e->scale = e->min_scale = x->scale;
	if (!gc_is_varying(x))
		return GC_OK;
	if (!gc_taggable(x, r))
		return gc_fail(t->err, GC_UNSUPPORTED, "Numeric values that are compared differ in scale and have too many digits.");
	*r = (GcRange) {r->lo * GC_TAG_SCALES, r->hi * GC_TAG_SCALES + GC_TAG_SCALES - 1};
	return GC_OK;
}

/* The largest and smallest display scale of a numeric, by its rule. */
static void
type_scale(const GcTyper *t, GcExpr *e)
{
	const GcScaleRule rule = gc_scale_rule(e);
	const int	first = rule == GC_SCALE_CHOSEN ? gc_first_choice(e) : 0;
	const GcExpr *a = rule == GC_SCALE_OWN ? NULL : &t->exprs[e->arg[first]];
	const GcExpr *b = rule >= GC_SCALE_LARGER ? &t->exprs[e->arg[first + 1]] : a;

	switch (rule)
	{
		case GC_SCALE_OWN:
			break;
		case GC_SCALE_GIVEN:
			e->scale = e->min_scale = e->cast_scale;
			break;
		case GC_SCALE_ARGUMENT:
			e->scale = a->scale;
			e->min_scale = a->min_scale;
			break;
		case GC_SCALE_LARGER:
		case GC_SCALE_SUM:
			e->scale = gc_scale_of(rule, a->scale, b->scale);
			e->min_scale = gc_scale_of(rule, a->min_scale, b->min_scale);
			break;
		case GC_SCALE_QUOTIENT:
			e->scale = GC_AVG_SCALE;
			e->min_scale = gc_scale_of(GC_SCALE_LARGER, a->min_scale, b->min_scale);
			break;
		case GC_SCALE_CHOSEN:
			e->scale = a->scale > b->scale ? a->scale : b->scale;
			e->min_scale = b->op != GC_OP_NULL && (a->op == GC_OP_NULL || b->min_scale < a->min_scale) ? b->min_scale : a->min_scale;
			break;
	}
}

/* Type one expression; its arguments are typed by now. */
static GcCode
type_expr(GcTyper *t, u16 i)
{
	GcExpr	   *e = &t->exprs[i];
	GcRange    *r = &t->ranges[i];
	GcCode		code = GC_OK;

	*r = (GcRange) {0, 1};
	if (e->kind == GC_NUMERIC)
		type_scale(t, e);
	switch (e->op)
	{
		case GC_OP_COLUMN:
		case GC_OP_PAYLOAD:
		case GC_OP_PARAM:
		case GC_OP_NULL:
		case GC_OP_LUT:
		case GC_OP_OUTER:
			code = type_leaf(t, e, r);
			break;
		case GC_OP_ADD:
		case GC_OP_SUB:
		case GC_OP_MUL:
		case GC_OP_DIV:
		case GC_OP_MOD:
		case GC_OP_NEG:
		case GC_OP_ABS:
			code = type_arithmetic(t, e, r);
			break;
		case GC_OP_EQ:
		case GC_OP_NE:
		case GC_OP_LT:
		case GC_OP_LE:
		case GC_OP_GT:
		case GC_OP_GE:
		case GC_OP_DISTINCT:
			type_comparison(t, e);
			break;
		case GC_OP_IF:
		case GC_OP_COALESCE:
		case GC_OP_GREATEST:
		case GC_OP_LEAST:
		case GC_OP_ARM:
			code = type_choice(t, e, r);
			break;
		case GC_OP_CAST:
			code = gc_type_cast(t, e, r);
			break;
		case GC_OP_IN:
			e->flags |= t->facts->list_flags[e->ref];
			break;
		case GC_OP_CALL:
			code = gc_type_call(t, e, r);
			break;
		case GC_OP_AVG:
			code = gc_type_avg(t, e, r);
			break;
		case GC_OP_STDDEV:
			code = gc_type_stddev(t, e, r);
			break;
		case GC_OP_ROW_ID:
			*r = t->facts->row_ids[e->ref].range;
			e->cast_scale = t->facts->row_ids[e->ref].bits;
			break;
		case GC_OP_SET:
			if (e->kind == GC_INT4)
				*r = (GcRange) {0, e->ref - 1};
			break;
		case GC_OP_SHOWN:
			*r = t->ranges[e->arg[0]];
			break;
		case GC_OP_NUMBER:
			*r = t->ranges[e->arg[0]];
			e->scale = e->min_scale = t->exprs[e->arg[0]].scale;
			break;
		case GC_OP_TAG:
			code = type_tag(t, e, r);
			break;
		case GC_OP_WINDOW:
			code = gc_type_window(t, e, r);
			break;
		case GC_OP_SCALE:
			*r = (GcRange) {t->exprs[e->arg[0]].min_scale, t->exprs[e->arg[0]].scale};
			break;
		default:				/* logic */
			break;
	}
	if (code != GC_OK)
		return code;
	type_nullable(t, e);
	e->reg = gc_kind_reg(e->kind, r);
	if (e->kind == GC_NUMERIC && gc_stored_reg(e->kind, e->min_scale, e->scale, r) == GC_I128)
		e->flags |= GC_WIDE;
	return GC_OK;
}

GcCode
gc_program_type(GcProgram *p, const GcFacts *facts, GcRange *ranges, GcError *err)
{
	GcTyper		t = {p, gc_exprs(p), facts, ranges, err};
	GcCode		code;

	gc_lay_out_values(&t);
	for (u16 i = 0; i < p->nexprs; i++)
	{
		if ((code = type_expr(&t, i)) != GC_OK)
			return code;
	}
	if ((code = gc_lay_out_payloads(&t)) != GC_OK ||
		(code = gc_check_outputs(&t)) != GC_OK)
		return code;
	return gc_program_type_aggs(p, facts, ranges, err);
}

GcCode
gc_program_type_aggs(GcProgram *p, const GcFacts *facts, GcRange *ranges, GcError *err)
{
	GcTyper		t = {p, gc_exprs(p), facts, ranges, err};
	GcCode		code = gc_lay_out_aggs(&t);

	if (code == GC_OK)
		p->bound = 1;
	return code;
}
