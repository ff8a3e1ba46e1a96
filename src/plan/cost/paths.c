/*-------------------------------------------------------------------------
 *
 * paths.c
 *	  Offering custom paths.  Their costs are in costs.c.
 *
 * The device returns rows in any order.  So nothing is offered for a level that shows the order of one subquery with an
 * ORDER BY.  It may do so by array_agg() over it, LIMIT, DISTINCT ON, row_number() OVER (), or its plain rows.  The
 * subquery is offered.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "paths.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/selfuncs.h"

#include "../base/builder.h"
#include "../group/choice.h"
#include "costs.h"
#include "../expr/expr.h"
#include "../group/groups.h"
#include "node.h"
#include "../../compat.h"
#include "../../force.h"
#include "../../queue/queue.h"
#include "../../settings.h"
#include "../base/planning.h"
#include "../base/source.h"
#include "../group/sets.h"
#include "../relations/pipelines.h"
#include "../relations/relinfo.h"
#include "../relations/tree.h"

/*-------------------------------------------------------------------------
 * Whether a query level shows the order of the subquery that it reads
 *
 * SQL says nothing of the order of rows above a subquery's ORDER BY.  But PostgreSQL keeps it where the level
 * reads that subquery alone, and its manual has array_agg() and the like rely on it.  LIMIT without
 * an ORDER BY of its own, DISTINCT ON and row_number() OVER () are used alike.
 *
 * A join of such a subquery keeps the order in some of PostgreSQL's plans only, so that is not looked at.
 *-------------------------------------------------------------------------
 */

/*
 * Has what this level reads, if that is one subquery, an ORDER BY?  Rows of a CTE, and of a subquery that is not part
 * of a node, stay PostgreSQL's where they are read alone.
 */
static bool
reads_in_order(PlannerInfo *root)
{
	const RangeTblEntry *rte;
	int			rti;

	if (!bms_get_singleton_member(root->all_baserels, &rti))
		return false;
	rte = planner_rt_fetch(rti, root);
	return rte->rtekind == RTE_SUBQUERY && rte->subquery && rte->subquery->sortClause != NIL;
}

/* Does an expression hold an aggregate or a window function that takes rows as they come? */
static bool
takes_as_they_come(Node *node, void *context)
{
	const Query *query = context;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		const Aggref *agg = (Aggref *) node;

		if (agg->agglevelsup == 0 && agg->aggorder == NIL && agg->aggdistinct == NIL &&
			!gc_is_orderless(agg->aggfnoid, agg->aggtype))
			return true;
	}
	if (IsA(node, WindowFunc))
	{
		const WindowFunc *func = (WindowFunc *) node;
		const WindowClause *window = list_nth(query->windowClause, func->winref - 1);

		if (window->orderClause == NIL && !gc_is_orderless(func->winfnoid, func->wintype))
			return true;
	}
	return expression_tree_walker(node, takes_as_they_come, context);
}

/*
 * Does the level read nothing but a subquery with an ORDER BY, and do its rows, or results, depend on that
 * order?  Rows that the device returns come in any order.
 */
static bool
shows_input_order(PlannerInfo *root)
{
	Query	   *query = root->parse;

	if (!reads_in_order(root))
		return false;
	if (query->hasDistinctOn ||
		takes_as_they_come((Node *) query->targetList, query) || takes_as_they_come(query->havingQual, query))
		return true;
	return !query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL && query->distinctClause == NIL &&
		query->sortClause == NIL;
}

/*-------------------------------------------------------------------------
 * Whether a path of ours is offered
 *-------------------------------------------------------------------------
 */

/*
 * A node for a whole query level may cost more than a plan with a node for a part, by this factor or
 * amount.
 */
#define MIXED_FACTOR	4
#define MIXED_MARGIN	1000

/*
 * A node that decides when it is executed costs this part of PostgreSQL's own path.  It is
 * there for either to be taken.
 */
#define DECIDING_SHARE	0.9

/* Window functions of fewer rows, and their sort, take less than a request. */
#define FEW_ABOVE		1000

/* May anything of this query level be offloaded?  A reason if not. */
static const char *
query_refusal(PlannerInfo *root)
{
	const char *reason;
	GcWorkerState state = gc_worker_state(&reason);

	if (state == GC_WORKER_NO_DEVICE)
		return "no device is available";
	if (state == GC_WORKER_STOPPED)
		return "the gpuconc worker is not running";
	for (PlannerInfo *r = root; r; r = r->parent_root)
	{
		if (r->parse->rowMarks != NIL)
			return "rows are locked";
		if (r->parse->commandType != CMD_SELECT && r->parse->commandType != CMD_INSERT)
			return "it is part of a data-modifying statement";
	}
	if (root->parse->commandType != CMD_SELECT)
		return "it is a data-modifying statement";
	if (root->parse->hasTargetSRFs)
		return "a set-returning function is in the target list";
	if (gc_storage_seen(root))
		return "the storage of values is looked at";
	return NULL;
}

