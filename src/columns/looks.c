/*-------------------------------------------------------------------------
 *
 * looks.c
 *	  Looks at the LSNs of hot pages, whose outcome sessions share.  See looks.h.
 *
 * Runs in backends and loaders, under a guard.  Takes no lock but a buffer's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "looks.h"
#include "trail.h"
#include "versions.h"
#include "../compat.h"

/*-------------------------------------------------------------------------
 * One page
 *-------------------------------------------------------------------------
 */

/* How many buffers the clock's hand has passed since the server was started. */
static uint64
hand_of_clock(void)
{
	uint32		rounds;
	int			at;

	pg_memory_barrier();
	at = StrategySyncStart(&rounds, NULL);
	return (uint64) rounds * NBuffers + at;
}

void
gc_glance_begin(GcGlance *glance, Relation rel, bool careful)
{
	glance->rel = rel;
	glance->careful = careful;
	glance->began = hand_of_clock();
}

/* The rounds are counted by 32 bits. */
bool
gc_glance_end(const GcGlance *glance)
{
	const uint64 now = hand_of_clock();

	return glance->careful || (now >= glance->began && now - glance->began < (uint64) NBuffers);
}

/*
 * The LSN of a page if it still is where it was last found, else 0.  With a careful glance the header is
 * locked, so that the buffer stays the page's, as in BufferGetLSNAtomic(); there is no pin.
 *
 * A change may be under way, since the page is not locked: see gc_unlocked_lsn().
 */
static inline XLogRecPtr
recent_lsn(const GcGlance *glance, BlockNumber block, Buffer buffer)
{
	BufferDesc *desc = GetBufferDescriptor(buffer - 1);
	BufferTag	tag;
	XLogRecPtr	lsn = InvalidXLogRecPtr;
	uint32		state;

	GC_INIT_BUFFER_TAG(tag, glance->rel, block);
	if (glance->careful)
		state = LockBufHdr(desc);
	else
	{
		state = pg_atomic_read_u32(&desc->state);
		pg_read_barrier();
		if (BUF_STATE_GET_USAGECOUNT(state) < GC_SAFE_USAGE)
			return InvalidXLogRecPtr;
	}
	if ((state & BM_VALID) && GC_BUFFER_TAGS_EQUAL(tag, desc->tag))
		lsn = gc_unlocked_lsn(BufferGetPage(buffer));
	if (glance->careful)
		UnlockBufHdr(desc, state);
	return lsn;
}

/* Not inlined: it is rare. */
static pg_noinline XLogRecPtr
pinned_lsn(Relation rel, BlockNumber block, pg_atomic_uint32 *hint)
{
	Buffer		buffer = ReadBuffer(rel, block);
	XLogRecPtr	lsn = BufferGetLSNAtomic(buffer);

	pg_atomic_write_u32(hint, (uint32) buffer);
	ReleaseBuffer(buffer);
	return lsn;
}

XLogRecPtr
gc_page_lsn(const GcGlance *glance, BlockNumber block, pg_atomic_uint32 *hint)
{
	Buffer		buffer = (Buffer) pg_atomic_read_u32(hint);
	XLogRecPtr	lsn = buffer > 0 ? recent_lsn(glance, block, buffer) : InvalidXLogRecPtr;

	return lsn != InvalidXLogRecPtr ? lsn : pinned_lsn(glance->rel, block, hint);
}

void
gc_prefetch_page(pg_atomic_uint32 *hint)
{
	Buffer		buffer = (Buffer) pg_atomic_read_u32(hint);

	if (buffer <= 0)
		return;
	__builtin_prefetch(GetBufferDescriptor(buffer - 1));
	__builtin_prefetch(BufferGetBlock(buffer));
}

/*-------------------------------------------------------------------------
 * Pieces
 *-------------------------------------------------------------------------
 */

/* Transactions that have ended. */
static uint64
count_ended(void)
{
	uint64		count;

	pg_memory_barrier();
	count = *(volatile uint64 *) &GC_TRANSAM->xactCompletionCount;
	pg_memory_barrier();
	return count;
}

