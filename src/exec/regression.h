/*-------------------------------------------------------------------------
 *
 * regression.h
 *	  Variances, covariances and regressions of floats, from precise sums.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REGRESSION_H
#define GC_REGRESSION_H

#include "postgres.h"

/* A precise sum (cuda/gc_agg.h): what was added up, and what was lost in that. */
typedef struct GcPreciseSum
{
	double		hi;
	double		lo;
} GcPreciseSum;

/*
 * What a final function of PostgreSQL's makes of the state for `count` values or pairs with these
 * sums, of which plan.h has the order.  False if PostgreSQL's own sums may not be finite.
 */
extern bool gc_regression(Oid finalfn, int64 count, const GcPreciseSum *sums, int nsums, Datum *result, bool *isnull);

extern GcPreciseSum gc_precise_add(GcPreciseSum a, GcPreciseSum b);

#endif							/* GC_REGRESSION_H */
