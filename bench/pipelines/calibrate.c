/*-------------------------------------------------------------------------
 *
 * calibrate.c
 *	  Measure what the model of pipelines that are cut has to know of a device (src/sched/model/edges.h).
 *
 *	  calibrate [--device cuda|host] [--out FILE] [--calibration FILE]
 *
 * Writes lines for the file that gc_calibration_parse() reads, behind those of bench/two_stage/calibrate.
 *
 * The tables are figures 2 and 23 of Paul, He, He 2016.  They are of a chain of two kernels' parts, a producer of N
 * integers and a consumer that adds them up.  They vary by number of channels, size of packets and N.  Each channel
 * is a producing and a consuming block of one kernel, so all blocks are resident, and a ring of slots between them.
 * The producer waits for a free slot, the consumer for a full one.  On device host, whose blocks do not run at the
 * same time for sure, one block fills and empties a slot in turns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

#define THREADS			256
#define BATCH			512			/* packets of a slot */
#define RUNS			5
#define NODE			64			/* bytes between the words of a chain of accesses */
#define L2_SWEEPS		20
#define MOST_SIZES		4

static const int packet_words[MOST_SIZES] = {1, 2, 4, 8};
static const u64 data_words[] = {1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23};
static const u32 deep[] = {2, 8, 32, 128, 256};	/* slots of a ring */

#define LENGTH(a)		((int) (sizeof(a) / sizeof((a)[0])))

static BenchKernel channel[MOST_SIZES];
static BenchKernel chase;
static BenchKernel sweep;
static BenchKernel gather;
static GcAddr ring;
static u64	ring_bytes;
static GcAddr heads;
static double launch_us;
static GcCalibration found;

/* Words: ring, heads, slots of a ring, batches of a channel, channels, result. */
static const char channel_text[] =
"GC_KERNEL(256)\n{\nGC_PROLOGUE\n"
"const u32 slots = (u32) gc_a.w[2], batches = (u32) gc_a.w[3], channels = (u32) gc_a.w[4];\n"
"const u32 mine = block % channels;\n"
"u32 *ring = (u32 *) gc_a.w[0] + (u64) mine * slots * BATCH * WORDS;\n"
"u32 *head = (u32 *) gc_a.w[1] + mine * 64, *tail = head + 32;\n"
"(void) head; (void) tail;\n"
"u32 sum = 0;\n"
"#if GC_CUDA\n"
"if (block < channels) {\n"
"for (u32 b = 0; b < batches; b++) {\n"
"if (thread == 0) while (b - GC_LOAD_FRESH32(tail) >= slots) ;\n"
"__syncthreads();\n"
"u32 *slot = ring + b % slots * (BATCH * WORDS);\n"
"for (u32 i = thread; i < BATCH; i += nthreads)\n"
"for (u32 k = 0; k < WORDS; k++) slot[k * BATCH + i] = b + i + k;\n"
"__threadfence();\n__syncthreads();\n"
"if (thread == 0) *(volatile u32 *) head = b + 1;\n}\n"
"} else {\n"
"for (u32 b = 0; b < batches; b++) {\n"
"if (thread == 0) while (GC_LOAD_FRESH32(head) <= b) ;\n"
"__syncthreads();\n__threadfence();\n"
"const u32 *slot = ring + b % slots * (BATCH * WORDS);\n"
"for (u32 i = thread; i < BATCH; i += nthreads)\n"
"for (u32 k = 0; k < WORDS; k++) sum += __ldcg(slot + k * BATCH + i);\n"
"__syncthreads();\n"
"if (thread == 0) *(volatile u32 *) tail = b + 1;\n}\n"
"__syncthreads();\n"
"if (thread == 0) { *(volatile u32 *) head = 0; *(volatile u32 *) tail = 0; }\n"
"if (sum == 1) *(u32 *) gc_a.w[5] = sum;\n}\n"
"#else\n"
"for (u32 b = 0; b < batches; b++) {\n"
"u32 *slot = ring + b % slots * (BATCH * WORDS);\n"
"for (u32 i = 0; i < BATCH * WORDS; i++) ((volatile u32 *) slot)[i] = b + i;\n"
"for (u32 i = 0; i < BATCH * WORDS; i++) sum += ((volatile u32 *) slot)[i];\n}\n"
"if (sum == 1) *(u32 *) gc_a.w[5] = sum;\n"
"#endif\n}\n";

