/*-------------------------------------------------------------------------
 *
 * plan_speed.c
 *	  How long a batch plan takes: gc_batch_plan over random sets of kernels; and how long
 *	  a whole decision of policy twostage does, with one and with several variants of each
 *	  kernel.
 *
 *		plan_speed [instances [seed]]
 *
 * Kernel types are drawn as generated kernels are: blocks of 128 to 512 threads, one to
 * four of them on a multiprocessor, 24 to 80 registers a thread, and shared memory from
 * next to nothing to a bitmap that fills most of it ("wide"); or one block of 64 to 256
 * threads, as where many run together ("slim").  A set of kernels draws its kernels
 * from its types evenly.  Every instance is planned five times, and the least time counts,
 * as others may hold an interrupt or a neighbour; the order of instances is such that no
 * call finds its own data in the nearest cache.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/sched/batch_model.h"
#include "../../src/sched/occupancy.h"
#include "../../src/sched/profile.h"
#include "../../src/sched/sched.h"

#define MAX_INSTANCES	20000

typedef struct Instance
{
	int			ntypes;
	GcItemType	type[GC_BATCH_MAX_TYPES];
} Instance;

static Instance instances[MAX_INSTANCES];
static double micros[MAX_INSTANCES];
static GcBatchWork work;
static GcBatchPlan plan;
static uint64_t random_state;

static int
random_below(int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (int) ((random_state >> 32) % (uint64_t) n);
}

static int
round_up(int n, int unit)
{
	return (n + unit - 1) / unit * unit;
}

/* A kernel's share of one multiprocessor. */
static void
random_type(const GcProfile *profile, bool slim, GcItemType *type)
{
	int			warps = (slim ? 2 : 4) << random_below(3);
	int			registers = 24 + 8 * random_below(8);
	int			most = slim ? 1 : 1 + 32768 / (registers * 32 * warps);
	int			blocks = 1 + random_below(most < 4 ? most : 4);
	int			shared;

	switch (random_below(4))
	{
		case 0:
			shared = 0;			/* scan and sum */
			break;
		case 1:
			shared = 512 + random_below(8 << 10);	/* a small group table */
			break;
		case 2:
			shared = (4 << 10) + random_below(28 << 10);	/* copies of one */
			break;
		default:
			blocks = 1;			/* bitmaps */
			shared = (16 << 10) + random_below(112 << 10);
			break;
	}
	shared = round_up(shared + profile->shared_reserved, profile->shared_unit);
	type->need[GC_RES_WARPS] = warps * blocks;
	type->need[GC_RES_REGISTERS] = round_up(registers * 32, profile->register_unit) * warps * blocks;
	type->need[GC_RES_SHARED] = shared * blocks;
	type->need[GC_RES_BLOCKS] = blocks;
	type->demand = 0;
}

