/*-------------------------------------------------------------------------
 *
 * numeric.c
 *	  numeric <-> integers scaled by a power of ten.
 *
 * Runs in backends and loaders.  Reads the packed format of numeric as it lies on disk.  That has been the same since
 * PostgreSQL 9.1, and may not change without breaking pg_upgrade.  A header word has sign and display scale, and in
 * the short form the weight, for which the long form has a second word.  Behind it are base-10000 digits, the first of
 * which counts 10000^weight.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "numeric.h"

/* Header bits. */
#define SIGN_MASK			0xC000
#define SIGN_NEGATIVE		0x4000
#define FORMAT_SHORT		0x8000
#define FORMAT_SPECIAL		0xC000
#define SHORT_NEGATIVE		0x2000
#define SHORT_DSCALE_MASK	0x1F80
#define SHORT_DSCALE_SHIFT	7
#define SHORT_WEIGHT_SIGN	0x0040
#define SHORT_WEIGHT_MASK	0x003F
#define LONG_DSCALE_MASK	0x3FFF

#define DIGIT_BASE			10000
#define DIGIT_DECIMALS		4

/* Digits that are taken from 128 bits at a time. */
#define LONG_DIGITS			4
#define LONG_BASE			UINT64CONST(10000000000000000)

/* 2^127 is less than 10^39. */
#define MAX_DECIMALS		38

/* The scale may split two of them. */
#define MOST_DIGITS			(MAX_DECIMALS / DIGIT_DECIMALS + 3)

typedef struct GcPacked
{
	bool		negative;
	int			dscale;
	int			weight;
	int			ndigits;
	const char *digits;			/* int16 each, at any alignment */
} GcPacked;

/* A word of a numeric's bytes, which may lie at any address. */
static inline uint16
word_at(const char *p, int i)
{
	uint16		w;

	memcpy(&w, p + i * sizeof(uint16), sizeof(uint16));
	return w;
}

/* Take a numeric apart; false for NaN and infinities. */
static inline bool
unpack(const char *data, Size len, GcPacked *n)
{
	uint16		header = word_at(data, 0);
	int			words;

	if ((header & SIGN_MASK) == FORMAT_SPECIAL)
		return false;
	if (header & FORMAT_SHORT)
	{
		n->negative = (header & SHORT_NEGATIVE) != 0;
		n->dscale = (header & SHORT_DSCALE_MASK) >> SHORT_DSCALE_SHIFT;
		n->weight = (header & SHORT_WEIGHT_MASK) |
			((header & SHORT_WEIGHT_SIGN) ? ~SHORT_WEIGHT_MASK : 0);
		words = 1;
	}
	else
	{
		n->negative = (header & SIGN_MASK) == SIGN_NEGATIVE;
		n->dscale = header & LONG_DSCALE_MASK;
		n->weight = (int16) word_at(data, 1);
		words = 2;
	}
	n->digits = data + words * sizeof(uint16);
	n->ndigits = len / sizeof(uint16) - words;
	return true;
}

/* value * 10^n; false when it does not fit. */
static bool
scale_up(u128 *value, int n)
{
	if (*value == 0)
		return true;
	if (n > MAX_DECIMALS)
		return false;
	for (; n > 0; n--)
	{
		if (*value > ((u128) 1 << 127) / 10)
			return false;
		*value *= 10;
	}
	return true;
}

/* Magnitude of n times 10^dscale; false when it is 2^127 or more. */
static bool
magnitude(const GcPacked *n, u128 *value)
{
	/* Decimal exponent of the last digit, once the scale is taken out. */
	int			exponent = (n->weight - n->ndigits + 1) * DIGIT_DECIMALS + n->dscale;

	*value = 0;
	for (int i = 0; i < n->ndigits; i++)
	{
		uint32		base = DIGIT_BASE;
		uint32		digit = word_at(n->digits, i);

		/* The last digit's decimals behind the scale are zeros, for which there may be no room. */
		for (; i == n->ndigits - 1 && exponent < 0 && base > 1 && digit % 10 == 0; exponent++)
		{
			base /= 10;
			digit /= 10;
		}
		if (*value > (~(u128) 0 - base) / base)
			return false;
		*value = *value * base + digit;
	}
	/* The exponent is below 0 where decimals behind the scale are not zeros: PostgreSQL makes no such numeric. */
	return exponent >= 0 && scale_up(value, exponent) && *value < (u128) 1 << 127;
}

/*
 * The common case: at most four digits, and few enough decimals that all of it
 * stays below 10^16 * 10^2.
 */
static inline bool
small_magnitude(const GcPacked *n, int64 *value)
{
	static const int64 powers[] = {1, 10, 100, 1000, 10000};
	int			exponent = (n->weight - n->ndigits + 1) * DIGIT_DECIMALS + n->dscale;
	int64		v = 0;

	if (n->ndigits > 4 || exponent < -4 || exponent > 2)
		return false;
	for (int i = 0; i < n->ndigits; i++)
		v = v * DIGIT_BASE + word_at(n->digits, i);
	if (exponent >= 0)
		*value = v * powers[exponent];
	else
	{
		*value = v / powers[-exponent];
		if (*value * powers[-exponent] != v)
			return false;
	}
	return true;
}

/*
 * The bytes of a numeric datum, detoasted if it must be.  *copy is to be freed
 * by the caller unless it is NULL.
 */
