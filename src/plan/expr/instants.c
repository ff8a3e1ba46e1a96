/*-------------------------------------------------------------------------
 *
 * instants.c
 *	  Differences of timestamps, intervals, ages, and time zones.
 *
 * A timestamptz becomes a timestamp by adding an offset.  Of a time zone that has a single one, as UTC has, it is a
 * parameter: what the zone makes of 2000-01-01 00:00 UTC.  The session's is looked at at each execution
 * (GcPlan.fixed_zone), since a plan may be kept.  Of other zones it is looked up by the date in UTC of a column
 * (GC_LUT_ZONE).  The way back has such an offset only where it is that of a known instant.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "instants.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/int.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "../base/builder.h"
#include "../base/builtins.h"
#include "origin.h"
#include "../../columns/encode/pgkinds.h"
#include "../../program/functions.h"

/* A day has less than 2^53 microseconds when multiplied by it. */
#define MOST_FACTOR	100000

#define CENTURY_DAYS	INT64CONST(36525)

/* From now: this many steps of centuries stay in the range of timestamps. */
#define MOST_STEPS	8

/* Dates before it are timestamps, too. */
#define SAFE_DATE	INT64CONST(100000 * 366)

/*-------------------------------------------------------------------------
 * Intervals
 *-------------------------------------------------------------------------
 */

bool
gc_is_time_arithmetic(GcTranslation *tr, GcOp what, GcKind result, int *a, int *b)
{
	GcKind		ka = tr->pexprs[*a].kind;
	GcKind		kb = tr->pexprs[*b].kind;

	if (result == GC_INTERVAL && (gc_may_be_infinite(tr, *a) || gc_may_be_infinite(tr, *b)))
	{
		gc_refuse(tr, "differences of infinite timestamps are wanted");
		return false;
	}
	if (result == GC_INTERVAL)
		return what == GC_OP_SUB && ka == kb && (ka == GC_TIMESTAMP || ka == GC_TIMESTAMPTZ);
	/* The interval has no months: days and time are added in microseconds. */
	if (result != GC_TIMESTAMP || !(what == GC_OP_ADD || (what == GC_OP_SUB && kb == GC_INTERVAL)))
		return false;
	if ((kb == GC_INTERVAL && (ka == GC_TIMESTAMP || ka == GC_DATE)) || (kb == GC_TIME && ka == GC_DATE))
		*a = gc_build_cast(tr, *a, GC_TIMESTAMP);
	else if ((ka == GC_INTERVAL && (kb == GC_TIMESTAMP || kb == GC_DATE)) || (ka == GC_TIME && kb == GC_DATE))
		*b = gc_build_cast(tr, *b, GC_TIMESTAMP);
	else
		return false;
	return true;
}

/* A float that an interval times it is exact in all parts, as the product of a day's microseconds is. */
static bool
is_factor(const Expr *expr)
{
	const Const *c = (const Const *) expr;
	double		value;

	if (!IsA(expr, Const) || c->consttype != FLOAT8OID || c->constisnull)
		return false;
	value = DatumGetFloat8(c->constvalue);
	return value >= -MOST_FACTOR && value <= MOST_FACTOR && rint(value) == value;
}

GcOp
gc_span_operator(const OpExpr *op, Expr **args)
{
	Expr	   *inner[2];
	const GcBuiltin *b = gc_builtin(IsA(op, OpExpr) && exprType((Node *) op) == INTERVALOID ? get_opcode(op->opno)
									: InvalidOid);

	if (b->how == GC_HOW_SPAN)
	{
		args[0] = list_length(op->args) == 2 ? linitial(op->args) : NULL;
		args[1] = llast(op->args);
		return b->with;
	}
	if (b->how != GC_HOW_PRODUCT)
		return 0;
	args[0] = list_nth(op->args, b->with - 1);
	args[1] = list_nth(op->args, 2 - b->with);
	/* A sum of intervals may have a time of many days, which a float need not be exact for. */
	return is_factor(args[1]) && contain_var_clause((Node *) args[0]) &&
		gc_span_operator((OpExpr *) args[0], inner) == 0 ? GC_OP_MUL : 0;
}

