/*-------------------------------------------------------------------------
 *
 * put_selection_test.c
 *	  Tests of what device cuda does to mark rows (gc_selection.h), by a pretended warp (warp.h): looking
 *	  codes up in tables in shared memory, and writing block summary and marks.
 *
 * With GC_SELECT_ROWS rows for a thread, 8 or 16 (put_selection_16_test.c).
 *
 *-------------------------------------------------------------------------
 */
#include "warp.h"

#include "../../src/codegen/codegen.h"

#define GC_CUDA			1
#define GC_FN			static inline __attribute__((unused))
#define GC_UNROLL

/* Device code is C++ where it runs. */
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "../../cuda/gc_selection.h"

/*
 * Warps are beside each other, each with 32 * GC_SELECT_ROWS rows; behind the last row there is room for
 * what a thread takes at a time.
 */
#define ROWS			2048
#define PER_REQUEST		(ROWS / 8 + 64)
#define GARBAGE			0xa5

static u32	masks[ROWS];
static u32	live;
static u32	end;
static u8	sel_bitmap[32][PER_REQUEST] __attribute__((aligned(16)));
static u32	summary[ROWS / GC_SUMMARY_ROWS];

/* One thread's rows, if there are any. */
static void
mark_rows(uint32_t lane, void *arg)
{
	const u32	row = *(const u32 *) arg + lane * GC_SELECT_ROWS;

	if (row >= end)
		return;
	gc_put_selection(&masks[row], gc_put_summary(&masks[row], live, summary, row, end), sel_bitmap[0] + row / 8, PER_REQUEST);
}

/* Has any of these rows, of which a thread takes all or none, the request's bit? */
static bool
any_has(u32 first, u32 request)
{
	const u32	last = (end + GC_SELECT_ROWS - 1) / GC_SELECT_ROWS * GC_SELECT_ROWS;

	for (u32 row = first; row < first + GC_SUMMARY_ROWS && row < last; row++)
	{
		if (masks[row] >> request & 1)
			return true;
	}
	return false;
}

/* The fault of the request's marks; NULL: none. */
static const char *
check_request(u32 request)
{
	const bool	is_live = live >> request & 1;

	for (u32 first = 0; first < end; first += GC_SUMMARY_ROWS)
	{
		const bool	some = is_live && any_has(first, request);

		if ((summary[first / GC_SUMMARY_ROWS] >> request & 1) != some)
			return "its bit in the summary";
		for (u32 row = first; row < first + GC_SUMMARY_ROWS && row < end; row++)
		{
			const u8	byte = sel_bitmap[request][row / 8];

			if (some && (byte >> row % 8 & 1) != (masks[row] >> request & 1))
				return "its selection bitmaps";
			if (!some && byte != GARBAGE)
				return "selection bitmaps where it has none";
		}
	}
	for (u32 i = (end + GC_SELECT_ROWS - 1) / GC_SELECT_ROWS * GC_SELECT_ROWS / 8; i < PER_REQUEST; i++)
	{
		if (sel_bitmap[request][i] != GARBAGE)
			return "selection bitmaps behind the last row";
	}
	return NULL;
}

/* One row in `one_of` has a request's mark, for those in `who`. */
static void
test_put(u32 who, u32 alive, u32 one_of, u32 rows)
{
	const char *wrong = NULL;

	live = alive;
	end = rows;
	memset(sel_bitmap, GARBAGE, sizeof(sel_bitmap));
	memset(summary, GARBAGE, sizeof(summary));
	for (u32 row = 0; row < ROWS; row++)
	{
		masks[row] = 0;
		for (u32 request = 0; request < 32; request++)
			masks[row] |= (u32) (warp_draw(one_of) == 0) << request;
		masks[row] &= who;
	}
	for (u32 first = 0; first < end; first += 32 * GC_SELECT_ROWS)
		warp_run(mark_rows, &first);
	for (u32 request = 0; request < 32 && wrong == NULL; request++)
	{
		wrong = check_request(request);
		if (wrong)
			tap_note("request %u: %s", request, wrong);
	}
	ok(wrong == NULL, "selection bitmaps of 0x%x, of which 0x%x are there, in 1 of %u of %u rows", who, alive, one_of, rows);
}

/*-------------------------------------------------------------------------
 * Looking up
 *-------------------------------------------------------------------------
 */

#define CODES			256

static u32	table[CODES * 32];
static u32	copies;
static u8	codes[32][GC_SELECT_ROWS * 2] __attribute__((aligned(16)));
static u32	found[32][GC_SELECT_ROWS];

static void
look_up_1(uint32_t lane, void *arg)
{
	u32			r[GC_SELECT_ROWS / 4];

	gc_codes(r, codes[lane], GC_SELECT_ROWS / 4);
	gc_look_up_1(found[lane], r, arg, copies);
}

static void
look_up_2(uint32_t lane, void *arg)
{
	u32			r[GC_SELECT_ROWS / 2];

	gc_codes(r, codes[lane], GC_SELECT_ROWS / 2);
	gc_look_up_2(found[lane], r, arg, copies);
}

static void
test_look_up(int width, u32 n)
{
	u32			wanted[32][GC_SELECT_ROWS];
	u32			entry[CODES];

	copies = n;
	warp_shared = (char *) table - 64;
	for (u32 code = 0; code < CODES; code++)
	{
		entry[code] = warp_draw(UINT32_MAX);
		for (u32 i = 0; i < n; i++)
			table[code * n + i] = entry[code];
	}
	for (u32 lane = 0; lane < 32; lane++)
	{
		for (u32 row = 0; row < GC_SELECT_ROWS; row++)
		{
			const u16	code = (u16) warp_draw(CODES);

			memcpy(codes[lane] + row * (u32) width, &code, (size_t) width);
			found[lane][row] = warp_draw(UINT32_MAX);
			wanted[lane][row] = found[lane][row] & entry[code];
		}
	}
	warp_run(width == 1 ? look_up_1 : look_up_2, table);
	ok(memcmp(found, wanted, sizeof(wanted)) == 0, "codes of %d bytes, each entry %u times", width, n);
}

int
main(void)
{
	static const u32 sets[] = {UINT32_MAX, 1, 0x80000000, 0xff, 0x8100, 0x00ff0100, 0x7fff8001};
	static const u32 rows[] = {ROWS, ROWS - 1, 1, 255, 256, 257, 300, 1000, 1024 + GC_SELECT_ROWS};

	tap_start();
	for (int width = 1; width <= 2; width++)
	{
		for (u32 n = 1; n <= (width == 1 ? 16 : 32); n *= 2)
			test_look_up(width, n);
	}
	for (u32 s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
	{
		for (u32 i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		{
			test_put(sets[s], sets[s], 3, rows[i]);
			test_put(sets[s], UINT32_MAX, 500, rows[i]);
			test_put(UINT32_MAX, sets[s], 20, rows[i]);
		}
	}
	return tap_done();
}
