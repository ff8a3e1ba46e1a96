/*-------------------------------------------------------------------------
 *
 * make.h
 *	  SQL expressions that the planner writes itself; private to plan/.
 *
 * Planner, in backends.  Expressions are made in the current memory context, of nodes that they share with the caller.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MAKE_H
#define GC_MAKE_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* A constant of type int8. */
extern Expr *gc_make_int8(int64 value);

/* left OP right, of an operator without a collation that returns this type. */
extern Expr *gc_make_operation(Oid operator, Oid type, Expr *left, Expr *right);

/* CASE WHEN condition THEN value ELSE otherwise END; otherwise: NULL stands for SQL's NULL. */
extern Expr *gc_make_case(Expr *condition, Expr *value, Expr *otherwise);

#endif							/* GC_MAKE_H */
