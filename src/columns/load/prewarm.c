/*-------------------------------------------------------------------------
 *
 * prewarm.c
 *	  Loading all columns of tables.  See prewarm.h.
 *
 * One table: the session loads it itself, with helpers, and pushes out others' columns for it.  Several: each is
 * loaded by a loader of its own, as many at a time as gpuconc.loader_workers says, if it fits beside columns in use.
 * The caller only starts these and waits, with no lock on a table.
 *
 * Runs in sessions, in loaders where said, and in the worker of warm.c.
 *
 *-------------------------------------------------------------------------
 */
#include "prewarm.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#include "background.h"
#include "load.h"
#include "missing.h"
#include "../encode/spec.h"
#include "../store/columns.h"
#include "../store/epoch.h"
#include "../store/reserve.h"
#include "../store/store.h"
#include "../../compat.h"
#include "../../cpus.h"
#include "../../report.h"
#include "../../settings.h"

PG_FUNCTION_INFO_V1(gpuconc_prewarm);
PG_FUNCTION_INFO_V1(gpuconc_prewarm_tables);

/* Specs of all columns that can be cached; palloc'd. */
static GcColSpec *
supported_columns(Relation rel, int *n)
{
	int			natts = RelationGetNumberOfAttributes(rel);
	GcColSpec  *specs = palloc(Max(natts, 1) * sizeof(GcColSpec));
	const char *reason;

	*n = 0;
	for (AttrNumber attnum = 1; attnum <= natts; attnum++)
	{
		if (gc_col_spec(rel, attnum, &specs[*n], &reason))
			(*n)++;
	}
	return specs;
}

/* A user who may not read a table may not have it loaded. */
static void
check_privilege(Oid relid)
{
	bool		missing = false;
	const AclResult acl = pg_class_aclcheck_ext(relid, GetUserId(), ACL_SELECT, &missing);

	if (acl != ACLCHECK_OK && !missing)
		aclcheck_error(acl, get_relkind_objtype(get_rel_relkind(relid)), get_rel_name(relid));
}

static void
check_prewarm(Relation rel)
{
	const char *reason;

	check_privilege(RelationGetRelid(rel));
	if (!gc_rel_plannable(rel, &reason))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot cache \"%s\": %s", RelationGetRelationName(rel), reason),
				 errhint("Only ordinary, permanent tables and materialized views can be cached.")));
	if (!gc_rel_loadable(rel, &reason))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot cache \"%s\": %s", RelationGetRelationName(rel), reason)));
}

static int64
cached_pages(Relation rel)
{
	GcDirectory *dir;
	int64		pages = 0;

	gc_guard_enter();
	dir = gc_directory(rel);
	for (uint32 i = 0; dir && i < dir->nchunks; i++)
	{
		if (dir->chunks[i])
			pages += dir->chunks[i]->npresent;
	}
	gc_guard_leave();
	return pages;
}

static void
report_failure(Relation rel, GcCode code, const GcError *err)
{
	if (code != GC_OK)
		ereport(ERROR,
				(errcode(code == GC_CACHE_FULL ? ERRCODE_OUT_OF_MEMORY : ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not cache \"%s\": %s", RelationGetRelationName(rel), gc_code_name(code)),
				 errdetail("%s", err->detail),
				 code == GC_CACHE_FULL ? errhint("Consider increasing gpuconc.host_cache_size.") : 0));
}

/* gpuconc_prewarm(regclass) returns bigint: pages that are cached now. */
Datum
gpuconc_prewarm(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Relation	rel;
	GcColSpec  *specs;
	int			nspecs;
	GcError		err;
	int64		pages;

	rel = relation_open(relid, AccessShareLock);
	check_prewarm(rel);
	specs = supported_columns(rel, &nspecs);
	report_failure(rel, gc_load_and_refresh(rel, nspecs, specs, &err), &err);
	pages = cached_pages(rel);
	if (pages == 0 && RelationGetNumberOfBlocks(rel) > 0)
		ereport(NOTICE,
				(errmsg("no page of \"%s\" could be cached", RelationGetRelationName(rel)),
				 errhint("Only pages that are all-visible are cached: VACUUM the table.")));
	relation_close(rel, AccessShareLock);
	PG_RETURN_INT64(pages);
}

/*-------------------------------------------------------------------------
 * Several tables
 *-------------------------------------------------------------------------
 */

/* Are any of these columns not in the cache? */
static bool
lacks_columns(Relation rel, int nspecs, const GcColSpec *specs)
{
	GcMissing	missing = {0};
	bool		lacks;

	gc_guard_enter();
	lacks = gc_missing_add(rel, nspecs, specs, &missing);
	gc_guard_leave();
	return lacks;
}

bool
gc_prewarm_alone(Relation rel)
{
	int			nspecs;
	GcColSpec  *specs = supported_columns(rel, &nspecs);
	GcError		err = {GC_OK, ""};

	report_failure(rel, gc_load_alone(rel, nspecs, specs, true, &err), &err);
	return !lacks_columns(rel, nspecs, specs);
}

/* Forget the loaders that have ended.  How many are left? */
static int
count_loaders(GcWarming *w)
{
	int			left = 0;

	for (int i = 0; i < w->nloaders; i++)
	{
		pid_t		pid;

		if (GetBackgroundWorkerPid(w->loaders[i], &pid) == BGWH_STOPPED)
			pfree(w->loaders[i]);
		else
			w->loaders[left++] = w->loaders[i];
	}
	return w->nloaders = left;
}

