/*-------------------------------------------------------------------------
 *
 * kernel_model.h
 *	  The kernel model: blocks and block sizes with which the kernels of a batch
 *	  are co-resident.
 *
 * Li, Tu, Zeng 2019, eqs. 9-15, theorem 1 and algorithm 1.  Each kernel i wants c_i
 * threads on every multiprocessor.  It gets b_i blocks there, of w_i = ceil(c_i / (32 b_i))
 * warps each, so that all kernels fit.  (Theorem 1: for a given b_i, more warps gain
 * nothing.)  Every kernel gets all threads that it wants, so concurrency is the greatest
 * possible.  The model then minimises the shared memory that the kernels take together.
 *
 * Beyond the paper, all four resources are counted in the granules of the device (occupancy.h).  Shared memory includes
 * the bytes that the system reserves for each block.  So fewer blocks may save shared memory where the paper sees no
 * difference.
 *
 * Each item has few options that no other option of it dominates.  Where every item can
 * have its cheapest option, that is the plan.  Otherwise the paper's dynamic programming
 * over blocks and warps finds the cheapest plan that fits these two.  Like the paper's, that
 * plan is given up where it takes too many registers.
 *
 * No allocation, no state: the caller owns a GcKernelWork, some 140 kB, whose
 * content means nothing between calls.  Each thread needs its own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KERNEL_MODEL_H
#define GC_KERNEL_MODEL_H

#include "occupancy.h"

#define GC_KERNEL_MAX			64		/* kernels of one batch */

/* The largest multiprocessor that is planned for; no CUDA device has a larger one. */
#define GC_KERNEL_MAX_WARPS		64
#define GC_KERNEL_MAX_BLOCKS	32
#define GC_KERNEL_MAX_REGISTERS	(1 << 24)
#define GC_KERNEL_MAX_SHARED	(1 << 22)	/* bytes */

typedef struct GcKernelItem
{
	int			registers;		/* per thread */
	int			max_threads;	/* per block */
	int			shared_fixed;	/* bytes per block */
	int			shared_per_warp;	/* bytes per warp of a block */
	int			warps;			/* wanted on one multiprocessor: c_i / 32, 1 or more */
} GcKernelItem;

typedef struct GcKernelChoice
{
	int			blocks;			/* on each multiprocessor */
	int			warps;			/* of each block */
} GcKernelChoice;

typedef enum GcKernelStatus
{
	GC_KERNEL_OPTIMAL,			/* a plan, and none is cheaper */
	GC_KERNEL_INFEASIBLE,		/* there is no plan */
	GC_KERNEL_UNKNOWN,			/* the cheapest plan has too many registers; there may be another one */
	GC_KERNEL_BAD_PROFILE,		/* a host, an invalid profile, or larger than the limits above */
	GC_KERNEL_BAD_INPUT			/* the number of items, or one of them, is out of range */
} GcKernelStatus;

/* The types below are for kernel_model.c only.  They are in this header because the caller provides the memory. */

/* ceil(c / b) takes at most 15 values if c is at most GC_KERNEL_MAX_WARPS. */
#define GC_KERNEL_OPTIONS		16		/* of one item */

/*
 * Cells of all layers: (m + 1) (B - m + 1) (W - m + 1) for m items, each of which takes one block and warp at least.
 * At most 14,560, for m = 13.
 */
#define GC_KERNEL_CELLS			14592

/* One choice of one item. */
typedef struct GcKernelOption
{
	int32_t		cost;			/* the objective's: its shared memory */
	int			need[GC_NEEDS];
	int			blocks;
	int			warps;
} GcKernelOption;

/* The options of one item, cheapest first. */
typedef struct GcKernelOptions
{
	int			n;
	GcKernelOption option[GC_KERNEL_OPTIONS];
} GcKernelOptions;

typedef struct GcKernelWork
{
	GcKernelOptions options[GC_KERNEL_MAX];

	/* Items that still have a choice, and the resources that are free for them. */
	int			nopen;
	int			open[GC_KERNEL_MAX];
	int			free[GC_NEEDS];

	int			pick[GC_KERNEL_MAX];	/* the plan: an option of each item */
	int32_t		cells[GC_KERNEL_CELLS];	/* the least cost of the items of each layer */
} GcKernelWork;

/*
 * Plan n items (0 to GC_KERNEL_MAX) for a multiprocessor of which `free` is free, in
 * the terms of gc_sm_limits(); NULL: all of it.  choice (n of them) is set if the
 * status is OPTIMAL.
 */
extern GcKernelStatus gc_kernel_plan(const GcProfile *profile, const int free[GC_NEEDS],
									 const GcKernelItem *items, int n, GcKernelWork *work,
									 GcKernelChoice *choice);

/*
 * Does one more item fit into the free resources (NULL: an empty multiprocessor)?  If so, choice and need
 * (either may be NULL) are those of its cheapest option.  False also for bad input.
 */
extern bool gc_kernel_fits(const GcProfile *profile, const int free[GC_NEEDS],
						   const GcKernelItem *item, GcKernelChoice *choice,
						   int need[GC_NEEDS]);

#endif							/* GC_KERNEL_MODEL_H */
