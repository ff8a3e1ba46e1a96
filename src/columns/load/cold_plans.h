/*-------------------------------------------------------------------------
 *
 * cold_plans.h
 *	  Nodes of statements that wait for columns: their kernels are compiled once the last of these is there.
 *
 * What kernels look like depends on the columns' ranges, so nobody can compile them before.  A session leaves the node's
 * plan here, and goes on.  A loader has it compiled after each load of its own, until no column is missing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLD_PLANS_H
#define GC_COLD_PLANS_H

#include "postgres.h"

extern Size gc_cold_plans_shmem_size(void);
extern void gc_cold_plans_shmem_init(void);

/* Keep a plan's text for this user; a few are kept for ten minutes, and none that is too long.  Before its loads are asked for. */
extern void gc_cold_plan_keep(const char *text);

/* Have the kernels of this text compiled.  False: columns are missing.  The executor's (exec/compile_ahead.c). */
typedef bool (*GcColdPlanCompile) (const char *text, Oid user);
extern void gc_cold_plans_compiler(GcColdPlanCompile compile);

/* Compile what is kept for this database.  In a loader, in a transaction with a snapshot. */
extern void gc_cold_plans_compile(void);

#endif							/* GC_COLD_PLANS_H */
