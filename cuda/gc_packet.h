/*-------------------------------------------------------------------------
 *
 * gc_packet.h
 *	  Edges between a pipeline's steps: packets that a producer writes and a consumer reads.
 *
 * A packet is a row's number in its chunk, and for some builds which of their rows matched.  Packets lie in
 * slots, each of rows of one chunk only.  There they lie kind by kind: all rows' numbers, then all matches of
 * one build, and so on.  The consumer reads columns of the row itself (late materialization).
 *
 * GC_EDGE_MATERIALIZE.  A slot is for a run of tiles, and has room for all rows of it.  The producer's kernel counts
 * the packets in each.  The consumer's kernel comes behind it.  There a warp takes up to GC_PACKET_PART packets at a
 * time:
 *
 *	  GC_TILES_OF or GC_PARTS_OF .. GC_SLOT_OF_RUN .. (vectors) .. GC_END_TILES
 *	  GC_SLOT_UNITS .. GC_PACKET_VECTORS .. GC_END_PACKET_VECTORS .. GC_END_SLOT_UNITS
 *
 * GC_EDGE_CHANNEL.  All blocks of one kernel take jobs until none is left (gc_channel_next): to fill a slot, or to
 * empty one.  A slot has room for GC_CHANNEL_TILES tiles.  A block fills it with the rows left of some tiles of one
 * chunk, and with others of it, until it has enough.  So slots are filled well, however few rows are left.  As packets
 * are read soon after they are written, they stay in the L2 cache.
 *
 * There are at least as many slots as blocks, and a block that looks for a job holds none.  So some slot is always
 * free or full, and no block waits for another.  A block that finds no free slot empties one (back pressure), a
 * block that finds no full one fills one.  It works with any number of blocks, co-resident or not.  A row that
 * fails or a request that is cancelled can leave no block waiting.
 *
 * GC_EDGE_REFILL.  Each block has a slot of its own, and tiles of its own, one after another.  It fills the slot with
 * the rows that are left of them, until these are enough for all of its threads.  Then it empties it.  Its control
 * block counts the packets that are in memory.
 *
 * Slots do not depend on the thread that takes a row.  A full kernel's warp takes a part of a tile.  In quick kernels
 * and on device host, threads take whole tiles together.  A row becomes one packet at most.  Runs and steps are whole
 * tiles, and a slot has room for all rows of the next step before it begins.
 *
 * The control block begins with words of 64 bits: GC_CHANNEL_WORDS for bitmaps of slots that are in use, and of
 * slots that are full.  Behind them are 32-bit words.  Each slot has two, for which chunk its packets are of, and
 * how many they are.  Each chunk has one for its next tile.  The last one is how many packets there are.
 *
 *-------------------------------------------------------------------------
 */

/* The source that packets at hand are of. */
#define GC_PACKETS_SOURCE(i) \
	const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[i]; (void) gc_src;

/* Tiles from .. to - 1 of the scan, in steps. */
#define GC_TILES_OF(from, to, step) \
	for (u32 gc_t = (from); gc_t < (to) && !GC_SCAN_STOPPED; gc_t += (step)) { \
		const u32 gc_s = gc_t / gc_a.scan.tiles_per_source; \
		const u32 gc_first = (gc_t - gc_s * gc_a.scan.tiles_per_source) * GC_TILE_ROWS; \
		const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_s]; \
		if (gc_first >= gc_src.nrows) continue; \
		const u32 gc_end = GC_MIN(gc_src.nrows, gc_first + GC_TILE_ROWS); \
		(void) gc_end;

/* The slot of the current tile's run. */
#define GC_SLOT_OF_RUN \
		const u32 gc_slot = gc_s * gc_runs + gc_first / gc_cap; \
		u32 *gc_npackets = (u32 *) gc_edge + gc_slot; \
		const u64 gc_packets = gc_packet_slots + gc_slot * gc_slot_bytes;

/*
 * Note how many packets passed the edge, and how many there are at a time: one thread for each slot.  held: where
 * packets are counted that there are now.
 */
#define GC_NOTE_PACKETS(n, held) \
	if (gc_a.scan.timed) { \
		GC_ATOMIC_ADD64((u64) gc_flags + GC_PACKETS_AT, n); \
		GC_ATOMIC_MAX64((u64) gc_flags + GC_HELD_AT, GC_ATOMIC_ADD32(held, n) + (n)); \
	}
#define GC_PACKETS_GONE(n, held) \
	if (gc_a.scan.timed) GC_ATOMIC_ADD32(held, 0u - (n));

/*
 * The first tile of a block, of those in which all blocks have as many, or one more.  Divisions of 64 bits took a
 * fifteenth of the time to compile such a kernel.
 */
