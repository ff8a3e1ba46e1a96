/*-------------------------------------------------------------------------
 *
 * wal_changes.c
 *	  How far the WAL matters for a session, and which pages of tables have changed lately, as its records say.
 *	  See wal_changes.h for the proofs.
 *
 * Runs in sessions and loaders; commits are counted in all processes that have transactions.  GC_LOCK_WAL is held by
 * the process that reads the WAL; no other lock is taken under it but PostgreSQL's own for a moment.  Processes that
 * need the same records wait for it, and find them read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "access/rmgr.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogreader.h"
#include "access/xlogrecovery.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "../store/lock.h"
#include "wal_changes.h"
#include "../../compat.h"
#include "../../settings.h"
#include "../../shmem.h"

/* Places of the ring: 6 MB. */
#define RING_LENGTH		262144

/*
 * Bytes of the WAL that are read rather than to look at a page.  Some 16 take as long, but they are read once, for all
 * sessions.  A session counts the pages that others have looked at since the WAL was read, too.  So a few sessions
 * look, and the next one reads: else many would look again and again because nobody leads the ring on.
 */
#define BYTES_PER_PAGE	256

/* The ring begins anew where it is further behind, in bytes: say, after an hour without a question. */
#define MOST_BEHIND		(64 * 1024 * 1024)

/* So much of it is read at once, since nobody who waits for that can be cancelled. */
#define READ_AT_ONCE	(4 * 1024 * 1024)

/* Bits, by hashes of tables that are watched. */
#define WATCH_BITS		65536

/* A process that waits for others, and finds nothing read, gives up. */
#define MOST_WAITS		4

/*
 * Without the tablespace: a database that is moved to another and back keeps the numbers of its files, and the chunks
 * of its tables.
 */
typedef struct GcRingPlace
{
	Oid			dbid;
	Oid			relnumber;
	BlockNumber block;
	XLogRecPtr	end;
} GcRingPlace;

typedef struct GcWalChanges
{
	XLogRecPtr	next;			/* record that is to be read; under GC_LOCK_WAL; invalid: not begun */
	pg_atomic_uint64 floor;		/* LSN */
	pg_atomic_uint64 complete_to;	/* LSN */
	pg_atomic_uint64 head;		/* how many places have been filled */
	pg_atomic_uint64 spared;	/* pages that sessions have looked at, to spare them reading, since it was read last */
	pg_atomic_uint32 watched[WATCH_BITS / 32];
	pg_atomic_uint32 pending;	/* processes that are about to commit, with synchronous_commit = off */
	pg_atomic_uint64 end;		/* LSN: of the last commit record of one that was */
	GcRingPlace ring[RING_LENGTH];	/* ascending by end, from the place of `head` on */
} GcWalChanges;

static GcWalChanges *shared = NULL;
static bool pending = false;	/* this process is counted */

/* This process's reader of the WAL; made at first need. */
static XLogReaderState *reader = NULL;
static MemoryContext reader_context = NULL;
static bool reading = false;	/* still set at the next use: an error was thrown, and the reader is of no use */
static File wal_file = -1;
static XLogSegNo wal_segment;
static TimeLineID wal_timeline;

/* How far the WAL can be read, and whether more was asked for. */
typedef struct GcWalEnd
{
	TimeLineID	timeline;
	XLogRecPtr	lsn;
	bool		met;
} GcWalEnd;

static GcWalEnd wal_end;

/* The changes, none at first. */
void
gc_wal_changes_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc changes in the WAL", sizeof(GcWalChanges), &made);
	if (!made)
		return;
	pg_atomic_init_u64(&shared->floor, InvalidXLogRecPtr);
	pg_atomic_init_u64(&shared->complete_to, InvalidXLogRecPtr);
	pg_atomic_init_u64(&shared->head, 0);
	pg_atomic_init_u64(&shared->spared, 0);
	pg_atomic_init_u32(&shared->pending, 0);
	pg_atomic_init_u64(&shared->end, InvalidXLogRecPtr);
	for (int i = 0; i < WATCH_BITS / 32; i++)
		pg_atomic_init_u32(&shared->watched[i], 0);
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
			/* A transaction may have no id yet: code that is called behind this may write, too. */
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

