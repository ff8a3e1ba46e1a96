/*-------------------------------------------------------------------------
 *
 * sink_select.c
 *	  Sink: which of the main pipeline's groups are returned.
 *
 * The words of a chosen group are copied, with its key or, of a dense table, its number.  Where
 * only the first few in an order are wanted, the kernel is launched three times (cuda/gc_top.h).
 * All but the last launch only look.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "sinks.h"

#include "../expr/analysis.h"
#include "../expr/emit.h"
#include "../expr/expr.h"
#include "../expr/operand.h"
#include "../expr/values.h"

/* Declare where chosen groups go, and, of the first few by an order, the pass and its bins. */
static void
prepare(Cg *cg)
{
	Text	   *t = &cg->decls;

	text_addf(t, "u64 *to_words = (u64 *) gc_a.w[%d];\n", cg_word(cg, GC_ARG_CHOICE, 0, GC_CHOICE_WORDS));
	text_addf(t, "i64 *to_keys = (i64 *) gc_a.w[%d];\n", cg_word(cg, GC_ARG_CHOICE, 0, GC_CHOICE_KEYS));
	text_addf(t, "const u64 to_cap = gc_a.w[%d];\n", cg_word(cg, GC_ARG_CHOICE, 0, GC_CHOICE_CAP));
	text_addf(t, "const u64 to_wanted = gc_a.w[%d];\n", cg_word(cg, GC_ARG_CHOICE, 0, GC_CHOICE_WANTED));
	if (cg->pl->nkeys == 0)
		return;
	text_addf(t, "u64 *to_top = (u64 *) gc_a.w[%d];\n", cg_word(cg, GC_ARG_CHOICE, 0, GC_CHOICE_TOP));
	text_addf(t, "const u64 to_pass = gc_a.w[%d];\n", cg_word(cg, GC_ARG_CHOICE, 0, GC_CHOICE_PASS));
	text_addf(t, "const u32 gc_last_bin = to_pass == 2 ? gc_top_last_bin(to_top, to_wanted) : 0;\n");
}

/* The values that groups are ordered by; their words are copied as they are. */
static void
require(Cg *cg)
{
	for (int k = 0; k < cg->pl->nkeys; k++)
		cg_require(cg, gc_refs(cg->p)[cg->pl->first_key + k]);
}

/* A thread's best and last image in the first pass. */
static void
emit_state(Cg *cg, Text *t)
{
	if (cg->pl->nkeys > 0)
		text_addf(t, "u64 gc_best = 0, gc_last = 0;\n");
}

/* The place of a row or group in the order of one key, by that name. */
static void
emit_key_image(Cg *cg, int k, const char *name)
{
	const u16	ref = gc_refs(cg->p)[cg->pl->first_key + k];
	const GcExpr *e = &gc_exprs(cg->p)[ref];
	const char *sign = cg->pl->descending >> k & 1 ? "" : "~";
	Operand		o;

	cg_require(cg, ref);
	o = cg_expr(cg, ref);
	if (e->reg == GC_I128 || e->reg == GC_F64 || e->reg == GC_F32)
		/* -0 and 0 are equal: adding 0 leaves one of them. */
		text_addf(cg->out, "u64 %s = %sgc_order_f64((double) %s + 0.0);\n", name, sign, o.v);
	else
		text_addf(cg->out, "u64 %s = %sGC_ORDER_I64((i64) %s);\n", name, sign, o.v);
	text_addf(cg->out, "%s = GC_ORDER_WITHIN(%s);\n", name, name);
	if (!never_null(&o))
		text_addf(cg->out, "if (%s) %s = %s;\n", o.n, name,
				  cg->pl->nulls_first >> k & 1 ? "GC_ORDER_FIRST" : "GC_ORDER_LAST");
}

void
cg_emit_image(Cg *cg)
{
	int			end[4];

	emit_key_image(cg, 0, "gc_image");
	if (cg->pl->nkeys < 2)
		return;
	emit_key_image(cg, 1, "gc_second");
	for (int i = 0; i < 4; i++)
		end[i] = cg_word(cg, GC_ARG_CHOICE, i, GC_CHOICE_END);
	text_addf(cg->out, "gc_image = gc_top_pair(gc_image, gc_a.w[%d], gc_a.w[%d], gc_second, gc_a.w[%d], gc_a.w[%d]);\n",
			  end[0], end[1], end[2], end[3]);
}

/* In the first passes: look at the group's place in the order. */
static void
emit_order(Cg *cg)
{
	cg_emit_image(cg);
	text_addf(cg->out, "if (to_pass == 0) {\n"
			  "if (gc_image == GC_ORDER_FIRST || gc_image == GC_ORDER_LAST) continue;\n"
			  "gc_best = GC_MAX(gc_best, gc_image); gc_last = GC_MAX(gc_last, ~gc_image);\n"
			  "continue;\n}\n"
			  "if (to_pass == 1) { GC_TOP_COUNT(to_top, gc_image, block); continue; }\n"
			  "if (gc_top_bin(to_top, gc_image) > gc_last_bin) continue;\n");
}

/* Write the group's words and key, if its order may be among the wanted ones. */
static void
emit_row(Cg *cg)
{
	const GcPPipeline *from = cg_groups_of(cg->p, cg->pl);
	const int	keys = cg_group_key_words(cg->p, from);

	if (cg->pl->nkeys > 0)
		emit_order(cg);
	else
		text_addf(cg->out, "if (to_wanted && GC_LOAD_FRESH32(&gc_flags[GC_FLAG_ROWS]) >= to_wanted) continue;\n");
	text_addf(cg->out, "const u64 gc_o = GC_ATOMIC_ADD32(&gc_flags[GC_FLAG_ROWS], 1);\n");
	if (cg->pl->nkeys == 0)
		text_addf(cg->out, "if (to_wanted && gc_o >= to_wanted) { (void) GC_ATOMIC_ADD32(&gc_flags[GC_FLAG_ROWS], -1); continue; }\n");
	text_addf(cg->out, "if (gc_o >= to_cap) { gc_flags[GC_FLAG_ROWS_FULL] = 1; continue; }\n"
			  "for (u32 i = 0; i < %d; i++) to_words[gc_o * %d + i] = gc_w[i];\n", from->group_words, from->group_words);
	if (from->group_mode == GC_GROUP_HASH)
		text_addf(cg->out, "for (u32 i = 0; i < %d; i++) to_keys[gc_o * %d + i] = from_keys[from_number * %d + i];\n",
				  keys, keys, keys);
	else
		text_addf(cg->out, "to_keys[gc_o] = (i64) from_number;\n");
}

/* The first pass ends with the best image of all, and the last one. */
static void
end_order(Cg *cg, Text *t)
{
	if (cg->pl->nkeys > 0)
		text_addf(t, "if (to_pass == 0) {\nconst u64 e = gc_block_max(gc_best), l = gc_block_max(gc_last);\n"
				  "if (thread == 0) { GC_MAX_G(to_top, e); GC_MAX_G(to_top + 1, l); }\n}\n");
}

const Sink	sink_select = {
	.prepare = prepare,
	.require = require,
	.row = emit_row,
	.state = emit_state,
	.end = end_order,
};
