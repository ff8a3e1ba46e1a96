/*-------------------------------------------------------------------------
 *
 * predicates.h
 *	  A request's tests for selection scans.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PREDICATES_H
#define GC_PREDICATES_H

#include "../run/run.h"

/*
 * Are n requests predicted to take less time in a selection scan of scan_us than by kernels of
 * their own, which one after another take own_us?
 */
typedef bool (*GcSelectionPays) (int n, double scan_us, double own_us);

extern void gc_predicates_init(GcSelectionPays pays);

/*
 * A READY run: launch its predicate kernel, if it may be in a selection scan.  others: requests on the
 * device; one that is alone will not wait for company, and is only in one if that takes
 * less time.
 */
extern void gc_predicates_test(GcRun *run, int others);

#endif							/* GC_PREDICATES_H */
