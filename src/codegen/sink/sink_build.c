/*-------------------------------------------------------------------------
 *
 * sink_build.c
 *	  Sink: a build, dense, hash or list, that a later pipeline probes.
 *
 * A dense build is for one integer key of a small range that is not known to repeat: a bitmap, and arrays of payloads.
 * A key that repeats in it raises a flag, and the session binds the request again with a hash build.  A build of a full
 * or right join also has rows with NULL keys, and a byte for each row that notes a match.
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
#include "../step/split.h"
#include "sinks.h"

/* Declare the build's words, and for a dense one whether the block has entered any row. */
static void
prepare(Cg *cg)
{
	(void) cg_build(cg, cg->pl->build);
	if (gc_builds(cg->p)[cg->pl->build].mode == GC_BUILD_DENSE)
		text_addf(&cg->decls, "u32 gc_key_most = 0, gc_key_least = 0;\n");
}

/* Keys and payloads, for the row phase. */
static void
require(Cg *cg)
{
	const GcPBuild *b = &gc_builds(cg->p)[cg->pl->build];

	for (u16 i = 0; i < b->nkeys; i++)
		cg_require(cg, gc_refs(cg->p)[b->first_key + i]);
	for (u16 i = 0; i < b->npayloads; i++)
		cg_require(cg, gc_payloads(cg->p)[b->first_payload + i].expr);
}

/* Keep the greatest codes of the set's payloads at index gc_x. */
static void
emit_greatest(Cg *cg, const GcPBuild *b)
{
	for (u16 i = 0; i < b->npayloads; i++)
	{
		u16			payload = b->first_payload + i;
		const GcPPayload *pay = &gc_payloads(cg->p)[payload];
		int			data = cg_word(cg, GC_ARG_PAYLOAD, payload, 0);
		Operand		o = cg_expr(cg, pay->expr);

		text_addf(cg->out, "GC_KEEP_GREATEST(%d, &((%s *) gc_a.w[%d])[gc_x], (u64) (i64) %s - gc_a.w[%d]);\n",
				  pay->width * 8, cg_code_type[pay->width], data, o.v, cg_word(cg, GC_ARG_PAYLOAD, payload, 1));
	}
}

/* Drop the current row if a value of which the greatest is kept is NULL, or failed its check. */
static void
skip_unknown(Cg *cg, const GcPBuild *b)
{
	for (u16 i = 0; i < b->npayloads; i++)
	{
		const u16	e = gc_payloads(cg->p)[b->first_payload + i].expr;
		Operand		o;

		cg_require(cg, e);
		o = cg_expr(cg, e);
		if (!never_null(&o))
			text_addf(cg->out, "if (%s) continue;\n", o.n);
		cg_skip_bad(cg, e);
	}
}

/*
 * Store the payloads of the current row at index gc_x.  A value that failed its check is stored as
 * code 0, since a later pipeline may use the value as an index.
 */
static void
emit_payload_stores(Cg *cg, const GcPBuild *b)
{
	for (u16 i = 0; i < b->npayloads; i++)
	{
		u16			payload = b->first_payload + i;
		const GcPPayload *pay = &gc_payloads(cg->p)[payload];
		int			data = cg_word(cg, GC_ARG_PAYLOAD, payload, 0);
		Operand		o;

		cg_require(cg, pay->expr);
		o = cg_stored(cg, pay->expr);
		if (pay->reg == GC_F32 || pay->reg == GC_F64)
		{
			const char *bits = pay->reg == GC_F32 ? "F32" : "F64";

			if (pay->nullable)
				text_addf(cg->out, "GC_CHECK(%s || (%s) GC_%s_BITS(%s) != GC_NULL_%s);\n", o.n,
						  cg_code_type[pay->width], bits, o.v, bits);
			text_addf(cg->out, "((%s *) gc_a.w[%d])[gc_x] = ", cg_code_type[pay->width], data);
			if (pay->nullable)
				text_addf(cg->out, "%s ? GC_NULL_%s : ", o.n, bits);
			text_addf(cg->out, "(%s) GC_%s_BITS(%s);\n", cg_code_type[pay->width], bits, o.v);
			continue;
		}
		text_addf(cg->out, "((%s *) gc_a.w[%d])[gc_x] = (%s) %s", cg_code_type[pay->width], data,
				  cg_code_type[pay->width], cg_checked(cg->p, pay->expr) ? "gc_bad ? 0 : " : "");
		if (pay->reg == GC_I128)
		{
			text_addf(cg->out, "(%s ? 0 : (u128) %s + GC_WIDE_BIAS);\n", pay->nullable ? o.n : "0", o.v);
			continue;
		}
		data = cg_word(cg, GC_ARG_PAYLOAD, payload, 1);
		if (pay->nullable)
			text_addf(cg->out, "(%s ? 0 : (u64) (i64) %s - gc_a.w[%d]);\n", o.n, o.v, data);
		else
			text_addf(cg->out, "((u64) (i64) %s - gc_a.w[%d]);\n", o.v, data);
	}
}

