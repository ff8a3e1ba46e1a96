/*-------------------------------------------------------------------------
 *
 * kernel_model_test.c
 *	  The kernel model against brute force, and the cases of the papers.
 *
 * The brute force tries every number of blocks, with the fewest warps per block that
 * give a kernel its threads; where they are not too many, also every greater number
 * of warps (theorem 1: in vain).  It knows no granules but those of gc_blocks_need().
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <limits.h>
#include <math.h>

#include "../../src/sched/model/kernel_model.h"

static GcKernelWork work;
static uint64_t random_state = 88172645463325252ULL;

static int
random_below(int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (int) ((uint32_t) (random_state >> 32) % (uint32_t) n);
}

/* One of lo, ..., hi. */
static int
random_in(int lo, int hi)
{
	return lo + random_below(hi - lo + 1);
}

/* --- brute force --- */

typedef struct Way
{
	int			need[GC_NEEDS];
	double		cost;
	int			first;			/* of the fewest warps for its number of blocks? */
} Way;

#define MAX_WAYS 8192

static Way	ways[8][MAX_WAYS];
static int	nways[8];
static double cheapest[9];		/* of the items from this one on */
static int	least[9][GC_NEEDS];	/* likewise, of each resource */
static double brute_best;
static bool ignore[GC_NEEDS];	/* resources that do not limit */
static bool theorem1;			/* only ways with the fewest warps */

static int
compare_ways(const void *a, const void *b)
{
	double		d = ((const Way *) a)->cost - ((const Way *) b)->cost;

	return (d > 0) - (d < 0);
}

static void
list_ways(const GcProfile *p, const GcKernelItem *items, int n)
{
	int			limit[GC_NEEDS];

	gc_sm_limits(p, limit);
	for (int i = 0; i < n; i++)
	{
		const GcKernelItem *k = &items[i];

		nways[i] = 0;
		for (int b = 1; b <= p->max_blocks; b++)
		{
			int			first = 1;

			for (int w = 1; w * b <= p->max_warps; w++)
			{
				Way		   *way = &ways[i][nways[i]];

				if (w * b < k->warps || w * p->warp_size > k->max_threads)
					continue;
				if (!gc_blocks_need(p, k->registers, w * p->warp_size,
									k->shared_fixed + k->shared_per_warp * w, b, way->need))
					continue;
				way->cost = way->need[GC_NEED_SHARED];
				way->first = first;
				first = 0;
				if (++nways[i] == MAX_WAYS)
					tap_bail("too many ways");
			}
		}
	}
	cheapest[n] = 0;
	memset(least[n], 0, sizeof(least[n]));
	for (int i = n - 1; i >= 0; i--)
	{
		qsort(ways[i], nways[i], sizeof(Way), compare_ways);
		cheapest[i] = cheapest[i + 1] + (nways[i] > 0 ? ways[i][0].cost : INFINITY);
		for (int k = 0; k < GC_NEEDS; k++)
		{
			int			m = nways[i] > 0 ? ways[i][0].need[k] : 0;

			for (int j = 1; j < nways[i]; j++)
				m = ways[i][j].need[k] < m ? ways[i][j].need[k] : m;
			least[i][k] = least[i + 1][k] + m;
		}
	}
}

static void
brute(int i, int n, const int room[GC_NEEDS], double cost)
{
	if (cost + cheapest[i] >= brute_best - 1e-9)
		return;
	if (i == n)
	{
		brute_best = cost;
		return;
	}
	for (int j = 0; j < nways[i]; j++)
	{
		const Way  *w = &ways[i][j];
		int			left[GC_NEEDS];
		bool		fits = true;

		if (theorem1 && !w->first)
			continue;
		for (int k = 0; k < GC_NEEDS; k++)
		{
			left[k] = room[k] - w->need[k];
			fits = fits && (left[k] >= least[i + 1][k] || ignore[k]);
		}
		if (fits)
			brute(i + 1, n, left, cost + w->cost);
	}
}

static double
brute_force(const GcProfile *p, const int room[GC_NEEDS], const GcKernelItem *items, int n)
{
	list_ways(p, items, n);
	brute_best = INFINITY;
	brute(0, n, room, 0);
	return brute_best;
}

/* --- random instances --- */

