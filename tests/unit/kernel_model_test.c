/*-------------------------------------------------------------------------
 *
 * kernel_model_test.c
 *	  The kernel model against brute force, and in batches too large for that.
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

/* The shared memory of a plan: each kernel has its threads and its shape, and all fit together.  -1: it is none. */
static int
shared_of_plan(const GcProfile *p, const int room[GC_NEEDS], const GcKernelItem *items, int n,
			   const GcKernelChoice *choice)
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
			return -1;
		for (int j = 0; j < GC_NEEDS; j++)
			sum[j] += need[j];
	}
	return gc_needs_fit(sum, room) ? sum[GC_NEED_SHARED] : -1;
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
	GcKernelStatus status = gc_kernel_plan(p, room, items, n, &work, choice);
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
	if (status == GC_KERNEL_UNKNOWN)
		undecided++;
	else if (isinf(best))
		wrong = status != GC_KERNEL_INFEASIBLE;
	else
		wrong = status != GC_KERNEL_OPTIMAL || shared_of_plan(p, room, items, n, choice) != best;
	if (wrong && errors++ < 5)
		tap_note("instance %ld: status %d, cost %d, best is %g", instances, status,
				 shared_of_plan(p, room, items, n, choice), best);

	feasible += !isinf(best);
	infeasible += isinf(best);
	ignore[GC_NEED_REGISTERS] = true;
	brute_force(p, room, items, n);
	errors += status == GC_KERNEL_UNKNOWN && !(brute_best < best);
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
	ok(undecided * 10 <= instances, "%ld were given up, whose cheapest plan has too many registers", undecided);
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
		int			shared;
		GcKernelStatus status;
		int			n = random_in(6, 24);

		for (int j = 0; j < n; j++)
		{
			random_item(p, &items[j], random_in(40, 64) / n);
			items[j].registers = random_in(16, 56);
			items[j].shared_fixed /= 4;
			items[j].shared_per_warp /= 8;
		}
		status = gc_kernel_plan(p, NULL, items, n, &work, a);
		count[status]++;
		if (status != GC_KERNEL_OPTIMAL)
			continue;
		shared = shared_of_plan(p, room, items, n, a);
		wrong += shared < 0;
		memset(&work, 0x5a, sizeof(work));
		wrong += gc_kernel_plan(p, NULL, items, n, &work, b) != status ||
			memcmp(a, b, sizeof(a[0]) * n) != 0;
		status = gc_kernel_plan(p, NULL, items, n - 1, &work, b);
		wrong += status == GC_KERNEL_INFEASIBLE ||
			(status == GC_KERNEL_OPTIMAL && shared_of_plan(p, room, items, n - 1, b) > shared);
	}
	is(wrong, 0, "plans of large batches hold, and come again");
	ok(count[GC_KERNEL_OPTIMAL] >= 100 && count[GC_KERNEL_INFEASIBLE] >= 100,
	   "%ld large batches have an optimal plan, %ld none", count[GC_KERNEL_OPTIMAL],
	   count[GC_KERNEL_INFEASIBLE]);
	tap_note("%ld were given up", count[GC_KERNEL_UNKNOWN]);
}

int
main(void)
{
	tap_start();
	test_heavy();
	test_small();
	test_real();
	return tap_done();
}
