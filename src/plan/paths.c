/*-------------------------------------------------------------------------
 *
 * paths.c
 *	  Offering custom paths, costing them, and making plan nodes of them.
 *
 * The cost model is deliberately small: a fixed cost per offload, a cost per
 * tuple scanned and per row probed or built on the device, PostgreSQL's own cost
 * for tuples that must be read as delta (pages not all-visible), for row sources,
 * for entries of lookup tables, and for result rows.  Its constants are settings
 * (gpuconc.*_cost) in the units of seq_page_cost, with defaults per device.
 *
 *-------------------------------------------------------------------------
 */
#include "hooks.h"
#include "planning.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "../force.h"
#include "../settings.h"
#include "../queue/queue.h"

static Plan *plan_gc_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
						  List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods gc_path_methods = {
	.CustomName = "Gpuconc",
	.PlanCustomPath = plan_gc_path,
};

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
	if (gc_storage_seen() || gc_level_looks_at_storage(root))
		return "the storage of values is looked at";
	return NULL;
}

static bool
row_security_in_effect(PlannerInfo *root)
{
	if (root->parse->hasRowSecurity || root->qual_security_level > 0)
		return true;
	return root->parent_root ? row_security_in_effect(root->parent_root) : false;
}

static GcTranslation *
start_translation(PlannerInfo *root, RelOptInfo *rel)
{
	GcTranslation *tr = palloc0(sizeof(GcTranslation));
	GcRelDesc  *desc = gc_rel_desc(root, rel);

	tr->root = root;
	tr->leaky_forbidden = row_security_in_effect(root);
	gc_builder_init(tr);
	if (!desc->ok)
		gc_refuse(tr, "%s", desc->reason);
	else if (gc_translate_tree(tr, desc))
		(void) gc_translate_steps(tr);
	return tr;
}

/*-------------------------------------------------------------------------
 * Costs
 *-------------------------------------------------------------------------
 */

/* Distinct values that the lookup tables of a translation are computed for. */
static double
lookup_entries(GcTranslation *tr)
{
	double		n = 0;

	for (int i = 0; i < tr->nluts; i++)
	{
		int			attno = tr->plan->luts[i].attno;
		VariableStatData stats;
		bool		isdefault;

		if (attno <= 0)
			continue;
		examine_variable(tr->root, (Node *) list_nth_node(TargetEntry, tr->scan_tlist, attno - 1)->expr,
						 0, &stats);
		n += get_variable_numdistinct(&stats, &isdefault);
		ReleaseVariableStats(stats);
	}
	return n;
}

/*
 * Cost of a tuple scanned and of one entered into a hash table.  The defaults are
 * the measured times over PostgreSQL's own.
 */
static void
device_costs(double *tuple, double *build)
{
	bool		fast = gc_device_status()->info.own_processors;

	*tuple = gc_tuple_cost >= 0 ? gc_tuple_cost : fast ? 0.000001 : 0.0003;
	*build = gc_build_cost >= 0 ? gc_build_cost : fast ? 0.00001 : 0.002;
}

static void
cost_translation(GcTranslation *tr, GcPath *path, double rows_out, int columns_out)
{
	Cost		cost = gc_offload_cost;
	double		tuple_cost,
				build_cost;
	ListCell   *lc;

	device_costs(&tuple_cost, &build_cost);

	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);
		double		delta;

		if (!OidIsValid(leaf->relid))
		{
			cost += leaf->path->total_cost + leaf->rows * cpu_tuple_cost;
			delta = 0;
		}
		else
		{
			double		stale = 1 - Min(leaf->rel->allvisfrac, 1);

			/* Priced as the sequential scan that it is. */
			if (!enable_seqscan)
				cost += disable_cost;
			/* Tuples of pages not all-visible are read by the backend itself. */
			delta = leaf->tuples * stale;
			cost += stale * leaf->rel->pages * seq_page_cost + 2 * delta * cpu_tuple_cost;
		}
		cost += leaf->tuples * tuple_cost * (1 + 0.5 * list_length(leaf->children));
		if (leaf->build >= 0)
			cost += leaf->tuples * leaf->share * build_cost;
	}
	cost += lookup_entries(tr) * 4 * cpu_operator_cost;
	path->cpath.path.startup_cost = cost;
	path->cpath.path.total_cost = cost + rows_out * (cpu_tuple_cost + columns_out * cpu_operator_cost);
	/* It has no rivals, but conditions are evaluated, and subplans chosen, by what they cost. */
	if (gc_offload_forced())
		path->cpath.path.startup_cost = path->cpath.path.total_cost = gc_offload_cost;
}

