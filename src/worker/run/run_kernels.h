/*-------------------------------------------------------------------------
 *
 * run_kernels.h
 *	  The kernels of a request: all that it launches, asked for and awaited.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_KERNELS_H
#define GC_RUN_KERNELS_H

#include "run.h"

/* Ask for the kernels of all pipelines; the run is FINISHED if there can be none. */
extern void gc_run_ask_kernels(GcRun *run);

/* True once every kernel is loaded (or one failed, which finishes the run). */
extern bool gc_run_kernels_ready(GcRun *run);

#endif							/* GC_RUN_KERNELS_H */
