/*-------------------------------------------------------------------------
 *
 * visibility.c
 *	  Which pages a snapshot may be served from chunks of the heap.
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

#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "../store/columns.h"
#include "../store/epoch.h"
#include "fresh.h"
#include "../encode/spec.h"
#include "visibility.h"
#include "../../compat.h"
#include "../../settings.h"

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

/* 32 pages' bits of the visibility map, from this page's byte on. */
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
		served->ranges = gc_more_room(served->ranges, &serving->ranges_size, 16, sizeof(GcBlockRange));
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
		holes->holes = gc_more_room(holes->holes, &holes->size, 16, sizeof(GcHole));
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
	c->hole_rows = holes->rows;
	c->holes = holes->holes;
	c->nbase = holes->n;
	c->nedits = 0;
	c->edits = NULL;
	c->holes_hash = (GcHash) {{0, 0}};
}

void
gc_put_holes(const GcServedChunk *chunk, GcHole *to)
{
	uint32		at = 0;

	for (uint32 i = 0; i < chunk->nedits; i++)
	{
		const GcHoleEdit *e = &chunk->edits[i];

		if (e->from > at)
			memcpy(to, chunk->holes + at, (e->from - at) * sizeof(GcHole));
		to += e->from - at;
		*to++ = e->hole;
		at = e->to;
	}
	if (chunk->nbase > at)
		memcpy(to, chunk->holes + at, (chunk->nbase - at) * sizeof(GcHole));
}

/* Where the bits of a page are, the first of a chunk or a word. */
static uint8 *
maps_at(const GcServedMaps *maps, BlockNumber block)
{
	return maps->bits + (Size) (block / GC_HEAPBLOCKS_PER_MAPPAGE) * GC_MAP_STRIDE +
		block % GC_HEAPBLOCKS_PER_MAPPAGE / 4;
}

/* All of a chunk is served. */
static void
note_intact(const GcServing *serving, uint32 chunkno, uint32 npages)
{
	for (uint32 page = 0; serving->maps && page < npages; page += PAGES_PER_WORD)
	{
		const uint64 all = word_mask(npages - page);

		memcpy(maps_at(serving->maps, chunkno * (BlockNumber) gc_chunk_pages + page), &all, sizeof(uint64));
	}
}

/* Keep the LSN of the map's page, by which a later snapshot tells that nothing has moved. */
static void
note_map_lsn(const GcServing *serving, uint32 chunkno, XLogRecPtr lsn)
{
	if (serving->maps)
		serving->maps->lsns[chunkno * (BlockNumber) gc_chunk_pages / GC_HEAPBLOCKS_PER_MAPPAGE] = lsn;
}

/* Words of a map page that are looked at in one go.  A map page has not a whole number of groups. */
#define GROUP_BYTES		((uint32) (8 * sizeof(uint64)))

/*
 * Are all pages of a group of words served as they were, and no others set in the map?  It has no branch within, so
 * that compilers take several words at a time: nearly all groups are so.
 */
static inline bool
is_unchanged(const uint8 *served, const uint8 *proven, const uint8 *map)
{
	uint64		differs = 0;

	for (uint32 at = 0; at < GROUP_BYTES; at += sizeof(uint64))
	{
		uint64		was;
		uint64		is;
		uint64		visible;

		memcpy(&was, served + at, sizeof(uint64));
		memcpy(&is, proven + at, sizeof(uint64));
		memcpy(&visible, map + at, sizeof(uint64));
		differs |= (was & ~is) | (visible & ~(was & is) & GC_MAP_VISIBLE_WORD);
	}
	return differs == 0;
}

/* Add the pages that were served and are not proven any more; how many are set in the map, and not still served? */
static BlockNumber
add_cleared(const uint8 *served, const uint8 *proven, const uint8 *map, BlockNumber first, GcHoles *cleared)
{
	BlockNumber set = 0;

	for (uint32 at = 0; at < MAP_BYTES; at += sizeof(uint64))
	{
		uint64		was;
		uint64		is;
		uint64		visible;

		while (at % GROUP_BYTES == 0 && at + GROUP_BYTES <= MAP_BYTES &&
			   is_unchanged(served + at, proven + at, map + at))
			at += GROUP_BYTES;
		if (at >= MAP_BYTES)
			break;
		memcpy(&was, served + at, sizeof(uint64));
		memcpy(&is, proven + at, sizeof(uint64));
		memcpy(&visible, map + at, sizeof(uint64));
		set += pg_popcount64(visible & ~(was & is) & GC_MAP_VISIBLE_WORD);
		for (was &= ~is; was != 0; was &= was - 1)
		{
			const BlockNumber block = first + at * 4 + pg_rightmost_one_pos64(was) / 2;

			gc_add_hole(cleared, block, block + 1);
		}
	}
	return set;
}

