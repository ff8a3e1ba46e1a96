/*-------------------------------------------------------------------------
 *
 * selection_scan.h
 *	  A selection scan.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SELECTED_SCAN_H
#define GC_SELECTED_SCAN_H

#include "../run/launch.h"
#include "scan_members.h"

/* As gc_fused_start, by a selection kernel. */
extern void gc_selection_start(GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs);

/*
 * The parts of that, in this order, for a gang (scan_gang.h).  As gc_scan_begin; queue what comes before the merge kernel,
 * on the first member's stream; describe the merge kernel's launch, and the selection kernel's.
 */
extern void gc_selection_begin(GcScanMembers *scan, GcMainLaunch *launch, GcFused *f, const GcStart *start, GcRun *const *runs,
							   GcError *err);
extern GcCode gc_selection_prepare(GcScanMembers *scan);
extern GcCode gc_selection_describe_merge(GcScanMembers *scan, GcLaunch *launch, GcArgs *args);
extern void gc_selection_describe(GcScanMembers *scan, GcLaunch *launch, GcArgs *args);

/* Behind the selection kernel: bring its words for mismatches to the host. */
extern GcCode gc_selection_fetch_mismatches(GcScanMembers *scan, GcStream *stream);

/* Rows that member m's own kernel visits, and the grid that is best for it.  Counts the launch, which is to follow. */
extern GcScanPart gc_selection_visit(GcScanMembers *scan, int m, GcGrid *grid);

/* Queue member m's own kernel, and what comes behind it. */
extern GcCode gc_selection_follow(GcScanMembers *scan, int m);

#endif							/* GC_SELECTED_SCAN_H */
