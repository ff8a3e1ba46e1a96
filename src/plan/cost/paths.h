/*-------------------------------------------------------------------------
 *
 * paths.h
 *	  Offering custom paths; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PATHS_H
#define GC_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

#include "node.h"

/* The reason where a path of ours loses. */
#define GC_CHEAPER		"PostgreSQL's own plan is estimated to be cheaper"

/* Offer paths for a relation, or note why not. */
extern void gc_add_rel_path(PlannerInfo *root, RelOptInfo *rel);
extern void gc_add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
							  GroupPathExtraData *extra);

/* Offer SELECT DISTINCT over a scan or join as groups without aggregates. */
extern void gc_add_distinct_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output);

/*
 * Where offloading is forced: keep our paths only.  A path that was added later, for another pair of
 * relations, might win by its order.
 */
extern void gc_keep_only_offer(RelOptInfo *rel);

/*
 * Translate a whole query level, whose windows are the device's.  conditions: on results of the windows; few: the first
 * rows are wanted, by what they are sorted by.  The translation has a reason if that cannot be.
 */
extern struct GcTranslation *gc_translate_with_windows(PlannerInfo *root, PathTarget *target, List *conditions,
													   bool few);

/* Offer paths from now on (path_hooks.c). */
extern void gc_path_hooks_install(void);

/*
 * Where PostgreSQL's own path has a node of ours in it, the device is used in any case.  The node's rows
 * go on to nested loops, say.  What these cost depends on estimates of joins, which are often off by
 * orders of magnitude.  A node for all of it costs what the scans do, whatever comes out of them.  So it
 * may be estimated to cost more.
 */
extern void gc_prefer_whole(Path *path, const Path *own);

/* Offer a path of ours for all that a query level joins again, with rows in the order that the level sorts them in. */
extern void gc_add_sorted_path(PlannerInfo *root, RelOptInfo *rel, GcPath *path);

/*
 * Offer the paths of ours for a query level again, for its ORDER BY: with groups in that order, so
 * that no Sort stands above; and where LIMIT takes the first few, with little more than these.
 */
extern void gc_add_ordered_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output);

/* Rows that LIMIT and OFFSET let through, or -1 where that is not known now. */
extern double gc_limit_rows(const Query *query);

/* Offer a path of ours for rows or groups again, with the window functions that PostgreSQL computes above it. */
extern void gc_add_window_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output);

/* Offer a path of ours for groups again, in the order in which window functions take them. */
extern void gc_add_window_order(PlannerInfo *root, RelOptInfo *output);

#endif							/* GC_PATHS_H */
