/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  Planning a statement: once, twice, or with our hooks idle.
 *
 * A query that can be rewritten is copied, and the copy planned first.  Its plan is taken if it has a node, and takes
 * less time than the original's (cost/execution_time.c).  It has to be far less if PostgreSQL itself reads a table in
 * it.  PostgreSQL's costs do not say that: an index in memory takes a small part of what it costs.  plan_memory.c
 * remembers which of the two won.
 *
 * A statement whose nodes lack columns or kernels is planned once more with our hooks idle (cold_choice.c).  The
 * planner changes its input, so a copy is made first.  No plan is kept for another statement.  PostgreSQL plans each
 * anew, and the values that it computes then, by a function that looks at a setting, say, may be others.
 *
 * Runs in backends.  Each run of the planner has a state of its own (base/planning.h).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "optimizer/planner.h"
#include "utils/float.h"
#include "utils/hsearch.h"

#include "base/invalidation.h"
#include "cold_choice.h"
#include "base/distributed.h"
#include "base/query_summary.h"
#include "hooks.h"
#include "cost/join_order.h"
#include "cached_plans.h"
#include "base/permitted.h"
#include "base/planning.h"
#include "cost/costs.h"
#include "cost/paths.h"
#include "rewrite/rewrite.h"
#include "plan_memory.h"
#include "finished_plan.h"
#include "../compat.h"
#include "../columns/encode/spec.h"
#include "../columns/store/store.h"
#include "../queue/queue.h"
#include "../queue/reasons.h"
#include "../force.h"
#include "../settings.h"

/* The reason for tables that Citus has distributed. */
#define GC_ELSEWHERE	"the rows of a table are in shards, whose servers offload what they are asked for"

static planner_hook_type prev_planner_hook = NULL;

/* Does the statement read a table that is not PostgreSQL's own? */
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

/* Plan as if this module was not there. */
static PlannedStmt *
call_planner(Query *parse, const char *query_string, int options, ParamListInfo params)
{
	if (prev_planner_hook)
		return prev_planner_hook(parse, query_string, options, params);
	return standard_planner(parse, query_string, options, params);
}

/* May relations be passed over?  Not where DEBUG1 is to say why each is refused; DEBUG2 tells of that, too. */
static bool
may_pass_over(void)
{
	return !message_level_is_interesting(DEBUG1) || message_level_is_interesting(DEBUG2);
}

/* Is there anyone to be told of DEBUG1?  Asked for each statement, so without a call. */
static inline bool
may_tell(void)
{
	return log_min_messages <= DEBUG1 || client_min_messages <= DEBUG1;
}

/* A run of the planner: what it was told, and what came of it.  start_run() leaves out what most runs do not fill. */
typedef struct Run
{
	const char *query_string;
	int			options;
	ParamListInfo params;
	const GcQuerySummary *summary;
	bool		required;		/* no other plan is to come */
	bool		told;			/* messages may tell of the run; else no level is asked for */
	uint64		key;			/* for what is remembered; 0: nothing is */
	Cost		ceiling;		/* as GcPlanning's */
	bool		has_node;		/* of ours */
	bool		looked;			/* something cost more than the ceiling */
	Cost		most;			/* as GcPlanning's */
	bool		passing;		/* the plan is one for now */
	bool		warm;			/* the nodes of its plans lack no columns or kernels; or that is no matter */
	bool		settled;		/* it was found out whether they do */
	bool		timed;			/* as GcPlanning's */
	Cost		time;			/* as GcPlanning's; 0 where there is no path */
	bool		of_all;			/* the refusal is about the statement as a whole */
	GcRowsSeen	seen;			/* as GcPlanning's; of runs without a ceiling */
	char		refusal[GC_REFUSAL_SIZE];
} Run;

/* Begin a run of the planner over one statement; large buffers are only marked empty. */
static void
start_run(Run *run, const char *query_string, int options, ParamListInfo params, const GcQuerySummary *summary)
{
	memset(run, 0, offsetof(Run, seen));
	run->query_string = query_string;
	run->options = options;
	run->params = params;
	run->summary = summary;
	run->seen.n = 0;
	run->refusal[0] = '\0';
}

/* A reason that is not about a part of the statement, of which messages tell at once. */
static void
refuse(Run *run, const char *reason)
{
	strlcpy(run->refusal, reason, sizeof(run->refusal));
	run->of_all = true;
}

/* For who asks for DEBUG1. */
static void
tell_refusal(const char *reason)
{
	ereport(DEBUG1,
			(errmsg_internal("gpuconc does not offload a statement: %s", reason)));
}

