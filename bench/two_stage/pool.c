/*-------------------------------------------------------------------------
 *
 * pool.c
 *	  Kernels to schedule.
 *
 * Those of the engine's character are written in the device library's vocabulary, as
 * the code generator writes them, over one table of ten narrow columns.  Words: w0
 * the result, w1 .. the columns' descriptions (10 of them), w11 and up what else a
 * kernel needs.  All may run any number of times, and beside themselves.
 *
 * The synthetic ones keep an array of registers alive through a loop of integer arithmetic, and hold
 * shared memory.  Those of Li, Tu, Zeng (conference) do so, too, to have the resources of its table
 * I; the registers that came out are printed.
 *
 *-------------------------------------------------------------------------
 */
#include "pool.h"
#include "sched/policy/coresident.h"

#include <stdlib.h>
#include <string.h>

enum
{
	C_DATE, C_PART, C_SUPP, C_CUST, C_QTY, C_DISC, C_PRICE, C_REV, C_TEXT, C_KEY, NCOLUMNS
};

#define DATES		2556
#define PARTS		1000000
#define SUPPS		40000
#define CUSTS		600000
#define TEXTS		50000
#define KEYS		500000
#define KEY_SLOTS	(1u << 20)
#define GROUPS		1000
#define ROW_SLOTS	(1u << 22)
#define BUILD		10			/* the kernel that fills the hash table */

static const BenchColumn columns[NCOLUMNS] = {
	{2, DATES, 0}, {4, PARTS, 0}, {2, SUPPS, 0}, {4, CUSTS, 0}, {1, 50, 0}, {1, 11, 0}, {4, 1000000, 0}, {4, 1000000, 0},
	{2, TEXTS, 0}, {4, KEYS, 0}
};

enum
{
	W_OUT, W_COLUMNS, W_CODES = W_COLUMNS + NCOLUMNS, W_SUPP_BITS, W_CUST_BITS, W_PART_BITS, W_LUT,
	W_SLOTS, W_KEYS, W_NEXT, W_GROUPS, W_ROWS, W_COUNTER
};

/* Text before every body; column i of the table is D(i). */
static const char prelude[] =
"enum { C_DATE, C_PART, C_SUPP, C_CUST, C_QTY, C_DISC, C_PRICE, C_REV, C_TEXT, C_KEY };\n"
"enum { W_OUT, W_COLUMNS, W_CODES = W_COLUMNS + 10, W_SUPP_BITS, W_CUST_BITS, W_PART_BITS, W_LUT,\n"
"	W_SLOTS, W_KEYS, W_NEXT, W_GROUPS, W_ROWS, W_COUNTER };\n"
"#define D(i)	const GcCol d##i = gc_column(gc_a.w[W_COLUMNS + i], 0, gc_src.chunk)\n"
"#define BITMAP_IN_SHARED(word, n) \\\n"
"	u32 *bits = (u32 *) gc_shared; \\\n"
"	GC_NO_UNROLL for (u32 i = thread; i < ((n) + 31) / 32; i += nthreads) \\\n"
"		bits[i] = ((const u32 *) gc_a.w[word])[i]; \\\n"
"	GC_BARRIER();\n"
"#define SUM_UP \\\n"
"	sum = gc_block_add(sum); if (thread == 0) GC_ATOMIC_ADD64(gc_a.w[W_OUT], sum);\n"
"#define COLUMN(T, W, R, v, i)	GC_ARRAY(T, v); GC_LOAD(W, R, v, d##i)\n"
"#define LATE(T, W, R, v, i)	GC_ARRAY(T, v); GC_LATE(W, R, v, d##i)\n"
"GC_KERNEL(1024)\n{\nGC_PROLOGUE\n";

#define SUM_ROWS(value) \
"	GC_ROWS_DENSE(j, row) sum += (u64) (" value "); GC_END_ROWS_DENSE\n" \
"	GC_END_VECTORS GC_END_TILES SUM_UP\n}\n"

