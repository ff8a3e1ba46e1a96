/*-------------------------------------------------------------------------
 *
 * sink.c
 *	  Sinks: dense and hash builds, the rungs of the group-by ladder, rows.
 *
 * Group-by ladder: no keys: accumulators in registers (named aN here), reduced
 * per block, to which sums of one vector come as one 32-bit value (sN) where that holds
 * them, and counts are of 32 bits where a row counts once (64 bits take two instructions a
 * row, and two registers); dense keys: a table indexed by a number computed from the keys,
 * in global memory or first per block in shared memory, whole or as far as groups are met
 * (cells); else a hash table in global memory.  Layout of a group's words: cuda/gc_agg.h.
 *
 *-------------------------------------------------------------------------
 */
#include "sink.h"

#include <stdio.h>
#include <string.h>

#define AGG(cg, i)		(&gc_aggs((cg)->p)[i])

/*
 * Is what it aggregates computed?  To count what is never NULL, word 0 does, unless computing it
 * may raise an error: PostgreSQL computes it, and raises that.
 */
static bool
looks_at_arg(const Cg *cg, const GcPAgg *agg)
{
	return agg->arg != GC_NONE && (agg->word != 0 || cg_checked(cg->p, agg->arg));
}

/* Does word 0 count rows, or only mark that there are any? */
static bool
counts_rows(Cg *cg)
{
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		if (AGG(cg, i)->fn == GC_AGG_COUNT && AGG(cg, i)->word == 0 && AGG(cg, i)->exact)
			return true;
	}
	return false;
}

static bool
has_nullable_key(Cg *cg)
{
	for (u16 i = 0; i < cg->pl->nkeys; i++)
	{
		if (gc_exprs(cg->p)[gc_refs(cg->p)[cg->pl->first_key + i]].flags & GC_NULLABLE)
			return true;
	}
	return false;
}

/* Words of a hashed group's key: one per key, one for their NULL flags. */
static int
key_words(Cg *cg)
{
	return cg->pl->nkeys + has_nullable_key(cg);
}

bool
sink_is_local(const Cg *cg)
{
	return cg->pl->sink == GC_SINK_AGGREGATE && cg->pl->group_mode == GC_GROUP_DENSE &&
		cg->variant->group_local;
}

/* Are groups that are met kept there? */
bool
sink_has_cells(const Cg *cg)
{
	return cg->pl->sink == GC_SINK_AGGREGATE && cg->pl->group_mode == GC_GROUP_DENSE &&
		!cg->variant->group_local && cg->variant->group_cells > 0;
}

void
sink_prepare(Cg *cg)
{
	Text	   *t = &cg->decls;

	if (cg->pl->sink == GC_SINK_BUILD)
	{
		cg_build(cg, cg->pl->build);
		return;
	}
	if (cg->pl->sink == GC_SINK_ROWS)
	{
		text_addf(t, "u64 *gc_rows = (u64 *) gc_a.w[%d];\n", cg_word(cg, GC_ARG_ROWS, 0, 0));
		text_addf(t, "const u64 gc_rows_cap = gc_a.w[%d];\n", cg_word(cg, GC_ARG_ROWS, 0, 1));
		return;
	}
	text_addf(t, "u64 *gc_groups = (u64 *) gc_a.w[%d];\n",
			  cg_word(cg, GC_ARG_GROUP, 0, GC_GROUP_PART_TABLE));
	text_addf(t, "const u64 gc_ngroups = gc_a.w[%d]; (void) gc_ngroups;\n",
			  cg_word(cg, GC_ARG_GROUP, 0, GC_GROUP_PART_COUNT));
	if (cg->pl->group_mode == GC_GROUP_DENSE)
	{
		for (u16 i = 0; i < cg->pl->nkeys; i++)
		{
			text_addf(t, "const i64 g%d_base = (i64) gc_a.w[%d];\n", i,
					  cg_word(cg, GC_ARG_GROUP_KEY, i, 0));
			text_addf(t, "const u32 g%d_stride = (u32) gc_a.w[%d];\n", i,
					  cg_word(cg, GC_ARG_GROUP_KEY, i, 1));
		}
		/* The bases' part of a group's number is taken off once. */
		text_addf(t, "const u32 gc_origin = 0");
		for (u16 i = 0; i < cg->pl->nkeys; i++)
		{
			if (!(gc_exprs(cg->p)[gc_refs(cg->p)[cg->pl->first_key + i]].flags & GC_NULLABLE))
				text_addf(t, " - (u32) g%d_base * g%d_stride", i, i);
		}
		text_addf(t, ";\n");
	}
	else if (cg->pl->group_mode == GC_GROUP_HASH)
	{
		text_addf(t, "u64 *gc_slots = (u64 *) gc_a.w[%d];\n",
				  cg_word(cg, GC_ARG_GROUP, 0, GC_GROUP_PART_SLOTS));
		text_addf(t, "const u64 gc_mask = gc_a.w[%d];\n",
				  cg_word(cg, GC_ARG_GROUP, 0, GC_GROUP_PART_MASK));
		text_addf(t, "i64 *gc_keys = (i64 *) gc_a.w[%d];\n",
				  cg_word(cg, GC_ARG_GROUP, 0, GC_GROUP_PART_KEYS));
	}
}

