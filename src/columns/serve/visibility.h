/*-------------------------------------------------------------------------
 *
 * visibility.h
 *	  Which pages a snapshot may be served from chunks, and reading the others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_VISIBILITY_H
#define GC_VISIBILITY_H

#include "postgres.h"

#include "access/htup.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "../encode/encode.h"
#include "../store/columns.h"
#include "fresh.h"
#include "../../program/hash.h"

typedef struct GcBlockRange
{
	BlockNumber first;
	BlockNumber count;
} GcBlockRange;

/* A hole instead of the holes numbered from .. to - 1, which may be none. */
typedef struct GcHoleEdit
{
	uint32		from;
	uint32		to;
	GcHole		hole;
} GcHoleEdit;

/*
 * A chunk, and which of its rows are not served; holes ascend and do not touch.  With edits, which ascend, `holes`
 * are those of a base, and gc_put_holes() makes the nholes of this chunk.
 */
typedef struct GcServedChunk
{
	uint32		chunk;
	uint32		nrows;
	uint32		nholes;
	uint32		hole_rows;		/* in them */
	GcHole	   *holes;			/* palloc'd; NULL when all rows are good */
	uint32		nbase;			/* how many are at `holes` */
	uint32		nedits;
	GcHoleEdit *edits;			/* palloc'd */
	GcHash		holes_hash;		/* of `holes`, without edits (rows_key.c); 0: not computed */
} GcServedChunk;

/* Tuples of a page whose other rows are served, which are to be read (patches.h). */
typedef struct GcNewRows
{
	BlockNumber block;
	uint32		first;			/* in offsets */
	uint32		n;
} GcNewRows;

typedef struct GcServed
{
	uint32		nchunks;
	GcServedChunk *chunks;		/* palloc'd, ascending; chunks with no good page left out */
	uint32		nranges;
	GcBlockRange *ranges;		/* palloc'd: the delta, ascending, disjoint */
	uint32		nnew;			/* more of the delta: pages of which only some tuples are to be read */
	const GcNewRows *new_rows;	/* ascending */
	uint32		noffsets;
	const uint16 *offsets;
	uint32		ntuples;		/* and these, which another session has read (amend.h) */
	HeapTuple const *tuples;
	BlockNumber nblocks;		/* of the relation */
	BlockNumber pages_served;
	BlockNumber pages_delta;	/* of ranges, of new_rows, and of tuples */
	BlockNumber pages_read_before;	/* of these: those of tuples, which this session does not read */
	uint64		rows_served;
	BlockNumber pages_versioned;	/* served from hot chunks (versions.h) */
	uint64		rows_versioned; /* of rows_served: from hot chunks */
	uint64		pages_looked_at;	/* for their LSNs */
	BlockNumber pages_own;		/* of pages_delta: valid there, but changed by this session */
	BlockNumber pages_reloadable;	/* of pages_delta: all-visible now, so a reload
									 * of their chunks would serve them */
	bool		complete;		/* every chunk of the heap wholly served, no delta */
	bool		amended;		/* a base that was noted was served, with changes since */
	bool		worth_reload;	/* enough reloadable pages that waiting for a
								 * reload beats reading them as delta */
	bool		worth_refresh;	/* or a reload in the background */
} GcServed;

/* Is there anything that is not served from chunks? */
static inline bool
gc_has_delta(const GcServed *served)
{
	return served->nranges > 0 || served->noffsets > 0 || served->ntuples > 0;
}

/* The hash of those at `holes`. */
static inline GcHash
gc_holes_hash(const GcServedChunk *chunk)
{
	GcHash		set = chunk->holes_hash;

	if (set.h[0] == 0)
	{
		set = (GcHash) {{0, 0}};
		gc_hash_add(&set, chunk->holes, chunk->nbase);
	}
	return set;
}

/* Put a chunk's nholes holes there. */
extern void gc_put_holes(const GcServedChunk *chunk, GcHole *to);

/*
 * Read the delta through the table access method: every tuple of the ranges that `snapshot` sees is
 * handed to the encoder.  specs: rel's attributes that are the encoder's columns; NULL: those that
 * it was made with.  Attribute 0 is NULL, and a negative one is `number`.
 */
extern GcCode gc_delta_scan(Relation rel, Snapshot snapshot, const GcServed *served,
							const GcColSpec *specs, int number, GcEncoder *encoder, GcError *err);

/*
 * Count one sequential scan of rel that returned `rows` rows, for
 * pg_stat_user_tables.  gc_delta_scan() counts none, since an attempt may fail.
 */
extern void gc_count_scan(Relation rel, uint64 rows);

/*-------------------------------------------------------------------------
 * For the other files of this room
 *-------------------------------------------------------------------------
 */

/* Bits of a word of a map page that say all-visible. */
#define GC_MAP_VISIBLE_WORD UINT64CONST(0x5555555555555555)

/*
 * The first of n numbers, which ascend and are `stride` bytes apart, that is not less than `least`; n: there is none.
 */
