/*-------------------------------------------------------------------------
 *
 * amend.c
 *	  Changes between a base and the pages that a later snapshot is served (serving.h).  Also, hot pages that a session
 *	  has read, for the sessions behind it.  See amend.h for the proof.
 *
 * Runs in backends, under a guard.  A base never changes.  A note of pages is in the arena, and never changes but for
 * marks and transactions' outcomes.  Sessions that read the same pages at a time replace each other's notes; any of
 * them is good.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/transam.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "amend.h"
#include "patches.h"
#include "../store/store.h"
#include "../../settings.h"

/* If more than so many pages, or this part of all, have changed, there is better to be a new base. */
#define MOST_AMENDED		8192
#define MOST_AMENDED_PART	8

/* If VACUUM has made this part of all pages all-visible, or fewer in GC_VACUUMED_MS, there is to be a new base. */
#define VACUUMED_PART		64

/* A new note is made for so many pages, and this part of those that are noted.  Fewer are less work than a note. */
#define LEAST_READ		8
#define LEAST_READ_PART	64

/*-------------------------------------------------------------------------
 * Pages that a session reads for others
 *-------------------------------------------------------------------------
 */

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

/* Keep a copy of the tuple, aligned as a tuple must be. */
static void
put_tuple(GcReadingPages *to, const HeapTupleData *tuple)
{
	static const char padding[MAXIMUM_ALIGNOF] = {0};

	appendBinaryStringInfo(&to->tuples, (const char *) tuple, sizeof(HeapTupleData));
	appendBinaryStringInfo(&to->bytes, (const char *) tuple->t_data, tuple->t_len);
	appendBinaryStringInfo(&to->bytes, padding, MAXALIGN(tuple->t_len) - tuple->t_len);
}

/* A version without its tuple, which is in a heap's chunk or was kept before. */
static void
put_version(GcReadingPages *to, const GcVersion *v)
{
	appendBinaryStringInfo(&to->versions, (const char *) v, sizeof(GcVersion));
}

/* A row of the heap's chunk, by its number in the page. */
static void
put_gone(GcReadingPages *to, uint32 row)
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
			put_gone(to, row);
		if (fate == GC_TUPLE_OF_NONE || (is_row && fate == GC_TUPLE_OF_ALL))
			continue;
		v.row = is_row ? (patching->patch.first + row) | GC_HEAP_ROW : COUNT_OF(to->tuples, HeapTupleData);
		put_version(to, &v);
		if (!is_row)
			put_tuple(to, &tuple);
	}
	while (patching->row < patching->patch.rows)
		put_gone(to, patching->row++);
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

/* Take over all that was read of an unchanged page, with its versions and tuples. */
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
			put_tuple(to, &from->tuples[old->versions[i].row]);
		}
		put_version(to, &v);
	}
	appendBinaryStringInfo(&to->gone, (const char *) (old->gone + gone),
						   (old->first_gone[page + 1] - gone) * sizeof(uint16));
}

/* The next page's versions begin here. */
static void
end_page(GcReadingPages *to)
{
	to->hot->first_version[to->npages] = COUNT_OF(to->versions, GcVersion);
	to->hot->first_gone[to->npages] = COUNT_OF(to->gone, uint16);
	to->hot->first_left_out[to->npages] = 0;
}

/* Could the heap's chunk have rows of a page?  Other pages are not noted. */
static bool
is_patched(const GcDirectory *dir, BlockNumber block)
{
	GcPatching	patching;

	gc_patching_begin(&patching, dir, block, InvalidFullTransactionId);
	return patching.patch.chunk_id != 0;
}

/* The number of a page in the note, or -1: each session is to read it.  Blocks must ascend, and *at begin with 0. */
static int64
find_read_page(const GcReadPages *read, BlockNumber block, uint32 *at)
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
		const int64 page = find_read_page(old, blocks[i], &at);

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

/*
 * Have the directory's note of pages that have been read, in proof->read.  Of the blocks, which ascend, those are read
 * that it lacks, if they are many.
 */
