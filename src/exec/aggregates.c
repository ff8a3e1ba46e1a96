/*-------------------------------------------------------------------------
 *
 * aggregates.c
 *	  From a group's accumulators to the datums of its aggregates.
 *
 * Where SQL's aggregate is more than a conversion of the accumulator, PostgreSQL's own function computes it, or one
 * that rounds as it does (quotient.c).  So scale and spelling are PostgreSQL's.
 *
 * Runs in backends, while the request slot is held.
 *
 *-------------------------------------------------------------------------
 */
#include "decoder.h"
#include "../program/tagged.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "fmgr.h"
#include "utils/array.h"

#include "lookup.h"
#include "quotient.h"
#include "../columns/encode/pgkinds.h"
#include "../columns/store/numeric.h"
#include "../compat.h"
#include "../plan/base/plan.h"

/*-------------------------------------------------------------------------
 * Variances, covariances and regressions of floats, from precise sums
 *
 * PostgreSQL's final functions compute them from a state that float8_accum() or
 * float8_regr_accum() has made.  That is the number of values, their sum and the sum of squares of
 * their differences to the mean.  The latter is the sum of squares less the square of the sum
 * divided by the number.  In doubles, that would lose all digits of values that differ little.  So
 * the device adds up with about twice a double's digits (cuda/gc_agg.h), and so does this file.
 *-------------------------------------------------------------------------
 */

/* A precise sum (cuda/gc_agg.h): what was added up, and what was lost in that. */
typedef struct PreciseSum
{
	double		hi;
	double		lo;
} PreciseSum;

/*
 * While sums of squares are below this, PostgreSQL's way of adding up does not overflow.  It
 * squares differences of values times their number.
 */
#define MOST_SQUARES	1e270

/* A sum of n precise products is off by less than this part of it. */
#define PART_LOST(n)	(((n) + 4.0) * 0x1p-100)

/* The sum of two numbers of twice a float8's digits, as kernels add them. */
static PreciseSum
precise_add(PreciseSum a, PreciseSum b)
{
	PreciseSum r = {.hi = a.hi + b.hi};
	double		c = r.hi - a.hi;

	r.lo = a.lo + b.lo + ((a.hi - (r.hi - c)) + (b.hi - c));
	return r;
}

/* The product of two such numbers. */
static PreciseSum
multiply(PreciseSum a, PreciseSum b)
{
	PreciseSum r = {.hi = a.hi * b.hi};

	r.lo = fma(a.hi, b.hi, -r.hi) + (a.hi * b.lo + a.lo * b.hi);
	return r;
}

/* Such a number divided by a float8. */
static PreciseSum
divide(PreciseSum a, double n)
{
	PreciseSum r = {.hi = a.hi / n};

	r.lo = (fma(-r.hi, n, a.hi) + a.lo) / n;
	return r;
}

static double
differences(PreciseSum products, PreciseSum x, PreciseSum y, double n)
{
	PreciseSum mean = divide(multiply(x, y), n);
	PreciseSum d = precise_add(products, (PreciseSum) {-mean.hi, -mean.lo});

	return d.hi + d.lo;
}

/* Digits lost in the sums count as nothing: PostgreSQL has 0 for values that are all the same. */
static double
beyond_loss(double d, double squares_x, double squares_y, double n)
{
	return fabs(d) <= PART_LOST(n) * sqrt(squares_x) * sqrt(squares_y) ? 0 : d;
}

/* Are all sums finite, and within the bound? */
static bool
in_bounds(const PreciseSum *sums, int nsums)
{
	for (int i = 0; i < nsums; i++)
	{
		if (!(fabs(sums[i].hi) < MOST_SQUARES) || !isfinite(sums[i].lo))
			return false;
	}
	return true;
}

/*
 * The result of a final function of PostgreSQL's, of the state for `count` values or pairs with these
 * sums, of which plan.h has the order.  False if PostgreSQL's own sums may not be finite.
 */
