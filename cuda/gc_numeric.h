/*-------------------------------------------------------------------------
 *
 * gc_numeric.h
 *	  Division and variances of numerics, as numeric.c has them, comparison beyond 128 bits, floats as
 *	  numerics, and numerics of several scales.
 *
 * A numeric is an integer, the value times 10^scale.
 *
 * The server includes this file as well.  It defines GC_FN, GC_FN_ONCE and the names of gc_target.h before that.
 *
 *-------------------------------------------------------------------------
 */

GC_FN_ONCE i128
gc_power_of_10(int n)
{
	i128		p = 1;

	GC_NO_UNROLL for (; n > 0; n--)
		p *= 10;
	return p;
}

/*
 * a / b, and the remainder; b is 2^127 at most.  The compiler makes 200 instructions of each division of 128 bits,
 * which took longer to compile than the rest of a kernel.  Quick kernels have one for all, bit by bit.
 */
#ifdef GC_QUICK
GC_FN_ONCE u128
gc_divide(u128 a, u128 b, u128 *rest)
{
	u128		r = 0;

	GC_NO_UNROLL for (int i = 0; i < 128; i++)
	{
		r = r << 1 | a >> 127;
		a <<= 1;
		if (r >= b)
		{
			r -= b;
			a |= 1;
		}
	}
	*rest = r;
	return a;
}
#else
GC_FN u128
gc_divide(u128 a, u128 b, u128 *rest)
{
	*rest = a % b;
	return a / b;
}
#endif

/* The integer of a tagged value, at the scale that all of them have. */
#define GC_DEFINE_UNTAG(name, T, U) \
GC_FN T \
name(T tagged, int scale) \
{ \
	const int	up = scale - GC_TAG_SCALE(tagged); \
	U			value = (U) GC_TAG_DIGITS(tagged); \
 \
	/* scale is a constant, which is below 4 in most programs. */ \
	value *= up & 1 ? 10 : 1; \
	value *= up & 2 ? 100 : 1; \
	if (scale >= 4) \
		value *= up & 4 ? 10000 : 1; \
	if (scale >= 8) \
		value *= up & 8 ? 100000000 : 1; \
	if (scale >= 16) \
		value *= up & 16 ? 10000000000000000LL : 1; \
	return (T) value; \
}
GC_DEFINE_UNTAG(gc_untag, i64, u64)
GC_DEFINE_UNTAG(gc_untag_wide, i128, u128)

/* The opposite, of a value that has no digits behind the display scale `shown`. */
GC_FN i64
gc_tag(i64 value, int scale, int shown)
{
	GC_NO_UNROLL for (; scale > shown; scale--)
		value /= 10;
	return GC_TAGGED(value, shown);
}

GC_FN_ONCE i128
gc_tag_wide(i128 value, int scale, int shown)
{
	u128		rest;
	const u128	x = gc_divide(value < 0 ? -(u128) value : (u128) value, (u128) gc_power_of_10(scale - shown), &rest);

	return GC_TAGGED(value < 0 ? -(i128) x : (i128) x, shown);
}

/* cmp_numerics() of x * 10^digits and y, as -1, 0 or 1.  The product, which may leave 128 bits, is not made. */
GC_FN_ONCE i32
gc_compare_scaled(i128 x, int digits, i128 y)
{
	const u128	a = x < 0 ? -(u128) x : (u128) x;
	const u128	b = y < 0 ? -(u128) y : (u128) y;
	const i32	sign = (x > 0) - (x < 0);
	const i32	other = (y > 0) - (y < 0);
	u128		rest;
	u128		q;

	if (sign != other || sign == 0)
		return (sign > other) - (sign < other);
	/* 10^39 is above 2^127. */
	if (digits > 38)
		return sign;
	q = gc_divide(b, (u128) gc_power_of_10(digits), &rest);
	if (a != q)
		return a > q ? sign : -sign;
	return rest == 0 ? 0 : -sign;
}

/*
 * Weight of a positive value's first digit, in digits of four decimals (NumericVar), and that
 * digit in *first.  Zero has weight 0 and first digit 0.
 */
