/*-------------------------------------------------------------------------
 *
 * quotient.h
 *	  Quotients and variances of numerics, in 128 bits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_QUOTIENT_H
#define GC_QUOTIENT_H

#include "postgres.h"

#include "../columns/store/numeric.h"

/* numeric_div() of two integers at scales; y is not 0. */
extern Datum gc_quotient(i128 x, int16 x_scale, i128 y, int16 y_scale);

/*
 * numeric_var_pop() or numeric_var_samp(), or the square root of that, of `count` values.  They have a sum, an integer
 * at this scale, and a sum of squares, at twice the scale.  False if 128 bits are not enough.  A sample has two values.
 */
extern bool gc_variance(int64 count, i128 sum, i128 squares, int16 scale, bool of_sample, bool square_root,
						Datum *result);

#endif							/* GC_QUOTIENT_H */