/*-------------------------------------------------------------------------
 * Tables that are watched
 *-------------------------------------------------------------------------
 */
static uint32
watch_bit(Oid dbid, Oid relnumber)
{
	return hash_combine(murmurhash32(dbid), murmurhash32(relnumber)) % WATCH_BITS;
}

/* May anyone ask for the changes of this file? */
static bool
is_watched(Oid dbid, Oid relnumber)
{
	const uint32 bit = watch_bit(dbid, relnumber);

	return (pg_atomic_read_u32(&shared->watched[bit / 32]) >> bit % 32) & 1;
}

/*-------------------------------------------------------------------------
 * Pages of the WAL
 *-------------------------------------------------------------------------
 */
static void
open_segment(XLogSegNo segment)
{
	char		path[MAXPGPATH];

	if (wal_file >= 0 && (segment != wal_segment || wal_timeline != wal_end.timeline))
	{
		FileClose(wal_file);
		wal_file = -1;
	}
	if (wal_file >= 0)
		return;
	wal_segment = segment;
	wal_timeline = wal_end.timeline;
	XLogFilePath(path, wal_timeline, segment, wal_segment_size);
	wal_file = PathNameOpenFile(path, O_RDONLY | PG_BINARY);
}

/* A file that is gone, or is another one by now, makes a record that cannot be read. */
static int
read_wal_page(XLogReaderState *state, XLogRecPtr page, int wanted, XLogRecPtr record, char *to)
{
	const int	n = (int) Min((XLogRecPtr) XLOG_BLCKSZ, wal_end.lsn > page ? wal_end.lsn - page : 0);
	XLogSegNo	segment;

	if (n < wanted)
	{
		wal_end.met = true;
		return -1;
	}
	XLByteToSeg(page, segment, wal_segment_size);
	open_segment(segment);
	if (wal_file < 0 ||
		FileRead(wal_file, to, n, XLogSegmentOffset(page, wal_segment_size), WAIT_EVENT_WAL_READ) != n)
		return -1;
	return n;
}

