/*-------------------------------------------------------------------------
 *
 * invalidation.h
 *	  Which tables have changed since something was remembered of them; private to plan/.
 *
 * Planner, in backends; each backend has its own memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_INVALIDATION_H
#define GC_INVALIDATION_H

#include "postgres.h"

/*
 * Something is to be remembered of these tables (0: none): from now on, their changes are known.  Returns the present
 * moment, to be kept with it.
 */
extern uint64 gc_invalidation_watch(const Oid *tables, int ntables);

/*
 * Has one of these tables been invalidated since then, or all of them?  If not, *then becomes the present moment: the
 * next question is about changes since this one.
 */
extern bool gc_invalidated_since(uint64 *then, const Oid *tables, int ntables);

/* Has any table been invalidated since then? */
extern bool gc_any_invalidated_since(uint64 then);

extern void gc_invalidation_install(void);

#endif							/* GC_INVALIDATION_H */
