/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  State of one planner run; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_HOOKS_H
#define GC_PLAN_HOOKS_H

#include "translate.h"

/* Descriptions, by RelOptInfo, of the planner run in progress. */
extern GcRelDesc *gc_desc_lookup(RelOptInfo *rel);
extern GcRelDesc *gc_desc_enter(RelOptInfo *rel);

/* paths.c: offer paths for a relation, or note why not. */
extern void gc_add_rel_path(PlannerInfo *root, RelOptInfo *rel);
extern void gc_add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
							  GroupPathExtraData *extra);

#endif							/* GC_PLAN_HOOKS_H */
