/*-------------------------------------------------------------------------
 *
 * selection.c [--rows N] ...
 *	  What selection scans take, part by part: the selection kernel, and the kernels that visit marks.
 *
 * Selection kernel: the one that would serve the Star Schema Benchmark, over six columns, four of them
 * by class, for 1 to 32 requests; with few classes, whose tables lie in few words of shared memory,
 * and with many, whose lookups meet in banks; and for requests that test the first three columns only.
 *
 * Visiting: a kernel that adds up 0 to 3 columns of the rows that have a mark, for densities of marks from 1 in
 * 10,000 to 4 in 10; alone, and eight of them side by side, each with marks of its own.  The same with the sum kept
 * per group in global memory, 280 groups: what atomic additions to few addresses take.  And with two lookups for
 * each row, by the first column and by the second, in places of 8 MB.  They are done for each row by itself, or
 * together for all that a thread has gathered (codegen/step/batched_lookup.c).
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "codegen/selection.h"
#include "common.h"

#define RUNS		7
#define SIDE		8			/* kernels side by side */
#define GROUPS		280
#define VALUES		1000000		/* of the first two columns, which have a place each */
#define THREADS		256

/* Threads per multiprocessor of kernels side by side, as in worker/share/selection_scan.c. */
#define THREADS_OF_ALL	4096
#define THREADS_OF_ONE	512

/*-------------------------------------------------------------------------
 * Selection kernel
 *-------------------------------------------------------------------------
 */

typedef struct Tested
{
	GcSelectorColumn column;
	u32			few;			/* values, or classes */
	u32			many;
} Tested;

static const Tested tested[] = {
	{{.width = 1,.shared = true}, 11, 11},
	{{.width = 1,.shared = true}, 50, 50},
	{{.width = 2,.key_group_width = 1,.shared = true,.copies = 16}, 7, 250},
	{{.width = 4,.key_group_width = 1,.shared = true,.copies = 16}, 5, 250},
	{{.width = 4,.key_group_width = 1,.shared = true,.copies = 16}, 5, 250},
	{{.width = 4,.key_group_width = 2,.shared = true}, 25, 1000},
};

#define NTESTED		((int) (sizeof(tested) / sizeof(tested[0])))

static BenchKernel
selector_kernel(void)
{
	GcSelectorColumn columns[NTESTED];
	BenchKernel k;
	char	   *text;

	for (int i = 0; i < NTESTED; i++)
		columns[i] = tested[i].column;
	text = gc_generate_selector(columns, NTESTED);
	if (text == NULL || !bench_try_text("selector", text, &k))
		bench_fail("the selector cannot be had");
	free(text);
	return k;
}

static int
read_width(const Tested *t)
{
	return t->column.key_group_width ? t->column.key_group_width : t->column.width;
}

/* Tables of random masks, and the columns; returns bytes of shared memory. */
static u32
fill_marker_args(const BenchTable *table, bool many, GcArgs *args)
{
	const GcAddr mismatch = bench_memory(sizeof(u32));
	u64			shared = 0;

	bench_fill_bytes(mismatch, 0, sizeof(u32));
	for (int k = 0; k < NTESTED; k++)
	{
		const bool	key_groups = tested[k].column.key_group_width > 0;
		const u32	n = many ? tested[k].many : tested[k].few;
		const GcAddr masks = bench_memory(GC_SELECT_TABLE_BYTES(n));
		u64		   *w = &args->w[GC_SELECTOR_WORDS(k)];

		bench_fill_random(masks, n + 1, 4, (u64) 1 << 32, (u32) k + 1);
		w[0] = key_groups ? 0 : table->columns[k];
		w[1] = masks;
		w[3] = n;
		w[4] = (u64) UINT32_MAX << 32;
		w[5] = key_groups ? table->columns[k] : 0;
		w[6] = masks;
		w[7] = n;
		w[8] = mismatch;
		shared += GC_SELECT_SHARED_BYTES(key_groups ? n : n + 1, gc_table_copies(&tested[k].column));
	}
	return (u32) shared;
}

