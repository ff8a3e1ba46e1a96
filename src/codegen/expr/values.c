/*-------------------------------------------------------------------------
 *
 * values.c
 *	  How values are brought to a kernel's statements: columns, parameters, payloads, entries of lookup tables.
 *
 * The inputs of an expression are required before the expression is written (cg_require).  A column becomes available
 * as a vector or as one row's value, by the kernel's phase.  A payload is read at the index of the row's match in its
 * build.  The scan skeleton loads a vector that several members of a fused kernel want (fusion.c).
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "values.h"
#include "../selection.h"
#include "analysis.h"
#include "emit.h"
#include "expr.h"
#include "fusion.h"

#include <stdio.h>

/* Declare a parameter at the kernel's beginning, at its first use. */
static void
declare_param(Cg *cg, u16 param)
{
	const GcPParam *pp = &gc_params(cg->p)[param];
	int			k,
				w;

	if (cg->param[param] >= 0)
		return;
	k = cg->param[param] = cg->nparams++;
	w = cg_word(cg, GC_ARG_PARAM, param, 0);
	switch (pp->reg)
	{
		case GC_F64:
			text_addf(&cg->decls, "const double p%d = GC_BITS_F64((i64) gc_a.w[%d]);\n", k, w);
			break;
		case GC_F32:
			text_addf(&cg->decls, "const float p%d = GC_BITS_F32((i32) gc_a.w[%d]);\n", k, w);
			break;
		case GC_I128:
			text_addf(&cg->decls, "const i128 p%d = (i128) ((u128) gc_a.w[%d] << 64 | gc_a.w[%d]);\n",
					  k, cg_word(cg, GC_ARG_PARAM, param, 1), w);
			break;
		default:
			text_addf(&cg->decls, "const %s p%d = (%s) gc_a.w[%d];\n", cg_ctype[pp->reg], k,
					  cg_ctype[pp->reg], w);
			break;
	}
}

void
cg_dense_index(Cg *cg, const GcPStep *step, u16 key, const Operand *k, char *buf, size_t size)
{
	int			b = cg_build(cg, step->build);

	if (step->in_range && gc_exprs(cg->p)[key].reg == GC_I32)
		snprintf(buf, size, "((u32) %s - (u32) b%d_base)", k->v, b);
	else
		snprintf(buf, size, "((u64) (i64) %s - b%d_base)", k->v, b);
}

void
cg_direct_entry(Cg *cg, const GcPStep *step, char *buf, size_t size)
{
	const char *type = gc_direct_bytes(cg->p, step->build) == 8 ? "u64" : "u32";
	int			direct_tables = cg_word(cg, GC_ARG_DIRECT, step->build, GC_PREDICATE_BITS);
	int			base = cg_word(cg, GC_ARG_DIRECT, step->build, GC_PREDICATE_BASE);
	char		null[64] = "";
	u16			column;
	int			k;

	if (!cg_one_column(cg->p, step, &column))
	{
		cg_fail(cg, GC_BAD_PROGRAM, "direct lookup tables of a build that is probed with several columns");
		return;
	}
	cg_require_keys(cg, step);
	k = cg_column(cg, column);
	if (gc_columns(cg->p)[column].nullable)
		snprintf(null, sizeof(null), "vn%d ? (u32) gc_a.w[%d] : ", k,
				 cg_word(cg, GC_ARG_DIRECT, step->build, GC_PREDICATE_RANGE));
	snprintf(buf, size, "((const %s *) gc_a.w[%d])[%s(u32) ((u64) (i64) v%d - gc_a.w[%d])]", type, direct_tables, null,
			 k, base);
}

/*
 * Declare rN from the direct lookup table, as cg_hash_find does, but with GC_DIRECT_MORE; and eN,
 * the whole entry.
 */
