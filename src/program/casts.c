/*-------------------------------------------------------------------------
 *
 * casts.c
 *	  Bound types of casts.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "typer.h"

/* 10 to the power of n; n is a display scale. */
static i128
power10(int n)
{
	i128		v = 1;

	while (n-- > 0)
		v *= 10;
	return v;
}

/* To numeric, with or without a typmod. */
static GcCode
cast_to_numeric(GcTyper *t, GcExpr *e, GcRange *r)
{
	const int	up = e->scale - t->exprs[e->arg[0]].scale;

	*r = t->ranges[e->arg[0]];
	e->opreg = gc_range_reg(r);
	if (!(e->flags & GC_CAST_SCALE))
		return GC_OK;
	if (up > 38 || up < -38)
		return gc_too_wide(t);
	if (up >= 0)
	{
		e->rescale[0] = up;
		if (!gc_range_scale_up(r, up))
			return gc_too_wide(t);
		e->opreg = gc_range_reg(r);
	}
	else
	{
		/* Rounded half away from zero: may grow by one. */
		i128		d = power10(-up);

		r->lo = r->lo / d - 1;
		r->hi = r->hi / d + 1;
	}
	if (e->cast_precision <= 38)
	{
		i128		limit = power10(e->cast_precision) - 1;

		if (gc_range_clip(r, -limit, limit))
			e->flags |= GC_CHECKED;
	}
	return GC_OK;
}

/* A cast to a float; refused where the device would round otherwise than PostgreSQL. */
static GcCode
cast_to_float(GcTyper *t, GcExpr *e)
{
	const GcExpr *a = &t->exprs[e->arg[0]];

	if (e->kind == GC_FLOAT4 && a->kind == GC_FLOAT8)
		e->flags |= GC_CHECKED;
	/* One correctly rounded division only if both operands are exact. */
	if (a->kind == GC_NUMERIC &&
		(!gc_range_within(&t->ranges[e->arg[0]], -(1LL << 53), 1LL << 53) || a->scale > 22 ||
		 e->kind == GC_FLOAT4))
		return gc_fail(t->err, GC_UNSUPPORTED,
					   "A numeric value cannot be converted to a float exactly.");
	return GC_OK;
}

/* To timestamp; infinities map to infinities. */
static void
cast_from_date(GcTyper *t, GcExpr *e, GcRange *r)
{
	GcRange		ra = t->ranges[e->arg[0]];

	*r = ra;
	if (e->kind == GC_DATE)
		return;
	if (gc_range_within(&ra, DATE_LO, DATE_HI))
		e->flags |= GC_CAST_FINITE;
	*r = (GcRange) {ra.lo * USECS_PER_DAY, ra.hi * USECS_PER_DAY};
	if (gc_range_clip(r, TIMESTAMP_LO, TIMESTAMP_HI))
	{
		e->flags |= GC_CHECKED;
		*r = (GcRange) {INT64_MIN, INT64_MAX};
	}
}

/* A cast to a date; exact where all are finite. */
static void
cast_from_timestamp(GcTyper *t, GcExpr *e, GcRange *r)
{
	GcRange		ra = t->ranges[e->arg[0]];

	*r = ra;
	if (e->kind != GC_DATE)
		return;
	if (gc_range_within(&ra, TIMESTAMP_LO, TIMESTAMP_HI))
	{
		e->flags |= GC_CAST_FINITE;
		*r = (GcRange) {ra.lo / USECS_PER_DAY - 1, ra.hi / USECS_PER_DAY};
	}
	else
		gc_kind_range(GC_DATE, r);
}

GcCode
gc_type_cast(GcTyper *t, GcExpr *e, GcRange *r)
{
	const GcExpr *a = &t->exprs[e->arg[0]];

	if (e->kind == GC_NUMERIC)
		return cast_to_numeric(t, e, r);
	if (GC_KIND_IS_FLOAT(e->kind))
		return cast_to_float(t, e);
	if (GC_KIND_IS_FLOAT(a->kind))
	{
		e->flags |= GC_CHECKED;
		gc_kind_range(e->kind, r);
		return GC_OK;
	}
	*r = t->ranges[e->arg[0]];
	switch (a->kind)
	{
		case GC_DATE:
			cast_from_date(t, e, r);
			return GC_OK;
		case GC_TIMESTAMP:
			cast_from_timestamp(t, e, r);
			return GC_OK;
		case GC_NUMERIC:
			if (a->scale > 38)
				return gc_too_wide(t);
			r->lo = r->lo / power10(a->scale) - 1;
			r->hi = r->hi / power10(a->scale) + 1;
			break;
		default:
			break;
	}
	gc_clip_to_kind(e, r);
	return GC_OK;
}
