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

#include "../kernels/kernels.h"
#include "main_launch.h"

/* Its kernels. */
typedef struct GcRunKernels
{
	GcPipelineKernel **of;		/* per pipeline */
	bool	   *fresh;			/* per pipeline: kernel was asked for by this request */
	u8		   *timed;			/* per pipeline before the main one: 1 + GcEffort of the kernel that alone made its groups; 0:
								 * it made none, or with others */
	int			attempts;		/* to plan passes, each of which may want others */
} GcRunKernels;

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

/* Does the kernel of the pipeline read this column at all? */
extern bool gc_run_reads_column(const GcRun *run, int pipeline, int column);

#endif							/* GC_RUN_KERNELS_H */
