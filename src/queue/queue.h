/*-------------------------------------------------------------------------
 *
 * queue.h
 *	  The work queue: requests from backends to the worker, results back.
 *
 * A request is one block of arena memory: a bound program, the values that go
 * with it, and a device part.  That part is copied to the device as it is.  A
 * slot carries it through these states; the arrows name the process that
 * moves it:
 *
 *	FREE --backend--> FILLING --backend--> QUEUED --worker--> RUNNING --worker--> DONE
 *	                     |                    |                  |                  |
 *	                     v                    v                  v                  v
 *	                    FREE              ABANDONED          ABANDONED            FREE
 *	                 (backend)     (backend; the worker frees it later)      (backend)
 *
 *	Each device has its worker, and its ring of queued requests.  A request is one device's from when it is
 *	submitted, until it is DONE.
 *
 *	gc_slot_acquire, gc_slot_submit, gc_queue_take, gc_slot_finish; gc_slot_release
 *	moves a slot downwards from any state at any time, without waiting.
 *
 * Ownership: the slot owns request, result and the slot's guard (epoch.h).  The process
 * that moves it to FREE gives them back.  While ABANDONED they belong to the worker, since
 * the device may still read them.  When a worker exits, its queued and running requests
 * become DONE with GC_WORKER_GONE, and abandoned ones FREE.
 *
 * Locks: queue spinlock (free list, rings, workers' presence), held for a few
 * instructions, taken last.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_QUEUE_H
#define GC_QUEUE_H

#include "postgres.h"

#include "storage/latch.h"

#include "../columns/store/columns.h"
#include "../columns/store/lookups.h"
#include "../device/device.h"
#include "../program/hash.h"
#include "../program/program.h"
#include "device_status.h"

/*-------------------------------------------------------------------------
 * Requests.  Offsets ("off") count from the start of the device part, 0 = none.
 *-------------------------------------------------------------------------
 */

typedef struct GcParamValue
{
	u64			lo;				/* as GC_ARG_PARAM wants it */
	u64			hi;
} GcParamValue;

typedef struct GcLutValue
{
	const GcSharedLookup *shared;	/* NULL: it travels with the request: */
	const GcDict *dict;			/* of a text program, which the device executes; else NULL: */
	GcHash		function;		/* text programs: identity of the expression that they compute */
	u64			data_off;		/* entry 0 is f(NULL); or the text program (cuda/gc_text.h) */
	u64			nulls_off;		/* bytes, 1 = NULL */
	i64			base;			/* entry 1 is f(base) */
	u32			count;			/* text programs: values of the dictionary */
	u16			nops;			/* operations */
	u8			utf8;
	u8			width;			/* bytes of an entry */
} GcLutValue;

typedef struct GcListValue
{
	u64			data_off;		/* i64[count], ascending */
	u64			count;
} GcListValue;

typedef struct GcInputValue
{
	const GcDirectory *dir;		/* of the cached chunks; NULL: none is read */
	u64			sources_off;	/* GcSource[nsources]; valid: offsets into the bitmaps */
	u32			nsources;
	u32			max_rows;		/* of the largest source */
	u64			rows;			/* of all sources */
	u32			nprivate;		/* private chunks */
	u32			nalone;			/* the last sources, which shared scans leave out: private chunks, and hot
								 * ones behind chunks of the heap */
} GcInputValue;

/* How many sources are cached chunks: they come first, and each chunk once. */
static inline u32
gc_cached_sources(const GcInputValue *in)
{
	return in->nsources - in->nprivate;
}

typedef struct GcColumnValue
{
	i32			dir_column;		/* in the input's directory; -1: no cached chunk */
	u32			pad;
	u64			private_off;	/* GcCol[nprivate]; data, nulls: offsets */
} GcColumnValue;

typedef struct GcBuildValue
{
	i64			base;			/* dense: smallest key; range: number of keys */
	u64			range;
	u64			cap;			/* hash: rows; slots: power of 2, >= 2 * cap */
	u64			slots;
	u64			expected;		/* hash: of its rows, for models */
	GcHash		share;			/* equal hashes, equal contents; 0: private */
} GcBuildValue;

typedef struct GcGroupKeyValue
{
	i64			base;
	u64			stride;
} GcGroupKeyValue;

