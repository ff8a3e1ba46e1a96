/*-------------------------------------------------------------------------
 *
 * counters.c
 *	  What a profiler is to count: kernels alone, and groups of them.
 *
 *	  counters [--mode plan|kernels|groups] [--plan FILE] [--gate US] [--rows N]
 *
 * It counts nothing itself; counters.sh runs it with NVIDIA's profiler (ncu) and makes
 * tables of what that says.
 *
 *	  plan		measure all groups, and write to FILE (counters.plan) what they launch,
 *				in which sizes, and how long they took without a profiler
 *	  kernels	launch again each kernel that is alone in its group
 *	  groups	launch again the groups of several, and those that belong to them
 *
 * The sizes depend on times, so that only what was written down once is the same every time the
 * profiler has the program run again.  Each group is launched once between cuProfilerStart and
 * cuProfilerStop, in the order of FILE.  Several launches wait behind a gate (common.h), here
 * of fixed length (--gate, 2000 us).  So they meet on the device however long a call takes
 * under the profiler; it is one warp.
 *
 * Groups:
 *	  kernels	the pool's kernels and the scans of scans.h, each with the grid that is
 *				best for it alone
 *	  scans		8 scans of one table: one after another, side by side with full grids,
 *				with one block on every multiprocessor, by the kernel model; as bodies
 *				of one kernel
 *	  pool		16 kernels: one after another, side by side with full grids, in the
 *				batches that gc_decide() makes of them
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdlib.h>
#include <string.h>

#include "device/cuda_api.h"
#include "device/dynlib.h"
#include "pool.h"
#include "scans.h"

#define SCANS		8			/* together */
#define TOGETHER	16			/* kernels of the pool */
#define RUNS		7

/* Kinds of launches. */
enum
{
	NARROW = POOL_KERNELS, NARROW_FUSED, WIDE, WIDE_FUSED, ALONE,
	NARROW_MORE = ALONE, WIDE_MORE = NARROW_MORE + SCANS - 1, SUBJECTS = WIDE_MORE + SCANS - 1
};

/* One call of the profiler's part of the driver, which tells it where a group begins. */
typedef struct Profiler
{
	CuResult	(*start) (void);
	CuResult	(*stop) (void);
} Profiler;

static PoolKernel subjects[SUBJECTS];
static Profiler profiler;
static FILE *plan;
static GcDecideWork *work;
static GcDecision decision;

/*-------------------------------------------------------------------------
 * Subjects
 *-------------------------------------------------------------------------
 */

static void
make_scan(PoolKernel *k, BenchKernel kernel, const BenchTable *t, GcAddr out, int number)
{
	memset(k, 0, sizeof(*k));
	k->k = kernel;
	k->args.scan = t->scan;
	k->args.w[0] = out + (u64) number * 8;
	for (int c = 0; c < SCAN_COLUMNS; c++)
	{
		k->args.w[1 + c] = t->columns[c];
		k->bytes += t->rows * (u64) t->width[c];
	}
	k->tiles = t->scan.ntiles;
	k->max_threads = bench_max_threads(&k->k);
}

/* SCANS of one table, and the kernel of as many bodies. */
static void
make_scans(const ScanKind *kind, u64 rows, u64 step, u64 size, PoolKernel *one, PoolKernel *more)
{
	GcAddr		out = bench_memory(SCANS * 64);
	BenchTable	t = bench_table(bench_options.rows > 0 ? bench_options.rows : rows, SCAN_COLUMNS, kind->columns, 7);
	BenchKernel alone = scan_kernel(kind, 1);

	bench_fill_bytes(out, 0, SCANS * 64);
	make_scan(one, alone, &t, out, 0);
	make_scan(one + 1, scan_kernel(kind, SCANS), &t, out, 0);
	for (int i = 1; i < SCANS; i++)
		make_scan(&more[i - 1], alone, &t, out, i);
	for (int i = 0; i <= SCANS; i++)
	{
		PoolKernel *k = i < 2 ? &one[i] : &more[i - 2];

		for (u64 b = 0; b < SCANS; b++)
		{
			/* Body 0 of the third equals body 2 of the kernel of many. */
			u64			from = step * ((b + (u64) (i < 2 ? 0 : i - 1)) % SCANS);

			scan_limits(kind, &k->args, (int) b, from, from + size);
		}
	}
}

