/*-------------------------------------------------------------------------
 *
 * paper003.c
 *	  Li, Yu, Kumar, Tu 2014's two experiments, on this device.
 *
 *	  paper003 [--out FILE] [--json PREFIX] [--part rounds|disciplines]
 *
 * Part 1, section III.C, is in rounds.c: how well running rounds predict times.
 *
 * Part 2, section IV.B: blocks that say on which multiprocessor and when they ran,
 * against the simulator (bench/simulator/simulator.h).  They are in the streams of
 * figures 5, 6, 7, 9 and 10, with as many more blocks as this device has more
 * multiprocessors.  A trace that
 * https://ui.perfetto.dev opens is written for each figure: PREFIX-figure5.json ...
 *
 * Device cuda only: a host's blocks have one thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "rounds.h"
#include "../simulator/simulator.h"

/*-------------------------------------------------------------------------
 * Disciplines: what to run
 *-------------------------------------------------------------------------
 */

#define A_US		7000.0		/* the paper's, halved */
#define B_US		10000.0
#define A_LIVE		1
#define MAX_PLAN	32			/* kernels of a figure */

/*
 * Block `block` holds its multiprocessor for w1 nanoseconds, at most w2 turns, then
 * writes start, end and multiprocessor to w0[3 * block].  LIVE registers stay alive.
 */
static const char timed_body[] =
"GC_KERNEL(1024)\n{\nGC_PROLOGUE\n"
"	u64 from, now; u32 sm, turns = 0, x = 0, r[LIVE];\n"
"	asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(from));\n"
"	asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(sm));\n"
"	GC_UNROLL for (int i = 0; i < LIVE; i++) r[i] = thread * 2654435761u + i;\n"
"	do\n"
"	{\n"
"		GC_UNROLL for (int i = 0; i < LIVE; i++) r[i] = r[i] * 1664525u + r[(i + LIVE - 1) % LIVE];\n"
"		asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n"
"	} while (now - from < gc_a.w[1] && ++turns < (u32) gc_a.w[2]);\n"
"	GC_UNROLL for (int i = 0; i < LIVE; i++) x ^= r[i];\n"
"	__syncthreads();\n"
"	if (thread == 0)\n"
"	{\n"
"		u64 *out = (u64 *) gc_a.w[0] + 3 * (u64) block;\n"
"		asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n"
"		out[0] = from; out[1] = now; out[2] = sm | (u64) (x == 0x12345678u) << 32;\n"
"	}\n"
"}\n";

typedef struct PlanKernel
{
	int			stream;
	bool		b;				/* kernel B, or A */
	int			blocks;			/* on the paper's device */
	int			first;			/* its first block among all */
	int			nblocks;		/* here */
	char		label[16];
} PlanKernel;

typedef struct Figure
{
	int			number;
	int			paper_sms;
	int			nstreams;
	const char *streams;		/* of each: kernel and blocks, kernel and blocks ... */
	bool		same;			/* all streams are like the first */
} Figure;

static const Figure figures[] = {
	{5, 8, 8, "A4", true},
	{6, 8, 3, "A8 B5 B5", false},
	{7, 8, 3, "A8 B8 A8", false},
	{9, 8, 4, "A8B6", true},
	{10, 15, 8, "A1B1", true},
};

/* One run of a block: predicted or observed. */
typedef struct BlockRun
{
	double		start;
	double		end;			/* us */
	int			sm;
	int			kernel;
} BlockRun;

typedef struct Trial
{
	const Figure *figure;
	int			nkernels;
	int			nblocks;
	PlanKernel	kernel[MAX_PLAN];
	BlockRun   *predicted;		/* of each kernel in order of start */
	BlockRun   *observed;
	GcSimResult *result;
	GcSimPhases *phases;
} Trial;

static BenchKernel kernel_a;
static BenchKernel kernel_b;

