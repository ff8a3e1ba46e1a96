/*-------------------------------------------------------------------------
 *
 * sink.h
 *	  What a pipeline does with the rows that come through; private to codegen/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SINK_H
#define GC_SINK_H

#include "cg.h"

/* Declare the sink's argument words; before anything else is generated. */
extern void sink_prepare(Cg *cg);

/* Require, in the vector phase, what the sink reads of the scanned table. */
extern void sink_require(Cg *cg);

/* Statements for one row, in the row phase. */
extern void sink_row(Cg *cg);

/* Kernel-scope statements before the scan and after it. */
extern void sink_begin(Cg *cg, Text *t);
extern void sink_end(Cg *cg, Text *t);

/* kernel.c: hash of a key array. */
extern void cg_hash(Cg *cg, const char *h, const char *keys, int nkeys);

#endif							/* GC_SINK_H */
