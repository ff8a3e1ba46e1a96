/*-------------------------------------------------------------------------
 *
 * aggregates.h
 *	  Aggregates in a group's words: their arguments, and how these are added; cells in shared memory (cells.c).
 *
 * The common part of the sinks that aggregate.  Word 0 of a group counts its rows, or only says that there are any.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_AGGREGATES_H
#define GC_AGGREGATES_H

#include "../expr/state.h"

#define AGG(cg, i)		(&gc_aggs((cg)->p)[(cg)->pl->first_agg + (i)])

/* Where a group's words are. */
typedef enum Scope
{
	IN_LOCAL,					/* the cell gc_cell of a block's own table */
	IN_GLOBAL					/* at gc_g */
} Scope;

/* How a kernel merges (program/accumulators.h). */
typedef struct Update
{
	const char *memory;			/* GC_*_G, GC_*_L */
	const char *block;			/* gc_block_* */
	const char *type;			/* of totals in registers, */
	const char *nothing;		/* which begin with this */
	const char *merge;			/* statement for these: the total, the value merged with it */
	const char *cell;			/* expression for a cell's value: the word, and the next one */
	bool		tested;			/* it pays to leave out totals of nothing */
} Update;

extern const Update *agg_update(const GcPAgg *agg);

/* Declare where the groups are, gc_groups, and for how many there is room, gc_ngroups. */
extern void agg_prepare(Cg *cg);

/* May an aggregate's argument raise an error? */
extern bool agg_checked(const Cg *cg, const GcPAgg *agg);

/* Require the keys, and the aggregates' arguments. */
extern void agg_require(Cg *cg);

/* Input of aggregate i: 1 if its argument is not looked at. */
extern Operand agg_operand(Cg *cg, u16 i);

/* Image of an accumulator's input, but for counts. */
extern void agg_image(const GcPAgg *agg, const Operand *o, char *buf, size_t size);

/* Statement that adds operand o to the group's words; it leaves word 0 alone. */
extern void agg_fold(Cg *cg, u16 i, const Operand *o, Scope scope);

/* Does word 0 count rows, or only say that there are any?  agg_count_row: the statement for it. */
extern bool agg_counts_rows(const Cg *cg);
extern void agg_count_row(Cg *cg, Scope scope);

/* Statements for all aggregates, and word 0. */
extern void agg_fold_all(Cg *cg, Scope scope);

/* Statement that adds an accumulator's total, eN, to the group's words at `to`. */
extern void agg_add_total(Text *t, const GcPAgg *agg, const char *to);

/* Does a block have cells for the groups whose rows come first? */
extern bool cg_has_cells(const Cg *cg);

/* 64-bit words of a key that each cell has; 0: the group's number suffices. */
extern int	cg_cell_key_words(const GcProgram *p, const GcPPipeline *pl);

/* Declare the cells at gc_top; empty them; behind the scan add them to the groups in global memory. */
extern void cg_cell_table(Cg *cg, Text *t);
extern void cg_clear_cells(Cg *cg, Text *t);
extern void cg_end_cells(Cg *cg, Text *t);

/* Add the current row to the cell gc_cell, or to the group's words at gc_g if that is GC_NO_CELL. */
extern void cg_fold_in_cell(Cg *cg);

/* Totals e0, e1, ... of a group: begin from nothing, add the cell gc_cell, add them to the words at g. */
extern void cg_begin_totals(Cg *cg, Text *t);
extern void cg_gather_cell(Cg *cg, Text *t);
extern void cg_add_totals(Cg *cg, Text *t);

#endif							/* GC_AGGREGATES_H */
