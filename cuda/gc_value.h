/*-------------------------------------------------------------------------
 *
 * gc_value.h
 *	  The semantics of expressions, written once for both targets.
 *
 * Everything here follows PostgreSQL's functions, named at each.  Where one of them would raise
 * an error, the kernel notes `gc_bad` (GC_CHECK) and the value is void.  PostgreSQL's own plan
 * then answers the request.  So a kernel never decides whether an error is to be raised, nor
 * which.
 *
 * Three-valued logic: a boolean is a pair of value and NULL flag.  The value of a NULL is 0, so
 * that `value` alone means "is true".
 *
 *-------------------------------------------------------------------------
 */

#define GC_CHECK(ok)		gc_bad |= !(ok)
#define GC_MAX(x, y)		((x) > (y) ? (x) : (y))
#define GC_MIN(x, y)		((x) < (y) ? (x) : (y))
#define GC_FABS(x)			((x) < 0 ? -(x) : (x) == 0 ? 0 : (x))
#define GC_FABSF(x)			GC_FABS(x)

/* int4div and its like; b != 0 and no overflow were checked. */
#define GC_DIV(x, y)		((y) == 0 ? 0 : (y) == -1 ? -(x) : (x) / (y))
#define GC_MOD(x, y)		((y) == 0 || (y) == -1 ? 0 : (x) % (y))

/* A payload of 128 bits is stored with this added.  So 0, which no value becomes, is NULL's code as elsewhere. */
#define GC_WIDE_BIAS	((u128) 1 << 127)

/* Divide by 10^n, rounded half away from zero: numeric's rounding. */
GC_FN i128
gc_round_div(i128 x, i128 d)
{
	const i128	q = x / d;
	const i128	r = x - q * d;

	if (r >= d - r)
		return q + 1;
	if (-r >= d + r)
		return q - 1;
	return q;
}

GC_FN i64
gc_round_div64(i64 x, i64 d)
{
	const i64	q = x / d;
	const i64	r = x - q * d;

	if (r >= d - r)
		return q + 1;
	if (-r >= d + r)
		return q - 1;
	return q;
}

/* Quotients rounded down, up, and towards zero; q: the quotient, rounded towards zero. */
#define GC_ROUNDED_DIV(name, type, rounded) \
	GC_FN type \
	name(type x, type d) \
	{ \
		const type	q = x / d; \
		return rounded; \
	}
GC_ROUNDED_DIV(gc_floor_div128, i128, x - q * d < 0 ? q - 1 : q)
GC_ROUNDED_DIV(gc_ceil_div128, i128, x - q * d > 0 ? q + 1 : q)
GC_ROUNDED_DIV(gc_ceil_div, i64, x - q * d > 0 ? q + 1 : q)
GC_ROUNDED_DIV(gc_trunc_div128, i128, q)
GC_ROUNDED_DIV(gc_trunc_div, i64, q)

/* dsign(): of NaN it is 0. */
#define GC_SIGN(x)			((x) > 0 ? 1.0 : (x) < 0 ? -1.0 : 0.0)

/*
 * width_bucket_float8(), in parts.  How far x lies behind the first bound, in the direction of the second:
 * below 0 if it lies before, infinite from the second on.  PostgreSQL decides where one is NaN, and where
 * the bounds have no finite distance, or none.
 */
GC_FN double
gc_bucket_at(double x, double from, double to, i32 *bad)
{
	const double at = from < to ? x - from : from - x;

	*bad |= GC_ISNAN(x);
	return (from < to ? x < from : x > from) ? -1.0 : (from < to ? x >= to : x <= to) ? GC_BITS_F64(0x7ff0000000000000ll) : at;
}

GC_FN double
gc_buckets_width(double from, double to, i32 *bad)
{
	const double width = from < to ? to - from : from - to;

	*bad |= !GC_ISFINITE(from) || !GC_ISFINITE(to) || !GC_ISFINITE(width) || from == to;
	return width;
}

/* The bucket, rounded as PostgreSQL 15 rounds; the product may be too large. */
GC_FN i32
gc_bucket(double at, double width, i64 count, i32 *bad)
{
	const double bucket = (double) count * at / width + 1;

	*bad |= count <= 0;
	if (at < 0)
		return 0;
	if (GC_ISINF(at))
	{
		*bad |= count >= 0x7fffffff;
		return (i32) count + 1;
	}
	*bad |= !(bucket < 2147483648.0);
	return bucket < 2147483648.0 ? (i32) bucket : 0;
}

/* As later versions round. */
GC_FN i32
gc_bucket_cut(double at, double width, i64 count, i32 *bad)
{
	i32			bucket;

	*bad |= count <= 0;
	if (at < 0)
		return 0;
	if (GC_ISINF(at))
	{
		*bad |= count >= 0x7fffffff;
		return (i32) count + 1;
	}
	bucket = GC_ISNAN(at) ? 0 : (i32) ((double) count * (at / width));
	return bucket >= count ? (i32) count : bucket + 1;
}

