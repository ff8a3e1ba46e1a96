/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  What the files of the worker share; private to worker/.
 *
 * The worker is one static background worker without a database; it owns the
 * device.  All of worker/ runs on its main thread, which may use palloc, hash
 * tables and latches, but takes no part in transactions and raises no error on
 * behalf of a request: a request ends with a status.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WORKER_H
#define GC_WORKER_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "portability/instr_time.h"

#include "../codegen/codegen.h"
#include "../device/device.h"
#include "../device/kcache.h"
#include "../device/memory.h"
#include "../queue/queue.h"
#include "../sched/policy/sched.h"

/*-------------------------------------------------------------------------
 * worker.c
 *-------------------------------------------------------------------------
 */
typedef struct GcWorker
{
	GcDevice   *dev;
	const GcDeviceOps *ops;
	GcPool	   *pool;
	GcKernelCache *kernels;
	GcProfile	profile;
	GcCalibration calibration;
	uint64		clock;			/* counts uses, for replacement */
} GcWorker;

extern GcWorker gc_worker;

extern PGDLLEXPORT void gc_worker_main(Datum arg);
extern void gc_worker_register(void);

/*-------------------------------------------------------------------------
 * device_cache.c: device memory, and the column chunks that are in it
 *-------------------------------------------------------------------------
 */

/* Device memory; drops what is least recently used and not in use.  0: none. */
extern GcAddr gc_device_alloc(u64 size);
/* The same out of what is free, of which it leaves some: nothing is dropped for it. */
extern GcAddr gc_device_alloc_spare(u64 size);
extern void gc_device_free(GcAddr addr);

/*
 * Copy between the arena, page-locked as far as it is used for that, and the
 * device.  Asynchronous.
 */
extern GcCode gc_copy_in(GcStream *stream, GcAddr dst, const void *src, Size size, GcError *err);
extern GcCode gc_copy_out(GcStream *stream, void *dst, GcAddr src, Size size, GcError *err);

/* May kernels write to this range of the arena by themselves? */
extern bool gc_kernels_reach(const void *ptr, Size size);

/* One cached column of one directory: its GcCols, on the device. */
typedef struct GcTable GcTable;

/*
 * The table of column `col` of dir, with every chunk of sources[] resident; copies
 * that are needed are queued on stream, *copied grows by their bytes, and before the
 * first of them comes a mark, *began, if began is not NULL and *began is.  The table
 * is in use until gc_table_release.  NULL: no device memory (err set).
 */
extern GcTable *gc_table_use(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources,
							 GcStream *stream, GcMark **began, u64 *copied, GcError *err);
extern GcAddr gc_table_array(const GcTable *table);

/* After the copies were queued: others that use the table wait for this mark. */
extern void gc_table_uploaded(GcTable *table, GcStream *stream);
extern void gc_table_release(GcTable *table);

/*
 * Drop one class column, table or build that nobody uses, the least recently used; false:
 * none.
 */
extern bool gc_evict_one(void);

/* classes.c: does the device work on any column's classes, so that it is to be asked? */
extern bool gc_classes_refining(void);

/* scan_set.c: drop a class column that nobody uses; false: there is none. */
extern bool gc_scan_sets_evict(void);

/* The worker ends, and the device is closed: give back what outlives both. */
extern void gc_scan_sets_abandon(void);

/* Drop device copies of chunks whose host copies are gone. */
extern void gc_drop_regions(void);
extern void gc_residency_init(void);

/*-------------------------------------------------------------------------
 * builds.c: hash tables and dense arrays, shared between requests
 *-------------------------------------------------------------------------
 */
typedef struct GcBuildTable
{
	GcHash		share;			/* key; 0: not shared */
	u32			users;
	uint64		last_used;
	bool		bad;			/* flags raised: not to be shared any more */
	bool		checked;		/* flags looked at and good */
	GcAddr		memory;
	u64			bytes;
	GcAddr		flags;			/* u32[GC_NFLAGS] */
	GcAddr		bitmap;
	GcAddr		slots;
	GcAddr		keys;
	GcAddr		next;
	GcAddr		payload[GC_MAX_PAYLOADS];
	u64			zero_bytes;		/* from memory on, to be zeroed before building */
	u32		   *host_flags;		/* pinned copy of flags, valid once built is done */
	GcMark	   *built;			/* behind the kernel that fills it */
	struct GcBuildTable *next_table;
	struct GcBuildTable *next_in_chain;	/* of those with like hashes */
} GcBuildTable;

/* A finished or running build with this content, or NULL.  Counts as a use. */
extern GcBuildTable *gc_build_find_shared(GcHash share);

/* A new, empty one with memory laid out for build b of the request. */
extern GcBuildTable *gc_build_create(const GcRequest *request, int b, GcError *err);
extern void gc_build_release(GcBuildTable *table);
extern bool gc_build_evict(uint64 older_than);
extern void gc_builds_init(void);

/*-------------------------------------------------------------------------
 * kernels.c: kernels of a program
 *-------------------------------------------------------------------------
 */