/*
 * Put the keys into gc_k.  NULL equals nothing, so that no join ever finds such a row: it is dropped,
 * unless rows without a match are wanted (gc_lost).
 */
static void
emit_keys(Cg *cg, const GcPBuild *b)
{
	if (b->nkeys > 0)
		text_addf(cg->out, "i64 gc_k[%d];\n%s", b->nkeys, b->keeps ? "i32 gc_lost = 0;\n" : "");
	for (u16 i = 0; i < b->nkeys; i++)
	{
		Operand		o = cg_expr(cg, gc_refs(cg->p)[b->first_key + i]);

		if (!never_null(&o))
			text_addf(cg->out, b->keeps ? "gc_lost |= %s;\n" : "if (%s) continue;\n", o.n);
		cg_skip_bad(cg, gc_refs(cg->p)[b->first_key + i]);
		text_addf(cg->out, "gc_k[%d] = (i64) %s;\n", i, o.v);
	}
}

/* Enter the row: as a member of a set, into a bitmap, or as the next row, which hash chains then lead to. */
static void
emit_row(Cg *cg)
{
	const GcPBuild *b = &gc_builds(cg->p)[cg->pl->build];
	int			k = cg_build(cg, cg->pl->build);

	for (u16 i = 0; i < b->nkeys; i++)
		cg_require(cg, gc_refs(cg->p)[b->first_key + i]);
	emit_keys(cg, b);
	cg_skip_built(cg);
	if (b->set)
	{
		skip_unknown(cg, b);
		if (b->mode == GC_BUILD_DENSE)
		{
			text_addf(cg->out, "const u64 gc_x = (u64) gc_k[0] - b%d_base;\nGC_NOTE_KEY(gc_x)\n"
					  "GC_SET_BIT(b%d_bits, gc_x);\n", k, k);
		}
		else
		{
			cg_hash(cg, "gc_h", "gc_k", b->nkeys);
			text_addf(cg->out, "const u64 gc_x = gc_set_enter((u64 *) b%d_slots, b%d_mask, (i64 *) b%d_keys, b%d_cap, &gc_flags[GC_FLAG_BUILT], gc_k, %d, gc_h);\n",
					  k, k, k, k, b->nkeys);
			text_addf(cg->out, "if (gc_x >= b%d_cap) { gc_flags[GC_FLAG_BUILD_FULL] = 1; continue; }\n", k);
		}
		emit_greatest(cg, b);
		return;
	}
	if (b->mode == GC_BUILD_DENSE)
	{
		text_addf(cg->out, "const u64 gc_x = (u64) gc_k[0] - b%d_base;\nGC_NOTE_KEY(gc_x)\n", k);
		text_addf(cg->out, "if (GC_ATOMIC_OR32(&((u32 *) b%d_bits)[gc_x >> 5], 1u << (gc_x & 31)) >> (gc_x & 31) & 1)\n"
				  "gc_flags[GC_FLAG_DUPLICATE] = 1;\n", k);
		emit_payload_stores(cg, b);
		return;
	}
	text_addf(cg->out, "const u64 gc_x = GC_ATOMIC_ADD32(&gc_flags[GC_FLAG_BUILT], 1);\n");
	text_addf(cg->out, "if (gc_x >= b%d_cap) { gc_flags[GC_FLAG_BUILD_FULL] = 1; continue; }\n", k);
	for (u16 i = 0; i < b->nkeys; i++)
		text_addf(cg->out, "((i64 *) b%d_keys)[%d * b%d_cap + gc_x] = gc_k[%d];\n", k, i, k, i);
	emit_payload_stores(cg, b);
	if (b->mode == GC_BUILD_LIST)
		return;
	cg_hash(cg, "gc_h", "gc_k", b->nkeys);
	text_addf(cg->out, "if (%sgc_build_insert((u64 *) b%d_slots, b%d_mask, (const i64 *) b%d_keys, (u32 *) b%d_next, b%d_cap, (u32) gc_x, gc_k, %d, gc_h))\n"
			  "gc_flags[GC_FLAG_DUPLICATE] = 1;\n", b->keeps ? "!gc_lost && " : "", k, k, k, k, k, b->nkeys);
}

const Sink	sink_build = {
	.prepare = prepare,
	.require = require,
	.row = emit_row,
};
