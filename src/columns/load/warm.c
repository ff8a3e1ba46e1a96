/*-------------------------------------------------------------------------
 *
 * warm.c
 *	  Loading the tables of gpuconc.warm_tables when the server starts.
 *
 * One background worker for each database that the setting names.  It has each table loaded by a loader of its own
 * (prewarm.h), the one that was scanned most often first, and ends.  It holds no lock and no snapshot while it waits.
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
#include "utils/snapmgr.h"

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

void
gc_warm_register(void)
{
	int			n;
	const GcWarmTable *tables = gc_warm_list(gc_warm_tables, &n);

	for (int i = 0; i < n; i++)
	{
		BackgroundWorker w;

		if (is_registered(tables, i))
			continue;
		memset(&w, 0, sizeof(w));
		w.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
		w.bgw_start_time = BgWorkerStart_ConsistentState;
		w.bgw_restart_time = BGW_NEVER_RESTART;
		strlcpy(w.bgw_library_name, "gpuconc", BGW_MAXLEN);
		strlcpy(w.bgw_function_name, "gc_warm_main", BGW_MAXLEN);
		snprintf(w.bgw_name, BGW_MAXLEN, "gpuconc warming of database %s", tables[i].names[0]);
		strlcpy(w.bgw_type, "gpuconc warming", BGW_MAXLEN);
		strlcpy(w.bgw_extra, tables[i].names[0], BGW_EXTRALEN);
		RegisterBackgroundWorker(&w);
	}
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
load_tables(const GcWarmTable *tables, int n)
{
	GcWarming	w = {.ntables = n};

	StartTransactionCommand();
	for (int i = 0; i < n; i++)
	{
		const char *reason;

		gc_warming_wait(&w, false);
		reason = gc_warming_start(&w, tables[i].relid, false);
		if (reason)
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
	load_tables(tables, find_tables(tables, n));
}
