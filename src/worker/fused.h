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

/* A main kernel's shape over a directory. */
typedef struct GcScanShape
{
	struct ScanSet *set;
	GcProgram  *p;				/* a copy */
	u16			pipeline;
	i16		   *columns;		/* directory's column per column of p, or -1 */
	GcVariantDemand demand;		/* of its first request */
	bool		light;			/* see is_light */
	uint64		uses;
	int			wanted;			/* bodies: most requests of it that were ready at once */
	int			counting;		/* of the decision now being made */
	double		marginal_us;	/* what one more body adds to a scan; 0: not known */
} GcScanShape;

typedef struct GcFused
{
	int			users;			/* launches; the set is not counted */
	bool		dropped;
	GcCachedKernel *entry;
	GcKernel   *kernel;			/* NULL until ready */
	GcKernelInfo info;
	GcHash		hash;
	int			n;				/* bodies */
	GcScanShape *shape[GC_MAX_FUSED];
	GcFusedMember member[GC_MAX_FUSED];
	int			nphysical;
	i16			physical[GC_MAX_COLUMNS];	/* directory's column of each */
	GcFusedWord *words;
	int			nwords;
	int			number;			/* of gc_fused_kernels */
} GcFused;

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

/* The kernel in use for a run's table. */
extern GcFused *gc_fused_ready(const GcRun *run);

/*
 * shared_scan.c: start a shared scan.  Its requests are RUNNING then; where that failed, FINISHED with
 * an error each.
 */
extern void gc_fused_start(GcMainLaunch *launch, const GcStart *start, GcRun *const *runs);
extern GcHash gc_fused_hash(const GcFused *fused);
extern void gc_fused_learn(const GcMainLaunch *launch, double time_us);

/* A launch of it, or a run with a shape among its, ends. */
extern void gc_fused_release(GcFused *fused);
extern void gc_fused_forget(GcRun *run);

#endif							/* GC_FUSED_H */
