/*-------------------------------------------------------------------------
 *
 * cells.h
 *	  Cells: groups of a block in shared memory, those whose rows come first.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CELLS_H
#define GC_CELLS_H

#include "../expr/state.h"

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

#endif							/* GC_CELLS_H */
