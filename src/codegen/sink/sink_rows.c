/*-------------------------------------------------------------------------
 *
 * sink_rows.c
 *	  Sink: rows; of those in an order, the first few and some more (cuda/gc_top.h).
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
#include "sinks.h"

/* Declare where rows go, and, of the first few by an order, the bound that the others have set. */
static void
prepare(Cg *cg)
{
	if (cg->pl->nkeys > 0)
	{
		text_addf(&cg->decls, "u32 *to_kept = (u32 *) gc_a.w[%d];\n",
				  cg_word(cg, GC_ARG_GROUP, cg_pipeline_number(cg), GC_GROUP_PART_TABLE));
		text_addf(&cg->decls, "const u64 to_best = gc_a.w[%d];\n", cg_word(cg, GC_ARG_CHOICE, 0, GC_CHOICE_BEST));
		text_addf(&cg->decls, "const u64 to_wanted = gc_a.w[%d];\n", cg_word(cg, GC_ARG_CHOICE, 0, GC_CHOICE_WANTED));
	}
	text_addf(&cg->decls, "u64 *gc_rows = (u64 *) gc_a.w[%d];\n", cg_word(cg, GC_ARG_ROWS, cg_pipeline_number(cg), 0));
	text_addf(&cg->decls, "const u64 gc_rows_cap = gc_a.w[%d];\n", cg_word(cg, GC_ARG_ROWS, cg_pipeline_number(cg), 1));
}

/* The value that rows are ordered by, and all outputs. */
static void
require(Cg *cg)
{
	if (cg->pl->nkeys > 0)
		cg_require(cg, gc_refs(cg->p)[cg->pl->first_key]);
	for (u16 i = 0; i < cg->pl->nouts; i++)
		cg_require(cg, gc_refs(cg->p)[cg->pl->first_out + i]);
}

/* A later pipeline may use a value as an index: no row has one that failed its check. */
static void
skip_bad(Cg *cg)
{
	for (u16 i = 0; i < cg->pl->nouts; i++)
	{
		const u16	ref = gc_refs(cg->p)[cg->pl->first_out + i];

		if (!cg_checked(cg->p, ref))
			continue;
		cg_require(cg, ref);
		(void) cg_stored(cg, ref);
		cg_skip_bad(cg, ref);
	}
}

/* Write the row, column by column and then its NULL flags, if it may be among the wanted ones. */
static void
emit_row(Cg *cg)
{
	if (cg->pl->nkeys > 0)
	{
		cg_emit_image(cg);
		text_addf(cg->out, "if (!gc_first_keep(to_kept, to_best, gc_image, to_wanted)) continue;\n");
	}
	if (gc_sink_owner(cg->p, cg_pipeline_number(cg)) != cg->p->npipelines - 1)
		skip_bad(cg);
	/* Column-wise, 64-bit words; then come the NULL flags, see gc_row_words. */
	text_addf(cg->out, "u64 gc_null = 0;\nconst u64 gc_o = GC_ATOMIC_ADD32(&gc_flags[GC_FLAG_ROWS], 1);\n");
	text_addf(cg->out, "if (gc_o >= gc_rows_cap) { gc_flags[GC_FLAG_ROWS_FULL] = 1; continue; }\n");
	for (u16 i = 0; i < cg->pl->nouts; i++)
	{
		u16			ref = gc_refs(cg->p)[cg->pl->first_out + i];
		Operand		o;

		cg_require(cg, ref);
		o = cg_stored(cg, ref);
		if (gc_exprs(cg->p)[ref].reg == GC_F64)
			text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = (u64) GC_F64_BITS(%s);\n", i, o.v);
		else if (gc_exprs(cg->p)[ref].reg == GC_F32)
			text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = (u64) (u32) GC_F32_BITS(%s);\n", i, o.v);
		else
			text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = (u64) (i64) %s;\n", i, o.v);
		if (gc_is_wide(&gc_exprs(cg->p)[ref]))
			text_addf(cg->out, "gc_rows[%u * gc_rows_cap + gc_o] = (u64) (%s >> 64);\n", gc_wide_word(cg->p, cg->pl, i),
					  o.v);
		if (!never_null(&o))
			text_addf(cg->out, "gc_null |= (u64) (%s) << %d;\n", o.n, i % 64);
		if (i % 64 == 63 && i + 1 < cg->pl->nouts)
			text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = gc_null;\ngc_null = 0;\n", cg->pl->nouts + i / 64);
	}
	text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = gc_null;\n",
			  cg->pl->nouts + GC_NULL_WORDS(cg->pl->nouts) - 1);
}

const Sink	sink_rows = {
	.prepare = prepare,
	.require = require,
	.row = emit_row,
};