static const struct
{
	const char *name;
	const char *columns;		/* numbers of those it reads */
	u32			shared_bytes;
	const char *body;
}			engine[POOL_KERNELS] = {
	{"scan of 1 column", "6", 0,
		"u64 sum = 0;\nGC_TILES D(6);\n"
		"GC_VECTORS COLUMN(i32, 4, i32, v, 6);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, v[j] >= 100000 && v[j] < 700000);\n	GC_SETTLE\n"
	SUM_ROWS("v[j]")},
	{"scan of 2 columns", "46", 0,
		"u64 sum = 0;\nGC_TILES D(4); D(6);\n"
		"GC_VECTORS COLUMN(i32, 1, i32, q, 4);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, q[j] < 25);\n	GC_SETTLE\n	LATE(i32, 4, i32, p, 6);\n"
	SUM_ROWS("p[j]")},
	{"scan of 4 columns", "0456", 0,
		"u64 sum = 0;\nGC_TILES D(0); D(4); D(5); D(6);\n"
		"GC_VECTORS COLUMN(i32, 2, i32, o, 0); COLUMN(i32, 1, i32, q, 4); COLUMN(i32, 1, i32, c, 5);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, o[j] >= 365 && o[j] < 1460 && q[j] < 25 && c[j] >= 4 && c[j] <= 6);\n"
		"	GC_SETTLE\n	LATE(i32, 4, i32, p, 6);\n"
	SUM_ROWS("(u64) p[j] * (u32) c[j]")},
	{"dense array in L2", "37", 0,
		"u64 sum = 0; const u8 *codes = (const u8 *) gc_a.w[W_CODES];\nGC_TILES D(3); D(7);\n"
		"GC_VECTORS COLUMN(i32, 4, i32, c, 3);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, codes[c[j]] < 50);\n	GC_SETTLE\n	LATE(i32, 4, i32, p, 7);\n"
	SUM_ROWS("p[j]")},
	{"bitmap of 5 KB", "27", (SUPPS + 63) / 64 * 8,
		"u64 sum = 0; BITMAP_IN_SHARED(W_SUPP_BITS, 40000)\nGC_TILES D(2); D(7);\n"
		"GC_VECTORS COLUMN(i32, 2, i32, s, 2);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, GC_BIT(bits, s[j]));\n	GC_SETTLE\n	LATE(i32, 4, i32, p, 7);\n"
	SUM_ROWS("p[j]")},
	{"bitmap of 75 KB", "37", (CUSTS + 63) / 64 * 8,
		"u64 sum = 0; BITMAP_IN_SHARED(W_CUST_BITS, 600000)\nGC_TILES D(3); D(7);\n"
		"GC_VECTORS COLUMN(i32, 4, i32, c, 3);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, GC_BIT(bits, c[j]));\n	GC_SETTLE\n	LATE(i32, 4, i32, p, 7);\n"
	SUM_ROWS("p[j]")},
	{"bitmap of 125 KB", "17", (PARTS + 63) / 64 * 8,
		"u64 sum = 0; BITMAP_IN_SHARED(W_PART_BITS, 1000000)\nGC_TILES D(1); D(7);\n"
		"GC_VECTORS COLUMN(i32, 4, i32, c, 1);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, GC_BIT(bits, c[j]));\n	GC_SETTLE\n	LATE(i32, 4, i32, p, 7);\n"
	SUM_ROWS("p[j]")},
	{"hash probe", "496", 0,
		"u64 sum = 0;\nGC_TILES D(4); D(9); D(6);\n"
		"GC_VECTORS COLUMN(i32, 1, i32, q, 4);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, q[j] < 10);\n	GC_SETTLE\n	LATE(i64, 4, i64, k, 9);\n"
		"	GC_EACH_LIVE(j) const u64 h = gc_hash_end(gc_hash_step(0, k[j]));\n"
		"		GC_KEEP_LIVE_IF(j, gc_build_find((const u64 *) gc_a.w[W_SLOTS], 0xfffff,\n"
		"			(const i64 *) gc_a.w[W_KEYS], 500000, &k[j], 1, h) != 0);\n	GC_END_LIVE\n"
		"	LATE(i32, 4, i32, p, 6);\n"
	SUM_ROWS("p[j]")},
	{"groups in shared memory", "0407", (GROUPS + GC_SPARE_CELLS) * 16,
		"const u32 gc_cells = 1000, gc_stride = gc_cells + GC_SPARE_CELLS; u64 *gc_table = gc_shared;\n"
		"GC_NO_UNROLL for (u32 i = thread; i < 2 * gc_stride; i += nthreads) gc_shared[i] = 0;\nGC_BARRIER();\n"
		"GC_TILES D(0); D(4); D(7);\n"
		"GC_VECTORS COLUMN(i32, 1, i32, q, 4);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, q[j] < 15);\n	GC_SETTLE\n"
		"	LATE(i32, 2, i32, o, 0); LATE(i32, 4, i32, p, 7);\n"
		"	GC_ROWS_ALL(j, row) const u32 gc_cell = gc_pass ? (u32) o[j] % 1000 : gc_cells + thread % GC_SPARE_CELLS;\n"
		"		GC_ADD_L(1, (u64) p[j]); GC_COUNT_L(0); GC_END_ROWS_ALL\n"
		"GC_END_VECTORS GC_END_TILES\nGC_BARRIER();\n"
		"GC_NO_UNROLL for (u32 gc_cell = thread; gc_cell < gc_cells; gc_cell += nthreads) {\n"
		"	u64 *g = (u64 *) gc_a.w[W_GROUPS] + gc_cell * 2;\n"
		"	if (GC_SUM_L(0)) GC_ADD_G(g, GC_SUM_L(0)), GC_ADD_G(g + 1, GC_SUM_L(1));\n}\n}\n"},
	{"groups in global memory", "437", 0,
		"GC_TILES D(4); D(3); D(7);\n"
		"GC_VECTORS COLUMN(i32, 1, i32, q, 4);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, q[j] < 5);\n	GC_SETTLE\n"
		"	LATE(i32, 4, i32, c, 3); LATE(i32, 4, i32, p, 7);\n"
		"	GC_ROWS_DENSE(j, row) u64 *g = (u64 *) gc_a.w[W_GROUPS] + (u32) c[j] % 100000u * 2;\n"
		"		GC_ADD_G(g, 1); GC_ADD_G(g + 1, (u64) p[j]); GC_END_ROWS_DENSE\n"
		"GC_END_VECTORS GC_END_TILES\n}\n"},
	{"hash build", "49", 0,
		"GC_TILES D(4); D(9);\n"
		"GC_VECTORS COLUMN(i32, 1, i32, q, 4);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, q[j] == 7);\n	GC_SETTLE\n"
		"	LATE(i64, 4, i64, k, 9);\n"
		"	GC_ROWS_SPARSE(j, row) const i64 key = gc_at_4_i64(d9.data, row, d9.base, 4);\n"
		"		const u64 h = gc_hash_end(gc_hash_step(0, key)); (void) j; (void) k;\n"
		"		((i64 *) gc_a.w[W_KEYS])[key] = key; GC_FENCE();\n"
		"		gc_build_insert((u64 *) gc_a.w[W_SLOTS], 0xfffff, (const i64 *) gc_a.w[W_KEYS],\n"
		"			(u32 *) gc_a.w[W_NEXT], 500000, (u32) key, &key, 1, h); GC_END_ROWS_SPARSE\n"
		"GC_END_VECTORS GC_END_TILES\n}\n"},
	{"text filter", "86", 0,
		"u64 sum = 0; const u32 *lut = (const u32 *) gc_a.w[W_LUT];\nGC_TILES D(8); D(6);\n"
		"GC_VECTORS COLUMN(i32, 2, i32, t, 8);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, GC_BIT(lut, t[j]));\n	GC_SETTLE\n	LATE(i32, 4, i32, p, 6);\n"
	SUM_ROWS("p[j]")},
	{"row output", "0467", 0,
		"u64 *rows = (u64 *) gc_a.w[W_ROWS];\nGC_TILES D(0); D(4); D(6); D(7);\n"
		"GC_VECTORS COLUMN(i32, 2, i32, o, 0); COLUMN(i32, 1, i32, q, 4);\n"
		"	GC_EACH(j) GC_KEEP_IF(j, o[j] < 512 && q[j] < 5);\n	GC_SETTLE\n"
		"	GC_ROWS_SPARSE(j, row) const u32 to = GC_ATOMIC_ADD32(gc_a.w[W_COUNTER], 1) & 0x3fffff; (void) j;\n"
		"		rows[to] = (u64) gc_at_4_i64(d6.data, row, d6.base, 4);\n"
		"		rows[0x400000 + to] = (u64) gc_at_4_i64(d7.data, row, d7.base, 4); GC_END_ROWS_SPARSE\n"
		"GC_END_VECTORS GC_END_TILES\n}\n"},
};

