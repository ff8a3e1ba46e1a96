/*-------------------------------------------------------------------------
 *
 * gc_abi.h
 *	  The structures that pass between the server's side of gpuconc and a
 *	  generated kernel.
 *
 * Three compilers read this header.  The server's compiles it into the extension, NVRTC into a
 * kernel for device cuda, and the system's C compiler into a kernel for device host.  So it
 * includes nothing, and every address is a u64 that only the device the kernel runs on may
 * dereference.
 *
 * Rows are numbered from 0 within a chunk.  A tile is GC_TILE_ROWS rows of one chunk; a thread of
 * device cuda handles GC_VEC (8 or 16) consecutive rows of it at a time.  So every load of a
 * column is a vector load.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ABI_H
#define GC_ABI_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef __int128 i128;
typedef unsigned __int128 u128;

/* Rows of one tile: the unit in which a scan hands out work to blocks. */
#define GC_TILE_ROWS		16384

/* Column data is allocated in multiples of this many rows, zero-filled. */
#define GC_PAD_ROWS			GC_TILE_ROWS

/* Rows of one unit of a scan that tries pairs (gc_pair.h). */
#define GC_PAIR_ROWS		512

/*
 * One column of one chunk.  value(row) = base + code(row) for integers, dates, dictionary codes;
 * floats are stored as they are and ignore base.  Codes are unsigned and 1, 2, 4 or 8 bytes wide.
 * Numerics beyond 64 bits are 16 bytes wide, and stored as they are: base is 0, and within the column's range, too.
 * nulls is 0, or the address of a bitmap with bit (row & 7) of byte (row >> 3) set where the row
 * is NULL.  The code of a NULL row is 0.  Both are readable up to the next multiple of GC_PAD_ROWS;
 * the codes behind the last row are 0.
 *
 * base is the smallest value of the chunk.  So the value of every row that is read lies within the
 * column's range, padding included.  In a chunk without any value base is 0, and all rows are
 * NULL, padding included.
 */
typedef struct GcCol
{
	u64			data;
	u64			nulls;
	i64			base;
	u16			width;
	i16			scale;			/* numeric: display scale of all values, or GC_SCALE_TAGGED */
	u32			nrows;
} GcCol;

/*
 * Numerics of several display scales are tagged.  The integer of a value at its own scale is shifted by GC_TAG_BITS,
 * and the scale is in the low bits.  A chunk whose values have one scale is not, whatever other chunks have.  Values of
 * a column are tagged in 128 bits where 64 would not hold them at the largest scale.  A chunk of it may still be
 * narrow.
 */
#define GC_SCALE_TAGGED		(-2)
#define GC_TAG_BITS			5
#define GC_TAG_SCALES		(1 << GC_TAG_BITS)
/* Neither a value at its own scale, nor at the largest one, reaches this: in 64 bits, in 128. */
#define GC_TAG_LIMIT		((i64) 1 << 58)
#define GC_TAG_LIMIT_WIDE	((i128) 1 << 122)
/* Tagged values are i64 or i128, as their digits are. */
#define GC_TAGGED(digits, scale)	((digits) * GC_TAG_SCALES + (scale))
#define GC_TAG_DIGITS(tagged)	((tagged) >> GC_TAG_BITS)
#define GC_TAG_SCALE(tagged)	((i32) ((tagged) & (GC_TAG_SCALES - 1)))

/*
 * One chunk that a scan reads.  chunk indexes the GcCol array of every column; with
 * GC_PRIVATE_CHUNK set, it indexes the request's own array instead of the shared one.  valid is 0
 * when all rows are visible to the request.  Else it is a bitmap (same layout as GcCol.nulls) with
 * a bit set for each visible row.
 *
 * A shared scan reads cached chunks only.  There valid is the set of requests that read the chunk,
 * bit i for request i of the kernel.  Another array says which rows each request may see
 * (codegen.h).
 */
#define GC_PRIVATE_CHUNK	0x80000000u

typedef struct GcSource
{
	u64			valid;
	u32			chunk;
	u32			nrows;
} GcSource;

