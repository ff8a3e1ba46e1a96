/*-------------------------------------------------------------------------
 *
 * node.c
 *	  Paths of ours, and the plan nodes that are made of them.
 *
 * Planner, in backends.  How a node is executed is exec/'s, which registers it by name.
 *
 *-------------------------------------------------------------------------
 */
#include "node.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/pathnode.h"
#include "utils/builtins.h"

#include "../base/builder.h"
#include "../base/display.h"
#include "join_order.h"
#include "../../compat.h"
#include "../base/permitted.h"
#include "../base/planning.h"
#include "../group/sort_keys.h"

typedef enum GcNodeName
{
	GC_NODE_SCAN,
	GC_NODE_JOIN,
	GC_NODE_AGGREGATE,
	GC_NODE_NAMES
} GcNodeName;

static const char *const node_names[GC_NODE_NAMES] = {
	[GC_NODE_SCAN] = GC_SCAN_NODE,
	[GC_NODE_JOIN] = GC_JOIN_NODE,
	[GC_NODE_AGGREGATE] = GC_AGGREGATE_NODE,
};

/* Whoever reads the constant makes the plan find its arrays. */
static Const *
plan_const(const GcPlan *plan)
{
	bytea	   *b = palloc(VARHDRSZ + plan->size);

	SET_VARSIZE(b, VARHDRSZ + plan->size);
	memcpy(VARDATA(b), plan, plan->size);
	return makeConst(BYTEAOID, -1, InvalidOid, -1, PointerGetDatum(b), false, false);
}

/* A varchar is sorted as the text that it is relabelled as. */
static bool
sorts_as(Expr *sorted, Expr *output)
{
	return gc_equal(sorted, output) || (IsA(sorted, RelabelType) && gc_equal(((RelabelType *) sorted)->arg, output));
}

int
gc_sorted_output(const GcTranslation *tr, const EquivalenceClass *ec, Oid *type)
{
	ListCell   *lc,
			   *lt;

	foreach(lc, ec->ec_members)
	{
		EquivalenceMember *em = lfirst(lc);

		foreach(lt, tr->scan_tlist)
		{
			const GcPlanOutput *out = list_nth(tr->outputs, foreach_current_index(lt));

			if (em->em_is_child || em->em_is_const || out->type == GC_OUT_NONE ||
				!sorts_as(em->em_expr, lfirst_node(TargetEntry, lt)->expr))
				continue;
			*type = em->em_datatype;
			return foreach_current_index(lt);
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

	if (plan->sorted)
		return;
	plan->norder = 0;
	if (root->limit_tuples >= 0)
		return;
	foreach(lc, gc_sort_keys(root))
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		Oid			type;
		int			output = gc_sorted_output(tr, key->pk_eclass, &type);

		if (output < 0 || output >= plan->noutputs || plan->norder == GC_MAX_ORDER)
			break;
		plan->order[plan->norder++] = (GcPlanOrder) {
			.output = output,
			.descending = GC_IS_DESCENDING(key),
			.nulls_first = key->pk_nulls_first
		};
	}
}

static GcNodeName
node_name(const GcPlan *plan, RelOptInfo *rel)
{
	const GcProgram *p = GC_PLAN_PROGRAM(plan);

	if (gc_pipelines(p)[p->npipelines - 1].sink == GC_SINK_AGGREGATE || IS_UPPER_REL(rel))
		return GC_NODE_AGGREGATE;
	return plan->ninputs > 1 ? GC_NODE_JOIN : GC_NODE_SCAN;
}

/*
 * InitPlans of embedded subqueries are attached where these are scanned, which is below the node.  A plan
 * may use only outputs of InitPlans at or above it.  So they are attached to the top of the node's level,
 * too; whatever asks first for an output has the plan executed, once.
 */
static void
raise_init_plans(PlannerInfo *root, const GcTranslation *tr)
{
	root->init_plans = list_concat_unique_ptr(root->init_plans, tr->init_plans);
}

static Plan *
plan_gc_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			 List *tlist, List *clauses, List *custom_plans)
{
	GcPath	   *path = (GcPath *) best_path;
	GcTranslation *tr = path->tr;
	CustomScan *scan = makeNode(CustomScan);
	List	   *tags;
	GcPlan	   *plan = gc_builder_finish(tr, &tags);

	gc_join_order_path_taken(root, rel, path);
	if (gc_planning && root->parent_root == NULL)
		gc_planning->outermost = scan;
	note_order(root, tr, plan);
	raise_init_plans(root, tr);
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = path->having;
	scan->scan.scanrelid = 0;
	scan->flags = best_path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = tr->scan_tlist;
	scan->custom_exprs = gc_settle_nulling(&scan->custom_scan_tlist, list_concat_copy(tr->exprs, tr->display));
	scan->custom_private = list_make5(plan_const(plan), linitial(tags), tr->sets, tr->groupings, lsecond(tags));
	scan->custom_private = lappend(scan->custom_private, tr->guessed);
	scan->custom_private = lappend(scan->custom_private, gc_functions_called(root));
	scan->methods = GetCustomScanMethods(node_names[node_name(plan, rel)], false);
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "Gpuconc",
	.PlanCustomPath = plan_gc_path,
};

GcPath *
gc_make_path(GcTranslation *tr, RelOptInfo *rel, PathTarget *target)
{
	GcPath	   *path = palloc0(sizeof(GcPath));

	path->tr = tr;
	path->cpath.path.type = T_CustomPath;
	path->cpath.path.pathtype = T_CustomScan;
	path->cpath.path.parent = rel;
	path->cpath.path.pathtarget = target;
	path->cpath.methods = &path_methods;
	path->cpath.flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	return path;
}

bool
gc_is_path(const Path *path)
{
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &path_methods;
}

Path *
gc_own_path(Path *path)
{
	while (gc_is_path(path))
		path = ((GcPath *) path)->own;
	return path;
}

bool
gc_is_node(const Plan *plan)
{
	if (!IsA(plan, CustomScan))
		return false;
	for (int i = 0; i < GC_NODE_NAMES; i++)
	{
		if (strcmp(((const CustomScan *) plan)->methods->CustomName, node_names[i]) == 0)
			return true;
	}
	return false;
}
