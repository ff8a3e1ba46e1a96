/*-------------------------------------------------------------------------
 *
 * evict.h
 *	  Forgetting cached relations, and making room by evicting columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EVICT_H
#define GC_EVICT_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* Drop all that is cached of a relation; returns bytes.  relid may be gone. */
extern Size gc_store_forget(Oid dbid, Oid relid);

/* Drop all that is cached of a database. */
extern Size gc_store_forget_database(Oid dbid);

/*
 * Drop least recently used columns until `bytes` more are free; never a column
 * used since `since`, nor one of a relation that is being loaded.  What is
 * dropped may still be guarded by running requests, so this waits for them, for
 * a bounded time and interruptibly.  The caller holds no guard and no LWLock.
 * False if there is less room than that in the end.
 */
extern bool gc_store_make_room(Size bytes, TimestampTz since);

/*
 * gc_arena_alloc() for columns: makes room in this manner, and leaves an eighth
 * of the arena to requests and results; NULL when there is no room.
 */
extern void *gc_store_alloc(Size size, TimestampTz since);

/* The same of what is free already: nothing is evicted or waited for. */
extern void *gc_store_alloc_now(Size size);

/* Bytes that columns can take at most, and now. */
extern Size gc_store_capacity(void);

/* Bytes that are free for columns, or taken by columns that were not used since then. */
extern Size gc_store_room(TimestampTz since);
extern Size gc_store_available(void);

/* Room for one more object; obj.size set, the rest zeroed up to header bytes. */
extern void *gc_object_alloc(Size size, Size header, TimestampTz since);

/* For an object that no one else has seen. */
extern void gc_object_free(void *object);

#endif							/* GC_EVICT_H */
