/*-------------------------------------------------------------------------
 *
 * common.c
 *	  What the programs that measure the models of src/sched on a device share: the device, memory, kernels, tables,
 *	  and times.
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "devlib_text.h"

#define CHUNK_ROWS		(1u << 20)
#define MAX_RUNS		64
#define ARG_WORDS		104			/* of every kernel: those of 16 bodies of scans.c */

const GcDeviceOps *bench_ops;
GcDevice   *bench_dev;
GcProfile	bench_profile;
GcCalibration bench_calibration;

static GcAddr pool;
static u64	pool_size;
static u64	pool_used;
static GcStream *streams[BENCH_STREAMS];
static BenchKernel gate;
static BenchKernel filler;
static u64	random_state = 1;

/* Measurements, and those whose queueing took longer than their gate. */
static int	measured;
static int	late;
static double gate_end;

static void
check(GcCode code, const GcError *err, const char *what)
{
	if (code != GC_OK)
		bench_fail("%s: %s", what, err->detail);
}

/*-------------------------------------------------------------------------
 * Device
 *-------------------------------------------------------------------------
 */

/* Spins for w0 nanoseconds, but never for long. */
static const char gate_body[] =
"GC_KERNEL(32)\n{\nGC_PROLOGUE\n"
"#if GC_CUDA\n"
"	u64 from, now; u32 turns = 0;\n"
"	asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(from));\n"
"	do asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n"
"	while (now - from < gc_a.w[0] && ++turns < 2000000u);\n"
"#else\n"
"	(void) block; (void) nblocks; (void) gc_args;\n"
"#endif\n"
"}\n";

/* w0: address, w1: values, w2: bytes of each, w3: modulus, w4: seed. */
static const char filler_body[] =
"GC_FN u64 mixed(u64 i, u64 seed)\n"
"{\n"
"	u64 x = i * 0x9e3779b97f4a7c15ull + seed * 0xd1b54a32d192ed03ull;\n"
"	x ^= x >> 31; x *= 0xbf58476d1ce4e5b9ull; x ^= x >> 29; x *= 0x94d049bb133111ebull;\n"
"	return x ^ x >> 32;\n"
"}\n"
"GC_KERNEL(256)\n{\nGC_PROLOGUE\n"
"	const u64 n = gc_a.w[1], per = (n + nblocks - 1) / nblocks;\n"
"	const u64 end = (block + 1) * per < n ? (block + 1) * per : n;\n"
"	for (u64 i = block * per + thread; i < end; i += nthreads)\n"
"	{\n"
"		u64 x = mixed(i, gc_a.w[4]);\n"
"		x = gc_a.w[3] ? (x >> 8) % gc_a.w[3] : x & x >> 20 & x >> 40;\n"
"		switch ((u32) gc_a.w[2])\n"
"		{\n"
"			case 1: ((u8 *) gc_a.w[0])[i] = (u8) x; break;\n"
"			case 2: ((u16 *) gc_a.w[0])[i] = (u16) x; break;\n"
"			case 4: ((u32 *) gc_a.w[0])[i] = (u32) x; break;\n"
"			default: ((u64 *) gc_a.w[0])[i] = x; break;\n"
"		}\n"
"	}\n"
"}\n";

static void
fill_profile(void)
{
	const GcDeviceInfo *i = &bench_dev->info;

	bench_calibration = i->shares_cpu ? gc_calibration_host : gc_calibration_default;
	bench_profile = (GcProfile) {
		.serial_blocks = i->serial_blocks,.scalar = i->scalar,.shares_cpu = i->shares_cpu,.sms = i->sms,.warp_size = i->warp_size,
		.max_warps = i->max_warps,.max_blocks = i->max_blocks,.registers = i->registers,
		.shared_per_sm = i->shared_per_sm,.shared_per_block = i->shared_per_block,
		.shared_reserved = i->shared_reserved,.l2_bytes = i->l2_bytes,
	};
	if (!i->host_memory)
		gc_profile_granules(&bench_profile, i->arch);
	if (bench_options.profile != NULL)
	{
		const GcProfile *known = gc_profile_known(bench_options.profile);

		if (known == NULL)
			bench_fail("no device is known as \"%s\"", bench_options.profile);
		bench_profile = *known;
	}
	if (gc_profile_problem(&bench_profile) != NULL)
		bench_fail("this device cannot be planned for: %s", gc_profile_problem(&bench_profile));
}