static inline const char *
numeric_bytes(Datum numeric, Size *len, void **copy)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(numeric);

	*copy = NULL;
	if (GC_IS_TOASTED(value))
		*copy = value = pg_detoast_datum_packed(value);
	*len = VARSIZE_ANY_EXHDR(value);
	return VARDATA_ANY(value);
}

bool
gc_numeric_is_finite(Datum numeric)
{
	GcPacked	n;
	Size		len;
	void	   *copy;
	const char *bytes = numeric_bytes(numeric, &len, &copy);
	const bool	finite = unpack(bytes, len, &n);

	if (copy)
		pfree(copy);
	return finite;
}

bool
gc_numeric_to_int128(Datum numeric, i128 *value, int16 *dscale)
{
	GcPacked	n;
	Size		len;
	void	   *copy;
	const char *bytes = numeric_bytes(numeric, &len, &copy);
	u128		v;
	bool		ok;

	ok = unpack(bytes, len, &n) && magnitude(&n, &v);
	if (ok)
	{
		*value = n.negative ? -(i128) v : (i128) v;
		*dscale = n.dscale;
	}
	if (copy)
		pfree(copy);
	return ok;
}

bool
gc_numeric_to_int64(Datum numeric, int64 *value, int16 *dscale)
{
	struct varlena *packed = (struct varlena *) DatumGetPointer(numeric);
	GcPacked	n;
	int64		small;
	i128		large;

	if (!GC_IS_TOASTED(packed) &&
		unpack(VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed), &n) &&
		small_magnitude(&n, &small))
	{
		*value = n.negative ? -small : small;
		*dscale = n.dscale;
		return true;
	}

	if (!gc_numeric_to_int128(numeric, &large, dscale) ||
		large < PG_INT64_MIN || large > PG_INT64_MAX)
		return false;
	*value = (int64) large;
	return true;
}

/* Base-10000 digits of an integer at a scale, the last one first; how many. */
static int
split_digits(u128 v, int16 dscale, uint16 *digits)
{
	static const uint16 powers[] = {1, 10, 100, 1000, DIGIT_BASE};
	const int	odd = dscale % DIGIT_DECIMALS;
	int			n = 0;

	if (odd > 0)
	{
		digits[n++] = (uint16) (v % powers[odd]) * powers[DIGIT_DECIMALS - odd];
		v /= powers[odd];
	}
	/* Divisions of 128 bits are slow. */
	for (; v > PG_UINT64_MAX; v /= LONG_BASE)
	{
		uint64		low = (uint64) (v % LONG_BASE);

		for (int i = 0; i < LONG_DIGITS; i++, low /= DIGIT_BASE)
			digits[n++] = low % DIGIT_BASE;
	}
	for (uint64 low = (uint64) v; low > 0; low /= DIGIT_BASE)
		digits[n++] = low % DIGIT_BASE;
	return n;
}

Datum
gc_int128_to_numeric(i128 value, int16 dscale)
{
	uint16		digits[MOST_DIGITS];
	uint16		sent[4 + MOST_DIGITS];
	StringInfoData message = {.data = (char *) sent};
	int			n;

	if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
		return NumericGetDatum(int64_div_fast_to_numeric((int64) value, dscale));

	/* The message is numeric_send()'s: each word in network order. */
	n = split_digits(value < 0 ? -(u128) value : (u128) value, dscale, digits);
	sent[0] = pg_hton16(n);
	sent[1] = pg_hton16((uint16) (n - 1 - (dscale + DIGIT_DECIMALS - 1) / DIGIT_DECIMALS));
	sent[2] = pg_hton16(value < 0 ? SIGN_NEGATIVE : 0);
	sent[3] = pg_hton16(dscale);
	for (int i = 0; i < n; i++)
		sent[4 + i] = pg_hton16(digits[n - 1 - i]);
	message.len = message.maxlen = (4 + n) * sizeof(uint16);
	return DirectFunctionCall3(numeric_recv, PointerGetDatum(&message), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/*-------------------------------------------------------------------------
 * Values of several scales
 *-------------------------------------------------------------------------
 */

/* Can the span's values have their display scales as tags in the lowest digits?  Without any value, yes. */
static bool
taggable(const GcSpan *span)
{
	return span->min > span->max ||
		(span->min > -GC_TAG_LIMIT_WIDE && span->max < GC_TAG_LIMIT_WIDE && span->dscale < GC_TAG_SCALES);
}

bool
gc_span_rescale(GcSpan *span, int16 dscale)
{
	if (!taggable(span))
		return false;
	for (; span->dscale < dscale && span->min <= span->max; span->dscale++)
	{
		span->min *= 10;
		span->max *= 10;
		if (!taggable(span))
			return false;
	}
	span->dscale = dscale;
	return taggable(span);
}

bool
gc_span_is_narrow(const GcSpan *span)
{
	if (span->dscale == span->min_dscale)
		return span->min >= PG_INT64_MIN && span->max <= PG_INT64_MAX;
	return span->min > -GC_TAG_LIMIT && span->max < GC_TAG_LIMIT;
}

bool
gc_span_join(GcSpan *to, GcSpan from)
{
	if (from.min > from.max)
		return true;
	if (to->min > to->max)
	{
		*to = from;
		return true;
	}
	if ((to->dscale != from.dscale || to->min_dscale != from.min_dscale) &&
		!(gc_span_rescale(to, Max(to->dscale, from.dscale)) && gc_span_rescale(&from, to->dscale)))
		return false;
	to->min = Min(to->min, from.min);
	to->max = Max(to->max, from.max);
	to->min_dscale = Min(to->min_dscale, from.min_dscale);
	return true;
}
