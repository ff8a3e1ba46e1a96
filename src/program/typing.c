/*-------------------------------------------------------------------------
 *
 * typing.c
 *	  Bound types of a program: registers, scales, NULLs and checks, derived
 *	  from the value ranges that the columns actually have.
 *
 * The rule for every operator: compute the range of the exact result; where it
 * lies within what PostgreSQL's type can hold, no check is compiled; where it
 * does not, the operation is checked at run time and its range cut to the type's.
 * The register is the narrowest that holds the range.  So int4 columns of small
 * values multiply in 32 bits without a check, and numeric columns multiply as
 * plain integers for as long as they fit, exactly.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "program.h"
#include "range.h"

#include <string.h>

#define I128_MAX	((i128) (((u128) 1 << 127) - 1))
#define I128_MIN	(-I128_MAX - 1)

/* Valid finite dates: IS_VALID_DATE in datetime.h, as days since 2000-01-01. */
#define DATE_LO		(-2451545)
#define DATE_HI		(2147483494 - 2451545 - 1)
#define USECS_PER_DAY	86400000000LL

/* Valid finite timestamps: MIN_TIMESTAMP .. END_TIMESTAMP - 1. */
#define TIMESTAMP_LO	(-211813488000000000LL)
#define TIMESTAMP_HI	(9223371331200000000LL - 1)

typedef struct Typer
{
	GcProgram  *p;
	GcExpr	   *exprs;
	const GcFacts *facts;
	GcRange    *ranges;
	GcError    *err;
} Typer;

static const GcRange EMPTY_AS_ZERO = {0, 0};

static GcReg
kind_reg(u8 kind, const GcRange *range)
{
	if (kind == GC_FLOAT4)
		return GC_F32;
	if (kind == GC_FLOAT8)
		return GC_F64;
	return gc_range_reg(range);
}

static GcCode
too_wide(Typer *t)
{
	return gc_fail(t->err, GC_UNSUPPORTED, "A numeric expression needs more than 128 bits.");
}

/*
 * Bring both numeric arguments to the larger scale; ra, rb receive the ranges of
 * the rescaled values.  Does nothing for other kinds.
 */
static GcCode
align_scales(Typer *t, GcExpr *e, int first, GcRange *ra, GcRange *rb)
{
	const GcExpr *a = &t->exprs[e->arg[first]];
	const GcExpr *b = &t->exprs[e->arg[first + 1]];
	int			scale = a->scale > b->scale ? a->scale : b->scale;

	*ra = t->ranges[e->arg[first]];
	*rb = t->ranges[e->arg[first + 1]];
	if (a->kind != GC_NUMERIC)
		return GC_OK;
	if (scale - a->scale > 38 || scale - b->scale > 38)
		return too_wide(t);
	e->rescale[0] = scale - a->scale;
	e->rescale[1] = scale - b->scale;
	if (!gc_range_scale_up(ra, e->rescale[0]) || !gc_range_scale_up(rb, e->rescale[1]))
		return too_wide(t);
	return GC_OK;
}

/* Integer, date and timestamp results: cut the range to the kind's, or check. */
static void
clip_to_kind(GcExpr *e, GcRange *r)
{
	GcRange		k;

	if (e->kind == GC_DATE)
	{
		if (gc_range_clip(r, DATE_LO, DATE_HI))
			e->flags |= GC_CHECKED;
	}
	else if (gc_kind_range(e->kind, &k) && gc_range_clip(r, k.lo, k.hi))
		e->flags |= GC_CHECKED;
}

