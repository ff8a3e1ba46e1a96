/*-------------------------------------------------------------------------
 *
 * visit_test.c
 *	  Tests of what device cuda does with rows that have marks, or that a vector phase has left
 *	  (gc_visit.h), by a pretended warp (warp.h).
 *
 * Every visible row with a mark must be visited once, with what was looked up for it, and no other.  That holds
 * whatever the marks, the chunks' sizes, and the number of warps, which decides how long a span is.  Marks behind a
 * chunk's last row, and where the block summary says that there are none, may be anything.
 *
 * Rows that a vector phase has left also become packets (gc_packet.h), in slots for runs of tiles or refilled by a
 * block.  None may lie behind a slot's end, and each must be read once.
 *
 * With GC_QUICK, as in quick kernels: rows one by one (visit_quick_test.c).
 *
 *-------------------------------------------------------------------------
 */
#include "warp.h"

#include "../../src/codegen/codegen.h"

#define GC_CUDA			1
#define GC_FN			static inline __attribute__((unused))
#define GC_UNROLL
#define GC_UNROLL_BY(n)
#define GC_NO_UNROLL
#define GC_WARPS(threads)	((threads) / 32)
#define GC_MIN(x, y)	((x) < (y) ? (x) : (y))
#ifdef GC_QUICK
#define GC_VEC			1
#define GC_VECTOR_BITS(bits, row)	((u32) (((const u8 *) (bits))[(row) / 8] >> (row) % 8))
#else
#define GC_VEC			8
#define GC_VECTOR_BITS(bits, row)	((u32) ((const u8 *) (bits))[(row) / 8])
#endif
#define GC_VECTOR_ROWS(row, nrows)
#define GC_VECTOR_LIVE(valid, row)	u32 gc_m = 1; if (valid) gc_m &= GC_VECTOR_BITS(valid, row);
#define GC_SETTLE		if (!gc_m) continue;
#define GC_BITS_F32(x)	((float) (x))
#define GC_BITS_F64(x)	((double) (x))
#define GC_BARRIER()	__syncwarp()
#define GC_SCAN_STOPPED	0
#define GC_THREAD		threadIdx.x

/* A lane takes places alone, as it may wherever others are not beside it. */
#define __activemask()	(1u << warp.running)
#define atomicAdd(p, n)	__atomic_fetch_add(p, n, __ATOMIC_RELAXED)
#undef __shfl_sync
#define __shfl_sync(mask, x, lane)	((mask) == UINT32_MAX ? warp_of_lane(mask, x, lane, __LINE__) : (x))

/* Device code is C++ where it runs. */
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

/* Waits for words of 64 bits, and times, which only channels and timed launches have. */
#define GC_LOAD_FRESH64(p)	(*(const volatile u64 *) (p))
#define GC_LOAD_FRESH32(p)	(*(const volatile u32 *) (p))
#define GC_ATOMIC_ADD32(p, n)	atomicAdd((u32 *) (p), n)
#define GC_ATOMIC_ADD64(p, n)	((void) 0)
#define GC_ATOMIC_OR64(p, n)	__atomic_fetch_or((u64 *) (p), n, __ATOMIC_RELAXED)
#define GC_ATOMIC_MAX64(p, n)	((void) 0)
#define atomicAnd(p, n)	__atomic_fetch_and(p, n, __ATOMIC_RELAXED)
#define __ffsll(x)		__builtin_ffsll(x)
#define __ldcg(p)		(*(p))
#define gc_order()		((void) 0)

#ifdef GC_QUICK
#include "../../cuda/gc_tile.h"
#else
#define GC_END_TILES	}
#endif
#include "../../cuda/gc_visit.h"
#include "../../cuda/gc_packet.h"

#define NCHUNKS			11
#define CHUNK_MOST		70000
#define PADDED			(5 * GC_TILE_ROWS)
#define MARKS_BYTES		(PADDED / 8)	/* of a chunk */
#define SUMMARY_WORDS	(PADDED / GC_SUMMARY_ROWS)
#define BIT				13		/* the request's in the block summary */

