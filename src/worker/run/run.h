/*-------------------------------------------------------------------------
 *
 * run.h
 *	  A request being executed, and its states.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_H
#define GC_RUN_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/timestamp.h"

#include "../../queue/queue.h"
#include "../memory/builds.h"
#include "../memory/device_cache.h"
#include "../memory/device_dicts.h"
#include "../memory/device_lookups.h"
#include "args.h"
#include "../kernels/kernels.h"
#include "main_launch.h"

typedef enum RunState
{
	RUN_COMPILING,
	RUN_WAITING,
	RUN_READY,
	RUN_RUNNING,
	RUN_FETCHING,
	RUN_FINISHED
} RunState;

/* What a request is counted with for admission, by how far it is. */
typedef enum GcRunDemand
{
	GC_DEMAND_WHOLE,			/* until its main kernel is launched */
	GC_DEMAND_MAIN,
	GC_DEMAND_FETCHING,
	GC_NDEMANDS
} GcRunDemand;

/* Its kernels. */
typedef struct GcRunKernels
{
	GcPipelineKernel **of;		/* per pipeline */
	bool	   *fresh;			/* per pipeline: kernel was asked for by this request */
	u8		   *timed;			/* per pipeline before the main one: 1 + GcEffort of the kernel that alone made its groups; 0:
								 * it made none, or with others */
} GcRunKernels;

/* What it is counted with for admission (admission.h). */
typedef struct GcRunClaim
{
	bool		admitted;
	uint64_t	refused_at;		/* as gc_admission_ask's */
	u64			refused_change; /* no use to ask again before something has changed */
	u64			demand[GC_NDEMANDS];
	u64			bytes;			/* that it allocates beside its columns, as it was when it asked to be admitted */
	u64			missing;		/* of its columns, what was not in device memory then */
	u64			state_bytes;	/* of `bytes`, what pipelines before the main one fill and is not there yet */
} GcRunClaim;

/* What it has in device memory, and the stream to which all of that is queued. */
typedef struct GcRunMemory
{
	GcRunClaim	claim;
	GcStream   *stream;
	GcTable   **tables;			/* per column */
	GcBuildTable **builds;		/* per build */
	GcAddr	   *matched;		/* per build: a byte for each row, which tells if something matched
								 * it; 0: nobody wants to know */
	GcDeviceDict **dicts;		/* per lookup table: read by the kernel that computes it; else NULL */
	GcDeviceLookup **lookups;	/* per lookup table; NULL: it travels with the request */
	GcAddr		device_part;
	GcAddr		relocated;		/* base that the device part's addresses contain */
	bool		device_part_owned;
	GcAddr		bitmaps;		/* of visible rows; 0: none */
	GcAddr		bitmaps_relocated;	/* base that the request's addresses of them contain */
	GcAddr		sink;			/* GC_FLAGS_ROOM, then the main sink's memory */
	u64			sink_zero;		/* bytes from sink on to be zeroed */
	GcSinkMemory *sinks;		/* per pipeline; empty where it fills a build */
	GcAddr		gathered;		/* the words of groups that are collected or chosen */
	GcAddr		gathered_keys;	/* their numbers in a dense table, or else their keys */
	GcAddr		top;			/* memory for the choice of the first few (cuda/gc_top.h) */
	GcAddr		edge_memory;	/* for packets between steps of its pipelines; 0: none go through memory */
	u64			edge_bytes;		/* of that */
	GcCopies	copies;			/* of chunks, dictionaries and lookup tables, without those of waves */
	u64			copied_columns; /* bytes of these copies */
	u64			copied_lookups;
	GcEvent    *copied;			/* behind those copies, before it builds; NULL: it did neither */
	GcEvent    *built;			/* behind its builds; NULL: there were none */
	GcEvent    *prepared;		/* as gc_run_prepared's (give_back.h); NULL: not asked for yet */
	bool		prepared_alone; /* no other request had device memory when these were queued */
} GcRunMemory;

