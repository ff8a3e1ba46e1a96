/*-------------------------------------------------------------------------
 *
 * lookup_cost.h
 *	  What a translation's lookup tables cost; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LOOKUP_COST_H
#define GC_LOOKUP_COST_H

#include "../base/translate.h"

/* What a request has to do for all of them, in calls of an operator. */
extern double gc_lookup_operators(const GcTranslation *tr);

#endif							/* GC_LOOKUP_COST_H */
