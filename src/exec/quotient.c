/*-------------------------------------------------------------------------
 *
 * quotient.c
 *	  Quotients and variances of numerics, in 128 bits.
 *
 * The results are those of numeric.c, to the last digit.  Its division and its square root are rounded correctly, half
 * away from zero.  So how they are computed does not matter, but to how many digits does: cuda/gc_numeric.h has that
 * rule for quotients.  A standard deviation has as many as the variance.
 *
 * Runs in backends, while the request slot is held.
 *
 *-------------------------------------------------------------------------
 */
#include "quotient.h"

#include <math.h>

#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "fmgr.h"

#define GC_FN			static inline
#define GC_FN_ONCE		static __attribute__((unused))
#define GC_NO_UNROLL
#define GC_MAX(x, y)	Max(x, y)
#define GC_F64_BITS(x)	DatumGetInt64(Float8GetDatum(x))
#include "../../cuda/gc_numeric.h"

/* To find its weight, gc_numeric_div_scale() multiplies a number of so many bits by a power of ten below 10^4. */
#define MOST_BITS		117

/* 10^39 is above 2^127. */
#define MOST_POWER		38

/* The largest integer of 128 bits, which is not rounded up. */
#define MOST_QUOTIENT	(((u128) 1 << 127) - 1)

/* The estimate of a smaller root is off by so little that its square differs by less than 2^123. */
#define MOST_ROOT		0x1p86

/* An integer, and the scale that it is at. */
typedef struct Decimal
{
	i128		value;
	int			scale;
} Decimal;

/* x / y; false if 128 bits are not enough. */
static bool
divide(Decimal x, Decimal y, Decimal *quotient)
{
	const u128	a = x.value < 0 ? -(u128) x.value : (u128) x.value;
	const u128	b = y.value < 0 ? -(u128) y.value : (u128) y.value;
	u128		q;
	u128		rest;
	int			shift;

	if (a >> MOST_BITS || b >> MOST_BITS)
		return false;
	quotient->scale = gc_numeric_div_scale(x.value, x.scale, y.value, y.scale, Max(x.scale, y.scale));
	shift = quotient->scale - x.scale + y.scale;
	if (shift > MOST_POWER || !gc_mul_div(a, (u128) gc_power_of_10(shift), b, &q, &rest) || q >= MOST_QUOTIENT)
		return false;
	q += rest >= b - rest;
	quotient->value = (x.value < 0) != (y.value < 0) ? -(i128) q : (i128) q;
	return true;
}

/* A square less that of a root, if they differ by less than 2^127: their lowest 128 bits tell. */
static i128
beyond(u128 square, i128 root)
{
	return (i128) (square - (u128) root * (u128) root);
}

/*
 * The square root of a number that is not negative, at its scale; false if 128 bits are not enough.  That is
 * the integer next to the root of value * 10^scale, which may have twice as many bits.  The estimate is off
 * by less than 2^-51 of it.
 */
static bool
take_root(Decimal *x)
{
	const double estimate = x->scale > MOST_POWER ? INFINITY : sqrt((double) x->value * (double) gc_power_of_10(x->scale));
	u128		square;
	i128		root;

	if (estimate >= MOST_ROOT)
		return false;
	square = (u128) x->value * (u128) gc_power_of_10(x->scale);
	root = (i128) estimate;
	if (root > 0)
		root += (i128) ((double) beyond(square, root) / (2 * estimate));
	/* No integer's root is halfway between two. */
	while (beyond(square, root) > root)
		root++;
	while (root > 0 && beyond(square, root) <= -root)
		root--;
	x->value = root;
	return true;
}

Datum
gc_quotient(i128 x, int16 x_scale, i128 y, int16 y_scale)
{
	Decimal		q;

	if (divide((Decimal) {x, x_scale}, (Decimal) {y, y_scale}, &q))
		return gc_int128_to_numeric(q.value, q.scale);
	return DirectFunctionCall2(numeric_div, gc_int128_to_numeric(x, x_scale), gc_int128_to_numeric(y, y_scale));
}

bool
gc_variance(int64 count, i128 sum, i128 squares, int16 scale, bool of_sample, bool square_root, Datum *result)
{
	const i128	n = count;
	i128		of_sum;
	i128		difference;
	Decimal		v;

	if (__builtin_mul_overflow(sum, sum, &of_sum) || __builtin_mul_overflow(n, squares, &difference) ||
		__builtin_sub_overflow(difference, of_sum, &difference))
		return false;
	if (difference <= 0)
	{
		*result = NumericGetDatum(int64_to_numeric(0));
		return true;
	}
	if (!divide((Decimal) {difference, 2 * scale}, (Decimal) {n * (of_sample ? n - 1 : n), 0}, &v) ||
		(square_root && !take_root(&v)))
		return false;
	*result = gc_int128_to_numeric(v.value, v.scale);
	return true;
}