/* float.h: float8_eq, float8_lt ...: NaN equals NaN and is above all else. */
GC_FN int
gc_f_eq(double x, double y)
{
	return GC_ISNAN(x) ? GC_ISNAN(y) : x == y;
}

GC_FN int
gc_f_lt(double x, double y)
{
	return !GC_ISNAN(x) && (GC_ISNAN(y) || x < y);
}

/* float8_pl, float8_mi: a finite pair must not give infinity. */
#define GC_CHECK_FINITE(r, x, y) \
	GC_CHECK(!GC_ISINF(r) || GC_ISINF(x) || GC_ISINF(y))
/* float8_mul: nor may nonzero factors give zero. */
#define GC_CHECK_MUL(r, x, y) \
	do { GC_CHECK_FINITE(r, x, y); GC_CHECK((r) != 0 || (x) == 0 || (y) == 0); } while (0)
/* float8_div: division by zero (NaN excepted), overflow, underflow. */
#define GC_CHECK_FDIV(r, x, y) \
	do { \
		GC_CHECK((y) != 0 || GC_ISNAN(x)); \
		GC_CHECK(!GC_ISINF(r) || GC_ISINF(x)); \
		GC_CHECK((r) != 0 || (x) == 0 || GC_ISINF(y)); \
	} while (0)

/* ftoi4 and the like: rounded half to even, then within [lo, hi). */
#define GC_CHECK_FTOI(x, lo, hi)	GC_CHECK((x) >= (lo) && (x) < (hi))

/*
 * Stands for NULL among the bits of stored floats: a NaN that no arithmetic makes.  A column may
 * still contain it, so the code that stores a value checks for it.
 */
#define GC_NULL_F32			0x7fa5c3d1u
#define GC_NULL_F64			0x7ff4a3c15d2be871ull

#define GC_USECS_PER_DAY	86400000000LL
#define GC_DATE_NOBEGIN		(-2147483647 - 1)
#define GC_DATE_NOEND		2147483647
#define GC_TS_NOBEGIN		(-9223372036854775807LL - 1)
#define GC_TS_NOEND			9223372036854775807LL
#define GC_DATE_LO			(-2451545)
#define GC_DATE_HI			2145031948
#define GC_TS_LO			(-211813488000000000LL)
#define GC_TS_HI			9223371331199999999LL

/* date2timestamp */
GC_FN i64
gc_date_to_ts(i64 d)
{
	return d == GC_DATE_NOBEGIN ? GC_TS_NOBEGIN
		: d == GC_DATE_NOEND ? GC_TS_NOEND
		: (i64) ((u64) d * (u64) GC_USECS_PER_DAY);
}

/* timestamp_date */
GC_FN i32
gc_ts_to_date(i64 ts)
{
	i64			d = ts / GC_USECS_PER_DAY;

	if (ts == GC_TS_NOBEGIN)
		return GC_DATE_NOBEGIN;
	if (ts == GC_TS_NOEND)
		return GC_DATE_NOEND;
	return (i32) (ts - d * GC_USECS_PER_DAY < 0 ? d - 1 : d);
}

/* x IN (sorted list) */
GC_FN int
gc_in_list(i64 x, const i64 *list, u64 n)
{
	u64			lo = 0;

	while (n > 0)
	{
		const u64	half = n >> 1;

		if (list[lo + half] < x)
		{
			lo += half + 1;
			n -= half + 1;
		}
		else if (list[lo + half] == x)
			return 1;
		else
			n = half;
	}
	return 0;
}

/* Order-preserving maps into u64, such that 0 is below every value's image. */
#define GC_ORDER_I64(x)		((u64) (x) ^ 0x8000000000000000ull)

/* A NULL sorts before or behind all values; values leave both ends free. */
#define GC_ORDER_FIRST		0xffffffffffffffffull
#define GC_ORDER_LAST		0ull
#define GC_ORDER_WITHIN(x)	((x) == GC_ORDER_FIRST ? GC_ORDER_FIRST - 1 : (x) == GC_ORDER_LAST ? 1 : (x))

GC_FN u64
gc_order_f64(double x)
{
	u64			b;

	if (GC_ISNAN(x))
		return 0xffffffffffffffffull;
	b = (u64) GC_F64_BITS(x);
	return b >> 63 ? ~b : b | 0x8000000000000000ull;
}

/* The value of an image. */
GC_FN double
gc_unorder_f64(u64 image)
{
	if (image == 0xffffffffffffffffull)
		return GC_BITS_F64(0x7ff8000000000000ll);
	return GC_BITS_F64((i64) (image >> 63 ? image ^ 0x8000000000000000ull : ~image));
}
