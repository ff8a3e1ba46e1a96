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

/*
 * The pages of a heap chunk, as a bitmap in the map's layout, that are known not to have changed since they
 * were read, provided that their bit is set in `map`; NULL if that is known of none.  `map` is a copy of the
 * bits of the chunk's first npages pages, taken together with the map page's LSN.  May look at these pages.
 */
extern const uint8 *gc_page_proof(Relation rel, GcChunk *chunk, const uint8 *map, uint32 npages,
								  XLogRecPtr lsn);

/*
 * Take the pages out of a bitmap whose bit is set in `map`, too, but that have not the LSN that they had when
 * they were read.  Looks at each page.
 */
extern void gc_drop_changed(Relation rel, BlockNumber first, uint32 npages, const uint8 *map,
							const XLogRecPtr *lsns, pg_atomic_uint32 *buffers, uint8 *present);

#endif							/* GC_PROOF_H */