static void
make_subjects(void)
{
	pool_make(subjects, bench_options.rows);
	make_scans(&scan_narrow, 96000000, 30, 365, &subjects[NARROW], &subjects[NARROW_MORE]);
	make_scans(&scan_wide, 56000000, 20, 300, &subjects[WIDE], &subjects[WIDE_MORE]);
	bench_note("tables and kernels after %.1f s\n", bench_seconds());
}

static int
subject_of(const BenchLaunch *l)
{
	return (int) ((const PoolKernel *) (const void *) ((const char *) l->kernel - offsetof(PoolKernel, k)) - subjects);
}

/*-------------------------------------------------------------------------
 * Plan
 *-------------------------------------------------------------------------
 */

/* The grid, if all launches have one; else how many launches in how many batches. */
static const char *
shape_of(const BenchLaunch *l, int n)
{
	static char text[64];
	bool		same = true;

	for (int i = 1; i < n; i++)
		same = same && l[i].grid.blocks == l[0].grid.blocks && l[i].grid.threads == l[0].grid.threads;
	if (same)
		snprintf(text, sizeof(text), n > 1 ? "%u x %u each" : "%u x %u", l[0].grid.blocks, l[0].grid.threads);
	else if (l[n - 1].batch == 0)
		snprintf(text, sizeof(text), "different");
	else
		snprintf(text, sizeof(text), "different, %d batches", l[n - 1].batch + 1);
	return text;
}

/* Measure a group and write it down. */
static void
add_group(const char *part, const char *title, const char *label, BenchOrder order, const BenchLaunch *l, int n)
{
	double		us = bench_median_us(l, n, order, RUNS);
	u64			bytes = 0;
	int			registers = 0;

	for (int i = 0; i < n; i++)
	{
		bytes += subjects[subject_of(&l[i])].bytes;
		registers = l[i].kernel->info.registers > registers ? l[i].kernel->info.registers : registers;
	}
	fprintf(plan, "group\t%s\t%d\t%d\t%.2f\t%llu\t%d\t%s\t%s\t%s\n", part, order, n, us, bytes, registers,
			shape_of(l, n), title, label);
	for (int i = 0; i < n; i++)
		fprintf(plan, "launch\t%d\t%u\t%u\t%u\t%d\n", subject_of(&l[i]), l[i].grid.blocks, l[i].grid.threads,
				l[i].grid.shared_bytes, l[i].batch);
}

/* The batches of one discipline: decision after decision, each waits for the one before. */
static void
decide(GcPolicy policy, const int *pick, int n, bool one_table, BenchLaunch *l)
{
	static uint64_t random_state = 1;
	static GcCandidate candidates[TOGETHER];
	int			which[TOGETHER];
	int			left = n;
	int			out = 0;

	memcpy(which, pick, (size_t) n * sizeof(int));
	for (int step = 0; left > 0 && step < n; step++)
	{
		GcSchedule	s = {.profile = &bench_profile,.policy = policy,.random_state = &random_state,.ncandidates = left,.candidate = candidates};
		bool		gone[TOGETHER] = {false};
		int			kept = 0;

		memset(candidates, 0, sizeof(candidates));
		for (int i = 0; i < left; i++)
		{
			const PoolKernel *k = &subjects[which[i]];

			candidates[i] = (GcCandidate) {.type = one_table ? 1 : (uint32_t) which[i] + 1,.scan = 1,.tiles = k->tiles,
			.fused = -1};
			candidates[i].needs = (GcKernelNeeds) {.registers = k->k.info.registers,.max_threads = k->max_threads,
				.threads = (int) k->best.threads,.occupancy = k->best_per_sm,.shared_bytes = pool_shared(k),
			.alone_us = k->alone_us};
		}
		gc_decide(&s, work, &decision);
		for (int i = 0; i < decision.nstarts; i++)
		{
			const GcStart *start = &decision.start[i];
			const PoolKernel *k = &subjects[which[start->candidate[0]]];

			l[out++] = pool_launch(k, bench_shape(start, k->shared_bytes), step);
			gone[start->candidate[0]] = true;
		}
		for (int i = 0; i < left; i++)
		{
			if (!gone[i])
				which[kept++] = which[i];
		}
		left = kept;
	}
	if (out != n)
		bench_fail("a set of %d kernels was not all started", n);
}

