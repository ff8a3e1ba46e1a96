/*-------------------------------------------------------------------------
 *
 * cold_plans.h
 *	  Nodes of statements that wait for columns: their kernels are compiled once the last of these is there.
 *
 * Kernels' texts depend on the columns' ranges, so nobody can compile them before.  A session leaves the node's plan
 * here, and goes on.  A loader has it compiled after each load of its own, until no column is missing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLD_PLANS_H
#define GC_COLD_PLANS_H

#include "postgres.h"

extern void gc_cold_plans_shmem(void);

/*
 * Keep a plan's text for this user, before its loads are asked for.  A few are kept for ten minutes, and none that is
 * too long.  Until then, each load of columns looks whether the plan still lacks some.
 */
extern void gc_cold_plan_keep(const char *text);

/* Have the kernels of this text compiled.  False: columns are missing.  The executor's (exec/compile_ahead.c). */
typedef bool (*GcColdPlanCompile) (const char *text, Oid user);
extern void gc_cold_plans_compiler(GcColdPlanCompile compile);

/*
 * Compile the next plan, from *place on, that is kept for this database; false if there is none.  In a loader, in a
 * transaction of its own with a snapshot: the plan's tables stay locked until its end.
 */
extern bool gc_cold_plans_compile(int *place);

#endif							/* GC_COLD_PLANS_H */
