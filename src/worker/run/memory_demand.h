/*-------------------------------------------------------------------------
 *
 * memory_demand.h
 *	  What requests take of device memory, and which of them may begin.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MEMORY_DEMAND_H
#define GC_MEMORY_DEMAND_H

#include "run.h"

/* Operator state that is still to be allocated when a request has its own part and its main sink. */
extern u64	gc_run_state_bytes(const GcRun *run);

/* About the bytes of a request's columns that are not in device memory. */
extern u64	gc_run_missing_bytes(const GcRun *run);

/* Another turn: requests that wait ask in order, the oldest first. */
extern void gc_admission_turn(void);

/* May a request that waits begin to have data in device memory? */
extern bool gc_run_admit(GcRun *run);

/* An admitted request has no more in device memory; failed: it found too little, and waits again. */
extern void gc_run_leave_admitted(GcRun *run, bool failed);

/* The request takes less from now on: its builds are done, or its main kernel is. */
extern void gc_run_takes_less(const GcRun *run);

extern void gc_admission_init(void);

#endif							/* GC_MEMORY_DEMAND_H */
