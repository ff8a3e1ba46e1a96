/*-------------------------------------------------------------------------
 *
 * serving.h
 *	  Pages that a snapshot was served of a directory with hot chunks, noted for later snapshots.
 *
 * The pages that one snapshot was served, the base, do for each later snapshot, but for changes in between.  That is
 * pages of chunks of the heap whose map bit was cleared, hot pages whose LSN has moved, and versions that were open.
 * These changes are an amendment.  So a session pays for pages that were written to, not for all hot ones.
 *
 * Proof.  A snapshot is later than another if it sees all transactions as ended that the other one sees so.  A
 * version is open for a snapshot if a transaction of it had not ended for that snapshot.  So its verdict may be
 * another one for a later snapshot.  All other verdicts stay, since the outcome of a transaction does.  Whether a page
 * has changed is found out anew for each snapshot (fresh.h).  The session reads pages that have changed.
 *
 * Snapshots are compared by the ids of transactions that they see in progress.  An id of a later snapshot that
 * the other one could have seen must be among its ids.  Subtransactions need no comparison: each has an id
 * after its parent's.  A snapshot of recovery has the ids of both as if all were subtransactions', or says that it does
 * not have all.  Those that do not take no part.
 *
 * Two snapshots that say the same see the same rows.  So an amendment is noted, too, and does for sessions with the
 * same snapshot: they look at nothing.  VACUUM takes no transaction id, so one of them compares the visibility map once
 * a second.  Pages that were left out are read by each session, under its own snapshot.
 *
 * A session with an id makes no notes, as its snapshot does not say that its own transaction is in progress.
 * It may use a base: for that, its transaction had not ended, so all that it did is open.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SERVING_H
#define GC_SERVING_H

#include "postgres.h"

#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "amend.h"

/*
 * Chunks, holes and pages that serve a snapshot of a table, by its directory (NULL: nothing is cached).  To be called
 * once the snapshot was taken and while it is registered; NULL: for none in particular.  Needs a guard, under which
 * served chunks last.
 */
extern void gc_serve(Relation rel, GcDirectory *dir, Snapshot snapshot, GcServed *served);

/* Make the base of a directory that is about to be published, for all sessions. */
extern void gc_serve_ahead(Relation rel, const GcDirectory *dir, Snapshot snapshot);

/* Serve a base by its amendment. */
extern void gc_amend(const GcDirectory *dir, const GcBase *base, const GcAmendment *amendment, GcServed *served);

#endif							/* GC_SERVING_H */