/* Looks may end in another order than they began in. */
static void
raise_count(pg_atomic_uint64 *count, uint64 to)
{
	uint64		old = pg_atomic_read_u64(count);

	while (old < to && !pg_atomic_compare_exchange_u64(count, &old, to))
		;
}

/* A block that the relation no longer has is not read: it counts as changed.  False: look again, with care. */
static bool
mark_changed(GcLook *look, const GcChunk *chunk, uint32 first, uint32 end, bool careful)
{
	GcHotPages *hot = chunk->hot;
	GcGlance	glance;

	gc_glance_begin(&glance, look->rel, careful);
	for (uint32 page = first; page < end; page++)
	{
		if (page + GC_PREFETCH_PAGES < end && !hot->changed[page + GC_PREFETCH_PAGES])
			gc_prefetch_page(&hot->buffers[page + GC_PREFETCH_PAGES]);
		if (hot->changed[page])
			continue;
		look->pages++;
		if (hot->blocks[page] >= look->nblocks ||
			gc_page_lsn(&glance, hot->blocks[page], &hot->buffers[page]) != hot->lsns[page])
			hot->changed[page] = true;
	}
	return gc_glance_end(&glance);
}

static void
look_at_piece(GcLook *look, const GcChunk *chunk, uint32 piece)
{
	GcLookedAt *at = &chunk->hot->looked_at[piece];
	const uint32 first = piece * GC_PIECE_PAGES;
	const uint32 end = Min(first + GC_PIECE_PAGES, chunk->npages);
	const uint64 since = count_ended();

	CHECK_FOR_INTERRUPTS();
	pg_atomic_write_u64(&at->under_way, since);
	if (!mark_changed(look, chunk, first, end, false))
		(void) mark_changed(look, chunk, first, end, true);
	pg_write_barrier();
	raise_count(&at->since, since);
	pg_atomic_write_u64(&at->under_way, 0);
}

static bool
is_done(const GcLook *look, GcLookedAt *at)
{
	return !look->alone && pg_atomic_read_u64(&at->since) >= look->since;
}

/* Will another session's look do, if it comes to an end? */
static bool
will_be_done(const GcLook *look, GcLookedAt *at)
{
	return !look->alone && pg_atomic_read_u64(&at->under_way) >= look->since;
}

/*-------------------------------------------------------------------------
 * The WAL's trail
 *-------------------------------------------------------------------------
 */

/* A chunk whose position is void does not get a new one more often: that is more work than a look. */
#define PLACE_AGAIN_MS	1000

/* The number of a block among a chunk's, or -1. */
static int64
find_block(const GcChunk *chunk, BlockNumber block)
{
	const BlockNumber *blocks = chunk->hot->blocks;
	uint32		from = 0;
	uint32		to = chunk->npages;

	while (from < to)
	{
		const uint32 middle = from + (to - from) / 2;

		if (blocks[middle] < block)
			from = middle + 1;
		else
			to = middle;
	}
	return from < chunk->npages && blocks[from] == block ? (int64) from : -1;
}

/* Blocks that the relation no longer has count as changed. */
static void
mark_behind_end(const GcLook *look, const GcChunk *chunk)
{
	for (uint32 page = chunk->npages; page > 0 && chunk->hot->blocks[page - 1] >= look->nblocks; page--)
		chunk->hot->changed[page - 1] = true;
}

/* Mark what the trail names; false: the chunk's position is void. */
static bool
mark_named(GcLook *look, const GcChunk *chunk)
{
	GcHotPages *hot = chunk->hot;
	GcTrailWalk walk = gc_trail_walk(look->rel, pg_atomic_read_u64(&hot->followed), look->position);
	BlockNumber block;
	XLogRecPtr	lsn;

	pg_read_barrier();
	if (walk.from < gc_trail_floor())
		return false;
	while (gc_trail_next(&walk, &block, &lsn))
	{
		const int64 page = find_block(chunk, block);

		if (page >= 0 && lsn > hot->lsns[page])
			hot->changed[page] = true;
	}
	/* What was overwritten meanwhile may have named others, and these for nothing. */
	if (walk.from < gc_trail_floor())
		return false;
	pg_write_barrier();
	raise_count(&hot->followed, look->position);
	mark_behind_end(look, chunk);
	return true;
}

