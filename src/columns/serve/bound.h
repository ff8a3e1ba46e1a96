/*-------------------------------------------------------------------------
 *
 * bound.h
 *	  How far the WAL matters for a session: its bound.
 *
 * Claim.  A session takes its bound after its snapshot.  Let X be a transaction that the snapshot sees, or the session's
 * own.  Then each record of a change by X ends at the bound or before it.
 *
 * Proof.  In recovery the bound is where replay has come to.  The snapshot sees X once its commit record is being replayed,
 * and all records before that one have been.  X's changes are among them.
 *
 * Else X committed here.  If its commit record was flushed before others could see it, it is before where the WAL is flushed
 * to.  That is so but for a commit with synchronous_commit = off.  Such a process first counts itself as pending, then
 * commits, then raises the end of such commits to its record's, and then is pending no more.  The session asks for pending
 * ones first.  If it finds X's process, the bound is the end of all that was inserted.  If not, it is done with, or did not
 * begin before the snapshot was taken, which then does not see X.  What the session has changed itself ends at its last
 * record.
 *
 * A transaction without an id has changed nothing that a snapshot sees.  COMMIT PREPARED always flushes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BOUND_H
#define GC_BOUND_H

#include "postgres.h"

#include "access/xlogdefs.h"

extern Size gc_bound_shmem_size(void);
extern void gc_bound_shmem_init(void);

/* Have commits counted, in this process and those that it forks. */
extern void gc_bound_install(void);

/* The bound of a session, whose snapshot has been taken. */
extern XLogRecPtr gc_wal_bound(void);

/*
 * Where the WAL ends now.  A page that is locked after the call has, or has had, all changes whose records end there or
 * before.  For who changes a page locks it before the record has its place in the WAL, and until the page has its LSN.
 */
extern XLogRecPtr gc_wal_now(void);

#endif							/* GC_BOUND_H */
