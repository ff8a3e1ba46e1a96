/*-------------------------------------------------------------------------
 *
 * columns.h
 *	  Columnar chunks of ordinary heap tables, kept in the arena, and the proof
 *	  that what is kept is what a snapshot sees.
 *
 * A relation's heap is cut into chunks of gpuconc.chunk_pages pages (a divisor
 * of the 32,672 heap pages that one visibility-map page covers, so a chunk lies
 * under a single map page).  A loaded chunk has a GcChunk, which says which rows
 * it holds (page by page) and under which map LSN they were read, and one
 * GcChunkColumn for every column loaded.  A GcDirectory ties the chunks of one
 * relation together; it is immutable, and replaced as a whole whenever something
 * was loaded, reloaded or evicted.
 *
 * Objects point to each other by plain pointers (the arena is mapped at the
 * same address everywhere).  Whoever follows them holds a guard (epoch.h).
 *
 * Visibility (design.md section 4, proof (a)): a page is in a chunk only if, at
 * load, its map bit and its PD_ALL_VISIBLE flag were set and the map page's LSN
 * was the one recorded.  It is served to a query only if, after the query's
 * snapshot was taken, its bit is set and the map page's LSN is still the
 * recorded one.  Everything unknown counts as stale.  The place of proof (b),
 * the snapshot fence, is gc_page_proof() in visibility.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COLUMNS_H
#define GC_COLUMNS_H

#include "postgres.h"

#include "access/xlogdefs.h"
#include "storage/block.h"
#include "storage/lwlock.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "../settings.h"
#include "../../cuda/gc_abi.h"
#include "../program/kinds.h"
#include "../status.h"
#include "epoch.h"

/* Which file of which relation a directory describes. */
typedef struct GcRelKey
{
	Oid			dbid;
	Oid			relid;
	Oid			spcid;			/* of the relfilenode, 0 never */
	Oid			relnumber;
} GcRelKey;

/* What a column must be for cached data to stand for it (pg-internals, E). */
typedef struct GcColSpec
{
	int16		attnum;
	uint8		kind;			/* GcKind */
	bool		rtrim;			/* bpchar: trailing blanks do not count */
	Oid			typid;			/* base type, domains looked through */
	int32		typmod;
	Oid			collation;
} GcColSpec;

/*
 * Rows of one chunk.  Page i of the chunk (heap block first + i) holds rows
 * row_start[i] .. row_start[i + 1] - 1.  present has the layout of the
 * visibility map (2 bits per page, only 0x55 used), so that it is compared with
 * the map many pages at a time; a chunk begins at a byte boundary of its map
 * page because gpuconc.chunk_pages is a multiple of 4.
 *
 * An absent page holds no rows, except where it lost its bit while the chunk
 * was being read: then its rows are here, and no one is ever served them.
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
	uint32	   *row_start;		/* npages + 1 */
	uint8	   *present;
} GcChunk;

/* One column of one chunk.  desc holds host addresses. */
typedef struct GcChunkColumn
{
	GcObject	obj;			/* obj.region_id identifies the device copy */
	GcCol		desc;
	int64		min;			/* of the non-NULL values; floats: 0 */
	int64		max;			/* min > max when there is no non-NULL value */
	Size		data_bytes;		/* padded to GC_PAD_ROWS rows */
	Size		null_bytes;		/* 0 when no NULL; bitmap lies behind the data */
	int16		dscale;			/* numeric: display scale of all values; -1 none */
} GcChunkColumn;

typedef struct GcDict GcDict;	/* dict.h */

/* Mutable state of a cached column; lives as long as the column is cached. */
typedef struct GcColState
{
	GcObject	obj;
	pg_atomic_uint64 last_used; /* GetCurrentTimestamp() of the last request */
	pg_atomic_uint64 device_bytes;	/* kept by the worker */
	pg_atomic_uint32 duplicates;	/* 1 once a build on this column met any */
	GcDict	   *dict;			/* text: replaced (retired) when it grows */
	bool		retired;		/* dict, too, is; under the dictionary's lock */
} GcColState;

/* Why a column that was asked for is not there although it was loaded. */
typedef enum GcColProblem
{
	GC_COL_OK = 0,
	GC_COL_MANY_VALUES,			/* text: more distinct values than a dictionary takes */
	GC_COL_NUMERIC_RANGE,		/* numeric value beyond 64 bits, NaN or infinity */
	GC_COL_NUMERIC_SCALE,		/* numeric values of different scales */
	GC_COL_VALUE_TOO_LONG,		/* text value longer than a dictionary entry takes */
} GcColProblem;

