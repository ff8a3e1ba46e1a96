/*-------------------------------------------------------------------------
 *
 * columns.h
 *	  Columnar chunks of ordinary heap tables, kept in the arena, and the proof that a snapshot
 *	  sees the rows that are kept.
 *
 * A relation's heap is cut into chunks of gpuconc.debug_chunk_pages pages.  That is a
 * divisor of the 32,672 heap pages that one visibility-map page covers, so a
 * chunk lies under a single map page.  A loaded chunk has a GcChunk, and one
 * GcChunkColumn for every column loaded.  The GcChunk says which rows it holds
 * (page by page) and under which map LSN they were read.  A GcDirectory ties the
 * chunks of one relation together; it is immutable, and replaced as a whole
 * whenever something was loaded, reloaded or evicted.
 *
 * Objects point to each other by plain pointers (the arena is mapped at the
 * same address everywhere).  A process that follows them holds a guard (epoch.h).
 *
 * Visibility (serve/fresh.h).  A page is in a chunk only if, at load, its map bit and its PD_ALL_VISIBLE flag
 * were set.  The map page's LSN must also have been the one recorded.  A query is served it only if its bit is set
 * after the query's snapshot was taken.  Also it must be proven not to have changed (serve/fresh.h).  That is by an
 * LSN that has not moved, the map page's or its own, or by the WAL, which names pages that have changed.  Everything
 * unknown counts as stale.
 *
 * Pages that are not proven so, the hot pages, are kept in chunks of their own, hot chunks.  These have all row
 * versions that some snapshot may see (serve/versions.h) and that the heap's chunk does not have (serve/patches.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLUMNS_H
#define GC_COLUMNS_H

#include "postgres.h"

#include "access/transam.h"
#include "access/xlogdefs.h"
#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/block.h"

#include "../../../cuda/gc_abi.h"
#include "../../device_names.h"
#include "../../program/kinds.h"
#include "../../status.h"
#include "epoch.h"
#include "numeric.h"

/* Which file of which relation a directory describes. */
typedef struct GcRelKey
{
	Oid			dbid;
	Oid			relid;
	Oid			spcid;			/* of the relfilenode, 0 never */
	Oid			relnumber;
} GcRelKey;

/* Properties that a column must have for cached data to stand for it (pg-internals, E). */
typedef struct GcColSpec
{
	int16		attnum;
	uint8		kind;			/* GcKind */
	bool		rtrim;			/* bpchar: trailing blanks do not count */
	Oid			typid;			/* base type, domains looked through */
	int32		typmod;
	Oid			collation;
} GcColSpec;

typedef struct GcHotPages GcHotPages;	/* serve/versions.h */

/*
 * Rows of one chunk.  Page i of the chunk (heap block first + i) holds rows
 * row_start[i] .. row_start[i + 1] - 1.  present has the layout of the
 * visibility map (2 bits per page, only 0x55 used).  So it is compared with the
 * map many pages at a time.  A chunk begins at a byte boundary of its map page,
 * because gpuconc.debug_chunk_pages is a multiple of 4.
 *
 * An absent page holds no rows, except where it lost its bit while the chunk
 * was being read.  Then its rows are here, and no one is ever served them.
 *
 * proven_lsn, proven_to and present change, as said in serve/fresh.h: pages that were written to since are
 * taken out of present.
 *
 * A hot chunk has pages from anywhere in the table, in ascending order.  Its first, map_lsn, proven_lsn,
 * proven_to, present, lsns, buffers, id, before, first_missing and missing are void.
 */
typedef struct GcChunk
{
	GcObject	obj;
	uint32		chunkno;
	BlockNumber first;
	uint32		npages;			/* pages that existed at load; <= chunk_pages */
	uint32		npresent;		/* pages whose rows are here */
	uint32		nrows;
	XLogRecPtr	map_lsn;		/* of the map page, at load; never 0 */
	pg_atomic_uint64 proven_lsn;	/* of the map page: for which present holds */
	pg_atomic_uint64 proven_to; /* LSN: up to where present is complete */
	uint32	   *row_start;		/* npages + 1 */
	uint8	   *present;		/* whole words of 64 bits */
	XLogRecPtr *lsns;			/* of the present pages, when they were read */
	pg_atomic_uint32 *buffers;	/* where pages were last found; a hint */

	/* Identity of a chunk, for hot pages that have most rows here (serve/patches.h). */
	uint64		id;				/* never reused */
	FullTransactionId before;	/* whatever earlier ones had to insert was there when it was read; or invalid */
	uint32	   *first_missing;	/* npages + 1: by page, in missing */
	uint16	   *missing;		/* offsets without a tuple, before the page's last tuple; ascending */

	GcHotPages *hot;			/* NULL unless it is a hot chunk */
} GcChunk;

/* One column of one chunk.  desc holds host addresses. */
typedef struct GcChunkColumn
{
	GcObject	obj;			/* obj.region_id identifies the device copy */
	GcCol		desc;
	GcSpan		span;			/* of the non-NULL values; floats: 0 to 0 */
	Size		data_bytes;		/* padded to GC_PAD_ROWS rows */
	Size		null_bytes;		/* 0 when no NULL; bitmap lies behind the data */
} GcChunkColumn;

