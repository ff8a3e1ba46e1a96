/*-------------------------------------------------------------------------
 *
 * stop.h
 *	  Kernels that are told to end early (cuda/gc_stop.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RUN_STOP_H
#define GC_RUN_STOP_H

#include "run.h"

/* Bytes of device memory for the words, and the function that writes them there for the first time. */
extern Size gc_stop_bytes(void);
extern void gc_stop_init(GcAddr room);

/* A number that no other request or launch has. */
extern u32	gc_stop_ticket(void);

/* A launch that ends early if its run is stopped. */
extern void gc_stop_with_run(const GcRun *run, GcScan *scan);

/* A launch for several runs, of which this is the first: it ends early once all of them are stopped. */
extern void gc_stop_with_all(const GcRun *first, GcMainLaunch *launch, GcScan *scan);

/* A launch whose result outlives requests: it ends early only if the worker exits. */
extern void gc_stop_with_worker(GcScan *scan);

/*
 * Stop each of these runs that is on the device, if no session waits for it and no other run needs tables that it
 * fills.  It then ends with GC_CANCELLED, once the device is done.
 */
extern void gc_stop_abandoned(List *runs);

/* The worker exits: stop all. */
extern void gc_stop_all(List *runs);

#endif							/* GC_RUN_STOP_H */
