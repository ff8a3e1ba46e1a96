/*-------------------------------------------------------------------------
 *
 * selection_scan.h
 *	  A selection scan.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SELECTED_SCAN_H
#define GC_SELECTED_SCAN_H

#include "scan_members.h"

/* As gc_fused_start, by a selection kernel. */
extern void gc_selection_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs);

#endif							/* GC_SELECTED_SCAN_H */
