/*-------------------------------------------------------------------------
 *
 * gpuconc.c
 *	  Module entry: hooks, shared memory, registration of the workers.
 *
 * Runs in the postmaster (through shared_preload_libraries); every process inherits it by
 * fork.  The postmaster never touches a device.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"

#include "columns/load/cold_plans.h"
#include "columns/load/job.h"
#include "columns/load/disk.h"
#include "columns/load/prewarm.h"
#include "columns/load/table_loader.h"
#include "columns/serve/wal_changes.h"
#include "columns/store/arena.h"
#include "columns/store/epoch.h"
#include "columns/store/lock.h"
#include "columns/store/lookups.h"
#include "columns/store/notes.h"
#include "columns/store/ghosts.h"
#include "columns/store/reserve.h"
#include "columns/store/store.h"
#include "device_names.h"
#include "exec/hints.h"
#include "exec/scan.h"
#include "plan/hooks.h"
#include "queue/batchlog.h"
#include "queue/build_keys.h"
#include "queue/device_status.h"
#include "queue/queue.h"
#include "queue/reasons.h"
#include "queue/route.h"
#include "settings.h"
#include "worker/worker.h"

PG_MODULE_MAGIC;

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

void		_PG_init(void);

/* Ask for what each file has in shared memory, or attach to it (shmem.h). */
static void
each_shmem(void)
{
	gc_arena_shmem();
	gc_epoch_shmem(gc_request_slots());
	gc_store_shmem();
	gc_ghost_shmem();
	gc_reserve_shmem();
	gc_notes_shmem();
	gc_table_loader_shmem();
	gc_cold_plans_shmem();
	gc_wal_changes_shmem();
	gc_lookups_shmem();
	gc_load_shmem();
	gc_device_status_shmem();
	gc_queue_shmem();
	gc_route_shmem();
	gc_build_keys_shmem();
	gc_batchlog_shmem();
	gc_reasons_shmem();
	gc_hints_shmem();
}

/* The hook: ask for shared memory and locks, before any process is there. */
static void
gc_shmem_request(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();

	each_shmem();
	RequestNamedLWLockTranche("gpuconc_columns", GC_NLOCKS);
	RequestNamedLWLockTranche("gpuconc_batchlog", 2);
	RequestNamedLWLockTranche("gpuconc_reasons", 1);
	RequestNamedLWLockTranche("gpuconc_hints", 1);
	/* Before it is taken: of what cannot be had, PostgreSQL tells the sum alone. */
	ereport(LOG,
			(errmsg("gpuconc asks for %d MB of shared memory for columns, requests and results",
					gc_host_cache_size_mb)));
}

/* The hook: make shared memory in the postmaster; attach to it where processes do not inherit it. */
static void
gc_shmem_startup(void)
{
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	each_shmem();
	if (!IsUnderPostmaster)
		gc_disk_start();
	LWLockRelease(AddinShmemInitLock);
}

/* Only in the postmaster, since shared memory and hooks must be there for all processes. */
void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("gpuconc must be loaded via \"%s\"", "shared_preload_libraries"),
				 errhint("Add gpuconc to %s in postgresql.conf and restart the server.",
						 "shared_preload_libraries")));

	gc_define_settings();
	gc_device_names_fix(gc_devices);

	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = gc_shmem_request;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = gc_shmem_startup;
	gc_register_scan_methods();
	gc_cold_plans_compiler(gc_compile_ahead);
	gc_bound_install();
	gc_columns_install_hooks();
	gc_plan_install_hooks();
	gc_worker_register();
	gc_warm_register();
}
