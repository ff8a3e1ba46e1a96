/*-------------------------------------------------------------------------
 *
 * patches.h
 *	  Rows of hot pages that a chunk of the heap has, and which do not come into hot chunks.
 *
 * Most tuples of a page that has been written to are what they were.  If the heap's chunk was read when the
 * page was all-visible, it has their values.  So a hot chunk has only what is new of such a page, a patch.
 * That is the other tuples, which of the chunk's rows are gone, and the transactions that are ending others.
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

#include "versions.h"

/* Transactions before this one have ended for a snapshot of this session; invalid: unknown. */
extern FullTransactionId gc_all_before(Snapshot snapshot);

/* What the heap's chunk has of a hot page. */
struct GcPatch
{
	uint64		chunk_id;		/* 0: nothing */
	uint32		first;			/* row of the chunk */
	uint32		rows;			/* of the page */
};

/*
 * Is the chunk that a hot page needs still the directory's?  If it needs none, none must have rows of it: what has
 * changed since is looked for only among other rows than those.
 */
extern bool gc_patch_holds(const GcDirectory *dir, const GcHotPages *hot, uint32 page);

/* A page of the table, beside what the heap's chunk has of it. */
typedef struct GcPatching
{
	GcPatch		patch;
	FullTransactionId before;	/* the chunk's */
	FullTransactionId next;		/* what was the next transaction lately */
	const uint16 *missing;		/* those not passed yet */
	const uint16 *end;
	uint32		row;			/* of the page: the next one */
} GcPatching;

/* Begin with a page; patch.chunk_id is 0 if the heap's chunk is of no use for it. */
extern void gc_patching_begin(GcPatching *patching, const GcDirectory *dir, BlockNumber block, FullTransactionId next);

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
	return TransactionIdIsNormal(xmin) && FullTransactionIdPrecedes(gc_full_xid(xmin, patching->next), patching->before);
}

/* The heap's chunk of a block, and the row there of a version. */
#define GC_HEAP_CHUNK(block)	((block) / (BlockNumber) gc_chunk_pages)
#define GC_HEAP_ROW				0x80000000
#define GC_VERSION_IN_HEAP(v)	(((v)->row & GC_HEAP_ROW) != 0)
#define GC_VERSION_ROW(v)		((v)->row & ~GC_HEAP_ROW)

/* What a snapshot sees of a page of the table, beside what the heap's chunk has of it. */
typedef struct GcPageSeen
{
	uint32		ngone;
	uint32		gone[MaxHeapTuplesPerPage]; /* rows of the chunk that it does not see, ascending */
	uint32		nnew;
	OffsetNumber offsets[MaxHeapTuplesPerPage]; /* tuples that it sees and that are no rows of the chunk */
} GcPageSeen;

/* Look at a page; false if the heap's chunk is of no use for it. */
extern bool gc_patch_look(Relation rel, const GcDirectory *dir, BlockNumber block, Snapshot snapshot,
						  FullTransactionId next, GcPageSeen *seen);

/* Which hot page each block of a delta is served from. */
typedef struct GcServedPage
{
	int32		chunk;			/* -1: none */
	uint32		page;
} GcServedPage;

/*
 * Serve the heap's rows of patched pages.  The first nheap chunks of `served` are the heap's, as judged, and
 * pages are the pages of its delta, which has not been shortened yet.  kept: open versions are left to the
 * caller, and so are other pages of the delta with kept->delta_open.
 */
extern void gc_serve_patched(const GcSeer *seer, const GcDirectory *dir, GcServed *served, uint32 nheap,
							 const GcServedPage *pages, const GcKept *kept);

#endif							/* GC_PATCHES_H */