/* Expressions that the sink evaluates, one after another; GC_NONE at the end. */
static u16
sink_expr(Cg *cg, int i)
{
	const GcProgram *p = cg->p;
	const u16  *refs = gc_refs(p);

	switch (cg->pl->sink)
	{
		case GC_SINK_BUILD:
			{
				const GcPBuild *b = &gc_builds(p)[cg->pl->build];

				if (i < b->nkeys)
					return refs[b->first_key + i];
				i -= b->nkeys;
				return i < b->npayloads ? gc_payloads(p)[b->first_payload + i].expr : GC_NONE;
			}
		case GC_SINK_AGGREGATE:
			if (i < cg->pl->nkeys)
				return refs[cg->pl->first_key + i];
			i -= cg->pl->nkeys;
			for (; i < p->naggs; i++)
			{
				if (looks_at_arg(cg, AGG(cg, i)))
					return AGG(cg, i)->arg;
			}
			return GC_NONE;
		default:
			return i < cg->pl->nouts ? refs[cg->pl->first_out + i] : GC_NONE;
	}
}

void
sink_require(Cg *cg)
{
	for (int i = 0; sink_expr(cg, i) != GC_NONE; i++)
		cg_require(cg, sink_expr(cg, i));
}

/*-------------------------------------------------------------------------
 * Builds
 *-------------------------------------------------------------------------
 */

/*
 * Store the payloads of the current row at place x.  A value that failed its check
 * is stored as code 0, since whoever probes may index something with it.
 */
static void
emit_payload_stores(Cg *cg, const GcPBuild *b, const char *x)
{
	for (u16 i = 0; i < b->npayloads; i++)
	{
		u16			payload = b->first_payload + i;
		const GcPPayload *pay = &gc_payloads(cg->p)[payload];
		int			data = cg_word(cg, GC_ARG_PAYLOAD, payload, 0);
		Operand		o;

		cg_require(cg, pay->expr);
		o = cg_expr(cg, pay->expr);
		if (pay->reg == GC_F32 || pay->reg == GC_F64)
		{
			const char *bits = pay->reg == GC_F32 ? "F32" : "F64";

			if (pay->nullable)
				text_addf(cg->out, "GC_CHECK(%s || (%s) GC_%s_BITS(%s) != GC_NULL_%s);\n", o.n,
						  cg_code_type[pay->width], bits, o.v, bits);
			text_addf(cg->out, "((%s *) gc_a.w[%d])[%s] = ", cg_code_type[pay->width], data, x);
			if (pay->nullable)
				text_addf(cg->out, "%s ? GC_NULL_%s : ", o.n, bits);
			text_addf(cg->out, "(%s) GC_%s_BITS(%s);\n", cg_code_type[pay->width], bits, o.v);
			continue;
		}
		text_addf(cg->out, "((%s *) gc_a.w[%d])[%s] = (%s) %s", cg_code_type[pay->width], data, x, cg_code_type[pay->width],
				  cg_checked(cg->p, pay->expr) ? "gc_bad ? 0 : " : "");
		data = cg_word(cg, GC_ARG_PAYLOAD, payload, 1);
		if (pay->nullable)
			text_addf(cg->out, "(%s ? 0 : (u64) (i64) %s - gc_a.w[%d]);\n", o.n, o.v, data);
		else
			text_addf(cg->out, "((u64) (i64) %s - gc_a.w[%d]);\n", o.v, data);
	}
}

