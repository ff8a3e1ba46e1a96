/*-------------------------------------------------------------------------
 *
 * selection.c
 *	  The kernels of selection scans: predicate kernel, merge kernel, selection kernel.
 *
 * A selection scan serves many requests with one pass over the columns that they test.  A
 * predicate that depends on one column is known for every value of the column before any row is
 * read.  A request's predicate kernel writes it as a bitmap over the column's range, with the
 * same expressions as its own kernel.  The merge kernel puts the bitmaps of all requests side by
 * side.  So the predicate table says of each value which requests accept it: its query bitmap.
 *
 * The selection kernel then reads the columns, once for all requests.  A row's query bitmap is
 * the intersection of its values' query bitmaps.  The rows' query bitmaps become one bitmap of
 * rows per request, its selection bitmap.  Last, each request's own kernel visits the rows of its
 * selection bitmap, without the steps that the bitmap stands for.  Probes of hash builds that
 * depend on one column use direct lookup tables (step/probe.c).
 *
 * So a row costs a lookup per column, however many requests there are.  CJOIN (Candea et al.
 * 2009) and SharedDB (Giannikis et al. 2012) share scans and joins on CPUs by such query
 * bitmaps.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "../selection.h"
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../step/probe.h"
#include "prologue.h"

#include <stdlib.h>
#include <string.h>

/*
 * A selection kernel that reads at most so many bytes of a row takes 16 rows at a time: these
 * leave registers for others.
 */
#define MANY_ROWS_BYTES		12

/*-------------------------------------------------------------------------
 * Predicates
 *-------------------------------------------------------------------------
 */

/* The allowed column that the step depends on; GC_NONE: it does not depend on just one. */
static u16
tested_column(const GcProgram *p, const GcPStep *step, const bool *allowed)
{
	u16			column;

	/* A left or full join drops no row, a right join notes matches, and a condition may read others. */
	if (step->type == GC_STEP_PROBE &&
		(step->join == GC_JOIN_LEFT || gc_join_keeps(step->join) || step->expr != GC_NONE))
		return GC_NONE;
	if (!cg_one_column(p, step, &column) || !allowed[column] ||
		(gc_columns(p)[column].reg != GC_I32 && gc_columns(p)[column].reg != GC_I64))
		return GC_NONE;
	return column;
}

/* Add step s as a predicate of this column, if there is room for one more. */
static void
add_test(GcPredicates *predicates, int s, u16 column)
{
	int			q = 0;

	while (q < predicates->ncolumns && predicates->column[q] != column)
		q++;
	if (q == GC_MAX_PREDICATES)
		return;
	if (q == predicates->ncolumns)
		predicates->column[predicates->ncolumns++] = column;
	predicates->steps |= (u64) 1 << s;
}

void
gc_find_predicates(const GcProgram *p, u16 pipeline, const bool *allowed, GcPredicates *predicates)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	const GcPStep *steps = &gc_steps(p)[pl->first_step];

	memset(predicates, 0, sizeof(*predicates));
	for (int s = 0; s < pl->nsteps && s < 64; s++)
	{
		u16			column = tested_column(p, &steps[s], allowed);
		bool		hash = cg_is_hash_probe(p, &steps[s]);
		bool		direct = hash && steps[s].join == GC_JOIN_INNER;

		if (column == GC_NONE || (direct && predicates->nlookups == GC_MAX_DIRECT_LOOKUPS))
			continue;
		if (direct)
		{
			predicates->direct |= (u64) 1 << s;
			predicates->lookup[predicates->nlookups++] = (GcDirectLookup) {.build = steps[s].build,.column = column};
		}
		if (!cg_may_fail(p, &steps[s]) && (!hash || steps[s].selectivity > 0))
			add_test(predicates, s, column);
	}
	/* Without any predicate there is no selection bitmap. */
	for (int s = 0; s < pl->nsteps && s < 64 && predicates->ncolumns == 0; s++)
	{
		if (predicates->direct >> s & 1 && !cg_may_fail(p, &steps[s]))
			add_test(predicates, s, tested_column(p, &steps[s], allowed));
	}
}

