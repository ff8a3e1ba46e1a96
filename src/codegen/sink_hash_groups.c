/*-------------------------------------------------------------------------
 *
 * sink_hash_groups.c
 *	  Sink: groups in a hash table in global memory.
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
#include "split.h"
#include "values.h"

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
		Operand		o = cg_expr(cg, gc_refs(cg->p)[cg->pl->first_key + i]);

		if (!never_null(&o))
			text_addf(cg->out, "gc_k[%d] = %s ? 0 : (i64) %s; gc_k[%d] |= (i64) (%s) << %d;\n",
					  i, o.n, o.v, cg->pl->nkeys, o.n, i);
		else
			text_addf(cg->out, "gc_k[%d] = (i64) %s;\n", i, o.v);
	}
	cg_hash(cg, "gc_h", "gc_k", nwords);
	cg_skip_grouped(cg);
	text_addf(cg->out, "const u32 gc_gno = gc_group_find(gc_slots, gc_mask, gc_keys, (u32) gc_ngroups, &gc_flags[GC_FLAG_GROUPS], gc_k, %d, gc_h);\n",
			  nwords);
	text_addf(cg->out, "if (gc_gno == GC_NO_GROUP) { gc_flags[GC_FLAG_GROUPS_FULL] = 1; continue; }\n");
	text_addf(cg->out, "u64 *gc_g = gc_groups + (u64) gc_gno * %d;\n", cg->pl->group_words);
}

static void
emit_row(Cg *cg)
{
	emit_hash_group(cg);
	agg_fold_all(cg, IN_GLOBAL);
}

const Sink	sink_hash_groups = {
	.prepare = prepare,
	.require = agg_require,
	.row = emit_row,
};
