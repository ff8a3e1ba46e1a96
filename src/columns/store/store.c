/*-------------------------------------------------------------------------
 *
 * store.c
 *	  The table of cached relations: relation -> directory; forgetting relations, and room by evicting columns.
 *
 * Runs in any process that has a PGPROC.  The table and the directories that it
 * points to belong to everyone.  A directory is replaced as a whole, under GC_LOCK_STORE, and chunks and dictionaries
 * that the new one no longer has are retired.
 *
 * Lookup tables are evicted first (lookups.c), then the least recently used column.
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
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "arena.h"
#include "columns.h"
#include "directory.h"
#include "epoch.h"
#include "lock.h"
#include "store.h"
#include "../../compat.h"
#include "../../settings.h"
#include "../../shmem.h"
#include "lookups.h"
#include "notes.h"
#include "ghosts.h"
#include "reserve.h"

/* Least time between two refreshes. */
#define REFRESH_MS			5000

/* A load of hot pages is counted on to end within this time; a guess. */
#define VERSIONS_LOAD_MS	100

/* Kernels read columns by vectors. */
#define GC_ZEROS_ALIGN		256

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

/* Parts of a combined directory, as a hash, and its id. */
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

static GcStoreShared *shared = NULL;
static HTAB *entries = NULL;

/* The table of relations, empty at first. */
void
gc_store_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc store", sizeof(GcStoreShared), &made);
	if (made)
	{
		shared->next_version = 1;
		pg_atomic_init_u64(&shared->evictions, 0);
		pg_atomic_init_u64(&shared->forgotten, 0);
		pg_atomic_init_u64(&shared->next_id, 1);
	}
	entries = gc_shmem_hash("gpuconc cached relations", GC_STORE_MAX_RELATIONS, sizeof(GcRelTag), sizeof(GcRelEntry));
}

uint64
gc_store_new_id(void)
{
	return pg_atomic_fetch_add_u64(&shared->next_id, 1);
}

