/*-------------------------------------------------------------------------
 *
 * selection.h
 *	  Kernels of selection scans: which kernels a table's requests need, and when they are made.
 *	  A request's predicates (predicates.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARE_SELECTION_H
#define GC_SHARE_SELECTION_H

#include "../run/run.h"
#include "scan_set.h"

/*
 * A request's additional time in a selection scan until that is learned, as a part of its time alone.  On
 * an H200, with 1 in 100 rows selected, visiting them takes a fifth.
 */
#define GC_SELECTION_PART		0.2

/* Ask for kernels that the set's scan shapes need for selection scans; has any of them come? */
extern void gc_selection_improve(GcScanSet *set);
extern bool gc_selection_poll(GcScanSet *set);
extern bool gc_selection_pending(const GcScanSet *set);

/* Most requests that one scan may serve, by the room for their selection bitmaps. */
extern int	gc_selection_most(const GcScanSet *set);

/* May the run be a member of a selection scan by its set's selection kernel? */
extern bool gc_selection_can(const GcRun *run);
/* Columns of the selection kernel that the run tests, one bit each. */
extern u32	gc_selection_columns(const GcRun *run);
/* A request's addition to the time of a scan of its shape. */
extern double gc_selection_adds(const GcScanShape *s);
extern void gc_selection_learn(GcMainLaunch *launch, double select_us);

/* Each request's addition to a selection kernel's time. */
extern double gc_marks_write_us(const GcScanSet *set);

/* Time of the run's own kernel alone; 0: not known. */
extern double gc_selection_own_us(const GcRun *run);

/* Are both kernels of the scan shape there? */
extern bool gc_selection_shape_ready(GcScanShape *s);

/* Does the selection kernel test all columns that a scan shape tests? */
extern bool gc_selection_covers(const GcFused *f, const GcScanShape *s);

/* Trust less in the times that kept the run from a selection scan. */
extern void gc_selection_doubt(GcRun *run, u32 columns);

/* These n requests, whose predicates were ready, go by their own kernels, which seemed faster. */
extern void gc_selection_refused(GcRun *const *runs, int n);

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

#endif							/* GC_SHARE_SELECTION_H */
