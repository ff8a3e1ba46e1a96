/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  SQL functions that kernels compute, beside operators and casts.
 *
 * Which these are, base/builtins.c says.  Each is made of casts, arithmetic, and calls of the device library
 * (program/functions.h).  Their other arguments, such as the field of extract(), must be constants.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "functions.h"

#include <float.h>

#include "catalog/pg_type.h"
#include "common/int.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "../base/builder.h"
#include "../base/builtins.h"
#include "instants.h"
#include "origin.h"
#include "../../columns/encode/pgkinds.h"
#include "../../columns/store/numeric.h"
#include "../../program/functions.h"

/* Numerics have at most this many decimals here. */
#define MAX_SCALE	38

/* Numerics are rounded to at most this power of ten. */
#define MAX_ZEROS	9

/* Floats as numerics: what is less than 10^-17 is 0 at this scale. */
#define MAX_FLOAT_SCALE	15

/* A precision that no value of 128 bits exceeds. */
#define ANY_PRECISION	1000

/*-------------------------------------------------------------------------
 * Constants
 *-------------------------------------------------------------------------
 */

/* value * 10^-scale */
static int
numeric_param(GcTranslation *tr, int64 value, int scale)
{
	Numeric		numeric = int64_div_fast_to_numeric(value, scale);

	return gc_build_param(tr, (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, NumericGetDatum(numeric),
												 false, false), GC_NUMERIC, GC_SPACE_NONE);
}

/* The timestamp 1970-01-01. */
static int
epoch_param(GcTranslation *tr)
{
	return gc_build_param(tr, (Expr *) makeConst(TIMESTAMPOID, -1, InvalidOid, sizeof(Timestamp),
												 TimestampGetDatum(SetEpochTimestamp()), false, FLOAT8PASSBYVAL),
						  GC_TIMESTAMP, GC_SPACE_NONE);
}

/* A call of the device's function, if its argument was not refused. */
static int
call(GcTranslation *tr, GcFunction function, GcKind kind, int a, int b)
{
	return a < 0 ? a : gc_build_expr(tr, GC_OP_CALL, kind, a, b, -1, function);
}

/*-------------------------------------------------------------------------
 * Fields of timestamps
 *-------------------------------------------------------------------------
 */

/* An integer as extract() returns it, a numeric of that many decimals; or as date_part() does. */
static int
field_result(GcTranslation *tr, const FuncExpr *f, int e, int scale)
{
	if (e < 0)
		return e;
	if (f->funcresulttype == FLOAT8OID)
	{
		e = gc_build_cast(tr, e, GC_FLOAT8);
		return e < 0 || scale == 0 ? e
			: gc_build_expr(tr, GC_OP_DIV, GC_FLOAT8, e, gc_build_float8(tr, scale == 6 ? 1e6 : 1e3), -1, -1);
	}
	e = gc_build_cast(tr, e, GC_NUMERIC);
	return e < 0 || scale == 0 ? e
		: gc_build_expr(tr, GC_OP_MUL, GC_NUMERIC, e, numeric_param(tr, 1, scale), -1, -1);
}

/* extract() and date_part() of a timestamp. */
static int
translate_field(GcTranslation *tr, const FuncExpr *f, int arg)
{
	const Const *name = gc_constant(f->args, 0);
	int			what = name ? gc_field_named(name) : -1;
	int			function = gc_field_call(what);

	/* That is infinite, too, which numerics here cannot be. */
	if (((function >= 0 && gc_functions[function].infinite == GC_INFINITE_ASKED) || what == DTK_EPOCH) &&
		gc_may_be_infinite(tr, arg))
		return gc_refuse(tr, "years or seconds of infinite timestamps are wanted");
	if (function >= 0)
		return field_result(tr, f, call(tr, function, GC_INT4, arg, -1), 0);
	/* date_part() adds seconds and their fraction as floats. */
	if ((what == DTK_SECOND || what == DTK_MILLISEC) && f->funcresulttype == NUMERICOID)
		return field_result(tr, f, call(tr, GC_CALL_USEC, GC_INT4, arg, -1), what == DTK_SECOND ? 6 : 3);
	if (what == DTK_EPOCH)
		return field_result(tr, f, gc_build_expr(tr, GC_OP_SUB, GC_INT8, arg, epoch_param(tr), -1, -1), 6);
	return gc_refuse(tr, "this field of a timestamp is not supported");
}

