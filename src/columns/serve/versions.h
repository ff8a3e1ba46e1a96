/*-------------------------------------------------------------------------
 *
 * versions.h
 *	  Versioned pages: copies of hot pages, served by the snapshot's rules.
 *
 * A page that is not all-visible is hot.  It is read once, for all sessions, into a hot
 * chunk.  That has its rows in columns, as any chunk, and the page's LSN.  Of each row
 * version that not every snapshot sees, it has the transactions that made and ended it.
 *
 * Proof.  A change of the tuples of a permanent table's page changes its LSN, and the change's record in the WAL names
 * the page.  fresh.h says when a page lacks no change by a transaction that the snapshot sees.  So every such change is
 * in the chunk.  Which tuples the snapshot sees follows from the recorded transactions, by the rules of
 * HeapTupleSatisfiesMVCC().  It does not matter that the page may change meanwhile.  That is the work of transactions
 * that the snapshot does not see.
 *
 * A page of a table whose file grew by several pages may be new: zeros, without an LSN.  It is recorded without rows.
 * Whoever adds a row gives it an LSN, but for the transaction that made the file (wal_level = minimal).  Before
 * that one ends, nobody else sees the file, and it is served nothing of it itself.
 *
 * Transactions are recorded as 64 bits.  Their commit status can be asked for while the page has them.  VACUUM may have
 * taken them out behind the session's bound, and the log of commits be cut.  So those that ended before the snapshot's
 * xmin are asked for under the lock that the log is cut under.  If it has forgotten one, the page has changed, and is
 * marked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_VERSIONS_H
#define GC_VERSIONS_H

#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "../store/columns.h"
#include "visibility.h"

/* Fates of a version's transactions, found out for all sessions. */
#define GC_XMIN_COMMITTED	0x01
#define GC_XMIN_ABORTED		0x02
#define GC_XMAX_COMMITTED	0x04
#define GC_XMAX_ABORTED		0x08

/* A row version that not every snapshot sees. */
typedef struct GcVersion
{
	uint32		row;			/* of the hot chunk; with GC_HEAP_ROW, of the heap's (patches.h) */
	pg_atomic_uint32 known;
	FullTransactionId xmin;		/* invalid: every snapshot sees that it was inserted */
	FullTransactionId xmax;		/* invalid: no snapshot sees that it was deleted */
} GcVersion;

typedef struct GcPatch GcPatch; /* patches.h */

/* A hot chunk's pages, beside their rows; npages is the chunk's. */
struct GcHotPages
{
	BlockNumber *blocks;		/* ascending */
	XLogRecPtr *lsns;			/* when they were read; 0: a new page, without rows */
	pg_atomic_uint32 *buffers;	/* where they were last found; a hint */
	uint8	   *changed;		/* 1: the page is known to have changed; for good */
	pg_atomic_uint64 proven_to; /* LSN: up to where `changed` is complete (fresh.h) */
	uint32	   *first_version;	/* npages + 1: by page, in versions */
	uint32	   *first_left_out; /* npages + 1: by page, in left_out */
	GcVersion  *versions;		/* of a page, ascending by row: of the hot chunk, and of the heap's */
	uint16	   *left_out;		/* tuples that are no rows: their offsets, ascending */
	GcPatch    *patches;		/* by page: its rows in the heap's chunk */
	uint32	   *first_gone;		/* npages + 1: by page, in gone */
	uint16	   *gone;			/* rows of the heap's chunk that no snapshot sees: numbers in the page, ascending */
};

/* Bytes of a GcHotPages; and one that is laid out there, empty, with room for so much. */
extern Size gc_hot_size(uint32 npages, uint32 nversions, uint32 nleft_out, uint32 ngone);
extern GcHotPages *gc_hot_init(void *memory, uint32 npages, uint32 nversions, uint32 nleft_out);

/*
 * The 64 bits of a transaction id.  `next` was the next one lately; ids given out since may be later.
 */
static inline FullTransactionId
gc_full_xid(TransactionId xid, FullTransactionId next)
{
	const uint64 near = U64FromFullTransactionId(next);

	return FullTransactionIdFromU64(near + (int64) (int32) (xid - (uint32) near));
}

