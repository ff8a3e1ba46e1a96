/*-------------------------------------------------------------------------
 *
 * numeric_test.c
 *	  The average of numerics in kernels equals PostgreSQL's numeric_div() of sum and count.
 *
 * The rules are told once more here: select_div_scale() over decimal digits, a long division, and
 * rounding half away from zero.  Sums and counts have any number of digits.  Some quotients end
 * in a half, or next to one, or at a power of 10000.  A few results are PostgreSQL's own.
 *
 * With GC_QUICK, as in quick kernels: divisions bit by bit (numeric_quick_test.c).
 *
 * Floats become numerics by the digits that printf() prints.  Tagged values are integers at any larger scale, and back.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "../../cuda/gc_abi.h"

#define GC_FN			static
#define GC_FN_ONCE		static
#define GC_NO_UNROLL
#define GC_MAX(x, y)		((x) > (y) ? (x) : (y))

static i64
bits_of(double x)
{
	i64			bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

#define GC_F64_BITS(x)	bits_of(x)
#define GC_SQRT(x)		__builtin_sqrt(x)
#include "../../cuda/gc_numeric.h"

#ifndef NRANDOM
#define NRANDOM			2000000
#endif
#define MOST_DIGITS		80

/* A quotient as decimal digits: 1000 before the point would do, so do fewer. */
typedef struct Quotient
{
	int			scale;			/* digits behind the point */
	i128		value;			/* times 10^scale; meaningless if too large */
	bool		large;
} Quotient;

static u64	random_state = 88172645463325252ull;

static u64
draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545F4914F6CDD1Dull;
}

/* Decimal digits, the first one first; returns how many. */
static int
decimal_digits(u128 x, char *digits)
{
	char		backwards[MOST_DIGITS];
	int			n = 0;

	for (; x > 0; x /= 10)
		backwards[n++] = (char) (x % 10);
	for (int i = 0; i < n; i++)
		digits[i] = backwards[n - 1 - i];
	return n;
}

/*
 * Weight and value of the first digit to base 10000 of the value with these digits, the last
 * `scale` of which are behind the point.
 */
static int
first_digit(const char *digits, int n, int scale, int *first)
{
	int			before = n - scale;	/* digits before the point; negative: zeros behind it */
	int			weight;
	int			end;

	*first = 0;
	if (n == 0)
		return 0;
	/* the group of four that the first digit is in */
	weight = before > 0 ? (before - 1) / 4 : -((-before) / 4) - 1;
	/* it ends so many digits behind the first one */
	end = before - 4 * weight;
	for (int i = 0; i < end; i++)
		*first = *first * 10 + (i < n ? digits[i] : 0);
	return weight;
}

static int
division_scale(u128 sum, int scale, u64 count, int count_scale)
{
	char		digits[MOST_DIGITS];
	int			first1,
				first2;
	int			weight = first_digit(digits, decimal_digits(sum, digits), scale, &first1);
	int			result;

	weight -= first_digit(digits, decimal_digits(count, digits), count_scale, &first2);
	result = 16 - 4 * (first1 <= first2 ? weight - 1 : weight);
	scale = scale > count_scale ? scale : count_scale;
	return result > scale ? result : scale;
}

/* The result of numeric_div(). */
static Quotient
divide(i128 sum, int scale, u64 count, int count_scale)
{
	u128		x = sum < 0 ? -(u128) sum : (u128) sum;
	char		digits[MOST_DIGITS];
	int			n = decimal_digits(x, digits);
	Quotient	q = {division_scale(x, scale, count, count_scale), 0, false};
	u128		rest = 0;

	for (int i = 0; i < n + q.scale - scale + count_scale; i++)
	{
		rest = rest * 10 + (i < n ? digits[i] : 0);
		q.large |= q.value > (((i128) 1) << 122);
		q.value = q.large ? 0 : q.value * 10 + (i128) (rest / count);
		rest %= count;
	}
	if (rest >= count - rest)
		q.value++;
	if (sum < 0)
		q.value = -q.value;
	return q;
}