/* extract() of a date, of which there are too many for a lookup table: a column with 9999-12-31, say. */
static int
translate_date_field(GcTranslation *tr, const FuncExpr *f, int arg)
{
	const Const *name = gc_constant(f->args, 0);

	if (name == NULL || !gc_is_date_field(gc_field_named(name)))
		return gc_refuse(tr, "this field of a date is not supported");
	if (!gc_is_too_wide(tr, arg))
		return gc_refuse(tr, "a field of a date is tabulated");
	arg = gc_build_cast(tr, arg, GC_TIMESTAMP);
	return arg < 0 ? arg : translate_field(tr, f, arg);
}

/* The first or the last value of a type of instants or dates, which is infinite. */
static int
infinite_param(GcTranslation *tr, GcKind kind, bool last)
{
	const Datum value = kind == GC_DATE ? DateADTGetDatum(last ? DATEVAL_NOEND : DATEVAL_NOBEGIN) :
		TimestampGetDatum(last ? DT_NOEND : DT_NOBEGIN);
	Const	   *c = kind == GC_DATE ? makeConst(DATEOID, -1, InvalidOid, sizeof(DateADT), value, false, true) :
		makeConst(kind == GC_TIMESTAMP ? TIMESTAMPOID : TIMESTAMPTZOID, -1, InvalidOid, sizeof(Timestamp), value, false,
				  FLOAT8PASSBYVAL);

	return gc_build_param(tr, (Expr *) c, kind, GC_SPACE_NONE);
}

/* isfinite(x): x > '-infinity' AND x < 'infinity'. */
static int
translate_isfinite(GcTranslation *tr, int arg)
{
	const GcKind kind = tr->pexprs[arg].kind;
	int			after = gc_build_expr(tr, GC_OP_GT, GC_BOOL, arg, infinite_param(tr, kind, false), -1, -1);
	int			before = gc_build_expr(tr, GC_OP_LT, GC_BOOL, arg, infinite_param(tr, kind, true), -1, -1);

	return gc_build_expr(tr, GC_OP_AND, GC_BOOL, after, before, -1, -1);
}

OpExpr *
gc_epoch_of_difference(const FuncExpr *f)
{
	const Const *name;
	OpExpr	   *op;

	/* date_part() adds days and the rest as floats. */
	if (f->funcid != F_EXTRACT_TEXT_INTERVAL)
		return NULL;
	name = gc_constant(f->args, 0);
	op = lsecond(f->args);
	if (name == NULL || gc_field_named(name) != DTK_EPOCH || !IsA(op, OpExpr))
		return NULL;
	set_opfuncid(op);
	return op->opfuncid == F_TIMESTAMP_MI ? op : NULL;
}

int
gc_translate_epoch(GcTranslation *tr, const FuncExpr *f, int a, int b)
{
	int			e;

	if (gc_may_be_infinite(tr, a) || gc_may_be_infinite(tr, b))
		return gc_refuse(tr, "differences of infinite timestamps are wanted");
	e = field_result(tr, f, gc_build_expr(tr, GC_OP_SUB, GC_INT8, a, b, -1, -1), 6);
	return tr->reason ? GC_NO_EXPR : e;
}

/* date_trunc() of a timestamp, by a constant field. */
static int
translate_date_trunc(GcTranslation *tr, const FuncExpr *f, int arg)
{
	const Const *name = gc_constant(f->args, 0);
	int			what = name ? gc_field_named(name) : -1;
	int			function = gc_trunc_call(what);

	if (what == DTK_MICROSEC)
		return arg;
	if (function < 0)
		return gc_refuse(tr, "this field of a timestamp is not supported");
	return call(tr, function, GC_TIMESTAMP, arg, -1);
}

/*-------------------------------------------------------------------------
 * Intervals
 *-------------------------------------------------------------------------
 */

/* Is the start of a bin before the origin in that bin?  In servers before 15.6 it was in the one before. */
static bool
bins_start_alike(void)
{
	static int64 bin = 0;

	if (bin == 0)
	{
		Interval	day = {.day = 1};

		bin = DatumGetTimestamp(DirectFunctionCall3(timestamp_bin, IntervalPGetDatum(&day),
													TimestampGetDatum(USECS_PER_DAY),
													TimestampGetDatum(2 * USECS_PER_DAY)));
	}
	return bin == USECS_PER_DAY;
}

