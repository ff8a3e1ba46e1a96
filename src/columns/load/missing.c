/*-------------------------------------------------------------------------
 *
 * missing.c
 *	  How long it takes to load columns that are not in the cache, and whether they fit beside those in use.
 *
 * Runs in backends, in the planner and at execution, and in loader workers.
 *
 *-------------------------------------------------------------------------
 */
#include "missing.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "../store/arena.h"
#include "../store/directory.h"
#include "disk.h"
#include "job.h"
#include "../../settings.h"
#include "../serve/visibility.h"
#include "../store/ghosts.h"
#include "../store/reserve.h"
#include "../store/store.h"

/* A load's time for a page, a row, and a value; measured, in microseconds. */
#define PAGE_US			1.0
#define ROW_US			0.08
#define WORD_US			0.02
#define NUMERIC_US		0.05
#define TEXT_US			0.08
#define NEW_TEXT_US		1.5		/* that is new to the dictionary, and has its place in every order */
#define FILE_US			0.015	/* of a value in a file, instead of all that */

/* Pages that keep a loader worker busy long enough to be worth its start. */
#define PAGES_PER_LOADER	4096

/* Most columns take less than their kind's usual bytes. */
#define USUAL_PART		0.75

/*
 * A load pushes out only columns that were not used for IDLE_LOADS times as long as it takes, and for LEAST_IDLE_MS.
 * So where queries' columns do not fit together, loads take a part of the time at most.  It doubles for each load that
 * was in vain lately.  So a cycle of queries that is larger than the cache comes to an end of loading.
 */
#define IDLE_LOADS		8
#define LEAST_IDLE_MS	5000

/* A load that may be too large is tried where so much of the cache is free, or idle. */
#define NEARLY_ALL		0.9

/* A page's part of a chunk, beside columns. */
#define PAGE_BYTES		24

double
gc_analyzed_values(Relation rel, AttrNumber attnum, double rows)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(RelationGetRelid(rel)), Int16GetDatum(attnum),
										BoolGetDatum(false));
	double		n;

	if (!HeapTupleIsValid(tuple))
		return 0;
	n = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct;
	ReleaseSysCache(tuple);
	return n < 0 ? -n * rows : n;
}

/* filed: the part of it that is in files. */
static double
column_us(Relation rel, const GcColSpec *spec, double rows, double filed)
{
	const double from_file = rows * filed * FILE_US;
	const double from_heap = rows * (1 - filed);

	if (GC_KIND_IS_CODE(spec->kind))
		return from_file + from_heap * TEXT_US + gc_analyzed_values(rel, spec->attnum, rows) * NEW_TEXT_US;
	return from_file + from_heap * (spec->typid == NUMERICOID ? NUMERIC_US : WORD_US);
}

/* filed: the part of the pages that need not be read. */
static double
load_us(double us_of_columns, double rows, BlockNumber pages, double filed)
{
	double		loaders = Min(1 + gc_loader_workers, 1 + pages / PAGES_PER_LOADER);

	return ((pages * PAGE_US + rows * ROW_US) * (1 - filed) + us_of_columns) / loaders;
}

/* The size of a chunk's columns is not known before it is read; as kinds usually are, by whole pages. */
static double
usual_bytes(const GcColSpec *spec, double rows, BlockNumber npages)
{
	const double nchunks = gc_chunk_count(npages);
	const double rows_each = nchunks > 0 ? ceil(rows / nchunks / GC_PAD_ROWS) * GC_PAD_ROWS : 0;

	return nchunks *
		gc_arena_bytes(sizeof(GcChunkColumn) + (Size) (rows_each * gc_kinds[spec->kind].usual_bytes * USUAL_PART));
}

/* Bytes of chunks beside their columns: where rows of a page begin, LSNs and the like. */
static double
chunks_bytes(BlockNumber npages)
{
	const double nchunks = gc_chunk_count(npages);

	return nchunks > 0 ? nchunks * gc_arena_bytes(sizeof(GcChunk) + (Size) (PAGE_BYTES * npages / nchunks)) : 0;
}

/* A column that is there must not go while others of the statement come. */
static void
add_present(GcMissing *missing, const GcDirColumn *column)
{
	missing->present_bytes += column->bytes;
	if (missing->npresent < GC_MISSING_PRESENT)
		missing->present[missing->npresent++] = (GcPresent) {column->bytes, pg_atomic_read_u64(&column->state->last_used)};
}

/* Is this column of a table, or the table (0), not counted yet?  Of more than the first ones all are. */
static bool
count_once(GcMissing *missing, Oid relid, AttrNumber attnum)
{
	for (int i = 0; i < missing->ncounted; i++)
	{
		if (missing->counted[i].relid == relid && missing->counted[i].attnum == attnum)
			return false;
	}
	if (missing->ncounted < GC_MISSING_PRESENT)
	{
		missing->counted[missing->ncounted].relid = relid;
		missing->counted[missing->ncounted++].attnum = attnum;
	}
	return true;
}

/* As the planner has it: it may have grown since it was analyzed, or was never analyzed. */
static double
estimated_rows(Relation rel)
{
	BlockNumber npages;
	double		rows;
	double		visible;

	estimate_rel_size(rel, NULL, &npages, &rows, &visible);
	return rows;
}

