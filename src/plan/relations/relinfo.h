/*-------------------------------------------------------------------------
 *
 * relinfo.h
 *	  Descriptions of join relations, built bottom-up while the planner works; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RELINFO_H
#define GC_RELINFO_H

#include "../base/planning.h"

/*
 * Does a query level only inner-join its relations?  Then they need not be described join by join: the order in
 * which they are joined says nothing.
 */
extern bool gc_joins_plainly(PlannerInfo *root);

/* The description of a relation, made if there is none yet. */
extern GcRelDesc *gc_rel_desc(PlannerInfo *root, RelOptInfo *rel);

/* True if the join is described, and was not before as far as anybody can tell. */
extern bool gc_describe_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
							 RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra);

#endif							/* GC_RELINFO_H */
