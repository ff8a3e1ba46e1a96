/*-------------------------------------------------------------------------
 *
 * same_scans.h
 *	  Part 1 of same_table.c, and how it asks the scheduler.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SAME_SCANS_H
#define GC_SAME_SCANS_H

#include "common.h"
#include "scans.h"

/* The schedule that gc_decide() is asked about, on an idle device of which only the calibration is known. */
extern GcSchedule same_table_schedule(GcPolicy policy, const GcCandidate *candidates, int n);

/* 2, 4, 8 and 16 scans of this kind; seconds: how long; room: for decisions. */
extern void same_table_scans(GcDecideWork *room, const ScanKind *kind, double budget);

#endif							/* GC_SAME_SCANS_H */
