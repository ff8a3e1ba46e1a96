/*-------------------------------------------------------------------------
 *
 * same_table.c
 *	  Queries over the same table: what running them together gains, and how good the
 *	  scheduler's choices are.
 *
 *	  same_table [--calibration FILE] [--out FILE] [--rows N] [--batches N] [--seed N] [--tried FILE]
 *
 * Part 1 (same_scans.c): 2, 4, 8 and 16 scans of one table (four columns, narrow ones or of 4 bytes each;
 * filter on three, sum of products; other constants in each): one after another, in streams
 * with a full grid each, co-resident, and as bodies of one kernel.
 *
 * Part 2: random batches of two to six kernels of the pool (pool.h).  All block sizes of
 * a grid of choices are tried (at most 200 combinations), and the best is compared with
 * what gc_decide() chooses; and its predictions (with the calibration given) with the times.
 *
 * Part 3: all pairs of the pool, in either order: full grids with one block and with two in each
 * place, and what gc_decide() chooses, against one after another.
 *
 * Part 4: kernels of the pool that differ in shared memory, side by side, launched in either order,
 * and with the whole of it (sched/policy/launch_order.h).
 *
 * Into the file of --tried goes what the model can be fitted to, separated by tabs:
 *
 * - A line for each kernel: "kernel", number, registers, most threads, bytes of shared memory, tiles, bytes read,
 *	 columns, bytes looked up, best size alone, its microseconds, issue part.
 * - A line for each combination tried, of one kernel, of all pairs and of the random batches: "tried", number of
 *	 kernels; of each its number, blocks per multiprocessor and warps; microseconds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "same_scans.h"
#include "sched/policy/launch_order.h"
#include "sched/policy/coresident.h"

#define MAX_BATCHES	200
#define LARGEST		6			/* kernels of a batch */

static GcDecideWork *work;
static GcDecision decision;

/*-------------------------------------------------------------------------
 * Part 2
 *-------------------------------------------------------------------------
 */

typedef struct Choice
{
	int			blocks;			/* on every multiprocessor */
	int			warps;			/* of each */
} Choice;

/* Grids of choices for 2, 3, ... 6 kernels; at most 200 combinations of each. */
static const Choice for_2[] = {
	{1, 2}, {1, 4}, {1, 8}, {1, 16}, {1, 32}, {2, 4}, {2, 8}, {2, 16}, {3, 8}, {4, 4}, {4, 8}, {8, 4}, {8, 8}, {2, 32}
};
static const Choice for_3[] = {{1, 4}, {1, 8}, {1, 16}, {2, 8}, {4, 8}};
static const Choice for_4[] = {{1, 4}, {1, 8}, {1, 16}};
static const Choice for_5[] = {{1, 4}, {1, 12}};
static const Choice for_6[] = {{1, 4}, {1, 8}};
static const struct
{
	const Choice *choice;
	int			n;
}			grids[LARGEST + 1] = {
	[1] = {for_2, 14},[2] = {for_2, 14},[3] = {for_3, 5},[4] = {for_4, 3},[5] = {for_5, 2},[6] = {for_6, 2},
};

static PoolKernel pool[POOL_KERNELS];
static FILE *tried_file;

/* The time of each batch, in microseconds. */
typedef struct Tried
{
	double		best;			/* of all combinations */
	double		kernel;			/* gc_decide, policy kernel */
	double		twostage;
	double		streams;
	double		sequential;
	double		predicted;		/* of twostage */
	double		predicted_kernel;
} Tried;

static Tried tried[MAX_BATCHES];

/*
 * Launches of a whole batch by a policy, decision after decision, each of which waits
 * for the one before.  Returns the predicted time of all of them.
 */
