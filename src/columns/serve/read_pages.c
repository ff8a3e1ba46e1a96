/*-------------------------------------------------------------------------
 *
 * read_pages.c
 *	  Hot pages that a session has read, for the sessions behind it.  See read_pages.h for the proof.
 *
 * Runs in backends, under a guard.  A note is in the arena, and never changes but for marks and what became of transactions.
 * Sessions that read the same pages at a time replace each other's notes; any of them is good.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "bound.h"
#include "patches.h"
#include "read_pages.h"
#include "../store/store.h"

/* A new note is made for so many pages, and this part of those that are noted.  Fewer are less work than a note. */
#define LEAST_READ		8
#define LEAST_READ_PART	64

/* Pages of a note that is being made. */
typedef struct GcReadingPages
{
	Relation	rel;
	const GcDirectory *dir;
	GcHorizon	horizon;
	uint32		npages;
	GcHotPages *hot;			/* all but these, which grow: */
	StringInfoData versions;	/* GcVersion */
	StringInfoData gone;		/* uint16 */
	StringInfoData tuples;		/* HeapTupleData, without t_data */
	StringInfoData bytes;		/* of the tuples, each from an aligned place on */
} GcReadingPages;

#define COUNT_OF(list, type) ((uint32) ((list).len / sizeof(type)))

/*-------------------------------------------------------------------------
 * Reading
 *-------------------------------------------------------------------------
 */
static void
add_tuple(GcReadingPages *to, const HeapTupleData *tuple)
{
	static const char padding[MAXIMUM_ALIGNOF] = {0};

	appendBinaryStringInfo(&to->tuples, (const char *) tuple, sizeof(HeapTupleData));
	appendBinaryStringInfo(&to->bytes, (const char *) tuple->t_data, tuple->t_len);
	appendBinaryStringInfo(&to->bytes, padding, MAXALIGN(tuple->t_len) - tuple->t_len);
}

static void
add_version(GcReadingPages *to, const GcVersion *v)
{
	appendBinaryStringInfo(&to->versions, (const char *) v, sizeof(GcVersion));
}

/* A row of the heap's chunk, by its number in the page. */
static void
add_gone(GcReadingPages *to, uint32 row)
{
	const uint16 number = (uint16) row;

	appendBinaryStringInfo(&to->gone, (const char *) &number, sizeof(uint16));
}

/* The tuples of a page under its lock; false if they cannot be told by two transactions each. */
static bool
read_tuples(GcReadingPages *to, Page page, BlockNumber block, GcPatching *patching)
{
	const OffsetNumber last = PageIsNew(page) ? InvalidOffsetNumber : PageGetMaxOffsetNumber(page);

	for (OffsetNumber i = FirstOffsetNumber; i <= last; i++)
	{
		ItemId		item = PageGetItemId(page, i);
		HeapTupleData tuple = {.t_tableOid = RelationGetRelid(to->rel)};
		GcTupleFate fate = GC_TUPLE_OF_NONE;
		GcVersion	v;
		int32		row;
		bool		is_row;

		if (ItemIdIsNormal(item))
		{
			tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
			tuple.t_len = ItemIdGetLength(item);
			ItemPointerSet(&tuple.t_self, block, i);
			fate = gc_judge_tuple(&to->horizon, tuple.t_data, &v);
		}
		if (fate == GC_TUPLE_REFUSED)
			return false;
		is_row = gc_patching_next(patching, i, tuple.t_data, &row);
		if (row >= 0 && (!is_row || fate == GC_TUPLE_OF_NONE))
			add_gone(to, row);
		if (fate == GC_TUPLE_OF_NONE || (is_row && fate == GC_TUPLE_OF_ALL))
			continue;
		v.row = is_row ? (patching->patch.first + row) | GC_HEAP_ROW : COUNT_OF(to->tuples, HeapTupleData);
		add_version(to, &v);
		if (!is_row)
			add_tuple(to, &tuple);
	}
	while (patching->row < patching->patch.rows)
		add_gone(to, patching->row++);
	return true;
}

