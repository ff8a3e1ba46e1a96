/*-------------------------------------------------------------------------
 *
 * visibility.h
 *	  The visibility map as the other files of this room need it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_VISIBILITY_H
#define GC_VISIBILITY_H

#include "columns.h"

/* Bits of a map page, or word of it, that say all-visible. */
#define GC_MAP_VISIBLE		0x55
#define GC_MAP_VISIBLE_WORD UINT64CONST(0x5555555555555555)

/* Chunks of a relation of so many blocks; blocks of one chunk. */
extern uint32 gc_chunk_count(BlockNumber nblocks);
extern uint32 gc_chunk_length(uint32 chunkno, BlockNumber nblocks);

/* Bytes of `present` for so many pages: whole words, for word-wise compares. */
#define GC_PRESENT_BYTES(npages)	((((Size) (npages) + 31) / 32) * 8)

/*
 * Copy the map's bits for the first npages pages of a chunk, all-visible only,
 * into GC_PRESENT_BYTES(npages) bytes, and the LSN of its map page (invalid, and
 * no bit set, where there is no map page).
 */
extern void gc_map_copy(Relation rel, uint32 chunkno, uint32 npages,
						uint8 *bits, XLogRecPtr *lsn);

/* What gc_serve() found out about one chunk of the relation as it is now. */
typedef struct GcChunkJudgement
{
	uint32		pages;
	uint32		served;
	uint32		reloadable;
} GcChunkJudgement;

/* gc_serve(), with a judgement of each of gc_chunk_count() chunks; palloc'd. */
extern void gc_serve_judged(Relation rel, const GcDirectory *dir, GcServed *served,
							GcChunkJudgement **judged);

/* Would loading the chunk anew be worth waiting for?  And doing at all? */
#define GC_WORTH_RELOAD(j)	((j)->reloadable > (j)->pages / 8)
#define GC_WORTH_REFRESH(j) ((j)->reloadable > (j)->pages / 64)

#endif							/* GC_VISIBILITY_H */
