/*-------------------------------------------------------------------------
 *
 * gc_calendar.h
 *	  Fields of timestamps, their truncation, months added to them, and ages.
 *
 * Dates are days and timestamps microseconds since 2000-01-01, finite ones; callers check that, but for functions with
 * a parameter `bad`.  The year 0 is 1 BC, as in PostgreSQL's j2date() and date2j().
 *
 * The server includes this file as well.  It defines GC_FN, GC_FN_ONCE and the names of gc_value.h before that.
 *
 *-------------------------------------------------------------------------
 */
#define GC_DAYS_OF_400_YEARS	146097
#define GC_DAYS_BEFORE_2000		730425	/* since 1 March of the year 0 */

typedef struct GcCivil
{
	i32			year;
	i32			month;
	i32			day;
} GcCivil;

/* Quotient rounded down; d > 0. */
GC_FN i64
gc_floor_div(i64 x, i64 d)
{
	const i64	q = x / d;

	return x - q * d < 0 ? q - 1 : q;
}

/* The day that a timestamp is in. */
GC_FN i32
gc_ts_day(i64 ts)
{
	return (i32) gc_floor_div(ts, GC_USECS_PER_DAY);
}

/* Microseconds since midnight. */
GC_FN i64
gc_ts_time(i64 ts)
{
	return ts - (i64) gc_ts_day(ts) * GC_USECS_PER_DAY;
}

/* j2date(): years begin in March here, so that a leap day is the last of its year. */
GC_FN_ONCE GcCivil
gc_civil(i32 date)
{
	const i64	days = (i64) date + GC_DAYS_BEFORE_2000;
	const i64	cycle = gc_floor_div(days, GC_DAYS_OF_400_YEARS);
	const i32	day = (i32) (days - cycle * GC_DAYS_OF_400_YEARS);
	const i32	year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	const i32	day_of_year = day - (365 * year + year / 4 - year / 100);
	const i32	month = (5 * day_of_year + 2) / 153;
	GcCivil		c;

	c.day = day_of_year - (153 * month + 2) / 5 + 1;
	c.month = month < 10 ? month + 3 : month - 9;
	c.year = (i32) (400 * cycle) + year + (c.month <= 2);
	return c;
}

/* date2j(), as days since 2000-01-01. */
GC_FN_ONCE i32
gc_civil_date(i32 year, i32 month, i32 day)
{
	const i64	y = (i64) year - (month <= 2);
	const i64	cycle = gc_floor_div(y, 400);
	const i32	of_cycle = (i32) (y - cycle * 400);
	const i32	day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return (i32) (cycle * GC_DAYS_OF_400_YEARS + of_cycle * 365 + of_cycle / 4 - of_cycle / 100 +
				  day_of_year - GC_DAYS_BEFORE_2000);
}

/* 0: Monday. */
GC_FN i32
gc_weekday(i32 date)
{
	const i64	since = (i64) date + 5; /* 2000-01-01 was a Saturday */

	return (i32) (since - gc_floor_div(since, 7) * 7);
}

/*
 * extract(): timestamp_part_common().  There is no year 0: years before 1 AD count from -1 down.
 */
GC_FN i32
gc_ts_year(i64 ts)
{
	const i32	year = gc_civil(gc_ts_day(ts)).year;

	return year > 0 ? year : year - 1;
}

GC_FN i32
gc_ts_decade(i64 ts)
{
	return (i32) gc_floor_div(gc_civil(gc_ts_day(ts)).year, 10);
}

GC_FN i32
gc_ts_century(i64 ts)
{
	const i32	year = gc_civil(gc_ts_day(ts)).year;

	return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
}

GC_FN i32
gc_ts_millennium(i64 ts)
{
	const i32	year = gc_civil(gc_ts_day(ts)).year;

	return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
}

GC_FN i32
gc_ts_quarter(i64 ts)
{
	return (gc_civil(gc_ts_day(ts)).month - 1) / 3 + 1;
}

GC_FN i32
gc_ts_month(i64 ts)
{
	return gc_civil(gc_ts_day(ts)).month;
}

