/*-------------------------------------------------------------------------
 *
 * reasons.c
 *	  Counts by table, for gpuconc_advise(): why queries were PostgreSQL's, and which order of rows would pay.
 *
 * Process and threads: backends.  Two hash tables in main shared memory, made at server start and never freed.  Lock:
 * an LWLock for both, held for a look-up, and exclusively only for a new entry, and for a reset.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "reasons.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "../shmem.h"

/* In main shared memory. */
typedef struct Shared
{
	pg_atomic_uint64 resets;	/* how often all were removed; entries stay where they are until then */
} Shared;

static HTAB *reasons = NULL;
static HTAB *orders = NULL;
static Shared *shared = NULL;
static LWLock *lock = NULL;

/* The counts, none at first. */
void
gc_reasons_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc counts of reasons", sizeof(Shared), &made);
	if (made)
		pg_atomic_init_u64(&shared->resets, 0);
	reasons = gc_shmem_hash("gpuconc reasons", GC_REASONS, sizeof(GcReasonKey), sizeof(GcReason));
	orders = gc_shmem_hash("gpuconc orders", GC_ORDERS, sizeof(GcOrderKey), sizeof(GcOrder));
	lock = gc_shmem_lock("gpuconc_reasons", 0);
}

/* The entry of a key, with the lock held; NULL: all entries are taken.  *found: it is not new, so it has counts. */
static void *
lock_entry(HTAB *table, long most, const void *key, bool *found)
{
	void	   *entry;

	*found = true;
	LWLockAcquire(lock, LW_SHARED);
	entry = hash_search(table, key, HASH_FIND, NULL);
	if (entry || hash_get_num_entries(table) >= most)
		return entry;
	LWLockRelease(lock);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	return hash_search(table, key, HASH_ENTER_NULL, found);
}

bool
gc_reason_count_again(const GcReasonPlace *place)
{
	/* A reset just now may have it counted for what comes in its place. */
	if (place->reason == NULL || place->resets != pg_atomic_read_u64(&shared->resets))
		return false;
	pg_atomic_fetch_add_u64(&place->reason->count, 1);
	return true;
}

GcReasonPlace
gc_reason_count(Oid relid, bool executed, const char *text)
{
	const uint64 resets = pg_atomic_read_u64(&shared->resets);
	GcReasonKey key;
	GcReason   *reason;
	bool		found;

	memset(&key, 0, sizeof(key));
	key.dbid = MyDatabaseId;
	key.relid = relid;
	key.executed = executed;
	strlcpy(key.text, text, sizeof(key.text));
	/* A character that was cut is left out as a whole. */
	if (strlen(text) >= sizeof(key.text))
	{
		int			length = pg_mbcliplen(text, strlen(text), sizeof(key.text) - 1);

		memset(key.text + length, 0, sizeof(key.text) - length);
	}

	reason = lock_entry(reasons, GC_REASONS, &key, &found);
	if (!found && reason)
		pg_atomic_init_u64(&reason->count, 0);
	if (reason)
		pg_atomic_fetch_add_u64(&reason->count, 1);
	LWLockRelease(lock);
	return (GcReasonPlace) {reason, resets};
}

void
gc_order_count(Oid relid, AttrNumber attnum, uint64 read, uint64 spared)
{
	const GcOrderKey key = {MyDatabaseId, relid, attnum};
	bool		found;
	GcOrder    *order = lock_entry(orders, GC_ORDERS, &key, &found);

	if (!found && order)
	{
		pg_atomic_init_u64(&order->read, 0);
		pg_atomic_init_u64(&order->spared, 0);
	}
	if (order)
	{
		pg_atomic_fetch_add_u64(&order->read, read);
		pg_atomic_fetch_add_u64(&order->spared, spared);
	}
	LWLockRelease(lock);
}

/* A palloc'd copy of this database's entries, whose keys begin with the database. */
static void *
read_entries(HTAB *table, long most, Size size, int *n)
{
	char	   *result = palloc(most * size);
	HASH_SEQ_STATUS scan;
	Oid		   *entry;

	*n = 0;
	LWLockAcquire(lock, LW_SHARED);
	hash_seq_init(&scan, table);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (*entry == MyDatabaseId)
			memcpy(result + size * (*n)++, entry, size);
	}
	LWLockRelease(lock);
	return result;
}

GcReason *
gc_reasons_read(int *n)
{
	return read_entries(reasons, GC_REASONS, sizeof(GcReason), n);
}

GcOrder *
gc_orders_read(int *n)
{
	return read_entries(orders, GC_ORDERS, sizeof(GcOrder), n);
}

/* Remove all entries, which begin with their keys. */
static void
remove_entries(HTAB *table)
{
	HASH_SEQ_STATUS scan;
	void	   *entry;

	hash_seq_init(&scan, table);
	while ((entry = hash_seq_search(&scan)) != NULL)
		hash_search(table, entry, HASH_REMOVE, NULL);
}

/* Forget all counts.  Sessions see by `resets` that the entries they remember are gone. */
void
gc_reasons_reset(void)
{
	LWLockAcquire(lock, LW_EXCLUSIVE);
	pg_atomic_fetch_add_u64(&shared->resets, 1);
	remove_entries(reasons);
	remove_entries(orders);
	LWLockRelease(lock);
}