/* Is it a constant interval, and not NULL? */
static bool
is_interval(const Expr *expr)
{
	return IsA(expr, Const) && ((const Const *) expr)->consttype == INTERVALOID && !((const Const *) expr)->constisnull;
}

Expr *
gc_comparable_interval(Expr *expr)
{
	int64		us;

	if (!is_interval(expr) || !gc_interval_compared(DatumGetIntervalP(((Const *) expr)->constvalue), &us))
		return expr;
	return (Expr *) makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
							  IntervalPGetDatum(gc_int64_to_interval(us)), false, false);
}

const char *
gc_interval_refusal(const Expr *expr)
{
	int64		us;

	if (!is_interval(expr) || gc_interval_to_int64(DatumGetIntervalP(((const Const *) expr)->constvalue), &us))
		return NULL;
	return "an interval has months, or 24 hours or more beside its days";
}

/* A number of days, or an interval, of at most a century. */
static bool
is_short(const Node *arg)
{
	const Const *c = (const Const *) arg;
	const Interval *i;

	if (!IsA(arg, Const) || c->constisnull || (c->consttype != INT4OID && c->consttype != INTERVALOID))
		return false;
	if (c->consttype == INT4OID)
		return DatumGetInt32(c->constvalue) >= -CENTURY_DAYS && DatumGetInt32(c->constvalue) <= CENTURY_DAYS;
	i = DatumGetIntervalP(c->constvalue);
	return i->month >= -1200 && i->month <= 1200 && i->day >= -CENTURY_DAYS && i->day <= CENTURY_DAYS &&
		i->time >= -CENTURY_DAYS * USECS_PER_DAY && i->time <= CENTURY_DAYS * USECS_PER_DAY;
}

/* A date or timestamp that is made of today's or now, and centuries beside it at most: a cast of it is in range. */
static bool
is_near_now(const Node *node, int depth)
{
	List	   *args;
	const GcBuiltin *b = gc_builtin_called(node, &args);

	if (IsA(node, SQLValueFunction))
		return true;
	if (depth == 0)
		return false;
	switch (b->near)
	{
		case GC_NEAR_NOW:
			return true;
		case GC_NEAR_FIRST:
			return is_near_now(linitial(args), depth - 1);
		case GC_NEAR_SECOND:
			return is_near_now(lsecond(args), depth - 1);
		case GC_NEAR_IF_SHORT:
			return is_short(lsecond(args)) && is_near_now(linitial(args), depth - 1);
		default:
			return false;
	}
}

Expr *
gc_comparable_instant(Expr *expr, Oid other)
{
	Oid			type = exprType((Node *) expr);
	bool		now = is_near_now((Node *) expr, MOST_STEPS);

	if (other != TIMESTAMPTZOID || (type != DATEOID && type != TIMESTAMPOID))
		return expr;
	/* A cast could be out of range where the comparison is not. */
	if (!now && !(IsA(expr, Const) && !((Const *) expr)->constisnull))
		return expr;
	if (!now && type == DATEOID && (DATE_NOT_FINITE(DatumGetDateADT(((Const *) expr)->constvalue)) ||
									DatumGetDateADT(((Const *) expr)->constvalue) > SAFE_DATE))
		return expr;
	if (!now && type == TIMESTAMPOID && DatumGetTimestamp(((Const *) expr)->constvalue) > SAFE_DATE * USECS_PER_DAY)
		return expr;
	return (Expr *) makeFuncExpr(type == DATEOID ? F_TIMESTAMPTZ_DATE : F_TIMESTAMPTZ_TIMESTAMP, TIMESTAMPTZOID,
								 list_make1(expr), InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST);
}

