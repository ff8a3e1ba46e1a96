/*-------------------------------------------------------------------------
 *
 * scans.c
 *	  Scans of one table that differ in constants alone.
 *
 * In the words of codegen/kernel/pipeline.c (emit_filter_aggregate, emit_vector_phase), codegen/step/packed.c and
 * codegen/sink/sink_one_group.c, so that the work of the server's kernels is measured.  Filters on narrow
 * columns are tested on packed codes.  Rows are counted, too.  The sum of a vector's values is known to
 * fit in 32 bits.  One body asks which rows are there before it loads anything.  Where few survive, it
 * reads what it sums of these alone.  Every body has limits of its own among the arguments, as requests
 * have.
 *
 *-------------------------------------------------------------------------
 */
#include "scans.h"

#include <limits.h>

#define FUSED_THREADS	256		/* bodies that share a kernel need registers */
#define KEPT_WORDS		8		/* of a body: two a column, and a multiple of 4 */

const ScanKind scan_narrow = {
	.name = "query of",.columns = {{2, 2556, 5}, {1, 50, 5}, {1, 11, 5}, {4, 1000000, 0}},
	.from = {0, INT_MIN, 4},.end = {0, 25, 8},.value = "d[j] * c[j]",
	.rare = "gc_at_4_i64(d3.data, row, d3.base, 4) * gc_at_1_i64(d2.data, row, d2.base, 1)",
	.vec = 16,.threads = 256,.fused_vec = 16,
};
const ScanKind scan_wide = {
	.name = "scan with",.columns = {{4, 1000, 0}, {4, 1000, 0}, {4, 1000, 0}, {4, 1000, 0}},
	.from = {0, INT_MIN, 101},.end = {0, 500, INT_MAX},.value = "d[j] * b[j]",
	.vec = 8,.threads = 1024,.fused_vec = 8,
};

static const char scan_head[] =
"#define SUM_UP(k) { const u64 n = gc_block_add(rows##k), s = gc_block_add(sum##k); \\\n"
"	if (thread == 0) GC_ATOMIC_ADD64((u64 *) gc_a.w[0] + k, n), GC_ATOMIC_ADD64((u64 *) gc_a.w[0] + k, s); }\n"
"GC_KERNEL(%d)\n{\nGC_PROLOGUE\n";

static const char scan_tiles[] =
"GC_TILES\n"
"	const GcCol d0 = gc_column(gc_a.w[1], 0, gc_src.chunk), d1 = gc_column(gc_a.w[2], 0, gc_src.chunk);\n"
"	const GcCol d2 = gc_column(gc_a.w[3], 0, gc_src.chunk), d3 = gc_column(gc_a.w[4], 0, gc_src.chunk);\n";

/* Growing text of fixed room. */
typedef struct Body
{
	char		s[32768];
	size_t		n;
} Body;

static void
add(Body *b, const char *fmt,...)
{
	va_list		ap;

	va_start(ap, fmt);
	b->n += (size_t) vsnprintf(b->s + b->n, sizeof(b->s) - b->n, fmt, ap);
	va_end(ap);
	if (b->n >= sizeof(b->s))
		bench_fail("a scan's text is too long");
}

static bool
is_packed(const ScanKind *kind, int c)
{
	return kind->columns[c].width <= 2;
}

static bool
has_from(const ScanKind *kind, int c)
{
	return c == 0 || kind->from[c] != INT_MIN;
}

static bool
has_end(const ScanKind *kind, int c)
{
	return c == 0 || kind->end[c] != INT_MAX;
}

/* One of the two words that say which range of a narrow column's codes is wanted. */
static void
add_word(Body *b, int members, int k, const char *name, int c, const char *value)
{
	if (members > 1)
		add(b, "	GC_KEEP_WORD(%d, %s)\n", KEPT_WORDS * k + 2 * c + (name[0] == 't'), value);
	else
		add(b, "	const u32 %s%d = %s;\n", name, c, value);
}

