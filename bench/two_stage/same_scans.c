/*-------------------------------------------------------------------------
 *
 * same_scans.c
 *	  Part 1 of same_table.c: scans of one table, one after another, side by side and in one kernel.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "same_scans.h"

#include <stdlib.h>
#include <string.h>

#include "sched/policy/coresident.h"

#define MOST		16			/* scans together */
#define RUNS		7
#define MEASURE_ISSUE	4		/* scans beside each other that tell what one takes of others */

static GcDecideWork *work;
static GcDecision decision;

typedef struct Scans
{
	const ScanKind *kind;
	BenchKernel one;
	GcArgs		args[MOST];
	u64			tiles;
	double		bytes;			/* of one scan */
	double		alone_us;
	double		issue_part;		/* of that, if memory took no time; 1: not known yet */
	u32			threads;		/* per block, at its best */
	int			occupancy;
} Scans;

static Scans scans;

static u64
row_bytes(const ScanKind *kind)
{
	u64			bytes = 0;

	for (int c = 0; c < SCAN_COLUMNS; c++)
		bytes += (u64) kind->columns[c].width;
	return bytes;
}

static void
make_scans(const ScanKind *kind)
{
	u64			rows = bench_options.rows;
	u64			most = bench_memory_left() / 40;	/* 8 and 16 bytes a row, and the pool's table */
	GcAddr		out = bench_memory(MOST * 64);
	BenchTable	t;

	if (rows == 0)
		rows = bench_profile.serial_blocks ? 4000000 : 960000000 / row_bytes(kind);
	rows = rows < most ? rows : most;
	bench_fill_bytes(out, 0, MOST * 64);
	t = bench_table(rows, SCAN_COLUMNS, kind->columns, 7);
	memset(&scans, 0, sizeof(scans));
	scans.kind = kind;
	scans.one = scan_kernel(kind, 1);
	scans.tiles = t.scan.ntiles;
	scans.bytes = (double) row_bytes(kind) * (double) t.rows;
	scans.issue_part = 1;
	for (int i = 0; i < MOST; i++)
	{
		GcArgs	   *a = &scans.args[i];

		memset(a, 0, sizeof(*a));
		a->scan = t.scan;
		a->w[0] = out + (u64) i * 8;
		for (int c = 0; c < SCAN_COLUMNS; c++)
			a->w[1 + c] = t.columns[c];
		for (int k = 0; k < MOST; k++)
		{
			/* A seventh of the first column's values, or so. */
			const u64	from = kind->columns[0].mod / 7 + kind->columns[0].mod / 80 * (u64) ((i + k) % MOST);

			scan_limits(kind, a, k, from, from + kind->columns[0].mod / 7);
		}
	}
	bench_say("%.0f million rows, %.2f GB; a scan takes %d registers.\n\n", (double) t.rows / 1e6, scans.bytes / 1e9,
			  scans.one.info.registers);
}

static void
tell_way(int n, const char *way, GcLaunch grid, double us, double predicted)
{
	bench_say("| %d | %s | %u x %u | %.0f | %.0f | %.2f | %.2f |", n, way, grid.blocks, grid.threads, us, us / n,
			  n * scans.bytes / us / 1e6, n * scans.alone_us / us);
	if (predicted > 0)
		bench_say(" %.0f |\n", predicted);
	else
		bench_say(" |\n");
}

static void
fill_items(GcCandidate *candidates, int n)
{
	memset(candidates, 0, (size_t) n * sizeof(GcCandidate));
	for (int i = 0; i < n; i++)
	{
		candidates[i] = (GcCandidate) {.type = 1,.scan = 1,.tiles = scans.tiles,.fused = -1,
		.nloads = 1,.load = {{0, (float) scans.bytes}}};
		candidates[i].needs = (GcKernelNeeds) {.registers = scans.one.info.registers,
			.max_threads = bench_max_threads(&scans.one),.threads = (int) scans.threads,
			.occupancy = scans.occupancy,.shared_bytes = (uint32_t) scans.one.info.shared_static,
			.alone_us = scans.alone_us,.issue_part = scans.issue_part,
		.warp_flight = (uint32_t) (row_bytes(scans.kind) * (u64) (scans.one.vec * bench_profile.warp_size))};
	}
}

