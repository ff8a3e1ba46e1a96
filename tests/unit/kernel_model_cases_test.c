/*-------------------------------------------------------------------------
 *
 * kernel_model_cases_test.c
 *	  The kernel model in cases by hand: those of the paper, what is free of a
 *	  multiprocessor, many kernels, and bad input.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <limits.h>

#include "../../src/sched/model/kernel_model.h"

static GcKernelWork work;
static int	need[GC_NEEDS];		/* of the last plan's kernels together */

static GcKernelStatus
planned(const GcProfile *p, const int *free, const GcKernelItem *items, int n, GcKernelChoice *c)
{
	const GcKernelStatus status = gc_kernel_plan(p, free, items, n, &work, c);
	int			one[GC_NEEDS];

	memset(need, 0, sizeof(need));
	for (int i = 0; i < n && status == GC_KERNEL_OPTIMAL; i++)
	{
		gc_blocks_need(p, items[i].registers, c[i].warps * p->warp_size,
					   items[i].shared_fixed + items[i].shared_per_warp * c[i].warps, c[i].blocks, one);
		for (int k = 0; k < GC_NEEDS; k++)
			need[k] += one[k];
	}
	return status;
}

static GcKernelItem
one(int registers, int max_threads, int shared, int warps)
{
	return (GcKernelItem) {registers, max_threads, shared, 0, warps};
}

/* Li, Yu, Kumar, Tu 2014, section IV.A: pairs of kernels A to F on a GTX 680. */
static void
test_paper(void)
{
	const GcProfile *p = gc_profile_known("GTX 680");
	GcKernelItem items[8];
	GcKernelChoice c[8];

	items[0] = one(11, 1024, 0, 32);
	items[1] = one(33, 1024, 0, 32);
	is(planned(p, NULL, items, 2, c), GC_KERNEL_OPTIMAL, "A and B run together");
	ok(need[GC_NEED_WARPS] == 64 && need[GC_NEED_REGISTERS] == 57344 &&
	   need[GC_NEED_SHARED] == 0, "with 64 warps and 57344 registers");
	items[2] = items[0];
	is(planned(p, NULL, items, 3, c), GC_KERNEL_INFEASIBLE, "with no second A");

	items[0] = one(11, 256, 0, 8);
	for (int i = 1; i <= 6; i++)
		items[i] = one(44, 256, 0, 8);
	is(planned(p, NULL, items, 6, c), GC_KERNEL_OPTIMAL, "C runs with five D");
	ok(need[GC_NEED_WARPS] == 48 && need[GC_NEED_REGISTERS] == 65536, "with all registers");
	is(planned(p, NULL, items, 7, c), GC_KERNEL_INFEASIBLE, "but not with six");
	items[6] = one(11, 256, 0, 8);
	is(planned(p, NULL, items, 7, c), GC_KERNEL_INFEASIBLE, "nor two C with five");
	items[1] = one(44, 256, 0, 40);
	is(planned(p, NULL, items, 2, c), GC_KERNEL_OPTIMAL,
	   "C runs with a D of forty warps");
	ok(c[1].blocks == 5 && c[1].warps == 8, "which has five blocks");

	items[0] = one(11, 256, 24576, 8);
	items[1] = one(44, 256, 24576, 8);
	is(planned(p, NULL, items, 2, c), GC_KERNEL_OPTIMAL, "E and F run together");
	ok(need[GC_NEED_WARPS] == 16 && need[GC_NEED_REGISTERS] == 16384 &&
	   need[GC_NEED_SHARED] == 49152, "with all shared memory");
	items[2] = items[0];
	is(planned(p, NULL, items, 3, c), GC_KERNEL_INFEASIBLE, "but not two E");
}

