/*-------------------------------------------------------------------------
 *
 * loader.c
 *	  Loader workers: dynamic background workers that help with a load job, or
 *	  refresh a table or load columns of it on their own.
 *
 * A loader is started by a session and connects to its database.  It never waits
 * for a lock on the table.  A session that waits for the load may hold a lock on it, for
 * which another session's AccessExclusiveLock waits.  The deadlock detector would not see
 * that.  For the same reason it soon gives up on any other lock (of a TOAST table, say).
 * A loader that cannot help just ends, which costs only time: the session that started it
 * takes part itself.  A loader ends between two chunks, too, if a session waits for a lock that conflicts with its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "../encode/spec.h"
#include "../store/columns.h"
#include "../store/store.h"
#include "background.h"
#include "cold_plans.h"
#include "job.h"
#include "disk.h"
#include "load.h"
#include "missing.h"
#include "prewarm.h"
#include "table_loader.h"
#include "../../compat.h"

/*
 * Least time between two loads of hot pages; after one that found no room.  And, as a multiple of its time, after one
 * in vain.
 */
#define LOAD_EVERY_MS	10
#define NO_ROOM_MS		1000
#define PUT_OFF_FACTOR	10

/* The part of the room that columns of files take at most. */
#define MOST_OF_ROOM	0.9

/* Settings of the database or the role that would get in the way. */
static void
prepare_settings(const GcLoaderArgs *args)
{
	SetConfigOption("application_name", "gpuconc loader", PGC_USERSET, PGC_S_SESSION);
	SetConfigOption("lock_timeout", "1s", PGC_USERSET, PGC_S_SESSION);
	GC_NO_TRANSACTION_TIMEOUT();
	SetConfigOption("default_transaction_isolation", "read committed",
					PGC_USERSET, PGC_S_SESSION);
	SetConfigOption("default_transaction_deferrable", "off", PGC_USERSET, PGC_S_SESSION);
	if (args->task == GC_LOADER_WARM || args->task == GC_LOADER_KEPT)
		SetConfigOption("gpuconc.loader_workers", psprintf("%d", args->helpers), PGC_USERSET, PGC_S_SESSION);
}

/* The query of pg_stat_activity. */
static void
report_table(Relation rel, GcLoaderTask task)
{
	char	   *namespace = get_namespace_name(RelationGetNamespace(rel));
	const char *does = task == GC_LOADER_KEEP ? "keep" : task == GC_LOADER_REFRESH || task == GC_LOADER_HOT ? "refresh" : "load";
	char	   *text = psprintf("gpuconc: %s %s", does,
								quote_qualified_identifier(namespace, RelationGetRelationName(rel)));

	gc_loader_reports(text);
}

/* Columns that a cold load is asked for, and the outcome of a load. */
typedef struct GcTask
{
	int			ncols;
	const AttrNumber *attnums;
	GcLoadStats stats;			/* of hot pages */
	bool		failed;
} GcTask;

static bool
load_columns(Relation rel, const GcTask *task)
{
	GcColSpec  *specs = palloc((task->ncols + 1) * sizeof(GcColSpec));
	const char *reason;
	GcError		err = {GC_OK, ""};
	int			n = 0;

	for (int i = 0; i < task->ncols; i++)
	{
		if (task->attnums[i] <= RelationGetNumberOfAttributes(rel) && gc_col_spec(rel, task->attnums[i], &specs[n], &reason))
			n++;
	}
	if (n == 0 || gc_load_alone(rel, n, specs, false, &err) == GC_OK)
		return true;
	ereport(DEBUG1,
			(errmsg_internal("could not load columns of table \"%s\": %s", RelationGetRelationName(rel), err.detail)));
	return false;
}

/* Is there room for these bytes of columns, and more?  Pieces stay free that no chunk's column fits into. */
static bool
fits_well(double bytes)
{
	const GcMissing missing = {.bytes = bytes / MOST_OF_ROOM,.known = bytes / MOST_OF_ROOM};

	return gc_missing_fits(&missing);
}