int
gc_translate_date_bin(GcTranslation *tr, const FuncExpr *f, int ts, int origin)
{
	const Const *c = gc_constant(f->args, 0);
	Interval   *stride = c ? DatumGetIntervalP(c->constvalue) : NULL;
	int64		us;
	int			param;

	if (stride == NULL || stride->month != 0 || pg_mul_s64_overflow(stride->day, USECS_PER_DAY, &us) ||
		pg_add_s64_overflow(us, stride->time, &us))
		return gc_refuse(tr, "date_bin() has a width that is not constant, or has months");
	if (!bins_start_alike())
		return gc_refuse(tr, "date_bin() of this server differs");
	if (gc_may_be_infinite(tr, ts) || gc_may_be_infinite(tr, origin))
		return gc_refuse(tr, "date_bin() of infinite timestamps is wanted");
	param = gc_build_int8(tr, us);
	return param < 0 ? param : gc_build_expr(tr, GC_OP_CALL, tr->pexprs[ts].kind, param, ts, origin, GC_CALL_BIN);
}

/*-------------------------------------------------------------------------
 * Rounding, and others of numbers
 *-------------------------------------------------------------------------
 */

/* To tens, hundreds and so on: those are whole numbers of them. */
static int
round_to_tens(GcTranslation *tr, int arg, int zeros, uint8 flags)
{
	int64		unit = 1;
	int			e;

	for (int i = 0; i < zeros; i++)
		unit *= 10;
	e = gc_build_expr(tr, GC_OP_MUL, GC_NUMERIC, arg, numeric_param(tr, 1, zeros), -1, -1);
	e = gc_build_numeric_cast(tr, e, ANY_PRECISION, 0, flags);
	return gc_build_expr(tr, GC_OP_MUL, GC_NUMERIC, e, numeric_param(tr, unit, 0), -1, -1);
}

/* round(), trunc(), floor(), ceil() of numeric.  flags: GC_CAST_DOWN, GC_CAST_UP. */
static int
translate_rounding(GcTranslation *tr, const FuncExpr *f, int arg, uint8 flags)
{
	const Const *digits = list_length(f->args) == 2 ? gc_constant(f->args, 1) : NULL;
	int			scale = digits ? DatumGetInt32(digits->constvalue) : 0;

	if ((list_length(f->args) == 2 && digits == NULL) || scale < -MAX_ZEROS || scale > MAX_SCALE)
		return gc_refuse(tr, "a numeric is rounded to this number of digits");
	return scale < 0 ? round_to_tens(tr, arg, -scale, flags)
		: gc_build_numeric_cast(tr, arg, ANY_PRECISION, scale, flags);
}

bool
gc_rounds_float(const FuncExpr *f)
{
	const FuncExpr *cast = f->args ? linitial(f->args) : NULL;
	const uint8 how = gc_builtin(f->funcid)->how;

	return (how == GC_HOW_TYPMOD || how == GC_HOW_ROUND) && IsA(cast, FuncExpr) &&
		gc_builtin(cast->funcid)->how == GC_HOW_FLOAT_AS_NUMERIC;
}

bool
gc_rounds_parsed(const FuncExpr *f)
{
	const FuncExpr *parsed = f->args ? linitial(f->args) : NULL;
	const uint8 how = gc_builtin(f->funcid)->how;

	return (how == GC_HOW_TYPMOD || how == GC_HOW_ROUND || how == GC_HOW_WHOLE) &&
		(IsA(parsed, CoerceViaIO) || (IsA(parsed, FuncExpr) && parsed->funcid == F_NUMERIC_JSONB));
}

