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
#include "hooks.h"
#include "node.h"
#include "paths.h"
#include "planning.h"
#include "relinfo.h"
#include "source.h"
#include "../compat.h"
#include "../force.h"
#include "../settings.h"

/* Why the last planned statement of this backend was not offloaded; or empty. */
static char last_refusal[256];

static planner_hook_type prev_planner_hook = NULL;
static set_rel_pathlist_hook_type prev_rel_hook = NULL;
static set_join_pathlist_hook_type prev_join_hook = NULL;
static create_upper_paths_hook_type prev_upper_hook = NULL;
static ExplainOneQuery_hook_type prev_explain_hook = NULL;

/* Is there a custom scan of ours anywhere in this plan? */
static bool
plan_has_gc_scan(Plan *plan, List *subplans)
{
	ListCell   *lc;
	List	   *children = NIL;

	if (plan == NULL)
		return false;
	if (gc_is_node(plan))
		return true;
	switch (nodeTag(plan))
	{
		case T_Append:
			children = ((Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			children = ((MergeAppend *) plan)->mergeplans;
			break;
		case T_SubqueryScan:
			children = list_make1(((SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			children = ((CustomScan *) plan)->custom_plans;
			break;
		default:
			break;
	}
	foreach(lc, children)
	{
		if (plan_has_gc_scan(lfirst(lc), subplans))
			return true;
	}
	foreach(lc, subplans)
	{
		if (plan_has_gc_scan(lfirst(lc), NIL))
			return true;
	}
	return plan_has_gc_scan(outerPlan(plan), NIL) || plan_has_gc_scan(innerPlan(plan), NIL);
}

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
	if (stmt->commandType != CMD_SELECT || !reads_user_table(stmt) ||
		plan_has_gc_scan(stmt->planTree, stmt->subplans))
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

static PlannedStmt *
gc_planner(Query *parse, const char *query_string, int options, ParamListInfo params)
{
	GcPlanning	mine = {.outer = gc_planning,.context = CurrentMemoryContext,
	.cursor = (options & CURSOR_OPT_FAST_PLAN) != 0};
	PlannedStmt *volatile stmt = NULL;

	if (!gc_offload_active())
		return call_planner(parse, query_string, options, params);

	mine.storage_seen = gc_looks_at_storage((Node *) parse);
	gc_planning = &mine;
	PG_TRY();
	{
		stmt = call_planner(parse, query_string, options, params);
		if (mine.refusal[0] == '\0' && mine.offered)
			strlcpy(mine.refusal, GC_CHEAPER, sizeof(mine.refusal));
		strlcpy(last_refusal, plan_has_gc_scan(stmt->planTree, stmt->subplans) ? "" : mine.refusal,
				sizeof(last_refusal));
		if (gc_offload_required())
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

/*
 * Is this relation the largest piece that could be offloaded?  Not if an aggregate
 * (of those that are offloaded at all) or a larger inner join takes it along.
 * Smaller pieces are offered only where an outer or semi join stands in the way, so
 * that fallback plans are PostgreSQL's own throughout.
 */
static bool
worth_offering(PlannerInfo *root, RelOptInfo *rel)
{
	if (!bms_equal(rel->relids, GC_ALL_RELIDS(root)))
		return root->join_info_list != NIL;
	if (!root->parse->hasAggs && root->parse->groupClause == NIL)
		return true;
	return gc_aggregates_refused(root);
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
		gc_add_group_path(root, input, output, extra);
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
