/*-------------------------------------------------------------------------
 *
 * display.h
 *	  Clauses that EXPLAIN prints; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_DISPLAY_H
#define GC_PLAN_DISPLAY_H

#include "translate.h"

/* A clause of the query level that is being translated; `what`: GC_DISPLAY_*. */
extern void gc_build_display(GcTranslation *tr, int pipeline, int what, Expr *expr);

/* One of another level. */
extern void gc_build_display_of(GcTranslation *tr, PlannerInfo *root, int pipeline, int what, Expr *expr);

/*
 * A copy that EXPLAIN can print: the planner's own nodes are left out.  From 18 on, window functions are calls of
 * functions, as EXPLAIN fails for a WindowFunc without a WindowAgg of PostgreSQL's.
 */
extern Node *gc_printable(Node *expr);

/* Entries of custom_private for clauses of lower levels (plan.h); pipelines: their numbers in the program. */
extern List *gc_lower_display(const GcTranslation *tr, const int *pipelines);

/*
 * custom_exprs for these expressions, and a copy of custom_scan_tlist, with Vars that agree on the outer joins that may
 * have made them NULL.
 */
extern List *gc_settle_nulling(List **scan_tlist, List *exprs);

#endif							/* GC_PLAN_DISPLAY_H */
