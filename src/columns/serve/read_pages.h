/*-------------------------------------------------------------------------
 *
 * read_pages.h
 *	  Hot pages that a session has read, for the sessions behind it.
 *
 * A page that has changed since the last load of hot pages is to be read by each session, until the next load.  Beside many
 * writers that is hundreds of pages for each query.  So a session that finds more than a few of them notes what it has read:
 * the tuples that the heap's chunk does not have, byte by byte, and the transactions of each row version.  Others judge these by
 * their own snapshots, as they judge versions of hot chunks.  The next note also has
 * those pages of this one that its session needs.
 *
 * Proof.  It is that of hot chunks (versions.h).  Such a note is a hot chunk without columns, with marks and `proven_to`
 * (fresh.h).  Its pages are read after gc_wal_now() was asked, or copied with their marks.
 *
 * A tuple's values may be in a TOAST table.  Only a session that sees the tuple fetches them, and while its snapshot is
 * registered they stay there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_READ_PAGES_H
#define GC_READ_PAGES_H

#include "postgres.h"

#include "access/htup_details.h"

#include "../store/notes.h"
#include "fresh.h"
#include "versions.h"

struct GcReadPages
{
	GcNote		note;
	uint64		id;				/* never reused */
	GcChunk		chunk;			/* only npages and hot count */
	HeapTupleData *tuples;		/* rows of versions that are not in the heap's chunk are numbers of these */
};

/*
 * Have the proof's directory's note of pages that have been read, in proof->read.  Of the blocks, which ascend, those are read
 * that it lacks, if they are many.  Hot chunks are proven.
 */
extern void gc_read_pages(GcProof *proof, const BlockNumber *blocks, uint32 n);

/* The number of a page in the note, or -1: each session is to read it.  Blocks must ascend, and *at begin with 0. */
extern int64 gc_read_pages_find(const GcReadPages *read, BlockNumber block, uint32 *at);

#endif							/* GC_READ_PAGES_H */
