/*-------------------------------------------------------------------------
 *
 * launch_order_test.c
 *	  Tests of how kernels are launched that are to be side by side.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "../../src/sched/policy/launch_order.h"
#include "../../src/sched/model/occupancy.h"

#define MOST	8

static uint64_t seed = 1;

static int
draw(int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int) ((seed >> 33) % (uint64_t) below);
}

static GcPlaced
placed(int threads, int blocks, uint32_t shared_bytes)
{
	return (GcPlaced) {.registers = 32,.threads = threads,.blocks = blocks,.shared_bytes = shared_bytes};
}

/* The sets that were measured on an H200. */
static void
test_measured(void)
{
	const GcProfile *h200 = gc_profile_known("H200");
	GcPlaced	p[3] = {placed(256, 1, 256), placed(256, 1, 5256)};
	int			order[MOST];

	ok(!gc_launch_order(h200, p, 1, order) && order[0] == 0, "one alone: as the driver thinks");
	ok(!gc_launch_order(h200, p, 2, order), "a kernel with 5 kB and one with 0.3: the driver gives the first enough for both");
	ok(order[0] == 1 && order[1] == 0, "that is the one with 5 kB");
	p[0].blocks = 3;
	ok(!gc_launch_order(h200, p, 2, order), "three blocks of the other as well");
	p[0] = placed(512, 1, 16512);
	p[1] = placed(512, 1, 125256);
	ok(gc_launch_order(h200, p, 2, order), "126 and 17 kB: a block of the first is all that it gets");
	ok(order[0] == 1 && order[1] == 0, "in that order all the same");
	p[1] = placed(1024, 1, 75256);
	ok(!gc_launch_order(h200, p, 2, order), "76 and 17 kB: of the first two blocks would fit");
	p[2] = placed(256, 1, 0);
	p[0] = p[1] = placed(512, 1, 256);
	ok(!gc_launch_order(h200, p, 3, order) && order[0] == 0 && order[1] == 1 && order[2] == 2,
	   "of those alike the earlier first, and then who has none");
}

/* Each once, by shared memory, and in order where that is the same. */
static bool
in_order(const GcPlaced *p, int n, const int *order)
{
	int			times[MOST] = {0};

	for (int k = 0; k < n; k++)
		times[order[k]]++;
	for (int k = 0; k < n; k++)
	{
		const GcPlaced *a = &p[order[k]];
		const GcPlaced *b = &p[order[k + 1 < n ? k + 1 : k]];

		if (times[k] != 1 || a->shared_bytes < b->shared_bytes ||
			(k + 1 < n && a->shared_bytes == b->shared_bytes && order[k] > order[k + 1]))
			return false;
	}
	return true;
}

static void
test_random(void)
{
	const GcProfile *profiles[] = {gc_profile_known("H200"), gc_profile_known("A100")};
	int			disordered = 0;
	int			wrong = 0;
	int			whole = 0;

	for (int round = 0; round < 10000; round++)
	{
		const GcProfile *profile = profiles[round % 2];
		GcPlaced	p[MOST];
		int			order[MOST];
		int			n = 2 + draw(MOST - 1);
		int64_t		all = 0;
		bool		said;

		for (int k = 0; k < n; k++)
		{
			p[k] = placed(128 << draw(4), 1 + draw(3), (uint32_t) (draw(3) ? 256 * draw(4) : draw(100000)));
			p[k].registers = 16 + draw(100);
			all += p[k].blocks * gc_block_shared(profile, p[k].shared_bytes);
		}
		said = gc_launch_order(profile, p, n, order);
		disordered += !in_order(p, n, order);
		whole += said;
		/* As many blocks of the first alone as fit. */
		wrong += said != (gc_occupancy(profile, p[order[0]].registers, p[order[0]].threads, p[order[0]].shared_bytes) *
						  gc_block_shared(profile, p[order[0]].shared_bytes) < all);
	}
	is(disordered, 0, "each is launched once, the one with the most shared memory first");
	is(wrong, 0, "and they ask for the whole where the first alone could not use so much");
	ok(whole > 500 && whole < 9500, "which %d of 10000 do", whole);
}

int
main(void)
{
	tap_start();
	test_measured();
	test_random();
	return tap_done();
}
