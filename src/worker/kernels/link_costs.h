/*-------------------------------------------------------------------------
 *
 * link_costs.h
 *	  What it costs that kernels read the host's memory, measured once.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LINK_COSTS_H
#define GC_LINK_COSTS_H

#include "postgres.h"

#include "../../status.h"

/* To be called before the first of the next. */
extern void gc_link_costs_init(void);

/*
 * The device is idle: measure, if that was not done and the kernel is compiled.  False: the device was lost by it,
 * and *err says how.
 */
extern bool gc_link_costs_poll(GcError *err);

#endif							/* GC_LINK_COSTS_H */
