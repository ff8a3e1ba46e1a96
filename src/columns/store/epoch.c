/*-------------------------------------------------------------------------
 *
 * epoch.c
 *	  Guards, and the reclamation of retired objects.
 *
 * Runs in every process, on its main thread.
 *
 * There is one counter, the epoch, which every retirement advances.  A guard
 * cell holds the epoch at which its owner began to follow pointers, or 0.  An
 * object retired at epoch e may be freed once no cell holds a value <= e.  A
 * guard entered later read the epoch after the object was unlinked.  A cell may
 * be written some time after the epoch was read.  That is harmless: it then holds
 * too old a value.  A reclaimer that misses the write has unlinked before it
 * looked, and the guard's full barrier makes its owner see that.
 *
 * A process guard belongs to the resource owner that was current when it was
 * entered.  So an error or the end of a transaction releases it.  One that is
 * entered without a resource owner is released at process exit.  Request
 * guards belong to the queue, which knows the owner of each slot.
 *
 * Lock: GC_LOCK_RETIRE, held before GC_LOCK_ARENA, after all others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "arena.h"
#include "epoch.h"
#include "lock.h"
#include "../../compat.h"
#include "../../shmem.h"
#include "../../device_names.h"

/* A cell per cache line: it is written by every query. */
typedef union GcGuardCell
{
	pg_atomic_uint64 epoch;		/* 0: not in use */
	char		pad[PG_CACHE_LINE_SIZE];
} GcGuardCell;

/* The last device copies that were dropped.  A worker that takes them later than this drops all. */
#define DROPPED_RING	16384

typedef struct GcEpochShared
{
	pg_atomic_uint64 epoch;		/* starts at 1 */
	pg_atomic_uint64 next_region;
	pg_atomic_uint64 retired_bytes;
	int			nprocs;
	int			nslots;

	/* The rest is protected by GC_LOCK_RETIRE. */
	GcObject   *oldest;			/* retired objects, by retired_at */
	GcObject   *newest;
	uint64		dropped_head[GC_MAX_DEVICES];	/* next to take, by each worker */
	uint64		dropped_tail;	/* next to fill */
	uint64		dropped[DROPPED_RING];

	GcGuardCell cells[FLEXIBLE_ARRAY_MEMBER];	/* processes, then slots */
} GcEpochShared;

static GcEpochShared *shared = NULL;

/* Resource owners of this process's nested guards, innermost last. */
static ResourceOwner *guard_owners = NULL;	/* in TopMemoryContext */
static int	guards_room = 0;
static int	nguards = 0;

/* The epochs, and the guards of processes and request slots, of which none is held at first. */
void
gc_epoch_shmem(int request_slots)
{
	const int	nprocs = MaxBackends + NUM_AUXILIARY_PROCS;
	bool		made;

	shared = gc_shmem("gpuconc epoch", add_size(offsetof(GcEpochShared, cells) + PG_CACHE_LINE_SIZE,
												mul_size(nprocs + request_slots, sizeof(GcGuardCell))), &made);
	if (!made)
		return;
	pg_atomic_init_u64(&shared->epoch, 1);
	pg_atomic_init_u64(&shared->next_region, 1);
	pg_atomic_init_u64(&shared->retired_bytes, 0);
	shared->nprocs = nprocs;
	shared->nslots = request_slots;
	for (int i = 0; i < nprocs + request_slots; i++)
		pg_atomic_init_u64(&shared->cells[i].epoch, 0);
}

/* This process' guard. */
static GcGuardCell *
my_cell(void)
{
	Assert(GC_MY_PROC_NUMBER < shared->nprocs);
	return &shared->cells[GC_MY_PROC_NUMBER];
}

/* The guard of a request slot, which outlives the session that has set it. */
static GcGuardCell *
request_cell(int slot)
{
	Assert(slot >= 0 && slot < shared->nslots);
	return &shared->cells[shared->nprocs + slot];
}

/* A process that exits holds no guard any more. */
static void
clear_my_cell(int code, Datum arg)
{
	nguards = 0;
	pg_atomic_write_u64(&my_cell()->epoch, 0);
}

/* Drop the guards that CurrentResourceOwner, about to go, still holds. */
static void
release_guards(ResourceReleasePhase phase, bool isCommit, bool isTopLevel, void *arg)
{
	int			kept = 0;

	if (phase != RESOURCE_RELEASE_AFTER_LOCKS || nguards == 0)
		return;

	for (int i = 0; i < nguards; i++)
	{
		if (guard_owners[i] != CurrentResourceOwner)
			guard_owners[kept++] = guard_owners[i];
		else if (isCommit)
			elog(WARNING, "guard on cached columns was not released");
	}
	nguards = kept;
	if (nguards == 0)
	{
		pg_memory_barrier();
		pg_atomic_write_u64(&my_cell()->epoch, 0);
	}
}

void
gc_guard_enter(void)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterResourceReleaseCallback(release_guards, NULL);
		on_shmem_exit(clear_my_cell, 0);
		registered = true;
	}

	if (nguards == guards_room)
	{
		guards_room = Max(2 * guards_room, 16);
		guard_owners = guard_owners ? repalloc(guard_owners, guards_room * sizeof(ResourceOwner)) :
			MemoryContextAlloc(TopMemoryContext, guards_room * sizeof(ResourceOwner));
	}
	guard_owners[nguards++] = CurrentResourceOwner;
	if (nguards > 1)
		return;

	pg_atomic_write_u64(&my_cell()->epoch, pg_atomic_read_u64(&shared->epoch));
	pg_memory_barrier();
}

