/*-------------------------------------------------------------------------
 *
 * ddl.c
 *	  Forgetting the cached columns of dropped tables and databases.
 *
 * Runs in the backend that drops them.  A drop is noted when it happens and acted on when the
 * transaction has committed; if it, or the subtransaction, aborts, nothing is forgotten.  This
 * is about memory only: no snapshot is ever served from the chunks of a table that is gone.  A
 * drop in a prepared transaction, or one replayed on a standby, passes by here.  The next
 * session that loads something in that database, or looks at the cache, finds it
 * (gc_forget_dropped).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "columns.h"
#include "epoch.h"
#include "store.h"

typedef struct GcDrop
{
	Oid			dbid;
	Oid			relid;			/* invalid: the whole database */
	SubTransactionId subid;
} GcDrop;

/* Drops of the current transaction; in TopTransactionContext. */
static GcDrop *drops = NULL;
static int	ndrops = 0;
static int	drops_size = 0;

static object_access_hook_type prev_object_access_hook = NULL;

/* This transaction drops a relation, or a database if relid is 0.  Noted only if the cache has something of it. */
static void
note_drop(Oid dbid, Oid relid)
{
	if (!gc_store_has(dbid, relid))
		return;

	if (ndrops == drops_size)
	{
		int			size = Max(16, drops_size * 2);

		if (drops)
			drops = repalloc(drops, size * sizeof(GcDrop));
		else
			drops = MemoryContextAlloc(TopTransactionContext, size * sizeof(GcDrop));
		drops_size = size;
	}
	drops[ndrops].dbid = dbid;
	drops[ndrops].relid = relid;
	drops[ndrops].subid = GetCurrentSubTransactionId();
	ndrops++;
}

/* The hook: PostgreSQL drops an object, not a column of one. */
static void
object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId, void *arg)
{
	if (prev_object_access_hook)
		prev_object_access_hook(access, classId, objectId, subId, arg);

	if (access != OAT_DROP || subId != 0)
		return;
	if (classId == RelationRelationId)
		note_drop(MyDatabaseId, objectId);
	else if (classId == DatabaseRelationId)
		note_drop(objectId, InvalidOid);
}

/* The transaction is over; its memory context frees the array. */
static void
forget_drops(void)
{
	drops = NULL;
	ndrops = drops_size = 0;
}

/* Dropped relations leave the cache at commit, and stay at abort. */
static void
at_xact_end(XactEvent event, void *arg)
{
	/* The array is there without a drop, too, if subtransactions have aborted all. */
	if (drops == NULL)
		return;

	switch (event)
	{
		case XACT_EVENT_COMMIT:
			for (int i = 0; i < ndrops; i++)
			{
				if (OidIsValid(drops[i].relid))
					gc_store_forget(drops[i].dbid, drops[i].relid);
				else
					gc_store_forget_database(drops[i].dbid);
			}
			forget_drops();
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			forget_drops();
			break;
		default:
			break;
	}
}

/* Drops of a subtransaction that commits are its parent's; those of one that aborts are none. */
static void
at_subxact_end(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	int			kept = 0;

	if (ndrops == 0 || (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB))
		return;

	for (int i = 0; i < ndrops; i++)
	{
		GcDrop		drop = drops[i];

		if (drop.subid == subid)
		{
			if (event == SUBXACT_EVENT_ABORT_SUB)
				continue;
			drop.subid = parent;
		}
		drops[kept++] = drop;
	}
	ndrops = kept;
}

void
gc_forget_dropped(void)
{
	GcDirectory **dirs;
	GcRelKey   *keys;
	int			n;

	Assert(IsTransactionState());
	gc_guard_enter();
	dirs = gc_store_list(&n);
	keys = palloc((n + 1) * sizeof(GcRelKey));
	for (int i = 0; i < n; i++)
		keys[i] = dirs[i]->key;
	gc_guard_leave();

	/* Catalogs are read without the guard: they may have to be waited for. */
	for (int i = 0; i < n; i++)
	{
		if (keys[i].dbid == MyDatabaseId)
		{
			if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(keys[i].relid)))
				gc_store_forget(MyDatabaseId, keys[i].relid);
		}
		else if (!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(keys[i].dbid)))
			gc_store_forget_database(keys[i].dbid);
	}
	pfree(keys);
	pfree(dirs);
}

void
gc_columns_install_hooks(void)
{
	prev_object_access_hook = object_access_hook;
	object_access_hook = object_access;
	RegisterXactCallback(at_xact_end, NULL);
	RegisterSubXactCallback(at_subxact_end, NULL);
}

bool
gc_others_watch_objects(void)
{
	return prev_object_access_hook || object_access_hook != object_access;
}
