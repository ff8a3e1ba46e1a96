/*-------------------------------------------------------------------------
 *
 * warm.c
 *	  Loading the tables of gpuconc.warm_tables, and the columns that files have, when the server starts.
 *
 * One background worker for each database that the setting names, and one for each that has files (disk.h).  It has
 * each table loaded by a loader of its own (prewarm.h), the one that was scanned most often first, and ends.  Files are
 * read one table after another, with helpers, and one database after another.  The worker holds no lock and no snapshot
 * while it waits.
 * It waits for no lock on a table, which a prepared transaction may have for long, since other tables would wait, too.
 *
 *-------------------------------------------------------------------------
 */
#include "prewarm.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "nodes/makefuncs.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "disk.h"
#include "../../compat.h"
#include "../../settings.h"
#include "../../warm_list.h"

/* Has an earlier table of the list the same database? */
static bool
is_registered(const GcWarmTable *tables, int i)
{
	for (int k = 0; k < i; k++)
	{
		if (strcmp(tables[k].names[0], tables[i].names[0]) == 0)
			return true;
	}
	return false;
}

static BackgroundWorker
describe_worker(const char *function, const char *name)
{
	BackgroundWorker w;

	memset(&w, 0, sizeof(w));
	w.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	w.bgw_start_time = BgWorkerStart_ConsistentState;
	w.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(w.bgw_library_name, "gpuconc", BGW_MAXLEN);
	strlcpy(w.bgw_function_name, function, BGW_MAXLEN);
	strlcpy(w.bgw_name, name, BGW_MAXLEN);
	strlcpy(w.bgw_type, "gpuconc warming", BGW_MAXLEN);
	return w;
}

void
gc_warm_register(void)
{
	int			n;
	const GcWarmTable *tables = gc_warm_list(gc_warm_tables, &n);
	BackgroundWorker w;

	for (int i = 0; i < n; i++)
	{
		if (is_registered(tables, i))
			continue;
		w = describe_worker("gc_warm_main", psprintf("gpuconc warming of database %s", tables[i].names[0]));
		strlcpy(w.bgw_extra, tables[i].names[0], BGW_EXTRALEN);
		RegisterBackgroundWorker(&w);
	}
	if (gc_disk_cache_size_mb == 0)
		return;
	w = describe_worker("gc_kept_databases_main", "gpuconc warming of databases");
	/* A standby keeps no files. */
	w.bgw_start_time = BgWorkerStart_RecoveryFinished;
	RegisterBackgroundWorker(&w);
}

static void
log_not_loaded(const GcWarmTable *table, const char *reason)
{
	ereport(LOG,
			(errmsg("gpuconc does not load table \"%s.%s\" of gpuconc.warm_tables: %s",
					table->names[1], table->names[2], reason)));
}

/* How often the table was scanned, as far as the statistics go back. */
static int64
count_scans(Oid relid)
{
	const PgStat_StatTabEntry *entry = pgstat_fetch_stat_tabentry(relid);

	return entry ? (int64) entry->numscans : 0;
}

static int
compare_use(const void *a, const void *b)
{
	const GcWarmTable *x = a;
	const GcWarmTable *y = b;

	if (x->scans != y->scans)
		return x->scans > y->scans ? -1 : 1;
	return x->place - y->place;
}

/* This database's tables that there are, the most used first. */
static int
find_tables(GcWarmTable *tables, int n)
{
	int			found = 0;

	StartTransactionCommand();
	for (int i = 0; i < n; i++)
	{
		GcWarmTable	t = tables[i];

		if (strcmp(t.names[0], MyBgworkerEntry->bgw_extra) != 0)
			continue;
		t.relid = RangeVarGetRelid(makeRangeVar(t.names[1], t.names[2], -1), NoLock, true);
		if (!OidIsValid(t.relid))
		{
			log_not_loaded(&t, "it does not exist");
			continue;
		}
		t.scans = count_scans(t.relid);
		tables[found++] = t;
	}
	CommitTransactionCommand();
	qsort(tables, found, sizeof(GcWarmTable), compare_use);
	return found;
}

static void
load_tables(const GcWarmTable *tables, int n, bool kept)
{
	GcWarming	w = {.ntables = n,.at_start = true,.kept = kept};

	GC_NO_TRANSACTION_TIMEOUT();
	StartTransactionCommand();
	for (int i = 0; i < n; i++)
	{
		const char *reason;

		gc_warming_wait(&w, kept);
		reason = gc_warming_start(&w, tables[i].relid, false);
		if (reason && !kept)
			log_not_loaded(&tables[i], reason);
		/* VACUUM need not wait for this transaction. */
		InvalidateCatalogSnapshot();
	}
	gc_warming_wait(&w, true);
	CommitTransactionCommand();
}

void
gc_warm_main(Datum main_arg)
{
	GcWarmTable  *tables;
	int			n;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();

	BackgroundWorkerInitializeConnection(MyBgworkerEntry->bgw_extra, NULL, 0);
	tables = gc_warm_list(gc_warm_tables, &n);
	load_tables(tables, find_tables(tables, n), false);
}

/* This database's tables that have files, the most used first. */
static GcWarmTable *
find_kept_tables(int *n)
{
	GcWarmTable *tables;
	ListCell   *lc;
	List	   *relids;

	StartTransactionCommand();
	MemoryContextSwitchTo(TopMemoryContext);
	relids = gc_disk_list(MyDatabaseId);
	tables = palloc0((list_length(relids) + 1) * sizeof(GcWarmTable));
	*n = 0;
	foreach(lc, relids)
	{
		tables[*n] = (GcWarmTable) {.relid = lfirst_oid(lc),.place = *n};
		tables[*n].scans = count_scans(tables[*n].relid);
		(*n)++;
	}
	CommitTransactionCommand();
	qsort(tables, *n, sizeof(GcWarmTable), compare_use);
	return tables;
}

void
gc_kept_main(Datum main_arg)
{
	const GcWarmTable *tables;
	int			n;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();

	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(main_arg), InvalidOid, 0);
	tables = find_kept_tables(&n);
	load_tables(tables, n, true);
	ereport(LOG, (errmsg("gpuconc has looked for files of %d tables' columns in database %u", n, MyDatabaseId)));
}

/*
 * Databases that have files and were not dropped since, one after another: there may be more of them than workers.  It
 * has no database itself.
 */
void
gc_kept_databases_main(Datum main_arg)
{
	ListCell   *lc;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();

	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	foreach(lc, gc_disk_list(InvalidOid))
	{
		const char *name = psprintf("gpuconc warming of database %u", lfirst_oid(lc));
		BackgroundWorker w = describe_worker("gc_kept_main", name);
		BackgroundWorkerHandle *handle;
		bool		exists;

		w.bgw_main_arg = ObjectIdGetDatum(lfirst_oid(lc));
		w.bgw_notify_pid = MyProcPid;
		StartTransactionCommand();
		exists = SearchSysCacheExists1(DATABASEOID, w.bgw_main_arg);
		CommitTransactionCommand();
		if (exists && RegisterDynamicBackgroundWorker(&w, &handle))
			(void) WaitForBackgroundWorkerShutdown(handle);
	}
}
