/*-------------------------------------------------------------------------
 *
 * fence.h
 *	  Snapshot fences: snapshots that are held so that VACUUM cannot hide a change.
 *
 * A fence is a snapshot that a process of the database, the keeper, holds for a while (fence_keeper.h).  Fences
 * have numbers, which ascend and are never used again.
 *
 * Claim.  Let a page's map bit be set at two moments, and one fence be held from before the first until after the
 * second.  Then no row of the page has changed in between, as far as new snapshots see.
 *
 * Proof.  Who changes a page clears its bit first.  Let X be the transaction of a change after the first moment.
 * It was running when the fence was taken, or began later.  So its id is not less than the fence's xmin.  For the
 * bit to be set again, all of the page's rows must be visible to all, and no deleted row may be left.  VACUUM
 * takes that from the horizon: X's rows are visible to all, or rows that X deleted are removed, only if X precedes
 * it.  A horizon that is computed while the fence is held is at most its xmin.  So is one that was computed
 * before, since each id that ran at the fence was running then or began later.  So if X committed, the bit
 * is not set at the second moment.  If X failed, then VACUUM leaves the rows that were there before.
 *
 * What the horizon does not bind is excluded elsewhere.  That is rows that are frozen by COPY (spec.c: the table is
 * new in that transaction), and old_snapshot_threshold (spec.c).  On a standby no fence is held.
 *
 * Use.  A chunk has `proven_fence`: at some moment at which this fence was held, its `present` held.  A session
 * copies the map, and then asks whether the fence is still held.  If so, the pages of `present` whose bit is
 * set are what they were.  The keeper hands proofs on from fence to fence, while it holds both.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FENCE_H
#define GC_FENCE_H

#include "postgres.h"

extern Size gc_fence_shmem_size(void);
extern void gc_fence_shmem_init(void);

/* A fence that is held now, the youngest of this database; 0: there is none.  May have ended when it is used. */
extern uint64 gc_fence_youngest(void);

/* Is this fence still held?  What was read before the call was read while it was. */
extern bool gc_fence_held(uint64 fence);

/* The same for a session, whose use keeps the keeper there. */
extern bool gc_fence_used(uint64 fence);

/*
 * A session had to look at pages for want of a fence.  If that happened before, lately, there is to be a keeper:
 * then true, and the caller is to start one.
 */
extern bool gc_fence_missed(void);

/* Have a database's keeper end, and wait for that; not for long. */
extern void gc_fence_dismiss(Oid dbid);

/*-------------------------------------------------------------------------
 * For the keeper.
 *-------------------------------------------------------------------------
 */

/* Become the keeper of this database; false if there is one.  Exit ends all of its fences. */
extern bool gc_fence_take_place(void);

/* The number of a snapshot that is registered now; and let all fences before this one end, before their snapshots do. */
extern uint64 gc_fence_begin(void);
extern void gc_fence_end_before(uint64 fence);

/* End all fences, before their snapshots end; and give the place up, too. */
extern void gc_fence_end_all(void);
extern void gc_fence_leave_place(void);

/* Has nobody used a fence for so long, or is the keeper asked to end? */
extern bool gc_fence_unused(int ms);

#endif							/* GC_FENCE_H */
