/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  Paths of ours: what the hooks, paths.c, fallback.c and source.c ask of each other; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_HOOKS_H
#define GC_PLAN_HOOKS_H

#include "translate.h"

/* paths.c: offer paths for a relation, or note why not. */
/* The reason where a path of ours loses. */
#define GC_CHEAPER		"PostgreSQL's own plan is estimated to be cheaper"

extern void gc_keep_only_offer(RelOptInfo *rel);

/* Has the query aggregates, or grouping, that are never offloaded?  (agg.c) */
extern bool gc_aggregates_refused(PlannerInfo *root);

/* A path of ours.  PostgreSQL's own for the same rows is kept as it was, for nodes above. */
typedef struct GcPath
{
	CustomPath	cpath;
	GcPlan	   *plan;
	GcTranslation *tr;
	List	   *having;
	Path	   *own;
} GcPath;

/* PostgreSQL's own path in the place of one of ours; any other path is returned. */
extern Path *gc_own_path(Path *path);

extern void gc_add_rel_path(PlannerInfo *root, RelOptInfo *rel);
extern void gc_add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
							  GroupPathExtraData *extra);

/* fallback.c */
extern Path *gc_cheapest_own_path(RelOptInfo *rel);
extern Path *gc_fallback_path(GcTranslation *tr, RelOptInfo *rel, Path **own);
extern Path *gc_make_input_path(Path *source, int child);
extern bool gc_is_input_path(const Path *path);

/* source.c: why rows, or outputs of subqueries, must not be computed ahead; NULL if nothing is against it. */
extern const char *gc_source_refusal(PlannerInfo *root, RelOptInfo *rel);
extern const char *gc_subplans_refusal(PlannerInfo *root, Node *expr);
extern bool gc_looks_at_storage(Node *node);
extern bool gc_level_looks_at_storage(PlannerInfo *root);

#endif							/* GC_PLAN_HOOKS_H */
