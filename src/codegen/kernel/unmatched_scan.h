/*-------------------------------------------------------------------------
 *
 * unmatched_scan.h
 *	  The rest of a full or right join: the build's rows that nothing matched; private to codegen/.
 *
 * Pure C, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_UNMATCHED_SCAN_H
#define GC_UNMATCHED_SCAN_H

#include "../expr/state.h"

/* Declare, at the kernel's scope, where the build's rows are. */
extern void cg_declare_unmatched(Cg *cg);

/* Emit the loop over its rows without a match around the kernel's body. */
extern void cg_emit_unmatched_scan(Cg *cg, Text *t);

#endif							/* GC_UNMATCHED_SCAN_H */
