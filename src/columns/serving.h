/*-------------------------------------------------------------------------
 *
 * serving.h
 *	  What hot pages a snapshot was served, noted for sessions whose snapshots see the same.
 *
 * Two snapshots that see the same transactions see the same rows.  So what one of them was
 * served from a directory is served to the other, whatever happened to the table in between;
 * neither sees that.  Nothing is looked at, and no row version is judged.  Pages that were
 * left out are read by each session, under its own snapshot.
 *
 * Snapshots are compared by all that they say, which only changes when a transaction ends.  A
 * session with an id takes no part, nor does a snapshot of recovery, nor one with many ids.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SERVING_H
#define GC_SERVING_H

#include "postgres.h"

#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "visibility.h"

/*
 * Serve what a session with the same snapshot was served of this directory; false: not known.  Needs a
 * guard, under which what is served lasts.
 */
extern bool gc_serve_noted(Relation rel, const GcDirectory *dir, Snapshot snapshot, GcServed *served);

/* Note what this snapshot was served of the directory.  Needs a guard. */
extern void gc_note_served(const GcDirectory *dir, Snapshot snapshot, GcServed *served);

/* Which rows of the directory's chunks are served, and which not. */
extern GcHash gc_served_hash(const GcServed *served);

#endif							/* GC_SERVING_H */