/*-------------------------------------------------------------------------
 * Intervals that are added
 *-------------------------------------------------------------------------
 */

/* make_interval() of one argument that is not constant, an integer, beside zeros. */
static bool
is_made(const FuncExpr *f, GcScaledInterval *interval)
{
	static const Interval units[] = {{.month = 12}, {.month = 1}, {.day = 7}, {.day = 1}, {.time = USECS_PER_HOUR}, {.time = USECS_PER_MINUTE}};
	ListCell   *lc;

	interval->factor = NULL;
	interval->exact = true;
	foreach(lc, f->args)
	{
		const Const *c = lfirst(lc);
		const int	i = foreach_current_index(lc);

		if (!IsA(c, Const))
		{
			if (interval->factor != NULL || i >= lengthof(units))
				return false;
			interval->factor = (Expr *) c;
			interval->unit = units[i];
		}
		else if (c->constisnull ||
				 (i < lengthof(units) ? DatumGetInt32(c->constvalue) != 0 : DatumGetFloat8(c->constvalue) != 0))
			return false;
	}
	return interval->factor != NULL;
}

/* A product of a constant interval, or make_interval(). */
static bool
is_scaled(const Expr *expr, GcScaledInterval *interval)
{
	List	   *args;
	const GcBuiltin *b = gc_builtin_called((const Node *) expr, &args);
	Const	   *unit;
	FuncExpr   *cast;

	if (b->how == GC_HOW_MAKE_INTERVAL)
		return is_made((const FuncExpr *) expr, interval);
	if (b->how != GC_HOW_PRODUCT || !IsA(expr, OpExpr))
		return false;
	unit = list_nth(args, b->with - 1);
	if (!is_interval((Expr *) unit))
		return false;
	interval->unit = *DatumGetIntervalP(unit->constvalue);
	interval->factor = list_nth(args, 2 - b->with);
	interval->exact = false;
	/* The rest of a fraction of a day or month goes over to the next lower part. */
	cast = (FuncExpr *) interval->factor;
	if (IsA(cast, FuncExpr) && gc_builtin(cast->funcid)->how == GC_HOW_INT_AS_FLOAT)
		interval->factor = linitial(cast->args);
	return exprType((Node *) interval->factor) != FLOAT8OID || (interval->unit.month == 0 && interval->unit.day == 0);
}

bool
gc_adds_interval(const OpExpr *op, GcScaledInterval *interval)
{
	Expr	   *added;

	if (list_length(op->args) != 2)
		return false;
	added = lsecond(op->args);
	set_opfuncid((OpExpr *) op);
	if (gc_builtin(op->opfuncid)->how != GC_HOW_ADD_INTERVAL)
		return false;
	if (!is_interval(added))
		return is_scaled(added, interval);
	*interval = (GcScaledInterval) {.unit = *DatumGetIntervalP(((Const *) added)->constvalue),.exact = true};
	return true;
}

/* A part of the unit, so many times; GC_NO_EXPR: there is none. */
static int
scaled_part(GcTranslation *tr, int64 part, int factor)
{
	if (part == 0)
		return GC_NO_EXPR;
	return factor < 0 ? gc_build_int8(tr, part) :
		gc_build_expr(tr, GC_OP_MUL, GC_INT8, gc_build_cast(tr, factor, GC_INT8), gc_build_int8(tr, part), -1, -1);
}

/* interval_mul() rounds products of floats. */
static int
scaled_time(GcTranslation *tr, const GcScaledInterval *interval, int factor)
{
	if (interval->exact || interval->unit.time == 0)
		return scaled_part(tr, interval->unit.time, factor);
	return gc_build_cast(tr, gc_build_expr(tr, GC_OP_MUL, GC_FLOAT8, gc_build_cast(tr, factor, GC_FLOAT8),
										   gc_build_float8(tr, (double) interval->unit.time), -1, -1), GC_INT8);
}