/* The code of a row of a cell, whose codes have 64 bits at most. */
static inline uint64
gc_cell_code(const GcCol *col, uint32 row)
{
	switch (col->width)
	{
		case 1:
			return ((const uint8 *) col->data)[row];
		case 2:
			return ((const uint16 *) col->data)[row];
		case 4:
			return ((const uint32 *) col->data)[row];
		default:
			return ((const uint64 *) col->data)[row];
	}
}

typedef struct GcDict GcDict;	/* dict.h */

/* Mutable state of a cached column; lives as long as the column is cached. */
typedef struct GcColState
{
	GcObject	obj;
	pg_atomic_uint64 last_used; /* GetCurrentTimestamp() of the last request */
	pg_atomic_uint64 device_bytes[GC_MAX_DEVICES];	/* each kept by that device's worker */
	pg_atomic_uint32 duplicates;	/* 1 once a build on this column met any */
	GcDict	   *dict;			/* text: replaced (retired) when it grows */
	uint64		dict_id;		/* its identity, which growth keeps; 0: none */
	uint64		kept_id;		/* its first nkept values are those of files with this identity (load/disk.h) */
	uint32		nkept;
	bool		retired;		/* dict, too, is; under the dictionary's lock */
} GcColState;

/* Why a column that was asked for is not there although it was loaded. */
typedef enum GcColProblem
{
	GC_COL_OK = 0,
	GC_COL_MANY_VALUES,			/* text: more distinct values than a dictionary takes */
	GC_COL_NUMERIC_SPECIAL,		/* numeric NaN or infinity */
	GC_COL_NUMERIC_DIGITS,		/* numeric value that is beyond 128 bits at its scale */
	GC_COL_NUMERIC_SCALE,		/* numeric values of different scales, too large to be tagged (gc_abi.h) */
	GC_COL_VALUE_TOO_LONG,		/* text value longer than a dictionary entry takes */
	GC_COL_INTERVAL_FORM,		/* interval with months, or a day or more of time */
	GC_COL_ZONE_RANGE,			/* timetz whose zone is beyond encode/pgkinds.c's */
} GcColProblem;

/* Where a column's problem was met, and when to look whether it has gone (encode/problem.c). */
typedef struct GcEvidence
{
	int32		chunk;			/* that has the values; -1: several have them */
	BlockNumber block;			/* a page with a value that is a problem by itself */
	uint64		stamp;			/* gc_map_stamp(chunk) when read; 0: try again at once */
	TimestampTz not_before;		/* earliest time of the next retry, after one that failed */
} GcEvidence;

/*
 * A column with a problem has no cells and no dictionary.  It is loaded anew, as
 * if it had never been, once gc_worth_retry() says so.
 */
typedef struct GcDirColumn
{
	GcColSpec	spec;
	uint8		problem;		/* GcColProblem */
	GcEvidence	evidence;		/* where there is a problem */
	bool		has_nulls;		/* in any chunk */
	uint8		widths;			/* set of code widths in use: 1|2|4|8|16 or-ed */
	GcSpan		span;			/* over all chunks */
	Size		bytes;
	GcColState *state;
} GcDirColumn;

/*
 * A cell's range once more, all of a column side by side: read by every query.  Numerics: at the column's scale; from
 * the least to the greatest integer of 64 bits where these do not hold it.
 */
typedef struct GcCellRange
{
	int64		min;
	int64		max;
} GcCellRange;

/* Facts of a chunk that judging asks for, once more, side by side; all 0 where there is no chunk. */
typedef struct GcChunkFacts
{
	XLogRecPtr	map_lsn;
	uint32		npages;
	uint32		npresent;
	uint32		nrows;
} GcChunkFacts;

/*
 * The chunks of one relation: nheap that stand for runs of its pages, and the hot chunks
 * behind them.  chunks[i] is NULL where chunk i is not loaded;
 * cell (i, c) is cells[i * ncolumns + c], NULL only if chunks[i] is NULL or
 * columns[c].problem is set.
 */
typedef struct GcDirectory
{
	GcObject	obj;
	uint64		id;				/* never reused; equal ids, equal contents */
	uint64		heap_id;		/* equal: the same columns, and the same chunks of the heap */
	GcRelKey	key;
	uint32		nchunks;
	uint32		nheap;			/* of these: chunk i is pages i * gpuconc.debug_chunk_pages and on */
	uint32		ncolumns;
	uint64		nrows;
	GcDirColumn *columns;
	GcChunk   **chunks;
	GcChunkColumn **cells;
	GcCellRange *ranges;		/* of cell (i, c): ranges[c * nchunks + i] */
	GcChunkFacts *facts;		/* of chunk i */

	/* The xmax and table size for which all pages were found to be served, and when (serve/serving.c). */
	pg_atomic_uint64 whole_for;
	pg_atomic_uint64 whole_at;

	pg_atomic_uint32 pages_alone;	/* hot pages that sessions have read each for itself */
	pg_atomic_uint32 read_apart;	/* requests whose only hot pages a refresh would put into the heap's chunks */
	pg_atomic_uint64 hot_asked_at;	/* when a load of them was asked for (load/table_loader.h) */
} GcDirectory;

#define GC_CELL(dir, chunk, col) \
	((dir)->cells[(Size) (chunk) * (dir)->ncolumns + (col)])

#define GC_COLUMN_RANGES(dir, col) \
	((dir)->ranges + (Size) (col) * (dir)->nchunks)

#endif							/* GC_COLUMNS_H */