static bool
regression(Oid finalfn, int64 count, const PreciseSum *sums, int nsums, Datum *result, bool *isnull)
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
			value[i + 1] = beyond_loss(differences(sums[i + 1], sums[i], sums[i], n), sums[i + 1].hi, sums[i + 1].hi,
									   n);
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

/*-------------------------------------------------------------------------
 * Variances and standard deviations beyond 128 bits, from count, sum and sum of squares
 *
 * PostgreSQL's final functions compute them, as they do within 128 bits (quotient.c).  They take a
 * transition state whose layout is numeric.c's own.  But it can be made of its serialized form,
 * which parallel aggregation sends between processes (numeric_serialize(), the same in PostgreSQL
 * 15 to 18).  Only an aggregate may call numeric_deserialize(), so it is shown an AggState.
 *-------------------------------------------------------------------------
 */

/* Words of numeric_send()'s header: digits, weight, sign, display scale. */
#define HEADER_WORDS	4

/* As numericvar_serialize(): the words of numeric_send(), with a header of 32-bit integers. */
static void
put_numeric(StringInfo buf, Datum value)
{
	bytea	   *sent = DatumGetByteaPP(DirectFunctionCall1(numeric_send, value));
	const char *words = VARDATA_ANY(sent);
	int			header = HEADER_WORDS * sizeof(int16);

	for (int i = 0; i < HEADER_WORDS; i++)
	{
		int16		word;

		memcpy(&word, words + i * sizeof(int16), sizeof(int16));
		pq_sendint32(buf, (int32) (int16) pg_ntoh16(word));
	}
	appendBinaryStringInfo(buf, words + header, VARSIZE_ANY_EXHDR(sent) - header);
}

/* As numeric_serialize(); the final functions look at nothing behind the sums but the counts of NaN. */
static bytea *
serialized_state(int64 count, Datum sum, Datum squares)
{
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint64(&buf, count);
	put_numeric(&buf, sum);
	put_numeric(&buf, squares);
	pq_sendint32(&buf, 0);		/* largest display scale */
	pq_sendint64(&buf, count);	/* how many have it */
	pq_sendint64(&buf, 0);		/* NaN */
	pq_sendint64(&buf, 0);		/* Infinity */
	pq_sendint64(&buf, 0);		/* -Infinity */
	return pq_endtypsend(&buf);
}

/* Prepare to call PostgreSQL's functions of variances; once for a result. */
static void
begin(GcVariances *v)
{
	v->scratch = AllocSetContextCreate(CurrentMemoryContext, "gpuconc variance", ALLOCSET_DEFAULT_SIZES);
	v->caller = makeNode(AggState);
	fmgr_info(F_NUMERIC_DESERIALIZE, &v->deserialize);
}

/*
 * The result of a final function of PostgreSQL's for numeric, for `count` values with a sum and a sum
 * of squares, both numeric.  It is in the current memory context.
 */
static Datum
variance(GcVariances *v, Oid finalfn, int64 count, Datum sum, Datum squares, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 2);
	MemoryContext old;
	Datum		state;
	Datum		result;

	if (v->scratch == NULL)
		begin(v);
	if (v->finish.fn_oid != finalfn)
		fmgr_info(finalfn, &v->finish);
	old = MemoryContextSwitchTo(v->scratch);
	InitFunctionCallInfoData(*fcinfo, &v->deserialize, 2, InvalidOid, (Node *) v->caller, NULL);
	fcinfo->args[0].value = PointerGetDatum(serialized_state(count, sum, squares));
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = (Datum) 0;
	fcinfo->args[1].isnull = false;
	state = FunctionCallInvoke(fcinfo);
	InitFunctionCallInfoData(*fcinfo, &v->finish, 1, InvalidOid, (Node *) v->caller, NULL);
	fcinfo->args[0].value = state;
	fcinfo->args[0].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	MemoryContextSwitchTo(old);
	if (!*isnull)
		result = datumCopy(result, false, -1);
	MemoryContextReset(v->scratch);
	return result;
}

void
gc_variances_end(GcVariances *v)
{
	if (v->scratch)
		MemoryContextDelete(v->scratch);
}

