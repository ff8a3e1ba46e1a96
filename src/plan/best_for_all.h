/*-------------------------------------------------------------------------
 *
 * best_for_all.h
 *	  Is a plan with parameters the best one whatever their values are?  Private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BEST_FOR_ALL_H
#define GC_BEST_FOR_ALL_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* The caller has the plan's tables locked. */
extern bool gc_is_best_for_all(PlannedStmt *stmt);

#endif							/* GC_BEST_FOR_ALL_H */
