/*-------------------------------------------------------------------------
 *
 * groups.c [--rows N] ...
 *	  What a table of groups in shared memory takes, by its layout, and several in one kernel.
 *
 * 4,950 groups by three columns of 1 byte, a count and a sum each.  A filter on a fourth column keeps all rows,
 * or half; the mixes' query G (pg.sh).  In the words of codegen/sink/sink_dense_groups.c, and with the words of
 * a group side by side, as they were before.  Bodies of one kernel differ in the filter's constant and have a
 * table each.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define RUNS		7
#define NGROUPS		4950
#define NCOLUMNS	5
#define PRICES		1000000
#define MOST_BODIES	2

static const BenchColumn columns[NCOLUMNS] = {{4, PRICES, 0}, {1, 50, 0}, {1, 11, 0}, {1, 9, 0}, {4, 10000000, 0}};

typedef enum Layout
{
	TOGETHER,					/* a group's words of 64 bits side by side */
	APART,						/* gc_agg.h's */
	APART_COUNTED				/* and counts of 32 bits; rows that do not count go to spare cells */
} Layout;

static const char *const layout_names[] = {
	"words side by side", "words apart", "words apart, counts of 32 bits, no branches"
};

static const char together[] =
"#define UPDATE(v) { u32 *h = (u32 *) (gc_table + (u64) gc_cell * 2); \\\n"
"	if (atomicAdd(h, 1u) == 0xffffffffu) atomicAdd(h + 1, 1u); \\\n"
"	const u32 old = atomicAdd(h + 2, (u32) v), hi = (u32) ((v) >> 32) + (old + (u32) v < old); \\\n"
"	if (hi) atomicAdd(h + 3, hi); }\n#define CELL(x) (x)\n#define PICK GC_ROWS_DENSE\n#define END_PICK GC_END_ROWS_DENSE\n"
"#define ROWS (gc_table[(u64) gc_cell * 2])\n#define SUM (gc_table[(u64) gc_cell * 2 + 1])\n";
static const char apart[] =
"#define UPDATE(v) { GC_ADD_L(1, v); GC_ADD_L(0, 1); }\n"
"#define CELL(x) (x)\n#define PICK GC_ROWS_DENSE\n#define END_PICK GC_END_ROWS_DENSE\n"
"#define ROWS GC_SUM_L(0)\n#define SUM GC_SUM_L(1)\n";
static const char apart_counted[] =
"#define UPDATE(v) { GC_ADD_L(1, v); GC_COUNT_L(0); }\n"
"#define CELL(x) (gc_pass ? (x) : gc_cells + thread % GC_SPARE_CELLS)\n"
"#define PICK GC_ROWS_ALL\n#define END_PICK GC_END_ROWS_ALL\n#define ROWS GC_SUM_L(0)\n#define SUM GC_SUM_L(1)\n";
static const char *const layouts[] = {together, apart, apart_counted};

static const char body_text[] =
"#define TABLE(k) u64 *gc_table = gc_shared + k * 2 * gc_stride\n"
"#define BODY(k) { TABLE(k); const i32 least = (i32) gc_a.w[8 + k]; \\\n"
"	const u32 stride1 = (u32) gc_a.w[16 + 2 * k], stride2 = (u32) gc_a.w[17 + 2 * k]; \\\n"
"	do { BODY_LIVE \\\n"
"	GC_EACH(j) GC_KEEP_IF(j, a[j] >= least); GC_SETTLE REST \\\n"
"	PICK(j, row) const u32 gc_cell = CELL((u32) b[j] + (u32) c[j] * stride1 + (u32) d[j] * stride2); \\\n"
"		UPDATE((u64) (i64) e[j]) END_PICK } while (0); }\n"
"#define FINISH(k) { TABLE(k); for (u32 gc_cell = thread; gc_cell < gc_cells; gc_cell += nthreads) if (ROWS) { \\\n"
"	u64 *g = (u64 *) gc_a.w[k] + gc_cell * 2; GC_ADD_G(g, ROWS); GC_ADD_G(g + 1, SUM); } }\n";