/* Words: chain, steps, where it goes on: each run meets nodes that the ones before have not brought into the cache. */
static const char chase_text[] =
"GC_KERNEL(32)\n{\nGC_PROLOGUE\nif (thread == 0) {\nu32 at = *(const u32 *) gc_a.w[2];\n"
"GC_NO_UNROLL for (u64 i = 0; i < gc_a.w[1]; i++) at = GC_LOAD_FRESH32((const u32 *) gc_a.w[0] + at);\n"
"*(u32 *) gc_a.w[2] = at;\n}\n}\n";

/*
 * Words: memory, its words (a power of two), accesses of a thread, result.  No access waits for the one before, and
 * four of a thread are in flight.
 */
static const char gather_text[] =
"GC_KERNEL(256)\n{\nGC_PROLOGUE\nu32 sum = 0;\n"
"const u32 *words = (const u32 *) gc_a.w[0];\nconst u64 mask = gc_a.w[1] - 1;\n"
"u64 at = ((u64) block * nthreads + thread) * 0x9e3779b97f4a7c15ull + 1;\n"
"GC_NO_UNROLL for (u64 i = 0; i < gc_a.w[2]; i += 4)\n"
"GC_UNROLL for (int j = 0; j < 4; j++) {\n"
"at = at * 6364136223846793005ull + 1442695040888963407ull;\nsum += words[at >> 20 & mask];\n}\n"
"if (sum == 1) *(u32 *) gc_a.w[3] = sum;\n}\n";

/* Words: memory, 16-byte pieces of it, sweeps, result. */
static const char sweep_text[] =
"GC_KERNEL(256)\n{\nGC_PROLOGUE\nu64 sum = 0;\n"
"GC_NO_UNROLL for (u64 s = 0; s < gc_a.w[2]; s++)\n"
"for (u64 i = (u64) block * nthreads + thread; i < gc_a.w[1]; i += (u64) nblocks * nthreads) {\n"
"#if GC_CUDA\n"
"const uint4 v = __ldcg((const uint4 *) gc_a.w[0] + i);\nsum += v.x + v.y + v.z + v.w;\n"
"#else\n"
"const volatile u64 *v = (const volatile u64 *) gc_a.w[0] + 2 * i;\nsum += v[0] + v[1];\n"
"#endif\n}\n"
"if (sum == 1) *(u64 *) gc_a.w[3] = sum;\n}\n";

/* Compile a text with two numbers in it. */
static BenchKernel
compile(const char *name, int words, const char *text)
{
	size_t		size = strlen(text) + 100;
	char	   *whole = malloc(size);

	if (whole == NULL)
		bench_fail("out of memory");
	snprintf(whole, size, "#define BATCH %du\n#define WORDS %du\n%s", BATCH, words, text);
	return bench_kernel(name, 8, whole);
}

/*-------------------------------------------------------------------------
 * Memory
 *-------------------------------------------------------------------------
 */

/* Microseconds of an access that depends on the one before, in a table of so many bytes. */
static double
latency(u64 bytes)
{
	const u64	nodes = bytes / NODE;
	const u64	steps = bench_profile.scalar ? 200000 : 20000;
	u32		   *words = calloc(nodes, NODE);
	u32		   *order = malloc(nodes * sizeof(u32));
	GcArgs		args = {.w = {ring, steps, heads}};
	BenchLaunch l = {&chase, &args, {1, bench_profile.scalar ? 1 : 32, 0, 0}, 0};
	double		us;

	if (words == NULL || order == NULL)
		bench_fail("out of memory");
	for (u64 i = 0; i < nodes; i++)
		order[i] = (u32) i;
	for (u64 i = nodes - 1; i > 0; i--)
	{
		const u32	other = bench_random((u32) i + 1);
		const u32	kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	/* one circle through all, from node 0 on */
	for (u64 i = 0; i < nodes; i++)
		words[(u64) order[i] * (NODE / 4)] = order[(i + 1) % nodes] * (NODE / 4);
	bench_copy_in(ring, words, nodes * NODE);
	bench_fill_bytes(heads, 0, sizeof(u32));
	us = bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS);
	bench_fill_bytes(heads, 0, sizeof(u32));
	free(words);
	free(order);
	return fmax(us - launch_us, 0) / steps;
}

static int
blocks_per_sm(const BenchKernel *k)
{
	return bench_profile.serial_blocks ? 1 : gc_occupancy(&bench_profile, k->info.registers, THREADS, k->info.shared_static);
}

/* Accesses in a microsecond to words at random places of so many bytes, a power of two. */
static double
access_rate(u64 bytes)
{
	const int	threads = bench_profile.scalar ? 1 : THREADS;
	const u64	each = bench_profile.scalar ? 100000 : 64;
	GcArgs		args = {.w = {ring, bytes / 4, each, heads}};
	BenchLaunch l = {&gather, &args, bench_full(threads, blocks_per_sm(&gather), 0, ~0u), 0};
	const double us = bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS) - launch_us;

	return (double) l.grid.blocks * threads * each / fmax(us, 0.1);
}

