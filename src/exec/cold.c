/*-------------------------------------------------------------------------
 *
 * cold.c
 *	  Queries over columns that are not loaded, or whose kernels are not compiled: wait, or have
 *	  PostgreSQL's plan answer meanwhile.
 *
 * gpuconc.cold decides, or else whichever is estimated to be sooner.  Plans are cached, so that
 * it is asked at each execution, before anything is computed that PostgreSQL's plan would compute again.
 * What PostgreSQL's plan takes, the planner has estimated (plan/cost/execution_time.c).
 *
 * Where offloading is forced, "auto" waits.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#include "../columns/load/table_loader.h"
#include "../columns/load/missing.h"
#include "../columns/store/epoch.h"
#include "../columns/store/store.h"
#include "../compat.h"
#include "../force.h"
#include "../plan/expr/cold_plan.h"
#include "../settings.h"

/* The part of PostgreSQL's own time that a query waits for kernels. */
#define COMPILE_SHARE	0.2

/* For so many times so long a query waits for its turn to load columns, before PostgreSQL's plan answers. */
#define TURN_POLLS		1000
#define TURN_POLL_MS	10

/* Kernels that are in a file are there by then. */
#define LEAST_PATIENCE_MS	1

typedef struct Cold
{
	GcMissing	missing;
	GcInputState *tables[GC_MAX_INPUTS];	/* where something is; more than these are not told of */
	int			ntables;
} Cold;

/* Add what a table lacks.  With a guard. */
static void
look_at_table(Cold *cold, GcInputState *in)
{
	if (gc_missing_add(in->rel, in->ncols, in->specs, &cold->missing) && cold->ntables < GC_MAX_INPUTS)
		cold->tables[cold->ntables++] = in;
}

/* Everything that columns of all inputs lack, under a guard. */
static Cold
look_at_inputs(GcScanState *node)
{
	Cold		cold = {0};

	gc_guard_enter();
	for (int i = 0; i < node->plan->ninputs; i++)
	{
		GcInputState *in = &node->inputs[i];

		if (in->rel)
			look_at_table(&cold, in);
		for (int k = 0; k < in->nparts; k++)
			look_at_table(&cold, &in->parts[k]);
	}
	gc_guard_leave();
	return cold;
}

bool
gc_lacks_columns(GcScanState *node)
{
	return look_at_inputs(node).ntables > 0;
}

/* Ask for a loader of the input's columns, and do not wait for it. */
static GcColdLoad
load_meanwhile(GcInputState *in)
{
	GcColSpec  *specs = palloc((in->ncols + 1) * sizeof(GcColSpec));
	int			n = 0;

	for (int c = 0; c < in->ncols; c++)
	{
		if (in->specs[c].attnum > 0)
			specs[n++] = in->specs[c];
	}
	return gc_load_columns_in_background(in->rel, n, specs);
}

/* Must the query wait, whatever the estimates are? */
static bool
must_wait(void)
{
	return gc_cold == GC_COLD_WAIT || (gc_cold == GC_COLD_AUTO && gc_offload_forced());
}

/* Is it no matter whether there is room?  Then a load finds out. */
static bool
loads_anyway(void)
{
	return must_wait() && gc_offload_forced();
}

bool
gc_was_cold(GcCode code)
{
	return code == GC_LOADING || ((code == GC_CACHE_FULL || code == GC_NOT_CACHEABLE) && !must_wait());
}

/*
 * A compiler's time is not known before.  A wait of a part of what PostgreSQL's plan takes is no
 * great loss, and most kernels are there by then.  But a session waits once, not at each execution until then.
 */
double
gc_compile_patience(const GcScanState *node, bool waited)
{
	if (node->only_compiles)
		return 0;
	if (must_wait())
		return -1;
	if (waited)
		return 0;
	return Max(gc_cold == GC_COLD_FALLBACK ? 0 : node->plan->own_ms * COMPILE_SHARE, LEAST_PATIENCE_MS);
}

/* The status by which PostgreSQL's plan answers, with the state of the loading. */
static GcCode
fail_cold(GcError *err, GcColdLoad load, const Cold *cold, int i)
{
	const char *name = RelationGetRelationName(cold->tables[i]->rel);
	const char *others = cold->ntables > 1 ? " and others" : "";

	switch (load)
	{
		case GC_COLD_BUSY:
			return gc_fail(err, GC_LOADING,
						   "Columns of table \"%s\"%s will be loaded in the background after those of other tables.",
						   name, others);
		case GC_COLD_RESTS:
			return gc_fail(err, GC_LOADING,
						   "Columns of table \"%s\" could not be loaded in the background a moment ago.", name);
		case GC_COLD_NO_WORKER:
			return gc_fail(err, GC_LOADING,
						   "No background worker is free to load columns of table \"%s\"%s.", name, others);
		default:
			return gc_fail(err, GC_LOADING, "Columns of table \"%s\"%s are loaded in the background.", name, others);
	}
}