/* Are there conditions that must be tested before users' own? */
static bool
row_security_in_effect(PlannerInfo *root)
{
	if (root->parse->hasRowSecurity || root->qual_security_level > 0)
		return true;
	return root->parent_root ? row_security_in_effect(root->parent_root) : false;
}

/* Make pipelines of a subquery below, if that is possible. */
static bool
embed(GcTranslation *tr, GcLeaf *leaf)
{
	return gc_subquery_embed(tr, leaf) || gc_union_embed(tr, leaf);
}

/* A translation of nothing yet, with all that it needs of other rooms. */
static GcTranslation *
empty_translation(PlannerInfo *root)
{
	GcTranslation *tr = palloc0(sizeof(GcTranslation));

	tr->top = tr->root = root;
	tr->embed = embed;
	tr->translate = gc_translate_expr;
	tr->leaky_forbidden = row_security_in_effect(root);
	gc_builder_init(tr);
	return tr;
}

/* Begin a translation of a relation. */
static GcTranslation *
translate_rel(PlannerInfo *root, GcRelDesc *desc, bool untried)
{
	GcTranslation *tr = empty_translation(root);

	tr->untried = untried;
	if (!desc->ok)
		gc_refuse(tr, "%s", desc->reason);
	else if (gc_translate_tree(tr, desc) && gc_translate_steps(tr))
		tr->main = tr->streamed->pipeline;
	return tr;
}

/* Where PostgreSQL read no table of the statement before, it need not for its filters. */
static GcTranslation *
start_translation(PlannerInfo *root, RelOptInfo *rel)
{
	GcRelDesc  *desc = gc_rel_desc(root, rel);
	GcTranslation *tr = gc_planning->whole ? translate_rel(root, desc, true) : NULL;

	return tr && tr->reason == NULL ? tr : translate_rel(root, desc, false);
}

/*-------------------------------------------------------------------------
 * Paths
 *-------------------------------------------------------------------------
 */

/* PostgreSQL's own plan comes first among the children, then those of row sources. */
static List *
child_paths(GcTranslation *tr, Path *fallback)
{
	List	   *paths = list_make1(fallback);
	ListCell   *lc;

	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (gc_leaf_is_source(leaf))
			paths = lappend(paths, leaf->path);
	}
	return paths;
}

/* Does a path for this relation take along all that the query level joins? */
static bool
takes_whole(GcTranslation *tr, RelOptInfo *rel)
{
	return IS_UPPER_REL(rel) || bms_equal(rel->relids, GC_ALL_RELIDS(tr->root));
}

/* The path costs this at most, so that it is taken before others that cost more. */
static void
cost_at_most(Path *path, Cost most)
{
	path->startup_cost = Min(path->startup_cost, most);
	path->total_cost = Min(path->total_cost, most);
}

void
gc_prefer_whole(Path *path, const Path *own)
{
	if (path->total_cost <= Max(own->total_cost * MIXED_FACTOR, own->total_cost + MIXED_MARGIN))
		cost_at_most(path, own->total_cost * 0.98);
}

/*
 * Do ORDER BY and LIMIT take the first few of this relation's rows?  Then most need not be returned, which
 * ordered.c knows.
 */
static bool
few_wanted(PlannerInfo *root, RelOptInfo *rel)
{
	return root->limit_tuples > 0 && root->limit_tuples < rel->rows && root->query_pathkeys != NIL &&
		(IS_UPPER_REL(rel) || bms_equal(rel->relids, GC_ALL_RELIDS(root)));
}

/*
 * Are there window functions of this relation's rows?  They take more than the rows themselves, and
 * windows.c takes them along.
 */
static bool
is_windowed(PlannerInfo *root, RelOptInfo *rel)
{
	return root->parse->hasWindowFuncs && (IS_UPPER_REL(rel) || bms_equal(rel->relids, GC_ALL_RELIDS(root)));
}

/*
 * Are all of a query level's joined rows sorted above this relation?  What PostgreSQL sorts them for may be ORDER BY,
 * DISTINCT or groups.
 */
static bool
is_sorted(PlannerInfo *root, RelOptInfo *rel)
{
	return root->query_pathkeys != NIL && !IS_UPPER_REL(rel) && bms_equal(rel->relids, GC_ALL_RELIDS(root)) &&
		!root->parse->hasWindowFuncs && !few_wanted(root, rel);
}