GcSchedule
same_table_schedule(GcPolicy policy, const GcCandidate *candidates, int n)
{
	static uint64_t random_state = 1;
	const double line = gc_sequence_factor(&bench_calibration);

	return (GcSchedule) {.profile = &bench_profile,.calibration = &bench_calibration,.policy = policy,
		.idle_overlap = line,.busy_overlap = line,.together = line,.random_state = &random_state,.ncandidates = n,.candidate = candidates};
}

/* Side by side in the sizes that the policy gives them; in batches if need be. */
static void
by_policy(GcPolicy policy, int n, BenchLaunch *l)
{
	GcCandidate		candidates[MOST];
	char		way[64];
	double		predicted = 0;
	int			batch = 0;
	int			done = 0;

	fill_items(candidates, n);
	for (; done < n; batch++)
	{
		GcSchedule	s = same_table_schedule(policy, candidates, n - done);

		gc_decide(&s, work, &decision);
		if (decision.nstarts == 0)
			bench_fail("nothing is started");
		for (int i = 0; i < decision.nstarts; i++)
			l[done + i] = (BenchLaunch) {&scans.one, &scans.args[done + i],
			bench_shape(&decision.start[i], 0), batch};
		done += decision.nstarts;
		predicted += decision.predicted_us;
	}
	snprintf(way, sizeof(way), "%s, %d batch%s", policy == GC_POLICY_KERNEL ? "policy kernel" : "policy twostage",
			 batch, batch > 1 ? "es" : "");
	tell_way(n, way, l[0].grid, bench_median_us(l, n, BENCH_STREAMS_EACH, RUNS), predicted);
}

/* As many side by side as there are, in step: what of that is neither memory's nor latency. */
static void
note_issue(int n, int warps, double us)
{
	GcCandidate		candidate[MOST];
	const GcSchedule one = {.profile = &bench_profile,.calibration = &bench_calibration,.ncandidates = 1,.candidate = candidate};
	const int	pick[1] = {0};
	double		part;

	fill_items(candidate, 1);
	part = gc_coresident_issue_part(&bench_calibration, &candidate[0].needs, n, warps,
								  gc_coresident_times(&one, pick, 1).memory_us, us);
	scans.issue_part = part < scans.issue_part ? part : scans.issue_part;
}

/* The amounts that n scans add to their results, fused or one after another. */
static void
results_of(const BenchLaunch *l, int n, u64 *results)
{
	bench_fill_bytes(scans.args[0].w[0], 0, MOST * 8);
	for (int i = 0; i < n; i++)
		bench_queue(0, l[i].kernel, l[i].grid, l[i].args);
	bench_drain();
	bench_copy_out(results, scans.args[0].w[0], MOST * 8);
}

/* The bodies must find what the scans do, each something. */
static void
check_fused(const BenchLaunch *fused, int n)
{
	BenchLaunch l[MOST];
	u64			together[MOST];
	u64			apart[MOST];

	if (bench_options.profile != NULL)
		return;					/* a driver that only pretends runs nothing */
	for (int i = 0; i < n; i++)
		l[i] = (BenchLaunch) {&scans.one, &scans.args[i], fused->grid, 0};
	results_of(fused, 1, together);
	results_of(l, n, apart);
	for (int i = 0; i < n; i++)
	{
		if (together[i] != apart[i] || apart[i] == 0)
			bench_fail("member %d of %d: %llu, by itself %llu", i, n, together[i], apart[i]);
	}
}

