/*-------------------------------------------------------------------------
 *
 * visibility.c
 *	  Which pages a snapshot may be served from chunks, and reading the rest.
 *
 * Runs in backends and loaders, which have a relation cache.  Waits only for a buffer lock
 * and I/O on a map page.  Nothing here is shared.
 *
 * A map page is copied, with its LSN, under its share lock.  The two belong together: a
 * process that sets a bit changes the LSN before it releases the exclusive lock.  Each map
 * page is judged by itself.  Other map pages may change in between, since the caller's
 * snapshot is older than all of the copies.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "arena.h"
#include "columns.h"
#include "encode.h"
#include "epoch.h"
#include "proof.h"
#include "serving.h"
#include "spec.h"
#include "versions.h"
#include "visibility.h"
#include "../compat.h"
#include "../settings.h"

#define MAP_BYTES		(BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define PAGES_PER_WORD	32

StaticAssertDecl(MAP_BYTES * 4 == GC_HEAPBLOCKS_PER_MAPPAGE,
				 "a map page must cover GC_HEAPBLOCKS_PER_MAPPAGE heap pages");

/* A private copy of one map page; a word of slack for reads beyond its end. */
typedef struct GcMapPage
{
	XLogRecPtr	lsn;
	uint8		bits[MAP_BYTES + sizeof(uint64)];
} GcMapPage;

uint32
gc_chunk_count(BlockNumber nblocks)
{
	return (nblocks + (uint64) gc_chunk_pages - 1) / gc_chunk_pages;
}

uint32
gc_chunk_length(uint32 chunkno, BlockNumber nblocks)
{
	BlockNumber first = chunkno * (BlockNumber) gc_chunk_pages;

	return nblocks > first ? Min((BlockNumber) gc_chunk_pages, nblocks - first) : 0;
}

/*
 * Copy a map page.  *vbuf is kept pinned from call to call.  A page that does
 * not exist (yet, or as far as this backend knows) has no bit set.
 */
