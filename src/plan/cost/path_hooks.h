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

extern void gc_path_hooks_install(void);

#endif							/* GC_PATH_HOOKS_H */
