/*-------------------------------------------------------------------------
 *
 * execution_time.c
 *	  How long PostgreSQL's own path takes.
 *
 * PostgreSQL's costs compare its own paths, and are no times.  A page counts as one that is read from disk,
 * though a table that is asked often is in memory.  A group counts as a few operators, though it takes a
 * microsecond.  A node that is compared by such costs replaces an index scan that is ten times faster.  It
 * leaves groups to an aggregate that is ten times slower.
 *
 * So the path's tree is walked, and what its nodes count for is corrected.  A node's own part
 * is its cost less that of its children.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "costs.h"

#include <math.h>

#include "access/stratnum.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"

#include "node.h"
#include "../../compat.h"

/*-------------------------------------------------------------------------
 * How much of its two sides a merge join reads
 *
 * A merge join ends where one side has no more rows.  PostgreSQL estimates that by the least and the greatest value
 * of both columns in their tables, without the conditions of the query.  So for a.i = b.i AND a.i < 10 it counts that
 * all of b is read, if a has values as large as b's.  Here the condition is applied to the other side's column, too.
 *-------------------------------------------------------------------------
 */

/* May this side be left before its end, as the join has no use for rows without a partner? */
static bool
may_be_left(JoinType jointype, bool inner)
{
	switch (jointype)
	{
		case JOIN_INNER:
		case JOIN_SEMI:
			return true;
		case JOIN_LEFT:
		case JOIN_ANTI:
			return inner;
		case JOIN_RIGHT:
			return !inner;
		default:
			return false;
	}
}

/* The expression below relabelling. */
static Expr *
without_relabeling(Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return (Expr *) node;
}

/* The side's key, a column of a table of this query level; else NULL. */
static Var *
key_of(PlannerInfo *root, const RelOptInfo *rel, const RestrictInfo *clause)
{
	const bool	left = bms_is_subset(clause->left_relids, rel->relids);
	Expr	   *key = without_relabeling(left ? get_leftop(clause->clause) : get_rightop(clause->clause));
	const Var  *var = (const Var *) key;

	if (key == NULL || !IsA(key, Var) || var->varlevelsup > 0 || !IS_SIMPLE_REL(rel) ||
		(Index) var->varno != rel->relid ||
		(int) rel->relid >= root->simple_rel_array_size || root->simple_rel_array[rel->relid] != rel)
		return NULL;
	return (Var *) key;
}

/* The constant that a condition compares the key with, and by which of the family's strategies; else NULL. */
static Const *
bound_of(const RestrictInfo *rinfo, const Var *key, Oid family, int *strategy)
{
	const OpExpr *op = (const OpExpr *) rinfo->clause;
	Node	   *left;
	Node	   *right;
	Oid			opno;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return NULL;
	left = (Node *) without_relabeling(linitial(op->args));
	right = lsecond(op->args);
	opno = op->opno;
	if (IsA(left, Const))
	{
		left = (Node *) without_relabeling(right);
		right = linitial(op->args);
		opno = get_commutator(opno);
	}
	if (!OidIsValid(opno) || !equal(left, key) || !IsA(right, Const) || ((const Const *) right)->constisnull)
		return NULL;
	*strategy = get_op_opfamily_strategy(opno, family);
	return (Const *) right;
}

/* The part of the rows of a table whose key is as near to the beginning as a condition wants the other side's to be. */
static double
share_within(PlannerInfo *root, Var *key, const Const *bound, int strategy, Oid family, Oid collation)
{
	Oid			opno = get_opfamily_member(family, key->vartype, bound->consttype, strategy);

	if (!OidIsValid(opno))
		return 1;
	return restriction_selectivity(root, opno, list_make2(key, (void *) bound), collation, 0);
}

/*
 * The part of the outer or the inner side's rows that is read before the other side has no more.  The other side's
 * conditions tell; 1 where none does. root: whatever the join is of another query level, the answer is 1.
 */
