/*-------------------------------------------------------------------------
 *
 * launch_order.h
 *	  The order in which kernels that are to be co-resident are launched.
 *
 * A multiprocessor's memory is divided into shared memory and cache.  The driver gives an empty
 * multiprocessor the shared memory that the next kernel's own blocks can use; the rest is cache.
 * The division stays as long as one block runs.  A kernel whose blocks want more waits until a
 * multiprocessor is empty, and then all of its blocks go to the first empty multiprocessors.
 * Two kernels of a pool that take 213 and 204 us alone take 577 us together (an H200; part 4 of
 * bench/two_stage/same_table.c).  In the other order they take 247.
 *
 * So the kernel with the most shared memory per block goes first.  The driver's choice for that
 * kernel may be too little for all.  Then each kernel asks for the whole (GcLaunch.whole_shared), at
 * the expense of the cache: 290 us in the example.  To ask for less than the whole is of no use.
 * The driver seems to give a kernel either as much as it can use or all there is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LAUNCH_ORDER_H
#define GC_LAUNCH_ORDER_H

#include "../model/profile.h"

/* A kernel's blocks on every multiprocessor. */
typedef struct GcPlaced
{
	int			registers;		/* per thread */
	int			threads;		/* per block */
	int			blocks;
	uint32_t	shared_bytes;	/* per block */
} GcPlaced;

/*
 * The order of launching: most shared memory per block first; among equals the earlier one.  Returns
 * whether all kernels have to ask for the whole of a multiprocessor's shared memory.
 */
extern bool gc_launch_order(const GcProfile *profile, const GcPlaced *placed, int n, int *order);

#endif							/* GC_LAUNCH_ORDER_H */
