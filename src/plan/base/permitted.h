/*-------------------------------------------------------------------------
 *
 * permitted.h
 *	  Functions that the user must be permitted to call, as the device computes them.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PERMITTED_H
#define GC_PERMITTED_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Oids of all functions and aggregates that expressions of a query level call, and of subqueries in its FROM.
 * Those of operators are among them.  Once the level is planned.
 */
extern List *gc_functions_called(PlannerInfo *root);

/* Is it sure that the user may call all of these? */
extern bool gc_are_permitted(const List *functions);

/* Is that sure of all that a query calls, which is not planned yet? */
extern bool gc_query_is_permitted(Query *query);

#endif							/* GC_PERMITTED_H */