/*
 * The columns do not fit.  That is known before anything is loaded, so PostgreSQL's plan answers at once, and each
 * time until there is room.
 */
static GcCode
fail_for_room(GcError *err, const Cold *cold, GcLoadRoom room)
{
	const char *name = RelationGetRelationName(cold->tables[0]->rel);
	const char *others = cold->ntables > 1 ? " and others" : "";

	if (room == GC_ROOM_NEVER)
		return gc_fail(err, GC_CACHE_FULL, "The query reads about %.0f kB of columns, of table \"%s\"%s, and columns can take %zu kB of gpuconc.host_cache_size and gpuconc.disk_cache_size.",
					   (cold->missing.bytes + cold->missing.present_bytes) / 1024, name, others, gc_store_capacity() / 1024);
	return gc_fail(err, GC_CACHE_FULL,
				   "About %.0f kB of columns of table \"%s\"%s do not fit beside columns that are %s.",
				   cold->missing.bytes / 1024, name, others, room == GC_ROOM_RESERVED ? "being loaded" : "in use");
}

GcCode
gc_look_if_cold(GcScanState *node, GcError *err)
{
	GcColdLoad	worst = GC_COLD_LOADING;
	int			worst_table = 0;
	Cold		cold;
	GcLoadRoom	room;

	if (loads_anyway())
		return GC_OK;
	cold = look_at_inputs(node);
	if (cold.ntables == 0)
		return GC_OK;
	ereport(DEBUG3,
			(errmsg_internal("gpuconc expects to load columns in %.3f ms, and PostgreSQL's plan to take %.3f ms",
							 cold.missing.ms, node->plan->own_ms)));
	room = gc_missing_room(&cold.missing, must_wait());
	/* Who waits for columns waits for others' loads, too. */
	if (room != GC_ROOM_FITS && !(room == GC_ROOM_RESERVED && must_wait()))
		return fail_for_room(err, &cold, room);
	if (must_wait() ||
		(gc_cold == GC_COLD_AUTO && gc_worth_waiting(cold.missing.ms, node->plan->ms, node->plan->own_ms)))
		return GC_OK;
	gc_cold_plan_leave((const CustomScan *) node->css.ss.ps.plan);
	for (int i = 0; i < cold.ntables; i++)
	{
		GcColdLoad	load = load_meanwhile(cold.tables[i]);

		if (load == GC_COLD_NOT_TRIED)
			return GC_OK;
		if (load > worst)
		{
			worst = load;
			worst_table = i;
		}
	}
	return fail_cold(err, worst, &cold, worst_table);
}

/* Columns that the query has are used from now on. */
static void
keep_inputs(GcScanState *node)
{
	gc_guard_enter();
	for (int i = 0; i < node->plan->ninputs; i++)
	{
		GcInputState *in = &node->inputs[i];

		if (in->rel)
			gc_missing_keep(in->rel, in->ncols, in->specs);
		for (int k = 0; k < in->nparts; k++)
			gc_missing_keep(in->parts[k].rel, in->parts[k].ncols, in->parts[k].specs);
	}
	gc_guard_leave();
}

/* Others' loads that take the room may end, and may bring the missing columns. */
static void
wait_for_others(void)
{
	static uint32 wait_event = 0;

	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, TURN_POLL_MS,
					 GC_WAIT_EVENT(wait_event, "GpuconcCacheMemory"));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

GcCode
gc_reserve_inputs(GcScanState *node, GcError *err)
{
	int			polls = must_wait() ? TURN_POLLS : 0;
	GcLoadRoom	room;
	Cold		cold;

	for (;;)
	{
		cold = look_at_inputs(node);
		if (cold.ntables == 0)
			return GC_OK;
		if (loads_anyway())
			gc_missing_reserve_anyway(&cold.missing);
		room = loads_anyway() ? GC_ROOM_FITS : gc_missing_reserve(&cold.missing, must_wait());
		if (room != GC_ROOM_RESERVED || polls-- == 0)
			break;
		wait_for_others();
	}
	if (room != GC_ROOM_FITS)
		return fail_for_room(err, &cold, room);
	keep_inputs(node);
	return GC_OK;
}
