/*-------------------------------------------------------------------------
 *
 * scan_gang.h
 *	  Gangs of shared scans: scans of several tables by kernels of one text, in one launch.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCAN_GANG_H
#define GC_SCAN_GANG_H

#include "scan_members.h"

/* Equal, not 0, for kernels whose scans can be one launch.  0: it cannot be in one, or not now. */
extern u64	gc_scan_gang_id(const GcFused *f);

/* The most scans of a launch, of a kernel whose gc_scan_gang_id is not 0. */
extern int	gc_scan_gang_most(const GcFused *f);

/*
 * Ask for the gangs' kernels of those with equal texts, among n kernels that one decision is offered.  Not between the
 * offer and the starts.
 */
extern void gc_scan_gangs_want(GcFused *const *offered, int n);

/* Is one of them being compiled?  And, to be called often: has one come, or was one given up? */
extern bool gc_scan_gangs_pending(void);
extern bool gc_scan_gangs_poll(void);

/*
 * Start n scans by kernels of one gc_scan_gang_id, with as many threads per block.  As gc_fused_start for each of them: a
 * scan that finds no memory does not keep the others from it.
 */
extern void gc_scan_gang_start(GcMainLaunch *const *launches, GcFused *const *f, const GcStart *const *starts, int n,
							   GcRun *const *runs);

#endif							/* GC_SCAN_GANG_H */
