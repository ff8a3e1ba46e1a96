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
#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/expr.h"
#include "../expr/operand.h"
#include "../expr/values.h"
#include "aggregates.h"
#include "sinks.h"

/* Does a block have a table of all groups? */
static bool
is_local(const Cg *cg)
{
	return cg->variant->group_local;
}

/* Are groups, or cells of them, in shared memory? */
static bool
uses_shared(const Cg *cg)
{
	return is_local(cg) || cg_has_cells(cg);
}

/* A key with NULLs has one code more than its values. */
static bool
is_nullable_key(const Cg *cg, u16 i)
{
	return gc_exprs(cg->p)[gc_refs(cg->p)[cg->pl->first_key + i]].flags & GC_NULLABLE;
}

/* Declare base and stride of each key, and the part of a group's number that all rows have. */
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

/* May rows that failed be added to a spare cell, so that no branch is taken?  Nothing may raise an error for that. */
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
	if (cg_has_cells(cg))
		text_addf(cg->out, "const u32 gc_cell = gc_find_cell(gc_tags, gc_cells, gc_gno);\n");
}

/* Compute the group's number, and add the row to it: in its cell, in the block's table or in the device's. */
static void
emit_row(Cg *cg)
{
	emit_dense_group(cg);
	if (cg_has_cells(cg))
		cg_fold_in_cell(cg);
	else
		agg_fold_all(cg, is_local(cg) ? IN_LOCAL : IN_GLOBAL);
}

/*-------------------------------------------------------------------------
 * A block's own table
 *-------------------------------------------------------------------------
 */

/* Declare the block's table, of as many copies as its variant has. */
static void
emit_table(Cg *cg, Text *t)
{
	cg_cell_table(cg, t);
	if (!is_local(cg))
		return;
	text_addf(t, "const u32 gc_cells = (u32) gc_ngroups * %d, gc_copy = thread %% %d;\n"
			  "const u32 gc_stride = gc_cells + GC_SPARE_CELLS, gc_cell_words = %d;\n"
			  "(void) gc_copy; (void) gc_stride; (void) gc_cell_words;\nu64 *gc_table = gc_shared + gc_top;\n",
			  cg->variant->group_copies, cg->variant->group_copies, cg->pl->group_words);
}

/* Clear the block's table before the first row. */
static void
clear_table(Cg *cg, Text *t)
{
	if (is_local(cg))
		text_addf(t,
				  "GC_NO_UNROLL for (u32 i = thread; i < gc_stride * gc_cell_words; i += nthreads) gc_table[i] = 0;\n");
	cg_clear_cells(cg, t);
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
	cg_begin_totals(cg, t);
	text_addf(t, "GC_NO_UNROLL for (u32 c = 0; c < %d; c++) {\nconst u32 gc_cell = i * %d + (c + i) %% %d;\n",
			  copies, copies, copies);
	cg_gather_cell(cg, t);
	text_addf(t, "}\nu64 *g = gc_groups + i * %d;\n", cg->pl->group_words);
	cg_add_totals(cg, t);
}

/* Add the block's table to the device's behind the last row. */
static void
end_table(Cg *cg, Text *t)
{
	if (is_local(cg))
		end_local(cg, t);
	else if (cg_has_cells(cg))
		cg_end_cells(cg, t);
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
