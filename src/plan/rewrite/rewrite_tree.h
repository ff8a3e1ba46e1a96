/*-------------------------------------------------------------------------
 *
 * rewrite_tree.h
 *	  Query trees before planning: levels, expressions behind Vars, conjuncts; what raises no error (cannot_raise.c),
 *	  and selects one row (unique_key.c).  Private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_TREE_H
#define GC_REWRITE_TREE_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"

#include "../base/make.h"

/* A query, and those that it stands in; on the stack of a walk. */
typedef struct GcQueryLevel
{
	Query	   *query;
	const struct GcQueryLevel *parent;
	ParamListInfo params;		/* of the statement; at the uppermost level only */
} GcQueryLevel;

/* The CTE that a range table entry of this level names, and the level that defines it; NULL if it is not found. */
extern CommonTableExpr *gc_level_cte(const GcQueryLevel *level, const RangeTblEntry *rte, const GcQueryLevel **at);

/*
 * The expression behind a Var of this level: an output of a subquery or CTE, or the expression of a join's column.
 * *inner becomes the level of that expression; a subquery's is made in *room.  NULL if there is nothing behind it, or
 * no single expression.
 */
extern Node *gc_level_resolve(const GcQueryLevel *level, const Var *var, GcQueryLevel *room,
							  const GcQueryLevel **inner);

/* A parameter's value as a constant, if the plan is for this value only; else NULL. */
extern Const *gc_level_param(const GcQueryLevel *level, const Param *param);

/* The entries of the range table whose columns an expression refers to. */
extern Bitmapset *gc_relations_of(Node *node);

/* Does it refer to columns or aggregates of the query levels above the one that it belongs to? */
extern bool gc_refers_above(Node *node);

/* Does a whole query refer to such? */
extern bool gc_query_refers_above(Query *query);

/* Does a query read CTEs of the levels above it?  A copy would be one reference more than is counted. */
extern bool gc_reads_outer_cte(Query *query);

/* The conditions of a WHERE clause, whose AND may be nested, as a list. */
extern List *gc_conjuncts(Node *quals);

/* Conjuncts as a condition: NULL for none. */
extern Node *gc_quals(List *conjuncts);

/*
 * Take the conditions of WHERE, and of inner joins that no outer join contains, out of
 * the join tree.  Whoever calls gives them back to WHERE, where they mean the same.
 */
extern List *gc_take_conjuncts(Query *query);

/* Conjuncts, left where they are. */
extern List *gc_list_conjuncts(Query *query);

/* These and the conditions of outer joins. */
extern List *gc_list_conditions(Query *query);

/* Are all its rows in the result of these joins, no outer join having made some of them up? */
extern bool gc_is_inner(Query *query, int rti);

/* Add a subquery to the range table; returns its index. */
extern int	gc_add_subquery(Query *query, Query *subquery, const char *name);

/* Add the range table entry of an outer join that lists no columns; returns its index. */
extern int	gc_add_left_join(Query *query);

/* A Var for output `resno` of the subquery that is entry `rti` of the range table. */
extern Var *gc_output_var(Query *query, int rti, int resno);

/* SELECT * FROM (query) AS name, with the query one level further down. */
extern Query *gc_select_all(Query *query, const char *name);

/*
 * May a query become one that reads the present one as a subquery?  Not with volatile or set-returning functions, or a
 * subquery in LIMIT.
 */
extern bool gc_may_become(const Query *query);

/*
 * Have a query become another one, which reads the present one as a subquery.  Order and limit are the other one's
 * then.
 */
extern void gc_become(Query *query, Query *above);

/* An aggregate of a query level before planning; without an argument: of rows, as count(*). */
extern Aggref *gc_make_aggregate(Oid function, Oid type, Node *arg);

/* One more window of a query, which is not among its windows yet, with a type's default frame. */
extern WindowClause *gc_make_window(const Query *query, List *partition, List *order);

/* A window function before planning: row_number(), or an aggregate of `arg`. */
extern WindowFunc *gc_make_window_function(const WindowClause *window, Oid function, Oid type, Expr *arg);

/* number = 1, of bigint. */
extern Expr *gc_make_is_one(Expr *number);

/*
 * Does this query, for one row of the query around it, select at most one row of a
 * table?  So it does if its conditions give each column of a unique index one value.
 */
extern bool gc_returns_one_row(Query *query);

/*
 * Can this expression of a query level be evaluated over any rows, in any order and any
 * number of times, without an error?  False: this is not known.
 */
extern bool gc_cannot_raise(Node *node, const GcQueryLevel *level);

/* Can a query that stands in that level raise none, if its rows repeat, too? */
extern bool gc_query_cannot_raise(Query *query, const GcQueryLevel *parent);

/* Can those conditions of a level raise none that other joins may cause to be evaluated for more rows? */
extern bool gc_joins_cannot_raise(List *conjuncts, const GcQueryLevel *level);

#endif							/* GC_REWRITE_TREE_H */