static void
copy_map_page(Relation rel, BlockNumber mapblock, Buffer *vbuf, GcMapPage *copy)
{
	Page		page;

	(void) visibilitymap_get_status(rel, mapblock * GC_HEAPBLOCKS_PER_MAPPAGE, vbuf);
	if (!BufferIsValid(*vbuf))
	{
		copy->lsn = InvalidXLogRecPtr;
		memset(copy->bits, 0, sizeof(copy->bits));
		return;
	}

	LockBuffer(*vbuf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(*vbuf);
	copy->lsn = PageGetLSN(page);
	memcpy(copy->bits, PageGetContents(page), MAP_BYTES);
	LockBuffer(*vbuf, BUFFER_LOCK_UNLOCK);
	memset(copy->bits + MAP_BYTES, 0, sizeof(uint64));
}

static inline uint64
word_at(const uint8 *bits, uint32 page)
{
	uint64		w;

	memcpy(&w, bits + page / 4, sizeof(uint64));
	return w;
}

/* The bits of the first n pages of a word. */
static inline uint64
word_mask(uint32 n)
{
	return n >= PAGES_PER_WORD ? GC_MAP_VISIBLE_WORD :
		GC_MAP_VISIBLE_WORD & ((UINT64CONST(1) << (2 * n)) - 1);
}

void
gc_map_copy(Relation rel, uint32 chunkno, uint32 npages, uint8 *bits, XLogRecPtr *lsn)
{
	BlockNumber first = chunkno * (BlockNumber) gc_chunk_pages;
	uint32		offset = first % GC_HEAPBLOCKS_PER_MAPPAGE / 4;
	Buffer		vbuf = InvalidBuffer;
	GcMapPage	map;

	copy_map_page(rel, first / GC_HEAPBLOCKS_PER_MAPPAGE, &vbuf, &map);
	if (BufferIsValid(vbuf))
		ReleaseBuffer(vbuf);

	*lsn = map.lsn;
	for (uint32 page = 0; page < npages; page += PAGES_PER_WORD)
	{
		uint64		w = word_at(map.bits + offset, page) & word_mask(npages - page);

		memcpy(bits + page / 4, &w, sizeof(uint64));
	}
}

/*-------------------------------------------------------------------------
 * Judging
 *-------------------------------------------------------------------------
 */

/* Are all bits of the first npages pages set?  Four words at a time, at first. */
static inline bool
all_visible(const uint8 *map, uint32 npages)
{
	uint64		w0 = GC_MAP_VISIBLE_WORD;
	uint64		w1 = GC_MAP_VISIBLE_WORD;
	uint32		page = 0;

	for (; page + 4 * PAGES_PER_WORD <= npages; page += 4 * PAGES_PER_WORD)
	{
		w0 &= word_at(map, page) & word_at(map, page + PAGES_PER_WORD);
		w1 &= word_at(map, page + 2 * PAGES_PER_WORD) &
			word_at(map, page + 3 * PAGES_PER_WORD);
	}
	if ((w0 & w1) != GC_MAP_VISIBLE_WORD)
		return false;
	/* A map page may end right behind these. */
	for (; page < npages; page += PAGES_PER_WORD)
	{
		uint64		mask = word_mask(npages - page);
		uint64		w = 0;

		memcpy(&w, map + page / 4, Min(sizeof(uint64), (npages - page + 3) / 4));
		if ((w & mask) != mask)
			return false;
	}
	return true;
}

void
gc_add_delta(GcServing *serving, BlockNumber first, BlockNumber count)
{
	GcServed   *served = serving->served;
	GcBlockRange *last = served->ranges + served->nranges - 1;

	served->pages_delta += count;
	if (served->nranges > 0 && last->first + last->count == first)
	{
		last->count += count;
		return;
	}
	if (served->nranges == serving->ranges_size)
	{
		serving->ranges_size = Max(16, serving->ranges_size * 2);
		if (served->ranges)
			served->ranges = repalloc_huge(served->ranges,
										   serving->ranges_size * sizeof(GcBlockRange));
		else
			served->ranges = palloc(serving->ranges_size * sizeof(GcBlockRange));
	}
	served->ranges[served->nranges].first = first;
	served->ranges[served->nranges].count = count;
	served->nranges++;
}

void
gc_add_hole(GcHoles *holes, uint32 from, uint32 to)
{
	if (from == to)
		return;
	holes->rows += to - from;
	if (holes->n > 0 && holes->holes[holes->n - 1].to == from)
	{
		holes->holes[holes->n - 1].to = to;
		return;
	}
	if (holes->n == holes->size)
	{
		holes->size = Max(16, holes->size * 2);
		if (holes->holes)
			holes->holes = repalloc_huge(holes->holes, holes->size * sizeof(GcHole));
		else
			holes->holes = palloc(holes->size * sizeof(GcHole));
	}
	holes->holes[holes->n++] = (GcHole) {from, to};
}

void
gc_append_chunk(GcServed *served, uint32 chunkno, uint32 nrows, const GcHoles *holes)
{
	GcServedChunk *c;

	if (holes->rows == nrows)
		return;
	c = &served->chunks[served->nchunks++];
	served->rows_served += nrows - holes->rows;
	c->chunk = chunkno;
	c->nrows = nrows;
	c->nholes = holes->n;
	c->holes = holes->holes;
}

/*
 * Judge the pages of one chunk one by one, or rather 32 at a time where they
 * agree.  map is NULL for an unreadable map page, proven where nothing is.
 */
static void
judge_pages(GcServing *serving, uint32 chunkno, const GcChunk *chunk,
			const uint8 *map, const uint8 *proven, GcChunkJudgement *judged)
{
	BlockNumber first = chunkno * (BlockNumber) gc_chunk_pages;
	uint32		proven_pages = proven ? Min(chunk->npages, judged->pages) : 0;
	GcHoles		holes = {0};

	for (uint32 page = 0; page < judged->pages; page += PAGES_PER_WORD)
	{
		uint32		n = Min(PAGES_PER_WORD, judged->pages - page);
		uint64		set = word_at(map, page) & word_mask(n);
		uint64		good = 0;

		if (page < proven_pages)
			good = set & word_at(proven, page) & word_mask(proven_pages - page);
		judged->served += pg_popcount64(good);
		judged->reloadable += pg_popcount64(set & ~good);

		if (good == word_mask(n))
			continue;
		for (uint32 i = 0; i < n; i++)
		{
			if ((good >> (2 * i)) & 1)
				continue;
			gc_add_delta(serving, first + page + i, 1);
			if (page + i < proven_pages)
				gc_add_hole(&holes, chunk->row_start[page + i], chunk->row_start[page + i + 1]);
		}
	}

	if (chunk == NULL)
		return;
	/* The chunk may have more rows, of pages that are gone. */
	gc_add_hole(&holes, chunk->row_start[proven_pages], chunk->nrows);
	gc_append_chunk(serving->served, chunkno, chunk->nrows, &holes);
	if (holes.rows > 0)
		serving->all_served = false;
}

/*
 * Is all of chunk c loaded, proven (a) since it was read, and visible?  Reads no more of map than it must,
 * and nothing of the chunk.
 */
static inline bool
chunk_intact(const GcDirectory *dir, uint32 c, uint32 npages, const uint8 *map, XLogRecPtr lsn)
{
	const GcChunkFacts *facts = &dir->facts[c];

	return dir->chunks[c] != NULL && facts->map_lsn == lsn &&
		facts->npresent == npages && facts->npages == npages && all_visible(map, npages);
}

static void
judge_chunk(GcServing *serving, Relation rel, uint32 chunkno, const GcDirectory *dir,
			const uint8 *map, XLogRecPtr lsn, GcChunkJudgement *judged)
{
	GcChunk    *chunk = dir && chunkno < dir->nheap ? dir->chunks[chunkno] : NULL;
	const GcHoles none = {0};

	memset(judged, 0, sizeof(GcChunkJudgement));
	judged->pages = gc_chunk_length(chunkno, serving->served->nblocks);

	if (chunk && chunk_intact(dir, chunkno, judged->pages, map, lsn))
	{
		judged->served = judged->pages;
		gc_append_chunk(serving->served, chunkno, chunk->nrows, &none);
	}
	else
		judge_pages(serving, chunkno, chunk, map,
					chunk ? gc_page_proof(rel, chunk, map, judged->pages, lsn) : NULL, judged);

	/* What was never stamped can never be proven. */
	if (!serving->reloadable || lsn == InvalidXLogRecPtr)
		judged->reloadable = 0;
	judged->mendable = judged->reloadable > 0 && judged->served + judged->reloadable == judged->pages;
	serving->served->pages_served += judged->served;
	serving->served->pages_reloadable += judged->reloadable;
	serving->served->worth_reload |= GC_WORTH_RELOAD(judged);
}

/*
 * The common case, without a copy: are all chunks under a map page intact?  Serves
 * them if so.
 */
static bool
serve_map_page(GcServing *serving, Relation rel, const GcDirectory *dir, uint32 chunkno,
			   uint32 end, Buffer *vbuf)
{
	GcServed   *served = serving->served;
	const GcHoles none = {0};
	Page		page;
	bool		intact = true;

	if (dir == NULL || end > dir->nheap)
		return false;
	(void) visibilitymap_get_status(rel, chunkno * (BlockNumber) gc_chunk_pages, vbuf);
	if (!BufferIsValid(*vbuf))
		return false;
	LockBuffer(*vbuf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(*vbuf);
	for (uint32 c = chunkno; c < end && intact; c++)
		intact = chunk_intact(dir, c, gc_chunk_length(c, served->nblocks),
							  (uint8 *) PageGetContents(page) + (c - chunkno) * (gc_chunk_pages / 4),
							  PageGetLSN(page));
	LockBuffer(*vbuf, BUFFER_LOCK_UNLOCK);

	for (uint32 c = chunkno; c < end && intact; c++)
	{
		served->pages_served += gc_chunk_length(c, served->nblocks);
		gc_append_chunk(served, c, dir->facts[c].nrows, &none);
	}
	return intact;
}

void
gc_serve_judged(Relation rel, const GcDirectory *dir, GcServed *served,
				GcChunkJudgement **judged)
{
	uint32		nchunks;
	uint32		per_map = GC_HEAPBLOCKS_PER_MAPPAGE / gc_chunk_pages;
	Buffer		vbuf = InvalidBuffer;
	GcServing	serving = {.served = served,.all_served = true};
	GcChunkJudgement scratch;
	GcMapPage	map;
	const char *reason;

	memset(served, 0, sizeof(GcServed));
	served->nblocks = RelationGetNumberOfBlocks(rel);
	nchunks = gc_chunk_count(served->nblocks);
	served->chunks = palloc_extended((nchunks + (dir ? dir->nchunks - dir->nheap : 0) + 1) * sizeof(GcServedChunk),
									 MCXT_ALLOC_HUGE);
	if (judged)
		*judged = palloc_extended(Max(nchunks, 1) * sizeof(GcChunkJudgement), MCXT_ALLOC_HUGE);

	if (!gc_rel_servable(rel, &reason))
	{
		Assert(dir == NULL);
		if (served->nblocks > 0)
			gc_add_delta(&serving, 0, served->nblocks);
		return;
	}
	serving.reloadable = true;

	for (uint32 c = 0; c < nchunks; c++)
	{
		uint32		offset = c % per_map * (gc_chunk_pages / 4);

		if (offset == 0)
		{
			uint32		end = Min(c + per_map, nchunks);

			CHECK_FOR_INTERRUPTS();
			if (judged == NULL && serve_map_page(&serving, rel, dir, c, end, &vbuf))
			{
				c = end - 1;
				continue;
			}
			copy_map_page(rel, c / per_map, &vbuf, &map);
		}
		judge_chunk(&serving, rel, c, dir, map.bits + offset, map.lsn, judged ? &(*judged)[c] : &scratch);
	}
	if (BufferIsValid(vbuf))
		ReleaseBuffer(vbuf);

	/* Chunks of blocks that are gone still belong to the directory. */
	for (uint32 c = nchunks; dir && c < dir->nheap; c++)
	{
		if (dir->chunks[c] && dir->chunks[c]->nrows > 0)
			serving.all_served = false;
	}
	served->complete = dir != NULL && serving.all_served && served->nranges == 0;
}

/*-------------------------------------------------------------------------
 * The same snapshot once more
 *
 * Two snapshots that see the same transactions see the same rows.  So what was wholly
 * served from a directory's chunks for one is served from them for the other, whatever
 * happened to the table in between: that is the work of transactions that neither of
 * them sees.  No page of the map has to be read, nor the table's length.
 *
 * Snapshots are told by xmax where no transaction was in progress: then they see all up
 * to there that committed.  Sessions that have an xid of their own see their own changes
 * besides, and a snapshot of recovery says nothing of what is in progress in the same way:
 * those take no part.  Four thousand million transactions later xmax comes again, so a
 * finding is good for some minutes only.
 *-------------------------------------------------------------------------
 */
#define WHOLE_SECONDS	600

static bool
told_by_xmax(Snapshot snapshot)
{
	return snapshot != NULL && snapshot->snapshot_type == SNAPSHOT_MVCC && !snapshot->takenDuringRecovery &&
		snapshot->xcnt == 0 && snapshot->subxcnt == 0 && !snapshot->suboverflowed &&
		snapshot->xmin == snapshot->xmax && !TransactionIdIsValid(GetTopTransactionIdIfAny());
}

/* Remember that all of nblocks was served for this snapshot. */
static void
note_whole(GcDirectory *dir, Snapshot snapshot, BlockNumber nblocks)
{
	pg_atomic_write_u64(&dir->whole_for, 0);
	pg_write_barrier();
	pg_atomic_write_u64(&dir->whole_at, GetCurrentTimestamp());
	pg_write_barrier();
	pg_atomic_write_u64(&dir->whole_for, (uint64) snapshot->xmax << 32 | nblocks);
}

/* Serve all, if it was served for a snapshot that sees the same. */
static bool
serve_whole(Relation rel, GcDirectory *dir, Snapshot snapshot, GcServed *served)
{
	const uint64 whole = pg_atomic_read_u64(&dir->whole_for);
	const GcHoles none = {0};
	const char *reason;

	pg_read_barrier();
	if (whole == 0 || (TransactionId) (whole >> 32) != snapshot->xmax || !gc_rel_servable(rel, &reason) ||
		TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&dir->whole_at), GetCurrentTimestamp(),
								   WHOLE_SECONDS * 1000))
		return false;
	memset(served, 0, sizeof(GcServed));
	served->nblocks = served->pages_served = (BlockNumber) whole;
	served->chunks = palloc_extended(Max(dir->nchunks, 1) * sizeof(GcServedChunk), MCXT_ALLOC_HUGE);
	for (uint32 c = 0; c < dir->nheap; c++)
		gc_append_chunk(served, c, dir->facts[c].nrows, &none);
	served->complete = true;
	return true;
}

