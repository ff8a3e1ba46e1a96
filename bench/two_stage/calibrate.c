/*-------------------------------------------------------------------------
 *
 * calibrate.c
 *	  Measure the cost model's constants (src/sched/model/cost.h) on a device.
 *
 *	  calibrate [--device cuda|host] [--out FILE] [--calibration FILE] [--rows N]
 *
 * Writes a file that gc_calibration_parse() reads; its name is the device's unless
 * --calibration gives one.  Takes some seconds and at most 8 GB of device memory.
 *
 * Measured are: a scan of four columns of 4 bytes (filter on three, sum of products),
 * alone; the same with one warp on each multiprocessor, which tells how many bytes have to be
 * in flight there to use the bandwidth up; 2, 4 and 8 of them side by side, over common columns
 * and over columns of their own, in the scheduler's own sizes (gc_decide, policy kernel; for
 * columns of their own, as it would be with nothing to share, policy twostage); and as bodies
 * of one kernel.  From each
 *
 *	  T = longest + constant * (sum of the others)
 *
 * the constant is fitted over all three numbers by least squares.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scans.h"

#define MOST		8			/* scans together */
#define RUNS		9
#define EMPTY		200			/* empty kernels in a row */

enum
{
	OVERLAP_SAME_TABLE, OVERLAP_OTHER_TABLES, FUSED, NWAYS
};

static const char *const way_names[NWAYS] = {
	"overlap_same_table", "overlap_other_tables", "fused"
};
static const int numbers[] = {2, 4, 8};

#define NNUMBERS	((int) (sizeof(numbers) / sizeof(numbers[0])))

static BenchKernel empty;
static BenchKernel scans[MOST + 1]; /* by number of bodies */
static BenchTable tables[MOST];
static GcArgs args[MOST];
static double alone_us;
static double launch_us;
static double in_a_row_us;
static double one_warp_us;
static double bytes;
static int	alone_per_sm;		/* warps */
static int	alone_threads;		/* per block */

static void
make_tables(void)
{
	u64			rows = bench_options.rows;
	u64			most = (bench_memory_left() - 16 * MEGABYTE) / (MOST * SCAN_COLUMNS * 4);
	GcAddr		out = bench_memory(MOST * 64);

	if (rows == 0)
		rows = bench_profile.shares_cpu ? 2000000 : 56000000;
	rows = rows < most ? rows : most;
	bench_fill_bytes(out, 0, MOST * 64);
	for (int t = 0; t < MOST; t++)
	{
		tables[t] = bench_table(rows, SCAN_COLUMNS, scan_wide.columns, 1000 * (u32) t);
		memset(&args[t], 0, sizeof(args[t]));
		args[t].scan = tables[t].scan;
		args[t].w[0] = out;
		for (int c = 0; c < SCAN_COLUMNS; c++)
			args[t].w[1 + c] = tables[t].columns[c];
		for (int k = 0; k < MOST; k++)
			scan_limits(&scan_wide, &args[t], k, 20 * (u64) k, 20 * (u64) k + 300);
	}
	bytes = (double) tables[0].rows * SCAN_COLUMNS * 4;
}