static const u32 chunk_rows[NCHUNKS] = {CHUNK_MOST, 1, 32768, 32769, 255, 256, 4096, 40000, 16384, 31, 65536};

static u8	sel_bitmap[NCHUNKS][MARKS_BYTES] __attribute__((aligned(16)));
static u8	valid[NCHUNKS][MARKS_BYTES] __attribute__((aligned(16)));
static u32	summary[NCHUNKS][SUMMARY_WORDS] __attribute__((aligned(16)));
static GcSource sources[NCHUNKS];
static u8	visited[NCHUNKS][PADDED];
static u32	slots[NCHUNKS * 2 * PADDED];	/* packets: the numbers of rows in their chunks */
static u32	counts[NCHUNKS * (PADDED / GC_TILE_ROWS) + 1];	/* of packets, by slot; and of those in memory, of timed launches */
static u32	behind;				/* packets for which a slot had no room */
static u32	gathers;			/* of a warp, together */
static u32	spans;				/* in which it had a row */

/* One launch; the warp that runs now. */
typedef struct Launch
{
	GcArgs		args;
	u32			nblocks;
	u32			nthreads;
	u32			block;
	u32			warp;
	u32			slot_tiles;		/* of which a slot has room for all rows */
	void		(*kernel) (const struct Launch *l, u32 lane);
} Launch;

typedef void (*Launcher) (const Launch *l, u32 lane);

/* A column's description stands behind GC_SELECTED_TILES; here, what it is told. */
#define NOTE_SPAN		if (lane == 0) spans++;
#define VISIT_ROWS \
	if (lane == 0) gathers++; \
	GC_SELECTED_ARRAY(u32, found); \
	GC_LOOK_UP(gc_j) \
	found[gc_j] = ~gc_visited[gc_j]; \
	GC_END_LOOK_UP \
	GC_SELECTED_ROWS(gc_j, gc_r) \
	visited[gc_src.chunk][gc_r] += found[gc_j] == ~gc_r ? 1 : 100; \
	GC_END_SELECTED_ROWS

/* Packets, as codegen/sink/packets.c and kernel.c generate them. */
#define PACKETS_OF_LAUNCH \
	const u32	block = l->block, nblocks = l->nblocks, nthreads = l->nthreads, thread = 32 * l->warp + lane; \
	const GcArgs gc_a = l->args; \
	u32 *gc_flags = 0; \
	const u64 gc_packet_slots = (u64) slots, gc_edge = (u64) counts; \
	const u32 gc_cap = l->slot_tiles * GC_TILE_ROWS, gc_runs = (PADDED + gc_cap - 1) / gc_cap, gc_nslots = NCHUNKS * gc_runs; \
	const u64 gc_slot_bytes = (u64) gc_cap * sizeof(u32); \
	(void) gc_flags; (void) gc_edge; (void) gc_runs; (void) gc_nslots; (void) nblocks; (void) nthreads; (void) thread;
#define FILL_PACKETS \
	GC_FILTERED_VECTORS \
	gc_m &= GC_VECTOR_BITS(sel_bitmap[gc_src.chunk], gc_row); \
	GC_FILTERED_SELECTION \
	GC_SELECTED_ROWS(gc_j, gc_r) \
	const u32 gc_place = gc_packet_place(gc_npackets); \
	if (gc_place < gc_cap) \
		((u32 *) gc_packets)[gc_place] = gc_r; \
	else \
		behind++; \
	GC_END_SELECTED_ROWS \
	GC_END_FILTERED_VECTORS
#define EMPTY_PACKETS(first, end, step) \
	GC_PACKET_VECTORS(first, end, step) \
	GC_SELECTED_ROWS(gc_j, gc_r) \
	visited[gc_src.chunk][gc_r]++; \
	GC_END_SELECTED_ROWS \
	GC_END_PACKET_VECTORS