/*-------------------------------------------------------------------------
 * Predicate kernel
 *-------------------------------------------------------------------------
 */

/*
 * Declare the value of a column that is number `i` of its range, or NULL behind the range's end.
 */
static void
emit_value(Cg *cg, u16 column, const char *i, int base, int range)
{
	const int	k = cg_column(cg, column);
	const char *type = cg_ctype[gc_columns(cg->p)[column].reg];

	cg->scalar[k] = true;
	text_addf(cg->out, "const i32 vn%d = %s == gc_a.w[%d]; (void) vn%d;\n", k, i, range, k);
	text_addf(cg->out, "const %s v%d = (%s) ((i64) gc_a.w[%d] + (vn%d ? 0 : (i64) (%s)));\n",
			  type, k, type, base, k, i);
}

/* Does the current value pass the step? */
static void
emit_condition(Cg *cg, const GcPStep *step)
{
	char		cond[512];

	if (cg_is_hash_probe(cg->p, step))
	{
		text_addf(cg->out, "u32 gc_found = 0;\ndo {\n");
		cg_hash_find(cg, step);
		text_addf(cg->out, "gc_found = r%d;\n} while (0);\ngc_ok &= gc_found %s 0;\n", cg_build(cg, step->build),
				  step->join == GC_JOIN_ANTI ? "==" : "!=");
		return;
	}
	cg_require_step(cg, step);
	cg_step_condition(cg, step, cond, sizeof(cond));
	text_addf(cg->out, "gc_ok &= (%s) != 0;\n", cond);
}

/* Emit all predicates of tested column q, for every value of it. */
static void
emit_predicates(Cg *cg, const GcPredicates *predicates, int q)
{
	const u16	column = predicates->column[q];
	const int	bits = cg_word(cg, GC_ARG_PREDICATE, q, GC_PREDICATE_BITS);
	const int	base = cg_word(cg, GC_ARG_PREDICATE, q, GC_PREDICATE_BASE);
	const int	range = cg_word(cg, GC_ARG_PREDICATE, q, GC_PREDICATE_RANGE);

	text_addf(cg->out, "for (u64 gc_i = (u64) block * nthreads + thread; gc_i * 32 <= gc_a.w[%d]; "
			  "gc_i += (u64) nblocks * nthreads) {\nu32 gc_word = 0;\n", range);
	text_addf(cg->out, "GC_NO_UNROLL for (u32 gc_j = 0; gc_j < 32 && gc_i * 32 + gc_j <= gc_a.w[%d]; gc_j++) {\n",
			  range);
	emit_value(cg, column, "gc_i * 32 + gc_j", base, range);
	text_addf(cg->out, "i32 gc_ok = 1;\n");
	for (int s = 0; s < cg->pl->nsteps && s < 64; s++)
	{
		const GcPStep *step = &gc_steps(cg->p)[cg->pl->first_step + s];
		u16			read;

		if (!(predicates->steps >> s & 1) || !cg_one_column(cg->p, step, &read) || read != column)
			continue;
		text_addf(cg->out, "{\n");
		emit_condition(cg, step);
		text_addf(cg->out, "}\n");
	}
	text_addf(cg->out, "gc_word |= (u32) gc_ok << gc_j;\n}\n((u32 *) gc_a.w[%d])[gc_i] = gc_word;\n}\n", bits);
}

/* Emit the entry of each of the column's values in a direct lookup table. */
static void
emit_direct_tables(Cg *cg, const GcPStep *step, const GcDirectLookup *direct)
{
	const int	base = cg_word(cg, GC_ARG_DIRECT, direct->build, GC_PREDICATE_BASE);
	const int	range = cg_word(cg, GC_ARG_DIRECT, direct->build, GC_PREDICATE_RANGE);

	text_addf(cg->out, "for (u64 gc_i = (u64) block * nthreads + thread; gc_i <= gc_a.w[%d]; "
			  "gc_i += (u64) nblocks * nthreads) {\n", range);
	emit_value(cg, direct->column, "gc_i", base, range);
	cg_direct_write(cg, step, "gc_i");
	text_addf(cg->out, "}\n");
}

