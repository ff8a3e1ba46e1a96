/*-------------------------------------------------------------------------
 *
 * rewrite_notin.h
 *	  NOT IN as NOT EXISTS, with what NULLs make of it; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_NOTIN_H
#define GC_REWRITE_NOTIN_H

#include "rewrite_tree.h"

/* The subquery of a NOT IN or <> ALL; NULL if the condition is neither. */
extern SubLink *gc_not_in(Node *node);

/* Is there NOT IN or <> ALL in a condition, below no more than AND and OR? */
extern bool gc_has_not_in(Node *node);

/*
 * Turn NOT IN among the conjuncts, which were taken out of WHERE, into NOT EXISTS and what else it needs.
 * Returns the conjuncts that are to take their place; *changed is set if any was turned.
 */
extern List *gc_turn_not_in(const GcQueryLevel *level, List *conjuncts, bool *changed);

/* A copy of an IN's subquery, with what IN tests added to its conditions; NULL if that cannot be said. */
extern Query *gc_rows_of_in(const SubLink *sublink);

#endif							/* GC_REWRITE_NOTIN_H */
