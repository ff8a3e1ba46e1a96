/*-------------------------------------------------------------------------
 *
 * wave_scan.h
 *	  The scan of a pipeline in waves (waves/waves.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WAVE_SCAN_H
#define GC_WAVE_SCAN_H

#include "run.h"

typedef struct GcWaveScan GcWaveScan;

/* Should the pipeline be scanned in waves, since not all of its columns fit? */
extern bool gc_wave_scan_wanted(const GcRun *run, int pipeline);

/* May any of the request's pipelines be scanned in waves? */
extern bool gc_wave_scan_possible(const GcRun *run);

/* Get memory for waves, as run->scan.waves[pipeline]. */
extern GcCode gc_wave_scan_make(GcRun *run, int pipeline);

/* The share of a column's bytes that the pipeline is spared over the link if the column is in device memory. */
extern float gc_wave_scan_spared(const GcRun *run, int pipeline, int column);

/* Queue all of the scan of a pipeline other than the main one, whose flags are at this address. */
extern GcCode gc_wave_scan_whole(GcWaveScan *scan, GcAddr flags);

/* As GcScanKind's next, of the main pipeline: begin its waves, or queue the next one if it is time. */
extern GcScanStep gc_wave_scan_next(GcRun *run, const GcScanLaunch *launch, bool last);

/* Is the main pipeline scanned in waves? */
static inline bool
gc_run_in_waves(const GcRun *run)
{
	return run->scan.waves[run->p->npipelines - 1] != NULL;
}

/* The device is done with the request: it takes part in no waves any more. */
extern void gc_wave_scans_leave(GcRun *run);

#endif							/* GC_WAVE_SCAN_H */