#define GC_REFILL_TILE(block) \
	((block) * (gc_a.scan.ntiles / nblocks) + GC_MIN(block, gc_a.scan.ntiles % nblocks))

/*
 * Tiles that a refilling block takes at a time, between two barriers: as many as all of its warps have rows of.  Of a
 * tile, GC_PARTS_OF has four parts, and a warp takes one; of whole vectors, a thread is to have two at least.
 */
#define GC_REFILL_STEP(tiles)		((tiles) < 1 ? 1 : (tiles) > GC_CHANNEL_STEP ? GC_CHANNEL_STEP : (tiles))
#define GC_REFILL_VECTORS(threads)	GC_REFILL_STEP(2 * (threads) * GC_VEC / GC_TILE_ROWS)

#if GC_CUDA && !defined(GC_QUICK)

#define GC_REFILL_PARTS(threads)	GC_REFILL_STEP(GC_WARPS(threads) / GC_TILE_PARTS)

/*
 * Steps and queues of parts of GC_WARP_ROWS, each of which a warp takes (GC_FILTERED_VECTORS); from, to and step count
 * parts.  GC_PART_QUEUES declares the queues, before any loop.
 */
#define GC_TILE_PARTS		(GC_TILE_ROWS / GC_WARP_ROWS)
#define GC_PART_WARPS		(nthreads / 32)
#define GC_PART_WARP		(thread / 32)
#define GC_PART_QUEUES(threads) \
	__shared__ __align__(16) u16 gc_queues[GC_WARPS(threads)][GC_QUEUE_ROWS]; \
	u16 *gc_queue = gc_queues[thread / 32]; \
	const u32 gc_lane = thread % 32;
#define GC_PARTS_OF(from, to, step) \
	for (u32 gc_t = (from); gc_t < (to); gc_t += (step)) { \
		const u32 gc_tile = gc_t / GC_TILE_PARTS, gc_s = gc_tile / gc_a.scan.tiles_per_source; \
		const u32 gc_first = (gc_tile - gc_s * gc_a.scan.tiles_per_source) * GC_TILE_ROWS + gc_t % GC_TILE_PARTS * GC_WARP_ROWS; \
		const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_s]; \
		if (gc_first >= gc_src.nrows) continue;

#else							/* whole tiles: there are no queues */

#define GC_TILE_PARTS		1
#define GC_REFILL_PARTS(threads)	(GC_CUDA ? GC_REFILL_VECTORS(threads) : 2)
#define GC_PART_WARPS		1
#define GC_PART_WARP		0
#define GC_PART_QUEUES(threads)
#define GC_PARTS_OF(from, to, step)		GC_TILES_OF(from, to, step)

#endif

#if GC_CUDA

/* The place of the current row's packet: the lanes that come here together take places together. */
GC_FN u32
gc_packet_place(u32 *count)
{
	const u32	mask = __activemask();
	const u32	lane = GC_THREAD % 32;
	const u32	leader = __ffs(mask) - 1;
	u32			place = 0;

	if (lane == leader)
		place = atomicAdd(count, (u32) __popc(mask));
	return __shfl_sync(mask, place, leader) + __popc(mask & ((1u << lane) - 1));
}

/* A part of packet i, past the L1 cache, which does not see writes of other multiprocessors. */
#define GC_PACKET_PART_OF(type, at, i)	__ldcg((const type *) (at) + (i))

