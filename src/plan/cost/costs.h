/*-------------------------------------------------------------------------
 *
 * costs.h
 *	  What paths of ours cost, and how long PostgreSQL's own take (execution_time.c); private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COSTS_H
#define GC_COSTS_H

#include "../base/translate.h"

/* A translation's costs.  Times are in units of cost that the CPU takes. */
typedef struct GcCosts
{
	Cost		device;			/* until the device has its result */
	Cost		row;			/* to decode a row of it */
	double		scale;			/* what PostgreSQL counts for a unit of its own path's time */
} GcCosts;

/* own: the path that the node's is compared with. */
extern GcCosts gc_costs(GcTranslation *tr, Path *own);

/* Estimates of PostgreSQL's that are guesses, as values of parameters are not known (guesses.c): */

/*
 * Is a node that takes `least` clearly faster than a path of PostgreSQL's for some values of parameters?  False where
 * nothing is guessed.
 */
extern bool gc_may_take_longer(PlannerInfo *root, Path *path, Cost least);

/*
 * May either of PostgreSQL's own path and the node be faster, by the values of parameters?  The plan then has what the
 * executor needs to tell.
 */
extern bool gc_decided_by_values(GcTranslation *tr, Path *own, const GcCosts *costs, double rows);

/* A unit of cost that is spent on the CPU, in milliseconds; measured (bench/mixed/README.md). */
#define GC_UNIT_MS	0.007

/*
 * The time that a path takes while its tables are in memory, in units of cost that the CPU takes.  One of ours takes
 * what its costs were before they were put in proportion to PostgreSQL's.
 */
extern Cost gc_execution_time(PlannerInfo *root, Path *path);

/* The part of it that is for groups of the path that cannot be there: `fewer` is the part of them that can. */
extern Cost gc_groups_excess(const Path *path, double fewer);

/* How much longer a path takes than one that it is made of. */
extern Cost gc_time_above(PlannerInfo *root, Path *path, Path *below);

/* The time of the level's InitPlans and CTEs, which are in no path: each is executed once at most. */
extern Cost gc_init_plans_time(PlannerInfo *root);

#endif							/* GC_COSTS_H */
