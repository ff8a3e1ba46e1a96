/*-------------------------------------------------------------------------
 *
 * costs.h
 *	  What paths of ours cost; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COSTS_H
#define GC_COSTS_H

#include "../base/translate.h"

/* A translation's costs.  Times are in units of cost that the CPU takes. */
typedef struct GcCosts
{
	Cost		device;			/* until the device has its result */
	Cost		row;			/* to decode a row of it */
	double		scale;			/* what PostgreSQL counts for a unit of its own path's time */
} GcCosts;

/* own: the path that the node's is compared with. */
extern GcCosts gc_costs(GcTranslation *tr, Path *own);

/* Estimates of PostgreSQL's that are guesses, as values of parameters are not known (guesses.c): */

/*
 * Is a node that takes `least` clearly faster than a path of PostgreSQL's for some values of parameters?  False where
 * nothing is guessed.
 */
extern bool gc_may_take_longer(PlannerInfo *root, Path *path, Cost least);

/*
 * May either of PostgreSQL's own path and the node be faster, by the values of parameters?  The plan then has what the
 * executor needs to tell.
 */
extern bool gc_decided_by_values(GcTranslation *tr, Path *own, const GcCosts *costs, double rows);

#endif							/* GC_COSTS_H */