/* time_pl_interval(): of the interval only the time counts, and the result is within a day. */
static int
add_to_time(GcTranslation *tr, int a, int time, bool minus)
{
	const int	day = gc_build_int8(tr, USECS_PER_DAY);

	a = time < 0 ? a : gc_build_expr(tr, minus ? GC_OP_SUB : GC_OP_ADD, GC_INT8, a, time, -1, -1);
	a = gc_build_expr(tr, GC_OP_MOD, GC_INT8, a, day, -1, -1);
	a = gc_build_expr(tr, GC_OP_ADD, GC_INT8, a, day, -1, -1);
	return gc_build_expr(tr, GC_OP_MOD, GC_TIME, a, day, -1, -1);
}

/*
 * Does a sum leave out parts of the product?  So it would know neither that the factor is NULL, nor
 * that a part has no room.
 */
static bool
drops_factor(const Interval *unit, GcKind kind)
{
	if (kind == GC_TIME)
		return unit->time == 0 || unit->month != 0 || unit->day != 0;
	return unit->month == 0 && unit->day == 0 && unit->time == 0;
}

/* timestamp_pl_interval(): months, then days, then the rest, each within a timestamp's range. */
int
gc_translate_add_interval(GcTranslation *tr, const OpExpr *op, const GcScaledInterval *interval, int a, int factor)
{
	const Interval *unit = &interval->unit;
	bool		minus = gc_builtin(op->opfuncid)->with == GC_OP_SUB;
	bool		zoned = tr->pexprs[a].kind == GC_TIMESTAMPTZ;
	/* Days and months of a time zone. */
	bool		local = zoned && (unit->month != 0 || unit->day != 0);
	GcKind		kind = zoned && !local ? GC_TIMESTAMPTZ : GC_TIMESTAMP;
	int64		days;
	int			parts[2];
	int			e;

	if (pg_mul_s64_overflow(unit->day, USECS_PER_DAY, &days))
		return gc_refuse(tr, "an interval is out of range");
	if (factor >= 0 && drops_factor(unit, tr->pexprs[a].kind))
		return gc_refuse(tr, "of a product of an interval not all parts are added");
	if (tr->pexprs[a].kind == GC_TIME)
		return add_to_time(tr, a, scaled_time(tr, interval, factor), minus);
	e = local ? gc_build_local(tr, a, NULL) : gc_build_cast(tr, a, kind);
	if (unit->month != 0 && e >= 0)
	{
		int			months = gc_build_cast(tr, scaled_part(tr, minus ? -(int64) unit->month : unit->month, factor),
										   GC_INT4);

		e = months < 0 ? months : gc_build_expr(tr, GC_OP_CALL, GC_TIMESTAMP, e, months, -1, GC_CALL_ADD_MONTHS);
	}
	parts[0] = scaled_part(tr, days, factor);
	parts[1] = scaled_time(tr, interval, factor);
	for (int i = 0; i < lengthof(parts) && e >= 0; i++)
	{
		if (parts[i] >= 0)
			e = gc_build_expr(tr, minus ? GC_OP_SUB : GC_OP_ADD, kind, e, parts[i], -1, -1);
	}
	if (local)
		e = gc_build_instant(tr, e, NULL);
	return tr->reason ? GC_NO_EXPR : e;
}

bool
gc_scales_days(const Expr *expr, GcScaledInterval *interval)
{
	return is_scaled(expr, interval) && interval->unit.month == 0 && interval->unit.time == 0 &&
		contain_var_clause((Node *) interval->factor);
}

int
gc_translate_days(GcTranslation *tr, const GcScaledInterval *interval, int factor)
{
	int64		unit;

	if (pg_mul_s64_overflow(interval->unit.day, USECS_PER_DAY, &unit))
		return gc_refuse(tr, "an interval is out of range");
	return gc_build_expr(tr, GC_OP_MUL, GC_INTERVAL, gc_build_cast(tr, factor, GC_INT8), gc_build_int8(tr, unit), -1,
						 -1);
}

