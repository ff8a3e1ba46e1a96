/*-------------------------------------------------------------------------
 *
 * zone.c
 *	  What a time zone does on each day, counted in UTC: its offset as the day begins and ends, and when that changes.
 *
 * A kernel makes a local time of these three.  They are found as timestamp2tm() finds an offset, so that local times are
 * PostgreSQL's for every instant.  A zone that changes its offset twice on a day, if there is one, is left to PostgreSQL.
 * Each execution computes them, so only days before a change, and days with one, are looked at.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "zone.h"

#include "miscadmin.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* Days from 1970-01-01 to 2000-01-01. */
#define EPOCH_DAYS	(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/* Seconds since 1970. */
typedef struct ZoneDay
{
	long		before;
	long		after;
	pg_time_t	change;
	pg_time_t	steady;			/* `after` is the offset until then */
} ZoneDay;

static bool
offset_at(pg_tz *tz, pg_time_t at, long *offset)
{
	struct pg_tm *tm = pg_localtime(&at, tz);

	if (tm)
		*offset = tm->tm_gmtoff;
	return tm != NULL;
}

/* Where a zone changes something next after `at`, and its offset from there; *boundary is PG_INT64_MAX if it does no more. */
static bool
find_change(pg_tz *tz, pg_time_t at, pg_time_t *boundary, long *after)
{
	long		before;
	int			before_dst,
				after_dst;
	int			found = pg_next_dst_boundary(&at, &before, &before_dst, boundary, after, &after_dst, tz);

	/* At the very last change that it has listed, a zone does not say that its rules go on. */
	if (found == 0)
	{
		at++;
		found = pg_next_dst_boundary(&at, &before, &before_dst, boundary, after, &after_dst, tz);
	}
	if (found == 0)
		*boundary = PG_INT64_MAX;
	return found >= 0;
}

/* A day by its start; false: it cannot be told by these three. */
static bool
look_at_day(pg_tz *tz, pg_time_t start, ZoneDay *day)
{
	pg_time_t	at = start;
	long		offset;
	int			changes = 0;

	day->change = start;
	if (!offset_at(tz, start, &day->before))
		return false;
	day->after = day->before;
	for (;;)
	{
		if (!find_change(tz, at, &day->steady, &offset))
			return false;
		if (day->steady >= start + SECS_PER_DAY)
			break;
		if (offset != day->after && changes++ > 0)
			return false;
		if (offset != day->after)
			day->change = day->steady;
		day->after = offset;
		at = day->steady;
	}
	return offset_at(tz, start + SECS_PER_DAY - 1, &offset) && offset == day->after &&
		(changes == 0 || (offset_at(tz, day->change - 1, &offset) && offset == day->before));
}

/* The day after *day, which becomes that; false as above. */
static bool
go_on(pg_tz *tz, pg_time_t start, ZoneDay *day)
{
	if (start + SECS_PER_DAY > day->steady)
		return look_at_day(tz, start, day);
	day->before = day->after;
	day->change = start;
	return true;
}

static int64
part_of(const ZoneDay *day, GcZonePart part)
{
	switch (part)
	{
		case GC_ZONE_BEFORE:
			return day->before * USECS_PER_SEC;
		case GC_ZONE_AFTER:
			return day->after * USECS_PER_SEC;
		default:
			return (day->change - (int64) EPOCH_DAYS * SECS_PER_DAY) * USECS_PER_SEC;
	}
}

GcCode
gc_compute_zone(const GcLookupWork *w, GcLookup *l)
{
	const int	name = w->lut->expr;
	pg_tz	   *tz = name < 0 ? session_timezone : pg_tzset(TextDatumGetCString(w->b->node->values[name]));
	ZoneDay		day = {.steady = PG_INT64_MIN};

	if (tz == NULL)
		return gc_fail(&w->b->err, GC_UNSUPPORTED, "There is no such time zone.");
	l->nulls[0] = true;
	l->values[0] = 0;
	for (uint32 i = 1; i < l->count; i++)
	{
		const pg_time_t start = (l->base + i - 1 + EPOCH_DAYS) * SECS_PER_DAY;

		if (!go_on(tz, start, &day))
			return gc_fail(&w->b->err, GC_UNSUPPORTED, "Time zone %s changes its offset from UTC twice on a day.",
						   pg_get_timezone_name(tz));
		l->nulls[i] = false;
		l->values[i] = part_of(&day, w->lut->rank);
	}
	return GC_OK;
}
