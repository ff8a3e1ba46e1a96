/*-------------------------------------------------------------------------
 *
 * missing.c
 *	  How long it takes to load columns that are not in the cache, and whether they fit beside what is in use.
 *
 * Runs in backends, in the planner and at execution.
 *
 *-------------------------------------------------------------------------
 */
#include "missing.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "directory.h"
#include "evict.h"
#include "store.h"
#include "../settings.h"

/* What a load takes for a page, a row, and a value; measured, in microseconds. */
#define PAGE_US			1.0
#define ROW_US			0.08
#define WORD_US			0.02
#define NUMERIC_US		0.05
#define TEXT_US			0.08
#define NEW_TEXT_US		1.5		/* that is new to the dictionary, and has its place in every order */

/* Pages that keep a loader worker busy long enough to be worth its start. */
#define PAGES_PER_LOADER	4096

/* Most columns take less than their kind's usual bytes. */
#define USUAL_PART		0.75

/*
 * A load pushes out only columns that were not used for IDLE_LOADS times as long as it takes, and for LEAST_IDLE_MS.  So where queries' columns do not fit together, loads take a part of the time at most.
 */
#define IDLE_LOADS		8
#define LEAST_IDLE_MS	5000

/* What may be too large is tried where so much of the cache is free, or idle. */
#define NEARLY_ALL		0.9

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

static double
column_us(Relation rel, const GcColSpec *spec, double rows)
{
	if (GC_KIND_IS_CODE(spec->kind))
		return rows * TEXT_US + gc_analyzed_values(rel, spec->attnum, rows) * NEW_TEXT_US;
	return rows * (spec->typid == NUMERICOID ? NUMERIC_US : WORD_US);
}

static double
load_us(Relation rel, double us_of_columns, double rows, BlockNumber pages)
{
	double		loaders = Min(1 + gc_loader_workers, 1 + pages / PAGES_PER_LOADER);

	return (pages * PAGE_US + rows * ROW_US + us_of_columns) / loaders;
}

bool
gc_missing_add(Relation rel, int ncols, const GcColSpec *specs, GcMissing *missing)
{
	const GcDirectory *dir = gc_directory(rel);
	double		rows = Max(rel->rd_rel->reltuples, 0);
	double		us = 0;
	bool		lacking = dir == NULL;

	for (int c = 0; c < ncols; c++)
	{
		if (specs[c].attnum <= 0 || (dir && gc_directory_column(dir, &specs[c]) >= 0))
			continue;
		lacking = true;
		us += column_us(rel, &specs[c], rows);
		missing->bytes += rows * gc_kinds[specs[c].kind].usual_bytes * USUAL_PART;
	}
	if (lacking)
		missing->ms += load_us(rel, us, rows, RelationGetNumberOfBlocks(rel)) / 1000;
	return lacking;
}

bool
gc_missing_would_thrash(const GcMissing *missing)
{
	const double idle_ms = Max(IDLE_LOADS * missing->ms, LEAST_IDLE_MS);
	const double need = Min(missing->bytes, NEARLY_ALL * gc_store_capacity());

	return need > gc_store_room(GetCurrentTimestamp() - (TimestampTz) (idle_ms * 1000));
}