typedef enum GcTupleFate
{
	GC_TUPLE_OF_ALL,			/* every snapshot sees it */
	GC_TUPLE_OF_SOME,			/* a version */
	GC_TUPLE_OF_NONE,
	GC_TUPLE_REFUSED			/* its page cannot be kept */
} GcTupleFate;

/* The horizons by which the transactions of a table's tuples are judged. */
typedef struct GcHorizon
{
	FullTransactionId next;
	FullTransactionId oldest;	/* a transaction that committed before is seen by every snapshot */
} GcHorizon;

extern GcHorizon gc_horizon(Relation rel);

/* Judge a tuple of a locked or copied page, and note a version's transactions in *v. */
extern GcTupleFate gc_judge_tuple(const GcHorizon *h, HeapTupleHeader tuple, GcVersion *v);

/* A snapshot, and its xmin as a transaction of 64 bits. */
typedef struct GcSeer
{
	Snapshot	snapshot;
	FullTransactionId xmin;		/* the snapshot's */
	bool		has_xid;		/* this session has changed something */
} GcSeer;

extern void gc_seer_init(GcSeer *seer, Snapshot snapshot);

/*
 * Does the snapshot see a version?  It is open if another snapshot, which sees all that this one sees and
 * more, may see it otherwise.
 */
#define GC_VERSION_SEEN		0x01
#define GC_VERSION_OPEN		0x02
extern uint8 gc_judge_version(const GcSeer *seer, GcVersion *v);

/* Is something on the page this session's own work?  Then command ids matter, too. */
extern bool gc_page_is_own(const GcSeer *seer, const GcHotPages *hot, uint32 page);

/*
 * Are the outcomes known of a version's transactions, or of all on a page, if they ended before the snapshot's xmin?
 * If not, the page has changed.  To be asked before they are judged.
 */
extern bool gc_version_is_known(const GcSeer *seer, GcVersion *v);
extern bool gc_page_is_known(const GcSeer *seer, const GcHotPages *hot, uint32 page);

/* An open version of a page that is served. */
typedef struct GcOpenVersion
{
	uint32		chunk;
	uint32		page;			/* of it */
	uint32		version;
} GcOpenVersion;

/* Part of a base, for later snapshots (serving.h). */
typedef struct GcKept
{
	GcServedMaps maps;
	uint8	  **pages;			/* by hot chunk and page: is it served? */
	bool		delta_open;		/* the delta's rows in heap chunks are in no hole, either */
	uint32		nopen;			/* of open versions, whose rows are in no hole */
	uint32		open_size;
	GcOpenVersion *open;		/* by chunk, and ascending in each */
} GcKept;

/*
 * Serve pages of the delta that gc_serve_judged() left from hot chunks, which are proven, for this snapshot; shorten
 * the delta.  Needs a guard.  With `kept`, open versions are left to the caller.
 */
extern void gc_serve_versions(const GcDirectory *dir, Snapshot snapshot, GcServed *served, GcKept *kept);

/*
 * The pages of a sorted list of block ranges, numbered from 0 on, and a bit for each.  A cursor
 * finds the numbers of ascending blocks.
 */
typedef struct GcBlockSet
{
	const GcBlockRange *ranges;
	uint32		nranges;
	BlockNumber npages;
	uint8	   *taken;			/* palloc'd, bit per page */
	uint32		at;				/* cursor: a range, and the number of its first page */
	BlockNumber before;
} GcBlockSet;

extern void gc_blocks_init(GcBlockSet *set, const GcBlockRange *ranges, uint32 nranges);
extern void gc_blocks_rewind(GcBlockSet *set);

/* Number of a block, or -1 if it is not in the set.  Blocks must ascend since the rewind. */
extern int64 gc_blocks_find(GcBlockSet *set, BlockNumber block);

#define GC_BLOCK_TAKEN(set, n)	(((set)->taken[(n) >> 3] >> ((n) & 7)) & 1)
#define GC_BLOCK_TAKE(set, n)	((set)->taken[(n) >> 3] |= 1 << ((n) & 7))

#endif							/* GC_VERSIONS_H */
