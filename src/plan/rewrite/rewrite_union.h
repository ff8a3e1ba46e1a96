/*-------------------------------------------------------------------------
 *
 * rewrite_union.h
 *	  UNION, INTERSECT and EXCEPT as DISTINCT and GROUP BY over UNION ALL; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_UNION_H
#define GC_REWRITE_UNION_H

#include "rewrite_tree.h"

/* Is there something that gc_turn_unions() would change in this query itself?  within: in FROM of another one. */
extern bool gc_has_union(const Query *query, bool within);

/* Make subqueries in FROM of a level's set operations. */
extern void gc_turn_unions(const GcQueryLevel *level, bool *changed);

#endif							/* GC_REWRITE_UNION_H */
