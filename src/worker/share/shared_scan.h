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

/*
 * The parts of that, for a gang (scan_gang.h).  Queue the work before the kernel, on the first member's stream, and
 * describe its launch.  Behind it, note member m's scan for EXPLAIN, and queue the copies of its result.
 */
extern GcCode gc_fused_prepare(GcScanMembers *scan, GcLaunch *launch, GcArgs *args);
extern GcCode gc_fused_follow(GcScanMembers *scan, int m);

#endif							/* GC_SHARED_SCAN_H */
