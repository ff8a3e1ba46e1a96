/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  Planner hooks, and why a statement was not offloaded.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_HOOKS_H
#define GC_PLAN_HOOKS_H

extern void gc_plan_install_hooks(void);

#endif							/* GC_PLAN_HOOKS_H */
