/*-------------------------------------------------------------------------
 *
 * merge_time.h
 *	  How much of its two sides a merge join reads; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MERGE_TIME_H
#define GC_MERGE_TIME_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * The part of the outer or the inner side's rows that is read before the other side has no more, by the conditions of
 * the other one; 1 where none says anything.  root: whatever the join is of another query level, the answer is 1.
 */
extern double gc_merge_share(PlannerInfo *root, const MergePath *join, bool inner);

#endif							/* GC_MERGE_TIME_H */
