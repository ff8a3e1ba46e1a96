/*-------------------------------------------------------------------------
 *
 * interval.c
 *	  Intervals as 64-bit integers: microseconds.
 *
 * PostgreSQL keeps months, days and a time apart, and compares their total: a month is 30 days, a day 24 hours.  So
 * equal intervals can differ.  Intervals that have a form here do not.  They have no months, less than a day of time,
 * and days and time of one sign, as the difference of two timestamps.
 *
 * Runs in backends and loaders.
 *
 *-------------------------------------------------------------------------
 */
#include "pgkinds.h"

#include "common/int.h"

#define MONTH_DAYS	30			/* interval_cmp_value() */

bool
gc_interval_to_int64(const Interval *interval, int64 *us)
{
	int64		days;

	if (interval->month != 0 || interval->time <= -USECS_PER_DAY || interval->time >= USECS_PER_DAY ||
		(interval->day > 0 && interval->time < 0) || (interval->day < 0 && interval->time > 0))
		return false;
	return !pg_mul_s64_overflow(interval->day, USECS_PER_DAY, &days) &&
		!pg_add_s64_overflow(days, interval->time, us);
}

bool
gc_interval_compared(const Interval *interval, int64 *us)
{
	int64		days = (int64) interval->month * MONTH_DAYS + interval->day;

	return !pg_mul_s64_overflow(days, USECS_PER_DAY, &days) && !pg_add_s64_overflow(days, interval->time, us);
}

Interval *
gc_int64_to_interval(int64 us)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->day = us / USECS_PER_DAY;
	interval->time = us % USECS_PER_DAY;
	return interval;
}

Interval *
gc_age_to_interval(int64 age)
{
	Interval   *interval = gc_int64_to_interval(age % GC_AGE_MONTH);

	interval->month = age / GC_AGE_MONTH;
	return interval;
}
