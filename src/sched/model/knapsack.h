/*-------------------------------------------------------------------------
 *
 * knapsack.h
 *	  Pricing: the pattern worth most at given prices.
 *
 * Li, Tu, Zeng 2019, eqs. 26-30, where the sub-problem is min 1 - sum pi_i p_i:
 *
 *		maximise sum_i pi_i p_i   subject to   sum_i p_i need_ir <= capacity_r for every
 *		resource r,   0 <= p_i <= limit_i,   p_i whole
 *
 * The paper solves it by dynamic programming in O(n W R S).  Here it is a depth-first
 * branch and bound: a batch holds few items, so that a good bound leaves little to search.
 * The bound comes from a relaxation to one resource, in which the resources are added up,
 * scarce ones with more weight.
 *
 * Pure C, like all of sched/.  Everything is in the caller's GcKnapsack.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_KNAPSACK_H
#define GC_KNAPSACK_H

#include <stdbool.h>
#include <stdint.h>

#include "occupancy.h"

#define GC_KNAPSACK_MAX		64	/* types of items */

/* Room of a batch: amounts of each resource (GC_NEED_WARPS and so on), and a number of items. */
enum
{
	GC_ROOM_ITEMS = GC_NEEDS,
	GC_NROOM
};

/* All resources of an item or of a batch. */
typedef struct GcKnapsackRoom
{
	int			amount[GC_NROOM];
} GcKnapsackRoom;

/* One level of the search: `taken` items of one type, and the types that may come after it. */
typedef struct GcKnapsackBranch
{
	int			item;
	int			taken;
	uint64_t	candidates;
} GcKnapsackBranch;

typedef struct GcKnapsack
{
	int			n;
	GcKnapsackRoom capacity;
	GcKnapsackRoom need[GC_KNAPSACK_MAX];
	int			fit[GC_KNAPSACK_MAX];	/* most of one type in a batch, at most 65535 */
	double		share[GC_KNAPSACK_MAX][GC_NROOM];	/* need / capacity, 0 .. 1 */
	double		weight[GC_KNAPSACK_MAX];	/* weighted sum of shares */

	/* The items of the search under way, best value per weight first. */
	int			nactive;
	int			order[GC_KNAPSACK_MAX]; /* all items, the active ones first */
	double		ratio[GC_KNAPSACK_MAX];
	double		value[GC_KNAPSACK_MAX];
	double		load[GC_KNAPSACK_MAX];	/* weight of one */
	double		all_value[GC_KNAPSACK_MAX]; /* of limit_i of them */
	double		all_load[GC_KNAPSACK_MAX];
	int			limit[GC_KNAPSACK_MAX];
	GcKnapsackRoom room[GC_KNAPSACK_MAX];
	GcKnapsackBranch branch[GC_KNAPSACK_MAX];
} GcKnapsack;

typedef struct GcKnapsackResult
{
	bool		found;			/* `count` is worth more than the threshold */
	bool		complete;		/* nothing is worth more than `value` */
	double		value;			/* of count; the threshold where none was found */
	double		upper;			/* proven: no pattern is worth more (and not less than
								 * the threshold) */
	int			steps;			/* of the search */
	uint16_t	count[GC_KNAPSACK_MAX];
} GcKnapsackResult;

/*
 * need[i][r] and capacity[r] are in any units, 0 <= need[i][r] <= capacity[r], some need of every item above 0.
 * demand[i] is the number of items of type i, for a first guess at which resource is scarce.
 */
extern void gc_knapsack_start(GcKnapsack *knapsack, int n, const int (*need)[GC_NROOM],
							  const int *capacity, const int *demand);

/*
 * The pattern worth most at value[i], with at most limit[i] of type i, if it is worth more
 * than threshold.  Types of value 0 or less are left out.  Once a pattern is found, the
 * search may end after `patience` steps; it always ends after max_steps, and then proves no upper value.
 */
extern void gc_knapsack_search(GcKnapsack *knapsack, const double *value, const int *limit,
							   double threshold, int patience, int max_steps,
							   GcKnapsackResult *result);

/*
 * Add items that still fit to the pattern `count`, taking types in the order of order[0 .. norder - 1].  It never has
 * more of type i than limit[i] in all.
 */
extern void gc_knapsack_fill(const GcKnapsack *knapsack, const int *order, int norder,
							 const int *limit, uint16_t *count);

#endif							/* GC_KNAPSACK_H */
