/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  Planner hooks, and why a statement was not offloaded.
 *
 * Runs in backends.  Each run of the planner has a state of its own (planning.h).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/geqo.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "tcop/tcopprot.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "agg.h"
#include "distributed.h"
#include "hooks.h"
#include "ordered.h"
#include "paths.h"
#include "planning.h"
#include "relinfo.h"
#include "rewrite.h"
#include "source.h"
#include "verdict.h"
#include "../compat.h"
#include "whole.h"
#include "../queue/queue.h"
#include "../queue/reasons.h"
#include "../force.h"
#include "../settings.h"

/* Why the last planned statement of this backend was not offloaded; or empty. */
static char last_refusal[256];

/* The reason for tables that Citus has distributed. */
#define GC_ELSEWHERE	"the rows of a table are in shards, whose servers offload what they are asked for"

static planner_hook_type prev_planner_hook = NULL;
static set_rel_pathlist_hook_type prev_rel_hook = NULL;
static set_join_pathlist_hook_type prev_join_hook = NULL;
static create_upper_paths_hook_type prev_upper_hook = NULL;
static ExplainOneQuery_hook_type prev_explain_hook = NULL;

static bool
reads_user_table(PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_RELATION &&
			rte->relid >= FirstNormalObjectId)
			return true;
	}
	return false;
}

/* gpuconc.debug_offload = require: a SELECT over tables must be offloaded. */
static void
require_offload(PlannedStmt *stmt)
{
	if (stmt->commandType != CMD_SELECT || !reads_user_table(stmt) || gc_has_node(stmt))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("query is not offloaded although \"%s\" is \"%s\"",
					"gpuconc.debug_offload", "require"),
			 gc_planning->refusal[0] ? errdetail("Reason: %s.", gc_planning->refusal) : 0));
}

/*-------------------------------------------------------------------------
 * Hooks
 *-------------------------------------------------------------------------
 */

static PlannedStmt *
call_planner(Query *parse, const char *query_string, int options, ParamListInfo params)
{
	if (prev_planner_hook)
		return prev_planner_hook(parse, query_string, options, params);
	return standard_planner(parse, query_string, options, params);
}

/*
 * One run of the planner, with a state of its own; the refusal is copied out.  `required`:
 * no other plan is to come.
 */
static PlannedStmt *
run_planner(Query *parse, const char *query_string, int options, ParamListInfo params,
			char *refusal, bool required)
{
	GcPlanning	mine = {.outer = gc_planning,.context = CurrentMemoryContext,
	.cursor = (options & CURSOR_OPT_FAST_PLAN) != 0};
	PlannedStmt *volatile stmt = NULL;

	mine.storage_seen = gc_looks_at_storage((Node *) parse);
	gc_planning = &mine;
	PG_TRY();
	{
		stmt = call_planner(parse, query_string, options, params);
		if (mine.refusal[0] == '\0' && mine.offered)
			strlcpy(mine.refusal, GC_CHEAPER, sizeof(mine.refusal));
		strlcpy(refusal, gc_has_node(stmt) ? "" : mine.refusal, sizeof(last_refusal));
		if (required && gc_offload_required())
			require_offload(stmt);
	}
	PG_FINALLY();
	{
		gc_planning = mine.outer;
		if (mine.descs)
			hash_destroy(mine.descs);
	}
	PG_END_TRY();
	return stmt;
}

/* May this query be rewritten, and is there a device that could answer it then? */
static bool
worth_rewriting(void)
{
	const char *reason;
	GcWorkerState state = gc_worker_state(&reason);

	if (gc_rewriting_forced())
		return true;
	return gc_rewriting_allowed() && state != GC_WORKER_NO_DEVICE && state != GC_WORKER_STOPPED;
}

/* Tables of a query, counted at most. */
#define MOST_TABLES		16

typedef struct Tables
{
	int			n;
	Oid			relids[MOST_TABLES];
} Tables;

static bool
find_tables(Node *node, void *context)
{
	Tables	   *tables = context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_RELATION && rte->relid >= FirstNormalObjectId && tables->n < MOST_TABLES)
			tables->relids[tables->n++] = rte->relid;
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_tables, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, find_tables, context);
}

/* Count a refusal for each table that the query named before it was planned. */
static void
count_refusal(const Tables *tables, const char *refusal)
{
	for (int i = 0; i < tables->n && refusal[0] != '\0'; i++)
	{
		bool		again = false;

		for (int k = 0; k < i; k++)
			again |= tables->relids[k] == tables->relids[i];
		if (!again)
			gc_reason_count(tables->relids[i], false, refusal);
	}
}

/* Is the plan of the rewritten query one to keep, if it is cheaper than the original's? */
static bool
worth_comparing(PlannedStmt *rewritten)
{
	return gc_offload_forced() ? gc_has_node(rewritten) : gc_is_whole(rewritten);
}

/* A statement that no node of ours may be part of, though others that are planned meanwhile may have some. */
static PlannedStmt *
leave_alone(Query *parse, const char *query_string, int options, ParamListInfo params)
{
	GcPlanning *outer = gc_planning;
	PlannedStmt *stmt;

	gc_planning = NULL;
	PG_TRY();
	{
		stmt = call_planner(parse, query_string, options, params);
	}
	PG_FINALLY();
	{
		gc_planning = outer;
	}
	PG_END_TRY();
	strlcpy(last_refusal, GC_ELSEWHERE, sizeof(last_refusal));
	return stmt;
}

