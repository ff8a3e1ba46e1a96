/*-------------------------------------------------------------------------
 *
 * cold_choice.c
 *	  Whether a plan is to wait until its nodes' columns are loaded, and their kernels compiled.
 *
 * A node whose columns are not loaded, or whose kernels are not compiled, has its fallback answer (exec/cold.c).  The
 * plan around it was chosen for the node, and the query may have been rewritten for it.  PostgreSQL's own plan of the
 * whole statement is often much faster.  So it is asked here, too.  That plan is taken as long as loads would take
 * longer, or cannot be, or would push out what other queries use.  It is also taken while kernels are compiled.  A
 * session has asked for these, or a loader for the nodes that were left to it (columns/load/cold_plans.h).  Of others
 * only the worker knows, so an execution still finds out.  And it is taken where a column has a value that cannot be
 * cached, until it is worth another try.  A node that has all it needs may still pay for another one that falls back.
 *
 * Such a plan may be kept by a prepared statement, so that the session's kept plans are made again after
 * a while (cached_plans.c).
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "cold_choice.h"

#include "access/table.h"
#include "executor/executor.h"

#include "cached_plans.h"
#include "base/plan.h"
#include "expr/cold_plan.h"
#include "finished_plan.h"
#include "../compat.h"
#include "../columns/encode/problem.h"
#include "../columns/encode/spec.h"
#include "../columns/load/table_loader.h"
#include "../columns/load/missing.h"
#include "../columns/store/directory.h"
#include "../columns/store/epoch.h"
#include "../columns/store/store.h"
#include "../force.h"
#include "../queue/compiling.h"
#include "../settings.h"

/* One table of a node, and what the node reads of it. */
typedef struct Table
{
	Relation	rel;
	int			ncols;
	GcColSpec  *specs;
} Table;

/* A node of a plan, and what it lacks. */
typedef struct NodeState
{
	const GcPlan *plan;
	List	   *tables;			/* Table */
	List	   *cold;			/* tables that lack columns */
	GcMissing	missing;
	bool		compiles;		/* a session found its kernels being compiled, and they probably still are */
	const char *problem;		/* of a column that cannot be cached, which is not tried again now; NULL: none */
} NodeState;

/* attnums: the attributes that are the columns of an append input, else NULL. */
static Table *
open_table(const GcProgram *p, int input, Oid relid, const int16 *attnums)
{
	const GcPInput *pin = &gc_inputs(p)[input];
	Table	   *table = palloc0(sizeof(Table));
	const char *reason;

	table->rel = table_open(relid, NoLock);
	table->specs = palloc((pin->ncolumns + 1) * sizeof(GcColSpec));
	for (int c = 0; c < pin->ncolumns; c++)
	{
		const GcPColumn *col = &gc_columns(p)[pin->first_column + c];
		AttrNumber	attnum = attnums ? attnums[col->attnum - 1] : col->attnum;

		if (attnum > 0 && gc_col_spec(table->rel, attnum, &table->specs[table->ncols], &reason))
			table->ncols++;
	}
	return table;
}

static List *
open_tables(const GcPlan *plan)
{
	const GcProgram *p = GC_PLAN_PROGRAM(plan);
	List	   *tables = NIL;

	for (int i = 0; i < plan->ninputs; i++)
	{
		const GcPlanInput *in = &plan->inputs[i];

		if (in->nparts == 0 && OidIsValid(in->relid))
			tables = lappend(tables, open_table(p, i, in->relid, NULL));
		for (int k = 0; k < in->nparts; k++)
		{
			const GcPlanPart *part = &GC_PLAN_PARTS(plan)[in->first_part + k];

			tables = lappend(tables, open_table(p, i, part->relid, GC_PLAN_ATTNUMS(plan) + part->first_attnum));
		}
	}
	return tables;
}

