/*-------------------------------------------------------------------------
 *
 * values.c
 *	  How values are brought to a kernel's statements: columns, parameters, payloads.
 *
 * What an expression reads is asked for before it is written (cg_require): a column as a
 * vector or of one row, as the kernel's phase has it; a parameter; the payload of a build at
 * the place of the row's match.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "cg.h"

#include <stdio.h>
#include <string.h>

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
cg_load(Text *t, const char *how, u8 width, u8 reg, int k)
{
	if (width == 0)
		text_addf(t, "%s_ANY(%s, c%d, d%d);\n", how, cg_suffix[reg], k, k);
	else
		text_addf(t, "%s(%d, %s, c%d, d%d);\n", how, width, cg_suffix[reg], k, k);
}

/* Bytes from one row's code of a column to the next, as an expression. */
static const char *
pitch_of(Cg *cg, u16 column, char *buf, size_t size)
{
	const u8	width = gc_columns(cg->p)[column].width;
	int			k = cg_column(cg, column);

	if (cg->variant->records)
		snprintf(buf, size, "pitch%d", k);
	else if (width == 0)
		snprintf(buf, size, "d%d.width", k);
	else
		snprintf(buf, size, "%d", width);
	return buf;
}

static void
require_vector(Cg *cg, u16 column)
{
	const GcPColumn *c = &gc_columns(cg->p)[column];
	int			k = cg_column(cg, column);
	char		pitch[32];

	if (cg->array[k])
		return;
	cg->array[k] = true;
	if (cg->fusion && fused_vector(cg, column, false))
		return;
	text_addf(cg->out, "%s(%s, c%d);\n", cg->gather ? "GC_MARKED_ARRAY" : "GC_ARRAY", cg_ctype[c->reg], k);
	if (cg->gather)
		text_addf(cg->out, "GC_GATHER(%d, %s, c%d, d%d, %s);\n", c->width, cg_suffix[c->reg], k, k,
				  pitch_of(cg, column, pitch, sizeof(pitch)));
	else
		cg_load(cg->out, cg->late ? "GC_LATE" : "GC_LOAD", c->width, c->reg, k);
	if (c->nullable)
		text_addf(cg->out, "%s(n%d, d%d);\n", cg->gather ? "GC_GATHER_NULLS" : "GC_NULLS", k, k);
	if (!cg->gather)
		cg->loaded_bytes += c->width ? c->width : 8;
	cg->gathered += c->reg == GC_I64 || c->reg == GC_F64 ? 2 : 1;
}

static void
require_scalar(Cg *cg, u16 column)
{
	const GcPColumn *c = &gc_columns(cg->p)[column];
	int			k = cg_column(cg, column);
	char		pitch[32];

	if (cg->scalar[k])
		return;
	cg->scalar[k] = true;
	if (cg->dense_rows)
	{
		text_addf(cg->out, "const %s v%d = c%d[gc_j];\n", cg_ctype[c->reg], k, k);
		if (c->nullable)
			text_addf(cg->out, "const i32 vn%d = GC_IS_NULL(n%d, gc_j);\n", k, k);
		return;
	}
	text_addf(cg->out, "const %s v%d = GC_PITCHED(%d, %s, d%d, %s, gc_r);\n", cg_ctype[c->reg], k, c->width,
			  cg_suffix[c->reg], k, pitch_of(cg, column, pitch, sizeof(pitch)));
	if (c->nullable)
		text_addf(cg->out, "const i32 vn%d = GC_NULL_AT(d%d, gc_r);\n", k, k);
}

const GcPStep *
cg_probe_of(Cg *cg, u16 build)
{
	for (u32 s = cg->pl->first_step; s < (u32) cg->pl->first_step + cg->pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(cg->p)[s];

		if (step->type == GC_STEP_PROBE && step->build == build)
			return step;
	}
	cg_fail(cg, GC_BAD_PROGRAM, "payload of a build that is not probed");
	return &gc_steps(cg->p)[0];
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

/* In a dense build, or in a unique hash build that marks stand for. */
void
cg_require_index(Cg *cg, u16 build)
{
	const GcPStep *step = cg_probe_of(cg, build);
	u16			key = gc_refs(cg->p)[step->first_key];
	Operand		k;
	char		index[128];

	if (cg->index[build])
		return;
	cg->index[build] = true;
	if (gc_builds(cg->p)[build].mode == GC_BUILD_HASH)
	{
		cg_place_index(cg, step);
		return;
	}
	cg_require(cg, key);
	k = cg_expr(cg, key);
	cg_dense_index(cg, step, key, &k, index, sizeof(index));
	text_addf(cg->out, "const u64 x%d = %s;\n", cg_build(cg, build), index);
}

static void
require_payload(Cg *cg, u16 payload)
{
	const GcPPayload *pay = &gc_payloads(cg->p)[payload];
	const char *type = cg_code_type[pay->width];
	char		code[160];
	int			k;

	if (cg->payload[payload] >= 0)
		return;
	if (cg->early[payload] >= 0)
		snprintf(code, sizeof(code), "z%d[gc_j]", cg->early[payload]);
	else
	{
		cg_require_index(cg, pay->build);
		snprintf(code, sizeof(code), "((const %s *) gc_a.w[%d])[x%d]", type, cg_word(cg, GC_ARG_PAYLOAD, payload, 0),
				 cg_build(cg, pay->build));
		cg_place_payload(cg, cg_probe_of(cg, pay->build), payload, type, code, sizeof(code));
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
				require_scalar(cg, e->ref);
			else
				require_vector(cg, e->ref);
			return;
		case GC_OP_PARAM:
			declare_param(cg, e->ref);
			return;
		case GC_OP_PAYLOAD:
			if (cg->in_rows)
				require_payload(cg, e->ref);
			else
				cg->early[e->ref] = GC_EARLY_WANTED;
			return;
		default:
			for (int a = 0; a < 3; a++)
			{
				if (e->arg[a] != GC_NONE)
					cg_require(cg, e->arg[a]);
			}
	}
}