/*-------------------------------------------------------------------------
 * Paths
 *-------------------------------------------------------------------------
 */

Path *
gc_own_path(Path *path)
{
	while (IsA(path, CustomPath) && ((CustomPath *) path)->methods == &gc_path_methods)
		path = ((GcPath *) path)->own;
	return path;
}

/* PostgreSQL's own plan comes first among the children, then those of row sources. */
static List *
child_paths(GcTranslation *tr, Path *fallback)
{
	List	   *paths = list_make1(fallback);
	ListCell   *lc;

	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (!OidIsValid(leaf->relid))
			paths = lappend(paths, leaf->path);
	}
	return paths;
}

static void
add_gc_path(GcTranslation *tr, RelOptInfo *rel, PathTarget *target, List *having,
			double rows, const char *what)
{
	GcPath	   *path;
	GcPlan	   *plan = NULL;
	Path	   *own = NULL;
	Path	   *fallback = NULL;

	if (tr->reason == NULL && (fallback = gc_fallback_path(tr, rel, &own)) == NULL)
		gc_refuse(tr, "PostgreSQL has no independent plan for it");
	tr->plan->rows_out = rows;
	if (tr->reason == NULL)
		plan = gc_builder_finish(tr);
	if (tr->reason)
	{
		gc_note_refusal(what, tr->reason);
		return;
	}
	path = palloc0(sizeof(GcPath));
	path->plan = plan;
	path->tr = tr;
	path->having = having;
	path->own = own;
	path->cpath.path.type = T_CustomPath;
	path->cpath.path.pathtype = T_CustomScan;
	path->cpath.path.parent = rel;
	path->cpath.path.pathtarget = target;
	path->cpath.path.rows = fallback->rows;
	path->cpath.methods = &gc_path_methods;
	path->cpath.flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	path->cpath.custom_paths = child_paths(tr, fallback);
	cost_translation(tr, path, rows, list_length(target->exprs));
	if (fallback->total_cost <= path->cpath.path.total_cost && !gc_offload_forced())
		gc_note_refusal(what, GC_CHEAPER);
	gc_note_offer();
	if (gc_offload_forced())
		rel->pathlist = rel->partial_pathlist = NIL;
	add_path(rel, &path->cpath.path);
}

/*
 * Where offloading is forced: what was added beside our path since, for
 * another pair of relations, might win by its order.
 */
void
gc_keep_only_offer(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		CustomPath *path = lfirst(lc);

		if (IsA(path, CustomPath) && path->methods == &gc_path_methods)
		{
			rel->pathlist = list_make1(path);
			rel->partial_pathlist = NIL;
			return;
		}
	}
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

void
gc_add_rel_path(PlannerInfo *root, RelOptInfo *rel)
{
	const char *reason = query_refusal(root);
	GcTranslation *tr;
	Path	   *fallback;

	/* Aggregation above takes the scan and join along; no need to try it apart. */
	if (rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_JOINREL)
		return;
	if (reason == NULL && IS_DUMMY_REL(rel))
		reason = "its condition is always false";
	if (reason)
	{
		gc_note_refusal("scan", reason);
		return;
	}
	/* Rows cost about as much to fetch from the device as to scan on the CPU. */
	fallback = gc_cheapest_own_path(rel);
	if (!gc_offload_forced() && fallback &&
		fallback->total_cost <= gc_offload_cost + rel->rows * cpu_tuple_cost)
	{
		gc_note_refusal("scan", GC_CHEAPER);
		return;
	}
	tr = start_translation(root, rel);
	if (tr->reason == NULL && gc_planning_cursor() && list_length(tr->leaves) == 1 && simply_updatable(root))
		gc_refuse(tr, "a cursor reads rows of a single table");
	if (tr->reason == NULL)
		(void) gc_translate_rows(tr, rel->reltarget);
	add_gc_path(tr, rel, rel->reltarget, NIL, rel->rows, "scan");
}