GcCode
gc_generate_predicate_kernel(const GcProgram *p, u16 pipeline, const GcPredicates *predicates, GcKernelSource *source,
				   GcError *err)
{
	const GcVariant variant = {.threads = 256,.vec = 8};
	Cg			cg;
	Text		text = {0};
	int			n = 0;

	memset(source, 0, sizeof(*source));
	if (cg_begin(&cg, p, pipeline, &variant, err) != GC_OK)
		return GC_HOST_MEMORY;
	cg.src = source;
	cg.in_rows = true;
	for (int q = 0; q < predicates->ncolumns; q++)
		emit_predicates(&cg, predicates, q);
	for (int s = 0; n < predicates->nlookups; s++)
	{
		if (predicates->direct >> s & 1)
			emit_direct_tables(&cg, &gc_steps(p)[cg.pl->first_step + s], &predicates->lookup[n++]);
	}
	cg_prologue(&text, source->nwords, variant.vec, variant.threads);
	text_addf(&text, "%s%s}\n", text_of(&cg.decls), text_of(&cg.body));
	cg_add_library(&text);
	return cg_finish(&cg, &text);
}

/*-------------------------------------------------------------------------
 * Merge kernel and selection kernel
 *-------------------------------------------------------------------------
 */

/*
 * One value of a key group stands for all of them (GcSelectTable.members); every value is
 * compared with it.
 */
char *
gc_generate_merge_kernel(void)
{
	return cg_fixed_kernel(GC_MERGE_WORDS, "for (u64 c = 0; c < gc_a.w[1]; c++) {\n"
						   "const u64 *r = (const u64 *) gc_a.w[0] + c * %d;\n"
						   "for (u64 i = (u64) block * nthreads + thread; i <= r[1]; i += (u64) nblocks * nthreads) {\n"
						   "const u32 mask = gc_mask_of(r + %d, i);\n"
						   "((u32 *) r[0])[i] = mask;\n"
						   "if (!r[2]) continue;\n"
						   "const u32 of = ((const u16 *) r[2])[i];\n"
						   "const u32 member = ((const u32 *) r[3])[of];\n"
						   "if (member == i) ((u32 *) r[4])[of] = mask;\n"
						   "else if (gc_mask_of(r + %d, member) != mask) *(u32 *) r[5] = 1;\n"
						   "}\n}\n}\n", (int) (sizeof(GcSelectTable) / sizeof(u64)),
						   (int) (offsetof(GcSelectTable, bits) / sizeof(u64)),
						   (int) (offsetof(GcSelectTable, bits) / sizeof(u64)));
}

/* Codes of 1 and 2 bytes are looked up as they are, if none is NULL (gc_look_up_W). */
static bool
looked_up_by_code(const GcSelectorColumn *c)
{
	return c->key_group_width > 0 || (c->shared && !c->nullable && (c->width == 1 || c->width == 2));
}

int
gc_table_copies(const GcSelectorColumn *column)
{
	return column->copies > 1 && looked_up_by_code(column) ? column->copies : 1;
}

/*
 * Emit the copy of a table of gc_a.w[count] + more entries to shared memory, u32 *name.  Requests
 * that accept every value of the column get their bit set in all entries there.
 */