int
bench_open(int argc, char **argv, const BenchOptions *defaults, int limit_s)
{
	static char *all[64];
	int			nall = argc < 64 ? argc : 64;
	GcDeviceOptions options = {.ordinal = 0};
	GcError		err = {GC_OK, ""};
	char		device[256];

	memcpy(all, argv, (size_t) nall * sizeof(char *));
	bench_begin(&argc, argv, defaults, limit_s);
	if (strcmp(bench_options.device, "cuda") != 0 && strcmp(bench_options.device, "host") != 0)
		bench_fail("there is no device \"%s\"", bench_options.device);
	bench_ops = strcmp(bench_options.device, "cuda") == 0 ? &gc_cuda_ops : &gc_host_ops;
	options.memory_limit = bench_options.memory;
	check(bench_ops->open(&bench_dev, &options, &err), &err, "the device cannot be opened");
	bench_ops->pool(bench_dev, &pool, &pool_size);
	fill_profile();
	for (int s = 0; s < BENCH_STREAMS; s++)
	{
		streams[s] = bench_ops->stream_get(bench_dev, &err);
		if (streams[s] == NULL)
			bench_fail("%s", err.detail);
	}
	snprintf(device, sizeof(device), "%s %s, target \"%s\", %d multiprocessors", bench_ops->name, bench_dev->info.name,
			 bench_dev->info.target, bench_dev->info.sms);
	bench_begin_report(nall, all, device);
	gate = bench_kernel("gate", 8, gate_body);
	filler = bench_kernel("filler", 8, filler_body);
	return argc;
}

void
bench_close(void)
{
	bench_drain();
	for (int s = 0; s < BENCH_STREAMS; s++)
		bench_ops->stream_put(bench_dev, streams[s]);
	bench_ops->close(bench_dev);
	if (measured > 0)
		bench_say("%d measurements; in %d the device may have waited for the calls.\n", measured, late);
	bench_end_report();
}

GcAddr
bench_memory(u64 bytes)
{
	const GcAddr addr = pool + pool_used;

	bytes = (bytes + 511) / 256 * 256;
	if (bytes > pool_size - pool_used)
		bench_fail("%llu MB more of device memory are not there", bytes >> 20);
	pool_used += bytes;
	return addr;
}

u64
bench_memory_left(void)
{
	return pool_size - pool_used;
}

void
bench_drain(void)
{
	GcError		err = {GC_OK, ""};

	check(bench_ops->drain(bench_dev, &err), &err, "drain");
}

void
bench_copy_in(GcAddr to, const void *from, size_t bytes)
{
	GcError		err = {GC_OK, ""};

	check(bench_ops->copy_in(streams[0], to, from, bytes, &err), &err, "copy");
	bench_drain();
}

void
bench_copy_out(void *to, GcAddr from, size_t bytes)
{
	GcError		err = {GC_OK, ""};

	check(bench_ops->copy_out(streams[0], to, from, bytes, &err), &err, "copy");
	bench_drain();
}

void
bench_fill_bytes(GcAddr to, int byte, size_t bytes)
{
	GcError		err = {GC_OK, ""};

	check(bench_ops->fill(streams[0], to, byte, bytes, &err), &err, "fill");
	bench_drain();
}

static void
write_text(const char *name, const char *text)
{
	char		path[1024];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s.gpu.src", bench_options.texts, name);
	file = fopen(path, "w");
	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		bench_fail("%s cannot be written", path);
}

