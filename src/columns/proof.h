/*-------------------------------------------------------------------------
 *
 * proof.h
 *	  Which pages of a heap chunk are what they were when they were read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROOF_H
#define GC_PROOF_H

#include "postgres.h"

#include "utils/relcache.h"

#include "columns.h"
#include "../settings.h"

/* How it was known. */
typedef struct GcProofCount
{
	uint32		fenced;			/* chunks of which a fence told, as the map page's LSN had moved */
	uint64		looked_at;		/* pages whose LSNs were looked at */
} GcProofCount;

/* Are these the LSNs of a map page that has not changed? */
static inline bool
gc_same_map_lsn(XLogRecPtr a, XLogRecPtr b)
{
	return a == b && gc_debug_map_lsns;
}

/*
 * The pages of a heap chunk, as a bitmap in the map's layout, that are known not to have changed since they were
 * read.  That holds for pages whose bit is set in `map`.  NULL if that is known of none.  `map` is a copy of the
 * bits of the chunk's first npages pages, taken together with the map page's LSN, when the call begins.  May look at
 * these pages.
 */
extern const uint8 *gc_page_proof(Relation rel, GcChunk *chunk, const uint8 *map, uint32 npages,
								  XLogRecPtr lsn, GcProofCount *count);

/*
 * If this is known without a look at pages, let it be known by this fence, too.  The fence was held before the
 * map was copied, and is.  The copy is of all of the chunk's pages.
 */
extern void gc_renew_proof(GcChunk *chunk, const uint8 *map, XLogRecPtr lsn, uint64 fence);

/*
 * Take pages out of a bitmap: all whose bit is set in `map`, too, but whose LSN has changed since they
 * were read.  Looks at each page.
 */
extern void gc_drop_changed(Relation rel, BlockNumber first, uint32 npages, const uint8 *map,
							const XLogRecPtr *lsns, pg_atomic_uint32 *buffers, uint8 *present);

#endif							/* GC_PROOF_H */
