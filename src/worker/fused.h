/*-------------------------------------------------------------------------
 *
 * fused.h
 *	  Shared scans: fused kernels for the shapes that recur over a table.
 *
 * Private to worker/; fused.c tells how they come to be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_FUSED_H
#define GC_FUSED_H

#include "run.h"

#define GC_MAX_FUSED_KERNELS	32

typedef struct GcFused GcFused;

/*
 * In one decision, in this order: begin; describe every READY run (its time in a shared
 * scan, its bodies); kernels, which sets item->fused.  Returns how many kernels there
 * are.
 */
extern void gc_fused_begin(void);
extern void gc_fused_describe(GcRun *run, GcItem *item);
extern int	gc_fused_kernels(GcFusedKernel *kernels, GcRun *const *runs, GcItem *items, int nitems);

/* To be called often: has a fused kernel come that was asked for? */
extern bool gc_fused_poll(void);

/* Is a kernel being made for its table's shared scans? */
extern bool gc_fused_pending(const GcRun *run);

/*
 * Start a shared scan.  Its requests are RUNNING then; where that failed, FINISHED with
 * an error each.
 */
extern void gc_fused_start(GcMainLaunch *launch, const GcStart *start, GcRun *const *runs);
extern GcHash gc_fused_hash(const GcFused *fused);
extern void gc_fused_learn(const GcMainLaunch *launch, double time_us);

/* A launch of it, or a run with a shape among its, ends. */
extern void gc_fused_release(GcFused *fused);
extern void gc_fused_forget(GcRun *run);

#endif							/* GC_FUSED_H */