static void
plan_stream(Trial *t, int stream, const char *text)
{
	while (*text == 'A' || *text == 'B')
	{
		PlanKernel *k = &t->kernel[t->nkernels++];
		char	   *end;

		if (t->nkernels > MAX_PLAN)
			bench_fail("figure %d has too many kernels", t->figure->number);
		k->stream = stream;
		k->b = *text == 'B';
		k->blocks = (int) strtol(text + 1, &end, 10);
		k->nblocks = (k->blocks * bench_profile.sms + t->figure->paper_sms / 2) / t->figure->paper_sms;
		k->nblocks = k->nblocks > 0 ? k->nblocks : 1;
		k->first = t->nblocks;
		t->nblocks += k->nblocks;
		snprintf(k->label, sizeof(k->label), "%c%d", k->b ? 'B' : 'A', stream + 1);
		text = end;
	}
}

static void
plan_figure(Trial *t, const Figure *f)
{
	const char *at = f->streams;

	memset(t, 0, sizeof(*t));
	t->figure = f;
	for (int s = 0; s < f->nstreams; s++)
	{
		plan_stream(t, s, at);
		if (!f->same)
		{
			at += strcspn(at, " ");
			at += *at == ' ';
		}
	}
	t->predicted = calloc((size_t) t->nblocks, sizeof(BlockRun));
	t->observed = calloc((size_t) t->nblocks, sizeof(BlockRun));
	t->result = calloc(1, sizeof(GcSimResult));
	t->phases = calloc(1, sizeof(GcSimPhases));
	if (t->predicted == NULL || t->observed == NULL || t->result == NULL || t->phases == NULL)
		bench_fail("out of memory");
}

static void
predict_event(void *arg, const GcSimEvent *e)
{
	Trial	   *t = arg;
	BlockRun   *run = &t->predicted[t->kernel[e->kernel].first + (int) e->block];

	run->kernel = e->kernel;
	run->sm = e->sm;
	if (e->start)
		run->start = e->us;
	else
		run->end = e->us;
}

static void
predict(Trial *t)
{
	static GcSimWork work;
	static GcSimKernel kernels[MAX_PLAN];
	static GcSimStream streams[MAX_PLAN];
	GcSimWorkload load = {.nstreams = t->figure->nstreams,.streams = streams,.event = predict_event,.event_arg = t};
	GcSimStatus status;

	memset(streams, 0, sizeof(streams));
	for (int i = 0; i < t->nkernels; i++)
	{
		const PlanKernel *k = &t->kernel[i];
		GcSimStream *s = &streams[k->stream];

		kernels[i] = (GcSimKernel) {.registers = k->b ? kernel_b.info.registers : kernel_a.info.registers,
			.threads = 1024,.shared_bytes = k->b ? kernel_b.info.shared_static : kernel_a.info.shared_static,
		.blocks = (uint32_t) k->nblocks,.block_us = k->b ? B_US : A_US};
		if (s->nkernels++ == 0)
			s->kernels = &kernels[i];
	}
	status = gc_simulate(&bench_profile, &load, &work, t->result, t->phases);
	if (status != GC_SIM_OK)
		bench_fail("figure %d cannot be simulated: %s", t->figure->number, gc_sim_status_text(status));
}

/*-------------------------------------------------------------------------
 * Disciplines: what happened
 *-------------------------------------------------------------------------
 */

