/*-------------------------------------------------------------------------
 *
 * amend.c
 *	  What has changed between a base and what a later snapshot is served.  See serving.h.
 *
 * Runs in backends, under a guard.  A base never changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "amend.h"
#include "patches.h"
#include "read_pages.h"
#include "../../settings.h"

/* If more than so many pages, or this part of all, have changed, there is better to be a new base. */
#define MOST_AMENDED		8192
#define MOST_AMENDED_PART	8

/* If VACUUM has made this part of all pages all-visible, or fewer in so long, there is to be a new base. */
#define VACUUMED_PART		64
#define VACUUMED_MS			1000

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

static void
add_hole(GcFinding *f, uint32 chunk, uint32 from, uint32 to)
{
	GcAmendment *a = f->amendment;

	if (from == to)
		return;
	if (a->nholes == f->holes_size)
	{
		f->holes_size = Max(256, 2 * f->holes_size);
		a->holes = a->holes ? repalloc_huge(a->holes, f->holes_size * sizeof(GcAmendedHole)) :
			palloc(f->holes_size * sizeof(GcAmendedHole));
	}
	a->holes[a->nholes++] = (GcAmendedHole) {chunk, {from, to}};
}

static void
add_block(GcFinding *f, BlockNumber block)
{
	GcAmendment *a = f->amendment;

	if (a->nblocks == f->blocks_size)
	{
		f->blocks_size = Max(256, 2 * f->blocks_size);
		a->blocks = a->blocks ? repalloc_huge(a->blocks, f->blocks_size * sizeof(BlockNumber)) :
			palloc(f->blocks_size * sizeof(BlockNumber));
	}
	a->blocks[a->nblocks++] = block;
}

/* A page that the base serves is to be read; look_at_pages() sees to what the heap's chunk has of it. */
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
		 TimestampDifferenceExceeds(base->made_at, GetCurrentTimestamp(), VACUUMED_MS));
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

static int
by_number(const void *a, const void *b)
{
	const BlockNumber x = *(const BlockNumber *) a;
	const BlockNumber y = *(const BlockNumber *) b;

	return x < y ? -1 : x > y;
}

