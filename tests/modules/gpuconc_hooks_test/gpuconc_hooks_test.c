/*-------------------------------------------------------------------------
 *
 * gpuconc_hooks_test.c
 *	  Another extension that sets the hooks that gpuconc sets, and counts how often each is called.
 *
 * Its planner hook leaves numbers in the entries of tables, in a field that is for VALUES, as Citus does to know them
 * again.  With gpuconc_hooks_test.functions it tells of each function that is to be called.
 *
 * It also runs a statement when a transaction commits.  Where it is preloaded before gpuconc, that is behind gpuconc's
 * callback, so that the transaction gets its id there.
 *
 * Runs in the postmaster and in backends; each process has its own counts, which begin as the
 * postmaster's.  Needs nothing of gpuconc, so that it can be preloaded before it and after it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/geqo.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/regproc.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(gpuconc_hooks_test_calls);

void		_PG_init(void);

typedef enum
{
	SHMEM_REQUEST,
	SHMEM_STARTUP,
	PLANNER,
	SET_REL_PATHLIST,
	SET_JOIN_PATHLIST,
	JOIN_SEARCH,
	CREATE_UPPER_PATHS,
	EXPLAIN_ONE_QUERY,
	EXECUTOR_START,
	EXECUTOR_END,
	PROCESS_UTILITY,
	OBJECT_ACCESS,
	NHOOKS
} Hook;

static const char *const names[NHOOKS] = {
	"shmem_request", "shmem_startup", "planner", "set_rel_pathlist", "set_join_pathlist", "join_search",
	"create_upper_paths", "ExplainOneQuery", "ExecutorStart", "ExecutorEnd",
	"ProcessUtility", "object_access"
};

static int64 calls[NHOOKS];

static shmem_request_hook_type prev_shmem_request = NULL;
static shmem_startup_hook_type prev_shmem_startup = NULL;
static planner_hook_type prev_planner = NULL;
static set_rel_pathlist_hook_type prev_rel = NULL;
static set_join_pathlist_hook_type prev_join = NULL;
static join_search_hook_type prev_search = NULL;
static create_upper_paths_hook_type prev_upper = NULL;
static ExplainOneQuery_hook_type prev_explain = NULL;
static ExecutorStart_hook_type prev_start = NULL;
static ExecutorEnd_hook_type prev_end = NULL;
static ProcessUtility_hook_type prev_utility = NULL;
static object_access_hook_type prev_access = NULL;

static void
count_shmem_request(void)
{
	calls[SHMEM_REQUEST]++;
	if (prev_shmem_request)
		prev_shmem_request();
}

static void
count_shmem_startup(void)
{
	calls[SHMEM_STARTUP]++;
	if (prev_shmem_startup)
		prev_shmem_startup();
}

static bool
mark_tables(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_RELATION)
			rte->values_lists = list_make2_int(1, rte->inh);
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, mark_tables, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, mark_tables, context);
}

static PlannedStmt *
count_planner(Query *parse, const char *query_string, int options, ParamListInfo params)
{
	calls[PLANNER]++;
	(void) mark_tables((Node *) parse, NULL);
	if (prev_planner)
		return prev_planner(parse, query_string, options, params);
	return standard_planner(parse, query_string, options, params);
}

static void
count_rel(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	calls[SET_REL_PATHLIST]++;
	if (prev_rel)
		prev_rel(root, rel, rti, rte);
}

static void
count_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType jointype,
		   JoinPathExtraData *extra)
{
	calls[SET_JOIN_PATHLIST]++;
	if (prev_join)
		prev_join(root, joinrel, outer, inner, jointype, extra);
}

static RelOptInfo *
count_search(PlannerInfo *root, int levels_needed, List *initial_rels)
{
	calls[JOIN_SEARCH]++;
	if (prev_search)
		return prev_search(root, levels_needed, initial_rels);
	if (enable_geqo && levels_needed >= geqo_threshold)
		return geqo(root, levels_needed, initial_rels);
	return standard_join_search(root, levels_needed, initial_rels);
}

static void
count_upper(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output, void *extra)
{
	calls[CREATE_UPPER_PATHS]++;
	if (prev_upper)
		prev_upper(root, stage, input, output, extra);
}

static void
count_explain(Query *query, int cursorOptions, IntoClause *into, ExplainState *es, const char *queryString,
			  ParamListInfo params, QueryEnvironment *queryEnv)
{
	calls[EXPLAIN_ONE_QUERY]++;
	if (prev_explain)
		prev_explain(query, cursorOptions, into, es, queryString, params, queryEnv);
	else
	{
#if PG_VERSION_NUM >= 170000
		standard_ExplainOneQuery(query, cursorOptions, into, es, queryString, params, queryEnv);
#else
		ExplainOnePlan(pg_plan_query(query, queryString, cursorOptions, params), into, es, queryString, params,
					   queryEnv, NULL, NULL);
#endif
	}
}

static void
count_start(QueryDesc *query, int eflags)
{
	calls[EXECUTOR_START]++;
	if (prev_start)
		prev_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

static void
count_end(QueryDesc *query)
{
	calls[EXECUTOR_END]++;
	if (prev_end)
		prev_end(query);
	else
		standard_ExecutorEnd(query);
}

static void
count_utility(PlannedStmt *stmt, const char *queryString, bool readOnlyTree, ProcessUtilityContext context,
			  ParamListInfo params, QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *completion)
{
	calls[PROCESS_UTILITY]++;
	if (prev_utility)
		prev_utility(stmt, queryString, readOnlyTree, context, params, queryEnv, dest, completion);
	else
		standard_ProcessUtility(stmt, queryString, readOnlyTree, context, params, queryEnv, dest, completion);
}

static bool tell_functions;

static void
count_access(ObjectAccessType access, Oid classId, Oid objectId, int subId, void *arg)
{
	calls[OBJECT_ACCESS]++;
	if (tell_functions && access == OAT_FUNCTION_EXECUTE)
		ereport(NOTICE, (errmsg("calls %s", format_procedure(objectId))));
	if (prev_access)
		prev_access(access, classId, objectId, subId, arg);
}

static char *at_commit;

static void
execute_at_commit(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT || at_commit[0] == '\0')
		return;
	PushActiveSnapshot(GetTransactionSnapshot());
	if (SPI_connect() != SPI_OK_CONNECT || SPI_execute(at_commit, false, 0) < 0 || SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "\"%s\" fails", at_commit);
	PopActiveSnapshot();
}

/* gpuconc_hooks_test_calls() RETURNS text: "hook calls", a line each.  Counts of the caller's statements start anew. */
Datum
gpuconc_hooks_test_calls(PG_FUNCTION_ARGS)
{
	StringInfoData lines;

	initStringInfo(&lines);
	for (int i = 0; i < NHOOKS; i++)
	{
		appendStringInfo(&lines, "%s%s " INT64_FORMAT, i > 0 ? "\n" : "", names[i], calls[i]);
		if (i > SHMEM_STARTUP)
			calls[i] = 0;
	}
	PG_RETURN_TEXT_P(cstring_to_text(lines.data));
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("gpuconc_hooks_test must be loaded via \"shared_preload_libraries\"")));
	DefineCustomStringVariable("gpuconc_hooks_test.at_commit", "Statement to be run when a transaction commits.", NULL, &at_commit, "",
							   PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpuconc_hooks_test.functions", "Tells of functions that are to be called.", NULL, &tell_functions, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	RegisterXactCallback(execute_at_commit, NULL);
	prev_shmem_request = shmem_request_hook;
	shmem_request_hook = count_shmem_request;
	prev_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = count_shmem_startup;
	prev_planner = planner_hook;
	planner_hook = count_planner;
	prev_rel = set_rel_pathlist_hook;
	set_rel_pathlist_hook = count_rel;
	prev_join = set_join_pathlist_hook;
	set_join_pathlist_hook = count_join;
	prev_search = join_search_hook;
	join_search_hook = count_search;
	prev_upper = create_upper_paths_hook;
	create_upper_paths_hook = count_upper;
	prev_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = count_explain;
	prev_start = ExecutorStart_hook;
	ExecutorStart_hook = count_start;
	prev_end = ExecutorEnd_hook;
	ExecutorEnd_hook = count_end;
	prev_utility = ProcessUtility_hook;
	ProcessUtility_hook = count_utility;
	prev_access = object_access_hook;
	object_access_hook = count_access;
}
