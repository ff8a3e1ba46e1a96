/*-------------------------------------------------------------------------
 *
 * versions.c
 *	  Serving hot pages from hot chunks.  See versions.h for the proof.
 *
 * Runs in backends, and in loaders that plan which pages to read.  Hot chunks are immutable but for facts that anyone
 * may find out.  These are the outcome of a transaction, where a page is buffered, and that it has changed (fresh.c).
 * Takes no lock but XactTruncationLock, shared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "patches.h"
#include "versions.h"
#include "../../compat.h"

/*
 * The heap's chunk may have most rows of a delta's pages.  Each session looks for the others, which takes a tenth of
 * reading them all.  Of a longer delta it reads all.
 */
#define MOST_LEFT_OPEN	8192

Size
gc_hot_size(uint32 npages, uint32 nversions, uint32 nleft_out, uint32 ngone)
{
	Size		size = MAXALIGN(sizeof(GcHotPages));

	size += MAXALIGN(npages * sizeof(BlockNumber));
	size += MAXALIGN(npages * sizeof(XLogRecPtr));
	size += MAXALIGN(npages * sizeof(pg_atomic_uint32));
	size += MAXALIGN(npages * sizeof(uint8));
	size += 3 * MAXALIGN((npages + 1) * sizeof(uint32));
	size += npages * sizeof(GcPatch);
	return size + (Size) nversions * sizeof(GcVersion) + ((Size) nleft_out + ngone) * sizeof(uint16);
}

GcHotPages *
gc_hot_init(void *memory, uint32 npages, uint32 nversions, uint32 nleft_out)
{
	GcHotPages *hot = memory;
	char	   *p = (char *) memory + MAXALIGN(sizeof(GcHotPages));

	hot->blocks = (BlockNumber *) p;
	p += MAXALIGN(npages * sizeof(BlockNumber));
	hot->lsns = (XLogRecPtr *) p;
	p += MAXALIGN(npages * sizeof(XLogRecPtr));
	hot->buffers = (pg_atomic_uint32 *) p;
	p += MAXALIGN(npages * sizeof(pg_atomic_uint32));
	hot->changed = (uint8 *) p;
	memset(p, 0, npages);
	p += MAXALIGN(npages * sizeof(uint8));
	pg_atomic_init_u64(&hot->proven_to, InvalidXLogRecPtr);
	hot->first_version = (uint32 *) p;
	p += MAXALIGN((npages + 1) * sizeof(uint32));
	hot->first_left_out = (uint32 *) p;
	p += MAXALIGN((npages + 1) * sizeof(uint32));
	hot->first_gone = (uint32 *) p;
	p += MAXALIGN((npages + 1) * sizeof(uint32));
	hot->patches = (GcPatch *) p;
	p += npages * sizeof(GcPatch);
	hot->versions = (GcVersion *) p;
	hot->left_out = (uint16 *) (hot->versions + nversions);
	hot->gone = hot->left_out + nleft_out;
	return hot;
}

/*-------------------------------------------------------------------------
 * Sets of blocks
 *-------------------------------------------------------------------------
 */