/* Rows from .. to - 1 of a chunk are not seen. */
typedef struct GcHole
{
	u32			from;
	u32			to;
} GcHole;

/*
 * A chunk of which a request does not see all rows, and where the bitmap of the rows that it sees
 * is to be.  That has nrows bits, padded to GC_PAD_ROWS by zeros.  Holes ascend and do not touch.
 */
typedef struct GcVisible
{
	u64			bitmap;
	u64			holes;				/* GcHole[nholes] */
	u32			nholes;
	u32			nrows;
} GcVisible;

/*
 * A kernel's scan.  Tile t (0 <= t < ntiles) is tile t % tiles_per_source of source t /
 * tiles_per_source.  Tiles past the end of a short chunk are empty.  Blocks take tiles first_tile
 * + block, + nblocks, ... and wrap around at ntiles.  So a scan may start where another one is.
 */
typedef struct GcScan
{
	u64			sources;			/* GcSource[nsources] */
	u64			flags;				/* u32[GC_NFLAGS]; timed: and GC_NTIMES words */
	u32			nsources;
	u32			tiles_per_source;
	u32			ntiles;
	u32			first_tile;
	u32			timed;				/* note times behind the flags (gc_time.h) */
	u32			delivered;			/* words of 64 bits that the last block writes to the host */
	u32			tile_shift;			/* a tile has GC_TILE_ROWS >> tile_shift rows */
	u32			ticket;				/* the launch is to end once there is this at `stop` (gc_stop.h) */
	u64			deliver_to;			/* where (gc_deliver.h); 0: it delivers nothing */
	u64			before;				/* selection scans: flags of the selection kernel */
	u64			stop;				/* address of a u32; 0: the launch is never told to end */
} GcScan;

#define GC_ROWS_OF_TILE(scan)	((u32) GC_TILE_ROWS >> (scan).tile_shift)

/*
 * Flag words that a kernel raises; each is 0, or nonzero once the event happened.  No flag is an
 * error of the statement.  The request is run again in another way, finally by PostgreSQL's own
 * plan.
 */
enum
{
	GC_FLAG_DATA = 0,			/* PostgreSQL might raise an error here */
	GC_FLAG_DUPLICATE,			/* a build key met twice; value: build + 1 */
	GC_FLAG_BUILD_FULL,			/* hash build or list out of room; value: build + 1 */
	GC_FLAG_GROUPS_FULL,		/* group table out of room */
	GC_FLAG_ROWS_FULL,			/* result rows out of room */
	GC_FLAG_ROWS,				/* not an event: rows written by a row sink */
	GC_FLAG_GROUPS,				/* not an event: groups in a hashed group table */
	GC_FLAG_BUILT,				/* not an event: rows in a hash build or list; of a dense one, its greatest key's number,
								 * and 1 */
	GC_FLAG_LEAST,				/* not an event: the complement of a dense build's least key's number */
	GC_FLAG_EMPTY,				/* not an event: nothing was scanned, as a build that each row needs is empty */
	GC_NFLAGS
};

/* Times of a timed scan: 64-bit words, so many bytes behind the start of the flags. */
#define GC_TIMES_AT			64

enum
{
	GC_TIME_BEGAN = 0,			/* the complement of it */
	GC_TIME_ENDED,
	GC_TIME_BEFORE_BEGAN,		/* of the kernel that came before */
	GC_TIME_BEFORE_ENDED,
	GC_NTIMES
};

/*
 * Room from a main kernel's flags to its sink's words, so that all of it goes to the host in one
 * piece.  It holds the times, and the number of the launch's blocks that are done.  In the host's
 * copy it also holds the word that says that the copy is complete.
 */
#define GC_FLAGS_ROOM		256
#define GC_BLOCKS_AT		128
#define GC_PACKETS_AT		136		/* packets that passed an edge (gc_packet.h), 64 bits */
#define GC_HELD_AT			144		/* the most that there were at a time, 64 bits */
#define GC_DONE_AT			(GC_FLAGS_ROOM - sizeof(u32))

