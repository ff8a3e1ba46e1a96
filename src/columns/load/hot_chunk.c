/*-------------------------------------------------------------------------
 *
 * hot_chunk.c
 *	  Reading hot pages into a hot chunk: their rows, LSNs and transactions.
 *
 * Runs in every participant of a load job, under a guard, with the relation open and an active
 * snapshot.  See serve/versions.h for the use of hot chunks.
 *
 * Left out are row versions that no snapshot can see: those whose inserting transaction has failed, and those whose
 * deletion every snapshot sees.  A page is refused, and read by each session, if a version's transactions cannot be
 * told by two ids (a multixact with an updater).  So it is if a version that not every snapshot sees has values in a
 * TOAST table, which may be gone.
 *
 * A column may be added to a hot chunk later.  A page whose LSN is the recorded one has the tuples
 * that it had.  Tuples that were left out of them are recorded, since more would be left out now.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "../serve/wal_changes.h"
#include "chunk_internal.h"
#include "../serve/patches.h"

/*-------------------------------------------------------------------------
 * Pages
 *-------------------------------------------------------------------------
 */
void
gc_hot_begin(GcReading *reading, GcJobHotPage *wanted)
{
	reading->wanted = wanted;
	reading->refused = palloc0(reading->npages * sizeof(bool));
	reading->row_start = palloc((reading->npages + 1) * sizeof(uint32));
	reading->versions_size = 1024;
	reading->left_out_size = 1024;
	reading->gone_size = 1024;
	reading->hot = gc_hot_init(palloc_extended(gc_hot_size(reading->npages, 0, 0, 0), MCXT_ALLOC_HUGE),
							   reading->npages, 0, 0);
	reading->hot->versions = palloc(reading->versions_size * sizeof(GcVersion));
	reading->hot->left_out = palloc(reading->left_out_size * sizeof(uint16));
	reading->hot->gone = palloc(reading->gone_size * sizeof(uint16));
}

/* The version after the last; a page has less than MaxHeapTuplesPerPage of them. */
static GcVersion *
next_version(GcReading *reading, uint32 n)
{
	GcHotPages *hot = reading->hot;

	if (n == reading->versions_size)
	{
		reading->versions_size *= 2;
		hot->versions = repalloc_huge(hot->versions, reading->versions_size * sizeof(GcVersion));
	}
	return &hot->versions[n];
}

/* Note a number as the nth of a list. */
static void
note_number(uint16 **list, uint32 *size, uint32 n, uint16 number)
{
	if (n == *size)
	{
		*size *= 2;
		*list = repalloc_huge(*list, *size * sizeof(uint16));
	}
	(*list)[n] = number;
}

/* Note a tuple that is no row, as the nth that was left out. */
static void
leave_out(GcReading *reading, uint32 n, OffsetNumber offset)
{
	note_number(&reading->hot->left_out, &reading->left_out_size, n, offset);
}

/* Note a row of the heap's chunk, by its number in the page, as the nth that is gone. */
static void
let_go(GcReading *reading, uint32 n, uint32 row)
{
	note_number(&reading->hot->gone, &reading->gone_size, n, (uint16) row);
}

/* Counts of notes about the pages so far, beside their rows. */
typedef struct GcNoted
{
	uint32		nversions;
	uint32		nleft_out;
	uint32		ngone;
} GcNoted;

/* The heap's chunk's rows of a page, if that chunk is to stay. */
static void
begin_patching(const GcLoader *loader, const GcHorizon *h, BlockNumber block, GcPatching *patching)
{
	const GcJobData *data = loader->job->data;
	const uint32 c = GC_HEAP_CHUNK(block);
	const bool	stays = c < data->nheap && !data->chunks[c].full;

	gc_patching_begin(patching, stays ? data->base : NULL, block, h->next);
}

/* A tuple that the heap's chunk has as a row; false if the page cannot be kept. */
static bool
read_heap_row(GcReading *reading, const GcHorizon *h, const GcPatch *patch, HeapTupleHeader tuple, uint32 row,
			  GcNoted *noted)
{
	GcVersion  *v = next_version(reading, noted->nversions);
	const GcTupleFate fate = gc_judge_tuple(h, tuple, v);

	if (fate == GC_TUPLE_OF_NONE)
		let_go(reading, noted->ngone++, row);
	else if (fate == GC_TUPLE_OF_SOME)
	{
		v->row = (patch->first + row) | GC_HEAP_ROW;
		noted->nversions++;
	}
	return fate != GC_TUPLE_REFUSED;
}