static int
by_start(const void *a, const void *b)
{
	const BlockRun *x = a;
	const BlockRun *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Kernels are queued at once, stream by stream, as the simulator takes it. */
static void
observe(Trial *t, GcAddr out)
{
	u64		   *words = calloc((size_t) t->nblocks * 3, sizeof(u64));
	u64			first = UINT64_MAX;
	GcArgs		args;

	if (words == NULL)
		bench_fail("out of memory");
	bench_fill_bytes(out, 0, (size_t) t->nblocks * 24);
	for (int i = 0; i < t->nkernels; i++)
	{
		const PlanKernel *k = &t->kernel[i];

		memset(&args, 0, sizeof(args));
		args.w[0] = out + (u64) k->first * 24;
		args.w[1] = (u64) (1000 * (k->b ? B_US : A_US));
		args.w[2] = 4000000;
		bench_queue(k->stream, k->b ? &kernel_b : &kernel_a, (GcLaunch) {(u32) k->nblocks, 1024, 0, 0}, &args);
	}
	bench_drain();
	bench_copy_out(words, out, (size_t) t->nblocks * 24);
	for (int b = 0; b < t->nblocks; b++)
		first = words[3 * b] < first ? words[3 * b] : first;
	for (int i = 0; i < t->nkernels; i++)
	{
		const PlanKernel *k = &t->kernel[i];

		for (int b = k->first; b < k->first + k->nblocks; b++)
			t->observed[b] = (BlockRun) {(double) (words[3 * b] - first) / 1000,
			(double) (words[3 * b + 1] - first) / 1000, (int) (u32) words[3 * b + 2], i};
		qsort(t->observed + k->first, (size_t) k->nblocks, sizeof(BlockRun), by_start);
	}
	free(words);
}

static double
kernel_end(const Trial *t, const BlockRun *runs, int kernel)
{
	const PlanKernel *k = &t->kernel[kernel];
	double		end = 0;

	for (int b = k->first; b < k->first + k->nblocks; b++)
		end = runs[b].end > end ? runs[b].end : end;
	return end;
}

static int
kernel_sms(const Trial *t, const BlockRun *runs, int kernel)
{
	const PlanKernel *k = &t->kernel[kernel];
	bool		seen[GC_SIM_MAX_SMS] = {false};
	int			n = 0;

	for (int b = k->first; b < k->first + k->nblocks; b++)
	{
		int			sm = runs[b].sm;

		if (sm >= 0 && sm < GC_SIM_MAX_SMS && !seen[sm])
		{
			seen[sm] = true;
			n++;
		}
	}
	return n;
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Times at which phases end: ends of kernels, those taken as one that are close. */
static int
phase_ends(const Trial *t, const BlockRun *runs, double close, double *ends)
{
	double		all[MAX_PLAN];
	int			n = 0;

	for (int i = 0; i < t->nkernels; i++)
		all[i] = kernel_end(t, runs, i);
	qsort(all, (size_t) t->nkernels, sizeof(double), compare_doubles);
	for (int i = 0; i < t->nkernels; i++)
	{
		if (n == 0 || all[i] - ends[n - 1] > close)
			ends[n++] = all[i];
		else
			ends[n - 1] = all[i];
	}
	return n;
}

/*
 * How many pairs of blocks that start at different times by the simulator started in that
 * order?  Blocks of the same kernel are matched by order of start.
 */
static double
order_agreement(const Trial *t, double close)
{
	int64_t		pairs = 0;
	int64_t		agree = 0;

	for (int i = 0; i < t->nblocks; i++)
	{
		for (int j = 0; j < t->nblocks; j++)
		{
			if (t->predicted[j].start - t->predicted[i].start <= close)
				continue;
			pairs++;
			agree += t->observed[i].start < t->observed[j].start;
		}
	}
	return pairs > 0 ? (double) agree / (double) pairs : 1;
}

/* Blocks that started when the simulator says, within `close`. */
static double
start_agreement(const Trial *t, double close)
{
	int			n = 0;

	for (int i = 0; i < t->nblocks; i++)
		n += fabs(t->predicted[i].start - t->observed[i].start) <= close;
	return (double) n / t->nblocks;
}

/* Most blocks of kernels A and of kernels B that one multiprocessor held at a time. */
static void
most_together(const Trial *t, const BlockRun *runs, int *a, int *b, bool *both)
{
	*a = *b = 0;
	*both = false;
	for (int i = 0; i < t->nblocks; i++)
	{
		int			n[2] = {0, 0};

		for (int j = 0; j < t->nblocks; j++)
		{
			/* those that run as block i starts; what ends then is gone */
			if (runs[j].sm == runs[i].sm && runs[j].start <= runs[i].start && runs[j].end > runs[i].start + 1)
				n[t->kernel[runs[j].kernel].b]++;
		}
		*a = n[0] > *a ? n[0] : *a;
		*b = n[1] > *b ? n[1] : *b;
		*both = *both || (n[0] > 0 && n[1] > 0);
	}
}

static void
trace_runs(FILE *file, const Trial *t, const BlockRun *runs, int base, const char *what)
{
	static double busy[GC_SIM_MAX_SMS][64];

	memset(busy, 0, sizeof(busy));
	for (int sm = 0; sm < bench_profile.sms; sm++)
		fprintf(file, "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s, multiprocessor %d\"}}",
				base + sm > 1 ? ",\n" : "", base + sm, what, sm);
	for (int b = 0; b < t->nblocks; b++)
	{
		int			sm = runs[b].sm >= 0 && runs[b].sm < GC_SIM_MAX_SMS ? runs[b].sm : 0;
		int			lane = 0;

		while (lane < 63 && busy[sm][lane] > runs[b].start + 0.5)
			lane++;
		busy[sm][lane] = runs[b].end;
		fprintf(file, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f}",
				t->kernel[runs[b].kernel].label, what, base + sm, lane + 1, runs[b].start, runs[b].end - runs[b].start);
	}
}

static void
write_trace(const Trial *t, const char *prefix)
{
	char		path[1024];
	FILE	   *file;

	if (prefix == NULL)
		return;
	snprintf(path, sizeof(path), "%s-figure%d.json", prefix, t->figure->number);
	file = fopen(path, "w");
	if (file == NULL)
		bench_fail("%s cannot be written", path);
	fprintf(file, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
	trace_runs(file, t, t->observed, 1, "observed");
	trace_runs(file, t, t->predicted, 1001, "predicted");
	fprintf(file, "\n]}\n");
	if (fclose(file) != 0)
		bench_fail("%s cannot be written", path);
}

static void
tell_kernels(const Trial *t)
{
	bench_say("| kernel | blocks | multiprocessors, predicted | observed | first start, ms, predicted | observed "
			  "| last end, ms, predicted | observed |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < t->nkernels; i++)
	{
		const PlanKernel *k = &t->kernel[i];

		bench_say("| %s | %d | %d | %d | %.2f | %.2f | %.2f | %.2f |\n", k->label, k->nblocks,
				  kernel_sms(t, t->predicted, i), kernel_sms(t, t->observed, i),
				  t->predicted[k->first].start / 1000, t->observed[k->first].start / 1000,
				  kernel_end(t, t->predicted, i) / 1000, kernel_end(t, t->observed, i) / 1000);
	}
	bench_say("\n");
}

/* Phase times against those predicted; negative: there are not as many. */
static double
phase_error(const double *p, int np, const double *o, int no)
{
	double		worst = 0;

	if (np != no)
		return -1;
	for (int i = 0; i < np; i++)
	{
		double		expected = p[i] - (i > 0 ? p[i - 1] : 0);
		double		seen = o[i] - (i > 0 ? o[i - 1] : 0);

		if (fabs(seen - expected) / expected > worst)
			worst = fabs(seen - expected) / expected;
	}
	return worst;
}

static void
tell_trial(const Trial *t)
{
	double		predicted[MAX_PLAN],
				observed[MAX_PLAN];
	double		close = 0.05 * A_US;
	int			np = phase_ends(t, t->predicted, close, predicted);
	int			no = phase_ends(t, t->observed, close, observed);
	double		error = phase_error(predicted, np, observed, no);
	int			a,
				b,
				pa,
				pb;
	bool		both,
				pboth;

	most_together(t, t->predicted, &pa, &pb, &pboth);
	most_together(t, t->observed, &a, &b, &both);
	tell_kernels(t);
	bench_say("Phases end at (ms), predicted:");
	for (int i = 0; i < np; i++)
		bench_say(" %.2f", predicted[i] / 1000);
	bench_say("; observed:");
	for (int i = 0; i < no; i++)
		bench_say(" %.2f", observed[i] / 1000);
	bench_say(".\nLargest relative error of a phase's time: ");
	if (error < 0)
		bench_say("none, as there are %d phases for %d", no, np);
	else
		bench_say("%.1f %%", 100 * error);
	bench_say(". Pairs of blocks that started in the predicted order: %.1f %%. "
			  "Blocks that started within %.2f ms of the prediction: %.1f %%.\n"
			  "At most at a time on one multiprocessor, predicted: %d of A, %d of B, A beside B: %s; observed: %d, %d, %s.\n\n",
			  100 * order_agreement(t, close), close / 1000, 100 * start_agreement(t, close), pa, pb,
			  pboth ? "yes" : "no", a, b, both ? "yes" : "no");
}

static void
choose_kernels(void)
{
	static const int lives[] = {28, 30, 32, 26, 24, 34, 22, 36};
	char		body[sizeof(timed_body) + 64];
	int			one[GC_NEEDS],
				other[GC_NEEDS],
				limit[GC_NEEDS];
	bool		fit = false;

	snprintf(body, sizeof(body), "#define LIVE %d\n%s", A_LIVE, timed_body);
	kernel_a = bench_kernel("timed A", 8, body);
	gc_sm_limits(&bench_profile, limit);
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]) && !fit; i++)
	{
		snprintf(body, sizeof(body), "#define LIVE %d\n%s", lives[i], timed_body);
		kernel_b = bench_kernel("timed B", 8, body);
		fit = gc_blocks_need(&bench_profile, kernel_a.info.registers, 1024, kernel_a.info.shared_static, 1, one) &&
			gc_blocks_need(&bench_profile, kernel_b.info.registers, 1024, kernel_b.info.shared_static, 1, other) &&
			gc_occupancy(&bench_profile, kernel_b.info.registers, 1024, kernel_b.info.shared_static) == 1;
		for (int r = 0; r < GC_NEEDS && fit; r++)
			fit = one[r] + other[r] <= limit[r];
	}
	bench_say("Kernel A: %d registers, %.0f ms; kernel B: %d registers, %.0f ms; 1024 threads per block. "
			  "By the model a multiprocessor holds %d of A, %d of B, %s.\n\n",
			  kernel_a.info.registers, A_US / 1000, kernel_b.info.registers, B_US / 1000,
			  gc_occupancy(&bench_profile, kernel_a.info.registers, 1024, kernel_a.info.shared_static),
			  gc_occupancy(&bench_profile, kernel_b.info.registers, 1024, kernel_b.info.shared_static),
			  fit ? "or one of each" : "**and not one of each, as in the paper**");
}

