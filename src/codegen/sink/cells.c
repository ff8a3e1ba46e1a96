/*-------------------------------------------------------------------------
 *
 * cells.c
 *	  Cells: groups of a block in shared memory, those whose rows come first.
 *
 * A cell is found by its tag, which is the group's number + 1.  Hashed groups' cells also have the
 * group's key, so that a row of such a group does not come to the table in global memory.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "aggregates.h"

#include "../expr/analysis.h"

#include <stdio.h>

bool
cg_has_cells(const Cg *cg)
{
	return !cg->variant->group_local && cg->variant->group_cells > 0;
}

int
cg_cell_key_words(const GcProgram *p, const GcPPipeline *pl)
{
	return pl->group_mode == GC_GROUP_HASH ? cg_group_key_words(p, pl) : 0;
}

void
cg_cell_table(Cg *cg, Text *t)
{
	if (!cg_has_cells(cg))
		return;
	text_addf(t, "const u32 gc_cells = %d, gc_stride = gc_cells, gc_cell_words = %d;\n(void) gc_stride; (void) gc_cell_words;\n"
			  "u64 *gc_table = gc_shared + gc_top;\nu32 *gc_tags = (u32 *) (gc_table + gc_cells * %d);\n",
			  cg->variant->group_cells, cg->pl->group_words, cg->pl->group_words);
	if (cg_cell_key_words(cg->p, cg->pl) > 0)
		text_addf(t, "i64 *gc_cell_keys = (i64 *) (gc_tags + gc_cells);\n");
}

/* The tags are cleared, too. */
void
cg_clear_cells(Cg *cg, Text *t)
{
	if (cg_has_cells(cg))
		text_addf(t, "GC_NO_UNROLL for (u32 i = thread; i < gc_cells * %d + gc_cells / 2; i += nthreads) gc_table[i] = 0;\n",
				  cg->pl->group_words);
}

/* Add to the group's cell, or to its words in global memory if it has none. */
void
cg_fold_in_cell(Cg *cg)
{
	Operand		o[GC_MAX_AGGS];

	for (u16 i = 0; i < cg->pl->naggs; i++)
		o[i] = agg_operand(cg, i);
	for (int scope = IN_LOCAL; scope <= IN_GLOBAL; scope++)
	{
		text_addf(cg->out, scope == IN_LOCAL ? "if (gc_cell != GC_NO_CELL) {\n" : "} else {\n");
		for (u16 i = 0; i < cg->pl->naggs; i++)
			agg_fold(cg, i, &o[i], scope);
		agg_count_row(cg, scope);
	}
	text_addf(cg->out, "}\n");
}

/* Add the total of a cell's copies to eN. */
void
cg_gather_cell(Cg *cg, Text *t)
{
	text_addf(t, agg_counts_rows(cg) ? "e0 += GC_SUM_L(0);\n" : "e0 |= GC_SUM_L(0);\n");
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		const GcPAgg *agg = AGG(cg, i);
		char		total[8];
		char		cell[64];

		if (agg->word == 0)
			continue;
		snprintf(total, sizeof(total), "e%d", agg->word);
		snprintf(cell, sizeof(cell), agg_update(agg)->cell, agg->word, agg->word + 1);
		text_addf(t, agg_update(agg)->merge, total, cell);
	}
}

/* Begin a group's totals e0, e1, ... from nothing. */
void
cg_begin_totals(Cg *cg, Text *t)
{
	text_addf(t, "u64 e0 = 0;\n");
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		if (AGG(cg, i)->word != 0)
			text_addf(t, "%s e%d = %s;\n", agg_update(AGG(cg, i))->type, AGG(cg, i)->word,
					  agg_update(AGG(cg, i))->nothing);
	}
}

/* Add the totals to the group's words at g, if there was a row. */
void
cg_add_totals(Cg *cg, Text *t)
{
	text_addf(t, agg_counts_rows(cg) ? "if (!e0) continue;\nGC_ADD_G(g, e0);\n" : "if (!e0) continue;\nGC_NOTE_GROUP(g);\n");
	for (u16 i = 0; i < cg->pl->naggs; i++)
	{
		if (AGG(cg, i)->word != 0)
			agg_add_total(t, AGG(cg, i), "g");
	}
	text_addf(t, "}\n");
}

/* Add the cells of a block's groups to the global table. */
void
cg_end_cells(Cg *cg, Text *t)
{
	if (!cg_has_cells(cg))
		return;
	text_addf(t, "GC_BARRIER();\nGC_NO_UNROLL for (u32 gc_cell = thread; gc_cell < gc_cells; gc_cell += nthreads) {\n"
			  "if (!gc_tags[gc_cell]) continue;\n");
	cg_begin_totals(cg, t);
	cg_gather_cell(cg, t);
	text_addf(t, "u64 *g = gc_groups + (u64) (gc_tags[gc_cell] - 1) * %d;\n", cg->pl->group_words);
	cg_add_totals(cg, t);
}