static void
random_item(const GcProfile *p, GcKernelItem *item, int most_warps)
{
	static const int threads[] = {32, 64, 64, 128, 256, 512, 1024};

	item->registers = random_in(8, p->max_registers < 128 ? p->max_registers : 128);
	item->max_threads = threads[random_below(7)];
	item->shared_fixed = random_below(3) ? random_below(p->shared_per_block / 3 + 1) : 0;
	item->shared_per_warp = random_below(3) ? 0 : random_below(p->shared_per_block / 24 + 1);
	item->warps = random_in(1, most_warps);
}

/*
 * Registers for the kernels in some number of blocks each, but less than they take in those that
 * take the least shared memory.  Blocks that are fewer and larger may have more warps in all.
 */
static int
scarce_registers(const GcProfile *p, const GcKernelItem *items, int n, int limit)
{
	int			least = 0;
	int			cheapest = 0;

	for (int i = 0; i < n; i++)
	{
		int			lo = INT_MAX;
		int			cheap = 0;
		int			shared = INT_MAX;

		for (int b = 1; b <= p->max_blocks; b++)
		{
			int			w = (items[i].warps + b - 1) / b;
			int			need[GC_NEEDS];

			if (w * p->warp_size > items[i].max_threads ||
				!gc_blocks_need(p, items[i].registers, w * p->warp_size, items[i].shared_fixed, b, need))
				continue;
			lo = need[GC_NEED_REGISTERS] < lo ? need[GC_NEED_REGISTERS] : lo;
			if (need[GC_NEED_SHARED] >= shared)
				continue;
			shared = need[GC_NEED_SHARED];
			cheap = need[GC_NEED_REGISTERS];
		}
		if (shared == INT_MAX)
			continue;
		least += lo;
		cheapest += cheap;
	}
	least += random_below(cheapest - least + 1);
	return least < limit ? least : limit;
}

/* A kernel of small blocks, so that some numbers of them have warps that are not wanted. */
static void
random_small(GcKernelItem *item, int most_warps)
{
	*item = (GcKernelItem) {8 * random_in(1, 6), 32 * random_in(2, 6), random_below(200), 0, random_in((most_warps + 1) / 2, most_warps)};
}

/* A small device of odd sizes. */
static GcProfile
small_device(void)
{
	GcProfile	p = {.sms = 2};

	gc_profile_granules(&p, random_below(2) ? 52 : 90);
	p.max_warps = random_in(4, 24);
	p.max_blocks = random_in(2, 9);
	p.registers = random_in(4, random_below(2) ? 32 : 128) * 1024;
	p.shared_per_sm = random_in(2, 64) * 1024;
	p.shared_per_block = p.shared_per_sm / random_in(1, 2);
	p.shared_reserved = random_below(2) ? 0 : 1024;
	if (p.shared_reserved > p.shared_per_sm - p.shared_per_block)
		p.shared_per_block = p.shared_per_sm - p.shared_reserved;
	if (random_below(4) == 0)
		p.warp_unit = random_in(1, 4);
	return p;
}

/* Is the plan one: each kernel has its threads and its shape, and the totals are right? */
static bool
plan_holds(const GcProfile *p, const int room[GC_NEEDS], const GcKernelItem *items, int n,
		   const GcKernelChoice *choice, const GcKernelTotals *totals)
{
	int			sum[GC_NEEDS] = {0};

	for (int i = 0; i < n; i++)
	{
		const GcKernelItem *k = &items[i];
		int			need[GC_NEEDS];

		if (choice[i].blocks * choice[i].warps < k->warps ||
			choice[i].warps * p->warp_size > k->max_threads ||
			choice[i].warps != (k->warps + choice[i].blocks - 1) / choice[i].blocks ||
			!gc_blocks_need(p, k->registers, choice[i].warps * p->warp_size,
							k->shared_fixed + k->shared_per_warp * choice[i].warps,
							choice[i].blocks, need))
			return false;
		for (int j = 0; j < GC_NEEDS; j++)
			sum[j] += need[j];
	}
	return gc_needs_fit(sum, room) && memcmp(sum, totals->need, sizeof(sum)) == 0 &&
		totals->threads == sum[GC_NEED_WARPS] * p->warp_size;
}

static long instances;
static long feasible;
static long infeasible;
static long register_bound;		/* feasible only if registers did not limit */
static long shared_bound;		/* likewise */
static long register_dearer;	/* cheaper if registers did not limit */
static long shared_dearer;
static long errors;
static long undecided;
static long theorem_checks;
static long theorem_errors;

