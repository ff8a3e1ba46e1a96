/*-------------------------------------------------------------------------
 *
 * trail.c
 *	  The WAL's trail: which pages of tables have changed lately.  See trail.h for the proof.
 *
 * Runs in sessions and loaders.  GC_LOCK_TRAIL is held by the process that reads the WAL; no other lock is taken under it but
 * PostgreSQL's own for a moment.  Processes that need the same records wait for it, and find them read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "access/rmgr.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogreader.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/fd.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "lock.h"
#include "trail.h"
#include "../compat.h"
#include "../settings.h"

/* Places of the ring. */
#define TRAIL_LENGTH	65536

/*
 * Bytes of the WAL that are read rather than to look at a page.  Some 16 take as long, but they are read once, for all
 * sessions.  If many sessions looked because the trail is behind, nobody would lead it on.
 */
#define BYTES_PER_PAGE	256

/* A trail that is further behind, in bytes, is lost. */
#define MOST_BEHIND		(8 * 1024 * 1024)

/* A record that is being written is there after a moment, or its writer has no processor.  Short waits for it. */
#define TRIES			100
#define PAUSES_PER_TRY	50

/* A record that is not there after so long is never found: the trail is lost. */
#define LOST_AFTER_MS	1000

/* A process that always finds others at work gives up. */
#define MOST_WAITS		4

/*
 * A page that a record has changed.  Without the tablespace: a database that is moved to another and back keeps the
 * numbers of its files, and the chunks of its tables.
 */
typedef struct GcTrailPage
{
	Oid			dbid;
	Oid			relnumber;
	BlockNumber block;
	XLogRecPtr	lsn;			/* the end of the record */
} GcTrailPage;

typedef struct GcTrail
{
	XLogRecPtr	next;			/* record that is to be read; under GC_LOCK_TRAIL; invalid: not begun */
	XLogRecPtr	last;			/* the record before it; invalid: not known */
	XLogRecPtr	stuck_at;		/* a record that was not there, and since when */
	TimestampTz stuck_since;
	pg_atomic_uint64 floor;
	pg_atomic_uint64 head;		/* the next position */
	pg_atomic_uint64 leads_to;	/* LSN: pages of all records before are in the ring before `head` */
	GcTrailPage pages[TRAIL_LENGTH];
} GcTrail;

static GcTrail *shared = NULL;

/* What this process reads the WAL with; made at first need. */
static XLogReaderState *reader = NULL;
static MemoryContext reader_context = NULL;
static XLogRecPtr reader_goal;	/* nothing behind it is read */
static bool reading = false;	/* still set at the next use: an error was thrown, and the reader is of no use */
static File wal_file = -1;
static XLogSegNo wal_segment;
static TimeLineID wal_timeline;
static const char *wal_buffers = NULL;
static const char *wal_buffers_end = NULL;

Size
gc_trail_shmem_size(void)
{
	return sizeof(GcTrail);
}

void
gc_trail_shmem_init(void)
{
	bool		found;

	shared = ShmemInitStruct("gpuconc trail of the WAL", gc_trail_shmem_size(), &found);
	if (found)
		return;
	shared->next = shared->last = shared->stuck_at = InvalidXLogRecPtr;
	shared->stuck_since = 0;
	pg_atomic_init_u64(&shared->floor, 1);
	pg_atomic_init_u64(&shared->head, 1);
	pg_atomic_init_u64(&shared->leads_to, InvalidXLogRecPtr);
}

/*-------------------------------------------------------------------------
 * Pages of the WAL
 *-------------------------------------------------------------------------
 */

static const char *
buffer_of(const char *buffers, XLogRecPtr page)
{
	return buffers + page / XLOG_BLCKSZ % XLOGbuffers * XLOG_BLCKSZ;
}

/* Is this what the buffer has?  It may change at any time. */
static bool
buffer_has(const char *buffers, XLogRecPtr page)
{
	const volatile XLogPageHeaderData *header = (const volatile XLogPageHeaderData *) buffer_of(buffers, page);

	return header->xlp_magic == XLOG_PAGE_MAGIC && header->xlp_pageaddr == page;
}

/*
 * Where the WAL's buffers are: at the end of what xlog.c has in shared memory, aligned.  Behind them are some bytes that
 * alignment did not need.  That leaves two places, of which the newest page tells the right one.  It may not be there
 * yet: then the next call finds them, and files do meanwhile.
 */
