/*-------------------------------------------------------------------------
 *
 * paper001.c
 *	  Li, Tu, Zeng (conference)'s experiments, on this device.
 *
 *	  paper001 [--out FILE] [--runs N] [--seconds N] [--scale PERCENT] [--seed N]
 *
 * The kernels are the pool's (pool.h): thirteen like the engine's, and the five of the
 * paper's table I, whose shared memory is scaled to this device's (--scale: percent of
 * the table's; default: what keeps its part of a multiprocessor's, 100 for as is).
 *
 * Streams (figures 6 to 11): sets of 16 and of 31 kernels, in fixed order or drawn at
 * random, all of which run at the same time.  Batches (table II, figures 12 to 14): 39,
 * 52 and 65 kernels drawn at random, more than fit at a time; batches run one after
 * another.  Every kernel has the same total of threads in all sets but two:
 *
 *	  S			one after another, block sizes drawn at random
 *	  S-best	one after another, each in its best size alone, with as many threads
 *				as are best (the paper's "sequential", which is harder to beat)
 *	  CR		together, block sizes drawn at random; batches drawn at random
 *	  CO		together, block sizes by the kernel model; the batches of CR
 *	  BO		batches by the batch model, block sizes by the kernel model
 *	  all		all at once, each in its best size alone, no batches: what the hardware
 *				makes of it (not in the paper)
 *
 * What does not fit a multiprocessor is divided over units of 2, 4 or 8 of them (papers
 * 000 and 001, section on CUDA streams).  Each kernel then has blocks for one
 * multiprocessor of every unit, and as many threads in all as before.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "sched/model/batch_model.h"
#include "sched/model/kernel_model.h"

#define MAX_RUNS	1000
#define MAX_SET		65
#define MAX_BATCH	31
#define MAX_GROUP	8
#define DRAWS		200			/* of a set, until one can be planned */

enum
{
	SET_S, SET_S_BEST, SET_CR, SET_CO, SET_BO, SET_ALL, NSETS
};

static const char *const set_names[NSETS] = {"S", "S-best", "CR", "CO", "BO", "all"};

/* Kernels, with what each is given. */
typedef struct Mix
{
	PoolKernel *pool;
	int			npool;
	int			warps[POOL_KERNELS];	/* on one multiprocessor of each unit */
	int			group;			/* multiprocessors of a unit */
} Mix;

typedef struct Outcome
{
	const char *title;
	int			ours;			/* the set that is compared with the others */
	int			runs;
	double		us[NSETS][MAX_RUNS];	/* 0: not measured */
	double		random_batches;
	double		planned_batches;
	double		bound;
	int			unplanned;		/* batches that the kernel model could not size */
	int			skipped;		/* sets that could not be planned */
} Outcome;

static PoolKernel engine[POOL_KERNELS];
static PoolKernel synthetic[POOL_SYNTHETIC];
static GcKernelWork kernel_work;
static GcBatchWork batch_work;
static GcBatchPlan batch_plan;
static Outcome outcome;
static int	wanted_runs = 400;
static double all_end;			/* seconds since bench_open() */
static int	experiments = 9;	/* yet to be made */

/*-------------------------------------------------------------------------
 * Plans
 *-------------------------------------------------------------------------
 */

static GcKernelItem
item_of(const Mix *m, int kernel)
{
	const PoolKernel *k = &m->pool[kernel];

	return (GcKernelItem) {.registers = k->k.info.registers,.max_threads = k->max_threads,
		.shared_fixed = (int) pool_shared(k),.warps = m->warps[kernel]};
}

static u64
total_threads(const Mix *m, int kernel)
{
	return (u64) m->warps[kernel] * 32 * (u64) (bench_profile.sms / m->group);
}

static void
set_totals(const Mix *m)
{
	for (int i = 0; i < m->npool; i++)
		pool_set_total(&m->pool[i], total_threads(m, i));
}

