/*-------------------------------------------------------------------------
 *
 * batch_model.h
 *	  The batch-level model: ready kernels into the fewest batches.
 *
 * Li, Tu, Zeng 2019, eqs. 16-30 and algorithm 2.  A batch is a set of kernels that a device
 * can hold all at once; batches run one after another.  Since every multiprocessor (SM) is
 * given the same share of every kernel, it is enough to fill one.  Kernels with equal
 * shares are one item type with a demand.  A pattern says how many of each type are in one
 * batch; a plan says how many times each pattern is used.  This is the cutting-stock
 * problem.  Column generation (lp.h prices, knapsack.h finds patterns) gives a lower bound
 * and fractions of patterns, which are then rounded.
 *
 * The paper has three resources (warps, registers, shared memory; eqs. 27-29).  Here are
 * two more: blocks and items of a batch.  An SM holds a limited number of blocks, and a
 * device a limited number of grids.
 *
 * Pure C, like all of sched/.  The caller owns problem, work and plan; any thread may
 * call with its own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BATCH_MODEL_H
#define GC_BATCH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "knapsack.h"
#include "lp.h"

#define GC_BATCH_MAX_TYPES		64
#define GC_BATCH_MAX_PATTERNS	192
#define GC_BATCH_MAX_DEMAND		65535	/* of one type */
#define GC_BATCH_MAX_ITEMS		1024	/* of one batch */

/* need: the resources of one SM that an item takes, granules and reserved bytes included. */
typedef struct GcItemType
{
	int			need[GC_NEEDS];
	int			demand;			/* number of such items; 0: in no pattern */
} GcItemType;

typedef struct GcBatchProblem
{
	int			capacity[GC_NEEDS];	/* of one SM */
	int			ntypes;
	const GcItemType *types;
	int			max_items;		/* in one batch; 0: GC_BATCH_MAX_ITEMS */
	int			effort;			/* search steps that may be made, about; 0: GC_BATCH_EFFORT */
	bool		full_lp;		/* solve the LP to its end, even if the number of batches is
								 * known to be least before that */
} GcBatchProblem;

/*
 * Enough to prove most plans of 65 kernels of 13 types.  A step takes some 70 ns of one core at
 * 3 GHz, so this also bounds the time of a call.
 */
#define GC_BATCH_EFFORT			1500

typedef struct GcBatchPattern
{
	int			times;
	uint16_t	count[GC_BATCH_MAX_TYPES];	/* of each of the problem's types */
} GcBatchPattern;

typedef struct GcBatchPlan
{
	int			npatterns;		/* all different */
	int			batches;		/* sum of times */
	bool		proven;			/* batches == ceil(lp_bound): no plan has fewer */
	bool		lp_solved;		/* lp_bound is the LP's own optimum */
	double		lp_bound;		/* proven: no plan has fewer batches than this */
	int			offender;		/* type that the status is about, else -1 */
	GcBatchPattern pattern[GC_BATCH_MAX_PATTERNS];
} GcBatchPlan;

typedef enum GcBatchStatus
{
	GC_BATCH_OK,
	GC_BATCH_BAD_PROBLEM,		/* capacities, limits or number of types out of range */
	GC_BATCH_BAD_TYPE,			/* needs or demand of plan->offender make no sense */
	GC_BATCH_TOO_LARGE			/* plan->offender fits no SM */
} GcBatchStatus;

/* A plan under construction, over types with demand only. */
typedef struct GcBatchTrial
{
	int			npatterns;
	int			batches;
	int			types_left;		/* types with items not yet in a batch */
	int			left[GC_BATCH_MAX_TYPES];
	int			times[GC_BATCH_MAX_PATTERNS];
	uint16_t	count[GC_BATCH_MAX_PATTERNS][GC_BATCH_MAX_TYPES];
} GcBatchTrial;

/* The work space of a call (about 150 kB); nothing in it matters between calls. */
typedef struct GcBatchWork
{
	int			n;				/* types with demand */
	int			type[GC_BATCH_MAX_TYPES];	/* their numbers in the problem */
	int			demand[GC_BATCH_MAX_TYPES];
	int			effort;			/* left */
	int			target;			/* no plan has fewer batches */
	double		bound;
	double		value[GC_BATCH_MAX_TYPES];
	int			order[GC_BATCH_MAX_TYPES];
	GcKnapsackResult found;
	GcKnapsack	knapsack;
	GcLp		lp;
	GcBatchTrial trial;
	GcBatchTrial best;
} GcBatchWork;

/*
 * Plan all items of the problem: every demand is met exactly and every pattern fits.
 * The plan is always feasible, and mostly has the fewest batches: `proven` says when that
 * is certain.  On any status but GC_BATCH_OK the plan is empty.
 */
extern GcBatchStatus gc_batch_plan(const GcBatchProblem *problem, GcBatchWork *work,
								   GcBatchPlan *plan);

#endif							/* GC_BATCH_MODEL_H */
