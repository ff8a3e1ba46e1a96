/*-------------------------------------------------------------------------
 *
 * cold_plan.h
 *	  A node of which no more than its kernels are wanted (exec/compile_ahead.c).
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLD_PLAN_H
#define GC_COLD_PLAN_H

#include "postgres.h"

#include "nodes/plannodes.h"

/*
 * The node without what its kernels do not depend on.  False: it needs what only the statement's execution can give, or
 * calls users' functions.  Of parameters, it may have the client's, and integers; or none.
 */
extern bool gc_cold_plan_bare(const CustomScan *scan, bool no_params, CustomScan *bare);

/* Leave the node for the loaders, if it is such a one (columns/load/cold_plans.h). */
extern void gc_cold_plan_leave(const CustomScan *scan);

#endif							/* GC_COLD_PLAN_H */