/*
 * A kernel's only parameter on device cuda, passed by value; on device host by
 * pointer.  w[] holds addresses, constants and sizes in the order that the code
 * generator laid them out for this kernel (codegen.h, GcArgWord).
 */
#ifndef GC_MAX_ARG_WORDS
#define GC_MAX_ARG_WORDS	480		/* a kernel's text defines its own, exact number */
#endif

typedef struct GcArgs
{
	GcScan		scan;
	u64			w[GC_MAX_ARG_WORDS];
} GcArgs;

/*
 * A gang launch: one launch of a kernel for several members, each with arguments, blocks and results of its
 * own.  Its blocks are the members' blocks, one member's after another's.  Member m has the blocks from
 * end[m - 1] (0 before the first) to end[m] - 1.  Behind the last member, end is all ones.
 *
 * A gang is the only parameter of such a kernel on device cuda, and GC_GANG_BYTES at most.  So the kernel's text says
 * for how many members it is (GC_GANG).  Drivers and NVRTC take 32,764 bytes of parameters from CUDA 12.1 on.  Older
 * ones refuse the kernel, and then there are no gangs.
 */
#define GC_GANG_MOST		32
#define GC_GANG_BYTES		32000
#define GC_GANG_MEMBERS(words) \
	((GC_GANG_BYTES - GC_GANG_MOST * sizeof(u32)) / (sizeof(GcScan) + ((words) > 0 ? (words) : 1) * sizeof(u64)))

#ifdef GC_GANG
typedef struct GcGang
{
	u32			end[GC_GANG_MOST];
	GcArgs		args[GC_GANG];
} GcGang;
#endif

/*
 * Channels (gc_packet.h).  A slot has room for the rows of so many tiles, of which a block takes GC_CHANNEL_STEP at a
 * time.  With one at a time, half of the warps of a block of 256 threads had no rows (an H100).  Words of a bitmap of
 * slots; bytes of a control block.
 */
#define GC_CHANNEL_TILES			8
#define GC_CHANNEL_STEP				4
#define GC_CHANNEL_WORDS(slots)		(((slots) + 63) / 64)
#define GC_CHANNEL_BYTES(slots, sources)	(16 * GC_CHANNEL_WORDS(slots) + 8 * (slots) + 4 * (sources) + 4)

/*
 * Windows over kept rows (gc_window.h).  How a function's value comes about; GC_OVER_NONE: the scan numbers partitions
 * and peers.
 */
typedef enum GcOver
{
	GC_OVER_NONE = 0,
	GC_OVER_ROW_NUMBER,
	GC_OVER_RANK,
	GC_OVER_DENSE_RANK,
	GC_OVER_PERCENT_RANK,
	GC_OVER_CUME_DIST,
	GC_OVER_ROWS,				/* the number of the frame's rows */
	GC_OVER_COUNT,				/* of those whose argument is not NULL; it has an argument, as all below */
	GC_OVER_SUM,
	GC_OVER_MIN,
	GC_OVER_MAX,
	GC_OVER_LAG,				/* these two have a distance, too, which may be NULL */
	GC_OVER_LEAD,
	GC_OVER_FIRST,
	GC_OVER_LAST,
	GC_OVER_NTH,				/* it has a number above 0, too */
	GC_OVER_NTILE,				/* the argument, above 0, is the same in all rows */
	GC_NOVERS
} GcOver;

/*
 * A frame begins with the partition, and ends with it, behind the row's peers, or behind the row.  Or it has the rows,
 * or the groups of peers, between two distances from the row; or the rows whose values are between two.
 */
enum
{
	GC_FRAME_PARTITION = 0,
	GC_FRAME_PEERS,
	GC_FRAME_ROWS,
	GC_FRAME_BETWEEN,
	GC_FRAME_GROUPS,
	GC_FRAME_RANGE,				/* of the first key behind PARTITION BY */
	GC_NFRAMES
};

/* The rows that a frame leaves out: the row, its peers, or all of these but the row. */
enum
{
	GC_EXCLUDE_NONE = 0,
	GC_EXCLUDE_ROW,
	GC_EXCLUDE_PEERS,
	GC_EXCLUDE_TIES,
	GC_NEXCLUSIONS
};