/* Room of a pipeline's sink. */
typedef struct GcSinkValue
{
	u64			ngroups;		/* dense: groups; hash: groups that have room; none: 1 */
	u64			group_slots;	/* hash: power of 2, >= 2 * ngroups */
	u64			rows_cap;		/* row sink: rows that have room; where `select` chooses
								 * among the groups: chosen groups that have */
	i32			key_words;		/* hash: words of a group's key */
	u32			expected;		/* of its groups or rows, for models */
} GcSinkValue;

/* Words of a pipeline's flags: GC_NFLAGS of them, and when its kernel began and ended, at GC_TIMES_AT. */
#define GC_GROUP_FLAG_WORDS		((GC_TIMES_AT + GC_TIME_BEFORE_BEGAN * sizeof(u64)) / sizeof(u32))

typedef struct GcRequest
{
	Size		size;			/* of the whole arena block */
	GcProgram  *program;		/* bound */
	GcHash		program_hash;
	GcParamValue *params;
	GcLutValue *luts;
	GcListValue *lists;
	GcInputValue *inputs;
	GcColumnValue *columns;
	GcBuildValue *builds;
	i64		   *payload_bases;
	GcSinkValue *sinks;			/* npipelines; the main one's is the last */
	GcGroupKeyValue *group_keys;	/* by GC_GROUP_KEY_INDEX */
	u32		   *group_flags;	/* npipelines * GC_GROUP_FLAG_WORDS: of pipelines whose groups
								 * others scan, once the device is done */
	u64			wanted;			/* number of groups that `select` chooses, or of rows, with ties;
								 * 0: no limit */
	u64			best;			/* rows: no key's image is larger (cuda/gc_top.h) */
	u64			ends[4];		/* groups: least and greatest image of each of two keys */
	GcHash		share;			/* equal hashes of equal programs, equal results; 0:
								 * this request's alone */
	i32			edge;			/* gpuconc.debug_pipeline_edge, debug_pipeline_tile, debug_edge_step */
	u32			edge_tile;
	i32			edge_step;
	char	   *device_part;
	u64			device_bytes;
	u64			visible_off;	/* GcVisible[nvisible] in the device part; bitmap: offsets as
								 * those of GcSource.valid, holes: offsets */
	u32			nvisible;
	u32			visible_rows;	/* of the largest */
	u64			bitmap_bytes;	/* of memory that these bitmaps take on the device */
	u32			nparts;			/* of the request that it is a part of, each on a device of its own; or 1 */
	u32			part;			/* which of these */
	u32			only_compiles;	/* bool: it is done, without a result, once its kernels are there */
	u32			split_groups;	/* 1 + pipeline of whose groups a part has some by their keys; 0: it has chunks */
} GcRequest;

/*
 * The worker's answer; the data follows the header.  Requests that compute the same hold the same one, and do not
 * change it any more.
 */
typedef struct GcResult
{
	Size		size;			/* of the whole arena block */
	pg_atomic_uint32 holders;	/* the last one frees it (gc_result_put) */
	u64			count;			/* groups (dense, not gathered: all), or rows */
	u64			stride;			/* rows: words per column */
	u64		   *words;			/* groups: count * group_words; rows: column-wise,
								 * gc_row_words columns of `stride` words */
	i64		   *keys;			/* hashed groups: count * key_words; groups gathered or
								 * chosen from a dense table: their numbers */
	bool		gathered;
	bool		chosen;			/* groups: those alone that the program's choice returns */
} GcResult;