/* In how many subqueries of FROM the plan's nodes stand, at most. */
static int
depth_of_nodes(const GcPlanning *mine, PlannedStmt *stmt)
{
	const List *nodes = gc_scans_of(stmt);
	int			depth = 0;
	ListCell   *lc,
			   *ld;

	forboth(lc, mine->nodes, ld, mine->depths)
	{
		if (list_member_ptr(nodes, lfirst(lc)))
			depth = Max(depth, lfirst_int(ld));
	}
	return depth;
}

/* Was all of the statement offloaded, as the cheaper plan by far?  Is it once more? */
static void
note_whole(const Run *run, const GcPlanning *mine, PlannedStmt *stmt)
{
	if (mine->whole && (!run->has_node || mine->narrow || !gc_is_fully_offloaded(stmt)))
	{
		gc_plan_memory_unsettle(run->key);
		/* A plan that is kept may lack the nodes of subqueries that were not offered. */
		if (mine->went_along)
			gc_cached_plans_later();
	}
	else if (!mine->whole && run->key != 0 && run->has_node && !mine->narrow && gc_is_fully_offloaded(stmt))
		gc_plan_memory_note_whole(run->key, run->summary, depth_of_nodes(mine, stmt));
}

/* One run of the planner, with a state of its own. */
static PlannedStmt *
run_planner(Query *parse, Run *run)
{
	GcPlanning	mine;
	PlannedStmt *volatile stmt = NULL;

	memset(&mine, 0, offsetof(GcPlanning, seen));
	mine.seen.n = 0;
	mine.outer = gc_planning;
	mine.context = CurrentMemoryContext;
	mine.cursor = (run->options & CURSOR_OPT_FAST_PLAN) != 0;
	mine.storage_seen = run->summary->storage;
	mine.parameters = run->summary->parameters;
	mine.users_calls = run->summary->users_calls;
	mine.ceiling = run->ceiling;
	mine.refusal = run->refusal;
	mine.timed = run->timed;
	mine.key = run->key;
	mine.whole = run->ceiling <= 0 && may_pass_over() && gc_plan_memory_is_whole(run->key);
	mine.deepest = mine.whole ? gc_plan_memory_depth(run->key) : 0;
	gc_planning = &mine;
	PG_TRY();
	{
		stmt = call_planner(parse, run->query_string, run->options, run->params);
		if (mine.offered)
			gc_show_window_functions(stmt);
		run->has_node = mine.offered && gc_has_node(stmt);
		if (run->refusal[0] == '\0' && mine.offered && !run->has_node)
			refuse(run, GC_CHEAPER);
		if (run->ceiling <= 0)
		{
			note_whole(run, &mine, stmt);
			run->seen = mine.seen;
		}
		if (mine.searches != NIL)
			gc_join_order_note();
		run->looked = mine.looked;
		run->most = mine.most;
		run->time = mine.time;
		if (run->has_node)
			run->refusal[0] = '\0';
		if (run->required && gc_offload_required())
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
	return gc_rewriting_forced() || (gc_rewriting_allowed() && gc_device_may_answer());
}

/* Count a refusal for each table that the query named before it was planned. */
static void
count_refusal(const GcQuerySummary *summary, const char *refusal)
{
	for (int i = 0; i < summary->ntables && refusal[0] != '\0'; i++)
		(void) gc_reason_count(summary->tables[i], false, refusal);
}

/* A statement that no node of ours may be part of, though others that are planned meanwhile may have some. */
static PlannedStmt *
leave_alone(Query *parse, const char *query_string, int options, ParamListInfo params)
{
	GcPlanning *outer = gc_planning;
	PlannedStmt *stmt;

	tell_refusal(GC_ELSEWHERE);
	gc_explained_refusal(GC_ELSEWHERE, query_string);
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
	return stmt;
}

/* May what is found out about a statement be used for the next of its shape, and what was found out for it? */
static bool
may_remember(void)
{
	return !gc_rewriting_forced() && !gc_offload_forced();
}

/*
 * How many times as long the original takes as the rewritten query; 0: there is no rewritten plan.  PostgreSQL's costs
 * do not tell: an index that is looked at for each outer row, in memory, takes a part of what it costs.
 */
static double
lead_of(const PlannedStmt *rewritten, Cost rewritten_time, Cost original_time)
{
	return rewritten ? original_time / Max(rewritten_time, 1e-6) : 0;
}

/* Do nodes of this plan, of which the statement has some, lack columns or kernels, so that another may be sooner? */
static bool
is_cold(Run *run, PlannedStmt *stmt)
{
	const uint64 losses = gc_store_losses();

	if (run->warm)
		return false;
	if (gc_is_cold(stmt))
		return true;
	gc_plan_memory_note_warm(run->key, run->summary, stmt, losses);
	return false;
}

/*
 * PostgreSQL's own plan of the statement, without a node of ours, if it is to answer instead of `cold`, which lacks
 * columns or kernels.  Else NULL.  other: that plan, where *run has made it.  NULL: it is made here, of `query`, a copy
 * from before the planner.  *run becomes that of the plan returned.
 */
static PlannedStmt *
plan_meanwhile(Query *query, Run *run, PlannedStmt *cold, Cost cold_time, PlannedStmt *other, bool rewritten)
{
	Run			own;
	const char *refusal;

	if (other)
		own = *run;
	else
	{
		start_run(&own, run->query_string, run->options, run->params, run->summary);
		own.ceiling = get_float8_infinity();
		own.timed = true;
		other = run_planner(query, &own);
	}
	refusal = gc_cold_choice(cold, cold_time * GC_UNIT_MS, other, own.time * GC_UNIT_MS, rewritten);
	if (refusal == NULL)
		return NULL;
	refuse(&own, refusal);
	own.passing = true;
	*run = own;
	return other;
}

/* PostgreSQL's estimates of a rewritten query, of which it reads tables itself, may be too low by this factor. */
#define MIXED_DOUBT		10

/* The plan of the rewritten query, if it has a node.  *rewritten becomes whether there is such a query. */
static PlannedStmt *
plan_rewritten(Query *parse, Run *run, GcCteChoice *ctes, bool *rewritten)
{
	Query	   *query = gc_rewrite(parse, (run->options & CURSOR_OPT_FAST_PLAN) != 0, run->params, ctes);
	List	   *lost;
	PlannedStmt *stmt;

	*rewritten = query && gc_rewriting_is_permitted(parse, query, &lost);
	if (!*rewritten)
		return NULL;
	lost = gc_rewriting_depends_on(lost);
	run->required = gc_rewriting_forced();
	run->timed = true;
	/* Its levels are others than the original's; so are those of a query with another choice. */
	run->key = run->key != 0 && !ctes->narrow ? ~run->key : 0;
	stmt = run_planner(query, run);
	stmt->invalItems = list_concat(stmt->invalItems, lost);
	if (!gc_is_fully_offloaded(stmt))
		run->time *= MIXED_DOUBT;
	return gc_rewriting_forced() || gc_has_node(stmt) ? stmt : NULL;
}

/* Likewise, the sooner one where a CTE may be inlined, or stay one of fewer rows. */
static PlannedStmt *
plan_either_rewritten(Query *parse, Run *run, bool *rewritten)
{
	GcCteChoice ctes = {0};
	Run			other = *run;
	PlannedStmt *inlined = plan_rewritten(parse, run, &ctes, rewritten);
	PlannedStmt *narrowed;

	if (!ctes.narrowable || !*rewritten)
		return inlined;
	ctes.narrow = true;
	narrowed = plan_rewritten(parse, &other, &ctes, rewritten);
	*rewritten = true;
	if (narrowed == NULL || (inlined && run->time <= other.time))
		return inlined;
	*run = other;
	return narrowed;
}

/*
 * A query that can be rewritten has two plans.  The rewritten one is taken as the head of this file says.
 * Where it is known from before which does, the other is not planned (plan_memory.c).  The planner scribbles on its
 * input, so the rewritten query is a copy.  copy: another one, where nodes may lack columns or kernels.
 */
static PlannedStmt *
plan_both(Query *parse, Run *run, Query *copy)
{
	const uint64 key = run->key;
	const bool	forced = gc_rewriting_forced() || gc_offload_forced();
	const bool	lost = gc_plan_memory_rewriting_lost(key);
	Run			other = *run;
	bool		rewritten = false;
	PlannedStmt *first = NULL;
	PlannedStmt *own = NULL;
	PlannedStmt *stmt;
	double		lead;
	bool		cold;

	if (!lost && worth_rewriting())
		first = plan_either_rewritten(parse, &other, &rewritten);
	run->timed |= rewritten;
	/* While columns are not loaded the original may still be sooner. */
	cold = first && !forced && is_cold(run, first);
	if (first && (forced || (!cold && gc_plan_memory_rewriting_won(key, first, &other.seen))))
	{
		*run = other;
		run->settled = true;
		return first;
	}
	stmt = run_planner(parse, run);
	lead = lead_of(first, other.time, run->time);
	if (rewritten)
		gc_plan_memory_note_rewriting(key, run->summary, first, &other.seen, stmt, lead);
	if (lost)
		gc_plan_memory_check_original(key, stmt);
	if (first == NULL || lead <= 1)
		return stmt;
	/* Nodes in the original would lack what the rewritten query's lack. */
	if (cold)
		own = plan_meanwhile(copy, run, first, other.time, run->has_node ? NULL : stmt, true);
	if (own)
		return own;
	*run = other;
	run->settled = true;
	return first;
}

/*
 * PostgreSQL's own plan of the statement, if nodes of this one lack columns or kernels, and it is sooner for now.
 * query: a copy, from before the planner.
 */
static PlannedStmt *
plan_while_cold(Query *query, Run *run, PlannedStmt *stmt)
{
	PlannedStmt *own = is_cold(run, stmt) ? plan_meanwhile(query, run, stmt, run->time, NULL, false) : NULL;

	return own ? own : stmt;
}

/* May it not turn out that nodes lack columns, or kernels, so that the statement is planned once more? */
static bool
is_warm(const Run *run)
{
	return run->summary->ntables == 0 || !gc_may_answer_meanwhile() || !gc_device_may_answer() ||
		gc_plan_memory_is_warm(run->key);
}

/* Why the statement is not offloaded, for EXPLAIN and counts; empty if it is. */
static void
note_refusal(const Run *run)
{
	if (run->of_all && run->refusal[0] != '\0')
		tell_refusal(run->refusal);
	count_refusal(run->summary, run->refusal);
	gc_explained_refusal(run->refusal, run->query_string);
}

/* A statement of which nothing was offloaded before. */
static PlannedStmt *
plan_as_before(Query *parse, Run *run)
{
	PlannedStmt *stmt = run_planner(parse, run);

	if (run->told)
		ereport(DEBUG2,
				(errmsg_internal("gpuconc passes over a statement%s", run->looked ? ", but for what costs more than before" : "")));
	if (run->has_node || run->refusal[0] != '\0')
		note_refusal(run);
	else
		gc_explained_refusal(gc_plan_memory_count(run->key, run->summary), run->query_string);
	if (run->looked || stmt->planTree->total_cost > run->ceiling)
		gc_plan_memory_unsettle(run->key);
	return stmt;
}

/* Any other. */
static PlannedStmt *
plan_anew(Query *parse, Run *run)
{
	Query	   *copy = NULL;
	PlannedStmt *stmt;

	gc_cached_plans_begin();
	run->warm = is_warm(run);
	if (!run->warm)
	{
		copy = copyObject(parse);
		run->timed = true;
	}
	stmt = plan_both(parse, run, copy);
	if (copy && run->has_node && !run->settled)
		stmt = plan_while_cold(copy, run, stmt);
	if (!run->has_node && !run->passing)
		gc_plan_memory_note_left(run->key, run->summary, Max(stmt->planTree->total_cost, run->most), run->refusal);
	note_refusal(run);
	return stmt;
}

/* A statement of a SERIALIZABLE transaction, in which each node would fall back. */
static PlannedStmt *
plan_tracked(Query *parse, Run *run)
{
	PlannedStmt *stmt;

	if (run->summary->ntables > 0)
		refuse(run, GC_SERIALIZABLE);
	run->ceiling = get_float8_infinity();
	stmt = run_planner(parse, run);
	/* Statements that would have no node anyway are many, and what is counted is counted under a lock. */
	if (stmt->planTree->total_cost <= gc_offload_cost)
	{
		gc_explained_refusal(run->refusal, run->query_string);
		return stmt;
	}
	gc_cached_plans_tracked();
	note_refusal(run);
	return stmt;
}

/* The hook: leave the statement alone, plan it with what is remembered, or plan it in all ways. */
static PlannedStmt *
gc_planner(Query *parse, const char *query_string, int options, ParamListInfo params)
{
	GcQuerySummary summary;
	Run			run;

	if (!gc_offload_active())
		return call_planner(parse, query_string, options, params);

	gc_summarise_query(parse, &summary);
	if (gc_reads_distributed(parse))
	{
		PlannedStmt *stmt = leave_alone(parse, query_string, options, params);

		count_refusal(&summary, GC_ELSEWHERE);
		return stmt;
	}
	start_run(&run, query_string, options, params, &summary);
	run.required = true;
	if (gc_reads_are_tracked())
		return plan_tracked(parse, &run);
	if (may_remember())
		run.key = gc_plan_memory_key(&summary, options, params != NULL);
	run.told = may_tell();
	if (run.told && !may_pass_over())
		return plan_anew(parse, &run);
	if (gc_plan_memory_leaves(run.key, &run.ceiling))
		return plan_as_before(parse, &run);
	return plan_anew(parse, &run);
}

void
gc_plan_install_hooks(void)
{
	gc_distributed_install();
	gc_invalidation_install();
	gc_cached_plans_install();
	gc_explained_install();
	gc_path_hooks_install();
	prev_planner_hook = planner_hook;
	planner_hook = gc_planner;
}