static u64
bytes_per_row(const char *numbers)
{
	u64			bytes = 0;
	bool		seen[NCOLUMNS] = {false};

	for (; *numbers != '\0'; numbers++)
	{
		int			c = *numbers - '0';

		bytes += seen[c] ? 0 : (u64) columns[c].width;
		seen[c] = true;
	}
	return bytes;
}

/* Bytes of the structures below that a kernel looks up at random outside of shared memory. */
static u64
looked_up(int kernel)
{
	static const struct
	{
		const char *word;		/* in the kernel's text */
		u64			bytes;
	}			at[] = {
		{"W_CODES]", CUSTS}, {"W_SLOTS]", KEY_SLOTS * 8}, {"W_KEYS]", KEYS * 8}, {"W_LUT]", TEXTS / 8},
		{"W_GROUPS] + (u32) c", 100000 * 16},
	};
	u64			bytes = 0;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		bytes += strstr(engine[kernel].body, at[i].word) != NULL ? at[i].bytes : 0;
	return bytes;
}

/* Arrays that kernels need besides the table. */
static void
make_structures(GcArgs *args)
{
	static const struct
	{
		int			word;
		u64			values;
		int			width;
		u64			mod;
	}			random[] = {
		{W_CODES, CUSTS, 1, 256}, {W_SUPP_BITS, SUPPS / 8 + 8, 1, 0}, {W_CUST_BITS, CUSTS / 8 + 8, 1, 0},
		{W_PART_BITS, PARTS / 8 + 8, 1, 0}, {W_LUT, TEXTS / 8 + 8, 1, 0},
	};
	static const struct
	{
		int			word;
		u64			bytes;
	}			zeroed[] = {
		{W_OUT, 64}, {W_SLOTS, KEY_SLOTS * 8}, {W_KEYS, KEYS * 8}, {W_NEXT, KEYS * 4},
		{W_GROUPS, 200000 * 8}, {W_ROWS, (u64) ROW_SLOTS * 16}, {W_COUNTER, 64},
	};

	for (size_t i = 0; i < sizeof(random) / sizeof(random[0]); i++)
	{
		args->w[random[i].word] = bench_memory(random[i].values * (u64) random[i].width);
		bench_fill_random(args->w[random[i].word], random[i].values, random[i].width, random[i].mod,
						  1000 + (u32) i);
	}
	for (size_t i = 0; i < sizeof(zeroed) / sizeof(zeroed[0]); i++)
	{
		args->w[zeroed[i].word] = bench_memory(zeroed[i].bytes);
		bench_fill_bytes(args->w[zeroed[i].word], 0, zeroed[i].bytes);
	}
}