static void
test_room(void)
{
	const GcProfile *p = gc_profile_known("H200");
	int			room[GC_NEEDS];
	GcKernelItem items[32];
	GcKernelChoice c[32];

	/* Theorem 1: 63 warps in blocks of 32 at most waste one warp, in 3 blocks none. */
	items[0] = one(16, 1024, 0, 63);
	planned(p, NULL, items, 1, c);
	ok(c[0].blocks == 2 && c[0].warps == 32, "two large blocks, if there is room");
	items[1] = one(16, 1024, 0, 1);
	is(planned(p, NULL, items, 2, c), GC_KERNEL_OPTIMAL, "63 warps and one");
	ok(c[0].blocks == 3 && c[0].warps == 21 && need[GC_NEED_WARPS] == 64,
	   "three blocks, if it is needed");

	/* Filters in shared memory. */
	for (int i = 0; i < 4; i++)
		items[i] = one(40, 1024, 60000, 8);
	is(planned(p, NULL, items, 4, c), GC_KERNEL_INFEASIBLE, "four kernels with filters do not fit");
	is(planned(p, NULL, items, 3, c), GC_KERNEL_OPTIMAL, "three do");
	is(need[GC_NEED_SHARED], 3 * 61056, "their cost");

	/* Free resources. */
	gc_sm_limits(p, room);
	items[0] = one(32, 256, 0, 16);
	room[GC_NEED_BLOCKS] = 1;
	is(planned(p, room, items, 1, c), GC_KERNEL_INFEASIBLE, "one block is too few");
	ok(!gc_kernel_fits(p, room, &items[0], c, NULL), "and it does not fit");
	room[GC_NEED_BLOCKS] = 2;
	is(planned(p, room, items, 1, c), GC_KERNEL_OPTIMAL, "two are enough");
	ok(gc_kernel_fits(p, room, &items[0], c, need) && c[0].blocks == 2 && c[0].warps == 8 &&
	   need[GC_NEED_REGISTERS] == 16 * 1024, "and it fits");
	ok(gc_kernel_fits(p, NULL, &items[0], NULL, NULL), "also on an empty multiprocessor");
	room[GC_NEED_REGISTERS] = 16383;
	is(planned(p, room, items, 1, c), GC_KERNEL_INFEASIBLE, "a register is missing");
	room[GC_NEED_REGISTERS] = INT_MAX;
	room[GC_NEED_SHARED] = 2047;
	is(planned(p, room, items, 1, c), GC_KERNEL_INFEASIBLE,
	   "the system's shared memory is missing");
	room[GC_NEED_SHARED] = 2048;
	is(planned(p, room, items, 1, c), GC_KERNEL_OPTIMAL, "it is there");
	for (int k = 0; k < GC_NEEDS; k++)
		room[k] = INT_MAX;
	items[0] = one(32, 256, 0, 65);
	is(planned(p, room, items, 1, c), GC_KERNEL_INFEASIBLE,
	   "more cannot be free than there is");
	for (int bad = 0; bad >= -5; bad -= 5)
	{
		items[0] = one(32, 256, 0, 1);
		for (int k = 0; k < GC_NEEDS; k++)
		{
			gc_sm_limits(p, room);
			room[k] = bad;
			is(planned(p, room, items, 1, c), GC_KERNEL_INFEASIBLE,
			   "nothing, or less, is free of a resource");
		}
		is(planned(p, room, items, 0, c), GC_KERNEL_OPTIMAL, "for no items, enough");
	}
	room[0] = INT_MIN;
	ok(!gc_kernel_fits(p, room, &items[0], NULL, NULL), "least of all");
}

/* Many items: a batch that needs the search, and its answer is as good as one by hand. */
static void
test_large(void)
{
	const GcProfile *p = gc_profile_known("H200");
	GcKernelItem items[GC_KERNEL_MAX + 1];
	GcKernelChoice c[GC_KERNEL_MAX + 1];

	for (int i = 0; i <= GC_KERNEL_MAX; i++)
		items[i] = one(16, 256, 0, 2);
	is(planned(p, NULL, items, 32, c), GC_KERNEL_OPTIMAL, "32 kernels");
	ok(need[GC_NEED_BLOCKS] == 32 && need[GC_NEED_WARPS] == 64, "take all blocks and warps");
	is(planned(p, NULL, items, 33, c), GC_KERNEL_INFEASIBLE, "33 do not fit");
	is(planned(p, NULL, items, GC_KERNEL_MAX, c), GC_KERNEL_INFEASIBLE, "nor do 64");
	is(planned(p, NULL, items, GC_KERNEL_MAX + 1, c), GC_KERNEL_BAD_INPUT, "65 are too many");
	is(planned(p, NULL, items, -1, c), GC_KERNEL_BAD_INPUT, "less than none");
	is(planned(p, NULL, NULL, 0, NULL), GC_KERNEL_OPTIMAL, "no kernels");
	ok(need[GC_NEED_SHARED] == 0 && need[GC_NEED_BLOCKS] == 0, "take nothing");

	for (int i = 0; i < 16; i++)
		items[i] = one(32, 256, 0, 4);
	is(planned(p, NULL, items, 16, c), GC_KERNEL_OPTIMAL, "16 kernels of 32 registers");
	ok(need[GC_NEED_REGISTERS] == 65536 && need[GC_NEED_SHARED] == 16 * 1024, "take all registers");
	items[15].registers = 40;
	is(planned(p, NULL, items, 16, c), GC_KERNEL_INFEASIBLE, "one of 40 does not fit");
}