/*
 * A query that can be rewritten has two plans.  The rewritten one is taken if it is
 * offloaded as a whole and cheaper: PostgreSQL itself would often be slower with it.  Where that is known
 * from before, the original is not planned (verdict.c).  The planner scribbles on its input, so the rewritten
 * query is a copy.
 */
static PlannedStmt *
gc_planner(Query *parse, const char *query_string, int options, ParamListInfo params)
{
	char		refusal[sizeof(last_refusal)];
	Query	   *rewritten;
	Tables		tables = {0};
	PlannedStmt *first = NULL;
	PlannedStmt *stmt;
	const bool	forced = gc_rewriting_forced() || gc_offload_forced();
	uint64		key = 0;

	if (!gc_offload_active())
		return call_planner(parse, query_string, options, params);

	(void) find_tables((Node *) parse, &tables);
	if (gc_reads_distributed(parse))
	{
		stmt = leave_alone(parse, query_string, options, params);
		count_refusal(&tables, last_refusal);
		return stmt;
	}
	rewritten = worth_rewriting() ?
		gc_rewrite(parse, (options & CURSOR_OPT_FAST_PLAN) != 0, params) : NULL;
	if (rewritten)
	{
		first = run_planner(rewritten, query_string, options, params, refusal, gc_rewriting_forced());
		if (!gc_rewriting_forced() && !worth_comparing(first))
			first = NULL;
	}
	if (first && !forced)
		key = gc_verdict_key(parse, query_string);
	if (first && (forced || gc_verdict_is_known(key, first)))
		stmt = first;
	else
	{
		char		refused[sizeof(last_refusal)];

		stmt = run_planner(parse, query_string, options, params, refused, true);
		if (first)
			gc_verdict_note(key, first, stmt);
		if (first && first->planTree->total_cost < stmt->planTree->total_cost)
			stmt = first;
		else
			strlcpy(refusal, refused, sizeof(refusal));
	}
	strlcpy(last_refusal, refusal, sizeof(last_refusal));
	count_refusal(&tables, refusal);
	return stmt;
}

/*
 * Is this relation the largest piece that could be offloaded?  Not if an aggregate
 * (of those that are offloaded at all) or a larger join takes it along.  Smaller
 * pieces are offered only where an outer or semi join may stand in the way (a full
 * join does), so that fallback plans are PostgreSQL's own throughout.
 */
static bool
worth_offering(PlannerInfo *root, RelOptInfo *rel)
{
	if (!bms_equal(rel->relids, GC_ALL_RELIDS(root)))
		return root->join_info_list != NIL;
	if (!root->parse->hasAggs && root->parse->groupClause == NIL)
		return true;
	/* Many groups of grouping sets may be too dear to decode: then their input is offered. */
	return root->parse->groupingSets != NIL || gc_aggregates_refused(root);
}

static void
gc_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (prev_rel_hook)
		prev_rel_hook(root, rel, rti, rte);
	if (gc_planning && gc_offload_active() && worth_offering(root, rel))
		gc_add_rel_path(root, rel);
}

static void
gc_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
				 RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	if (prev_join_hook)
		prev_join_hook(root, joinrel, outer, inner, jointype, extra);
	if (!gc_planning || !gc_offload_active())
		return;
	/* Exhaustive search keeps lists of join relations by level. */
	gc_planning->geqo = enable_geqo && root->join_rel_level == NULL;
	if (gc_describe_join(root, joinrel, outer, inner, jointype, extra) &&
		worth_offering(root, joinrel))
		gc_add_rel_path(root, joinrel);
	else if (gc_offload_forced())
		gc_keep_only_offer(joinrel);
	gc_planning->geqo = false;
}

static void
gc_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
			   RelOptInfo *output, void *extra)
{
	if (prev_upper_hook)
		prev_upper_hook(root, stage, input, output, extra);
	if (gc_planning && gc_offload_active() && stage == UPPERREL_GROUP_AGG)
	{
		gc_add_group_path(root, input, output, extra);
		gc_add_window_order(root, output);
	}
	if (gc_planning && gc_offload_active() && stage == UPPERREL_DISTINCT)
		gc_add_distinct_path(root, input, output);
	if (gc_planning && gc_offload_active() && stage == UPPERREL_ORDERED)
		gc_add_ordered_path(root, input, output);
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

/* EXPLAIN VERBOSE of a statement that is not offloaded says why. */
static void
gc_explain_one_query(Query *query, int cursorOptions, IntoClause *into, ExplainState *es,
					 const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
	last_refusal[0] = '\0';
	if (prev_explain_hook)
		prev_explain_hook(query, cursorOptions, into, es, queryString, params, queryEnv);
	else
		explain_standard(query, cursorOptions, into, es, queryString, params, queryEnv);
	if (gc_offload_active() && es->verbose && es->format == EXPLAIN_FORMAT_TEXT && last_refusal[0])
		ExplainPropertyText("Gpuconc", psprintf("not offloaded: %s", last_refusal), es);
}

void
gc_plan_install_hooks(void)
{
	gc_verdict_install();
	prev_planner_hook = planner_hook;
	planner_hook = gc_planner;
	prev_rel_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = gc_rel_pathlist;
	prev_join_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = gc_join_pathlist;
	prev_upper_hook = create_upper_paths_hook;
	create_upper_paths_hook = gc_upper_paths;
	prev_explain_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = gc_explain_one_query;
}
