/*-------------------------------------------------------------------------
 *
 * rounds.c
 *	  Li, Yu, Kumar, Tu 2014, section III.C, on this device; part of paper003.
 *
 * Three kernels of which the total of threads is fixed, in blocks of 32 to 1024
 * threads.  How well do running rounds predict the times?  In our own words, the
 * paper's kernels are: distances of all pairs of points, counted in a histogram; a
 * histogram of values whose bins are in shared memory; a join by comparing every pair
 * of keys, a tile of one side in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "common.h"
#include "rounds.h"

#define SIZES		32			/* 32, 64, ... 1024 threads */
#define ROUND_RUNS	3

typedef struct RoundKernel
{
	const char *name;
	const char *paper;			/* the paper's correlation */
	int			shared_fixed;	/* bytes per block */
	int			shared_per_thread;
	int			work;			/* of one thread: w2 */
	const char *body;
} RoundKernel;

/* w0: result, w1: threads in all, w2: work of each. */
static const RoundKernel round_kernels[] = {
	{"I, distances", "0.9974", 8192, 12, 2048,
		"GC_FN float coordinate(u32 i, u32 axis)\n"
		"{ u32 x = i * 2654435761u + axis * 40503u; x ^= x >> 15; x *= 2246822519u; return (float) (x >> 8) * (1.0f / 16777216); }\n"
		"GC_KERNEL(1024)\n{\nGC_PROLOGUE\n"
		"	u32 *bins = (u32 *) gc_shared; float *tile = (float *) (bins + 2048);\n"
		"	const u32 me = block * nthreads + thread, n = (u32) gc_a.w[2];\n"
		"	const float x = coordinate(me, 1), y = coordinate(me, 2), z = coordinate(me, 3);\n"
		"	GC_NO_UNROLL for (u32 i = thread; i < 2048; i += nthreads) bins[i] = 0;\n"
		"	GC_NO_UNROLL for (u32 base = 0; base < n; base += nthreads)\n"
		"	{\n"
		"		GC_BARRIER();\n"
		"		tile[3 * thread] = coordinate(base + thread, 4); tile[3 * thread + 1] = coordinate(base + thread, 5);\n"
		"		tile[3 * thread + 2] = coordinate(base + thread, 6);\n"
		"		GC_BARRIER();\n"
		"		const u32 here = n - base < nthreads ? n - base : nthreads;\n"
		"		GC_NO_UNROLL for (u32 j = 0; j < here; j++)\n"
		"		{\n"
		"			const float dx = tile[3 * j] - x, dy = tile[3 * j + 1] - y, dz = tile[3 * j + 2] - z;\n"
		"			atomicAdd(&bins[(u32) (sqrtf(dx * dx + dy * dy + dz * dz) * 1182.0f) & 2047], 1u);\n"
		"		}\n"
		"	}\n"
		"	GC_BARRIER();\n"
		"	GC_NO_UNROLL for (u32 i = thread; i < 64; i += nthreads)\n"
	"		if (bins[i * 32]) GC_ATOMIC_ADD64((u64 *) gc_a.w[0] + i, bins[i * 32]);\n}\n"},
	{"II, histogram", "0.9791", 28672, 0, 2048,
		"GC_KERNEL(1024)\n{\nGC_PROLOGUE\n"
		"	u32 *bins = (u32 *) gc_shared;\n"
		"	const u32 me = block * nthreads + thread, n = (u32) gc_a.w[2];\n"
		"	u32 x = me * 2654435761u + 1;\n"
		"	GC_NO_UNROLL for (u32 i = thread; i < 7168; i += nthreads) bins[i] = 0;\n"
		"	GC_BARRIER();\n"
		/* The next value depends on the rank of this one within its bin. */
		"	GC_NO_UNROLL for (u32 j = 0; j < n; j++)\n"
		"		x = x * 1664525u + 1013904223u + (atomicAdd(&bins[(x >> 16) % 7168], 1u) & 1);\n"
		"	GC_BARRIER();\n"
		"	GC_NO_UNROLL for (u32 i = thread; i < 64; i += nthreads)\n"
	"		if (bins[i * 112]) GC_ATOMIC_ADD64((u64 *) gc_a.w[0] + i, bins[i * 112]);\n}\n"},
	{"III, join of all pairs", "0.9606", 16384, 0, 8192,
		"GC_KERNEL(1024)\n{\nGC_PROLOGUE\n"
		"	u32 *tile = (u32 *) gc_shared;\n"
		"	const u32 me = block * nthreads + thread, n = (u32) gc_a.w[2];\n"
		"	const u32 key = me * 2654435761u >> 12;\n"
		"	u32 pairs = 0;\n"
		"	GC_NO_UNROLL for (u32 base = 0; base < n; base += 4096)\n"
		"	{\n"
		"		GC_BARRIER();\n"
		"		GC_NO_UNROLL for (u32 i = thread; i < 4096; i += nthreads) tile[i] = (base + i) * 2246822519u >> 12;\n"
		"		GC_BARRIER();\n"
		"		GC_NO_UNROLL for (u32 j = 0; j < 4096; j++) pairs += tile[j] == key;\n"
		"	}\n"
	"	if (pairs) GC_ATOMIC_ADD64((u64 *) gc_a.w[0], pairs);\n}\n"},
};

