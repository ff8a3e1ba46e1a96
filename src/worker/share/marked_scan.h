/*-------------------------------------------------------------------------
 *
 * marked_scan.h
 *	  A marked scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MARKED_SCAN_H
#define GC_MARKED_SCAN_H

#include "scan_members.h"

/* As gc_fused_start, by a marker. */
extern void gc_marked_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs);

#endif							/* GC_MARKED_SCAN_H */