/* A page that cannot be noted has chunk_id 0: each session reads it. */
static void
read_page(GcReadingPages *to, BlockNumber block)
{
	const uint32 n = to->npages;
	const int	versions = to->versions.len;
	const int	gone = to->gone.len;
	const int	tuples = to->tuples.len;
	const int	bytes = to->bytes.len;
	GcPatching	patching;
	Buffer		buffer;

	gc_patching_begin(&patching, to->dir, block, to->horizon.next);
	buffer = ReadBuffer(to->rel, block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	to->hot->lsns[n] = BufferGetLSNAtomic(buffer);
	pg_atomic_init_u32(&to->hot->buffers[n], (uint32) buffer);
	to->hot->patches[n] = patching.patch;
	if (to->hot->lsns[n] == InvalidXLogRecPtr || !read_tuples(to, BufferGetPage(buffer), block, &patching))
	{
		to->hot->patches[n].chunk_id = 0;
		to->versions.len = versions;
		to->gone.len = gone;
		to->tuples.len = tuples;
		to->bytes.len = bytes;
	}
	UnlockReleaseBuffer(buffer);
}

static void
copy_page(GcReadingPages *to, const GcReadPages *from, uint32 page)
{
	const GcHotPages *old = from->chunk.hot;
	const uint32 n = to->npages;
	const uint32 gone = old->first_gone[page];

	to->hot->lsns[n] = old->lsns[page];
	to->hot->changed[n] = old->changed[page];
	pg_atomic_init_u32(&to->hot->buffers[n], pg_atomic_read_u32(&old->buffers[page]));
	to->hot->patches[n] = old->patches[page];
	for (uint32 i = old->first_version[page]; i < old->first_version[page + 1]; i++)
	{
		GcVersion	v = old->versions[i];

		if (!GC_VERSION_IN_HEAP(&v))
		{
			v.row = COUNT_OF(to->tuples, HeapTupleData);
			add_tuple(to, &from->tuples[old->versions[i].row]);
		}
		add_version(to, &v);
	}
	appendBinaryStringInfo(&to->gone, (const char *) (old->gone + gone), (old->first_gone[page + 1] - gone) * sizeof(uint16));
}

static void
end_page(GcReadingPages *to)
{
	to->hot->first_version[to->npages] = COUNT_OF(to->versions, GcVersion);
	to->hot->first_gone[to->npages] = COUNT_OF(to->gone, uint16);
	to->hot->first_left_out[to->npages] = 0;
}

/*-------------------------------------------------------------------------
 * Notes
 *-------------------------------------------------------------------------
 */

/* Could the heap's chunk have rows of a page?  Other pages are not noted. */
static bool
is_patched(const GcDirectory *dir, BlockNumber block)
{
	GcPatching	patching;

	gc_patching_begin(&patching, dir, block, InvalidFullTransactionId);
	return patching.patch.chunk_id != 0;
}

int64
gc_read_pages_find(const GcReadPages *read, BlockNumber block, uint32 *at)
{
	const uint32 npages = read ? read->chunk.npages : 0;

	while (*at < npages && read->chunk.hot->blocks[*at] < block)
		(*at)++;
	return *at < npages && read->chunk.hot->blocks[*at] == block && !read->chunk.hot->changed[*at] ? (int64) *at : -1;
}

/* Note pages that were read, and are proven so far. */
static void
note_pages(GcProof *proof, const GcReadingPages *from, XLogRecPtr proven_to)
{
	const Size	header = MAXALIGN(sizeof(GcReadPages));
	const uint32 nversions = COUNT_OF(from->versions, GcVersion);
	const uint32 ntuples = COUNT_OF(from->tuples, HeapTupleData);
	const Size	hot_size = MAXALIGN(gc_hot_size(from->npages, nversions, 0, COUNT_OF(from->gone, uint16)));
	const Size	size = header + hot_size + MAXALIGN(from->tuples.len) + from->bytes.len;
	GcReadPages *read = gc_note_alloc(size);
	GcHotPages *hot;
	char	   *bytes;

	if (read == NULL)
		return;
	memset(read, 0, header);
	read->note.obj.size = size;
	read->id = gc_store_new_id();
	read->chunk.npages = from->npages;
	read->chunk.hot = hot = gc_hot_init((char *) read + header, from->npages, nversions, 0);
	memcpy(hot->blocks, from->hot->blocks, from->npages * sizeof(BlockNumber));
	memcpy(hot->lsns, from->hot->lsns, from->npages * sizeof(XLogRecPtr));
	memcpy(hot->buffers, from->hot->buffers, from->npages * sizeof(pg_atomic_uint32));
	memcpy(hot->changed, from->hot->changed, from->npages);
	memcpy(hot->patches, from->hot->patches, from->npages * sizeof(GcPatch));
	memcpy(hot->first_version, from->hot->first_version, (from->npages + 1) * sizeof(uint32));
	memcpy(hot->first_left_out, from->hot->first_left_out, (from->npages + 1) * sizeof(uint32));
	memcpy(hot->first_gone, from->hot->first_gone, (from->npages + 1) * sizeof(uint32));
	memcpy(hot->versions, from->versions.data, from->versions.len);
	memcpy(hot->gone, from->gone.data, from->gone.len);
	pg_atomic_init_u64(&hot->proven_to, proven_to);
	read->tuples = (HeapTupleData *) ((char *) read + header + hot_size);
	memcpy(read->tuples, from->tuples.data, from->tuples.len);
	bytes = (char *) read->tuples + MAXALIGN(from->tuples.len);
	memcpy(bytes, from->bytes.data, from->bytes.len);
	for (uint32 i = 0; i < ntuples; i++)
	{
		read->tuples[i].t_data = (HeapTupleHeader) bytes;
		bytes += MAXALIGN(read->tuples[i].t_len);
	}
	gc_note_put(proof->dir, GC_NOTE_READ, &read->note);
	if (!gc_store_has_directory(proof->dir))
		gc_note_forget(proof->dir);
	proof->read = read;
}

/* Read the blocks that the note lacks, and copy the others. */
static void
read_blocks(GcProof *proof, const BlockNumber *blocks, uint32 n)
{
	const GcReadPages *old = proof->read;
	GcReadingPages to = {.rel = proof->rel,.dir = proof->dir};
	XLogRecPtr	proven_to = gc_wal_now();
	uint32		at = 0;

	if (old)
		proven_to = Min(proven_to, pg_atomic_read_u64(&old->chunk.hot->proven_to));
	pg_read_barrier();
	to.horizon = gc_horizon(proof->rel);
	to.hot = gc_hot_init(palloc_extended(gc_hot_size(n, 0, 0, 0), MCXT_ALLOC_HUGE), n, 0, 0);
	initStringInfo(&to.versions);
	initStringInfo(&to.gone);
	initStringInfo(&to.tuples);
	initStringInfo(&to.bytes);
	for (uint32 i = 0; i < n; i++)
	{
		const int64 page = gc_read_pages_find(old, blocks[i], &at);

		CHECK_FOR_INTERRUPTS();
		if (page < 0 && !is_patched(proof->dir, blocks[i]))
			continue;
		end_page(&to);
		to.hot->blocks[to.npages] = blocks[i];
		if (page >= 0)
			copy_page(&to, old, (uint32) page);
		else
			read_page(&to, blocks[i]);
		to.npages++;
	}
	end_page(&to);
	note_pages(proof, &to, proven_to);
	pfree(to.hot);
	pfree(to.versions.data);
	pfree(to.gone.data);
	pfree(to.tuples.data);
	pfree(to.bytes.data);
}

void
gc_read_pages(GcProof *proof, const BlockNumber *blocks, uint32 n)
{
	const uint32 noted = proof->read ? proof->read->chunk.npages : 0;
	uint32		lacking = 0;
	uint32		at = 0;

	for (uint32 i = 0; i < n; i++)
		lacking += gc_read_pages_find(proof->read, blocks[i], &at) < 0 && is_patched(proof->dir, blocks[i]);
	/* Pages are read in vain where there is no room for a note. */
	if (lacking >= LEAST_READ + noted / LEAST_READ_PART && !gc_note_too_large(gc_retired_bytes()) &&
		!gc_note_too_large((Size) n * BLCKSZ / 8))
		read_blocks(proof, blocks, n);
}