/* The tables that lack columns, and how long the loads take. */
static List *
lacking(List *tables, GcMissing *missing)
{
	List	   *found = NIL;
	ListCell   *lc;

	gc_guard_enter();
	foreach(lc, tables)
	{
		Table	   *table = lfirst(lc);

		if (gc_missing_add(table->rel, table->ncols, table->specs, missing))
			found = lappend(found, table);
	}
	gc_guard_leave();
	return found;
}

/* The reason that keeps a column out of the cache, so that a node that reads it falls back each time; NULL: none. */
static const char *
problem_of(List *tables)
{
	const char *problem = NULL;
	ListCell   *lc;

	gc_guard_enter();
	foreach(lc, tables)
	{
		const Table *table = lfirst(lc);
		const GcDirectory *dir = gc_directory(table->rel);

		for (int c = 0; c < table->ncols && dir && !problem; c++)
		{
			const int	have = gc_directory_column(dir, &table->specs[c]);

			if (have >= 0 && !gc_worth_retry(table->rel, dir, have))
				problem = gc_problem_text(dir->columns[have].problem);
		}
	}
	gc_guard_leave();
	return problem;
}

/*
 * The plan's nodes, with their tables open; close_nodes() closes them.  A node that decides at execution may not ask
 * the device at all, and PostgreSQL's own plan is as good around it.  Then exec/cold.c looks.
 */
static List *
open_nodes(PlannedStmt *stmt)
{
	List	   *nodes = NIL;
	ListCell   *lc;

	foreach(lc, gc_nodes_of(stmt))
	{
		const GcPlan *plan = lfirst(lc);
		NodeState  *node;
		GcHash		key;

		if (plan->nguesses > 0)
			continue;
		node = palloc0(sizeof(NodeState));
		node->plan = plan;
		key = gc_program_key(GC_PLAN_PROGRAM(node->plan));
		node->tables = open_tables(node->plan);
		node->problem = problem_of(node->tables);
		node->cold = node->problem ? NIL : lacking(node->tables, &node->missing);
		node->compiles = gc_compiling_goes_on(&key);
		nodes = lappend(nodes, node);
	}
	return nodes;
}

/* Close all tables of the nodes; locks stay. */
static void
close_nodes(List *nodes)
{
	ListCell   *lc;
	ListCell   *table;

	foreach(lc, nodes)
	{
		foreach(table, ((NodeState *) lfirst(lc))->tables)
			table_close(((Table *) lfirst(table))->rel, NoLock);
	}
}

/* May a loader load all of these tables? */
static bool
may_be_loaded(List *tables)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		const Table *table = lfirst(lc);

		if (!gc_may_load_in_background(table->rel))
			return false;
	}
	return true;
}

/* Have them loaded; false if no worker is free for that. */
static bool
load_meanwhile(List *tables)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		const Table *table = lfirst(lc);

		if (gc_load_columns_in_background(table->rel, table->ncols, table->specs) == GC_COLD_NO_WORKER)
			return false;
	}
	return true;
}

bool
gc_may_answer_meanwhile(void)
{
	return gc_cold != GC_COLD_WAIT && !gc_offload_forced() && !gc_rewriting_forced();
}

bool
gc_is_cold(PlannedStmt *stmt)
{
	List	   *nodes;
	ListCell   *lc;
	bool		cold = false;

	if (!gc_may_answer_meanwhile())
		return false;
	nodes = open_nodes(stmt);
	foreach(lc, nodes)
	{
		const NodeState *node = lfirst(lc);

		cold |= node->cold != NIL || node->compiles || node->problem;
	}
	close_nodes(nodes);
	return cold;
}

/* Columns that all of the plan's nodes lack. */
typedef struct Lack
{
	List	   *cold;			/* Table */
	GcMissing	missing;
	bool		loadable;
	bool		room;
	bool		compiles;
	const char *problem;
	bool		all;			/* each node lacks something, and falls back */
	double		ms;				/* that the nodes take for it, together */
} Lack;

