/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  The table of the functions that a GC_OP_CALL calls, and how their results are typed.
 *
 * Pure C; runs in backends and on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "functions.h"
#include "typer.h"

#include <stddef.h>

#define GC_FN			static inline
#define GC_FN_ONCE		static __attribute__((unused))
#define GC_USECS_PER_DAY	USECS_PER_DAY
#include "../../cuda/gc_calendar.h"

/* A function's form of 64 bits, for the range of its result. */
#define OF_64_BITS(function) \
	static i64 function##_64(i64 ts) { return function(ts); }

OF_64_BITS(gc_ts_year)
OF_64_BITS(gc_ts_decade)
OF_64_BITS(gc_ts_century)
OF_64_BITS(gc_ts_millennium)
OF_64_BITS(gc_ts_isoyear)

/* NonFiniteTimestampTzPart(): years of infinity are infinite, fields that come again and again are NULL. */
#define FIELD(function, from, to)	{.name = #function,.nargs = 1,.of_time = true,.infinite = GC_INFINITE_NULL,.lo = (from),.hi = (to)}
#define YEARS(function)		{.name = #function,.nargs = 1,.of_time = true,.value = function##_64}
#define TRUNC(function)		{.name = #function,.nargs = 1,.of_time = true,.infinite = GC_INFINITE_SELF,.value = function}

const GcFunctionTraits gc_functions[GC_NCALLS] = {
	[GC_CALL_YEAR] = YEARS(gc_ts_year),
	[GC_CALL_DECADE] = YEARS(gc_ts_decade),
	[GC_CALL_CENTURY] = YEARS(gc_ts_century),
	[GC_CALL_MILLENNIUM] = YEARS(gc_ts_millennium),
	[GC_CALL_QUARTER] = FIELD(gc_ts_quarter, 1, 4),
	[GC_CALL_MONTH] = FIELD(gc_ts_month, 1, 12),
	[GC_CALL_DAY] = FIELD(gc_ts_mday, 1, 31),
	[GC_CALL_DOW] = FIELD(gc_ts_dow, 0, 6),
	[GC_CALL_ISODOW] = FIELD(gc_ts_isodow, 1, 7),
	[GC_CALL_DOY] = FIELD(gc_ts_doy, 1, 366),
	[GC_CALL_ISOYEAR] = YEARS(gc_ts_isoyear),
	[GC_CALL_WEEK] = FIELD(gc_ts_week, 1, 53),
	[GC_CALL_HOUR] = FIELD(gc_ts_hour, 0, 23),
	[GC_CALL_MINUTE] = FIELD(gc_ts_minute, 0, 59),
	[GC_CALL_USEC] = FIELD(gc_ts_usec, 0, 59999999),
	[GC_CALL_TRUNC_MILLENNIUM] = TRUNC(gc_ts_trunc_millennium),
	[GC_CALL_TRUNC_CENTURY] = TRUNC(gc_ts_trunc_century),
	[GC_CALL_TRUNC_DECADE] = TRUNC(gc_ts_trunc_decade),
	[GC_CALL_TRUNC_YEAR] = TRUNC(gc_ts_trunc_year),
	[GC_CALL_TRUNC_QUARTER] = TRUNC(gc_ts_trunc_quarter),
	[GC_CALL_TRUNC_MONTH] = TRUNC(gc_ts_trunc_month),
	[GC_CALL_TRUNC_WEEK] = TRUNC(gc_ts_trunc_week),
	[GC_CALL_TRUNC_DAY] = TRUNC(gc_ts_trunc_day),
	[GC_CALL_TRUNC_HOUR] = TRUNC(gc_ts_trunc_hour),
	[GC_CALL_TRUNC_MINUTE] = TRUNC(gc_ts_trunc_minute),
	[GC_CALL_TRUNC_SECOND] = TRUNC(gc_ts_trunc_second),
	[GC_CALL_TRUNC_MILLISECOND] = TRUNC(gc_ts_trunc_millisecond),
	[GC_CALL_ADD_MONTHS] = {.name = "gc_ts_add_months",.nargs = 2,.of_time = true,.infinite = GC_INFINITE_SELF},
	[GC_CALL_AGE] = {.name = "gc_ts_age",.nargs = 3,.notes = true},
	[GC_CALL_BIN] = {.name = "gc_ts_bin",.nargs = 3,.notes = true},
	[GC_CALL_FLOOR] = {.name = "GC_FLOOR",.nargs = 1},
	[GC_CALL_CEIL] = {.name = "GC_CEIL",.nargs = 1},
	[GC_CALL_TRUNC] = {.name = "GC_TRUNC",.nargs = 1},
	[GC_CALL_RINT] = {.name = "GC_RINT",.nargs = 1},
	[GC_CALL_SQRT] = {.name = "GC_SQRT",.nargs = 1,.bad = "%s < 0"},
	[GC_CALL_SIGN] = {.name = "GC_SIGN",.nargs = 1},
	[GC_CALL_BUCKET_AT] = {.name = "gc_bucket_at",.nargs = 3,.notes = true},
	[GC_CALL_BUCKETS_WIDTH] = {.name = "gc_buckets_width",.nargs = 2,.notes = true},
	[GC_CALL_BUCKET] = {.name = "gc_bucket",.nargs = 3,.notes = true},
	[GC_CALL_BUCKET_CUT] = {.name = "gc_bucket_cut",.nargs = 3,.notes = true},
	[GC_CALL_FLOAT_ROUND] = {.name = "gc_float_round",.nargs = 3,.notes = true},
	[GC_CALL_FLOAT_CUT] = {.name = "gc_float_cut",.nargs = 3,.notes = true},
	[GC_CALL_NEAR] = {.name = "gc_near",.nargs = 1,.of_scale = true},
	[GC_CALL_NEAR_PARAM] = {.name = "gc_near_param",.nargs = 1},
	[GC_CALL_NEAR_SUM] = {.name = "gc_near_sum",.nargs = 2},
	[GC_CALL_NEAR_PRODUCT] = {.name = "gc_near_product",.nargs = 2},
	[GC_CALL_NEAR_QUOTIENT] = {.name = "gc_near_quotient",.nargs = 2},
	[GC_CALL_NEAR_SPREAD] = {.name = "gc_near_spread",.nargs = 3,.of_scale = true},
	[GC_CALL_NEAR_ROOT] = {.name = "gc_near_root",.nargs = 1},
	[GC_CALL_NEAR_COALESCE] = {.name = "gc_near_coalesce",.nargs = 2},
	[GC_CALL_NEAR_NULLIF] = {.name = "gc_near_nullif",.nargs = 2},
	[GC_CALL_NEAR_MAY] = {.name = "gc_near_may",.nargs = 3},
};