static void
add_decided(const char *part, const char *title, GcPolicy policy, const int *pick, int n, bool one_table)
{
	BenchLaunch l[TOGETHER];
	char		label[64];
	int			batches;

	decide(policy, pick, n, one_table, l);
	batches = l[n - 1].batch + 1;
	snprintf(label, sizeof(label), "%s, %d batch%s", policy == GC_POLICY_KERNEL ? "kernel model" : "two-stage", batches,
			 batches > 1 ? "es" : "");
	add_group(part, title, label, BENCH_STREAMS_EACH, l, n);
}

/* The largest blocks of which n, of one kernel, fit a multiprocessor together. */
static int
threads_of_each(const PoolKernel *k, int n)
{
	int			limit[GC_NEEDS];
	int			need[GC_NEEDS];
	int			threads = 1024;

	gc_sm_limits(&bench_profile, limit);
	while (threads > 32 && (threads > k->max_threads ||
							!gc_blocks_need(&bench_profile, k->k.info.registers, threads, pool_shared(k), n, need) ||
							!gc_needs_fit(need, limit)))
		threads /= 2;
	return threads;
}

static void
plan_scans(int one, int more, const char *title)
{
	BenchLaunch l[SCANS];
	int			pick[SCANS];
	int			threads = threads_of_each(&subjects[one], SCANS);

	for (int i = 0; i < SCANS; i++)
	{
		pick[i] = i == 0 ? one : more + i - 1;
		subjects[pick[i]].best = subjects[one].best;
		subjects[pick[i]].best_per_sm = subjects[one].best_per_sm;
		subjects[pick[i]].alone_us = subjects[one].alone_us;
		l[i] = pool_launch(&subjects[pick[i]], subjects[one].best, 0);
	}
	add_group("scans", title, "one of them", BENCH_ONE_STREAM, l, 1);
	add_group("scans", title, "one after another", BENCH_ONE_STREAM, l, SCANS);
	add_group("scans", title, "side by side, full grids", BENCH_STREAMS_EACH, l, SCANS);
	for (int i = 0; i < SCANS; i++)
		l[i].grid = bench_full(threads, 1, subjects[one].shared_bytes, subjects[one].tiles);
	add_group("scans", title, "side by side, one block each on a multiprocessor", BENCH_STREAMS_EACH, l, SCANS);
	add_decided("scans", title, GC_POLICY_KERNEL, pick, SCANS, true);
	l[0] = pool_launch(&subjects[one + 1], subjects[one + 1].best, 0);
	add_group("scans", title, "members of one kernel", BENCH_ONE_STREAM, l, 1);
}

static void
plan_pool(void)
{
	static const char title[] = "16 kernels of the pool, all of them and three twice";
	BenchLaunch l[TOGETHER];
	int			pick[TOGETHER];

	for (int i = 0; i < TOGETHER; i++)
		pick[i] = i % POOL_KERNELS;
	bench_seed(1);
	for (int i = TOGETHER - 1; i > 0; i--)
	{
		int			j = (int) bench_random((u32) i + 1);
		int			swap = pick[i];

		pick[i] = pick[j];
		pick[j] = swap;
	}
	for (int i = 0; i < TOGETHER; i++)
		l[i] = pool_launch(&subjects[pick[i]], subjects[pick[i]].best, 0);
	add_group("pool", title, "one after another", BENCH_ONE_STREAM, l, TOGETHER);
	add_group("pool", title, "side by side, full grids", BENCH_STREAMS_EACH, l, TOGETHER);
	add_decided("pool", title, GC_POLICY_KERNEL, pick, TOGETHER, false);
	add_decided("pool", title, GC_POLICY_TWOSTAGE, pick, TOGETHER, false);
}

static void
make_plan(const char *path, double gate_us)
{
	static const char *const scans[] = {
		"scan, 2, 1, 1 and 4 bytes", "8 members of that", "scan, four of 4 bytes", "8 members of that"
	};
	char		title[96];

	plan = fopen(path, "w");
	if (plan == NULL)
		bench_fail("%s cannot be written", path);
	work = bench_decide_work();
	fprintf(plan, "device\t%d\t%.0f\n", bench_profile.sms, gate_us);
	pool_measure(subjects, ALONE, 3);
	for (int i = 0; i < ALONE; i++)
	{
		BenchLaunch l = pool_launch(&subjects[i], subjects[i].best, 0);

		add_group("kernels", "Kernels alone", i < POOL_KERNELS ? subjects[i].k.name : scans[i - POOL_KERNELS],
				  BENCH_ONE_STREAM, &l, 1);
	}
	snprintf(title, sizeof(title), "8 scans of one table, columns of 2, 1, 1 and 4 bytes, %.0f MB",
			 (double) subjects[NARROW].bytes / 1e6);
	plan_scans(NARROW, NARROW_MORE, title);
	snprintf(title, sizeof(title), "8 scans of one table, four columns of 4 bytes, %.0f MB",
			 (double) subjects[WIDE].bytes / 1e6);
	plan_scans(WIDE, WIDE_MORE, title);
	plan_pool();
	if (fclose(plan) != 0)
		bench_fail("%s cannot be written", path);
	free(work);
}

