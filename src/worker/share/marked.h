/*-------------------------------------------------------------------------
 *
 * marked.h
 *	  Markers: what the requests of a table need for marked scans.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MARKED_H
#define GC_MARKED_H

#include "../run/run.h"
#include "scan_set.h"

/*
 * What a request adds to a marked scan, of its time alone, as long as it is not known: on
 * an H200 1 in 100 rows is left, and visiting them takes a fifth.
 */
#define GC_MARKED_PART		0.2

/* Ask for what the set's shapes need for marked scans; has any of it come? */
extern void gc_marked_improve(GcScanSet *set);
extern bool gc_marked_poll(GcScanSet *set);
extern bool gc_marked_pending(const GcScanSet *set);

/* Requests that one scan may serve, so that their marks have room. */
extern int	gc_marked_most(const GcScanSet *set);

/* May the run be a member of a marked scan by the set's marker? */
extern bool gc_marked_can(const GcRun *run);
/* Columns of the marker that it tests, one bit each. */
extern u32	gc_marked_columns(const GcRun *run);
/* What a request of the shape adds to a scan's time. */
extern double gc_marked_adds(const GcScanShape *s);
extern void gc_marked_learn(GcMainLaunch *launch, double marks_us);

/* What each request adds to a marker's time. */
extern double gc_marks_write_us(const GcScanSet *set);

/* Its own kernel's time alone; 0: not known. */
extern double gc_marked_own_us(const GcRun *run);

/* Are both of its kernels there? */
extern bool gc_marked_shape_ready(GcScanShape *s);

/* Does the marker test all that a shape tests? */
extern bool gc_marked_covers(const GcFused *f, const GcScanShape *s);

/* Less is believed of what kept the run from being in a marked scan. */
extern void gc_marked_doubt(GcRun *run, u32 columns);

/* These n requests, whose tests were ready, go by their own kernels, which seemed faster. */
extern void gc_marked_refused(GcRun *const *runs, int n);

#endif							/* GC_MARKED_H */