/* Where a column's problem was met, and when to look whether it has gone (problem.c). */
typedef struct GcEvidence
{
	int32		chunk;			/* that has the values; -1: several have them */
	BlockNumber block;			/* a page with a value that is a problem by itself */
	uint64		stamp;			/* gc_map_stamp(chunk) when read; 0: try again at once */
	TimestampTz not_before;		/* after a retry in vain */
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
	int16		dscale;			/* numeric: of all chunks; -1: no value at all */
	uint8		widths;			/* set of code widths in use: 1|2|4|8 or-ed */
	int64		min;			/* over all chunks; min > max: no value */
	int64		max;
	Size		bytes;
	GcColState *state;
} GcDirColumn;

/*
 * The chunks of one relation.  chunks[i] is NULL where chunk i is not loaded;
 * cell (i, c) is cells[i * ncolumns + c], NULL only if chunks[i] is NULL or
 * columns[c].problem is set.
 */
/* A cell's min and max once more, all of a column side by side: read by every query. */
typedef struct GcCellRange
{
	int64		min;
	int64		max;
} GcCellRange;

/* What judging asks of a chunk, once more, side by side; all 0 where there is no chunk. */
typedef struct GcChunkFacts
{
	XLogRecPtr	map_lsn;
	uint32		npages;
	uint32		npresent;
	uint32		nrows;
} GcChunkFacts;

typedef struct GcDirectory
{
	GcObject	obj;
	uint64		id;				/* never reused; equal ids, equal contents */
	GcRelKey	key;
	uint32		nchunks;
	uint32		ncolumns;
	uint64		nrows;
	GcDirColumn *columns;
	GcChunk   **chunks;
	GcChunkColumn **cells;
	GcCellRange *ranges;		/* of cell (i, c): ranges[c * nchunks + i] */
	GcChunkFacts *facts;		/* of chunk i */

	/* For whom all was found to be served from chunks, and when (visibility.c). */
	pg_atomic_uint64 whole_for;
	pg_atomic_uint64 whole_at;
} GcDirectory;

#define GC_CELL(dir, chunk, col) \
	((dir)->cells[(Size) (chunk) * (dir)->ncolumns + (col)])

#define GC_COLUMN_RANGES(dir, col) \
	((dir)->ranges + (Size) (col) * (dir)->nchunks)

/* Map a column's type to its kind; GC_KIND_NONE and *reason if there is none. */
extern bool gc_col_spec(Relation rel, AttrNumber attnum, GcColSpec *spec, const char **reason);

/*
 * May this relation's pages be served from chunks at all, now, for this
 * snapshot?  (Permanent heap table, not a catalog, not created or rewritten in
 * this transaction, no old_snapshot_threshold, MVCC snapshot, not SERIALIZABLE
 * unless READ ONLY DEFERRABLE.)  Decided at execution time.
 */
extern bool gc_rel_cacheable(Relation rel, Snapshot snapshot, const char **reason);

/* Same, as far as the planner can know: persistence, access method, catalog. */
extern bool gc_rel_plannable(Relation rel, const char **reason);

/*-------------------------------------------------------------------------
 * store.c: relation -> directory
 *-------------------------------------------------------------------------
 */
extern Size gc_store_shmem_size(void);
extern void gc_store_shmem_init(void);

/* Current directory of the relation's current file, or NULL.  Needs a guard. */
extern GcDirectory *gc_directory(Relation rel);

/* Column of a directory that stands for spec, or -1.  Checks the signature. */
extern int	gc_directory_column(const GcDirectory *dir, const GcColSpec *spec);

/*
 * May the problem of this column have gone, so that loading it is worth a try?
 * Costs a look at the map, at most at one page of the table.  Needs a guard.
 */
extern bool gc_worth_retry(Relation rel, const GcDirectory *dir, int col);

/* Note the use of a column, for replacement. */
extern void gc_column_touch(GcDirectory *dir, int col);

/* Drop all that is cached of a relation; returns bytes.  relid may be gone. */
extern Size gc_store_forget(Oid dbid, Oid relid);

/* Forget what is cached of databases, and tables of this one, that are gone.  In a transaction. */
extern void gc_forget_dropped(void);

/* Drop all that is cached of a database. */
extern Size gc_store_forget_database(Oid dbid);

/*
 * Drop least recently used columns until `bytes` more are free; never a column
 * used since `since`, nor one of a relation that is being loaded.  What is
 * dropped may still be guarded by running requests, so this waits for them, for
 * a bounded time and interruptibly; the caller holds no guard and no LWLock.
 * False if there is less room than that in the end.
 */
extern bool gc_store_make_room(Size bytes, TimestampTz since);