bool
bench_try_text(const char *name, const char *text, BenchKernel *out)
{
	GcError		err = {GC_OK, ""};
	GcImage		image = {NULL, 0};
	GcModule   *module;

	snprintf(out->name, sizeof(out->name), "%s", name);
	if (bench_options.texts != NULL)
		write_text(name, text);
	if (bench_ops->compile(bench_dev, text, GC_COMPILE_FULL, &image, &err) != GC_OK ||
		bench_ops->module_load(bench_dev, &image, &module, &err) != GC_OK ||
		bench_ops->kernel_get(module, "gc_kernel", &out->kernel, &out->info, &err) != GC_OK)
	{
		bench_note("kernel %s: %s\n", name, err.detail);
		free(image.bytes);
		return false;
	}
	free(image.bytes);
	return true;
}

BenchKernel
bench_kernel(const char *name, int vec, const char *body)
{
	return bench_kernel_for(name, vec, 0, body);
}

BenchKernel
bench_kernel_for(const char *name, int vec, int least_blocks, const char *body)
{
	const int	nfiles = sizeof(devlib_text) / sizeof(devlib_text[0]);
	size_t		size = strlen(body) + 128;
	char		bound[48] = "";
	BenchKernel k;
	char	   *text;
	int			at;

	for (int i = 0; i < nfiles; i++)
		size += strlen(devlib_text[i]);
	text = malloc(size);
	if (text == NULL)
		bench_fail("out of memory");
	if (least_blocks > 0)
		snprintf(bound, sizeof(bound), "#define GC_LEAST_BLOCKS %d\n", least_blocks);
	at = snprintf(text, size, "%s#define GC_MAX_ARG_WORDS %d\n#define GC_CUDA_VEC %d\n", bound, ARG_WORDS, vec);
	for (int i = 0; i < nfiles; i++)
		at += snprintf(text + at, size - at, "%s", devlib_text[i]);
	snprintf(text + at, size - at, "\n%s", body);
	if (!bench_try_text(name, text, &k))
		bench_fail("kernel %s cannot be had", name);
	k.vec = vec;
	free(text);
	return k;
}

int
bench_max_threads(const BenchKernel *k)
{
	int			most = k->info.max_threads / 32 * 32;

	/* The driver that only pretends knows of 10 threads. */
	return most >= 32 && most <= bench_profile.max_threads ? most : bench_profile.serial_blocks ? 1 : 1024;
}

void
bench_queue(int s, const BenchKernel *k, GcLaunch grid, const GcArgs *args)
{
	GcError		err = {GC_OK, ""};

	check(bench_ops->launch(streams[s], k->kernel, &grid, args, ARG_WORDS, &err), &err, k->name);
}

void
bench_fill_random(GcAddr to, u64 values, int width, u64 mod, u32 seed)
{
	GcArgs		args;

	memset(&args, 0, sizeof(args));
	args.w[0] = to;
	args.w[1] = values;
	args.w[2] = (u64) width;
	args.w[3] = mod;
	args.w[4] = seed;
	bench_queue(0, &filler, (GcLaunch) {(u32) bench_profile.sms * 8, 256, 0, 0}, &args);
	bench_drain();
}