/* A month has 28 to 31 days, and the day of the month may be cut: so the time is not monotone. */
static void
range_of_months(const GcRange *months, GcRange *r)
{
	r->lo += months->lo * (months->lo < 0 ? 31 : 28) * (i128) USECS_PER_DAY - 4 * (i128) USECS_PER_DAY;
	r->hi += months->hi * (months->hi < 0 ? 28 : 31) * (i128) USECS_PER_DAY + 4 * (i128) USECS_PER_DAY;
}

/*
 * An age counts months of 31 days, of which the shortest has 28.  And it has up to a month more than whole
 * ones on either side.
 */
static void
range_of_age(const GcRange *a, const GcRange *b, GcRange *r)
{
	const i128	most = a->hi > b->lo ? a->hi - b->lo : 0;
	const i128	least = b->hi > a->lo ? a->lo - b->hi : 0;

	*r = (GcRange) {least / 28 * 31 - 62 * (i128) USECS_PER_DAY, most / 28 * 31 + 62 * (i128) USECS_PER_DAY};
}

/* Functions of several arguments that may be any: the function itself looks at them. */
static void
range_of_times(GcTyper *t, const GcExpr *e, GcRange *r)
{
	GcRange		args[3] = {0};

	for (int i = 0; i < gc_functions[e->ref].nargs; i++)
	{
		args[i] = t->ranges[e->arg[i]];
		if (GC_KIND_IS_INSTANT(t->exprs[e->arg[i]].kind))
			(void) gc_range_clip(&args[i], TIMESTAMP_LO, TIMESTAMP_HI);
	}
	if (e->ref == GC_CALL_AGE)
		range_of_age(&args[0], &args[1], r);
	else
		*r = (GcRange) {args[1].lo - (args[0].hi > 0 ? args[0].hi : 0), args[1].hi};
}

GcCode
gc_type_call(GcTyper *t, GcExpr *e, GcRange *r)
{
	const GcFunctionTraits *f = &gc_functions[e->ref];
	GcRange		ra = t->ranges[e->arg[0]];

	if (f->bad || f->notes)
		e->flags |= GC_CHECKED;
	/* From 0, before the first bucket, to the one behind the last. */
	if (e->ref == GC_CALL_BUCKET || e->ref == GC_CALL_BUCKET_CUT)
	{
		*r = (GcRange) {0, t->ranges[e->arg[2]].hi + 1};
		if (r->hi < 1)
			r->hi = 1;
		gc_clip_to_kind(e, r);
	}
	if (e->ref == GC_CALL_FLOAT_ROUND || e->ref == GC_CALL_FLOAT_CUT)
		*r = (GcRange) {gc_kinds[GC_INT8].lo, gc_kinds[GC_INT8].hi};
	if (e->ref == GC_CALL_AGE || e->ref == GC_CALL_BIN)
	{
		range_of_times(t, e, r);
		gc_clip_to_kind(e, r);
	}
	if (!f->of_time)
		return GC_OK;
	if (gc_range_clip(&ra, TIMESTAMP_LO, TIMESTAMP_HI))
		e->flags |= f->infinite == GC_INFINITE_ASKED ? GC_CHECKED : GC_INFINITE;
	if ((e->flags & GC_INFINITE) && f->infinite == GC_INFINITE_NULL)
		e->flags |= GC_NULLABLE;
	*r = ra;
	if (e->ref == GC_CALL_ADD_MONTHS)
		range_of_months(&t->ranges[e->arg[1]], r);
	else if (f->value)
		*r = (GcRange) {f->value((i64) ra.lo), f->value((i64) ra.hi)};
	else
		*r = (GcRange) {f->lo, f->hi};
	if (e->kind == GC_TIMESTAMP)
		gc_clip_to_kind(e, r);
	if ((e->flags & GC_INFINITE) && f->infinite == GC_INFINITE_SELF)
		gc_add_infinities(&t->ranges[e->arg[0]], r);
	return GC_OK;
}
