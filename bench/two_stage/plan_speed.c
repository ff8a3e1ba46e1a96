/*-------------------------------------------------------------------------
 *
 * plan_speed.c
 *	  How long a batch plan takes: gc_batch_plan over random sets of kernels; and how long
 *	  a whole decision for 65 kernels does, by policy, and what the bound on its steps costs.
 *
 *		plan_speed [instances [seed]]
 *
 * Kernel types are drawn as generated kernels are.  "Wide" ones have blocks of 128 to 512
 * threads, one to four of them on a multiprocessor, and 24 to 80 registers a thread.  Their
 * shared memory is from next to nothing to a bitmap that fills most of it.  "Slim" ones have
 * one block of 64 to 256 threads, as where many run together.  A set of kernels draws its
 * kernels from its types evenly.  Every instance is planned five times, and the least time
 * counts, as others may hold an interrupt or a neighbour.  The order of instances is such
 * that no call finds its own data in the nearest cache.
 *
 * Decisions are over sets of four characters: wide, slim; bitmaps, as the server's kernels
 * are, half of which fill much of the shared memory; and small, so that many fit together.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/sched/policy/policy.h"
#include "../../src/sched/policy/start.h"

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

/*-------------------------------------------------------------------------
 * Decisions
 *-------------------------------------------------------------------------
 */

typedef enum Character
{
	WIDE,
	SLIM,
	BITMAPS,
	SMALL,
	CHARACTERS
} Character;

static const char *const character_names[] = {"wide", "slim", "bitmaps", "small"};

#define KERNELS		65
#define TYPES		40

/* Common properties of a set's kernels. */
typedef struct Set
{
	Character	character;
	uint32_t	first;			/* of its types */
	int			registers;		/* small ones: steps of 8 that they are drawn from, */
	int			shared;			/* and bytes, in steps of a thousand */
	int			threads;
} Set;

static Set
random_set(Character character)
{
	Set			set = {.character = character};

	set.first = (uint32_t) random_below(1 << 20);
	set.registers = 3 + random_below(6);
	set.shared = 5 + random_below(40);
	set.threads = 64 << random_below(4);
	return set;
}

static void
random_kernel(const GcProfile *profile, const Set *set, GcKernelNeeds *o)
{
	GcItemType	t;

	o->registers = 24 + 8 * random_below(8);
	o->alone_us = 100 + random_below(900);
	if (set->character == BITMAPS)
	{
		o->shared_bytes = random_below(2) ? (uint32_t) (60 + random_below(160)) << 10 : (uint32_t) random_below(30) << 10;
		o->threads = o->shared_bytes > 28 << 10 ? 1024 : 256;
		return;
	}
	random_type(profile, set->character == SLIM, &t);
	o->shared_bytes = (uint32_t) (t.need[GC_RES_SHARED] / t.need[GC_RES_BLOCKS] - profile->shared_reserved);
	o->threads = t.need[GC_RES_WARPS] / t.need[GC_RES_BLOCKS] * profile->warp_size;
}

static void
random_small(const Set *set, GcKernelNeeds *o)
{
	o->registers = 8 + 8 * random_below(set->registers);
	o->shared_bytes = (uint32_t) (random_below(1000) * set->shared);
	o->threads = set->threads;
	o->alone_us = 200 + random_below(20);
}

/* A kernel of this type: the same each time. */
static void
random_item(const GcProfile *profile, const Set *set, uint32_t type, GcCandidate *candidate)
{
	uint64_t	saved = random_state;
	GcKernelNeeds   *o = &candidate->needs;

	random_state = 88172645463325252ULL + (set->first + type) * 7919;
	for (int i = 0; i < 8; i++)
		(void) random_below(2);
	memset(candidate, 0, sizeof(*candidate));
	candidate->type = type;
	candidate->tiles = 30000;
	candidate->fused = -1;
	if (set->character == SMALL)
		random_small(set, o);
	else
		random_kernel(profile, set, o);
	o->max_threads = o->threads;
	o->occupancy = gc_occupancy(profile, o->registers, o->threads, o->shared_bytes);
	/* All scan one table and are bound by memory, as far as twostage knows: it tries to have them resident. */
	candidate->scan = 1;
	candidate->nloads = 1;
	candidate->load[0] = (GcColumnLoad) {type % 4, (float) (o->alone_us * gc_calibration_default.read_bandwidth)};
	o->issue_part = 0.3;
	o->warp_flight = 4096;
	random_state = saved;
}

static void
random_active(int n, GcActive *active)
{
	for (int a = 0; a < n; a++)
		active[a] = (GcActive)
	{
		.grid = {132, 128},.registers = 24 + 8 * random_below(4),
			.shared_bytes = (uint32_t) random_below(30) << 10,.alone_us = 300,.members = 1
	};
}

/* Sums of decisions' results. */
typedef struct Quality
{
	double		started;
	double		warps;			/* on a multiprocessor */
	double		predicted_us;
	double		cost;			/* the kernel model's: bytes of shared memory */
} Quality;

