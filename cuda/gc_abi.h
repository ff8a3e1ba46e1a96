/*-------------------------------------------------------------------------
 *
 * gc_abi.h
 *	  The structures that pass between the server's side of gpuconc and a
 *	  generated kernel.
 *
 * This header is compiled three times: by the server's compiler into the
 * extension, by NVRTC into a kernel for device cuda, and by the system's C
 * compiler into a kernel for device host.  So it includes nothing, and every
 * address is a u64 that only the device the kernel runs on may dereference.
 *
 * Rows are numbered from 0 within a chunk.  A tile is GC_TILE_ROWS rows of
 * one chunk; a thread of device cuda handles GC_VEC (8 or 16) consecutive rows of
 * it at a time, so that every load of a column is a vector load.
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

/* Bytes of a record (gc_packed_row.h): a sector of a GPU's memory, so aligned. */
#define GC_PACKED_ROW_BYTES		32

/*
 * One column of one chunk.  value(row) = base + code(row) for integers, dates,
 * dictionary codes; floats are stored as they are and ignore base.  Code width
 * is 1, 2, 4 or 8 bytes, unsigned.  nulls is 0, or the address of a bitmap with
 * bit (row & 7) of byte (row >> 3) set where the row is NULL; the code of a NULL
 * row is 0.  Both are readable up to the next multiple of GC_PAD_ROWS; the codes
 * behind the last row are 0.  base is the smallest value of the chunk, so that
 * whatever row is read, its value lies within the column's range; in a chunk without any
 * value it is 0, and rows behind the last one are NULL as the others are.
 */
typedef struct GcCol
{
	u64			data;
	u64			nulls;
	i64			base;
	u32			width;
	u32			nrows;
} GcCol;

/*
 * One chunk that a scan reads.  chunk indexes the GcCol array of every column;
 * with GC_PRIVATE_CHUNK set, the request's own array instead of the shared
 * one.  valid is 0 when all rows are visible to the request, or a bitmap (same
 * layout as GcCol.nulls) with a bit set for each row that is.
 *
 * A scan that several requests share reads cached chunks only.  There valid is not
 * an address but the set of requests that read the chunk, bit i for request i of the
 * kernel; which rows each may see stands in an array of its own (codegen.h).
 */
#define GC_PRIVATE_CHUNK	0x80000000u

typedef struct GcSource
{
	u64			valid;
	u32			chunk;
	u32			nrows;
} GcSource;

/*
 * What every scan needs.  Tile t (0 <= t < ntiles) is tile t % tiles_per_source
 * of source t / tiles_per_source; tiles past the end of a short chunk are
 * empty.  Blocks take tiles first_tile + block, + nblocks, ... wrapping around
 * at ntiles, so that a scan may start where another one is.
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
	u64			deliver_to;			/* there (gc_deliver.h); 0: nothing is */
	u64			before;				/* selection scans: flags of the selection kernel */
} GcScan;

/*
 * Flag words that a kernel raises; each is 0, or nonzero once the event happened.
 * None of them is an error of the statement: the request is run again in another
 * way, at the last by PostgreSQL's own plan.
 */
enum
{
	GC_FLAG_DATA = 0,			/* PostgreSQL might raise an error here */
	GC_FLAG_DUPLICATE,			/* a build key met twice; value: build + 1 */
	GC_FLAG_BUILD_FULL,			/* hash build out of room; value: build + 1 */
	GC_FLAG_GROUPS_FULL,		/* group table out of room */
	GC_FLAG_ROWS_FULL,			/* result rows out of room */
	GC_FLAG_ROWS,				/* not an event: rows written by a row sink */
	GC_FLAG_GROUPS,				/* not an event: groups in a hashed group table */
	GC_FLAG_BUILT,				/* not an event: rows in a hash build */
	GC_NFLAGS
};

/* Of a scan that is timed: words of 64 bits, so many bytes behind the start of the flags. */
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
 * Behind the flags of a main kernel there is room up to its sink's words, so that all of it goes to
 * the host in one piece: times, how many of the launch's blocks are done, and, of the host's copy alone,
 * the word that says that it is whole.
 */
#define GC_FLAGS_ROOM		256
#define GC_BLOCKS_AT		128
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

/* Rows of a vector on device cuda, at most. */
#define GC_PART_ROWS		16

/* Cells behind those of a block's own group table, for rows that do not count (gc_agg.h). */
#define GC_SPARE_CELLS		32

/*
 * Rows of which one word, the marks' block summary, says which requests of a selection scan have any: of others
 * these rows' marks are neither written nor read.  They are a sector of a GPU's memory.
 */
#define GC_SUMMARY_ROWS		256

/* Of a block summary, for rows of which a request's marks take so many. */
#define GC_SUMMARY_BYTES(sel_bitmap_bytes)	((sel_bitmap_bytes) * 8 / GC_SUMMARY_ROWS * sizeof(u32))

/* Requests that one selection scan serves. */
#define GC_MAX_SELECTED		32

/* Of a place (codegen/probe.c): more rows have the key than the one that it names. */
#define GC_DIRECT_MORE	0x80000000u

/* The value's key cannot be computed. */
#define GC_DIRECT_BAD	0xffffffffu

/*
 * Classes that a column's values are put into, at most, and slots to find them in, four
 * for each, a power of two.
 */
#define GC_MAX_KEY_GROUPS		4096
#define GC_KEY_GROUP_SLOTS		16384

/*
 * Entry point of a kernel on device host: runs block `block` of `nblocks`;
 * `scratch` is memory of the launch's shared_bytes, private to the calling
 * thread for the duration of the call and zeroed before it: what shared memory
 * is on device cuda.
 */
typedef void (*GcHostKernel) (const GcArgs *args, u32 block, u32 nblocks, void *scratch);

#endif							/* GC_ABI_H */