static BenchKernel
groups_kernel(Layout layout, int members, int vec, int threads)
{
	char		body[8192];
	char		name[32];
	size_t		n;
	const bool	one = members == 1;

	n = (size_t) snprintf(body, sizeof(body), "%s#define BODY_LIVE %s\n#define REST %s\n%sGC_KERNEL(%d)\n{\nGC_PROLOGUE\n"
						  "const u32 gc_cells = %d, gc_stride = gc_cells + GC_SPARE_CELLS;\n"
						  "GC_NO_UNROLL for (u32 i = thread; i < %d * gc_stride; i += nthreads) gc_shared[i] = 0;\nGC_BARRIER();\n"
						  "GC_TILES\n",
						  layouts[layout], one ? "" : "GC_VECTOR_LIVE(gc_src.valid, gc_row)",
						  one ? "GC_LATE(1, i32, b, d1); GC_LATE(1, i32, c, d2); GC_LATE(1, i32, d, d3); GC_LATE(4, i32, e, d4);" : "",
						  body_text, threads, NGROUPS, 2 * members);
	for (int c = 0; c < NCOLUMNS; c++)
		n += (size_t) snprintf(body + n, sizeof(body) - n,
							   "	const GcCol d%d = gc_column(gc_a.w[%d], 0, gc_src.chunk);\n", c, 24 + c);
	n += (size_t) snprintf(body + n, sizeof(body) - n, "%s\n", one ? "GC_VECTORS" : "GC_SHARED_VECTORS");
	n += (size_t) snprintf(body + n, sizeof(body) - n, "	GC_ARRAY(i32, a); GC_ARRAY(i32, b); GC_ARRAY(i32, c);\n"
						  "	GC_ARRAY(i32, d); GC_ARRAY(i32, e);\n");
	for (int c = 0; c < (one ? 1 : NCOLUMNS); c++)
		n += (size_t) snprintf(body + n, sizeof(body) - n, "	GC_LOAD(%d, i32, %c, d%d);\n", columns[c].width, 'a' + c, c);
	for (int k = 0; k < members; k++)
		n += (size_t) snprintf(body + n, sizeof(body) - n, "	BODY(%d)\n", k);
	n += (size_t) snprintf(body + n, sizeof(body) - n, "GC_END_VECTORS GC_END_TILES GC_BARRIER();\n");
	for (int k = 0; k < members; k++)
		n += (size_t) snprintf(body + n, sizeof(body) - n, "FINISH(%d)\n", k);
	snprintf(body + n, sizeof(body) - n, "}\n");
	snprintf(name, sizeof(name), "groups %d %d %d %d", layout, members, vec, threads);
	return bench_kernel(name, vec, body);
}

static GcAddr results;

/* Results of body k as they should be: the same whatever the layout; 0: unknown yet. */
static u64	expected[2][MOST_BODIES];

static void
measure(const BenchTable *table, Layout layout, int members, int vec, int threads, int least)
{
	BenchKernel k = groups_kernel(layout, members, vec, threads);
	const u32	shared = (u32) members * (NGROUPS + GC_SPARE_CELLS) * 16;
	const int	fit = bench_max_threads(&k) < threads ? 0 : bench_ops->occupancy(k.kernel, threads, shared);
	static u64	out[NGROUPS * 2];
	GcArgs		args;
	BenchLaunch l;
	double		us;

	if (fit == 0)
	{
		bench_say("| %s | %d | %d | %d | %d | does not fit | |\n", layout_names[layout], members, vec, threads,
				  k.info.registers);
		return;
	}
	memset(&args, 0, sizeof(args));
	args.scan = table->scan;
	for (int b = 0; b < members; b++)
	{
		args.w[b] = results + (u64) b * NGROUPS * 16;
		args.w[8 + b] = (u64) (least + b);
		args.w[16 + 2 * b] = 50;
		args.w[17 + 2 * b] = 50 * 11;
	}
	for (int c = 0; c < NCOLUMNS; c++)
		args.w[24 + c] = table->columns[c];
	l = (BenchLaunch) {.kernel = &k,.args = &args,.grid = bench_full(threads, fit, shared, table->scan.ntiles)};
	bench_fill_bytes(results, 0, MOST_BODIES * sizeof(out));
	bench_run(&l, 1, BENCH_ONE_STREAM, 0);
	for (int b = 0; b < members; b++)
	{
		u64			sum = 0;

		bench_copy_out(out, args.w[b], sizeof(out));
		for (int i = 0; i < NGROUPS * 2; i++)
			sum += out[i] * (u64) (2 * i + 1);
		if (expected[least > 0][b] == 0)
			expected[least > 0][b] = sum;
		else if (expected[least > 0][b] != sum)
			bench_fail("groups differ");
	}
	us = bench_median_us(&l, 1, BENCH_ONE_STREAM, RUNS);
	bench_say("| %s | %d | %d | %u x %d | %d | %d | %.1f |\n", layout_names[layout], members, vec, l.grid.blocks, threads,
			  k.info.registers, least > 0 ? 50 : 100, us);
}

int
main(int argc, char **argv)
{
	static const BenchOptions defaults = {.device = "cuda",.seconds = 60,.rows = 0};
	BenchTable	table;
	u64			rows;

	(void) bench_open(argc, argv, &defaults, 120);
	if (bench_profile.shares_cpu)
	{
		bench_say("Layouts of shared memory mean nothing on device host.\n");
		bench_close();
		return 0;
	}
	rows = bench_options.rows ? bench_options.rows : 120000000;
	table = bench_table(rows, NCOLUMNS, columns, 7);
	results = bench_memory((u64) MOST_BODIES * NGROUPS * 16);
	bench_say("### Groups in shared memory, %.1f million rows of 11 bytes, %d groups\n\n"
			  "| layout | members | rows of a thread | grid | registers | rows kept, %% | us |\n"
			  "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n", (double) rows / 1e6, NGROUPS);
	for (int half = 0; half < 2; half++)
		for (Layout layout = TOGETHER; layout <= APART_COUNTED; layout++)
			for (int members = 1; members <= MOST_BODIES; members++)
				for (int vec = 8; vec <= 16; vec += 8)
					for (int threads = 512; threads <= 1024; threads += 512)
						measure(&table, layout, members, vec, threads, half ? PRICES / 2 : 0);
	bench_close();
	return 0;
}