#define KERNELS(name) \
static void \
produce_##name(const Launch *l, u32 lane) \
{ \
	PACKETS_OF_LAUNCH \
	GC_PART_QUEUES(128) \
	GC_PARTS_OF(block * GC_PART_WARPS + GC_PART_WARP, gc_a.scan.ntiles * GC_TILE_PARTS, nblocks * GC_PART_WARPS) \
	GC_SLOT_OF_RUN \
	FILL_PACKETS \
	GC_END_TILES \
} \
static void \
consume_##name(const Launch *l, u32 lane) \
{ \
	PACKETS_OF_LAUNCH \
	GC_SLOT_UNITS \
	EMPTY_PACKETS(GC_UNIT_FIRST, GC_UNIT_END, GC_UNIT_STEP) \
	GC_END_SLOT_UNITS \
} \
static void \
refill_##name(const Launch *l, u32 lane) \
{ \
	PACKETS_OF_LAUNCH \
	GC_PART_QUEUES(32) \
	static u32	gc_counts[1]; \
	u32		   *gc_npackets = gc_counts; \
	const u64	gc_packets = gc_packet_slots + block * gc_slot_bytes; \
	const u32	gc_step = GC_REFILL_PARTS(32), gc_last_tile = GC_REFILL_TILE(block + 1); \
	u32			gc_next_tile = GC_REFILL_TILE(block); \
	while (gc_next_tile < gc_last_tile) { \
	const u32 gc_chunk = gc_next_tile / gc_a.scan.tiles_per_source; \
	u32 gc_filled; \
	if (thread == 0) gc_counts[0] = 0; \
	GC_BARRIER(); \
	do { \
	const u32 gc_step_end = GC_MIN(GC_MIN(gc_next_tile + gc_step, gc_last_tile), (gc_chunk + 1) * gc_a.scan.tiles_per_source); \
	GC_PARTS_OF(gc_next_tile * GC_TILE_PARTS + GC_PART_WARP, gc_step_end * GC_TILE_PARTS, 1 * GC_PART_WARPS) \
	FILL_PACKETS \
	GC_END_TILES \
	gc_next_tile = gc_step_end; \
	GC_BARRIER(); \
	gc_filled = gc_counts[0]; \
	GC_BARRIER(); \
	} while (gc_next_tile < gc_last_tile && gc_next_tile / gc_a.scan.tiles_per_source == gc_chunk && \
			 gc_filled < 600 && gc_filled + gc_step * GC_TILE_ROWS <= gc_cap); \
	GC_PACKETS_SOURCE(gc_chunk) \
	EMPTY_PACKETS(thread, gc_filled, nthreads) \
	GC_BARRIER(); \
	} \
} \
static void \
marked_##name(const Launch *l, u32 lane) \
{ \
	const u32	block = l->block, nblocks = l->nblocks, nthreads = l->nthreads, thread = 32 * l->warp + lane; \
	const GcArgs gc_a = l->args; \
	GC_SELECTED_TILES(128, gc_a.w[0], gc_a.w[1], gc_a.w[2], BIT) \
	NOTE_SPAN \
	GC_SELECTED_VECTORS \
	VISIT_ROWS \
	GC_END_SELECTED_VECTORS \
	} \
} \
static void \
filtered_##name(const Launch *l, u32 lane) \
{ \
	const u32	block = l->block, nblocks = l->nblocks, nthreads = l->nthreads, thread = 32 * l->warp + lane; \
	const GcArgs gc_a = l->args; \
	GC_FILTERED_TILES(128) \
	GC_FILTERED_VECTORS \
	gc_m &= GC_VECTOR_BITS(sel_bitmap[gc_src.chunk], gc_row); \
	GC_FILTERED_SELECTION \
	VISIT_ROWS \
	GC_END_FILTERED_VECTORS \
	} \
}

#define GC_FILTERED_ROUNDS	1
#define GC_LANE_ROWS		GC_GATHERED_TOGETHER(1)
KERNELS(one)
#undef GC_LANE_ROWS
#define GC_LANE_ROWS		GC_GATHERED_TOGETHER(2)
KERNELS(two)
#undef GC_LANE_ROWS
#define GC_LANE_ROWS		GC_GATHERED_TOGETHER(4)
KERNELS(four)

