/*-------------------------------------------------------------------------
 *
 * ghosts.c
 *	  Sizes and failed loads of columns that are not in the cache.  See ghosts.h.
 *
 * Runs in any process that has a PGPROC.  The table belongs to everyone.
 *
 * Lock: GC_LOCK_STORE.
 *
 *-------------------------------------------------------------------------
 */
#include "ghosts.h"

#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "lock.h"
#include "../../shmem.h"

/* A load in vain counts for so long, and an eviction makes it one when the column is asked for within that time. */
#define FORGET_MS		600000

/* A column's size, as a load that failed has told it, is believed for so long. */
#define BELIEVE_MS		60000

/* A count beyond which waits grow no more. */
#define MOST_IN_VAIN	8

typedef struct PastKey
{
	Oid			dbid;
	Oid			relid;
	int32		attnum;
} PastKey;

typedef struct GhostColumn
{
	PastKey		key;			/* hash key */
	GcRelKey	file;			/* that it was read from */
	Size		bytes;
	BlockNumber npages;			/* whose rows it had, or would have had */
	TimestampTz noted_at;
	TimestampTz evicted_at;		/* 0: it was asked for since, or not evicted */
	TimestampTz failed_at;		/* 0: its last load did not fail */
	int			in_vain;
	TimestampTz in_vain_at;		/* the last of them */
} GhostColumn;

static HTAB *columns = NULL;

/* The table of columns that have gone. */
void
gc_ghost_shmem(void)
{
	columns = gc_shmem_hash("gpuconc ghost columns", GC_GHOST_COLUMNS, sizeof(PastKey), sizeof(GhostColumn));
}

/* The memory of a column, if it is of this file of the relation.  NULL: nothing.  Under GC_LOCK_STORE. */
static GhostColumn *
find(const GcRelKey *key, AttrNumber attnum)
{
	const PastKey at = {key->dbid, key->relid, attnum};
	GhostColumn *column = hash_search(columns, &at, HASH_FIND, NULL);

	return column && memcmp(&column->file, key, sizeof(GcRelKey)) == 0 ? column : NULL;
}

/* Make room for one more.  Under GC_LOCK_STORE. */
static void
remove_oldest(void)
{
	HASH_SEQ_STATUS seq;
	GhostColumn *column;
	PastKey		oldest;
	TimestampTz noted_at = PG_INT64_MAX;

	hash_seq_init(&seq, columns);
	while ((column = hash_seq_search(&seq)) != NULL)
	{
		if (column->noted_at < noted_at)
		{
			noted_at = column->noted_at;
			oldest = column->key;
		}
	}
	if (noted_at < PG_INT64_MAX)
		hash_search(columns, &oldest, HASH_REMOVE, NULL);
}

/* The column's place, made if need be.  Under the lock. */
static GhostColumn *
note(const GcRelKey *key, AttrNumber attnum, Size bytes, BlockNumber npages)
{
	const PastKey at = {key->dbid, key->relid, attnum};
	GhostColumn *column = find(key, attnum);

	Assert(LWLockHeldByMeInMode(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE));
	if (column == NULL)
	{
		/* Ghosts of another file of the table go. */
		hash_search(columns, &at, HASH_REMOVE, NULL);
		if (hash_get_num_entries(columns) >= GC_GHOST_COLUMNS)
			remove_oldest();
		column = hash_search(columns, &at, HASH_ENTER_NULL, NULL);
		if (column == NULL)
			return NULL;
		memset((char *) column + sizeof(PastKey), 0, sizeof(GhostColumn) - sizeof(PastKey));
		column->file = *key;
	}
	column->bytes = bytes;
	column->npages = npages;
	column->noted_at = GetCurrentTimestamp();
	return column;
}

/* One load more that was in vain.  One is forgotten for each FORGET_MS without another. */
static void
count_in_vain(GhostColumn *column, TimestampTz now)
{
	const int64 forgotten = Max(now - column->in_vain_at, 0) / (FORGET_MS * INT64CONST(1000));

	column->in_vain = Min(Max(column->in_vain - forgotten, 0) + 1, MOST_IN_VAIN);
	column->in_vain_at = now;
}

void
gc_ghost_note_evicted(const GcRelKey *key, AttrNumber attnum, Size bytes, BlockNumber npages)
{
	GhostColumn *column = note(key, attnum, bytes, npages);

	if (column == NULL)
		return;
	column->evicted_at = column->noted_at;
	column->failed_at = 0;
}

void
gc_ghost_note_failed(const GcRelKey *key, AttrNumber attnum, Size bytes, BlockNumber npages)
{
	GhostColumn *column;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	column = note(key, attnum, bytes, npages);
	if (column)
	{
		column->failed_at = column->noted_at;
		column->evicted_at = 0;
		count_in_vain(column, column->noted_at);
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
}

void
gc_ghost_forget(Oid dbid, Oid relid)
{
	HASH_SEQ_STATUS seq;
	GhostColumn *column;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	hash_seq_init(&seq, columns);
	while ((column = hash_seq_search(&seq)) != NULL)
	{
		if (column->key.dbid == dbid && (!OidIsValid(relid) || column->key.relid == relid))
			hash_search(columns, &column->key, HASH_REMOVE, NULL);
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
}

/* Scaled to the table's size; 0: not known.  Of much fewer pages than the table has, or had, it says little. */
static Size
bytes_of(const GhostColumn *column, BlockNumber npages, TimestampTz now)
{
	if (column->failed_at != 0 && TimestampDifferenceExceeds(column->failed_at, now, BELIEVE_MS << column->in_vain))
		return 0;
	if (column->npages < npages / 2 || column->npages / 2 > npages || column->npages == 0)
		return 0;
	return (double) column->bytes * npages / column->npages;
}

GcGhost
gc_ghost_ask(const GcRelKey *key, AttrNumber attnum, BlockNumber npages)
{
	const TimestampTz now = GetCurrentTimestamp();
	GcGhost		ghost = {0};
	GhostColumn *column;

	LWLockAcquire(gc_lock(GC_LOCK_STORE), LW_EXCLUSIVE);
	column = find(key, attnum);
	if (column)
	{
		if (column->evicted_at != 0 && !TimestampDifferenceExceeds(column->evicted_at, now, FORGET_MS))
			count_in_vain(column, now);
		column->evicted_at = 0;
		ghost.bytes = bytes_of(column, npages, now);
		ghost.failed_at = column->failed_at;
		ghost.in_vain = Max(column->in_vain - Max(now - column->in_vain_at, 0) / (FORGET_MS * INT64CONST(1000)), 0);
	}
	LWLockRelease(gc_lock(GC_LOCK_STORE));
	return ghost;
}