/*-------------------------------------------------------------------------
 * Datums of aggregates
 *-------------------------------------------------------------------------
 */

/* The accumulator with that number. */
static const GcPAgg *
decoder_agg(GcDecoder *d, u16 ref)
{
	return &d->aggs[ref];
}

/* The value of a counting accumulator of a group. */
static int64
agg_count(GcDecoder *d, const u64 *g, u16 ref)
{
	return (int64) g[decoder_agg(d, ref)->word];
}

/* The value of a summing accumulator of a group, of 64 or 128 bits. */
static i128
agg_sum(GcDecoder *d, const u64 *g, u16 ref)
{
	const GcPAgg *a = decoder_agg(d, ref);

	if (a->acc == GC_I128)
		return (i128) ((u128) g[a->word + 1] << 64 | g[a->word]);
	return (int64) g[a->word];
}

/* A sum of floats; one that is not finite is left to PostgreSQL (d->code). */
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

	return out->scale_ref != GC_NONE && gc_is_varying(values) ? (int16) agg_extreme(d, g, out->scale_ref)
		: values->scale;
}

/* An integer at a scale of which only so many digits are shown, as the others are 0. */
static i128
cut_to(i128 value, int16 scale, int16 shown)
{
	for (; scale > shown; scale--)
		value /= 10;
	return value;
}

/* A sum of integers or numerics, at the scale that is shown. */
static i128
sum_shown(GcDecoder *d, const u64 *g, u16 ref, int16 shown)
{
	return cut_to(agg_sum(d, g, ref), d->exprs[decoder_agg(d, ref)->arg].scale, shown);
}

/* A sum of numerics, shown with the largest display scale of its values. */
static Datum
sum_numeric(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	const int16 shown = largest_scale(d, g, out);

	return gc_int128_to_numeric(sum_shown(d, g, out->ref, shown), shown);
}

/* sum() by its argument's type. */
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

/* avg() */
static Datum
avg_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	const GcKind kind = gc_type_kind(out->argtype);
	int64		n = agg_count(d, g, out->ref2);
	const int16 scale = GC_KIND_IS_INT(kind) ? 0 : largest_scale(d, g, out);

	if (GC_KIND_IS_FLOAT(kind))
		return Float8GetDatum(agg_sum_float(d, g, out->ref, false) / (double) n);
	return gc_quotient(sum_shown(d, g, out->ref, scale), scale, n, 0);
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

/* sum() of intervals, by days and microseconds; what might be out of range is left to PostgreSQL. */
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
	return DirectFunctionCall2(interval_div, IntervalPGetDatum(sum),
							   Float8GetDatum((double) agg_count(d, g, out->ref2)));
}

