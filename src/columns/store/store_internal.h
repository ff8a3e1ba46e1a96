/*-------------------------------------------------------------------------
 *
 * store_internal.h
 *	  The table of cached relations, as store.c and evict.c see it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_STORE_INTERNAL_H
#define GC_STORE_INTERNAL_H

#include "postgres.h"

#include "utils/hsearch.h"

#include "store.h"

typedef struct GcRelTag
{
	Oid			dbid;
	Oid			relid;
} GcRelTag;

typedef struct GcRelEntry
{
	GcRelTag	tag;			/* hash key */
	GcRelKey	key;			/* the file that this is about */
	uint64		version;
	GcDirectory *dir;			/* NULL: nothing cached */
	bool		loading;
	pg_atomic_uint64 last_used;
	TimestampTz refreshed_at;
	TimestampTz versions_not_before;	/* no load of hot pages for their own sake */
	TimestampTz versions_taken_until;	/* a session is about to load them */
} GcRelEntry;

/* What was put together to a combined directory, as a hash, and its id. */
#define GC_STORE_COMBINATIONS	256

typedef struct GcStoredCombination
{
	uint64		hash[2];
	uint64		id;				/* 0: none */
} GcStoredCombination;

typedef struct GcStoreShared
{
	uint64		next_version;	/* under GC_LOCK_STORE */
	pg_atomic_uint64 evictions; /* columns evicted; written under GC_LOCK_STORE */
	pg_atomic_uint64 forgotten; /* directories that were taken out of entries; likewise */
	pg_atomic_uint64 next_id;
	GcChunkColumn *zeros;		/* gc_store_zeros(); NULL: not made yet; under GC_LOCK_STORE */
	uint32		next_combination;	/* to be replaced; under GC_LOCK_STORE, as these: */
	GcStoredCombination combinations[GC_STORE_COMBINATIONS];
} GcStoreShared;

extern GcStoreShared *gc_store_shared;
extern HTAB *gc_store_entries;

/* The relation's entry, under GC_LOCK_STORE; NULL: it has none. */
extern GcRelEntry *gc_store_entry(Oid dbid, Oid relid);

/*
 * Take the directory out of an entry, and the entry out of the table unless it
 * is being loaded.  The caller holds GC_LOCK_STORE exclusively, and has to retire
 * what the directory has.
 */
extern GcDirectory *gc_store_unlink(GcRelEntry *entry);

#endif							/* GC_STORE_INTERNAL_H */
