/*-------------------------------------------------------------------------
 *
 * store.c
 *	  The table of cached relations: relation -> directory.
 *
 * Runs in any process that has a PGPROC.  The table and the directories that it
 * points to belong to everyone.  A directory is replaced as a whole, under
 * GC_LOCK_STORE, and what the new one no longer has is retired.
 *
 * Locks, outermost first: GC_LOCK_STORE, a dictionary's, GC_LOCK_RETIRE,
 * GC_LOCK_ARENA.  Nothing here reads a relation or takes a heavyweight lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/hsearch.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "arena.h"
#include "columns.h"
#include "directory.h"
#include "epoch.h"
#include "lock.h"
#include "store.h"
#include "store_internal.h"
#include "../../compat.h"
#include "../../settings.h"

/* Least time between two refreshes. */
#define REFRESH_MS			5000

/* A load of hot pages is counted on to end within this time; a guess. */
#define VERSIONS_LOAD_MS	100

/* Kernels read columns by vectors. */
#define GC_ZEROS_ALIGN		256

GcStoreShared *gc_store_shared = NULL;
HTAB	   *gc_store_entries = NULL;

Size
gc_store_shmem_size(void)
{
	return add_size(MAXALIGN(sizeof(GcStoreShared)),
					hash_estimate_size(GC_STORE_MAX_RELATIONS, sizeof(GcRelEntry)));
}

void
gc_store_shmem_init(void)
{
	HASHCTL		ctl;
	bool		found;

	gc_store_shared = ShmemInitStruct("gpuconc store", sizeof(GcStoreShared), &found);
	if (!found)
	{
		gc_store_shared->next_version = 1;
		pg_atomic_init_u64(&gc_store_shared->evictions, 0);
		pg_atomic_init_u64(&gc_store_shared->forgotten, 0);
		pg_atomic_init_u64(&gc_store_shared->next_id, 1);
		gc_store_shared->next_combination = 0;
		gc_store_shared->zeros = NULL;
		memset(gc_store_shared->combinations, 0, sizeof(gc_store_shared->combinations));
	}

	ctl.keysize = sizeof(GcRelTag);
	ctl.entrysize = sizeof(GcRelEntry);
	gc_store_entries = ShmemInitHash("gpuconc cached relations",
							GC_STORE_MAX_RELATIONS, GC_STORE_MAX_RELATIONS,
							&ctl, HASH_ELEM | HASH_BLOBS | HASH_FIXED_SIZE);
}

uint64
gc_store_new_id(void)
{
	return pg_atomic_fetch_add_u64(&gc_store_shared->next_id, 1);
}

static uint64
find_combination(const uint64 hash[2])
{
	for (int i = 0; i < GC_STORE_COMBINATIONS; i++)
	{
		const GcStoredCombination *c = &gc_store_shared->combinations[i];

		if (c->id != 0 && c->hash[0] == hash[0] && c->hash[1] == hash[1])
			return c->id;
	}
	return 0;
}

