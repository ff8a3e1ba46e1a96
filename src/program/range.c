/*-------------------------------------------------------------------------
 *
 * range.c
 *	  Ranges of values, in 128 bits, and the registers that hold them.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "range.h"

bool
gc_kind_range(GcKind kind, GcRange *range)
{
	const GcKindTraits *traits = &gc_kinds[kind];

	if (traits->has_range)
		*range = (GcRange) {traits->lo, traits->hi};
	return traits->has_range;
}

GcReg
gc_range_reg(const GcRange *range)
{
	if (range->lo >= INT32_MIN && range->hi <= INT32_MAX)
		return GC_I32;
	if (range->lo >= INT64_MIN && range->hi <= INT64_MAX)
		return GC_I64;
	return GC_I128;
}

GcReg
gc_kind_reg(u8 kind, const GcRange *range)
{
	if (kind == GC_FLOAT4)
		return GC_F32;
	if (kind == GC_FLOAT8)
		return GC_F64;
	return gc_range_reg(range);
}

int
gc_range_width(const GcRange *range, bool nullable)
{
	u128		span;

	if (range->lo > range->hi)
		return 1;
	span = (u128) range->hi - (u128) range->lo + (nullable ? 1 : 0);
	if (span <= UINT8_MAX)
		return 1;
	if (span <= UINT16_MAX)
		return 2;
	if (span <= UINT32_MAX)
		return 4;
	return span <= UINT64_MAX ? 8 : 0;
}

/* Are all values between these two, inclusive? */
bool
gc_range_within(const GcRange *r, i128 lo, i128 hi)
{
	return r->lo >= lo && r->hi <= hi;
}

bool
gc_range_clip(GcRange *r, i128 lo, i128 hi)
{
	bool		cut = !gc_range_within(r, lo, hi);

	if (r->lo < lo)
		r->lo = lo;
	if (r->hi > hi)
		r->hi = hi;
	if (r->lo > r->hi)
		r->lo = r->hi;
	return cut;
}

GcReg
gc_range_common_reg(const GcRange *a, const GcRange *b, const GcRange *c)
{
	GcReg		ra = gc_range_reg(a),
				rb = gc_range_reg(b),
				rc = gc_range_reg(c);

	if (rb > ra)
		ra = rb;
	return rc > ra ? rc : ra;
}

bool
gc_range_scale_up(GcRange *r, int digits)
{
	for (; digits > 0; digits--)
	{
		if (__builtin_mul_overflow(r->lo, (i128) 10, &r->lo) ||
			__builtin_mul_overflow(r->hi, (i128) 10, &r->hi))
			return false;
	}
	return true;
}

bool
gc_range_mul(const GcRange *a, const GcRange *b, GcRange *r)
{
	i128		c[4];

	if (__builtin_mul_overflow(a->lo, b->lo, &c[0]) ||
		__builtin_mul_overflow(a->lo, b->hi, &c[1]) ||
		__builtin_mul_overflow(a->hi, b->lo, &c[2]) ||
		__builtin_mul_overflow(a->hi, b->hi, &c[3]))
		return false;
	r->lo = r->hi = c[0];
	for (int i = 1; i < 4; i++)
	{
		if (c[i] < r->lo)
			r->lo = c[i];
		if (c[i] > r->hi)
			r->hi = c[i];
	}
	return true;
}
