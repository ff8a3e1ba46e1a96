/*-------------------------------------------------------------------------
 *
 * patches.h
 *	  Rows of hot pages that a chunk of the heap has, and which do not come into hot chunks.
 *
 * Most tuples of a page that has been written to stay unchanged.  If the heap's chunk was read when the
 * page was all-visible, it has their values.  So a hot chunk has only the new tuples of such a page, a patch.  That is
 * the other tuples, which of the chunk's rows are gone, and the transactions that are ending others.
 *
 * Proof.  The chunk's rows of the page were its tuples, in the order of their offsets, of which those without
 * a tuple are noted (GcChunk.missing).  It was read when all transactions before GcChunk.before had ended.  A tuple
 * that one of these has inserted was on the page by then, at its place.  Tuples of a heap do not move, and their
 * values do not change.  So it is the one that was read.  Freezing a tuple leaves its transaction's id in it.  An id
 * of 32 bits is taken for the nearest one of 64 bits.  That is its own, or a later one if it was frozen long ago: then
 * the tuple counts as new.
 *
 * The chunk is told by its id.  If it is replaced, its patches are void, and the pages are read anew.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PATCHES_H
#define GC_PATCHES_H

#include "postgres.h"

#include "access/htup_details.h"
#include "utils/snapshot.h"

#include "versions.h"
#include "../../settings.h"

/* Transactions before this one have ended for a snapshot of this session; invalid: unknown. */
static inline FullTransactionId
gc_all_before(Snapshot snapshot)
{
	if (snapshot == NULL || snapshot->snapshot_type != SNAPSHOT_MVCC)
		return InvalidFullTransactionId;
	return gc_full_xid(snapshot->xmin, ReadNextFullTransactionId());
}

/* The heap's chunk of a block. */
#define GC_HEAP_CHUNK(block)	((block) / (BlockNumber) gc_chunk_pages)

/* The heap's chunk with this page, or NULL. */
static inline const GcChunk *
gc_heap_chunk(const GcDirectory *dir, BlockNumber block)
{
	const uint32 c = GC_HEAP_CHUNK(block);

	return dir && c < dir->nheap ? dir->chunks[c] : NULL;
}

/* Rows of a hot page in the heap's chunk. */
struct GcPatch
{
	uint64		chunk_id;		/* 0: nothing */
	uint32		first;			/* row of the chunk */
	uint32		rows;			/* of the page */
};

/* Has the heap's chunk rows of a page that hot pages can be told by? */
static inline bool
gc_patch_usable(const GcChunk *chunk, uint32 page)
{
	return chunk && page < chunk->npages && FullTransactionIdIsValid(chunk->before) &&
		chunk->row_start[page] != chunk->row_start[page + 1];
}

/*
 * Is the chunk that a hot page needs still the directory's?  If it needs none, none must have rows of it: later changes
 * are looked for only among other rows than those.
 */
static inline bool
gc_patch_holds(const GcDirectory *dir, const GcHotPages *hot, uint32 page)
{
	const uint64 id = hot->patches[page].chunk_id;
	const GcChunk *chunk = gc_heap_chunk(dir, hot->blocks[page]);

	return id == 0 ? !gc_patch_usable(chunk, hot->blocks[page] % (BlockNumber) gc_chunk_pages)
		: chunk && chunk->id == id;
}

/* A page of the table, beside its rows in the heap's chunk. */
typedef struct GcPatching
{
	GcPatch		patch;
	FullTransactionId before;	/* the chunk's */
	FullTransactionId next;		/* the next transaction, as of lately */
	const uint16 *missing;		/* those not passed yet */
	const uint16 *end;
	uint32		row;			/* of the page: the next one */
} GcPatching;

/* Begin with a page; patch.chunk_id is 0 if the heap's chunk is of no use for it. */
static inline void
gc_patching_begin(GcPatching *patching, const GcDirectory *dir, BlockNumber block, FullTransactionId next)
{
	const GcChunk *chunk = gc_heap_chunk(dir, block);
	const uint32 page = block % (BlockNumber) gc_chunk_pages;

	memset(patching, 0, sizeof(GcPatching));
	if (!gc_patch_usable(chunk, page))
		return;
	patching->patch = (GcPatch) {.chunk_id = chunk->id,.first = chunk->row_start[page]};
	patching->patch.rows = chunk->row_start[page + 1] - patching->patch.first;
	patching->before = chunk->before;
	patching->next = next;
	patching->missing = chunk->missing + chunk->first_missing[page];
	patching->end = chunk->missing + chunk->first_missing[page + 1];
}

/*
 * Tell of the page's offsets one by one, from the first on, with the tuple that is there now, or NULL.
 * *row: the row that was there, or -1.  True if the tuple is that row.
 */
static inline bool
gc_patching_next(GcPatching *patching, OffsetNumber offset, HeapTupleHeader tuple, int32 *row)
{
	TransactionId xmin;

	*row = -1;
	if (patching->row == patching->patch.rows)
		return false;
	if (patching->missing < patching->end && *patching->missing == offset)
	{
		patching->missing++;
		return false;
	}
	*row = (int32) patching->row++;
	if (tuple == NULL)
		return false;
	xmin = HeapTupleHeaderGetRawXmin(tuple);
	return TransactionIdIsNormal(xmin) &&
		FullTransactionIdPrecedes(gc_full_xid(xmin, patching->next), patching->before);
}

/* The row of a version in the heap's chunk. */
#define GC_HEAP_ROW				0x80000000
#define GC_VERSION_IN_HEAP(v)	(((v)->row & GC_HEAP_ROW) != 0)
#define GC_VERSION_ROW(v)		((v)->row & ~GC_HEAP_ROW)

#endif							/* GC_PATCHES_H */
