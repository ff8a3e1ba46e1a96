/*-------------------------------------------------------------------------
 *
 * cold_plan.c
 *	  A node as the text that a loader gets.  See cold_plan.h.
 *
 * The loader binds the node, and returns no rows of it: it needs neither targets nor plans below.
 *
 *-------------------------------------------------------------------------
 */
#include "cold_plan.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "users_code.h"
#include "../base/plan.h"
#include "../../columns/load/cold_plans.h"

/* Does an expression belong to its statement, which a loader does not execute? */
static bool
needs_statement(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	return expression_tree_walker(node, needs_statement, context);
}

/* Does the node read rows of a plan below, or decide at execution?  No loader has these. */
static bool
has_row_source(const CustomScan *scan)
{
	const Const *c = linitial_node(Const, scan->custom_private);
	GcPlan	   *plan = palloc(VARSIZE(DatumGetPointer(c->constvalue)) - VARHDRSZ);

	memcpy(plan, VARDATA(DatumGetPointer(c->constvalue)), VARSIZE(DatumGetPointer(c->constvalue)) - VARHDRSZ);
	(void) gc_plan_settle(plan);
	for (int i = 0; i < plan->ninputs; i++)
	{
		if (plan->inputs[i].child >= 0)
			return true;
	}
	return plan->nguesses > 0;
}

void
gc_cold_plan_leave(const CustomScan *scan)
{
	CustomScan	bare = *scan;
	char	   *text;

	/* A user's function must not run without the session that has chosen it, under other settings. */
	if (needs_statement((Node *) scan->custom_exprs, NULL) || contain_mutable_functions((Node *) scan->custom_exprs) ||
		gc_runs_users_code((Node *) scan->custom_exprs, true) || has_row_source(scan))
		return;
	bare.scan.plan.targetlist = NIL;
	bare.scan.plan.qual = NIL;
	bare.scan.plan.initPlan = NIL;
	bare.custom_plans = NIL;
	text = nodeToString(&bare);
	gc_cold_plan_keep(text);
	pfree(text);
}
