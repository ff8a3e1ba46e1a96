/*-------------------------------------------------------------------------
 *
 * epoch.h
 *	  Safe reclamation of shared objects: readers hold a guard instead of a lock.
 *
 * Chunks, directories and dictionaries are immutable (dictionaries: append-
 * only) once published, and are found by following pointers without any lock.
 * A process that does so holds a guard: the global epoch, copied into a guard cell of
 * shared memory.  Replacing an object retires it with the epoch of that moment,
 * and its memory is given back once every guard in use is younger.
 *
 * There is one guard cell per process (loaders, views, eviction; nestable), and
 * one per request slot of the queue.  A slot's cell outlives the backend's interest
 * in the request.  The worker releases it when the device is done with the
 * memory.
 *
 * A guard may be held while waiting for the device, never while waiting for
 * memory, for a load or for a heavyweight lock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EPOCH_H
#define GC_EPOCH_H

#include "postgres.h"

/* First member of everything that can be retired; in the arena. */
typedef struct GcObject
{
	Size		size;			/* as given to gc_arena_alloc */
	uint64		retired_at;		/* epoch; 0 while live */
	struct GcObject *next_retired;
	uint64		region_id;		/* id of the device copy to drop, or 0 */
} GcObject;

extern void gc_epoch_shmem(int request_slots);

/* This process's guard.  Nestable.  Released by error cleanup and exit too. */
extern void gc_guard_enter(void);
extern void gc_guard_leave(void);
extern bool gc_guard_held(void);

/*
 * The guard of a request slot; set by the backend, cleared by the last owner.
 * Entered under a process guard, it covers all that the process guard covers.
 */
extern void gc_guard_enter_request(int slot);
extern void gc_guard_leave_request(int slot);

/* Hand an unlinked object over for reclamation. */
extern void gc_retire(GcObject *object);

/* Free retired objects that can be freed now.  Returns bytes given back to the arena. */
extern Size gc_reclaim(void);

/*
 * Arena memory, page-aligned, not zeroed, for which retired objects are freed if need be.  NULL when there is no such
 * run of free pages even so.  Evicts nothing.
 */
extern void *gc_arena_alloc(Size size);

/* Allocate for eviction, which may use the pages that are kept in reserve. */
extern void *gc_arena_alloc_reserved(Size size);

/* Bytes retired but still guarded. */
extern Size gc_retired_bytes(void);

/* Ids of the device copies of chunk columns: never reused, never 0. */
extern uint64 gc_new_region_id(void);

/*
 * Ids whose host copies have been freed, for the worker of a device to drop its copies.  Returns how many of at most
 * max were stored.  *overflow is set if ids were lost since the last call (the worker then drops all device copies).
 */
extern int	gc_take_dropped_regions(int device, uint64 *ids, int max, bool *overflow);

#endif							/* GC_EPOCH_H */