BenchTable
bench_table(u64 rows, int ncolumns, const BenchColumn *columns, u32 seed)
{
	BenchTable	t = {.ncolumns = ncolumns};
	u32			nchunks;
	GcSource   *sources;
	GcCol	   *cols;

	rows = rows < GC_TILE_ROWS ? GC_TILE_ROWS : rows / GC_TILE_ROWS * GC_TILE_ROWS;
	nchunks = (u32) ((rows + CHUNK_ROWS - 1) / CHUNK_ROWS);
	t.rows = rows;
	sources = calloc(nchunks, sizeof(GcSource));
	cols = calloc(nchunks, sizeof(GcCol));
	if (sources == NULL || cols == NULL)
		bench_fail("out of memory");
	for (u32 c = 0; c < nchunks; c++)
		sources[c] = (GcSource) {.chunk = c,.nrows = c + 1 < nchunks ? CHUNK_ROWS
			: (u32) (rows - (u64) c * CHUNK_ROWS)};
	t.scan = (GcScan) {.sources = bench_memory(nchunks * sizeof(GcSource)),
		.flags = bench_memory(GC_NFLAGS * sizeof(u32)),.nsources = nchunks,
		.tiles_per_source = CHUNK_ROWS / GC_TILE_ROWS,
	.ntiles = nchunks * (CHUNK_ROWS / GC_TILE_ROWS)};
	bench_copy_in(t.scan.sources, sources, nchunks * sizeof(GcSource));
	bench_fill_bytes(t.scan.flags, 0, GC_NFLAGS * sizeof(u32));
	for (int i = 0; i < ncolumns; i++)
	{
		GcAddr		data = bench_memory(rows * (u64) columns[i].width);

		bench_fill_random(data, rows, columns[i].width, columns[i].mod, seed + (u32) i * 77 + 1);
		for (u32 c = 0; c < nchunks; c++)
			cols[c] = (GcCol) {.data = data + (u64) c * CHUNK_ROWS * (u64) columns[i].width,
			.base = columns[i].bases > 0 ? (i64) (c % columns[i].bases) : 0,
			.width = (u32) columns[i].width,.nrows = sources[c].nrows};
		t.columns[i] = bench_memory(nchunks * sizeof(GcCol));
		t.width[i] = columns[i].width;
		bench_copy_in(t.columns[i], cols, nchunks * sizeof(GcCol));
	}
	free(sources);
	free(cols);
	return t;
}

/*-------------------------------------------------------------------------
 * Measuring
 *-------------------------------------------------------------------------
 */

static GcEvent *
put_event(int s)
{
	GcError		err = {GC_OK, ""};
	GcEvent	   *event = bench_ops->event_timed(streams[s], &err);

	if (event == NULL)
		bench_fail("event: %s", err.detail);
	return event;
}

static void
wait_for(int s, GcEvent *event)
{
	GcError		err = {GC_OK, ""};

	check(bench_ops->stream_wait(streams[s], event, &err), &err, "wait");
}

/* Calls take some 5 us each on the machines we know, 3 or 4 of them for a launch. */
static u64
gate_ns(int launches)
{
	return 20000 + 14000 * (u64) launches;
}

static void
queue_gate(u64 ns)
{
	GcArgs		args;

	if (bench_profile.serial_blocks || ns == 0)
		return;
	memset(&args, 0, sizeof(args));
	args.w[0] = ns;
	gate_end = bench_seconds() + 1e-9 * (double) ns;
	bench_queue(0, &gate, (GcLaunch) {1, 32, 0, 0}, &args);
}

/*
 * One batch on streams 1 and up, and stream 0 behind it; returns a mark in stream 0.  In turn: each
 * stream waits until the one before is about to launch.
 */
static GcEvent *
queue_batch(const BenchLaunch *l, int n, GcEvent *from, bool in_turn)
{
	GcEvent	   *turn = from;

	for (int i = 0; i < n; i++)
	{
		int			s = 1 + i % (BENCH_STREAMS - 1);

		if (i < BENCH_STREAMS - 1)
			wait_for(s, turn);
		if (turn != from)
			bench_ops->event_put(bench_dev, turn);
		turn = in_turn && i + 1 < n && i < BENCH_STREAMS - 2 ? put_event(s) : from;
		bench_queue(s, l[i].kernel, l[i].grid, l[i].args);
	}
	for (int s = 1; s < BENCH_STREAMS && s <= n; s++)
	{
		GcEvent	   *end = put_event(s);

		wait_for(0, end);
		bench_ops->event_put(bench_dev, end);
	}
	return put_event(0);
}

