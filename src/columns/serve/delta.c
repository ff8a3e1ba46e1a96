/*-------------------------------------------------------------------------
 *
 * delta.c
 *	  Reading the rows of pages that are not served from chunks.
 *
 * Runs in backends.  Reads through the table access method, with the query's snapshot.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "../encode/encode.h"
#include "../store/arena.h"
#include "visibility.h"
#include "../../compat.h"

/* Begin or go on to the scan of one range of blocks of a heap. */
static TableScanDesc
scan_range(Relation rel, Snapshot snapshot, TableScanDesc scan, const GcBlockRange *range)
{
	ItemPointerData first;
	ItemPointerData last;

	ItemPointerSet(&first, range->first, FirstOffsetNumber);
	ItemPointerSet(&last, range->first + range->count - 1, MaxOffsetNumber);
	if (scan == NULL)
		return table_beginscan_tidrange(rel, snapshot, &first, &last);
	table_rescan_tidrange(scan, &first, &last);
	return scan;
}

typedef struct GcDelta
{
	Relation	rel;
	GcEncoder  *encoder;
	int			ncols;
	const GcColSpec *specs;
	AttrNumber	last;			/* greatest attnum among specs */
	int			number;			/* value of columns with a negative one */
	Datum	   *values;
	bool	   *isnull;
	TupleTableSlot *slot;
	TupleTableSlot *copied;		/* for tuples that are on no page */
} GcDelta;

/* Encode the tuple in the slot; false when it is time to give up. */
static bool
add_slot(GcDelta *delta, TupleTableSlot *slot)
{
	if (delta->last > 0)
		slot_getsomeattrs(slot, delta->last);
	for (int i = 0; i < delta->ncols; i++)
	{
		const AttrNumber attnum = delta->specs[i].attnum;

		delta->values[i] = attnum > 0 ? slot->tts_values[attnum - 1] : Int32GetDatum(delta->number);
		delta->isnull[i] = attnum > 0 ? slot->tts_isnull[attnum - 1] : attnum == 0;
	}
	gc_encoder_add(delta->encoder, delta->values, delta->isnull);

	/* The rows are to go into the arena in the end, and an encoder has limits. */
	return (gc_encoder_rows(delta->encoder) & 1023) != 0 ||
		(gc_encoder_memory(delta->encoder) <= gc_arena_size() &&
		 gc_encoder_rows(delta->encoder) < GC_ENCODER_MAX_ROWS);
}

/*
 * The tuples of a page that are to be read.  The snapshot sees them, so that they stay where they are, and the pin
 * keeps their bytes there.
 */