/*-------------------------------------------------------------------------
 * Launches that the profiler sees
 *-------------------------------------------------------------------------
 */

static void
open_profiler(void)
{
	static const GcDynSymbol symbols[] = {
		{"cuProfilerStart", offsetof(Profiler, start)}, {"cuProfilerStop", offsetof(Profiler, stop)},
	};
	void	   *library = gc_dynlib_open("libcuda.so.1");

	if (library == NULL || gc_dynlib_resolve(library, symbols, 2, &profiler) != NULL)
	{
		bench_note("the driver has no cuProfilerStart: nothing can be counted\n");
		memset(&profiler, 0, sizeof(profiler));
	}
}

/* The launches that follow a group's line. */
static void
read_launches(FILE *file, BenchLaunch *l, int n)
{
	char		line[512];

	for (int i = 0; i < n; i++)
	{
		int			subject;
		int			batch;
		GcLaunch	grid;

		if (fgets(line, sizeof(line), file) == NULL ||
			sscanf(line, "launch %d %u %u %u %d", &subject, &grid.blocks, &grid.threads, &grid.shared_bytes,
				   &batch) != 5 || subject < 0 || subject >= SUBJECTS)
			bench_fail("the plan is damaged");
		l[i] = pool_launch(&subjects[subject], grid, batch);
	}
}

/* Whether a profiler listens is not for the program to judge, so results are not looked at. */
static void
run_counted(const BenchLaunch *l, int n, BenchOrder order, double gate_us)
{
	bench_run(l, n, order, 0);
	if (profiler.start != NULL)
		(void) profiler.start();
	bench_run(l, n, order, n > 1 ? gate_us : 0);
	if (profiler.stop != NULL)
		(void) profiler.stop();
}

static void
run_plan(const char *path, bool kernels)
{
	FILE	   *file = fopen(path, "r");
	char		line[512];
	BenchLaunch l[TOGETHER];
	double		gate_us;
	int			sms;
	int			groups = 0;

	if (file == NULL)
		bench_fail("%s cannot be read", path);
	if (fgets(line, sizeof(line), file) == NULL || sscanf(line, "device %d %lf", &sms, &gate_us) != 2 ||
		sms != bench_profile.sms)
		bench_fail("%s is not this device's plan", path);
	while (fgets(line, sizeof(line), file) != NULL)
	{
		char		part[16];
		int			order;
		int			n;

		if (sscanf(line, "group %15s %d %d", part, &order, &n) != 3 || n < 1 || n > TOGETHER)
			bench_fail("the plan is damaged");
		read_launches(file, l, n);
		if ((strcmp(part, "kernels") == 0) != kernels)
			continue;
		run_counted(l, n, (BenchOrder) order, gate_us);
		groups++;
	}
	fclose(file);
	bench_note("%d groups were launched, after %.1f s\n", groups, bench_seconds());
}

int
main(int argc, char **argv)
{
	const BenchOptions defaults = {.device = "cuda",.memory = 3400 * MEGABYTE};
	const char *mode;
	const char *path;
	const char *gate;

	argc = bench_open(argc, argv, &defaults, 100);
	mode = bench_argument(argc, argv, "mode");
	path = bench_argument(argc, argv, "plan");
	gate = bench_argument(argc, argv, "gate");
	mode = mode != NULL ? mode : "plan";
	path = path != NULL ? path : "counters.plan";
	if (strcmp(mode, "plan") != 0 && strcmp(mode, "kernels") != 0 && strcmp(mode, "groups") != 0)
		bench_fail("there is no mode \"%s\"", mode);
	if (bench_profile.shares_cpu)
		bench_fail("there are no counters of device host");
	make_subjects();
	if (strcmp(mode, "plan") == 0)
		make_plan(path, gate != NULL ? atof(gate) : 2000);
	else
	{
		open_profiler();
		run_plan(path, strcmp(mode, "kernels") == 0);
	}
	bench_close();
	return 0;
}
