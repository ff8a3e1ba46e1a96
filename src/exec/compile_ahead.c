/*-------------------------------------------------------------------------
 *
 * compile_ahead.c
 *	  Kernels of nodes that are not executed yet: one that a session has left behind, and the others of a statement
 *	  that waits for a compiler.
 *
 * Loaders compile the former (columns/load/cold_plans.h).  A node is bound as for an execution, as the session's user.
 * Its request is given up once its kernels are being compiled.  If they are there already, it ends with that.  So a
 * loader depends neither on the session nor on what has become of the tables: the node's own checks refuse what does
 * not fit any more.
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

#include "exec.h"
#include "../columns/store/store.h"
#include "../plan/base/permitted.h"
#include "../plan/expr/cold_plan.h"
#include "../plan/finished_plan.h"

/* A node, as text or as it is. */
typedef struct Wanted
{
	const char *text;			/* NULL: */
	CustomScan *scan;
	EState	   *outer;			/* of its statement; NULL: a loader has it */
	Oid			user;
	bool		lacks;			/* columns that others still load */
} Wanted;

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

/* Outputs of plans that were not executed: 1, which most columns of numbers and keys have between their ends. */
static ParamExecData *
guess_params(const PlannedStmt *stmt)
{
	const int	n = list_length(stmt->paramExecTypes);
	ParamExecData *params = palloc0((n + 1) * sizeof(ParamExecData));

	for (int i = 0; i < n; i++)
		params[i].value = Int64GetDatum(1);
	return params;
}

/* The user is the session's by now. */
static void
compile_node(Wanted *wanted, CustomScan *scan)
{
	EState	   *estate = CreateExecutorState();
	EState	   *outer = wanted->outer;
	GcScanState *node;

	estate->es_snapshot = outer ? outer->es_snapshot : GetActiveSnapshot();
	estate->es_plannedstmt = outer ? outer->es_plannedstmt : makeNode(PlannedStmt);
	estate->es_param_list_info = outer ? outer->es_param_list_info : NULL;
	estate->es_param_exec_vals = guess_params(estate->es_plannedstmt);
	node = (GcScanState *) ExecInitNode((Plan *) scan, estate, 0);
	/* A node of this session's may have been executed, or asked for. */
	if ((outer == NULL || !gc_hints(node->logical)->asked) && lock_tables(node->plan))
	{
		node->only_compiles = true;
		(void) ExecProcNode(&node->css.ss.ps);
		wanted->lacks = node->lacks;
	}
	ExecEndNode(&node->css.ss.ps);
	FreeExecutorState(estate);
}

/* In a subtransaction, which puts the user back after an error. */
static void
compile_callback(void *arg)
{
	Wanted	   *wanted = arg;
	CustomScan *scan = wanted->text ? castNode(CustomScan, stringToNode(wanted->text)) : wanted->scan;
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(wanted->user, context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	if (!gc_others_watch_objects() && gc_are_permitted(list_nth(scan->custom_private, 6)))
		compile_node(wanted, scan);
	SetUserIdAndSecContext(user, context);
}

bool
gc_compile_ahead(const char *text, Oid user)
{
	Wanted		wanted = {.text = text,.user = user};
	GcError		err;

	/* A plan that raises an error is not tried again: its next execution sees to the kernels itself. */
	(void) gc_guarded(compile_callback, &wanted, &err);
	return !wanted.lacks;
}

void
gc_compile_others(GcScanState *node)
{
	EState	   *outer = node->css.ss.ps.state;
	ListCell   *lc;

	foreach(lc, gc_scans_of(outer->es_plannedstmt))
	{
		CustomScan	bare;
		Wanted		wanted = {.scan = &bare,.outer = outer,.user = GetUserId()};
		GcError		err;

		if (lfirst(lc) != node->css.ss.ps.plan && gc_cold_plan_bare(lfirst(lc), false, &bare))
			(void) gc_guarded(compile_callback, &wanted, &err);
	}
}
