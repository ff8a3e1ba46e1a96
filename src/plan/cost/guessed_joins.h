/*-------------------------------------------------------------------------
 *
 * guessed_joins.h
 *	  Joins of CTEs and subqueries, without nested loops; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_GUESSED_JOINS_H
#define GC_GUESSED_JOINS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* A search for an order of these relations. */
typedef RelOptInfo *(*GcJoinSearcher) (PlannerInfo *root, List *initial_rels);

/* Join them without nested loops, if how many rows they have is but guessed; NULL: they are to be joined as usual. */
extern RelOptInfo *gc_join_guessed(PlannerInfo *root, List *initial_rels, GcJoinSearcher search);

#endif							/* GC_GUESSED_JOINS_H */