/* One instance against brute force. */
static void
check(const GcProfile *p, const int room[GC_NEEDS], const GcKernelItem *items, int n)
{
	GcKernelChoice choice[8];
	GcKernelTotals totals;
	GcKernelStatus status = gc_kernel_plan(p, room, items, n, &work, choice, &totals);
	double		all = 1;
	double		best;
	bool		wrong = false;

	theorem1 = true;
	best = brute_force(p, room, items, n);
	for (int i = 0; i < n; i++)
		all *= nways[i];
	if (all < 1e6)
	{
		theorem1 = false;
		theorem_checks++;
		theorem_errors += brute_force(p, room, items, n) != best;
		theorem1 = true;
	}

	instances++;
	if (status == GC_KERNEL_FEASIBLE || status == GC_KERNEL_UNKNOWN)
		undecided++;
	else if (isinf(best))
		wrong = status != GC_KERNEL_INFEASIBLE;
	else
		wrong = status != GC_KERNEL_OPTIMAL ||
			!plan_holds(p, room, items, n, choice, &totals) || totals.need[GC_NEED_SHARED] != best;
	if (wrong && errors++ < 5)
		tap_note("instance %ld: status %d, cost %d, best is %g", instances, status,
				 totals.need[GC_NEED_SHARED], best);

	feasible += !isinf(best);
	infeasible += isinf(best);
	ignore[GC_NEED_REGISTERS] = true;
	brute_force(p, room, items, n);
	register_bound += isinf(best) && !isinf(brute_best);
	register_dearer += !isinf(best) && brute_best < best - 1e-6;
	ignore[GC_NEED_REGISTERS] = false;
	ignore[GC_NEED_SHARED] = true;
	brute_force(p, room, items, n);
	shared_bound += isinf(best) && !isinf(brute_best);
	shared_dearer += !isinf(best) && brute_best < best - 1e-6;
	ignore[GC_NEED_SHARED] = false;
}

static void
report(const char *what, long least)
{
	ok(errors == 0, "%s: the plan is brute force's in %ld instances", what, instances);
	ok(theorem_errors == 0 && theorem_checks >= least,
	   "%s: more warps than theorem 1 says gain nothing in %ld instances", what, theorem_checks);
	is(undecided, 0, "none was too large to decide");
	ok(feasible >= least && infeasible >= least, "%ld were feasible, %ld not", feasible, infeasible);
	ok(register_bound >= least && shared_bound >= least,
	   "%ld infeasible for their registers, %ld for their shared memory alone",
	   register_bound, shared_bound);
	ok(register_dearer >= least / 10, "%ld dearer for their registers", register_dearer);
	is(shared_dearer, 0, "none for the shared memory, which is what they cost");
	instances = feasible = infeasible = register_bound = shared_bound = 0;
	register_dearer = shared_dearer = errors = undecided = theorem_errors = theorem_checks = 0;
}

static void
test_small(void)
{
	for (int i = 0; i < 20000; i++)
	{
		GcProfile	p = small_device();
		GcKernelItem items[5];
		int			room[GC_NEEDS];
		int			n = random_in(2, 5);

		if (gc_profile_problem(&p) != NULL)
			tap_bail("a nonsense device");
		gc_sm_limits(&p, room);
		for (int k = 0; k < GC_NEEDS && random_below(3) == 0; k++)
			room[k] -= random_below(room[k] / 2 + 1);
		for (int j = 0; j < n; j++)
		{
			if (i % 4 == 0)
				random_small(&items[j], p.max_warps * 3 / 4 / n > 1 ? p.max_warps * 3 / 4 / n : 1);
			else
				random_item(&p, &items[j], random_in(1, p.max_warps * 2 / n > 1 ? p.max_warps * 2 / n : 1));
		}
		if (i % 4 == 0)
			room[GC_NEED_REGISTERS] = scarce_registers(&p, items, n, room[GC_NEED_REGISTERS]);
		check(&p, room, items, n);
	}
	report("small devices", 300);
}

