/*-------------------------------------------------------------------------
 *
 * range.h
 *	  Arithmetic of ranges; private to src/program/ (what others want of ranges is in program.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RANGE_H
#define GC_RANGE_H

#include "program.h"

extern bool gc_range_within(const GcRange *r, i128 lo, i128 hi);

/* Cut *r to [lo, hi]; true if that took something away. */
extern bool gc_range_clip(GcRange *r, i128 lo, i128 hi);

/* Register that holds all three ranges: for an operation's exact arithmetic. */
extern GcReg gc_range_common_reg(const GcRange *a, const GcRange *b, const GcRange *c);

/* *r times 10^digits, and the range of products; false: more than 128 bits. */
extern bool gc_range_scale_up(GcRange *r, int digits);
extern bool gc_range_mul(const GcRange *a, const GcRange *b, GcRange *r);

#endif							/* GC_RANGE_H */
