/*-------------------------------------------------------------------------
 *
 * zone.c
 *	  What a time zone does on each day, counted in UTC: its offset as the day begins and ends, and when that changes.
 *
 * A kernel makes a local time of these three.  They are found as timestamp2tm() finds an offset, so that local times are
 * PostgreSQL's for every instant.  A zone that changes its offset twice on a day, if there is one, is left to PostgreSQL.
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
} ZoneDay;

static bool
offset_at(pg_tz *tz, pg_time_t at, long *offset)
{
	struct pg_tm *tm = pg_localtime(&at, tz);

	if (tm)
		*offset = tm->tm_gmtoff;
	return tm != NULL;
}

/* A day since 2000-01-01; false: it cannot be told by these three. */
static bool
look_at_day(pg_tz *tz, int64 number, ZoneDay *day)
{
	const pg_time_t start = (number + EPOCH_DAYS) * SECS_PER_DAY;
	pg_time_t	at = start;
	pg_time_t	boundary;
	long		before,
				after;
	int			before_dst,
				after_dst;
	int			changes = 0;

	day->change = start;
	if (!offset_at(tz, start, &day->before))
		return false;
	day->after = day->before;
	for (;;)
	{
		const int	found = pg_next_dst_boundary(&at, &before, &before_dst, &boundary, &after, &after_dst, tz);

		if (found < 0)
			return false;
		if (found == 0 || boundary >= start + SECS_PER_DAY)
			break;
		if (after != day->after && changes++ > 0)
			return false;
		if (after != day->after)
			day->change = boundary;
		day->after = after;
		at = boundary;
	}
	return offset_at(tz, start + SECS_PER_DAY - 1, &before) && before == day->after &&
		(changes == 0 || (offset_at(tz, day->change - 1, &before) && before == day->before));
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

	if (tz == NULL)
		return gc_fail(&w->b->err, GC_UNSUPPORTED, "There is no such time zone.");
	l->nulls[0] = true;
	l->values[0] = 0;
	for (uint32 i = 1; i < l->count; i++)
	{
		ZoneDay		day;

		if (!look_at_day(tz, l->base + i - 1, &day))
			return gc_fail(&w->b->err, GC_UNSUPPORTED, "Time zone %s changes its offset from UTC twice on a day.",
						   pg_get_timezone_name(tz));
		l->nulls[i] = false;
		l->values[i] = part_of(&day, w->lut->rank);
	}
	return GC_OK;
}