void
cg_find_place(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);
	char		entry[192] = "";

	if (cg->batched_direct[step->build] >= 0)
		snprintf(entry, sizeof(entry), "z%d[gc_j]", cg->batched_direct[step->build]);
	else
		cg_direct_entry(cg, step, entry, sizeof(entry));
	text_addf(cg->out, "const %s e%d = %s; (void) e%d;\n", gc_direct_bytes(cg->p, step->build) == 8 ? "u64" : "u32", b,
			  entry, b);
	text_addf(cg->out, "%s r%d = (u32) e%d;\n", gc_builds(cg->p)[step->build].unique ? "const u32" : "u32", b, b);
	if (cg_may_fail(cg->p, step))
		text_addf(cg->out, "if (r%d == GC_DIRECT_BAD) { gc_bad = 1; continue; }\n", b);
}

/* Declare the index of a match that the entry tells of. */
static void
place_index(Cg *cg, const GcPStep *step)
{
	int			b = cg_build(cg, step->build);

	cg_find_place(cg, step);
	text_addf(cg->out, "const u64 x%d = r%d - 1; (void) x%d;\n", b, b, b);
}

/* For a dense build, or a unique hash build whose matches the selection bitmap ensures. */
void
cg_require_index(Cg *cg, u16 build)
{
	const GcPStep *step;
	u16			key;
	Operand		k;
	char		index[128];

	if (cg->index[build])
		return;
	step = cg_find_probe(cg->p, cg->pl, build);
	key = gc_refs(cg->p)[step->first_key];
	cg->index[build] = true;
	if (gc_builds(cg->p)[build].mode == GC_BUILD_LIST)
	{
		cg_fail(cg, GC_BAD_PROGRAM, "a payload of a list that is not probed");
		return;
	}
	if (gc_builds(cg->p)[build].mode == GC_BUILD_HASH)
	{
		place_index(cg, step);
		return;
	}
	cg_require(cg, key);
	k = cg_expr(cg, key);
	cg_dense_index(cg, step, key, &k, index, sizeof(index));
	text_addf(cg->out, "const u64 x%d = %s;\n", cg_build(cg, build), index);
}

/*
 * Where a payload's code is: in the build's direct lookup entry if that has it, else at `code`.
 */
static void
place_payload(Cg *cg, const GcPStep *step, u16 payload, const char *type, char *code, size_t size)
{
	int			b = cg_build(cg, step->build);
	char		in_memory[160];

	if (!cg_is_direct(cg, step) || gc_direct_bytes(cg->p, step->build) != 8)
		return;
	snprintf(in_memory, sizeof(in_memory), "%s", code);
	if (gc_builds(cg->p)[step->build].unique)
		snprintf(code, size, "(%s) (e%d >> %d)", type, b, cg_payload_shift(cg->p, payload));
	else
		snprintf(code, size, "f%d ? (%s) (e%d >> %d) : %s", b, type, b, cg_payload_shift(cg->p, payload), in_memory);
}

/* A left or full join's row without a match has NULL's code. */
static void
null_without_match(Cg *cg, const GcPPayload *pay, char *code, size_t size)
{
	const char *null = pay->reg == GC_F64 ? "GC_NULL_F64" : pay->reg == GC_F32 ? "GC_NULL_F32" : "0";
	char		matched[128];

	snprintf(matched, sizeof(matched), "%s", code);
	snprintf(code, size, "x%d == GC_NO_MATCH ? (%s) %s : %s", cg_build(cg, pay->build), cg_code_type[pay->width], null,
			 matched);
}

