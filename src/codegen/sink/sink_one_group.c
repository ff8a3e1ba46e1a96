/*-------------------------------------------------------------------------
 *
 * sink_one_group.c
 *	  Sink: all rows aggregated into one group, in registers.
 *
 * Each thread has its accumulators (aN), which are reduced per block after the scan.  One
 * vector's sum comes to them as one 32-bit value (sN) where that has room for it.  Counts have 32
 * bits where a row counts once: 64 bits take two instructions a row, and two registers.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "../expr/operand.h"
#include "aggregates.h"
#include "sinks.h"

#include <stdio.h>

/* Is this sum added up apart for each vector (sN)? */
static bool
has_part(const Cg *cg, const GcPAgg *agg)
{
	return cg->parts && gc_accumulator_of(agg)->value == GC_VALUE_SUM && gc_exprs(cg->p)[agg->arg].small;
}

/* A vector's sums begin at 0. */
static void
begin_parts(Cg *cg)
{
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);

		if (has_part(cg, agg))
			text_addf(cg->out, "GC_PART s%d = 0;\n", agg->word);
	}
}

/* Add a vector's sums to the thread's totals. */
static void
add_parts(Cg *cg)
{
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);

		if (has_part(cg, agg))
			text_addf(cg->out, "a%d%s += s%d;\n", agg->word, cg->suffix, agg->word);
	}
	if (cg->counted)
		text_addf(cg->out, "GC_COUNT_LIVE(a0%s);\n", cg->suffix);
}

/* Statement that adds operand o to the aggregate's accumulator in registers. */
static void
emit_register_filter_aggregate(Cg *cg, const GcPAgg *agg, const Operand *o)
{
	char		image[128];
	char		acc[24];

	snprintf(acc, sizeof(acc), "a%d%s", agg->word, cg->suffix);
	if (has_part(cg, agg))
		text_addf(cg->out, "s%d += (i32) %s;\n", agg->word, o->v);
	else if (gc_accumulator_of(agg)->value == GC_VALUE_COUNT)
		text_addf(cg->out, cg->parts ? "GC_COUNT_ROW(%s);\n" : "%s += 1;\n", acc);
	else
	{
		agg_image(agg, o, image, sizeof(image));
		text_addf(cg->out, agg_update(agg)->merge, acc, image);
	}
}

/* Add the row to the thread's registers.  The row is counted here unless add_parts() counts the vector's. */
static void
emit_row(Cg *cg)
{
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		const Operand o = agg_operand(cg, i);

		if (AGG(cg, i)->word == 0)
			continue;
		if (!never_null(&o))
			text_addf(cg->out, "if (!%s) ", o.n);
		emit_register_filter_aggregate(cg, AGG(cg, i), &o);
	}
	if (!cg->counted)
		text_addf(cg->out, cg->parts ? "GC_COUNT_ROW(a0%s);\n" : "a0%s += 1;\n", cg->suffix);
}

/* Declare the accumulators. */
static void
emit_state(Cg *cg, Text *t)
{
	const char *count = cg->parts ? "GC_COUNT" : "u64";

	text_addf(t, "%s a0%s = 0;\n", count, cg->suffix);
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);

		if (agg->word != 0)
			text_addf(t, "%s a%d%s = %s;\n",
					  gc_accumulator_of(agg)->value == GC_VALUE_COUNT ? count : agg_update(agg)->type, agg->word,
					  cg->suffix, agg_update(agg)->nothing);
	}
}

/* Add the registers of all threads to the one group's words. */
static void
end_registers(Cg *cg, Text *t)
{
	text_addf(t, "const u64 e0 = gc_block_add(a0%s);\nif (thread == 0 && e0) GC_ADD_G(gc_groups, e0);\n",
			  cg->suffix);
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);

		if (agg->word == 0)
			continue;
		text_addf(t, "const %s e%d = gc_block_%s(a%d%s);\nif (thread == 0) ", agg_update(agg)->type, agg->word,
				  agg_update(agg)->block, agg->word, cg->suffix);
		agg_add_total(t, agg, "gc_groups");
	}
}

const Sink	sink_one_group = {
	.prepare = agg_prepare,
	.require = agg_require,
	.row = emit_row,
	.begin_parts = begin_parts,
	.add_parts = add_parts,
	.state = emit_state,
	.end = end_registers,
};
