/*-------------------------------------------------------------------------
 *
 * aggregates.c
 *	  From a group's accumulators to the datums of its aggregates.
 *
 * Where SQL's aggregate is more than a conversion of the accumulator, PostgreSQL's
 * own function computes it, so that scale and spelling are its own.
 *
 * Runs in backends, while the request slot is held.
 *
 *-------------------------------------------------------------------------
 */
#include "decoder.h"
#include "../program/tagged.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "lookup.h"
#include "regression.h"
#include "../columns/encode/pgkinds.h"
#include "../columns/store/numeric.h"

static const GcPAgg *
decoder_agg(GcDecoder *d, u16 ref)
{
	return &d->aggs[ref];
}

static int64
agg_count(GcDecoder *d, const u64 *g, u16 ref)
{
	return (int64) g[decoder_agg(d, ref)->word];
}

static i128
agg_sum(GcDecoder *d, const u64 *g, u16 ref)
{
	const GcPAgg *a = decoder_agg(d, ref);

	if (a->acc == GC_I128)
		return (i128) ((u128) g[a->word + 1] << 64 | g[a->word]);
	return (int64) g[a->word];
}

static double
agg_sum_float(GcDecoder *d, const u64 *g, u16 ref, bool is_float4)
{
	double		v;

	memcpy(&v, &g[decoder_agg(d, ref)->word], sizeof(v));
	/* PostgreSQL may have overflowed where we did not, or the other way round. */
	if (!isfinite(v) || (is_float4 && !isfinite((float4) v)))
		d->code = gc_fail(&d->b->err, GC_DATA, "A float sum is not finite.");
	return v;
}

/* Undo what agg_image() does (codegen/sink/aggregates.c). */
static int64
agg_extreme(GcDecoder *d, const u64 *g, u16 ref)
{
	const GcPAgg *a = decoder_agg(d, ref);
	u64			image = gc_accumulator_of(a)->reversed ? ~g[a->word] : g[a->word];

	if (gc_accumulator_of(a)->value == GC_VALUE_BITS)
		return (int64) image;
	if (a->acc != GC_F64)
		return (int64) (image ^ UINT64CONST(0x8000000000000000));
	if (image == PG_UINT64_MAX)
	{
		double		nan = get_float8_nan();

		memcpy(&image, &nan, sizeof(image));
		return (int64) image;
	}
	return (int64) (image >> 63 ? image ^ UINT64CONST(0x8000000000000000) : ~image);
}

/* The sum that sum() returns, which begins with the first value: it is -0 if all values are. */
static double
sum_from_first(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool is_float4)
{
	double		sum = agg_sum_float(d, g, out->ref, is_float4);
	int64		bits = agg_extreme(d, g, out->ref2);
	double		greatest;

	memcpy(&greatest, &bits, sizeof(greatest));
	return sum == 0 && greatest == 0 ? greatest : sum;
}

/* The largest display scale of what was added up, which a sum has. */
static int16
largest_scale(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	const GcExpr *values = &d->exprs[decoder_agg(d, out->ref)->arg];

	return out->scale_ref != GC_NONE && gc_is_varying(values) ? (int16) agg_extreme(d, g, out->scale_ref) : values->scale;
}

/* An integer at a scale of which only so many digits are shown, as the others are 0. */
static Datum
numeric_shown(i128 value, int16 scale, int16 shown)
{
	for (; scale > shown; scale--)
		value /= 10;
	return gc_int128_to_numeric(value, scale);
}

static Datum
sum_numeric(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	return numeric_shown(agg_sum(d, g, out->ref), d->exprs[decoder_agg(d, out->ref)->arg].scale, largest_scale(d, g, out));
}

static Datum
sum_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	switch (gc_type_kind(out->argtype))
	{
		case GC_INT2:
		case GC_INT4:
			return Int64GetDatum((int64) agg_sum(d, g, out->ref));
		case GC_INT8:
			return gc_int128_to_numeric(agg_sum(d, g, out->ref), 0);
		case GC_MONEY:
			return Int64GetDatum((int64) agg_sum(d, g, out->ref));
		case GC_FLOAT4:
			return Float4GetDatum((float4) sum_from_first(d, g, out, true));
		case GC_FLOAT8:
			return Float8GetDatum(sum_from_first(d, g, out, false));
		default:
			return sum_numeric(d, g, out);
	}
}

static Datum
avg_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	const GcKind kind = gc_type_kind(out->argtype);
	int64		n = agg_count(d, g, out->ref2);
	Datum		sum;

	if (GC_KIND_IS_FLOAT(kind))
		return Float8GetDatum(agg_sum_float(d, g, out->ref, false) / (double) n);
	sum = GC_KIND_IS_INT(kind) ? gc_int128_to_numeric(agg_sum(d, g, out->ref), 0) : sum_numeric(d, g, out);
	return DirectFunctionCall2(numeric_div, sum, NumericGetDatum(int64_to_numeric(n)));
}

/* May an order of rows take an interval's parts out of range on the way to these sums? */
static bool
may_leave_interval(GcDecoder *d, const u64 *g, const GcPlanOutput *out, i128 days, i128 times)
{
	const i128	least = agg_extreme(d, g, out->sums[0]);
	const i128	greatest = agg_extreme(d, g, out->sums[1]);
	const i128	n = agg_count(d, g, out->ref2);
	const i128	most = Max(-least, greatest);

	/* Where all have one sign, no sum on the way is further off than the last one. */
	if (least < 0 && greatest > 0)
	{
		days = n * (most / USECS_PER_DAY);
		times = n * Min(most, USECS_PER_DAY - 1);
	}
	return days < PG_INT32_MIN || days > PG_INT32_MAX || times < PG_INT64_MIN || times > PG_INT64_MAX;
}