/* Read a page of the table; false if it cannot be kept, and then nothing is appended. */
static bool
read_page(const GcLoader *loader, GcReading *reading, const GcHorizon *h, BlockNumber block, GcNoted *noted)
{
	GcReader   *reader = reading->set->reader;
	GcHotPages *hot = reading->hot;
	const uint32 page = reading->npresent;
	GcPatching	patching;
	const uint32 row = gc_encoder_rows(gc_reader_encoder(reader));
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	OffsetNumber last;
	Buffer		buffer;
	uint32		n = 0;
	GcNoted		now = *noted;

	hot->lsns[page] = gc_reader_copy_page(reader, block, &buffer);
	hot->changed[page] = false;
	pg_atomic_init_u32(&hot->buffers[page], (uint32) buffer);
	/* A page that was never written has no rows, and an LSN as soon as it has. */
	if (hot->lsns[page] == InvalidXLogRecPtr && !gc_reader_page_is_new(reader))
		return false;
	begin_patching(loader, h, block, &patching);
	last = gc_reader_last_offset(reader);
	for (OffsetNumber i = FirstOffsetNumber; i <= last; i++)
	{
		HeapTupleHeader tuple = gc_reader_tuple(reader, i);
		GcVersion  *v;
		GcTupleFate fate;
		int32		heap_row;

		if (gc_patching_next(&patching, i, tuple, &heap_row))
		{
			if (!read_heap_row(reading, h, &patching.patch, tuple, heap_row, &now))
				return false;
			continue;
		}
		if (heap_row >= 0)
			let_go(reading, now.ngone++, heap_row);
		v = next_version(reading, now.nversions);
		fate = tuple ? gc_judge_tuple(h, tuple, v) : GC_TUPLE_OF_NONE;
		if (fate == GC_TUPLE_REFUSED || n == MaxHeapTuplesPerPage ||
			(fate == GC_TUPLE_OF_SOME && (tuple->t_infomask & HEAP_HASEXTERNAL)))
			return false;
		if (fate == GC_TUPLE_OF_NONE)
		{
			if (tuple)
				leave_out(reading, now.nleft_out++, i);
			continue;
		}
		if (fate == GC_TUPLE_OF_SOME)
		{
			v->row = row + n;
			now.nversions++;
		}
		offsets[n++] = i;
	}
	while (patching.row < patching.patch.rows)
		let_go(reading, now.ngone++, patching.row++);
	hot->patches[page] = patching.patch;
	gc_reader_add_tuples(reader, offsets, n);
	*noted = now;
	reading->pages_read++;
	return true;
}

/* The set's columns of a chunk of the base; NULL for a column that is given up. */
static const GcChunkColumn **
base_cells(const GcLoader *loader, const GcReading *reading, int32 chunk)
{
	const GcJobData *data = loader->job->data;
	const GcColumnSet *set = reading->set;
	const GcChunkColumn **cells = palloc(Max(set->ncols, 1) * sizeof(GcChunkColumn *));

	for (int i = 0; i < set->ncols; i++)
		cells[i] = GC_CELL(data->base, chunk, data->cols[set->job_cols[i]].base_col);
	return cells;
}

/* Is this transaction's work seen by every snapshot by now? */
static bool
seen_by_all(const GcHorizon *h, FullTransactionId xid, bool committed)
{
	return FullTransactionIdIsValid(xid) && committed && FullTransactionIdPrecedes(xid, h->oldest);
}

/* Copy a page of a hot chunk, as it was read at the time. */
static void
copy_page(const GcLoader *loader, GcReading *reading, const GcHorizon *h, const GcJobHotPage *from,
		  const GcChunkColumn **cells, GcNoted *noted)
{
	const GcChunk *chunk = loader->job->data->base->chunks[from->chunk];
	const GcHotPages *old = chunk->hot;
	GcEncoder  *encoder = gc_reader_encoder(reading->set->reader);
	GcHotPages *hot = reading->hot;
	const uint32 page = reading->npresent;
	const uint32 first = chunk->row_start[from->page];
	const uint32 row = gc_encoder_rows(encoder);

	hot->lsns[page] = old->lsns[from->page];
	hot->changed[page] = old->changed[from->page];
	pg_atomic_init_u32(&hot->buffers[page], pg_atomic_read_u32(&old->buffers[from->page]));
	gc_encoder_add_cells(encoder, chunk->row_start[from->page + 1] - first, cells, first);
	for (uint32 i = old->first_version[from->page]; i < old->first_version[from->page + 1]; i++)
	{
		const GcVersion *o = &old->versions[i];
		const uint32 known = pg_atomic_read_u32((pg_atomic_uint32 *) &o->known);
		GcVersion  *v = next_version(reading, noted->nversions);

		v->row = GC_VERSION_IN_HEAP(o) ? o->row : o->row - first + row;
		v->xmin = seen_by_all(h, o->xmin, known & GC_XMIN_COMMITTED) ? InvalidFullTransactionId : o->xmin;
		v->xmax = (known & GC_XMAX_ABORTED) ? InvalidFullTransactionId : o->xmax;
		pg_atomic_init_u32(&v->known, known);
		if (FullTransactionIdIsValid(v->xmin) || FullTransactionIdIsValid(v->xmax))
			noted->nversions++;
	}
	for (uint32 i = old->first_left_out[from->page]; i < old->first_left_out[from->page + 1]; i++)
		leave_out(reading, noted->nleft_out++, old->left_out[i]);
	hot->patches[page] = old->patches[from->page];
	for (uint32 i = old->first_gone[from->page]; i < old->first_gone[from->page + 1]; i++)
		let_go(reading, noted->ngone++, old->gone[i]);
}

