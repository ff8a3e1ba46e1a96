/*-------------------------------------------------------------------------
 *
 * running.h
 *	  A run on the device: its main kernel, and what follows it.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_RUNNING_H
#define GC_RUN_RUNNING_H

#include "run.h"

/* Start a READY run's own main kernel, with this launch grid. */
extern GcCode gc_run_start_main(GcRun *run, GcPipelineKernel *k, const GcGrid *grid, u32 first_tile);

/* gc_run_advance() for a run that is RUNNING or FETCHING. */
extern bool gc_run_advance_running(GcRun *run, int others);

#endif							/* GC_RUN_RUNNING_H */
