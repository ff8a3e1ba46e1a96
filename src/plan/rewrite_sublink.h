/*-------------------------------------------------------------------------
 *
 * rewrite_sublink.h
 *	  Correlated scalar subqueries as joins with grouped subqueries; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_SUBLINK_H
#define GC_REWRITE_SUBLINK_H

#include "rewrite_tree.h"

/* Could this be such a subquery?  Cheap: it says so of too many. */
extern bool gc_may_unnest(const SubLink *sublink);

/*
 * Turn the correlated aggregates in the conjuncts, which were taken out of WHERE, and in
 * the target list into joins.  Returns the conjuncts that are to take their place;
 * *changed is set if anything was turned.
 */
extern List *gc_unnest_sublinks(const GcQueryLevel *level, List *conjuncts, bool *changed);

#endif							/* GC_REWRITE_SUBLINK_H */