static void
test_real(void)
{
	static const char *const names[] = {"GTX 680", "TITAN X", "H200"};

	for (int i = 0; i < 3000; i++)
	{
		const GcProfile *p = gc_profile_known(names[i % 3]);
		GcKernelItem items[5];
		int			room[GC_NEEDS];
		int			n = random_in(2, 5);

		gc_sm_limits(p, room);
		for (int j = 0; j < n; j++)
		{
			if (i % 4 == 0)
			{
				random_small(&items[j], p->max_warps * 3 / 4 / n);
				continue;
			}
			random_item(p, &items[j], random_in(16, 80) / n);
			/* Registers are scarce only for kernels with many. */
			items[j].registers = random_in(16, p->max_registers < 160 ? p->max_registers : 160);
		}
		if (i % 4 == 0)
			room[GC_NEED_REGISTERS] = scarce_registers(p, items, n, room[GC_NEED_REGISTERS]);
		check(p, room, items, n);
	}
	report("devices of the papers and of today", 100);
}

/* --- cases by hand --- */

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
	GcKernelTotals t;

	items[0] = one(11, 1024, 0, 32);
	items[1] = one(33, 1024, 0, 32);
	is(gc_kernel_plan(p, NULL, items, 2, &work, c, &t), GC_KERNEL_OPTIMAL, "A and B run together");
	ok(t.need[GC_NEED_WARPS] == 64 && t.need[GC_NEED_REGISTERS] == 57344 &&
	   t.need[GC_NEED_SHARED] == 0 && t.threads == 2048, "with 64 warps and 57344 registers");
	items[2] = items[0];
	is(gc_kernel_plan(p, NULL, items, 3, &work, c, &t), GC_KERNEL_INFEASIBLE, "with no second A");

	items[0] = one(11, 256, 0, 8);
	for (int i = 1; i <= 6; i++)
		items[i] = one(44, 256, 0, 8);
	is(gc_kernel_plan(p, NULL, items, 6, &work, c, &t), GC_KERNEL_OPTIMAL, "C runs with five D");
	ok(t.need[GC_NEED_WARPS] == 48 && t.need[GC_NEED_REGISTERS] == 65536, "with all registers");
	is(gc_kernel_plan(p, NULL, items, 7, &work, c, &t), GC_KERNEL_INFEASIBLE, "but not with six");
	items[6] = one(11, 256, 0, 8);
	is(gc_kernel_plan(p, NULL, items, 7, &work, c, &t), GC_KERNEL_INFEASIBLE, "nor two C with five");
	items[1] = one(44, 256, 0, 40);
	is(gc_kernel_plan(p, NULL, items, 2, &work, c, &t), GC_KERNEL_OPTIMAL,
	   "C runs with a D of forty warps");
	ok(c[1].blocks == 5 && c[1].warps == 8, "which has five blocks");

	items[0] = one(11, 256, 24576, 8);
	items[1] = one(44, 256, 24576, 8);
	is(gc_kernel_plan(p, NULL, items, 2, &work, c, &t), GC_KERNEL_OPTIMAL, "E and F run together");
	ok(t.need[GC_NEED_WARPS] == 16 && t.need[GC_NEED_REGISTERS] == 16384 &&
	   t.need[GC_NEED_SHARED] == 49152, "with all shared memory");
	items[2] = items[0];
	is(gc_kernel_plan(p, NULL, items, 3, &work, c, &t), GC_KERNEL_INFEASIBLE, "but not two E");
}