void
gc_add_group_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
				  GroupPathExtraData *extra)
{
	const char *reason = query_refusal(root);
	GcTranslation *tr;
	double		groups = 1;

	if (IS_OTHER_REL(input))
		return;
	if (reason == NULL && root->parse->groupingSets != NIL)
		reason = "grouping sets are used";
	if (reason == NULL && IS_DUMMY_REL(input))
		reason = "its condition is always false";
	if (reason == NULL && !IS_SIMPLE_REL(input) && !IS_JOIN_REL(input))
		reason = "its input is neither a scan nor a join";
	if (reason)
	{
		gc_note_refusal("aggregate", reason);
		return;
	}
	tr = start_translation(root, input);
	if (tr->reason == NULL)
		(void) gc_translate_aggregate(tr, output->reltarget, (List *) extra->havingQual);
	if (tr->reason == NULL && tr->float_aggs && !gc_enable_float_aggs)
		gc_refuse(tr, "float aggregates are disabled by gpuconc.enable_float_aggs");
	if (root->parse->groupClause != NIL && input->pathlist != NIL)
		groups = estimate_num_groups(root, get_sortgrouplist_exprs(root->parse->groupClause,
																   root->processed_tlist),
									 ((Path *) linitial(input->pathlist))->rows, NULL, NULL);
	tr->plan->groups = groups;
	add_gc_path(tr, output, output->reltarget, (List *) extra->havingQual, groups, "aggregate");
}

/*-------------------------------------------------------------------------
 * Plans
 *-------------------------------------------------------------------------
 */

static Const *
plan_const(const GcPlan *plan)
{
	bytea	   *b = palloc(VARHDRSZ + plan->size);

	SET_VARSIZE(b, VARHDRSZ + plan->size);
	memcpy(VARDATA(b), plan, plan->size);
	return makeConst(BYTEAOID, -1, InvalidOid, -1, PointerGetDatum(b), false, false);
}

/* The output that is one of an equivalence class's expressions, or -1. */
static int
find_output(const GcTranslation *tr, EquivalenceClass *ec, int noutputs)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, ec->ec_members)
	{
		EquivalenceMember *em = lfirst(lc);
		int			i = 0;

		foreach(lc2, tr->scan_tlist)
		{
			if (i < noutputs && !em->em_is_child && equal(lfirst_node(TargetEntry, lc2)->expr, em->em_expr))
				return i;
			i++;
		}
	}
	return -1;
}

/*
 * What PostgreSQL will sort by above this node, as far as outputs tell.  Not where
 * a LIMIT makes it look for a few rows only, which is cheaper than sorting them all.
 */
static void
note_order(PlannerInfo *root, const GcTranslation *tr, GcPlan *plan)
{
	ListCell   *lc;

	plan->norder = 0;
	if (root->limit_tuples >= 0)
		return;
	foreach(lc, root->sort_pathkeys)
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		int			output = find_output(tr, key->pk_eclass, plan->noutputs);

		if (output < 0 || plan->norder == GC_MAX_ORDER)
			break;
		plan->order[plan->norder++] = (GcPlanOrder) {
			.output = output,
			.descending = key->pk_strategy == BTGreaterStrategyNumber,
			.nulls_first = key->pk_nulls_first
		};
	}
}

static Plan *
plan_gc_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			 List *tlist, List *clauses, List *custom_plans)
{
	GcPath	   *path = (GcPath *) best_path;
	GcTranslation *tr = path->tr;
	CustomScan *scan = makeNode(CustomScan);
	GcPlan	   *plan = palloc(path->plan->size);

	memcpy(plan, path->plan, path->plan->size);
	note_order(root, tr, plan);
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = path->having;
	scan->scan.scanrelid = 0;
	scan->flags = best_path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_exprs = list_concat_copy(tr->exprs, tr->display);
	scan->custom_private = list_make2(plan_const(plan), tr->display_tags);
	scan->custom_scan_tlist = tr->scan_tlist;
	scan->methods = &gc_scan_methods[GC_PLAN_PROGRAM(plan)->naggs > 0 || IS_UPPER_REL(rel) ? GC_NODE_AGGREGATE
									 : plan->ninputs > 1 ? GC_NODE_JOIN : GC_NODE_SCAN];
	return &scan->scan.plan;
}
