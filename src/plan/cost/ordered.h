/*-------------------------------------------------------------------------
 *
 * ordered.h
 *	  Paths of ours whose rows come in the order of ORDER BY; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ORDERED_H
#define GC_ORDERED_H

#include "../base/translate.h"

/*
 * Offer the paths of ours for a query level again, for its ORDER BY: with rows in that order, so
 * that no Sort stands above; and where LIMIT takes the first few, with little more than these.
 */
extern void gc_add_ordered_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output);

/* Offer a path of ours for groups again, in the order in which window functions take them. */
extern void gc_add_window_order(PlannerInfo *root, RelOptInfo *output);

#endif							/* GC_ORDERED_H */
