/*-------------------------------------------------------------------------
 *
 * efforts.h
 *	  Full kernels that take longer than the quick ones before them.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_EFFORTS_H
#define GC_RUN_EFFORTS_H

#include "kernels.h"

/* A main kernel, or one that makes groups, ran alone on the device. */
extern void gc_kernel_ran(GcPipelineKernel *k, GcEffort effort, double us, u32 tiles);

/* Before a launch: have the kernel be the one of its text that is to be launched. */
extern void gc_kernel_choose_effort(GcPipelineKernel *k);

#endif							/* GC_RUN_EFFORTS_H */