/* The scan of its main pipeline, which may take several launches, and of others, where they have waves or passes. */
typedef struct GcRunScan
{
	struct GcWaveScan **waves;	/* per pipeline: its scan in waves (wave_scan.h), or NULL */
	bool		all_waves;		/* whatever has columns is scanned in waves, since memory ran out */
	bool		streaming;		/* waves of its main pipeline are still to be queued */
	struct GcPasses *passes;	/* NULL: it fits into device memory, so that there is one pass */
	int			attempts;		/* to plan these */
	GcPairs		pairs;			/* the whole scan of its main pipeline, if that tries pairs */
	GcPairs		piece;			/* the piece that was launched last */
	double		piece_pairs;	/* that the next piece is to try; 0: it is the first */
	instr_time	piece_began;
	GcEvent    *done;			/* behind what was launched last */
} GcRunScan;

/* Its result, on the way to the host. */
typedef struct GcRunResult
{
	GcResult   *block;
	u32		   *flags;			/* of the main kernel, on the host; times behind them */
	bool		gather;			/* the compactor collects existing groups of a dense table */
	bool		choose;			/* the program's `select` chooses among the groups */
	u32			pass;			/* of the choice, while it is launched */
	u64			early;			/* groups fetched with the first copy */
	u32			delivers;		/* most words, from the flags on, that its kernel can deliver
								 * to the host; 0: copies do it */
	bool		delivered;		/* as launched, its kernel delivers */
	GcCopies	fetch;			/* of the rest of it to the host */
	List	   *parts;			/* GcResult: of the parts of its groups so far */
	float		main_us;		/* from the launch's start to where its rows were read, once
								 * it is done; 0: not known */
} GcRunResult;

/* Its place among other requests: the launch that it is in, and what is shared. */
typedef struct GcRunSchedule
{
	TimestampTz taken;
	bool		begun;			/* it has asked for device memory before */
	bool		released;		/* from gpuconc.debug_hold_requests */
	GcMainLaunch *launch;
	bool		ganged;			/* its main kernel is on the stream of its launch's gang */
	struct GcBatch *batch;		/* the batch in which it was started */
	int			batch_entry;	/* its place in the batch's record; -1: not kept */
	u32			scan;			/* number of its table's scan, as in GcCandidate; 0: none */
	u32			scan_chunks;	/* number of its directory's first chunks, which a shared scan reads */
	struct GcShareRun *share;	/* what shared scans keep of it (share/); in cxt */
	u32			ticket;			/* stop.h */
	bool		stopped;		/* its kernels were told to end early */
} GcRunSchedule;

typedef struct GcRun
{
	int			slot;
	GcRequest  *request;
	GcProgram  *p;
	GcPPipeline *main;
	RunState	state;
	GcError		err;
	struct GcRun *leader;		/* whose result this one waits for */
	List	   *followers;		/* GcRun: they get copies of the result */
	MemoryContext cxt;
	GcRunKernels kernels;
	GcRunMemory memory;
	GcRunScan	scan;
	GcRunResult result;
	GcRunSchedule schedule;
} GcRun;

static inline const GcSinkValue *
gc_run_main_sink(const GcRun *run)
{
	return &run->request->sinks[run->p->npipelines - 1];
}

/* The kernel of its main pipeline. */
static inline GcPipelineKernel *
gc_run_own_kernel(const GcRun *run)
{
	return run->kernels.of[run->p->npipelines - 1];
}

extern GcRun *gc_run_start(int slot);

/* Make the run a follower of one of `runs` that computes the same, if there is one. */
extern void gc_run_join(GcRun *run, List *runs);

/*
 * Advance the run as far as it goes without waiting.  True if its state changed.  others: requests
 * that will give back device memory.
 */
extern bool gc_run_advance(GcRun *run, int others);
extern bool gc_run_finished(const GcRun *run);
extern bool gc_run_on_device(const GcRun *run);
extern bool gc_run_holds_device(const GcRun *run);
extern bool gc_run_device_failed(const GcRun *run);
extern void gc_run_free(GcRun *run);

#endif							/* GC_RUN_H */
