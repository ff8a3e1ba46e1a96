/*-------------------------------------------------------------------------
 *
 * finished_plan.h
 *	  What of a finished plan is offloaded; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FINISHED_PLAN_H
#define GC_FINISHED_PLAN_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* Have EXPLAIN show window functions of nodes of ours, and of what they fall back to, as functions (gc_printable). */
extern void gc_show_window_functions(PlannedStmt *stmt);

/* Is there a node of ours anywhere in this plan? */
extern bool gc_has_node(PlannedStmt *stmt);

/* Is there one, and does PostgreSQL itself read no table unless a node falls back? */
extern bool gc_is_fully_offloaded(PlannedStmt *stmt);

/* Cost of PostgreSQL's own plans of the nodes, together. */
extern Cost gc_fallback_cost(PlannedStmt *stmt);

/*
 * Instead of these nodes, a plan could have been taken that takes `ms`.  They are to wait for what it is worth to wait
 * for then.  But a fallback answers that is sooner by far.
 */
extern void gc_set_other_ms(PlannedStmt *stmt, double ms);

/* CustomScan of each node of ours. */
extern List *gc_scans_of(PlannedStmt *stmt);

/* GcPlan of each node of ours; copies. */
extern List *gc_nodes_of(PlannedStmt *stmt);

#endif							/* GC_FINISHED_PLAN_H */
