/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  The scan of a run's main pipeline (run.c): kinds of scans.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_SCAN_H
#define GC_RUN_SCAN_H

#include "portability/instr_time.h"

#include "../kernels/kernels.h"
#include "../kernels/pairs.h"
#include "main_launch.h"

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
	GcEvent    *done;			/* behind what was launched last */
} GcRunScan;

/* Progress of a scan. */
typedef enum GcScanStep
{
	GC_SCAN_FAILED,				/* run->err says how */
	GC_SCAN_WAITS,				/* nothing: it can go on in a later turn */
	GC_SCAN_MOVED,				/* it has queued something, and can go on in the next turn */
	GC_SCAN_QUEUED,				/* it goes on once what it has queued is done */
	GC_SCAN_LAST				/* all of it is queued */
} GcScanStep;

/* The launch that the scheduler has decided on. */
typedef struct GcScanLaunch
{
	GcPipelineKernel *k;
	const GcGrid *grid;
	u32			first_tile;
} GcScanLaunch;

/*
 * A kind of scan.  A run is begin; next, until all is queued, with an end whenever what was queued is done; the fetching
 * of its result; end.
 */
typedef struct GcScanKind
{
	/* Nothing of it is queued. */
	void		(*begin) (GcRun *run);
	/* Queue what comes next.  last: nothing comes behind this scan, so that its last launch can deliver the result. */
	GcScanStep	(*next) (GcRun *run, const GcScanLaunch *launch, bool last);
	/*
	 * Its queued work is done; fetched: its result is on the host.  Does the scan go on, or the run end with run->err?
	 */
	bool		(*end) (GcRun *run, bool fetched);
} GcScanKind;

/* Start a READY run's own main kernel, with this launch grid. */
extern GcCode gc_run_start_main(GcRun *run, GcPipelineKernel *k, const GcGrid *grid, u32 first_tile);

#endif							/* GC_RUN_SCAN_H */
