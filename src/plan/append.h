/*-------------------------------------------------------------------------
 *
 * append.h
 *	  Partitioned tables, inheritance trees and UNION ALL of tables as leaves; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_APPEND_H
#define GC_APPEND_H

#include "translate.h"

/*
 * The tables whose rows together are the relation's, if each is read through the column
 * cache.  NULL if it is something else.  Where it has children at all, *reason says why, or what it
 * is if kernels turn out not to compute what the columns are.
 */
extern GcAppend *gc_append_make(PlannerInfo *root, RelOptInfo *rel, const char **reason);

/* Tuples of all tables. */
extern double gc_append_tuples(const GcAppend *append);

/*
 * What a column of the relation is: the Var itself if it is a column of each table, else an
 * expression of such columns.  NULL if it cannot be read.
 */
extern Expr *gc_append_expr(const GcAppend *append, Var *var);

/* Is the clause one of a single table's conditions? */
extern bool gc_append_has_filter(const GcAppend *append, const RestrictInfo *rinfo);

#endif							/* GC_APPEND_H */
