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
extern GcRelDesc *gc_desc_lookup(PlannerInfo *root, RelOptInfo *rel);
extern GcRelDesc *gc_desc_enter(PlannerInfo *root, RelOptInfo *rel);

/* Is GEQO trying join orders just now?  It frees join relations between its trials. */
extern bool gc_geqo(void);

/* Context of what descriptions refer to, beside what the planner keeps. */
extern MemoryContext gc_desc_context(void);

/* paths.c: offer paths for a relation, or note why not. */
/* The reason where a path of ours loses. */
#define GC_CHEAPER		"PostgreSQL's own plan is estimated to be cheaper"

/* A path of ours was given to the planner. */
extern void gc_note_offer(void);

extern void gc_keep_only_offer(RelOptInfo *rel);

/* Has the query aggregates, or grouping, that are never offloaded?  (agg.c) */
extern bool gc_aggregates_refused(PlannerInfo *root);

extern void gc_add_rel_path(PlannerInfo *root, RelOptInfo *rel);
extern void gc_add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
							  GroupPathExtraData *extra);

#endif							/* GC_PLAN_HOOKS_H */