GC_FN_ONCE int
gc_numeric_weight(u128 x, int scale, u32 *first)
{
	const int	below = (scale + 3) / 4;
	int			after = 0;		/* digits after the first one */
	u128		power = 1;		/* 10000^after, 10^36 at most */
	u128		rest;

	*first = 0;
	if (x == 0)
		return 0;
	/* Let the point stand between two digits of four decimals: at most 999 times as large. */
	x *= (u128) gc_power_of_10(4 * below - scale);
	GC_NO_UNROLL for (; after < 9 && x >= power * 10000; after++)
		power *= 10000;
	*first = (u32) gc_divide(x, power, &rest);
	return after - below;
}

/*
 * Digits behind the point to which numeric_div() rounds x / y: select_div_scale().  shown: the larger of
 * their display scales, of which none is larger than the scale that the integer has.
 */
GC_FN_ONCE int
gc_numeric_div_scale(i128 x, int x_scale, i128 y, int y_scale, int shown)
{
	u32			first1,
				first2;
	int			weight;
	int			digits;

	weight = gc_numeric_weight(x < 0 ? -(u128) x : (u128) x, x_scale, &first1);
	weight -= gc_numeric_weight(y < 0 ? -(u128) y : (u128) y, y_scale, &first2);
	if (first1 <= first2)
		weight--;
	/* NUMERIC_MIN_SIG_DIGITS, DEC_DIGITS */
	digits = 16 - weight * 4;
	return GC_MAX(GC_MAX(digits, 0), shown);
}

/*
 * The trailing zeros of a quotient, or of a value that is made of such, go: its scale is the largest, whatever it
 * shows.
 */
GC_FN_ONCE int
gc_strip_zeros(u128 *x, int scale)
{
	GC_NO_UNROLL for (; scale > 0; scale--)
	{
		u128		rest;
		const u128	q = gc_divide(*x, 10, &rest);

		if (rest != 0)
			break;
		*x = q;
	}
	return scale;
}

/*
 * a / b, rounded to `digits` behind the point, half away from zero.  The dividend has no digits behind its display
 * scale, and b is below 2^117.  False if 128 bits do not hold the quotient.
 */
GC_FN_ONCE i32
gc_numeric_divide(u128 a, int a_scale, u128 b, int b_scale, int digits, u128 *quotient)
{
	int			shift = digits - a_scale + b_scale;
	u128		rest;
	u128		q;

	GC_NO_UNROLL for (; shift < 0; shift++)
		a = gc_divide(a, 10, &rest);
	/* 10^39 is above 2^127, and 0 divides nothing. */
	if (shift > 38 || b == 0)
		return 0;
	/* All digits at once, where 128 bits surely hold the dividend; otherwise one by one. */
	if (shift <= 19 && a >> 64 == 0)
	{
		a *= (u128) gc_power_of_10(shift);
		shift = 0;
	}
	q = gc_divide(a, b, &rest);
	GC_NO_UNROLL for (; shift > 0; shift--)
	{
		if (q > (((u128) 1 << 127) - 1) / 10)
			return 0;
		q *= 10;
		GC_NO_UNROLL for (rest *= 10; rest >= b; rest -= b)
			q++;
	}
	*quotient = q + (rest >= b - rest);
	return q >> 127 == 0;
}

/* A positive number of `digits` behind the point, at scale GC_AVG_SCALE; notes gc_bad where that is `most` or more. */
GC_FN_ONCE i128
gc_at_avg_scale(u128 q, int digits, u128 most, i32 *bad)
{
	u128		power;
	u128		rest;

	if (digits <= GC_AVG_SCALE)
	{
		power = (u128) gc_power_of_10(GC_AVG_SCALE - digits);
		if (q < gc_divide(most, power, &rest))
			return (i128) (q * power);
	}
	*bad = 1;
	return 0;
}

/*
 * x / y, as a numeric of scale GC_AVG_SCALE.  Notes gc_bad where y is 0, and where this has not as many
 * digits as numeric_div() rounds to.  So it does where 128 bits do not hold a part of it, and where it is
 * `most` or more.
 */