static bool
add_new_rows(GcDelta *delta, const GcServed *served, const GcNewRows *rows)
{
	HeapTupleData tuples[MaxHeapTuplesPerPage];
	Buffer		buffer;
	Page		page;
	bool		ok = true;

	if (rows->n == 0)
		return true;
	buffer = ReadBuffer(delta->rel, rows->block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	for (uint32 i = 0; i < rows->n; i++)
	{
		const OffsetNumber offset = served->offsets[rows->first + i];
		ItemId		item = PageGetItemId(page, offset);

		if (offset > PageGetMaxOffsetNumber(page) || !ItemIdIsNormal(item))
			elog(ERROR, "tuple %u of block %u is gone", offset, rows->block);
		tuples[i].t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuples[i].t_len = ItemIdGetLength(item);
		tuples[i].t_tableOid = RelationGetRelid(delta->rel);
		ItemPointerSet(&tuples[i].t_self, rows->block, offset);
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	for (uint32 i = 0; i < rows->n && ok; i++)
	{
		ExecStoreBufferHeapTuple(&tuples[i], delta->slot, buffer);
		ok = add_slot(delta, delta->slot);
	}
	ExecClearTuple(delta->slot);
	ReleaseBuffer(buffer);
	return ok;
}

/*
 * Add all rows of pages that no chunk serves, new rows of hot pages, and rows of no page.  False: it is time to
 * give up.
 */
static bool
add_ranges(GcDelta *delta, Snapshot snapshot, const GcServed *served)
{
	TableScanDesc scan = NULL;
	bool		ok = true;

	for (uint32 r = 0; ok && r < served->nranges; r++)
	{
		scan = scan_range(delta->rel, snapshot, scan, &served->ranges[r]);
		while (ok && table_scan_getnextslot_tidrange(scan, ForwardScanDirection, delta->slot))
		{
			CHECK_FOR_INTERRUPTS();
			ok = add_slot(delta, delta->slot);
		}
	}
	if (scan)
		table_endscan(scan);
	for (uint32 i = 0; ok && i < served->nnew; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ok = add_new_rows(delta, served, &served->new_rows[i]);
	}
	for (uint32 i = 0; ok && i < served->ntuples; i++)
	{
		ExecStoreHeapTuple(served->tuples[i], delta->copied, false);
		ok = add_slot(delta, delta->copied);
	}
	return ok;
}

/* All of a table in one piece, whatever its access method calls a block. */
static bool
add_table(GcDelta *delta, Snapshot snapshot)
{
	TableScanDesc scan = table_beginscan_strat(delta->rel, snapshot, 0, NULL, true, false);
	bool		ok = true;

	while (ok && table_scan_getnextslot(scan, ForwardScanDirection, delta->slot))
	{
		CHECK_FOR_INTERRUPTS();
		ok = add_slot(delta, delta->slot);
	}
	table_endscan(scan);
	return ok;
}

/* Read the delta without a trace in the table's counters of scans and rows. */
static bool
add_uncounted(GcDelta *delta, Snapshot snapshot, const GcServed *served)
{
	Relation	rel = delta->rel;
	const bool	counted = pgstat_should_count_relation(rel);
	const PgStat_Counter scans = counted ? GC_SCANS_COUNTED(rel) : 0;
	const PgStat_Counter rows = counted ? GC_ROWS_COUNTED(rel) : 0;
	const bool	ok = served->pages_served + served->pages_versioned + served->nnew + served->pages_read_before == 0
		? add_table(delta, snapshot) : add_ranges(delta, snapshot, served);

	if (counted)
	{
		GC_SCANS_COUNTED(rel) = scans;
		GC_ROWS_COUNTED(rel) = rows;
	}
	return ok;
}

GcCode
gc_delta_scan(Relation rel, Snapshot snapshot, const GcServed *served,
			  const GcColSpec *specs, int number, GcEncoder *encoder, GcError *err)
{
	GcDelta		delta = {.rel = rel,.encoder = encoder,.number = number};
	bool		ok;

	delta.ncols = gc_encoder_columns(encoder, &delta.specs);
	if (specs)
		delta.specs = specs;
	for (int i = 0; i < delta.ncols; i++)
		delta.last = Max(delta.last, delta.specs[i].attnum);
	delta.values = palloc(Max(delta.ncols, 1) * sizeof(Datum));
	delta.isnull = palloc(Max(delta.ncols, 1) * sizeof(bool));
	delta.slot = table_slot_create(rel, NULL);
	delta.copied = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);

	ok = add_uncounted(&delta, snapshot, served);
	ExecDropSingleTupleTableSlot(delta.slot);
	ExecDropSingleTupleTableSlot(delta.copied);
	pfree(delta.values);
	pfree(delta.isnull);
	if (!ok)
		return gc_fail(err, GC_HOST_MEMORY,
					   "The rows of \"%s\" that are not cached take more room than gpuconc.host_cache_size.",
					   RelationGetRelationName(rel));
	return GC_OK;
}

void
gc_count_scan(Relation rel, uint64 rows)
{
	pgstat_count_heap_scan(rel);

	/* By its name it is for indexes, but of a table its counter is seq_tup_read. */
	pgstat_count_index_tuples(rel, rows);
}