static double
merge_share(PlannerInfo *root, const MergePath *join, bool inner)
{
	const Path *mine = inner ? join->jpath.innerjoinpath : join->jpath.outerjoinpath;
	const Path *other = inner ? join->jpath.outerjoinpath : join->jpath.innerjoinpath;
	const RestrictInfo *clause = join->path_mergeclauses ? linitial(join->path_mergeclauses) : NULL;
	const PathKey *order = mine->pathkeys ? linitial(mine->pathkeys) : NULL;
	double		share = 1;
	Var		   *my_key;
	Var		   *other_key;
	ListCell   *lc;

	/* A side that is sorted is read to its end. */
	if ((mine->pathtype != T_IndexScan && mine->pathtype != T_IndexOnlyScan) || clause == NULL || order == NULL ||
		(inner ? join->innersortkeys : join->outersortkeys) != NIL || !may_be_left(join->jpath.jointype, inner))
		return 1;
	my_key = key_of(root, mine->parent, clause);
	other_key = key_of(root, other->parent, clause);
	if (my_key == NULL || other_key == NULL)
		return 1;
	foreach(lc, other->parent->baserestrictinfo)
	{
		int			strategy = 0;
		const Const *bound = bound_of(lfirst_node(RestrictInfo, lc), other_key, order->pk_opfamily, &strategy);
		const bool	below = strategy == BTLessStrategyNumber || strategy == BTLessEqualStrategyNumber;
		const bool	above = strategy == BTGreaterStrategyNumber || strategy == BTGreaterEqualStrategyNumber;

		if (bound && (GC_IS_DESCENDING(order) ? above : below))
			share = Min(share, share_within(root, my_key, bound, strategy, order->pk_opfamily, order->pk_eclass->ec_collation));
	}
	return share;
}

/*-------------------------------------------------------------------------
 * The time of a path
 *-------------------------------------------------------------------------
 */

/*
 * The part of what PostgreSQL counts for a page that it takes if it is in memory.  For a page of a
 * sequential scan, one that an index leads to (four times the cost), and one of a bitmap.
 */
#define SCANNED_PAGE	0.15
#define FETCHED_PAGE	0.05
#define BITMAP_PAGE		0.2

/* An aggregate's time for each row and for each group, beyond what it costs, in operators. */
#define ROW_OPERATORS		8
#define GROUP_OPERATORS		56

/* A condition that takes more than these is evaluated after the others, for rows that they leave. */
#define DEAR_OPERATORS		20

/* The rows that pages are read for cost this, and the rest is pages. */
static Cost
scan_time(const Path *path, double tuples, Cost per_tuple, double page)
{
	Cost		cpu = path->startup_cost + tuples * (per_tuple + path->parent->baserestrictcost.per_tuple);

	return Min(cpu, path->total_cost) + page * Max(path->total_cost - cpu, 0);
}

/* Processes among which PostgreSQL divides the rows of a scan: get_parallel_divisor(). */
static double
processes(const Path *path)
{
	const double leader = parallel_leader_participation ? 1 - 0.3 * path->parallel_workers : 0;

	return path->parallel_workers > 0 ? path->parallel_workers + Max(leader, 0) : 1;
}

/* Rows for which a scan's conditions are evaluated; of a parallel scan of a table, by one process. */
static double
scanned_rows(const Path *path)
{
	const double tuples = path->parent->tuples;

	if (IsA(path, IndexPath))
		return ((const IndexPath *) path)->indexselectivity * tuples;
	return path->pathtype == T_SeqScan || path->pathtype == T_CteScan ? tuples / processes(path) : path->rows;
}

/*
 * How many rows a CTE has is a guess, without statistics.  Where it is too low, a subquery that scans it for each row,
 * of another scan of it mostly, takes longer by the square.
 */
#define CTE_DOUBT	10

/* repeated: it is executed for each row of a query. */
static Cost
scan_leaf_time(const Path *path, bool repeated)
{
	const RelOptInfo *rel = path->parent;

	switch (path->pathtype)
	{
		case T_SeqScan:
			return path->total_cost - (1 - SCANNED_PAGE) * Min(rel->pages * seq_page_cost, path->total_cost);
		case T_IndexScan:
		case T_IndexOnlyScan:
			return scan_time(path, scanned_rows(path),
							 cpu_tuple_cost + cpu_index_tuple_cost + cpu_operator_cost, FETCHED_PAGE);
		case T_BitmapHeapScan:
			return scan_time(path, scanned_rows(path), cpu_tuple_cost + cpu_operator_cost, BITMAP_PAGE);
		case T_CteScan:
			return path->total_cost * (repeated ? CTE_DOUBT : 1);
		default:
			return path->total_cost;
	}
}

/* Work that is done once, however often a path is executed: the hash tables of subqueries in expressions. */
typedef struct Once
{
	Bitmapset  *counted;		/* plan_id of subqueries */
	Cost		time;
	bool		repeated;		/* the path is of a subquery that is executed for each row */
} Once;

