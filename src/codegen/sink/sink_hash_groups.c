/*-------------------------------------------------------------------------
 *
 * sink_hash_groups.c
 *	  Sink: groups in a hash table in global memory.
 *
 * A block may keep the groups whose rows come first in shared memory, with their keys (cells.c).
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/expr.h"
#include "../expr/operand.h"
#include "../expr/values.h"
#include "../step/split.h"
#include "aggregates.h"
#include "sinks.h"

/* Declare the hash table's slots and keys. */
static void
prepare(Cg *cg)
{
	agg_prepare(cg);
	text_addf(&cg->decls, "u64 *gc_slots = (u64 *) gc_a.w[%d];\n",
			  cg_word(cg, GC_ARG_GROUP, cg_pipeline_number(cg), GC_GROUP_PART_SLOTS));
	text_addf(&cg->decls, "const u64 gc_mask = gc_a.w[%d];\n",
			  cg_word(cg, GC_ARG_GROUP, cg_pipeline_number(cg), GC_GROUP_PART_MASK));
	text_addf(&cg->decls, "i64 *gc_keys = (i64 *) gc_a.w[%d];\n",
			  cg_word(cg, GC_ARG_GROUP, cg_pipeline_number(cg), GC_GROUP_PART_KEYS));
}

/*
 * A key's bits.  Floats that PostgreSQL calls equal have the same: all NaNs are one.  -0 is left to
 * PostgreSQL, since 0 may be shown for it, or the other way round.
 */
static void
key_bits(Cg *cg, const GcExpr *e, const Operand *o, char *buf, size_t size)
{
	if (!GC_KIND_IS_FLOAT(e->kind))
		snprintf(buf, size, "(i64) %s", o->v);
	else if (e->reg == GC_F32)
	{
		text_addf(cg->out, "if (!(%s)) GC_CHECK((u32) GC_F32_BITS(%s) != 0x80000000u);\n", o->n, o->v);
		snprintf(buf, size, "(GC_ISNAN(%s) ? 0x7fc00000ll : (i64) (u32) GC_F32_BITS(%s))", o->v, o->v);
	}
	else
	{
		text_addf(cg->out, "if (!(%s)) GC_CHECK((u64) GC_F64_BITS(%s) != 0x8000000000000000ull);\n", o->n, o->v);
		snprintf(buf, size, "(GC_ISNAN(%s) ? 0x7ff8000000000000ll : (i64) GC_F64_BITS(%s))", o->v, o->v);
	}
}

/* Find the group, or make it. */
static void
emit_hash_group(Cg *cg)
{
	int			nwords = cg_group_key_words(cg->p, cg->pl);

	for (u16 i = 0; i < cg->pl->nkeys; i++)
		cg_require(cg, gc_refs(cg->p)[cg->pl->first_key + i]);
	text_addf(cg->out, "i64 gc_k[%d];\n", nwords);
	if (cg_has_nullable_key(cg->p, cg->pl))
		text_addf(cg->out, "gc_k[%d] = 0;\n", cg->pl->nkeys);
	for (u16 i = 0; i < cg->pl->nkeys; i++)
	{
		const u16	ref = gc_refs(cg->p)[cg->pl->first_key + i];
		Operand		o = cg_expr(cg, ref);
		char		bits[256];

		/* Another pipeline may read the groups, and trust the keys' ranges. */
		cg_skip_bad(cg, ref);
		key_bits(cg, &gc_exprs(cg->p)[ref], &o, bits, sizeof(bits));
		if (!never_null(&o))
			text_addf(cg->out, "gc_k[%d] = %s ? 0 : %s; gc_k[%d] |= (i64) (%s) << %d;\n",
					  i, o.n, bits, cg->pl->nkeys, o.n, i);
		else
			text_addf(cg->out, "gc_k[%d] = %s;\n", i, bits);
	}
	cg_hash(cg, "gc_h", "gc_k", nwords);
	cg_skip_grouped(cg);
	if (cg_has_cells(cg))
		text_addf(cg->out, "u64 *gc_g = gc_groups;\nu32 gc_cell = gc_find_key_cell(gc_tags, gc_cell_keys, gc_cells, gc_k, %d, gc_h);\n"
				  "if (gc_cell == GC_NO_CELL) {\n", nwords);
	text_addf(cg->out, "const u32 gc_gno = gc_group_find(gc_slots, gc_mask, gc_keys, (u32) gc_ngroups, &gc_flags[GC_FLAG_GROUPS], gc_k, %d, gc_h);\n",
			  nwords);
	text_addf(cg->out, "if (gc_gno == GC_NO_GROUP) { gc_flags[GC_FLAG_GROUPS_FULL] = 1; continue; }\n");
	if (cg_has_cells(cg))
		text_addf(cg->out, "gc_g += (u64) gc_gno * %d;\ngc_cell = gc_claim_key_cell(gc_tags, gc_cell_keys, gc_cells, gc_k, %d, gc_h, gc_gno);\n}\n",
				  cg->pl->group_words, nwords);
	else
		text_addf(cg->out, "u64 *gc_g = gc_groups + (u64) gc_gno * %d;\n", cg->pl->group_words);
}

/* Find or enter the group, and add the row to it: in its cell, or in the device's table. */
static void
emit_row(Cg *cg)
{
	emit_hash_group(cg);
	if (cg_has_cells(cg))
		cg_fold_in_cell(cg);
	else
		agg_fold_all(cg, IN_GLOBAL);
}

const Sink	sink_hash_groups = {
	.prepare = prepare,
	.require = agg_require,
	.row = emit_row,
	.uses_shared = cg_has_cells,
	.table = cg_cell_table,
	.clear = cg_clear_cells,
	.end = cg_end_cells,
};
