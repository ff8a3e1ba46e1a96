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
 *-------------------------------------------------------------------------
 */
#include "warp.h"

#include "../../src/codegen/codegen.h"

#define GC_CUDA			1
#define GC_FN			static inline __attribute__((unused))
#define GC_UNROLL
#define GC_UNROLL_BY(n)
#define GC_NO_UNROLL
#define GC_VEC			8
#define GC_WARPS(threads)	((threads) / 32)
#define GC_MIN(x, y)	((x) < (y) ? (x) : (y))
#define GC_VECTOR_BITS(bits, row)	((u32) ((const u8 *) (bits))[(row) / 8])

/* Device code is C++ where it runs. */
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "../../cuda/gc_visit.h"

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
	void		(*kernel) (const struct Launch *l, u32 lane);
} Launch;

/* A column's description stands behind GC_SELECTED_TILES; here, what it is told. */
#define NOTE_SPAN		if (gc_lane == 0) spans++;
#define VISIT_ROWS \
	if (gc_lane == 0) gathers++; \
	GC_SELECTED_ARRAY(u32, found); \
	GC_LOOK_UP(gc_j) \
	found[gc_j] = ~gc_visited[gc_j]; \
	GC_END_LOOK_UP \
	GC_SELECTED_ROWS(gc_j, gc_r) \
	visited[gc_src.chunk][gc_r] += found[gc_j] == ~gc_r ? 1 : 100; \
	GC_END_SELECTED_ROWS

#define KERNELS(name) \
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
#define GC_LANE_ROWS		1
KERNELS(one)
#undef GC_LANE_ROWS
#define GC_LANE_ROWS		2
KERNELS(two)
#undef GC_LANE_ROWS
#define GC_LANE_ROWS		4
KERNELS(four)

typedef struct Kernel
{
	const char *name;
	void		(*kernel) (const Launch *l, u32 lane);
	u32			lane_rows;
	bool		selection;
} Kernel;

static const Kernel kernels[] = {
	{"selection, a row at a time", marked_one, 1, true},
	{"selection, two", marked_two, 2, true},
	{"selection, four", marked_four, 4, true},
	{"filtered, a row at a time", filtered_one, 1, false},
	{"filtered, two", filtered_two, 2, false},
	{"filtered, four", filtered_four, 4, false}
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
launch(const Kernel *k, u32 nblocks, u32 nwarps, u32 first_tile)
{
	Launch		l = {.nblocks = nblocks,.nthreads = 32 * nwarps,.kernel = k->kernel};

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

			launch(&kernels[k], shapes[s][0], shapes[s][1], warp_draw(NCHUNKS * (PADDED / GC_TILE_ROWS)));
			wrong = count_wrong(wanted, &rows);
			ok(wrong == 0, "1 in %u, %s: %u blocks of %u warps visit %u rows once, and no others",
			   one_of, kernels[k].name, shapes[s][0], shapes[s][1], rows);
			if (!kernels[k].selection)
				continue;
			ok(gathers <= rows / (32 * kernels[k].lane_rows) * 2 + spans, "%u gathers, in %u spans", gathers, spans);
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
	is(32 * (sizeof(u16) * GC_QUEUE_ROWS + GC_SPAN_SUMMARY), GC_VISIT_SHARED, "shared memory of 32 warps is what is said of it");
}

int
main(void)
{
	static const u32 densities[] = {0, 20000, 600, 100, 29, 10, 6, 2, 1};

	tap_start();
	test_spans();
	for (u32 d = 0; d < sizeof(densities) / sizeof(densities[0]); d++)
		test_density(densities[d]);
	return tap_done();
}
