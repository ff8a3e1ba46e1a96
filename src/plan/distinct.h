/*-------------------------------------------------------------------------
 *
 * distinct.h
 *	  Aggregates with DISTINCT, by two levels of groups; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DISTINCT_H
#define GC_DISTINCT_H

#include "translate.h"

/*
 * What all aggregates with DISTINCT of a query level are of, if that is one expression; NULL if
 * there are none.  *refusal says why they cannot be computed, or is NULL.
 */
extern Node *gc_distinct_argument(PlannerInfo *root, const char **refusal);

/*
 * Group the level's rows by the grouping expressions and the argument; the main pipeline goes over
 * these groups from here on, and so do expressions.  False, with a reason, if that cannot be.
 */
extern bool gc_distinct_open(GcTranslation *tr, List *group_exprs, Node *argument);

#endif							/* GC_DISTINCT_H */
