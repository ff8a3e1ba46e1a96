/*-------------------------------------------------------------------------
 *
 * path_hooks.c
 *	  Hooks for relations: where our paths are offered.
 *
 * Runs in backends, in the planner's run that gc_planning is the state of.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"

#include "../group/groups.h"
#include "node.h"
#include "join_order.h"
#include "costs.h"
#include "paths.h"
#include "../../compat.h"
#include "../../force.h"
#include "../base/planning.h"
#include "../relations/relinfo.h"
#include "../rewrite/rewrite.h"

static set_rel_pathlist_hook_type prev_rel_hook = NULL;
static set_join_pathlist_hook_type prev_join_hook = NULL;
static join_search_hook_type prev_search_hook = NULL;
static create_upper_paths_hook_type prev_upper_hook = NULL;

/* Is this a subquery of FROM, in a statement of which nodes further out took all along before? */
static bool
goes_along(PlannerInfo *root)
{
	if (!gc_planning->whole || gc_from_depth(root) <= gc_planning->deepest)
		return false;
	if (!gc_planning->went_along)
		ereport(DEBUG2,
				(errmsg_internal("gpuconc offers no subquery of FROM alone")));
	gc_planning->went_along = true;
	return true;
}

/* Must no node be offered, as it would change what a set operation above shows? */
static bool
is_shown_by_plan(const PlannerInfo *root)
{
	while ((root = root->parent_root) != NULL)
	{
		if (gc_shows_constants_by_plan(root->parse))
		{
			gc_note_refusal("select", "a UNION is over grouping sets with a constant");
			return true;
		}
	}
	return false;
}

/*
 * Is this relation the largest piece that could be offloaded?  Not if an aggregate (of those
 * that are offloaded at all) or a larger join takes it along.  Smaller pieces are offered only
 * where an outer or semi join may stand in the way (a full join does).  So fallback plans are
 * PostgreSQL's own throughout.
 */
static bool
worth_offering(PlannerInfo *root, RelOptInfo *rel)
{
	if (goes_along(root) || is_shown_by_plan(root))
		return false;
	if (!bms_equal(rel->relids, GC_ALL_RELIDS(root)))
		return root->join_info_list != NIL && !gc_planning->whole && !gc_planning->replaying;
	if (!root->parse->hasAggs && root->parse->groupClause == NIL)
		return true;
	/* Many groups of grouping sets may be too dear to decode: then their input is offered. */
	return root->parse->groupingSets != NIL || gc_aggregates_refused(root);
}

/* Would PostgreSQL have this path without ours?  One that is parameterized does not count. */
static bool
is_own_path(Path *path)
{
	return path->param_info == NULL && !(gc_planning->offered && gc_path_has_ours(path));
}

/*
 * Is anything to be offered for this relation?  Nothing is if the statement was left to PostgreSQL before, and
 * this costs no more than its largest part did then.
 */
static bool
is_looked_at(const RelOptInfo *rel)
{
	Cost		least = -1;
	ListCell   *lc;

	if (!gc_planning || !gc_offload_active())
		return false;
	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (is_own_path(path) && (least < 0 || path->total_cost < least))
			least = path->total_cost;
	}
	gc_planning->most = Max(gc_planning->most, least);
	/* Where only paths of ours are left of groups, these cost more, and so does what is above them. */
	if (gc_planning->ceiling > 0 && least <= gc_planning->ceiling && !(least < 0 && IS_UPPER_REL(rel)))
		return false;
	gc_planning->looked = true;
	return true;
}

/* The hook: offer a path of ours for a relation that is scanned. */
static void
gc_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (prev_rel_hook)
		prev_rel_hook(root, rel, rti, rte);
	if (gc_planning && gc_planning->ceiling <= 0 && gc_planning->seen.n < GC_ROWS_SEEN)
		gc_planning->seen.rows[gc_planning->seen.n++] = rel->rows;
	if (is_looked_at(rel) && worth_offering(root, rel))
		gc_add_rel_path(root, rel);
}

/* The hook: describe a join for each pair of relations, and offer a path for it. */
static void
gc_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
				 RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	if (prev_join_hook)
		prev_join_hook(root, joinrel, outer, inner, jointype, extra);
	if (!gc_planning || !gc_offload_active() || gc_planning->ceiling > 0 || gc_joins_plainly(root))
		return;
	/* Exhaustive search keeps lists of join relations by level. */
	gc_planning->geqo = enable_geqo && root->join_rel_level == NULL && !gc_planning->replaying;
	if (gc_describe_join(root, joinrel, outer, inner, jointype, extra) &&
		worth_offering(root, joinrel))
		gc_add_rel_path(root, joinrel);
	else if (gc_offload_forced())
		gc_keep_only_offer(joinrel);
	gc_planning->geqo = false;
}

/* Search for the order of joins as if this module was not there. */
static RelOptInfo *
search_joins(PlannerInfo *root, List *initial_rels)
{
	const int	levels_needed = list_length(initial_rels);

	if (prev_search_hook)
		return prev_search_hook(root, levels_needed, initial_rels);
	if (enable_geqo && levels_needed >= geqo_threshold)
		return geqo(root, levels_needed, initial_rels);
	return standard_join_search(root, levels_needed, initial_rels);
}