static GcCode
type_add_sub(Typer *t, GcExpr *e, GcRange *r)
{
	const GcExpr *a = &t->exprs[e->arg[0]];
	const GcExpr *b = &t->exprs[e->arg[1]];
	GcRange		ra,
				rb;
	bool		over;

	if (GC_KIND_IS_FLOAT(e->kind))
	{
		e->flags |= GC_CHECKED;
		return GC_OK;
	}
	/* date +- int4, date - date: only finite dates; else let PostgreSQL do it. */
	for (int i = 0; i < 2; i++)
	{
		if (t->exprs[e->arg[i]].kind == GC_DATE &&
			!gc_range_within(&t->ranges[e->arg[i]], DATE_LO, DATE_HI))
			e->flags |= GC_CHECKED;
	}
	if (a->kind == GC_NUMERIC)
	{
		GcCode		code = align_scales(t, e, 0, &ra, &rb);

		if (code != GC_OK)
			return code;
		e->scale = a->scale > b->scale ? a->scale : b->scale;
		e->min_scale = a->min_scale > b->min_scale ? a->min_scale : b->min_scale;
	}
	else
	{
		ra = t->ranges[e->arg[0]];
		rb = t->ranges[e->arg[1]];
	}
	if (e->op == GC_OP_ADD)
		over = __builtin_add_overflow(ra.lo, rb.lo, &r->lo) ||
			__builtin_add_overflow(ra.hi, rb.hi, &r->hi);
	else
		over = __builtin_sub_overflow(ra.lo, rb.hi, &r->lo) ||
			__builtin_sub_overflow(ra.hi, rb.lo, &r->hi);
	if (over)
		return too_wide(t);
	e->opreg = gc_range_common_reg(&ra, &rb, r);
	clip_to_kind(e, r);
	return GC_OK;
}

static GcCode
type_mul(Typer *t, GcExpr *e, GcRange *r)
{
	const GcExpr *a = &t->exprs[e->arg[0]];
	const GcExpr *b = &t->exprs[e->arg[1]];

	if (GC_KIND_IS_FLOAT(e->kind))
	{
		e->flags |= GC_CHECKED;
		return GC_OK;
	}
	if (!gc_range_mul(&t->ranges[e->arg[0]], &t->ranges[e->arg[1]], r))
		return too_wide(t);
	e->scale = a->scale + b->scale;
	e->min_scale = a->min_scale + b->min_scale;
	e->opreg = gc_range_common_reg(&t->ranges[e->arg[0]], &t->ranges[e->arg[1]], r);
	clip_to_kind(e, r);
	return GC_OK;
}

/* Integer division and remainder. */
static GcCode
type_div_mod(Typer *t, GcExpr *e, GcRange *r)
{
	GcRange		a = t->ranges[e->arg[0]];
	GcRange		b = t->ranges[e->arg[1]];
	i128		m = a.hi > -a.lo ? a.hi : -a.lo;

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
	clip_to_kind(e, r);
	return GC_OK;
}

static GcCode
type_neg_abs(Typer *t, GcExpr *e, GcRange *r)
{
	const GcExpr *a = &t->exprs[e->arg[0]];
	GcRange		ra = t->ranges[e->arg[0]];

	e->scale = a->scale;
	e->min_scale = a->min_scale;
	if (GC_KIND_IS_FLOAT(e->kind))
		return GC_OK;
	if (ra.lo == I128_MIN)
		return too_wide(t);
	if (e->op == GC_OP_NEG)
		*r = (GcRange) {-ra.hi, -ra.lo};
	else if (ra.lo >= 0)
		*r = ra;
	else if (ra.hi <= 0)
		*r = (GcRange) {-ra.hi, -ra.lo};
	else
		*r = (GcRange) {0, ra.hi > -ra.lo ? ra.hi : -ra.lo};
	e->opreg = gc_range_common_reg(&ra, &ra, r);
	clip_to_kind(e, r);
	return GC_OK;
}

