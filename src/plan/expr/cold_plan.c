/*-------------------------------------------------------------------------
 *
 * cold_plan.c
 *	  A node of which no more than its kernels are wanted.  See cold_plan.h.
 *
 * Such a node is bound, and returns no rows: it needs neither targets nor plans below.
 *
 *-------------------------------------------------------------------------
 */
#include "cold_plan.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "raises.h"
#include "../base/plan.h"
#include "../../columns/load/cold_plans.h"

/* Is a parameter the client's, or an integer?  Kernels are mostly the same for all integers that a column may have. */
static bool
may_be_known(const Param *param)
{
	return param->paramkind == PARAM_EXTERN || param->paramtype == INT4OID || param->paramtype == INT8OID;
}

/* Does an expression need the statement's execution?  *context: for each parameter. */
static bool
needs_execution(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		(IsA(node, Param) && (*(bool *) context || !may_be_known((Param *) node))))
		return true;
	return expression_tree_walker(node, needs_execution, context);
}

/* Does the node read rows of a plan below, or decide at execution? */
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

bool
gc_cold_plan_bare(const CustomScan *scan, bool no_params, CustomScan *bare)
{
	/* A user's function must not run but for the statement's rows, and in the session that has chosen it. */
	if (needs_execution((Node *) scan->custom_exprs, &no_params) ||
		contain_mutable_functions((Node *) scan->custom_exprs) ||
		gc_runs_users_code((Node *) scan->custom_exprs, true) || has_row_source(scan))
		return false;
	*bare = *scan;
	bare->scan.plan.targetlist = NIL;
	bare->scan.plan.qual = NIL;
	bare->scan.plan.initPlan = NIL;
	bare->custom_plans = NIL;
	return true;
}

void
gc_cold_plan_leave(const CustomScan *scan)
{
	CustomScan	bare;
	char	   *text;

	if (!gc_cold_plan_bare(scan, true, &bare))
		return;
	text = nodeToString(&bare);
	gc_cold_plan_keep(text);
	pfree(text);
}
