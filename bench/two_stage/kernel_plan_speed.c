/*-------------------------------------------------------------------------
 *
 * kernel_plan_speed.c
 *	  How long gc_kernel_plan() takes.
 *
 * Random batches for an H200, in families that differ in what makes them hard; each
 * batch is planned three times and the fastest counts, so that what is told is the
 * program and not the machine's other work.  Times in microseconds.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/sched/kernel_model.h"

#define BATCHES		5000
#define HARD_BATCHES	200

static GcKernelWork work;
static uint64_t random_state = 88172645463325252ULL;

static int
random_in(int lo, int hi)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return lo + (int) ((uint32_t) (random_state >> 32) % (uint32_t) (hi - lo + 1));
}

typedef enum Family
{
	PLAIN,						/* large blocks allowed: the cheapest choices fit */
	WASTE,						/* small blocks, odd warps: blocks against warps */
	FILTERS,					/* two variants: filters in shared memory, or not */
	REGISTERS,					/* fast variants with more registers than there are */
	MIXED,						/* three variants that differ in everything */
	HARD,						/* four, made to be too much for the search */
	NFAMILIES
} Family;

static const char *const names[] = {"plain", "waste", "filters", "registers", "mixed", "hard"};

static GcKernelVariant
variant(Family family, int n, int v)
{
	int			share = 64 / n;
	GcKernelVariant k = {.registers = random_in(16, share >= 4 ? 40 : 16),.max_threads = 1024,
		.warps = random_in(1, share)};

	switch (family)
	{
		case PLAIN:
			k.shared_fixed = random_in(0, 1) * random_in(0, 200000 / n);
			break;
		case WASTE:
			k.registers = 16;
			k.max_threads = 32 * random_in(1, share > 4 ? 4 : share);
			k.warps = random_in((share + 1) / 2, share);
			k.shared_per_warp = random_in(0, 1) * random_in(0, 1500);
			break;
		case FILTERS:
			k.shared_fixed = v == 0 ? random_in(1000, 600000 / n) : 0;
			k.penalty = v == 0 ? 0 : random_in(100000, 900000);
			break;
		case REGISTERS:
			k.registers = v == 0 ? random_in(32, 80) : random_in(16, share >= 4 ? 24 : 16);
			k.warps = share;
			k.penalty = v == 0 ? 0 : random_in(1000, 90000);
			break;
		case HARD:
			/* What is gained in one respect is lost in the others. */
			k.registers = 8 * random_in(1, 5);
			k.max_threads = 256;
			k.shared_fixed = random_in(0, 440000 / n);
			k.warps = random_in(1, share < 4 ? share : 4);
			k.penalty = 400000 - k.registers * 5000 - k.shared_fixed * (n / 2.2) + random_in(0, 20000);
			if (k.penalty < 0)
				k.penalty = 0;
			break;
		default:
			k.registers = random_in(16, 64);
			k.max_threads = 32 * random_in(1, 4);
			k.shared_fixed = random_in(0, 300000 / n);
			k.shared_per_warp = random_in(0, 1) * random_in(0, 1500);
			k.penalty = random_in(0, 90000);
			break;
	}
	return k;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int
compare(const void *a, const void *b)
{
	double		d = *(const double *) a - *(const double *) b;

	return (d > 0) - (d < 0);
}

static void
measure(const GcProfile *profile, Family family, int n)
{
	static double times[BATCHES];
	static const int variants[] = {1, 1, 2, 2, 3, 4};
	int			count[GC_KERNEL_BAD_INPUT + 1] = {0};
	double		sum = 0;
	int			batches = family == HARD ? HARD_BATCHES : BATCHES;

	for (int i = 0; i < batches; i++)
	{
		GcKernelItem items[GC_KERNEL_MAX];
		GcKernelChoice choice[GC_KERNEL_MAX];
		GcKernelStatus status = GC_KERNEL_BAD_INPUT;
		double		best = 1e9;

		memset(items, 0, sizeof(items));
		for (int j = 0; j < n; j++)
		{
			items[j].nvariants = variants[family];
			for (int v = 0; v < items[j].nvariants; v++)
			{
				items[j].variant[v] = variant(family, n, v);
				if (v > 0)
					items[j].variant[v].warps = items[j].variant[0].warps;
			}
		}
		for (int k = 0; k < 3; k++)
		{
			double		t = now();

			status = gc_kernel_plan(profile, NULL, items, n, &work, choice, NULL);
			t = now() - t;
			best = t < best ? t : best;
		}
		count[status]++;
		times[i] = best;
		sum += best;
	}
	qsort(times, batches, sizeof(double), compare);
	printf("%-10s %6d %8.1f %8.1f %8.1f %8.1f   %5d %5d %5d %5d\n", names[family], n,
		   sum / batches, times[batches / 2], times[batches * 99 / 100], times[batches - 1],
		   count[GC_KERNEL_OPTIMAL], count[GC_KERNEL_INFEASIBLE],
		   count[GC_KERNEL_FEASIBLE], count[GC_KERNEL_UNKNOWN]);
}

int
main(void)
{
	static const int sizes[] = {4, 8, 16, 32};
	const GcProfile *profile = gc_profile_known("H200");

	printf("batch       items     mean      p50      p99      max   optimal, none, cut short with and without a plan\n");
	for (int f = 0; f < NFAMILIES; f++)
	{
		for (int i = 0; i < 4; i++)
			measure(profile, (Family) f, sizes[i]);
	}
	return 0;
}