static void
emit_shared(Text *t, const char *name, const GcSelectorColumn *c, int k, int address, int count, int more)
{
	const int	n = gc_table_copies(c);

	text_addf(t, "u32 *%s%d = (u32 *) (gc_shared + gc_top);\ngc_top += ((gc_a.w[%d] + %d) * %d + 1) / 2;\n",
			  name, k, count, more, n);
	text_addf(t, "GC_NO_UNROLL for (u32 i = thread; i < ((u32) gc_a.w[%d] + %d) * %d / 2; i += nthreads)\n"
			  "((u64 *) %s%d)[i] = ", count, more + (n == 1), n, name, k);
	if (n == 1)
		text_addf(t, "((const u64 *) gc_a.w[%d])[i]", address);
	else
		text_addf(t, "((const u32 *) gc_a.w[%d])[i / %d] * 0x100000001ull", address, n / 2);
	text_addf(t, " | (gc_a.w[%d] & 0xffffffff) * 0x100000001ull;\n", GC_SELECTOR_WORDS(k) + 4);
}

/* Emit where column k's tables are, and whether its group-coded column is of no use this time. */
static void
emit_table(Text *t, const GcSelectorColumn *c, int k)
{
	const int	w = GC_SELECTOR_WORDS(k);

	if (c->key_group_width)
	{
		emit_shared(t, "s", c, k, w + 6, w + 7, 0);
		text_addf(t, "const u32 gc_mismatch%d = gc_a.w[%d] ? *(const u32 *) gc_a.w[%d] : 1;\n", k, w + 5, w + 8);
	}
	if (c->shared && !c->key_group_width)
		emit_shared(t, "t", c, k, w + 1, w + 3, 1);
	else
		text_addf(t, "const u32 *t%d = (const u32 *) gc_a.w[%d];\n", k, w + 1);
}

/* Emit the chunk's descriptions of column k: only one of them has data. */
static void
emit_description(Text *t, const GcSelectorColumn *c, int k)
{
	const int	w = GC_SELECTOR_WORDS(k);

	text_addf(t, "const u32 gc_read%d = gc_live & (u32) (gc_a.w[%d] >> 32);\n", k, w + 4);
	if (c->key_group_width)
		text_addf(t, "const GcCol c%d = gc_shared_column(gc_a.w[%d], gc_src.chunk, gc_mismatch%d ? 0 : gc_read%d);\n"
				  "const GcCol d%d = gc_shared_column(gc_a.w[%d], gc_src.chunk, c%d.data ? 0 : gc_read%d);\n",
				  k, w + 5, k, k, k, w, k, k);
	else
		text_addf(t, "const GcCol d%d = gc_shared_column(gc_a.w[%d], gc_src.chunk, gc_read%d);\n", k, w, k);
}

/*
 * Can the fast loop be used?  It needs the tables of all columns in shared memory, and the chunk's
 * key groups where a column has any.  It tests rows without further conditions, and packs their
 * masks only at the end.
 */
static bool
may_be_fast(const GcSelectorColumn *column, int n)
{
	for (int k = 0; k < n; k++)
	{
		if (!column[k].shared)
			return false;
	}
	return true;
}

/* Width of the codes that the fast loop reads; 0: differs between chunks. */
static int
code_width(const GcSelectorColumn *c)
{
	return c->key_group_width ? c->key_group_width : c->width;
}

/* Bytes of a row's codes in the fast loop. */
static int
fast_bytes(const GcSelectorColumn *column, int n)
{
	int			bytes = 0;

	for (int k = 0; k < n; k++)
		bytes += code_width(&column[k]) ? code_width(&column[k]) : 4;
	return bytes;
}

/* A vector's entries of the table of members, by a column's codes; entry 0 is for NULL. */
static void
emit_entries(Text *t, const GcSelectorColumn *c, int k)
{
	const int	w = GC_SELECTOR_WORDS(k);

	text_addf(t, "u32 at[GC_SELECT_ROWS];\nconst u32 first = (u32) d%d.base - (u32) gc_a.w[%d];\n", k, w + 2);
	text_addf(t, "gc_entries_%d(at, r%d, %s);\n", c->width, k, c->nullable ? "first" : "0");
	if (c->nullable)
		text_addf(t, "gc_null_entries(at, d%d, gc_row, (u32) gc_a.w[%d]);\n", k, w + 3);
}

