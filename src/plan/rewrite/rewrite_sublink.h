/*-------------------------------------------------------------------------
 *
 * rewrite_sublink.h
 *	  Correlated scalar subqueries, and EXISTS under OR, as joins; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_SUBLINK_H
#define GC_REWRITE_SUBLINK_H

#include "rewrite_tree.h"

/* Is there such a subquery in one of a query's own conditions?  Cheap: it says so of too many. */
extern bool gc_may_unnest(Node *condition);

/*
 * Turn the correlated scalar subqueries, and EXISTS and IN that are no conjuncts themselves, in the conjuncts, which were taken out of WHERE, and in
 * the target list into joins.  Returns the conjuncts that are to take their place;
 * *changed is set if anything was turned.
 */
extern List *gc_unnest_sublinks(const GcQueryLevel *level, List *conjuncts, bool *changed);

#endif							/* GC_REWRITE_SUBLINK_H */