static void
emit_build_row(Cg *cg)
{
	const GcPBuild *b = &gc_builds(cg->p)[cg->pl->build];
	int			k = cg_build(cg, cg->pl->build);

	for (u16 i = 0; i < b->nkeys; i++)
		cg_require(cg, gc_refs(cg->p)[b->first_key + i]);
	text_addf(cg->out, "i64 gc_k[%d];\n", b->nkeys > 0 ? b->nkeys : 1);
	for (u16 i = 0; i < b->nkeys; i++)
	{
		Operand		o = cg_expr(cg, gc_refs(cg->p)[b->first_key + i]);

		/* NULL equals nothing: an inner join never finds such a row. */
		if (strcmp(o.n, "0") != 0)
			text_addf(cg->out, "if (%s) continue;\n", o.n);
		cg_skip_bad(cg, gc_refs(cg->p)[b->first_key + i]);
		text_addf(cg->out, "gc_k[%d] = (i64) %s;\n", i, o.v);
	}
	if (b->mode == GC_BUILD_DENSE)
	{
		text_addf(cg->out, "const u64 gc_x = (u64) gc_k[0] - b%d_base;\n", k);
		text_addf(cg->out, "if (GC_ATOMIC_OR32(&((u32 *) b%d_bits)[gc_x >> 5], 1u << (gc_x & 31)) >> (gc_x & 31) & 1)\n"
				  "gc_flags[GC_FLAG_DUPLICATE] = 1;\n", k);
		emit_payload_stores(cg, b, "gc_x");
		return;
	}
	text_addf(cg->out, "const u64 gc_x = GC_ATOMIC_ADD32(&gc_flags[GC_FLAG_BUILT], 1);\n");
	text_addf(cg->out, "if (gc_x >= b%d_cap) { gc_flags[GC_FLAG_BUILD_FULL] = 1; continue; }\n", k);
	for (u16 i = 0; i < b->nkeys; i++)
		text_addf(cg->out, "((i64 *) b%d_keys)[%d * b%d_cap + gc_x] = gc_k[%d];\n", k, i, k, i);
	emit_payload_stores(cg, b, "gc_x");
	cg_hash(cg, "gc_h", "gc_k", b->nkeys);
	text_addf(cg->out, "if (gc_build_insert((u64 *) b%d_slots, b%d_mask, (const i64 *) b%d_keys, (u32 *) b%d_next, b%d_cap, (u32) gc_x, gc_k, %d, gc_h))\n"
			  "gc_flags[GC_FLAG_DUPLICATE] = 1;\n", k, k, k, k, k, b->nkeys);
}

/*-------------------------------------------------------------------------
 * Aggregates
 *-------------------------------------------------------------------------
 */

/* Image of a minimum's or maximum's operand: larger is better, 0 is none. */
static void
order_text(const GcPAgg *agg, const Operand *o, char *buf, size_t size)
{
	const char *map = agg->acc == GC_F64 ? "gc_order_f64(" : "GC_ORDER_I64((i64) ";

	snprintf(buf, size, "%s%s%s)", agg->fn == GC_AGG_MIN ? "~" : "", map, o->v);
}

/* Are this sum's values of one vector added up apart? */
static bool
has_part(Cg *cg, const GcPAgg *agg)
{
	return cg->parts && agg->fn == GC_AGG_SUM && gc_exprs(cg->p)[agg->arg].small;
}

bool
sink_takes_all(const Cg *cg)
{
	if (!sink_is_local(cg))
		return false;
	for (u16 i = 0; i < cg->pl->nkeys; i++)
	{
		if (cg_checked(cg->p, gc_refs(cg->p)[cg->pl->first_key + i]))
			return false;
	}
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		if (AGG(cg, i)->arg != GC_NONE && cg_checked(cg->p, AGG(cg, i)->arg))
			return false;
	}
	return true;
}

void
sink_begin_parts(Cg *cg)
{
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);

		if (has_part(cg, agg))
			text_addf(cg->out, "GC_PART s%d = 0;\n", agg->word);
	}
}

void
sink_add_parts(Cg *cg)
{
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);

		if (has_part(cg, agg))
			text_addf(cg->out, "a%d%s += s%d;\n", agg->word, cg->suffix, agg->word);
	}
	if (cg->counted)
		text_addf(cg->out, "GC_COUNT_LIVE(a0%s);\n", cg->suffix);
}