static uint64
find_combination(const uint64 hash[2])
{
	for (int i = 0; i < GC_STORE_COMBINATIONS; i++)
	{
		const GcStoredCombination *c = &shared->combinations[i];

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
		uint32		at = shared->next_combination++ % GC_STORE_COMBINATIONS;

		id = gc_store_new_id();
		shared->combinations[at] = (GcStoredCombination) {{hash[0], hash[1]}, id};
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return id;
}

const GcChunkColumn *
gc_store_zeros(void)
{
	const Size	head = TYPEALIGN(GC_ZEROS_ALIGN, sizeof(GcChunkColumn));
	const Size	bytes = TYPEALIGN(GC_PAD_ROWS, (Size) gc_chunk_pages * MaxHeapTuplesPerPage);
	GcChunkColumn *zeros = *(GcChunkColumn *volatile *) &shared->zeros;

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
	if (shared->zeros == NULL)
	{
		pg_write_barrier();
		shared->zeros = zeros;
		zeros = NULL;
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	/* Another session was faster. */
	if (zeros)
		gc_arena_free(zeros, zeros->obj.size);
	return shared->zeros;
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

/* The relation's entry, under GC_LOCK_STORE; NULL: it has none. */
static GcRelEntry *
find_entry(Oid dbid, Oid relid)
{
	GcRelTag	tag = {dbid, relid};

	return hash_search(entries, &tag, HASH_FIND, NULL);
}

uint64
gc_store_losses(void)
{
	return pg_atomic_read_u64(&shared->evictions) + pg_atomic_read_u64(&shared->forgotten);
}

/*
 * Take the directory out of an entry, and the entry out of the table unless it
 * is being loaded.  The caller holds GC_LOCK_STORE exclusively, and has to call gc_directory_retire().
 */
static GcDirectory *
unlink_directory(GcRelEntry *entry)
{
	GcDirectory *dir = entry->dir;

	Assert(LWLockHeldByMeInMode(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE));

	entry->dir = NULL;
	entry->version = shared->next_version++;
	pg_atomic_add_fetch_u64(&shared->forgotten, 1);
	if (!entry->loading)
		hash_search(entries, &entry->tag, HASH_REMOVE, NULL);
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
	entry = find_entry(key->dbid, key->relid);
	if (entry && !same_file(&entry->key, key))
		dir = unlink_directory(entry);
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
	entry = find_entry(key.dbid, key.relid);
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
	hash_seq_init(&seq, entries);
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
	entry = find_entry(dir->key.dbid, dir->key.relid);
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
		found = find_entry(dbid, relid) != NULL;
	else
	{
		hash_seq_init(&seq, entries);
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

	hash_seq_init(&seq, entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		if (!entry->loading &&
			(oldest == NULL || pg_atomic_read_u64(&entry->last_used) <
			 pg_atomic_read_u64(&oldest->last_used)))
			oldest = entry;
	}
	return oldest ? unlink_directory(oldest) : NULL;
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
	entry = find_entry(key->dbid, key->relid);
	if (entry == NULL && hash_get_num_entries(entries) >= GC_STORE_MAX_RELATIONS)
		dropped = unlink_oldest_entry();
	entry = hash_search(entries, &tag, HASH_ENTER_NULL, &found);
	if (entry && !found)
	{
		entry->key = *key;
		entry->version = shared->next_version++;
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
	entry = find_entry(key->dbid, key->relid);
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
	entry = find_entry(key->dbid, key->relid);
	result = entry && entry->version == version;
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return result;
}

/* Has a column a problem that it had not, in the directory before? */
static bool
has_new_problem(const GcDirectory *old, const GcDirectory *dir)
{
	for (uint32 c = 0; c < dir->ncolumns; c++)
	{
		const GcDirColumn *column = &dir->columns[c];
		bool		had = column->problem == 0;

		for (uint32 k = 0; old && k < old->ncolumns && !had; k++)
			had = old->columns[k].spec.attnum == column->spec.attnum && old->columns[k].problem != 0;
		if (!had)
			return true;
	}
	return false;
}

bool
gc_store_publish(const GcRelKey *key, uint64 version, GcDirectory *dir)
{
	GcRelEntry *entry;
	bool		ok;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = find_entry(key->dbid, key->relid);
	Assert(entry && entry->loading);
	ok = entry->version == version;
	if (ok)
	{
		/* Nodes that read the column were planned, and are to be looked at again. */
		if (has_new_problem(entry->dir, dir))
			pg_atomic_add_fetch_u64(&shared->forgotten, 1);
		entry->dir = dir;
		entry->version = shared->next_version++;
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
	entry = find_entry(key->dbid, key->relid);
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
	entry = find_entry(key->dbid, key->relid);
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
	entry = find_entry(key->dbid, key->relid);
	if (entry)
	{
		entry->versions_not_before = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), (int64) ms);
		entry->versions_taken_until = 0;
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
}

/* Columns leave this share of the arena to requests and results. */
#define HEADROOM_SHARE		8

/* How many times, and how long each time, a process waits for retired objects. */
#define RETIRED_POLLS		200
#define RETIRED_POLL_MS		10

/*-------------------------------------------------------------------------
 * Forgetting
 *-------------------------------------------------------------------------
 */

/* Is any column of this database cached? */
static bool
columns_cached(Oid dbid)
{
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;
	bool		found = false;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	hash_seq_init(&seq, entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
		found = found || (entry->tag.dbid == dbid && entry->dir);
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return found;
}

Size
gc_store_forget(Oid dbid, Oid relid)
{
	GcRelEntry *entry;
	GcDirectory *dir = NULL;
	Size		bytes = 0;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = find_entry(dbid, relid);
	if (entry)
		dir = unlink_directory(entry);
	LWLockRelease(gc_lock(GC_LOCK_STORE));

	gc_ghost_forget(dbid, relid);
	if (dir)
		bytes = gc_directory_retire(dir);
	if (!columns_cached(dbid))
		gc_lookups_forget_database(dbid);
	gc_reclaim();
	return bytes;
}

Size
gc_store_forget_database(Oid dbid)
{
	Size		bytes = 0;

	/* One at a time, so that no list need be allocated after a commit. */
	for (;;)
	{
		HASH_SEQ_STATUS seq;
		GcRelEntry *entry;
		GcDirectory *dir = NULL;

		LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
		hash_seq_init(&seq, entries);
		while ((entry = hash_seq_search(&seq)) != NULL)
		{
			if (entry->tag.dbid == dbid && entry->dir)
			{
				dir = unlink_directory(entry);
				hash_seq_term(&seq);
				break;
			}
		}
		LWLockRelease(gc_lock(GC_LOCK_STORE));

		if (dir == NULL)
			break;
		bytes += gc_directory_retire(dir);
	}
	gc_ghost_forget(dbid, InvalidOid);
	gc_lookups_forget_database(dbid);
	gc_reclaim();
	return bytes;
}

/*-------------------------------------------------------------------------
 * Replacement
 *-------------------------------------------------------------------------
 */

/*
 * Find the least recently used column that was not used since `since`, nor since a session reserved room that is
 * loading its query's columns.  Columns that could not be cached take no room; a directory without any other counts as
 * one column, *col is -1 for that.
 */
static GcRelEntry *
find_victim(TimestampTz since, int *col)
{
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;
	GcRelEntry *victim = NULL;
	TimestampTz oldest = gc_reserve_horizon(since);

	hash_seq_init(&seq, entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		GcDirectory *dir = entry->dir;
		TimestampTz used = pg_atomic_read_u64(&entry->last_used);
		int			least = -1;

		if (dir == NULL || entry->loading)
			continue;
		for (uint32 c = 0; c < dir->ncolumns; c++)
		{
			TimestampTz col_used = pg_atomic_read_u64(&dir->columns[c].state->last_used);

			if (dir->columns[c].problem == GC_COL_OK && (least < 0 || col_used < used))
			{
				used = col_used;
				least = c;
			}
		}
		if (used < oldest)
		{
			oldest = used;
			victim = entry;
			*col = least;
		}
	}
	return victim;
}

/* Remember the size of a column that goes.  Under GC_LOCK_STORE. */
static void
remember(const GcDirectory *dir, int col)
{
	Size		bytes = gc_arena_bytes(gc_colstate_bytes(dir->columns[col].state));
	BlockNumber npages = 0;

	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		const GcChunkColumn *cell = GC_CELL(dir, i, col);

		bytes += cell ? gc_arena_bytes(cell->obj.size) : 0;
		npages += dir->facts[i].npresent;
	}
	gc_ghost_note_evicted(&dir->key, dir->columns[col].spec.attnum, bytes, npages);
}

/*
 * Evict one lookup table, or else one column, unless another process has evicted one since *seen
 * evictions were counted, which may be enough.  False when nothing may be evicted.
 *
 * It is retired before its eviction is counted.  So a process that sees the count finds its
 * bytes retired, or free already.
 */
static bool
evict_one(TimestampTz since, uint64 *seen)
{
	GcRelEntry *entry;
	GcDirectory *dir;
	GcDirectory *rest = NULL;
	int			col;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	if (pg_atomic_read_u64(&shared->evictions) != *seen)
	{
		*seen = pg_atomic_read_u64(&shared->evictions);
		LWLockRelease(gc_lock(GC_LOCK_STORE));
		return true;
	}
	if (gc_lookups_evict(since))
	{
		*seen = pg_atomic_add_fetch_u64(&shared->evictions, 1);
		LWLockRelease(gc_lock(GC_LOCK_STORE));
		return true;
	}
	entry = find_victim(since, &col);
	if (entry == NULL)
	{
		LWLockRelease(gc_lock(GC_LOCK_STORE));
		return false;
	}

	dir = entry->dir;
	if (col >= 0)
		remember(dir, col);
	if (col >= 0 && dir->ncolumns > 1)
		rest = gc_directory_without(dir, col, gc_store_new_id());
	if (rest)
	{
		entry->dir = rest;
		entry->version = shared->next_version++;
		gc_directory_retire_column(dir, col);
		gc_note_forget(dir);
		gc_retire(&dir->obj);
	}
	else
		gc_directory_retire(unlink_directory(entry));
	*seen = pg_atomic_add_fetch_u64(&shared->evictions, 1);
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return true;
}

/*
 * Do something for `bytes` of room.  Evict a column, unless enough bytes are retired already; then
 * wait a little for the processes that still use them, at most *polls times.  False when there is
 * nothing left to be done.
 *
 * retired: the bytes that were retired before the last search for room failed.  If they were enough
 * and are none now, they have been freed since.
 */
static bool
work_for_room(Size bytes, TimestampTz since, Size retired, int *polls, uint64 *seen)
{
	static uint32 wait_event = 0;

	Assert(!gc_guard_held());

	if (retired < bytes && evict_one(since, seen))
		return true;
	if (*polls == 0 || retired == 0)
		return evict_one(since, seen);
	if (gc_retired_bytes() == 0)
		return true;

	(*polls)--;
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 RETIRED_POLL_MS, GC_WAIT_EVENT(wait_event, "GpuconcCacheMemory"));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	return true;
}

Size
gc_store_capacity(void)
{
	return gc_arena_capacity() - gc_arena_capacity() / HEADROOM_SHARE + gc_arena_filed_capacity();
}

/* Bytes of the arena that columns may take now. */
static Size
arena_available(void)
{
	Size		headroom = gc_arena_capacity() / HEADROOM_SHARE;
	Size		available = gc_arena_available();

	return available > headroom ? available - headroom : 0;
}

Size
gc_store_available(void)
{
	return arena_available() + gc_arena_filed_available();
}

/* The arena first: columns in the file are those that did not fit. */
static void *
take(Size size)
{
	void	   *ptr = arena_available() >= size ? gc_arena_alloc(size) : NULL;

	return ptr ? ptr : gc_arena_take_filed(size);
}

Size
gc_store_room(TimestampTz since)
{
	Size		room = gc_store_available() + gc_lookups_idle(since);
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	hash_seq_init(&seq, entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		const GcDirectory *dir = entry->dir;

		for (uint32 c = 0; dir && !entry->loading && c < dir->ncolumns; c++)
		{
			if (dir->columns[c].problem == GC_COL_OK &&
				(TimestampTz) pg_atomic_read_u64(&dir->columns[c].state->last_used) < since)
				room += dir->columns[c].bytes;
		}
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return room;
}

bool
gc_store_make_room(Size bytes, TimestampTz since)
{
	int			polls = RETIRED_POLLS;
	uint64		seen = pg_atomic_read_u64(&shared->evictions);

	if (bytes > gc_store_capacity())
		return false;

	for (;;)
	{
		Size		retired = gc_retired_bytes();
		Size		available;

		gc_reclaim();
		available = gc_store_available();
		if (available >= bytes)
			return true;
		if (!work_for_room(bytes - available, since, retired, &polls, &seen))
			return false;
	}
}

void *
gc_store_alloc_now(Size size)
{
	if (gc_store_available() < size)
		gc_reclaim();
	return take(size);
}

void *
gc_store_alloc(Size size, TimestampTz since)
{
	int			polls = RETIRED_POLLS;
	uint64		seen = pg_atomic_read_u64(&shared->evictions);
	void	   *ptr;

	if (size > gc_store_capacity())
		return NULL;

	for (;;)
	{
		Size		retired = gc_retired_bytes();

		if (gc_store_available() < size)
			gc_reclaim();
		ptr = take(size);
		if (ptr)
			return ptr;
		if (!work_for_room(size, since, retired, &polls, &seen))
			return NULL;
	}
}

void *
gc_object_alloc(Size size, Size header, TimestampTz since)
{
	GcObject   *object = gc_store_alloc(size, since);

	if (object)
	{
		memset(object, 0, header);
		object->size = size;
	}
	return object;
}

void
gc_object_free(void *object)
{
	gc_arena_free(object, ((GcObject *) object)->size);
}
