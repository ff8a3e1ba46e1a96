/*-------------------------------------------------------------------------
 *
 * regression.c
 *	  Variances, covariances and regressions of floats, from precise sums.
 *
 * PostgreSQL's final functions compute them from a state that float8_accum() or
 * float8_regr_accum() has made.  That is the number of values, their sum and the sum of squares of
 * their differences to the mean.  The latter is the sum of squares less the square of the sum
 * divided by the number.  In doubles, that would lose all digits of values that differ little.  So
 * the device adds up with about twice a double's digits (cuda/gc_agg.h), and so does this file.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "regression.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "../plan/base/plan.h"

/*
 * While sums of squares are below this, PostgreSQL's way of adding up does not overflow.  It
 * squares differences of values times their number.
 */
#define MOST_SQUARES	1e270

/* A sum of n precise products is off by less than this part of it. */
#define PART_LOST(n)	(((n) + 4.0) * 0x1p-100)

GcPreciseSum
gc_precise_add(GcPreciseSum a, GcPreciseSum b)
{
	GcPreciseSum r = {.hi = a.hi + b.hi};
	double		c = r.hi - a.hi;

	r.lo = a.lo + b.lo + ((a.hi - (r.hi - c)) + (b.hi - c));
	return r;
}

static GcPreciseSum
multiply(GcPreciseSum a, GcPreciseSum b)
{
	GcPreciseSum r = {.hi = a.hi * b.hi};

	r.lo = fma(a.hi, b.hi, -r.hi) + (a.hi * b.lo + a.lo * b.hi);
	return r;
}

static GcPreciseSum
divide(GcPreciseSum a, double n)
{
	GcPreciseSum r = {.hi = a.hi / n};

	r.lo = (fma(-r.hi, n, a.hi) + a.lo) / n;
	return r;
}

/* The sum of products of differences to the means. */
static double
differences(GcPreciseSum products, GcPreciseSum x, GcPreciseSum y, double n)
{
	GcPreciseSum mean = divide(multiply(x, y), n);
	GcPreciseSum d = gc_precise_add(products, (GcPreciseSum) {-mean.hi, -mean.lo});

	return d.hi + d.lo;
}

/* What is lost in the sums counts as nothing: PostgreSQL has 0 for values that are all the same. */
static double
beyond_loss(double d, double squares_x, double squares_y, double n)
{
	return fabs(d) <= PART_LOST(n) * sqrt(squares_x) * sqrt(squares_y) ? 0 : d;
}

static bool
in_bounds(const GcPreciseSum *sums, int nsums)
{
	for (int i = 0; i < nsums; i++)
	{
		if (!(fabs(sums[i].hi) < MOST_SQUARES) || !isfinite(sums[i].lo))
			return false;
	}
	return true;
}

bool
gc_regression(Oid finalfn, int64 count, const GcPreciseSum *sums, int nsums, Datum *result, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 1);
	FmgrInfo	function;
	Datum		state[1 + GC_REGRESSION_SUMS];
	ArrayType  *array;
	double		n = (double) count;
	double		value[GC_REGRESSION_SUMS] = {0};

	if (!in_bounds(sums, nsums))
		return false;
	for (int i = 0; i < nsums && count > 0; i += 2)
	{
		if (i + 1 == nsums)		/* products */
			value[i] = beyond_loss(differences(sums[i], sums[0], sums[2], n), sums[1].hi, sums[3].hi, n);
		else
		{
			value[i] = sums[i].hi + sums[i].lo;
			value[i + 1] = beyond_loss(differences(sums[i + 1], sums[i], sums[i], n), sums[i + 1].hi, sums[i + 1].hi, n);
			value[i + 1] = Max(value[i + 1], 0);
		}
	}
	state[0] = Float8GetDatum(n);
	for (int i = 0; i < nsums; i++)
		state[i + 1] = Float8GetDatum(value[i]);
	fmgr_info(finalfn, &function);
	InitFunctionCallInfoData(*fcinfo, &function, 1, InvalidOid, NULL, NULL);
	array = construct_array(state, nsums + 1, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	fcinfo->args[0].value = PointerGetDatum(array);
	fcinfo->args[0].isnull = false;
	*result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	pfree(array);
	return true;
}