/* Events on the way, for EXPLAIN and the statistics. */
typedef struct GcRunInfo
{
	float		queue_ms;		/* submitted .. taken by the worker */
	float		compile_ms;		/* waiting for kernels */
	float		copy_ms;		/* from the first copy of a chunk to the first build, or else to
								 * the main kernel; 0: no chunk was copied */
	float		run_ms;			/* kernels, by the device's clock */
	float		total_ms;		/* submitted .. finished */
	u64			copied_bytes;
	u64			read_bytes;		/* encoded column bytes of the main scan */
	u32			passes;			/* the most launches of one kernel for parts of builds or groups */
	u32			waves;			/* of chunks, that its pipelines were scanned in */
	u64			wave_bytes;		/* copied for those */
	u64			wave_bytes_shared;	/* the part of these that other requests read, too */
	u32			link_reads;		/* chunks of columns that they read in the host's memory */
	u64			link_read_bytes;	/* over the link for those: an estimate */
	u32			kernels;		/* launched */
	u32			gang_members;	/* requests of the gang launch that it was in; 0: none */
	u32			compiled;		/* kernels compiled for this request */
	u32			from_disk;		/* kernels loaded from the disk cache */
	u32			shared_result;	/* 1: answered by another request's kernels */
	u32			empty_build;	/* 1: nothing was scanned, as a build that each row needs is empty */
	u32			builds_shared;	/* builds taken over from other requests */
	u32			builds_run;
	u32			blocks;			/* of the main kernel */
	u32			threads;
	u32			shared_bytes;	/* per block */
	u32			registers;		/* per thread */
	u32			co_running;		/* other requests on the device at its launch */
	u64			batch;			/* id of the batch it was started in; 0: none */
	u32			batch_kernels;	/* requests of that batch */
	u32			scan_members;	/* requests answered by the same shared scan; 1: its own */
	u32			first_tile;		/* where its scan began, of ntiles */
	u32			ntiles;
	u32			device;			/* that it was submitted to */
	u32			policy;			/* GcPolicy */
	float		predicted_ms;	/* of the main kernel, next to its co-runners */
	u8			below_edge;		/* GcEdge of the pipeline before the main one that made groups, the longest of these */
	u8			below_step;
	float		below_predicted_ms;
	float		below_ms;		/* its time; 0: there is none, or more than one kernel filled its groups */
	u8			edge;			/* GcEdge of the main pipeline */
	u8			edge_step;		/* before which it lies */
	u32			edge_tile;		/* rows of the table of which packets are in memory at a time; 0: all */
	u64			edge_packets;	/* that passed the edge */
	u64			edge_held;		/* the most of these that there were at a time */
	u32			edge_packet_bytes;	/* of each */
	float		edge_predicted_ms;	/* of the main kernel with this edge; 0: not predicted */
	float		main_ms;		/* the time of that, without builds */
	u64			rows_made[GC_MAX_PIPELINES];	/* that a pipeline put into its hash table, list or result,
												 * and 1; 0: its kernel does not count them */
} GcRunInfo;

/*-------------------------------------------------------------------------
 * Backend's side
 *-------------------------------------------------------------------------
 */

/* A slot in FILLING, with its guard entered; -1 when all are taken. */
extern int	gc_slot_acquire(void);

/*
 * Hand over the request to one of the devices (route.h), but not to those whose bits are set in `avoid`.  The slot
 * owns it from here, also on failure.  GC_WORKER_GONE when there is no worker.
 */
extern GcCode gc_slot_submit(int slot, GcRequest *request, u32 avoid, GcError *err);

/* The devices that requests may go to, as bits: those that are ready, or else those that have a worker. */
extern u32	gc_queue_devices(void);

/* The device that a request was submitted to last. */
extern int	gc_slot_device(int slot);

/* Is, or was, that device at work for it? */
extern bool gc_slot_begun(int slot);

/*
 * Sleep until the request is done.  Interruptible; returns the request's code.  GC_LOADING if its kernels are
 * still being compiled after patience_ms.  GC_TOO_SLOW if it is not done limit_ms after the device began.  -1:
 * wait in any case.
 */
extern GcCode gc_slot_wait(int slot, double patience_ms, double limit_ms, GcError *err);

/* Result and information of a DONE slot; valid until it is released. */
extern const GcResult *gc_slot_result(int slot);
extern const GcRunInfo *gc_slot_info(int slot);

/* Either side: hold a result no longer. */
extern void gc_result_put(GcResult *result);

/* Give the slot back, from any state.  Never waits.  Safe in error cleanup. */
extern void gc_slot_release(int slot);

/*-------------------------------------------------------------------------
 * Worker's side
 *-------------------------------------------------------------------------
 */

/* Has no other worker a card of this name?  From now on it is this one's. */
extern bool gc_queue_claim_card(const char *card);
extern void gc_queue_give_card_back(void);

extern void gc_queue_worker_start(Latch *latch);
extern void gc_queue_worker_stop(void);

/*
 * Arena memory for the worker itself, the same for all incarnations of a device's worker, zeroed.
 * NULL when the arena has no room.
 */
extern void *gc_queue_worker_memory(Size size);

/* Take up to max queued requests, oldest first; abandoned ones are freed. */
extern int	gc_queue_take(int *slots, int max);

extern GcRequest *gc_slot_request(int slot);
extern GcRunInfo *gc_slot_run_info(int slot);
extern bool gc_slot_abandoned(int slot);

