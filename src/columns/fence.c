/*-------------------------------------------------------------------------
 *
 * fence.c
 *	  Snapshot fences: which are held, and by whom.  See fence.h for the proof.
 *
 * Runs in sessions, loaders and keepers.  A database's keeper has a place in shared memory, which
 * says from which fence on it holds them.  That is raised before a snapshot is let go, and void before the
 * keeper's transaction ends.  The spinlock is held for a few instructions only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "fence.h"
#include "../compat.h"
#include "../settings.h"

/* Databases that can have a keeper at a time. */
#define MAX_KEEPERS		32

/* A session that looks at pages in vain once is no reason for a keeper. */
#define MISSED_AGAIN_MS	10000

/* One that did not come, or has failed, is not started again before. */
#define START_AGAIN_MS	10000

/* How often the time of use is noted. */
#define NOTE_USE_MS		1000

/* How long a DROP DATABASE waits for the keeper to end. */
#define DISMISS_MS		2000

typedef struct GcFencePlace
{
	Oid			dbid;			/* 0: free */
	bool		dismissed;
	Latch	   *latch;			/* the keeper's; NULL: there is none */
	TimestampTz missed_at;
	TimestampTz started_at;
	pg_atomic_uint64 oldest;	/* fence that is held; 0: none */
	pg_atomic_uint64 youngest;
	pg_atomic_uint64 used_at;
} GcFencePlace;

typedef struct GcFences
{
	slock_t		lock;
	pg_atomic_uint64 last;		/* number that was given out */
	GcFencePlace places[MAX_KEEPERS];
} GcFences;

static GcFences *shared = NULL;
static GcFencePlace *found = NULL;	/* this database's, when last looked for */

Size
gc_fence_shmem_size(void)
{
	return sizeof(GcFences);
}

void
gc_fence_shmem_init(void)
{
	bool		exists;

	shared = ShmemInitStruct("gpuconc fences", gc_fence_shmem_size(), &exists);
	if (exists)
		return;
	memset(shared, 0, sizeof(GcFences));
	SpinLockInit(&shared->lock);
	pg_atomic_init_u64(&shared->last, 0);
	for (int i = 0; i < MAX_KEEPERS; i++)
	{
		pg_atomic_init_u64(&shared->places[i].oldest, 0);
		pg_atomic_init_u64(&shared->places[i].youngest, 0);
		pg_atomic_init_u64(&shared->places[i].used_at, 0);
	}
}

/*
 * This database's place, or NULL.  Without the spinlock it may be given to another database at any time.  The
 * fences of that one are younger than all that this one had.
 */
static GcFencePlace *
find_place(void)
{
	if (found && *(volatile Oid *) &found->dbid == MyDatabaseId)
		return found;
	found = NULL;
	for (int i = 0; i < MAX_KEEPERS && !found; i++)
	{
		if (*(volatile Oid *) &shared->places[i].dbid == MyDatabaseId)
			found = &shared->places[i];
	}
	return found;
}

/* The same, or one that is free or has had no keeper for longest.  Under the spinlock. */
static GcFencePlace *
make_place(void)
{
	GcFencePlace *place = find_place();

	/* Parallel queries and loaders need workers, too. */
	for (int i = 0; i < Min(MAX_KEEPERS, Max(max_worker_processes / 4, 1)) && !found; i++)
	{
		GcFencePlace *p = &shared->places[i];

		if (p->latch == NULL && (place == NULL || p->missed_at < place->missed_at))
			place = p;
	}
	if (place == NULL || found)
		return place;
	place->dbid = MyDatabaseId;
	place->dismissed = false;
	place->missed_at = place->started_at = 0;
	pg_atomic_write_u64(&place->oldest, 0);
	pg_atomic_write_u64(&place->youngest, 0);
	found = place;
	return place;
}

/*-------------------------------------------------------------------------
 * Users
 *-------------------------------------------------------------------------
 */
uint64
gc_fence_youngest(void)
{
	GcFencePlace *place = gc_enable_snapshot_fence ? find_place() : NULL;
	uint64		fence = 0;

	if (place == NULL)
		return 0;
	/* It must be a fence of this database. */
	SpinLockAcquire(&shared->lock);
	if (place->dbid == MyDatabaseId)
		fence = pg_atomic_read_u64(&place->youngest);
	SpinLockRelease(&shared->lock);
	pg_memory_barrier();
	return fence;
}

bool
gc_fence_held(uint64 fence)
{
	GcFencePlace *place = fence != 0 && gc_enable_snapshot_fence ? find_place() : NULL;
	uint64		oldest;

	if (place == NULL)
		return false;
	pg_memory_barrier();
	oldest = pg_atomic_read_u64(&place->oldest);
	return oldest != 0 && oldest <= fence;
}

