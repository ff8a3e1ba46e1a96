/*-------------------------------------------------------------------------
 *
 * predicates.h
 *	  A request's predicates for selection scans.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PREDICATES_H
#define GC_PREDICATES_H

#include "../run/run.h"

/*
 * Are n requests predicted to take less time in a selection scan of scan_us than by their own
 * kernels?  Those take own_us one after another.
 */
typedef bool (*GcSelectionPays) (int n, double scan_us, double own_us);

extern void gc_predicates_init(GcSelectionPays pays);

/*
 * Launch a READY run's predicate kernel, if the run may be in a selection scan.  others: requests
 * on the device.  A request without peers does not wait for any; it is in a selection scan only if
 * that takes less time.
 */
extern void gc_predicates_test(GcRun *run, int others);

#endif							/* GC_PREDICATES_H */
