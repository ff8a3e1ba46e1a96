/*-------------------------------------------------------------------------
 *
 * missing.h
 *	  How long it takes to load columns that are not in the cache, and whether they fit beside those in use.
 *	  And what is known of one that is (seen.c), for the planner.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MISSING_H
#define GC_MISSING_H

#include "postgres.h"

#include "utils/relcache.h"

#include "../store/columns.h"

/* So many cached columns of a query are told from others; of more than these only the total size is known. */
#define GC_MISSING_PRESENT	64

typedef struct GcPresent
{
	Size		bytes;
	TimestampTz used;
} GcPresent;

/* Columns of a query that its tables lack; begins as zeros. */
typedef struct GcMissing
{
	double		ms;				/* to load missing columns */
	double		bytes;			/* that missing columns will take, but for those that are being loaded already */
	double		known;			/* the part of these that earlier loads or files have told */
	int			in_vain;		/* how often lately a column of it was loaded in vain (store/ghosts.h) */
	TimestampTz failed_at;		/* when its last load failed; 0: it did not */
	double		present_bytes;	/* of its columns that are there */
	int			npresent;
	GcPresent	present[GC_MISSING_PRESENT];
	int			ncounted;
	struct
	{
		Oid			relid;
		AttrNumber	attnum;		/* 0: the part that all columns of the table share */
	}			counted[GC_MISSING_PRESENT];	/* a table may be read several times */
} GcMissing;

/* Estimates are rough: a wait for a load must pay by this factor. */
#define GC_WAIT_FACTOR	1.3

/* Is it sooner to wait for loads, and take `ms` then, than to have another plan answer? */
static inline bool
gc_worth_waiting(double load_ms, double ms, double other_ms)
{
	return ms + GC_WAIT_FACTOR * load_ms < other_ms;
}

/* Add those of these columns that the cache lacks; true if it lacks any, or has no directory.  With a guard. */
extern bool gc_missing_add(Relation rel, int ncols, const GcColSpec *specs, GcMissing *missing);

/* Note a use of those of these columns that are there.  With a guard. */
extern void gc_missing_keep(Relation rel, int ncols, const GcColSpec *specs);

/* Distinct values of a column, by ANALYZE's statistics; 0: there are none. */
extern double gc_analyzed_values(Relation rel, AttrNumber attnum, double rows);

typedef enum GcLoadRoom
{
	GC_ROOM_FITS,
	GC_ROOM_RESERVED,			/* it would fit, but for other loads that go on */
	GC_ROOM_TAKEN,				/* a load would push out columns that other queries use, or failed lately */
	GC_ROOM_NEVER				/* it is known not to fit the cache */
} GcLoadRoom;

/*
 * Is there room for the missing columns?  A load that pushes out columns in use would be pushed out by their next load
 * itself.  Unknown sizes are estimated: whether columns fit at all is for a load to find out, and is remembered.
 *
 * waits: the query is to wait for its columns.  Then recent use protects only from columns that were in vain lately:
 * queries that do not fit together push out each other once.
 */
extern GcLoadRoom gc_missing_room(const GcMissing *missing, bool waits);

/* Ask that, and reserve room where it fits, or in any case (store/reserve.h). */
extern GcLoadRoom gc_missing_reserve(const GcMissing *missing, bool waits);
extern void gc_missing_reserve_anyway(const GcMissing *missing);

/* May a load begin in the background now?  GC_ROOM_FITS only. */
#define gc_missing_fits(missing)	(gc_missing_room(missing, false) == GC_ROOM_FITS)

typedef struct GcSeenColumn
{
	bool		any;			/* it is cached and has values, so that the range holds */
	int64		min;			/* raw values; of texts, codes */
	int64		max;
	double		values;			/* texts: entries of the dictionary; by ANALYZE if it is not cached */
} GcSeenColumn;

/* Is a column cached, of a table that is locked by this statement?  It may change until execution.  Takes a guard. */
extern bool gc_column_seen(Oid relid, int16 attnum, GcSeenColumn *seen);

#endif							/* GC_MISSING_H */