/* Is it left to PostgreSQL: too many digits, or a dividend that 128 bits do not hold? */
static bool
is_left(u128 x, int scale, const Quotient *q)
{
	if (q->scale > GC_AVG_SCALE || x >> 117)
		return true;
	for (int i = scale; i < q->scale; i++)
	{
		if (__builtin_mul_overflow(x, (u128) 10, &x))
			return true;
	}
	return x >> 126 != 0;
}

/*
 * Compare one; false, with a note, if they differ.  Quotients that 128 bits do not hold with
 * GC_AVG_SCALE do not come: typing knows the range of values (program/groups.c).
 */
static bool
same_average(i128 sum, int scale, u64 count)
{
	i32			bad = 0;
	i128		got;
	Quotient	q = divide(sum, scale, count, 0);
	bool		large = q.large;

	for (int i = q.scale; !large && i < GC_AVG_SCALE; i++)
		large = __builtin_mul_overflow(q.value, (i128) 10, &q.value);
	if (large)
		return true;
	got = gc_numeric_avg(sum, (i64) count, scale, &bad);
	if (bad && is_left(sum < 0 ? -(u128) sum : (u128) sum, scale, &q))
		return true;
	if (!bad && (q.scale <= GC_AVG_SCALE || sum == 0) && q.value == got)
		return true;
	tap_note("%s%llu%015llu / %llu, scale %d: scale of quotient %d", sum < 0 ? "-" : "", (unsigned long long) ((sum < 0 ? -sum : sum) / 1000000000000000),
			 (unsigned long long) ((sum < 0 ? -sum : sum) % 1000000000000000), (unsigned long long) count, scale, q.scale);
	return false;
}

/* ---------- PostgreSQL's own ---------- */

static const struct
{
	i64			sum;
	i64			count;
	int			scale;
	const char *quotient;
}			known[] =
{
	{10, 3, 1, "0.33333333333333333333"},
	{1, 3, 7, "0.000000033333333333333333"},
	{1, 7, 7, "0.000000014285714285714286"},
	{-1, 6, 2, "-0.00166666666666666667"},
	{12345678901234, 7, 2, "17636684144.62000000"},
	{9999999999999999, 9999, 2, "10001000100.01000000"},
	{10000, 10000, 0, "1.00000000000000000000"},
	{9999, 10000, 0, "0.99990000000000000000"},
	{1000000, 9999, 2, "1.0001000100010001"},
	{5, 2, 2, "0.02500000000000000000"},
	{-5, 2, 2, "-0.02500000000000000000"},
	{5, 1, 1, "0.50000000000000000000"},
	{100000000000000, 3, 0, "33333333333333.3333"},
	{77777, 7777, 4, "0.00100009000900090009"},
	{1, 20000, 0, "0.000050000000000000000000"},
	{5000000000001, 3, 12, "1.6666666666670000"},
	{100000000, 100000001, 0, "0.99999999000000010000"},
	{-2, 3, 0, "-0.66666666666666666667"},
	{0, 5, 2, "0.00000000000000000000"},
	{12345678901234567, 1000000007, 0, "12345678.814814815296"},
	{123456789012, 11, 12, "0.01122334445563636364"},
};

static void
test_known(void)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		const char *point = strchr(known[i].quotient, '.');
		i32			bad = 0;
		i128		got = gc_numeric_avg(known[i].sum, known[i].count, known[i].scale, &bad);
		i128		wanted = 0;
		int			scale = (int) strlen(point + 1);

		for (const char *c = known[i].quotient; *c; c++)
			wanted = *c >= '0' && *c <= '9' ? wanted * 10 + (*c - '0') : wanted;
		for (int d = scale; d < GC_AVG_SCALE; d++)
			wanted *= 10;
		if (known[i].quotient[0] == '-')
			wanted = -wanted;
		ok(!bad && got == wanted, "%lld / %lld with scale %d is %s", (long long) known[i].sum, (long long) known[i].count, known[i].scale, known[i].quotient);
		is(division_scale((u128) (known[i].sum < 0 ? -known[i].sum : known[i].sum), known[i].scale, (u64) known[i].count, 0), scale, "the model has its scale");
	}
}

/* ---------- drawn ---------- */

