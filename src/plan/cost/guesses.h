/*-------------------------------------------------------------------------
 *
 * guesses.h
 *	  What of PostgreSQL's estimates is guessed, as values of parameters are not known; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_GUESSES_H
#define GC_GUESSES_H

#include "../base/translate.h"
#include "costs.h"

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

#endif							/* GC_GUESSES_H */