/* Sums of all that a kernel of the pool wrote where its results go. */
static u64
result_of(const PoolKernel *k, int kernel, int per_sm, int threads)
{
	static const struct
	{
		int			word;
		u64			bytes;
	}			at[] = {{W_OUT, 8}, {W_COUNTER, 8}, {W_GROUPS, 200000 * 8}};
	u64			sum = 0;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		bench_fill_bytes(k->args.w[at[i].word], 0, at[i].bytes);
	bench_queue(0, &k->k, bench_full(threads, per_sm, k->shared_bytes, k->tiles), &k->args);
	bench_drain();
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
	{
		u64		   *words = malloc(at[i].bytes);

		if (words == NULL)
			bench_fail("out of memory");
		bench_copy_out(words, k->args.w[at[i].word], at[i].bytes);
		for (u64 w = 0; w < at[i].bytes / 8; w++)
			sum += words[w] * (w + 1 + (u64) kernel);
		free(words);
	}
	return sum;
}

/* Every kernel must find something, and the same in blocks of any number and size. */
static void
check_results(const PoolKernel *pool)
{
	if (bench_options.profile != NULL)
		return;					/* a driver that only pretends runs nothing */
	for (int i = 0; i < POOL_KERNELS; i++)
	{
		u64			one = result_of(&pool[i], i, 1, 64);
		u64			other = result_of(&pool[i], i, 1, 1024);

		if (one != other || (one == 0 && i != BUILD))
			bench_fail("kernel %s: %llu in one size, %llu in another", pool[i].k.name, one, other);
	}
}