static void
test_room(void)
{
	const GcProfile *p = gc_profile_known("H200");
	int			room[GC_NEEDS];
	GcKernelItem items[32];
	GcKernelChoice c[32];
	GcKernelTotals t;

	/* Theorem 1: 63 warps in blocks of 32 at most waste one warp, in 3 blocks none. */
	items[0] = one(16, 1024, 0, 63);
	gc_kernel_plan(p, NULL, items, 1, &work, c, &t);
	ok(c[0].blocks == 2 && c[0].warps == 32, "two large blocks, if there is room");
	items[1] = one(16, 1024, 0, 1);
	is(gc_kernel_plan(p, NULL, items, 2, &work, c, &t), GC_KERNEL_OPTIMAL, "63 warps and one");
	ok(c[0].blocks == 3 && c[0].warps == 21 && t.need[GC_NEED_WARPS] == 64,
	   "three blocks, if it is needed");

	/* Filters in shared memory. */
	for (int i = 0; i < 4; i++)
		items[i] = one(40, 1024, 60000, 8);
	is(gc_kernel_plan(p, NULL, items, 4, &work, c, &t), GC_KERNEL_INFEASIBLE, "four kernels with filters do not fit");
	is(gc_kernel_plan(p, NULL, items, 3, &work, c, &t), GC_KERNEL_OPTIMAL, "three do");
	is(t.need[GC_NEED_SHARED], 3 * 61056, "their cost");

	/* What is free. */
	gc_sm_limits(p, room);
	items[0] = one(32, 256, 0, 16);
	room[GC_NEED_BLOCKS] = 1;
	is(gc_kernel_plan(p, room, items, 1, &work, c, &t), GC_KERNEL_INFEASIBLE, "one block is too few");
	ok(!gc_kernel_fits(p, room, &items[0], c, NULL), "and it does not fit");
	room[GC_NEED_BLOCKS] = 2;
	is(gc_kernel_plan(p, room, items, 1, &work, c, &t), GC_KERNEL_OPTIMAL, "two are enough");
	ok(gc_kernel_fits(p, room, &items[0], c, t.need) && c[0].blocks == 2 && c[0].warps == 8 &&
	   t.need[GC_NEED_REGISTERS] == 16 * 1024, "and it fits");
	ok(gc_kernel_fits(p, NULL, &items[0], NULL, NULL), "also on an empty multiprocessor");
	room[GC_NEED_REGISTERS] = 16383;
	is(gc_kernel_plan(p, room, items, 1, &work, c, NULL), GC_KERNEL_INFEASIBLE, "a register is missing");
	room[GC_NEED_REGISTERS] = INT_MAX;
	room[GC_NEED_SHARED] = 2047;
	is(gc_kernel_plan(p, room, items, 1, &work, c, NULL), GC_KERNEL_INFEASIBLE,
	   "the system's shared memory is missing");
	room[GC_NEED_SHARED] = 2048;
	is(gc_kernel_plan(p, room, items, 1, &work, c, NULL), GC_KERNEL_OPTIMAL, "it is there");
	for (int k = 0; k < GC_NEEDS; k++)
		room[k] = INT_MAX;
	items[0] = one(32, 256, 0, 65);
	is(gc_kernel_plan(p, room, items, 1, &work, c, NULL), GC_KERNEL_INFEASIBLE,
	   "more cannot be free than there is");
	for (int bad = 0; bad >= -5; bad -= 5)
	{
		items[0] = one(32, 256, 0, 1);
		for (int k = 0; k < GC_NEEDS; k++)
		{
			gc_sm_limits(p, room);
			room[k] = bad;
			is(gc_kernel_plan(p, room, items, 1, &work, c, NULL), GC_KERNEL_INFEASIBLE,
			   "nothing, or less, is free of a resource");
		}
		is(gc_kernel_plan(p, room, items, 0, &work, c, NULL), GC_KERNEL_OPTIMAL, "for no items, enough");
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
	GcKernelTotals t;

	for (int i = 0; i <= GC_KERNEL_MAX; i++)
		items[i] = one(16, 256, 0, 2);
	is(gc_kernel_plan(p, NULL, items, 32, &work, c, &t), GC_KERNEL_OPTIMAL, "32 kernels");
	ok(t.need[GC_NEED_BLOCKS] == 32 && t.need[GC_NEED_WARPS] == 64, "take all blocks and warps");
	is(gc_kernel_plan(p, NULL, items, 33, &work, c, &t), GC_KERNEL_INFEASIBLE, "33 do not fit");
	is(gc_kernel_plan(p, NULL, items, GC_KERNEL_MAX, &work, c, &t), GC_KERNEL_INFEASIBLE, "nor do 64");
	is(gc_kernel_plan(p, NULL, items, GC_KERNEL_MAX + 1, &work, c, &t), GC_KERNEL_BAD_INPUT, "65 are too many");
	is(gc_kernel_plan(p, NULL, items, -1, &work, c, &t), GC_KERNEL_BAD_INPUT, "less than none");
	is(gc_kernel_plan(p, NULL, NULL, 0, &work, NULL, &t), GC_KERNEL_OPTIMAL, "no kernels");
	ok(t.need[GC_NEED_SHARED] == 0 && t.threads == 0 && t.need[GC_NEED_BLOCKS] == 0, "take nothing");

	for (int i = 0; i < 16; i++)
		items[i] = one(32, 256, 0, 4);
	is(gc_kernel_plan(p, NULL, items, 16, &work, c, &t), GC_KERNEL_OPTIMAL, "16 kernels of 32 registers");
	ok(t.need[GC_NEED_REGISTERS] == 65536 && t.need[GC_NEED_SHARED] == 16 * 1024, "take all registers");
	items[15].registers = 40;
	is(gc_kernel_plan(p, NULL, items, 16, &work, c, &t), GC_KERNEL_INFEASIBLE, "one of 40 does not fit");
}

static void
test_bad(void)
{
	const GcProfile *p = gc_profile_known("H200");
	GcProfile	bad = {0};
	GcKernelItem item = one(32, 256, 0, 4);
	GcKernelItem x;
	GcKernelChoice c;
	GcKernelTotals t;

#define REFUSED(change, what) \
	do { \
		x = item; \
		change; \
		is(gc_kernel_plan(p, NULL, &x, 1, &work, &c, &t), GC_KERNEL_BAD_INPUT, what); \
		ok(!gc_kernel_fits(p, NULL, &x, &c, NULL), "and does not fit"); \
	} while (0)
#define NO_PLAN(change, what) \
	do { \
		x = item; \
		change; \
		is(gc_kernel_plan(p, NULL, &x, 1, &work, &c, &t), GC_KERNEL_INFEASIBLE, what); \
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
	is(gc_kernel_plan(p, NULL, &x, 1, &work, &c, &t), GC_KERNEL_OPTIMAL, "blocks as large as one likes");
	is(t.need[GC_NEED_SHARED], 1024, "and what that costs");

	is(gc_kernel_plan(&bad, NULL, &item, 1, &work, &c, &t), GC_KERNEL_BAD_PROFILE, "a device without anything");
	ok(!gc_kernel_fits(&bad, NULL, &item, &c, NULL), "holds nothing");
	bad = (GcProfile) {.serial_blocks = true,.scalar = true,.shares_cpu = true,.sms = 2};
	is(gc_kernel_plan(&bad, NULL, &item, 1, &work, &c, &t), GC_KERNEL_BAD_PROFILE, "CPU threads");
	bad = *p;
	bad.max_warps = GC_KERNEL_MAX_WARPS + 1;
	is(gc_kernel_plan(&bad, NULL, &item, 1, &work, &c, &t), GC_KERNEL_BAD_PROFILE, "too many warps");
	bad = *p;
	bad.max_blocks = GC_KERNEL_MAX_BLOCKS + 1;
	is(gc_kernel_plan(&bad, NULL, &item, 1, &work, &c, &t), GC_KERNEL_BAD_PROFILE, "too many blocks");
	bad = *p;
	bad.registers = INT_MAX;
	is(gc_kernel_plan(&bad, NULL, &item, 1, &work, &c, &t), GC_KERNEL_BAD_PROFILE, "too many registers");
	bad = *p;
	bad.max_threads = INT_MAX;
	bad.register_unit = INT_MAX;
	is(gc_kernel_plan(&bad, NULL, &item, 1, &work, &c, &t), GC_KERNEL_INFEASIBLE, "a giant granule");
}

/*
 * Batches too large for brute force: whatever the status, a plan must hold; the same
 * batch twice gives the same plan; and items taken away leave a plan that is no dearer.
 */
static void
test_heavy(void)
{
	const GcProfile *p = gc_profile_known("H200");
	long		count[GC_KERNEL_BAD_INPUT + 1] = {0};
	long		wrong = 0;
	int			room[GC_NEEDS];

	gc_sm_limits(p, room);
	for (int i = 0; i < 1000; i++)
	{
		GcKernelItem items[24];
		GcKernelChoice a[24];
		GcKernelChoice b[24];
		GcKernelTotals t;
		GcKernelTotals u;
		GcKernelStatus status;
		int			n = random_in(6, 24);

		for (int j = 0; j < n; j++)
		{
			random_item(p, &items[j], random_in(40, 64) / n);
			items[j].registers = random_in(16, 56);
			items[j].shared_fixed /= 4;
			items[j].shared_per_warp /= 8;
		}
		status = gc_kernel_plan(p, NULL, items, n, &work, a, &t);
		count[status]++;
		if (status != GC_KERNEL_OPTIMAL && status != GC_KERNEL_FEASIBLE)
			continue;
		wrong += !plan_holds(p, room, items, n, a, &t);
		memset(&work, 0x5a, sizeof(work));
		wrong += gc_kernel_plan(p, NULL, items, n, &work, b, &u) != status ||
			memcmp(a, b, sizeof(a[0]) * n) != 0;
		if (status == GC_KERNEL_OPTIMAL)
		{
			status = gc_kernel_plan(p, NULL, items, n - 1, &work, b, &u);
			wrong += status != GC_KERNEL_OPTIMAL && status != GC_KERNEL_FEASIBLE;
			wrong += status == GC_KERNEL_OPTIMAL && u.need[GC_NEED_SHARED] > t.need[GC_NEED_SHARED];
		}
	}
	is(wrong, 0, "plans of large batches hold, and come again");
	ok(count[GC_KERNEL_OPTIMAL] >= 100 && count[GC_KERNEL_INFEASIBLE] >= 100,
	   "%ld large batches have an optimal plan, %ld none", count[GC_KERNEL_OPTIMAL],
	   count[GC_KERNEL_INFEASIBLE]);
	tap_note("%ld were given up with a plan, %ld without one", count[GC_KERNEL_FEASIBLE],
			 count[GC_KERNEL_UNKNOWN]);
}

/*
 * Searches within a number of steps, drawn from next to none to more than enough: they never
 * take more, what they call a plan is one, and what they call optimal or infeasible is.
 */
static void
test_within(void)
{
	const GcProfile *p = gc_profile_known("H200");
	long		count[GC_KERNEL_BAD_INPUT + 1] = {0};
	long		wrong = 0;
	long		over = 0;
	int			room[GC_NEEDS];

	gc_sm_limits(p, room);
	for (int i = 0; i < 4000; i++)
	{
		GcKernelItem items[32];
		GcKernelChoice c[32];
		GcKernelTotals t;
		GcKernelTotals best;
		GcKernelStatus status;
		GcKernelStatus exact;
		int64_t		given = random_below(4) ? random_in(GC_KERNEL_LEAST_STEPS, 1500) : random_below(300);
		int64_t		steps = given;
		int			n = random_below(4) ? random_in(2, 6) : random_in(1, 32);

		for (int j = 0; j < n; j++)
			random_small(&items[j], p->max_warps * 3 / 4 / n);
		gc_sm_limits(p, room);
		room[GC_NEED_REGISTERS] = scarce_registers(p, items, n, room[GC_NEED_REGISTERS]);
		exact = gc_kernel_plan(p, room, items, n, &work, c, &best);
		memset(&work, 0x5a, sizeof(work));
		status = gc_kernel_plan_within(p, room, items, n, &steps, &work, c, &t);
		count[status]++;
		over += steps < 0 || steps > given || (status == GC_KERNEL_UNKNOWN && steps == given && steps >= GC_KERNEL_LEAST_STEPS);
		if (status == GC_KERNEL_OPTIMAL || status == GC_KERNEL_FEASIBLE)
			wrong += !plan_holds(p, room, items, n, c, &t);
		if (exact == GC_KERNEL_OPTIMAL)
			wrong += status == GC_KERNEL_INFEASIBLE || (status == GC_KERNEL_OPTIMAL && t.need[GC_NEED_SHARED] != best.need[GC_NEED_SHARED]) ||
				(status == GC_KERNEL_FEASIBLE && t.need[GC_NEED_SHARED] < best.need[GC_NEED_SHARED]);
		else if (exact == GC_KERNEL_INFEASIBLE)
			wrong += status == GC_KERNEL_OPTIMAL || status == GC_KERNEL_FEASIBLE;
	}
	is(wrong, 0, "within some steps, plans hold, and the best is the best");
	is(over, 0, "and no more steps are taken");
	ok(count[GC_KERNEL_OPTIMAL] > 100 &&
	   count[GC_KERNEL_INFEASIBLE] > 100 && count[GC_KERNEL_UNKNOWN] > 100,
	   "%ld are optimal, %ld plans, %ld infeasible, %ld unknown", count[GC_KERNEL_OPTIMAL],
	   count[GC_KERNEL_FEASIBLE], count[GC_KERNEL_INFEASIBLE], count[GC_KERNEL_UNKNOWN]);
}

int
main(void)
{
	tap_start();
	test_within();
	ok(sizeof(GcKernelWork) < 1000000, "the workspace has %zu bytes", sizeof(GcKernelWork));
	test_paper();
	test_room();
	test_large();
	test_bad();
	test_heavy();
	test_small();
	test_real();
	return tap_done();
}