static i128
power_of_10(int n)
{
	i128		p = 1;

	while (n-- > 0)
		p *= 10;
	return p;
}

/* Up to so many decimal digits, any number of them as likely. */
static u128
draw_digits(int most)
{
	return ((u128) draw() << 64 | draw()) % (u128) power_of_10(1 + (int) (draw() % most));
}

static void
test_random(void)
{
	u64			wrong = 0;

	for (int i = 0; i < NRANDOM && wrong < 10; i++)
	{
		int			scale = (int) (draw() % 17);
		u64			count = (u64) draw_digits(draw() % 4 == 0 ? 17 : 7) + 1;
		i128		sum = (i128) draw_digits(draw() % 4 == 0 ? 34 : 17);

		wrong += !same_average(draw() % 2 ? -sum : sum, scale, count);
	}
	ok(wrong == 0, "sums and counts of any size");
}

/* Quotients that are a half of the last digit away from one with fewer digits, or nearly. */
static void
test_halves(void)
{
	u64			wrong = 0;

	for (int i = 0; i < NRANDOM / 4 && wrong < 10; i++)
	{
		const int	zeros = 1 + (int) (draw() % 6);
		const u64	count = 2 * (u64) power_of_10(zeros) * (1 + draw() % 50);
		const i128	sum = (i128) draw_digits(20) + (i128) (draw() % 3) - 1;

		wrong += !same_average(sum, (int) (draw() % 13), count);
	}
	ok(wrong == 0, "quotients that are rounded from a half");
}

/* Sums and counts next to powers of ten, where the first digits decide the scale. */
static void
test_powers(void)
{
	u64			wrong = 0;

	for (int s = 0; s <= 30; s++)
	{
		for (int c = 0; c <= 17; c++)
		{
			for (int n = 0; n < 25 * 17 && wrong < 10; n++)
			{
				const i128	sum = power_of_10(s) * (n % 25 < 5 ? 1 : 1 + n % 25 % 9) + n % 5 - 2;
				const i128	count = power_of_10(c) * (n / 5 % 5 < 3 ? 1 : 7) + n / 5 % 5 - 2;

				if (count > 0)
					wrong += !same_average(sum, n / 25, (u64) count) || !same_average(-sum, n / 25, (u64) count);
			}
		}
	}
	ok(wrong == 0, "sums and counts around powers of ten");
}

/* Where 128 bits end: never a wrong result. */
static void
test_large(void)
{
	u64			wrong = 0;

	for (int bit = 90; bit < 127; bit++)
	{
		for (int n = 0; n < 400 && wrong < 10; n++)
		{
			const i128	sum = ((i128) 1 << bit) + (i128) (draw() % 5) - 2;

			wrong += !same_average(n % 2 ? -sum : sum, n % 20, draw() % 2 ? 1 + draw() % 10 : (draw() >> (1 + draw() % 60)) | 1);
		}
	}
	ok(wrong == 0, "sums that nearly fill 128 bits");
	{
		i32			bad = 0;

		(void) gc_numeric_avg((i128) ((u128) 1 << 127), 3, 2, &bad);
		ok(bad, "the least sum of all is left to PostgreSQL");
		bad = 0;
		(void) gc_numeric_avg(5, 0, 2, &bad);
		ok(bad, "so is no value");
	}
}

/*
 * A quotient of any two numerics.  One that 128 bits do not hold, or of which PostgreSQL has more digits, is left
 * out.  The scales are the display scales, and the integers have x_more and y_more digits behind those.
 */
static bool
same_quotient(i128 x, int x_scale, int x_more, i128 y, int y_scale, int y_more)
{
	const int	shown = GC_MAX(x_scale, y_scale);
	const i128	a = x * power_of_10(x_more);
	const i128	b = y * power_of_10(y_more);
	i32			bad = 0;
	i128		got = gc_numeric_div(a, x_scale + x_more, b, y_scale + y_more, shown, &bad);
	Quotient	q = divide(y < 0 ? -x : x, x_scale, (u64) (y < 0 ? -y : y), y_scale);

	if (gc_numeric_div_scale(a, x_scale + x_more, b, y_scale + y_more, shown) != q.scale)
		return false;
	for (int i = q.scale; !q.large && i < GC_AVG_SCALE; i++)
		q.large = __builtin_mul_overflow(q.value, (i128) 10, &q.value);
	return bad || (!q.large && (q.scale <= GC_AVG_SCALE || x == 0) && q.value == got);
}