static void
measure_selector(u64 rows, bool many, int read, const BenchKernel *k)
{
	static const int numbers[] = {1, 2, 4, 8, 12, 16, 24, 32};
	BenchColumn columns[NTESTED];
	BenchTable	table;
	GcArgs		args;
	GcSource   *sources;
	u64			per_chunk;
	u32			shared;
	GcLaunch	grid;

	for (int i = 0; i < NTESTED; i++)
		columns[i] = (BenchColumn) {read_width(&tested[i]), many ? tested[i].many : tested[i].few, 0};
	table = bench_table(rows, NTESTED, columns, 1);
	memset(&args, 0, sizeof(args));
	args.scan = table.scan;
	/* every request reads every chunk */
	sources = malloc(table.scan.nsources * sizeof(GcSource));
	bench_copy_out(sources, table.scan.sources, table.scan.nsources * sizeof(GcSource));
	for (u32 i = 0; i < table.scan.nsources; i++)
		sources[i].valid = UINT32_MAX;
	bench_copy_in(table.scan.sources, sources, table.scan.nsources * sizeof(GcSource));
	free(sources);
	per_chunk = (u64) table.scan.tiles_per_source * GC_TILE_ROWS / 8;
	args.w[1] = bench_memory(per_chunk * table.scan.nsources * GC_MAX_SELECTED);
	args.w[2] = per_chunk;
	args.w[3] = per_chunk * table.scan.nsources;
	args.w[4] = bench_memory(GC_SUMMARY_BYTES(per_chunk * table.scan.nsources));
	shared = fill_marker_args(&table, many, &args);
	for (int i = read; i < NTESTED; i++)
		args.w[GC_SELECTOR_WORDS(i) + 4] = UINT32_MAX;
	grid = bench_full(GC_SELECTOR_THREADS, bench_profile.serial_blocks ? 4 : bench_ops->occupancy(k->kernel, GC_SELECTOR_THREADS, shared),
					   shared, table.scan.ntiles);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
	{
		const BenchLaunch l = {k, &args, grid, 0};

		args.w[0] = ((u64) 1 << numbers[i]) - 1;
		bench_say("| %d | %s | %d | %u x %u | %d | %.1f |\n", read, many ? "many" : "few", numbers[i], grid.blocks,
				  grid.threads, k->info.registers, bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS));
	}
}

static void
part_selector(u64 rows)
{
	const BenchKernel k = selector_kernel();

	bench_say("### Marker, %.1f million rows\n\n| columns | key_groups | requests | grid | registers | us |\n"
			  "| ---: | --- | ---: | ---: | ---: | ---: |\n", (double) rows / 1e6);
	measure_selector(rows, false, NTESTED, &k);
	measure_selector(rows, true, NTESTED, &k);
	measure_selector(rows, false, NTESTED / 2, &k);
	bench_say("\n");
}

/*-------------------------------------------------------------------------
 * Visiting
 *-------------------------------------------------------------------------
 */

static const BenchColumn visited[] = {{4, VALUES, 0}, {4, VALUES, 0}, {2, 2500, 0}};

#define NVISITED	((int) (sizeof(visited) / sizeof(visited[0])))

typedef enum LookUp
{
	NO_LOOKUP, ROW_BY_ROW, TOGETHER
} LookUp;

/* Purposes for which a kernel visits rows. */
typedef struct Visit
{
	int			columns;
	bool		groups;
	LookUp		look_up;		/* by the first two columns */
} Visit;

static const Visit visits[] = {
	{0, false, NO_LOOKUP}, {1, false, NO_LOOKUP}, {2, false, NO_LOOKUP}, {3, false, NO_LOOKUP}, {3, true, NO_LOOKUP},
	{3, false, ROW_BY_ROW}, {3, false, TOGETHER}
};

#define NVISITS		((int) (sizeof(visits) / sizeof(visits[0])))

