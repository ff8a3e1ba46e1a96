/*-------------------------------------------------------------------------
 *
 * dates.h
 *	  Expressions of a timestamp that depend on its date alone; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DATES_H
#define GC_DATES_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* Is an expression, of one Var of type timestamp or timestamptz, the same for all values of a day? */
extern bool gc_depends_on_date(Expr *expr);

/*
 * A copy without those calls of to_char(timestamp, text) that no setting has an influence on, though PostgreSQL
 * calls the function stable.  What they are of is in their place.
 */
extern Node *gc_without_prints(Expr *expr);

#endif							/* GC_DATES_H */
