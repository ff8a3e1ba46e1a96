/*-------------------------------------------------------------------------
 *
 * aggregates.c
 *	  Aggregates in a group's words: their arguments, and how these are added.
 *
 * Layout of a group's words: cuda/gc_agg.h.
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

#include <stdio.h>

/*
 * Does the aggregate look at its argument?  Word 0 already counts values that are never NULL.
 * But an argument that may raise an error has to be computed, so that PostgreSQL raises it.
 */
static bool
looks_at_arg(const Cg *cg, const GcPAgg *agg)
{
	return agg->arg != GC_NONE && (agg->word != 0 || cg_checked(cg->p, agg->arg));
}

/* Is it a sum of products? */
static bool
has_factor(const GcPAgg *agg)
{
	return agg->factor != GC_NONE;
}

bool
agg_checked(const Cg *cg, const GcPAgg *agg)
{
	return agg->arg != GC_NONE &&
		(cg_checked(cg->p, agg->arg) || (has_factor(agg) && cg_checked(cg->p, agg->factor)));
}

bool
agg_counts_rows(const Cg *cg)
{
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		if (gc_accumulator_of(AGG(cg, i))->value == GC_VALUE_COUNT && AGG(cg, i)->word == 0 && AGG(cg, i)->exact)
			return true;
	}
	return false;
}

void
agg_prepare(Cg *cg)
{
	text_addf(&cg->decls, "u64 *gc_groups = (u64 *) gc_a.w[%d];\n",
			  cg_word(cg, GC_ARG_GROUP, cg_pipeline_number(cg), GC_GROUP_PART_TABLE));
	text_addf(&cg->decls, "const u64 gc_ngroups = gc_a.w[%d]; (void) gc_ngroups;\n",
			  cg_word(cg, GC_ARG_GROUP, cg_pipeline_number(cg), GC_GROUP_PART_COUNT));
}

void
agg_require(Cg *cg)
{
	for (u16 i = 0; i < cg->pl->nkeys; i++)
		cg_require(cg, gc_refs(cg->p)[cg->pl->first_key + i]);
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		if (looks_at_arg(cg, AGG(cg, i)))
			cg_require(cg, AGG(cg, i)->arg);
		if (has_factor(AGG(cg, i)))
			cg_require(cg, AGG(cg, i)->factor);
	}
}

/* Input of a precise sum, as two doubles. */
static Operand
precise_operand(Cg *cg, const GcPAgg *agg)
{
	const Operand a = cg_expr(cg, agg->arg);
	Operand		b;
	char		value[160];
	char		null[96];

	if (!has_factor(agg))
	{
		snprintf(value, sizeof(value), "gc_f64x2((double) %s)", a.v);
		return cg_temp(cg, "f64x2", value, a.n);
	}
	cg_require(cg, agg->factor);
	b = cg_expr(cg, agg->factor);
	snprintf(value, sizeof(value), "gc_f64x2_mul((double) %s, (double) %s)", a.v, b.v);
	snprintf(null, sizeof(null), "(%s | %s)", a.n, b.n);
	return cg_temp(cg, "f64x2", value, never_null(&a) && never_null(&b) ? "0" : null);
}

Operand
agg_operand(Cg *cg, u16 i)
{
	if (!looks_at_arg(cg, AGG(cg, i)))
		return (Operand) {"1", "0"};
	cg_require(cg, AGG(cg, i)->arg);
	if (gc_merge_of(AGG(cg, i)) == GC_MERGE_PRECISE)
		return precise_operand(cg, AGG(cg, i));
	return cg_expr(cg, AGG(cg, i)->arg);
}

