/*-------------------------------------------------------------------------
 *
 * selection.h
 *	  Selection kernels: what the requests of a table need for selection scans.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SELECTED_H
#define GC_SELECTED_H

#include "../run/run.h"
#include "scan_set.h"

/*
 * What a request adds to a selection scan, of its time alone, as long as it is not known: on
 * an H200 1 in 100 rows is left, and visiting them takes a fifth.
 */
#define GC_SELECTION_PART		0.2

/* Ask for what the set's shapes need for selection scans; has any of it come? */
extern void gc_selection_improve(GcScanSet *set);
extern bool gc_selection_poll(GcScanSet *set);
extern bool gc_selection_pending(const GcScanSet *set);

/* Requests that one scan may serve, so that their marks have room. */
extern int	gc_selection_most(const GcScanSet *set);

/* May the run be a member of a selection scan by the set's selection kernel? */
extern bool gc_selection_can(const GcRun *run);
/* Columns of the selection kernel that it tests, one bit each. */
extern u32	gc_selection_columns(const GcRun *run);
/* What a request of the shape adds to a scan's time. */
extern double gc_selection_adds(const GcScanShape *s);
extern void gc_selection_learn(GcMainLaunch *launch, double select_us);

/* What each request adds to a selection kernel's time. */
extern double gc_marks_write_us(const GcScanSet *set);

/* Its own kernel's time alone; 0: not known. */
extern double gc_selection_own_us(const GcRun *run);

/* Are both of its kernels there? */
extern bool gc_selection_shape_ready(GcScanShape *s);

/* Does the selection kernel test all that a shape tests? */
extern bool gc_selection_covers(const GcFused *f, const GcScanShape *s);

/* Less is believed of what kept the run from being in a selection scan. */
extern void gc_selection_doubt(GcRun *run, u32 columns);

/* These n requests, whose tests were ready, go by their own kernels, which seemed faster. */
extern void gc_selection_refused(GcRun *const *runs, int n);

#endif							/* GC_SELECTED_H */