void
pool_make(PoolKernel pool[POOL_KERNELS], u64 rows)
{
	GcArgs		args;
	BenchTable	t;
	u64			most;

	memset(&args, 0, sizeof(args));
	if (rows == 0)
		rows = bench_profile.shares_cpu ? 2000000 : 48000000;
	make_structures(&args);
	/* 28 bytes a row, and some to spare */
	most = bench_memory_left() > 64 * MEGABYTE ? (bench_memory_left() - 64 * MEGABYTE) / 32 : 0;
	rows = rows < most ? rows : most;
	t = bench_table(rows, NCOLUMNS, columns, 1);
	args.scan = t.scan;
	for (int c = 0; c < NCOLUMNS; c++)
		args.w[W_COLUMNS + c] = t.columns[c];
	for (int i = 0; i < POOL_KERNELS; i++)
	{
		PoolKernel *k = &pool[i];
		char	   *body = malloc(sizeof(prelude) + strlen(engine[i].body));

		if (body == NULL)
			bench_fail("out of memory");
		strcpy(body, prelude);
		strcat(body, engine[i].body);
		memset(k, 0, sizeof(*k));
		k->k = bench_kernel(engine[i].name, 8, body);
		free(body);
		k->args = args;
		k->shared_bytes = engine[i].shared_bytes;
		k->tiles = t.scan.ntiles;
		k->bytes = t.rows * bytes_per_row(engine[i].columns);
		k->columns = engine[i].columns;
		k->lookup_bytes = looked_up(i);
		k->max_threads = bench_max_threads(&k->k);
	}
	/* The build that the probe probes. */
	bench_queue(0, &pool[BUILD].k, bench_full(256, 4, 0, pool[BUILD].tiles), &pool[BUILD].args);
	bench_drain();
	check_results(pool);
	bench_say("Pool: %d kernels over a table of %.1f million rows of %d columns.\n\n", POOL_KERNELS,
			  (double) t.rows / 1e6, NCOLUMNS);
}

/*-------------------------------------------------------------------------
 * Synthetic
 *-------------------------------------------------------------------------
 */

/*
 * w0: result, w1: threads in all, w2: turns of each.  Every turn depends on the one
 * before it in each of LIVE registers, which therefore all stay alive.
 */
static const char synthetic_body[] =
"GC_KERNEL(1024)\n{\nGC_PROLOGUE\n"
"	const u32 me = block * nthreads + thread;\n"
"	u32 r[LIVE];\n"
"	if (thread == 0) gc_shared[0] = gc_a.w[1];\n"
"	GC_BARRIER();\n"
"	if (me >= gc_shared[0]) return;\n"
"	GC_UNROLL for (int i = 0; i < LIVE; i++) r[i] = me * 2654435761u + i;\n"
"	GC_NO_UNROLL for (u32 t = 0; t < (u32) gc_a.w[2]; t++)\n"
"	{\n"
"		GC_UNROLL for (int i = 0; i < LIVE; i++)\n"
"			r[i] = r[i] * 1664525u + r[(i + LIVE - 1) % LIVE];\n"
"	}\n"
"	u32 x = 0;\n"
"	GC_UNROLL for (int i = 0; i < LIVE; i++) x ^= r[i];\n"
"	if (x == 0x12345678u) ((u32 *) gc_a.w[0])[0] = x;\n"
"}\n";

