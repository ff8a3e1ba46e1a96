/*-------------------------------------------------------------------------
 *
 * sort_keys.h
 *	  What rows are sorted by, above grouping sets; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SORT_KEYS_H
#define GC_SORT_KEYS_H

#include "../base/translate.h"

/*
 * Has the level grouping sets, and one of these clauses a column that equals another, or a constant, below them only?
 * PostgreSQL's keys leave such columns out.
 */
extern bool gc_keys_are_merged(PlannerInfo *root, List *clauses, List *tlist);

/* PathKeys of SortGroupClauses: PostgreSQL's own, unless they are merged. */
extern List *gc_keys_of_clauses(PlannerInfo *root, List *clauses, List *tlist);

/* The keys of the level's ORDER BY; root->sort_pathkeys unless they are merged. */
extern List *gc_sort_keys(PlannerInfo *root);

#endif							/* GC_SORT_KEYS_H */
