/*-------------------------------------------------------------------------
 *
 * demand.h
 *	  What a request's main kernel asks of the device, as sched/ wants to know it.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEMAND_H
#define GC_DEMAND_H

#include "../../sched/policy/candidate.h"
#include "run.h"

/*
 * What the run's main kernel needs.  Its issue part is not known before it was co-resident with
 * others.  Until then it is assumed to be so small that co-residence is tried.
 */
extern GcKernelNeeds gc_describe_needs(const GcRun *run, GcPipelineKernel *k, double alone_us);

/*
 * What the run's main kernel streams and looks up, for sched/policy/coresident.h.  Nothing while
 * its alone time is a guess: what limits the kernel is then not known.
 */
extern void gc_describe_loads(const GcRun *run, const GcPipelineKernel *k, GcCandidate *candidate);

#endif							/* GC_DEMAND_H */