static void
read_pages(GcProof *proof, const BlockNumber *blocks, uint32 n)
{
	const uint32 noted = proof->read ? proof->read->chunk.npages : 0;
	uint32		lacking = 0;
	uint32		at = 0;

	for (uint32 i = 0; i < n; i++)
		lacking += find_read_page(proof->read, blocks[i], &at) < 0 && is_patched(proof->dir, blocks[i]);
	/* Pages are read in vain where there is no room for a note. */
	if (lacking >= LEAST_READ + noted / LEAST_READ_PART && !gc_note_too_large(gc_retired_bytes()) &&
		!gc_note_too_large((Size) n * BLCKSZ / 8))
		read_blocks(proof, blocks, n);
}

/*-------------------------------------------------------------------------
 * Finding
 *-------------------------------------------------------------------------
 */
typedef struct GcFinding
{
	const GcDirectory *dir;
	const GcBase *base;
	GcAmendment *amendment;
	uint32		holes_size;
	uint32		blocks_size;
	uint32		new_size;
	uint32		offsets_size;
	uint32		tuples_size;
	GcSeer		seer;
} GcFinding;

/* Rows of a chunk that the snapshot does not see. */
static void
add_hole(GcFinding *f, uint32 chunk, uint32 from, uint32 to)
{
	GcAmendment *a = f->amendment;

	if (from == to)
		return;
	if (a->nholes == f->holes_size)
		a->holes = gc_more_room(a->holes, &f->holes_size, 256, sizeof(GcAmendedHole));
	a->holes[a->nholes++] = (GcAmendedHole) {chunk, {from, to}};
}

/* A page that the session reads itself. */
static void
add_block(GcFinding *f, BlockNumber block)
{
	GcAmendment *a = f->amendment;

	if (a->nblocks == f->blocks_size)
		a->blocks = gc_more_room(a->blocks, &f->blocks_size, 256, sizeof(BlockNumber));
	a->blocks[a->nblocks++] = block;
}

/* A page that the base serves is to be read; look_at_pages() sees to its rows in the heap's chunk. */
static void
take_page(GcFinding *f, uint32 chunkno, uint32 page, BlockNumber block)
{
	const GcChunk *chunk = f->dir->chunks[chunkno];

	if (chunk->hot)
		add_hole(f, chunkno, chunk->row_start[page], chunk->row_start[page + 1]);
	add_block(f, block);
}

/*
 * Have pages become all-visible, so that they are to be loaded?  A new base says so.  While VACUUM is under way, that
 * need not be at once.
 */
static bool
is_worth_loading(const GcBase *base, BlockNumber set)
{
	return set > base->served.pages_reloadable &&
		(set - base->served.pages_reloadable > base->served.nblocks / VACUUMED_PART ||
		 TimestampDifferenceExceeds(base->made_at, GetCurrentTimestamp(), GC_VACUUMED_MS));
}

bool
gc_base_is_old(GcProof *proof, const GcBase *base)
{
	GcMapChanges changes;

	if (!gc_maps_changes(proof, &base->kept.maps, &changes))
		return true;
	pfree(changes.cleared);
	return is_worth_loading(base, changes.set);
}

/* Pages of chunks of the heap. */
static bool
find_cleared(GcFinding *f, GcProof *proof)
{
	GcMapChanges changes;

	if (!gc_maps_changes(proof, &f->base->kept.maps, &changes))
		return false;
	for (uint32 i = 0; i < changes.ncleared; i++)
	{
		const BlockNumber block = changes.cleared[i];

		take_page(f, block / gc_chunk_pages, block % gc_chunk_pages, block);
	}
	f->amendment->from_heap = changes.ncleared;
	pfree(changes.cleared);
	return !is_worth_loading(f->base, changes.set);
}

