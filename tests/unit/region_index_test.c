/*-------------------------------------------------------------------------
 *
 * region_index_test.c
 *	  That a region is found by its id as long as it is there, and as what it was made last.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "../../src/worker/memory/region_index.h"

#define IDS		3000

/* Regions are only pointed to. */
static char memory[2][IDS];
static GcRegionIndex first,
			second;

static struct GcRegion *
made(int time, int i)
{
	return (struct GcRegion *) &memory[time][i];
}

static void
test_one(void)
{
	ok(gc_region_index_find(&first, 7) == NULL, "nothing is in an empty index");
	gc_region_index_remove(&first, 7);
	ok(gc_region_index_add(&first, 7, made(0, 7)), "added");
	ok(gc_region_index_find(&first, 7) == made(0, 7), "found");
	ok(gc_region_index_find(&second, 7) == NULL, "but not in the index of another device");
	gc_region_index_remove(&first, 7);
	ok(gc_region_index_find(&first, 7) == NULL, "freed");
	ok(gc_region_index_add(&first, 7, made(1, 7)), "made again");
	ok(gc_region_index_find(&first, 7) == made(1, 7), "it is the new one");
	gc_region_index_remove(&first, 7);
	gc_region_index_remove(&first, 7);
	is(first.n, 0, "regions");
}

/* Ids as they come, of which any go, so that entries move: what is there is found, and nothing else. */
static void
test_many(uint64_t step, const char *what)
{
	static struct GcRegion *there[IDS];
	uint64_t	random = 1,
				n = 0;
	int			wrong = 0;

	for (int i = 0; i < IDS; i++)
		there[i] = NULL;
	for (int round = 0; round < 60 * IDS; round++)
	{
		int			i;

		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		i = (int) ((random >> 33) % IDS);
		if (there[i])
			gc_region_index_remove(&second, (uint64_t) (i + 1) * step);
		else
			wrong += !gc_region_index_add(&second, (uint64_t) (i + 1) * step, made(round & 1, i));
		n += there[i] ? -1 : 1;
		there[i] = there[i] ? NULL : made(round & 1, i);
		if (round % 1000 != 0)
			continue;
		for (int k = 0; k < IDS; k++)
			wrong += gc_region_index_find(&second, (uint64_t) (k + 1) * step) != there[k];
	}
	is(wrong, 0, what);
	is(second.n, n, "regions that are left");
	for (int i = 0; i < IDS; i++)
	{
		if (there[i])
			gc_region_index_remove(&second, (uint64_t) (i + 1) * step);
	}
	is(second.n, 0, "none is left");
}

int
main(void)
{
	tap_start();
	test_one();
	test_many(1, "ids one after the other");
	test_many(UINT64_C(1) << 40, "ids far apart");
	/* Multiples of the inverse of the hash's factor all belong to one of the first places. */
	test_many(UINT64_C(0xf1de83e19937733d), "ids of a few places");
	return tap_done();
}
