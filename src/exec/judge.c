/*-------------------------------------------------------------------------
 *
 * judge.c
 *	  Whether the device or PostgreSQL's own plan is sooner, for the values that parameters have.
 *
 * A generic plan was made without these values.  Where the planner had to guess how many rows conditions on them leave,
 * and the better plan depends on that (plan/cost/guesses.c), the node has both.  Here PostgreSQL's functions estimate
 * the conditions again, by the table's statistics, as they do for a custom plan.  They get a planner's state with the
 * table alone, as the server makes it for CLUSTER and CREATE INDEX.
 *
 * It is an estimate: a wrong one costs time, and no answer.  It is made once for each execution of the statement, as
 * its parameters do not change in it.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "partitioning/partdesc.h"
#include "utils/memutils.h"

#include "../compat.h"
#include "../force.h"

/* The table of a guess, as relation 1. */
static PlannerInfo *
state_of_planner(const GcPlanGuess *guess, ParamListInfo values)
{
	Query	   *query = makeNode(Query);
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	PlannerInfo *root = makeNode(PlannerInfo);

	rte->rtekind = RTE_RELATION;
	rte->relid = guess->relid;
	rte->relkind = guess->relkind;
	rte->rellockmode = AccessShareLock;
	rte->inh = guess->inherits;
	rte->inFromCl = true;
	/* Then functions that may tell of statistics are not called. */
	if (guess->secured)
		rte->securityQuals = list_make1(makeBoolConst(true, false));
	query->commandType = CMD_SELECT;
	query->rtable = list_make1(rte);
	GC_SET_USER(query, rte, guess->user);
	root->parse = query;
	root->glob = makeNode(PlannerGlobal);
	root->glob->boundParams = values;
	root->query_level = 1;
	root->planner_cxt = CurrentMemoryContext;
	root->wt_param_id = -1;
	setup_simple_rel_arrays(root);
	(void) build_simple_rel(root, 1, NULL);
	return root;
}

/* The share of a table's rows that conditions leave. */
static double
share_of_rows(const GcPlanGuess *guess, List *clauses, ParamListInfo values)
{
	PlannerInfo *root = state_of_planner(guess, values);
	double		share = clauselist_selectivity(root, clauses, 1, JOIN_INNER, NULL);

	if (root->glob->partition_directory)
		DestroyPartitionDirectory(root->glob->partition_directory);
	return share;
}

typedef struct Judging
{
	GcScanState *node;
	double		times[GC_MAX_GUESSES];	/* as many rows as were guessed */
} Judging;

/* In a subtransaction, since it calls PostgreSQL's estimators: shares of rows by the values of parameters. */
static void
estimate(void *arg)
{
	Judging    *judging = arg;
	const GcScanState *node = judging->node;
	const List *clauses = list_nth(((CustomScan *) node->css.ss.ps.plan)->custom_private, 5);

	for (int i = 0; i < node->plan->nguesses; i++)
	{
		const GcPlanGuess *guess = &node->plan->guesses[i];

		judging->times[i] = share_of_rows(guess, list_nth(clauses, i),
										  node->css.ss.ps.state->es_param_list_info) / guess->share;
	}
}

/* Times of PostgreSQL's plan and the node, by that. */
static void
apply(GcPlan *plan, const double *times)
{
	double		rows = 1;

	for (int i = 0; i < plan->nguesses; i++)
	{
		plan->own_ms += plan->guesses[i].ms * (times[i] - 1);
		if (plan->guesses[i].rows)
			rows *= times[i];
	}
	plan->own_ms = Max(plan->own_ms + plan->above_ms * (rows - 1), 0);
	plan->ms = Max(plan->ms + plan->rows_ms * (rows - 1), 0);
}

bool
gc_own_plan_is_sooner(GcScanState *node)
{
	Judging		judging = {.node = node};
	GcError		err;
	MemoryContext cxt;
	MemoryContext old;

	if (node->plan->nguesses == 0 || gc_offload_forced())
		return false;
	if (!node->judged && node->css.ss.ps.state->es_param_list_info)
	{
		cxt = AllocSetContextCreate(CurrentMemoryContext, "gpuconc estimates", ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(cxt);
		/* An expression that raises an error in an estimate may do so in the plan, or may not. */
		if (gc_guarded(estimate, &judging, &err))
			apply(node->plan, judging.times);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(cxt);
	}
	node->judged = true;
	ereport(DEBUG2,
			(errmsg_internal("gpuconc expects PostgreSQL's own plan to take %.3f ms, and the device %.3f ms",
							 node->plan->own_ms, node->plan->ms)));
	return node->plan->own_ms < node->plan->ms;
}