bool
gc_fence_used(uint64 fence)
{
	TimestampTz now;

	if (!gc_fence_held(fence))
		return false;
	now = GetCurrentTimestamp();
	if (TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&found->used_at), now, NOTE_USE_MS))
		pg_atomic_write_u64(&found->used_at, (uint64) now);
	return true;
}

bool
gc_fence_missed(void)
{
	const TimestampTz now = GetCurrentTimestamp();
	GcFencePlace *place;
	bool		start = false;

	if (!gc_enable_snapshot_fence || GC_OLD_SNAPSHOTS_EXPIRE() || RecoveryInProgress())
		return false;
	SpinLockAcquire(&shared->lock);
	place = make_place();
	/* What one statement misses of several chunks counts once. */
	if (place && place->latch == NULL && place->missed_at < GetCurrentStatementStartTimestamp())
	{
		start = place->missed_at != 0 && !TimestampDifferenceExceeds(place->missed_at, now, MISSED_AGAIN_MS) &&
			TimestampDifferenceExceeds(place->started_at, now, START_AGAIN_MS);
		if (start)
			place->started_at = now;
		place->missed_at = now;
	}
	SpinLockRelease(&shared->lock);
	return start;
}

/* Is there a keeper of the database?  Tell it to end. */
static bool
dismiss(Oid dbid)
{
	Latch	   *latch = NULL;

	SpinLockAcquire(&shared->lock);
	for (int i = 0; i < MAX_KEEPERS && latch == NULL; i++)
	{
		if (shared->places[i].dbid != dbid || shared->places[i].latch == NULL)
			continue;
		shared->places[i].dismissed = true;
		latch = shared->places[i].latch;
	}
	SpinLockRelease(&shared->lock);
	if (latch)
		SetLatch(latch);
	return latch != NULL;
}

void
gc_fence_dismiss(Oid dbid)
{
	static uint32 wait_event = 0;
	const TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), DISMISS_MS);

	while (dismiss(dbid) && GetCurrentTimestamp() < until)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 5,
						 GC_WAIT_EVENT(wait_event, "GpuconcFenceKeeper"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/*-------------------------------------------------------------------------
 * The keeper
 *-------------------------------------------------------------------------
 */
void
gc_fence_end_all(void)
{
	GcFencePlace *place = find_place();

	pg_atomic_write_u64(&place->oldest, 0);
	pg_atomic_write_u64(&place->youngest, 0);
	pg_memory_barrier();
}

void
gc_fence_leave_place(void)
{
	GcFencePlace *place = find_place();

	if (place == NULL || place->latch != MyLatch)
		return;
	gc_fence_end_all();
	SpinLockAcquire(&shared->lock);
	place->latch = NULL;
	SpinLockRelease(&shared->lock);
}

/* Comes before the end of the transaction, since it was registered later. */
static void
leave_at_exit(int code, Datum arg)
{
	gc_fence_leave_place();
}

bool
gc_fence_take_place(void)
{
	GcFencePlace *place;
	bool		taken = false;

	if (RecoveryInProgress() || GC_OLD_SNAPSHOTS_EXPIRE())
		return false;
	SpinLockAcquire(&shared->lock);
	place = make_place();
	if (place && place->latch == NULL)
	{
		place->latch = MyLatch;
		place->dismissed = false;
		pg_atomic_write_u64(&place->used_at, (uint64) GetCurrentTimestamp());
		taken = true;
	}
	SpinLockRelease(&shared->lock);
	if (taken)
		before_shmem_exit(leave_at_exit, 0);
	return taken;
}

uint64
gc_fence_begin(void)
{
	GcFencePlace *place = find_place();
	uint64		fence;

	Assert(place && place->latch == MyLatch);
	pg_memory_barrier();
	fence = pg_atomic_add_fetch_u64(&shared->last, 1);
	if (pg_atomic_read_u64(&place->oldest) == 0)
		pg_atomic_write_u64(&place->oldest, fence);
	pg_write_barrier();
	pg_atomic_write_u64(&place->youngest, fence);
	return fence;
}

void
gc_fence_end_before(uint64 fence)
{
	pg_atomic_write_u64(&find_place()->oldest, fence);
	pg_memory_barrier();
}

bool
gc_fence_unused(int ms)
{
	const GcFencePlace *place = find_place();

	return *(volatile bool *) &place->dismissed ||
		TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(unconstify(pg_atomic_uint64 *, &place->used_at)),
								   GetCurrentTimestamp(), ms);
}