/* Packets first, first + step, .. before n of the current slot: a thread takes GC_LANE_ROWS of them at a time. */
#define GC_PACKET_VECTORS(first, n, step) \
		for (u32 gc_each = (first); gc_each < (n); gc_each += (step) * GC_LANE_ROWS) { \
			const u32 gc_every = (step); \
			u32 gc_visited[GC_LANE_ROWS], gc_m = 0; \
			GC_UNROLL for (int gc_v = 0; gc_v < GC_LANE_ROWS; gc_v++) { \
				gc_m |= (u32) (gc_each + gc_every * gc_v < (n)) << gc_v; \
				if (gc_m >> gc_v & 1) gc_visited[gc_v] = GC_PACKET_PART_OF(u32, gc_packets, gc_each + gc_every * gc_v); \
			}
#define GC_END_PACKET_VECTORS	}
#define GC_PACKET_AT(j)			(gc_each + gc_every * (j))

/* A warp's units: parts of slots. */
#define GC_PACKET_PART		1024
#define GC_SLOT_UNITS \
	const u32 gc_lane = thread % 32, gc_unit_parts = (gc_cap + GC_PACKET_PART - 1) / GC_PACKET_PART; \
	for (u32 gc_u = block * (nthreads / 32) + thread / 32; gc_u < gc_nslots * gc_unit_parts; gc_u += nblocks * (nthreads / 32)) { \
		const u32 gc_slot = gc_u % gc_nslots, gc_from = gc_u / gc_nslots * GC_PACKET_PART; \
		const u32 gc_filled = GC_MIN(((const u32 *) gc_edge)[gc_slot], gc_cap); \
		if (gc_from >= gc_filled) continue; \
		if (gc_from == 0 && gc_lane == 0) GC_NOTE_PACKETS(gc_filled, (u32 *) gc_edge + gc_nslots) \
		const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_slot / gc_runs]; \
		const u64 gc_packets = gc_packet_slots + gc_slot * gc_slot_bytes;
#define GC_UNIT_FIRST		(gc_from + gc_lane)
#define GC_UNIT_END			GC_MIN(gc_filled, gc_from + GC_PACKET_PART)
#define GC_UNIT_STEP		32
#define GC_END_SLOT_UNITS	}

#define GC_ATOMIC_AND64(p, v)	atomicAnd((u64 *) (p), (u64) (v))
#define GC_CTZ64(x)				((u32) __ffsll((i64) (x)) - 1)
#define GC_ORDER()				gc_order()

#else							/* device host: a row at a time */

#define gc_packet_place(count)			GC_ATOMIC_ADD32(count, 1)
#define GC_PACKET_PART_OF(type, at, i)	(((const type *) (at))[i])

/* A vector of one row begins at a multiple of 8, as NULL bits are found by whole bytes. */
#define GC_PACKET_VECTORS(first, n, step) \
		for (u32 gc_each = (first); gc_each < (n); gc_each += (step)) { \
			const u32 gc_at_row = GC_PACKET_PART_OF(u32, gc_packets, gc_each); \
			const u32 gc_row = gc_at_row & ~7u; \
			u16 gc_sel[1] = {(u16) (gc_at_row & 7)}; \
			u32 gc_n = 1; \
			(void) gc_row; (void) gc_sel; (void) gc_n;
#define GC_END_PACKET_VECTORS	}
#define GC_PACKET_AT(j)			gc_each

#define GC_SLOT_UNITS \
	for (u32 gc_slot = block; gc_slot < gc_nslots; gc_slot += nblocks) { \
		const u32 gc_filled = GC_MIN(((const u32 *) gc_edge)[gc_slot], gc_cap); \
		if (!gc_filled) continue; \
		GC_NOTE_PACKETS(gc_filled, (u32 *) gc_edge + gc_nslots) \
		const GcSource gc_src = ((const GcSource *) gc_a.scan.sources)[gc_slot / gc_runs]; \
		const u64 gc_packets = gc_packet_slots + gc_slot * gc_slot_bytes;
#define GC_UNIT_FIRST		0
#define GC_UNIT_END			gc_filled
#define GC_UNIT_STEP		1
#define GC_END_SLOT_UNITS	}

#define GC_ATOMIC_AND64(p, v)	__atomic_fetch_and((u64 *) (p), (u64) (v), __ATOMIC_SEQ_CST)
#define GC_CTZ64(x)				((u32) __builtin_ctzll(x))
#define GC_ORDER()				GC_FENCE()

#endif							/* target */

/*-------------------------------------------------------------------------
 * Channels
 *-------------------------------------------------------------------------
 */
enum
{
	GC_JOB_END,
	GC_JOB_FILL,				/* a slot, from a chunk */
	GC_JOB_EMPTY				/* a slot, of packets of a chunk */
};

/* A block's view of the channel, and chunks that it has yet to look at. */
typedef struct GcChannel
{
	u64		   *used;
	u64		   *full;
	u32		   *heads;			/* for each slot: chunk, packets */
	u32		   *next;			/* for each chunk: its next tile */
	u32		   *held;			/* packets that were written and not read yet */
	u32			nslots;
	u32			nsources;
	u32			tiles;			/* of a chunk */
	u32			source;
	u32			left;
	u32			scanned;		/* tiles of the slot that is being filled */
} GcChannel;

typedef struct GcJob
{
	u32			kind;
	u32			slot;
	u32			source;
	u32			n;				/* packets */
} GcJob;

GC_FN void
gc_channel_open(GcChannel *c, u64 control, u32 nslots, const GcScan *scan, u32 block)
{
	c->used = (u64 *) control;
	c->full = c->used + GC_CHANNEL_WORDS(nslots);
	c->heads = (u32 *) (c->full + GC_CHANNEL_WORDS(nslots));
	c->next = c->heads + 2 * nslots;
	c->held = c->next + scan->nsources;
	c->nslots = nslots;
	c->nsources = scan->nsources;
	c->tiles = scan->tiles_per_source;
	c->source = block % (scan->nsources ? scan->nsources : 1);
	c->left = scan->nsources;
	c->scanned = 0;
}

/*
 * Find one of n bits that is clear and set it, or the other way round; the first one from `from` on, in a circle.
 * Returns its number, or n if there is none.
 */
GC_FN u32
gc_take_bit(u64 *bits, u32 n, u32 from, u32 set)
{
	const u32	words = GC_CHANNEL_WORDS(n);

	from %= n;
	for (u32 i = 0; i <= words; i++)
	{
		const u32	w = (from / 64 + i) % words;
		u64			of = ~0ull;

		if (i == 0)
			of <<= from % 64;
		if (w == words - 1 && n % 64)
			of &= (1ull << n % 64) - 1;
		for (;;)
		{
			const u64	seen = GC_LOAD_FRESH64(&bits[w]);
			const u64	there = (set ? ~seen : seen) & of;
			u64			bit,
						old;

			if (!there)
				break;
			bit = 1ull << GC_CTZ64(there);
			old = set ? GC_ATOMIC_OR64(&bits[w], bit) : GC_ATOMIC_AND64(&bits[w], ~bit);
			if (((old & bit) != 0) != (set != 0))
				return w * 64 + GC_CTZ64(bit);
		}
	}
	return n;
}

/* Give a slot back; all of its packets were read. */
GC_FN void
gc_channel_free(GcChannel *c, u32 slot)
{
	GC_ORDER();
	(void) GC_ATOMIC_AND64(&c->used[slot / 64], ~(1ull << slot % 64));
}

/* Is there a full slot? */
GC_FN u32
gc_channel_take_full(GcChannel *c, u32 block, GcJob *job)
{
	const u32	slot = gc_take_bit(c->full, c->nslots, block, 0);

	if (slot == c->nslots)
		return 0;
	GC_ORDER();
	job->kind = GC_JOB_EMPTY;
	job->slot = slot;
	job->source = GC_LOAD_FRESH32(&c->heads[2 * slot]);
	job->n = GC_LOAD_FRESH32(&c->heads[2 * slot + 1]);
	return 1;
}

/* Is there a free slot, and a chunk with tiles to be scanned? */
GC_FN u32
gc_channel_take_free(GcChannel *c, u32 block, GcJob *job)
{
	u32			slot;

	for (; c->left && GC_LOAD_FRESH32(&c->next[c->source]) >= c->tiles; c->left--)
		c->source = c->source + 1 == c->nsources ? 0 : c->source + 1;
	if (!c->left)
		return 0;
	slot = gc_take_bit(c->used, c->nslots, block, 1);
	if (slot == c->nslots)
		return 0;
	GC_ORDER();
	c->scanned = 0;
	job->kind = GC_JOB_FILL;
	job->slot = slot;
	job->source = c->source;
	job->n = 0;
	return 1;
}

/*
 * Called by one thread of a block that holds no slot: its next job.  fills: it rather fills slots than empties
 * them.  When no tile is left, a block ends although others may still fill slots, as each of these empties one
 * afterwards.
 */
GC_FN void
gc_channel_next(GcChannel *c, u32 block, u32 fills, GcJob *job)
{
	for (;;)
	{
		if (!fills && gc_channel_take_full(c, block, job))
			return;
		if (gc_channel_take_free(c, block, job))
			return;
		if (gc_channel_take_full(c, block, job))
			return;
		if (!c->left)
			break;
	}
	job->kind = GC_JOB_END;
}

#define GC_NO_TILE	0xffffffffu
#define GC_END_OF_STEP(source, tile)	GC_MIN((tile) + GC_CHANNEL_STEP, ((source) + 1) * gc_a.scan.tiles_per_source)

/*
 * The first of the next tiles of the chunk from which the current slot is filled.  GC_NO_TILE: there are none, or no
 * room for their rows behind the n packets that are there, or these are enough already.  most: of tiles.
 */
GC_FN u32
gc_channel_tile(GcChannel *c, u32 n, u32 enough, u32 most)
{
	u32			tile;

	if (n >= enough || n > (GC_CHANNEL_TILES - GC_CHANNEL_STEP) * GC_TILE_ROWS || c->scanned >= most ||
		GC_LOAD_FRESH32(&c->next[c->source]) >= c->tiles)
		return GC_NO_TILE;
	tile = GC_ATOMIC_ADD32(&c->next[c->source], GC_CHANNEL_STEP);
	if (tile >= c->tiles)
		return GC_NO_TILE;
	c->scanned += GC_CHANNEL_STEP;
	return c->source * c->tiles + tile;
}

/* A slot is filled with n packets. */
GC_FN void
gc_channel_publish(GcChannel *c, const GcJob *job, u32 n)
{
	if (!n)
	{
		gc_channel_free(c, job->slot);
		return;
	}
	c->heads[2 * job->slot] = job->source;
	c->heads[2 * job->slot + 1] = n;
	GC_ORDER();
	(void) GC_ATOMIC_OR64(&c->full[job->slot / 64], 1ull << job->slot % 64);
}