/* Pages of a hot chunk.  Eight at a time, as hardly any has changed; both arrays have whole words. */
static void
find_changed(GcFinding *f, uint32 chunkno)
{
	const GcChunk *chunk = f->dir->chunks[chunkno];
	const uint8 *served = f->base->kept.pages[chunkno - f->dir->nheap];
	const uint8 *changed = chunk->hot->changed;

	for (uint32 page = 0; page < chunk->npages; page += sizeof(uint64))
	{
		uint64		is;
		uint64		was;

		memcpy(&is, changed + page, sizeof(uint64));
		memcpy(&was, served + page, sizeof(uint64));
		if ((is & was) == 0)
			continue;
		for (uint32 i = page; i < Min(page + (uint32) sizeof(uint64), chunk->npages); i++)
		{
			if (changed[i] && served[i])
				take_page(f, chunkno, i, chunk->hot->blocks[i]);
		}
	}
}

/* Order for qsort(): the first page first. */
static int
by_number(const void *a, const void *b)
{
	const BlockNumber x = *(const BlockNumber *) a;
	const BlockNumber y = *(const BlockNumber *) b;

	return x < y ? -1 : x > y;
}

/*
 * Open versions, but for those of pages that are to be read.  Also those of pages that another session has marked a
 * moment ago: these are served.
 */
static void
judge_open(GcFinding *f)
{
	const GcKept *kept = &f->base->kept;
	const uint32 nread = f->amendment->nblocks;
	uint32		read_chunk = 0;
	uint32		read_page = PG_UINT32_MAX;

	for (uint32 i = 0; i < kept->nopen; i++)
	{
		const GcOpenVersion *open = &kept->open[i];
		const GcHotPages *hot = f->dir->chunks[open->chunk]->hot;
		GcVersion  *v = &hot->versions[open->version];
		bool		own;

		if (open->page == read_page && open->chunk == read_chunk)
			continue;
		if (nread > 0 && hot->changed[open->page] &&
			bsearch(&hot->blocks[open->page], f->amendment->blocks, nread, sizeof(BlockNumber), by_number))
			continue;
		own = gc_page_is_own(&f->seer, hot, open->page);
		if (own || !gc_version_is_known(&f->seer, v))
		{
			read_chunk = open->chunk;
			read_page = open->page;
			f->amendment->own += own;
			take_page(f, read_chunk, read_page, hot->blocks[read_page]);
		}
		else if (!(gc_judge_version(&f->seer, v) & GC_VERSION_SEEN))
			add_hole(f, GC_VERSION_IN_HEAP(v) ? GC_HEAP_CHUNK(hot->blocks[open->page]) : open->chunk,
					 GC_VERSION_ROW(v), GC_VERSION_ROW(v) + 1);
	}
}

/* Order for qsort(): by chunk, then by row. */
static int
by_hole(const void *a, const void *b)
{
	const GcAmendedHole *x = a;
	const GcAmendedHole *y = b;

	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return x->hole.from < y->hole.from ? -1 : x->hole.from > y->hole.from;
}

/* In ascending order.  A page may have been found twice. */
static void
sort_blocks(GcAmendment *a)
{
	uint32		n = 0;

	if (a->nblocks > 1)
	{
		qsort(a->blocks, a->nblocks, sizeof(BlockNumber), by_number);
		for (uint32 i = 1; i < a->nblocks; i++)
		{
			if (a->blocks[i] != a->blocks[n])
				a->blocks[++n] = a->blocks[i];
		}
		a->nblocks = n + 1;
	}
	a->taken = a->nblocks;
}

/* A page may have holes of its versions, too. */
static void
sort_holes(GcAmendment *a)
{
	uint32		n = 0;

	if (a->nholes <= 1)
		return;
	qsort(a->holes, a->nholes, sizeof(GcAmendedHole), by_hole);
	for (uint32 i = 1; i < a->nholes; i++)
	{
		const GcAmendedHole *h = &a->holes[i];

		if (h->chunk == a->holes[n].chunk && h->hole.from <= a->holes[n].hole.to)
			a->holes[n].hole.to = Max(a->holes[n].hole.to, h->hole.to);
		else
			a->holes[++n] = *h;
	}
	a->nholes = n + 1;
}

/*-------------------------------------------------------------------------
 * Looking at pages
 *-------------------------------------------------------------------------
 */