/* How an accumulator takes a value, by the way in which it is merged. */
const Update *
agg_update(const GcPAgg *agg)
{
	static const Update updates[] = {
		[GC_MERGE_ADD] = {"ADD", "add", "u64", "0", "%s += %s;\n", "GC_SUM_L(%d)", true},
		/* for these, a test costs more than the addition */
		[GC_MERGE_ADD128] = {"ADD128", "add128", "i128", "0", "%s += %s;\n", "GC_SUM128_L(%d)", false},
		[GC_MERGE_ADDF] = {"ADDF", "addf", "double", "0", "%s += %s;\n", "GC_BITS_F64((i64) *GC_WORD_L(%d))", false},
		[GC_MERGE_PRECISE] = {"ADDF64X2", "addf64x2", "f64x2", "{0, 0}", "%1$s = gc_f64x2_add(%1$s, %2$s);\n",
		"gc_f64x2_at(GC_WORD_L(%d), GC_WORD_L(%d))", false},
		[GC_MERGE_MAX] = {"MAX", "max", "u64", "0", "%1$s = GC_MAX(%1$s, %2$s);\n", "*GC_WORD_L(%d)", true},
		[GC_MERGE_OR] = {"OR", "or", "u64", "0", "%1$s = %1$s | %2$s;\n", "*GC_WORD_L(%d)", true},
		[GC_MERGE_XOR] = {"XOR", "xor", "u64", "0", "%1$s = %1$s ^ %2$s;\n", "*GC_WORD_L(%d)", true},
	};

	return &updates[gc_merge_of(agg)];
}

void
agg_image(const GcPAgg *agg, const Operand *o, char *buf, size_t size)
{
	const GcAccumulator *a = gc_accumulator_of(agg);
	const char *open = "",
			   *close = "";

	if (a->value == GC_VALUE_BITS)
		open = "((u64) (i64) ", close = ")";
	else if (a->value == GC_VALUE_ONE)
		open = agg->acc == GC_F64 ? "gc_order_f64(" : "GC_ORDER_I64((i64) ", close = ")";
	else if (agg->acc != GC_F64X2)
		open = agg->acc == GC_F64 ? "(double) " : agg->acc == GC_I128 ? "(i128) " : "(u64) (i64) ";
	snprintf(buf, size, "%s%s%s%s", a->reversed ? "~" : "", open, o->v, close);
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

/* One row more; a thread that has a group alone counts without an atomic operation. */
static void
emit_count(Cg *cg, Scope scope, int w)
{
	if (scope == IN_LOCAL && cg->once)
		text_addf(cg->out, "GC_COUNT_L(%d);\n", w);
	else
		emit_update(cg, scope, "ADD", w, "1");
}

/* Statement that adds operand o to the aggregate's words. */
static void
emit_filter_aggregate(Cg *cg, const GcPAgg *agg, const Operand *o, Scope scope)
{
	char		value[128];

	if (gc_accumulator_of(agg)->value == GC_VALUE_COUNT)
	{
		emit_count(cg, scope, agg->word);
		return;
	}
	agg_image(agg, o, value, sizeof(value));
	emit_update(cg, scope, agg_update(agg)->memory, agg->word, value);
}

void
agg_fold(Cg *cg, u16 i, const Operand *o, Scope scope)
{
	if (AGG(cg, i)->word == 0)
		return;
	if (!never_null(o))
		text_addf(cg->out, "if (!%s) ", o->n);
	emit_filter_aggregate(cg, AGG(cg, i), o, scope);
}

void
agg_count_row(Cg *cg, Scope scope)
{
	if (agg_counts_rows(cg))
		emit_count(cg, scope, 0);
	else
		text_addf(cg->out, scope == IN_LOCAL ? "GC_NOTE_GROUP_L(0);\n" : "GC_NOTE_GROUP(gc_g);\n");
}

void
agg_fold_all(Cg *cg, Scope scope)
{
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		const Operand o = agg_operand(cg, i);

		agg_fold(cg, i, &o, scope);
	}
	agg_count_row(cg, scope);
}

void
agg_add_total(Text *t, const GcPAgg *agg, const char *to)
{
	if (agg_update(agg)->tested)
		text_addf(t, "if (e%d) ", agg->word);
	text_addf(t, "GC_%s_G(%s + %d, e%d);\n", agg_update(agg)->memory, to, agg->word, agg->word);
}