static Datum
interval_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	Interval   *sum = palloc0(sizeof(Interval));
	const i128	days = agg_sum(d, g, out->ref);
	const i128	times = agg_sum(d, g, out->square_ref);

	if (may_leave_interval(d, g, out, days, times))
		d->code = gc_fail(&d->b->err, GC_DATA, "A sum of intervals may be out of range.");
	else
	{
		sum->day = (int32) days;
		sum->time = (int64) times;
	}
	if (out->type == GC_OUT_INTERVAL_SUM)
		return IntervalPGetDatum(sum);
	return DirectFunctionCall2(interval_div, IntervalPGetDatum(sum), Float8GetDatum((double) agg_count(d, g, out->ref2)));
}

/* Which code has a rank. */
static uint32
rank_code(GcDecoder *d, u16 lut, int64 rank)
{
	const GcLookup *l = d->b->lookups[lut];

	return l->order ? l->order[rank] : l->shared->order[rank];
}

/*
 * One of several equal values, an integer at scale `from`.  PostgreSQL returns the first or last that it finds, which is not
 * known here.  If the smallest and the largest of their display scales differ, it is to compute the value.
 */
static Datum
numeric_of_scales(GcDecoder *d, int64 value, int16 from, int16 scale, int16 other)
{
	if (scale != other)
	{
		d->code = gc_fail(&d->b->err, GC_UNSUPPORTED, "Equal numeric values, of which one is returned, differ in scale.");
		return (Datum) 0;
	}
	return numeric_shown(value, from, scale);
}

static Datum
plain_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	const GcExpr *e = &d->exprs[decoder_agg(d, out->ref)->arg];
	int64		v = agg_extreme(d, g, out->ref);
	double		f8;
	float		f4;

	if (out->lut != GC_NONE)
		return gc_text_value(d->b, d->exprs[d->b->plan->luts[out->lut].arg].kind, out->space,
							 rank_code(d, out->lut, v));
	if (e->kind == GC_FLOAT4)
	{
		memcpy(&f8, &v, sizeof(f8));
		f4 = (float) f8;
		return Float4GetDatum(f4);
	}
	if (gc_is_varying(e) && out->scale_ref == GC_NONE)
	{
		d->code = gc_fail(&d->b->err, GC_UNSUPPORTED, "The minimum or maximum of numeric values of varying scale is needed.");
		return (Datum) 0;
	}
	if (gc_is_varying(e))
		return numeric_of_scales(d, v, e->scale, GC_TAG_SCALE(agg_extreme(d, g, out->scale_ref)),
								 GC_TAG_SCALES - 1 - GC_TAG_SCALE(agg_extreme(d, g, out->square_ref)));
	return gc_raw_to_datum(e->kind, v, e->scale);
}

/* A final function of a sum, a count and a sum of squares. */
static Datum
variance_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool *isnull)
{
	const int16 scale = d->exprs[decoder_agg(d, out->square_ref)->arg].scale;
	Datum		sum = sum_numeric(d, g, out);
	Datum		squares = numeric_shown(agg_sum(d, g, out->square_ref), scale, 2 * largest_scale(d, g, out));

	return gc_variance(&d->variances, out->finalfn, agg_count(d, g, out->ref2), sum, squares, isnull);
}

static Datum
regression_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool *isnull)
{
	GcPreciseSum sums[GC_REGRESSION_SUMS];
	const int	nsums = out->in_halves ? out->nsums / 2 : out->nsums;
	Datum		result = (Datum) 0;

	for (int i = 0; i < nsums; i++)
	{
		GcPreciseSum low;

		memcpy(&sums[i], &g[decoder_agg(d, out->sums[i])->word], sizeof(sums[i]));
		if (!out->in_halves)
			continue;
		memcpy(&low, &g[decoder_agg(d, out->sums[nsums + i])->word], sizeof(low));
		sums[i] = gc_precise_add(sums[i], low);
	}
	if (!gc_regression(out->finalfn, agg_count(d, g, out->ref), sums, nsums, &result, isnull))
		d->code = gc_fail(&d->b->err, GC_DATA, "A sum of squares of floats is not finite.");
	return result;
}

Datum
gc_agg_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool *isnull)
{
	*isnull = false;
	if (out->type == GC_OUT_COUNT)
		return Int64GetDatum(agg_count(d, g, out->ref));
	if (out->type == GC_OUT_REGRESSION)
		return regression_datum(d, g, out, isnull);
	if (agg_count(d, g, out->ref2) == 0)
	{
		*isnull = true;
		return (Datum) 0;
	}
	switch (out->type)
	{
		case GC_OUT_SUM:
			return sum_datum(d, g, out);
		case GC_OUT_AVG:
			return avg_datum(d, g, out);
		case GC_OUT_VARIANCE:
			return variance_datum(d, g, out, isnull);
		case GC_OUT_INTERVAL_SUM:
		case GC_OUT_INTERVAL_AVG:
			return interval_datum(d, g, out);
		default:
			return plain_datum(d, g, out);
	}
}

Datum
gc_varying_key(GcDecoder *d, const u64 *g, int64 raw, int16 from, const GcPlanOutput *out)
{
	if (out->scale_ref == GC_NONE)
	{
		d->code = gc_fail(&d->b->err, GC_UNSUPPORTED, "A numeric group key varies in scale.");
		return (Datum) 0;
	}
	return numeric_of_scales(d, raw, from, (int16) agg_extreme(d, g, out->scale_ref), (int16) agg_extreme(d, g, out->square_ref));
}
