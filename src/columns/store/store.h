/*-------------------------------------------------------------------------
 *
 * store.h
 *	  The table of cached relations: relation -> directory; forgetting relations, and room by evicting columns.
 *	  Tables and databases that are dropped (ddl.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_STORE_H
#define GC_STORE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/relcache.h"

#include "columns.h"

/* Relations that can be cached at a time; the least recently used makes room. */
#define GC_STORE_MAX_RELATIONS	1024

extern void gc_store_shmem(void);

extern void gc_rel_key(Relation rel, GcRelKey *key);

/* Current directory of the relation's current file, or NULL.  Needs a guard. */
extern GcDirectory *gc_directory(Relation rel);

/*
 * As gc_directory(), and the version of the relation's entry.  It is 0 if there is none.  Else it changes whenever the
 * directory is replaced or dropped, and is never used again.  Needs a guard.
 */
extern GcDirectory *gc_store_get(Relation rel, uint64 *version);

/*
 * Begin to load a relation whose entry still has this version.  While loading,
 * no column of it is evicted; forgetting it changes the version and so voids
 * the load.  *version becomes that of the entry, which is made if need be.
 * False if the version has changed or another load is under way.
 */
extern bool gc_store_begin_load(const GcRelKey *key, uint64 *version);
extern void gc_store_end_load(const GcRelKey *key);

/* Is this still the relation's version? */
extern bool gc_store_is_current(const GcRelKey *key, uint64 version);

/*
 * Replace the directory of a relation being loaded; false if its version has
 * changed.  The caller retires chunks and dictionaries that the new directory lacks.
 */
extern bool gc_store_publish(const GcRelKey *key, uint64 version, GcDirectory *dir);

/* An id for a new directory. */
extern uint64 gc_store_new_id(void);

/*
 * A cell of zeros for as many rows as a chunk can have, one for the server; NULL: there is no
 * room.  (Columns of combined directories are made of it.)
 */
extern const GcChunkColumn *gc_store_zeros(void);

/*
 * The id of a combined directory, of whose parts this is a hash: equal hashes have equal ids while they are remembered.
 */
extern uint64 gc_store_combined_id(const uint64 hash[2]);

/* True once per interval: may a background refresh be started now? */
extern bool gc_store_refresh_due(const GcRelKey *key);

/*
 * May hot pages be loaded now?  True for one session at a time, unless `many`; it is to end its load
 * by gc_store_put_off_versions().  That puts off the next load for so long, which may be 0.
 */
extern bool gc_store_versions_due(const GcRelKey *key, bool many);
extern void gc_store_put_off_versions(const GcRelKey *key, double ms);

/* All directories now published; palloc'd.  Needs a guard. */
extern GcDirectory **gc_store_list(int *n);

/* Is this the published directory of its table? */
extern bool gc_store_has_directory(const GcDirectory *dir);

/* A number that grows whenever columns are dropped.  A new version of a directory has those of the one before. */
extern uint64 gc_store_losses(void);

/* Is anything cached of this table, or of this database (relid 0)? */
extern bool gc_store_has(Oid dbid, Oid relid);

/* Drop all that is cached of a relation; returns bytes.  relid may be gone. */
extern Size gc_store_forget(Oid dbid, Oid relid);

/* Drop all that is cached of a database. */
extern Size gc_store_forget_database(Oid dbid);

/*
 * Drop least recently used columns until `bytes` more are free; never a column
 * used since `since`, nor one of a relation that is being loaded.  Dropped columns may still be guarded by running
 * requests, so this waits for them, for a bounded time and interruptibly.  The caller holds no guard and no LWLock.
 * False if there is less room than that in the end.
 */
extern bool gc_store_make_room(Size bytes, TimestampTz since);

/*
 * gc_arena_alloc() for columns: makes room in this manner, and leaves an eighth
 * of the arena to requests and results; NULL when there is no room.  Memory that does not fit the arena lies in the
 * mapped file.
 */
extern void *gc_store_alloc(Size size, TimestampTz since);

/* Allocate from free memory: nothing is evicted or waited for. */
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

/* Forget the cached columns of databases, and of tables of this one, that are gone.  In a transaction. */
extern void gc_forget_dropped(void);

/* Forget dropped tables and databases once their transaction has committed. */
extern void gc_columns_install_hooks(void);

/* Has another extension such a hook? */
extern bool gc_others_watch_objects(void);

#endif							/* GC_STORE_H */