/* Is a function an extreme of frames that begin anywhere, or leave out rows?  It has a tree instead of a scan. */
#define GC_WINDOW_HAS_TREE(fn, frame, exclude) \
	(((fn) == GC_OVER_MIN || (fn) == GC_OVER_MAX) && ((frame) >= GC_FRAME_BETWEEN || (exclude) != GC_EXCLUDE_NONE))

/* Kinds of a step of a launch. */
enum
{
	GC_WINDOW_CLEAR = 0,		/* unit: all keys */
	GC_WINDOW_RANGES,			/* a chunk of GC_WINDOW_PLACES rows */
	GC_WINDOW_PACK,				/* a row */
	GC_WINDOW_SORT,				/* a run of GC_WINDOW_RUN rows */
	GC_WINDOW_MERGE,			/* GC_WINDOW_RUN places */
	GC_WINDOW_MARK,				/* a place */
	GC_WINDOW_TOTALS,			/* a chunk of places */
	GC_WINDOW_CARRY,			/* all chunks, by the first block */
	GC_WINDOW_STATES,			/* a chunk of places */
	GC_WINDOW_TREE,				/* every place whose number, from 1 on, is a multiple of a power of 2 */
	GC_WINDOW_NUMBER,			/* a place */
	GC_WINDOW_VALUES			/* a place */
};

/* Argument words of such a launch. */
enum
{
	GC_WINDOW_NSTEPS = 0,
	GC_WINDOW_FROM,				/* the first unit, of the only step */
	GC_WINDOW_ROWS,				/* the rows, the room for them, the flags with their number */
	GC_WINDOW_CAP,
	GC_WINDOW_FLAGS,
	GC_WINDOW_SCRATCH,			/* GC_WINDOW_BYTES(cap) */
	GC_WINDOW_NPARTITION,
	GC_WINDOW_NKEYS,
	GC_WINDOW_FN,				/* GcOver */
	GC_WINDOW_FRAME,
	GC_WINDOW_EXCLUDE,
	GC_WINDOW_START,			/* columns: distances, below 0 before the row; or values, without a word where there is no bound */
	GC_WINDOW_END,
	GC_WINDOW_BY,				/* column that GC_FRAME_RANGE compares with these */
	GC_WINDOW_ARG,				/* columns, as below */
	GC_WINDOW_SECOND,			/* the distance or number */
	GC_WINDOW_RESULT,
	GC_WINDOW_KEYS,
	GC_WINDOW_STEPS = GC_WINDOW_KEYS + 16,
	GC_WINDOW_WORDS = GC_WINDOW_STEPS + 2 * 32
};

#define GC_WINDOW_MOST_STEPS	32

/*
 * A step of a launch is two words.  The first says what it does, which array of row numbers is read, and a width.  That
 * is of the runs that are merged, the places or the number of chunks, or the power of 2.  The second word is the number
 * of its units.
 */
#define GC_WINDOW_STEP(phase, order, width)	((u64) (phase) | (u64) (order) << 8 | (u64) (width) << 16)
#define GC_WINDOW_PHASE(step)	((u32) (step) & 0xff)
#define GC_WINDOW_ORDER(step)	((u32) (step) >> 8 & 1)
#define GC_WINDOW_WIDTH(step)	((step) >> 16)

/*
 * A column of the rows: the number of its words (or GC_WINDOW_NO_WORD), where its NULL flag is, whether its values are
 * floats.  Of a key, in which order they are, too.
 */
#define GC_WINDOW_NO_WORD			0xffffu
#define GC_WINDOW_COLUMN(word, high, null_word, null_bit, is_float) \
	((u64) (word) | (u64) (high) << 16 | (u64) (null_word) << 32 | (u64) (null_bit) << 48 | (u64) (is_float) << 54)