static void
test_quotients(void)
{
	u64			wrong = 0;
	u64			left = 0;
	i32			bad = 0;

	for (int i = 0; i < NRANDOM / 4 && wrong < 10; i++)
	{
		const int	xs = (int) (draw() % 13);
		const int	ys = (int) (draw() % 13);
		const i128	x = (i128) draw_digits(draw() % 4 == 0 ? 30 : 15);
		const i128	y = (i128) (draw_digits(draw() % 4 == 0 ? 18 : 9) % ((u64) 1 << 62)) + 1;
		i32			lost = 0;

		wrong += !same_quotient(draw() % 2 ? -x : x, xs, 0, draw() % 2 ? -y : y, ys, 0);
		(void) gc_numeric_div(x, xs, y, ys, GC_MAX(xs, ys), &lost);
		left += (u64) lost;
	}
	ok(wrong == 0, "quotients of numerics of any scale");
	ok(left < NRANDOM / 8, "most of them are not left to PostgreSQL");
	(void) gc_numeric_div(0, 2, 0, 3, 3, &bad);
	ok(bad, "so is division by zero");
	ok(gc_numeric_div(10, 1, -4, 1, 1, &bad) == -(i128) 25 * power_of_10(23), "a negative quotient");
}

/* Averages of values that have more digits behind the point than are shown, as those of a column of several scales. */
static void
test_shown(void)
{
	u64			wrong = 0;
	u64			left = 0;
	i32			bad = 0;

	for (int i = 0; i < NRANDOM / 4 && wrong < 10; i++)
	{
		const int	xs = (int) (draw() % 10);
		const int	ys = (int) (draw() % 10);
		const int	x_more = (int) (draw() % 20);
		const int	y_more = (int) (draw() % 10);
		const i128	x = (i128) draw_digits(1 + draw() % 15);
		const i128	y = (i128) draw_digits(1 + draw() % 9) + 1;
		i32			lost = 0;

		wrong += !same_quotient(draw() % 2 ? -x : x, xs, x_more, draw() % 2 ? -y : y, ys, y_more);
		(void) gc_numeric_div(x * power_of_10(x_more), xs + x_more, y * power_of_10(y_more), ys + y_more, GC_MAX(xs, ys), &lost);
		left += (u64) lost;
	}
	ok(wrong == 0, "quotients of numerics whose integers have a larger scale");
	ok(left < NRANDOM / 8, "most of them are not left to PostgreSQL");
	/* 70000000 / 0.7 is 100000000.000000000000, of twelve digits behind the point: the integer loses seven. */
	ok(gc_numeric_div((i128) 70000000 * power_of_10(20), 20, 7, 1, 1, &bad) == (i128) 100000000 * power_of_10(GC_AVG_SCALE) &&
	   gc_numeric_div_scale((i128) 70000000 * power_of_10(20), 20, 7, 1, 1) == 12, "a dividend loses digits");
	ok(!bad, "and the quotient is known");
}

/* a * 10^digits and b, in limbs of 64 bits: -1, 0 or 1. */
static int
compare_magnitudes(u128 a, int digits, u128 b)
{
	u64			limbs[4] = {(u64) a, (u64) (a >> 64)};
	const u64	other[4] = {(u64) b, (u64) (b >> 64)};

	for (; digits > 0; digits--)
	{
		u128		carry = 0;

		for (int i = 0; i < 4; i++)
		{
			carry += (u128) limbs[i] * 10;
			limbs[i] = (u64) carry;
			carry >>= 64;
		}
	}
	for (int i = 3; i >= 0; i--)
	{
		if (limbs[i] != other[i])
			return limbs[i] > other[i] ? 1 : -1;
	}
	return 0;
}