/* Where a row's values go. */
typedef enum Scope
{
	IN_REGISTERS,
	IN_LOCAL,					/* the cell gc_cell of a block's own table */
	IN_GLOBAL					/* the words at gc_g */
} Scope;

/* How a value comes to an accumulator. */
typedef struct Update
{
	const char *memory;			/* GC_*_G, GC_*_L */
	const char *block;			/* gc_block_* */
	const char *type;			/* of the value */
} Update;

static const Update *
update_of(const GcPAgg *agg)
{
	static const Update add = {"ADD", "add", "(u64) (i64)"},
				add128 = {"ADD128", "add128", "(i128)"},
				addf = {"ADDF", "addf", "(double)"},
				max = {"MAX", "max", "(u64)"};

	if (agg->fn == GC_AGG_MIN || agg->fn == GC_AGG_MAX)
		return &max;
	if (agg->fn == GC_AGG_SUM && agg->acc == GC_F64)
		return &addf;
	return agg->fn == GC_AGG_SUM && agg->acc == GC_I128 ? &add128 : &add;
}

/* Statement that updates word w of the group. */
static void
emit_update(Cg *cg, Scope scope, const char *how, int w, const char *value)
{
	if (scope == IN_LOCAL)
		text_addf(cg->out, "GC_%s_L(%d, %s);\n", how, w, value);
	else
		text_addf(cg->out, "GC_%s_G(gc_g + %d, %s);\n", how, w, value);
}

static void
emit_count(Cg *cg, Scope scope, int w)
{
	if (scope == IN_LOCAL && cg->once)
		text_addf(cg->out, "GC_COUNT_L(%d);\n", w);
	else
		emit_update(cg, scope, "ADD", w, "1");
}

/* Statement that folds operand o into the aggregate's accumulator in registers. */
static void
emit_register_fold(Cg *cg, const GcPAgg *agg, const Operand *o)
{
	char		image[128];
	char		acc[24];

	snprintf(acc, sizeof(acc), "a%d%s", agg->word, cg->suffix);
	if (has_part(cg, agg))
		text_addf(cg->out, "s%d += (i32) %s;\n", agg->word, o->v);
	else if (agg->fn == GC_AGG_MIN || agg->fn == GC_AGG_MAX)
	{
		order_text(agg, o, image, sizeof(image));
		text_addf(cg->out, "%s = GC_MAX(%s, %s);\n", acc, acc, image);
	}
	else if (agg->fn == GC_AGG_COUNT)
		text_addf(cg->out, cg->parts ? "GC_COUNT_ROW(%s);\n" : "%s += 1;\n", acc);
	else
		text_addf(cg->out, "%s += %s %s;\n", acc, update_of(agg)->type, o->v);
}

/* The same in memory. */
static void
emit_fold(Cg *cg, const GcPAgg *agg, const Operand *o, Scope scope)
{
	char		value[128];

	if (agg->fn == GC_AGG_COUNT)
	{
		emit_count(cg, scope, agg->word);
		return;
	}
	if (agg->fn == GC_AGG_SUM)
		snprintf(value, sizeof(value), "%s %s", update_of(agg)->type, o->v);
	else
		order_text(agg, o, value, sizeof(value));
	emit_update(cg, scope, update_of(agg)->memory, agg->word, value);
}

/* What aggregate i is given. */
static Operand
agg_operand(Cg *cg, u16 i)
{
	if (!looks_at_arg(cg, AGG(cg, i)))
		return (Operand) {"1", "0"};
	cg_require(cg, AGG(cg, i)->arg);
	return cg_expr(cg, AGG(cg, i)->arg);
}

/* Statement that folds it in. */
static void
emit_agg(Cg *cg, u16 i, const Operand *o, Scope scope)
{
	const GcPAgg *agg = AGG(cg, i);

	if (agg->word == 0)
		return;
	if (strcmp(o->n, "0") != 0)
		text_addf(cg->out, "if (!%s) ", o->n);
	if (scope == IN_REGISTERS)
		emit_register_fold(cg, agg, o);
	else
		emit_fold(cg, agg, o, scope);
}

/* Statement for word 0. */
static void
emit_row_count(Cg *cg, Scope scope)
{
	if (scope == IN_REGISTERS && !cg->counted)
		text_addf(cg->out, cg->parts ? "GC_COUNT_ROW(a0%s);\n" : "a0%s += 1;\n", cg->suffix);
	else if (scope != IN_REGISTERS && counts_rows(cg))
		emit_count(cg, scope, 0);
	else if (scope != IN_REGISTERS)
		text_addf(cg->out, scope == IN_LOCAL ? "GC_MARK_L(0);\n" : "GC_MARK(gc_g);\n");
}

