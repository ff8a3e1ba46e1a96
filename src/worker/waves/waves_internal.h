/*-------------------------------------------------------------------------
 *
 * waves_internal.h
 *	  The common part of the files of waves (waves.h): members, their memory, and waves.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAVES_INTERNAL_H
#define GC_WAVES_INTERNAL_H

#include "waves.h"
#include "turns.h"

#include "datatype/timestamp.h"
#include "lib/ilist.h"
#include "nodes/pg_list.h"

#include "../memory/regions.h"

/* Chunks from a wave's first to its last, at most; and the sources of a member. */
#define MOST_CHUNKS		64

/*
 * A wave copies about this much, or this part of the pool if that is less; but one chunk at least.  Memory for waves is
 * missing for columns: that costs more than waves that are few and large save.
 */
#define WAVE_BYTES		((u64) 32 << 20)
#define WAVE_PART		128

/* There is room for all columns of a chunk in a wave, if they take this part of the pool at most. */
#define WIDEST_PART		16

/* Waves that copy, ahead of those that are done: one is copied, one computes, one waits. */
#define MOST_COPYING	3

#define LEAST_ROOM		256

/*
 * Pieces of memory that waves take turns in: for columns, and for descriptions, which are small.  So waves that copy no
 * column do not wait for each other.
 */
#define SLOTS			2
#define DESCRIBED_SLOTS	4

/* Memory for waves that follow each other.  Members use it, and so does each wave that reads it. */
typedef struct Block
{
	GcAddr		slot[DESCRIBED_SLOTS];
	int			slots;
	u64			room;			/* bytes of each slot */
	u64			used;			/* of that, by the wave that is being made */
	int			users;

	/* The block's part in the chunk that is priced, for the members chosen until now. */
	u64			pricing;		/* in which these were set */
	int			number;			/* among the blocks of that chunk */
	u64			missing;		/* bytes that are to be copied */
	u64			with;			/* such bytes with the member that is looked at */
} Block;

/* A wave serves members of so many blocks with a chunk, at most: bits of Price.blocks. */
#define MOST_BLOCKS		64

/* Price of a chunk's column for the members that a wave is to serve with the chunk. */
typedef struct Price
{
	u64			pricing;		/* of the chunk that it is of */
	const GcChunkColumn *cell;
	GcRegion   *region;			/* it is in device memory, and costs nothing; else NULL */
	bool		wanted;			/* one of them reads it */
	bool		late;			/* all of them read it late */
	bool		copied;			/* it is cheaper to copy it */
	bool		asked;			/* whether kernels reach it: `reached` */
	bool		reached;
	double		copy;			/* bytes of a copy */
	double		bytes;			/* of copies that take as long as reading it in the host's memory, for all of them */
	double		cost;			/* of a copy or of reads in place, whichever is done: in bytes of copies */
	u64			blocks;			/* whose members read it */

	/* With the member that was looked at last. */
	bool		late_with;
	bool		copied_with;
	double		bytes_with;
	double		cost_with;
} Price;

typedef struct WaveTable
{
	uint64		dir_id;
	u32			nchunks;

	/*
	 * Columns that members read, or have read, are numbered here.  The directory's facts of their chunks are copied:
	 * there they lie far apart.
	 */
	int			ncolumns;
	int		   *number_of;		/* per column of the directory; -1: none */
	GcChunkColumn **cells;		/* per column here, and chunk; the directory's do not change */

	Price	   *prices;			/* per column here */
	u64			pricing;		/* counts chunks that were priced */
	u32			priced;			/* 1 + the chunk that they are of; 0: none */
	Block	   *blocks[MOST_BLOCKS];	/* of the members that a wave is to serve with it */
	int			nblocks;
	u64			widest;			/* bytes of all columns of the chunk that has most */
	GcStream   *copies;			/* NULL: it has no members */
	GcStream   *notes;			/* descriptions of waves that copy nothing else, and so need not wait for copies */
	GcStream   *ends;			/* waits for the kernels of each wave */
	Block	   *described;		/* for descriptions */
	u32			at;				/* chunk where the next wave begins */
	u32			number;			/* of the next wave */
	u32			slot;			/* of members' memory: that of the next wave that copies there */
	dlist_head	members;
	u32			nmembers;
	struct GcWaveMember **scanning; /* while a wave is made: members that had chunks left, in their order */
	int			nscanning;
	dlist_head	waves;			/* oldest first */
	int			nwaves;
	int			ncopying;		/* of these, those on the stream of copies */
	GcEvent    *clock;			/* whose time is clock_at; NULL: nothing is logged */
	TimestampTz clock_at;
	u64			slept;			/* place in the order in which tables lost their last member */
	MemoryContext cxt;
	struct WaveTable *next;
} WaveTable;