GC_FN i32
gc_ts_mday(i64 ts)
{
	return gc_civil(gc_ts_day(ts)).day;
}

GC_FN i32
gc_ts_dow(i64 ts)
{
	return (gc_weekday(gc_ts_day(ts)) + 1) % 7;
}

GC_FN i32
gc_ts_isodow(i64 ts)
{
	return gc_weekday(gc_ts_day(ts)) + 1;
}

GC_FN i32
gc_ts_doy(i64 ts)
{
	const i32	date = gc_ts_day(ts);

	return date - gc_civil_date(gc_civil(date).year, 1, 1) + 1;
}

/* date2isoyear(), date2isoweek(): a week belongs to the year that its Thursday is in. */
GC_FN i32
gc_ts_isoyear(i64 ts)
{
	const i32	date = gc_ts_day(ts);
	const i32	year = gc_civil(date - gc_weekday(date) + 3).year;

	return year > 0 ? year : year - 1;
}

GC_FN i32
gc_ts_week(i64 ts)
{
	const i32	date = gc_ts_day(ts);
	const i32	thursday = date - gc_weekday(date) + 3;

	return (thursday - gc_civil_date(gc_civil(thursday).year, 1, 1)) / 7 + 1;
}

GC_FN i32
gc_ts_hour(i64 ts)
{
	return (i32) (gc_ts_time(ts) / 3600000000LL);
}

GC_FN i32
gc_ts_minute(i64 ts)
{
	return (i32) (gc_ts_time(ts) / 60000000 % 60);
}

/* Microseconds since the minute began. */
GC_FN i32
gc_ts_usec(i64 ts)
{
	return (i32) (gc_ts_time(ts) % 60000000);
}

/* date_trunc(): timestamp_trunc(). */
GC_FN i64
gc_ts_of(i32 year, i32 month, i32 day)
{
	return (i64) gc_civil_date(year, month, day) * GC_USECS_PER_DAY;
}

GC_FN i64
gc_ts_trunc_millennium(i64 ts)
{
	const i32	year = gc_civil(gc_ts_day(ts)).year;

	return gc_ts_of(year > 0 ? (year + 999) / 1000 * 1000 - 999 : -((999 - (year - 1)) / 1000) * 1000 + 1, 1, 1);
}

GC_FN i64
gc_ts_trunc_century(i64 ts)
{
	const i32	year = gc_civil(gc_ts_day(ts)).year;

	return gc_ts_of(year > 0 ? (year + 99) / 100 * 100 - 99 : -((99 - (year - 1)) / 100) * 100 + 1, 1, 1);
}

GC_FN i64
gc_ts_trunc_decade(i64 ts)
{
	const i32	year = gc_civil(gc_ts_day(ts)).year;

	return gc_ts_of(year > 0 ? year / 10 * 10 : -((8 - (year - 1)) / 10) * 10, 1, 1);
}

GC_FN i64
gc_ts_trunc_year(i64 ts)
{
	return gc_ts_of(gc_civil(gc_ts_day(ts)).year, 1, 1);
}

GC_FN i64
gc_ts_trunc_quarter(i64 ts)
{
	const GcCivil c = gc_civil(gc_ts_day(ts));

	return gc_ts_of(c.year, (c.month - 1) / 3 * 3 + 1, 1);
}

GC_FN i64
gc_ts_trunc_month(i64 ts)
{
	const GcCivil c = gc_civil(gc_ts_day(ts));

	return gc_ts_of(c.year, c.month, 1);
}

GC_FN i64
gc_ts_trunc_week(i64 ts)
{
	const i32	date = gc_ts_day(ts);

	return (i64) (date - gc_weekday(date)) * GC_USECS_PER_DAY;
}

GC_FN i64
gc_ts_trunc_day(i64 ts)
{
	return (i64) gc_ts_day(ts) * GC_USECS_PER_DAY;
}

GC_FN i64
gc_ts_trunc_hour(i64 ts)
{
	return gc_floor_div(ts, 3600000000LL) * 3600000000LL;
}

GC_FN i64
gc_ts_trunc_minute(i64 ts)
{
	return gc_floor_div(ts, 60000000) * 60000000;
}

