/*-------------------------------------------------------------------------
 *
 * looks.h
 *	  Looks at the LSNs of hot pages, whose outcome sessions share.
 *
 * versions.h asks for a look at each hot page after the snapshot was taken.  One look can do
 * for many snapshots, also for one that was taken after the look.
 *
 * Proof.  PostgreSQL counts the transactions that have ended and had an id.  It moves the count
 * before any snapshot can see the transaction.  A session reads the count once it has its
 * snapshot: its snapshot sees none but the first `since` transactions.  A look that began
 * when the count was `since` or more began when they had ended, after all of their changes.
 * So a page that was unchanged then lacks nothing that the snapshot sees.
 *
 * The session's own transaction has not ended.  So a session that has an id looks by itself.  So
 * does one whose snapshot comes from recovery, which is not relied on to count.
 *
 * A page that has changed never is again what it was.  So what looks find is kept as a mark on
 * the page, and marks are only ever set.  A look at a piece of a chunk's pages first reads the
 * count.  At its end it says up to which count the marks of the piece are right.
 *
 * Where the WAL's trail leads far enough (trail.h), no page is looked at: sessions mark the pages that it names.
 *
 * Nobody waits for another's look.  A session leaves pieces for last that another one is
 * looking at, and then looks itself if that one has not come to an end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LOOKS_H
#define GC_LOOKS_H

#include "postgres.h"

#include "port/atomics.h"
#include "storage/block.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "columns.h"

/* Pages of a hot chunk that are looked at in one go, by one session. */
#define GC_PIECE_PAGES	1024

/* A piece of a hot chunk's pages.  Counts are of transactions that had ended; 0: none. */
typedef struct GcLookedAt
{
	pg_atomic_uint64 since;		/* with which the last look began that is done */
	pg_atomic_uint64 under_way; /* with which one began that may be under way; a hint */
} GcLookedAt;

#define GC_PIECES(npages)	(((npages) + GC_PIECE_PAGES - 1) / GC_PIECE_PAGES)

/*
 * Glances at the LSNs of many pages: reads without a lock or pin, which leave the buffers' headers in the
 * caches of all CPUs.
 *
 * A read is good if the buffer was the page's all the time.  PostgreSQL gives a buffer to another page only
 * once its usage count is down to 0, or to 1 if it belongs to a ring.  The hand of the clock takes 1 away
 * when it passes.  So while the hand does not go round, a buffer whose count was GC_SAFE_USAGE or more
 * stays what it was.  (Unless a process is a whole round late with what it was about to do to this buffer.)
 * Other pages are pinned to be looked at, which raises their count.
 *
 * A glance that lasted too long is void: gc_glance_end() returns false.  Then `careful` ones do it.
 */
#define GC_SAFE_USAGE	3

typedef struct GcGlance
{
	Relation	rel;
	bool		careful;		/* look under the header's lock */
	uint64		began;			/* where the hand was, in all its rounds */
} GcGlance;

extern void gc_glance_begin(GcGlance *glance, Relation rel, bool careful);
extern bool gc_glance_end(const GcGlance *glance);

/* The LSN of a page now.  Where it is, is remembered in *hint for the next one to ask. */
extern XLogRecPtr gc_page_lsn(const GcGlance *glance, BlockNumber block, pg_atomic_uint32 *hint);

/* Have the header of a page's buffer and the page's LSN on the way into the CPU's cache, so many pages ahead. */
#define GC_PREFETCH_PAGES	16
extern void gc_prefetch_page(pg_atomic_uint32 *hint);

/* Have the marks of all hot pages of a directory right for a snapshot that was taken before. */
typedef struct GcLook
{
	Relation	rel;
	BlockNumber nblocks;		/* of the relation, learnt after the snapshot was taken */
	bool		alone;			/* looks of others are no use */
	uint64		since;
	XLogRecPtr	goal;			/* where the trail is to lead; invalid: there is none */
	uint64		position;		/* before which it names all that has changed; 0: it does not */
	uint32		pages;			/* that this session has looked at */
} GcLook;

extern void gc_look_begin(GcLook *look, Relation rel, Snapshot snapshot, BlockNumber nblocks);
extern void gc_look(GcLook *look, const GcDirectory *dir);

#endif							/* GC_LOOKS_H */