Datum
gc_text_datum(GcDecoder *d, GcKind kind, const GcPlanOutput *out, uint32 code)
{
	const int	c = out - d->b->plan->outputs;

	if (d->texts[c] == NULL)
	{
		const uint32 ncodes = gc_dict_count(gc_space_dict(d->b, out->space));

		if (ncodes > d->nrows)
			return gc_text_value(d->b, kind, out->space, code);
		d->texts[c] = MemoryContextAllocExtended(d->scratch, ncodes * sizeof(Datum), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	}
	if (d->texts[c][code] == (Datum) 0)
		d->texts[c][code] = gc_text_value(d->b, kind, out->space, code);
	return d->texts[c][code];
}

/* Which code has a rank. */
static uint32
rank_code(GcDecoder *d, u16 lut, int64 rank)
{
	const GcLookup *l = d->b->lookups[lut];

	return l->order ? l->order[rank] : l->shared->order[rank];
}

/*
 * One of several equal values, an integer at scale `from`.  PostgreSQL returns the first or last that it finds, which
 * is not known here.  If the smallest and the largest of their display scales differ, it is to compute the value.
 */
static Datum
numeric_of_scales(GcDecoder *d, int64 value, int16 from, int16 scale, int16 other)
{
	if (scale != other)
	{
		d->code = gc_fail(&d->b->err, GC_UNSUPPORTED,
						  "Equal numeric values, of which one is returned, differ in scale.");
		return (Datum) 0;
	}
	return gc_int128_to_numeric(cut_to(value, from, scale), scale);
}

/* An accumulator's value as that of the aggregate: min(), max() and others. */
static Datum
plain_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out)
{
	const GcExpr *e = &d->exprs[decoder_agg(d, out->ref)->arg];
	int64		v = agg_extreme(d, g, out->ref);
	double		f8;
	float		f4;

	if (out->lut != GC_NONE)
		return gc_text_datum(d, d->exprs[d->b->plan->luts[out->lut].arg].kind, out, rank_code(d, out->lut, v));
	if (e->kind == GC_FLOAT4)
	{
		memcpy(&f8, &v, sizeof(f8));
		f4 = (float) f8;
		return Float4GetDatum(f4);
	}
	if (gc_is_varying(e) && out->scale_ref == GC_NONE)
	{
		d->code = gc_fail(&d->b->err, GC_UNSUPPORTED,
						  "The minimum or maximum of numeric values of varying scale is needed.");
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
	const bool	of_sample = out->finalfn == F_NUMERIC_VAR_SAMP || out->finalfn == F_NUMERIC_STDDEV_SAMP;
	const bool	square_root = out->finalfn == F_NUMERIC_STDDEV_POP || out->finalfn == F_NUMERIC_STDDEV_SAMP;
	const int16 scale = largest_scale(d, g, out);
	const int64 count = agg_count(d, g, out->ref2);
	const i128	sum = sum_shown(d, g, out->ref, scale);
	const i128	squares = sum_shown(d, g, out->square_ref, 2 * scale);
	Datum		result;

	*isnull = of_sample && count == 1;
	if (*isnull || gc_variance(count, sum, squares, scale, of_sample, square_root, &result))
		return *isnull ? (Datum) 0 : result;
	return variance(&d->variances, out->finalfn, count, gc_int128_to_numeric(sum, scale),
					gc_int128_to_numeric(squares, 2 * scale), isnull);
}

/* An aggregate of regression or variance, made of its sums. */
static Datum
regression_datum(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool *isnull)
{
	PreciseSum sums[GC_REGRESSION_SUMS];
	const int	nsums = out->in_halves ? out->nsums / 2 : out->nsums;
	Datum		result = (Datum) 0;

	for (int i = 0; i < nsums; i++)
	{
		PreciseSum low;

		memcpy(&sums[i], &g[decoder_agg(d, out->sums[i])->word], sizeof(sums[i]));
		if (!out->in_halves)
			continue;
		memcpy(&low, &g[decoder_agg(d, out->sums[nsums + i])->word], sizeof(low));
		sums[i] = precise_add(sums[i], low);
	}
	if (!regression(out->finalfn, agg_count(d, g, out->ref), sums, nsums, &result, isnull))
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

/* Sums are at one scale, however many of its digits are shown. */
bool
gc_agg_is_integer(const GcPlanOutput *out)
{
	return out->type == GC_OUT_COUNT || (out->type == GC_OUT_SUM && !GC_KIND_IS_FLOAT(gc_type_kind(out->argtype)));
}

i128
gc_agg_integer(GcDecoder *d, const u64 *g, const GcPlanOutput *out, bool *isnull)
{
	*isnull = out->type == GC_OUT_SUM && agg_count(d, g, out->ref2) == 0;
	return out->type == GC_OUT_COUNT ? agg_count(d, g, out->ref) : agg_sum(d, g, out->ref);
}

Datum
gc_varying_key(GcDecoder *d, const u64 *g, int64 raw, int16 from, const GcPlanOutput *out)
{
	if (out->scale_ref == GC_NONE)
	{
		d->code = gc_fail(&d->b->err, GC_UNSUPPORTED, "A numeric group key varies in scale.");
		return (Datum) 0;
	}
	return numeric_of_scales(d, raw, from, (int16) agg_extreme(d, g, out->scale_ref),
							 (int16) agg_extreme(d, g, out->square_ref));
}
