/*-------------------------------------------------------------------------
 *
 * sink_dense_groups.c
 *	  Sink: groups in a table indexed by a number that is computed from the keys.
 *
 * The table is in global memory.  A block may have a table of its own before it, in shared
 * memory.  That table has all groups (local), or the groups whose rows come first, as far as
 * there is room (cells).  After the scan it is added to the global one.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "aggregates.h"
#include "analysis.h"
#include "emit.h"
#include "expr.h"
#include "operand.h"
#include "sinks.h"
#include "values.h"

/* Does a block have a table of all groups? */
static bool
is_local(const Cg *cg)
{
	return cg->variant->group_local;
}

/* Does a block have cells for the groups whose rows come first? */
static bool
has_cells(const Cg *cg)
{
	return !cg->variant->group_local && cg->variant->group_cells > 0;
}

static bool
uses_shared(const Cg *cg)
{
	return is_local(cg) || has_cells(cg);
}

static bool
is_nullable_key(const Cg *cg, u16 i)
{
	return gc_exprs(cg->p)[gc_refs(cg->p)[cg->pl->first_key + i]].flags & GC_NULLABLE;
}

static void
prepare(Cg *cg)
{
	Text	   *t = &cg->decls;

	agg_prepare(cg);
	for (u16 i = 0; i < cg->pl->nkeys; i++)
	{
		text_addf(t, "const i64 g%d_base = (i64) gc_a.w[%d];\n", i,
				  cg_word(cg, GC_ARG_GROUP_KEY, GC_GROUP_KEY_INDEX(cg_pipeline_number(cg), i), 0));
		text_addf(t, "const u32 g%d_stride = (u32) gc_a.w[%d];\n", i,
				  cg_word(cg, GC_ARG_GROUP_KEY, GC_GROUP_KEY_INDEX(cg_pipeline_number(cg), i), 1));
	}
	/* The keys' bases have one common part in a group's number, which is subtracted once. */
	text_addf(t, "const u32 gc_origin = 0");
	for (u16 i = 0; i < cg->pl->nkeys; i++)
	{
		if (!is_nullable_key(cg, i))
			text_addf(t, " - (u32) g%d_base * g%d_stride", i, i);
	}
	text_addf(t, ";\n");
}

static bool
takes_all(const Cg *cg)
{
	if (!is_local(cg))
		return false;
	for (u16 i = 0; i < cg->pl->nkeys; i++)
	{
		if (cg_checked(cg->p, gc_refs(cg->p)[cg->pl->first_key + i]))
			return false;
	}
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		if (agg_checked(cg, AGG(cg, i)))
			return false;
	}
	return true;
}

/* Number of the group, from dense keys; in a nullable key 0 stands for NULL. */
static void
emit_dense_group(Cg *cg)
{
	text_addf(cg->out, "u32 gc_gno = gc_origin;\n");
	for (u16 i = 0; i < cg->pl->nkeys; i++)
	{
		u16			ref = gc_refs(cg->p)[cg->pl->first_key + i];
		Operand		o;

		cg_require(cg, ref);
		o = cg_expr(cg, ref);
		cg_skip_bad(cg, ref);
		if (is_nullable_key(cg, i))
			text_addf(cg->out, "gc_gno += %s ? 0 : ((u32) ((i64) %s - g%d_base) + 1) * g%d_stride;\n",
					  o.n, o.v, i, i);
		else
			text_addf(cg->out, "gc_gno += (u32) (%s) * g%d_stride;\n", o.v, i);
	}
	if (is_local(cg))
		text_addf(cg->out, "const u32 gc_cell = %sgc_gno * %d + gc_copy%s;\n", cg->all_rows ? "gc_pass ? " : "",
				  cg->variant->group_copies, cg->all_rows ? " : gc_cells + thread % GC_SPARE_CELLS" : "");
	else
		text_addf(cg->out, "u64 *gc_g = gc_groups + (u64) gc_gno * %d;\n", cg->pl->group_words);
	if (has_cells(cg))
		text_addf(cg->out, "const u32 gc_cell = gc_find_cell(gc_tags, gc_cells, gc_gno);\n");
}

/* Add to the group's cell, or to its words in global memory if it has none. */
static void
emit_filter_aggregates_in_cell(Cg *cg)
{
	Operand		o[GC_MAX_AGGS];

	for (u16 i = 0; i < cg->pl->naggs; i++)
		o[i] = agg_operand(cg, i);
	for (int scope = IN_LOCAL; scope <= IN_GLOBAL; scope++)
	{
		text_addf(cg->out, scope == IN_LOCAL ? "if (gc_cell != GC_NO_CELL) {\n" : "} else {\n");
		for (u16 i = 0; i < cg->pl->naggs; i++)
			agg_fold(cg, i, &o[i], scope);
		agg_count_row(cg, scope);
	}
	text_addf(cg->out, "}\n");
}

static void
emit_row(Cg *cg)
{
	emit_dense_group(cg);
	if (has_cells(cg))
		emit_filter_aggregates_in_cell(cg);
	else
		agg_fold_all(cg, is_local(cg) ? IN_LOCAL : IN_GLOBAL);
}

/*-------------------------------------------------------------------------
 * A block's own table
 *-------------------------------------------------------------------------
 */

