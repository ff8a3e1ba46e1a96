/*-------------------------------------------------------------------------
 *
 * range.h
 *	  Ranges of values, and their arithmetic.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RANGE_H
#define GC_RANGE_H

#include "program.h"

/* As PostgreSQL's int128: memory from palloc is aligned to 8 bytes only. */
typedef i128 GcWide __attribute__((aligned(8)));

/* Values lie in [lo, hi]; lo > hi: there is no value. */
typedef struct GcRange
{
	GcWide		lo;
	GcWide		hi;
} GcRange;

/* Range that fits a kind, whatever the values: int4's, say; false if none. */
extern bool gc_kind_range(GcKind kind, GcRange *range);

/* Narrowest register that holds a range. */
extern GcReg gc_range_reg(const GcRange *range);

/* Bytes (1, 2, 4, 8) that hold hi - lo (+ 1 when nullable); 0 if more than 8. */
extern int	gc_range_width(const GcRange *range, bool nullable);

/* Register of a kind's values of that range. */
extern GcReg gc_kind_reg(u8 kind, const GcRange *range);

extern bool gc_range_within(const GcRange *r, i128 lo, i128 hi);

/* Cut *r to [lo, hi]; true if that took something away. */
extern bool gc_range_clip(GcRange *r, i128 lo, i128 hi);

/* Register that holds all three ranges: for an operation's exact arithmetic. */
extern GcReg gc_range_common_reg(const GcRange *a, const GcRange *b, const GcRange *c);

/* *r times 10^digits, and the range of products; false: more than 128 bits. */
extern bool gc_range_scale_up(GcRange *r, int digits);
extern bool gc_range_mul(const GcRange *a, const GcRange *b, GcRange *r);

#endif							/* GC_RANGE_H */
