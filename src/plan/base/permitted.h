/*-------------------------------------------------------------------------
 *
 * permitted.h
 *	  Functions that the user must be permitted to call, as the device computes them.
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

/*
 * May a query be planned as the rewritten one, neither of which is planned yet?  The user must be permitted to call all
 * functions of this one, and everybody those that it calls no more, *lost.  PostgreSQL asks of no plan for whom it was
 * made.  Where another extension is told of calls, both call the same.
 */
extern bool gc_rewriting_is_permitted(Query *query, Query *rewritten, List **lost);

/* PlanInvalItems of the functions that such a plan does not call any more: their changes end its validity. */
extern List *gc_rewriting_depends_on(const List *lost);

#endif							/* GC_PERMITTED_H */