static void
emit_folds(Cg *cg, Scope scope)
{
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		const Operand o = agg_operand(cg, i);

		emit_agg(cg, i, &o, scope);
	}
	emit_row_count(cg, scope);
}

/* In the cell that the group has, if it has one. */
static void
emit_folds_in_cell(Cg *cg)
{
	Operand		o[GC_MAX_AGGS];

	for (u16 i = 0; i < cg->p->naggs; i++)
		o[i] = agg_operand(cg, i);
	for (int scope = IN_LOCAL; scope <= IN_GLOBAL; scope++)
	{
		text_addf(cg->out, scope == IN_LOCAL ? "if (gc_cell != GC_NO_CELL) {\n" : "} else {\n");
		for (u16 i = 0; i < cg->p->naggs; i++)
			emit_agg(cg, i, &o[i], scope);
		emit_row_count(cg, scope);
	}
	text_addf(cg->out, "}\n");
}

/* Number of the group, from dense keys: 0 stands for NULL in nullable ones. */
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
		if (gc_exprs(cg->p)[ref].flags & GC_NULLABLE)
			text_addf(cg->out, "gc_gno += %s ? 0 : ((u32) ((i64) %s - g%d_base) + 1) * g%d_stride;\n",
					  o.n, o.v, i, i);
		else
			text_addf(cg->out, "gc_gno += (u32) (%s) * g%d_stride;\n", o.v, i);
	}
	if (sink_is_local(cg))
		text_addf(cg->out, "const u32 gc_cell = %sgc_gno * %d + gc_copy%s;\n", cg->all_rows ? "gc_pass ? " : "",
				  cg->variant->group_copies, cg->all_rows ? " : gc_cells + thread % GC_SPARE_CELLS" : "");
	else
		text_addf(cg->out, "u64 *gc_g = gc_groups + (u64) gc_gno * %d;\n", cg->p->group_words);
	if (sink_has_cells(cg))
		text_addf(cg->out, "const u32 gc_cell = gc_find_cell(gc_tags, gc_cells, gc_gno);\n");
}

static void
emit_hash_group(Cg *cg)
{
	int			nwords = key_words(cg);

	for (u16 i = 0; i < cg->pl->nkeys; i++)
		cg_require(cg, gc_refs(cg->p)[cg->pl->first_key + i]);
	text_addf(cg->out, "i64 gc_k[%d];\n", nwords);
	if (has_nullable_key(cg))
		text_addf(cg->out, "gc_k[%d] = 0;\n", cg->pl->nkeys);
	for (u16 i = 0; i < cg->pl->nkeys; i++)
	{
		Operand		o = cg_expr(cg, gc_refs(cg->p)[cg->pl->first_key + i]);

		if (strcmp(o.n, "0") != 0)
			text_addf(cg->out, "gc_k[%d] = %s ? 0 : (i64) %s; gc_k[%d] |= (i64) (%s) << %d;\n",
					  i, o.n, o.v, cg->pl->nkeys, o.n, i);
		else
			text_addf(cg->out, "gc_k[%d] = (i64) %s;\n", i, o.v);
	}
	cg_hash(cg, "gc_h", "gc_k", nwords);
	text_addf(cg->out, "const u32 gc_gno = gc_group_find(gc_slots, gc_mask, gc_keys, (u32) gc_ngroups, &gc_flags[GC_FLAG_GROUPS], gc_k, %d, gc_h);\n",
			  nwords);
	text_addf(cg->out, "if (gc_gno == GC_NO_GROUP) { gc_flags[GC_FLAG_GROUPS_FULL] = 1; continue; }\n");
	text_addf(cg->out, "u64 *gc_g = gc_groups + (u64) gc_gno * %d;\n", cg->p->group_words);
}

