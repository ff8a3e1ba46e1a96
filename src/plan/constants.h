/*-------------------------------------------------------------------------
 *
 * constants.h
 *	  Constants that a query's columns are compared with, as parameters; private to plan/.
 *
 * Planner, and the start of executions, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_CONSTANTS_H
#define GC_PLAN_CONSTANTS_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/* The constants that were taken out of a query, in order. */
typedef struct GcConstants
{
	List	   *values;			/* Const */
	List	   *places;			/* of List: arguments of a comparison */
	List	   *arguments;		/* what was there: expressions */
	List	   *which;			/* which argument, by number */
} GcConstants;

/*
 * Puts a parameter ($1 and so on) in the place of each argument of a comparison, in WHERE and ON, that is a constant, or is
 * computed from constants alone in a way that cannot fail.  The query has no parameters of its own.  No user's function runs.
 */
extern void gc_constants_take(Query *query, GcConstants *taken);

/* The query is again what it was. */
extern void gc_constants_put_back(const GcConstants *taken);

/* Types of the parameters, palloc'd. */
extern Oid *gc_constants_types(const GcConstants *taken);

/*
 * Has executions of this statement take these values for its parameters.  Its range table is copied; the values are not.
 */
extern void gc_constants_give(PlannedStmt *stmt, const GcConstants *taken);

extern void gc_constants_install(void);

#endif							/* GC_PLAN_CONSTANTS_H */