/* As many bits as may be, of either sign. */
static i128
draw_wide(void)
{
	const u128	bits = ((u128) draw() << 64 | draw()) >> (1 + draw() % 127);

	return draw() % 2 ? -(i128) bits : (i128) bits;
}

/* Products that leave 128 bits, compared. */
static void
test_compared(void)
{
	const i128	most = (i128) (((u128) 1 << 127) - 1);
	u64			wrong = 0;
	u64			equal = 0;

	for (int i = 0; i < NRANDOM / 4 && wrong < 10; i++)
	{
		const int	digits = (int) (draw() % 39);
		const i128	y = draw_wide();
		const i128	x = draw() % 2 ? draw_wide() : y / power_of_10(digits) + (i128) (draw() % 3) - 1;
		const i128	rounded = draw() % 2 ? y : y / power_of_10(digits) * power_of_10(digits);
		const int	sign = (x > 0) - (x < 0);
		const int	other = (rounded > 0) - (rounded < 0);
		const int	expected = sign != other ? (sign > other) - (sign < other) :
			sign * compare_magnitudes((u128) (x < 0 ? -x : x), digits, (u128) (rounded < 0 ? -rounded : rounded));

		wrong += gc_compare_scaled(x, digits, rounded) != expected;
		equal += expected == 0 && x != 0;
	}
	ok(wrong == 0, "numerics compared at a scale that 128 bits do not hold");
	ok(equal > 1000, "some were equal");
	ok(gc_compare_scaled(most, 38, most) == 1 && gc_compare_scaled(-most - 1, 38, most) == -1 &&
	   gc_compare_scaled(1, 38, most) == -1 && gc_compare_scaled(-1, 38, -most - 1) == 1 && gc_compare_scaled(1, 39, most) == 1 &&
	   gc_compare_scaled(-1, 39, -most - 1) == -1 && gc_compare_scaled(0, 39, 0) == 0 && gc_compare_scaled(0, 39, 1) == -1,
	   "the largest values, and more digits than there are");
}

/* Any value that may be tagged. */
static i64
draw_taggable(int more)
{
	const i64	value = (i64) (draw() >> (6 + draw() % 58)) % (GC_TAG_LIMIT / (i64) power_of_10(more));

	return draw() % 2 ? -value : value;
}

/* Dividends of up to 243 bits, whose quotients are rounded half away from zero. */
static void
test_divide(void)
{
	u64			wrong = 0;
	u64			large = 0;

	for (int i = 0; i < NRANDOM / 10; i++)
	{
		const u128	a = ((u128) draw() << 64 | draw()) >> (11 + draw() % 110);
		const u128	b = (((u128) draw() << 64 | draw()) >> (12 + draw() % 110)) + 1;
		const int	digits = (int) (draw() % 39);
		const u128	p = (u128) power_of_10(digits);
		const double about = (double) a * (double) p / (double) b;
		u128		q = 0;
		i128		above;

		if (!gc_numeric_divide(a, 0, b, 0, digits, &q))
			wrong += about < 1.7e38;
		else
		{
			above = (i128) (q * b - a * p);
			wrong += 2 * above <= -(i128) b || 2 * above > (i128) b || about > 1.71e38 ||
				(double) q > about * (1 + 1e-9) + 1 || (double) q < about * (1 - 1e-9) - 1;
		}
		large += about < 1.7e38 && (double) a * (double) p > 3.5e38;
	}
	ok(wrong == 0 && large > 0, "dividends of more than 128 bits are divided");
	{
		u128		q;

		ok(!gc_numeric_divide(1, 0, 0, 0, 2, &q), "nothing is divided by zero");
	}
}

/* Dividends and divisors of any number of bits, and next to a product of the divisor. */
static void
test_long_division(void)
{
	u64			wrong = 0;

	for (int i = 0; i < NRANDOM; i++)
	{
		const u128	bits = ((u128) draw() << 64 | draw()) >> (1 + draw() % 126);
		const u128	b = i % 7 == 0 ? (u128) 1 << draw() % 128 : bits;
		const u128	by = b == 0 ? 1 : b;
		const u128	any = ((u128) draw() << 64 | draw()) >> draw() % 128;
		const u128	a = i % 5 == 0 ? any / by * by - (i % 2) : any;
		u128		rest;
		const u128	q = gc_divide(a, by, &rest);

		wrong += q != a / by || rest != a % by;
	}
	ok(wrong == 0, "quotients and remainders of 128 bits");
}