int
gc_translate_rounded_float(GcTranslation *tr, const FuncExpr *f, int arg)
{
	const bool	of_type = gc_builtin(f->funcid)->how == GC_HOW_TYPMOD;
	const bool	cut = gc_builtin(f->funcid)->with != 0;
	const Const *value = list_length(f->args) == 2 ? gc_constant(f->args, 1) : NULL;
	const int	number = value ? DatumGetInt32(value->constvalue) : 0;
	const int	scale = !of_type ? number : number >= (int32) VARHDRSZ ? gc_typmod_scale(number, 0) : -1;
	const int	digits = tr->pexprs[arg].kind == GC_FLOAT4 ? FLT_DIG : DBL_DIG;
	int			e;

	if ((list_length(f->args) == 2 && value == NULL) || scale < 0 || scale > MAX_FLOAT_SCALE)
		return gc_refuse(tr, "a float is rounded to this number of digits");
	e = gc_build_expr(tr, GC_OP_CALL, GC_INT8, gc_build_cast(tr, arg, GC_FLOAT8), gc_build_int8(tr, digits),
					  gc_build_int8(tr, scale), cut ? GC_CALL_FLOAT_CUT : GC_CALL_FLOAT_ROUND);
	e = gc_build_cast(tr, e, GC_NUMERIC);
	if (scale > 0)
		e = gc_build_expr(tr, GC_OP_MUL, GC_NUMERIC, e, numeric_param(tr, 1, scale), -1, -1);
	if (of_type)
		e = gc_build_numeric_cast(tr, e, ((number - VARHDRSZ) >> 16) & 0xffff, scale, 0);
	return tr->reason ? GC_NO_EXPR : e;
}

/* sign() of numeric: CASE WHEN x > 0 THEN 1 WHEN x < 0 THEN -1 ELSE 0 END. */
static int
translate_numeric_sign(GcTranslation *tr, int arg)
{
	int			zero = numeric_param(tr, 0, 0);
	int			above = gc_build_expr(tr, GC_OP_GT, GC_BOOL, arg, zero, -1, -1);
	int			below = gc_build_expr(tr, GC_OP_LT, GC_BOOL, arg, zero, -1, -1);
	int			known = gc_build_expr(tr, GC_OP_EQ, GC_BOOL, arg, zero, -1, -1);
	int			e = gc_build_null(tr, GC_NUMERIC);

	e = gc_build_expr(tr, GC_OP_IF, GC_NUMERIC, known, zero, e, -1);
	e = gc_build_expr(tr, GC_OP_IF, GC_NUMERIC, below, numeric_param(tr, -1, 0), e, -1);
	return gc_build_expr(tr, GC_OP_IF, GC_NUMERIC, above, numeric_param(tr, 1, 0), e, -1);
}

/* numeric(numeric, typmod): the length coercion of numeric(p,s). */
static int
translate_typmod(GcTranslation *tr, const FuncExpr *f, int arg)
{
	const Const *value = gc_constant(f->args, 1);
	int32		typmod = value ? DatumGetInt32(value->constvalue) : 0;
	int			scale;

	if (value == NULL)
		return gc_refuse(tr, "a numeric is cast to a precision that is not constant");
	if (typmod < (int32) VARHDRSZ)
		return arg;
	scale = gc_typmod_scale(typmod, 0);
	if (scale < 0)
		return gc_refuse(tr, "numeric with a negative scale is not supported");
	return gc_build_numeric_cast(tr, arg, ((typmod - VARHDRSZ) >> 16) & 0xffff, scale, 0);
}

/*-------------------------------------------------------------------------
 * Times, intervals, and timestamps with a time zone
 *-------------------------------------------------------------------------
 */

/* A field of a time or an interval, both microseconds: how often `unit` is in what is left of them by `of`; 0: all. */
static int
units(GcTranslation *tr, int arg, int64 of, int64 unit)
{
	int			e = arg;

	if (of > 0)
		e = gc_build_expr(tr, GC_OP_MOD, GC_INT8, e, gc_build_int8(tr, of), -1, -1);
	return gc_build_expr(tr, GC_OP_DIV, GC_INT8, e, gc_build_int8(tr, unit), -1, -1);
}

/* interval_part(): a year has a quarter of a day more than its days, a month 30 days. */
static int
epoch_of_age(GcTranslation *tr, int age)
{
	const int64 parts[][3] = {{0, 12 * GC_AGE_MONTH, USECS_PER_DAY / 4 * 1461}, {12 * GC_AGE_MONTH, GC_AGE_MONTH, 30 * USECS_PER_DAY}};
	int			e = gc_build_expr(tr, GC_OP_MOD, GC_INT8, age, gc_build_int8(tr, GC_AGE_MONTH), -1, -1);

	for (int i = 0; i < lengthof(parts); i++)
	{
		int			part = units(tr, age, parts[i][0], parts[i][1]);

		part = gc_build_expr(tr, GC_OP_MUL, GC_INT8, part, gc_build_int8(tr, parts[i][2]), -1, -1);
		e = gc_build_expr(tr, GC_OP_ADD, GC_INT8, e, part, -1, -1);
	}
	return e;
}

