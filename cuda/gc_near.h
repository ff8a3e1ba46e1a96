/*-------------------------------------------------------------------------
 *
 * gc_near.h
 *	  Near values: floats in the place of numerics, to tell groups that a condition surely drops.
 *
 * A near value is 0 where the numeric is 0, else from 1e-300 to 1e300, and its relative error is what
 * plan/group/near.c says.  It is infinite where the numeric is NULL.  NaN: nothing is known of the numeric.
 *
 *-------------------------------------------------------------------------
 */

#define GC_NEAR_UNKNOWN		GC_BITS_F64(0x7ff8000000000000ll)
#define GC_NEAR_NULL		GC_BITS_F64(0x7ff0000000000000ll)

/* A value other than 0, if floats are exact enough there. */
GC_FN double
gc_near_within(double x)
{
	return GC_FABS(x) > 1e-300 && GC_FABS(x) < 1e300 ? x : GC_NEAR_UNKNOWN;
}

GC_FN double
gc_near(i128 x, double unit)
{
	return (double) x / unit;
}

GC_FN double
gc_near_param(double x)
{
	return x == 0 ? x : gc_near_within(x);
}

/* A result of two values: not known if one of them is not, else NULL if one is. */
#define GC_NEAR_STRICT(x, y, result) \
	(GC_ISNAN(x) || GC_ISNAN(y) ? GC_NEAR_UNKNOWN : GC_ISINF(x) || GC_ISINF(y) ? GC_NEAR_NULL : (result))

/* Where digits cancel out, too few are left. */
GC_FN double
gc_near_sum(double x, double y)
{
	const double sum = x + y;

	return GC_NEAR_STRICT(x, y, GC_FABS(sum) * 32 < GC_FABS(x) + GC_FABS(y) ? GC_NEAR_UNKNOWN : sum);
}

GC_FN double
gc_near_product(double x, double y)
{
	return GC_NEAR_STRICT(x, y, x == 0 || y == 0 ? 0 : gc_near_within(x * y));
}

GC_FN double
gc_near_quotient(double x, double y)
{
	return GC_NEAR_STRICT(x, y, x == 0 && y != 0 ? 0 : gc_near_within(x / y));
}

GC_FN double
gc_near_spread(i64 n, i128 sum, i128 squares, double unit)
{
	i128		spread;

	return gc_numeric_spread(sum, squares, n, &spread) ? (double) spread / unit : GC_NEAR_UNKNOWN;
}

/* numeric_stddev_internal() rounds it to the digits of the variance: of large ones, few are left. */
GC_FN double
gc_near_root(double x)
{
	const double root = GC_SQRT(x);

	return root <= 1e7 || GC_ISINF(x) ? root : GC_NEAR_UNKNOWN;
}

/* Is x surely above y? */
#define GC_NEAR_APART(x, y)	((x) - (y) > 1e-7 * (GC_FABS(x) + GC_FABS(y)))

/* May a comparison have one of these results?  Bits: 1 for less, 2 for equal, 4 for greater, 8 for NULL. */
GC_FN i32
gc_near_may(double x, double y, i64 results)
{
	if (GC_ISNAN(x) || GC_ISNAN(y))
		return 1;
	if (GC_ISINF(x) || GC_ISINF(y))
		return results >> 3 & 1;
	if (x == 0 && y == 0)
		return results >> 1 & 1;
	return ((results & 1) && !GC_NEAR_APART(x, y)) || ((results & 4) && !GC_NEAR_APART(y, x)) ||
		((results & 2) && !GC_NEAR_APART(x, y) && !GC_NEAR_APART(y, x));
}

GC_FN double
gc_near_coalesce(double x, double y)
{
	return GC_ISINF(x) ? y : x;
}

GC_FN double
gc_near_nullif(double x, double y)
{
	return !gc_near_may(x, y, 13) ? GC_NEAR_NULL : gc_near_may(x, y, 2) ? GC_NEAR_UNKNOWN : x;
}