/*
 * gc_arena_alloc() for columns: makes room in this manner, and leaves an eighth
 * of the arena to requests and results; NULL when there is no room.
 */
extern void *gc_store_alloc(Size size, TimestampTz since);

/* Bytes that columns can take at most. */
extern Size gc_store_capacity(void);

/* Forget dropped tables and databases once their transaction has committed. */
extern void gc_columns_install_hooks(void);

/*-------------------------------------------------------------------------
 * load.c: bringing columns in
 *-------------------------------------------------------------------------
 */
typedef struct GcLoadStats
{
	uint32		chunks_loaded;
	uint64		pages_read;
	int			workers;		/* background workers that took part */
	double		ms;
} GcLoadStats;

/*
 * Make sure that the columns are cached for every chunk of rel, and that the
 * chunks for which worth_reload() holds are loaded anew.  Starts up to
 * gpuconc.loader_workers background workers, takes part itself, and waits,
 * interruptibly.  If another session is loading the same relation, joins it.
 * Caller holds a lock on rel and an active snapshot, and no guard.
 * Not an error: a column that has a problem (see the directory).
 * GC_CACHE_FULL: the columns do not fit, even when all else is evicted.
 */
extern GcCode gc_load_columns(Relation rel, int ncols, const GcColSpec *specs,
							  GcLoadStats *stats, GcError *err);

/*
 * Have what is cached of rel brought up to date, without waiting: a background
 * worker loads every chunk anew that more than a few pages would profit from.
 */
extern void gc_load_in_background(Relation rel);

extern Size gc_load_shmem_size(void);
extern void gc_load_shmem_init(void);

/* Entry point of loader workers (bgw_function_name). */
extern PGDLLEXPORT void gc_loader_main(Datum main_arg);

/*-------------------------------------------------------------------------
 * visibility.c: which pages a snapshot may be served from chunks
 *-------------------------------------------------------------------------
 */
typedef struct GcBlockRange
{
	BlockNumber first;
	BlockNumber count;
} GcBlockRange;

/* A chunk with pages that may not be served: bit per row, GC_PAD_ROWS padded. */
typedef struct GcServedChunk
{
	uint32		chunk;
	uint32		nrows;
	uint8	   *valid;			/* palloc'd, or NULL when all rows are good */
	Size		valid_bytes;
} GcServedChunk;

typedef struct GcServed
{
	uint32		nchunks;
	GcServedChunk *chunks;		/* palloc'd; chunks with no good page left out */
	uint32		nranges;
	GcBlockRange *ranges;		/* palloc'd: the delta, ascending, disjoint */
	BlockNumber nblocks;		/* of the relation */
	BlockNumber pages_served;
	BlockNumber pages_delta;
	uint64		rows_served;
	BlockNumber pages_reloadable;	/* of pages_delta: all-visible now, so a reload
									 * of their chunks would serve them */
	bool		complete;		/* every chunk wholly served, no delta: what the
								 * request reads is exactly the directory */
	bool		worth_reload;	/* enough reloadable pages that waiting for a
								 * reload beats reading them as delta */
} GcServed;

/*
 * Judge every page of rel against dir (NULL: nothing is cached).  Call after
 * the executing snapshot was taken and while it is registered.  Needs a guard.
 * snapshot: that; NULL: for none in particular.
 */
extern void gc_serve(Relation rel, GcDirectory *dir, Snapshot snapshot, GcServed *served);

/*
 * Read the delta: every tuple of the ranges that `snapshot` sees, through the
 * table access method, handed to the encoder.
 */
typedef struct GcEncoder GcEncoder; /* encode.h */
extern GcCode gc_delta_scan(Relation rel, Snapshot snapshot, const GcServed *served,
							GcEncoder *encoder, GcError *err);

/*
 * Count one sequential scan of rel that returned so many rows, for
 * pg_stat_user_tables.  gc_delta_scan() counts none: an attempt may fail.
 */
extern void gc_count_scan(Relation rel, uint64 rows);

/* LWLocks of this room: one named tranche, requested in shmem_request. */
typedef enum GcColumnsLock
{
	GC_LOCK_STORE,				/* relation table, publishing directories */
	GC_LOCK_JOBS,				/* load jobs */
	GC_LOCK_RETIRE,
	GC_LOCK_ARENA,
	GC_LOCK_DICT_FIRST,			/* 16 partitions by GcColState address */
	GC_LOCK_DICT_LAST = GC_LOCK_DICT_FIRST + 15,
	GC_NLOCKS
} GcColumnsLock;

extern LWLock *gc_lock(GcColumnsLock which);

#endif							/* GC_COLUMNS_H */
