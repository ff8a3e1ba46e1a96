/*-------------------------------------------------------------------------
 *
 * groups.h
 *	  Aggregations of a query level (agg.c), how many groups there can be (few_values.c), and what later pipelines
 *	  read of these; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_GROUPS_H
#define GC_PLAN_GROUPS_H

#include "aggregates.h"

/*
 * Make expr a key of the level's groups.  Its number, also if it was one before; -1, with a
 * reason, if it cannot be one.
 */
extern int	gc_group_key(GcTranslation *tr, Node *expr);

/* A key that is an expression of the program; expr: the same in SQL, or NULL. */
extern int	gc_group_key_expr(GcTranslation *tr, int e, Node *expr);

/*
 * The groups of the level's streamed pipeline, as something that a later pipeline scans.  The
 * sink is an aggregate from here on.
 */
extern GcGroups *gc_groups_open(GcTranslation *tr);

/*
 * The rows of the level's streamed pipeline, likewise.  Its columns are outputs: gc_rows_column().  Nothing is over
 * them as it is over keys and aggregates.
 */
extern GcGroups *gc_rows_open(GcTranslation *tr);

/*
 * An expression of the level that the rows are of, as a column of them; GC_NO_EXPR, with a
 * reason, if it cannot be kept.
 */
extern int	gc_rows_column(GcTranslation *tr, GcGroups *rows, Expr *expr);

/*
 * The number of such an expression among what the rows have, and of one of the program, in the rows' pipeline.  It is
 * -1, with a reason, if it cannot be kept.
 */
extern int	gc_rows_output(GcTranslation *tr, GcGroups *rows, Expr *expr);
extern int	gc_rows_output_of(GcTranslation *tr, GcGroups *rows, int e);

/*
 * A pipeline over groups of the level, which everything is translated for from here on; false, with a
 * reason, if there are too many.
 */
extern bool gc_groups_stream(GcTranslation *tr, GcGroups *groups);

/* Groups or rows that one more pipeline scans. */
extern GcGroups *gc_groups_again(GcTranslation *tr, const GcGroups *groups);

/*
 * An expression over keys and aggregates, computed where the groups are scanned.  GC_NO_EXPR,
 * with a reason, if it cannot be.
 */
extern int	gc_groups_expr(GcTranslation *tr, GcGroups *groups, Expr *expr);

/* Columns that an aggregate of groups is made of. */
typedef struct GcSums
{
	int			count;
	int			sum;
	int			squares;		/* of a variance */
} GcSums;

/*
 * While expressions are over groups: a sum, average or variance of integers or numerics.  NULL, perhaps with a reason,
 * if it is none, or is not computed.
 */
extern const GcSqlAggregate *gc_groups_sums(GcTranslation *tr, const Aggref *agg, GcSums *sums);

/* While expressions are over groups: a key of theirs. */
extern int	gc_groups_key(GcTranslation *tr, int key);

/*
 * An accumulator of the level's groups.  If it is in parts, its argument is of the rows below the
 * groups that the level aggregates.  These have an accumulator, and the level's puts those together.
 */
extern int	gc_accumulator(GcTranslation *tr, bool in_parts, GcAggFn fn, int arg);

/*
 * An accumulator of a numeric key's display scales: GC_AGG_MAX or GC_AGG_MIN.  Groups that are put together have no
 * scales of their own, so it is in parts there.
 */
extern int	gc_key_scale(GcTranslation *tr, int key, GcAggFn fn);

/* An accumulator of a precise sum in parts: the sum of the higher (0) or lower (1) halves of the parts. */
extern int	gc_precise_part(GcTranslation *tr, int arg, int factor, int word);

/*
 * The argument of an aggregate, NULL where its FILTER is not true; GC_NO_EXPR without one.  Of an
 * aggregate in parts it is an expression of the rows below the groups.
 */
extern int	gc_agg_argument(GcTranslation *tr, const Aggref *agg);

/*
 * The two arguments of an aggregate of pairs, as gc_agg_argument()'s.  Both are NULL where the pair does not
 * count.
 */
extern bool gc_agg_pair(GcTranslation *tr, const Aggref *agg, int *y, int *x);

/* The argument of aggregates with DISTINCT. */
typedef struct GcDistinct
{
	Node	   *argument;
	Expr	   *filter;			/* FILTER, or NULL */
	bool		shown;			/* its values go into results: not only their number */
	int			key;			/* of the first level's groups */
} GcDistinct;

/*
 * Arguments of a query level's aggregates that take each value once: GcDistinct.  *refusal says
 * why they cannot be computed, or is NULL.
 */
extern List *gc_distinct_values(PlannerInfo *root, const char **refusal);

/*
 * Group the level's rows by the grouping expressions, if they are no keys yet, and these values.  The level's streamed
 * pipeline goes over these groups from here on, and so do expressions.  False, with a reason, if
 * that cannot be.
 */
extern bool gc_distinct_open(GcTranslation *tr, List *group_exprs, List *values);

/* Likewise without such values: all of the level's aggregates are in parts. */
extern bool gc_parts_open(GcTranslation *tr, List *group_exprs);

/*
 * The rows of the level's streamed pipeline, as gc_rows_open() has them, with the level's windows over them.
 * Expressions of the level, with window functions, are gc_groups_expr()'s.
 */
extern GcGroups *gc_windowed_open(GcTranslation *tr);

/*
 * Conditions that PostgreSQL tests within a level's windows, as no later row of a partition meets
 * them; they are of the level.
 */
extern List *gc_run_conditions(PlannerInfo *root);

/* Do the grouping columns, in every grouping set, have the primary key of this column's table among them? */
extern bool gc_groups_determine(PlannerInfo *root, List *group_exprs, Node *node);

/* The groups of a pipeline, by its keys; infinite if that is not known. */
extern double gc_most_groups(const GcTranslation *tr, int pipeline);

/* Has the query aggregates, or grouping, that are never offloaded? */
extern bool gc_aggregates_refused(PlannerInfo *root);

/*
 * Have what the level's groups are made of, if that is not its rows.  It is finer groups, for grouping sets and for
 * aggregates that take each value once.  With sets, their number is the level's first key.  False, with a reason, if
 * that cannot be.
 */
extern bool gc_open_finer_groups(GcTranslation *tr, List *group_exprs);

/* The sink of the main pipeline; false, with tr->reason, if it cannot be. */
extern bool gc_translate_aggregate(GcTranslation *tr, PathTarget *target, List *having);
extern bool gc_translate_distinct(GcTranslation *tr, PathTarget *target);
extern bool gc_translate_rows(GcTranslation *tr, List *exprs);

/* Translate the parts of expressions above windows: window functions, aggregates, grouping columns, columns. */
extern bool gc_translate_parts(GcTranslation *tr, List *exprs);

#endif							/* GC_PLAN_GROUPS_H */
