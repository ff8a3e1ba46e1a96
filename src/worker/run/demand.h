/*-------------------------------------------------------------------------
 *
 * demand.h
 *	  What a request's main kernel asks of the device, as sched/ wants to know it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEMAND_H
#define GC_DEMAND_H

#include "../../sched/policy/candidate.h"
#include "run.h"

/*
 * What the run's main kernel asks for.  What of its time is no reading is not
 * known before it was resident with others: then little enough is assumed to have it tried.
 */
extern GcKernelNeeds gc_describe_needs(const GcRun *run, GcPipelineKernel *k, double alone_us);

/*
 * What the run's main kernel streams and looks up, as far as sched/policy/coresident.h wants to know.
 * Nothing, as long as its time alone is a guess: then nobody knows what bounds it.
 */
extern void gc_describe_loads(const GcRun *run, const GcPipelineKernel *k, GcCandidate *candidate);

#endif							/* GC_DEMAND_H */