void
pool_make_synthetic(PoolKernel pool[POOL_SYNTHETIC], int scale)
{
	/* Li, Tu, Zeng (conference), table I.  Some registers are taken before the array gets any. */
	static const int registers[POOL_SYNTHETIC] = {8, 16, 24, 32, 40};
	static const int shared[POOL_SYNTHETIC] = {24576, 12288, 6144, 4608, 1536};
	static const int live[POOL_SYNTHETIC] = {2, 8, 15, 23, 31};
	GcAddr		out = bench_memory(64);

	for (int i = 0; i < POOL_SYNTHETIC; i++)
	{
		PoolKernel *k = &pool[i];
		char		body[sizeof(synthetic_body) + 64];
		char		name[32];

		memset(k, 0, sizeof(*k));
		snprintf(name, sizeof(name), "synthetic %d (table I: %d)", i + 1, registers[i]);
		snprintf(body, sizeof(body), "#define LIVE %d\n%s", live[i], synthetic_body);
		k->k = bench_kernel(name, 8, body);
		k->shared_bytes = (u32) ((u64) shared[i] * (u64) scale / 100 / 128 * 128);
		k->max_threads = bench_max_threads(&k->k);
		k->args.w[0] = out;
		/* about a tenth of a millisecond, at a dependent instruction every 5 cycles or so */
		k->args.w[2] = (u64) (24000 / live[i]);
		pool_set_total(k, (u64) bench_profile.sms * 64);
	}
}

void
pool_set_total(PoolKernel *k, u64 threads)
{
	if (k->tiles == 0)
		k->args.w[1] = threads;
}

/*-------------------------------------------------------------------------
 * Sizes
 *-------------------------------------------------------------------------
 */

u32
pool_shared(const PoolKernel *k)
{
	return k->shared_bytes + (u32) k->k.info.shared_static;
}

GcLaunch
pool_shape(const PoolKernel *k, int blocks_per_sm, int warps)
{
	u64			blocks = (u64) bench_profile.sms * (u64) blocks_per_sm;

	if (k->tiles > 0 && blocks > k->tiles)
		blocks = k->tiles;
	return (GcLaunch) {(u32) blocks, (u32) (warps * bench_profile.warp_size), k->shared_bytes, 0};
}

GcLaunch
pool_spread(const PoolKernel *k, u64 threads, int warps)
{
	u64			size = (u64) (warps * bench_profile.warp_size);
	u64			blocks = (threads + size - 1) / size;

	if (k->tiles > 0 && blocks > k->tiles)
		blocks = k->tiles;
	return (GcLaunch) {(u32) (blocks > 0 ? blocks : 1), (u32) size, k->shared_bytes, 0};
}

BenchLaunch
pool_launch(const PoolKernel *k, GcLaunch grid, int batch)
{
	return (BenchLaunch) {&k->k, &k->args, grid, batch};
}

/* Alone, a kernel may have the whole device; a counted one, only its threads. */
static void
measure_one(PoolKernel *k, int runs)
{
	static const int warps[] = {1, 2, 4, 8, 16, 32};

	k->alone_us = 0;
	for (size_t w = 0; w < sizeof(warps) / sizeof(warps[0]); w++)
	{
		int			threads = warps[w] * bench_profile.warp_size;
		int			most = bench_profile.serial_blocks ? 4 : gc_occupancy(&bench_profile, k->k.info.registers,
																 threads, pool_shared(k));

		if ((threads > k->max_threads || most < 1) && !bench_profile.serial_blocks)
			continue;
		/* All that fits, or half of it: fewer threads are better for some. */
		for (int part = 1; part <= 2; part++)
		{
			int			per_sm = most / part;
			GcLaunch	grid;
			BenchLaunch l;
			double		us;

			if (per_sm < 1 || (part > 1 && k->tiles == 0))
				continue;
			grid = k->tiles > 0 ? pool_shape(k, per_sm, warps[w]) : pool_spread(k, k->args.w[1], warps[w]);
			l = pool_launch(k, grid, 0);
			us = bench_median_us(&l, 1, BENCH_ONE_STREAM, runs);
			if (k->alone_us == 0 || us < k->alone_us)
			{
				k->alone_us = us;
				k->best = grid;
				k->best_per_sm = per_sm;
			}
		}
		if (bench_profile.shares_cpu)
			break;
	}
	if (k->alone_us == 0)
		bench_fail("kernel %s fits no multiprocessor", k->k.name);
}

