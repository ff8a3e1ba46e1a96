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
#define GC_SQRT(x)		sqrt(x)
#include "../../cuda/gc_numeric.h"

/* To find its weight, gc_numeric_div_scale() multiplies a number of so many bits by a power of ten below 10^4. */
#define MOST_BITS		117

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

	if (a >> MOST_BITS || b >> MOST_BITS)
		return false;
	quotient->scale = gc_numeric_div_scale(x.value, x.scale, y.value, y.scale, Max(x.scale, y.scale));
	if (!gc_numeric_divide(a, x.scale, b, y.scale, quotient->scale, &q) || q >> 127)
		return false;
	quotient->value = (x.value < 0) != (y.value < 0) ? -(i128) q : (i128) q;
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
	u128		root;

	if (__builtin_mul_overflow(sum, sum, &of_sum) || __builtin_mul_overflow(n, squares, &difference) ||
		__builtin_sub_overflow(difference, of_sum, &difference))
		return false;
	if (difference <= 0)
	{
		*result = NumericGetDatum(int64_to_numeric(0));
		return true;
	}
	if (!divide((Decimal) {difference, 2 * scale}, (Decimal) {n * (of_sample ? n - 1 : n), 0}, &v))
		return false;
	root = (u128) v.value;
	if (square_root && !gc_numeric_root(&root, v.scale))
		return false;
	*result = gc_int128_to_numeric((i128) root, v.scale);
	return true;
}
