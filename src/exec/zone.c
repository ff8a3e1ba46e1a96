/*-------------------------------------------------------------------------
 *
 * zone.c
 *	  What a time zone does on each day, counted in UTC: its offset as the day begins and ends, and when that changes.
 *
 * A kernel makes a local time of these three.  They are found as timestamp2tm() finds an offset, so that local times
 * are PostgreSQL's for every instant.  A zone that changes its offset twice on a day, if there is one, is left to
 * PostgreSQL.  Only days before a change, and days with one, are looked at.
 *
 * The tables are shared, as are those of expressions that depend on a time zone.  They are known by all that the zone
 * does, not by its name.  What the server has of a zone may be another thing tomorrow, and a
 * session keeps what it read.
 *
 * Runs in backends.  The hashes of a few zones are kept, each from when it is whole; PostgreSQL never gives up a pg_tz.
 *
 *-------------------------------------------------------------------------
 */
#include "compute.h"

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* Days from 1970-01-01 to 2000-01-01. */
#define EPOCH_DAYS	(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/*
 * A zone's changes from the first day of timestamps until 2570 say all that it does.  Its file lists changes of some 70
 * years from now at most, and rules go on from there, and repeat after 400 years.
 */
#define FIRST_SECOND	((pg_time_t) (DATETIME_MIN_JULIAN - UNIX_EPOCH_JDATE) * SECS_PER_DAY)
#define LAST_SECOND		((pg_time_t) 600 * 31556952)

#define KEPT_ZONES	8

typedef struct KeptZone
{
	pg_tz	   *tz;				/* NULL: none yet */
	GcHash		hash;
} KeptZone;

static KeptZone kept_zones[KEPT_ZONES];
static uint32 next_kept = 0;

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

/*
 * Where a zone changes something next after `at`, and its offsets before and from there; *boundary is
 * PG_INT64_MAX if it does no more.
 */
static bool
find_change(pg_tz *tz, pg_time_t at, pg_time_t *boundary, long *before, long *after)
{
	int			before_dst,
				after_dst;
	int			found = pg_next_dst_boundary(&at, before, &before_dst, boundary, after, &after_dst, tz);

	/* At the very last change that it has listed, a zone does not say that its rules go on. */
	if (found == 0)
	{
		at++;
		found = pg_next_dst_boundary(&at, before, &before_dst, boundary, after, &after_dst, tz);
	}
	if (found == 0)
	{
		*boundary = PG_INT64_MAX;
		*after = *before;
	}
	return found >= 0;
}

/* A day by its start; false: it cannot be told by these three. */
static bool
look_at_day(pg_tz *tz, pg_time_t start, ZoneDay *day)
{
	pg_time_t	at = start;
	long		before,
				offset;
	int			changes = 0;

	day->change = start;
	if (!offset_at(tz, start, &day->before))
		return false;
	day->after = day->before;
	for (;;)
	{
		if (!find_change(tz, at, &day->steady, &before, &offset))
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

/* One of the three values that are known of a day in a time zone, in microseconds. */
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

/*-------------------------------------------------------------------------
 * Which zone
 *-------------------------------------------------------------------------
 */

/* All changes: when, and the offsets that PostgreSQL may find on both sides. */
static bool
hash_changes(pg_tz *tz, pg_cryptohash_ctx *ctx)
{
	pg_time_t	at = FIRST_SECOND;

	while (at < LAST_SECOND)
	{
		pg_time_t	boundary;
		long		offset,
					before,
					after;
		int64		change[4];

		if (!offset_at(tz, at, &offset) || !find_change(tz, at, &boundary, &before, &after))
			return false;
		change[0] = offset;
		change[1] = before;
		change[2] = boundary;
		change[3] = after;
		if (pg_cryptohash_update(ctx, (const uint8 *) change, sizeof(change)) < 0)
			return false;
		at = boundary;
	}
	return true;
}

/* A user may make up a zone, and must not be able to make two with equal hashes. */
static bool
hash_zone(pg_tz *tz, GcHash *hash)
{
	pg_cryptohash_ctx *ctx = pg_cryptohash_create(PG_SHA256);
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	bool		ok;

	ok = ctx && pg_cryptohash_init(ctx) >= 0 && hash_changes(tz, ctx) &&
		pg_cryptohash_final(ctx, digest, sizeof(digest)) >= 0;
	pg_cryptohash_free(ctx);
	if (ok)
		memcpy(hash, digest, sizeof(GcHash));
	return ok;
}

/* The time zone that a table is of; NULL: there is none of that name. */
static pg_tz *
zone_of(const GcBinding *b, const GcPlanLut *lut)
{
	if (lut->type != GC_LUT_ZONE || lut->expr < 0)
		return session_timezone;
	return pg_tzset(TextDatumGetCString(b->node->values[lut->expr]));
}

bool
gc_zone_hash(const GcBinding *b, const GcPlanLut *lut, GcHash *hash)
{
	pg_tz	   *tz = zone_of(b, lut);

	for (int i = 0; i < KEPT_ZONES; i++)
	{
		if (tz && kept_zones[i].tz == tz)
		{
			*hash = kept_zones[i].hash;
			return true;
		}
	}
	if (tz == NULL || !hash_zone(tz, hash))
		return false;
	kept_zones[next_kept++ % KEPT_ZONES] = (KeptZone) {tz, *hash};
	return true;
}

/*-------------------------------------------------------------------------
 * Its tables
 *-------------------------------------------------------------------------
 */

GcCode
gc_compute_zone(const GcLookupWork *w, GcLookup *l)
{
	pg_tz	   *tz = zone_of(w->b, w->lut);
	ZoneDay		day = {.steady = PG_INT64_MIN};

	if (tz == NULL)
		return gc_fail(&w->b->err, GC_UNSUPPORTED, "There is no such time zone.");
	for (uint32 i = l->first; i < l->count; i++)
	{
		const pg_time_t start = (l->base + i - 1 + EPOCH_DAYS) * SECS_PER_DAY;

		l->nulls[i - l->first] = i == 0;
		l->values[i - l->first] = 0;
		if (i == 0)
			continue;
		if (!go_on(tz, start, &day))
			return gc_fail(&w->b->err, GC_UNSUPPORTED, "Time zone %s changes its offset from UTC twice on a day.",
						   pg_get_timezone_name(tz));
		l->values[i - l->first] = part_of(&day, w->lut->rank);
	}
	return GC_OK;
}
