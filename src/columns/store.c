/*-------------------------------------------------------------------------
 *
 * store.c
 *	  The table of cached relations: relation -> directory, replacement.
 *
 * Runs in any process that has a PGPROC.  The table and the directories that it
 * points to belong to everyone; a directory is replaced as a whole, under
 * GC_LOCK_STORE, and what the new one no longer has is retired.
 *
 * Locks, outermost first: GC_LOCK_STORE, a dictionary's, GC_LOCK_RETIRE,
 * GC_LOCK_ARENA.  Nothing here reads a relation or takes a heavyweight lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/hsearch.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "arena.h"
#include "columns.h"
#include "dict.h"
#include "epoch.h"
#include "store.h"
#include "../compat.h"

/* Columns leave this share of the arena to requests and results. */
#define HEADROOM_SHARE		8

/* What is retired is waited for so often, for so long each time. */
#define RETIRED_POLLS		200
#define RETIRED_POLL_MS		10

/* How long a relation stays too large; least time between two refreshes. */
#define TOO_LARGE_MS		60000
#define REFRESH_MS			5000

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
	int			too_large_ncols;
	Size		too_large_bytes;
	TimestampTz too_large_at;
	TimestampTz refreshed_at;
} GcRelEntry;

typedef struct GcStoreShared
{
	uint64		next_version;	/* under GC_LOCK_STORE */
	pg_atomic_uint64 evictions; /* columns evicted; written under GC_LOCK_STORE */
	pg_atomic_uint64 next_id;
} GcStoreShared;

static GcStoreShared *shared = NULL;
static HTAB *entries = NULL;

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

	shared = ShmemInitStruct("gpuconc store", sizeof(GcStoreShared), &found);
	if (!found)
	{
		shared->next_version = 1;
		pg_atomic_init_u64(&shared->evictions, 0);
		pg_atomic_init_u64(&shared->next_id, 1);
	}

	ctl.keysize = sizeof(GcRelTag);
	ctl.entrysize = sizeof(GcRelEntry);
	entries = ShmemInitHash("gpuconc cached relations",
							GC_STORE_MAX_RELATIONS, GC_STORE_MAX_RELATIONS,
							&ctl, HASH_ELEM | HASH_BLOBS | HASH_FIXED_SIZE);
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

static GcRelEntry *
find_entry(Oid dbid, Oid relid)
{
	GcRelTag	tag = {dbid, relid};

	return hash_search(entries, &tag, HASH_FIND, NULL);
}

/*-------------------------------------------------------------------------
 * Objects
 *-------------------------------------------------------------------------
 */
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

Size
gc_colstate_retire(GcColState *state)
{
	Size		bytes = state->obj.size + gc_dict_retire(state);

	gc_retire(&state->obj);
	return bytes;
}

Size
gc_colstate_bytes(const GcColState *state)
{
	return state->obj.size + gc_dict_bytes(state);
}

Size
gc_directory_size(uint32 nchunks, uint32 ncolumns)
{
	Size		size = MAXALIGN(sizeof(GcDirectory));

	size = add_size(size, MAXALIGN(mul_size(ncolumns, sizeof(GcDirColumn))));
	size = add_size(size, mul_size(nchunks, sizeof(GcChunk *) + sizeof(GcChunkFacts)));
	return add_size(size, mul_size(mul_size(nchunks, ncolumns),
								   sizeof(GcChunkColumn *) + sizeof(GcCellRange)));
}

void
gc_directory_init(GcDirectory *dir, Size size, const GcRelKey *key,
				  uint32 nchunks, uint32 ncolumns)
{
	char	   *p = (char *) dir + MAXALIGN(sizeof(GcDirectory));

	memset(dir, 0, size);
	dir->obj.size = size;
	dir->id = pg_atomic_fetch_add_u64(&shared->next_id, 1);
	dir->key = *key;
	dir->nchunks = nchunks;
	dir->ncolumns = ncolumns;
	dir->columns = (GcDirColumn *) p;
	p += MAXALIGN(ncolumns * sizeof(GcDirColumn));
	dir->chunks = (GcChunk **) p;
	dir->cells = (GcChunkColumn **) (p + nchunks * sizeof(GcChunk *));
	dir->ranges = (GcCellRange *) (dir->cells + (Size) nchunks * ncolumns);
	dir->facts = (GcChunkFacts *) (dir->ranges + (Size) nchunks * ncolumns);
	pg_atomic_init_u64(&dir->whole_for, 0);
	pg_atomic_init_u64(&dir->whole_at, 0);
}