GC_FN_ONCE i128
gc_numeric_quotient(i128 x, int x_scale, i128 y, int y_scale, int shown, u128 most, i32 *bad)
{
	u128		a = x < 0 ? -(u128) x : (u128) x;
	u128		b = y < 0 ? -(u128) y : (u128) y;
	int			digits;
	i128		q;

	if (b == 0 || a >> 117 || b >> 117)
	{
		*bad = 1;
		return 0;
	}
	if (a == 0)
		return 0;
	digits = gc_numeric_div_scale(x, x_scale, y, y_scale, shown);
	if (x_scale == GC_AVG_SCALE)
		x_scale = gc_strip_zeros(&a, x_scale);
	if (y_scale == GC_AVG_SCALE)
		y_scale = gc_strip_zeros(&b, y_scale);
	if (!gc_numeric_divide(a, x_scale, b, y_scale, digits, &a))
	{
		*bad = 1;
		return 0;
	}
	q = gc_at_avg_scale(a, digits, most, bad);
	return (x < 0) != (y < 0) ? -q : q;
}

/* An average: its range is that of the values. */
GC_FN_ONCE i128
gc_numeric_avg(i128 sum, i64 count, int scale, i32 *bad)
{
	return gc_numeric_quotient(sum, scale, count, 0, scale, (u128) 1 << 127, bad);
}

/* Any other quotient. */
GC_FN_ONCE i128
gc_numeric_div(i128 x, int x_scale, i128 y, int y_scale, int shown, i32 *bad)
{
	return gc_numeric_quotient(x, x_scale, y, y_scale, shown, (u128) gc_power_of_10(GC_QUOTIENT_DIGITS), bad);
}

/* A square less that of a root, if they differ by less than 2^127: their lowest 128 bits tell. */
GC_FN_ONCE i128
gc_beyond_square(u128 square, i128 root)
{
	return (i128) (square - (u128) root * (u128) root);
}

/*
 * The square root of a number, at its scale; false if 128 bits are not enough.  That is the integer next to the root of
 * x * 10^scale, which may have twice as many bits.  The estimate is off by less than 2^-51 of it.  So the square of one
 * that is not too large differs by less than 2^123.
 */
GC_FN_ONCE i32
gc_numeric_root(u128 *x, int scale)
{
	const double estimate = scale > 38 ? 1e38 : GC_SQRT((double) *x * (double) gc_power_of_10(scale));
	u128		square;
	i128		root;

	if (estimate >= 7.7e25)
		return 0;
	square = *x * (u128) gc_power_of_10(scale);
	root = (i128) estimate;
	if (root > 0)
		root += (i128) ((double) gc_beyond_square(square, root) / (2 * estimate));
	/* No integer's root is halfway between two. */
	GC_NO_UNROLL while (gc_beyond_square(square, root) > root)
		root++;
	GC_NO_UNROLL while (root > 0 && gc_beyond_square(square, root) <= -root)
		root--;
	*x = (u128) root;
	return 1;
}

/* n * the sum of squares less the square of the sum; false if 128 bits do not hold that. */
GC_FN_ONCE i32
gc_numeric_spread(i128 sum, i128 squares, i64 n, i128 *spread)
{
	const u128	s = sum < 0 ? -(u128) sum : (u128) sum;
	u128		rest;

	*spread = 0;
	if (n <= 0 || squares < 0 || s >> 63 || (u128) squares >= gc_divide((u128) 1 << 126, (u64) n, &rest))
		return 0;
	*spread = (i128) n * squares - (i128) (s * s);
	return 1;
}

/* Digits behind the point of a variance, and of its root, the standard deviation; without: 1 of a sample, else 0. */
GC_FN_ONCE int
gc_numeric_stddev_scale(i128 sum, i128 squares, i64 n, int scale, int without)
{
	i128		spread;

	(void) gc_numeric_spread(sum, squares, n, &spread);
	return spread <= 0 ? 0 : gc_numeric_div_scale(spread, 2 * scale, (i128) n * (n - without), 0, 2 * scale);
}

