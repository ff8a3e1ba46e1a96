/*-------------------------------------------------------------------------
 *
 * pool_test.c
 *	  The memory pool against a brute-force model of it.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "../../src/device/memory.h"

#define A			GC_POOL_ALIGN
#define GRANULES	512			/* size of the model */

/* The model: which block each granule of the pool belongs to; 0 is none. */
static GcAddr model[GRANULES];
static GcAddr model_base;

static u64	random_state = 88172645463325252ULL;

static u32
random_below(u32 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32) (random_state >> 32) % n;
}

/*
 * The begin of the lowest gap that has room; or, for a block that stays, the highest gap of just its size, else the end of
 * the highest that has room.  The granule, or -1.
 */
static int
model_find(int granules, bool stays)
{
	int			found = -1;
	bool		exact = false;

	for (int i = 0; i < GRANULES;)
	{
		int			run = 0;

		while (i + run < GRANULES && model[i + run] == 0)
			run++;
		if (run >= granules && stays && (run == granules || !exact))
		{
			found = i + run - granules;
			exact = run == granules;
		}
		if (run >= granules && !stays && found < 0)
			found = i;
		i += run > 0 ? run : 1;
	}
	return found;
}

static int
model_largest(void)
{
	int			largest = 0;
	int			run = 0;

	for (int i = 0; i < GRANULES; i++)
	{
		run = model[i] == 0 ? run + 1 : 0;
		if (run > largest)
			largest = run;
	}
	return largest;
}

static int
model_used(void)
{
	int			used = 0;

	for (int i = 0; i < GRANULES; i++)
		used += model[i] != 0;
	return used;
}

static void
model_free(GcAddr addr)
{
	for (int i = 0; i < GRANULES; i++)
	{
		if (model[i] == addr)
			model[i] = 0;
	}
}

/* One allocation in both; do they agree? */
static bool
alloc_both(GcPool *pool, u64 size, GcAddr *addr)
{
	int			granules = (int) ((size + A - 1) / A);
	bool		stays = random_below(2) == 0;
	int			at = model_find(granules, stays);

	*addr = stays ? gc_pool_alloc_to_stay(pool, size) : gc_pool_alloc(pool, size);
	if (at < 0)
		return *addr == 0;
	for (int i = 0; i < granules; i++)
		model[at + i] = *addr;
	return *addr == model_base + (GcAddr) at * A;
}

static bool
agree(const GcPool *pool)
{
	return gc_pool_used(pool) == (u64) model_used() * A &&
		gc_pool_largest_free(pool) == (u64) model_largest() * A;
}

/*
 * max_granules decides how full the pool becomes: many small blocks, or few
 * large ones that soon do not fit.
 */
static void
random_test(u32 max_granules, GcAddr base)
{
	GcPool	   *pool = gc_pool_create(base, GRANULES * A);
	GcAddr		live[GRANULES];
	u32			nlive = 0;
	int			disagreements = 0;
	int			exhausted = 0;

	memset(model, 0, sizeof(model));
	model_base = base;
	for (int step = 0; step < 20000; step++)
	{
		/* Phases of growing and of shrinking, so that both ends are reached. */
		bool		growing = (step / 700) % 2 == 0;

		if (random_below(100) < (growing ? 65u : 35u))
		{
			u64			size = 1 + random_below(max_granules * A);
			GcAddr		addr;

			if (!alloc_both(pool, size, &addr))
				disagreements++;
			if (addr != 0)
				live[nlive++] = addr;
			else
				exhausted++;
		}
		else if (nlive > 0)
		{
			u32			which = random_below(nlive);

			gc_pool_free(pool, live[which]);
			model_free(live[which]);
			live[which] = live[--nlive];
		}
		if (!agree(pool))
			disagreements++;
	}
	is(disagreements, 0, "the pool does what the model does");
	ok(max_granules < 4 || exhausted > 0, "exhaustion was met (%d times)", exhausted);
	while (nlive > 0)
		gc_pool_free(pool, live[--nlive]);
	ok(gc_pool_used(pool) == 0 && gc_pool_largest_free(pool) == GRANULES * A,
	   "all freed, the pool is one block again");
	gc_pool_destroy(pool);
}