static void
find_buffers(XLogRecPtr newest)
{
	const XLogRecPtr page = newest - newest % XLOG_BLCKSZ;
	const char *buffers;
	bool		found;

	if (wal_buffers)
		return;
	if (wal_buffers_end == NULL)
		wal_buffers_end = (const char *) ShmemInitStruct("XLOG Ctl", XLOGShmemSize(), &found) + XLOGShmemSize();
	buffers = (const char *) TYPEALIGN_DOWN(XLOG_BLCKSZ, wal_buffers_end - (Size) XLOGbuffers * XLOG_BLCKSZ);
	if (buffer_has(buffers, page))
		wal_buffers = buffers;
	else if (buffer_has(buffers - XLOG_BLCKSZ, page))
		wal_buffers = buffers - XLOG_BLCKSZ;
}

static bool
copy_from_buffer(XLogRecPtr page, char *to, int n)
{
	if (wal_buffers == NULL || !buffer_has(wal_buffers, page))
		return false;
	pg_read_barrier();
	memcpy(to, buffer_of(wal_buffers, page), n);
	pg_read_barrier();
	return buffer_has(wal_buffers, page);
}

static bool
copy_from_file(XLogRecPtr page, char *to, int n)
{
	XLogSegNo	segment;
	char		path[MAXPGPATH];

	if (page + n > GetXLogWriteRecPtr())
		return false;
	XLByteToSeg(page, segment, wal_segment_size);
	if (wal_file >= 0 && (segment != wal_segment || wal_timeline != GetWALInsertionTimeLine()))
	{
		FileClose(wal_file);
		wal_file = -1;
	}
	if (wal_file < 0)
	{
		wal_segment = segment;
		wal_timeline = GetWALInsertionTimeLine();
		XLogFilePath(path, wal_timeline, segment, wal_segment_size);
		wal_file = PathNameOpenFile(path, O_RDONLY | PG_BINARY);
	}
	return wal_file >= 0 &&
		FileRead(wal_file, to, n, XLogSegmentOffset(page, wal_segment_size), WAIT_EVENT_WAL_READ) == n;
}

static int
read_wal_page(XLogReaderState *state, XLogRecPtr page, int wanted, XLogRecPtr record, char *to)
{
	const int	n = (int) Min((XLogRecPtr) XLOG_BLCKSZ, reader_goal > page ? reader_goal - page : 0);

	if (n < wanted || !(copy_from_buffer(page, to, n) || copy_from_file(page, to, n)))
		return -1;
	return n;
}

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
		reader_context = AllocSetContextCreate(TopMemoryContext, "gpuconc trail of the WAL", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(reader_context);
	reader = XLogReaderAllocate(wal_segment_size, NULL, XL_ROUTINE(.page_read = read_wal_page), NULL);
	MemoryContextSwitchTo(old);
	return reader != NULL;
}

