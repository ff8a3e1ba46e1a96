/*-------------------------------------------------------------------------
 *
 * fresh.h
 *	  Pages of chunks that have not changed since they were read.  There are two evidences.
 *
 * A page's mark says that it has changed: a bit taken out of `present` in a chunk of the heap, `changed` in a hot
 * chunk.  Marks are only ever set.  Each chunk says up to which LSN they are complete, `proven_to`.
 *
 * Claim.  Take a record that has changed a page of the chunk, and ends at proven_to or before it.  The page was read
 * with its change, or is marked.  Let proven_to be the session's bound (wal_changes.h) or more.  Then a page without
 * a mark lacks no change of a transaction that the session's snapshot sees.
 *
 * Proof.  The chunk began with gc_wal_now() from before its first page was read under its lock: changes with a record
 * by then are in the page.  The table was watched by then, too.  proven_to is raised only once marks are set, and never
 * lowered.  A page that is copied from another chunk takes its mark along.  The new chunk begins with no more than that
 * chunk's proven_to, read before the mark.
 *
 * First evidence: an LSN that has not moved.  A look reads the page's LSN under its lock.  If it is the recorded one,
 * the page has not changed.  A sweep asks gc_wal_now(), looks at all pages without a mark, and raises proven_to to
 * that.  It does for all sessions whose bound is not beyond.
 *
 * Second evidence: the WAL, which names the pages that its records change (wal_changes.h).  Where it is known from
 * proven_to up to the bound or further, only pages that it names are looked at.  A record on the WAL has changed its
 * page, or its process has the page locked, so the look sees it.  Pages whose rows have not changed are named, too,
 * such as those that VACUUM finds all-visible.  They stay.
 *
 * The first evidence has a short cut for chunks of the heap.  Each transition of a bit of the map from 0 to 1 stamps
 * the map page's LSN.  So while that is the one for which the chunk's `present` holds, `proven_lsn`, a bit set now has
 * been set all along.  And while it is set, nothing changes the rows that a snapshot sees of the page.  Bit and LSN
 * must be of one copy of the map page, so visibility.c asks with each copy.
 *
 * Claim.  If proven_to is not less than a map page's LSN, `present` holds for that LSN.
 *
 * Proof.  Let a page have changed, and its bit be set in a copy of the map with this LSN.  The change cleared the bit,
 * so it was set after that: by a record behind the change's, which stamped the map page.  That is not behind the map
 * page's LSN.  So the change's record ends before proven_to, and the page is marked.
 *
 * Blocks that the relation no longer has count as changed.  The LSN of a page of the heap's chunks may be 0, as it was
 * written without WAL by the transaction that made the file.  Then a look says nothing, and counts as a change.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FRESH_H
#define GC_FRESH_H

#include "postgres.h"

#include "access/htup.h"
#include "utils/relcache.h"

#include "../store/columns.h"
#include "../store/notes.h"
#include "wal_changes.h"
#include "../../settings.h"

/* Are these the LSNs of a map page that has not changed? */
static inline bool
gc_same_map_lsn(XLogRecPtr a, XLogRecPtr b)
{
	return a == b && gc_debug_map_lsns;
}

/* Hot pages that a session has read, for the sessions behind it (amend.h). */
typedef struct GcReadPages
{
	GcNote		note;
	uint64		id;				/* never reused */
	GcChunk		chunk;			/* only npages and hot count */
	HeapTupleData *tuples;		/* rows of versions that are not in the heap's chunk are numbers of these */
} GcReadPages;

/* A session's proof of a directory: how far it must reach, and the evidence for it. */
typedef struct GcProof
{
	Relation	rel;
	const GcDirectory *dir;		/* NULL: nothing is cached */
	XLogRecPtr	bound;
	BlockNumber nblocks;		/* of the relation */
	uint64		looked_at;		/* pages */
	GcReadPages *read;			/* the directory's note of pages that were read, proven with its hot chunks; or NULL */

	/* The relation's pages that the WAL names. */
	uint64		asked;			/* for, rather than to look at so many pages */
	XLogRecPtr	known;			/* all records that end here or before it; invalid: they are not known */
	XLogRecPtr	from;			/* and behind here */
	uint32		nchanges;
	GcWalChange *changes;		/* palloc'd, by block */
} GcProof;

/* Begin, once the snapshot is taken.  Needs a guard until the proof's end, if there is a directory. */
extern void gc_proof_begin(GcProof *proof, Relation rel, const GcDirectory *dir);

/* Have the marks of all hot chunks complete, and those of pages that sessions have read. */
extern void gc_prove_hot(GcProof *proof);

/*
 * The pages of a heap chunk, as a bitmap in the map's layout, that are known not to have changed since they were
 * read.  That holds for pages whose bit is set in `map`.  NULL if that is known of none.  `map` is a copy of the
 * bits of the chunk's first npages pages, taken together with the map page's LSN.
 */
extern const uint8 *gc_prove_heap(GcProof *proof, GcChunk *chunk, const uint8 *map, uint32 npages, XLogRecPtr lsn);

/*
 * Take pages out of a bitmap: all whose bit is not set in `map`, and those whose LSN has changed since they were
 * read.  Looks at each other page, and says at how many.
 */
extern uint64 gc_drop_changed(Relation rel, BlockNumber first, uint32 npages, const uint8 *map,
							  const XLogRecPtr *lsns, pg_atomic_uint32 *buffers, uint8 *present);

#endif							/* GC_FRESH_H */