static double
pearson(const double *x, const double *y, int n)
{
	double		mx = 0,
				my = 0,
				xy = 0,
				xx = 0,
				yy = 0;

	for (int i = 0; i < n; i++)
	{
		mx += x[i] / n;
		my += y[i] / n;
	}
	for (int i = 0; i < n; i++)
	{
		xy += (x[i] - mx) * (y[i] - my);
		xx += (x[i] - mx) * (x[i] - mx);
		yy += (y[i] - my) * (y[i] - my);
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* One kernel at all block sizes; sizes it cannot run in are left out. */
static void
measure_rounds(const RoundKernel *r, GcAddr out, double budget)
{
	BenchKernel k = bench_kernel(r->name, 8, r->body);
	u64			total = (u64) bench_profile.sms * 2048 * 5;
	double		load[SIZES],
				rounds[SIZES],
				us[SIZES];
	double		from = bench_seconds();
	GcArgs		args;
	int			n = 0;

	memset(&args, 0, sizeof(args));
	args.w[0] = out;
	args.w[1] = total;
	args.w[2] = (u64) r->work;
	bench_say("Kernel %s: %d registers, %d bytes of shared memory per block and %d per thread, %llu threads.\n\n"
			  "| threads per block | blocks | coresident blocks | load | rounds | us |\n"
			  "| ---: | ---: | ---: | ---: | ---: | ---: |\n",
			  r->name, k.info.registers, r->shared_fixed + k.info.shared_static, r->shared_per_thread, total);
	for (int threads = 32; threads <= 1024 && !bench_late(from, budget); threads += 32)
	{
		u32			dynamic = (u32) (r->shared_fixed + r->shared_per_thread * threads);
		u64			blocks = (total + (u64) threads - 1) / (u64) threads;
		int			coresident = gc_occupancy(&bench_profile, k.info.registers, threads,
											  dynamic + (int64_t) k.info.shared_static);
		BenchLaunch l = {&k, &args, {(u32) blocks, (u32) threads, dynamic, 0}, 0};

		if (coresident < 1)
			continue;
		load[n] = (double) blocks / (coresident * bench_profile.sms);
		rounds[n] = ceil(load[n]);
		us[n] = bench_median_us(&l, 1, BENCH_ONE_STREAM, ROUND_RUNS);
		bench_say("| %d | %llu | %d | %.2f | %.0f | %.0f |\n", threads, blocks, coresident, load[n], rounds[n], us[n]);
		n++;
	}
	bench_say("\nPearson's r of %d sizes: %.4f of load (eq. 1 without its ceiling) and time, %.4f of rounds and time;"
			  " the paper has %s.\n\n", n, pearson(load, us, n), pearson(rounds, us, n), r->paper);
}

void
bench_rounds(double budget)
{
	GcAddr		out = bench_memory(4096);

	bench_say("### Running rounds\n\n");
	bench_fill_bytes(out, 0, 4096);
	for (size_t i = 0; i < sizeof(round_kernels) / sizeof(round_kernels[0]); i++)
		measure_rounds(&round_kernels[i], out, budget);
}