/* Loaders that run for one caller at a time. */
static int
most_loaders(void)
{
	return Max(gc_loader_workers, 1);
}

/*
 * Helpers of the one loader of files' columns as the server starts: a quarter of the cores, if there are workers, and
 * no more than the setting can say.
 */
static int
kept_helpers(void)
{
	const int	most = Min(GC_MOST_LOADER_WORKERS, max_worker_processes / 2 - 1);

	return Max(gc_loader_workers, Min(gc_count_cpus() / 4, most));
}

/* Wait until at most n are left. */
static void
wait_for_loaders(GcWarming *w, int n)
{
	static uint32 wait_event = 0;

	/* The postmaster tells of each start and end. */
	while (count_loaders(w) > n)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, GC_LOOK_MS,
						 GC_WAIT_EVENT(wait_event, "GpuconcLoad"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (w->at_start)
			gc_leave_wanted_database();
	}
}

void
gc_warming_wait(GcWarming *w, bool all)
{
	wait_for_loaders(w, all ? 0 : most_loaders() - 1);
}

/* The caller has waited, or gives up: then loads that were started end. */
static void
warming_stop(GcWarming *w)
{
	for (int i = 0; i < w->nloaders; i++)
		TerminateBackgroundWorker(w->loaders[i]);
	gc_reserve_end();
}

/* Have a loader, for which another one may have to end. */
static bool
start_loader(GcWarming *w, const GcRelKey *key)
{
	const int	most = most_loaders();
	const int	helpers = w->kept ? kept_helpers() : most / Max(Min(w->ntables, most), 1) - 1;

	gc_warming_wait(w, w->kept);
	while (!gc_loader_start_warm(key, w->kept ? GC_LOADER_KEPT : GC_LOADER_WARM, helpers, &w->loaders[w->nloaders]))
	{
		if (w->nloaders == 0)
			return false;
		wait_for_loaders(w, w->nloaders - 1);
	}
	w->nloaders++;
	return true;
}

const char *
gc_warming_start(GcWarming *w, Oid relid, bool wait)
{
	Relation	rel;
	const char *reason = NULL;
	GcRelKey	key;
	int			nspecs;

	if (w->at_start)
		gc_leave_wanted_database();
	/* Columns that the first loader has loaded stay, however large the last table is. */
	(void) gc_reserve(0, PG_INT64_MAX);
	if (!wait && !ConditionalLockRelationOid(relid, AccessShareLock))
		return "another transaction has locked it";
	rel = try_relation_open(relid, wait ? AccessShareLock : NoLock);
	if (rel == NULL)
	{
		/* Of thousands of dropped tables that have files, locks would fill the table of locks. */
		if (!wait)
			UnlockRelationOid(relid, AccessShareLock);
		return "it does not exist";
	}
	gc_rel_key(rel, &key);
	(void) supported_columns(rel, &nspecs);
	if (gc_rel_loadable(rel, &reason) && nspecs == 0)
		reason = "it has no column that can be cached";
	relation_close(rel, AccessShareLock);
	if (reason)
		return reason;
	return start_loader(w, &key) ? NULL : "no background worker is free";
}

/* A table's row: its pages that are cached now, and why these are not all. */
static void
put_table(ReturnSetInfo *rsinfo, Oid relid, const char *reason)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	Datum		values[3] = {ObjectIdGetDatum(relid)};
	bool		nulls[3] = {false};

	if (rel == NULL)
		reason = "it does not exist";
	else
	{
		int			nspecs;
		const GcColSpec *specs = supported_columns(rel, &nspecs);

		if (reason == NULL && lacks_columns(rel, nspecs, specs))
			reason = "it could not be loaded, as the server's log says";
		values[1] = Int64GetDatum(cached_pages(rel));
		relation_close(rel, AccessShareLock);
	}
	nulls[2] = reason == NULL;
	if (reason)
		values[2] = CStringGetTextDatum(reason);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The caller ends before its loaders, by an error or because it is terminated. */
static void
stop_warming(int code, Datum arg)
{
	warming_stop((GcWarming *) DatumGetPointer(arg));
}

/* gpuconc_prewarm_tables(regclass[]) returns a row for each table. */
Datum
gpuconc_prewarm_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	GcWarming	w = {0};
	Datum	   *relids;
	bool	   *nulls;
	const char **reasons;

	InitMaterializedSRF(fcinfo, 0);
	gc_check_columns(rsinfo->setDesc, 3);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &relids, &nulls,
					  &w.ntables);
	reasons = palloc0((w.ntables + 1) * sizeof(char *));
	for (int i = 0; i < w.ntables; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a table is NULL")));
		check_privilege(DatumGetObjectId(relids[i]));
	}
	/* The reservation's callback at exit is registered once, so before the one that ends the loaders. */
	(void) gc_reserve(0, PG_INT64_MAX);
	PG_ENSURE_ERROR_CLEANUP(stop_warming, PointerGetDatum(&w));
	{
		for (int i = 0; i < w.ntables; i++)
			reasons[i] = gc_warming_start(&w, DatumGetObjectId(relids[i]), true);
		gc_warming_wait(&w, true);
	}
	PG_END_ENSURE_ERROR_CLEANUP(stop_warming, PointerGetDatum(&w));
	warming_stop(&w);
	for (int i = 0; i < w.ntables; i++)
		put_table(rsinfo, DatumGetObjectId(relids[i]), reasons[i]);
	return (Datum) 0;
}
