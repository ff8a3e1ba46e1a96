/*-------------------------------------------------------------------------
 *
 * serve.c
 *	  What a snapshot is served: of the heap's chunks, of hot chunks, or the same as another one.
 *
 * Runs in backends, under a guard.
 *
 * Two snapshots that see the same transactions see the same rows.  So what was wholly
 * served from a directory's chunks for one is served from them for the other.  Whatever
 * happened to the table in between is the work of transactions that neither of them
 * sees.  No page of the map has to be read, nor the table's length.
 *
 * Snapshots are told by xmax where no transaction was in progress: then they see all up
 * to there that committed.  Sessions that have an xid of their own see their own changes
 * besides.  A snapshot of recovery says in another way what is in progress.
 * Those take no part.  Four thousand million transactions later xmax comes again, so a
 * finding is good for some minutes only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/timestamp.h"

#include "../store/epoch.h"
#include "fresh.h"
#include "serving.h"
#include "../encode/spec.h"
#include "visibility.h"
#include "../../settings.h"

#define WHOLE_SECONDS	600

static bool
told_by_xmax(Snapshot snapshot)
{
	return snapshot != NULL && snapshot->snapshot_type == SNAPSHOT_MVCC && !snapshot->takenDuringRecovery &&
		snapshot->xcnt == 0 && snapshot->subxcnt == 0 && !snapshot->suboverflowed &&
		snapshot->xmin == snapshot->xmax && !TransactionIdIsValid(GetTopTransactionIdIfAny());
}

/* Remember that all of nblocks was served for this snapshot. */
static void
note_whole(GcDirectory *dir, Snapshot snapshot, BlockNumber nblocks)
{
	pg_atomic_write_u64(&dir->whole_for, 0);
	pg_write_barrier();
	pg_atomic_write_u64(&dir->whole_at, GetCurrentTimestamp());
	pg_write_barrier();
	pg_atomic_write_u64(&dir->whole_for, (uint64) snapshot->xmax << 32 | nblocks);
}

/* Serve all, if it was served for a snapshot that sees the same. */
static bool
serve_whole(Relation rel, GcDirectory *dir, Snapshot snapshot, GcServed *served)
{
	const uint64 whole = pg_atomic_read_u64(&dir->whole_for);
	const GcHoles none = {0};
	const char *reason;

	pg_read_barrier();
	if (whole == 0 || (TransactionId) (whole >> 32) != snapshot->xmax || !gc_rel_servable(rel, &reason) ||
		TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&dir->whole_at), GetCurrentTimestamp(),
								   WHOLE_SECONDS * 1000))
		return false;
	memset(served, 0, sizeof(GcServed));
	served->nblocks = served->pages_served = (BlockNumber) whole;
	served->chunks = palloc_extended(Max(dir->nchunks, 1) * sizeof(GcServedChunk), MCXT_ALLOC_HUGE);
	for (uint32 c = 0; c < dir->nheap; c++)
		gc_append_chunk(served, c, dir->facts[c].nrows, &none);
	served->complete = true;
	return true;
}

void
gc_serve(Relation rel, GcDirectory *dir, Snapshot snapshot, GcServed *served)
{
	const bool	told = dir != NULL && told_by_xmax(snapshot);
	const bool	hot = gc_debug_versioned_pages && dir != NULL && dir->nheap < dir->nchunks && snapshot != NULL;
	GcProof		proof;

	Assert(dir == NULL || gc_guard_held());
	if (told && serve_whole(rel, dir, snapshot, served))
		return;
	gc_proof_begin(&proof, rel, dir);
	if (hot)
		gc_serve_hot(&proof, snapshot, served);
	else
		gc_serve_judged(&proof, served, NULL, NULL);
	served->pages_looked_at = proof.looked_at;
	if (told && served->complete)
		note_whole(dir, snapshot, served->nblocks);
}
