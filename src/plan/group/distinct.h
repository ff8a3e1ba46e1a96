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

#include "../base/translate.h"

/* What aggregates with DISTINCT are of. */
typedef struct GcDistinct
{
	Node	   *argument;
	Expr	   *filter;			/* FILTER, or NULL */
	bool		shown;			/* its values go into results: not only their number */
	int			key;			/* of the first level's groups */
} GcDistinct;

/* Does it make a difference that the aggregate takes each value once? */
extern bool gc_distinct_matters(const Aggref *agg);

/*
 * What the aggregates of a query level that take each value once are of: GcDistinct.  *refusal says
 * why they cannot be computed, or is NULL.
 */
extern List *gc_distinct_values(PlannerInfo *root, const char **refusal);

/*
 * Group the level's rows by the grouping expressions, if they are no keys yet, and these values.  The level's streamed
 * pipeline goes over these groups from here on, and so do expressions.  False, with a reason, if
 * that cannot be.
 */
extern bool gc_distinct_open(GcTranslation *tr, List *group_exprs, List *values);

/* While expressions are over these groups: the value that an aggregate takes once. */
extern int	gc_distinct_value(GcTranslation *tr, const Aggref *agg);

/* An expression in round n of a row, and NULL in others; without an expression, true. */
extern int	gc_distinct_round(GcTranslation *tr, int expr, int n);

#endif							/* GC_DISTINCT_H */