typedef struct Kernel
{
	const char *name;
	Launcher	kernel;
	u32			lane_rows;
	bool		selection;
} Kernel;

static const Kernel kernels[] = {
	{"selection, a row at a time", marked_one, GC_GATHERED_TOGETHER(1), true},
	{"selection, two", marked_two, GC_GATHERED_TOGETHER(2), true},
	{"selection, four", marked_four, GC_GATHERED_TOGETHER(4), true},
	{"filtered, a row at a time", filtered_one, GC_GATHERED_TOGETHER(1), false},
	{"filtered, two", filtered_two, GC_GATHERED_TOGETHER(2), false},
	{"filtered, four", filtered_four, GC_GATHERED_TOGETHER(4), false}
};

#define NKERNELS	((int) (sizeof(kernels) / sizeof(kernels[0])))

static bool
bit(const u8 *bits, u32 row)
{
	return bits[row / 8] >> row % 8 & 1;
}

/* One row in `one_of` gets a mark; 0: none does. */
static void
draw_marks(u32 one_of)
{
	memset(sel_bitmap, 0, sizeof(sel_bitmap));
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		for (u32 row = 0; row < PADDED; row++)
		{
			/* behind the last row, anything */
			const bool	selection = row >= chunk_rows[c] ? warp_draw(2) : one_of > 0 && warp_draw(one_of) == 0;

			sel_bitmap[c][row / 8] |= (u8) (selection << row % 8);
		}
		for (u32 i = 0; i < MARKS_BYTES; i++)
			valid[c][i] = (u8) warp_draw(256);
		sources[c] = (GcSource) {c % 3 == 1 ? (u64) valid[c] : 0, c, chunk_rows[c]};
	}
}

/* The marks' block summary, with others' bits beside; and where it has none, marks are anything. */
static void
draw_digest(void)
{
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		for (u32 part = 0; part < SUMMARY_WORDS; part++)
		{
			u8		   *of = &sel_bitmap[c][part * GC_SUMMARY_ROWS / 8];
			bool		any = false;

			for (u32 r = part * GC_SUMMARY_ROWS; r < (part + 1) * GC_SUMMARY_ROWS && r < chunk_rows[c]; r++)
				any = any || bit(sel_bitmap[c], r);
			summary[c][part] = warp_draw(UINT32_MAX) & ~(1u << BIT);
			if (any || part * GC_SUMMARY_ROWS >= chunk_rows[c])
				summary[c][part] |= 1u << BIT;
			for (u32 i = 0; !any && i < GC_SUMMARY_ROWS / 8; i++)
				of[i] = (u8) warp_draw(256);
		}
	}
}

static void
lane(uint32_t number, void *arg)
{
	const Launch *l = arg;

	l->kernel(l, number);
}

/* Every warp of the launch, one after another. */
static void
launch(Launcher kernel, u32 nblocks, u32 nwarps, u32 first_tile, u32 slot_tiles)
{
	Launch		l = {.nblocks = nblocks,.nthreads = 32 * nwarps,.slot_tiles = slot_tiles,.kernel = kernel};

	l.args.scan = (GcScan) {.sources = (u64) sources,.nsources = NCHUNKS,.tiles_per_source = PADDED / GC_TILE_ROWS,
	.ntiles = NCHUNKS * (PADDED / GC_TILE_ROWS),.first_tile = first_tile};
	l.args.w[0] = (u64) sel_bitmap;
	l.args.w[1] = MARKS_BYTES;
	l.args.w[2] = (u64) summary;
	memset(visited, 0, sizeof(visited));
	gathers = spans = 0;
	for (l.block = 0; l.block < nblocks; l.block++)
	{
		for (l.warp = 0; l.warp < nwarps; l.warp++)
			warp_run(lane, &l);
	}
}

/* Rows that were not visited as often as they should be; *rows: how many should be. */
static u32
count_wrong(const u8 (*wanted)[MARKS_BYTES], u32 *rows)
{
	u32			wrong = 0;

	*rows = 0;
	for (u32 c = 0; c < NCHUNKS; c++)
	{
		for (u32 row = 0; row < PADDED; row++)
		{
			const bool	want = row < chunk_rows[c] && bit(wanted[c], row) && (!sources[c].valid || bit(valid[c], row));

			wrong += visited[c][row] != want;
			*rows += want;
		}
	}
	return wrong;
}