/* IF, COALESCE, GREATEST, LEAST: one of two values (arg first, first + 1). */
static GcCode
type_choice(Typer *t, GcExpr *e, int first, GcRange *r)
{
	const GcExpr *a = &t->exprs[e->arg[first]];
	const GcExpr *b = &t->exprs[e->arg[first + 1]];
	GcRange		ra,
				rb;
	GcCode		code = align_scales(t, e, first, &ra, &rb);

	if (code != GC_OK)
		return code;
	/* A NULL constant has no value: its range and scale do not count. */
	if (a->op == GC_OP_NULL)
		ra = rb;
	if (b->op == GC_OP_NULL)
		rb = ra;
	e->scale = a->scale > b->scale ? a->scale : b->scale;
	e->min_scale = a->min_scale < b->min_scale ? a->min_scale : b->min_scale;
	if (a->op == GC_OP_NULL)
		e->min_scale = b->min_scale;
	if (b->op == GC_OP_NULL)
		e->min_scale = a->min_scale;
	r->lo = ra.lo < rb.lo ? ra.lo : rb.lo;
	r->hi = ra.hi > rb.hi ? ra.hi : rb.hi;
	return GC_OK;
}

static i128
power10(int n)
{
	i128		v = 1;

	while (n-- > 0)
		v *= 10;
	return v;
}

/* CAST to numeric, with or without a typmod. */
static GcCode
type_cast_numeric(Typer *t, GcExpr *e, GcRange *r)
{
	const GcExpr *a = &t->exprs[e->arg[0]];
	int			up;

	*r = t->ranges[e->arg[0]];
	e->opreg = gc_range_reg(r);
	e->scale = a->kind == GC_NUMERIC ? a->scale : 0;
	e->min_scale = a->kind == GC_NUMERIC ? a->min_scale : 0;
	if (!(e->flags & GC_CAST_SCALE))
		return GC_OK;

	up = e->cast_scale - e->scale;
	if (up > 38 || up < -38)
		return too_wide(t);
	if (up >= 0)
	{
		e->rescale[0] = up;
		if (!gc_range_scale_up(r, up))
			return too_wide(t);
		e->opreg = gc_range_reg(r);
	}
	else
	{
		/* Rounded half away from zero: may grow by one. */
		i128		d = power10(-up);

		r->lo = r->lo / d - 1;
		r->hi = r->hi / d + 1;
	}
	e->scale = e->min_scale = e->cast_scale;
	if (e->cast_precision <= 38)
	{
		i128		limit = power10(e->cast_precision) - 1;

		if (gc_range_clip(r, -limit, limit))
			e->flags |= GC_CHECKED;
	}
	return GC_OK;
}

static GcCode
type_cast(Typer *t, GcExpr *e, GcRange *r)
{
	const GcExpr *a = &t->exprs[e->arg[0]];
	GcRange		ra = t->ranges[e->arg[0]];

	if (e->kind == GC_NUMERIC)
		return type_cast_numeric(t, e, r);
	if (GC_KIND_IS_FLOAT(e->kind))
	{
		if (e->kind == GC_FLOAT4 && a->kind == GC_FLOAT8)
			e->flags |= GC_CHECKED;
		/* One correctly rounded division only if both operands are exact. */
		if (a->kind == GC_NUMERIC &&
			(!gc_range_within(&ra, -(1LL << 53), 1LL << 53) || a->scale > 22 ||
			 e->kind == GC_FLOAT4 || a->min_scale != a->scale))
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "A numeric value cannot be converted to a float exactly.");
		return GC_OK;
	}
	if (GC_KIND_IS_FLOAT(a->kind))
	{
		e->flags |= GC_CHECKED;
		gc_kind_range(e->kind, r);
		return GC_OK;
	}
	switch (a->kind)
	{
		case GC_NUMERIC:
			if (a->scale > 38)
				return too_wide(t);
			ra.lo = ra.lo / power10(a->scale) - 1;
			ra.hi = ra.hi / power10(a->scale) + 1;
			*r = ra;
			break;
		case GC_DATE:
			if (e->kind == GC_DATE)
			{
				*r = ra;
				return GC_OK;
			}
			/* to timestamp; infinities map to infinities */
			if (gc_range_within(&ra, DATE_LO, DATE_HI))
				e->flags |= GC_CAST_FINITE;
			*r = (GcRange) {ra.lo * USECS_PER_DAY, ra.hi * USECS_PER_DAY};
			if (gc_range_clip(r, TIMESTAMP_LO, TIMESTAMP_HI))
			{
				e->flags |= GC_CHECKED;
				*r = (GcRange) {INT64_MIN, INT64_MAX};
			}
			return GC_OK;
		case GC_TIMESTAMP:
			if (e->kind != GC_DATE)
			{
				*r = ra;
				return GC_OK;
			}
			if (gc_range_within(&ra, TIMESTAMP_LO, TIMESTAMP_HI))
			{
				e->flags |= GC_CAST_FINITE;
				*r = (GcRange) {ra.lo / USECS_PER_DAY - 1, ra.hi / USECS_PER_DAY};
			}
			else
				gc_kind_range(GC_DATE, r);
			return GC_OK;
		default:
			*r = ra;
			break;
	}
	clip_to_kind(e, r);
	return GC_OK;
}

