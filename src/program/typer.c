/*-------------------------------------------------------------------------
 *
 * typer.c
 *	  The common part of the files that type a program.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "typer.h"

const GcRange gc_empty_as_zero = {0, 0};

/* Records the error, and returns it. */
GcCode
gc_too_wide(GcTyper *t)
{
	return gc_fail(t->err, GC_UNSUPPORTED, "A numeric expression needs more than 128 bits.");
}

void
gc_add_infinities(const GcRange *from, GcRange *r)
{
	if (from->lo < TIMESTAMP_LO)
		r->lo = INT64_MIN;
	if (from->hi > TIMESTAMP_HI)
		r->hi = INT64_MAX;
}

void
gc_clip_to_kind(GcExpr *e, GcRange *r)
{
	GcRange		k;

	if (e->kind == GC_DATE)
	{
		if (gc_range_clip(r, DATE_LO, DATE_HI))
			e->flags |= GC_CHECKED;
	}
	else if (GC_KIND_IS_INSTANT(e->kind))
	{
		if (gc_range_clip(r, TIMESTAMP_LO, TIMESTAMP_HI))
			e->flags |= GC_CHECKED;
	}
	else if (gc_kind_range(e->kind, &k) && gc_range_clip(r, k.lo, k.hi))
		e->flags |= GC_CHECKED;
}
