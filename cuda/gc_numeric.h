/*-------------------------------------------------------------------------
 *
 * gc_numeric.h
 *	  Division of numerics, as numeric_div() has it.
 *
 * A numeric is an integer, the value times 10^scale.
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
 * Weight of a positive value's first digit, in digits of four decimals (NumericVar), and that
 * digit in *first.  Zero has weight 0 and first digit 0.
 */
GC_FN_ONCE int
gc_numeric_weight(u128 x, int scale, u32 *first)
{
	const int	below = (scale + 3) / 4;
	int			digits = 0;

	*first = 0;
	if (x == 0)
		return 0;
	/* Let the point stand between two digits of four decimals: at most 999 times as large. */
	x *= (u128) gc_power_of_10(4 * below - scale);
	GC_NO_UNROLL for (; x != 0; x /= 10000)
	{
		*first = (u32) (x % 10000);
		digits++;
	}
	return digits - 1 - below;
}

/*
 * sum / count, as a numeric of scale GC_AVG_SCALE: select_div_scale() says to how many digits
 * numeric_div() rounds.  Notes gc_bad where this has not as many, or where 128 bits do not hold
 * the dividend.
 */
GC_FN_ONCE i128
gc_numeric_avg(i128 sum, i64 count, int scale, i32 *bad)
{
	const u128	x = sum < 0 ? -(u128) sum : (u128) sum;
	u32			first1,
				first2;
	int			weight;
	int			digits;
	u128		dividend;
	u128		q;

	if (x == 0)
		return 0;
	if (x >> 117 || count <= 0)
	{
		*bad = 1;
		return 0;
	}
	weight = gc_numeric_weight(x, scale, &first1) - gc_numeric_weight((u128) count, 0, &first2);
	if (first1 <= first2)
		weight--;
	/* NUMERIC_MIN_SIG_DIGITS, DEC_DIGITS */
	digits = 16 - weight * 4;
	if (digits < scale)
		digits = scale;
	if (digits > GC_AVG_SCALE || x > (((u128) 1 << 126) - 1) / (u128) gc_power_of_10(digits - scale))
	{
		*bad = 1;
		return 0;
	}
	dividend = x * (u128) gc_power_of_10(digits - scale);
	q = dividend / (u64) count;
	/* half away from zero */
	if (dividend - q * (u64) count >= (u64) count - (dividend - q * (u64) count))
		q++;
	q *= (u128) gc_power_of_10(GC_AVG_SCALE - digits);
	return sum < 0 ? -(i128) q : (i128) q;
}