/* In the order of before, if there is one that does. */
static RelOptInfo *
find_joins(PlannerInfo *root, List *initial_rels)
{
	RelOptInfo *rel = NULL;

	if (prev_search_hook == NULL && gc_planning->ceiling <= 0)
		rel = gc_join_order_replay(root, initial_rels);
	if (rel == NULL)
	{
		rel = search_joins(root, initial_rels);
		if (gc_planning->ceiling <= 0)
			gc_join_order_found(root, initial_rels, rel);
	}
	return rel;
}

/* The hook: search for the order once, or take one that is known. */
static RelOptInfo *
gc_join_search(PlannerInfo *root, int levels_needed, List *initial_rels)
{
	RelOptInfo *rel;

	if (!gc_planning || !gc_offload_active())
		return search_joins(root, initial_rels);
	rel = gc_join_guessed(root, initial_rels, find_joins);
	if (rel == NULL)
		rel = find_joins(root, initial_rels);
	if (gc_joins_plainly(root) && is_looked_at(rel) && worth_offering(root, rel))
	{
		gc_add_rel_path(root, rel);
		set_cheapest(rel);
	}
	return rel;
}

/* The whole statement has its paths: note how long the cheapest takes, if that is wanted. */
static void
note_time(PlannerInfo *root, RelOptInfo *output)
{
	Path	   *best = NULL;
	ListCell   *lc;

	if (gc_planning == NULL || !gc_planning->timed || root->parent_root != NULL)
		return;
	foreach(lc, output->pathlist)
	{
		if (best == NULL || ((Path *) lfirst(lc))->total_cost < best->total_cost)
			best = lfirst(lc);
	}
	gc_planning->time = best ? gc_execution_time(root, best) + gc_init_plans_time(root) : 0;
}

/* The subquery whose rows generate_series(1, n) AS "*copy*" repeats, which is the last output; 0: it is none. */
static Index
repeated_subquery(const Query *query)
{
	const TargetEntry *copy = query->hasTargetSRFs ? llast_node(TargetEntry, query->targetList) : NULL;
	const FuncExpr *series = copy && IsA(copy->expr, FuncExpr) ? (const FuncExpr *) copy->expr : NULL;

	if (series == NULL || series->funcid != F_GENERATE_SERIES_INT8_INT8 || !IsA(lsecond(series->args), Var) ||
		copy->resname == NULL || strcmp(copy->resname, "*copy*") != 0)
		return 0;
	return lsecond_node(Var, series->args)->varno;
}

/*
 * A rewritten INTERSECT ALL or EXCEPT ALL repeats rows of groups (plan/rewrite/rewrite_union.c).  PostgreSQL expects a
 * thousand of each; there are no more than the groups are made of.
 */
static void
expect_fewer_copies(PlannerInfo *root, RelOptInfo *output)
{
	const Index groups = gc_planning ? repeated_subquery(root->parse) : 0;
	PlannerInfo *subroot = groups > 0 && root->simple_rel_array[groups] ? root->simple_rel_array[groups]->subroot
		: NULL;
	ListCell   *lc;
	int			relid;

	if (subroot == NULL || !bms_get_singleton_member(subroot->all_baserels, &relid))
		return;
	foreach(lc, output->pathlist)
	{
		Path	   *path = lfirst(lc);
		const double rows = Max(find_base_rel(subroot, relid)->rows, 1);

		if (!IsA(path, ProjectSetPath) || path->rows <= rows)
			continue;
		path->total_cost -= (path->rows - rows) * cpu_tuple_cost / 2;
		path->rows = rows;
	}
}

/* The hook: offer paths with groups, windows and order. */
static void
gc_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
			   RelOptInfo *output, void *extra)
{
	if (prev_upper_hook)
		prev_upper_hook(root, stage, input, output, extra);
	if (stage == UPPERREL_FINAL)
	{
		expect_fewer_copies(root, output);
		note_time(root, output);
	}
	if (stage != UPPERREL_GROUP_AGG && stage != UPPERREL_WINDOW && stage != UPPERREL_DISTINCT &&
		stage != UPPERREL_ORDERED)
		return;
	if (!is_looked_at(output) || goes_along(root) || is_shown_by_plan(root))
		return;
	if (stage == UPPERREL_GROUP_AGG)
	{
		gc_add_group_path(root, input, output, extra);
		gc_add_window_order(root, output);
	}
	else if (stage == UPPERREL_WINDOW)
		gc_add_window_path(root, input, output);
	else if (stage == UPPERREL_DISTINCT)
		gc_add_distinct_path(root, input, output);
	else
		gc_add_ordered_path(root, input, output);
}

void
gc_path_hooks_install(void)
{
	prev_rel_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = gc_rel_pathlist;
	prev_join_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = gc_join_pathlist;
	prev_search_hook = join_search_hook;
	join_search_hook = gc_join_search;
	prev_upper_hook = create_upper_paths_hook;
	create_upper_paths_hook = gc_upper_paths;
}
