/*-------------------------------------------------------------------------
 *
 * run.h
 *	  A request being executed, and its states.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_H
#define GC_RUN_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "portability/instr_time.h"

#include "../../codegen/codegen.h"
#include "../../queue/queue.h"
#include "../kernels/kernels.h"
#include "../kernels/pairs.h"
#include "main_launch.h"
#include "result.h"
#include "run_memory.h"

typedef enum RunState
{
	RUN_COMPILING,
	RUN_WAITING,
	RUN_READY,
	RUN_RUNNING,
	RUN_FETCHING,
	RUN_FINISHED
} RunState;

/* Its kernels. */
typedef struct GcRunKernels
{
	GcKernelSet *set;			/* held, so that these stay */
	GcPipelineKernel **of;		/* per pipeline */
	bool	   *fresh;			/* per pipeline: kernel was asked for by this request */
	u8		   *timed;			/* per pipeline before the main one: 1 + GcEffort of the kernel that alone made its
								 * groups; 0: it made none, or with others */
	int			attempts;		/* to plan passes, each of which may want others */
} GcRunKernels;

/* The scan of its main pipeline, which may take several launches, and of others, where they have waves or passes. */
typedef struct GcRunScan
{
	struct GcWaveScan **waves;	/* per pipeline: its scan in waves (wave_scan.h), or NULL */
	bool		all_waves;		/* whatever has columns is scanned in waves, since memory ran out */
	bool		streaming;		/* launches are queued while others are under way: it goes on in each turn */
	struct GcPasses *passes;	/* NULL: it fits into device memory, so that there is one pass */
	GcPairs		pairs;			/* the whole scan of its main pipeline, if that tries pairs */
	GcPairs		piece;			/* the piece that was launched last */
	double		piece_pairs;	/* that the next piece is to try; 0: it is the first */
	instr_time	piece_began;
	GcEvent    *done;			/* behind the last launch */
} GcRunScan;

/* Each other part is declared in the header of the file that it is of, which alone writes it, as far as possible. */
struct GcRun
{
	int			slot;
	GcRequest  *request;
	GcProgram  *p;
	GcPPipeline *main;
	RunState	state;
	GcError		err;
	GcRun	   *leader;			/* whose result this one waits for */
	List	   *followers;		/* GcRun: they get copies of the result */
	MemoryContext cxt;
	GcRunKernels kernels;
	GcRunMemory memory;
	GcRunScan	scan;
	GcRunResult result;
	GcRunSchedule schedule;
	const struct GcRunHooks *hooks;	/* run.c's, for files that it needs itself */
};

/* Sizes of the main pipeline's sink. */
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

static inline bool
gc_run_finished(const GcRun *run)
{
	return run->state == RUN_FINISHED;
}

static inline bool
gc_run_on_device(const GcRun *run)
{
	return run->state == RUN_RUNNING || run->state == RUN_FETCHING;
}

/* Does the run hold device memory that it will give back? */
static inline bool
gc_run_holds_device(const GcRun *run)
{
	return run->state == RUN_READY || gc_run_on_device(run);
}

/* Does a session wait for the run, or another run? */
static inline bool
gc_run_wanted(const GcRun *run)
{
	return !gc_slot_abandoned(run->slot) || run->followers != NIL;
}

/* Does nobody wait for it?  Then run->err says so. */
static inline bool
gc_run_nobody_waits(GcRun *run)
{
	if (gc_run_wanted(run))
		return false;
	gc_fail(&run->err, GC_CANCELLED, "The request was abandoned.");
	return true;
}

/* Has the device failed, so that nothing else will work either? */
static inline bool
gc_run_device_failed(const GcRun *run)
{
	return run->err.code == GC_DEVICE_FAILED;
}

/* Progress of a scan. */
typedef enum GcScanStep
{
	GC_SCAN_FAILED,				/* run->err says how */
	GC_SCAN_WAITS,				/* nothing: it can go on in a later turn */
	GC_SCAN_MOVED,				/* it has queued something, and can go on in the next turn */
	GC_SCAN_QUEUED,				/* it goes on once its queued work is done */
	GC_SCAN_LAST				/* all of it is queued */
} GcScanStep;

/* The launch that the scheduler has decided on. */
typedef struct GcScanLaunch
{
	GcPipelineKernel *k;
	const GcGrid *grid;
	u32			first_tile;
} GcScanLaunch;

/* All are called on the worker's main thread; schedule.c sets them before the first request. */
typedef struct GcRunHooks
{
	/* A run was made; returns shared scans' part of it, in the run's context. */
	struct GcShareRun *(*begins) (const GcRun *run);
	/*
	 * The run is READY and waits for its turn.  others: requests that have work on the device.  The
	 * hook may queue more on the run's stream, and end the run (gc_run_fail_start).
	 */
	void		(*waits) (GcRun *run, int others);
	/* A word of a kernel's parameter that only shared scans know. */
	u64			(*arg_word) (const struct GcShareRun *share, const GcArgWord *word);
	/* The run is not in its launch after all, and READY again. */
	void		(*leaves) (GcRun *run);
	/* The run gives back all that it has on the device. */
	void		(*gives_back) (GcRun *run);
	/* The run is over; its launch and times are still there. */
	void		(*ends) (GcRun *run);
} GcRunHooks;

/* Hooks of the runs that start. */
extern const GcRunHooks *gc_run_hooks;

extern GcRun *gc_run_start(int slot);

/* Make the run a follower of one of `runs` that computes the same, if there is one. */
extern void gc_run_join(GcRun *run, List *runs);

/*
 * Advance the run as far as it goes without waiting.  True if its state changed.  others: requests
 * that will give back device memory.
 */
extern bool gc_run_advance(GcRun *run, int others);
extern void gc_run_free(GcRun *run);

/* Start a READY run's own main kernel, with this launch grid. */
extern GcCode gc_run_start_main(GcRun *run, GcPipelineKernel *k, const GcGrid *grid, u32 first_tile);

/* The shared scan that the run was to be in failed: the run is READY for its own kernel. */
extern void gc_run_unstart(GcRun *run);

/* The run could not be started: it ends with run->err, and has given back all. */
extern void gc_run_fail_start(GcRun *run);

/* The device is closed and the worker exits: only shared memory is given back. */
extern void gc_run_forget(GcRun *run);

#endif							/* GC_RUN_H */