static double
decide(GcPolicy policy, const int *pick, int n, BenchLaunch *l)
{
	GcCandidate		candidates[LARGEST];
	int			which[LARGEST];
	int			left = n;
	int			out = 0;
	double		predicted = 0;

	for (int i = 0; i < n; i++)
		which[i] = pick[i];
	for (int step = 0; left > 0 && step < n; step++)
	{
		GcSchedule	s = same_table_schedule(policy, candidates, left);
		bool		gone[LARGEST] = {false};
		int			kept = 0;

		for (int i = 0; i < left; i++)
			pool_item(&pool[which[i]], (uint32_t) which[i] + 1, &candidates[i]);
		gc_decide(&s, work, &decision);
		for (int i = 0; i < decision.nstarts; i++)
		{
			int			candidate = decision.start[i].candidate[0];
			const PoolKernel *k = &pool[which[candidate]];

			l[out++] = pool_launch(k, bench_shape(&decision.start[i], k->shared_bytes), step);
			gone[candidate] = true;
		}
		predicted += decision.predicted_us;
		for (int i = 0; i < left; i++)
		{
			if (!gone[i])
				which[kept++] = which[i];
		}
		left = kept;
	}
	if (out != n)
		bench_fail("a batch of %d kernels was not all started", n);
	return predicted;
}

static void
note_kernels(void)
{
	for (int i = 0; i < POOL_KERNELS && tried_file != NULL; i++)
	{
		const PoolKernel *k = &pool[i];

		fprintf(tried_file, "kernel\t%d\t%d\t%d\t%u\t%llu\t%llu\t%s\t%llu\t%u\t%u\t%d\t%.1f\t%.3f\n", i + 1,
				k->k.info.registers, k->max_threads, pool_shared(k), (unsigned long long) k->tiles,
				(unsigned long long) k->bytes, k->columns, (unsigned long long) k->lookup_bytes, k->best.blocks,
				k->best.threads, k->best_per_sm, k->alone_us, k->issue_part);
	}
}

/* c: the combination, as a number whose digits are choices. */
static void
note_tried(const int *pick, int n, int c, double us)
{
	if (tried_file == NULL)
		return;
	fprintf(tried_file, "tried\t%d", n);
	for (int i = 0; i < n; i++, c /= grids[n].n)
		fprintf(tried_file, "\t%d\t%d\t%d", pick[i] + 1, grids[n].choice[c % grids[n].n].blocks,
				grids[n].choice[c % grids[n].n].warps);
	fprintf(tried_file, "\t%.1f\n", us);
}

/*
 * The launches of a combination, c as for note_tried; false: one cannot be had in that size.  In the
 * order, and with the part of shared memory, with which gc_decide() would start them.
 */
static bool
combine(const int *pick, int n, int c, BenchLaunch *l)
{
	BenchLaunch launch[LARGEST];
	GcPlaced	placed[LARGEST];
	int			order[LARGEST];
	bool		whole;

	for (int i = 0; i < n; i++, c /= grids[n].n)
	{
		const PoolKernel *k = &pool[pick[i]];
		const Choice *choice = &grids[n].choice[c % grids[n].n];

		if (choice->warps * bench_profile.warp_size > k->max_threads)
			return false;
		launch[i] = pool_launch(k, pool_shape(k, choice->blocks, choice->warps), 0);
		placed[i] = (GcPlaced) {.registers = k->k.info.registers,.threads = (int) launch[i].grid.threads,
		.blocks = choice->blocks,.shared_bytes = pool_shared(k)};
	}
	whole = gc_launch_order(&bench_profile, placed, n, order);
	for (int i = 0; i < n; i++)
	{
		l[i] = launch[order[i]];
		l[i].grid.whole_shared = whole;
	}
	return true;
}

/* All combinations; those that seemed the three best are measured again. */
static double
try_all(const int *pick, int n, double limit)
{
	int			combinations = 1;
	int			top[3] = {-1, -1, -1};
	double		top_us[3] = {1e18, 1e18, 1e18};
	double		best = 1e18;
	double		from = bench_seconds();
	BenchLaunch l[LARGEST];

	for (int i = 0; i < n; i++)
		combinations *= grids[n].n;
	for (int pass = 0; pass < 2; pass++)
	{
		for (int t = 0; t < (pass == 0 ? combinations : 3); t++)
		{
			int			c = pass == 0 ? t : top[t];
			double		us;

			if (c < 0 || !combine(pick, n, c, l) || (pass == 0 && bench_late(from, limit)))
				continue;
			us = pass == 0 ? bench_us(l, n, BENCH_STREAMS_IN_TURN) : bench_median_us(l, n, BENCH_STREAMS_IN_TURN, 5);
			note_tried(pick, n, c, us);
			if (pass == 1)
			{
				best = us < best ? us : best;
				continue;
			}
			for (int k = 0; k < 3; k++)
			{
				if (us >= top_us[k])
					continue;
				for (int m = 2; m > k; m--)
				{
					top[m] = top[m - 1];
					top_us[m] = top_us[m - 1];
				}
				top[k] = c;
				top_us[k] = us;
				break;
			}
		}
	}
	return best;
}