static void
add_range(Body *b, const ScanKind *kind, int members, int k, int c)
{
	const int	w = SCAN_LIMIT_WORD(k, c);
	const int	width = kind->columns[c].width;
	char		value[64];

	add(b, "	u32 first%d = 0, end%d = GC_CODES_END(%d);\n", c, c, width);
	if (has_from(kind, c))
		add(b, "	first%d = GC_MAX(first%d, gc_codes_below_i32((i32) gc_a.w[%d], (i32) d%d.base));\n", c, c, w, c);
	if (has_end(kind, c))
		add(b, "	end%d = GC_MIN(end%d, gc_codes_below_i32((i32) gc_a.w[%d], (i32) d%d.base));\n", c, c, w + 1, c);
	if (members > 1)
		add(b, "	GC_MEMBER_CODES(%d, %d, first%d, end%d)\n", k, width, c, c);
	else
		add(b, "	GC_SOME_CODES(%d, first%d, end%d)\n", width, c, c);
	snprintf(value, sizeof(value), "GC_FIRST_OF(%d, 1, first%d)", width, c);
	if (has_from(kind, c))
		add_word(b, members, k, "from", c, value);
	snprintf(value, sizeof(value), "GC_END_OF(%d, 1, end%d)", width, c);
	if (has_end(kind, c))
		add_word(b, members, k, "to", c, value);
}

/* The ranges of codes that bodies want; narrow columns' codes leave a bit (GcPColumn.spare). */
static void
add_ranges(Body *b, const ScanKind *kind, int members)
{
	if (members > 1)
		add(b, "	u32 gc_live = %uu;\n	GC_FILL_PER_WARP\n", (1u << members) - 1);
	for (int k = 0; k < members; k++)
	{
		add(b, members > 1 ? "	{\n" : "");
		for (int c = 0; c < SCAN_COLUMNS - 1; c++)
			add_range(b, kind, members, k, c);
		add(b, members > 1 ? "	}\n" : "");
	}
	add(b, members > 1 ? "	GC_PER_WARP\n" : "");
}

/* In a body's scope: the words kept, or, of wide columns, the limits. */
static void
add_limits(Body *b, const ScanKind *kind, int members, int k)
{
	if (is_packed(kind, 0) && members > 1)
		add(b, "	GC_TAKE_WORDS(%d, %d)\n", KEPT_WORDS * k, KEPT_WORDS);
	for (int c = 0; c < SCAN_COLUMNS - 1; c++)
	{
		const int	w = SCAN_LIMIT_WORD(k, c);

		if (!is_packed(kind, c))
			add(b, "	const i32 least%d = (i32) gc_a.w[%d], end%d = (i32) gc_a.w[%d]; (void) least%d; (void) end%d;\n",
				c, w, c, w + 1, c, c);
		else if (members > 1)
			add(b, "	const u32 from%d = gc_word[%d], to%d = gc_word[%d]; (void) from%d; (void) to%d;\n", c, 2 * c, c,
				2 * c + 1, c, c);
	}
}

/* One body's words are read a vector ahead (begin_vectors in codegen/kernel/kernel.c). */
static void
add_vectors(Body *b, const ScanKind *kind, int members)
{
	static const char *const parts[] = {"GC_AHEAD_ARRAY(%d, ahead%d)\n", "GC_READ_AHEAD(%d, ahead%d, d%d)\n",
	"GC_TAKE_AHEAD(%d, ahead%d, w%d)\n", "GC_READ_AHEAD(%d, ahead%d, d%d)\n"};

	if (members > 1 || !is_packed(kind, 0) || bench_profile.scalar)
	{
		add(b, members == 1 ? "GC_VECTORS\n" : "GC_SHARED_VECTORS\n");
		return;
	}
	for (int part = 0; part < 4; part++)
	{
		add(b, part == 1 ? "GC_READ_FROM(GC_FIRST_VECTOR)\n" : part == 3 ? "GC_READ_FROM(GC_VECTOR_AHEAD)\n" : "");
		for (int c = 0; c < SCAN_COLUMNS - 1; c++)
			add(b, parts[part], kind->columns[c].width, c, c);
		add(b, part == 1 ? "GC_END_READ\nGC_SHARED_VECTORS\n" : part == 3 ? "GC_END_READ\n" : "");
	}
	add(b, "GC_VECTOR_LIVE(gc_src.valid, gc_row)\n");
}

static void
add_loads(Body *b, const ScanKind *kind, int members, bool rare)
{
	for (int c = 0; c < SCAN_COLUMNS - 1; c++)
	{
		if (is_packed(kind, c) && (members > 1 || bench_profile.scalar))
			add(b, "	GC_WORD_ARRAY(%d, w%d); GC_LOAD_WORDS(%d, w%d, d%d);\n", kind->columns[c].width, c,
				kind->columns[c].width, c, c);
	}
	/* narrow columns' product needs c alone, others need all */
	for (int c = rare ? SCAN_COLUMNS : is_packed(kind, 0) ? 2 : 0; c < SCAN_COLUMNS; c++)
		add(b, "	GC_ARRAY(i32, %c); GC_LOAD(%d, i32, %c, d%d);\n", 'a' + c, kind->columns[c].width, 'a' + c, c);
}