/* The pages that are kept end here, for now. */
static void
end_page(GcReading *reading, const GcNoted *noted)
{
	reading->hot->first_version[reading->npresent] = noted->nversions;
	reading->hot->first_left_out[reading->npresent] = noted->nleft_out;
	reading->hot->first_gone[reading->npresent] = noted->ngone;
	reading->row_start[reading->npresent] = gc_encoder_rows(gc_reader_encoder(reading->set->reader));
}

/* Pages of this chunk are about to be copied, with their marks. */
static void
prove_no_further(GcHotPages *hot, GcHotPages *from)
{
	const XLogRecPtr proven_to = pg_atomic_read_u64(&from->proven_to);

	if (proven_to < pg_atomic_read_u64(&hot->proven_to))
		pg_atomic_write_u64(&hot->proven_to, proven_to);
	pg_read_barrier();
}

bool
gc_hot_read(GcLoader *loader, GcReading *reading)
{
	const BlockNumber nblocks = RelationGetNumberOfBlocks(loader->rel);
	const GcHorizon h = gc_horizon(loader->rel);
	const GcChunkColumn **cells = NULL;
	int32		cells_of = -1;
	GcNoted		noted = {0};

	reading->npresent = 0;
	pg_atomic_write_u64(&reading->hot->proven_to, gc_wal_now());
	for (uint32 w = 0; w < reading->npages; w++)
	{
		const GcJobHotPage *from = &reading->wanted[w];

		if (reading->refused[w] || from->block >= nblocks)
			continue;
		CHECK_FOR_INTERRUPTS();
		reading->hot->blocks[reading->npresent] = from->block;
		end_page(reading, &noted);
		if (from->chunk >= 0)
		{
			if (from->chunk != cells_of)
			{
				cells_of = from->chunk;
				cells = base_cells(loader, reading, cells_of);
				prove_no_further(reading->hot, loader->job->data->base->chunks[cells_of]->hot);
			}
			copy_page(loader, reading, &h, from, cells, &noted);
		}
		else if (!read_page(loader, reading, &h, from->block, &noted))
			continue;
		if (gc_met_problem(loader, reading->set))
		{
			reading->refused[w] = true;
			return false;
		}
		reading->npresent++;
	}
	end_page(reading, &noted);
	return true;
}

/*-------------------------------------------------------------------------
 * Columns added
 *-------------------------------------------------------------------------
 */

/* The tuples that are rows of a page of a hot chunk; the page has not changed. */
static uint32
find_rows(GcReader *reader, const GcDirectory *dir, const GcHotPages *hot, uint32 page, OffsetNumber *offsets)
{
	const OffsetNumber last = gc_reader_last_offset(reader);
	const bool	patched = hot->patches[page].chunk_id != 0;
	GcPatching	patching;
	uint32		skip = hot->first_left_out[page];
	uint32		n = 0;

	gc_patching_begin(&patching, patched ? dir : NULL, hot->blocks[page], ReadNextFullTransactionId());
	for (OffsetNumber i = FirstOffsetNumber; i <= last && n < MaxHeapTuplesPerPage; i++)
	{
		HeapTupleHeader tuple = gc_reader_tuple(reader, i);
		int32		heap_row;

		if (gc_patching_next(&patching, i, tuple, &heap_row))
			continue;
		if (skip < hot->first_left_out[page + 1] && hot->left_out[skip] == i)
			skip++;
		else if (tuple)
			offsets[n++] = i;
	}
	return n;
}

