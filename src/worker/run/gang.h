/*-------------------------------------------------------------------------
 *
 * gang.h
 *	  Gang launches: the main kernels of several requests, of one text, in one launch.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_GANG_H
#define GC_RUN_GANG_H

#include "../../sched/policy/candidate.h"
#include "run.h"

/* May the READY run's own kernel be launched in a gang?  Passes, waves, pairs and packets are the request's alone. */
extern bool gc_gang_possible(const GcRun *run);

/* As GcCandidate's gang: equal, not 0, for runs that can be in one launch.  0: it is possible, but not now. */
extern u64	gc_gang_id(const GcRun *run);

/* The most members of a launch, of a run whose gc_gang_id is not 0. */
extern int	gc_gang_most(const GcRun *run);

/* Is the kernel that gangs of this run need being compiled? */
extern bool gc_gang_pending(const GcRun *run);

/* Ask for that kernel, unless that was done. */
extern void gc_gang_want(const GcRun *run);

/*
 * Start the main kernels of n runs, which have their launches, with one gc_gang_id and as many threads per block.  They
 * are RUNNING then, or FINISHED with an error each.
 */
extern void gc_gang_start(GcRun *const *runs, int n);

/*
 * The needs of the run's main kernel.  Its issue part is not known before it was co-resident with
 * others.  Until then it is assumed to be so small that co-residence is tried.
 */
extern GcKernelNeeds gc_describe_needs(const GcRun *run, GcPipelineKernel *k, double alone_us);

/*
 * The columns that the run's main kernel streams and looks up, for sched/policy/coresident.h.  None while its alone
 * time is a guess: the kernel's limit is then not known.
 */
extern void gc_describe_loads(const GcRun *run, const GcPipelineKernel *k, GcCandidate *candidate);

#endif							/* GC_RUN_GANG_H */
