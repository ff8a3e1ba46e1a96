/*-------------------------------------------------------------------------
 *
 * compile_ahead.c
 *	  Kernels of a node that a session has left behind (columns/load/cold_plans.h).
 *
 * The node is bound as for an execution, as the user of the session, and its request is given up once its kernels are
 * being compiled.  If they are there already, it ends with that.  So nothing depends on the session, or on what has become
 * of the tables: the node's own checks refuse what does not fit any more.
 *
 * No lock is waited for (columns/load/loader.c).
 *
 *-------------------------------------------------------------------------
 */
#include "scan.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"

#include "ahead.h"
#include "exec.h"
#include "../columns/store/ddl.h"
#include "../plan/base/permitted.h"

typedef struct Left
{
	const char *text;
	Oid			user;
	bool		lacks;			/* columns that others still load */
} Left;

/* Lock the node's tables as a statement does; false: somebody else has one of them. */
static bool
lock_tables(const GcPlan *plan)
{
	for (int i = 0; i < plan->ninputs; i++)
	{
		const GcPlanInput *in = &plan->inputs[i];

		if (in->nparts == 0 && OidIsValid(in->relid) && !ConditionalLockRelationOid(in->relid, AccessShareLock))
			return false;
		for (int k = 0; k < in->nparts; k++)
		{
			if (!ConditionalLockRelationOid(GC_PLAN_PARTS(plan)[in->first_part + k].relid, AccessShareLock))
				return false;
		}
	}
	return true;
}

/* The user is the session's by now. */
static void
compile_node(Left *left, CustomScan *scan)
{
	EState	   *estate = CreateExecutorState();
	GcScanState *node;
	GcError		err;

	estate->es_snapshot = GetActiveSnapshot();
	estate->es_plannedstmt = makeNode(PlannedStmt);
	node = (GcScanState *) ExecInitNode((Plan *) scan, estate, 0);
	if (lock_tables(node->plan))
		left->lacks = !gc_ask_for_kernels(node, &err);
	ExecEndNode(&node->css.ss.ps);
	FreeExecutorState(estate);
}

/* In a subtransaction, which puts the user back after an error. */
static void
compile_callback(void *arg)
{
	Left	   *left = arg;
	CustomScan *scan = castNode(CustomScan, stringToNode(left->text));
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(left->user, context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	if (!gc_others_watch_objects() && gc_are_permitted(list_nth(scan->custom_private, 6)))
		compile_node(left, scan);
	SetUserIdAndSecContext(user, context);
}

bool
gc_compile_ahead(const char *text, Oid user)
{
	Left		left = {.text = text,.user = user};
	GcError		err;

	/* A plan that raises an error is not tried again: its next execution sees to the kernels itself. */
	(void) gc_guarded(compile_callback, &left, &err);
	return !left.lacks;
}
