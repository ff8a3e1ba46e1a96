/*-------------------------------------------------------------------------
 *
 * cold_choice.c
 *	  Whether a rewritten query is to wait until its columns are loaded, and its kernels compiled.
 *
 * A node whose columns are not loaded, or whose kernels are not compiled, has PostgreSQL's plan answer (exec/cold.c),
 * which is that of the rewritten query.  The original's is often much faster.  So it is asked here, too, and the
 * original's plan is taken as long as a load would take longer, or cannot be, or would push out what other queries
 * use.  It is also taken while kernels are compiled that a session has asked for.  Only the worker knows that they are
 * not there, so the first execution after the columns are loaded still finds out.
 * Such a plan may be kept by a prepared statement, so that the session's kept plans are made again after a while.
 *
 * Planner, in backends; and at the start of an execution.
 *
 *-------------------------------------------------------------------------
 */
#include "cold_choice.h"

#include "access/table.h"
#include "executor/executor.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "plan.h"
#include "whole.h"
#include "../compat.h"
#include "../columns/background.h"
#include "../columns/epoch.h"
#include "../columns/missing.h"
#include "../columns/spec.h"
#include "../force.h"
#include "../queue/compiling.h"
#include "../settings.h"

/*
 * Kept plans are made again after so long.  It doubles where columns are missing soon after the last time, whether they
 * are the same or not, and whatever other queries find.
 */
#define FIRST_DELAY_MS	100
#define LAST_DELAY_MS	10000

/* Plans of this session that were made for want of columns are made again from then on; 0: there are none. */
static TimestampTz made_again_at = 0;
static TimestampTz last_made_again = 0;
static int	delay_ms = FIRST_DELAY_MS;

static ExecutorStart_hook_type prev_start_hook = NULL;

/* One table of a node, and what the node reads of it. */
typedef struct Table
{
	Relation	rel;
	int			ncols;
	GcColSpec  *specs;
} Table;

/* attnums: the attributes that are the columns of an append input, else NULL.  NULL if it cannot be read from the cache. */
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
tables_of(const GcPlan *plan, List *tables)
{
	const GcProgram *p = GC_PLAN_PROGRAM(plan);

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

static List *
open_tables(PlannedStmt *stmt)
{
	List	   *tables = NIL;
	ListCell   *lc;

	foreach(lc, gc_nodes_of(stmt))
		tables = tables_of(lfirst(lc), tables);
	return tables;
}

static void
close_tables(List *tables)
{
	ListCell   *lc;

	foreach(lc, tables)
		table_close(((Table *) lfirst(lc))->rel, NoLock);
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

static bool
may_be_loaded(List *tables)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		const Table *table = lfirst(lc);

		if (!gc_may_load_in_background(table->rel, table->ncols))
			return false;
	}
	return true;
}

/* Have them loaded; false if no worker is free for that, so that a query has to load them itself. */
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

/* May PostgreSQL answer while columns are loaded? */
static bool
may_load_meanwhile(void)
{
	return gc_cold != GC_COLD_WAIT && !gc_offload_forced() && !gc_rewriting_forced();
}

/* Did a session find kernels of the plan's nodes being compiled, and are they probably still? */
static bool
is_compiled_now(PlannedStmt *rewritten)
{
	ListCell   *lc;

	foreach(lc, gc_nodes_of(rewritten))
	{
		const GcHash key = gc_program_key(GC_PLAN_PROGRAM((const GcPlan *) lfirst(lc)));

		if (gc_compiling_goes_on(&key))
			return true;
	}
	return false;
}

bool
gc_is_cold(PlannedStmt *rewritten)
{
	GcMissing	missing = {0};
	List	   *tables;
	bool		cold;

	if (!may_load_meanwhile())
		return false;
	tables = open_tables(rewritten);
	cold = lacking(tables, &missing) != NIL;
	close_tables(tables);
	return cold || is_compiled_now(rewritten);
}

/*
 * Why the original is to answer, or NULL.  Loads begin, if the executor would let the user read the tables.  Columns
 * that cannot be loaded, or would push out columns in use, are left alone: then the rewritten query's fallback would
 * answer each time.
 */
static const char *
choose(List *cold, const GcMissing *missing, PlannedStmt *original, double original_ms)
{
	if (cold == NIL)
		return NULL;
	if (!may_be_loaded(cold))
		return GC_COLD_NOT_LOADABLE;
	if (gc_missing_would_thrash(missing))
		return GC_COLD_NO_ROOM;
	if (gc_cold == GC_COLD_AUTO && original_ms > GC_WAIT_FACTOR * missing->ms)
		return NULL;
	if (!GC_IS_PERMITTED(original))
		return GC_COLD_NOT_PERMITTED;
	return load_meanwhile(cold) ? GC_COLD_LOADS : NULL;
}

static void
have_plans_made_again(void)
{
	const TimestampTz now = GetCurrentTimestamp();

	if (made_again_at != 0)
		return;
	delay_ms = TimestampDifferenceExceeds(last_made_again, now, LAST_DELAY_MS) ? FIRST_DELAY_MS : Min(2 * delay_ms, LAST_DELAY_MS);
	made_again_at = now + delay_ms * INT64CONST(1000);
}

const char *
gc_cold_choice(PlannedStmt *rewritten, PlannedStmt *original, double original_ms)
{
	GcMissing	missing = {0};
	const char *refusal;
	List	   *tables;
	List	   *cold;

	if (!may_load_meanwhile())
		return NULL;
	tables = open_tables(rewritten);
	cold = lacking(tables, &missing);
	refusal = choose(cold, &missing, original, original_ms);
	close_tables(tables);
	if (refusal == NULL && is_compiled_now(rewritten))
		refusal = GC_COLD_COMPILES;
	if (refusal)
		have_plans_made_again();
	return refusal;
}

/* A plan that is kept was made when columns were missing: is it time to make it again? */
static void
start_executor(QueryDesc *query, int eflags)
{
	if (made_again_at != 0 && GetCurrentTimestamp() >= made_again_at)
	{
		made_again_at = 0;
		last_made_again = GetCurrentTimestamp();
		ResetPlanCache();
	}
	if (prev_start_hook)
		prev_start_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

void
gc_cold_choice_install(void)
{
	prev_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