/* Look up codes of key groups, or of values, in column k's table in shared memory. */
static void
emit_look_up(Text *t, const GcSelectorColumn *c, int k, bool key_groups)
{
	if (key_groups)
		text_addf(t, "gc_look_up_%d(gc_k, r%d, s%d, %d);\n", c->key_group_width, k, k, gc_table_copies(c));
	else if (looked_up_by_code(c))
		text_addf(t, "gc_look_up_%d(gc_k, r%d, t%d + ((u32) d%d.base - (u32) gc_a.w[%d]) * %d, %d);\n", c->width, k, k,
				  k, GC_SELECTOR_WORDS(k) + 2, gc_table_copies(c), gc_table_copies(c));
	else
	{
		text_addf(t, "{\n");
		emit_entries(t, c, k);
		text_addf(t, "gc_accept_rows(gc_k, at, t%d%s);\n}\n", k, c->nullable ? "" : " + first");
	}
}

/* Words of a thread's codes, as gc_codes_W has them. */
static void
emit_words(Text *t, const GcSelectorColumn *c, char name, int k)
{
	const int	width = code_width(c);

	text_addf(t, "u32 %c%d[GC_SELECT_ROWS / 4 * %d];\n", name, k, width == 0 || width > 4 ? 4 : width);
}

/* Read the next rows' codes, q, from gc_ahead on, if there are any. */
static void
emit_ahead(Text *t, const GcSelectorColumn *column, int n)
{
	text_addf(t, "if (gc_ahead < gc_end) {\n");
	for (int k = 0; k < n; k++)
		text_addf(t, "if (gc_read%d) gc_codes_%d(q%d, %c%d, gc_ahead);\n", k, code_width(&column[k]), k,
				  column[k].key_group_width ? 'c' : 'd', k);
	text_addf(t, "}\n");
}

/*
 * Take columns in pairs: then two query bitmaps and the row's meet in one instruction.  Bits of
 * requests that take no part are never written out, so rows begin with all bits set.
 */
static void
emit_pairs(Text *t, const GcSelectorColumn *column, int n)
{
	text_addf(t, "u32 gc_k[GC_SELECT_ROWS];\n"
			  "GC_UNROLL for (int i = 0; i < GC_SELECT_ROWS; i++) gc_k[i] = ~0u;\n");
	for (int k = 0; k < n; k += 2)
	{
		const bool	pair = k + 1 < n;

		if (pair)
		{
			text_addf(t, "if (gc_read%d && gc_read%d) {\n", k, k + 1);
			emit_look_up(t, &column[k], k, column[k].key_group_width > 0);
			emit_look_up(t, &column[k + 1], k + 1, column[k + 1].key_group_width > 0);
			text_addf(t, "} else if (gc_read%d) {\n", k + 1);
			emit_look_up(t, &column[k + 1], k + 1, column[k + 1].key_group_width > 0);
			text_addf(t, "} else ");
		}
		text_addf(t, "if (gc_read%d) {\n", k);
		emit_look_up(t, &column[k], k, column[k].key_group_width > 0);
		text_addf(t, "}\n");
	}
}

/* Emit the rows' query bitmaps as block summary and selection bitmaps. */
static const char put_rows[] =
"gc_put_selection(gc_k, gc_put_summary(gc_k, gc_live, gc_summary, gc_row, gc_end), gc_to + gc_row / 8, gc_a.w[3]);\n";