/* Would PostgreSQL's own path be taken whatever is asked of the relation's rows? */
static bool
is_beaten(const Path *costs, const Path *fallback)
{
	return !gc_offload_forced() && fallback->startup_cost <= costs->startup_cost &&
		fallback->total_cost <= costs->total_cost && fallback->param_info == NULL;
}

/* Is a value of another plan read below? */
static bool
exec_param_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		return true;
	return expression_tree_walker(node, exec_param_walker, context);
}

/*
 * PostgreSQL may read a row source first that is joined without an equality.  If that has no row, it
 * never executes an InitPlan that would raise an error.  The node executes both.
 */
static void
refuse_eager_init_plan(GcTranslation *tr)
{
	if (tr->reason == NULL && tr->lists_source && exec_param_walker((Node *) tr->exprs, NULL))
		gc_refuse(tr, "a row source is joined without an equality, beside the output of an InitPlan");
}

/* Offer a path: translate, cost, and compare with PostgreSQL's own. */
static void
add_gc_path(GcTranslation *tr, RelOptInfo *rel, PathTarget *target, List *having,
			double rows, const char *what)
{
	GcPath	   *path;
	Path	   *own = NULL;
	Path	   *fallback = NULL;
	GcCosts		costs;
	Path		cost = {0};
	double		returned;
	bool		beaten = false;
	bool		spare = false;

	refuse_eager_init_plan(tr);
	if (tr->reason == NULL && (fallback = gc_fallback_path(tr, rel, &own)) == NULL)
		gc_refuse(tr, "PostgreSQL has no independent plan for it");
	tr->plan->rows_out = rows;
	if (tr->reason == NULL)
	{
		costs = gc_costs(tr, own);
		returned = tr->sets == NIL ? rows : fallback->rows * tr->fewer;
		gc_set_costs(&cost, &costs, returned);
		tr->plan->ms = gc_costs_time(&costs, returned) * GC_UNIT_MS;
		if (takes_whole(tr, rel) && gc_path_has_ours(own))
			gc_prefer_whole(&cost, own);
		if (gc_decided_by_values(tr, own, &costs, returned))
			cost_at_most(&cost, own->total_cost * DECIDING_SHARE);
		beaten = is_beaten(&cost, fallback);
		/* GEQO frees the paths of its trials, so none is kept aside. */
		spare = beaten && !gc_geqo() && (few_wanted(tr->root, rel) || is_windowed(tr->root, rel));
		if (beaten && !spare && !is_sorted(tr->root, rel))
		{
			gc_note_refusal(what, GC_CHEAPER);
			return;
		}
	}
	if (tr->reason)
	{
		gc_note_refusal(what, tr->reason);
		return;
	}
	path = gc_make_path(tr, rel, target);
	path->having = having;
	path->own = own;
	path->costs = costs;
	path->cpath.path.rows = clamp_row_est(fallback->rows * tr->fewer);
	path->cpath.custom_paths = child_paths(tr, fallback);
	path->cpath.path.startup_cost = cost.startup_cost;
	path->cpath.path.total_cost = cost.total_cost;
	if (fallback->total_cost <= path->cpath.path.total_cost && !gc_offload_forced())
		gc_note_refusal(what, GC_CHEAPER);
	gc_note_offer();
	if (spare)
		gc_planning->spare = lappend(gc_planning->spare, path);
	if (gc_offload_forced())
		rel->pathlist = rel->partial_pathlist = NIL;
	if (is_sorted(tr->root, rel))
		gc_add_sorted_path(tr->root, rel, path);
	if (!beaten)
		add_path(rel, &path->cpath.path);
}

void
gc_keep_only_offer(RelOptInfo *rel)
{
	List	   *ours = NIL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		if (gc_is_path(lfirst(lc)))
			ours = lappend(ours, lfirst(lc));
	}
	if (ours == NIL)
		return;
	rel->pathlist = ours;
	rel->partial_pathlist = NIL;
}

/*
 * May UPDATE and DELETE WHERE CURRENT OF a cursor want to know which row of its table a
 * row of this query level is?  execCurrent.c looks for the scan below nodes that hand
 * their rows on.
 */
static bool
simply_updatable(PlannerInfo *root)
{
	for (PlannerInfo *r = root; r; r = r->parent_root)
	{
		const Query *q = r->parse;

		if (q->hasAggs || q->groupClause != NIL || q->hasWindowFuncs || q->distinctClause != NIL ||
			q->sortClause != NIL || bms_num_members(r->all_baserels) > 1)
			return false;
	}
	return true;
}