typedef struct GcPipelineKernel
{
	GcVariant	variant;
	GcArgWord	words[GC_MAX_ARG_WORDS];
	int			nwords;
	GcCachedKernel *entry;
	GcKernel   *kernel;			/* once ready */
	GcKernelInfo info;
	bool		final;			/* no better kernel is to come */
	int			occupancy;		/* -1: not asked yet */
	u32			occupancy_shared;	/* for so many bytes of shared memory */
	int			occupancy_threads;	/* and blocks of so many threads */
	GcHash		hash;			/* of its text */
	GcLearned	alone_us;		/* time of a main kernel with the device to itself */
	GcLearned	issue_part;		/* of that, if memory took no time (sched/policy/coresident.h) */
	struct GcPipelineKernel *next;
} GcPipelineKernel;

/*
 * The kernel of a pipeline of the request, in the variant that suits it; asked for
 * from the kernel cache if it is new (*fresh).  NULL: err set.
 */
extern GcPipelineKernel *gc_shape_kernel(const GcRequest *request, int pipeline,
										 bool *fresh, GcError *err);
/* What the choice of a variant depends on, and the choice (kernels.c). */
typedef struct GcVariantDemand
{
	GcPipelineDemand demand;
	u16			build[32];		/* of each bitmap of it */
} GcVariantDemand;

extern void gc_variant_demand(const GcRequest *request, int pipeline, GcVariantDemand *d);
extern GcVariant gc_make_variant(const GcVariantDemand *d, const GcVariantChoice *choice);
extern GcVariant gc_choose_variant(const GcProfile *profile, const GcVariantDemand *d, u64 room);
extern void gc_write_gpu_text(const char *text);

/*
 * Kernels that are the same for all programs (codegen.h), or NULL until they are compiled;
 * *failed: they will never be.
 */
extern const GcPipelineKernel *gc_compactor(GcError *err, bool *failed);
extern const GcPipelineKernel *gc_combiner(GcError *err, bool *failed);
extern const GcPipelineKernel *gc_refiner(GcError *err, bool *failed);
extern const GcPipelineKernel *gc_class_writer(GcError *err, bool *failed);
extern const GcPipelineKernel *gc_record_writer(GcError *err, bool *failed);

/*
 * Ask the kernel cache for a generated kernel, and fill k with it; frees source->text.
 * gc_kernel_ready: is it compiled, in its final form?  *failed: it will never be.
 */
extern bool gc_kernel_ask(GcPipelineKernel *k, const GcVariant *variant, GcKernelSource *source);
extern bool gc_kernel_ready(GcPipelineKernel *k, bool *failed);
extern void gc_shapes_init(void);
extern void gc_shapes_trim(void);

/*-------------------------------------------------------------------------
 * run.c: one request
 *-------------------------------------------------------------------------
 */
typedef struct GcRun GcRun;

extern GcRun *gc_run_start(int slot);

/* Attach it to one of runs that computes the same, if there is one. */
extern void gc_run_join(GcRun *run, List *runs);

/*
 * Move it on as far as it goes without waiting.  True if it moved.  others: requests
 * that will give back memory of the device.
 */
extern bool gc_run_advance(GcRun *run, int others);
extern bool gc_run_finished(const GcRun *run);
extern bool gc_run_on_device(const GcRun *run);
extern bool gc_run_holds_device(const GcRun *run);
extern bool gc_run_device_failed(const GcRun *run);
extern void gc_run_free(GcRun *run);
extern void gc_run_forget(GcRun *run);

/*-------------------------------------------------------------------------
 * schedule.c: which READY runs start now, together, in which shape
 *-------------------------------------------------------------------------
 */
extern bool gc_schedule_runs(List *runs);

/* To be called often: has the device come to where another decision may be due? */
extern bool gc_schedule_news(List *runs);
extern void gc_schedule_init(void);

static inline double
gc_us_since(instr_time since)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, since);
	return INSTR_TIME_GET_MICROSEC(now);
}

/* A run of a batch ends (or one of none does): note how it went. */
extern void gc_batch_run_ends(GcRun *run);
extern void gc_batch_run_leaves(GcRun *run);

/* What a request's tester computes for one column (codegen.h). */
typedef struct GcTestValue
{
	GcAddr		bits;
	i64			base;
	u64			range;
	i16			dir_column;
} GcTestValue;

/* args.c: the words of a kernel's parameter. */
typedef struct GcArgSource
{
	const GcRequest *request;
	GcTable   **tables;			/* per column of the program; NULL: no cached chunk */
	GcBuildTable **builds;		/* per build */
	GcAddr		device_part;	/* where the request's device part is */
	GcAddr		groups;
	GcAddr		group_slots;
	GcAddr		group_keys;
	GcAddr		rows;
	GcAddr		marks;			/* of a marked scan: as GC_ARG_MARKS's parts */
	u64			marks_bytes;
	GcAddr		digest;
	int			marks_bit;
	const GcAddr *records;		/* per column of the program: of its records; or NULL */
	const GcTestValue *tests;	/* per tested column */
	const GcTestValue *places;	/* per build */
} GcArgSource;

extern u64	gc_arg_word(const GcArgSource *src, const GcArgWord *word);
extern void gc_fill_args(const GcArgSource *src, const GcPipelineKernel *kernel, GcArgs *args);

#endif							/* GC_WORKER_H */