/* A column that a member reads. */
typedef struct MemberColumn
{
	int			number;			/* the table's */
	bool		late;
	GcLinkRates rates;
	GcWaveColumn of;
} MemberColumn;

struct GcWaveMember
{
	dlist_node	node;
	WaveTable  *table;
	const GcDirectory *dir;
	const GcSource *sources;
	u32			nsources;
	MemberColumn *columns;
	int			ncolumns;
	u32		   *source_of;		/* per chunk: 1 + its source; 0: it is not read */
	bool	   *to_do;			/* per source */
	u32			left;
	u32			at;				/* chunk where its next wave begins */
	bool		placed;			/* at is known */
	GcWaveClaim claim;
	u32			takes;			/* 1 + the chunk with which the wave that is made serves it */
	double		alone;			/* the cost of that chunk for it alone */
	int			missing;		/* columns of that chunk that are not in memory */
	u32			looked_at;		/* sources before this one that were in memory at first are visited */
	struct Served *served;		/* by the wave that is made; NULL: it is not */
	GcStream   *stream;
	GcWaveLaunch launch;
	void	   *arg;
	Block	   *block;			/* for columns; it may be shared */
	GcError		failure;
};

/* One column of a chunk in a wave. */
typedef struct Cell
{
	bool		had;			/* the wave has it */
	bool		in_place;		/* it is the host's */
	u32			readers;
	GcAddr		addr;
	GcRegion   *region;			/* NULL: it lies in a member's memory */
	u64			copied;			/* bytes */
} Cell;

typedef struct WaveChunk
{
	u32			chunk;
	Cell	   *cells;			/* per column of the table */
} WaveChunk;

/* A member that a wave serves. */
typedef struct Served
{
	GcWaveMember *member;		/* to be used only while the wave is made */
	Block	   *block;
	u32			n;				/* its sources */
	u32			source[MOST_CHUNKS];
	WaveChunk  *chunk[MOST_CHUNKS];	/* NULL: a private chunk */
} Served;

typedef struct Wave
{
	dlist_node	node;
	u32			number;
	GcStream   *stream;			/* of its copies */
	int			ncolumns;		/* of the table, when it was made */
	WaveChunk	chunks[MOST_CHUNKS];
	u32			nchunks;
	u64			bytes;			/* copied */
	u64			shared;			/* the part of these that several members read */
	u64			in_place_bytes; /* that kernels read of the host's memory: an estimate */
	u32			in_place;		/* chunks of columns that they read there */
	double		price;			/* of these reads, in bytes of copies */
	bool		has_slot;		/* its copies wait for the kernels that read this slot of members' memory before */
	u32			slot;
	bool		made;			/* all of it is queued */
	List	   *served;			/* Served */
	Block	   *described;
	GcEvent    *over;			/* behind all of its kernels; NULL: none was queued, or the device was drained */
	bool		logged;			/* events have times, so that these can be logged */
	u32			unlogged;		/* waves before it that were not */
	GcEvent    *began;			/* before its copies; NULL: it is not logged */
	GcEvent    *copied;
	MemoryContext cxt;
} Wave;

static inline u64
align_up(u64 n)
{
	return (n + 255) & ~(u64) 255;
}

/* Bytes of the descriptions of a wave that serves so many members, in a slot. */
static inline u64
described_bytes(int members, int ncolumns)
{
	return align_up(MOST_CHUNKS * (members * sizeof(GcSource) + ncolumns * sizeof(GcCol)));
}

/* The cell of a column, by its number in the table, in a chunk. */
static inline const GcChunkColumn *
cell_of(const WaveTable *t, int number, u32 chunk)
{
	return &t->cells[number][chunk];
}

/* Device memory that a copy of the cell takes. */
static inline u64
cell_bytes(const GcChunkColumn *cell)
{
	return align_up(cell->data_bytes + cell->null_bytes);
}

/* Has the member this chunk still to do? */
static inline bool
gc_wave_wants(const GcWaveMember *m, u32 chunk)
{
	return m->left > 0 && m->source_of[chunk] > 0 && m->to_do[m->source_of[chunk] - 1];
}

/* Does the wave that is made serve the member with this chunk? */
static inline bool
gc_wave_takes(const GcWaveMember *m, u32 chunk)
{
	return m->takes == chunk + 1 && gc_wave_wants(m, chunk);
}

/* The scan of the member has failed: the request finds the error when it asks. */
extern void gc_wave_fail(GcWaveMember *m, const GcError *err);

/* The tables that have members, or had, linked. */
extern WaveTable *gc_wave_tables(void);

/* Free waves of the table that are over, in any order; false: there were none. */
extern bool gc_waves_retire(WaveTable *t);

/* Tell the timeline of it, later; it is about to copy. */
extern void gc_wave_log_begin(WaveTable *t, Wave *w);

#endif							/* GC_WAVES_INTERNAL_H */
