/*-------------------------------------------------------------------------
 *
 * leaf.h
 *	  Leaves of the join tree, and values on their way between pipelines; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LEAF_H
#define GC_LEAF_H

#include "translate.h"

/* Can this relation be read through the column cache?  *reason otherwise. */
extern bool gc_cacheable_table(PlannerInfo *root, RelOptInfo *rel, Oid *relid, const char **reason);

extern GcLeaf *gc_leaf_make(GcTranslation *tr, RelOptInfo *rel);

/* Make a leaf that PostgreSQL reads and filters, rows encoded as they come. */
extern bool gc_leaf_demote(GcTranslation *tr, GcLeaf *leaf);

/* The leaf that has all of these relations; NULL if none has. */
extern GcLeaf *gc_leaf_of(GcTranslation *tr, Relids relids);

/* Value of an expression that lives in leaf `from`, in the pipeline of `at`. */
extern int	gc_bring(GcTranslation *tr, GcLeaf *at, GcLeaf *from, int expr);

#endif							/* GC_LEAF_H */
