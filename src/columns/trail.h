/*-------------------------------------------------------------------------
 *
 * trail.h
 *	  The WAL's trail: which pages of tables have changed lately, as the WAL's records say.
 *
 * A record of the WAL names the pages that it changes.  So sessions need not look at the LSNs of all pages of a hot
 * chunk to find what has changed.  A session that needs the trail reads the new records, for all, and appends the
 * pages that they name to a ring in shared memory.  Places in the ring are numbered from 1 on, and never used again:
 * positions.  A hot chunk has a position up to which its pages are marked, `followed`.
 *
 * Claim.  Let a session with a snapshot ask how far the WAL goes, and then have the trail lead there.  Then let it
 * mark the pages of a chunk that the trail names behind `followed`, if their recorded LSN is less than the record's.
 * Then a page without a mark lacks no change of a transaction that the snapshot sees.
 *
 * Proof.  Let X be such a transaction, and r the record of a change by it.  X ended before the snapshot was taken, so r is
 * before where the WAL went then.  The trail has it, or it was never on this trail.  A session that changes a page locks
 * it before the record gets its place in the WAL.  It holds the lock until after the page has the record's LSN.  The chunk
 * read the page under a share lock.  If the change came first, the chunk has it.  Else r got its place after the page was
 * read.  `followed` began as the trail's position before that, and the trail led at most to where the WAL went.  So r is
 * behind it, and ends behind the recorded LSN: the page is marked.
 *
 * A page that is copied from another chunk takes its mark along.  The new chunk's `followed` is at most that of the
 * other chunk, read before the mark.
 *
 * Where the trail is lost, it begins anew at the end of the WAL, and old positions are void: all before `floor`.  So are positions
 * that the ring has overwritten.  A chunk whose position is void gets a new one by a look at each page under its lock.  That
 * is as good as reading it.  A look without locks would not do: a record may be on the WAL that the page does not show yet.
 *
 * Unlike a look's, this proof covers what the session itself has changed.  Changes without WAL are as with looks:
 * versions.h says which pages are not kept.  On a standby there is no trail.
 *
 * Records are read from the WAL's buffers, where they are before they are written, or else from the files.  A page of
 * the WAL says which one it is, and a record has a checksum.  So what is not there, or not complete yet, is found out.
 * Then the session looks at the pages themselves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_TRAIL_H
#define GC_TRAIL_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "storage/block.h"
#include "utils/relcache.h"

extern Size gc_trail_shmem_size(void);
extern void gc_trail_shmem_init(void);

/* The position now, for pages that are read, or looked at under their locks, from now on.  Never 0. */
extern uint64 gc_trail_position(void);

/* Positions before this one are void. */
extern uint64 gc_trail_floor(void);

/* How far the WAL goes now; invalid: the trail is of no use to this session. */
extern XLogRecPtr gc_trail_goal(void);

/*
 * Have the trail lead to a goal; what it names is before the position that is returned.  0: it does not lead there, or
 * a look at `pages` pages is less work than what is to be read.  May wait for another session that reads the WAL, as
 * long as some megabytes of it take.
 */
extern uint64 gc_trail_reach(XLogRecPtr goal, uint64 pages);

/* A walk along the trail, past the pages of one table. */
typedef struct GcTrailWalk
{
	Relation	rel;
	uint64		from;
	uint64		at;
	uint64		to;
} GcTrailWalk;

static inline GcTrailWalk
gc_trail_walk(Relation rel, uint64 from, uint64 to)
{
	return (GcTrailWalk) {rel, from, from, to};
}

/* The next page, and the LSN that a record has given it; false: there is none. */
extern bool gc_trail_next(GcTrailWalk *walk, BlockNumber *block, XLogRecPtr *lsn);

#endif							/* GC_TRAIL_H */