void
gc_blocks_init(GcBlockSet *set, const GcBlockRange *ranges, uint32 nranges)
{
	memset(set, 0, sizeof(GcBlockSet));
	set->ranges = ranges;
	set->nranges = nranges;
	for (uint32 r = 0; r < nranges; r++)
		set->npages += ranges[r].count;
	set->taken = palloc_extended(set->npages / 8 + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Pages are asked for from the first one on again. */
void
gc_blocks_rewind(GcBlockSet *set)
{
	set->at = 0;
	set->before = 0;
}

int64
gc_blocks_find(GcBlockSet *set, BlockNumber block)
{
	while (set->at < set->nranges && set->ranges[set->at].first + set->ranges[set->at].count <= block)
		set->before += set->ranges[set->at++].count;
	if (set->at == set->nranges || set->ranges[set->at].first > block)
		return -1;
	return (int64) set->before + (block - set->ranges[set->at].first);
}

/*-------------------------------------------------------------------------
 * Facts about a tuple
 *-------------------------------------------------------------------------
 */
GcHorizon
gc_horizon(Relation rel)
{
	GcHorizon	h;
	TransactionId oldest = GetOldestNonRemovableTransactionId(rel);

	h.next = ReadNextFullTransactionId();
	h.oldest = gc_full_xid(oldest, h.next);
	return h;
}

/*
 * Has a transaction that a tuple names committed or aborted, and is that known for good?  In progress: neither
 * committed nor aborted.  The order of questions matters: it may end in between.
 */
static uint32
ask_status(TransactionId xid, uint32 committed, uint32 aborted)
{
	if (TransactionIdIsInProgress(xid))
		return 0;
	return TransactionIdDidCommit(xid) ? committed : aborted;
}

GcTupleFate
gc_judge_tuple(const GcHorizon *h, HeapTupleHeader tuple, GcVersion *v)
{
	const uint16 mask = tuple->t_infomask;
	uint32		known = 0;

	v->xmin = v->xmax = InvalidFullTransactionId;
	if (mask & HEAP_MOVED)
		return GC_TUPLE_REFUSED;
	if (!HeapTupleHeaderXminFrozen(tuple))
	{
		TransactionId xmin = HeapTupleHeaderGetRawXmin(tuple);

		if (HeapTupleHeaderXminInvalid(tuple))
			return GC_TUPLE_OF_NONE;
		if (!TransactionIdIsNormal(xmin))
			known |= xmin == InvalidTransactionId ? GC_XMIN_ABORTED : GC_XMIN_COMMITTED;
		else
			known |= HeapTupleHeaderXminCommitted(tuple) ? GC_XMIN_COMMITTED :
				ask_status(xmin, GC_XMIN_COMMITTED, GC_XMIN_ABORTED);
		if (known & GC_XMIN_ABORTED)
			return GC_TUPLE_OF_NONE;
		if (TransactionIdIsNormal(xmin))
			v->xmin = gc_full_xid(xmin, h->next);
		if ((known & GC_XMIN_COMMITTED) && FullTransactionIdPrecedes(v->xmin, h->oldest))
			v->xmin = InvalidFullTransactionId;
	}
	if (!(mask & HEAP_XMAX_INVALID) && !HEAP_XMAX_IS_LOCKED_ONLY(mask) &&
		TransactionIdIsValid(HeapTupleHeaderGetRawXmax(tuple)))
	{
		TransactionId xmax = HeapTupleHeaderGetRawXmax(tuple);

		if (mask & HEAP_XMAX_IS_MULTI)
			return GC_TUPLE_REFUSED;
		known |= (mask & HEAP_XMAX_COMMITTED) ? GC_XMAX_COMMITTED :
			ask_status(xmax, GC_XMAX_COMMITTED, GC_XMAX_ABORTED);
		if (!(known & GC_XMAX_ABORTED))
			v->xmax = gc_full_xid(xmax, h->next);
		if ((known & GC_XMAX_COMMITTED) && FullTransactionIdPrecedes(v->xmax, h->oldest))
			return GC_TUPLE_OF_NONE;
	}
	pg_atomic_init_u32(&v->known, known);
	if (!FullTransactionIdIsValid(v->xmin) && !FullTransactionIdIsValid(v->xmax))
		return GC_TUPLE_OF_ALL;
	return GC_TUPLE_OF_SOME;
}

/*-------------------------------------------------------------------------
 * Tuples that a snapshot sees
 *-------------------------------------------------------------------------
 */

/* A snapshot, prepared to judge many versions. */
void
gc_seer_init(GcSeer *seer, Snapshot snapshot)
{
	seer->snapshot = snapshot;
	seer->xmin = gc_full_xid(snapshot->xmin, ReadNextFullTransactionId());
	seer->has_xid = TransactionIdIsValid(GetTopTransactionIdIfAny());
}

typedef enum GcSight
{
	GC_SIGHT_YES,
	GC_SIGHT_NO,				/* nor will a later snapshot */
	GC_SIGHT_OPEN				/* not, but a later snapshot may */
} GcSight;

/* Ask the log for the fate of a transaction that has ended. */
static uint32
ask_log(FullTransactionId fxid, pg_atomic_uint32 *known, uint32 committed, uint32 aborted)
{
	const uint32 bit = TransactionIdDidCommit(XidFromFullTransactionId(fxid)) ? committed : aborted;

	pg_atomic_fetch_or_u32(known, bit);
	return bit;
}

/*
 * Does the snapshot see this transaction's changes?  `committed`, `aborted`: the bits of *known that say its
 * outcome.  The snapshot is asked first: a transaction that is finished now may have been in progress for it.
 */
static GcSight
sees(const GcSeer *seer, FullTransactionId fxid, pg_atomic_uint32 *known, uint32 committed,
	 uint32 aborted)
{
	const TransactionId xid = XidFromFullTransactionId(fxid);
	const uint32 bits = pg_atomic_read_u32(known);

	if (bits & aborted)
		return GC_SIGHT_NO;
	if (!FullTransactionIdPrecedes(fxid, seer->xmin) && XidInMVCCSnapshot(xid, seer->snapshot))
		return GC_SIGHT_OPEN;
	return ((bits & committed) || ask_log(fxid, known, committed, aborted) == committed) ? GC_SIGHT_YES : GC_SIGHT_NO;
}

/* Bits GC_VERSION_*: does the snapshot see the version, and may that change when a transaction ends? */
uint8
gc_judge_version(const GcSeer *seer, GcVersion *v)
{
	GcSight		sight = GC_SIGHT_YES;

	if (FullTransactionIdIsValid(v->xmin))
		sight = sees(seer, v->xmin, &v->known, GC_XMIN_COMMITTED, GC_XMIN_ABORTED);
	if (sight != GC_SIGHT_YES)
		return sight == GC_SIGHT_OPEN ? GC_VERSION_OPEN : 0;
	if (!FullTransactionIdIsValid(v->xmax))
		return GC_VERSION_SEEN;
	sight = sees(seer, v->xmax, &v->known, GC_XMAX_COMMITTED, GC_XMAX_ABORTED);
	return sight == GC_SIGHT_OPEN ? GC_VERSION_SEEN | GC_VERSION_OPEN :
		sight == GC_SIGHT_NO ? GC_VERSION_SEEN : 0;
}

/* False: the log of commits has forgotten the transaction. */
static bool
find_out(const GcSeer *seer, FullTransactionId fxid, pg_atomic_uint32 *known, uint32 committed, uint32 aborted)
{
	bool		told;

	if (!FullTransactionIdIsValid(fxid) || (pg_atomic_read_u32(known) & (committed | aborted)) ||
		!FullTransactionIdPrecedes(fxid, seer->xmin))
		return true;
	LWLockAcquire(XactTruncationLock, LW_SHARED);
	told = !FullTransactionIdPrecedes(fxid, gc_full_xid(GC_TRANSAM_VARIABLES->oldestClogXid, seer->xmin));
	if (told)
		ask_log(fxid, known, committed, aborted);
	LWLockRelease(XactTruncationLock);
	return told;
}

bool
gc_version_is_known(const GcSeer *seer, GcVersion *v)
{
	return find_out(seer, v->xmin, &v->known, GC_XMIN_COMMITTED, GC_XMIN_ABORTED) &&
		find_out(seer, v->xmax, &v->known, GC_XMAX_COMMITTED, GC_XMAX_ABORTED);
}

bool
gc_page_is_known(const GcSeer *seer, const GcHotPages *hot, uint32 page)
{
	for (uint32 i = hot->first_version[page]; i < hot->first_version[page + 1]; i++)
	{
		if (!gc_version_is_known(seer, &hot->versions[i]))
			return false;
	}
	return true;
}

bool
gc_page_is_own(const GcSeer *seer, const GcHotPages *hot, uint32 page)
{
	for (uint32 i = hot->first_version[page]; seer->has_xid && i < hot->first_version[page + 1]; i++)
	{
		const GcVersion *v = &hot->versions[i];

		if ((FullTransactionIdIsValid(v->xmin) &&
			 TransactionIdIsCurrentTransactionId(XidFromFullTransactionId(v->xmin))) ||
			(FullTransactionIdIsValid(v->xmax) &&
			 TransactionIdIsCurrentTransactionId(XidFromFullTransactionId(v->xmax))))
			return true;
	}
	return false;
}

/*-------------------------------------------------------------------------
 * Serving hot chunks
 *-------------------------------------------------------------------------
 */

/* Which hot page each block of a delta is served from. */
typedef struct GcServedPage
{
	int32		chunk;			/* -1: none */
	uint32		page;
} GcServedPage;

/* Note a version whose transaction has not ended. */
static void
keep_open(GcKept *kept, GcOpenVersion open)
{
	if (kept->nopen == kept->open_size)
		kept->open = gc_more_room(kept->open, &kept->open_size, 64, sizeof(GcOpenVersion));
	kept->open[kept->nopen++] = open;
}

/*
 * The hot chunk's rows of a valid page that the snapshot does not see; and versions that are open, of the heap's, too.
 */
static void
add_unseen(const GcSeer *seer, const GcChunk *chunk, uint32 chunkno, uint32 page, GcHoles *holes, GcKept *kept)
{
	GcHotPages *hot = chunk->hot;

	for (uint32 i = hot->first_version[page]; i < hot->first_version[page + 1]; i++)
	{
		GcVersion  *v = &hot->versions[i];
		uint8		judged;

		if (GC_VERSION_IN_HEAP(v) && !kept)
			continue;
		judged = gc_judge_version(seer, v);
		if (kept && (judged & GC_VERSION_OPEN))
			keep_open(kept, (GcOpenVersion) {chunkno, page, i});
		else if (!(judged & GC_VERSION_SEEN) && !GC_VERSION_IN_HEAP(v))
			gc_add_hole(holes, v->row, v->row + 1);
	}
}

static bool
page_served(const GcSeer *seer, const GcDirectory *dir, const GcChunk *chunk, uint32 page, GcServed *served)
{
	if (chunk->hot->changed[page] || !gc_patch_holds(dir, chunk->hot, page))
		return false;
	if (gc_page_is_own(seer, chunk->hot, page))
		served->pages_own++;
	else if (gc_page_is_known(seer, chunk->hot, page))
		return true;
	else
		chunk->hot->changed[page] = true;
	return false;
}

/* Serve the pages of one hot chunk that are not yet taken.  from: where each block of the delta is. */
static void
serve_chunk(const GcSeer *seer, const GcDirectory *dir, uint32 chunkno, GcBlockSet *delta,
			GcServed *served, GcKept *kept, GcServedPage *from)
{
	const GcChunk *chunk = dir->chunks[chunkno];
	uint8	   *pages = kept ? kept->pages[chunkno - dir->nheap] : NULL;
	GcHoles		holes = {0};

	CHECK_FOR_INTERRUPTS();
	gc_blocks_rewind(delta);
	for (uint32 page = 0; page < chunk->npages; page++)
	{
		int64		n = gc_blocks_find(delta, chunk->hot->blocks[page]);

		if (n >= 0 && !GC_BLOCK_TAKEN(delta, n) && page_served(seer, dir, chunk, page, served))
		{
			add_unseen(seer, chunk, chunkno, page, &holes, kept);
			GC_BLOCK_TAKE(delta, n);
			from[n] = (GcServedPage) {(int32) chunkno, page};
			served->pages_versioned++;
			if (pages)
				pages[page] = 1;
		}
		else
			gc_add_hole(&holes, chunk->row_start[page], chunk->row_start[page + 1]);
	}
	gc_append_chunk(served, chunkno, chunk->nrows, &holes);
}

/*-------------------------------------------------------------------------
 * Serving rows of the heap's chunks
 *-------------------------------------------------------------------------
 */

/* The rows of a patched page that are gone, or that the snapshot does not see. */
static void
add_unseen_rows(const GcSeer *seer, const GcHotPages *hot, uint32 page, const GcKept *kept, GcHoles *holes)
{
	const uint32 first = hot->patches[page].first;
	const uint32 end = hot->first_gone[page + 1];
	uint32		gone = hot->first_gone[page];

	for (uint32 i = hot->first_version[page]; i < hot->first_version[page + 1]; i++)
	{
		GcVersion  *v = &hot->versions[i];
		const uint32 row = GC_VERSION_ROW(v);
		uint8		judged;

		if (!GC_VERSION_IN_HEAP(v))
			continue;
		for (; gone < end && first + hot->gone[gone] < row; gone++)
			gc_add_hole(holes, first + hot->gone[gone], first + hot->gone[gone] + 1);
		judged = gc_judge_version(seer, v);
		if (!(judged & GC_VERSION_SEEN) && !(kept && (judged & GC_VERSION_OPEN)))
			gc_add_hole(holes, row, row + 1);
	}
	for (; gone < end; gone++)
		gc_add_hole(holes, first + hot->gone[gone], first + hot->gone[gone] + 1);
}

/* Where serve_patched() is in the delta: a range, a block of it, and its number. */
typedef struct GcDeltaCursor
{
	uint32		range;
	BlockNumber at;				/* of the range */
	BlockNumber number;
} GcDeltaCursor;

/* The holes of a chunk of the heap, if they are others than those that were judged. */
static bool
find_holes(const GcSeer *seer, const GcDirectory *dir, const GcServed *served, uint32 c, GcDeltaCursor *cursor,
		   const GcServedPage *pages, const GcKept *kept, GcHoles *holes)
{
	const GcChunk *chunk = dir->chunks[c];
	const BlockNumber first = c * (BlockNumber) gc_chunk_pages;
	const uint32 length = gc_chunk_length(c, served->nblocks);
	const uint32 npages = chunk ? Min(chunk->npages, length) : 0;
	bool		patched = false;

	while (cursor->range < served->nranges)
	{
		const GcBlockRange *range = &served->ranges[cursor->range];
		const BlockNumber page = range->first + cursor->at - first;
		const GcServedPage *from = &pages[cursor->number];

		if (page >= length)
			break;
		if (page < npages && from->chunk >= 0 && dir->chunks[from->chunk]->hot->patches[from->page].chunk_id != 0)
		{
			add_unseen_rows(seer, dir->chunks[from->chunk]->hot, from->page, kept, holes);
			patched = true;
		}
		else if (page < npages && from->chunk < 0 && kept && kept->delta_open)
			patched = true;
		else if (page < npages)
			gc_add_hole(holes, chunk->row_start[page], chunk->row_start[page + 1]);
		cursor->number++;
		if (++cursor->at == range->count)
		{
			cursor->range++;
			cursor->at = 0;
		}
	}
	if (chunk)
		gc_add_hole(holes, chunk->row_start[npages], chunk->nrows);
	return patched;
}

/*
 * Serve the heap's rows of patched pages.  The first nheap chunks of `served` are the heap's, as judged, and
 * pages are the pages of its delta, which has not been shortened yet.  kept: open versions are left to the
 * caller, and so are other pages of the delta with kept->delta_open.
 */
static void
serve_patched(const GcSeer *seer, const GcDirectory *dir, GcServed *served, uint32 nheap,
			  const GcServedPage *pages, const GcKept *kept)
{
	const GcServedChunk *old = served->chunks;
	const uint32 nhot = served->nchunks - nheap;
	GcDeltaCursor cursor = {0};
	uint32		k = 0;

	served->chunks = palloc_extended((dir->nheap + nhot + 1) * sizeof(GcServedChunk), MCXT_ALLOC_HUGE);
	served->nchunks = 0;
	for (uint32 c = 0; c < dir->nheap; c++)
	{
		const GcServedChunk *was = k < nheap && old[k].chunk == c ? &old[k++] : NULL;
		GcHoles		holes = {0};

		CHECK_FOR_INTERRUPTS();
		if (was)
			served->rows_served -= was->nrows - was->hole_rows;
		if (find_holes(seer, dir, served, c, &cursor, pages, kept, &holes))
			gc_append_chunk(served, c, dir->chunks[c]->nrows, &holes);
		else if (was)
		{
			served->chunks[served->nchunks++] = *was;
			served->rows_served += was->nrows - was->hole_rows;
		}
	}
	memcpy(&served->chunks[served->nchunks], &old[nheap], nhot * sizeof(GcServedChunk));
	served->nchunks += nhot;
}

/*-------------------------------------------------------------------------
 * A snapshot
 *-------------------------------------------------------------------------
 */

/* Leave in the delta only pages that are not served. */
static void
shorten_delta(GcServed *served, const GcBlockSet *delta)
{
	GcBlockRange *old = served->ranges;
	uint32		nold = served->nranges;
	BlockNumber n = 0;
	GcServing	serving = {.served = served};

	served->ranges = NULL;
	served->nranges = 0;
	served->pages_delta = 0;
	for (uint32 r = 0; r < nold; r++)
	{
		for (BlockNumber i = 0; i < old[r].count; i++, n++)
		{
			if (!GC_BLOCK_TAKEN(delta, n))
				gc_add_delta(&serving, old[r].first + i, 1);
		}
	}
	pfree(old);
}

/* Chunks are served in ascending order, which the worker relies on. */
static void
reverse_chunks(GcServedChunk *chunks, uint32 n)
{
	for (uint32 i = 0; i < n / 2; i++)
	{
		GcServedChunk c = chunks[i];

		chunks[i] = chunks[n - 1 - i];
		chunks[n - 1 - i] = c;
	}
}

void
gc_serve_versions(const GcDirectory *dir, Snapshot snapshot, GcServed *served, GcKept *kept)
{
	const uint32 first = served->nchunks;
	GcServedPage *from;
	GcBlockSet	delta;
	GcSeer		seer;

	Assert(gc_guard_held());
	if (dir == NULL || dir->nheap == dir->nchunks || served->nranges == 0 || snapshot == NULL ||
		snapshot->snapshot_type != SNAPSHOT_MVCC)
		return;

	gc_seer_init(&seer, snapshot);
	gc_blocks_init(&delta, served->ranges, served->nranges);
	from = palloc_extended(((Size) delta.npages + 1) * sizeof(GcServedPage), MCXT_ALLOC_HUGE);
	for (BlockNumber n = 0; n < delta.npages; n++)
		from[n].chunk = -1;

	/* The chunk that was read last is the likeliest to be valid. */
	for (uint32 c = dir->nchunks; c > dir->nheap; c--)
	{
		if (dir->chunks[c - 1])
			serve_chunk(&seer, dir, c - 1, &delta, served, kept, from);
	}
	reverse_chunks(served->chunks + first, served->nchunks - first);
	if (served->pages_versioned > 0)
	{
		if (kept)
			kept->delta_open = delta.npages - served->pages_versioned <= MOST_LEFT_OPEN;
		serve_patched(&seer, dir, served, first, from, kept);
		shorten_delta(served, &delta);
	}
	pfree(from);
	pfree(delta.taken);
}