/* The rate in the largest memory counts; that in others shows what the caches do. */
static void
measure_accesses(void)
{
	bench_say("| MB | random accesses, a microsecond |\n| ---: | ---: |\n");
	for (u64 bytes = MEGABYTE; bytes <= ring_bytes && bytes <= (u64) 4096 * MEGABYTE; bytes *= 4)
	{
		found.access_rate = access_rate(bytes);
		bench_say("| %.0f | %.0f |\n", bytes / 1e6, found.access_rate);
	}
	bench_say("\n");
}

static void
measure_memory(void)
{
	const u64	l2 = bench_profile.l2_bytes > 0 ? bench_profile.l2_bytes : 4 * MEGABYTE;
	const u64	near = l2 / 4;
	const u64	far = 8 * l2 < ring_bytes ? 8 * l2 : ring_bytes;
	GcArgs		args = {.w = {ring, near / 16, L2_SWEEPS, heads}};
	BenchLaunch l = {&sweep, &args, bench_full(bench_profile.scalar ? 1 : THREADS, blocks_per_sm(&sweep), 0, ~0u), 0};
	double		us = bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS);

	found.l2_bandwidth = (double) near * L2_SWEEPS / fmax(us - launch_us, 1);
	found.l2_latency_us = latency(near);
	found.memory_latency_us = latency(far);
	bench_say("Memory of %.0f MB is read from the L2 cache with %.2f TB/s, from place to place in %.3f us; "
			  "of %.0f MB in %.3f us.\n\n", near / 1e6, found.l2_bandwidth / 1e6, found.l2_latency_us, far / 1e6,
			  found.memory_latency_us);
}

/*-------------------------------------------------------------------------
 * Channels
 *-------------------------------------------------------------------------
 */

typedef struct Point
{
	double		rate;			/* bytes per microsecond */
	double		in_flight;		/* bytes */
	double		batch_us;
} Point;

/* N words by so many channels; rate 0: the channels do not fit. */
static Point
pass(int size, u32 channels, u32 slots, u64 n)
{
	const u64	slot_words = (u64) BATCH * packet_words[size];
	const u64	batches = n / (slot_words * channels);
	const u32	roles = bench_profile.serial_blocks ? 1 : 2;
	GcArgs		args = {.w = {ring, heads, slots, batches, channels, heads + 4 * MEGABYTE - 64}};
	BenchLaunch l = {&channel[size], &args, {channels * roles, bench_profile.scalar ? 1 : THREADS, 0, 0}, 0};
	Point		p = {.in_flight = (double) channels * slots * slot_words * 4};
	double		us;

	if (batches == 0 || p.in_flight > ring_bytes ||
		(!bench_profile.serial_blocks && channels * roles > (u32) (bench_profile.sms * blocks_per_sm(&channel[size]))))
		return p;
	us = fmax(bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS) - launch_us, 0.1);
	p.rate = (double) batches * channels * slot_words * 4 / us;
	p.batch_us = us / batches;
	return p;
}

static void
print_head(const char *about)
{
	bench_say("%s\n\n| channels |", about);
	for (int d = 0; d < LENGTH(data_words); d++)
		bench_say(" N = %lluK |", (unsigned long long) (data_words[d] >> 10));
	bench_say("\n| ---: |");
	for (int d = 0; d < LENGTH(data_words); d++)
		bench_say(" ---: |");
	bench_say("\n");
}

static void
measure_size(int size, const u32 *channels, int nchannels, double *best)
{
	char		about[160];

	snprintf(about, sizeof(about), "Packets of %d bytes, GB/s:", 4 * packet_words[size]);
	print_head(about);
	for (int i = 0; i < nchannels; i++)
	{
		bench_say("| %u |", channels[i]);
		for (int d = 0; d < LENGTH(data_words); d++)
		{
			const Point p = pass(size, channels[i], 2, data_words[d]);

			*best = fmax(*best, p.rate);
			if (p.rate > 0)
				bench_say(" %.1f |", p.rate / 1e3);
			else
				bench_say(" |");
		}
		bench_say("\n");
	}
	bench_say("\n");
}

