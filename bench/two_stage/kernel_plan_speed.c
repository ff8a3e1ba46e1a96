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

#include "../../src/sched/model/kernel_model.h"

#define BATCHES		5000

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
	MIXED,						/* differ in everything */
	NFAMILIES
} Family;

static const char *const names[] = {"plain", "waste", "mixed"};

static GcKernelItem
random_item(Family family, int n)
{
	int			share = 64 / n;
	GcKernelItem k = {.registers = random_in(16, share >= 4 ? 40 : 16),.max_threads = 1024,
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
		default:
			k.registers = random_in(16, 40);
			k.max_threads = 32 * random_in(1, 4);
			k.warps = random_in(1, (share + 1) / 2);
			k.shared_fixed = random_in(0, 100000 / n);
			k.shared_per_warp = random_in(0, 1) * random_in(0, 500);
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
	int			count[GC_KERNEL_BAD_INPUT + 1] = {0};
	double		sum = 0;

	for (int i = 0; i < BATCHES; i++)
	{
		GcKernelItem candidates[GC_KERNEL_MAX];
		GcKernelChoice choice[GC_KERNEL_MAX];
		GcKernelStatus status = GC_KERNEL_BAD_INPUT;
		double		best = 1e9;

		for (int j = 0; j < n; j++)
			candidates[j] = random_item(family, n);
		for (int k = 0; k < 3; k++)
		{
			double		t = now();

			status = gc_kernel_plan(profile, NULL, candidates, n, &work, choice, NULL);
			t = now() - t;
			best = t < best ? t : best;
		}
		count[status]++;
		times[i] = best;
		sum += best;
	}
	qsort(times, BATCHES, sizeof(double), compare);
	printf("%-10s %6d %8.1f %8.1f %8.1f %8.1f   %5d %5d %5d %5d\n", names[family], n,
		   sum / BATCHES, times[BATCHES / 2], times[BATCHES * 99 / 100], times[BATCHES - 1],
		   count[GC_KERNEL_OPTIMAL], count[GC_KERNEL_INFEASIBLE],
		   count[GC_KERNEL_FEASIBLE], count[GC_KERNEL_UNKNOWN]);
}

int
main(void)
{
	static const int sizes[] = {4, 8, 16, 32};
	const GcProfile *profile = gc_profile_known("H200");

	printf("batch       candidates     mean      p50      p99      max   optimal, none, cut short with and without a plan\n");
	for (int f = 0; f < NFAMILIES; f++)
	{
		for (int i = 0; i < 4; i++)
			measure(profile, (Family) f, sizes[i]);
	}
	return 0;
}
