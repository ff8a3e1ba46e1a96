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

/* Ask for other kernels, of pipelines whose steps are fused.  False if there are none: the run is FINISHED. */
extern bool gc_run_ask_again(GcRun *run);

/*
 * Plan passes, or more of them; less: memory ran out.  True if the run is to be tried again.  Its kernels
 * may be others then.
 */
extern bool gc_run_plan_passes(GcRun *run, bool less);

/* True once every kernel is loaded (or one failed, which finishes the run). */
extern bool gc_run_kernels_ready(GcRun *run);

#endif							/* GC_RUN_KERNELS_H */
