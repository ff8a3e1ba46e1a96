/*-------------------------------------------------------------------------
 *
 * execution_time.h
 *	  How long PostgreSQL's own path takes; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXECUTION_TIME_H
#define GC_EXECUTION_TIME_H

#include "postgres.h"

#include "nodes/pathnodes.h"

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

#endif							/* GC_EXECUTION_TIME_H */