/* Retire column c of a directory no longer published; returns its bytes. */
static Size
retire_column(GcDirectory *dir, int c)
{
	Size		bytes = 0;

	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		GcChunkColumn *cell = GC_CELL(dir, i, c);

		if (cell)
		{
			bytes += cell->obj.size;
			gc_retire(&cell->obj);
		}
	}
	return bytes + gc_colstate_retire(dir->columns[c].state);
}

/* Retire a directory no longer published, and all it has. */
static Size
retire_directory(GcDirectory *dir)
{
	Size		bytes = dir->obj.size;

	for (uint32 c = 0; c < dir->ncolumns; c++)
		bytes += retire_column(dir, c);
	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		if (dir->chunks[i])
		{
			bytes += dir->chunks[i]->obj.size;
			gc_retire(&dir->chunks[i]->obj);
		}
	}
	gc_retire(&dir->obj);
	return bytes;
}

/*
 * Take the directory out of an entry, and the entry out of the table unless it
 * is being loaded.  Caller holds GC_LOCK_STORE exclusively; whoever unlinks a
 * directory is the one to retire what it has.
 */
static GcDirectory *
unlink_entry(GcRelEntry *entry)
{
	GcDirectory *dir = entry->dir;

	Assert(LWLockHeldByMeInMode(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE));

	entry->dir = NULL;
	entry->version = shared->next_version++;
	entry->too_large_ncols = 0;
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
		dir = unlink_entry(entry);
	LWLockRelease(gc_lock(GC_LOCK_STORE));

	if (dir)
		retire_directory(dir);
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

int
gc_directory_column(const GcDirectory *dir, const GcColSpec *spec)
{
	for (uint32 c = 0; c < dir->ncolumns; c++)
	{
		const GcColSpec *have = &dir->columns[c].spec;

		if (have->attnum == spec->attnum)
		{
			if (have->kind == spec->kind && have->rtrim == spec->rtrim &&
				have->typid == spec->typid && have->typmod == spec->typmod &&
				have->collation == spec->collation)
				return c;
			return -1;
		}
	}
	return -1;
}

void
gc_column_touch(GcDirectory *dir, int col)
{
	pg_atomic_write_u64(&dir->columns[col].state->last_used, GetCurrentTimestamp());
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
 * Forgetting and replacement
 *-------------------------------------------------------------------------
 */
Size
gc_store_forget(Oid dbid, Oid relid)
{
	GcRelEntry *entry;
	GcDirectory *dir = NULL;
	Size		bytes = 0;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = find_entry(dbid, relid);
	if (entry)
		dir = unlink_entry(entry);
	LWLockRelease(gc_lock(GC_LOCK_STORE));

	if (dir)
		bytes = retire_directory(dir);
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
				dir = unlink_entry(entry);
				hash_seq_term(&seq);
				break;
			}
		}
		LWLockRelease(gc_lock(GC_LOCK_STORE));

		if (dir == NULL)
			break;
		bytes += retire_directory(dir);
	}
	gc_reclaim();
	return bytes;
}

/*
 * A directory like dir without column c, or NULL without memory.  Called under
 * GC_LOCK_STORE, so it evicts nothing and does not wait.
 */
static GcDirectory *
directory_without(const GcDirectory *dir, int c)
{
	uint32		ncols = dir->ncolumns - 1;
	GcDirectory *copy;
	Size		size = gc_directory_size(dir->nchunks, ncols);

	copy = gc_arena_alloc_reserved(size);
	if (copy == NULL)
		return NULL;
	gc_directory_init(copy, size, &dir->key, dir->nchunks, ncols);
	copy->nrows = dir->nrows;

	memcpy(copy->chunks, dir->chunks, dir->nchunks * sizeof(GcChunk *));
	memcpy(copy->facts, dir->facts, dir->nchunks * sizeof(GcChunkFacts));
	memcpy(copy->columns, dir->columns, c * sizeof(GcDirColumn));
	memcpy(copy->columns + c, dir->columns + c + 1, (ncols - c) * sizeof(GcDirColumn));
	for (uint32 i = 0; i < dir->nchunks; i++)
	{
		memcpy(&GC_CELL(copy, i, 0), &GC_CELL(dir, i, 0), c * sizeof(GcChunkColumn *));
		memcpy(&GC_CELL(copy, i, 0) + c, &GC_CELL(dir, i, 0) + c + 1,
			   (ncols - c) * sizeof(GcChunkColumn *));
	}
	memcpy(copy->ranges, dir->ranges, (Size) c * dir->nchunks * sizeof(GcCellRange));
	memcpy(GC_COLUMN_RANGES(copy, c), GC_COLUMN_RANGES(dir, c + 1),
		   (Size) (ncols - c) * dir->nchunks * sizeof(GcCellRange));
	return copy;
}

