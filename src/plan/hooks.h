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

/* Why the statement of this text was not offloaded, once it is planned; empty if it was. */
extern void gc_explained_refusal(const char *refusal, const char *text);

extern void gc_explained_install(void);

#endif							/* GC_PLAN_HOOKS_H */