static int
by_size(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static void
measure(const GcProfile *profile, int n, int ntypes, int kernels, bool slim, bool full_lp)
{
	GcBatchProblem problem = {
		.capacity = {profile->max_warps, profile->registers, profile->shared_per_sm,
		profile->max_blocks},
		.max_items = 128,.max_group = 1,.full_lp = full_lp
	};
	double		total = 0;
	long		batches = 0;
	long		bound = 0;
	long		iterations = 0;
	long		pivots = 0;
	long		steps = 0;
	int			proven = 0;
	int			solved = 0;

	for (int i = 0; i < n; i++)
	{
		instances[i].ntypes = ntypes;
		for (int t = 0; t < ntypes; t++)
			random_type(profile, slim, &instances[i].type[t]);
		for (int k = 0; k < kernels; k++)
			instances[i].type[random_below(ntypes)].demand++;
		micros[i] = 1e9;
	}
	for (int again = 0; again < 5; again++)
	{
		for (int i = 0; i < n; i++)
		{
			double		start;

			problem.ntypes = instances[i].ntypes;
			problem.types = instances[i].type;
			start = now();
			if (gc_batch_plan(&problem, &work, &plan) != GC_BATCH_OK)
				abort();
			start = now() - start;
			micros[i] = start < micros[i] ? start : micros[i];
			if (again > 0)
				continue;
			batches += plan.batches;
			bound += (int) (plan.lp_bound + 0.99999);
			iterations += plan.iterations;
			pivots += plan.pivots;
			steps += plan.steps;
			proven += plan.proven;
			solved += plan.lp_solved;
		}
	}
	for (int i = 0; i < n; i++)
		total += micros[i];
	qsort(micros, (size_t) n, sizeof(double), by_size);
	printf("%3d kernels of %2d types, %s%s: mean %6.2f  p50 %6.2f  p90 %6.2f  p99 %6.2f  max %6.2f us;"
		   "  batches %.2f, bound %.2f, proven %.2f%%, LP solved %.1f%%,"
		   " %.1f pricings, %.1f pivots, %.0f steps\n",
		   kernels, ntypes, slim ? "slim" : "wide", full_lp ? ", full LP" : "",
		   total / n, micros[n / 2], micros[n * 9 / 10],
		   micros[n * 99 / 100], micros[n - 1], (double) batches / n, (double) bound / n,
		   100.0 * proven / n, 100.0 * solved / n, (double) iterations / n, (double) pivots / n,
		   (double) steps / n);
}

/* A kernel of this type, wide or slim in its ways, with up to noptions variants. */
static void
random_item(const GcProfile *profile, uint32_t type, int noptions, GcItem *item)
{
	uint64_t	saved = random_state;
	uint32_t	shared;

	random_state = 88172645463325252ULL + type * 7919;
	for (int i = 0; i < 8; i++)
		(void) random_below(2);
	shared = random_below(2) ? (uint32_t) (60 + random_below(160)) << 10 : (uint32_t) random_below(30) << 10;
	memset(item, 0, sizeof(*item));
	item->type = type;
	item->tiles = 30000;
	item->fused = -1;
	item->noptions = shared > 56 << 10 ? noptions : 1;
	for (int v = 0; v < item->noptions; v++)
	{
		GcOption   *o = &item->option[v];

		o->registers = 32 + 8 * random_below(6);
		o->shared_bytes = v == 0 ? shared : v == 1 ? (uint32_t) (8 + random_below(40)) << 10 : 1024;
		o->threads = o->max_threads = o->shared_bytes > 28 << 10 ? 1024 : 256;
		o->occupancy = gc_occupancy(profile, o->registers, o->threads, o->shared_bytes);
		o->alone_us = v == 0 ? 100 + random_below(900) : item->option[v - 1].alone_us * (1.02 + 0.01 * random_below(50));
	}
	random_state = saved;
}

/* Whole decisions over `kernels` ready kernels; each counts as its fastest of five. */
static void
measure_decisions(const GcProfile *profile, int n, int ntypes, int kernels, int noptions, int nactive)
{
	static GcItem item[GC_MAX_ITEMS];
	static GcDecision decision;
	GcDecideWork *decide = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcActive	active[16];
	uint64_t	lot = 1;
	double		total = 0;
	long		lean = 0;
	GcSchedule	s = {.profile = profile,.policy = GC_POLICY_TWOSTAGE,.beside = 0.7,.together = 0.7,
	.lot = &lot,.nitems = kernels,.item = item,.nactive = nactive,.active = active};

	for (int i = 0; i < n; i++)
	{
		uint32_t	first = (uint32_t) random_below(1 << 20);

		for (int k = 0; k < kernels; k++)
			random_item(profile, first + (uint32_t) random_below(ntypes), noptions, &item[k]);
		for (int a = 0; a < nactive; a++)
			active[a] = (GcActive)
		{
			.shape = {264, 256},.registers = 40,.shared_bytes = (uint32_t) random_below(100) << 10,.alone_us = 300,.members = 1
		};
		micros[i] = 1e9;
		for (int again = 0; again < 5; again++)
		{
			double		start = now();

			gc_decide(&s, decide, &decision);
			start = now() - start;
			micros[i] = start < micros[i] ? start : micros[i];
		}
		for (int k = 0; k < decision.nstarts; k++)
			lean += decision.start[k].option > 0;
		total += micros[i];
	}
	qsort(micros, (size_t) n, sizeof(double), by_size);
	printf("decision: %3d kernels of %2d types, up to %d variants, %2d active: mean %6.2f  p50 %6.2f  p90 %6.2f"
		   "  p99 %6.2f  max %6.2f us; %.1f not in their fastest\n", kernels, ntypes, noptions, nactive,
		   total / n, micros[n / 2], micros[n * 9 / 10], micros[n * 99 / 100], micros[n - 1], (double) lean / n);
	free(decide);
}

int
main(int argc, char **argv)
{
	static const int sizes[][2] = {{13, 39}, {13, 52}, {13, 65}, {20, 65}};
	const GcProfile *profile = gc_profile_known("H200");
	int			n = argc > 1 ? atoi(argv[1]) : 2000;

	random_state = 88172645463325252ULL + (uint64_t) (argc > 2 ? atoll(argv[2]) : 0);
	if (n < 1 || n > MAX_INSTANCES)
		n = MAX_INSTANCES;
	printf("%d instances each, %zu kB of work, %zu kB of plan\n", n, sizeof(work) >> 10,
		   sizeof(plan) >> 10);
	for (int kind = 0; kind < 4; kind++)
	{
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			measure(profile, n, sizes[i][0], sizes[i][1], kind % 2 == 1, kind >= 2);
	}
	for (int active = 0; active <= 12; active += 12)
	{
		for (int noptions = 1; noptions <= GC_MAX_OPTIONS; noptions += 2)
		{
			measure_decisions(profile, n, 13, 16, noptions, active);
			measure_decisions(profile, n, 13, 65, noptions, active);
			measure_decisions(profile, n, 40, 65, noptions, active);
		}
	}
	return 0;
}