/*
 * Find the least recently used column that was not used since `since`.  Columns
 * that could not be cached take no room; a directory without any other counts as
 * one column, *col is -1 for that.
 */
static GcRelEntry *
find_victim(TimestampTz since, int *col)
{
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;
	GcRelEntry *victim = NULL;
	TimestampTz oldest = since;

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

/*
 * Evict one column, unless somebody else has since *seen evictions were counted,
 * which may be all that is needed.  False when none may be evicted.
 *
 * What is evicted is retired before it is counted, so that whoever sees the count
 * finds its bytes among the retired ones, if they are not free already.
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
	entry = find_victim(since, &col);
	if (entry == NULL)
	{
		LWLockRelease(gc_lock(GC_LOCK_STORE));
		return false;
	}

	dir = entry->dir;
	if (col >= 0 && dir->ncolumns > 1)
		rest = directory_without(dir, col);
	if (rest)
	{
		entry->dir = rest;
		entry->version = shared->next_version++;
		retire_column(dir, col);
		gc_retire(&dir->obj);
	}
	else
		retire_directory(unlink_entry(entry));
	*seen = pg_atomic_add_fetch_u64(&shared->evictions, 1);
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return true;
}

/*
 * Do something for `bytes` of room: evict a column, unless that much is retired
 * already; then rather wait a little for those that still use it, *polls times
 * at most.  False when there is nothing left to be done.
 *
 * retired are the bytes that were retired before room was looked for in vain: if
 * there were enough and are none now, they have been freed since.
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
	return gc_arena_capacity() - gc_arena_capacity() / HEADROOM_SHARE;
}

/* Bytes that columns may still take. */
static Size
available_to_columns(void)
{
	Size		headroom = gc_arena_capacity() / HEADROOM_SHARE;
	Size		available = gc_arena_available();

	return available > headroom ? available - headroom : 0;
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
		available = available_to_columns();
		if (available >= bytes)
			return true;
		if (!work_for_room(bytes - available, since, retired, &polls, &seen))
			return false;
	}
}

void *
gc_store_alloc(Size size, TimestampTz since)
{
	int			polls = RETIRED_POLLS;
	uint64		seen = pg_atomic_read_u64(&shared->evictions);

	if (size > gc_store_capacity())
		return NULL;

	for (;;)
	{
		Size		retired = gc_retired_bytes();

		if (available_to_columns() < size)
			gc_reclaim();
		if (available_to_columns() >= size)
		{
			void	   *ptr = gc_arena_alloc(size);

			if (ptr)
				return ptr;
		}
		if (!work_for_room(size, since, retired, &polls, &seen))
			return NULL;
	}
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
	return oldest ? unlink_entry(oldest) : NULL;
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
		entry->too_large_ncols = 0;
		entry->refreshed_at = 0;
		if (*version == 0)
			*version = entry->version;
	}
	if (entry && !entry->loading && entry->version == *version &&
		same_file(&entry->key, key))
		ok = entry->loading = true;
	LWLockRelease(gc_lock(GC_LOCK_STORE));

	if (dropped)
		retire_directory(dropped);
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
		entry->dir = dir;
		entry->version = shared->next_version++;
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return ok;
}

void
gc_store_note_too_large(const GcRelKey *key, int ncols, Size bytes)
{
	GcRelEntry *entry;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	entry = find_entry(key->dbid, key->relid);
	if (entry)
	{
		entry->too_large_ncols = ncols;
		entry->too_large_bytes = bytes;
		entry->too_large_at = GetCurrentTimestamp();
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
}

Size
gc_store_too_large(const GcRelKey *key, int ncols)
{
	GcRelEntry *entry;
	Size		bytes = 0;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	entry = find_entry(key->dbid, key->relid);
	if (entry && same_file(&entry->key, key) &&
		entry->too_large_ncols > 0 && entry->too_large_ncols <= ncols &&
		!TimestampDifferenceExceeds(entry->too_large_at, GetCurrentTimestamp(), TOO_LARGE_MS))
		bytes = entry->too_large_bytes;
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return bytes;
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