void
gc_serve(Relation rel, GcDirectory *dir, Snapshot snapshot, GcServed *served)
{
	const bool	told = dir != NULL && told_by_xmax(snapshot);
	uint64		rows;
	const bool	hot = gc_enable_versioned_pages && dir != NULL && dir->nheap < dir->nchunks && snapshot != NULL;

	Assert(dir == NULL || gc_guard_held());
	if (told && serve_whole(rel, dir, snapshot, served))
		return;
	if (hot && gc_serve_noted(rel, dir, snapshot, served))
		return;
	gc_serve_judged(rel, dir, served, NULL);
	if (told && served->complete)
		note_whole(dir, snapshot, served->nblocks);
	rows = served->rows_served;
	if (gc_enable_versioned_pages)
		gc_serve_versions(rel, dir, snapshot, served);
	served->rows_versioned = served->rows_served - rows;
	if (hot && !served->complete)
		gc_note_served(dir, snapshot, served);
}

/*-------------------------------------------------------------------------
 * The delta
 *-------------------------------------------------------------------------
 */

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
} GcDelta;

/* Encode the tuple in the slot; false when it is time to give up. */
static bool
add_slot(GcDelta *delta)
{
	if (delta->last > 0)
		slot_getsomeattrs(delta->slot, delta->last);
	for (int i = 0; i < delta->ncols; i++)
	{
		const AttrNumber attnum = delta->specs[i].attnum;

		delta->values[i] = attnum > 0 ? delta->slot->tts_values[attnum - 1] : Int32GetDatum(delta->number);
		delta->isnull[i] = attnum > 0 ? delta->slot->tts_isnull[attnum - 1] : attnum == 0;
	}
	gc_encoder_add(delta->encoder, delta->values, delta->isnull);

	/* The rows are to go into the arena in the end, and an encoder has limits. */
	return (gc_encoder_rows(delta->encoder) & 1023) != 0 ||
		(gc_encoder_memory(delta->encoder) <= gc_arena_size() &&
		 gc_encoder_rows(delta->encoder) < GC_ENCODER_MAX_ROWS);
}

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
			ok = add_slot(delta);
		}
	}
	if (scan)
		table_endscan(scan);
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
		ok = add_slot(delta);
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
	const bool	ok = served->pages_served + served->pages_versioned == 0 ? add_table(delta, snapshot) :
		add_ranges(delta, snapshot, served);

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

	ok = add_uncounted(&delta, snapshot, served);
	ExecDropSingleTupleTableSlot(delta.slot);
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