/* Size the kernels pick[0 .. n - 1], which share every multiprocessor (of a part). */
static bool
plan_part(const Mix *m, const int *pick, const int *slot, int n, int batch, BenchLaunch *l)
{
	GcKernelItem candidates[GC_KERNEL_MAX];
	GcKernelChoice choice[GC_KERNEL_MAX];

	if (n < 1 || n > GC_KERNEL_MAX)
		return false;
	for (int i = 0; i < n; i++)
		candidates[i] = item_of(m, pick[slot[i]]);
	if (gc_kernel_plan(&bench_profile, NULL, candidates, n, &kernel_work, choice) != GC_KERNEL_OPTIMAL)
		return false;
	for (int i = 0; i < n; i++)
	{
		const PoolKernel *k = &m->pool[pick[slot[i]]];
		GcLaunch	grid = pool_shape(k, choice[i].blocks, choice[i].warps);
		u32			most = (u32) (choice[i].blocks * (bench_profile.sms / m->group));

		grid.blocks = grid.blocks < most ? grid.blocks : most;
		l[slot[i]] = pool_launch(k, grid, batch);
	}
	return true;
}

/* Largest part of any resource that the kernels would take, if each is given the cheapest. */
static double
host_pressure(const int *need, const int *limit)
{
	double		most = 0;

	for (int r = 0; r < GC_NEEDS; r++)
	{
		double		part = (double) need[r] / limit[r];

		most = part > most ? part : most;
	}
	return most;
}

/*
 * Plan a set that runs at once: divide it over the multiprocessors of a unit, each
 * kernel to where it leaves the most, those first that take the most.
 */
static bool
plan_set(const Mix *m, const int *pick, int n, BenchLaunch *l)
{
	int			limit[GC_NEEDS];
	int			need[MAX_SET][GC_NEEDS];
	int			used[MAX_GROUP][GC_NEEDS];
	int			slots[MAX_GROUP][MAX_SET];
	int			count[MAX_GROUP] = {0};
	bool		placed[MAX_SET] = {false};

	gc_sm_limits(&bench_profile, limit);
	memset(used, 0, sizeof(used));
	for (int i = 0; i < n; i++)
	{
		GcKernelItem candidate = item_of(m, pick[i]);

		if (!gc_kernel_fits(&bench_profile, NULL, &candidate, NULL, need[i]))
			return false;
	}
	for (int turn = 0; turn < n; turn++)
	{
		int			next = -1;
		int			best = 0;
		double		least = 1e9;

		for (int i = 0; i < n; i++)
		{
			if (!placed[i] && (next < 0 || host_pressure(need[i], limit) > host_pressure(need[next], limit)))
				next = i;
		}
		placed[next] = true;
		for (int g = 0; g < m->group; g++)
		{
			int			with[GC_NEEDS];
			double		now;

			for (int r = 0; r < GC_NEEDS; r++)
				with[r] = used[g][r] + need[next][r];
			now = host_pressure(with, limit);
			if (now < least)
			{
				least = now;
				best = g;
			}
		}
		for (int r = 0; r < GC_NEEDS; r++)
			used[best][r] += need[next][r];
		slots[best][count[best]++] = next;
	}
	for (int g = 0; g < m->group; g++)
	{
		if (count[g] > 0 && !plan_part(m, pick, slots[g], count[g], 0, l))
			return false;
	}
	return true;
}

static void
fixed_set(const Mix *m, int n, int *pick)
{
	for (int i = 0; i < n; i++)
		pick[i] = i % m->npool;
}

/* Units and warps with which the fixed set of n kernels can run at once; false: none. */
static bool
choose_warps(Mix *m, int n)
{
	BenchLaunch l[MAX_SET];
	int			pick[MAX_SET];
	bool		tried[POOL_KERNELS] = {false};

	fixed_set(m, n, pick);
	for (m->group = 1; m->group <= MAX_GROUP; m->group *= 2)
	{
		for (int i = 0; i < m->npool; i++)
			m->warps[i] = 4;
		if (plan_set(m, pick, n, l))
			break;
	}
	if (m->group > MAX_GROUP)
		return false;
	/* More for those that take longest, so that all end at about the same time. */
	for (int turn = 0; turn < m->npool && m->pool[0].tiles > 0; turn++)
	{
		int			longest = -1;

		for (int i = 0; i < m->npool; i++)
		{
			if (!tried[i] && (longest < 0 || m->pool[i].alone_us > m->pool[longest].alone_us))
				longest = i;
		}
		tried[longest] = true;
		m->warps[longest] = 8;
		if (!plan_set(m, pick, n, l))
			m->warps[longest] = 4;
	}
	return true;
}

