/*-------------------------------------------------------------------------
 *
 * sink.h
 *	  What a pipeline does with the rows that come through.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SINK_H
#define GC_SINK_H

#include "state.h"

/* Declare the sink's argument words; before anything else is generated. */
extern void sink_prepare(Cg *cg);

/* Require, in the vector phase, what the sink reads of the scanned table. */
extern void sink_require(Cg *cg);

/* Statements for one row, in the row phase. */
extern void sink_row(Cg *cg);

/* May the row phase give it rows that do not count (cg->all_rows)?  No test of theirs may fail. */
extern bool sink_takes_all(const Cg *cg);

/*
 * With cg->parts, before the rows of a vector, of which each comes to the sink once at most,
 * and after them.
 */
extern void sink_begin_parts(Cg *cg);
extern void sink_add_parts(Cg *cg);

/* Accumulators that live as long as the kernel. */
extern void sink_state(Cg *cg, Text *t);

/* Has a block a group table in shared memory?  Where it is, computed from argument words (cg_scope). */
extern bool sink_uses_shared(const Cg *cg);
extern void sink_table(Cg *cg, Text *t);

/* Before the scan: empty that table. */
extern void sink_clear(Cg *cg, Text *t);

/* After it: merge what is there, or in registers. */
extern void sink_end(Cg *cg, Text *t);

#endif							/* GC_SINK_H */