/* Look at each page under its lock, so that the chunk has a position again; false: not now. */
static bool
place_on_trail(GcLook *look, const GcChunk *chunk)
{
	GcHotPages *hot = chunk->hot;
	const TimestampTz now = GetCurrentTimestamp();
	uint64		before = pg_atomic_read_u64(&hot->placed_at);
	const uint64 position = gc_trail_position();

	if (!TimestampDifferenceExceeds((TimestampTz) before, now, PLACE_AGAIN_MS) ||
		!pg_atomic_compare_exchange_u64(&hot->placed_at, &before, (uint64) now))
		return false;
	for (uint32 page = 0; page < chunk->npages; page++)
	{
		Buffer		buffer;

		if (page % GC_PIECE_PAGES == 0)
			CHECK_FOR_INTERRUPTS();
		if (hot->changed[page])
			continue;
		look->pages++;
		if (hot->blocks[page] >= look->nblocks)
		{
			hot->changed[page] = true;
			continue;
		}
		buffer = ReadBuffer(look->rel, hot->blocks[page]);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		if (PageGetLSN(BufferGetPage(buffer)) != hot->lsns[page])
			hot->changed[page] = true;
		UnlockReleaseBuffer(buffer);
	}
	pg_write_barrier();
	raise_count(&hot->followed, position);
	return true;
}

static bool
follow_trail(GcLook *look, const GcChunk *chunk)
{
	return look->position != 0 && (mark_named(look, chunk) || (place_on_trail(look, chunk) && mark_named(look, chunk)));
}

static void
reach_trail(GcLook *look, const GcDirectory *dir)
{
	uint64		pages = 0;

	for (uint32 c = dir->nheap; c < dir->nchunks; c++)
		pages += dir->chunks[c] ? dir->chunks[c]->npages : 0;
	look->position = pages > 0 ? gc_trail_reach(look->goal, pages) : 0;
}

/*-------------------------------------------------------------------------
 * All of a directory
 *-------------------------------------------------------------------------
 */

/* Look at what nobody has looked at in time; false if something was left to others. */
static bool
look_at_chunk(GcLook *look, const GcChunk *chunk, bool leave)
{
	bool		all = true;

	if (follow_trail(look, chunk))
		return true;
	for (uint32 piece = 0; piece < GC_PIECES(chunk->npages); piece++)
	{
		GcLookedAt *at = &chunk->hot->looked_at[piece];

		if (is_done(look, at))
			continue;
		if (leave && will_be_done(look, at))
			all = false;
		else
			look_at_piece(look, chunk, piece);
	}
	return all;
}

void
gc_look_begin(GcLook *look, Relation rel, Snapshot snapshot, BlockNumber nblocks)
{
	*look = (GcLook) {.rel = rel,.nblocks = nblocks};
	look->since = count_ended();
	look->alone = snapshot == NULL || snapshot->takenDuringRecovery ||
		TransactionIdIsValid(GetTopTransactionIdIfAny());
	look->goal = snapshot == NULL || snapshot->takenDuringRecovery ? InvalidXLogRecPtr : gc_trail_goal();
}

void
gc_look(GcLook *look, const GcDirectory *dir)
{
	bool		all = true;

	reach_trail(look, dir);
	for (uint32 c = dir->nheap; c < dir->nchunks; c++)
	{
		if (dir->chunks[c] && !look_at_chunk(look, dir->chunks[c], true))
			all = false;
	}
	for (uint32 c = dir->nheap; c < dir->nchunks && !all; c++)
	{
		if (dir->chunks[c])
			(void) look_at_chunk(look, dir->chunks[c], false);
	}
	pg_read_barrier();
}