/* The part of a path's cost up to the last row that LIMIT wants.  It is all of it in another order: rows are sorted. */
static double
wanted_share(PlannerInfo *root, RelOptInfo *rel, const Path *path)
{
	if (root->limit_tuples <= 0 || path->total_cost <= 0 || IS_UPPER_REL(rel) ||
		!bms_equal(rel->relids, GC_ALL_RELIDS(root)) || !pathkeys_contained_in(root->query_pathkeys, path->pathkeys))
		return 1;
	return (path->startup_cost +
			(path->total_cost - path->startup_cost) * Min(root->limit_tuples / Max(path->rows, 1), 1)) /
		path->total_cost;
}

/* Does PostgreSQL take less than a request and so many rows of its result do, whatever the device is to do? */
static bool
too_short(PlannerInfo *root, RelOptInfo *rel, double rows)
{
	Cost		least = gc_offload_cost + rows * cpu_tuple_cost;
	ListCell   *lc;

	if ((is_windowed(root, rel) || is_sorted(root, rel)) && rows >= FEW_ABOVE)
		return false;
	foreach(lc, gc_offload_forced() ? NIL : rel->pathlist)
	{
		Path	   *path = gc_own_path(lfirst(lc));

		if (path->param_info == NULL && gc_execution_time(root, path) * wanted_share(root, rel, path) <= least &&
			!gc_may_take_longer(root, path, least))
			return true;
	}
	return false;
}

void
gc_add_rel_path(PlannerInfo *root, RelOptInfo *rel)
{
	const char *reason = query_refusal(root);
	GcTranslation *tr;

	/* Aggregation above takes the scan and join along; no need to try it apart. */
	if (rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_JOINREL)
		return;
	if (reason == NULL && IS_DUMMY_REL(rel))
		reason = "its condition is always false";
	/* apply_scanjoin_target_to_paths() makes its paths anew, of those of the partitions. */
	if (reason == NULL && IS_PARTITIONED_REL(rel) && bms_equal(rel->relids, GC_ALL_RELIDS(root)))
		reason = "rows of a partitioned table are neither joined nor aggregated";
	if (reason == NULL && shows_input_order(root))
		reason = "rows come in the order of a subquery";
	if (reason)
	{
		gc_note_refusal("scan", reason);
		return;
	}
	if (too_short(root, rel, few_wanted(root, rel) ? root->limit_tuples : rel->rows))
	{
		gc_note_refusal("scan", GC_CHEAPER);
		return;
	}
	tr = start_translation(root, rel);
	if (tr->reason == NULL && gc_planning_cursor() && list_length(tr->leaves) == 1 && simply_updatable(root))
		gc_refuse(tr, "a cursor reads rows of a single table");
	if (tr->reason == NULL && gc_translate_rows(tr, rel->reltarget->exprs))
	{
		/* Each row of what is streamed may have a match. */
		tr->fewer = Max(tr->fewer, Min(tr->streamed->tuples * tr->streamed->share / Max(rel->rows, 1), 1));
	}
	add_gc_path(tr, rel, rel->reltarget, NIL, rel->rows * tr->fewer, "scan");
}

/* The reason against computing groups of an input at this level; NULL: there is none. */
static const char *
grouping_refusal(PlannerInfo *root, RelOptInfo *input)
{
	const char *reason = query_refusal(root);

	if (reason == NULL && IS_DUMMY_REL(input))
		reason = "its condition is always false";
	if (reason == NULL && !IS_SIMPLE_REL(input) && !IS_JOIN_REL(input))
		reason = "its input is neither a scan nor a join";
	return reason;
}

/*
 * Rows that come out of grouping the input by some expressions.  PostgreSQL may have estimated
 * it for a path of its own.
 */
static double
estimated_groups(PlannerInfo *root, RelOptInfo *input, const RelOptInfo *output, List *exprs)
{
	const Path *own = output->pathlist ? linitial(output->pathlist) : NULL;

	if (exprs == NIL || input->pathlist == NIL)
		return 1;
	if (own && IsA(own, AggPath) && ((const AggPath *) own)->groupClause != NIL &&
		!DO_AGGSPLIT_SKIPFINAL(((const AggPath *) own)->aggsplit))
		return ((const AggPath *) own)->numGroups;
	return estimate_num_groups(root, exprs, ((Path *) linitial(input->pathlist))->rows, NULL, NULL);
}

