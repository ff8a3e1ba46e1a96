/*-------------------------------------------------------------------------
 *
 * window_launch.h
 *	  Windows over the rows that a pipeline keeps for others.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_WINDOW_LAUNCH_H
#define GC_WINDOW_LAUNCH_H

#include "run.h"

/* Queue the kernels that compute the windows of a pipeline's rows, behind those that make the rows. */
extern GcCode gc_run_windows(GcRun *run, int pipeline);

#endif							/* GC_WINDOW_LAUNCH_H */