static void
one_batch(Tried *t, int number)
{
	int			n = 2 + (int) bench_random(LARGEST - 1);
	int			pick[LARGEST];
	BenchLaunch l[LARGEST];

	for (int i = 0; i < n; i++)
		pick[i] = (int) bench_random(POOL_KERNELS);
	t->best = try_all(pick, n, 1.0);
	t->predicted_kernel = decide(GC_POLICY_KERNEL, pick, n, l);
	t->kernel = bench_median_us(l, n, BENCH_STREAMS_IN_TURN, 5);
	t->predicted = decide(GC_POLICY_TWOSTAGE, pick, n, l);
	t->twostage = bench_median_us(l, n, BENCH_STREAMS_IN_TURN, 5);
	for (int i = 0; i < n; i++)
		l[i] = pool_launch(&pool[pick[i]], pool[pick[i]].best, 0);
	t->streams = bench_median_us(l, n, BENCH_STREAMS_IN_TURN, 5);
	t->sequential = bench_median_us(l, n, BENCH_ONE_STREAM, 5);
	bench_say("| %d |", number);
	for (int i = 0; i < n; i++)
		bench_say(" %d", pick[i] + 1);
	bench_say(" | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f |\n", t->best, t->kernel, t->twostage, t->streams,
			  t->sequential, t->predicted, t->twostage / t->best);
}

static void
tell_ratio(const char *what, int n, size_t upper, size_t lower)
{
	double		ratio[MAX_BATCHES];
	int			near = 0;

	for (int i = 0; i < n; i++)
	{
		ratio[i] = *(double *) ((char *) &tried[i] + upper) / *(double *) ((char *) &tried[i] + lower);
		near += ratio[i] <= 1.1;
	}
	bench_say("| %s | %.2f |", what, bench_median(ratio, n));
	bench_say(" %.2f | %.2f | %.2f | %d |\n", ratio[0], bench_quantile(ratio, n, 0.9), ratio[n - 1], near);
}

static void
tell_error(const char *what, int n, size_t predicted, size_t actual)
{
	double		error[MAX_BATCHES];

	for (int i = 0; i < n; i++)
	{
		double		p = *(double *) ((char *) &tried[i] + predicted);
		double		a = *(double *) ((char *) &tried[i] + actual);

		error[i] = fabs(p - a) / a;
	}
	bench_say("Predicted against actual times, %s: median error %.1f %%", what, 100 * bench_median(error, n));
	bench_say(", nine of ten below %.1f %%.\n", 100 * bench_quantile(error, n, 0.9));
}

#define AT(field)	offsetof(Tried, field)

