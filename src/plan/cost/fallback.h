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

#include "../base/translate.h"

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

/* What paths of ours in a path tree cost less than PostgreSQL's own in their place, if each is executed once. */
extern Cost gc_saved_cost(Path *path);

/* Where a path node of one child keeps it, and one of a list of children these; NULL for others. */
extern Path **gc_single_child(Path *path);
extern List **gc_child_list(Path *path);

#endif							/* GC_PLAN_FALLBACK_H */
