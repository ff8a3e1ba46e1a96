/*-------------------------------------------------------------------------
 *
 * bound.c
 *	  How far the WAL matters for a session.  See bound.h for the proof.
 *
 * Runs in backends and loaders; commits are counted in all processes that have transactions.  Takes no lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecovery.h"
#include "port/atomics.h"
#include "storage/shmem.h"

#include "bound.h"

typedef struct GcAsyncCommits
{
	pg_atomic_uint32 pending;	/* processes that are about to commit */
	pg_atomic_uint64 end;		/* of the last commit record of one that was */
} GcAsyncCommits;

static GcAsyncCommits *shared = NULL;
static bool pending = false;	/* this process is counted */

Size
gc_bound_shmem_size(void)
{
	return sizeof(GcAsyncCommits);
}

void
gc_bound_shmem_init(void)
{
	bool		found;

	shared = ShmemInitStruct("gpuconc asynchronous commits", gc_bound_shmem_size(), &found);
	if (found)
		return;
	pg_atomic_init_u32(&shared->pending, 0);
	pg_atomic_init_u64(&shared->end, InvalidXLogRecPtr);
}

/*-------------------------------------------------------------------------
 * Commits
 *-------------------------------------------------------------------------
 */
static void
raise_end(XLogRecPtr to)
{
	uint64		old = pg_atomic_read_u64(&shared->end);

	while (old < to && !pg_atomic_compare_exchange_u64(&shared->end, &old, to))
		;
}

/* Atomic additions are barriers, too. */
static void
count_commit(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			/* It may have no id yet: what is called behind this may write, too. */
			if (pending || synchronous_commit != SYNCHRONOUS_COMMIT_OFF)
				break;
			pg_atomic_fetch_add_u32(&shared->pending, 1);
			pending = true;
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
			if (!pending)
				break;
			if (event == XACT_EVENT_COMMIT)
				raise_end(XactLastCommitEnd);
			pg_atomic_fetch_sub_u32(&shared->pending, 1);
			pending = false;
			break;
		default:
			break;
	}
}

void
gc_bound_install(void)
{
	RegisterXactCallback(count_commit, NULL);
}

/*-------------------------------------------------------------------------
 * Bounds
 *-------------------------------------------------------------------------
 */

/* The end of the last record that has a place: not the place of the next one, which is behind a page's header. */
static XLogRecPtr
inserted_end(void)
{
	const XLogRecPtr next = GetXLogInsertRecPtr();
	const uint32 in_page = next % XLOG_BLCKSZ;

	if (in_page == (XLogSegmentOffset(next, wal_segment_size) == in_page ? SizeOfXLogLongPHD : SizeOfXLogShortPHD))
		return next - in_page;
	return next;
}

XLogRecPtr
gc_wal_bound(void)
{
	XLogRecPtr	bound;

	if (RecoveryInProgress())
		return GetXLogReplayRecPtr(NULL);
	pg_memory_barrier();
	if (pg_atomic_read_u32(&shared->pending) > 0)
		bound = inserted_end();
	else
	{
		pg_read_barrier();
		bound = Max(GetFlushRecPtr(NULL), pg_atomic_read_u64(&shared->end));
	}
	return TransactionIdIsValid(GetTopTransactionIdIfAny()) ? Max(bound, XactLastRecEnd) : bound;
}

XLogRecPtr
gc_wal_now(void)
{
	return RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetXLogInsertRecPtr();
}