static void
part_2(int batches, double budget)
{
	double		from = bench_seconds();
	int			n = 0;

	bench_say("### Random batches of the pool: the choices\n\n");
	pool_make(pool, bench_options.rows / 4);
	pool_measure(pool, POOL_KERNELS, 3);
	pool_measure_issue(pool, POOL_KERNELS, 3);
	note_kernels();
	bench_say("| batch | kernels | best found, us | kernel model | two-stage | streams, full grids | one after another "
			  "| predicted, two-stage | two-stage / best |\n"
			  "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
	while (n < batches && !bench_late(from, budget))
	{
		one_batch(&tried[n], n + 1);
		n++;
	}
	if (n == 0)
		return;
	bench_say("\n| times of the best found | median | least | nine of ten below | most | within 10 %% of it, of %d |\n"
			  "| --- | ---: | ---: | ---: | ---: | ---: |\n", n);
	tell_ratio("kernel model", n, AT(kernel), AT(best));
	tell_ratio("two-stage", n, AT(twostage), AT(best));
	tell_ratio("streams, full grids", n, AT(streams), AT(best));
	tell_ratio("one after another", n, AT(sequential), AT(best));
	bench_say("\n");
	tell_error("kernel model", n, AT(predicted_kernel), AT(kernel));
	tell_error("two-stage", n, AT(predicted), AT(twostage));
	bench_say("\n");
}

/*-------------------------------------------------------------------------
 * Part 3
 *-------------------------------------------------------------------------
 */

#define PAIRS	(POOL_KERNELS * POOL_KERNELS)

typedef struct Ways
{
	double		full[PAIRS];	/* full grids, as parts of the time one after another */
	double		twice[PAIRS];	/* with two blocks in each place */
	double		twostage[PAIRS];
} Ways;

static void
tell_way_of_pairs(const char *way, double *part, int n)
{
	double		sum = 0;

	for (int i = 0; i < n; i++)
		sum += part[i];
	bench_say("| %s | %.2f |", way, sum / n);
	bench_say(" %.2f |", bench_median(part, n));
	bench_say(" %.2f | %.2f |\n", bench_quantile(part, n, 0.9), part[n - 1]);
}

static void
part_3(double budget)
{
	static Ways ways;
	double		from = bench_seconds();
	int			n = 0;

	bench_say("### All pairs of the pool\n\n");
	for (int p = 0; p < PAIRS && !bench_late(from, budget); p++)
	{
		const int	pick[2] = {p / POOL_KERNELS, p % POOL_KERNELS};
		BenchLaunch l[LARGEST];
		double		sum;

		for (int i = 0; i < 2; i++)
			l[i] = pool_launch(&pool[pick[i]], pool[pick[i]].best, 0);
		sum = bench_median_us(l, 2, BENCH_ONE_STREAM, 5);
		ways.full[n] = bench_median_us(l, 2, BENCH_STREAMS_IN_TURN, 5) / sum;
		for (int i = 0; i < 2; i++)
			l[i].grid = pool_shape(&pool[pick[i]], 2 * pool[pick[i]].best_per_sm,
									(int) pool[pick[i]].best.threads / bench_profile.warp_size);
		ways.twice[n] = bench_median_us(l, 2, BENCH_STREAMS_IN_TURN, 5) / sum;
		(void) decide(GC_POLICY_TWOSTAGE, pick, 2, l);
		ways.twostage[n++] = bench_median_us(l, 2, BENCH_STREAMS_IN_TURN, 5) / sum;
	}
	if (n == 0)
		return;
	bench_say("| of the time one after another, %d pairs | mean | median | nine of ten below | most |\n"
			  "| --- | ---: | ---: | ---: | ---: |\n", n);
	tell_way_of_pairs("full grids", ways.full, n);
	tell_way_of_pairs("full grids, two blocks for each place", ways.twice, n);
	tell_way_of_pairs("two-stage", ways.twostage, n);
	bench_say("\n");
}

/*-------------------------------------------------------------------------
 * Part 4
 *-------------------------------------------------------------------------
 */

/* One block of each kernel (its number in the tables) on every multiprocessor; the most shared memory first. */
static const struct
{
	int			n;
	int			kernel[3];
	int			warps[3];
}			sets[] = {
	{2, {5, 12}, {8, 8}}, {2, {5, 13}, {8, 8}}, {2, {7, 1}, {8, 8}}, {2, {7, 9}, {16, 16}}, {3, {9, 3, 1}, {16, 16, 16}}
};

/* Their median time in this order, or in the reverse. */
static double
side_by_side(BenchLaunch *l, int n, bool reverse, bool whole)
{
	BenchLaunch launch[3];

	for (int i = 0; i < n; i++)
	{
		launch[i] = l[reverse ? n - 1 - i : i];
		launch[i].grid.whole_shared = whole;
	}
	return bench_median_us(launch, n, BENCH_STREAMS_IN_TURN, 9);
}

static void
part_4(void)
{
	bench_say("### Side by side, by their shared memory\n\n"
			  "One block of each on every multiprocessor.\n\n"
			  "| kernels | warps | alone, us | the most first | the least first | the most first, all ask for the whole | chosen |\n"
			  "| --- | --- | --- | ---: | ---: | ---: | --- |\n");
	for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
	{
		const int	n = sets[s].n;
		BenchLaunch l[3];
		GcPlaced	placed[3];
		int			order[3];

		bench_say("|");
		for (int i = 0; i < n; i++)
			bench_say(" %d", sets[s].kernel[i]);
		bench_say(" |");
		for (int i = 0; i < n; i++)
			bench_say(" %d", sets[s].warps[i]);
		bench_say(" |");
		for (int i = 0; i < n; i++)
		{
			const PoolKernel *k = &pool[sets[s].kernel[i] - 1];

			l[i] = pool_launch(k, pool_shape(k, 1, sets[s].warps[i]), 0);
			placed[i] = (GcPlaced) {k->k.info.registers, (int) l[i].grid.threads, 1, pool_shared(k)};
			bench_say(" %.0f", bench_median_us(&l[i], 1, BENCH_ONE_STREAM, 5));
		}
		bench_say(" | %.0f |", side_by_side(l, n, false, false));
		bench_say(" %.0f |", side_by_side(l, n, true, false));
		bench_say(" %.0f | %s |\n", side_by_side(l, n, false, true),
				  gc_launch_order(&bench_profile, placed, n, order) ? "the whole" : "the most first");
	}
	bench_say("\n");
}

/* All choices of each kernel and of all pairs, for the file alone. */
static void
try_for_file(double budget)
{
	double		from = bench_seconds();

	for (int i = 0; i < POOL_KERNELS; i++)
		(void) try_all(&i, 1, 1.0);
	for (int p = 0; p < PAIRS && !bench_late(from, budget); p++)
	{
		const int	pick[2] = {p / POOL_KERNELS, p % POOL_KERNELS};

		if (pick[0] <= pick[1])
			(void) try_all(pick, 2, 1.0);
	}
}

static void
read_calibration(const char *path)
{
	char		text[8192];
	const char *problem;
	FILE	   *file;
	size_t		size;

	if (path != NULL)
	{
		file = fopen(path, "r");
		if (file == NULL)
			bench_fail("%s cannot be read", path);
		size = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		text[size] = '\0';
		if (!gc_calibration_parse(text, &bench_calibration, &problem))
			bench_fail("%s: %s", path, problem);
	}
	bench_say("Calibration (%s): flight_bytes %.0f, overlap_other_tables %.3f, overlap_same_table %.3f, fused %.3f.\n\n",
			  path != NULL ? "as measured" : "the default", bench_calibration.flight_bytes, bench_calibration.overlap_other_tables,
			  bench_calibration.overlap_same_table, bench_calibration.fused);
}

int
main(int argc, char **argv)
{
	const BenchOptions defaults = {.device = "cuda",.memory = 6000 * MEGABYTE,.seconds = 45};
	const char *text;
	int			batches;

	argc = bench_open(argc, argv, &defaults, 120);
	text = bench_argument(argc, argv, "batches");
	batches = text != NULL ? atoi(text) : 50;
	batches = batches > MAX_BATCHES ? MAX_BATCHES : batches;
	text = bench_argument(argc, argv, "seed");
	bench_seed(text != NULL ? strtoull(text, NULL, 10) : 1);
	text = bench_argument(argc, argv, "tried");
	tried_file = text != NULL ? fopen(text, "w") : NULL;
	if (text != NULL && tried_file == NULL)
		bench_fail("%s cannot be written", text);
	work = bench_decide_work();
	read_calibration(bench_argument(argc, argv, "calibration"));
	same_table_scans(work, &scan_narrow, bench_options.seconds / 6);
	same_table_scans(work, &scan_wide, bench_options.seconds / 6);
	if (!bench_profile.shares_cpu)
	{
		part_2(batches, bench_options.seconds * 2 / 3);
		part_3(bench_options.seconds / 6);
		part_4();
		if (tried_file != NULL)
			try_for_file(bench_options.seconds);
	}
	if (tried_file != NULL)
		fclose(tried_file);
	free(work);
	bench_close();
	return 0;
}
