/*-------------------------------------------------------------------------
 *
 * node.h
 *	  Paths of ours, the plan nodes that are made of them, and PostgreSQL's own paths in their place; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_NODE_H
#define GC_NODE_H

#include "../base/translate.h"
#include "costs.h"

/* A path of ours.  PostgreSQL's own for the same rows is kept as it was, for nodes above. */
typedef struct GcPath
{
	CustomPath	cpath;
	GcTranslation *tr;			/* it alone has this one; packed if the path is taken */
	List	   *having;
	int			depth;			/* as gc_from_depth() */
	Path	   *own;
	GcCosts		costs;
} GcPath;

/* A path without costs, children and PostgreSQL's own path. */
extern GcPath *gc_make_path(GcTranslation *tr, RelOptInfo *rel, PathTarget *target);

extern bool gc_is_path(const Path *path);

/* The time of a path that returns so many rows. */
extern Cost gc_costs_time(const GcCosts *costs, double rows);

/* The costs of a path that returns so many rows. */
extern void gc_set_costs(Path *path, const GcCosts *costs, double rows);

/* PostgreSQL's own path in the place of one of ours; any other path is returned. */
extern Path *gc_own_path(Path *path);

/* Is it a node made of a path of ours? */
extern bool gc_is_node(const Plan *plan);

/*
 * The output that is one of an equivalence class's expressions, and the type by whose operator that is
 * sorted; -1 if there is none.
 */
extern int	gc_sorted_output(const GcTranslation *tr, const EquivalenceClass *ec, Oid *type);

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

/* Cost that paths of ours in a path tree save against PostgreSQL's own in their place, if each is executed once. */
extern Cost gc_saved_cost(Path *path);

/* A copy of a path node of PostgreSQL's, of a kind that can be in a fallback, with the same children. */
extern Path *gc_copy_path(const Path *path);

/* Where a path node of one child keeps it, and one of a list of children these; NULL for others. */
extern Path **gc_single_child(Path *path);
extern List **gc_child_list(Path *path);

#endif							/* GC_NODE_H */
