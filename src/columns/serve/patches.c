/*-------------------------------------------------------------------------
 *
 * patches.c
 *	  Rows of hot pages that a chunk of the heap has.  See patches.h for the proof.
 *
 * Runs in backends and loaders, under a guard.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "patches.h"
#include "../../settings.h"

FullTransactionId
gc_all_before(Snapshot snapshot)
{
	if (snapshot == NULL || snapshot->snapshot_type != SNAPSHOT_MVCC)
		return InvalidFullTransactionId;
	return gc_full_xid(snapshot->xmin, ReadNextFullTransactionId());
}

static const GcChunk *
heap_chunk(const GcDirectory *dir, BlockNumber block)
{
	const uint32 c = GC_HEAP_CHUNK(block);

	return dir && c < dir->nheap ? dir->chunks[c] : NULL;
}

/* Has the heap's chunk rows of a page that hot pages can be told by? */
static bool
is_usable(const GcChunk *chunk, uint32 page)
{
	return chunk && page < chunk->npages && FullTransactionIdIsValid(chunk->before) &&
		chunk->row_start[page] != chunk->row_start[page + 1];
}

void
gc_patching_begin(GcPatching *patching, const GcDirectory *dir, BlockNumber block, FullTransactionId next)
{
	const GcChunk *chunk = heap_chunk(dir, block);
	const uint32 page = block % (BlockNumber) gc_chunk_pages;

	memset(patching, 0, sizeof(GcPatching));
	if (!is_usable(chunk, page))
		return;
	patching->patch = (GcPatch) {.chunk_id = chunk->id,.first = chunk->row_start[page]};
	patching->patch.rows = chunk->row_start[page + 1] - patching->patch.first;
	patching->before = chunk->before;
	patching->next = next;
	patching->missing = chunk->missing + chunk->first_missing[page];
	patching->end = chunk->missing + chunk->first_missing[page + 1];
}

bool
gc_patch_holds(const GcDirectory *dir, const GcHotPages *hot, uint32 page)
{
	const uint64 id = hot->patches[page].chunk_id;
	const GcChunk *chunk = heap_chunk(dir, hot->blocks[page]);

	return id == 0 ? !is_usable(chunk, hot->blocks[page] % (BlockNumber) gc_chunk_pages) : chunk && chunk->id == id;
}

/* The page is read as heapgetpage() reads it. */
bool
gc_patch_look(Relation rel, const GcDirectory *dir, BlockNumber block, Snapshot snapshot, FullTransactionId next,
			  GcPageSeen *seen)
{
	GcPatching	patching;
	OffsetNumber last;
	Buffer		buffer;
	Page		page;

	seen->ngone = seen->nnew = 0;
	gc_patching_begin(&patching, dir, block, next);
	if (patching.patch.chunk_id == 0)
		return false;
	buffer = ReadBuffer(rel, block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	last = PageIsNew(page) ? InvalidOffsetNumber : PageGetMaxOffsetNumber(page);
	for (OffsetNumber i = FirstOffsetNumber; i <= last; i++)
	{
		ItemId		item = PageGetItemId(page, i);
		HeapTupleData tuple = {.t_tableOid = RelationGetRelid(rel)};
		int32		row;
		bool		is_row;
		bool		visible = false;

		if (ItemIdIsNormal(item))
		{
			tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
			tuple.t_len = ItemIdGetLength(item);
			ItemPointerSet(&tuple.t_self, block, i);
			visible = HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer);
		}
		is_row = gc_patching_next(&patching, i, tuple.t_data, &row);
		if (row >= 0 && !(is_row && visible))
			seen->gone[seen->ngone++] = patching.patch.first + row;
		if (visible && !is_row && seen->nnew < MaxHeapTuplesPerPage)
			seen->offsets[seen->nnew++] = i;
	}
	UnlockReleaseBuffer(buffer);
	while (patching.row < patching.patch.rows)
		seen->gone[seen->ngone++] = patching.patch.first + patching.row++;
	return true;
}

/*-------------------------------------------------------------------------
 * Serving
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

/* Where gc_serve_patched() is in the delta: a range, a block of it, and its number. */
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

void
gc_serve_patched(const GcSeer *seer, const GcDirectory *dir, GcServed *served, uint32 nheap,
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
