/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  The scan of a run's main pipeline: its launches, one after the other.
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
	bool		streaming;		/* waves of its main pipeline are still to be queued */
	struct GcPasses *passes;	/* NULL: it fits into device memory, so that there is one pass */
	int			attempts;		/* to plan these */
	GcPairs		pairs;			/* the whole scan of its main pipeline, if that tries pairs */
	GcPairs		piece;			/* the piece that was launched last */
	double		piece_pairs;	/* that the next piece is to try; 0: it is the first */
	instr_time	piece_began;
	GcEvent    *done;			/* behind what was launched last */
} GcRunScan;

/* Start a READY run's own main kernel, with this launch grid. */
extern GcCode gc_run_start_main(GcRun *run, GcPipelineKernel *k, const GcGrid *grid, u32 first_tile);

/* gc_run_advance() for a run that is RUNNING or FETCHING. */
extern bool gc_run_advance_running(GcRun *run, int others);

#endif							/* GC_RUN_SCAN_H */
