/*-------------------------------------------------------------------------
 *
 * fallback.h
 *	  PostgreSQL's own path for what a node computes, and the paths of its row sources; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_FALLBACK_H
#define GC_PLAN_FALLBACK_H

#include "translate.h"

/* The cheapest of PostgreSQL's own unparameterised paths; NULL if there is none. */
extern Path *gc_cheapest_own_path(RelOptInfo *rel);

/*
 * The cheapest of PostgreSQL's own unparameterised paths of rel that can be a fallback
 * of tr's node; NULL if there is none.  *own is that path as the planner made it.  Both
 * are copies, since add_path() frees what a path of ours dominates.  The paths of tr's
 * row sources become those of the fallback.
 */
extern Path *gc_fallback_path(GcTranslation *tr, RelOptInfo *rel, Path **own);

/* Is there a path of ours in this path tree? */
extern bool gc_path_has_ours(Path *path);

#endif							/* GC_PLAN_FALLBACK_H */