/* A leaf: column, payload, parameter, lookup result. */
static void
type_fact(GcExpr *e, const GcFact *fact, GcRange *r)
{
	*r = fact->range.lo <= fact->range.hi ? fact->range : EMPTY_AS_ZERO;
	e->scale = e->min_scale = e->kind == GC_NUMERIC ? fact->scale : 0;
	if (fact->nullable)
		e->flags |= GC_NULLABLE;
}

static GcCode
type_leaf(Typer *t, GcExpr *e, GcRange *r)
{
	switch (e->op)
	{
		case GC_OP_COLUMN:
			type_fact(e, &t->facts->columns[e->ref], r);
			break;
		case GC_OP_PARAM:
			type_fact(e, &t->facts->params[e->ref], r);
			if (t->facts->params[e->ref].nullable)
			{
				e->op = GC_OP_NULL;
				e->ref = GC_NONE;
				*r = EMPTY_AS_ZERO;
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
				e->flags |= src->flags & GC_NULLABLE;
				break;
			}
		default:				/* GC_OP_NULL */
			e->flags |= GC_NULLABLE;
			*r = EMPTY_AS_ZERO;
			break;
	}
	return GC_OK;
}

/* Result of an operator is NULL if an argument is, unless said otherwise. */
static void
type_nullable(Typer *t, GcExpr *e)
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
		case GC_OP_IN:
			n[0] = n[0] || t->facts->list_has_null[e->ref];
			break;
		default:
			break;
	}
	if (n[0] || n[1] || n[2])
		e->flags |= GC_NULLABLE;
}

