/*-------------------------------------------------------------------------
 *
 * wal_changes.h
 *	  How far the WAL matters for a session, its bound; and which pages of tables have changed lately, by its records.
 *
 * Claim.  A session takes its bound after its snapshot.  Let X be a transaction that the snapshot sees, or the
 * session's own.  Then each record of a change by X ends at the bound or before it.
 *
 * Proof.  In recovery the bound is where replay has come to.  The snapshot sees X once its commit record is being
 * replayed, and all records before that one have been.  X's changes are among them.
 *
 * Else X committed here.  If its commit record was flushed before others could see it, it is before where the WAL is
 * flushed to.  That is so but for a commit with synchronous_commit = off.  Such a process first counts itself as
 * pending, then commits.  Then it raises the end of such commits to its record's, and is pending no more.  The session
 * asks for pending ones first.  If it finds X's process, the bound is the end of all that was inserted.  If not, it is
 * done with, or did not begin before the snapshot was taken, which then does not see X.  Changes of the session itself
 * end at its last record.
 *
 * A transaction without an id has changed nothing that a snapshot sees.  COMMIT PREPARED always flushes.
 *
 * A record of the WAL names the pages that it changes.  So sessions need not look at all cached pages to find which
 * have changed.  A session that needs to know reads the new records, for all, and appends the pages that they name to a
 * ring in shared memory.  Records are read from the WAL's files, as far as these are written, or in recovery replayed.
 *
 * Claim.  Let a table be watched, and the WAL have ended at `since` then or later.  The ring has each page of the
 * table that a record names which ends behind `floor` and `since`, and at `complete_to` or before it.
 *
 * Proof.  Records are read one after the other, from a position on at which both began.  complete_to is raised once
 * the pages are there.  It may be raised to where the WAL could be read: a record that was not read ends behind that.
 * A record behind `since` had no place in the WAL when the table's mark was set, so who reads it finds the mark.
 * Before a page in the ring is overwritten, floor is raised to its record's end.  Who copies pages out of the ring asks
 * for floor last.
 *
 * A record that drops a database, or copies one by files, names no pages.  So floor is raised to its end.  The
 * database's number may have been another one's, of which a standby still has chunks: it is told of no drop.
 *
 * Where records cannot be read any more, both begin anew at the end of the WAL.  Another timeline has the WAL of the
 * one before, up to where it was replayed, in the file in which it begins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAL_CHANGES_H
#define GC_WAL_CHANGES_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "storage/block.h"
#include "utils/relcache.h"

extern void gc_wal_changes_shmem(void);

/* Have commits counted, in this process and those that it forks. */
extern void gc_bound_install(void);

/* The bound of a session, whose snapshot has been taken. */
extern XLogRecPtr gc_wal_bound(void);

/*
 * Where the WAL ends now.  A page that is locked after the call has, or has had, all changes whose records end there or
 * before.  For who changes a page locks it before the record has its place in the WAL, and until the page has its LSN.
 */
extern XLogRecPtr gc_wal_now(void);

/* Watch a table from now on, for good.  The pages of others may be left out.  The ring has begun then. */
extern void gc_wal_changes_watch(Relation rel);

/*
 * Have all changes known up to `bound` at least; how far they are.  Invalid: they are not, or looks at `pages` pages
 * are less work than the WAL to be read.  Flushes the WAL if it is not written so far.  May wait for another session
 * that reads the WAL, as long as 64 MB of it take at the most.  A cancel waits for 4 MB.
 */
extern XLogRecPtr gc_wal_changes_reach(XLogRecPtr bound, uint64 pages);

/* Changes behind this one are known. */
extern XLogRecPtr gc_wal_changes_floor(void);

/* A page of a table, and the end of a record that has changed it. */
typedef struct GcWalChange
{
	BlockNumber block;
	XLogRecPtr	end;
} GcWalChange;

/*
 * The changes of a table behind *from, by block, at least up to where they were known before the call.  *from is raised
 * to where it is only known from there.  May have others, too.  palloc'd.
 */
extern GcWalChange *gc_wal_changes_of(Relation rel, XLogRecPtr *from, uint32 *n);

#endif							/* GC_WAL_CHANGES_H */