/* With one row in `one_of` marked. */
static void
test_density(u32 one_of)
{
	/* spans are shorter the more warps there are */
	static const u32 shapes[][2] = {{1, 1}, {3, 2}, {5, 4}, {16, 4}, {40, 4}};
	static u8	wanted[NCHUNKS][MARKS_BYTES];

	draw_marks(one_of);
	memcpy(wanted, sel_bitmap, sizeof(wanted));
	for (int k = 0; k < NKERNELS; k++)
	{
		memcpy(sel_bitmap, wanted, sizeof(sel_bitmap));
		if (kernels[k].selection)
			draw_digest();
		for (u32 s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		{
			u32			rows,
						wrong;

			launch(kernels[k].kernel, shapes[s][0], shapes[s][1], warp_draw(NCHUNKS * (PADDED / GC_TILE_ROWS)), 0);
			wrong = count_wrong(wanted, &rows);
			ok(wrong == 0, "1 in %u, %s: %u blocks of %u warps visit %u rows once, and no others",
			   one_of, kernels[k].name, shapes[s][0], shapes[s][1], rows);
			if (!kernels[k].selection)
				continue;
			ok(gathers <= rows / (32 * kernels[k].lane_rows) * 2 + spans, "%u gathers, in %u spans", gathers, spans);
		}
	}
}

/* Rows as packets, one in `one_of` marked: in slots that another launch empties, and refilled by blocks of a warp. */
static void
test_packets(u32 one_of)
{
	static const Launcher edges[][3] = {{produce_one, consume_one, refill_one}, {produce_two, consume_two, refill_two},
	{produce_four, consume_four, refill_four}};
	u32			rows,
				wrong;

	draw_marks(one_of);
	for (u32 e = 0; e < 3; e++)
	{
		for (u32 tiles = 1; tiles <= PADDED / GC_TILE_ROWS; tiles++)
		{
			const u32	nblocks = 1 + warp_draw(9);

			memset(counts, 0, sizeof(counts));
			memset(slots, 0xff, sizeof(slots));
			behind = 0;
			launch(edges[e][0], nblocks, 1 + warp_draw(4), 0, tiles);
			launch(edges[e][1], nblocks, 1 + warp_draw(4), 0, tiles);
			wrong = count_wrong(sel_bitmap, &rows);
			ok(wrong == 0 && behind == 0, "1 in %u, slots of %u tiles: %u rows are packets once, and no others", one_of, tiles, rows);
			launch(edges[e][2], nblocks, 1, 0, tiles);
			wrong = count_wrong(sel_bitmap, &rows);
			ok(wrong == 0 && behind == 0, "refilled by %u blocks", nblocks);
		}
	}
}

/* How long spans are. */
static void
test_spans(void)
{
	GcScan		scan = {.ntiles = 1000,.tiles_per_source = 10};

	is(gc_span_rows(&scan, 500), 32768, "a span has 32,768 rows where there are as many as warps");
	is(gc_span_rows(&scan, 501), 16384, "else half");
	is(gc_span_rows(&scan, 1001), 8192, "and half of that");
	is(gc_span_rows(&scan, 2001), 4096, "but no less than a warp looks at together");
	is(gc_span_rows(&scan, 1000000), 4096, "however many warps there are");
	ok(32 * (sizeof(u16) * GC_QUEUE_ROWS + GC_SPAN_SUMMARY) <= GC_VISIT_SHARED, "shared memory of 32 warps is within what is said of it");
}

int
main(void)
{
	static const u32 densities[] = {0, 20000, 600, 100, 29, 10, 6, 2, 1};

	tap_start();
	test_spans();
	for (u32 d = 0; d < sizeof(densities) / sizeof(densities[0]); d++)
	{
		test_density(densities[d]);
		test_packets(densities[d]);
	}
	return tap_done();
}