static inline uint32
gc_first_from(const uint32 *numbers, Size stride, uint32 n, uint32 least)
{
	uint32		from = 0;
	uint32		to = n;

	while (from < to)
	{
		const uint32 middle = from + (to - from) / 2;

		if (*(const uint32 *) ((const char *) numbers + middle * stride) < least)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Chunks of a relation with this number of blocks; blocks of one chunk. */
extern uint32 gc_chunk_count(BlockNumber nblocks);
extern uint32 gc_chunk_length(uint32 chunkno, BlockNumber nblocks);

/* Bytes of `present` for a number of pages: whole words, for word-wise compares. */
#define GC_PRESENT_BYTES(npages)	((((Size) (npages) + 31) / 32) * 8)

/*
 * Copy the map's bits for the first npages pages of a chunk, all-visible only,
 * into GC_PRESENT_BYTES(npages) bytes, and the LSN of its map page.  Where there
 * is no map page, the LSN is invalid, and no bit is set.
 */
extern void gc_map_copy(Relation rel, uint32 chunkno, uint32 npages,
						uint8 *bits, XLogRecPtr *lsn);

/*
 * Which pages are served from chunks of the heap, in the layout of the map, and the LSNs of its pages.  A map page
 * has GC_MAP_STRIDE bytes.
 */
typedef struct GcServedMaps
{
	uint32		n;
	XLogRecPtr *lsns;
	uint8	   *bits;
} GcServedMaps;

#define GC_MAP_STRIDE	BLCKSZ

/* Changes of served pages. */
typedef struct GcMapChanges
{
	uint32		ncleared;
	BlockNumber *cleared;		/* palloc'd, ascending: not all-visible any more, or not known to be unchanged */
	BlockNumber set;			/* pages that are all-visible, and were not served */
} GcMapChanges;

/* For pages served from the proof's directory; false if nothing is proven. */
extern bool gc_maps_changes(GcProof *proof, const GcServedMaps *maps, GcMapChanges *changes);

/* An array with more room, twice as much as *room, and for `least` entries of `each` bytes at least. */
static inline void *
gc_more_room(void *array, uint32 *room, uint32 least, Size each)
{
	*room = Max(least, 2 * *room);
	return array ? repalloc_huge(array, *room * each) : palloc(*room * each);
}

/* The result of gc_serve(), as it is collected. */
typedef struct GcServing
{
	GcServed   *served;
	GcServedMaps *maps;			/* NULL: not wanted */
	uint32		ranges_size;
	bool		reloadable;		/* may the relation be loaded at all? */
	bool		all_served;
} GcServing;

/* Add blocks to the delta, in ascending order. */
extern void gc_add_delta(GcServing *serving, BlockNumber first, BlockNumber count);

/* The holes of one chunk, as they are found. */
typedef struct GcHoles
{
	GcHole	   *holes;
	uint32		n;
	uint32		size;
	uint32		rows;			/* in them */
} GcHoles;

/* Rows from .. to - 1, which may be none, are not served.  In ascending order. */
extern void gc_add_hole(GcHoles *holes, uint32 from, uint32 to);

/* Serve a chunk, if not all of its rows are in holes. */
extern void gc_append_chunk(GcServed *served, uint32 chunkno, uint32 nrows, const GcHoles *holes);

/* Judgement of one chunk of the relation as it is now. */
typedef struct GcChunkJudgement
{
	uint32		pages;
	uint32		served;
	uint32		reloadable;
	bool		mendable;		/* a load would serve all of the chunk, which is not so now */
} GcChunkJudgement;

/* gc_serve() without hot chunks, with a judgement of each of gc_chunk_count() chunks, or `maps`; palloc'd. */
extern void gc_serve_judged(GcProof *proof, GcServed *served, GcChunkJudgement **judged, GcServedMaps *maps);

/* Pages of a chunk that is loaded in no time. */
#define GC_SMALL_CHUNK		128

/*
 * Would loading the chunk anew be worth waiting for?  And doing at all?  A hot chunk takes few pages.  Only of a small
 * chunk they are worth it, if no session need look at its pages then, until the next write.
 */
#define GC_MENDS_SMALL(j)	((j)->mendable && (j)->pages <= GC_SMALL_CHUNK)
#define GC_WORTH_RELOAD(j)	(GC_MENDS_SMALL(j) || (j)->reloadable > (j)->pages / 8)
#define GC_WORTH_REFRESH(j) (GC_MENDS_SMALL(j) || (j)->reloadable > (j)->pages / 64)

/*
 * A launch of some 30 us is made for each request that reads any such pages.  A load takes 10 us for a page.  Where a
 * chunk has 8,168 pages, to load it anew would thus have taken less than the launches of 8,168 requests.
 */
#define GC_REFRESH_PAYS(dir, npages) (pg_atomic_read_u32(&(dir)->read_apart) >= (npages))

#endif							/* GC_VISIBILITY_H */
