/*-------------------------------------------------------------------------
 *
 * node.h
 *	  Paths of ours, and the plan nodes that are made of them; private to plan/.
 *
 * Planner, in backends.
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
	Path	   *own;
	GcCosts		costs;
} GcPath;

/* A path without costs, children and PostgreSQL's own path. */
extern GcPath *gc_make_path(GcTranslation *tr, RelOptInfo *rel, PathTarget *target);

extern bool gc_is_path(const Path *path);

/* PostgreSQL's own path in the place of one of ours; any other path is returned. */
extern Path *gc_own_path(Path *path);

/* Is it a node made of a path of ours? */
extern bool gc_is_node(const Plan *plan);

/*
 * The output that is one of an equivalence class's expressions, and the type by whose operator that is
 * sorted; -1 if there is none.
 */
extern int	gc_sorted_output(const GcTranslation *tr, const EquivalenceClass *ec, Oid *type);

#endif							/* GC_NODE_H */