static Cost path_time(PlannerInfo *root, Path *path, Once *once);

/* The part of a path's units that is time. */
static double
time_share(PlannerInfo *root, Path *path, Once *once)
{
	return path->total_cost > 0 ? path_time(root, path, once) / path->total_cost : 1;
}

/* The path that a subquery in an expression is executed by; NULL if it is not known. */
static Path *
subplan_path(PlannerInfo *root)
{
	return root ? fetch_upper_rel(root, UPPERREL_FINAL, NULL)->cheapest_total_path : NULL;
}

/* The planner's state for a subplan, or NULL. */
static PlannerInfo *
subplan_root(const PlannerGlobal *glob, const SubPlan *subplan)
{
	return subplan->plan_id <= list_length(glob->subroots) ? list_nth(glob->subroots, subplan->plan_id - 1) : NULL;
}

typedef struct Subplans
{
	PlannerGlobal *glob;
	double		evaluations;	/* as setrefs.c counts them, when it chooses one of alternatives */
	Once	   *once;
	Cost		startup;		/* as PostgreSQL counts, for all evaluations, */
	Cost		cost;			/* and for one */
	Cost		time;			/* of one evaluation of each; hash tables are in `once` */
} Subplans;

/* The alternative that is executed; PostgreSQL's costs are those of the first one. */
static const SubPlan *
chosen_alternative(const List *alternatives, double evaluations)
{
	const SubPlan *best = NULL;
	Cost		least = 0;
	ListCell   *lc;

	foreach(lc, alternatives)
	{
		const SubPlan *subplan = lfirst_node(SubPlan, lc);
		const Cost	cost = subplan->startup_cost + evaluations * subplan->per_call_cost;

		if (best == NULL || cost <= least)
		{
			best = subplan;
			least = cost;
		}
	}
	return best;
}

/* The time of one subplan: once where it is hashed, and else for each row. */
static void
add_subplan_time(const SubPlan *subplan, Subplans *found)
{
	Path	   *path = subplan_path(subplan_root(found->glob, subplan));
	const bool	outer = found->once->repeated;
	double		share;

	found->once->repeated = outer || !subplan->useHashTable;
	share = path ? time_share(subplan_root(found->glob, subplan), path, found->once) : 1;
	found->once->repeated = outer;
	found->time += subplan->per_call_cost * (subplan->useHashTable ? 1 : share);
	if (bms_is_member(subplan->plan_id, found->once->counted))
		return;
	found->once->counted = bms_add_member(found->once->counted, subplan->plan_id);
	found->once->time += subplan->startup_cost * share;
}

/* Add up the time of all subplans in an expression; of alternatives, of the first. */
static bool
subplan_walker(Node *node, Subplans *found)
{
	const SubPlan *counted;

	if (node == NULL)
		return false;
	if (!IsA(node, AlternativeSubPlan) && !IsA(node, SubPlan))
		return expression_tree_walker(node, subplan_walker, found);
	counted = (const SubPlan *) node;
	if (IsA(node, AlternativeSubPlan))
		counted = linitial_node(SubPlan, ((AlternativeSubPlan *) node)->subplans);
	found->startup += counted->startup_cost;
	found->cost += counted->per_call_cost;
	if (IsA(node, AlternativeSubPlan))
		counted = chosen_alternative(((AlternativeSubPlan *) node)->subplans, found->evaluations);
	add_subplan_time(counted, found);
	return false;
}

/*
 * By how much conditions take less than they cost, for `rows` rows.  Conditions with subqueries are evaluated last, and
 * others in the order of their costs, of which PostgreSQL counts each for all rows.
 */
static Cost
conditions_excess(PlannerInfo *root, const Path *path, double rows, Once *once)
{
	/* Before conditions have left out rows, setrefs.c takes them to be twice as many. */
	Subplans	found = {.glob = root->glob,.evaluations = 2 * path->rows,.once = once};
	double		share = 1;
	double		cheap_share = 1;
	Cost		dear = 0;
	ListCell   *lc;

	foreach(lc, path->parent->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		const bool	is_dear = rinfo->eval_cost.per_tuple > DEAR_OPERATORS * cpu_operator_cost;
		const double part = rinfo->norm_selec >= 0 && rinfo->norm_selec <= 1 ? rinfo->norm_selec : 1;

		if (root->glob->subplans != NIL && contain_subplans((Node *) rinfo->clause))
		{
			(void) subplan_walker((Node *) rinfo->clause, &found);
			continue;
		}
		share *= part;
		if (!is_dear)
			cheap_share *= part;
		/* An index's conditions are not counted. */
		else if (path->pathtype == T_SeqScan)
			dear += rinfo->eval_cost.per_tuple;
	}
	return found.startup + rows * (found.cost - share * found.time + (1 - cheap_share) * dear);
}

