/*-------------------------------------------------------------------------
 *
 * group_scan.c
 *	  Pipelines over the groups, or the rows, of an earlier pipeline.  Those over groups are for HAVING, joins with
 *	  an aggregated subquery, aggregates of aggregates, and the choice of groups.
 *
 * Groups lie row by row: a group's words, and for hashed groups its key.  So these kernels have
 * one phase, in which a thread takes one group after another.  A dense group's keys are computed
 * from its number.  Rows lie column by column (sink/sink_rows.c), and a thread takes one after another, too.
 *
 * How many there are is read where the pipeline before has counted them, in device memory.
 *
 * Names in generated text: from_number is the number of the group or row, gc_w a group's words, from_* describe
 * the table.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "values.h"

#include "analysis.h"
#include "emit.h"

#include <stdio.h>

/* The number of an earlier pipeline, whose groups are scanned. */
static u16
number_of(const Cg *cg, const GcPPipeline *from)
{
	return (u16) (from - gc_pipelines(cg->p));
}

/* An argument word of the earlier pipeline's groups, by GC_GROUP_PART_*. */
static int
from_word(Cg *cg, const GcPPipeline *from, u8 part)
{
	return cg_word(cg, GC_ARG_GROUP, number_of(cg, from), part);
}

/* Declare the rows of an earlier pipeline, and how many there are: rows that had no room are not counted. */
static void
declare_rows(Cg *cg, const GcPPipeline *from)
{
	const int	flags = from_word(cg, from, GC_GROUP_PART_FLAGS);
	Text	   *t = &cg->decls;

	text_addf(t, "const u64 *from_rows = (const u64 *) gc_a.w[%d]; (void) from_rows;\n",
			  cg_word(cg, GC_ARG_ROWS, number_of(cg, from), 0));
	text_addf(t, "const u64 from_cap = gc_a.w[%d];\n", cg_word(cg, GC_ARG_ROWS, number_of(cg, from), 1));
	text_addf(t, "const u64 from_count = GC_MIN(((const u32 *) gc_a.w[%d])[GC_FLAG_ROWS], from_cap);\n", flags);
}

void
cg_declare_groups(Cg *cg)
{
	const GcPPipeline *from = cg_groups_of(cg->p, cg->pl);
	Text	   *t = &cg->decls;

	if (from->sink == GC_SINK_ROWS)
	{
		declare_rows(cg, from);
		return;
	}
	text_addf(t, "const u64 *from_words = (const u64 *) gc_a.w[%d];\n", from_word(cg, from, GC_GROUP_PART_TABLE));
	text_addf(t, "u64 from_count = gc_a.w[%d];\n", from_word(cg, from, GC_GROUP_PART_COUNT));
	if (from->group_mode != GC_GROUP_HASH)
		return;
	text_addf(t, "const i64 *from_keys = (const i64 *) gc_a.w[%d]; (void) from_keys;\n",
			  from_word(cg, from, GC_GROUP_PART_KEYS));
	text_addf(t, "if (((const u32 *) gc_a.w[%d])[GC_FLAG_GROUPS] < from_count) from_count = ((const u32 *) gc_a.w[%d])[GC_FLAG_GROUPS];\n",
			  from_word(cg, from, GC_GROUP_PART_FLAGS), from_word(cg, from, GC_GROUP_PART_FLAGS));
}

/*
 * PostgreSQL may have overflowed where a float sum is not finite, or the other way round.  That
 * holds of groups that HAVING or an order leaves out, too.
 */
static void
check_float_sums(const Cg *cg, const GcPPipeline *from, Text *t)
{
	for (u16 i = from->first_agg; i < from->first_agg + from->naggs; i++)
	{
		const GcPAgg *agg = &gc_aggs(cg->p)[i];

		if (gc_merge_of(agg) == GC_MERGE_ADDF)
			text_addf(t, "GC_CHECK(GC_ISFINITE(GC_BITS_F64((i64) gc_w[%d])));\n", agg->word);
		/* PostgreSQL adds up the squares of differences (exec/aggregates.c). */
		if (gc_merge_of(agg) == GC_MERGE_PRECISE)
			text_addf(t, "GC_CHECK(GC_FABS(GC_BITS_F64((i64) gc_w[%d])) < 1e270);\n", agg->word);
	}
}

void
cg_emit_group_scan(Cg *cg, Text *t)
{
	const GcPPipeline *from = cg_groups_of(cg->p, cg->pl);

	text_addf(t, "GC_NO_UNROLL for (u64 from_number = (u64) block * nthreads + thread; from_number < from_count; from_number += (u64) nblocks * nthreads) {\n"
			  "if (!GC_GO_ON) break;\n");
	if (from->sink == GC_SINK_ROWS)
	{
		text_addf(t, "%s", text_of(&cg->body));
		return;
	}
	text_addf(t, "const u64 *gc_w = from_words + from_number * %d; (void) gc_w;\n", from->group_words);
	/* Without keys there is one group, also where no row came. */
	if (from->group_mode == GC_GROUP_DENSE)
		text_addf(t, "if (!gc_w[0]) continue;\n");
	check_float_sums(cg, from, t);
	text_addf(t, "%s", text_of(&cg->body));
}

/*-------------------------------------------------------------------------
 * Columns
 *-------------------------------------------------------------------------
 */