static void
measure_alone(void)
{
	static const int threads[] = {256, 512, 1024};
	BenchLaunch row[EMPTY];
	GcArgs		none;

	memset(&none, 0, sizeof(none));
	for (int i = 0; i < EMPTY; i++)
		row[i] = (BenchLaunch) {&empty, &none, {(u32) bench_profile.sms, 256, 0, 0}, 0};
	launch_us = bench_median_us(row, 1, BENCH_ONE_STREAM, RUNS);
	in_a_row_us = bench_median_us(row, EMPTY, BENCH_ONE_STREAM, RUNS) / EMPTY;
	for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++)
	{
		int			most = bench_profile.serial_blocks ? 4
			: gc_occupancy(&bench_profile, scans[1].info.registers, threads[t], scans[1].info.shared_static);

		for (int per_sm = most; per_sm >= 1; per_sm /= 2)
		{
			BenchLaunch l = {&scans[1], &args[0], bench_full(threads[t], per_sm, 0, args[0].scan.ntiles), 0};
			double		us = bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS);

			if (alone_us == 0 || us < alone_us)
			{
				alone_us = us;
				alone_per_sm = per_sm * threads[t] / bench_profile.warp_size;
				alone_threads = threads[t];
			}
		}
	}
	if (alone_us == 0)
		bench_fail("the scan fits no multiprocessor");
	row[0] = (BenchLaunch) {&scans[1], &args[0], bench_full(bench_profile.warp_size, 1, 0, args[0].scan.ntiles), 0};
	one_warp_us = bench_median_us(row, 1, BENCH_ONE_STREAM, 3);
	bench_say("An empty kernel takes %.2f us, one of many in a row %.2f us; a scan of %.0f MB %.1f us (%.2f TB/s) with %d warps per multiprocessor, %.1f us with one.\n\n",
			  launch_us, in_a_row_us, bytes / 1e6, alone_us, bytes / alone_us / 1e6, alone_per_sm, one_warp_us);
}

/* The launches of n scans side by side, as the scheduler would size them. */
static int
side_by_side(int n, bool same, BenchLaunch *l, GcDecideWork *work)
{
	static GcDecision decision;
	GcCandidate		candidates[MOST];
	GcSchedule	s = {.profile = &bench_profile,
		.policy = same ? GC_POLICY_KERNEL : GC_POLICY_TWOSTAGE,.idle_overlap = 1,.busy_overlap = 1,.together = 1,.ncandidates = n,.candidate = candidates};
	const GcKernelInfo *info = &scans[1].info;

	memset(candidates, 0, sizeof(candidates));
	for (int i = 0; i < n; i++)
	{
		candidates[i] = (GcCandidate) {.type = 1,.scan = same ? 1 : (uint32_t) i + 1,.tiles = args[0].scan.ntiles,
		.fused = -1};
		candidates[i].needs = (GcKernelNeeds) {.registers = info->registers,
			.max_threads = bench_max_threads(&scans[1]),.threads = alone_threads,
			.occupancy = alone_per_sm * bench_profile.warp_size / alone_threads,
		.shared_bytes = (uint32_t) info->shared_static,.alone_us = alone_us};
	}
	gc_decide(&s, work, &decision);
	for (int i = 0; i < decision.nstarts; i++)
	{
		int			t = decision.start[i].candidate[0];

		l[i] = (BenchLaunch) {&scans[1], &args[same ? 0 : t],
			bench_shape(&decision.start[i], 0), 0};
	}
	return decision.nstarts;
}

/* The fused kernel in its best size. */
static double
fused_us(int n)
{
	static const int threads[] = {128, 256};
	double		best = 0;

	for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++)
	{
		int			most = bench_profile.serial_blocks ? 4
			: gc_occupancy(&bench_profile, scans[n].info.registers, threads[t], scans[n].info.shared_static);
		BenchLaunch l = {&scans[n], &args[0], bench_full(threads[t], most, 0, args[0].scan.ntiles), 0};
		double		us = most > 0 ? bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS) : 0;

		if (us > 0 && (best == 0 || us < best))
			best = us;
	}
	return best;
}

