/*-------------------------------------------------------------------------
 *
 * cold_plan.h
 *	  A node as the text that a loader gets to compile its kernels (columns/load/cold_plans.h).
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLD_PLAN_H
#define GC_COLD_PLAN_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* Leave the node for the loaders.  Not where it needs what only the statement can give, or calls users' functions. */
extern void gc_cold_plan_leave(const CustomScan *scan);

#endif							/* GC_COLD_PLAN_H */