static void
add_packed_tests(Body *b, const ScanKind *kind)
{
	if (!is_packed(kind, 0))
		return;
	add(b, "	GC_PACKED\n");
	for (int c = 0; c < SCAN_COLUMNS - 1; c++)
		add(b, "	GC_CODES(w%d, %d, 1, %s, from%d, to%d)\n", c, kind->columns[c].width,
			!has_from(kind, c) ? "BEFORE" : has_end(kind, c) ? "WITHIN" : "FROM", c, c);
	add(b, "	GC_END_PACKED\n");
}

/* Few rows pass, and the sum is read of these alone. */
static void
add_rare_body(Body *b, const ScanKind *kind)
{
	add_packed_tests(b, kind);
	add(b, "	GC_SETTLE\n	GC_ROWS_SPARSE(j, row) sum0 += %s; GC_COUNT_ROW(rows0); GC_END_ROWS_SPARSE\n", kind->rare);
}

static void
add_fold(Body *b, const ScanKind *kind, int k)
{
	const bool	packed = is_packed(kind, 0);

	add_packed_tests(b, kind);
	add(b, "	GC_PART s = 0;\n	GC_FILTER_AGGREGATE(j)");
	for (int c = 0; c < SCAN_COLUMNS - 1 && !packed; c++)
	{
		if (has_from(kind, c))
			add(b, " gc_pass &= %c[j] >= least%d;", 'a' + c, c);
		if (has_end(kind, c))
			add(b, " gc_pass &= %c[j] < end%d;", 'a' + c, c);
	}
	add(b, "\n	GC_FILTER_AGGREGATE_KEPT(j, row) s += %s;", kind->value);
	if (!packed)
		add(b, " GC_COUNT_ROW(rows%d);", k);
	add(b, " GC_END_FILTER_AGGREGATE\n	sum%d += s;\n", k);
	if (packed)
		add(b, "	GC_COUNT_LIVE(rows%d);\n", k);
}

BenchKernel
scan_kernel(const ScanKind *kind, int members)
{
	static Body body;
	char		name[32];
	const bool	rare = members == 1 && kind->rare != NULL;

	body.n = 0;
	add(&body, scan_head, members > 1 ? FUSED_THREADS : kind->threads);
	for (int k = 0; k < members; k++)
		add(&body, "GC_COUNT rows%d = 0; u64 sum%d = 0;\n", k, k);
	if (members > 1 && is_packed(kind, 0))
		add(&body, "GC_PER_WARP_WORDS(%d, %d)\n", KEPT_WORDS * members, FUSED_THREADS);
	add(&body, "%s", scan_tiles);
	if (is_packed(kind, 0))
		add_ranges(&body, kind, members);
	add_vectors(&body, kind, members);
	add_loads(&body, kind, members, rare);
	if (rare)
		add_rare_body(&body, kind);
	for (int k = 0; k < members && !rare; k++)
	{
		if (members > 1)
			add(&body, is_packed(kind, 0) ? "	if (gc_live >> %d & 1) do {" : "	do {", k);
		add(&body, members > 1 ? " GC_VECTOR_LIVE(gc_src.valid, gc_row)\n" : "");
		add_limits(&body, kind, members, k);
		add_fold(&body, kind, k);
		add(&body, members > 1 ? "	} while (0);\n" : "");
	}
	add(&body, "GC_END_VECTORS GC_END_TILES\n");
	for (int k = 0; k < members; k++)
		add(&body, "SUM_UP(%d)\n", k);
	add(&body, "}\n");
	snprintf(name, sizeof(name), "%s %d members", kind->name, members);
	return bench_kernel(name, members > 1 ? kind->fused_vec : kind->vec, body.s);
}

void
scan_limits(const ScanKind *kind, GcArgs *args, int k, u64 from, u64 end)
{
	for (int c = 0; c < SCAN_COLUMNS - 1; c++)
	{
		args->w[SCAN_LIMIT_WORD(k, c)] = c == 0 ? from : (u64) (i64) kind->from[c];
		args->w[SCAN_LIMIT_WORD(k, c) + 1] = c == 0 ? end : (u64) (i64) kind->end[c];
	}
}
