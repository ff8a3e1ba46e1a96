/*-------------------------------------------------------------------------
 *
 * rewrite_keys.h
 *	  Restrict a grouped subquery to the keys that its outer query asks for; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_KEYS_H
#define GC_REWRITE_KEYS_H

#include "rewrite_tree.h"

/*
 * `inner` is a group key of `sub`, which is to be joined to `level`'s query where
 * `inner` op `outer`.  Add conditions to `sub` that keep only keys which may find a row,
 * as far as the conjuncts of the outer query tell in a cheap way.
 */
extern void gc_restrict_key(Query *sub, Node *inner, Node *outer, OpExpr *op,
							const GcQueryLevel *level, List *conjuncts);

#endif							/* GC_REWRITE_KEYS_H */
