/*-------------------------------------------------------------------------
 *
 * fence_keeper.h
 *	  The keeper of a database's snapshot fences (fence.h).
 *
 * A background worker.  It takes a snapshot about ten times a second, and lets go the last but one.  In between it
 * copies the visibility maps of all tables that are cached, and hands the proofs on.  So VACUUM cannot remove what
 * was deleted in the last three tenths of a second.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FENCE_KEEPER_H
#define GC_FENCE_KEEPER_H

#include "postgres.h"

#include "utils/snapshot.h"

/* What a keeper holds; all 0 at first. */
typedef struct GcFenceKeeper
{
	Snapshot	older;
	Snapshot	younger;
	uint64		older_fence;
	uint64		younger_fence;
} GcFenceKeeper;

/*
 * Take a fence, hand proofs on to it, and let go the last but one.  In a READ COMMITTED transaction whose process has
 * the keeper's place (fence.h), and by whose end all are let go.
 */
extern void gc_fence_keeper_round(GcFenceKeeper *keeper);

/* Let go of all fences. */
extern void gc_fence_keeper_end(GcFenceKeeper *keeper);

/* All that the worker does. */
extern void gc_fence_keeper_run(void);

#endif							/* GC_FENCE_KEEPER_H */