static void
emit_output_row(Cg *cg)
{
	/* Column-wise, 64-bit words; the last column holds the NULL flags. */
	text_addf(cg->out, "u64 gc_null = 0;\nconst u64 gc_o = GC_ATOMIC_ADD32(&gc_flags[GC_FLAG_ROWS], 1);\n");
	text_addf(cg->out, "if (gc_o >= gc_rows_cap) { gc_flags[GC_FLAG_ROWS_FULL] = 1; continue; }\n");
	for (u16 i = 0; i < cg->pl->nouts; i++)
	{
		u16			ref = gc_refs(cg->p)[cg->pl->first_out + i];
		Operand		o;

		cg_require(cg, ref);
		o = cg_expr(cg, ref);
		if (gc_exprs(cg->p)[ref].reg == GC_F64)
			text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = (u64) GC_F64_BITS(%s);\n", i, o.v);
		else if (gc_exprs(cg->p)[ref].reg == GC_F32)
			text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = (u64) (u32) GC_F32_BITS(%s);\n", i, o.v);
		else
			text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = (u64) (i64) %s;\n", i, o.v);
		if (strcmp(o.n, "0") != 0)
			text_addf(cg->out, "gc_null |= (u64) (%s) << %d;\n", o.n, i);
	}
	text_addf(cg->out, "gc_rows[%d * gc_rows_cap + gc_o] = gc_null;\n", cg->pl->nouts);
}

void
sink_row(Cg *cg)
{
	switch (cg->pl->sink)
	{
		case GC_SINK_BUILD:
			emit_build_row(cg);
			break;
		case GC_SINK_ROWS:
			emit_output_row(cg);
			break;
		default:
			if (cg->pl->group_mode == GC_GROUP_NONE)
				emit_folds(cg, IN_REGISTERS);
			else if (cg->pl->group_mode == GC_GROUP_DENSE)
			{
				emit_dense_group(cg);
				if (sink_has_cells(cg))
					emit_folds_in_cell(cg);
				else
					emit_folds(cg, sink_is_local(cg) ? IN_LOCAL : IN_GLOBAL);
			}
			else
			{
				emit_hash_group(cg);
				emit_folds(cg, IN_GLOBAL);
			}
			break;
	}
}

/*-------------------------------------------------------------------------
 * Before and after the scan
 *-------------------------------------------------------------------------
 */

static const char *
count_type(const Cg *cg)
{
	return cg->parts ? "GC_COUNT" : "u64";
}

static const char *
acc_type(const Cg *cg, const GcPAgg *agg)
{
	if (agg->fn == GC_AGG_COUNT)
		return count_type(cg);
	if (agg->fn == GC_AGG_SUM && agg->acc == GC_F64)
		return "double";
	if (agg->fn == GC_AGG_SUM && agg->acc == GC_I128)
		return "i128";
	return "u64";
}

void
sink_state(Cg *cg, Text *t)
{
	if (cg->pl->sink != GC_SINK_AGGREGATE || cg->pl->group_mode != GC_GROUP_NONE)
		return;
	text_addf(t, "%s a0%s = 0;\n", count_type(cg), cg->suffix);
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		if (AGG(cg, i)->word != 0)
			text_addf(t, "%s a%d%s = 0;\n", acc_type(cg, AGG(cg, i)), AGG(cg, i)->word, cg->suffix);
	}
}

void
sink_table(Cg *cg, Text *t)
{
	if (sink_has_cells(cg))
		text_addf(t, "const u32 gc_cells = %d, gc_stride = gc_cells, gc_cell_words = %d;\n(void) gc_stride;\n"
				  "u64 *gc_table = gc_shared + gc_top;\nu32 *gc_tags = (u32 *) (gc_table + gc_cells * gc_cell_words);\n",
				  cg->variant->group_cells, cg->p->group_words);
	if (!sink_is_local(cg))
		return;
	text_addf(t, "const u32 gc_cells = (u32) gc_ngroups * %d, gc_copy = thread %% %d;\n"
			  "const u32 gc_stride = gc_cells + GC_SPARE_CELLS, gc_cell_words = %d;\n"
			  "(void) gc_copy; (void) gc_stride; (void) gc_cell_words;\nu64 *gc_table = gc_shared + gc_top;\n",
			  cg->variant->group_copies, cg->variant->group_copies, cg->p->group_words);
}

void
sink_clear(Cg *cg, Text *t)
{
	if (sink_is_local(cg))
		text_addf(t, "GC_NO_UNROLL for (u32 i = thread; i < gc_stride * gc_cell_words; i += nthreads) gc_table[i] = 0;\n");
	/* the tags, too */
	if (sink_has_cells(cg))
		text_addf(t, "GC_NO_UNROLL for (u32 i = thread; i < gc_cells * gc_cell_words + gc_cells / 2; i += nthreads) gc_table[i] = 0;\n");
}