/* Rates by what is in flight: half of the best one, and where it falls because packets leave the cache. */
static void
measure_depth(u32 channels, double best)
{
	const u64	l2 = bench_profile.l2_bytes > 0 ? bench_profile.l2_bytes : 4 * MEGABYTE;

	found.channel_half = 0;
	found.channel_bytes = l2 / 2.0;
	bench_say("| slots of a ring | MB in flight | GB/s |\n| ---: | ---: | ---: |\n");
	for (int i = 0; i < LENGTH(deep); i++)
	{
		const Point p = pass(2, channels, deep[i], (u64) 1 << 25);

		if (p.rate <= 0)
			continue;
		best = fmax(best, p.rate);
		bench_say("| %u | %.1f | %.1f |\n", deep[i], p.in_flight / 1e6, p.rate / 1e3);
		if (p.rate < 0.7 * best && p.in_flight > l2 / 4.0 && p.in_flight < found.channel_bytes)
			found.channel_bytes = p.in_flight;
	}
	bench_say("\n");
	found.channel_bandwidth = best;
}

static void
measure_channels(void)
{
	const u32	sms = (u32) bench_profile.sms;
	const u32	channels[] = {1, 2, 4, 8, 16, 32, 64, sms, 2 * sms, 4 * sms};
	double		best = 0;
	Point		few,
				one;

	bench_say("Figures 2 and 23 of Paul, He, He 2016: a producer and a consumer of N integers, by number of channels.\n\n");
	for (int size = 0; size < MOST_SIZES; size++)
		measure_size(size, channels, LENGTH(channels), &best);
	bench_say("And by what is in flight, with two channels a multiprocessor:\n\n");
	measure_depth(2 * sms, best);
	few = pass(2, 8, 2, 1 << 21);
	if (few.rate > 0 && few.rate < found.channel_bandwidth)
		found.channel_half = few.in_flight * (found.channel_bandwidth / few.rate - 1);
	/* a slot of the smallest packets, of one channel: mostly the turn itself */
	one = pass(0, 1, 2, 1 << 19);
	found.turn_us = one.batch_us;
}

static void
write_calibration(const char *given)
{
	char		name[160];
	char		text[1024];
	GcCalibration back = gc_calibration_default;
	const char *problem;
	time_t		now = time(NULL);
	char		date[64];
	FILE	   *file;

	snprintf(name, sizeof(name), "%s.edges.calibration", bench_dev->info.name);
	for (char *at = name; *at != '\0'; at++)
	{
		if (!isalnum((unsigned char) *at) && strchr(".-", *at) == NULL)
			*at = '_';
	}
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	snprintf(text, sizeof(text),
			 "# device: %.80s\n# date: %s\n# commit: %.60s\n# times in microseconds, bandwidths in bytes per microsecond\n"
			 "l2_bandwidth = %.0f\nl2_latency_us = %.4f\nmemory_latency_us = %.4f\naccess_rate = %.0f\nchannel_bandwidth = %.0f\n"
			 "channel_half = %.0f\nchannel_bytes = %.0f\nturn_us = %.2f\n", bench_dev->info.name, date,
			 bench_options.commit != NULL ? bench_options.commit : "not given", found.l2_bandwidth, found.l2_latency_us,
			 found.memory_latency_us, found.access_rate, found.channel_bandwidth, found.channel_half, found.channel_bytes, found.turn_us);
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
	const BenchOptions defaults = {.device = "cuda",.memory = 1200 * MEGABYTE,.seconds = 30};
	BenchKernel empty;
	GcArgs		none = {.w = {0}};
	BenchLaunch l;

	argc = bench_open(argc, argv, &defaults, 240);
	empty = bench_kernel("empty", 8, "GC_KERNEL(256)\n{\nGC_PROLOGUE\n(void) gc_a.w[0];\n}\n");
	l = (BenchLaunch) {&empty, &none, {1, bench_profile.scalar ? 1 : THREADS, 0, 0}, 0};
	for (int i = 0; i < MOST_SIZES; i++)
		channel[i] = compile("channel", packet_words[i], channel_text);
	chase = compile("chase", 1, chase_text);
	sweep = compile("sweep", 1, sweep_text);
	gather = compile("gather", 1, gather_text);
	heads = bench_memory(4 * MEGABYTE);
	bench_fill_bytes(heads, 0, 4 * MEGABYTE);
	ring_bytes = bench_memory_left() - 32 * MEGABYTE;
	if (bench_profile.scalar && ring_bytes > 128 * MEGABYTE)
		ring_bytes = 128 * MEGABYTE;
	ring = bench_memory(ring_bytes);
	bench_fill_bytes(ring, 0, ring_bytes);
	launch_us = bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS);
	measure_memory();
	measure_accesses();
	measure_channels();
	write_calibration(bench_argument(argc, argv, "calibration"));
	bench_close();
	return 0;
}
