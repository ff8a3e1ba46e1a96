/*-------------------------------------------------------------------------
 *
 * shared_scan.h
 *	  A fused scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARED_SCAN_H
#define GC_SHARED_SCAN_H

#include "scan_members.h"

/*
 * Start a fused scan by this kernel.  Its requests are RUNNING then.  On failure they are FINISHED
 * with an error each, or READY again.
 */
extern void gc_fused_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs);

#endif							/* GC_SHARED_SCAN_H */
