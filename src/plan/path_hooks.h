/*-------------------------------------------------------------------------
 *
 * path_hooks.h
 *	  Hooks for relations: where our paths are offered; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PATH_HOOKS_H
#define GC_PATH_HOOKS_H

/*
 * May another extension have its say in plans?  What it goes by is not known, say hints in a comment, or indexes that are
 * only thought of.
 */
extern bool gc_others_plan(void);

extern void gc_path_hooks_install(void);

#endif							/* GC_PATH_HOOKS_H */
