/*-------------------------------------------------------------------------
 *
 * tagged.c
 *	  Numerics whose display scale differs from row to row: how they are stored.
 *
 * Pure C, for all processes.
 *
 *-------------------------------------------------------------------------
 */
#include "tagged.h"

bool
gc_taggable(const GcExpr *e, const GcRange *range)
{
	return e->scale < GC_TAG_SCALES && gc_range_within(range, -GC_TAG_LIMIT + 1, GC_TAG_LIMIT - 1);
}

bool
gc_storable(const GcExpr *e, const GcRange *range)
{
	return !gc_is_varying(e) ||
		(e->scale < GC_TAG_SCALES && gc_range_within(range, -GC_TAG_LIMIT_WIDE + 1, GC_TAG_LIMIT_WIDE - 1));
}

GcReg
gc_stored_reg(u8 kind, i16 min_scale, i16 scale, const GcRange *range)
{
	const GcExpr e = {.scale = scale};

	if (min_scale == scale)
		return gc_kind_reg(kind, range);
	return gc_taggable(&e, range) ? GC_I64 : GC_I128;
}

GcRange
gc_stored_range(const GcExpr *e, const GcRange *range)
{
	if (!gc_is_varying(e) || !gc_taggable(e, range))
		return *range;
	/* At a smaller scale a value is an integer nearer to 0. */
	return (GcRange) {(range->lo < 0 ? range->lo : 0) * GC_TAG_SCALES, (range->hi > 0 ? range->hi : 0) * GC_TAG_SCALES + GC_TAG_SCALES - 1};
}