/* All of it, between the first mark and the last; returns their number. */
static int
queue_all(const BenchLaunch *l, int n, BenchOrder order, GcEvent **events)
{
	int			nevents = 1;

	if (n < 1 || n > BENCH_LAUNCHES)
		bench_fail("%d launches cannot be measured", n);
	events[0] = put_event(0);
	if (order == BENCH_ONE_STREAM)
	{
		for (int i = 0; i < n; i++)
			bench_queue(0, l[i].kernel, l[i].grid, l[i].args);
		events[nevents++] = put_event(0);
	}
	for (int i = 0, m; order != BENCH_ONE_STREAM && i < n; i = m)
	{
		for (m = i; m < n && l[m].batch == l[i].batch; m++)
			;
		events[nevents] = queue_batch(l + i, m - i, events[nevents - 1], order == BENCH_STREAMS_IN_TURN);
		nevents++;
	}
	return nevents;
}

double
bench_us(const BenchLaunch *l, int n, BenchOrder order)
{
	GcError		err = {GC_OK, ""};
	GcEvent	   *events[BENCH_LAUNCHES + 2];
	int			nevents;
	double		us;

	queue_gate(gate_ns(n));
	nevents = queue_all(l, n, order, events);
	measured++;
	late += !bench_profile.serial_blocks && bench_seconds() > gate_end;
	check(bench_ops->event_wait(events[nevents - 1], &err), &err, "measuring");
	us = 1000.0 * bench_ops->event_ms(events[0], events[nevents - 1]);
	for (int i = 0; i < nevents; i++)
		bench_ops->event_put(bench_dev, events[i]);
	return us > 0.001 ? us : 0.001;
}

void
bench_run(const BenchLaunch *l, int n, BenchOrder order, double gate_us)
{
	GcEvent	   *events[BENCH_LAUNCHES + 2];
	int			nevents;

	queue_gate((u64) (1000 * gate_us));
	nevents = queue_all(l, n, order, events);
	bench_drain();
	for (int i = 0; i < nevents; i++)
		bench_ops->event_put(bench_dev, events[i]);
}

double
bench_median_us(const BenchLaunch *l, int n, BenchOrder order, int runs)
{
	double		us[MAX_RUNS];

	runs = runs < MAX_RUNS ? runs : MAX_RUNS;
	(void) bench_us(l, n, order);
	for (int r = 0; r < runs; r++)
		us[r] = bench_us(l, n, order);
	return bench_median(us, runs);
}

GcDecideWork *
bench_decide_work(void)
{
	void	   *work = aligned_alloc(64, (gc_decide_work_size() + 63) / 64 * 64);

	if (work == NULL)
		bench_fail("out of memory");
	return work;
}

GcLaunch
bench_full(int threads, int per_sm, u32 shared_bytes, u64 tiles)
{
	GcGrid		grid = gc_sched_full(&bench_profile, threads, per_sm, tiles);

	return (GcLaunch) {grid.blocks, grid.threads, shared_bytes, 0};
}

GcLaunch
bench_shape(const GcStart *start, u32 shared_bytes)
{
	return (GcLaunch) {start->grid.blocks, start->grid.threads, shared_bytes, start->whole_shared};
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

double
bench_quantile(double *values, int n, double part)
{
	int			i = (int) ceil(part * n) - 1;

	return n < 1 ? 0 : values[i < 0 ? 0 : i >= n ? n - 1 : i];
}

double
bench_median(double *values, int n)
{
	qsort(values, (size_t) n, sizeof(double), compare);
	return bench_quantile(values, n, 0.5);
}

void
bench_seed(u64 seed)
{
	random_state = seed;
}

/* splitmix64 */
u32
bench_random(u32 below)
{
	u64			z = (random_state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (u32) ((z ^ z >> 31) % below);
}
