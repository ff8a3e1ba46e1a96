/*-------------------------------------------------------------------------
 *
 * aggregates.h
 *	  SQL's aggregates: which can be computed, and of what; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_AGGREGATES_H
#define GC_PLAN_AGGREGATES_H

#include "../base/translate.h"

/* How an aggregate of SQL is computed. */
typedef enum GcAggregation
{
	GC_AGGREGATE_COUNT,
	GC_AGGREGATE_SUM,
	GC_AGGREGATE_AVG,
	GC_AGGREGATE_PLAIN,			/* the value of one accumulator, of the argument's type */
	GC_AGGREGATE_VARIANCE,
	GC_AGGREGATE_PAIRS,			/* of two arguments: a count */
	GC_AGGREGATE_REGRESSION		/* and what is made of PostgreSQL's state for them */
} GcAggregation;

typedef struct GcSqlAggregate
{
	const char *name;
	GcAggregation how;
	GcAggFn		fn;				/* GC_AGGREGATE_PLAIN: the accumulator */
	Oid			finalfn;		/* of a variance: PostgreSQL's function for numeric */
	Oid			floatfn;		/* of a variance or regression: for floats */
} GcSqlAggregate;

/* Has the aggregate two arguments, and takes only rows in which neither is NULL? */
static inline bool
gc_aggregates_pairs(const GcSqlAggregate *sql)
{
	return sql->how == GC_AGGREGATE_PAIRS || sql->how == GC_AGGREGATE_REGRESSION;
}

/* The aggregate of that name; NULL if it is not supported. */
extern const GcSqlAggregate *gc_sql_aggregate(const char *name);

/*
 * The lookup table of ranks by which a minimum or maximum of texts is found: their order is the
 * collation's.  Sets a reason where there is none.
 */
extern GcPlanLut gc_rank_table(GcTranslation *tr, const Aggref *agg, int arg);

/* Does it make a difference that the aggregate takes each value once? */
extern bool gc_distinct_matters(const Aggref *agg);

/*
 * Is the level's aggregate computed in parts?  It is one over groups, beside others that take each
 * value once (groups.c).
 */
extern bool gc_agg_in_parts(const GcTranslation *tr, const Aggref *agg);

/* The reason against an aggregate, whatever its arguments; NULL if there is none. */
extern const char *gc_aggregate_refusal(const Aggref *agg, const char *name);

/* Do this numeric expression's values differ in display scale from row to row? */
extern bool gc_scale_varies(GcTranslation *tr, int e);

/* May they differ, if columns may have values of several scales whose types do not say otherwise? */
extern bool gc_scale_may_vary(GcTranslation *tr, int e);

/* Is it known that all of a number's values have so few digits behind the point that a small variance is not likely? */
extern bool gc_has_few_decimals(GcTranslation *tr, int e);

/* Is it certain that they do, as arms of UNION ALL differ? */
extern bool gc_scales_differ(GcTranslation *tr, int e);

#endif							/* GC_PLAN_AGGREGATES_H */
