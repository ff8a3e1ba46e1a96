/*-------------------------------------------------------------------------
 *
 * sink.h
 *	  The end of a pipeline: which sink gets the rows that come through.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SINK_H
#define GC_SINK_H

#include "../expr/state.h"

/* Declare the sink's argument words, before anything else is generated. */
extern void sink_prepare(Cg *cg);

/* Require, in the vector phase, the scanned table's columns that the sink reads. */
extern void sink_require(Cg *cg);

/* Statements for one row, in the row phase. */
extern void sink_row(Cg *cg);

/*
 * May the row phase give it rows that do not count (cg->all_rows)?  Then no test of such a row may
 * fail.
 */
extern bool sink_takes_all(const Cg *cg);

/*
 * With cg->parts: emitted before and after the rows of a vector, which come to the sink at most
 * once each.
 */
extern void sink_begin_parts(Cg *cg);
extern void sink_add_parts(Cg *cg);

/* Accumulators that live as long as the kernel. */
extern void sink_state(Cg *cg, Text *t);

/*
 * Does a block have a group table in shared memory?  sink_table: where it is, computed from
 * argument words (cg_scope).
 */
extern bool sink_uses_shared(const Cg *cg);
extern void sink_table(Cg *cg, Text *t);

/* Before the scan: clear the block's group table. */
extern void sink_clear(Cg *cg, Text *t);

/* After the scan: merge the block's group table, or the accumulators in registers. */
extern void sink_end(Cg *cg, Text *t);

#endif							/* GC_SINK_H */