/*
 * w0 and w1 the marks, w2 to w4 the columns, w5 results, w9 the marks' block summary, w10 the places.
 */
static BenchKernel
visiting_kernel(const Visit *v)
{
	static const char *const how[] = {"", ", lookups", ", together"};
	const int	columns = v->columns;
	char		body[4096];
	char		name[48];
	size_t		n = 0;

#define ADD(...)	n += (size_t) snprintf(body + n, sizeof(body) - n, __VA_ARGS__)
	ADD("GC_KERNEL(%d)\n{\nGC_PROLOGUE\nu64 sum = 0;\n#define GC_LANE_ROWS 4\n"
		"GC_SELECTED_TILES(%d, gc_a.w[0], gc_a.w[1], gc_a.w[9], 0)\n", THREADS, THREADS);
	for (int c = 0; c < columns; c++)
		ADD("const GcCol d%d = gc_column(gc_a.w[%d], 0, gc_src.chunk);\n", c, 2 + c);
	ADD("GC_SELECTED_VECTORS\n");
	for (int c = 0; c < columns; c++)
		ADD("GC_SELECTED_ARRAY(i32, c%d);\nGC_GATHER(%d, i32, c%d, d%d);\n", c, visited[c].width, c, c);
	for (int c = 0; c < 2 && v->look_up == TOGETHER; c++)
		ADD("GC_SELECTED_ARRAY(u64, z%d);\nGC_LOOK_UP(gc_j)\nz%d[gc_j] = ((const u64 *) gc_a.w[10])[c%d[gc_j]];\n"
			"GC_END_LOOK_UP\n", c, c, c);
	ADD("GC_SELECTED_ROWS(gc_j, gc_r)\nu64 v = gc_r;\n");
	for (int c = 0; c < 2 && v->look_up != NO_LOOKUP; c++)
	{
		if (v->look_up == TOGETHER)
			ADD("const u64 place%d = z%d[gc_j];\n", c, c);
		else
			ADD("const u64 place%d = ((const u64 *) gc_a.w[10])[c%d[gc_j]];\n", c, c);
		ADD("if (!(u32) place%d) continue;\nv += place%d >> 32;\n", c, c);
	}
	for (int c = 0; c < columns; c++)
		ADD("v += (u64) c%d[gc_j] << %d;\n", c, c);
	if (v->groups)
		ADD("u64 *g = (u64 *) gc_a.w[5] + 2 * ((u32) v * 2654435761u %% %d);\nGC_ATOMIC_ADD64(g, 1);\n"
			"GC_ATOMIC_ADD64(g + 1, v);\n", GROUPS);
	else
		ADD("sum += v;\n");
	ADD("GC_END_SELECTED_ROWS\nGC_END_SELECTED_VECTORS\nGC_END_TILES\n"
		"sum = gc_block_add(sum);\nif (thread == 0 && sum) GC_ATOMIC_ADD64((u64 *) gc_a.w[5], sum);\n}\n");
#undef ADD
	snprintf(name, sizeof(name), "%d column%s%s%s", columns, columns == 1 ? "" : "s", v->groups ? ", groups" : "",
			 how[v->look_up]);
	return bench_kernel_for(name, 8, GC_SELECTED_BLOCKS(THREADS), body);
}

/* Bits are set at random; the block summary says where there are any. */
static void
draw_marks(unsigned char *bits, u32 *summary, u64 bytes, double density)
{
	const u32	below = (u32) (density * (1 << 24));

	memset(bits, 0, bytes);
	memset(summary, 0, GC_SUMMARY_BYTES(bytes));
	for (u64 i = 0; i < bytes * 8; i++)
	{
		const bool	selection = bench_random(1 << 24) < below;

		bits[i / 8] |= (unsigned char) (selection << i % 8);
		summary[i / GC_SUMMARY_ROWS] |= selection;
	}
}