/* Random block sizes: one draw, used by S and by CR. */
static void
random_sizes(const Mix *m, const int *pick, int n, BenchLaunch *l)
{
	for (int i = 0; i < n; i++)
	{
		const PoolKernel *k = &m->pool[pick[i]];
		int			most = k->max_threads / 32;

		/* A block may be all threads that there are, and no more. */
		if ((u64) most > total_threads(m, pick[i]) / 32)
			most = (int) (total_threads(m, pick[i]) / 32);
		l[i] = pool_launch(k, pool_spread(k, total_threads(m, pick[i]), 1 + (int) bench_random((u32) most)), 0);
	}
}

static void
best_sizes(const Mix *m, const int *pick, int n, BenchLaunch *l)
{
	for (int i = 0; i < n; i++)
		l[i] = pool_launch(&m->pool[pick[i]], m->pool[pick[i]].best, 0);
}

/*-------------------------------------------------------------------------
 * Batches
 *-------------------------------------------------------------------------
 */

static void
shuffle(int *pick, int n)
{
	for (int i = n - 1; i > 0; i--)
	{
		int			j = (int) bench_random((u32) i + 1);
		int			swap = pick[i];

		pick[i] = pick[j];
		pick[j] = swap;
	}
}

/* In the order given, a batch as long as the next one fits; returns their number. */
static int
random_batches(const Mix *m, const int *pick, int n, int *batch)
{
	int			limit[GC_NEEDS];
	int			left[GC_NEEDS];
	int			candidates = 0;
	int			number = 0;

	gc_sm_limits(&bench_profile, limit);
	memcpy(left, limit, sizeof(left));
	for (int i = 0; i < n; i++)
	{
		GcKernelItem candidate = item_of(m, pick[i]);
		int			need[GC_NEEDS];

		if (!gc_kernel_fits(&bench_profile, NULL, &candidate, NULL, need))
			bench_fail("kernel %s does not fit", m->pool[pick[i]].k.name);
		if (!gc_needs_fit(need, left) || candidates == MAX_BATCH)
		{
			memcpy(left, limit, sizeof(left));
			number++;
			candidates = 0;
		}
		for (int r = 0; r < GC_NEEDS; r++)
			left[r] -= need[r];
		batch[i] = number;
		candidates++;
	}
	return number + 1;
}

/* Batches by the batch model; pick is put in their order.  Returns their number, or 0. */
static int
planned_batches(const Mix *m, int *pick, int n, int *batch)
{
	GcItemType	types[POOL_KERNELS];
	int			limit[GC_NEEDS];
	GcBatchProblem problem = {.ntypes = m->npool,.types = types,.max_items = MAX_BATCH};
	int			number = 0;
	int			at = 0;

	gc_sm_limits(&bench_profile, limit);
	memcpy(problem.capacity, limit, sizeof(problem.capacity));
	memset(types, 0, sizeof(types));
	for (int i = 0; i < m->npool; i++)
	{
		GcKernelItem candidate = item_of(m, i);

		(void) gc_kernel_fits(&bench_profile, NULL, &candidate, NULL, types[i].need);
	}
	for (int i = 0; i < n; i++)
		types[pick[i]].demand++;
	if (gc_batch_plan(&problem, &batch_work, &batch_plan) != GC_BATCH_OK)
		return 0;
	for (int p = 0; p < batch_plan.npatterns; p++)
	{
		for (int t = 0; t < batch_plan.pattern[p].times; t++, number++)
		{
			for (int k = 0; k < m->npool; k++)
			{
				for (int c = 0; c < batch_plan.pattern[p].count[k] && at < n; c++)
				{
					pick[at] = k;
					batch[at++] = number;
				}
			}
		}
	}
	return at == n ? number : 0;
}