/* Declare a payload at its first use in a row: of its match's row of the build, or of the entry itself. */
static void
require_payload(Cg *cg, u16 payload)
{
	const GcPPayload *pay = &gc_payloads(cg->p)[payload];
	const char *type = cg_code_type[pay->width];
	char		code[240];
	int			k;

	if (cg->payload[payload] >= 0)
		return;
	if (cg->batched[payload] >= 0)
		snprintf(code, sizeof(code), "z%d[gc_j]", cg->batched[payload]);
	else
	{
		const GcPStep *probe = pay->build == cg->unmatched ? NULL : cg_find_probe(cg->p, cg->pl, pay->build);

		cg_require_index(cg, pay->build);
		snprintf(code, sizeof(code), "((const %s *) gc_a.w[%d])[x%d]", type, cg_word(cg, GC_ARG_PAYLOAD, payload, 0),
				 cg_build(cg, pay->build));
		if (probe)
			place_payload(cg, probe, payload, type, code, sizeof(code));
		if (probe && (probe->join == GC_JOIN_LEFT || probe->join == GC_JOIN_FULL))
			null_without_match(cg, pay, code, sizeof(code));
	}
	k = cg->payload[payload] = cg->npayloads++;
	text_addf(cg->out, "const %s q%d = %s;\n", type, k, code);
	if (pay->reg == GC_F32 || pay->reg == GC_F64)
	{
		const char *bits = pay->reg == GC_F32 ? "F32" : "F64";

		text_addf(cg->out, "const %s y%d = GC_BITS_%s(q%d);\n", cg_ctype[pay->reg], k, bits, k);
		if (pay->nullable)
			text_addf(cg->out, "const i32 yn%d = q%d == GC_NULL_%s;\n", k, k, bits);
		return;
	}
	if (pay->reg == GC_I128)
		text_addf(cg->out, "const i128 y%d = (i128) (q%d - GC_WIDE_BIAS);\n", k, k);
	else
		text_addf(cg->out, "const %s y%d = (%s) gc_a.w[%d] + (%s) q%d;\n", cg_ctype[pay->reg], k,
				  cg_ctype[pay->reg], cg_word(cg, GC_ARG_PAYLOAD, payload, 1), cg_ctype[pay->reg], k);
	if (pay->nullable)
		text_addf(cg->out, "const i32 yn%d = q%d == 0;\n", k, k);
}

void
cg_require(Cg *cg, u16 i)
{
	const GcExpr *e = &gc_exprs(cg->p)[i];

	switch (e->op)
	{
		case GC_OP_COLUMN:
			if (cg->in_rows)
				cg_require_scalar(cg, e->ref);
			else
				cg_require_vector(cg, e->ref);
			return;
		case GC_OP_PARAM:
			declare_param(cg, e->ref);
			return;
		case GC_OP_PAYLOAD:
			if (cg->in_rows)
				require_payload(cg, e->ref);
			else
				cg->batched[e->ref] = GC_BATCH_WANTED;
			return;
		case GC_OP_OUTER:
			/* The value came before the join, so that this row has none. */
			if (e->ref != cg->unmatched)
				cg_require(cg, e->arg[0]);
			return;
		default:
			for (int a = 0; a < 3; a++)
			{
				if (e->arg[a] != GC_NONE)
					cg_require(cg, e->arg[a]);
			}
	}
}

void
cg_require_keys(Cg *cg, const GcPStep *step)
{
	for (int k = 0; k < gc_builds(cg->p)[step->build].nkeys; k++)
		cg_require(cg, gc_refs(cg->p)[step->first_key + k]);
}

/*-------------------------------------------------------------------------
 * Columns: as vectors, as words of packed codes, as one row's values
 *-------------------------------------------------------------------------
 */

void
cg_load(Text *t, const char *how, u8 width, u8 reg, int k)
{
	if (width == 0)
		text_addf(t, "%s_ANY(%s, c%d, d%d);\n", how, cg_suffix[reg], k, k);
	else
		text_addf(t, "%s(%d, %s, c%d, d%d);\n", how, width, cg_suffix[reg], k, k);
}

void
cg_load_words(Text *t, u8 width, int k, const char *condition)
{
	text_addf(t, "GC_WORD_ARRAY(%d, w%d);\n%sGC_LOAD_WORDS(%d, w%d, d%d);\n", width, k, condition, width, k, k);
}