void
pool_measure(PoolKernel *pool, int n, int runs)
{
	bench_say("| kernel | registers | shared memory, bytes | spilled, bytes | MB read | best size alone | alone, us |\n"
			  "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < n; i++)
	{
		PoolKernel *k = &pool[i];

		measure_one(k, runs);
		bench_say("| %s | %d | %u | %d | %.0f | %u x %u | %.1f |\n", k->k.name, k->k.info.registers,
				  pool_shared(k), k->k.info.local_bytes, (double) k->bytes / 1e6, k->best.blocks,
				  k->best.threads, k->alone_us);
	}
	bench_say("\n");
}

/*
 * So many of one kernel side by side, in step, or two where they are too large for more.  What they take
 * together beyond reading the columns once, and beyond their latency, is instructions and lookups.
 */
#define ISSUE_COPIES	4

/* Their time in the size with which it is least, and the warps of that; 0: they do not fit. */
static double
side_by_side(const PoolKernel *k, int copies, int runs, int *best)
{
	BenchLaunch l[ISSUE_COPIES];
	double		us = 0;

	for (int warps = 2; warps * copies <= bench_profile.max_warps; warps *= 2)
	{
		double		together;

		if (warps * bench_profile.warp_size > k->max_threads ||
			gc_occupancy(&bench_profile, k->k.info.registers, warps * bench_profile.warp_size, pool_shared(k)) < copies)
			continue;
		for (int c = 0; c < copies; c++)
			l[c] = pool_launch(k, pool_shape(k, 1, warps), 0);
		together = bench_median_us(l, copies, BENCH_STREAMS_EACH, runs);
		if (us > 0 && together >= us)
			continue;
		us = together;
		*best = warps;
	}
	return us;
}

void
pool_measure_issue(PoolKernel *pool, int n, int runs)
{
	bench_say("| kernel | beside each other | warps each | us | of so many alone | issue |\n"
			  "| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < n; i++)
	{
		PoolKernel *k = &pool[i];
		GcCandidate		candidate;
		const GcSchedule one = {.profile = &bench_profile,.calibration = &bench_calibration,.ncandidates = 1,.candidate = &candidate};
		const int	pick[1] = {0};
		int			warps = 0;
		int			copies = ISSUE_COPIES;
		double		us = side_by_side(k, copies, runs, &warps);

		if (us == 0)
			us = side_by_side(k, copies = 2, runs, &warps);
		pool_item(k, 1, &candidate);
		k->issue_part = us == 0 ? 1 : gc_coresident_issue_part(&bench_calibration, &candidate.needs, copies, warps,
															 gc_coresident_times(&one, pick, 1).memory_us, us);
		if (us > 0)
			bench_say("| %s | %d | %d | %.1f | %.2f | %.2f |\n", k->k.name, copies, warps, us, us / (copies * k->alone_us),
					  k->issue_part);
		else
			bench_say("| %s | too large | | | | %.2f |\n", k->k.name, k->issue_part);
	}
	bench_say("\n");
}

void
pool_item(const PoolKernel *k, uint32_t type, GcCandidate *candidate)
{
	const u64	bytes = bytes_per_row(k->columns);

	memset(candidate, 0, sizeof(*candidate));
	*candidate = (GcCandidate) {.type = type,.scan = 1,.tiles = k->tiles,.fused = -1,
	.lookup_bytes = (double) k->lookup_bytes};
	for (int c = 0; c < NCOLUMNS; c++)
	{
		if (strchr(k->columns, '0' + c) != NULL)
			candidate->load[candidate->nloads++] = (GcColumnLoad) {(uint32_t) c,
				(float) k->bytes * (float) columns[c].width / (float) bytes};
	}
	candidate->needs = (GcKernelNeeds) {.registers = k->k.info.registers,.max_threads = k->max_threads,
		.threads = (int) k->best.threads,.occupancy = k->best_per_sm,.shared_bytes = pool_shared(k),
		.alone_us = k->alone_us,.issue_part = k->issue_part,
	.warp_flight = (uint32_t) (bytes * (u64) (k->k.vec * bench_profile.warp_size))};
}