bool
gc_missing_add(Relation rel, int ncols, const GcColSpec *specs, GcMissing *missing)
{
	const GcDirectory *dir = gc_directory(rel);
	const double rows = estimated_rows(rel);
	const BlockNumber npages = RelationGetNumberOfBlocks(rel);
	double		us = 0;
	double		all_filed = -1;	/* of the columns that have the least; -1: none is missing */
	bool		lacking = dir == NULL;
	bool		loading = false;
	bool		again = false;
	GcRelKey	key;

	gc_rel_key(rel, &key);
	for (int c = 0; c < ncols; c++)
	{
		const int	have = dir && specs[c].attnum > 0 ? gc_directory_column(dir, &specs[c]) : -1;
		GcGhost		ghost;
		double		filed;
		double		known;

		if (specs[c].attnum > 0 && !count_once(missing, RelationGetRelid(rel), specs[c].attnum))
		{
			lacking |= have < 0;
			again = true;
			continue;
		}
		if (have >= 0 && dir->columns[have].problem == GC_COL_OK)
			add_present(missing, &dir->columns[have]);
		if (specs[c].attnum <= 0 || have >= 0)
			continue;
		lacking = true;
		filed = gc_disk_part(rel, &specs[c], npages, &known);
		all_filed = all_filed < 0 ? filed : Min(all_filed, filed);
		us += column_us(rel, &specs[c], rows, filed);
		if (gc_job_loads(&key, &specs[c]))
		{
			loading = true;
			continue;
		}
		ghost = gc_ghost_ask(&key, specs[c].attnum, npages);
		if (ghost.bytes > 0)
			known = ghost.bytes;
		missing->bytes += known > 0 ? known : usual_bytes(&specs[c], rows, npages);
		missing->known += known;
		missing->in_vain = Max(missing->in_vain, ghost.in_vain);
		missing->failed_at = Max(missing->failed_at, ghost.failed_at);
	}
	/* One load serves all that read the table. */
	if (lacking && (us > 0 || !again))
		missing->ms += load_us(us, rows, npages, Max(all_filed, 0)) / 1000;
	if (dir == NULL && !loading && count_once(missing, RelationGetRelid(rel), 0))
		missing->bytes += chunks_bytes(npages);
	return lacking;
}

void
gc_missing_keep(Relation rel, int ncols, const GcColSpec *specs)
{
	GcDirectory *dir = gc_directory(rel);

	for (int c = 0; c < ncols && dir; c++)
	{
		const int	have = specs[c].attnum > 0 ? gc_directory_column(dir, &specs[c]) : -1;

		if (have >= 0)
			gc_column_touch(dir, have);
	}
}

/* For so long a column must not have been used, that a load may push it out. */
static double
idle_ms(const GcMissing *missing, bool waits)
{
	if (waits && missing->in_vain == 0)
		return 0;
	return Max(IDLE_LOADS * missing->ms, LEAST_IDLE_MS) * (1 << missing->in_vain);
}

/*
 * Bytes that a load must find, as far as they are known.  A load that may be too large is tried with
 * nearly all of the cache.
 */
static double
needed(const GcMissing *missing)
{
	return Min(missing->bytes,
			   Max(missing->known, Max(NEARLY_ALL * (gc_store_capacity() - missing->present_bytes), 0)));
}

/* Bytes that are free, or that may be pushed out: none of the query's own. */
static double
found(const GcMissing *missing, bool waits, TimestampTz now)
{
	const TimestampTz since = gc_reserve_horizon(now - (TimestampTz) (idle_ms(missing, waits) * 1000));
	double		room = gc_store_room(since);

	for (int i = 0; i < missing->npresent; i++)
	{
		if (missing->present[i].used < since)
			room -= missing->present[i].bytes;
	}
	return Max(room, 0);
}

/* Is there room for the missing columns, free or by columns that may go? */
static GcLoadRoom
look_for_room(const GcMissing *missing, bool waits, double *room)
{
	const TimestampTz now = GetCurrentTimestamp();

	if (missing->known + missing->present_bytes > gc_store_capacity())
		return GC_ROOM_NEVER;
	if (missing->failed_at != 0 &&
		!TimestampDifferenceExceeds(missing->failed_at, now, LEAST_IDLE_MS << missing->in_vain))
		return GC_ROOM_TAKEN;
	*room = found(missing, waits, now);
	return needed(missing) > *room ? GC_ROOM_TAKEN : GC_ROOM_FITS;
}

GcLoadRoom
gc_missing_room(const GcMissing *missing, bool waits)
{
	double		room;
	const GcLoadRoom answer = look_for_room(missing, waits, &room);

	if (answer == GC_ROOM_FITS && needed(missing) + gc_reserved_by_others() > room)
		return GC_ROOM_RESERVED;
	return answer;
}

GcLoadRoom
gc_missing_reserve(const GcMissing *missing, bool waits)
{
	double		room;
	const GcLoadRoom answer = look_for_room(missing, waits, &room);

	if (answer == GC_ROOM_FITS && !gc_reserve(needed(missing), room))
		return GC_ROOM_RESERVED;
	return answer;
}

void
gc_missing_reserve_anyway(const GcMissing *missing)
{
	(void) gc_reserve(needed(missing), PG_INT64_MAX);
}