static void
test_tags(void)
{
	u64			wrong = 0;

	for (int i = 0; i < NRANDOM && wrong < 10; i++)
	{
		const int	scale = (int) (draw() % GC_TAG_SCALES);
		const int	less = (int) (draw() % 18);
		const int	shown = GC_MAX(scale - less, 0);
		const i64	value = draw_taggable(scale - shown);
		const i64	whole = value * (i64) power_of_10(scale - shown);
		const i64	tagged = GC_TAGGED(value, shown);

		wrong += GC_TAG_DIGITS(tagged) != value || GC_TAG_SCALE(tagged) != shown || gc_untag(tagged, scale) != whole ||
			gc_tag(whole, scale, shown) != tagged;
		/* Any scale, and some 60 bits above those of 64. */
		{
			const int	from = (int) (draw() % (scale + 1));
			const i128	wide = (i128) value * (scale - from < 10 ? 1000000000 : 1);
			const i128	wide_tagged = GC_TAGGED(wide, from);

			wrong += GC_TAG_DIGITS(wide_tagged) != wide || GC_TAG_SCALE(wide_tagged) != from ||
				gc_untag_wide(GC_TAGGED(wide % 1000, from), scale) != wide % 1000 * gc_power_of_10(scale - from) ||
				gc_tag_wide(wide % 1000 * gc_power_of_10(scale - from), scale, from) != GC_TAGGED(wide % 1000, from);
		}
	}
	ok(wrong == 0, "tagged values have their digits and scales, at their own scale and at larger ones");
	wrong = 0;
	for (int shown = 0; shown < GC_TAG_SCALES; shown++)
	{
		for (int scale = shown; scale < GC_TAG_SCALES; scale++)
		{
			wrong += gc_untag(GC_TAGGED(0, shown), scale) != 0 || gc_tag(0, scale, shown) != shown;
			if (scale - shown < 18)
				wrong += gc_untag(GC_TAGGED(-1, shown), scale) != -(i64) power_of_10(scale - shown);
		}
	}
	ok(wrong == 0, "zero has all scales");
	for (i64 value = GC_TAG_LIMIT - 1; value > GC_TAG_LIMIT - 3; value--)
		ok(GC_TAG_DIGITS(GC_TAGGED(value, 31)) == value && GC_TAG_SCALE(GC_TAGGED(value, 31)) == 31 &&
		   GC_TAG_DIGITS(GC_TAGGED(-value, 31)) == -value && GC_TAG_SCALE(GC_TAGGED(-value, 31)) == 31, "the largest values");
	/* For equal digits the scale decides, so that the greater of tagged values at one scale is the greater value. */
	ok(GC_TAGGED(-5, 31) < GC_TAGGED(-4, 0) && GC_TAGGED(-5, 3) > GC_TAGGED(-5, 2) && GC_TAGGED(4, 31) < GC_TAGGED(5, 0),
	   "tagged values are ordered by their digits first");
}

/* A value of the 15 digits that printf() prints, `scale` behind the point; false: it leaves 64 bits. */
static bool
printed_decimal(double x, int scale, bool cut, i64 *result)
{
	char		text[64],
			   *at;
	i128		q = 0;
	int			k;

	snprintf(text, sizeof(text), "%.14e", x < 0 ? -x : x + 0.0);
	for (at = text; *at != 'e'; at++)
		q = *at == '.' ? q : q * 10 + (*at - '0');
	/* q * 10^k is the value, times 10^scale. */
	k = atoi(at + 1) - 14 + scale;
	for (; k > 0 && q < (i128) 1 << 100; k--)
		q *= 10;
	if (k < -20)
		q = 0;
	else if (k < 0)
		q = q / gc_power_of_10(-k) + (!cut && q % gc_power_of_10(-k) * 2 >= gc_power_of_10(-k));
	*result = (i64) (x < 0 ? -q : q);
	return q <= 0x7fffffffffffffffll;
}