/* By how much what a path computes for each of its rows takes less than it costs. */
static Cost
target_excess(PlannerInfo *root, const Path *path, Once *once)
{
	Subplans	found = {.glob = root->glob,.evaluations = path->rows,.once = once};

	(void) subplan_walker((Node *) path->pathtarget->exprs, &found);
	return found.startup + path->rows * (found.cost - found.time);
}

/* The time of a scan, without subplans, which are counted elsewhere. */
static Cost
leaf_time(PlannerInfo *root, const Path *path, Once *once)
{
	Cost		excess = 0;

	/* A scan evaluates conditions for rows that it reads, and its target for the rows that are left. */
	if (IS_SIMPLE_REL(path->parent))
		excess = conditions_excess(root, path, scanned_rows(path), once);
	if (IS_SIMPLE_REL(path->parent) && root->glob->subplans != NIL)
		excess += target_excess(root, path, once);
	return Max(scan_leaf_time(path, once->repeated) - excess, 0);
}

/*
 * The inner side is executed for each outer row.  Of a scan of a CTE, PostgreSQL then counts the rows that are
 * returned, not those that conditions are evaluated for.
 */
static Cost
nested_loop_time(PlannerInfo *root, const JoinPath *join, Once *once)
{
	const Path *inner_path = join->innerjoinpath;
	const Cost	total = join->path.total_cost;
	const Cost	outer = Min(join->outerjoinpath->total_cost, total);
	const Cost	each = join->outerjoinpath->rows * inner_path->total_cost;
	const Cost	inner = Min(each, total - outer);

	return outer * time_share(root, join->outerjoinpath, once) +
		(inner_path->pathtype == T_CteScan ? each : inner) * time_share(root, join->innerjoinpath, once) +
		(total - outer - inner);
}

/* Children whose costs add up to `below`, and whose times to `time`; not all of them need be read to the end. */
static Cost
above_children(const Path *path, Cost below, Cost time)
{
	Cost		read = Min(below, path->total_cost);

	return (below > 0 ? read * (time / below) : 0) + (path->total_cost - read);
}

/* The time of Append and its like: of all children, and of what is above them. */
static Cost
list_time(PlannerInfo *root, const Path *path, List *children, Once *once)
{
	Cost		below = 0;
	Cost		time = 0;
	ListCell   *lc;

	foreach(lc, children)
	{
		below += ((Path *) lfirst(lc))->total_cost;
		time += path_time(root, lfirst(lc), once);
	}
	return above_children(path, below, time);
}

/* Where a condition ends one side early, the other is not read as far as PostgreSQL counts. */
static Cost
merge_join_time(PlannerInfo *root, const MergePath *join, Once *once)
{
	const Path *path = &join->jpath.path;
	Path	   *outer = join->jpath.outerjoinpath;
	Path	   *inner = join->jpath.innerjoinpath;
	const double outer_share = merge_share(root, join, false);
	const double inner_share = merge_share(root, join, true);
	const Cost	time = list_time(root, path, list_make2(outer, inner), once);
	Cost		least;

	if (outer_share >= 1 && inner_share >= 1)
		return time;
	least = outer_share * (path_time(root, outer, once) + outer->rows * cpu_operator_cost) +
		inner_share * (path_time(root, inner, once) + inner->rows * cpu_operator_cost) + path->rows * cpu_tuple_cost;
	return Min(time, least);
}

/* Time beyond its cost that it takes to bring so many rows to groups. */
static Cost
groups_time(double rows, double groups)
{
	if (groups <= 1)
		return 0;
	return (rows * ROW_OPERATORS + groups * GROUP_OPERATORS) * cpu_operator_cost;
}

/* INTERSECT or EXCEPT. */
static Cost
set_operation_time(PlannerInfo *root, SetOpPath *path, Once *once)
{
	List	   *inputs = GC_SET_OPERATION_INPUTS(path);
	double		rows = 0;
	ListCell   *lc;

	foreach(lc, inputs)
		rows += ((Path *) lfirst(lc))->rows;
	return list_time(root, &path->path, inputs, once) + groups_time(rows, path->numGroups);
}