/*-------------------------------------------------------------------------
 * Ages
 *-------------------------------------------------------------------------
 */

bool
gc_is_age(const Expr *expr)
{
	const FuncExpr *f = (const FuncExpr *) expr;

	return IsA(expr, FuncExpr) && gc_builtin(f->funcid)->how == GC_HOW_AGE && contain_var_clause((Node *) f->args);
}

int
gc_translate_age(GcTranslation *tr, const FuncExpr *f, int a, int b)
{
	int			back;

	if (gc_may_be_infinite(tr, a) || gc_may_be_infinite(tr, b))
		return gc_refuse(tr, "ages of infinite timestamps are wanted");
	back = gc_build_expr(tr, GC_OP_LT, GC_BOOL, a, b, -1, -1);
	/* timestamptz_age() takes the fields of local times. */
	if (f->funcid == F_AGE_TIMESTAMPTZ_TIMESTAMPTZ)
	{
		a = gc_build_local(tr, a, NULL);
		b = gc_build_local(tr, b, NULL);
	}
	return a < 0 || b < 0 ? GC_NO_EXPR : gc_build_expr(tr, GC_OP_CALL, GC_AGE, a, b, back, GC_CALL_AGE);
}

/* interval_cmp_value(): a day of each month less. */
int
gc_age_span(GcTranslation *tr, int age)
{
	int			month = gc_build_int8(tr, GC_AGE_MONTH);
	int			day = gc_build_int8(tr, USECS_PER_DAY);
	int			months = age < 0 ? age : gc_build_expr(tr, GC_OP_DIV, GC_INT8, age, month, -1, -1);
	int			days = months < 0 ? months : gc_build_expr(tr, GC_OP_MUL, GC_INT8, months, day, -1, -1);

	return days < 0 ? days : gc_build_expr(tr, GC_OP_SUB, GC_INTERVAL, age, days, -1, -1);
}

/*-------------------------------------------------------------------------
 * Time zones
 *-------------------------------------------------------------------------
 */

/* Does a zone have a single offset? */
static bool
is_fixed(pg_tz *zone)
{
	long		offset;

	return zone && pg_get_timezone_offset(zone, &offset);
}

/* A zone's name; NULL: the session's. */
static const char *
zone_name(Expr *zone)
{
	return zone ? TextDatumGetCString(((Const *) zone)->constvalue) : pg_get_timezone_name(session_timezone);
}

/* Can local times of the zone be told when the statement begins?  No zone is the session's.  False: refused. */
static bool
is_constant_zone(GcTranslation *tr, Expr *zone)
{
	const Const *name = (Const *) zone;
	pg_tz	   *tz;

	if (zone == NULL)
		return true;
	if (!IsA(zone, Const) || name->consttype != TEXTOID || name->constisnull)
	{
		gc_refuse(tr, "a time zone is not constant");
		return false;
	}
	/* Its local times are more than an offset away from UTC.  The session's zone cannot be such a one. */
	tz = pg_tzset(zone_name(zone));
	if (tz && !pg_tz_acceptable(tz))
	{
		gc_refuse(tr, "time zone %s counts leap seconds", zone_name(zone));
		return false;
	}
	return true;
}

/* The only offset of a zone, as a parameter; GC_NO_EXPR with a reason. */
static int
offset_param(GcTranslation *tr, Expr *zone)
{
	Expr	   *zero = (Expr *) makeConst(TIMESTAMPTZOID, -1, InvalidOid, sizeof(TimestampTz), TimestampTzGetDatum(0),
										  false, FLOAT8PASSBYVAL);
	List	   *args = list_make1(zero);

	if (!is_constant_zone(tr, zone))
		return GC_NO_EXPR;
	if (!is_fixed(zone ? pg_tzset(zone_name(zone)) : session_timezone))
		return gc_refuse(tr, "time zone %s has several offsets from UTC", zone_name(zone));
	if (zone)
		args = lcons(zone, args);
	else
		tr->plan->fixed_zone = true;
	return gc_build_param(tr, (Expr *) makeFuncExpr(zone ? F_TIMEZONE_TEXT_TIMESTAMPTZ : F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID,
													args, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL),
						  GC_TIMESTAMP, GC_SPACE_NONE);
}