/* Take pages out of a copy of a map page that have changed since the chunks under it; false: not proven. */
static bool
leave_proven(GcProof *proof, BlockNumber first, GcMapPage *map)
{
	const GcDirectory *dir = proof->dir;
	const uint32 begin = first / gc_chunk_pages;
	const uint32 end = Min(begin + GC_HEAPBLOCKS_PER_MAPPAGE / gc_chunk_pages, dir->nheap);

	for (uint32 c = begin; c < end; c++)
	{
		GcChunk    *chunk = dir->chunks[c];
		uint8	   *bits = map->bits + (c - begin) * (gc_chunk_pages / 4);
		const uint8 *proven;

		if (chunk == NULL)
			continue;
		proven = gc_prove_heap(proof, chunk, bits, gc_chunk_length(c, proof->nblocks), map->lsn);
		if (proven == NULL)
			return false;
		for (uint32 i = 0; i < (chunk->npages + 3) / 4; i++)
			bits[i] &= proven[i];
	}
	return true;
}

bool
gc_maps_changes(GcProof *proof, const GcServedMaps *maps, GcMapChanges *changes)
{
	GcMapPage	map;
	GcMapPage	still;
	Buffer		vbuf = InvalidBuffer;
	GcHoles		ranges = {0};
	uint8	   *bits;
	bool		proven = true;
	bool		same;

	memset(changes, 0, sizeof(GcMapChanges));
	for (uint32 i = 0; i < maps->n && proven; i++)
	{
		const BlockNumber first = i * (BlockNumber) GC_HEAPBLOCKS_PER_MAPPAGE;

		CHECK_FOR_INTERRUPTS();
		(void) visibilitymap_get_status(proof->rel, first, &vbuf);
		if (!BufferIsValid(vbuf))
		{
			proven = maps->lsns[i] == InvalidXLogRecPtr;
			continue;
		}
		LockBuffer(vbuf, BUFFER_LOCK_SHARE);
		same = gc_same_map_lsn(maps->lsns[i], PageGetLSN(BufferGetPage(vbuf)));
		if (same && maps->lsns[i] != InvalidXLogRecPtr)
		{
			bits = (uint8 *) PageGetContents(BufferGetPage(vbuf));
			changes->set += add_cleared(maps->bits + (Size) i * GC_MAP_STRIDE, bits, bits, first, &ranges);
		}
		LockBuffer(vbuf, BUFFER_LOCK_UNLOCK);
		if (same)
			continue;
		copy_map_page(proof->rel, i, &vbuf, &map);
		still = map;
		proven = leave_proven(proof, first, &still);
		if (proven)
			changes->set += add_cleared(maps->bits + (Size) i * GC_MAP_STRIDE, still.bits, map.bits, first, &ranges);
	}
	if (BufferIsValid(vbuf))
		ReleaseBuffer(vbuf);

	changes->cleared = palloc_extended((ranges.rows + 1) * sizeof(BlockNumber), MCXT_ALLOC_HUGE);
	for (uint32 r = 0; r < ranges.n; r++)
	{
		for (BlockNumber block = ranges.holes[r].from; block < ranges.holes[r].to; block++)
			changes->cleared[changes->ncleared++] = block;
	}
	return proven;
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
	GcServedMaps *maps = serving->maps;
	uint32		proven_pages = proven ? Min(chunk->npages, judged->pages) : 0;
	GcHoles		holes = {0};

	for (uint32 page = 0; page < judged->pages; page += PAGES_PER_WORD)
	{
		uint32		n = Min(PAGES_PER_WORD, judged->pages - page);
		uint64		set = word_at(map, page) & word_mask(n);
		uint64		good = 0;

		if (page < proven_pages)
			good = set & word_at(proven, page) & word_mask(proven_pages - page);
		if (maps && good != 0)
			memcpy(maps_at(maps, first + page), &good, sizeof(uint64));
		judged->served += pg_popcount64(good);
		judged->reloadable += pg_popcount64(set & ~good);

		if (good == word_mask(n))
			continue;
		for (uint64 rest = word_mask(n) & ~good; rest != 0; rest &= rest - 1)
		{
			const uint32 i = pg_rightmost_one_pos64(rest) / 2;

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

	return dir->chunks[c] != NULL && gc_same_map_lsn(facts->map_lsn, lsn) &&
		facts->npresent == npages && facts->npages == npages && all_visible(map, npages);
}

/* Serve a chunk: as a whole if the map says that it is intact, else page by page. */
static void
judge_chunk(GcServing *serving, GcProof *proof, uint32 chunkno,
			const uint8 *map, XLogRecPtr lsn, GcChunkJudgement *judged)
{
	const GcDirectory *dir = proof->dir;
	GcChunk    *chunk = dir && chunkno < dir->nheap ? dir->chunks[chunkno] : NULL;
	const GcHoles none = {0};

	memset(judged, 0, sizeof(GcChunkJudgement));
	judged->pages = gc_chunk_length(chunkno, serving->served->nblocks);

	if (chunk && chunk_intact(dir, chunkno, judged->pages, map, lsn))
	{
		judged->served = judged->pages;
		note_intact(serving, chunkno, judged->pages);
		gc_append_chunk(serving->served, chunkno, chunk->nrows, &none);
	}
	else
		judge_pages(serving, chunkno, chunk, map,
					chunk ? gc_prove_heap(proof, chunk, map, judged->pages, lsn) : NULL, judged);

	/* A page that was never stamped can never be proven. */
	if (!serving->reloadable || lsn == InvalidXLogRecPtr)
		judged->reloadable = 0;
	judged->mendable = judged->reloadable > 0 && judged->served + judged->reloadable == judged->pages;
	serving->served->pages_served += judged->served;
	serving->served->pages_reloadable += judged->reloadable;
	serving->served->worth_reload |= GC_WORTH_RELOAD(judged);
	serving->served->worth_refresh |= GC_WORTH_REFRESH(judged);
}

/*
 * The common case, without a copy: are all chunks under a map page intact?  Serves
 * them if so.
 */
static bool
serve_map_page(GcServing *serving, const GcProof *proof, uint32 chunkno, uint32 end, Buffer *vbuf)
{
	const GcDirectory *dir = proof->dir;
	GcServed   *served = serving->served;
	const GcHoles none = {0};
	Page		page;
	XLogRecPtr	lsn;
	bool		intact = true;

	if (dir == NULL || end > dir->nheap)
		return false;
	(void) visibilitymap_get_status(proof->rel, chunkno * (BlockNumber) gc_chunk_pages, vbuf);
	if (!BufferIsValid(*vbuf))
		return false;
	LockBuffer(*vbuf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(*vbuf);
	lsn = PageGetLSN(page);
	for (uint32 c = chunkno; c < end && intact; c++)
		intact = chunk_intact(dir, c, gc_chunk_length(c, served->nblocks),
							  (uint8 *) PageGetContents(page) + (c - chunkno) * (gc_chunk_pages / 4), lsn);
	LockBuffer(*vbuf, BUFFER_LOCK_UNLOCK);

	note_map_lsn(serving, chunkno, lsn);
	for (uint32 c = chunkno; c < end && intact; c++)
	{
		note_intact(serving, c, gc_chunk_length(c, served->nblocks));
		served->pages_served += gc_chunk_length(c, served->nblocks);
		gc_append_chunk(served, c, dir->facts[c].nrows, &none);
	}
	return intact;
}

/* Room for copies of the visibility map of so many pages. */
static void
make_maps(GcServedMaps *maps, BlockNumber nblocks)
{
	maps->n = (nblocks + (uint64) GC_HEAPBLOCKS_PER_MAPPAGE - 1) / GC_HEAPBLOCKS_PER_MAPPAGE;
	maps->lsns = palloc0((maps->n + 1) * sizeof(XLogRecPtr));
	maps->bits = palloc_extended((Size) (maps->n + 1) * GC_MAP_STRIDE, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
gc_serve_judged(GcProof *proof, GcServed *served, GcChunkJudgement **judged, GcServedMaps *maps)
{
	const GcDirectory *dir = proof->dir;
	uint32		nchunks;
	uint32		per_map = GC_HEAPBLOCKS_PER_MAPPAGE / gc_chunk_pages;
	Buffer		vbuf = InvalidBuffer;
	GcServing	serving = {.served = served,.maps = maps,.all_served = true};
	GcChunkJudgement scratch;
	GcMapPage	map;
	const char *reason;

	memset(served, 0, sizeof(GcServed));
	served->nblocks = proof->nblocks;
	nchunks = gc_chunk_count(served->nblocks);
	served->chunks = palloc_extended((nchunks + (dir ? dir->nchunks - dir->nheap : 0) + 1) * sizeof(GcServedChunk),
									 MCXT_ALLOC_HUGE);
	if (judged)
		*judged = palloc_extended(Max(nchunks, 1) * sizeof(GcChunkJudgement), MCXT_ALLOC_HUGE);
	if (maps)
		make_maps(maps, served->nblocks);

	if (!gc_rel_servable(proof->rel, &reason))
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
			if (judged == NULL && serve_map_page(&serving, proof, c, end, &vbuf))
			{
				c = end - 1;
				continue;
			}
			copy_map_page(proof->rel, c / per_map, &vbuf, &map);
			note_map_lsn(&serving, c, map.lsn);
		}
		judge_chunk(&serving, proof, c, map.bits + offset, map.lsn, judged ? &(*judged)[c] : &scratch);
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
