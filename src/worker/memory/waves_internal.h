/*-------------------------------------------------------------------------
 *
 * waves_internal.h
 *	  What the files of waves share (waves.h): members, their memory, and waves.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAVES_INTERNAL_H
#define GC_WAVES_INTERNAL_H

#include "waves.h"
#include "wave_turns.h"

#include "datatype/timestamp.h"
#include "lib/ilist.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "regions.h"

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

/* Waves that are queued ahead of those that are done: one is copied, one computes, one waits. */
#define MOST_UNDER_WAY	3

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

	/* Of the chunk that is priced (wave_prices.c), for the members chosen until now. */
	u64			pricing;		/* in which these were set */
	Bitmapset  *columns;		/* of the directory, that members with this memory read */
	u64			missing;		/* bytes of these that are to be copied */
	u64			with;			/* the same, with the member that is looked at */
} Block;

/* What a chunk's column costs the members that a wave is to serve with the chunk. */
typedef struct Price
{
	bool		wanted;			/* one of them reads it */
	bool		there;			/* it is in device memory, and costs nothing */
	double		bytes;			/* of copies that take as long as reading it in the host's memory, for all of them */
	bool		late;			/* all of them read it late */
} Price;

typedef struct WaveTable
{
	uint64		dir_id;
	Price	   *prices;			/* per column of the directory */
	u32			priced;			/* 1 + the chunk that these are of; 0: none */
	List	   *blocks;			/* Block: of the members that a wave is to serve with it */
	u64			widest;			/* bytes of all columns of the chunk that has most */
	GcStream   *copies;
	u32			at;				/* chunk where the next wave begins */
	u32			number;			/* of the next wave */
	dlist_head	members;
	dlist_head	waves;			/* oldest first */
	int			nwaves;
	GcEvent    *clock;			/* whose time is clock_at; NULL: nothing is logged */
	TimestampTz clock_at;
	MemoryContext cxt;
	struct WaveTable *next;
} WaveTable;

struct GcWaveMember
{
	dlist_node	node;
	WaveTable  *table;
	const GcDirectory *dir;
	const GcSource *sources;
	u32			nsources;
	GcWaveColumn *columns;
	int			ncolumns;
	u32		   *source_of;		/* per chunk: 1 + its source; 0: it is not read */
	bool	   *to_do;			/* per source */
	u32			left;
	u32			at;				/* chunk where its next wave begins */
	bool		placed;			/* at is known */
	GcWaveClaim claim;
	u32			takes;			/* 1 + the chunk with which the wave that is made serves it */
	double		alone;			/* what that chunk costs it alone */
	u32			looked_at;		/* sources before this one that were in memory at first are visited */
	GcStream   *stream;
	GcWaveLaunch launch;
	void	   *arg;
	Block	   *described;		/* the member's own, for descriptions */
	Block	   *block;			/* for columns; it may be shared */
	GcError		failure;
};

/* One column of a chunk in a wave. */
typedef struct Cell
{
	int			column;
	GcAddr		addr;
	GcRegion   *region;			/* NULL: it lies in a member's memory */
	u64			copied;			/* bytes */
	bool		in_place;		/* it is the host's */
	int			readers;
} Cell;

typedef struct WaveChunk
{
	u32			chunk;
	List	   *cells;			/* Cell */
} WaveChunk;

/* A member that a wave serves. */
typedef struct Served
{
	GcWaveMember *member;		/* to be used only while the wave is made */
	Block	   *described;
	Block	   *block;
	GcEvent    *ran;			/* behind its kernel; NULL: that was not queued */
	u32			n;				/* its sources */
	u32			source[MOST_CHUNKS];
	WaveChunk  *chunk[MOST_CHUNKS];	/* NULL: a private chunk */
} Served;

typedef struct Wave
{
	dlist_node	node;
	u32			number;
	WaveChunk	chunks[MOST_CHUNKS];
	u32			nchunks;
	u64			bytes;			/* copied */
	u64			shared;			/* of these, what several members read */
	u64			in_place_bytes; /* that kernels read of the host's memory: an estimate */
	u32			in_place;		/* chunks of columns that they read there */
	double		price;			/* of these reads, in bytes of copies */
	bool		waited;			/* its copies wait for the kernels that read its slot before */
	bool		made;			/* all of it is queued */
	List	   *served;			/* Served */
	GcEvent    *began;			/* before its copies; NULL: it is not logged */
	GcEvent    *copied;
	MemoryContext cxt;
} Wave;

static inline u64
align_up(u64 n)
{
	return (n + 255) & ~(u64) 255;
}

/* Bytes of the descriptions of a wave, in a slot. */
static inline u64
described_bytes(int ncolumns)
{
	return align_up(MOST_CHUNKS * (sizeof(GcSource) + ncolumns * sizeof(GcCol)));
}

static inline u64
cell_bytes(const GcDirectory *dir, u32 chunk, int column)
{
	const GcChunkColumn *cell = GC_CELL(dir, chunk, column);

	return align_up(cell->data_bytes + cell->null_bytes);
}

/* The scan of the member has failed: the request finds the error when it asks. */
extern void gc_wave_fail(GcWaveMember *m, const GcError *err);

/* The tables that have members, linked. */
extern WaveTable *gc_wave_tables(void);

/* Free waves of the table that are over; false: there were none. */
extern bool gc_waves_retire(WaveTable *t);

/* wave_prices.c: has the member this chunk still to do? */
extern bool gc_wave_wants(const GcWaveMember *m, u32 chunk);

/*
 * Choose the members that a wave of the leader serves with a chunk, and price its columns; then, does it serve this one?
 * What is missing of the chunk is noted in their blocks.
 */
extern void gc_wave_price_chunk(WaveTable *t, GcWaveMember *leader, u32 chunk);
extern bool gc_wave_takes(const GcWaveMember *m, u32 chunk);

/* By these prices: is a chunk's column, which is not in memory, to be read in the host's? */
extern bool gc_wave_stays(const WaveTable *t, const GcDirectory *dir, u32 chunk, int column);

/* Where a member's first wave begins: with others with which it shares, if there are any. */
extern u32	gc_wave_first_place(WaveTable *t, GcWaveMember *m);

/* wave_log.c: the table's clock, and what its waves did */
extern void gc_wave_clock_start(WaveTable *t);
extern void gc_wave_clock_stop(WaveTable *t);
extern void gc_wave_log(WaveTable *t, Wave *w);

#endif							/* GC_WAVES_INTERNAL_H */
