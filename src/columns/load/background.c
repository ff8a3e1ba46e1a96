/*-------------------------------------------------------------------------
 *
 * background.c
 *	  Starting loader workers.
 *
 * Runs in sessions, and where said in loaders.  A loader's own code is in loader.c.
 *
 *-------------------------------------------------------------------------
 */
#include "background.h"

#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"

#include "../encode/spec.h"
#include "../store/columns.h"
#include "../store/store.h"

/* The loader's task, as it stands in pg_stat_activity; empty in sessions. */
static char reported[3 * NAMEDATALEN];

StaticAssertDecl(sizeof(GcLoaderArgs) <= BGW_EXTRALEN, "GcLoaderArgs has outgrown bgw_extra");

/* *handle: in the caller's memory context. */
static bool
start_loader(const GcLoaderArgs *args, BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;

	/* On a standby, too. */
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "gpuconc", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "gc_loader_main", sizeof(worker.bgw_function_name));
	snprintf(worker.bgw_name, BGW_MAXLEN, "gpuconc loader for table %u", args->key.relid);
	strlcpy(worker.bgw_type, "gpuconc loader", BGW_MAXLEN);
	memcpy(worker.bgw_extra, args, sizeof(*args));
	worker.bgw_notify_pid = args->task == GC_LOADER_WARM || args->task == GC_LOADER_KEPT ? MyProcPid : 0;
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

bool
gc_loader_start(const GcRelKey *key, GcLoaderTask task)
{
	const GcLoaderArgs args = {.key = *key,.task = task};
	BackgroundWorkerHandle *handle;

	return start_loader(&args, &handle);
}

void
gc_loader_start_workers(const GcRelKey *key, int n)
{
	while (n-- > 0 && gc_loader_start(key, GC_LOADER_HELP))
		;
}

bool
gc_loader_start_warm(const GcRelKey *key, GcLoaderTask task, int helpers, BackgroundWorkerHandle **handle)
{
	const GcLoaderArgs args = {.key = *key,.task = task,.helpers = helpers};

	return start_loader(&args, handle);
}

void
gc_loader_start_keeper(const GcRelKey *key)
{
	(void) gc_loader_start(key, GC_LOADER_KEEP);
}

void
gc_loader_reports(const char *does)
{
	strlcpy(reported, does, sizeof(reported));
	pgstat_report_activity(STATE_RUNNING, reported);
}

void
gc_loader_progress(uint64 chunks_done, uint64 chunks_total)
{
	char		text[sizeof(reported) + 64];

	if (reported[0] == '\0')
		return;
	snprintf(text, sizeof(text), "%s, %llu of %llu chunks", reported, (unsigned long long) chunks_done,
			 (unsigned long long) chunks_total);
	pgstat_report_activity(STATE_RUNNING, text);
}

bool
gc_database_is_wanted(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	/* The lock that each session takes as it connects. */
	if (LockAcquire(&tag, RowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	(void) LockRelease(&tag, RowExclusiveLock, false);
	return false;
}

void
gc_leave_wanted_database(void)
{
	if (!gc_database_is_wanted())
		return;
	ereport(LOG,
			(errmsg("a worker of gpuconc leaves database %u, which another session wants to itself", MyDatabaseId)));
	proc_exit(0);
}

bool
gc_loader_in_the_way(Relation rel)
{
	if (MyBackendType != B_BG_WORKER)
		return false;
	if (gc_database_is_wanted())
		return true;
	if (!ConditionalLockRelation(rel, RowShareLock))
		return true;
	UnlockRelation(rel, RowShareLock);
	return false;
}

void
gc_load_in_background(Relation rel)
{
	GcRelKey	key;
	const char *reason;

	gc_rel_key(rel, &key);
	if (gc_rel_loadable(rel, &reason) && gc_store_refresh_due(&key))
		(void) gc_loader_start(&key, GC_LOADER_REFRESH);
}
