/*-------------------------------------------------------------------------
 *
 * fused.h
 *	  Fused kernels for the shapes that recur over a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSED_H
#define GC_FUSED_H

#include "../run/main_launch.h"
#include "scan_set.h"

/*
 * Ask for kernels that would serve the set's shapes better.  Not between an offer and the start
 * of what was decided, since it may exchange a kernel.  It writes texts, which takes longer than
 * a decision.
 */
extern void gc_fused_improve(GcScanSet *set);

/* Has one come that was asked for?  And is one still to come? */
extern bool gc_fused_poll(GcScanSet *set);
extern bool gc_fused_pending(const GcScanSet *set);

/* Bodies of the shape in f, which may be NULL. */
extern int	gc_fused_bodies_of(const GcFused *f, const GcScanShape *s);

/* What a member of the shape adds, as long as it is not known. */
extern double gc_fused_first_us(const GcScanShape *s, double alone_us);

/* A scan took so long.  What others on the device may have made slower is believed slowly. */
extern void gc_fused_learn(const GcMainLaunch *launch, double time_us);

/* It goes otherwise; its own kernel takes so long alone.  A fused scan of several seemed slower. */
extern void gc_fused_refused(const GcRun *run, double alone_us);

#endif							/* GC_FUSED_H */
