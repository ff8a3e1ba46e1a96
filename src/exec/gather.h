/*-------------------------------------------------------------------------
 *
 * gather.h
 *	  Inputs of one execution: tables, loads, the delta; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_GATHER_H
#define GC_GATHER_H

#include "exec.h"

/* GC_OK, or the reason for the fallback. */
extern GcCode gc_open_inputs(GcScanState *node, GcError *err);
extern void gc_close_inputs(GcScanState *node);
extern GcCode gc_load_inputs(GcScanState *node, GcError *err);
extern GcCode gc_serve_inputs(GcBinding *b);

#endif							/* GC_GATHER_H */