static void
add_quality(const GcSchedule *s, const GcDecision *d, Quality *q)
{
	q->started += d->nstarts;
	q->predicted_us += d->predicted_us;
	for (int k = 0; k < d->nstarts; k++)
	{
		const GcStart *start = &d->start[k];
		const GcKernelNeeds *o = &s->candidate[start->candidate[0]].needs;
		int			need[GC_NEEDS];

		if (!gc_blocks_need(s->profile, o->registers, (int) start->grid.threads, o->shared_bytes,
							((int) start->grid.blocks + s->profile->sms - 1) / s->profile->sms, need))
			continue;
		q->warps += need[GC_NEED_WARPS];
		q->cost += need[GC_NEED_SHARED];
	}
}

static bool
same_decision(const GcDecision *a, const GcDecision *b)
{
	bool		same = a->nstarts == b->nstarts;

	for (int k = 0; same && k < a->nstarts; k++)
		same = a->start[k].candidate[0] == b->start[k].candidate[0] &&
			memcmp(&a->start[k].grid, &b->start[k].grid, sizeof(GcGrid)) == 0;
	return same;
}

/* A decision, or one of policy kernel without a bound.  Its time is the least of five. */
static double
decision_us(const GcSchedule *s, bool bounded, GcDecideWork *decide, GcDecision *d)
{
	double		best = 1e9;

	for (int again = 0; again < 5; again++)
	{
		double		start = now();

		if (bounded)
			gc_decide(s, decide, d);
		else
		{
			d->nstarts = 0;
			d->predicted_us = 0;
			gc_decide_kernel(s, GC_KERNEL_UNBOUNDED, decide, d);
			if (d->nstarts == 0 && s->nactive == 0)
				gc_start_alone(s, 0, d);
		}
		start = now() - start;
		best = start < best ? start : best;
	}
	return best;
}

/* A line of the table: n sets. */
static void
measure_decisions(const GcProfile *profile, int n, GcPolicy policy, Character character, int nactive)
{
	static GcCandidate candidate[KERNELS];
	static GcDecision bounded;
	static GcDecision unbounded;
	GcDecideWork *decide = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);
	GcActive	active[16];
	uint64_t	random_state = 1;
	Quality		b = {0};
	Quality		u = {0};
	double		longest = 0;
	int			different = 0;
	int64_t		steps = 0;
	GcSchedule	s = {.profile = profile,.calibration = &gc_calibration_default,.policy = policy,.idle_overlap = 0.7,.busy_overlap = 0.7,.together = 0.7,
	.random_state = &random_state,.ncandidates = KERNELS,.candidate = candidate,.nactive = nactive,.active = active};

	for (int i = 0; i < n; i++)
	{
		Set			set = random_set(character);
		double		us;

		for (int k = 0; k < KERNELS; k++)
			random_item(profile, &set, (uint32_t) random_below(TYPES), &candidate[k]);
		random_active(nactive, active);
		micros[i] = decision_us(&s, true, decide, &bounded);
		add_quality(&s, &bounded, &b);
		if (policy != GC_POLICY_KERNEL)
			continue;
		if (GC_DECIDE_STEPS - decide->steps > steps)
			steps = GC_DECIDE_STEPS - decide->steps;
		us = decision_us(&s, false, decide, &unbounded);
		longest = us > longest ? us : longest;
		add_quality(&s, &unbounded, &u);
		different += !same_decision(&bounded, &unbounded);
	}
	qsort(micros, (size_t) n, sizeof(double), by_size);
	printf("%-9s %6d  %-8s %7.1f %7.1f %7.1f", policy == GC_POLICY_KERNEL ? "kernel" : "twostage",
		   nactive, character_names[character], micros[n / 2], micros[n * 99 / 100], micros[n - 1]);
	if (policy == GC_POLICY_KERNEL)
		printf(" %6ld %8.3f %8.1f %8.3f %9.2f%% %9.4f %9.4f %9.4f", (long) steps, b.started / n, longest,
			   u.started / n, 100.0 * different / n, b.warps / u.warps, b.predicted_us / u.predicted_us,
			   b.cost / u.cost);
	else
		printf(" %6s %8.3f", "", b.started / n);
	printf("\n");
	free(decide);
}

/*
 * Decisions of policy kernel beside those without a bound: the longest of those, how many
 * kernels they start, how many differ; and warps, predicted time and cost of the bounded ones
 * as parts of theirs.
 */
static void
decide_all(const GcProfile *profile, int n)
{
	printf("decisions for %d kernels of %d types, %d sets a line; us: each the least of five\n", KERNELS, TYPES, n);
	printf("%56s  without a bound: bounded in parts of it:\n", "");
	printf("policy    active  sets         p50     p99     max  steps  started      max  started  different"
		   "     warps predicted      cost\n");
	for (int policy = GC_POLICY_KERNEL; policy <= GC_POLICY_TWOSTAGE; policy++)
	{
		for (int nactive = 0; nactive <= 4; nactive += 4)
		{
			for (int c = 0; c < CHARACTERS; c++)
				measure_decisions(profile, n, (GcPolicy) policy, (Character) c, nactive);
		}
	}
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
	decide_all(profile, n);
	return 0;
}