/*
 * Read a page again.  If its LSN has moved, NULLs stand in its place, and the page is marked before the
 * directory with this column is there.  Else a session that relies on an earlier look would still be
 * served it, if no transaction has ended since.  Pruning and hint bits move LSNs, too.  False if the
 * page has other rows all the same, which must not be.
 */
static bool
add_page(GcReading *reading, const GcDirectory *dir, const GcChunk *chunk, uint32 page, BlockNumber nblocks)
{
	GcReader   *reader = reading->set->reader;
	const BlockNumber block = chunk->hot->blocks[page];
	const uint32 nrows = chunk->row_start[page + 1] - chunk->row_start[page];
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	Buffer		buffer;

	if (block >= nblocks || !gc_patch_holds(dir, chunk->hot, page) ||
		gc_reader_copy_page(reader, block, &buffer) != chunk->hot->lsns[page])
	{
		chunk->hot->changed[page] = true;
		gc_encoder_add_nulls(gc_reader_encoder(reader), nrows);
		return true;
	}
	if (find_rows(reader, dir, chunk->hot, page, offsets) != nrows)
		return false;
	gc_reader_add_tuples(reader, offsets, nrows);
	reading->pages_read++;
	return true;
}

bool
gc_hot_add(GcLoader *loader, GcReading *reading)
{
	const BlockNumber nblocks = RelationGetNumberOfBlocks(loader->rel);
	const GcJobData *data = loader->job->data;
	const GcChunk *chunk = data->base->chunks[data->chunks[reading->chunkno].base];

	for (uint32 page = 0; page < chunk->npages; page++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!add_page(reading, data->base, chunk, page, nblocks) || gc_met_problem(loader, reading->set))
			return false;
	}
	reading->npresent = chunk->npages;
	return true;
}

/*-------------------------------------------------------------------------
 * The chunk
 *-------------------------------------------------------------------------
 */
GcChunk *
gc_hot_make_chunk(const GcReading *reading)
{
	const GcHotPages *from = reading->hot;
	const uint32 npages = reading->npresent;
	const uint32 nversions = from->first_version[npages];
	const uint32 nleft_out = from->first_left_out[npages];
	const uint32 ngone = from->first_gone[npages];
	Size		starts = (npages + 1) * sizeof(uint32);
	Size		header = MAXALIGN(sizeof(GcChunk));
	GcChunk    *chunk = gc_job_alloc(header + MAXALIGN(starts) + gc_hot_size(npages, nversions, nleft_out, ngone),
									 sizeof(GcObject));
	GcHotPages *hot;

	if (chunk == NULL)
		return NULL;
	chunk->chunkno = reading->chunkno;
	chunk->first = InvalidBlockNumber;
	chunk->npages = chunk->npresent = npages;
	chunk->nrows = reading->row_start[npages];
	chunk->map_lsn = InvalidXLogRecPtr;
	pg_atomic_init_u64(&chunk->proven_lsn, InvalidXLogRecPtr);
	pg_atomic_init_u64(&chunk->proven_to, InvalidXLogRecPtr);
	chunk->present = NULL;
	chunk->lsns = NULL;
	chunk->buffers = NULL;
	chunk->id = 0;
	chunk->before = InvalidFullTransactionId;
	chunk->first_missing = NULL;
	chunk->missing = NULL;
	chunk->row_start = (uint32 *) ((char *) chunk + header);
	memcpy(chunk->row_start, reading->row_start, starts);
	chunk->hot = hot = gc_hot_init((char *) chunk->row_start + MAXALIGN(starts), npages, nversions, nleft_out);
	memcpy(hot->blocks, from->blocks, npages * sizeof(BlockNumber));
	memcpy(hot->lsns, from->lsns, npages * sizeof(XLogRecPtr));
	memcpy(hot->buffers, from->buffers, npages * sizeof(pg_atomic_uint32));
	memcpy(hot->changed, from->changed, npages);
	pg_atomic_init_u64(&hot->proven_to, pg_atomic_read_u64(&reading->hot->proven_to));
	memcpy(hot->first_version, from->first_version, (npages + 1) * sizeof(uint32));
	memcpy(hot->first_left_out, from->first_left_out, (npages + 1) * sizeof(uint32));
	memcpy(hot->versions, from->versions, (Size) nversions * sizeof(GcVersion));
	memcpy(hot->left_out, from->left_out, (Size) nleft_out * sizeof(uint16));
	memcpy(hot->patches, from->patches, npages * sizeof(GcPatch));
	memcpy(hot->first_gone, from->first_gone, (npages + 1) * sizeof(uint32));
	memcpy(hot->gone, from->gone, (Size) ngone * sizeof(uint16));
	return chunk;
}
