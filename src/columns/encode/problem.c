/*-------------------------------------------------------------------------
 *
 * problem.c
 *	  Columns that could not be cached: when is it worth trying again?
 *
 * Runs in backends and loaders, under a guard.  A column with a problem has no cells, so its queries are
 * PostgreSQL's.
 *
 * A row with an offending value was on an all-visible page.  When the row is removed, the page loses its bit.  VACUUM
 * sets the bit again, and that moves the LSN of the map page.  While no such LSN changes, nothing is tried.  A load that
 * fails again puts off the next one by ten times its duration.  So such loads take at most a tenth of the time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "common/hashfn.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "../store/columns.h"
#include "../store/epoch.h"
#include "problem.h"
#include "../../settings.h"

/* A load that meets the problem again puts off the next one by this many times its own time. */
#define VAIN_FACTOR		10

const char *
gc_problem_text(GcColProblem problem)
{
	switch (problem)
	{
		case GC_COL_OK:
			return NULL;
		case GC_COL_MANY_VALUES:
			return "too many distinct values";
		case GC_COL_NUMERIC_SPECIAL:
			return "numeric value is NaN or infinite";
		case GC_COL_NUMERIC_DIGITS:
			return "numeric value has more than 36 digits, decimals included: give the column a type such as numeric(18,6)";
		case GC_COL_NUMERIC_SCALE:
			return "numeric values have different scales and too many digits: give the column a type such as numeric(18,6)";
		case GC_COL_VALUE_TOO_LONG:
			return "text value is too long";
		case GC_COL_INTERVAL_FORM:
			return "interval with months or 24 hours";
		case GC_COL_ZONE_RANGE:
			return "time zone is more than 18 hours from UTC";
	}
	return "unknown";
}

/* The LSN of a page of the map; *vbuf is kept pinned from call to call. */
static XLogRecPtr
map_page_lsn(Relation rel, BlockNumber mapblock, Buffer *vbuf)
{
	XLogRecPtr	lsn;

	(void) visibilitymap_get_status(rel, mapblock * GC_HEAPBLOCKS_PER_MAPPAGE, vbuf);
	if (!BufferIsValid(*vbuf))
		return InvalidXLogRecPtr;
	LockBuffer(*vbuf, BUFFER_LOCK_SHARE);
	lsn = PageGetLSN(BufferGetPage(*vbuf));
	LockBuffer(*vbuf, BUFFER_LOCK_UNLOCK);
	return lsn;
}

uint64
gc_map_stamp(Relation rel)
{
	Buffer		vbuf = InvalidBuffer;
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	uint64		stamp = 0;

	for (BlockNumber m = 0; m <= nblocks / GC_HEAPBLOCKS_PER_MAPPAGE; m++)
		stamp = hash_combine64(stamp, map_page_lsn(rel, m, &vbuf));
	if (BufferIsValid(vbuf))
		ReleaseBuffer(vbuf);
	return stamp;
}

void
gc_retry_put_off(GcRetry *retry, TimestampTz started_at)
{
	TimestampTz now = GetCurrentTimestamp();

	retry->not_before = now + VAIN_FACTOR * Max(now - started_at, 0);
}

bool
gc_worth_retry(Relation rel, const GcDirectory *dir, int col)
{
	const GcDirColumn *column = &dir->columns[col];

	Assert(gc_guard_held());
	return column->problem != GC_COL_OK && GetCurrentTimestamp() >= column->retry.not_before &&
		gc_map_stamp(rel) != column->retry.stamp;
}