uint64
gc_store_combined_id(const uint64 hash[2])
{
	uint64		id;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	id = find_combination(hash);
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	if (id != 0)
		return id;
	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	id = find_combination(hash);
	if (id == 0)
	{
		uint32		at = gc_store_shared->next_combination++ % GC_STORE_COMBINATIONS;

		id = gc_store_new_id();
		gc_store_shared->combinations[at] = (GcStoredCombination) {{hash[0], hash[1]}, id};
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return id;
}

const GcChunkColumn *
gc_store_zeros(void)
{
	const Size	head = TYPEALIGN(GC_ZEROS_ALIGN, sizeof(GcChunkColumn));
	const Size	bytes = TYPEALIGN(GC_PAD_ROWS, (Size) gc_chunk_pages * MaxHeapTuplesPerPage);
	GcChunkColumn *zeros = *(GcChunkColumn *volatile *) &gc_store_shared->zeros;

	pg_read_barrier();
	if (zeros)
		return zeros;
	zeros = gc_arena_alloc(head + bytes);
	if (zeros == NULL)
		return NULL;
	memset(zeros, 0, head + bytes);
	zeros->obj.size = head + bytes;
	zeros->obj.region_id = gc_new_region_id();
	zeros->desc = (GcCol) {.data = (u64) zeros + head,.width = 1};
	zeros->data_bytes = bytes;
	zeros->span = GC_NO_SPAN;
	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	if (gc_store_shared->zeros == NULL)
	{
		pg_write_barrier();
		gc_store_shared->zeros = zeros;
		zeros = NULL;
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	/* Another session was faster. */
	if (zeros)
		gc_arena_free(zeros, zeros->obj.size);
	return gc_store_shared->zeros;
}

void
gc_rel_key(Relation rel, GcRelKey *key)
{
	key->dbid = rel->rd_rel->relisshared ? InvalidOid : MyDatabaseId;
	key->relid = RelationGetRelid(rel);
	key->spcid = GC_REL_SPC(rel);
	key->relnumber = GC_REL_NUMBER(rel);
}

static bool
same_file(const GcRelKey *a, const GcRelKey *b)
{
	return memcmp(a, b, sizeof(GcRelKey)) == 0;
}

GcRelEntry *
gc_store_entry(Oid dbid, Oid relid)
{
	GcRelTag	tag = {dbid, relid};

	return hash_search(gc_store_entries, &tag, HASH_FIND, NULL);
}

uint64
gc_store_losses(void)
{
	return pg_atomic_read_u64(&gc_store_shared->evictions) + pg_atomic_read_u64(&gc_store_shared->forgotten);
}

GcDirectory *
gc_store_unlink(GcRelEntry *entry)
{
	GcDirectory *dir = entry->dir;

	Assert(LWLockHeldByMeInMode(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE));

	entry->dir = NULL;
	entry->version = gc_store_shared->next_version++;
	pg_atomic_add_fetch_u64(&gc_store_shared->forgotten, 1);
	if (!entry->loading)
		hash_search(gc_store_entries, &entry->tag, HASH_REMOVE, NULL);
	return dir;
}

/*-------------------------------------------------------------------------
 * Lookup
 *-------------------------------------------------------------------------
 */

/*
 * The relation has a new file (TRUNCATE, CLUSTER, ...), so nothing will ever be
 * asked of the old one's chunks.
 */
static void
forget_old_file(const GcRelKey *key)
{
	GcRelEntry *entry;
	GcDirectory *dir = NULL;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = gc_store_entry(key->dbid, key->relid);
	if (entry && !same_file(&entry->key, key))
		dir = gc_store_unlink(entry);
	LWLockRelease(gc_lock(GC_LOCK_STORE));

	if (dir)
		gc_directory_retire(dir);
}

GcDirectory *
gc_store_get(Relation rel, uint64 *version)
{
	GcRelKey	key;
	GcRelEntry *entry;
	GcDirectory *dir = NULL;
	bool		other_file = false;

	Assert(gc_guard_held());

	*version = 0;

	/*
	 * A file that only this transaction knows is not cached, and must not push
	 * out the one that everyone else still sees.
	 */
	if (rel->rd_createSubid != InvalidSubTransactionId ||
		GC_REL_NEW_SUBID(rel) != InvalidSubTransactionId ||
		GC_REL_FIRST_SUBID(rel) != InvalidSubTransactionId)
		return NULL;

	gc_rel_key(rel, &key);
	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	entry = gc_store_entry(key.dbid, key.relid);
	if (entry && same_file(&entry->key, &key))
	{
		dir = entry->dir;
		*version = entry->version;
		pg_atomic_write_u64(&entry->last_used, GetCurrentStatementStartTimestamp());
	}
	else if (entry)
		other_file = true;
	LWLockRelease(gc_lock(GC_LOCK_STORE));

	if (other_file)
		forget_old_file(&key);
	return dir;
}

GcDirectory *
gc_directory(Relation rel)
{
	uint64		version;

	return gc_store_get(rel, &version);
}

GcDirectory **
gc_store_list(int *n)
{
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;
	GcDirectory **list;

	Assert(gc_guard_held());

	list = palloc(GC_STORE_MAX_RELATIONS * sizeof(GcDirectory *));
	*n = 0;
	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	hash_seq_init(&seq, gc_store_entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (entry->dir)
			list[(*n)++] = entry->dir;
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return list;
}

bool
gc_store_has_directory(const GcDirectory *dir)
{
	GcRelEntry *entry;
	bool		found;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	entry = gc_store_entry(dir->key.dbid, dir->key.relid);
	found = entry && entry->dir == dir;
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return found;
}

bool
gc_store_has(Oid dbid, Oid relid)
{
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;
	bool		found = false;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	if (OidIsValid(relid))
		found = gc_store_entry(dbid, relid) != NULL;
	else
	{
		hash_seq_init(&seq, gc_store_entries);
		while ((entry = hash_seq_search(&seq)) != NULL)
			found |= entry->tag.dbid == dbid;
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return found;
}

/*-------------------------------------------------------------------------
 * Loading
 *-------------------------------------------------------------------------
 */

/* The table is full: forget the relation that was used least recently. */
static GcDirectory *
unlink_oldest_entry(void)
{
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;
	GcRelEntry *oldest = NULL;

	hash_seq_init(&seq, gc_store_entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (!entry->loading &&
			(oldest == NULL || pg_atomic_read_u64(&entry->last_used) <
			 pg_atomic_read_u64(&oldest->last_used)))
			oldest = entry;
	}
	return oldest ? gc_store_unlink(oldest) : NULL;
}

bool
gc_store_begin_load(const GcRelKey *key, uint64 *version)
{
	GcRelTag	tag = {key->dbid, key->relid};
	GcRelEntry *entry;
	GcDirectory *dropped = NULL;
	bool		found;
	bool		ok = false;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = gc_store_entry(key->dbid, key->relid);
	if (entry == NULL && hash_get_num_entries(gc_store_entries) >= GC_STORE_MAX_RELATIONS)
		dropped = unlink_oldest_entry();
	entry = hash_search(gc_store_entries, &tag, HASH_ENTER_NULL, &found);
	if (entry && !found)
	{
		entry->key = *key;
		entry->version = gc_store_shared->next_version++;
		entry->dir = NULL;
		entry->loading = false;
		pg_atomic_init_u64(&entry->last_used, GetCurrentStatementStartTimestamp());
		entry->refreshed_at = 0;
		entry->versions_not_before = entry->versions_taken_until = 0;
		if (*version == 0)
			*version = entry->version;
	}
	if (entry && !entry->loading && entry->version == *version &&
		same_file(&entry->key, key))
		ok = entry->loading = true;
	LWLockRelease(gc_lock(GC_LOCK_STORE));

	if (dropped)
		gc_directory_retire(dropped);
	return ok;
}

void
gc_store_end_load(const GcRelKey *key)
{
	GcRelEntry *entry;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = gc_store_entry(key->dbid, key->relid);
	Assert(entry && entry->loading);
	entry->loading = false;
	LWLockRelease(gc_lock(GC_LOCK_STORE));
}

bool
gc_store_is_current(const GcRelKey *key, uint64 version)
{
	GcRelEntry *entry;
	bool		result;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	entry = gc_store_entry(key->dbid, key->relid);
	result = entry && entry->version == version;
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return result;
}

bool
gc_store_publish(const GcRelKey *key, uint64 version, GcDirectory *dir)
{
	GcRelEntry *entry;
	bool		ok;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = gc_store_entry(key->dbid, key->relid);
	Assert(entry && entry->loading);
	ok = entry->version == version;
	if (ok)
	{
		entry->dir = dir;
		entry->version = gc_store_shared->next_version++;
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return ok;
}

bool
gc_store_refresh_due(const GcRelKey *key)
{
	GcRelEntry *entry;
	TimestampTz now = GetCurrentTimestamp();
	bool		due;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = gc_store_entry(key->dbid, key->relid);
	due = entry && entry->dir && !entry->loading &&
		TimestampDifferenceExceeds(entry->refreshed_at, now, REFRESH_MS);
	if (due)
		entry->refreshed_at = now;
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return due;
}

bool
gc_store_versions_due(const GcRelKey *key, bool many)
{
	const TimestampTz now = GetCurrentTimestamp();
	GcRelEntry *entry;
	bool		due;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = gc_store_entry(key->dbid, key->relid);
	due = entry && entry->dir && now >= entry->versions_not_before && (many || now >= entry->versions_taken_until);
	/* A session that is thrown out of its load does not end it. */
	if (due)
		entry->versions_taken_until = TimestampTzPlusMilliseconds(now, VERSIONS_LOAD_MS);
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return due;
}

void
gc_store_put_off_versions(const GcRelKey *key, double ms)
{
	GcRelEntry *entry;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = gc_store_entry(key->dbid, key->relid);
	if (entry)
	{
		entry->versions_not_before = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (int64) ms);
		entry->versions_taken_until = 0;
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
}