/* A lookup table by day: the zone's offset as the day begins or ends, or the instant at which it changes. */
static int
zone_table(GcTranslation *tr, int day, Expr *zone, GcZonePart part)
{
	GcPlanLut	lut = {.type = GC_LUT_ZONE,.space = GC_SPACE_NONE,.to_space = GC_SPACE_NONE,.expr = -1,.rank = part,
	.argtype = TIMESTAMPOID};

	if (day < 0)
		return day;
	if (zone)
		lut.expr = gc_exec_expr(tr, zone);
	return gc_build_lut(tr, day, part == GC_ZONE_CHANGE ? GC_TIMESTAMP : GC_INT8, &lut);
}

/* The offset of a zone that has several, at the instant of a column. */
static int
looked_up_offset(GcTranslation *tr, int e, Expr *zone)
{
	Expr	   *zero = (Expr *) makeConst(TIMESTAMPOID, -1, InvalidOid, sizeof(Timestamp), TimestampGetDatum(0), false,
										  FLOAT8PASSBYVAL);
	int			utc;
	int			day;
	int			changed;

	if (!gc_lookup_enumerable(tr, e))
		return gc_refuse(tr, "time zone %s has several offsets from UTC, and a timestamp is computed", zone_name(zone));
	if (gc_is_too_wide(tr, e))
		return gc_refuse(tr, "time zone %s has several offsets from UTC, and timestamps are infinite or of too many years", zone_name(zone));
	utc = gc_build_expr(tr, GC_OP_ADD, GC_TIMESTAMP, e, gc_build_param(tr, zero, GC_TIMESTAMP, GC_SPACE_NONE), -1, -1);
	day = gc_build_cast(tr, utc, GC_DATE);
	changed = gc_build_expr(tr, GC_OP_GE, GC_BOOL, utc, zone_table(tr, day, zone, GC_ZONE_CHANGE), -1, -1);
	return gc_build_expr(tr, GC_OP_IF, GC_INT8, changed, zone_table(tr, day, zone, GC_ZONE_AFTER),
						 zone_table(tr, day, zone, GC_ZONE_BEFORE), -1);
}

int
gc_build_offset(GcTranslation *tr, int e, Expr *zone)
{
	int			offset;

	if (e < 0 || !is_constant_zone(tr, zone))
		return GC_NO_EXPR;
	/* AT TIME ZONE takes CET and its like for abbreviations, which have a single offset. */
	if (is_fixed(zone ? pg_tzset(zone_name(zone)) : session_timezone) || (zone && strchr(zone_name(zone), '/') == NULL))
		return offset_param(tr, zone);
	offset = looked_up_offset(tr, e, zone);
	return tr->reason ? GC_NO_EXPR : offset;
}

int
gc_build_local(GcTranslation *tr, int e, Expr *zone)
{
	int			offset = gc_build_offset(tr, e, zone);

	return offset < 0 ? GC_NO_EXPR : gc_build_expr(tr, GC_OP_ADD, GC_TIMESTAMP, e, offset, -1, -1);
}

int
gc_build_instant(GcTranslation *tr, int e, Expr *zone)
{
	int			offset = e < 0 ? e : offset_param(tr, zone);

	return offset < 0 ? GC_NO_EXPR : gc_build_expr(tr, GC_OP_SUB, GC_TIMESTAMPTZ, e, offset, -1, -1);
}