static GcCode
type_expr(Typer *t, u16 i)
{
	GcExpr	   *e = &t->exprs[i];
	GcRange    *r = &t->ranges[i];
	GcRange		ra,
				rb;
	GcCode		code = GC_OK;

	*r = (GcRange) {0, 1};
	switch (e->op)
	{
		case GC_OP_COLUMN:
		case GC_OP_PAYLOAD:
		case GC_OP_PARAM:
		case GC_OP_NULL:
		case GC_OP_LUT:
			code = type_leaf(t, e, r);
			break;
		case GC_OP_ADD:
		case GC_OP_SUB:
			code = type_add_sub(t, e, r);
			break;
		case GC_OP_MUL:
			code = type_mul(t, e, r);
			break;
		case GC_OP_DIV:
		case GC_OP_MOD:
			code = type_div_mod(t, e, r);
			break;
		case GC_OP_NEG:
		case GC_OP_ABS:
			code = type_neg_abs(t, e, r);
			break;
		case GC_OP_EQ:
		case GC_OP_NE:
		case GC_OP_LT:
		case GC_OP_LE:
		case GC_OP_GT:
		case GC_OP_GE:
		case GC_OP_DISTINCT:
			code = align_scales(t, e, 0, &ra, &rb);
			e->opreg = gc_range_common_reg(&ra, &rb, &EMPTY_AS_ZERO);
			break;
		case GC_OP_IF:
			code = type_choice(t, e, 1, r);
			break;
		case GC_OP_COALESCE:
		case GC_OP_GREATEST:
		case GC_OP_LEAST:
			code = type_choice(t, e, 0, r);
			break;
		case GC_OP_CAST:
			code = type_cast(t, e, r);
			break;
		case GC_OP_IN:
			if (t->facts->list_has_null[e->ref])
				e->flags |= GC_LIST_NULL;
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
	e->reg = kind_reg(e->kind, r);
	return GC_OK;
}

static GcCode
type_payloads(Typer *t)
{
	for (u16 i = 0; i < t->p->npayloads; i++)
	{
		GcPPayload *pay = &gc_payloads(t->p)[i];
		const GcExpr *e = &t->exprs[pay->expr];

		pay->reg = e->reg;
		pay->nullable = (e->flags & GC_NULLABLE) != 0;
		pay->scale = e->scale;
		if (e->reg == GC_F32 || e->reg == GC_F64)
			pay->width = e->reg == GC_F32 ? 4 : 8;
		else
			pay->width = gc_range_width(&t->ranges[pay->expr], pay->nullable);
		if (pay->width == 0)
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "A value needed from a joined table does not fit in 64 bits.");
		if (e->kind == GC_NUMERIC && e->min_scale != e->scale)
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "A numeric value needed from a joined table varies in scale.");
	}
	return GC_OK;
}

static GcCode
type_agg(Typer *t, GcPAgg *agg)
{
	GcExpr	   *e;
	GcRange		r;
	i128		m,
				sum;

	agg->acc = GC_I64;
	agg->nwords = 1;
	if (agg->fn == GC_AGG_COUNT)
		return GC_OK;
	e = &t->exprs[agg->arg];
	if (e->reg == GC_F32 || e->reg == GC_F64)
	{
		agg->acc = GC_F64;
		return GC_OK;
	}
	r = t->ranges[agg->arg];
	e->small = gc_range_within(&r, INT32_MIN / GC_PART_ROWS, INT32_MAX / GC_PART_ROWS);
	if (agg->fn != GC_AGG_SUM)
	{
		if (e->reg == GC_I128)
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "The minimum or maximum of a numeric does not fit in 64 bits.");
		if (e->kind == GC_NUMERIC && e->min_scale != e->scale)
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "The minimum or maximum of numeric values of varying scale is needed.");
		return GC_OK;
	}
	/* Exact as long as no partial sum can leave the accumulator. */
	m = r.hi > -r.lo ? r.hi : -r.lo;
	if (r.lo == I128_MIN || __builtin_mul_overflow(m, (i128) t->facts->rows, &sum))
		return too_wide(t);
	if (sum > INT64_MAX)
	{
		agg->acc = GC_I128;
		agg->nwords = 2;
	}
	return GC_OK;
}

static GcCode
type_group_keys(Typer *t)
{
	const GcPPipeline *pl = &gc_pipelines(t->p)[t->p->npipelines - 1];

	for (u16 i = 0; pl->sink == GC_SINK_AGGREGATE && i < pl->nkeys; i++)
	{
		u16			ref = gc_refs(t->p)[pl->first_key + i];
		const GcExpr *e = &t->exprs[ref];

		if (e->reg == GC_I128)
			return gc_fail(t->err, GC_UNSUPPORTED, "A group key does not fit in 64 bits.");
		if (e->kind == GC_NUMERIC && e->min_scale != e->scale)
			return gc_fail(t->err, GC_UNSUPPORTED, "A numeric group key varies in scale.");
	}
	for (u16 i = 0; pl->sink == GC_SINK_ROWS && i < pl->nouts; i++)
	{
		const GcExpr *e = &t->exprs[gc_refs(t->p)[pl->first_out + i]];

		if (e->reg == GC_I128 || (e->kind == GC_NUMERIC && e->min_scale != e->scale))
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "A numeric output needs more than 64 bits or varies in scale.");
	}
	return GC_OK;
}

