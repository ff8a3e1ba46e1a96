/*-------------------------------------------------------------------------
 *
 * amend.h
 *	  Changes between a base and the pages that a later snapshot is served (serving.h).  Also, hot pages that a session
 *	  has read, for the sessions behind it.
 *
 * A page that has changed since the last load of hot pages is to be read by each session, until the next load.  Beside
 * many writers that is hundreds of pages for each query.  So a session that finds more than a few of them makes a note
 * of them.  It has the tuples that the heap's chunk does not have, byte by byte, and the transactions of each row
 * version.  Others judge these by their own snapshots, as they judge versions of hot chunks.  The next note also has
 * those pages of this one that its session needs.
 *
 * Proof.  It is that of hot chunks (versions.h).  Such a note is a hot chunk without columns, with marks and
 * `proven_to` (fresh.h).  Its pages are read after gc_wal_now() was asked, or copied with their marks.
 *
 * A tuple's values may be in a TOAST table.  Only a session that sees the tuple fetches them, and while its snapshot is
 * registered they stay there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_AMEND_H
#define GC_AMEND_H

#include "postgres.h"

#include "../store/notes.h"
#include "versions.h"
#include "visibility.h"

/* Ids of a snapshot that is noted. */
#define GC_SERVING_MAX_IDS	128

/* VACUUM is noticed after at most these milliseconds. */
#define GC_VACUUMED_MS			1000

/* All that a snapshot says of which transactions it sees. */
typedef struct GcSnapshotKey
{
	FullTransactionId xmax;
	TransactionId xmin;
	uint32		xcnt;
	int32		subxcnt;
	bool		suboverflowed;
	TransactionId ids[GC_SERVING_MAX_IDS];	/* the rest is 0 */
} GcSnapshotKey;

/* A base: the pages that one snapshot was served.  Rows of open versions are in no hole of `served`. */
typedef struct GcBase
{
	GcNote		note;
	uint64		id;				/* never reused */
	TimestampTz made_at;
	GcSnapshotKey key;
	GcServed	served;
	GcKept		kept;
} GcBase;

typedef struct GcAmendedHole
{
	uint32		chunk;
	GcHole		hole;
} GcAmendedHole;

typedef struct GcAmendment
{
	uint32		nholes;
	GcAmendedHole *holes;		/* ascending; apart from each other, but not from the base's */
	uint32		nblocks;
	BlockNumber *blocks;		/* that are to be read, beside the base's or, if its delta is open, in all; ascending */
	uint32		nnew;
	GcNewRows  *new_rows;		/* of others only these; ascending */
	uint32		noffsets;
	uint16	   *offsets;
	uint32		ntuples;		/* and these, of yet others */
	HeapTuple  *tuples;
	uint32		nread;			/* pages that they are of, or that only have holes */
	uint64		read_id;		/* of the note that has the tuples (GcReadPages); 0: there are none */
	BlockNumber end;			/* of the relation now: blocks behind the base's are to be read, too */
	uint32		taken;			/* of all these pages: those that the base serves */
	uint32		from_heap;		/* of these: those that chunks of the heap have */
	uint32		own;			/* and those with this session's changes */
} GcAmendment;

/* Has VACUUM made more than a 64th of all pages all-visible, or any and GC_VACUUMED_MS ago?  Then a base is made. */
extern bool gc_base_is_old(GcProof *proof, const GcBase *base);

/*
 * Find the changes for a snapshot that is later than the base's; false if there are too many, or nothing is proven.
 * Hot chunks are proven.  palloc'd.
 */
extern bool gc_amend_find(GcProof *proof, const GcBase *base, Snapshot snapshot, GcAmendment *amendment);

/* Find the open versions for the base's own snapshot, which has just been served. */
extern void gc_amend_open(GcProof *proof, const GcBase *base, Snapshot snapshot, GcAmendment *amendment);

#endif							/* GC_AMEND_H */