/* Load the columns that files have of all the table, as far as there is room. */
static void
load_kept(Relation rel)
{
	AttrNumber	attnums[MaxHeapAttributeNumber];
	GcTask		task = {.attnums = attnums};
	const BlockNumber npages = RelationGetNumberOfBlocks(rel);
	double		taken = 0;

	for (AttrNumber a = 1; a <= RelationGetNumberOfAttributes(rel); a++)
	{
		GcColSpec	spec;
		const char *reason;
		double		bytes;

		if (!gc_col_spec(rel, a, &spec, &reason) || gc_disk_part(rel, &spec, npages, &bytes) < 1 ||
			!fits_well(taken + bytes))
			continue;
		taken += bytes;
		attnums[task.ncols++] = a;
	}
	(void) load_columns(rel, &task);
}

/* Do the loader's task for the table, inside a transaction.  False: others were in the way. */
static bool
work_on_table(const GcLoaderArgs *args, GcTask *task)
{
	Relation	rel;
	GcRelKey	key;
	const char *reason;
	bool		done = false;

	if (!ConditionalLockRelationOid(args->key.relid, AccessShareLock))
		return false;
	rel = try_relation_open(args->key.relid, NoLock);
	if (rel == NULL)
		return false;

	report_table(rel, args->task);
	gc_rel_key(rel, &key);
	if (memcmp(&key, &args->key, sizeof(GcRelKey)) == 0 && gc_rel_loadable(rel, &reason))
	{
		done = true;
		PushActiveSnapshot(GetTransactionSnapshot());
		if (args->task == GC_LOADER_KEEP)
			gc_disk_write(rel);
		else if (args->task == GC_LOADER_REFRESH)
			gc_load_refresh(rel);
		else if (args->task == GC_LOADER_HOT)
			task->failed = !gc_load_hot_in_background(rel, &task->stats);
		else if (args->task == GC_LOADER_WARM)
			done = gc_prewarm_alone(rel);
		else if (args->task == GC_LOADER_KEPT)
			load_kept(rel);
		else if (args->task == GC_LOADER_COLD)
			task->failed = !load_columns(rel, task);
		else if (gc_job_join(&key, false))
			(void) gc_job_participate(rel, false, 0, NULL, NULL);
		PopActiveSnapshot();
	}
	relation_close(rel, AccessShareLock);
	return done;
}

/* In a transaction of its own, so that nothing is held in between. */
static void
load_table(const GcLoaderArgs *args, GcTask *task)
{
	StartTransactionCommand();
	pgstat_report_activity(STATE_RUNNING, MyBgworkerEntry->bgw_name);
	if (!work_on_table(args, task) && args->task == GC_LOADER_WARM)
		ereport(LOG,
				(errmsg("gpuconc did not load all columns of table %u", args->key.relid),
				 errdetail("Another session has an exclusive lock on the table or waits for one, has changed or dropped the table, or has had columns pushed out.")));
	CommitTransactionCommand();
	pgstat_report_stat(false);
	pgstat_report_activity(STATE_IDLE, NULL);
}

/* Milliseconds until the next one may begin. */
static double
load_hot(const GcLoaderArgs *args)
{
	GcTask		task = {0};

	load_table(args, &task);
	if (task.failed)
		return NO_ROOM_MS;
	return task.stats.pages_refused > 0 ? Max(PUT_OFF_FACTOR * task.stats.ms, LOAD_EVERY_MS) : LOAD_EVERY_MS;
}

/* Kernels of a statement that has waited for columns; not in the load's transaction, which holds its table. */
static bool
compile_plan(int *place)
{
	bool		found;

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	pgstat_report_activity(STATE_RUNNING, "gpuconc: ask for kernels");
	found = gc_cold_plans_compile(place);
	PopActiveSnapshot();
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
	return found;
}

/* Load columns that sessions wait for, and then ask for kernels of plans that wait for them. */
static bool
load_cold(const GcLoaderArgs *args, int ncols, const AttrNumber *attnums)
{
	GcTask		task = {.ncols = ncols,.attnums = attnums};

	load_table(args, &task);
	for (int place = 0; !task.failed && compile_plan(&place);)
		;
	return !task.failed;
}

void
gc_loader_main(Datum main_arg)
{
	GcLoaderArgs args;

	memcpy(&args, MyBgworkerEntry->bgw_extra, sizeof(args));

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();

	BackgroundWorkerInitializeConnectionByOid(args.key.dbid, InvalidOid, 0);
	prepare_settings(&args);

	if (args.task == GC_LOADER_HOT)
		gc_hot_loader_run(&args, load_hot);
	else if (args.task == GC_LOADER_COLD)
		gc_cold_loader_run(&args, load_cold);
	else
		load_table(&args, &(GcTask) {0});
}
