/*-------------------------------------------------------------------------
 *
 * sets.h
 *	  Grouping sets: GROUPING SETS, ROLLUP, CUBE.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SETS_H
#define GC_SETS_H

#include "../base/translate.h"

/* The reason against the query's grouping sets, whatever its input; NULL if there is none, or it has no sets. */
extern const char *gc_sets_refusal(PlannerInfo *root);

/*
 * Group the level's rows by the number of a grouping set and all that is grouped by, each row once for
 * each set.  What a set leaves out is NULL.  False, with a reason, if that cannot be.
 */
extern bool gc_sets_group(GcTranslation *tr);

/* An estimate: the groups of all sets together, each by `more` expressions, too. */
extern double gc_sets_groups(PlannerInfo *root, List *more, double rows);

/*
 * Note which keys of the main pipeline each grouping set of the query leaves out.  All that is
 * grouped by is a key already.  False, with a reason, if that cannot be.
 */
extern bool gc_translate_sets(GcTranslation *tr);

/* Arguments of GROUPING(): numbers of keys, in tr->groupings; its place there, or -1 with a reason. */
extern int	gc_translate_grouping(GcTranslation *tr, GroupingFunc *grouping);

/*
 * Has the level grouping sets, and one of these clauses a column that equals another, or a constant, below them only?
 * PostgreSQL's keys leave such columns out.
 */
extern bool gc_keys_are_merged(PlannerInfo *root, List *clauses, List *tlist);

/* PathKeys of SortGroupClauses: PostgreSQL's own, unless they are merged. */
extern List *gc_keys_of_clauses(PlannerInfo *root, List *clauses, List *tlist);

/* The keys of the level's ORDER BY; root->sort_pathkeys unless they are merged. */
extern List *gc_sort_keys(PlannerInfo *root);

#endif							/* GC_SETS_H */