/* Statement that adds what has come to an accumulator, eN, to the group's words at `to`. */
static void
emit_total(Text *t, const GcPAgg *agg, const char *to)
{
	/* These two cost more to ask than to add. */
	if (agg->fn != GC_AGG_SUM || agg->acc == GC_I64)
		text_addf(t, "if (e%d) ", agg->word);
	text_addf(t, "GC_%s_G(%s + %d, e%d);\n", update_of(agg)->memory, to, agg->word, agg->word);
}

static const char *
total_type(const Cg *cg, const GcPAgg *agg)
{
	return agg->fn == GC_AGG_SUM ? acc_type(cg, agg) : "u64";
}

/* Registers of all threads -> the one group's words. */
static void
end_registers(Cg *cg, Text *t)
{
	text_addf(t, "const u64 e0 = gc_block_add(a0%s);\nif (thread == 0 && e0) GC_ADD_G(gc_groups, e0);\n",
			  cg->suffix);
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);

		if (agg->word == 0)
			continue;
		text_addf(t, "const %s e%d = gc_block_%s(a%d%s);\nif (thread == 0) ", total_type(cg, agg), agg->word,
				  update_of(agg)->block, agg->word, cg->suffix);
		emit_total(t, agg, "gc_groups");
	}
}

/* What the copies of a cell have come to, as eN: added to those before. */
static void
gather_copies(Cg *cg, Text *t)
{
	text_addf(t, counts_rows(cg) ? "e0 += GC_SUM_L(0);\n" : "e0 |= GC_SUM_L(0);\n");
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);
		int			w = agg->word;

		if (w == 0)
			continue;
		if (agg->fn == GC_AGG_MIN || agg->fn == GC_AGG_MAX)
			text_addf(t, "e%d = GC_MAX(e%d, *GC_WORD_L(%d));\n", w, w, w);
		else if (agg->fn == GC_AGG_SUM && agg->acc == GC_F64)
			text_addf(t, "e%d += GC_BITS_F64((i64) *GC_WORD_L(%d));\n", w, w);
		else
			text_addf(t, "e%d += GC_SUM%s_L(%d);\n", w, agg->fn == GC_AGG_SUM && agg->acc == GC_I128 ? "128" : "", w);
	}
}

/* What a group has come to, e0 and so on, from nothing. */
static void
begin_totals(Cg *cg, Text *t)
{
	text_addf(t, "u64 e0 = 0;\n");
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		if (AGG(cg, i)->word != 0)
			text_addf(t, "%s e%d = 0;\n", total_type(cg, AGG(cg, i)), AGG(cg, i)->word);
	}
}

/* These to the group's words at g, if there was a row. */
static void
add_totals(Cg *cg, Text *t)
{
	text_addf(t, counts_rows(cg) ? "if (!e0) continue;\nGC_ADD_G(g, e0);\n" : "if (!e0) continue;\nGC_MARK(g);\n");
	for (u16 i = 0; i < cg->p->naggs; i++)
	{
		if (AGG(cg, i)->word != 0)
			emit_total(t, AGG(cg, i), "g");
	}
	text_addf(t, "}\n");
}

/*
 * A block's own table -> the global one.  A thread takes the copies of a group one after
 * another, others than its neighbours do: those lie in other banks.
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
	text_addf(t, "}\nu64 *g = gc_groups + i * %d;\n", cg->p->group_words);
	add_totals(cg, t);
}

/* The same of cells that groups have. */
static void
end_cells(Cg *cg, Text *t)
{
	text_addf(t, "GC_BARRIER();\nGC_NO_UNROLL for (u32 gc_cell = thread; gc_cell < gc_cells; gc_cell += nthreads) {\n"
			  "if (!gc_tags[gc_cell]) continue;\n");
	begin_totals(cg, t);
	gather_copies(cg, t);
	text_addf(t, "u64 *g = gc_groups + (u64) (gc_tags[gc_cell] - 1) * %d;\n", cg->p->group_words);
	add_totals(cg, t);
}

void
sink_end(Cg *cg, Text *t)
{
	if (cg->pl->sink == GC_SINK_AGGREGATE && cg->pl->group_mode == GC_GROUP_NONE)
		end_registers(cg, t);
	else if (sink_is_local(cg))
		end_local(cg, t);
	else if (sink_has_cells(cg))
		end_cells(cg, t);
}