/* The number of groups, where no more are possible by what is known of the keys. */
static double
possible_groups(GcTranslation *tr, double estimate)
{
	double		groups = clamp_row_est(Min(estimate, gc_most_groups(tr, tr->main)));

	tr->fewer = Min(groups / Max(estimate, 1), 1);
	return groups;
}

static double
sets_rows(const GcTranslation *tr)
{
	const GcLeaf *rows = tr->groups ? tr->groups->streamed : tr->streamed;

	return rows->tuples * rows->share;
}

/* Are the first groups that there are as good as any, with nothing between them and LIMIT? */
static bool
takes_any_groups(const Query *query)
{
	return gc_limit_rows(query) > 0 && query->sortClause == NIL && query->distinctClause == NIL &&
		query->groupingSets == NIL && !query->hasWindowFuncs && !query->hasTargetSRFs;
}

void
gc_add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
				  GroupPathExtraData *extra)
{
	const char *reason = grouping_refusal(root, input);
	List	   *having = gc_order_having(root, (List *) extra->havingQual);
	GcTranslation *tr;
	double		groups;

	if (IS_OTHER_REL(input))
		return;
	if (reason == NULL && too_short(root, output, 1))
		reason = GC_CHEAPER;
	if (reason)
	{
		gc_note_refusal("aggregate", reason);
		return;
	}
	tr = start_translation(root, input);
	if (tr->reason == NULL)
		(void) gc_translate_aggregate(tr, output->reltarget, having);
	if (tr->reason == NULL && tr->float_aggs && !gc_enable_float_aggs)
		gc_refuse(tr, "float aggregates are disabled by gpuconc.enable_float_aggs");
	groups = estimated_groups(root, input, output,
							  get_sortgrouplist_exprs(root->parse->groupClause, root->processed_tlist));
	/* Where an argument was refused there may be no groups. */
	tr->fewer = 1;
	if (tr->reason == NULL && tr->sets != NIL)
		groups = gc_sets_groups(root, NIL, sets_rows(tr));
	else if (tr->reason == NULL)
		groups = possible_groups(tr, groups);
	if (tr->reason == NULL)
	{
		tr->plan->groups[tr->main] = groups;
		/* A set without columns has a group of no row, which the device does not know. */
		if (tr->sets == NIL)
			gc_choose_having(tr, having);
		else
			tr->having_left = having != NIL;
		if (takes_any_groups(root->parse) && gc_choose_any(tr, gc_limit_rows(root->parse)))
			groups = Min(groups, tr->plan->wanted);
	}
	add_gc_path(tr, output, output->reltarget, having, groups, "aggregate");
}

void
gc_add_distinct_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output)
{
	const Query *query = root->parse;
	PathTarget *target = root->upper_targets[UPPERREL_DISTINCT];
	const char *reason;
	GcTranslation *tr;
	double		groups;

	/* Above groups and windows, DISTINCT is PostgreSQL's. */
	if (IS_OTHER_REL(input) || IS_UPPER_REL(input))
		return;
	reason = grouping_refusal(root, input);
	if (reason == NULL && query->hasDistinctOn)
		reason = "DISTINCT ON is used";
	if (reason == NULL && too_short(root, output, 1))
		reason = GC_CHEAPER;
	if (reason)
	{
		gc_note_refusal("distinct", reason);
		return;
	}
	tr = start_translation(root, input);
	if (tr->reason == NULL)
		(void) gc_translate_distinct(tr, target);
	groups = estimated_groups(root, input, output,
							  get_sortgrouplist_exprs(query->distinctClause, root->processed_tlist));
	if (tr->reason == NULL)
		tr->plan->groups[tr->main] = groups = possible_groups(tr, groups);
	add_gc_path(tr, output, target, NIL, groups, "distinct");
}

/* Rows of whole expressions, if the device computes these, so that they can be sorted by them. */
static bool
translate_whole(GcTranslation *tr, List *exprs)
{
	GcTranslation *before = gc_builder_save(tr);
	const bool	done = gc_translate_rows(tr, exprs) && tr->reason == NULL;

	if (!done)
		gc_builder_restore(tr, before);
	return done;
}

GcTranslation *
gc_translate_with_windows(PlannerInfo *root, PathTarget *target, List *conditions, bool few)
{
	GcTranslation *tr = empty_translation(root);

	if (gc_windows_stream(tr, conditions) && !(few && translate_whole(tr, target->exprs)))
		(void) gc_translate_parts(tr, target->exprs);
	if (tr->reason == NULL && tr->float_aggs && !gc_enable_float_aggs)
		gc_refuse(tr, "float aggregates are disabled by gpuconc.enable_float_aggs");
	return tr;
}
