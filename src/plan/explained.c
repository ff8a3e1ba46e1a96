/*-------------------------------------------------------------------------
 *
 * explained.c
 *	  Why a statement that is explained was not offloaded.
 *
 * EXPLAIN VERBOSE says so in every format.  EXPLAIN has no hook between a plan and the end of what it says of
 * the statement before 18.  But it ends its executor there, so that the hook for that writes.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "tcop/tcopprot.h"

#include "explained.h"
#include "base/planning.h"
#include "../compat.h"
#include "../queue/reasons.h"

/* The innermost EXPLAIN that is under way: what it executes may explain other statements. */
typedef struct Explained
{
	ExplainState *es;
	bool		planned;		/* what is planned from now on is part of the execution */
	char		refusal[GC_REFUSAL_SIZE];
} Explained;

static Explained *explained = NULL;

static ExplainOneQuery_hook_type prev_explain_hook = NULL;
static ExecutorEnd_hook_type prev_end_hook = NULL;

/* Is a statement planned for EXPLAIN? */
static bool
planning_for_explain(void)
{
	return explained && !explained->planned;
}

void
gc_explained_refusal(const char *refusal)
{
	/* What is planned meanwhile is a part of it. */
	if (!planning_for_explain() || gc_planning)
		return;
	explained->planned = true;
	strlcpy(explained->refusal, refusal, sizeof(explained->refusal));
}

static void
explain_refusal(const char *refusal, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyText("Gpuconc", psprintf("not offloaded: %s", refusal), es);
		return;
	}
	ExplainOpenGroup("Gpuconc", "Gpuconc", true, es);
	ExplainPropertyList("Not Offloaded", list_make1(pstrdup(refusal)), es);
	ExplainCloseGroup("Gpuconc", "Gpuconc", true, es);
}

static void
end_executor(QueryDesc *desc)
{
	/* EXPLAIN has printed this plan, and nothing else until now. */
	if (explained && explained->es->verbose && explained->refusal[0] && explained->es->pstmt == desc->plannedstmt)
		explain_refusal(explained->refusal, explained->es);
	if (prev_end_hook)
		prev_end_hook(desc);
	else
		standard_ExecutorEnd(desc);
}

/* What EXPLAIN does without a hook. */
static void
explain_standard(Query *query, int cursorOptions, IntoClause *into, ExplainState *es,
				 const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
#if PG_VERSION_NUM >= 170000
	standard_ExplainOneQuery(query, cursorOptions, into, es, queryString, params, queryEnv);
#else
	BufferUsage before = pgBufferUsage;
	BufferUsage usage = {0};
	instr_time	start,
				duration;
	PlannedStmt *plan;

	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(query, queryString, cursorOptions, params);
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	if (es->buffers)
		BufferUsageAccumDiff(&usage, &pgBufferUsage, &before);
	ExplainOnePlan(plan, into, es, queryString, params, queryEnv, &duration,
				   es->buffers ? &usage : NULL);
#endif
}

static void
explain_one_query(Query *query, int cursorOptions, IntoClause *into, ExplainState *es,
				  const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
	Explained  *outer = explained;
	Explained	mine = {.es = es};

	explained = &mine;
	PG_TRY();
	{
		if (prev_explain_hook)
			prev_explain_hook(query, cursorOptions, into, es, queryString, params, queryEnv);
		else
			explain_standard(query, cursorOptions, into, es, queryString, params, queryEnv);
	}
	PG_FINALLY();
	{
		explained = outer;
	}
	PG_END_TRY();
}

void
gc_explained_install(void)
{
	prev_explain_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_one_query;
	prev_end_hook = ExecutorEnd_hook;
	ExecutorEnd_hook = end_executor;
}