#define GC_WINDOW_WORD(column)		((u32) (column) & 0xffff)
#define GC_WINDOW_HIGH_WORD(column)	((u32) ((column) >> 16) & 0xffff)
#define GC_WINDOW_NULL_WORD(column)	((u32) ((column) >> 32) & 0xffff)
#define GC_WINDOW_NULL_BIT(column)	((u32) ((column) >> 48) & 63)
#define GC_WINDOW_FLOAT(column)		((u32) ((column) >> 54) & 3)	/* 1: of 64 bits, 2: of 32 */
#define GC_WINDOW_DESCENDING		(1ull << 56)
#define GC_WINDOW_NULLS_FIRST		(1ull << 57)

/* Rows that a thread sorts alone; places that one merges; the most chunks of a scan, and the least places of one. */
#define GC_WINDOW_RUN		32
#define GC_WINDOW_CHUNKS	4096
#define GC_WINDOW_PLACES	256

typedef struct GcWindowState
{
	u64			low;			/* a sum, an extreme; or the number of peers, */
	u64			high;			/* and of partitions */
	u64			n;				/* values that are not NULL */
} GcWindowState;

/* States of places and chunks, ranges of keys, packed keys twice; six arrays over places, two with one word more. */
#define GC_WINDOW_BYTES(cap) \
	(((cap) + GC_WINDOW_CHUNKS) * sizeof(GcWindowState) + (2 * 16 + 2 * (cap)) * sizeof(u64) + \
	 (6 * (cap) + 2) * sizeof(u32))

/* Digits behind the point with which quotients of numerics are computed (gc_numeric.h). */
#define GC_AVG_SCALE		24

/* Quotients of other numerics have so many digits at most, those included. */
#define GC_QUOTIENT_DIGITS	36

/* Bins of a choice of the first few, their copies, and the memory of it in bytes (gc_top.h). */
#define GC_TOP_BINS			512
#define GC_TOP_COPIES		16
#define GC_TOP_BYTES		(16 + GC_TOP_COPIES * GC_TOP_BINS * 4)

/* A choice of the first rows: powers of two, bins for each, and the memory of it in bytes. */
#define GC_FIRST_LOG		5
#define GC_FIRST_PARTS		(1 << GC_FIRST_LOG)
#define GC_FIRST_POWERS		65
#define GC_FIRST_BINS		(GC_FIRST_POWERS * GC_FIRST_PARTS)
#define GC_FIRST_BYTES		((1 + GC_FIRST_POWERS + GC_FIRST_BINS) * 4)

/* Rows of a vector on device cuda, at most. */
#define GC_PART_ROWS		16

/* Cells behind those of a block's own group table, for rows that do not count (gc_agg.h). */
#define GC_SPARE_CELLS		32

/*
 * Rows that one word of the block summary covers: it says which requests of a selection scan have
 * any of them.  Other requests' selection bitmaps are neither written nor read for these rows.  In
 * a bitmap the rows take a sector of a GPU's memory.
 */
#define GC_SUMMARY_ROWS		256

/* Bytes of a block summary for as many rows as a selection bitmap of sel_bitmap_bytes has. */
#define GC_SUMMARY_BYTES(sel_bitmap_bytes)	((sel_bitmap_bytes) * 8 / GC_SUMMARY_ROWS * sizeof(u32))

/* Requests that one selection scan serves. */
#define GC_MAX_SELECTED		32

/*
 * In a direct lookup entry (codegen/step/probe.c): more rows have the key than the one in the entry.
 */
#define GC_DIRECT_MORE	0x80000000u

/* In a direct lookup entry: the value's key cannot be computed. */
#define GC_DIRECT_BAD	0xffffffffu

/*
 * Most key groups of a column's values.  The refinement kernel finds them in a hash table of four
 * slots for each; slots are a power of two.
 */
#define GC_MAX_KEY_GROUPS		4096
#define GC_KEY_GROUP_SLOTS		16384

/*
 * Entry point of a kernel on device host: runs block `block` of `nblocks`. `scratch` stands for
 * shared memory: memory of the launch's shared_bytes, zeroed before the call, private to the
 * calling thread during it.
 */
typedef void (*GcHostKernel) (const GcArgs *args, u32 block, u32 nblocks, void *scratch);

#endif							/* GC_ABI_H */