/*
 * Do codes of that many bytes leave their highest bit alone?  Each chunk's frame of reference
 * is one of its values, so that no code is larger than the span of all.
 */
static bool
leaves_bit(const GcRange *range, u8 width)
{
	return (width == 1 || width == 2) && (u128) range->hi - (u128) range->lo < (u128) 1 << (8 * width - 1);
}

/* Registers and scales of what expressions refer to, for the code generator. */
static void
copy_facts(Typer *t)
{
	GcProgram  *p = t->p;

	for (u16 i = 0; i < p->ncolumns; i++)
	{
		GcPColumn  *c = &gc_columns(p)[i];
		const GcFact *f = &t->facts->columns[i];
		GcRange		r = f->range.lo <= f->range.hi ? f->range : EMPTY_AS_ZERO;

		c->width = f->width;
		c->nullable = f->nullable;
		c->reg = kind_reg(c->kind, &r);
		c->spare = leaves_bit(&r, f->width);
		c->scale = c->kind == GC_NUMERIC ? f->scale : 0;
	}
	for (u16 i = 0; i < p->nparams; i++)
	{
		GcPParam   *c = &gc_params(p)[i];
		const GcFact *f = &t->facts->params[i];

		c->reg = kind_reg(c->kind, f->nullable ? &EMPTY_AS_ZERO : &f->range);
		c->scale = c->kind == GC_NUMERIC ? f->scale : 0;
	}
	for (u16 i = 0; i < p->nluts; i++)
	{
		GcPLut	   *l = &gc_luts(p)[i];
		const GcFact *f = &t->facts->luts[i];
		GcRange		r = f->range.lo <= f->range.hi ? f->range : EMPTY_AS_ZERO;

		l->reg = kind_reg(l->kind, &r);
		l->nullable = f->nullable;
		l->scale = l->kind == GC_NUMERIC ? f->scale : 0;
		l->width = l->kind == GC_BOOL ? 1 : l->reg == GC_I32 || l->reg == GC_F32 ? 4 : 8;
	}
}

GcCode
gc_program_type(GcProgram *p, const GcFacts *facts, GcRange *ranges, GcError *err)
{
	Typer		t = {p, gc_exprs(p), facts, ranges, err};
	GcCode		code;

	copy_facts(&t);
	for (u16 i = 0; i < p->nexprs; i++)
	{
		if ((code = type_expr(&t, i)) != GC_OK)
			return code;
	}
	if ((code = type_payloads(&t)) != GC_OK ||
		(code = type_group_keys(&t)) != GC_OK)
		return code;
	return gc_program_type_aggs(p, facts, ranges, err);
}

GcCode
gc_program_type_aggs(GcProgram *p, const GcFacts *facts, GcRange *ranges, GcError *err)
{
	Typer		t = {p, gc_exprs(p), facts, ranges, err};
	GcPAgg	   *aggs = gc_aggs(p);
	u16			word = 1;
	GcCode		code;

	/* Word 0 counts the group's rows, or marks that it has any. */
	for (u16 i = 0; i < p->naggs; i++)
	{
		if ((code = type_agg(&t, &aggs[i])) != GC_OK)
			return code;
		if (aggs[i].fn == GC_AGG_COUNT &&
			(aggs[i].arg == GC_NONE || !(t.exprs[aggs[i].arg].flags & GC_NULLABLE)))
			aggs[i].word = 0;
		else
		{
			aggs[i].word = word;
			word += aggs[i].nwords;
		}
	}
	p->group_words = word;
	p->bound = 1;
	return GC_OK;
}
