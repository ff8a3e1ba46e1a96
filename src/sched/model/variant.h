/*-------------------------------------------------------------------------
 *
 * variant.h
 *	  The variant of a pipeline's kernel: which tables go to shared memory, and its grid when alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_VARIANT_H
#define GC_VARIANT_H

#include "profile.h"

typedef struct GcGrid
{
	uint32_t	blocks;			/* of the grid */
	uint32_t	threads;		/* per block */
} GcGrid;

/* Inputs of the choice of a variant. */
typedef struct GcPipelineDemand
{
	uint64_t	rows;			/* to be scanned */
	uint64_t	survivors;		/* estimate: rows that reach the sink */
	int			nbitmaps;		/* candidates for shared memory, as they are probed */
	uint64_t	bitmap_bytes[32];
	uint64_t	ngroups;		/* dense group table; 0: none */
	uint64_t	group_bytes;	/* of one copy of it */
	uint64_t	spare_bytes;	/* of the spare cells, for all copies together */
	bool		cells;			/* without copies, a block may keep the groups that it meets */
	bool		pairs;			/* the scan tries pairs of rows */
	uint64_t	hash_cell_bytes;	/* hashed groups: of a cell for one; 0: it pays to have none */
	uint64_t	queue_bytes;	/* static shared memory, which is not available */
	uint64_t	per_warp_bytes; /* member of a fused kernel: shared memory for each warp */
} GcPipelineDemand;

/* Which structures of a pipeline go to shared memory, and how it is compiled. */
typedef struct GcVariantChoice
{
	uint32_t	bitmaps;		/* bit i: bitmap i */
	int			group_copies;	/* 0: the group table stays in global memory */
	int			group_cells;	/* then: cells in shared memory for groups that a block meets;
								 * 0: none */
	int			threads;		/* per block */
	int			vec;			/* rows per thread and step; host: 0 */
} GcVariantChoice;

/* The fastest variant that takes at most `room` bytes of shared memory per block. */
extern GcVariantChoice gc_sched_variant(const GcProfile *profile, const GcPipelineDemand *demand,
										uint64_t room);

/* Threads of a block with this much shared memory: where few blocks fit, they have to be large. */
extern int	gc_sched_variant_threads(const GcProfile *profile, uint64_t shared_bytes);

/* An estimate of the shared memory that a block of this variant takes, in bytes. */
extern uint64_t gc_sched_variant_bytes(const GcPipelineDemand *demand, const GcVariantChoice *choice);

/*
 * Grid of a kernel with the device to itself.  occupancy: blocks of `threads` threads
 * that one multiprocessor can hold; tiles: tiles of the scan.
 */
extern GcGrid gc_sched_full(const GcProfile *profile, int threads, int occupancy, uint64_t tiles);

/* Tiles that each multiprocessor should have of a scan. */
#define GC_TILES_WANTED		2

/*
 * How often the tiles of a scan, of `tile_rows` rows each, are to be halved.  A small table's tiles then go to more of
 * the multiprocessors.  A tile keeps least_rows rows.  Each row may find many matches, as where a join multiplies
 * matrices.  And 16 tiles are 16 blocks, which take as long as one of them does.  On a device that is in use, a
 * multiprocessor that gets free first takes several of these few blocks.  It keeps them for all of their time, while
 * others have none.  The smaller they are, the sooner it is even again.
 */
extern uint32_t gc_sched_tile_shift(const GcProfile *profile, uint64_t tiles, uint32_t tile_rows, uint32_t least_rows);

/*
 * The tile that a scan of ntiles tiles has come to.  It began at tile `first`, and has spent the part `done` of its
 * time (0 to 1).  A scan has 0 tiles if the keys of its builds pass over every chunk of the table: then the tile is 0.
 */
extern uint32_t gc_sched_tile_of(uint32_t first, uint32_t ntiles, double done);

#endif							/* GC_VARIANT_H */
