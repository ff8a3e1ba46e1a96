/*-------------------------------------------------------------------------
 *
 * store.h
 *	  What the store offers to the other files of this room: the relation table
 *	  seen from a load job and from the views.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_STORE_H
#define GC_STORE_H

#include "columns.h"

/* Relations that can be cached at a time; the least recently used makes room. */
#define GC_STORE_MAX_RELATIONS	1024

extern void gc_rel_key(Relation rel, GcRelKey *key);

/*
 * As gc_directory(), and the version of the relation's entry: 0 if there is
 * none, else a number that changes whenever the directory is replaced or
 * dropped, and is never used again.  Needs a guard.
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
 * changed.  The caller retires what the new directory no longer has.
 */
extern bool gc_store_publish(const GcRelKey *key, uint64 version, GcDirectory *dir);

/* Bytes of a directory; and one made of that many, with an id of its own. */
extern Size gc_directory_size(uint32 nchunks, uint32 ncolumns);
extern void gc_directory_init(GcDirectory *dir, Size size, const GcRelKey *key,
							  uint32 nchunks, uint32 ncolumns);

/*
 * A relation found too large for the whole arena is not tried again for a
 * while: ncols of its columns would take `bytes`.  gc_store_too_large() returns
 * those bytes if that was found lately for no more than ncols columns, else 0.
 */
extern void gc_store_note_too_large(const GcRelKey *key, int ncols, Size bytes);
extern Size gc_store_too_large(const GcRelKey *key, int ncols);

/* True once per interval: may a background refresh be started now? */
extern bool gc_store_refresh_due(const GcRelKey *key);

/* All directories now published; palloc'd.  Needs a guard. */
extern GcDirectory **gc_store_list(int *n);

/* Is anything cached of this table, or of this database (relid 0)? */
extern bool gc_store_has(Oid dbid, Oid relid);

/* Room for one more object; obj.size set, the rest zeroed up to header bytes. */
extern void *gc_object_alloc(Size size, Size header, TimestampTz since);

/* For an object that no one else has seen. */
extern void gc_object_free(void *object);

/* Retire a column's state and its dictionary; their bytes (with a guard). */
extern Size gc_colstate_retire(GcColState *state);
extern Size gc_colstate_bytes(const GcColState *state);

#endif							/* GC_STORE_H */
