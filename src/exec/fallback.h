/*-------------------------------------------------------------------------
 *
 * fallback.h
 *	  PostgreSQL's own plan of a node; private to exec/.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_FALLBACK_H
#define GC_EXEC_FALLBACK_H

#include "exec.h"

extern void gc_fallback_init(GcScanState *node, int eflags);
extern TupleTableSlot *gc_fallback_next(GcScanState *node);
extern void gc_fallback_rescan(GcScanState *node);
extern void gc_fallback_end(GcScanState *node);

/* How what stands in a fallback for a row source is executed. */
extern void gc_register_input_scan_methods(void);

#endif							/* GC_EXEC_FALLBACK_H */
