/*-------------------------------------------------------------------------
 *
 * background.c
 *	  Starting loader workers, and keepers of snapshot fences.
 *
 * Runs in sessions.  What a loader does is in loader.c.
 *
 *-------------------------------------------------------------------------
 */
#include "background.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/memutils.h"

#include "columns.h"
#include "evict.h"
#include "job.h"
#include "spec.h"
#include "store.h"

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
	if (args->task == GC_LOADER_FENCE)
		snprintf(worker.bgw_name, BGW_MAXLEN, "gpuconc fence keeper for database %u", args->key.dbid);
	else
		snprintf(worker.bgw_name, BGW_MAXLEN, "gpuconc loader for table %u", args->key.relid);
	strlcpy(worker.bgw_type, args->task == GC_LOADER_FENCE ? "gpuconc fence keeper" : "gpuconc loader", BGW_MAXLEN);
	memcpy(worker.bgw_extra, args, sizeof(*args));
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

void
gc_loader_start_workers(const GcRelKey *key, int n)
{
	const GcLoaderArgs args = {.key = *key,.task = GC_LOADER_HELP};
	BackgroundWorkerHandle *handle;

	while (n-- > 0 && start_loader(&args, &handle))
		;
}

bool
gc_loader_start_hot(const GcRelKey *key)
{
	const GcLoaderArgs args = {.key = *key,.task = GC_LOADER_HOT};
	BackgroundWorkerHandle *handle;

	return start_loader(&args, &handle);
}

bool
gc_start_fence_keeper(void)
{
	const GcLoaderArgs args = {.key = {.dbid = MyDatabaseId},.task = GC_LOADER_FENCE};
	BackgroundWorkerHandle *handle;

	return start_loader(&args, &handle);
}

void
gc_load_in_background(Relation rel)
{
	GcLoaderArgs args = {.task = GC_LOADER_REFRESH};
	BackgroundWorkerHandle *handle;
	const char *reason;

	gc_rel_key(rel, &args.key);
	if (gc_rel_loadable(rel, &reason) && gc_store_refresh_due(&args.key))
		(void) start_loader(&args, &handle);
}

/* The table that this session last had loaded, and its loader, which needs a moment to begin. */
static GcRelKey begun;
static BackgroundWorkerHandle *begun_by = NULL;

static bool
is_begun(const GcRelKey *key)
{
	pid_t		pid;

	return begun_by && memcmp(&begun, key, sizeof(begun)) == 0 &&
		GetBackgroundWorkerPid(begun_by, &pid) != BGWH_STOPPED;
}

/* Start a loader that is_begun() knows. */
static bool
begin_load(const GcLoaderArgs *args)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	BackgroundWorkerHandle *handle;
	bool		started = start_loader(args, &handle);

	MemoryContextSwitchTo(old);
	if (!started)
		return false;
	if (begun_by)
		pfree(begun_by);
	begun = args->key;
	begun_by = handle;
	return true;
}

bool
gc_load_columns_in_background(Relation rel, int ncols, const GcColSpec *specs)
{
	GcLoaderArgs args = {.task = GC_LOADER_COLUMNS};
	const char *reason;

	gc_rel_key(rel, &args.key);
	if (!gc_rel_loadable(rel, &reason) || gc_store_too_large(&args.key, ncols) > gc_store_capacity())
		return false;
	if (gc_job_exists(&args.key) || is_begun(&args.key))
		return true;
	for (int c = 0; c < ncols;)
	{
		args.ncols = Min(ncols - c, GC_LOADER_COLUMNS_MAX);
		for (int i = 0; i < args.ncols; i++)
			args.attnums[i] = specs[c++].attnum;
		if (!begin_load(&args))
			return false;
	}
	return true;
}