void
cg_require_vector(Cg *cg, u16 column)
{
	const GcPColumn *c = &gc_columns(cg->p)[column];
	const bool	tagged = c->min_scale < c->scale;
	int			k = cg_column(cg, column);

	if (cg->array[k])
		return;
	cg->array[k] = true;
	/* Members may differ in whether its values are tagged. */
	if (cg->fusion && !tagged && fused_vector(cg, column, false))
		return;
	text_addf(cg->out, "%s(%s, c%d);\n", cg->gather ? "GC_SELECTED_ARRAY" : "GC_ARRAY", cg_ctype[c->reg], k);
	if (cg->gather)
		text_addf(cg->out, "GC_GATHER(%d, %s, c%d, d%d);\n", c->width, cg_suffix[c->reg], k, k);
	else
		cg_load(cg->out, cg->late ? "GC_LATE" : "GC_LOAD", c->width, c->reg, k);
	if (tagged)
		text_addf(cg->out, "%s(c%d, d%d)\n",
				  cg->gather ? "GC_TAG_GATHERED" : cg->late ? "GC_TAG_LATE" : "GC_TAG_VECTOR", k, k);
	if (c->nullable)
		text_addf(cg->out, "%s(n%d, d%d);\n", cg->gather ? "GC_GATHER_NULLS" : "GC_NULLS", k, k);
	if (!cg->gather)
		cg->loaded_bytes += gc_most_width(c);
	cg->gathered += c->reg == GC_I128 ? 4 : c->reg == GC_I64 || c->reg == GC_F64 ? 2 : 1;
}

void
cg_require_scalar(Cg *cg, u16 column)
{
	const GcPColumn *c = &gc_columns(cg->p)[column];
	int			k = cg_column(cg, column);

	if (cg->scalar[k])
		return;
	cg->scalar[k] = true;
	if (cg_groups_of(cg->p, cg->pl))
	{
		cg_group_column(cg, column, k);
		return;
	}
	if (cg->dense_rows)
	{
		text_addf(cg->out, "const %s v%d = c%d[gc_j];\n", cg_ctype[c->reg], k, k);
		if (c->nullable)
			text_addf(cg->out, "const i32 vn%d = GC_IS_NULL(n%d, gc_j);\n", k, k);
		return;
	}
	if (c->min_scale < c->scale)
		text_addf(cg->out, "const %s v%d = GC_WITH_SCALE(GC_AT(%d, %s, d%d, gc_r), d%d);\n", cg_ctype[c->reg], k,
				  c->width, cg_suffix[c->reg], k, k);
	else
		text_addf(cg->out, "const %s v%d = GC_AT(%d, %s, d%d, gc_r);\n", cg_ctype[c->reg], k, c->width,
				  cg_suffix[c->reg], k);
	if (c->nullable)
		text_addf(cg->out, "const i32 vn%d = GC_NULL_AT(d%d, gc_r);\n", k, k);
}

/*-------------------------------------------------------------------------
 * Entries of a direct lookup table
 *
 * The low half of an entry is the row of the build that a value finds.  Payloads of up to 4 bytes together
 * stand in the upper half.  Predicate kernels fill the tables (step/probe.c); kernels of shared selection scans read
 * them.
 *-------------------------------------------------------------------------
 */

int
gc_direct_bytes(const GcProgram *p, u16 build)
{
	const GcPBuild *b = &gc_builds(p)[build];
	int			bytes = 0;

	for (u16 i = 0; i < b->npayloads; i++)
		bytes += gc_payloads(p)[b->first_payload + i].width;
	return bytes > 0 && bytes <= 4 ? 8 : 4;
}

/* Lowest bit of the payload's code in the entries of its build's direct lookup table. */
int
cg_payload_shift(const GcProgram *p, u16 payload)
{
	int			shift = 32;

	for (u16 i = gc_builds(p)[gc_payloads(p)[payload].build].first_payload; i < payload; i++)
		shift += gc_payloads(p)[i].width * 8;
	return shift;
}

bool
cg_is_direct(const Cg *cg, const GcPStep *step)
{
	const u64	s = step - &gc_steps(cg->p)[cg->pl->first_step];

	return s < 64 && cg->variant->direct >> s & 1;
}
