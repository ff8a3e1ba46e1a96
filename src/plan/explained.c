/*-------------------------------------------------------------------------
 *
 * explained.c
 *	  Why a statement that is explained was not offloaded.
 *
 * EXPLAIN VERBOSE says so in every format.  EXPLAIN has no hook between a plan and the end of what it says of
 * the statement before 18.  But it ends its executor there, so that the hook for that writes.
 *
 * EXPLAIN EXECUTE asks no hook of EXPLAIN's, as EXECUTE is no query.  So it is told of a query, whose hook is asked,
 * and which has EXECUTE with it.  What is planned for it is known by its text.  A generic plan that was kept is not
 * planned.  Then the statement is planned once more, for the reason alone.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "commands/prepare.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/plancache.h"

#include "hooks.h"
#include "finished_plan.h"
#include "base/planning.h"
#include "../compat.h"
#include "../force.h"
#include "../queue/reasons.h"

/* Why a plan that was kept has no node, where a new one would have some. */
#define GC_KEPT_SINCE	"the plan was made, and kept, while it could not be offloaded"

/* The innermost EXPLAIN that is under way: what it executes may explain other statements. */
typedef struct Explained
{
	ExplainState *es;
	const ExecuteStmt *execute; /* of EXPLAIN EXECUTE; else NULL */
	const char *text;			/* of the statement that it executes */
	bool		planned;		/* what is planned from now on is part of the execution; or
								 * EXECUTE's statement was planned */
	char		refusal[GC_REFUSAL_SIZE];
} Explained;

static Explained *explained = NULL;

static ExplainOneQuery_hook_type prev_explain_hook = NULL;
static ExecutorEnd_hook_type prev_end_hook = NULL;
static ProcessUtility_hook_type prev_utility_hook = NULL;

/* Is this statement planned for EXPLAIN?  EXECUTE may have a generic plan made first, and then one that it takes. */
static bool
planning_for_explain(const char *text)
{
	return explained && (explained->execute ? text == explained->text : !explained->planned);
}

void
gc_explained_refusal(const char *refusal, const char *text)
{
	/* Statements planned meanwhile are parts of it. */
	if (!planning_for_explain(text) || gc_planning)
		return;
	explained->planned = true;
	strlcpy(explained->refusal, refusal, sizeof(explained->refusal));
}

/* Say why a statement is not offloaded, as text or as a group of other formats. */
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

/* EXECUTE had a plan that was kept.  What it reads is locked, as it was executed just now. */
static void
plan_for_refusal(void)
{
	PreparedStatement *prepared = FetchPreparedStatement(explained->execute->name, false);
	CachedPlanSource *source = prepared ? prepared->plansource : NULL;

	if (source == NULL || source->query_string != explained->text || list_length(source->query_list) != 1)
		return;
	(void) pg_plan_query(copyObject(linitial_node(Query, source->query_list)), source->query_string,
						 source->cursor_options, NULL);
	if (explained->refusal[0] == '\0')
		strlcpy(explained->refusal, GC_KEPT_SINCE, sizeof(explained->refusal));
}

/* The hook: EXPLAIN has printed the plan, and nothing else until now. */
static void
end_executor(QueryDesc *desc)
{
	/* EXPLAIN has printed this plan, and nothing else until now. */
	if (explained && explained->es->verbose && explained->es->pstmt == desc->plannedstmt &&
		!gc_has_node(desc->plannedstmt))
	{
		/* Within ANALYZE, planning would count as execution. */
		if (explained->execute && !explained->planned && !explained->es->analyze && gc_offload_active())
			plan_for_refusal();
		if (explained->refusal[0])
			explain_refusal(explained->refusal, explained->es);
	}
	if (prev_end_hook)
		prev_end_hook(desc);
	else
		standard_ExecutorEnd(desc);
}

/* EXPLAIN as it is without a hook. */
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

/* EXPLAIN of EXECUTE, by the interface of this version of PostgreSQL. */
static void
explain_execute(ExecuteStmt *execute, IntoClause *into, ExplainState *es, const char *queryString, ParamListInfo params,
				QueryEnvironment *queryEnv)
{
#if PG_VERSION_NUM >= 180000
	ParseState *pstate = make_parsestate(NULL);

	pstate->p_sourcetext = queryString;
	pstate->p_queryEnv = queryEnv;
	ExplainExecuteQuery(execute, into, es, pstate, params);
	free_parsestate(pstate);
#else
	ExplainExecuteQuery(execute, into, es, queryString, params, queryEnv);
#endif
}

/* EXECUTE, if this is the query that stands for it; else NULL. */
static const ExecuteStmt *
execute_of(const Query *query)
{
	return query->commandType == CMD_SELECT ? (const ExecuteStmt *) query->utilityStmt : NULL;
}

/* The hook: while a statement is explained, `explained` says so. */
static void
explain_one_query(Query *query, int cursorOptions, IntoClause *into, ExplainState *es,
				  const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
	Explained  *outer = explained;
	Explained	mine = {.es = es,.execute = execute_of(query)};

	if (mine.execute)
		mine.text = FetchPreparedStatement(mine.execute->name, true)->plansource->query_string;
	explained = &mine;
	PG_TRY();
	{
		if (mine.execute)
			explain_execute((ExecuteStmt *) query->utilityStmt, into, es, queryString, params, queryEnv);
		else if (prev_explain_hook)
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

/* Is it EXPLAIN of EXECUTE, for which PostgreSQL calls no hook of EXPLAIN? */
static bool
is_explain_execute(const Node *stmt)
{
	const Query *query;

	if (!IsA(stmt, ExplainStmt))
		return false;
	query = (const Query *) ((const ExplainStmt *) stmt)->query;
	return IsA(query, Query) && query->commandType == CMD_UTILITY && IsA(query->utilityStmt, ExecuteStmt);
}

/* The statement with a query that reads nothing, and has EXECUTE with it. */
static PlannedStmt *
with_query(const PlannedStmt *utility)
{
	PlannedStmt *stmt = palloc(sizeof(PlannedStmt));
	ExplainStmt *explain = palloc(sizeof(ExplainStmt));
	Query	   *query = palloc(sizeof(Query));

	*stmt = *utility;
	*explain = *(const ExplainStmt *) utility->utilityStmt;
	*query = *(const Query *) explain->query;
	query->commandType = CMD_SELECT;
	query->jointree = makeFromExpr(NIL, NULL);
	explain->query = (Node *) query;
	stmt->utilityStmt = (Node *) explain;
	return stmt;
}

/* The hook: give EXPLAIN of EXECUTE a query, so that explain_one_query() is called. */
static void
process_utility(PlannedStmt *stmt, const char *queryString, bool readOnlyTree, ProcessUtilityContext context,
				ParamListInfo params, QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *completion)
{
	/* Another module's hook for EXPLAIN, which is asked before ours, knows no such query. */
	if (is_explain_execute(stmt->utilityStmt) && ExplainOneQuery_hook == explain_one_query)
		stmt = with_query(stmt);
	if (prev_utility_hook)
		prev_utility_hook(stmt, queryString, readOnlyTree, context, params, queryEnv, dest, completion);
	else
		standard_ProcessUtility(stmt, queryString, readOnlyTree, context, params, queryEnv, dest, completion);
}

void
gc_explained_install(void)
{
	prev_explain_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_one_query;
	prev_end_hook = ExecutorEnd_hook;
	ExecutorEnd_hook = end_executor;
	prev_utility_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