/* The variance of more than `without` values, or its root, at scale GC_AVG_SCALE; notes gc_bad as quotients do. */
GC_FN_ONCE i128
gc_numeric_stddev(i128 sum, i128 squares, i64 n, int scale, int without, int root, i32 *bad)
{
	const int	digits = gc_numeric_stddev_scale(sum, squares, n, scale, without);
	const i128	b = (i128) n * (n - without);
	i128		spread;
	u128		v;

	if (!gc_numeric_spread(sum, squares, n, &spread) || spread >> 117 > 0 || b >> 117)
		*bad = 1;
	else if (spread <= 0)
		return 0;
	else if (!gc_numeric_divide((u128) spread, 2 * scale, (u128) b, 0, digits, &v) ||
			 (root && !gc_numeric_root(&v, digits)))
		*bad = 1;
	else
		return gc_at_avg_scale(v, digits, (u128) gc_power_of_10(GC_QUOTIENT_DIGITS), bad);
	return 0;
}

/*
 * x * 10^k, rounded down; *above: is the fraction that was cut off below, equal to or above a half (-1, 0, 1)?  x is
 * from 10^-17 to 10^18, and the result below 10^17.
 */
GC_FN_ONCE u64
gc_float_digits(double x, int k, i32 *above)
{
	const u64	bits = (u64) GC_F64_BITS(x);
	const int	shift = (int) (bits >> 52) - 1075 + (k < 0 ? 0 : k);
	u128		v = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
	u128		by = 1;
	u128		rest;

	if (k < 0)
	{
		by = (u128) gc_power_of_10(-k);
		by = shift < 0 ? by << -shift : by;
		v = shift < 0 ? v : v << shift;
		rest = v % by;
		v /= by;
	}
	else
	{
		GC_NO_UNROLL for (; k > 0; k--)
			v *= 5;
		by = shift < 0 ? by << -shift : by;
		rest = v & (by - 1);
		v = shift < 0 ? v >> -shift : v << shift;
	}
	*above = rest * 2 < by ? -1 : rest * 2 > by;
	return (u64) v;
}

/*
 * float8_numeric() or float4_numeric(), and numeric_round() or, if cut, numeric_trunc(); times 10^scale.  That is x
 * as printf() rounds it to `digits` decimal digits, with `scale` of them behind the point.  PostgreSQL decides on
 * NaN, beyond 10^18, and where the result leaves 64 bits.
 */
GC_FN_ONCE i64
gc_float_decimal(double x, int digits, int scale, int cut, i32 *bad)
{
	const double a = x < 0 ? -x : x;
	const u64	least = (u64) gc_power_of_10(digits - 1);
	int			k = digits - 1;
	i32			above;
	u64			q;
	u64			by;

	*bad |= !(a < 1e18);
	if (!(a < 1e18) || a < 1e-17)
		return 0;
	/* A product that is not exact may be taken for one of ten: the digits tell. */
	for (double t = a; t >= 10 && k > digits - 18; t /= 10)
		k--;
	for (double t = a; t < 1; t *= 10)
		k++;
	q = gc_float_digits(a, k, &above);
	if (q < least || q >= least * 10)
	{
		k += q < least ? 1 : -1;
		q = gc_float_digits(a, k, &above);
	}
	q += above > 0 || (above == 0 && (q & 1));
	if (k > scale)
	{
		by = k - scale > 17 ? 0 : (u64) gc_power_of_10(k - scale);
		if (by == 0)
			return 0;
		q = q / by + (!cut && q % by * 2 >= by);
	}
	else
	{
		by = scale - k > 18 ? 0 : (u64) gc_power_of_10(scale - k);
		*bad |= by == 0 || (u128) q * by > 0x7fffffffffffffffull;
		q *= by;
	}
	return x < 0 ? -(i64) q : (i64) q;
}

GC_FN i64
gc_float_round(double x, i64 digits, i64 scale, i32 *bad)
{
	return gc_float_decimal(x, (int) digits, (int) scale, 0, bad);
}

GC_FN i64
gc_float_cut(double x, i64 digits, i64 scale, i32 *bad)
{
	return gc_float_decimal(x, (int) digits, (int) scale, 1, bad);
}