/* Those fields of an age that other intervals here do not have, or have otherwise. */
static int
translate_age_field(GcTranslation *tr, const FuncExpr *f, int arg, int what)
{
	static const struct
	{
		int			field;
		int64		of;
		int64		unit;
	}			fields[] = {
		{DTK_MILLENNIUM, 0, 12000}, {DTK_CENTURY, 0, 1200}, {DTK_DECADE, 0, 120}, {DTK_YEAR, 0, 12}, {DTK_MONTH, 12, 1},
	};

	for (int i = 0; i < lengthof(fields); i++)
	{
		if (fields[i].field == what)
			return field_result(tr, f, units(tr, arg, fields[i].of * GC_AGE_MONTH, fields[i].unit * GC_AGE_MONTH), 0);
	}
	if (what == DTK_DAY)
		return field_result(tr, f, units(tr, arg, GC_AGE_MONTH, USECS_PER_DAY), 0);
	/* date_part() adds them up as floats. */
	if (what == DTK_EPOCH && f->funcresulttype == NUMERICOID)
		return field_result(tr, f, epoch_of_age(tr, arg), 6);
	return gc_refuse(tr, "this field of an interval is not supported");
}

/* A field of a time, an interval or an age, where their microseconds say it all. */
static int
translate_time_field(GcTranslation *tr, const FuncExpr *f, int arg)
{
	const Const *name = gc_constant(f->args, 0);
	int			what = name ? gc_field_named(name) : -1;
	bool		age = tr->pexprs[arg].kind == GC_AGE;
	bool		interval = tr->pexprs[arg].kind == GC_INTERVAL || age;
	bool		numeric = f->funcresulttype == NUMERICOID;

	if (age && what != DTK_HOUR && what != DTK_MINUTE && what != DTK_SECOND && what != DTK_MILLISEC &&
		what != DTK_MICROSEC)
		return translate_age_field(tr, f, arg, what);
	if (what == DTK_DAY && interval)
		return field_result(tr, f, units(tr, arg, 0, USECS_PER_DAY), 0);
	if (what == DTK_HOUR)
		return field_result(tr, f, units(tr, arg, interval ? USECS_PER_DAY : 0, USECS_PER_HOUR), 0);
	if (what == DTK_MINUTE)
		return field_result(tr, f, units(tr, arg, USECS_PER_HOUR, USECS_PER_MINUTE), 0);
	if (what == DTK_MICROSEC)
		return field_result(tr, f, units(tr, arg, USECS_PER_MINUTE, 1), 0);
	/* date_part() adds seconds and their fraction, and days, as floats. */
	if ((what == DTK_SECOND || what == DTK_MILLISEC) && numeric)
		return field_result(tr, f, units(tr, arg, USECS_PER_MINUTE, 1), what == DTK_SECOND ? 6 : 3);
	if (what == DTK_EPOCH && (numeric || !interval))
		return field_result(tr, f, units(tr, arg, 0, 1), 6);
	return gc_refuse(tr,
					 interval ? "this field of an interval is not supported" : "this field of a time is not supported");
}

/* The time of day of a timestamp. */
static int
translate_time(GcTranslation *tr, int arg)
{
	int			day = gc_may_be_infinite(tr, arg) ? gc_refuse(tr, "the time of day of infinite timestamps is wanted") :
		call(tr, GC_CALL_TRUNC_DAY, GC_TIMESTAMP, arg, -1);

	return gc_build_expr(tr, GC_OP_SUB, GC_TIME, arg, day, -1, -1);
}