/*
 * Open versions, but for those of pages that are to be read.  Also those of pages that another session has marked a moment
 * ago: these are served.
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

/* Note which tuples of a page are to be read. */
static void
add_new_rows(GcFinding *f, BlockNumber block, const GcPageSeen *seen)
{
	GcAmendment *a = f->amendment;

	if (a->nnew == f->new_size)
	{
		f->new_size = Max(64, 2 * f->new_size);
		a->new_rows = a->new_rows ? repalloc(a->new_rows, f->new_size * sizeof(GcNewRows)) :
			palloc(f->new_size * sizeof(GcNewRows));
	}
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

static void
add_tuple(GcFinding *f, HeapTuple tuple)
{
	GcAmendment *a = f->amendment;

	if (a->ntuples == f->tuples_size)
	{
		f->tuples_size = Max(256, 2 * f->tuples_size);
		a->tuples = a->tuples ? repalloc_huge(a->tuples, f->tuples_size * sizeof(HeapTuple)) :
			palloc(f->tuples_size * sizeof(HeapTuple));
	}
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

	if (gc_patch_look(rel, f->dir, block, f->seer.snapshot, next, &seen))
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
	gc_read_pages(proof, blocks, n);
	for (uint32 i = 0; i < n; i++)
	{
		const int64 page = gc_read_pages_find(proof->read, blocks[i], &at);

		CHECK_FOR_INTERRUPTS();
		if (page < 0 || !judge_read_page(f, proof->read, (uint32) page))
			look_at_page(f, proof->rel, blocks[i], next);
	}
}

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

/*-------------------------------------------------------------------------
 * Applying
 *-------------------------------------------------------------------------
 */

/* Holes of the base that an edit's hole touches become part of it. */
static void
swallow_holes(const GcServedChunk *chunk, GcHoleEdit *edit, GcHoles *holes)
{
	for (; edit->to < chunk->nholes && chunk->holes[edit->to].from <= edit->hole.to; edit->to++)
	{
		const GcHole *h = &chunk->holes[edit->to];

		edit->hole.from = Min(edit->hole.from, h->from);
		edit->hole.to = Max(edit->hole.to, h->to);
		holes->n--;
		holes->rows -= h->to - h->from;
	}
}

/*
 * What n holes of the amendment, from *more on, make of a chunk's holes.  These are many, and hardly any is changed, so
 * they are not copied.  Says how many holes there are then, and how many edits.
 */
static GcHoleEdit *
edit_holes(const GcServedChunk *chunk, const GcAmendedHole *more, uint32 n, GcHoles *holes, uint32 *nedits)
{
	GcHoleEdit *edits = palloc_extended((Size) n * sizeof(GcHoleEdit), MCXT_ALLOC_HUGE);
	GcHoleEdit *last = NULL;

	*holes = (GcHoles) {.n = chunk->nholes,.holes = chunk->holes,.rows = chunk->hole_rows};
	for (uint32 i = 0; i < n; i++)
	{
		const GcHole h = more[i].hole;

		if (last && h.from <= last->hole.to)
			last->hole.to = Max(last->hole.to, h.to);
		else
		{
			const uint32 passed = last ? last->to : 0;
			const uint32 left = chunk->nholes - passed;
			const uint32 at = passed + (left > 0 ? gc_first_from(&chunk->holes[passed].to, sizeof(GcHole), left, h.from) : 0);

			last = last ? last + 1 : edits;
			*last = (GcHoleEdit) {at, at, h};
		}
		swallow_holes(chunk, last, holes);
	}
	*nedits = last - edits + 1;
	holes->n += *nedits;
	for (uint32 i = 0; i < *nedits; i++)
		holes->rows += edits[i].hole.to - edits[i].hole.from;
	return edits;
}

/* Add blocks that are to be read to the ranges of the base, unless they have those already. */
static void
merge_ranges(const GcBase *base, const GcAmendment *a, GcServed *served)
{
	const GcBlockRange *range = base->served.ranges;
	const GcBlockRange *end = base->kept.delta_open ? range : range + base->served.nranges;
	GcServing	serving = {.served = served};

	served->ranges = NULL;
	served->nranges = 0;
	served->pages_delta = 0;
	for (uint32 i = 0; i < a->nblocks || range < end;)
	{
		if (i == a->nblocks || (range < end && range->first < a->blocks[i]))
		{
			gc_add_delta(&serving, range->first, range->count);
			range++;
		}
		else
			gc_add_delta(&serving, a->blocks[i++], 1);
	}
	if (a->end > base->served.nblocks)
		gc_add_delta(&serving, base->served.nblocks, a->end - base->served.nblocks);
}

/* The served chunks, of which some have more holes. */
static void
merge_chunks(const GcDirectory *dir, const GcBase *base, const GcAmendment *a, GcServed *served)
{
	const GcServed *was = &base->served;
	uint32		at = 0;

	served->chunks = palloc_extended((was->nchunks + 1) * sizeof(GcServedChunk), MCXT_ALLOC_HUGE);
	served->nchunks = 0;
	served->rows_served = served->rows_versioned = 0;
	for (uint32 k = 0; k < was->nchunks; k++)
	{
		const GcServedChunk *chunk = &was->chunks[k];
		const uint64 before = served->rows_served;
		const uint32 nchunks = served->nchunks;
		GcHoles		holes = {.n = chunk->nholes,.holes = chunk->holes,.rows = chunk->hole_rows};
		GcHoleEdit *edits = NULL;
		uint32		nedits = 0;
		uint32		first;

		/* A chunk of which no row is served is not among them. */
		while (at < a->nholes && a->holes[at].chunk < chunk->chunk)
			at++;
		first = at;
		while (at < a->nholes && a->holes[at].chunk == chunk->chunk)
			at++;
		if (at > first)
			edits = edit_holes(chunk, a->holes + first, at - first, &holes, &nedits);
		gc_append_chunk(served, chunk->chunk, chunk->nrows, &holes);
		if (served->nchunks > nchunks)
		{
			served->chunks[nchunks].nbase = chunk->nholes;
			served->chunks[nchunks].nedits = nedits;
			served->chunks[nchunks].edits = edits;
			served->chunks[nchunks].holes_hash = chunk->holes_hash;
		}
		if (chunk->chunk >= dir->nheap)
			served->rows_versioned += served->rows_served - before;
	}
}

void
gc_amend(const GcDirectory *dir, const GcBase *base, const GcAmendment *a, GcServed *served)
{
	*served = base->served;
	served->amended = true;
	if (a->nholes > 0)
		merge_chunks(dir, base, a, served);
	if (a->taken == 0 && !base->kept.delta_open && a->end == base->served.nblocks)
		return;
	merge_ranges(base, a, served);
	served->nnew = a->nnew;
	served->new_rows = a->new_rows;
	served->noffsets = a->noffsets;
	served->offsets = a->offsets;
	served->ntuples = a->ntuples;
	served->tuples = a->tuples;
	served->pages_read_before = a->nread;
	served->pages_delta += a->nnew + a->nread;
	served->nblocks = a->end;
	served->pages_served -= a->from_heap;
	served->pages_versioned -= a->taken - a->from_heap;
	served->pages_own += a->own;
}