/* As exec/cold.c decides of a node. */
static bool
falls_back(const NodeState *node)
{
	if (node->compiles || node->problem)
		return true;
	if (node->cold == NIL)
		return false;
	return gc_cold == GC_COLD_FALLBACK || !gc_worth_waiting(node->missing.ms, node->plan->ms, node->plan->own_ms) ||
		!may_be_loaded(node->cold) || !gc_missing_fits(&node->missing);
}

/* Everything that the nodes lack, and how long their own plans take that would answer instead. */
static Lack
lack_of(List *nodes)
{
	Lack		lack = {.all = true};
	ListCell   *lc;
	GcMissing	waited_for = {0};

	foreach(lc, nodes)
	{
		const NodeState *node = lfirst(lc);

		lack.cold = list_concat(lack.cold, node->cold);
		lack.compiles |= node->compiles;
		lack.problem = lack.problem ? lack.problem : node->problem;
		if (falls_back(node))
		{
			lack.ms += node->plan->own_ms;
			continue;
		}
		lack.all = false;
		(void) lacking(node->cold, &waited_for);
	}
	(void) lacking(lack.cold, &lack.missing);
	lack.loadable = may_be_loaded(lack.cold);
	lack.room = lack.cold == NIL || gc_missing_fits(&lack.missing);
	lack.ms += GC_WAIT_FACTOR * waited_for.ms;
	return lack;
}

/*
 * Is the original sooner than a rewritten query that waits for loads?  What the rewritten query's fallback takes is not
 * asked: nodes of ours in it would fall back, too.  It is often slower than the original.
 */
static bool
beats_loads(const Lack *lack, double ms, double original_ms)
{
	return lack->compiles || lack->problem || !lack->loadable || !lack->room || gc_cold == GC_COLD_FALLBACK ||
		!gc_worth_waiting(lack->missing.ms, ms, original_ms);
}

/*
 * Why the other plan is to answer, which is sooner.  Loads begin, if the executor would let the user read the tables.
 * Columns that cannot be loaded, or would push out columns in use, are left alone: then nodes would fall back each
 * time.
 */
static const char *
begin_loads(const Lack *lack, PlannedStmt *stmt, PlannedStmt *other)
{
	ListCell   *lc;

	if (lack->cold == NIL)
		return lack->problem ? lack->problem : GC_COLD_COMPILES;
	if (!lack->loadable)
		return GC_COLD_NOT_LOADABLE;
	if (!lack->room)
		return GC_COLD_NO_ROOM;
	if (!GC_IS_PERMITTED(other))
		return GC_COLD_NOT_PERMITTED;
	foreach(lc, gc_scans_of(stmt))
		gc_cold_plan_leave(lfirst(lc));
	return load_meanwhile(lack->cold) ? GC_COLD_LOADS : GC_COLD_NO_LOADER;
}

const char *
gc_cold_choice(PlannedStmt *stmt, double ms, PlannedStmt *other, double other_ms, bool rewritten)
{
	const char *refusal = NULL;
	List	   *nodes;
	Lack		lack;

	if (!gc_may_answer_meanwhile())
		return NULL;
	nodes = open_nodes(stmt);
	lack = lack_of(nodes);
	ereport(DEBUG3,
			(errmsg_internal("gpuconc expects to load columns in %.3f ms, its plan to take %.3f ms then, and PostgreSQL's to take %.3f ms",
							 lack.missing.ms, ms, other_ms)));
	if ((lack.cold != NIL || lack.compiles || lack.problem) &&
		(rewritten ? beats_loads(&lack, ms, other_ms) : lack.all || other_ms <= ms + lack.ms))
		refusal = begin_loads(&lack, stmt, other);
	close_nodes(nodes);
	if (refusal)
		gc_cached_plans_later();
	else if (rewritten && lack.cold != NIL)
		gc_set_other_ms(stmt, other_ms);
	return refusal;
}
