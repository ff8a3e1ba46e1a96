/*-------------------------------------------------------------------------
 *
 * finished_plan.c
 *	  What of a finished plan is offloaded.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "finished_plan.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"

#include "base/display.h"
#include "base/plan.h"
#include "cost/node.h"

/* Estimates of PostgreSQL's plans are rough: one is taken for the sooner one if it is so by this factor. */
#define SOONER_BY_FAR	2.5

typedef struct Found
{
	List	   *rtable;
	bool		node;			/* of ours */
	bool		table;			/* that PostgreSQL reads itself */
	Cost		fallback;		/* of the nodes' own plans by PostgreSQL */
	List	   *nodes;			/* CustomScan: ours */
} Found;

/* Children of a plan node but for its outer and inner plan, a fallback's, and scans of indexes below a bitmap. */
static List *
other_children(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			return ((Append *) plan)->appendplans;
		case T_MergeAppend:
			return ((MergeAppend *) plan)->mergeplans;
		case T_SubqueryScan:
			return list_make1(((SubqueryScan *) plan)->subplan);
		case T_CustomScan:
			/* PostgreSQL's own plan comes first, then those of row sources. */
			return gc_is_node(plan) ? list_copy_tail(((CustomScan *) plan)->custom_plans, 1) :
				((CustomScan *) plan)->custom_plans;
		default:
			return NIL;
	}
}

/* Does this node itself read a table? */
static bool
scans_table(const Plan *plan, List *rtable)
{
	Index		relid;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
			return true;
		case T_ForeignScan:
			return true;
		case T_CustomScan:
			relid = ((const Scan *) plan)->scanrelid;
			return relid > 0 && rt_fetch(relid, rtable)->rtekind == RTE_RELATION;
		default:
			return false;
	}
}

/* Note what there is in a plan: our nodes, what their fallbacks cost, and whether a table is read at all. */
static void
look(Plan *plan, Found *found)
{
	ListCell   *lc;

	if (plan == NULL)
		return;
	check_stack_depth();
	if (gc_is_node(plan))
	{
		found->node = true;
		found->nodes = lappend(found->nodes, plan);
		found->fallback += ((Plan *) linitial(((CustomScan *) plan)->custom_plans))->total_cost;
	}
	found->table |= scans_table(plan, found->rtable);
	foreach(lc, other_children(plan))
		look(lfirst(lc), found);
	look(outerPlan(plan), found);
	look(innerPlan(plan), found);
}

/* Look at the plan of a statement and at its subplans. */
static Found
look_everywhere(PlannedStmt *stmt)
{
	Found		found = {.rtable = stmt->rtable};
	ListCell   *lc;

	look(stmt->planTree, &found);
	foreach(lc, stmt->subplans)
		look(lfirst(lc), &found);
	return found;
}

bool
gc_has_node(PlannedStmt *stmt)
{
	return look_everywhere(stmt).node;
}

bool
gc_is_fully_offloaded(PlannedStmt *stmt)
{
	Found		found = look_everywhere(stmt);

	return found.node && !found.table;
}

Cost
gc_fallback_cost(PlannedStmt *stmt)
{
	return look_everywhere(stmt).fallback;
}

void
gc_set_other_ms(PlannedStmt *stmt, double ms)
{
	ListCell   *lc;

	foreach(lc, look_everywhere(stmt).nodes)
	{
		const Const *c = linitial_node(Const, lfirst_node(CustomScan, lc)->custom_private);
		char	   *own_ms = VARDATA(DatumGetPointer(c->constvalue)) + offsetof(GcPlan, own_ms);
		double		fallback_ms;

		memcpy(&fallback_ms, own_ms, sizeof(double));
		if (fallback_ms * SOONER_BY_FAR > ms)
			memcpy(own_ms, &ms, sizeof(double));
	}
}

List *
gc_scans_of(PlannedStmt *stmt)
{
	return look_everywhere(stmt).nodes;
}

List *
gc_nodes_of(PlannedStmt *stmt)
{
	List	   *plans = NIL;
	ListCell   *lc;

	foreach(lc, look_everywhere(stmt).nodes)
	{
		const Const *c = linitial_node(Const, lfirst_node(CustomScan, lc)->custom_private);
		GcPlan	   *plan = palloc(VARSIZE(DatumGetPointer(c->constvalue)) - VARHDRSZ);

		memcpy(plan, VARDATA(DatumGetPointer(c->constvalue)), VARSIZE(DatumGetPointer(c->constvalue)) - VARHDRSZ);
		(void) gc_plan_settle(plan);
		plans = lappend(plans, plan);
	}
	return plans;
}

#if PG_VERSION_NUM >= 180000
/* In a plan, and in what its nodes fall back to. */
static void
show_in(Plan *plan, List *rtable)
{
	Found		found = {.rtable = rtable};
	ListCell   *lc;

	look(plan, &found);
	foreach(lc, found.nodes)
	{
		CustomScan *node = lfirst_node(CustomScan, lc);

		node->custom_scan_tlist = (List *) gc_printable((Node *) node->custom_scan_tlist);
		show_in(linitial(node->custom_plans), rtable);
	}
}
#endif

void
gc_show_window_functions(PlannedStmt *stmt)
{
#if PG_VERSION_NUM >= 180000
	ListCell   *lc;

	show_in(stmt->planTree, stmt->rtable);
	foreach(lc, stmt->subplans)
		show_in(lfirst(lc), stmt->rtable);
#endif
}
