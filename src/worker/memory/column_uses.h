/*-------------------------------------------------------------------------
 *
 * column_uses.h
 *	  How often parts of columns were used, and the trace of requests and what they read.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLUMN_USES_H
#define GC_COLUMN_USES_H

#include "postgres.h"

#include "../../columns/store/columns.h"
#include "replacement.h"

static inline u32
gc_place_of(u32 nchunks, u32 chunk)
{
	return nchunks <= GC_PLACES ? chunk : (u32) ((u64) chunk * GC_PLACES / nchunks);
}

/* Uses of a column's places.  What is known of them outlives it. */
typedef struct GcColumnUses
{
	u64			key;			/* successive directories of a relation have it in common */
	GcPlaceUses of;
} GcColumnUses;

extern void gc_column_uses_recall(GcColumnUses *uses, const GcDirectory *dir, int col);
extern void gc_column_uses_keep(const GcColumnUses *uses);

/*
 * The present request uses these chunks of a column that has no table; sources: of cached chunks alone.  Its uses
 * until now and then.
 */
extern GcUses gc_column_used_in_waves(const GcDirectory *dir, int col, const GcSource *sources, u32 nsources, float spared);

/* The key of a column, which successive directories of a relation have in common. */
extern u64	gc_column_key(const GcDirectory *dir, int col);

/* The key of a chunk's place, of a column that has no table. */
extern u64	gc_chunk_use_key(const GcDirectory *dir, int col, u32 chunk);

/* The key under which the uses of a place are kept (gc_uses_of). */
extern u64	gc_place_key(const GcColumnUses *uses, u32 place);

/* A request begins to have data in device memory: the present request of all uses. */
extern void gc_request_begins(int slot);

/*
 * The present request uses these chunks of a column, and is spared this share of their bytes if they are there.  sources:
 * of cached chunks alone, each once.
 */
extern void gc_column_used(GcColumnUses *uses, const GcDirectory *dir, int col, const GcSource *sources, u32 nsources,
						   float spared);

#endif							/* GC_COLUMN_USES_H */
