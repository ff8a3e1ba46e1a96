/*-------------------------------------------------------------------------
 *
 * evict.c
 *	  Forgetting cached relations, and making room by evicting columns.
 *
 * Runs in any process that has a PGPROC.  Lookup tables go first (lookups.c), then the least
 * recently used column.
 *
 * Locks: GC_LOCK_STORE, while a directory is taken out of the table or replaced.  Nothing
 * here reads a relation or takes a heavyweight lock.
 *
 *-------------------------------------------------------------------------
 */
#include "evict.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "arena.h"
#include "columns.h"
#include "directory.h"
#include "epoch.h"
#include "lock.h"
#include "lookups.h"
#include "notes.h"
#include "past.h"
#include "reserve.h"
#include "store.h"
#include "store_internal.h"
#include "../../compat.h"

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
	hash_seq_init(&seq, gc_store_entries);
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
	entry = gc_store_entry(dbid, relid);
	if (entry)
		dir = gc_store_unlink(entry);
	LWLockRelease(gc_lock(GC_LOCK_STORE));

	gc_past_forget(dbid, relid);
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
		hash_seq_init(&seq, gc_store_entries);
		while ((entry = hash_seq_search(&seq)) != NULL)
		{
			if (entry->tag.dbid == dbid && entry->dir)
			{
				dir = gc_store_unlink(entry);
				hash_seq_term(&seq);
				break;
			}
		}
		LWLockRelease(gc_lock(GC_LOCK_STORE));

		if (dir == NULL)
			break;
		bytes += gc_directory_retire(dir);
	}
	gc_past_forget(dbid, InvalidOid);
	gc_lookups_forget_database(dbid);
	gc_reclaim();
	return bytes;
}

/*-------------------------------------------------------------------------
 * Replacement
 *-------------------------------------------------------------------------
 */

/*
 * Find the least recently used column that was not used since `since`, nor since a session reserved room that is loading
 * what its query needs.  Columns that could not be cached take no room; a directory without any other counts as one
 * column, *col is -1 for that.
 */
static GcRelEntry *
find_victim(TimestampTz since, int *col)
{
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;
	GcRelEntry *victim = NULL;
	TimestampTz oldest = gc_reserve_horizon(since);

	hash_seq_init(&seq, gc_store_entries);
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

/* Remember what a column that goes takes.  Under GC_LOCK_STORE. */
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
	gc_past_note_evicted(&dir->key, dir->columns[col].spec.attnum, bytes, npages);
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
	if (pg_atomic_read_u64(&gc_store_shared->evictions) != *seen)
	{
		*seen = pg_atomic_read_u64(&gc_store_shared->evictions);
		LWLockRelease(gc_lock(GC_LOCK_STORE));
		return true;
	}
	if (gc_lookups_evict(since))
	{
		*seen = pg_atomic_add_fetch_u64(&gc_store_shared->evictions, 1);
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
		entry->version = gc_store_shared->next_version++;
		gc_directory_retire_column(dir, col);
		gc_note_forget(dir);
		gc_retire(&dir->obj);
	}
	else
		gc_directory_retire(gc_store_unlink(entry));
	*seen = pg_atomic_add_fetch_u64(&gc_store_shared->evictions, 1);
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
	return gc_arena_capacity() - gc_arena_capacity() / HEADROOM_SHARE;
}

Size
gc_store_available(void)
{
	Size		headroom = gc_arena_capacity() / HEADROOM_SHARE;
	Size		available = gc_arena_available();

	return available > headroom ? available - headroom : 0;
}

Size
gc_store_room(TimestampTz since)
{
	Size		room = gc_store_available() + gc_lookups_idle(since);
	HASH_SEQ_STATUS seq;
	GcRelEntry *entry;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_SHARED);
	hash_seq_init(&seq, gc_store_entries);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		const GcDirectory *dir = entry->dir;

		for (uint32 c = 0; dir && !entry->loading && c < dir->ncolumns; c++)
		{
			if (dir->columns[c].problem == GC_COL_OK && (TimestampTz) pg_atomic_read_u64(&dir->columns[c].state->last_used) < since)
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
	uint64		seen = pg_atomic_read_u64(&gc_store_shared->evictions);

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
	return gc_store_available() < size ? NULL : gc_arena_alloc(size);
}

void *
gc_store_alloc(Size size, TimestampTz since)
{
	int			polls = RETIRED_POLLS;
	uint64		seen = pg_atomic_read_u64(&gc_store_shared->evictions);

	if (size > gc_store_capacity())
		return NULL;

	for (;;)
	{
		Size		retired = gc_retired_bytes();

		if (gc_store_available() < size)
			gc_reclaim();
		if (gc_store_available() >= size)
		{
			void	   *ptr = gc_arena_alloc(size);

			if (ptr)
				return ptr;
		}
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
