/*-------------------------------------------------------------------------
 *
 * rewrite_cte.h
 *	  CTEs that are read more than once, in the place of each reference; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_CTE_H
#define GC_REWRITE_CTE_H

#include "rewrite_tree.h"

/* Could this CTE be inlined although PostgreSQL would materialize it?  Cheap: it says so of too many. */
extern bool gc_may_inline(const CommonTableExpr *cte);

/* Let PostgreSQL inline the CTEs of this level where nobody can tell; *changed is set if there is one. */
extern void gc_inline_ctes(const GcQueryLevel *level, bool *changed);

#endif							/* GC_REWRITE_CTE_H */
