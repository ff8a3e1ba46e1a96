/*-------------------------------------------------------------------------
 *
 * fused.h
 *	  Fused kernels for the scan shapes that recur over a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSED_H
#define GC_FUSED_H

#include "../run/main_launch.h"
#include "scan_set.h"

/*
 * Ask for kernels that would serve the set's scan shapes better.  Not between an offer and the
 * start of the decided scan, since this may exchange a kernel.  Writing the texts takes longer
 * than a decision.
 */
extern void gc_fused_improve(GcScanSet *set);

/* Has a kernel come that was asked for?  And is one still to come? */
extern bool gc_fused_poll(GcScanSet *set);
extern bool gc_fused_pending(const GcScanSet *set);

/* Members of the scan shape in f, which may be NULL. */
extern int	gc_fused_bodies_of(const GcFused *f, const GcScanShape *s);

/* A member's addition to the scan's time until that is learned. */
extern double gc_fused_first_us(const GcScanShape *s, double alone_us);

/*
 * Learn from the time of a scan.  A time that other work on the device may have lengthened counts
 * less.
 */
extern void gc_fused_learn(const GcMainLaunch *launch, double time_us);

/*
 * The run goes by its own kernel, which takes alone_us alone, since a fused scan of several
 * seemed slower.
 */
extern void gc_fused_refused(const GcRun *run, double alone_us);

#endif							/* GC_FUSED_H */