/*-------------------------------------------------------------------------
 * Reading the trail's records, under GC_LOCK_TRAIL
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

/* Readers ask for the floor last, so it comes before what is overwritten. */
static void
append_page(uint64 *head, const GcTrailPage *page)
{
	if (*head - pg_atomic_read_u64(&shared->floor) >= TRAIL_LENGTH)
	{
		pg_atomic_write_u64(&shared->floor, *head - TRAIL_LENGTH + 1);
		pg_memory_barrier();
	}
	shared->pages[(*head)++ % TRAIL_LENGTH] = *page;
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

static void
append_record(uint64 *head)
{
	if (is_of_index(XLogRecGetRmid(reader)))
		return;
	for (int i = 0; i <= XLogRecMaxBlockId(reader); i++)
	{
		GcRelFile	file;
		ForkNumber	fork;
		BlockNumber block;

		if (!XLogRecHasBlockRef(reader, i))
			continue;
		XLogRecGetBlockTag(reader, i, &file, &fork, &block);
		if (fork == MAIN_FORKNUM)
			append_page(head, &(GcTrailPage) {GC_FILE_DB(file), GC_FILE_NUMBER(file), block, reader->EndRecPtr});
	}
}

/* What has been appended is there before the trail is said to lead there. */
static void
publish(uint64 head, XLogRecPtr next, XLogRecPtr last)
{
	shared->next = next;
	shared->last = last;
	pg_write_barrier();
	pg_atomic_write_u64(&shared->head, head);
	pg_write_barrier();
	pg_atomic_write_u64(&shared->leads_to, behind_header(next));
}

/* From the end of the WAL on.  No position from before is good any more. */
static void
begin_anew(void)
{
	const XLogRecPtr end = GetXLogInsertRecPtr();
	const uint64 head = pg_atomic_read_u64(&shared->head) + 1;

	shared->stuck_at = InvalidXLogRecPtr;
	pg_atomic_write_u64(&shared->floor, head);
	pg_memory_barrier();
	publish(head, end, InvalidXLogRecPtr);
}

/* Read as many records as there are, up to reader_goal. */
static void
read_records(void)
{
	uint64		head = pg_atomic_read_u64(&shared->head);
	XLogRecPtr	next = shared->next;
	XLogRecPtr	last = shared->last;
	MemoryContext old = MemoryContextSwitchTo(reader_context);
	char	   *error;

	reading = true;
	XLogBeginRead(reader, next);
	/* It must neither take an old page for this one, nor read the first page of a file that it takes for another. */
	XLByteToSeg(next, reader->seg.ws_segno, wal_segment_size);
	reader->readLen = 0;
	while (behind_header(next) < reader_goal && XLogReadRecord(reader, &error) != NULL)
	{
		/* The reader knows of no record before the first, which may be an old one in a buffer that is used again. */
		if (last != InvalidXLogRecPtr && XLogRecGetPrev(reader) != last)
			break;
		append_record(&head);
		last = reader->ReadRecPtr;
		next = reader->EndRecPtr;
	}
	reading = false;
	MemoryContextSwitchTo(old);
	if (next != shared->next)
		publish(head, next, last);
}

/* A record was not there.  Has it not been there for long? */
static bool
is_lost(void)
{
	const TimestampTz now = GetCurrentTimestamp();

	if (shared->stuck_at != shared->next)
	{
		shared->stuck_at = shared->next;
		shared->stuck_since = now;
		return false;
	}
	return TimestampDifferenceExceeds(shared->stuck_since, now, LOST_AFTER_MS);
}

/* False: the trail does not lead to the goal now. */
static bool
lead_to(XLogRecPtr goal)
{
	if (!make_reader())
		return false;
	if (shared->next == InvalidXLogRecPtr || GetXLogInsertRecPtr() - shared->next > MOST_BEHIND)
	{
		begin_anew();
		return pg_atomic_read_u64(&shared->leads_to) >= goal;
	}
	for (int i = 0; i < TRIES; i++)
	{
		reader_goal = GetXLogInsertRecPtr();
		find_buffers(reader_goal);
		read_records();
		if (pg_atomic_read_u64(&shared->leads_to) >= goal)
			return true;
		for (int j = 0; j < PAUSES_PER_TRY; j++)
			SPIN_DELAY();
	}
	if (is_lost())
		begin_anew();
	return pg_atomic_read_u64(&shared->leads_to) >= goal;
}

/*-------------------------------------------------------------------------
 * Users
 *-------------------------------------------------------------------------
 */
uint64
gc_trail_position(void)
{
	uint64		position;

	pg_memory_barrier();
	position = pg_atomic_read_u64(&shared->head);
	pg_memory_barrier();
	return position;
}

uint64
gc_trail_floor(void)
{
	pg_read_barrier();
	return pg_atomic_read_u64(&shared->floor);
}

XLogRecPtr
gc_trail_goal(void)
{
	if (!gc_enable_wal_trail || RecoveryInProgress())
		return InvalidXLogRecPtr;
	return GetXLogInsertRecPtr();
}

uint64
gc_trail_reach(XLogRecPtr goal, uint64 pages)
{
	for (int i = 0; goal != InvalidXLogRecPtr && i < MOST_WAITS; i++)
	{
		const XLogRecPtr at = pg_atomic_read_u64(&shared->leads_to);
		bool		leads = true;

		if (at >= goal)
		{
			pg_read_barrier();
			return pg_atomic_read_u64(&shared->head);
		}
		if (at != InvalidXLogRecPtr && goal - at > pages * BYTES_PER_PAGE + gc_debug_trail_bytes && goal - at <= MOST_BEHIND)
			return 0;
		if (LWLockAcquireOrWait(gc_lock(GC_LOCK_TRAIL), LW_EXCLUSIVE))
		{
			leads = pg_atomic_read_u64(&shared->leads_to) >= goal || lead_to(goal);
			LWLockRelease(gc_lock(GC_LOCK_TRAIL));
		}
		if (!leads)
			return 0;
	}
	return 0;
}

bool
gc_trail_next(GcTrailWalk *walk, BlockNumber *block, XLogRecPtr *lsn)
{
	for (; walk->at < walk->to; walk->at++)
	{
		const GcTrailPage *page = &shared->pages[walk->at % TRAIL_LENGTH];

		if (page->relnumber != GC_REL_NUMBER(walk->rel) || page->dbid != GC_REL_DB(walk->rel))
			continue;
		*block = page->block;
		*lsn = page->lsn;
		walk->at++;
		return true;
	}
	return false;
}