/* A reader of WAL.  One that an error has left in the middle is made anew.  False: no memory. */
static bool
make_reader(void)
{
	MemoryContext old;

	if (reading)
	{
		MemoryContextReset(reader_context);
		reader = NULL;
		reading = false;
	}
	if (reader)
		return true;
	if (reader_context == NULL)
		reader_context = AllocSetContextCreate(TopMemoryContext, "gpuconc changes in the WAL", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(reader_context);
	reader = XLogReaderAllocate(wal_segment_size, NULL, XL_ROUTINE(.page_read = read_wal_page), NULL);
	MemoryContextSwitchTo(old);
	return reader != NULL;
}

/*-------------------------------------------------------------------------
 * Reading records, under GC_LOCK_WAL
 *-------------------------------------------------------------------------
 */

/* Where the first record at or behind a position is: the header of a page is none. */
static XLogRecPtr
behind_header(XLogRecPtr lsn)
{
	if (lsn % XLOG_BLCKSZ != 0)
		return lsn;
	return lsn + (XLogSegmentOffset(lsn, wal_segment_size) == 0 ? SizeOfXLogLongPHD : SizeOfXLogShortPHD);
}

/* Changes up to there are not known any more. */
static void
raise_floor(XLogRecPtr to)
{
	if (to <= pg_atomic_read_u64(&shared->floor))
		return;
	pg_atomic_write_u64(&shared->floor, to);
	pg_memory_barrier();
}

/* Append to the ring.  The floor is raised before a place is overwritten, above which all changes are known. */
static void
append_place(uint64 *head, const GcRingPlace *place)
{
	GcRingPlace *to = &shared->ring[(*head)++ % RING_LENGTH];

	raise_floor(to->end);
	*to = *place;
}

/* Index access methods have no table's pages. */
static bool
is_of_index(RmgrId rmgr)
{
	switch (rmgr)
	{
		case RM_BTREE_ID:
		case RM_HASH_ID:
		case RM_GIN_ID:
		case RM_GIST_ID:
		case RM_SPGIST_ID:
		case RM_BRIN_ID:
		case RM_SEQ_ID:
			return true;
		default:
			return false;
	}
}

/* Append the pages of the heap that a record changes, if anyone watches them. */
static void
append_record(uint64 *head)
{
	if (is_of_index(XLogRecGetRmid(reader)))
		return;
	/* The number of a database may now be another one's, of which no page is named. */
	if (XLogRecGetRmid(reader) == RM_DBASE_ID)
		raise_floor(reader->EndRecPtr);
	for (int i = 0; i <= XLogRecMaxBlockId(reader); i++)
	{
		GcRelFile	file;
		ForkNumber	fork;
		BlockNumber block;

		if (!XLogRecHasBlockRef(reader, i))
			continue;
		XLogRecGetBlockTag(reader, i, &file, &fork, &block);
		if (fork == MAIN_FORKNUM && is_watched(GC_FILE_DB(file), GC_FILE_NUMBER(file)))
			append_place(head, &(GcRingPlace) {GC_FILE_DB(file), GC_FILE_NUMBER(file), block, reader->EndRecPtr});
	}
}

/* Places are visible to others before complete_to says that they are there. */
static void
publish(uint64 head, XLogRecPtr next, XLogRecPtr complete_to)
{
	shared->next = next;
	pg_write_barrier();
	pg_atomic_write_u64(&shared->head, head);
	pg_write_barrier();
	pg_atomic_write_u64(&shared->complete_to, complete_to);
	pg_atomic_write_u64(&shared->spared, 0);
}

/* From the end of the WAL on. */
static void
begin_anew(void)
{
	const XLogRecPtr end = gc_wal_now();

	pg_atomic_write_u64(&shared->floor, end);
	pg_memory_barrier();
	publish(pg_atomic_read_u64(&shared->head), end, end);
}

/*
 * Read records that end where the WAL can be read to: all, or as many as are read at once.
 * False: one could not be read.
 */
static bool
read_records(void)
{
	const XLogRecPtr from = shared->next;
	uint64		head = pg_atomic_read_u64(&shared->head);
	XLogRecPtr	next = from;
	MemoryContext old;
	char	   *error;

	if (!make_reader())
		return false;
	old = MemoryContextSwitchTo(reader_context);
	wal_end.met = false;
	reading = true;
	XLogBeginRead(reader, behind_header(next));
	while (next - from < READ_AT_ONCE && XLogReadRecord(reader, &error) != NULL)
	{
		append_record(&head);
		next = reader->EndRecPtr;
	}
	reading = false;
	MemoryContextSwitchTo(old);
	if (wal_end.met)
		publish(head, next, Max(next, wal_end.lsn));
	else if (next - from >= READ_AT_ONCE)
		publish(head, next, next);
	else
		return false;
	return true;
}

/* How far the WAL may be read now. */
static void
find_end(void)
{
	if (RecoveryInProgress())
		wal_end.lsn = GetXLogReplayRecPtr(&wal_end.timeline);
	else
	{
		wal_end.timeline = GetWALInsertionTimeLine();
		wal_end.lsn = GetXLogWriteRecPtr();
	}
}

/* Read on to the end, or begin anew where too much is behind or a record cannot be read. */
static void
lead_on(void)
{
	find_end();
	if (shared->next == InvalidXLogRecPtr || (wal_end.lsn > shared->next && wal_end.lsn - shared->next > MOST_BEHIND))
		begin_anew();
	else if (wal_end.lsn > shared->next && !read_records())
		begin_anew();
}

/*-------------------------------------------------------------------------
 * Users
 *-------------------------------------------------------------------------
 */

/* A ring that is too far behind begins anew, which is cheap. */
static bool
is_worth_reading(XLogRecPtr from, XLogRecPtr bound, uint64 pages)
{
	return from == InvalidXLogRecPtr || bound - from <= pages * BYTES_PER_PAGE + gc_debug_wal_bytes ||
		bound - from > MOST_BEHIND;
}

void
gc_wal_changes_watch(Relation rel)
{
	const uint32 bit = watch_bit(GC_REL_DB(rel), GC_REL_NUMBER(rel));

	pg_atomic_fetch_or_u32(&shared->watched[bit / 32], 1U << bit % 32);
	/* A ring that begins later would know nothing from the load on, and all pages would have to be looked at. */
	if (pg_atomic_read_u64(&shared->complete_to) != InvalidXLogRecPtr)
		return;
	LWLockAcquire(gc_lock(GC_LOCK_WAL), LW_EXCLUSIVE);
	if (shared->next == InvalidXLogRecPtr)
		begin_anew();
	LWLockRelease(gc_lock(GC_LOCK_WAL));
}

XLogRecPtr
gc_wal_changes_reach(XLogRecPtr bound, uint64 pages)
{
	for (int waits = 0; gc_debug_wal_changes && waits < MOST_WAITS;)
	{
		const XLogRecPtr at = pg_atomic_read_u64(&shared->complete_to);
		bool		led = false;

		if (at >= bound)
			return at;
		if (!is_worth_reading(at, bound, pages + pg_atomic_read_u64(&shared->spared)))
		{
			pg_atomic_fetch_add_u64(&shared->spared, pages);
			return InvalidXLogRecPtr;
		}
		CHECK_FOR_INTERRUPTS();
		if (!RecoveryInProgress() && GetXLogWriteRecPtr() < bound)
			XLogFlush(bound);
		if (LWLockAcquireOrWait(gc_lock(GC_LOCK_WAL), LW_EXCLUSIVE))
		{
			if (pg_atomic_read_u64(&shared->complete_to) == at)
				lead_on();
			LWLockRelease(gc_lock(GC_LOCK_WAL));
			led = true;
		}
		if (pg_atomic_read_u64(&shared->complete_to) != at)
			continue;
		if (led)
			return InvalidXLogRecPtr;
		waits++;
	}
	return InvalidXLogRecPtr;
}

XLogRecPtr
gc_wal_changes_floor(void)
{
	pg_read_barrier();
	return pg_atomic_read_u64(&shared->floor);
}

/*
 * The first filled place whose record ends behind `from`, or one before it.  Places that are overwritten meanwhile seem
 * to be such ones.
 */
static uint64
find_place(uint64 head, XLogRecPtr from)
{
	uint64		at = head > RING_LENGTH ? head - RING_LENGTH : 0;
	uint64		end = head;

	while (at < end)
	{
		const uint64 middle = at + (end - at) / 2;

		if (shared->ring[middle % RING_LENGTH].end <= from)
			at = middle + 1;
		else
			end = middle;
	}
	return at;
}

/* Order for qsort(): by page. */
static int
by_block(const void *a, const void *b)
{
	const GcWalChange *x = a;
	const GcWalChange *y = b;

	return x->block < y->block ? -1 : x->block > y->block;
}

GcWalChange *
gc_wal_changes_of(Relation rel, XLogRecPtr *from, uint32 *n)
{
	uint32		size = 64;
	GcWalChange *changes = palloc(size * sizeof(GcWalChange));
	uint64		head;

	pg_read_barrier();
	head = pg_atomic_read_u64(&shared->head);
	pg_read_barrier();
	*n = 0;
	for (uint64 at = find_place(head, *from); at < head; at++)
	{
		const GcRingPlace *place = &shared->ring[at % RING_LENGTH];

		if (place->relnumber != GC_REL_NUMBER(rel) || place->dbid != GC_REL_DB(rel))
			continue;
		if (*n == size)
		{
			size *= 2;
			changes = repalloc_huge(changes, size * sizeof(GcWalChange));
		}
		changes[(*n)++] = (GcWalChange) {place->block, place->end};
	}
	*from = Max(*from, gc_wal_changes_floor());
	if (*n > 1)
		qsort(changes, *n, sizeof(GcWalChange), by_block);
	return changes;
}