static void
test_bad(void)
{
	const GcProfile *p = gc_profile_known("H200");
	GcProfile	bad = {0};
	GcKernelItem item = one(32, 256, 0, 4);
	GcKernelItem x;
	GcKernelChoice c;

#define REFUSED(change, what) \
	do { \
		x = item; \
		change; \
		is(planned(p, NULL, &x, 1, &c), GC_KERNEL_BAD_INPUT, what); \
		ok(!gc_kernel_fits(p, NULL, &x, &c, NULL), "and does not fit"); \
	} while (0)
#define NO_PLAN(change, what) \
	do { \
		x = item; \
		change; \
		is(planned(p, NULL, &x, 1, &c), GC_KERNEL_INFEASIBLE, what); \
		ok(!gc_kernel_fits(p, NULL, &x, &c, NULL), "and does not fit"); \
	} while (0)

	REFUSED(x.registers = -1, "negative registers");
	REFUSED(x.max_threads = 0, "no threads");
	REFUSED(x.shared_fixed = -1, "negative shared memory");
	REFUSED(x.shared_per_warp = -1, "negative shared memory of a warp");
	REFUSED(x.warps = 0, "no warps wanted");
	REFUSED(x.warps = -3, "less than no warps wanted");
	NO_PLAN(x.registers = 256, "too many registers for any thread");
	NO_PLAN(x.registers = INT_MAX, "far too many");
	NO_PLAN(x.max_threads = 31, "blocks of less than a warp");
	NO_PLAN(x.shared_fixed = 232449, "too much shared memory for any block");
	NO_PLAN(x.shared_fixed = INT_MAX, "far too much");
	NO_PLAN(x.shared_per_warp = INT_MAX, "far too much for a warp");
	NO_PLAN((x.shared_fixed = INT_MAX, x.shared_per_warp = INT_MAX), "both");
	NO_PLAN(x.warps = 65, "more warps than there are");
	NO_PLAN(x.warps = INT_MAX, "far more");
	NO_PLAN((x.registers = 255, x.warps = 12), "registers for eight warps only");
	x = item;
	x.max_threads = INT_MAX;
	is(planned(p, NULL, &x, 1, &c), GC_KERNEL_OPTIMAL, "blocks as large as one likes");
	is(need[GC_NEED_SHARED], 1024, "and what that costs");

	is(planned(&bad, NULL, &item, 1, &c), GC_KERNEL_BAD_PROFILE, "a device without anything");
	ok(!gc_kernel_fits(&bad, NULL, &item, &c, NULL), "holds nothing");
	bad = (GcProfile) {.serial_blocks = true,.scalar = true,.shares_cpu = true,.sms = 2};
	is(planned(&bad, NULL, &item, 1, &c), GC_KERNEL_BAD_PROFILE, "CPU threads");
	bad = *p;
	bad.max_warps = GC_KERNEL_MAX_WARPS + 1;
	is(planned(&bad, NULL, &item, 1, &c), GC_KERNEL_BAD_PROFILE, "too many warps");
	bad = *p;
	bad.max_blocks = GC_KERNEL_MAX_BLOCKS + 1;
	is(planned(&bad, NULL, &item, 1, &c), GC_KERNEL_BAD_PROFILE, "too many blocks");
	bad = *p;
	bad.registers = INT_MAX;
	is(planned(&bad, NULL, &item, 1, &c), GC_KERNEL_BAD_PROFILE, "too many registers");
	bad = *p;
	bad.max_threads = INT_MAX;
	bad.register_unit = INT_MAX;
	is(planned(&bad, NULL, &item, 1, &c), GC_KERNEL_INFEASIBLE, "a giant granule");
}

int
main(void)
{
	tap_start();
	ok(sizeof(GcKernelWork) < 1000000, "the workspace has %zu bytes", sizeof(GcKernelWork));
	test_paper();
	test_room();
	test_large();
	test_bad();
	return tap_done();
}
