/*-------------------------------------------------------------------------
 *
 * numeric.h
 *	  Numeric values as scaled integers, and back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_NUMERIC_H
#define GC_NUMERIC_H

#include "postgres.h"

#include "../../compat.h"
#include "../../../cuda/gc_abi.h"

/*
 * Must this varlena be fetched or uncompressed?  (A short header needs neither;
 * but an external one looks short, too.)
 */
#define GC_IS_TOASTED(value) \
	(VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))

/* The scale that a numeric's typmod says, which may be negative; `none` if it says nothing. */
static inline int
gc_typmod_scale(int32 typmod, int none)
{
	return typmod < (int32) VARHDRSZ ? none : (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
}

/* Neither NaN nor infinite. */
extern bool gc_numeric_is_finite(Datum numeric);

/* Numeric as an integer times 10^-dscale; false for NaN, infinity, overflow. */
extern bool gc_numeric_to_int128(Datum numeric, i128 *value, int16 *dscale);
extern bool gc_numeric_to_int64(Datum numeric, int64 *value, int16 *dscale);

/* The opposite; exact, with exactly this display scale. */
extern Datum gc_int128_to_numeric(i128 value, int16 dscale);

/*
 * Ranges and scales of values: their range, min > max: none, and their display scales.  The range is of integers at the
 * largest scale.  Scales of -1: the values are no numerics, or there are none.
 */
typedef struct GcSpan
{
	int128		min;			/* not i128, whose alignment shared memory lacks */
	int128		max;
	int16		dscale;
	int16		min_dscale;
} GcSpan;

#define GC_NO_SPAN		((GcSpan) {.min = 1, .dscale = -1, .min_dscale = -1})

/*
 * A span of other values joins.  False if they differ in scale, and are too large to be tagged (gc_abi.h) in 128 bits;
 * the span is void then.
 */
extern bool gc_span_join(GcSpan *to, GcSpan from);

/* The range at a scale that is not smaller; false if it is too large to be tagged in 128 bits. */
extern bool gc_span_rescale(GcSpan *span, int16 dscale);

/* Do 64 bits hold the values, which are tagged if they differ in scale? */
extern bool gc_span_is_narrow(const GcSpan *span);

#endif							/* GC_NUMERIC_H */
