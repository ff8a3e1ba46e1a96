/*-------------------------------------------------------------------------
 *
 * kernel_search.h
 *	  The kernel model's search; for kernel_model.c only.
 *
 * Pure functions; the work space is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KERNEL_SEARCH_H
#define GC_KERNEL_SEARCH_H

#include "kernel_model.h"

/* More than the cost of any plan; to add an option's cost to it does not overflow. */
#define GC_KERNEL_NEVER		((1 << 30) + (1 << 28))

/*
 * Choose an option for each of work->open, so that together they stay within
 * work->free and cost least.  On OPTIMAL and FEASIBLE, work->pick has been set for them.
 * There is at least one open item, and each has at least two options.
 */
extern GcKernelStatus gc_kernel_search(GcKernelWork *work);

#endif							/* GC_KERNEL_SEARCH_H */
