/*-------------------------------------------------------------------------
 *
 * cached_plans.h
 *	  Having plans that a session keeps made again.
 *
 * In backends: the planner, and executions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CACHED_PLANS_H
#define GC_CACHED_PLANS_H

/* A plan that may be kept was made for want of columns or kernels: those that are kept are made again after a while. */
extern void gc_cached_plans_later(void);

/* A statement is planned, and its plan may be kept. */
extern void gc_cached_plans_begin(void);

/*
 * A node fell back for want of columns, kernels or a device, or under SERIALIZABLE.  Plans that are kept are made
 * again at their next use.
 */
extern void gc_cached_plans_failed(void);

/*
 * A plan that may be kept is without nodes, since the transaction is SERIALIZABLE: another
 * transaction has it made again.
 */
extern void gc_cached_plans_tracked(void);

extern void gc_cached_plans_install(void);

#endif							/* GC_CACHED_PLANS_H */