static void
edges_test(void)
{
	GcPool	   *pool;
	GcAddr		a;
	GcAddr		b;
	GcAddr		c;

	ok(gc_pool_create(4096, A - 1) == NULL, "a pool without a granule cannot be");
	ok(gc_pool_create(~(u64) 0 - A, 4 * A) == NULL, "nor one that wraps around");

	pool = gc_pool_create(1000, 10 * A);
	is(gc_pool_size(pool), 9 * A, "an odd base costs a granule");
	is(gc_pool_alloc(pool, 1), 1024, "addresses are aligned");
	gc_pool_destroy(pool);

	pool = gc_pool_create(0, 4 * A);
	is(gc_pool_alloc(pool, 1), A, "address 0 is never given out");
	gc_pool_destroy(pool);

	pool = gc_pool_create(1 << 20, 8 * A);
	is(gc_pool_alloc(pool, 0), 0, "no block of no bytes");
	is(gc_pool_alloc(pool, ~(u64) 0), 0, "no block of 2^64 - 1 bytes");
	is(gc_pool_alloc(pool, 8 * A + 1), 0, "no block larger than the pool");
	is(gc_pool_alloc(pool, 8 * A), 1 << 20, "a block as large as the pool");
	is(gc_pool_largest_free(pool), 0, "then nothing is free");
	is(gc_pool_alloc(pool, 1), 0, "and nothing fits");
	gc_pool_free(pool, 1 << 20);

	a = gc_pool_alloc(pool, 2 * A);
	b = gc_pool_alloc(pool, 3 * A);
	c = gc_pool_alloc(pool, 1);
	gc_pool_free(pool, b + A);
	gc_pool_free(pool, 12345);
	is(gc_pool_used(pool), 6 * A, "freeing what is not a block does nothing");
	gc_pool_free(pool, a);
	gc_pool_free(pool, a);
	is(gc_pool_used(pool), 4 * A, "nor does freeing twice");
	is(gc_pool_alloc(pool, 1), a, "the lowest block that has room");
	is(gc_pool_alloc_to_stay(pool, 1), a + A, "what stays fills a gap of just its size");
	is(gc_pool_alloc_to_stay(pool, 1), c + 2 * A, "else the end of the highest that has room");
	is(gc_pool_alloc_to_stay(pool, 2 * A), 0, "and nothing has room for two");

	is(gc_pool_used_for(pool, 0), gc_pool_used(pool), "what blocks are for is not said");
	gc_pool_label(pool, a, 3);
	gc_pool_label(pool, a + A, 3);
	gc_pool_label(pool, c, 3);
	gc_pool_label(pool, c, 1);
	gc_pool_label(pool, 12345, 2);
	is(gc_pool_used_for(pool, 3), 2 * A, "what two blocks are for");
	is(gc_pool_used_for(pool, 1), A, "and another one, as it was said last");
	is(gc_pool_used_for(pool, 2), 0, "of what is not a block nothing is said");
	gc_pool_free(pool, a);
	is(gc_pool_used_for(pool, 3), A, "a block that is freed is for nothing");
	is(gc_pool_alloc(pool, 1), a, "whatever takes its place");
	is(gc_pool_used_for(pool, 3), A, "is not for what that was");
	is(gc_pool_used_for(pool, 0) + gc_pool_used_for(pool, 1) + gc_pool_used_for(pool, 3), gc_pool_used(pool), "together they are what is used");
	gc_pool_destroy(pool);
}

/* Pieces that stay come from the top, those that go from the bottom: however they change, large ones find room. */
static void
two_ends_test(void)
{
	enum {N = 1000, STAY = 600};
	GcPool	   *pool = gc_pool_create(1 << 20, (u64) N * A);
	static GcAddr stay[STAY];
	bool		room = true;

	for (int i = 0; i < STAY; i++)
		stay[i] = gc_pool_alloc_to_stay(pool, A);
	for (int round = 0; round < 5000; round++)
	{
		const u32	i = random_below(STAY);
		const GcAddr small = gc_pool_alloc(pool, (1 + random_below(100)) * A);
		const GcAddr large = gc_pool_alloc(pool, 300 * A);

		room = room && small && large;
		gc_pool_free(pool, small);
		gc_pool_free(pool, stay[i]);
		stay[i] = gc_pool_alloc_to_stay(pool, A);
		gc_pool_free(pool, large);
	}
	ok(room, "a large piece always finds room below those that stay");
	is(gc_pool_largest_free(pool), (u64) (N - STAY) * A, "which are together");
	gc_pool_destroy(pool);
}

/* Fragmentation: every other block free; then the gaps join from both sides. */
static void
coalescing_test(void)
{
	enum {N = 20000};
	GcPool	   *pool = gc_pool_create(1 << 30, (u64) N * A);
	static GcAddr addr[N];
	bool		good = true;

	for (int i = 0; i < N; i++)
		addr[i] = gc_pool_alloc(pool, A);
	is(gc_pool_used(pool), (u64) N * A, "many blocks");
	for (int i = 0; i < N; i += 2)
		gc_pool_free(pool, addr[i]);
	is(gc_pool_largest_free(pool), A, "half free, but no two granules together");
	is(gc_pool_alloc(pool, 2 * A), 0, "so that two do not fit");
	for (int i = 1; i + 2 < N && good; i += 2)
	{
		gc_pool_free(pool, addr[i]);
		good = gc_pool_largest_free(pool) == (u64) (i + 2) * A;
	}
	ok(good, "each gap that closes joins its neighbours");
	gc_pool_free(pool, addr[N - 1]);
	is(gc_pool_largest_free(pool), (u64) N * A, "until all is one block");
	gc_pool_destroy(pool);
}

int
main(void)
{
	tap_start();
	edges_test();
	random_test(3, 1 << 16);
	random_test(20, 1 << 20);
	random_test(300, (GcAddr) 1 << 40);
	coalescing_test();
	two_ends_test();
	return tap_done();
}