static void
disciplines(const char *prefix, double budget)
{
	double		from = bench_seconds();
	GcAddr		out = bench_memory(24 * 16384);

	bench_say("### Disciplines\n\n");
	choose_kernels();
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]) && !bench_late(from, budget); i++)
	{
		Trial		t;

		plan_figure(&t, &figures[i]);
		if (t.nblocks > 16384)
			bench_fail("too many blocks");
		predict(&t);
		observe(&t, out);		/* the first time, kernels may have to be loaded */
		observe(&t, out);
		bench_say("#### Figure %d: %d streams of %s\n\n", figures[i].number, figures[i].nstreams, figures[i].streams);
		tell_trial(&t);
		write_trace(&t, prefix);
		free(t.predicted);
		free(t.observed);
		free(t.result);
		free(t.phases);
	}
}

int
main(int argc, char **argv)
{
	const BenchOptions defaults = {.device = "cuda",.memory = 256 * MEGABYTE,.seconds = 30};
	const char *part;

	argc = bench_open(argc, argv, &defaults, 90);
	part = bench_argument(argc, argv, "part");
	if (bench_profile.shares_cpu)
		bench_say("A host's blocks have one thread: there is nothing to measure.\n");
	else
	{
		if (part == NULL || strcmp(part, "disciplines") == 0)
			disciplines(bench_argument(argc, argv, "json"), bench_options.seconds / 3);
		if (part == NULL || strcmp(part, "rounds") == 0)
		bench_rounds(bench_options.seconds / 5);
	}
	bench_close();
	return 0;
}
