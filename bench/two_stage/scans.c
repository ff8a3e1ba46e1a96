/*-------------------------------------------------------------------------
 *
 * scans.c
 *	  Scans of one table that differ in constants alone.
 *
 * In the words of codegen/kernel.c (emit_fold) and codegen/sink.c, so that what is measured
 * is what the server's kernels do: rows are counted, too, and the sum of a vector's values
 * is known to fit in 32 bits; one body asks which rows are there before it loads anything, and
 * reads what it sums of survivors alone where they are few.
 *
 *-------------------------------------------------------------------------
 */
#include "scans.h"

#define FUSED_THREADS	256		/* bodies that share a kernel need registers */
#define FUSED_VEC		8

const ScanKind scan_narrow = {
	.name = "query of",.columns = {{2, 2556}, {1, 50}, {1, 11}, {4, 1000000}},
	.keep = "gc_pass &= b[j] < 25; gc_pass &= c[j] > 3; gc_pass &= c[j] < 8;",.value = "d[j] * c[j]",
	.rare = "gc_at_4_i64(d3.data, row, d3.base, 4) * gc_at_1_i64(d2.data, row, d2.base, 1)",
	.vec = 16,.threads = 256,
};
const ScanKind scan_wide = {
	.name = "scan with",.columns = {{4, 1000}, {4, 1000}, {4, 1000}, {4, 1000}},
	.keep = "gc_pass &= b[j] < 500; gc_pass &= c[j] > 100;",.value = "d[j] * b[j]",
	.vec = 8,.threads = 1024,
};

static const char one_body[] =
"#define VECTORS GC_VECTORS\n#define BODY_LIVE\n";
/* In place of scan_body's: two stages. */
static const char rare_body[] =
"#undef SCAN_BODY\n"
"#define SCAN_BODY(k) { \\\n"
"	const i32 lo = (i32) gc_a.w[8 + 2 * k], hi = (i32) gc_a.w[9 + 2 * k]; \\\n"
"	GC_EACH(j) { i32 gc_pass = a[j] >= lo; gc_pass &= a[j] < hi; KEEP GC_KEEP_IF(j, gc_pass); } \\\n"
"	GC_SETTLE \\\n"
"	GC_ROWS_SPARSE(j, row) sum##k += VALUE_AT; GC_COUNT_ROW(rows##k); GC_END_ROWS_SPARSE }\n";
static const char several_bodies[] =
"#define VECTORS GC_SHARED_VECTORS\n#define BODY_LIVE GC_VECTOR_LIVE(gc_src.valid, gc_row)\n";
static const char scan_body[] =
"#define SCAN_BODY(k) { \\\n"
"	const i32 lo = (i32) gc_a.w[8 + 2 * k], hi = (i32) gc_a.w[9 + 2 * k]; \\\n"
"	do { BODY_LIVE \\\n"
"		GC_PART s = 0; \\\n"
"		GC_FOLD(j) gc_pass &= a[j] >= lo; gc_pass &= a[j] < hi; KEEP \\\n"
"		GC_FOLD_KEPT(j, row) s += VALUE; GC_COUNT_ROW(rows##k); GC_END_FOLD \\\n"
"		sum##k += s; \\\n"
"	} while (0); }\n"
"#define SUM_UP(k) { const u64 n = gc_block_add(rows##k), s = gc_block_add(sum##k); \\\n"
"	if (thread == 0) GC_ATOMIC_ADD64((u64 *) gc_a.w[0] + k, n), GC_ATOMIC_ADD64((u64 *) gc_a.w[0] + k, s); }\n"
;
static const char scan_head[] = "GC_KERNEL(MOST_THREADS)\n{\nGC_PROLOGUE\n";

static const char scan_loop[] =
"GC_TILES\n"
"	const GcCol d0 = gc_column(gc_a.w[1], 0, gc_src.chunk), d1 = gc_column(gc_a.w[2], 0, gc_src.chunk);\n"
"	const GcCol d2 = gc_column(gc_a.w[3], 0, gc_src.chunk), d3 = gc_column(gc_a.w[4], 0, gc_src.chunk);\n"
"VECTORS\n"
"	GC_ARRAY(i32, a); GC_ARRAY(i32, b); GC_ARRAY(i32, c); GC_ARRAY(i32, d);\n";

BenchKernel
scan_kernel(const ScanKind *kind, int bodies)
{
	char		body[8192];
	char		name[32];
	const bool	rare = bodies == 1 && kind->rare != NULL;
	size_t		n;

	n = (size_t) snprintf(body, sizeof(body), "#define MOST_THREADS %d\n#define KEEP %s\n#define VALUE %s\n"
						  "#define VALUE_AT %s\n%s%s%s%s", bodies > 1 ? FUSED_THREADS : kind->threads, kind->keep,
						  kind->value, kind->rare ? kind->rare : "", bodies > 1 ? several_bodies : one_body, scan_body,
						  rare ? rare_body : "", scan_head);
	for (int k = 0; k < bodies; k++)
		n += (size_t) snprintf(body + n, sizeof(body) - n, "GC_COUNT rows%d = 0; u64 sum%d = 0;\n", k, k);
	n += (size_t) snprintf(body + n, sizeof(body) - n, "%s\t", scan_loop);
	for (int c = 0; c < SCAN_COLUMNS - rare; c++)
		n += (size_t) snprintf(body + n, sizeof(body) - n, "GC_LOAD(%d, i32, %c, d%d);%s", kind->columns[c].width,
							   'a' + c, c, c + 1 < SCAN_COLUMNS - rare ? " " : "\n");
	for (int k = 0; k < bodies; k++)
		n += (size_t) snprintf(body + n, sizeof(body) - n, "	SCAN_BODY(%d)\n", k);
	n += (size_t) snprintf(body + n, sizeof(body) - n, "GC_END_VECTORS GC_END_TILES\n");
	for (int k = 0; k < bodies; k++)
		n += (size_t) snprintf(body + n, sizeof(body) - n, "SUM_UP(%d)\n", k);
	snprintf(body + n, sizeof(body) - n, "}\n");
	snprintf(name, sizeof(name), "%s %d bodies", kind->name, bodies);
	return bench_kernel(name, bodies > 1 ? FUSED_VEC : kind->vec, body);
}
