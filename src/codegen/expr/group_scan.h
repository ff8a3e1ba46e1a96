/*-------------------------------------------------------------------------
 *
 * group_scan.h
 *	  Pipelines over the groups of an earlier pipeline.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_GROUP_SCAN_H
#define GC_GROUP_SCAN_H

#include "state.h"

/* Declare vK, and vnK if it may be NULL: the value of column `column` (local number k) for this group. */
extern void cg_group_column(Cg *cg, u16 column, int k);

/* Declare, at the kernel's scope, where the groups are. */
extern void cg_declare_groups(Cg *cg);

/* Emit the loop over groups around the kernel's body. */
extern void cg_emit_group_scan(Cg *cg, Text *t);

#endif							/* GC_GROUP_SCAN_H */