/* Declare a key of a dense group as a column: taken from the group's number. */
static void
dense_key(Cg *cg, const GcPPipeline *from, const GcPColumn *c, int k)
{
	const int	key = c->attnum;
	const int	base = cg_word(cg, GC_ARG_GROUP_KEY, GC_GROUP_KEY_INDEX(number_of(cg, from), key), 0);
	const int	stride = cg_word(cg, GC_ARG_GROUP_KEY, GC_GROUP_KEY_INDEX(number_of(cg, from), key), 1);

	text_addf(cg->out, "u64 kn%d = from_number;\n", k);
	/* All combinations of the keys behind it have the same code of this key. */
	if (key > 0)
		text_addf(cg->out, "kn%d %%= gc_a.w[%d];\n", k,
				  cg_word(cg, GC_ARG_GROUP_KEY, GC_GROUP_KEY_INDEX(number_of(cg, from), key - 1), 1));
	text_addf(cg->out, "kn%d /= gc_a.w[%d];\n", k, stride);
	text_addf(cg->out, "const %s v%d = (%s) ((i64) gc_a.w[%d] + (i64) kn%d%s);\n", cg_ctype[c->reg], k,
			  cg_ctype[c->reg], base, k, c->nullable ? " - 1" : "");
	if (c->nullable)
		text_addf(cg->out, "const i32 vn%d = kn%d == 0;\n", k, k);
}

/* Declare a key of a hashed group as a column: its word, and its bit among the NULL flags. */
static void
hashed_key(Cg *cg, const GcPPipeline *from, const GcPColumn *c, int k)
{
	const int	words = cg_group_key_words(cg->p, from);
	const char *to = c->reg == GC_F64 ? "GC_BITS_F64" : c->reg == GC_F32 ? "GC_BITS_F32" : "";

	text_addf(cg->out, "const %s v%d = (%s) %s(from_keys[from_number * %d + %d]);\n", cg_ctype[c->reg], k,
			  cg_ctype[c->reg], to, words, c->attnum);
	if (c->nullable)
		text_addf(cg->out, "const i32 vn%d = (i32) (from_keys[from_number * %d + %d] >> %d & 1);\n", k, words,
				  from->nkeys, c->attnum);
}

/* Declare an output of an earlier pipeline's row as a column. */
static void
row_output(Cg *cg, const GcPPipeline *from, const GcPColumn *c, int k)
{
	const char *as = c->reg == GC_F64 ? "GC_BITS_F64((i64) " : c->reg == GC_F32 ? "GC_BITS_F32((i32) " : "(";

	if (c->reg == GC_I128)
		text_addf(cg->out, "const i128 v%d = (i128) ((u128) from_rows[%u * from_cap + from_number] << 64 | from_rows[%d * from_cap + from_number]);\n",
				  k, gc_wide_word(cg->p, from, c->attnum), c->attnum);
	else
		text_addf(cg->out, "const %s v%d = (%s) %sfrom_rows[%d * from_cap + from_number]);\n", cg_ctype[c->reg], k,
				  cg_ctype[c->reg], as, c->attnum);
	if (c->nullable)
		text_addf(cg->out, "const i32 vn%d = (i32) (from_rows[%d * from_cap + from_number] >> %d & 1);\n", k,
				  from->nouts + c->attnum / 64, c->attnum % 64);
}

/* The value in an accumulator's words, as an expression.  word: of a precise sum's two. */
static void
accumulator_text(const GcPAgg *agg, int word, char *buf, size_t size)
{
	const char *complement = gc_accumulator_of(agg)->reversed ? "~" : "";

	if (gc_accumulator_of(agg)->value == GC_VALUE_ONE)
		snprintf(buf, size,
				 agg->acc == GC_F64 ? "gc_unorder_f64(%sgc_w[%d])" : "(i64) (%sgc_w[%d] ^ 0x8000000000000000ull)",
				 complement, agg->word);
	else if (agg->acc == GC_F64X2)
		snprintf(buf, size, "GC_BITS_F64((i64) gc_w[%d])", agg->word + word);
	else if (agg->acc == GC_F64)
		snprintf(buf, size, "GC_BITS_F64((i64) gc_w[%d])", agg->word);
	else if (agg->acc == GC_I128)
		snprintf(buf, size, "(i128) ((u128) gc_w[%d] << 64 | gc_w[%d])", agg->word + 1, agg->word);
	else
		snprintf(buf, size, "(i64) %sgc_w[%d]", complement, agg->word);
}

void
cg_group_column(Cg *cg, u16 column, int k)
{
	const GcPPipeline *from = cg_groups_of(cg->p, cg->pl);
	const GcPColumn *c = &gc_columns(cg->p)[column];
	char		value[120];

	if (from->sink == GC_SINK_ROWS)
	{
		row_output(cg, from, c, k);
		return;
	}
	if (c->agg == GC_NONE)
	{
		if (from->group_mode == GC_GROUP_HASH)
			hashed_key(cg, from, c, k);
		else
			dense_key(cg, from, c, k);
		return;
	}
	accumulator_text(&gc_aggs(cg->p)[c->agg], c->attnum, value, sizeof(value));
	text_addf(cg->out, "const %s v%d = (%s) %s;\n", cg_ctype[c->reg], k, cg_ctype[c->reg], value);
	if (c->reg == GC_F32 && gc_merge_of(&gc_aggs(cg->p)[c->agg]) == GC_MERGE_ADDF)
		text_addf(cg->out, "GC_CHECK(GC_ISFINITE(v%d));\n", k);
	if (c->nullable)
		text_addf(cg->out, "const i32 vn%d = gc_w[%d] == 0;\n", k,
				  c->count == GC_NONE ? 0 : gc_aggs(cg->p)[c->count].word);
}
