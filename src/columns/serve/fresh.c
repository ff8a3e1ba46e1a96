/*-------------------------------------------------------------------------
 *
 * fresh.c
 *	  Pages of chunks that have not changed since they were read.  See fresh.h for the proof.
 *
 * Runs in backends and loaders, under a guard.  Takes no lock but a buffer's, and those of wal_changes.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"

#include "fresh.h"
#include "versions.h"
#include "visibility.h"
#include "../../compat.h"
#include "../../settings.h"

#define PAGES_PER_WORD	32

StaticAssertDecl(sizeof(pg_atomic_uint64) == sizeof(uint64),
				 "a bitmap's words must be ones that are changed atomically");

/*-------------------------------------------------------------------------
 * Looks
 *-------------------------------------------------------------------------
 */

/* The LSN of a page now.  Where it is buffered, is remembered in *hint. */
static XLogRecPtr
look_at_page(Relation rel, BlockNumber block, pg_atomic_uint32 *hint)
{
	const Buffer recent = (Buffer) pg_atomic_read_u32(hint);
	Buffer		buffer = recent;
	XLogRecPtr	lsn;

	CHECK_FOR_INTERRUPTS();
	if (recent <= 0 || !ReadRecentBuffer(GC_REL_FILE(rel), MAIN_FORKNUM, block, recent))
	{
		buffer = ReadBuffer(rel, block);
		pg_atomic_write_u32(hint, (uint32) buffer);
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	lsn = BufferGetLSNAtomic(buffer);
	UnlockReleaseBuffer(buffer);
	return lsn;
}

/* Marks come before it. */
static void
raise_proven(pg_atomic_uint64 *proven_to, XLogRecPtr to)
{
	uint64		old = pg_atomic_read_u64(proven_to);

	pg_write_barrier();
	while (old < to && !pg_atomic_compare_exchange_u64(proven_to, &old, to))
		;
}

/* Is the chunk proven up to the bound already? */
static bool
is_proven(const GcProof *proof, pg_atomic_uint64 *proven_to)
{
	return pg_atomic_read_u64(proven_to) >= proof->bound;
}

/*-------------------------------------------------------------------------
 * Pages that the WAL names
 *-------------------------------------------------------------------------
 */

/*
 * Are all changes behind `since` known, up to the bound at least?  Else so many pages are to be looked at.  `first`:
 * none of the chunks that are to be proven next has an earlier `since` that is still known.
 */
static bool
know_changes(GcProof *proof, XLogRecPtr since, XLogRecPtr first, uint64 pages)
{
	if (proof->known == InvalidXLogRecPtr && pages > proof->asked)
	{
		proof->asked = pages;
		proof->known = gc_wal_changes_reach(proof->bound, pages);
		proof->from = PG_UINT64_MAX;
	}
	if (proof->known == InvalidXLogRecPtr)
		return false;
	if (since < proof->from && since >= gc_wal_changes_floor())
	{
		if (proof->changes)
			pfree(proof->changes);
		proof->from = Min(first, since);
		proof->changes = gc_wal_changes_of(proof->rel, &proof->from, &proof->nchanges);
	}
	return since >= proof->from;
}

/*-------------------------------------------------------------------------
 * Hot chunks
 *-------------------------------------------------------------------------
 */

/* The number of a block among a chunk's, or -1. */
static int64
find_block(const GcChunk *chunk, BlockNumber block)
{
	const BlockNumber *blocks = chunk->hot->blocks;
	const uint32 page = gc_first_from(blocks, sizeof(BlockNumber), chunk->npages, block);

	return page < chunk->npages && blocks[page] == block ? (int64) page : -1;
}

/* Look at the page's LSN, unless the page is known to have changed. */
static void
mark_if_changed(GcProof *proof, GcHotPages *hot, uint32 page)
{
	if (hot->changed[page])
		return;
	if (hot->blocks[page] < proof->nblocks)
	{
		proof->looked_at++;
		if (look_at_page(proof->rel, hot->blocks[page], &hot->buffers[page]) == hot->lsns[page])
			return;
	}
	hot->changed[page] = true;
}

/* Blocks that the relation no longer has. */
static void
mark_behind_end(const GcProof *proof, const GcChunk *chunk)
{
	for (uint32 page = chunk->npages; page > 0 && chunk->hot->blocks[page - 1] >= proof->nblocks; page--)
		chunk->hot->changed[page - 1] = true;
}

/* Mark pages that the WAL names; false: it is not known from where the chunk's marks end. */
static bool
mark_named(GcProof *proof, const GcChunk *chunk, XLogRecPtr first, uint64 pages)
{
	GcHotPages *hot = chunk->hot;
	const XLogRecPtr since = pg_atomic_read_u64(&hot->proven_to);

	if (!know_changes(proof, since, first, pages))
		return false;
	for (uint32 i = 0; i < proof->nchanges; i++)
	{
		const GcWalChange *change = &proof->changes[i];
		const int64 page = change->end > since ? find_block(chunk, change->block) : -1;

		if (page >= 0 && change->end > hot->lsns[page])
			mark_if_changed(proof, hot, page);
	}
	raise_proven(&hot->proven_to, proof->known);
	return true;
}

/* Look at all pages of a hot chunk, which is proven then up to now. */
static void
sweep_hot(GcProof *proof, const GcChunk *chunk)
{
	const XLogRecPtr now = gc_wal_now();

	for (uint32 page = 0; page < chunk->npages; page++)
		mark_if_changed(proof, chunk->hot, page);
	raise_proven(&chunk->hot->proven_to, now);
}

/* Hot chunk i of a proof: behind those of the directory, the pages that were read. */
static const GcChunk *
hot_chunk(const GcProof *proof, uint32 i)
{
	const GcDirectory *dir = proof->dir;

	if (dir->nheap + i < dir->nchunks)
		return dir->chunks[dir->nheap + i];
	return proof->read ? &proof->read->chunk : NULL;
}

void
gc_prove_hot(GcProof *proof)
{
	const uint32 nhot = proof->dir->nchunks - proof->dir->nheap;
	XLogRecPtr	first = PG_UINT64_MAX;
	uint64		pages = 0;

	proof->read = (GcReadPages *) gc_note_of(proof->dir, GC_NOTE_READ);
	for (uint32 i = 0; i <= nhot; i++)
	{
		const GcChunk *chunk = hot_chunk(proof, i);

		if (chunk == NULL)
			continue;
		mark_behind_end(proof, chunk);
		if (!is_proven(proof, &chunk->hot->proven_to))
		{
			pages += chunk->npages;
			first = Min(first, pg_atomic_read_u64(&chunk->hot->proven_to));
		}
	}
	for (uint32 i = 0; pages > 0 && i <= nhot; i++)
	{
		const GcChunk *chunk = hot_chunk(proof, i);

		if (chunk && !is_proven(proof, &chunk->hot->proven_to) && !mark_named(proof, chunk, first, pages))
			sweep_hot(proof, chunk);
	}
	pg_read_barrier();
}

/*-------------------------------------------------------------------------
 * Chunks of the heap
 *-------------------------------------------------------------------------
 */
uint64
gc_drop_changed(Relation rel, BlockNumber first, uint32 npages, const uint8 *map,
				const XLogRecPtr *lsns, pg_atomic_uint32 *buffers, uint8 *present)
{
	pg_atomic_uint64 *words = (pg_atomic_uint64 *) present;
	uint64		looked_at = 0;

	for (uint32 page = 0; page < npages; page += PAGES_PER_WORD)
	{
		uint64		left = pg_atomic_read_u64(&words[page / PAGES_PER_WORD]);
		uint64		changed;
		uint64		set = 0;

		memcpy(&set, map + page / 4, Min(sizeof(uint64), (npages - page + 3) / 4));
		if (npages - page < PAGES_PER_WORD)
			set &= (UINT64CONST(1) << 2 * (npages - page)) - 1;
		changed = left & ~set & GC_MAP_VISIBLE_WORD;
		for (left &= set & GC_MAP_VISIBLE_WORD; left != 0; left &= left - 1)
		{
			const int	bit = pg_rightmost_one_pos64(left);
			const uint32 p = page + bit / 2;

			looked_at++;
			if (lsns[p] == InvalidXLogRecPtr || look_at_page(rel, first + p, &buffers[p]) != lsns[p])
				changed |= UINT64CONST(1) << bit;
		}
		if (changed != 0)
			pg_atomic_fetch_and_u64(&words[page / PAGES_PER_WORD], ~changed);
	}
	return looked_at;
}

/* Take out pages from the word behind page npages on; gc_drop_changed() has done those in its word. */
static void
drop_behind(GcChunk *chunk, uint32 npages)
{
	pg_atomic_uint64 *words = (pg_atomic_uint64 *) chunk->present;
	const uint32 end = (chunk->npages + PAGES_PER_WORD - 1) / PAGES_PER_WORD;

	for (uint32 i = (npages + PAGES_PER_WORD - 1) / PAGES_PER_WORD; i < end; i++)
		pg_atomic_write_u64(&words[i], 0);
}

/* Look at the page's LSN, and take it out of the chunk's pages where it has moved. */
static void
drop_if_changed(GcProof *proof, GcChunk *chunk, uint32 page)
{
	pg_atomic_uint64 *word = (pg_atomic_uint64 *) chunk->present + page / PAGES_PER_WORD;
	const uint64 bit = UINT64CONST(1) << 2 * (page % PAGES_PER_WORD);

	if ((pg_atomic_read_u64(word) & bit) == 0)
		return;
	if (chunk->lsns[page] != InvalidXLogRecPtr && chunk->first + page < proof->nblocks)
	{
		proof->looked_at++;
		if (look_at_page(proof->rel, chunk->first + page, &chunk->buffers[page]) == chunk->lsns[page])
			return;
	}
	pg_atomic_fetch_and_u64(word, ~bit);
}

/* The least `proven_to` of chunks of the heap that the WAL reaches back to. */
static XLogRecPtr
first_of_heap(const GcDirectory *dir)
{
	const XLogRecPtr floor = gc_wal_changes_floor();
	XLogRecPtr	first = PG_UINT64_MAX;

	for (uint32 c = 0; c < dir->nheap; c++)
	{
		const XLogRecPtr since = dir->chunks[c] ? pg_atomic_read_u64(&dir->chunks[c]->proven_to) : InvalidXLogRecPtr;

		if (since >= floor && since < first)
			first = since;
	}
	return first;
}

/* Take out pages that the WAL names; false: it is not known from where the chunk's marks end. */
static bool
drop_named(GcProof *proof, GcChunk *chunk)
{
	const XLogRecPtr since = pg_atomic_read_u64(&chunk->proven_to);

	const bool	asks = proof->known == InvalidXLogRecPtr || proof->from > since;

	if (!know_changes(proof, since, asks ? first_of_heap(proof->dir) : since, proof->nblocks))
		return false;
	for (uint32 i = gc_first_from(&proof->changes->block, sizeof(GcWalChange), proof->nchanges, chunk->first);
		 i < proof->nchanges; i++)
	{
		const GcWalChange *change = &proof->changes[i];
		const uint32 page = change->block - chunk->first;

		if (page >= chunk->npages)
			break;
		if (change->end > since && change->end > chunk->lsns[page])
			drop_if_changed(proof, chunk, page);
	}
	raise_proven(&chunk->proven_to, proof->known);
	return true;
}

/* Look at all pages of the heap's chunk, which is proven then up to now. */
static void
sweep_heap(GcProof *proof, GcChunk *chunk, const uint8 *map, uint32 npages)
{
	const XLogRecPtr now = gc_wal_now();

	proof->looked_at += gc_drop_changed(proof->rel, chunk->first, Min(npages, chunk->npages), map, chunk->lsns,
										chunk->buffers, chunk->present);
	drop_behind(chunk, npages);
	raise_proven(&chunk->proven_to, now);
}

const uint8 *
gc_prove_heap(GcProof *proof, GcChunk *chunk, const uint8 *map, uint32 npages, XLogRecPtr lsn)
{
	if (!gc_same_map_lsn(pg_atomic_read_u64(&chunk->proven_lsn), lsn))
	{
		if (!gc_debug_versioned_pages || lsn == InvalidXLogRecPtr)
			return NULL;
		if (!is_proven(proof, &chunk->proven_to) && !drop_named(proof, chunk))
			sweep_heap(proof, chunk, map, npages);
		/* An older LSN that another process stores late is merely not the map page's. */
		if (pg_atomic_read_u64(&chunk->proven_to) >= lsn)
		{
			pg_memory_barrier();
			pg_atomic_write_u64(&chunk->proven_lsn, lsn);
		}
	}
	pg_read_barrier();
	return chunk->present;
}

/*-------------------------------------------------------------------------
 * A proof
 *-------------------------------------------------------------------------
 */
void
gc_proof_begin(GcProof *proof, Relation rel, const GcDirectory *dir)
{
	*proof = (GcProof) {.rel = rel,.dir = dir,.bound = gc_wal_bound()};
	proof->nblocks = RelationGetNumberOfBlocks(rel);
}