/* Does the request wait for kernels to be compiled?  Its session is told, and may give up. */
extern void gc_slot_note_compiling(int slot, bool compiling);
extern bool gc_slot_compiling(int slot);

/* The device is at work for the request. */
extern void gc_slot_note_begun(int slot);

extern TimestampTz gc_slot_submitted(int slot);

/* The backend of the request, which may have exited. */
extern int	gc_slot_pid(int slot);

/*
 * Finish a taken request.  result (may be NULL) is arena memory, and the slot holds it
 * instead of the run.  Wakes the backend, or frees everything if the request was abandoned.
 */
extern void gc_slot_finish(int slot, const GcError *err, GcResult *result);

/*-------------------------------------------------------------------------
 * Statistics
 *-------------------------------------------------------------------------
 */
/* Decisions of one kind, and the worker's time for them. */
typedef struct GcDecisionStats
{
	pg_atomic_uint64 made;
	pg_atomic_uint64 ns;
	pg_atomic_uint64 most_ns;	/* the longest one */
} GcDecisionStats;

typedef struct GcStats
{
	pg_atomic_uint64 requests;	/* executions of a gpuconc node */
	pg_atomic_uint64 offloaded; /* requests answered by the device */
	pg_atomic_uint64 fallbacks[GC_NCODES];	/* requests answered by PostgreSQL's plan, by reason */
	pg_atomic_uint64 retries;
	pg_atomic_uint64 queue_us;
	pg_atomic_uint64 compile_us;
	pg_atomic_uint64 copy_us;
	pg_atomic_uint64 run_us;
	pg_atomic_uint64 copied_bytes;
	pg_atomic_uint64 read_bytes;
	pg_atomic_uint64 kernels;
	pg_atomic_uint64 kernels_compiled;
	pg_atomic_uint64 main_launches;	/* of main kernels and shared scans' kernels; a gang launch is one */
	pg_atomic_uint64 ganged;	/* requests whose main kernels were launched in a gang */
	pg_atomic_uint64 builds_run;
	pg_atomic_uint64 builds_shared;
	pg_atomic_uint64 results_shared;
	pg_atomic_uint64 rows_delta;
	pg_atomic_uint64 rows_versioned;	/* served from hot chunks */
	pg_atomic_uint64 pages_delta;	/* read by sessions for themselves */
	pg_atomic_uint64 pages_looked_at;	/* whose LSNs requests looked at */
	pg_atomic_uint64 pages_loaded;	/* read into chunks, whoever did it */
	pg_atomic_uint64 key_group_scans;	/* columns for which selection scans had key groups */
	pg_atomic_uint64 key_group_mismatches;	/* such columns that were read by value: key groups
											 * did not agree with the predicates */
	pg_atomic_uint64 direct_lookups;	/* hash builds that requests probed by direct lookup */
	pg_atomic_uint64 in_passes;		/* requests that ran in passes, for want of device memory */
	pg_atomic_uint64 lookups_made;	/* lookup tables that PostgreSQL filled, in part or as a whole */
	pg_atomic_uint64 lookups_shared;	/* tables that requests found complete in shared memory */
	pg_atomic_uint64 waves;			/* of chunks, of tables that do not fit into device memory */
	pg_atomic_uint64 wave_bytes;	/* copied for those */
	pg_atomic_uint64 wave_bytes_shared;	/* the part of these that several requests read */
	pg_atomic_uint64 link_bytes;	/* copied to the device, each byte once, for however many requests */
	pg_atomic_uint64 link_reads;	/* chunks of columns that kernels read in the host's memory, per request */
	pg_atomic_uint64 link_read_bytes;	/* over the link for those: an estimate */
	pg_atomic_uint64 region_hits;	/* chunks of columns that requests found in device memory */
	pg_atomic_uint64 region_misses; /* that were copied there for them */
	pg_atomic_uint64 evictions; /* regions, builds and the like that left device memory when it was short */
	pg_atomic_uint64 evicted_bytes;
	GcDecisionStats evicting;	/* which data leaves device memory */
	GcDecisionStats admitting;	/* may a request begin? */
	TimestampTz reset_at;		/* behind all counters */
} GcStats;

extern GcStats *gc_stats(void);

/* Worker: a decision took so long. */
extern void gc_count_decision(GcDecisionStats *decisions, double us);
extern void gc_stats_reset(void);

extern int	gc_request_slots(void);
extern void gc_queue_shmem(void);

#endif							/* GC_QUEUE_H */
