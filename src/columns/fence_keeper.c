/*-------------------------------------------------------------------------
 *
 * fence_keeper.c
 *	  The keeper of a database's snapshot fences.  See fence_keeper.h.
 *
 * Runs in a background worker of the database; a round also in sessions, for tests.  Takes locks on tables only if
 * they are free, and gives them back at once.
 *
 * The fences overlap, so all are snapshots of one transaction, whose xmin moves on without a gap.  But others
 * wait for transactions to end, such as CREATE INDEX CONCURRENTLY: for their virtual ids.  So the keeper gets
 * a new virtual id now and then, as if it had begun a new transaction.  That is no lie: what these others ask for
 * is that locks and snapshots of before are gone, and they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/sinvaladt.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "epoch.h"
#include "fence.h"
#include "fence_keeper.h"
#include "spec.h"
#include "store.h"
#include "visibility.h"
#include "../compat.h"

/* A round takes at most one part in so many of the time. */
#define ROUND_MS		100
#define ROUND_PART		50

/* Fences hold back VACUUM, so even a slow round is not followed by a long pause. */
#define MOST_PAUSE_MS	1000

/* How often others may wait for this process's transaction. */
#define TRANSACTION_MS	500

/* A keeper whose fences nobody has used for so long ends. */
#define UNUSED_MS		60000

/*-------------------------------------------------------------------------
 * Rounds
 *-------------------------------------------------------------------------
 */

/* Files of this database that are cached. */
static GcRelKey *
list_tables(int *n)
{
	GcDirectory **dirs;
	GcRelKey   *keys;
	int			all;

	gc_guard_enter();
	dirs = gc_store_list(&all);
	keys = palloc((all + 1) * sizeof(GcRelKey));
	*n = 0;
	for (int i = 0; i < all; i++)
	{
		if (dirs[i]->key.dbid == MyDatabaseId)
			keys[(*n)++] = dirs[i]->key;
	}
	gc_guard_leave();
	pfree(dirs);
	return keys;
}

static void
renew_table(const GcRelKey *key, uint64 fence)
{
	Relation	rel;
	GcRelKey	now;
	GcDirectory *dir;
	const char *reason;

	if (!ConditionalLockRelationOid(key->relid, AccessShareLock))
		return;
	rel = try_relation_open(key->relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(key->relid, AccessShareLock);
		return;
	}
	gc_rel_key(rel, &now);
	if (memcmp(&now, key, sizeof(GcRelKey)) == 0 && gc_rel_servable(rel, &reason))
	{
		gc_guard_enter();
		dir = gc_store_peek(key);
		if (dir)
			gc_renew_proofs(rel, dir, fence);
		gc_guard_leave();
	}
	relation_close(rel, AccessShareLock);
}

static void
renew_tables(uint64 fence)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuconc fence", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GcRelKey   *keys;
	int			n;

	keys = list_tables(&n);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		renew_table(&keys[i], fence);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* A proof of a session may be by the younger fence until the next round has seen it, so two are held. */
void
gc_fence_keeper_round(GcFenceKeeper *keeper)
{
	const Snapshot snapshot = RegisterSnapshotOnOwner(GetTransactionSnapshot(), TopTransactionResourceOwner);
	const uint64 fence = gc_fence_begin();

	Assert(!IsolationUsesXactSnapshot());
	renew_tables(fence);
	if (keeper->older)
	{
		gc_fence_end_before(keeper->younger_fence);
		UnregisterSnapshotFromOwner(keeper->older, TopTransactionResourceOwner);
	}
	keeper->older = keeper->younger;
	keeper->older_fence = keeper->younger_fence;
	keeper->younger = snapshot;
	keeper->younger_fence = fence;
}

void
gc_fence_keeper_end(GcFenceKeeper *keeper)
{
	gc_fence_end_all();
	if (keeper->older)
		UnregisterSnapshotFromOwner(keeper->older, TopTransactionResourceOwner);
	if (keeper->younger)
		UnregisterSnapshotFromOwner(keeper->younger, TopTransactionResourceOwner);
	memset(keeper, 0, sizeof(GcFenceKeeper));
}

/*-------------------------------------------------------------------------
 * The worker
 *-------------------------------------------------------------------------
 */

/* Let go of the virtual id that others may wait for, as at a transaction's end, and take one as at its start. */
static void
renew_virtual_id(void)
{
	LocalTransactionId lxid;

	VirtualXactLockTableCleanup();
	lxid = GetNextLocalTransactionId();
	VirtualXactLockTableInsert(GC_MY_VXID(lxid));
	GC_MY_LXID = lxid;
	pgstat_report_xact_timestamp(GetCurrentTimestamp());
}

static void
pause_for(double ms)
{
	static uint32 wait_event = 0;

	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, (long) ms,
					 GC_WAIT_EVENT(wait_event, "GpuconcFenceKeeper"));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Does a command wait for the database to have no other sessions, such as its renaming or a copy of it? */
static bool
is_in_the_way(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	if (LockAcquire(&tag, RowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, RowExclusiveLock, false);
	return false;
}

/* Nobody but a client can use a fence, and without any the database may be dropped, renamed or copied. */
static bool
is_needed(void)
{
	return !gc_fence_unused(UNUSED_MS) && CountDBConnections(MyDatabaseId) > 0 && !is_in_the_way();
}

void
gc_fence_keeper_run(void)
{
	GcFenceKeeper keeper = {0};
	TimestampTz renewed_at = GetCurrentTimestamp();

	if (!gc_fence_take_place())
		return;
#if PG_VERSION_NUM >= 170000
	SetConfigOption("transaction_timeout", "0", PGC_USERSET, PGC_S_SESSION);
#endif
	StartTransactionCommand();
	pgstat_report_activity(STATE_RUNNING, "gpuconc: keep snapshot fences");
	while (is_needed())
	{
		instr_time	begin;
		instr_time	took;

		INSTR_TIME_SET_CURRENT(begin);
		gc_fence_keeper_round(&keeper);
		INSTR_TIME_SET_CURRENT(took);
		INSTR_TIME_SUBTRACT(took, begin);
		if (TimestampDifferenceExceeds(renewed_at, GetCurrentTimestamp(), TRANSACTION_MS))
		{
			renew_virtual_id();
			renewed_at = GetCurrentTimestamp();
		}
		pause_for(Min(Max(ROUND_MS, ROUND_PART * INSTR_TIME_GET_MILLISEC(took)), MOST_PAUSE_MS));
	}
	gc_fence_keeper_end(&keeper);
	gc_fence_leave_place();
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
}
