/*-------------------------------------------------------------------------
 *
 * rewrite_sets.h
 *	  Constants in grouping sets; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_SETS_H
#define GC_REWRITE_SETS_H

#include "rewrite_tree.h"

/* Has the query itself grouping sets with an output that is a constant? */
extern bool gc_has_constant_sets(Query *query);

/* Have GROUPING() say where such an output is NULL. */
extern void gc_turn_constant_sets(Query *query, bool *changed);

#endif							/* GC_REWRITE_SETS_H */