/* A page of the table as a snapshot sees it, beside its rows in the heap's chunk. */
typedef struct GcPageSeen
{
	uint32		ngone;
	uint32		gone[MaxHeapTuplesPerPage]; /* rows of the chunk that it does not see, ascending */
	uint32		nnew;
	OffsetNumber offsets[MaxHeapTuplesPerPage]; /* tuples that it sees and that are no rows of the chunk */
} GcPageSeen;

/* Look at a page, as heapgetpage() does; false if the heap's chunk is of no use for it. */
static bool
look_at(Relation rel, const GcDirectory *dir, BlockNumber block, Snapshot snapshot, FullTransactionId next,
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

/* Note which tuples of a page are to be read. */
static void
add_new_rows(GcFinding *f, BlockNumber block, const GcPageSeen *seen)
{
	GcAmendment *a = f->amendment;

	if (a->nnew == f->new_size)
		a->new_rows = gc_more_room(a->new_rows, &f->new_size, 64, sizeof(GcNewRows));
	if (a->noffsets + seen->nnew > f->offsets_size)
	{
		f->offsets_size = 2 * f->offsets_size + MaxHeapTuplesPerPage;
		a->offsets = a->offsets ? repalloc_huge(a->offsets, f->offsets_size * sizeof(uint16)) :
			palloc(f->offsets_size * sizeof(uint16));
	}
	a->new_rows[a->nnew++] = (GcNewRows) {block, a->noffsets, seen->nnew};
	if (seen->nnew > 0)
		memcpy(a->offsets + a->noffsets, seen->offsets, seen->nnew * sizeof(uint16));
	a->noffsets += seen->nnew;
}

/* A row that the session adds to those that chunks serve. */
static void
add_tuple(GcFinding *f, HeapTuple tuple)
{
	GcAmendment *a = f->amendment;

	if (a->ntuples == f->tuples_size)
		a->tuples = gc_more_room(a->tuples, &f->tuples_size, 256, sizeof(HeapTuple));
	a->tuples[a->ntuples++] = tuple;
}

/* A page that another session has read; false: this one is to read it itself. */
static bool
judge_read_page(GcFinding *f, const GcReadPages *read, uint32 page)
{
	GcHotPages *hot = read->chunk.hot;
	const uint32 c = GC_HEAP_CHUNK(hot->blocks[page]);
	const uint32 first = hot->patches[page].first;

	if (hot->patches[page].chunk_id == 0 || gc_page_is_own(&f->seer, hot, page) ||
		!gc_page_is_known(&f->seer, hot, page))
		return false;
	for (uint32 i = hot->first_gone[page]; i < hot->first_gone[page + 1]; i++)
		add_hole(f, c, first + hot->gone[i], first + hot->gone[i] + 1);
	for (uint32 i = hot->first_version[page]; i < hot->first_version[page + 1]; i++)
	{
		GcVersion  *v = &hot->versions[i];
		const bool	seen = (gc_judge_version(&f->seer, v) & GC_VERSION_SEEN) != 0;

		if (GC_VERSION_IN_HEAP(v) && !seen)
			add_hole(f, c, GC_VERSION_ROW(v), GC_VERSION_ROW(v) + 1);
		else if (!GC_VERSION_IN_HEAP(v) && seen)
			add_tuple(f, &read->tuples[v->row]);
	}
	f->amendment->nread++;
	f->amendment->read_id = read->id;
	return true;
}

/* A page that is to be read, and of which the heap's chunk may have rows that are in no hole. */
static void
look_at_page(GcFinding *f, Relation rel, BlockNumber block, FullTransactionId next)
{
	const uint32 c = GC_HEAP_CHUNK(block);
	const GcChunk *chunk = c < f->dir->nheap ? f->dir->chunks[c] : NULL;
	const uint32 page = block % (BlockNumber) gc_chunk_pages;
	GcPageSeen	seen;

	if (look_at(rel, f->dir, block, f->seer.snapshot, next, &seen))
	{
		for (uint32 i = 0; i < seen.ngone; i++)
			add_hole(f, c, seen.gone[i], seen.gone[i] + 1);
		add_new_rows(f, block, &seen);
		return;
	}
	if (chunk && page < chunk->npages)
		add_hole(f, c, chunk->row_start[page], chunk->row_start[page + 1]);
	add_block(f, block);
}

/* The pages that are to be read, those of the base's delta among them if it is open; ascending. */
static BlockNumber *
merge_blocks(const GcFinding *f, uint32 *n)
{
	const GcAmendment *a = f->amendment;
	const GcServed *served = &f->base->served;
	const uint32 nranges = f->base->kept.delta_open ? served->nranges : 0;
	BlockNumber *blocks;
	uint32		size = a->nblocks;
	uint32		i = 0;

	for (uint32 r = 0; r < nranges; r++)
		size += served->ranges[r].count;
	blocks = palloc_extended((size + 1) * sizeof(BlockNumber), MCXT_ALLOC_HUGE);
	*n = 0;
	for (uint32 r = 0; r < nranges; r++)
	{
		while (i < a->nblocks && a->blocks[i] < served->ranges[r].first)
			blocks[(*n)++] = a->blocks[i++];
		for (BlockNumber k = 0; k < served->ranges[r].count; k++)
			blocks[(*n)++] = served->ranges[r].first + k;
	}
	while (i < a->nblocks)
		blocks[(*n)++] = a->blocks[i++];
	return blocks;
}

/* Look at the pages that are to be read, unless another session has.  Of many, only new rows are read then. */
static void
look_at_pages(GcFinding *f, GcProof *proof)
{
	const FullTransactionId next = ReadNextFullTransactionId();
	uint32		n;
	BlockNumber *blocks = merge_blocks(f, &n);
	uint32		at = 0;

	f->amendment->blocks = NULL;
	f->amendment->nblocks = f->blocks_size = 0;
	read_pages(proof, blocks, n);
	for (uint32 i = 0; i < n; i++)
	{
		const int64 page = find_read_page(proof->read, blocks[i], &at);

		CHECK_FOR_INTERRUPTS();
		if (page < 0 || !judge_read_page(f, proof->read, (uint32) page))
			look_at_page(f, proof->rel, blocks[i], next);
	}
}

/*-------------------------------------------------------------------------
 * Changes since the base
 *-------------------------------------------------------------------------
 */

bool
gc_amend_find(GcProof *proof, const GcBase *base, Snapshot snapshot, GcAmendment *amendment)
{
	const GcDirectory *dir = proof->dir;
	GcFinding	f = {.dir = dir,.base = base,.amendment = amendment};
	const GcServed *served = &base->served;
	uint32		read;

	memset(amendment, 0, sizeof(GcAmendment));
	gc_seer_init(&f.seer, snapshot);
	amendment->end = proof->nblocks;
	if (amendment->end < served->nblocks || amendment->end - served->nblocks > MOST_AMENDED)
		return false;
	if (!find_cleared(&f, proof))
		return false;
	for (uint32 c = dir->nheap; c < dir->nchunks; c++)
	{
		if (dir->chunks[c])
			find_changed(&f, c);
	}
	sort_blocks(amendment);
	judge_open(&f);
	sort_blocks(amendment);
	read = amendment->nblocks + (amendment->end - served->nblocks);
	if (read > MOST_AMENDED || read > (served->pages_served + served->pages_versioned) / MOST_AMENDED_PART + 16)
		return false;
	look_at_pages(&f, proof);
	sort_holes(amendment);
	return true;
}

void
gc_amend_open(GcProof *proof, const GcBase *base, Snapshot snapshot, GcAmendment *amendment)
{
	GcFinding	f = {.dir = proof->dir,.base = base,.amendment = amendment};

	memset(amendment, 0, sizeof(GcAmendment));
	gc_seer_init(&f.seer, snapshot);
	amendment->end = base->served.nblocks;
	judge_open(&f);
	sort_blocks(amendment);
	look_at_pages(&f, proof);
	sort_holes(amendment);
}