static void
measure_ways(double constant[NWAYS])
{
	GcDecideWork *work = bench_decide_work();
	double		xy[NWAYS] = {0};
	double		xx[NWAYS] = {0};

	bench_say("| scans | way | launches | us | of so many alone | constant |\n| ---: | --- | --- | ---: | ---: | ---: |\n");
	for (int i = 0; i < NNUMBERS; i++)
	{
		int			n = numbers[i];

		for (int way = 0; way < NWAYS; way++)
		{
			BenchLaunch l[MOST];
			double		x = (n - 1) * alone_us;
			double		us;
			char		grid[64] = "one kernel";

			if (way == FUSED)
				us = fused_us(n);
			else
			{
				int			started = side_by_side(n, way != OVERLAP_OTHER_TABLES, l, work);

				if (started < n)
				{
					bench_say("| %d | %s | only %d fit | | | |\n", n, way_names[way], started);
					continue;
				}
				us = bench_median_us(l, n, BENCH_STREAMS_EACH, RUNS);
				snprintf(grid, sizeof(grid), "%u x %u each", l[0].grid.blocks, l[0].grid.threads);
			}
			xy[way] += x * (us - alone_us);
			xx[way] += x * x;
			bench_say("| %d | %s | %s | %.1f | %.2f | %.3f |\n", n, way_names[way], grid, us, us / alone_us,
					  (us - alone_us) / x);
		}
	}
	for (int way = 0; way < NWAYS; way++)
	{
		constant[way] = xx[way] > 0 ? xy[way] / xx[way] : 1;
		constant[way] = constant[way] < 0 ? 0 : constant[way] > 2 ? 2 : constant[way];
	}
	bench_say("\n");
	free(work);
}

static void
write_calibration(const GcCalibration *c, const char *given)
{
	char		name[160];
	char		text[1024];
	char		date[64];
	time_t		now = time(NULL);
	GcCalibration back = gc_calibration_default;
	const char *problem;
	FILE	   *file;

	snprintf(name, sizeof(name), "%s.calibration", bench_dev->info.name);
	for (char *at = name; *at != '\0'; at++)
	{
		if (!isalnum((unsigned char) *at) && strchr(".-", *at) == NULL)
			*at = '_';
	}
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	snprintf(text, sizeof(text),
			 "# device: %.80s\n# target: %.60s\n# date: %s\n"
			 "# commit: %.60s\n# times in microseconds, bandwidths in bytes per microsecond\n"
			 "read_bandwidth = %.0f\nlaunch_us = %.2f\nflight_bytes = %.0f\noverlap_other_tables = %.3f\noverlap_same_table = %.3f\nfused = %.3f\n",
			 bench_dev->info.name, bench_dev->info.target, date,
			 bench_options.commit != NULL ? bench_options.commit : "not given", c->read_bandwidth,
			 c->launch_us, c->flight_bytes, c->overlap_other_tables, c->overlap_same_table, c->fused);
	if (!gc_calibration_parse(text, &back, &problem))
		bench_fail("what was measured is no calibration: %s", problem);
	file = fopen(given != NULL ? given : name, "w");
	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		bench_fail("%s cannot be written", given != NULL ? given : name);
	bench_say("```\n%s```\n", text);
	bench_note("written to %s\n", given != NULL ? given : name);
}

int
main(int argc, char **argv)
{
	const BenchOptions defaults = {.device = "cuda",.memory = 7600 * MEGABYTE,.seconds = 15};
	double		constant[NWAYS];
	GcCalibration c;

	argc = bench_open(argc, argv, &defaults, 60);
	empty = bench_kernel("empty", 8, "GC_KERNEL(256)\n{\nGC_PROLOGUE\n(void) gc_a.w[0];\n}\n");
	scans[1] = scan_kernel(&scan_wide, 1);
	for (int i = 0; i < NNUMBERS; i++)
		scans[numbers[i]] = scan_kernel(&scan_wide, numbers[i]);
	make_tables();
	bench_note("tables and kernels after %.1f s\n", bench_seconds());
	measure_alone();
	measure_ways(constant);
	c.launch_us = launch_us;
	c.read_bandwidth = bytes / (alone_us > launch_us ? alone_us - launch_us : alone_us);
	c.flight_bytes = bench_profile.shares_cpu ? gc_calibration_host.flight_bytes
		: (one_warp_us - launch_us) / (alone_us - launch_us) * SCAN_COLUMNS * 4 * scans[1].vec * bench_profile.warp_size;
	c.overlap_other_tables = constant[OVERLAP_OTHER_TABLES];
	c.overlap_same_table = constant[OVERLAP_SAME_TABLE];
	c.fused = constant[FUSED];
	write_calibration(&c, bench_argument(argc, argv, "calibration"));
	bench_close();
	return 0;
}
