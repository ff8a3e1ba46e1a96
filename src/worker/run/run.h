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
#include "kernels.h"
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

typedef struct GcRun
{
	int			slot;
	GcRequest  *request;
	GcProgram  *p;
	GcPPipeline *main;
	RunState	state;
	GcError		err;
	TimestampTz taken;
	TimestampTz ready;
	GcPipelineKernel **kernels;
	bool	   *fresh;			/* per pipeline: kernel was asked for by this request */
	GcTable   **tables;			/* per column */
	GcBuildTable **builds;		/* per build */
	GcAddr	   *matched;		/* per build: a byte for each row, which tells if something matched
								 * it; 0: nobody wants to know */
	GcDeviceDict **dicts;		/* per lookup table: read by the kernel that computes it; else NULL */
	GcDeviceLookup **lookups;	/* per lookup table; NULL: it travels with the request */
	GcStream   *stream;
	GcCopies	copies;			/* of chunks, dictionaries and lookup tables, without those of waves */
	u64			copied_columns; /* bytes of these copies */
	u64			copied_lookups;
	GcCopies	fetch;			/* of the rest of its result to the host */
	GcEvent	   *copied;			/* behind those copies, before it builds; NULL: it did neither */
	GcEvent	   *built;			/* behind its builds; NULL: there were none */
	GcEvent	   *prepared;		/* as gc_run_prepared's (give_back.h); NULL: not asked for yet */
	float		main_us;		/* from the launch's start to where its rows were read, once
								 * it is done; 0: not known */
	GcEvent	   *done;
	GcMainLaunch *launch;
	struct GcBatch *batch;		/* the batch in which it was started */
	int			batch_entry;	/* its place in the batch's record; -1: not kept */
	u32			scan;			/* number of its table's scan, as in GcCandidate; 0: none */
	u32			scan_chunks;	/* number of its directory's first chunks, which a shared scan reads */
	struct GcShareRun *share;	/* what shared scans keep of it (share/); in cxt */
	bool		admitted;		/* admission.h */
	uint64_t	refused_at;		/* as gc_admission_ask's */
	u64			refused_change; /* no use to ask again before something has changed */
	u64			demand[GC_NDEMANDS];
	u64			bytes;			/* that it allocates beside its columns, as it was when it asked to be admitted */
	u64			missing;		/* of its columns, what was not in device memory then */
	u64			state_bytes;	/* of `bytes`, what pipelines before the main one fill and is not there yet */
	bool		begun;			/* it has asked for device memory before */
	bool		released;		/* from gpuconc.debug_hold_requests */
	GcAddr		device_part;
	GcAddr		relocated;		/* base that the device part's addresses contain */
	bool		device_part_owned;
	GcAddr		bitmaps;		/* of visible rows; 0: none */
	GcAddr		bitmaps_relocated;	/* base that the request's addresses of them contain */
	GcAddr		sink;			/* GC_FLAGS_ROOM, then the main sink's memory */
	GcSinkMemory *sinks;		/* per pipeline; empty where it fills a build */
	u8		   *timed;			/* per pipeline before the main one: 1 + GcEffort of the kernel that alone made its groups; 0:
								 * it made none, or with others */
	bool		prepared_alone; /* no other request had device memory when these were queued */
	bool		gather;			/* the compactor collects existing groups of a dense table */
	bool		choose;			/* the program's `select` chooses among the groups */
	GcAddr		gathered;		/* the words of these groups */
	GcAddr		gathered_keys;	/* their numbers in a dense table, or else their keys */
	GcAddr		top;			/* memory for the choice of the first few (cuda/gc_top.h) */
	u64			sink_zero;		/* bytes from sink on to be zeroed */
	u32			pass;			/* of the choice, while it is launched */
	struct GcWaveScan **waves;	/* per pipeline: its scan in waves (wave_scan.h), or NULL */
	bool		all_waves;		/* whatever has columns is scanned in waves, since memory ran out */
	bool		streaming;		/* waves of its main pipeline are still to be queued */
	struct GcPasses *passes;	/* NULL: it fits into device memory, so that there is one pass */
	int			attempts;		/* to plan these */
	List	   *parts;			/* GcResult: of the parts of its groups so far */
	GcPairs		pairs;			/* the whole scan of its main pipeline, if that tries pairs */
	GcPairs		piece;			/* the piece that was launched last */
	double		piece_pairs;	/* that the next piece is to try; 0: it is the first */
	instr_time	piece_began;
	u32		   *flags;			/* of the main kernel, on the host; times behind them */
	GcResult   *result;
	struct GcRun *leader;		/* whose result this one waits for */
	List	   *followers;		/* GcRun: they get copies of the result */
	GcAddr		edge_memory;	/* for packets between steps of its pipelines; 0: none go through memory */
	u64			edge_bytes;		/* of that */
	u64			early;			/* groups fetched with the first copy */
	u32			delivers;		/* most words, from the flags on, that its kernel can deliver
								 * to the host; 0: copies do it */
	bool		delivered;		/* as launched, its kernel delivers */
	bool		ganged;			/* its main kernel is on the stream of its launch's gang */
	u32			ticket;			/* stop.h */
	bool		stopped;		/* its kernels were told to end early */
	MemoryContext cxt;
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
	return run->kernels[run->p->npipelines - 1];
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
