/*-------------------------------------------------------------------------
 *
 * rules.h
 *	  The rules by which rewrite.c rewrites a query level, each in a file of its own; private to plan/rewrite/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_RULES_H
#define GC_REWRITE_RULES_H

#include "rewrite.h"
#include "rewrite_tree.h"

/*-------------------------------------------------------------------------
 * Correlated scalar subqueries, and EXISTS and IN that are no conjuncts (rewrite_sublink.c)
 *-------------------------------------------------------------------------
 */

/* Is there such a subquery in one of a query's own conditions?  Cheap: it says so of too many. */
extern bool gc_may_unnest(Node *condition);

/*
 * Turn correlated scalar subqueries into joins, and EXISTS and IN that are no conjuncts themselves.  They may be in
 * the target list, and in the conjuncts, which were taken out of WHERE.  Returns the conjuncts that are to take their
 * place; *changed is set if anything was turned.
 */
extern List *gc_unnest_sublinks(const GcQueryLevel *level, List *conjuncts, bool *changed);

/*-------------------------------------------------------------------------
 * NOT IN (rewrite_notin.c)
 *-------------------------------------------------------------------------
 */

/* Is there NOT IN or <> ALL in a condition, below no more than AND and OR? */
extern bool gc_has_not_in(Node *node);

/*
 * Turn NOT IN among the conjuncts, which were taken out of WHERE, into NOT EXISTS and its further conditions.  Returns
 * the conjuncts that are to take their place; *changed is set if any was turned.
 */
extern List *gc_turn_not_in(const GcQueryLevel *level, List *conjuncts, bool *changed);

/* A copy of an IN's subquery, with the test of IN added to its conditions; NULL if that cannot be said. */
extern Query *gc_rows_of_in(const SubLink *sublink);

/*-------------------------------------------------------------------------
 * Keys that the outer query asks for (rewrite_keys.c)
 *-------------------------------------------------------------------------
 */

/*
 * `inner` is a group key of `sub`, which is to be joined to `level`'s query where `inner` op
 * `outer`.  Add conditions to `sub` that keep keys which may find a row, as far as the outer
 * query's conjuncts tell cheaply.
 */
extern void gc_restrict_key(Query *sub, Node *inner, Node *outer, OpExpr *op,
							const GcQueryLevel *level, List *conjuncts);

/*-------------------------------------------------------------------------
 * CTEs that are read more than once (rewrite_cte.c)
 *-------------------------------------------------------------------------
 */

/* Could this CTE be inlined although PostgreSQL would materialize it?  Cheap: it says so of too many. */
extern bool gc_may_inline(const CommonTableExpr *cte);

/*
 * Let PostgreSQL inline the CTEs of this level where nobody can tell, or narrow them; *changed is set if there is one.
 */
extern void gc_inline_ctes(const GcQueryLevel *level, GcCteChoice *ctes, bool *changed);

/*-------------------------------------------------------------------------
 * UNION, INTERSECT and EXCEPT (rewrite_union.c)
 *-------------------------------------------------------------------------
 */

/* Is there something that gc_turn_unions() would change in this query itself?  within: in FROM of another one. */
extern bool gc_has_union(const Query *query, bool within);

/* Make subqueries in FROM of a level's set operations. */
extern void gc_turn_unions(const GcQueryLevel *level, bool *changed);

/*
 * Is it a set operation over grouping sets with a constant, but for UNION ALL of equal types?  There that is not NULL
 * where a set leaves it out.
 */
extern bool gc_shows_constant_sets(const Query *query);

/*-------------------------------------------------------------------------
 * Percentiles and mode() (rewrite_ordered_sets.c)
 *-------------------------------------------------------------------------
 */

/* Has the query itself such an aggregate? */
extern bool gc_has_ordered_sets(const Query *query);

/* Compute these aggregates of groups of values, numbered and counted by windows. */
extern void gc_turn_ordered_sets(Query *query, bool *changed);

/*-------------------------------------------------------------------------
 * DISTINCT ON (rewrite_distinct_on.c)
 *-------------------------------------------------------------------------
 */

/* Has the query itself a DISTINCT ON whose rows a window can choose? */
extern bool gc_has_distinct_on(const Query *query);

/* Have a window choose them. */
extern void gc_turn_distinct_on(Query *query, bool *changed);

#endif							/* GC_REWRITE_RULES_H */