void
gc_guard_leave(void)
{
	int			i;

	Assert(nguards > 0);

	/* The innermost of the current owner's, or else the innermost. */
	for (i = nguards - 1; i > 0; i--)
	{
		if (guard_owners[i] == CurrentResourceOwner)
			break;
	}
	if (guard_owners[i] != CurrentResourceOwner)
		i = nguards - 1;
	memmove(&guard_owners[i], &guard_owners[i + 1],
			(nguards - i - 1) * sizeof(ResourceOwner));
	if (--nguards > 0)
		return;

	pg_memory_barrier();
	pg_atomic_write_u64(&my_cell()->epoch, 0);
}

bool
gc_guard_held(void)
{
	return nguards > 0;
}

/*
 * A backend that found objects under its own guard hands them to the request,
 * so the request's guard must be as old as the backend's.
 */
void
gc_guard_enter_request(int slot)
{
	uint64		epoch = 0;

	if (nguards > 0)
		epoch = pg_atomic_read_u64(&my_cell()->epoch);
	if (epoch == 0)
		epoch = pg_atomic_read_u64(&shared->epoch);

	pg_atomic_write_u64(&request_cell(slot)->epoch, epoch);
	pg_memory_barrier();
}

void
gc_guard_leave_request(int slot)
{
	pg_memory_barrier();
	pg_atomic_write_u64(&request_cell(slot)->epoch, 0);
}

void
gc_retire(GcObject *object)
{
	Assert(object->retired_at == 0);
	object->next_retired = NULL;

	LWLockAcquire(gc_lock(GC_LOCK_RETIRE), LW_EXCLUSIVE);
	object->retired_at = pg_atomic_fetch_add_u64(&shared->epoch, 1);
	if (shared->newest)
		shared->newest->next_retired = object;
	else
		shared->oldest = object;
	shared->newest = object;
	pg_atomic_fetch_add_u64(&shared->retired_bytes, object->size);
	LWLockRelease(gc_lock(GC_LOCK_RETIRE));
}

/* The oldest epoch that any guard holds. */
static uint64
oldest_guard(void)
{
	uint64		oldest = PG_UINT64_MAX;

	pg_memory_barrier();
	for (int i = 0; i < shared->nprocs + shared->nslots; i++)
	{
		uint64		epoch = pg_atomic_read_u64(&shared->cells[i].epoch);

		if (epoch != 0 && epoch < oldest)
			oldest = epoch;
	}
	return oldest;
}

/* Remember a device copy that has lost its host copy. */
static void
note_dropped(uint64 region)
{
	Assert(LWLockHeldByMeInMode(gc_lock(GC_LOCK_RETIRE), LW_EXCLUSIVE));

	shared->dropped[shared->dropped_tail++ % DROPPED_RING] = region;
}

Size
gc_reclaim(void)
{
	GcObject   *list = NULL;
	GcObject   *last = NULL;
	Size		bytes = 0;
	uint64		oldest;

	if (pg_atomic_read_u64(&shared->retired_bytes) == 0)
		return 0;

	/* Unlink objects that are old enough; they are ours then, so free them without the lock. */
	LWLockAcquire(gc_lock(GC_LOCK_RETIRE), LW_EXCLUSIVE);
	oldest = oldest_guard();
	for (GcObject *o = shared->oldest; o && o->retired_at < oldest; o = o->next_retired)
	{
		if (o->region_id != 0)
			note_dropped(o->region_id);
		bytes += o->size;
		last = o;
	}
	if (last)
	{
		list = shared->oldest;
		shared->oldest = last->next_retired;
		if (shared->oldest == NULL)
			shared->newest = NULL;
		last->next_retired = NULL;
	}
	LWLockRelease(gc_lock(GC_LOCK_RETIRE));

	while (list)
	{
		GcObject   *next = list->next_retired;
		Size		size = list->size;

		/* Counted until it is free, so that other processes do not evict more for want of it. */
		gc_arena_free(list, size);
		pg_atomic_fetch_sub_u64(&shared->retired_bytes, size);
		list = next;
	}
	return bytes;
}

void *
gc_arena_alloc(Size size)
{
	void	   *ptr = gc_arena_take(size);

	if (ptr == NULL && gc_reclaim() > 0)
		ptr = gc_arena_take(size);
	return ptr;
}

void *
gc_arena_alloc_reserved(Size size)
{
	void	   *ptr = gc_arena_alloc(size);

	return ptr ? ptr : gc_arena_take_reserved(size);
}

Size
gc_retired_bytes(void)
{
	return pg_atomic_read_u64(&shared->retired_bytes);
}

uint64
gc_new_region_id(void)
{
	return pg_atomic_fetch_add_u64(&shared->next_region, 1);
}

int
gc_take_dropped_regions(int device, uint64 *ids, int max, bool *overflow)
{
	uint64	   *head = &shared->dropped_head[device];
	int			n = 0;

	LWLockAcquire(gc_lock(GC_LOCK_RETIRE), LW_EXCLUSIVE);
	*overflow = shared->dropped_tail - *head > DROPPED_RING;
	/* The worker will drop everything, these too. */
	if (*overflow)
		*head = shared->dropped_tail;
	while (n < max && *head < shared->dropped_tail)
		ids[n++] = shared->dropped[(*head)++ % DROPPED_RING];
	LWLockRelease(gc_lock(GC_LOCK_RETIRE));
	return n;
}