static void
one_number(int n, double budget_end)
{
	static const int warps[] = {1, 2, 4, 8, 16};
	BenchLaunch l[MOST];
	GcLaunch	full = bench_full((int) scans.threads, scans.occupancy, 0, scans.tiles);
	BenchKernel fused;
	double		sum = (n - 1) * scans.alone_us * bench_calibration.fused;
	double		us;

	for (int i = 0; i < n; i++)
		l[i] = (BenchLaunch) {&scans.one, &scans.args[i], full, 0};
	tell_way(n, "one after another", full, bench_median_us(l, n, BENCH_ONE_STREAM, RUNS), n * scans.alone_us);
	tell_way(n, "streams, full grids", full, bench_median_us(l, n, BENCH_STREAMS_EACH, RUNS), 0);
	for (size_t w = 0; w < sizeof(warps) / sizeof(warps[0]) && !bench_profile.serial_blocks; w++)
	{
		/* Blocks have up to 8 warps. */
		int			per_block = warps[w] < 8 ? warps[w] : 8;
		int			need[GC_NEEDS];
		int			limit[GC_NEEDS];
		bool		fit;
		char		way[64];

		gc_sm_limits(&bench_profile, limit);
		fit = gc_blocks_need(&bench_profile, scans.one.info.registers, 32 * per_block,
							 scans.one.info.shared_static, n * (warps[w] / per_block), need) &&
			gc_needs_fit(need, limit);
		if (!fit || bench_seconds() > budget_end)
			continue;
		for (int i = 0; i < n; i++)
			l[i] = (BenchLaunch) {&scans.one, &scans.args[i],
			bench_full(32 * per_block, warps[w] / per_block, 0, scans.tiles), 0};
		snprintf(way, sizeof(way), "co-coresident, %d warps each", warps[w]);
		us = bench_median_us(l, n, BENCH_STREAMS_EACH, RUNS);
		if (n == MEASURE_ISSUE)
			note_issue(n, warps[w], us);
		tell_way(n, way, l[0].grid, us, 0);
	}
	by_policy(GC_POLICY_KERNEL, n, l);
	by_policy(GC_POLICY_TWOSTAGE, n, l);
	fused = scan_kernel(scans.kind, n);
	l[0] = (BenchLaunch) {&fused, &scans.args[0],
		bench_full(256, bench_profile.serial_blocks ? 4 : gc_occupancy(&bench_profile, fused.info.registers, 256,
															  fused.info.shared_static), 0, scans.tiles), 0};
	check_fused(&l[0], n);
	tell_way(n, "fused", l[0].grid, bench_median_us(l, 1, BENCH_ONE_STREAM, RUNS), scans.alone_us + sum);
}

/* The size that is best for one alone. */
static void
size_alone(void)
{
	static const int threads[] = {128, 256, 512, 1024};

	for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++)
	{
		int			most = bench_profile.serial_blocks ? 4
			: gc_occupancy(&bench_profile, scans.one.info.registers, threads[t], scans.one.info.shared_static);

		if (bench_profile.serial_blocks ? t > 0 : threads[t] > bench_max_threads(&scans.one))
			break;
		for (int per_sm = most; per_sm >= 1; per_sm--)
		{
			BenchLaunch l = {&scans.one, &scans.args[0], bench_full(threads[t], per_sm, 0, scans.tiles), 0};
			double		us = bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS);

			if (scans.alone_us != 0 && us >= scans.alone_us)
				continue;
			scans.alone_us = us;
			scans.threads = (u32) threads[t];
			scans.occupancy = per_sm;
		}
	}
	if (scans.alone_us == 0)
		bench_fail("the scan fits no multiprocessor");
}

void
same_table_scans(GcDecideWork *room, const ScanKind *kind, double budget)
{
	static const int numbers[] = {4, 2, 8, 16}; /* MEASURE_ISSUE first */
	double		end = bench_seconds() + budget;

	work = room;
	bench_say("### The same scan of %s columns, other constants\n\n", kind == &scan_wide ? "4-byte" : "narrow");
	make_scans(kind);
	size_alone();
	bench_say("| queries | way | grid | us | us per query | effective TB/s | speedup | predicted us |\n"
			  "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
	tell_way(1, "alone", bench_full((int) scans.threads, scans.occupancy, 0, scans.tiles), scans.alone_us, 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && bench_seconds() < end; i++)
		one_number(numbers[i], end);
	bench_say("\n");
}
