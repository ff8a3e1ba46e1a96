/*-------------------------------------------------------------------------
 *
 * append.h
 *	  Partitioned tables, inheritance trees and UNION ALL of tables as leaves; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_APPEND_H
#define GC_APPEND_H

#include "translate.h"

/*
 * The tables whose rows together are the relation's, if each is read through the column
 * cache.  NULL if it is something else.  Where it has children at all, *reason says why.  It is set, too, for the case
 * that kernels do not compute the columns.
 */
extern GcAppend *gc_append_make(PlannerInfo *root, RelOptInfo *rel, const char **reason);

/* A level below that is a UNION ALL with types of its own: is the relation one?  Returns its SELECTs' columns. */
extern bool gc_is_union(const RelOptInfo *rel);
extern List *gc_union_columns(PlannerInfo *subroot, Index relid, const SetOperationStmt *types);

/* Does the query level return a row for each that it reads, or some of these?  Its InitPlans are not looked at. */
extern bool gc_is_plain_query(PlannerInfo *subroot);

/* Expressions over a subquery's columns as expressions of the relations that it reads. */
extern List *gc_inline_columns(List *exprs, Index relid, List *tlist);

/* Vars: the relation's columns that its query level reads. */
extern List *gc_columns_read(RelOptInfo *rel);

/* Tuples of all tables. */
extern double gc_append_tuples(const GcAppend *append);

/*
 * A column of the relation: the Var itself if it is a column of each table, else an
 * expression of such columns.  NULL if it cannot be read.
 */
extern Expr *gc_append_expr(const GcAppend *append, Var *var);

/*
 * An expression of the input, column or condition, for the rows of each table; *relids: of which tables.  NIL: of
 * all the same.
 */
extern List *gc_append_choices(const GcAppend *append, const Expr *expr, List **relids);

/* Is the clause one of a single table's conditions? */
extern bool gc_append_has_filter(const GcAppend *append, const RestrictInfo *rinfo);

#endif							/* GC_APPEND_H */