static void
float_test(void)
{
	int			wrong = 0,
				refused = 0;

	for (int i = 0; i < NRANDOM / 4; i++)
	{
		const int	scale = (int) (draw() % 16);
		const bool	cut = draw() % 2;
		double		x = (double) (i64) (draw() >> draw() % 60) * (draw() % 2 ? 1 : -1);
		i64			expected,
					found;
		i32			bad = 0;

		for (int n = (int) (draw() % 20); n > 0; n--)
			x /= draw() % 2 ? 10 : 8;
		if (!(x > -1e18 && x < 1e18))
			continue;
		found = cut ? gc_float_cut(x, 15, scale, &bad) : gc_float_round(x, 15, scale, &bad);
		if (!printed_decimal(x, scale, cut, &expected))
		{
			refused++;
			wrong += !bad;
		}
		else
			wrong += bad || found != expected;
	}
	is(wrong, 0, "floats become the numerics that their digits say");
	ok(refused > 100, "some leave 64 bits (%d)", refused);
}

/* The root of the rounded variance is between the integers' halves that are next to it; values are below 2^14. */
static void
test_stddev(void)
{
	int			wrong = 0,
				left = 0,
				zero = 0;

	for (int i = 0; i < NRANDOM / 4; i++)
	{
		const int	n = 2 + (int) (draw() % 6);
		const int	scale = (int) (draw() % 4);
		const int	without = (int) (draw() % 2);
		const int	root = (int) (draw() % 2);
		const i64	base = (i64) (draw() % 8192) - 4096;
		const u64	differ = 1 + draw() % (draw() % 2 ? 3 : 4096);
		i64			sum = 0,
					squares = 0;
		i32			bad = 0;
		i128		found;
		i128		power;
		Quotient	v;

		for (int k = 0; k < n; k++)
		{
			const i64	x = base + (i64) (draw() % differ);

			sum += x;
			squares += x * x;
		}
		found = gc_numeric_stddev(sum, squares, n, scale, without, root, &bad);
		v = divide((i128) n * squares - (i128) sum * sum, 2 * scale, (u64) n * (n - without), 0);
		if (n * squares == sum * sum)
		{
			zero++;
			wrong += bad || found != 0 || gc_numeric_stddev_scale(sum, squares, n, scale, without) != 0;
			continue;
		}
		wrong += gc_numeric_stddev_scale(sum, squares, n, scale, without) != v.scale;
		if (v.scale > GC_AVG_SCALE || bad)
		{
			left++;
			wrong += v.scale <= GC_AVG_SCALE || !bad;
			continue;
		}
		power = gc_power_of_10(GC_AVG_SCALE - v.scale);
		wrong += found % power != 0;
		found /= power;
		power = gc_power_of_10(v.scale);
		if (!root)
		{
			wrong += found != v.value;
			continue;
		}
		/* (found - 1/2)^2 < v * 10^scale < (found + 1/2)^2 */
		wrong += found * found - found >= v.value * power || found * found + found < v.value * power;
	}
	is(wrong, 0, "variances and standard deviations are rounded to the digits of the variance");
	ok(zero > 100, "some are of equal values (%d)", zero);
	is(left, 0, "and none of these has too many digits");
	for (int i = 0; i < 4; i++)
	{
		/* a sum, a number of values, squares, digits: each beyond what the device holds */
		static const i64 n[] = {2, 1, 4000000000000000000, 2};
		const i128	sum = i == 0 ? (i128) 1 << 63 : 3;
		const i128	squares = i == 1 ? (i128) 1 << 126 : 9;
		i32			bad = 0;

		(void) gc_numeric_stddev(sum, squares, n[i], i == 3 ? 12 : 0, 0, 1, &bad);
		is(bad, 1, "what is beyond 128 bits or 24 digits is left to PostgreSQL");
	}
}

int
main(void)
{
	tap_start();
	test_known();
	test_random();
	test_halves();
	test_powers();
	test_large();
	test_quotients();
	test_shown();
	test_compared();
	test_long_division();
	test_divide();
	test_tags();
	test_stddev();
	float_test();
	return tap_done();
}