static void
measure_visiting(const BenchKernel *k, const GcArgs *args, u64 tiles, double density)
{
	BenchLaunch l[SIDE];
	double		us[2];

	for (int part = 0; part < 2; part++)
	{
		const int	n = part ? SIDE : 1;
		const int	most = THREADS_OF_ALL / n > THREADS_OF_ONE ? THREADS_OF_ALL / n : THREADS_OF_ONE;
		int			per_sm = bench_profile.serial_blocks ? 4 : bench_ops->occupancy(k->kernel, THREADS, 0);

		per_sm = per_sm < most / THREADS ? per_sm : most / THREADS;
		for (int i = 0; i < n; i++)
			l[i] = (BenchLaunch) {k, &args[i], bench_full(THREADS, per_sm, 0, tiles), 0};
		us[part] = bench_median_us(l, n, BENCH_STREAMS_EACH, RUNS) / n;
	}
	bench_say("| %g | %s | %d | %.1f | %.1f |\n", density, k->name, k->info.registers, us[0], us[1]);
}

static void
part_visiting(u64 rows)
{
	static const double densities[] = {0.0001, 0.002, 0.008, 0.02, 0.035, 0.1, 0.4};
	const BenchTable table = bench_table(rows, NVISITED, visited, 7);
	const u64	per_chunk = (u64) table.scan.tiles_per_source * GC_TILE_ROWS / 8;
	const u64	digest_bytes = GC_SUMMARY_BYTES(per_chunk);
	unsigned char *bits = malloc(per_chunk);
	u32		   *summary = malloc(digest_bytes);
	BenchKernel kernels[NVISITS];
	GcArgs		args[SIDE];

	if (bits == NULL || summary == NULL)
		bench_fail("out of memory");
	for (int k = 0; k < NVISITS; k++)
		kernels[k] = visiting_kernel(&visits[k]);
	memset(args, 0, sizeof(args));
	for (int i = 0; i < SIDE; i++)
	{
		args[i].scan = table.scan;
		args[i].w[0] = bench_memory(per_chunk * table.scan.nsources);
		args[i].w[1] = per_chunk;
		for (int c = 0; c < NVISITED; c++)
			args[i].w[2 + c] = table.columns[c];
		args[i].w[5] = bench_memory(GROUPS * 2 * sizeof(u64));
		args[i].w[9] = bench_memory(digest_bytes * table.scan.nsources);
		args[i].w[10] = bench_memory(VALUES * sizeof(u64));
		bench_fill_bytes(args[i].w[10], 1, VALUES * sizeof(u64));
	}
	bench_say("### Visiting sel_bitmap, %.1f million rows: columns of 4, 4 and 2 bytes\n\n"
			  "| density | reads | registers | alone, us | %d side by side, us each |\n"
			  "| ---: | --- | ---: | ---: | ---: |\n", (double) table.rows / 1e6, SIDE);
	for (size_t d = 0; d < sizeof(densities) / sizeof(densities[0]) && !bench_late(0, bench_options.seconds); d++)
	{
		/* the chunks have the same marks, the kernels have different ones */
		for (int i = 0; i < SIDE; i++)
		{
			draw_marks(bits, summary, per_chunk, densities[d]);
			for (u32 c = 0; c < table.scan.nsources; c++)
			{
				bench_copy_in(args[i].w[0] + c * per_chunk, bits, per_chunk);
				bench_copy_in(args[i].w[9] + c * digest_bytes, summary, digest_bytes);
			}
		}
		for (int k = 0; k < NVISITS; k++)
			measure_visiting(&kernels[k], args, table.scan.ntiles, densities[d]);
	}
	free(bits);
	free(summary);
}

int
main(int argc, char **argv)
{
	const BenchOptions defaults = {.device = "cuda",.memory = 16000 * MEGABYTE,.rows = 120000000,.seconds = 60};

	bench_open(argc, argv, &defaults, 120);
	bench_seed(1);
	part_selector(bench_options.rows);
	part_visiting(bench_options.rows);
	bench_close();
	return 0;
}
