/*-------------------------------------------------------------------------
 *
 * problem.c
 *	  Columns that could not be cached: when is it worth trying again?
 *
 * Runs in backends and loaders, under a guard.  A column with a problem has no
 * cells, so its queries are PostgreSQL's.  Its evidence says where the problem was met, and has the visibility map's
 * LSNs of that time.
 *
 * An offending row was on an all-visible page.  When the row is removed, the page loses
 * its bit.  VACUUM sets the bit again, and that moves the LSN of the map page.  While the
 * LSN does not change, nothing is tried.
 *
 * Where a single value is the problem, its page is known, and a look at that page tells
 * whether the value was removed.  So such a load fails again only if one such value was
 * removed and another one is left.
 *
 * Where several values together are the problem (scales, distinct values), any VACUUM might
 * have solved it.  A load that fails again puts off the next one by ten times its duration.  So
 * such loads take at most a tenth of the time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "common/hashfn.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "../store/columns.h"
#include "../store/dict.h"
#include "encode.h"
#include "../store/epoch.h"
#include "problem.h"
#include "reader.h"
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
gc_map_stamp(Relation rel, int32 chunk)
{
	Buffer		vbuf = InvalidBuffer;
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	uint64		stamp = 0;

	if (chunk >= 0)
		stamp = map_page_lsn(rel, chunk * (BlockNumber) gc_chunk_pages / GC_HEAPBLOCKS_PER_MAPPAGE, &vbuf);
	else
	{
		for (BlockNumber m = 0; m <= nblocks / GC_HEAPBLOCKS_PER_MAPPAGE; m++)
			stamp = hash_combine64(stamp, map_page_lsn(rel, m, &vbuf));
	}
	if (BufferIsValid(vbuf))
		ReleaseBuffer(vbuf);
	return stamp;
}

GcEvidence
gc_no_evidence(uint64 stamp)
{
	return (GcEvidence) {.chunk = -1, .block = InvalidBlockNumber, .stamp = stamp};
}

GcEvidence
gc_evidence(GcColProblem problem, int32 chunk, BlockNumber block, XLogRecPtr map_lsn)
{
	GcEvidence	evidence = {.chunk = chunk, .block = block, .stamp = map_lsn};

	Assert(problem != GC_COL_OK && problem != GC_COL_MANY_VALUES);
	/* With two scales in a chunk, it could be either page that is to change. */
	if (problem == GC_COL_NUMERIC_SCALE)
		evidence.block = InvalidBlockNumber;
	return evidence;
}

void
gc_evidence_put_off(GcEvidence *evidence, TimestampTz started_at)
{
	TimestampTz now = GetCurrentTimestamp();

	if (evidence->block == InvalidBlockNumber)
		evidence->not_before = now + VAIN_FACTOR * Max(now - started_at, 0);
}

/* Does this page still have a value that the column cannot take? */
static bool
page_has_problem(Relation rel, const GcColSpec *spec, BlockNumber block)
{
	MemoryContext context;
	MemoryContext old;
	GcReader   *reader;
	GcDictView *dict = NULL;
	XLogRecPtr	lsn;
	OffsetNumber missing[MaxOffsetNumber];
	uint32		nmissing;
	bool		result;

	if (block >= RelationGetNumberOfBlocks(rel))
		return false;

	context = AllocSetContextCreate(CurrentMemoryContext, "gpuconc problem", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	reader = gc_reader_create(rel, 1, spec);
	if (GC_KIND_IS_CODE(spec->kind))
		dict = gc_dict_view(NULL, spec->rtrim);
	gc_encoder_reset(gc_reader_encoder(reader), &dict);

	/* A page that is being written to is asked again once it is all-visible. */
	result = !gc_reader_add_page(reader, block, &lsn, missing, &nmissing) ||
		gc_encoder_problem(gc_reader_encoder(reader), 0) != GC_COL_OK;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return result;
}

bool
gc_worth_retry(Relation rel, const GcDirectory *dir, int col)
{
	const GcDirColumn *column = &dir->columns[col];
	const GcEvidence *evidence = &column->evidence;

	Assert(gc_guard_held());
	if (column->problem == GC_COL_OK || GetCurrentTimestamp() < evidence->not_before ||
		gc_map_stamp(rel, evidence->chunk) == evidence->stamp)
		return false;
	return evidence->block == InvalidBlockNumber ||
		!page_has_problem(rel, &column->spec, evidence->block);
}
