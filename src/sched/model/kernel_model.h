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
 * This goes beyond the paper in two ways.  Registers are a limit like the others.  And all
 * four resources are counted in the granules of the device (occupancy.h), shared memory with the bytes that the system
 * reserves for each block.  So fewer blocks may save shared memory where the paper sees no difference.
 *
 * Each item has few options that no other option of it dominates.  Where every item can
 * have its cheapest option, that is the plan.  Otherwise the paper's dynamic programming
 * over blocks and warps finds the cheapest plan that fits these two.  If that plan breaks
 * the limits of registers or shared memory, an exact search over all four resources
 * follows (kernel_search.c).  It is bounded by the tables of the dynamic programming.
 *
 * No allocation, no state: the caller owns a GcKernelWork, about half a megabyte, whose
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

typedef struct GcKernelTotals
{
	int			need[GC_NEEDS]; /* of one multiprocessor, of all kernels together; the
								 * objective is need[GC_NEED_SHARED] */
	int			threads;		/* on one multiprocessor */
} GcKernelTotals;

typedef enum GcKernelStatus
{
	GC_KERNEL_OPTIMAL,			/* a plan, and none is cheaper */
	GC_KERNEL_FEASIBLE,			/* a plan; there may be a cheaper one */
	GC_KERNEL_INFEASIBLE,		/* there is no plan */
	GC_KERNEL_UNKNOWN,			/* the search ended without a plan; there may be one */
	GC_KERNEL_BAD_PROFILE,		/* a host, an invalid profile, or larger than the limits above */
	GC_KERNEL_BAD_INPUT			/* the number of items, or one of them, is out of range */
} GcKernelStatus;

/*
 * The types below are for kernel_model.c and kernel_search.c only.  They are in this header because
 * the caller provides the memory.
 */

/* ceil(c / b) takes at most 15 values if c is at most GC_KERNEL_MAX_WARPS. */
#define GC_KERNEL_OPTIONS		16		/* of one item */

/* With fewer steps left, the next item's options are not listed. */
#define GC_KERNEL_OPTION_STEPS	64

/*
 * Cells of a table: (m + 1) (B - m + 1) (W - m + 1) for m items.  Each of these takes one block and one warp at least.
 * At most 14,560, for m = 13.
 */
#define GC_KERNEL_CELLS			14592

/* Partial plans kept at a time by the search over four resources. */
#define GC_KERNEL_LABELS		1024

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

/*
 * One layer of the tables: the blocks and warps that the items up to this one may have together.
 * Other numbers can occur in no plan.
 */
typedef struct GcKernelLayer
{
	int			block_lo;
	int			block_hi;
	int			warp_lo;
	int			warp_hi;
	int			offset;			/* of its cells */
} GcKernelLayer;

typedef struct GcKernelLabels
{
	int			n;
	int32_t		cost[GC_KERNEL_LABELS];
	int32_t		left[GC_NEEDS][GC_KERNEL_LABELS];
	int32_t		score[GC_KERNEL_LABELS];	/* the greatest is given up first */
} GcKernelLabels;

/* The tables: each cell holds the least possible sum of this. */
enum
{
	GC_TABLE_COST,
	GC_TABLE_REGISTERS,
	GC_TABLE_SHARED,
	GC_TABLES
};

typedef struct GcKernelWork
{
	GcKernelOptions options[GC_KERNEL_MAX];

	/* Items that still have a choice, and the resources that are free for them. */
	int			nopen;
	int			open[GC_KERNEL_MAX];
	int			free[GC_NEEDS];

	int			pick[GC_KERNEL_MAX];	/* the plan: an option of each item */
	int			trial[GC_KERNEL_MAX];

	GcKernelLayer layer[GC_KERNEL_MAX_BLOCKS + 1];
	int32_t		cells[GC_TABLES][GC_KERNEL_CELLS];

	GcKernelLabels labels[2];
	uint16_t	parent[GC_KERNEL_MAX_BLOCKS][GC_KERNEL_LABELS];
	uint8_t		chosen[GC_KERNEL_MAX_BLOCKS][GC_KERNEL_LABELS];

	int64_t		steps;			/* that may still be taken */
} GcKernelWork;

/*
 * Plan n items (0 to GC_KERNEL_MAX) for a multiprocessor of which `free` is free, in
 * the terms of gc_sm_limits(); NULL: all of it.  choice (n of them) and totals are set
 * if the status is OPTIMAL or FEASIBLE; totals may be NULL.
 *
 * The status is OPTIMAL or INFEASIBLE as long as the search over four resources stays
 * within its bounds, which takes at most a few milliseconds.
 */
extern GcKernelStatus gc_kernel_plan(const GcProfile *profile, const int free[GC_NEEDS],
									 const GcKernelItem *items, int n, GcKernelWork *work,
									 GcKernelChoice *choice, GcKernelTotals *totals);

/*
 * gc_kernel_plan() within *steps steps; the steps taken are subtracted from *steps, down to 0.  A
 * step is an item, option or label looked at, a row of a table, or GC_KERNEL_STEP comparisons of
 * labels or cells.  It takes about 25 ns.  Steps are counted instead of time, so that the same input
 * has the same plan.  Where the steps do not suffice for all labels, the labels most likely to
 * become a plan are kept.  The status is then FEASIBLE or UNKNOWN.  A search takes at most half of
 * the steps that are left, so that the caller can try fewer items.  With less than
 * GC_KERNEL_LEAST_STEPS, the status is UNKNOWN at once.
 */
#define GC_KERNEL_STEP			64
#define GC_KERNEL_LEAST_STEPS	256
#define GC_KERNEL_UNBOUNDED		INT64_C(1000000000000)

extern GcKernelStatus gc_kernel_plan_within(const GcProfile *profile, const int free[GC_NEEDS],
											const GcKernelItem *items, int n, int64_t *steps,
											GcKernelWork *work, GcKernelChoice *choice,
											GcKernelTotals *totals);

/*
 * Does one more item fit into the free resources (NULL: an empty multiprocessor)?  If so, choice and need
 * (either may be NULL) are those of its cheapest option.  False also for bad input.
 */
extern bool gc_kernel_fits(const GcProfile *profile, const int free[GC_NEEDS],
						   const GcKernelItem *item, GcKernelChoice *choice,
						   int need[GC_NEEDS]);

/* More than the cost of any plan; to add an option's cost to it does not overflow. */
#define GC_KERNEL_NEVER		((1 << 30) + (1 << 28))

/*
 * Choose an option for each of work->open, so that together they stay within
 * work->free and cost least.  On OPTIMAL and FEASIBLE, work->pick has been set for them.
 * There is at least one open item, and each has at least two options.
 */
extern GcKernelStatus gc_kernel_search(GcKernelWork *work);

#endif							/* GC_KERNEL_MODEL_H */
