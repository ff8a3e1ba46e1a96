/*-------------------------------------------------------------------------
 *
 * costs.h
 *	  What paths of ours cost; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_COSTS_H
#define GC_COSTS_H

#include "../base/translate.h"

/* Of a translation.  Times are in units of cost that the CPU takes. */
typedef struct GcCosts
{
	Cost		device;			/* until the device has its result */
	Cost		row;			/* to decode a row of it */
	double		scale;			/* what PostgreSQL counts for a unit of its own path's time */
} GcCosts;

/* own: the path that the node's is compared with. */
extern GcCosts gc_costs(GcTranslation *tr, Path *own);

/* The time of a path that returns so many rows. */
extern Cost gc_costs_time(const GcCosts *costs, double rows);

/* The costs of a path that returns so many rows. */
extern void gc_set_costs(Path *path, const GcCosts *costs, double rows);

#endif							/* GC_COSTS_H */