/* Size every batch by the kernel model. */
static void
plan_batches(const Mix *m, const int *pick, const int *batch, int n, BenchLaunch *l)
{
	int			slot[MAX_SET];

	for (int i = 0, count; i < n; i += count)
	{
		for (count = 0; i + count < n && batch[i + count] == batch[i]; count++)
			slot[count] = i + count;
		if (plan_part(m, pick, slot, count, batch[i], l))
			continue;
		outcome.unplanned++;
		for (int k = 0; k < count; k++)
			l[i + k] = pool_launch(&m->pool[pick[i + k]], m->pool[pick[i + k]].best, batch[i]);
	}
}

/*-------------------------------------------------------------------------
 * Outcomes
 *-------------------------------------------------------------------------
 */

static const double edges[] = {0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2, 3, 5};

#define NEDGES	((int) (sizeof(edges) / sizeof(edges[0])))

static void
tell_row(const Outcome *o, int set)
{
	double		least = 1e9,
				most = 0,
				sum = 0,
				us = 0;
	int			bins[NEDGES + 1] = {0};
	int			n = 0;
	int			wins = 0;

	for (int r = 0; r < o->runs; r++)
	{
		double		speedup = o->us[set][r] / o->us[o->ours][r];
		int			bin = 0;

		if (o->us[set][r] == 0)
			continue;
		n++;
		us += o->us[set][r];
		sum += speedup;
		wins += speedup > 1;
		least = speedup < least ? speedup : least;
		most = speedup > most ? speedup : most;
		while (bin < NEDGES && speedup >= edges[bin])
			bin++;
		bins[bin]++;
	}
	if (n == 0)
		return;
	if (set == o->ours)
	{
		bench_say("| %s | %d | %.0f | | | | |", set_names[set], n, us / n);
		for (int b = 0; b <= NEDGES; b++)
			bench_say(" |");
	}
	else
	{
		bench_say("| %s | %d | %.0f | %.2f | %.2f | %.2f | %.1f %% |", set_names[set], n, us / n, least, sum / n, most,
				  100.0 * wins / n);
		for (int b = 0; b <= NEDGES; b++)
			bench_say(" %d |", bins[b]);
	}
	bench_say("\n");
}

