/*-------------------------------------------------------------------------
 *
 * proof.c
 *	  Which pages of a heap chunk are what they were when they were read.
 *
 * Runs in backends and loaders, under a guard.  Reads pages of which it is not known where they are.
 *
 * Every transition of a map bit from 0 to 1 stamps the map page's LSN.  So while that is the one for which
 * the chunk's `present` holds, a bit set now has been set all along.  And while it is set, nothing changes
 * what a snapshot sees of the page.
 *
 * The LSN also moves when VACUUM sets the bit of any page under the map page.  From 17.11 and 18.6 on, it
 * also moves when a writer clears one.  Then each page under it proves itself once.  If it has the LSN that
 * it had when it was read, it is what was read.  Its bit is set, so all see it.  Pages with another LSN are
 * taken out of `present` for good, and `present` then holds for the map page's new LSN.  So are pages whose
 * bit is clear, since another process may have copied the map page, with this LSN, before that: they were
 * written to.  And pages behind the table's end, which was truncated: what is there later is something else.
 *
 * Processes may do this at the same time.  Bits are only ever taken out, and before the new LSN is stored.
 * So whoever finds that LSN finds no page that has changed, and an older LSN that is stored late is merely
 * not the map page's.
 *
 * With a snapshot fence (fence.h) the LSN may move.  What held while the fence was held, holds for each page whose
 * bit is set while it still is.  `proven_fence` is stored behind the bits, too.  A look at the pages proves for a
 * fence that was there before it.  A page that had not changed by then can change only by a transaction that
 * ran while the fence was held.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"

#include "proof.h"

#include "background.h"
#include "fence.h"
#include "looks.h"
#include "versions.h"
#include "visibility.h"
#include "../settings.h"

#define PAGES_PER_WORD	32

StaticAssertDecl(sizeof(pg_atomic_uint64) == sizeof(uint64),
				 "a bitmap's words must be ones that are changed atomically");

/* False: look again, with care. */
static bool
drop_changed(Relation rel, BlockNumber first, uint32 npages, const uint8 *map,
			 const XLogRecPtr *lsns, pg_atomic_uint32 *buffers, uint8 *present, bool careful)
{
	pg_atomic_uint64 *words = (pg_atomic_uint64 *) present;
	GcGlance	glance;

	gc_glance_begin(&glance, rel, careful);
	for (uint32 page = 0; page < npages; page += PAGES_PER_WORD)
	{
		uint64		left = pg_atomic_read_u64(&words[page / PAGES_PER_WORD]);
		uint64		changed;
		uint64		set = 0;

		CHECK_FOR_INTERRUPTS();
		memcpy(&set, map + page / 4, Min(sizeof(uint64), (npages - page + 3) / 4));
		if (npages - page < PAGES_PER_WORD)
			set &= (UINT64CONST(1) << 2 * (npages - page)) - 1;
		changed = left & ~set & GC_MAP_VISIBLE_WORD;
		for (left &= set & GC_MAP_VISIBLE_WORD; left != 0; left &= left - 1)
		{
			int			bit = pg_rightmost_one_pos64(left);
			uint32		p = page + bit / 2;

			if (p >= npages)
				break;
			if (p + GC_PREFETCH_PAGES < npages)
				gc_prefetch_page(&buffers[p + GC_PREFETCH_PAGES]);
			if (lsns[p] == InvalidXLogRecPtr || gc_page_lsn(&glance, first + p, &buffers[p]) != lsns[p])
				changed |= UINT64CONST(1) << bit;
		}
		if (changed != 0)
			pg_atomic_fetch_and_u64(&words[page / PAGES_PER_WORD], ~changed);
	}
	return gc_glance_end(&glance);
}

void
gc_drop_changed(Relation rel, BlockNumber first, uint32 npages, const uint8 *map,
				const XLogRecPtr *lsns, pg_atomic_uint32 *buffers, uint8 *present)
{
	if (!drop_changed(rel, first, npages, map, lsns, buffers, present, false))
		(void) drop_changed(rel, first, npages, map, lsns, buffers, present, true);
}

/* Take out pages from the word behind page npages on; gc_drop_changed() has done what is in its word. */
static void
drop_behind(GcChunk *chunk, uint32 npages)
{
	pg_atomic_uint64 *words = (pg_atomic_uint64 *) chunk->present;
	const uint32 end = (chunk->npages + PAGES_PER_WORD - 1) / PAGES_PER_WORD;

	for (uint32 i = (npages + PAGES_PER_WORD - 1) / PAGES_PER_WORD; i < end; i++)
		pg_atomic_write_u64(&words[i], 0);
}

/* Take out pages whose bit is not set. */
static void
drop_cleared(GcChunk *chunk, const uint8 *map)
{
	pg_atomic_uint64 *words = (pg_atomic_uint64 *) chunk->present;

	for (uint32 page = 0; page < chunk->npages; page += PAGES_PER_WORD)
	{
		uint64		set = 0;

		memcpy(&set, map + page / 4, Min(sizeof(uint64), (chunk->npages - page + 3) / 4));
		if (pg_atomic_read_u64(&words[page / PAGES_PER_WORD]) & ~set)
			pg_atomic_fetch_and_u64(&words[page / PAGES_PER_WORD], set & GC_MAP_VISIBLE_WORD);
	}
}

/*
 * Whoever finds the LSN or the fence finds pages taken out.  What a session has found since is newer, and stays: it is
 * told by its fence.
 */
static void
store_proof(GcChunk *chunk, XLogRecPtr lsn, uint64 fence)
{
	pg_write_barrier();
	if (fence != 0 && pg_atomic_read_u64(&chunk->proven_fence) > fence)
		return;
	pg_atomic_write_u64(&chunk->proven_lsn, lsn);
	if (fence != 0)
		pg_atomic_write_u64(&chunk->proven_fence, fence);
}

const uint8 *
gc_page_proof(Relation rel, GcChunk *chunk, const uint8 *map, uint32 npages, XLogRecPtr lsn, GcProofCount *count)
{
	uint64		fence;

	if (gc_same_map_lsn(pg_atomic_read_u64(&chunk->proven_lsn), lsn) ||
		gc_fence_used(pg_atomic_read_u64(&chunk->proven_fence)))
	{
		pg_read_barrier();
		count->fenced += !gc_same_map_lsn(pg_atomic_read_u64(&chunk->proven_lsn), lsn);
		return chunk->present;
	}
	if (!gc_enable_versioned_pages || lsn == InvalidXLogRecPtr)
		return NULL;
	if (gc_fence_missed())
		(void) gc_start_fence_keeper();
	fence = gc_fence_youngest();
	count->looked_at += chunk->npresent;
	gc_drop_changed(rel, chunk->first, Min(npages, chunk->npages), map, chunk->lsns, chunk->buffers,
					chunk->present);
	drop_behind(chunk, npages);
	store_proof(chunk, lsn, fence);
	return chunk->present;
}

void
gc_renew_proof(GcChunk *chunk, const uint8 *map, XLogRecPtr lsn, uint64 fence)
{
	if (lsn == InvalidXLogRecPtr || (!gc_same_map_lsn(pg_atomic_read_u64(&chunk->proven_lsn), lsn) &&
									 !gc_fence_held(pg_atomic_read_u64(&chunk->proven_fence))))
		return;
	pg_read_barrier();
	drop_cleared(chunk, map);
	store_proof(chunk, lsn, fence);
}