GC_FN i64
gc_ts_trunc_second(i64 ts)
{
	return gc_floor_div(ts, 1000000) * 1000000;
}

GC_FN i64
gc_ts_trunc_millisecond(i64 ts)
{
	return gc_floor_div(ts, 1000) * 1000;
}

/* The first moment behind all timestamps. */
#define GC_TS_TOO_LATE	9223371331200000000LL

/* timestamp_pl_interval(), the months of it: the day is at most the month's last. */
GC_FN_ONCE i64
gc_ts_add_months(i64 ts, i32 months)
{
	const GcCivil c = gc_civil(gc_ts_day(ts));
	const i64	month = (i64) c.year * 12 + (c.month - 1) + months;
	const i32	year = (i32) gc_floor_div(month, 12);
	const i32	first = gc_civil_date(year, (i32) (month - (i64) year * 12) + 1, 1);
	const i32	next = gc_civil_date((i32) gc_floor_div(month + 1, 12),
									 (i32) (month + 1 - gc_floor_div(month + 1, 12) * 12) + 1, 1);

	/* Out of range, as days may have no room any more: millions of years from now they would be valid ones again. */
	if (year < -5000 || year > 294276)
		return GC_TS_TOO_LATE;
	return (i64) (c.day <= next - first ? first + c.day - 1 : next - 1) * GC_USECS_PER_DAY + gc_ts_time(ts);
}

/* How many days the month has that a day is in. */
GC_FN i32
gc_month_days(GcCivil c)
{
	return gc_civil_date(c.month < 12 ? c.year : c.year + 1, c.month < 12 ? c.month + 1 : 1, 1) -
		gc_civil_date(c.year, c.month, 1);
}

/* TIMESTAMP_NOT_FINITE(). */
GC_FN i32
gc_ts_infinite(i64 ts)
{
	return ts == 0x7fffffffffffffffLL || ts == -0x7fffffffffffffffLL - 1;
}

/*
 * age(): timestamp_age().  The fields' differences, of which a negative one takes from the next; days take
 * those of the month that the earlier timestamp is in.  As microseconds, with months of 31 days, since there
 * are at most 30 beside them; so each age is a number of its own.  Notes bad if it has no room.
 *
 * back: is instant a before b?  Their local times may have the other order where clocks are put back.  The age's
 * parts differ in sign then: bad.
 */
GC_FN_ONCE i64
gc_ts_age(i64 a, i64 b, i32 back, i32 *bad)
{
	const i64	from = back ? a : b;
	const i64	to = back ? b : a;
	const GcCivil x = gc_civil(gc_ts_day(from));
	const GcCivil y = gc_civil(gc_ts_day(to));
	i64			months = ((i64) y.year - x.year) * 12 + (y.month - x.month);
	i32			days = y.day - x.day;
	i64			time = gc_ts_time(to) - gc_ts_time(from);

	if (time < 0)
	{
		time += GC_USECS_PER_DAY;
		days--;
	}
	if (days < 0)
	{
		days += gc_month_days(x);
		months--;
	}
	*bad |= gc_ts_infinite(a) | gc_ts_infinite(b) | (months > 3440000) | (from > to);
	if (months > 3440000)
		return 0;
	time += (months * 31 + days) * GC_USECS_PER_DAY;
	return back ? -time : time;
}

/*
 * date_bin(): timestamp_bin(), as it is where the start of a bin belongs to that bin on both sides of the origin.
 * Notes bad where that raises an error, or an argument is infinite.
 */
GC_FN i64
gc_ts_bin(i64 stride, i64 ts, i64 origin, i32 *bad)
{
	const i64	distance = (i64) ((u64) ts - (u64) origin);
	const i32	wrong = stride <= 0 || gc_ts_infinite(ts) || gc_ts_infinite(origin) || (ts >= origin) != (distance >= 0);
	const i64	over = wrong ? 0 : distance % stride;
	const i64	bin = (i64) ((u64) ts - (u64) (over < 0 ? over + stride : over));

	*bad |= wrong || bin < -211813488000000000LL || bin > ts;	/* MIN_TIMESTAMP */
	return bin;
}