/* The next rows are read while these are tested. */
static void
emit_fast_loop(Text *t, const GcSelectorColumn *column, int n)
{
	text_addf(t, "if (1");
	for (int k = 0; k < n; k++)
		text_addf(t, " && (!gc_read%d || %c%d.data)", k, column[k].key_group_width ? 'c' : 'd', k);
	text_addf(t, ") {\nu32 gc_ahead = gc_first + thread * GC_SELECT_ROWS;\n");
	for (int k = 0; k < n; k++)
		emit_words(t, &column[k], 'q', k);
	emit_ahead(t, column, n);
	text_addf(t, "GC_SELECT_VECTORS\n");
	for (int k = 0; k < n; k++)
	{
		emit_words(t, &column[k], 'r', k);
		text_addf(t, "GC_UNROLL for (u32 i = 0; i < sizeof(r%d) / 4; i++) r%d[i] = q%d[i];\n", k, k, k);
	}
	text_addf(t, "gc_ahead += nthreads * GC_SELECT_ROWS;\n");
	emit_ahead(t, column, n);
	emit_pairs(t, column, n);
	text_addf(t, "%sGC_END_SELECT_VECTORS\ncontinue;\n}\n", put_rows);
}

/* Emit one column of the general loop, which does whatever the chunk and the column need. */
static void
emit_test(Text *t, const GcSelectorColumn *c, int k)
{
	if (c->key_group_width)
	{
		text_addf(t, "if (c%d.data) {\n", k);
		emit_words(t, c, 'r', k);
		text_addf(t, "gc_codes_%d(r%d, c%d, gc_row);\n", c->key_group_width, k, k);
		emit_look_up(t, c, k, true);
		text_addf(t, "}\n");
	}
	text_addf(t, "if (d%d.data) {\nu32 r%d[GC_SELECT_ROWS];\ngc_codes_%d(r%d, d%d, gc_row);\n", k, k, c->width, k, k);
	if (c->shared && !c->key_group_width)
		emit_look_up(t, c, k, false);
	else
	{
		emit_entries(t, c, k);
		text_addf(t, "gc_accept(gc_k, at, t%d%s, (u32) gc_a.w[%d]);\n", k, c->nullable ? "" : " + first",
				  GC_SELECTOR_WORDS(k) + 4);
	}
	text_addf(t, "}\n");
}

char *
gc_generate_selector(const GcSelectorColumn *column, int n)
{
	const bool	fast = may_be_fast(column, n);
	Text		t = {0};

	/* With 16 rows in hand and 16 ahead, registers are worth more than a third block. */
	if (fast && fast_bytes(column, n) <= MANY_ROWS_BYTES)
		text_addf(&t, "#define GC_SELECT_ROWS 16\n#define GC_LEAST_BLOCKS 2\n");
	cg_prologue(&t, GC_SELECTOR_WORDS(n), 8, GC_SELECTOR_THREADS);
	text_addf(&t, "u64 gc_top = 0; (void) gc_top;\nGC_BEGAN(gc_a.scan.flags)\n");
	for (int k = 0; k < n; k++)
		emit_table(&t, &column[k], k);
	text_addf(&t, "GC_BARRIER();\nGC_SELECT_RUNS\nconst u32 gc_live = (u32) gc_a.w[0] & (u32) gc_src.valid;\n"
			  "u8 *gc_to = (u8 *) gc_a.w[1] + gc_src.chunk * gc_a.w[2];\nif (!gc_live) continue;\n"
			  "u32 *gc_summary = (u32 *) (gc_a.w[4] + gc_src.chunk * GC_SUMMARY_BYTES(gc_a.w[2]));\n");
	for (int k = 0; k < n; k++)
		emit_description(&t, &column[k], k);
	if (fast)
		emit_fast_loop(&t, column, n);
	text_addf(&t, "GC_SELECT_VECTORS\n");
	text_addf(&t, "u32 gc_k[GC_SELECT_ROWS];\n"
			  "GC_UNROLL for (int i = 0; i < GC_SELECT_ROWS; i++) gc_k[i] = gc_live;\n");
	for (int k = 0; k < n; k++)
		emit_test(&t, &column[k], k);
	text_addf(&t, "%sGC_END_SELECT_VECTORS\nGC_END_SELECT_RUNS\nGC_BARRIER();\nGC_ENDED(gc_a.scan.flags)\n}\n",
			  put_rows);
	cg_add_library(&t);
	return t.s;
}