static void
tell(const Outcome *o)
{
	bench_say("#### %s\n\nSpeedup of %s over each set, %d runs.\n\n| set | runs | mean, us | least | mean | most | %s wins |",
			  o->title, set_names[o->ours], o->runs, set_names[o->ours]);
	for (int b = 0; b <= NEDGES; b++)
		bench_say(b < NEDGES ? " < %.1f |" : " more |", b < NEDGES ? edges[b] : 0);
	bench_say("\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
	for (int b = 0; b <= NEDGES; b++)
		bench_say(" ---: |");
	bench_say("\n");
	for (int set = 0; set < NSETS; set++)
		tell_row(o, set);
	bench_say("\n");
	if (o->planned_batches > 0 && o->runs > 0)
		bench_say("Batches on average: %.2f drawn at random, %.2f planned; no plan has fewer than %.2f.\n\n",
				  o->random_batches / o->runs, o->planned_batches / o->runs, o->bound / o->runs);
	if (o->unplanned > 0)
		bench_say("%d batches could not be sized by the kernel model.\n\n", o->unplanned);
	if (o->skipped > 0)
		bench_say("%d sets were drawn that cannot run at once, and not used.\n\n", o->skipped);
}

/*
 * S takes longest by far; it is left out of some runs where otherwise there would not
 * be time for all of them.
 */
static bool
time_for_s(double from, double budget, int run)
{
	return (bench_seconds() - from) / budget <= (double) run / wanted_runs + 0.02;
}

static void
streams_experiment(Mix *m, int n, bool fixed, double budget, const char *title)
{
	double		from = bench_seconds();
	Outcome    *o = &outcome;

	memset(o, 0, sizeof(*o));
	o->title = title;
	o->ours = SET_CO;
	while (o->runs < wanted_runs && !bench_late(from, budget))
	{
		BenchLaunch model[MAX_SET],
					random[MAX_SET],
					best[MAX_SET];
		int			pick[MAX_SET];
		int			r = o->runs;
		bool		planned = false;

		for (int draw = 0; draw < DRAWS && !planned; draw++)
		{
			if (fixed)
				fixed_set(m, n, pick);
			else
			{
				for (int i = 0; i < n; i++)
					pick[i] = (int) bench_random((u32) m->npool);
			}
			shuffle(pick, n);
			planned = plan_set(m, pick, n, model);
			o->skipped += !planned;
		}
		if (!planned)
		{
			bench_say("%s: of %d sets none can run at once.\n\n", title, DRAWS);
			return;
		}
		random_sizes(m, pick, n, random);
		best_sizes(m, pick, n, best);
		o->us[SET_CO][r] = bench_us(model, n, BENCH_STREAMS_EACH);
		o->us[SET_CR][r] = bench_us(random, n, BENCH_STREAMS_EACH);
		o->us[SET_ALL][r] = bench_us(best, n, BENCH_STREAMS_EACH);
		o->us[SET_S_BEST][r] = bench_us(best, n, BENCH_ONE_STREAM);
		if (time_for_s(from, budget, r))
			o->us[SET_S][r] = bench_us(random, n, BENCH_ONE_STREAM);
		o->runs++;
	}
	tell(o);
}

/* One run of table II's sets. */
static void
batches_run(const Mix *m, int n, bool with_s)
{
	Outcome    *o = &outcome;
	BenchLaunch co[MAX_SET],
				bo[MAX_SET],
				random[MAX_SET],
				best[MAX_SET];
	int			pick[MAX_SET] = {0},
				ordered[MAX_SET],
				batch[MAX_SET],
				planned[MAX_SET];
	int			r = o->runs;
	int			number;

	for (int i = 0; i < n; i++)
		pick[i] = (int) bench_random((u32) m->npool);
	memcpy(ordered, pick, (size_t) n * sizeof(int));
	o->random_batches += random_batches(m, pick, n, batch);
	number = planned_batches(m, ordered, n, planned);
	if (number == 0)
		bench_fail("the batch model has no plan");
	o->planned_batches += number;
	o->bound += batch_plan.lp_bound;
	plan_batches(m, pick, batch, n, co);
	plan_batches(m, ordered, planned, n, bo);
	random_sizes(m, pick, n, random);
	for (int i = 0; i < n; i++)
		random[i].batch = batch[i];
	best_sizes(m, pick, n, best);
	o->us[SET_BO][r] = bench_us(bo, n, BENCH_STREAMS_EACH);
	o->us[SET_CO][r] = bench_us(co, n, BENCH_STREAMS_EACH);
	o->us[SET_CR][r] = bench_us(random, n, BENCH_STREAMS_EACH);
	o->us[SET_ALL][r] = bench_us(best, n, BENCH_STREAMS_EACH);
	o->us[SET_S_BEST][r] = bench_us(best, n, BENCH_ONE_STREAM);
	if (with_s)
		o->us[SET_S][r] = bench_us(random, n, BENCH_ONE_STREAM);
	o->runs++;
}

static void
batches_experiment(const Mix *m, int n, int runs, double budget)
{
	double		from = bench_seconds();
	char		title[64];

	snprintf(title, sizeof(title), "%d kernels in batches", n);
	memset(&outcome, 0, sizeof(outcome));
	outcome.title = title;
	outcome.ours = SET_BO;
	while (outcome.runs < runs && !bench_late(from, budget))
		batches_run(m, n, time_for_s(from, budget, outcome.runs * wanted_runs / runs));
	tell(&outcome);
}

/* Where batches are needed, a kernel has as many warps as it needs to be quick. */
static void
batch_warps(Mix *m)
{
	int			limit[GC_NEEDS];

	m->group = 1;
	gc_sm_limits(&bench_profile, limit);
	for (int i = 0; i < m->npool; i++)
	{
		int			shorter = 0;
		GcKernelItem candidate;

		for (int k = 0; k < m->npool; k++)
			shorter += m->pool[k].alone_us < m->pool[i].alone_us;
		m->warps[i] = 3 * shorter >= 2 * m->npool ? 16 : 3 * shorter >= m->npool ? 8 : 4;
		candidate = item_of(m, i);
		if (!gc_kernel_fits(&bench_profile, NULL, &candidate, NULL, NULL))
			bench_fail("kernel %s does not fit", m->pool[i].k.name);
	}
}

static void
tell_warps(const Mix *m)
{
	bench_say("Threads in all: warps");
	for (int i = 0; i < m->npool; i++)
		bench_say(" %d", m->warps[i]);
	bench_say(" of the kernels in their order, on every %s multiprocessor.\n\n",
			  m->group == 1 ? "single" : m->group == 2 ? "second" : m->group == 4 ? "fourth" : "eighth");
}

/* The next experiment's part of the time that is left. */
static double
share_of_time(void)
{
	double		left = all_end - bench_seconds();

	return (left > 0 ? left : 0) / (experiments > 1 ? experiments-- : 1);
}

static void
streams_of(Mix *m, const char *what)
{
	static const int streams[] = {16, 31};

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
	{
		char		title[96];

		if (!choose_warps(m, streams[i]))
		{
			bench_say("%d streams of %s kernels cannot run at once on this device.\n\n", streams[i], what);
			continue;
		}
		set_totals(m);
		bench_say("### %d streams, %s kernels\n\n", streams[i], what);
		tell_warps(m);
		if (m->pool[0].tiles == 0)
			pool_measure(m->pool, m->npool, 3);
		else
		{
			snprintf(title, sizeof(title), "%d streams, %s kernels, fixed set", streams[i], what);
			streams_experiment(m, streams[i], true, share_of_time(), title);
		}
		snprintf(title, sizeof(title), "%d streams, %s kernels, random set", streams[i], what);
		streams_experiment(m, streams[i], false, share_of_time(), title);
	}
}

int
main(int argc, char **argv)
{
	const BenchOptions defaults = {.device = "cuda",.memory = 4000 * MEGABYTE,.seconds = 65};
	static const int numbers[] = {39, 52, 65};
	Mix			real = {.pool = engine,.npool = POOL_KERNELS};
	Mix			made = {.pool = synthetic,.npool = POOL_SYNTHETIC};
	const char *text;
	int			scale;

	argc = bench_open(argc, argv, &defaults, 150);
	if (bench_profile.shares_cpu)
	{
		/* Nothing to size there; see that the kernels run. */
		pool_make(engine, bench_options.rows);
		pool_measure(engine, POOL_KERNELS, 3);
		bench_close();
		return 0;
	}
	text = bench_argument(argc, argv, "runs");
	wanted_runs = text != NULL ? atoi(text) : wanted_runs;
	wanted_runs = wanted_runs < 1 ? 1 : wanted_runs > MAX_RUNS ? MAX_RUNS : wanted_runs;
	text = bench_argument(argc, argv, "scale");
	scale = text != NULL ? atoi(text) : bench_profile.shared_per_sm * 25 / 24576;
	text = bench_argument(argc, argv, "seed");
	bench_seed(text != NULL ? strtoull(text, NULL, 10) : 1);

	pool_make(engine, bench_options.rows);
	bench_note("kernels and table after %.1f s\n", bench_seconds());
	pool_measure(engine, POOL_KERNELS, 3);
	all_end = bench_options.seconds;
	streams_of(&real, "engine");
	batch_warps(&real);
	bench_say("### Batches\n\n");
	tell_warps(&real);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		batches_experiment(&real, numbers[i], (wanted_runs + 1) / 2, share_of_time());
	pool_make_synthetic(synthetic, scale);
	bench_say("Synthetic kernels of table I, shared memory at %d %% of the paper's.\n\n", scale);
	streams_of(&made, "synthetic");
	bench_close();
	return 0;
}