static void
emit_table(Cg *cg, Text *t)
{
	if (has_cells(cg))
		text_addf(t, "const u32 gc_cells = %d, gc_stride = gc_cells, gc_cell_words = %d;\n(void) gc_stride;\n"
				  "u64 *gc_table = gc_shared + gc_top;\nu32 *gc_tags = (u32 *) (gc_table + gc_cells * gc_cell_words);\n",
				  cg->variant->group_cells, cg->pl->group_words);
	if (!is_local(cg))
		return;
	text_addf(t, "const u32 gc_cells = (u32) gc_ngroups * %d, gc_copy = thread %% %d;\n"
			  "const u32 gc_stride = gc_cells + GC_SPARE_CELLS, gc_cell_words = %d;\n"
			  "(void) gc_copy; (void) gc_stride; (void) gc_cell_words;\nu64 *gc_table = gc_shared + gc_top;\n",
			  cg->variant->group_copies, cg->variant->group_copies, cg->pl->group_words);
}

static void
clear_table(Cg *cg, Text *t)
{
	if (is_local(cg))
		text_addf(t, "GC_NO_UNROLL for (u32 i = thread; i < gc_stride * gc_cell_words; i += nthreads) gc_table[i] = 0;\n");
	/* the tags are cleared, too */
	if (has_cells(cg))
		text_addf(t, "GC_NO_UNROLL for (u32 i = thread; i < gc_cells * gc_cell_words + gc_cells / 2; i += nthreads) gc_table[i] = 0;\n");
}

/* Total of a cell's copies, as eN, on top of what is there. */
static void
gather_copies(Cg *cg, Text *t)
{
	text_addf(t, agg_counts_rows(cg) ? "e0 += GC_SUM_L(0);\n" : "e0 |= GC_SUM_L(0);\n");
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);
		int			w = agg->word;

		if (w == 0)
			continue;
		if (agg_is_bits(agg))
			text_addf(t, "e%d |= *GC_WORD_L(%d);\n", w, w);
		else if (agg_is_extreme(agg))
			text_addf(t, "e%d = GC_MAX(e%d, *GC_WORD_L(%d));\n", w, w, w);
		else if (agg->fn == GC_AGG_PRECISE_SUM)
			text_addf(t, "e%d = gc_f64x2_add(e%d, gc_f64x2_at(GC_WORD_L(%d), GC_WORD_L(%d)));\n", w, w, w, w + 1);
		else if (agg->fn == GC_AGG_SUM && agg->acc == GC_F64)
			text_addf(t, "e%d += GC_BITS_F64((i64) *GC_WORD_L(%d));\n", w, w);
		else
			text_addf(t, "e%d += GC_SUM%s_L(%d);\n", w, agg->fn == GC_AGG_SUM && agg->acc == GC_I128 ? "128" : "", w);
	}
}

/* Begin a group's totals e0, e1, ... from nothing. */
static void
begin_totals(Cg *cg, Text *t)
{
	text_addf(t, "u64 e0 = 0;\n");
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		if (AGG(cg, i)->word != 0)
			text_addf(t, "%s e%d = %s;\n", agg_total_type(AGG(cg, i)), AGG(cg, i)->word, agg_nothing(AGG(cg, i)));
	}
}

/* Add the totals to the group's words at g, if there was a row. */
static void
add_totals(Cg *cg, Text *t)
{
	text_addf(t, agg_counts_rows(cg) ? "if (!e0) continue;\nGC_ADD_G(g, e0);\n" : "if (!e0) continue;\nGC_NOTE_GROUP(g);\n");
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		if (AGG(cg, i)->word != 0)
			agg_add_total(t, AGG(cg, i), "g");
	}
	text_addf(t, "}\n");
}

/*
 * Add a block's own table to the global one.  A thread takes the copies of a group in another
 * order than its neighbours do, so that their accesses are in different banks.
 */
static void
end_local(Cg *cg, Text *t)
{
	const int	copies = cg->variant->group_copies;

	text_addf(t, "GC_BARRIER();\nconst u32 gc_n32 = (u32) gc_ngroups;\n"
			  "GC_NO_UNROLL for (u32 i = thread; i < gc_n32; i += nthreads) {\n");
	begin_totals(cg, t);
	text_addf(t, "GC_NO_UNROLL for (u32 c = 0; c < %d; c++) {\nconst u32 gc_cell = i * %d + (c + i) %% %d;\n",
			  copies, copies, copies);
	gather_copies(cg, t);
	text_addf(t, "}\nu64 *g = gc_groups + i * %d;\n", cg->pl->group_words);
	add_totals(cg, t);
}

/* Add the cells of a block's groups to the global table. */
static void
end_cells(Cg *cg, Text *t)
{
	text_addf(t, "GC_BARRIER();\nGC_NO_UNROLL for (u32 gc_cell = thread; gc_cell < gc_cells; gc_cell += nthreads) {\n"
			  "if (!gc_tags[gc_cell]) continue;\n");
	begin_totals(cg, t);
	gather_copies(cg, t);
	text_addf(t, "u64 *g = gc_groups + (u64) (gc_tags[gc_cell] - 1) * %d;\n", cg->pl->group_words);
	add_totals(cg, t);
}

static void
end_table(Cg *cg, Text *t)
{
	if (is_local(cg))
		end_local(cg, t);
	else if (has_cells(cg))
		end_cells(cg, t);
}

const Sink	sink_dense_groups = {
	.prepare = prepare,
	.require = agg_require,
	.row = emit_row,
	.takes_all = takes_all,
	.uses_shared = uses_shared,
	.table = emit_table,
	.clear = clear_table,
	.end = end_table,
};