Cost
gc_groups_excess(const Path *path, double fewer)
{
	const Cost	group = GROUP_OPERATORS * cpu_operator_cost + cpu_tuple_cost;

	return IsA(path, AggPath) ? (1 - fewer) * ((const AggPath *) path)->numGroups * group : 0;
}

/*
 * By how much a sort takes less than it costs.  Where a sort keeps the first few rows only, PostgreSQL counts that each
 * row goes through a heap of these.  But most rows are compared with its last one, and left.
 */
static Cost
sort_excess(const Path *path, const Path *child)
{
	const double rows = Max(child->rows, 2);
	const Cost	comparison = 2 * cpu_operator_cost;
	const Cost	cost = path->startup_cost - child->total_cost;
	double		levels,
				kept;

	if (comparison <= 0 || cost <= 0)
		return 0;
	levels = cost / (comparison * rows);
	if (levels > log2(rows) - 1)
		return 0;
	kept = Max(exp2(levels) / 2, 1);
	return cost - Min(cost, comparison * (rows + kept * log(rows / kept) * levels));
}

static Cost
upper_time(PlannerInfo *root, Path *path, Path *child, Once *once)
{
	Cost		time = above_children(path, child->total_cost, path_time(root, child, once));

	if (IsA(path, AggPath))
		time += groups_time(child->rows, ((AggPath *) path)->numGroups);
	else if (IsA(path, GroupingSetsPath))
		time += groups_time(child->rows * list_length(((GroupingSetsPath *) path)->rollups), path->rows);
	else if (IsA(path, SortPath))
		time -= sort_excess(path, child);
	else if (root->glob->subplans != NIL && IsA(path, ProjectionPath))
		time -= target_excess(root, path, once);
	return Max(time, 0);
}

/* The time of a path with all below it: ours by our costs, PostgreSQL's as corrected. */
static Cost
path_time(PlannerInfo *root, Path *path, Once *once)
{
	Path	  **child;
	List	  **children;

	check_stack_depth();
	if (gc_is_path(path))
		return gc_costs_time(&((GcPath *) path)->costs, path->rows);
	if (path->total_cost >= disable_cost)
		return path->total_cost;
	if (IsA(path, NestPath))
		return nested_loop_time(root, (JoinPath *) path, once);
	if (IsA(path, MergePath))
		return merge_join_time(root, (MergePath *) path, once);
	if (IsA(path, HashPath))
		return list_time(root, path, list_make2(((JoinPath *) path)->outerjoinpath, ((JoinPath *) path)->innerjoinpath),
						 once);
	if (IsA(path, LimitPath))
		return list_time(root, path, list_make1(((LimitPath *) path)->subpath), once);
	if (IsA(path, SetOpPath))
		return set_operation_time(root, (SetOpPath *) path, once);
	if (IsA(path, SubqueryScanPath))
		return list_time(path->parent->subroot ? path->parent->subroot : root, path,
						 list_make1(((SubqueryScanPath *) path)->subpath), once);
	child = gc_single_child(path);
	children = gc_child_list(path);
	if (children)
		return list_time(root, path, *children, once);
	return child ? upper_time(root, path, *child, once) : leaf_time(root, path, once);
}

Cost
gc_execution_time(PlannerInfo *root, Path *path)
{
	Once		once = {0};
	const Cost	time = path_time(root, path, &once);

	return time + once.time;
}

/* Paths below a Sort need not be walked. */
Cost
gc_time_above(PlannerInfo *root, Path *path, Path *below)
{
	if (path == below)
		return 0;
	if (IsA(path, SortPath) && ((SortPath *) path)->subpath == below)
		return Max(path->total_cost - below->total_cost - sort_excess(path, below), 0);
	return Max(gc_execution_time(root, path) - gc_execution_time(root, below), 0);
}

Cost
gc_init_plans_time(PlannerInfo *root)
{
	Cost		time = 0;
	ListCell   *lc;

	foreach(lc, root->init_plans)
	{
		PlannerInfo *subroot = subplan_root(root->glob, lfirst_node(SubPlan, lc));
		Path	   *path = subplan_path(subroot);

		time += path ? gc_execution_time(subroot, path) : 0;
	}
	return time;
}
