/*-------------------------------------------------------------------------
 *
 * launch_order.h
 *	  Launching kernels that are to be side by side on every multiprocessor.
 *
 * A multiprocessor's memory is divided into shared memory and cache.  Left to the driver, an empty
 * one is given the shared memory with which the next kernel's own blocks can fill it, and the
 * rest is cache; as long as one block runs, that stays so.  A kernel whose blocks want more than
 * is there waits until a multiprocessor is empty, and then all of its blocks go to the first ones
 * that are: two kernels of a pool that take 213 and 204 us alone take 577 us together (an H200;
 * part 4 of bench/two_stage/same_table.c).  In the other order they take 247.
 *
 * So the one with the most shared memory per block goes first.  Where even what the driver gives
 * to that is too little for all, each asks for the whole (GcLaunch.whole_shared), at the expense
 * of the cache: 290 us in the example.  To ask for anything between is of no use: the driver
 * seems to give no kernel more than it can use, other than all there is.
 *
 * Pure functions.
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
 * The order in which they are to be launched: of as much shared memory per block, the earlier one
 * first.  Returns whether all of them have to ask for the whole of a multiprocessor's.
 */
extern bool gc_launch_order(const GcProfile *profile, const GcPlaced *placed, int n, int *order);

#endif							/* GC_LAUNCH_ORDER_H */