/* A call that takes or makes a timestamptz. */
static int
translate_zoned(GcTranslation *tr, const FuncExpr *f, const GcBuiltin *b, int arg)
{
	Expr	   *zone = b->zone == GC_ZONE_OF_SESSION ? NULL : list_nth(f->args, b->zone == GC_ZONE_FIRST ? 0 : 2);
	const Const *name = list_length(f->args) > 1 ? gc_constant(f->args, 0) : NULL;
	int			local;

	if (b->how == GC_HOW_INSTANT)
		return gc_build_instant(tr, gc_build_cast(tr, arg, GC_TIMESTAMP), zone);
	/* The epoch is the same in all zones. */
	if (b->how == GC_HOW_FIELD && name && gc_field_named(name) == DTK_EPOCH)
		return translate_field(tr, f, arg);
	local = gc_build_local(tr, arg, zone);
	if (local < 0)
		return local;
	switch (b->how)
	{
		case GC_HOW_FIELD:
			return translate_field(tr, f, local);
		case GC_HOW_TRUNCATE:
			/* timestamptz_trunc() asks for the offset of what it has made of days and more. */
			if (name == NULL || gc_truncates_to_date(gc_field_named(name)))
				return gc_build_instant(tr, translate_date_trunc(tr, f, local), zone);
			local = translate_date_trunc(tr, f, local);
			return local < 0 ? local :
				gc_build_expr(tr, GC_OP_SUB, GC_TIMESTAMPTZ, local, gc_build_offset(tr, arg, zone), -1, -1);
		case GC_HOW_TIME_OF_DAY:
			return translate_time(tr, local);
		case GC_HOW_DATE:
			return gc_build_cast(tr, local, GC_DATE);
		default:				/* GC_HOW_LOCAL */
			return local;
	}
}

/* Does this server round as PostgreSQL 15 does?  It was changed in a later version. */
static bool
rounds_once(void)
{
	static int	bucket = 0;

	/* 49 * 1 / 49 is 1, and 49 * (1 / 49) less than that. */
	if (bucket == 0)
		bucket = DatumGetInt32(DirectFunctionCall4(width_bucket_float8, Float8GetDatum(1), Float8GetDatum(0),
												   Float8GetDatum(49), Int32GetDatum(49)));
	return bucket == 2;
}

int
gc_translate_width_bucket(GcTranslation *tr, const int *args)
{
	int			at = gc_build_expr(tr, GC_OP_CALL, GC_FLOAT8, args[0], args[1], args[2], GC_CALL_BUCKET_AT);
	int			width = call(tr, GC_CALL_BUCKETS_WIDTH, GC_FLOAT8, args[1], args[2]);
	int			e = at < 0 || width < 0 ? GC_NO_EXPR : gc_build_expr(tr, GC_OP_CALL, GC_INT4, at, width, args[3],
																	 rounds_once() ? GC_CALL_BUCKET : GC_CALL_BUCKET_CUT);

	return tr->reason ? GC_NO_EXPR : e;
}

/* A function of one translated argument, by how the table of built-ins says that it is made. */
static int
translate_function(GcTranslation *tr, const FuncExpr *f, const GcBuiltin *b, int arg)
{
	if (b->zone != GC_ZONE_NONE)
		return translate_zoned(tr, f, b, arg);
	switch (b->how)
	{
		case GC_HOW_CALL:
			return call(tr, b->with, GC_FLOAT8, arg, -1);
		case GC_HOW_ABS:
			return gc_build_expr(tr, GC_OP_ABS, tr->pexprs[arg].kind, arg, -1, -1, -1);
		case GC_HOW_SIGN:
			return translate_numeric_sign(tr, arg);
		case GC_HOW_ROUND:
		case GC_HOW_WHOLE:
			return translate_rounding(tr, f, arg, b->with);
		case GC_HOW_TYPMOD:
			return translate_typmod(tr, f, arg);
		case GC_HOW_FIELD:
			return translate_field(tr, f, arg);
		case GC_HOW_DATE_FIELD:
			return translate_date_field(tr, f, arg);
		case GC_HOW_TIME_FIELD:
			return translate_time_field(tr, f, arg);
		case GC_HOW_TRUNCATE:
			return translate_date_trunc(tr, f, arg);
		case GC_HOW_TIME_OF_DAY:
			return translate_time(tr, arg);
		default:				/* GC_HOW_FINITE */
			return translate_isfinite(tr, arg);
	}
}

int
gc_translate_function(GcTranslation *tr, const FuncExpr *f, int arg)
{
	int			e = translate_function(tr, f, gc_builtin(f->funcid), arg);

	/* A part may have been refused. */
	return tr->reason ? GC_NO_EXPR : e;
}
