/*-------------------------------------------------------------------------
 *
 * orders.c
 *	  Bytes that requests read of tables, and those that they would not have read were the table sorted by a column.
 *
 * Process and threads: backends.  A hash table in main shared memory, made at server start and never freed.  Lock: its
 * own LWLock, held for a look-up, and exclusively only for a column that is new, and for a reset.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "orders.h"

#include "miscadmin.h"
#include "../shmem.h"

static HTAB *orders = NULL;
static LWLock *lock = NULL;

/* The table of orders. */
void
gc_orders_shmem(void)
{
	orders = gc_shmem_hash("gpuconc orders", GC_ORDERS, sizeof(GcOrderKey), sizeof(GcOrder));
	lock = gc_shmem_lock("gpuconc_orders", 0);
}

void
gc_order_count(Oid relid, AttrNumber attnum, uint64 read, uint64 spared)
{
	const GcOrderKey key = {MyDatabaseId, relid, attnum};
	GcOrder    *order;
	bool		found = true;

	LWLockAcquire(lock, LW_SHARED);
	order = hash_search(orders, &key, HASH_FIND, NULL);
	if (order == NULL && hash_get_num_entries(orders) < GC_ORDERS)
	{
		LWLockRelease(lock);
		LWLockAcquire(lock, LW_EXCLUSIVE);
		order = hash_search(orders, &key, HASH_ENTER_NULL, &found);
	}
	if (order && !found)
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

GcOrder *
gc_orders_read(int *n)
{
	GcOrder    *result = palloc(GC_ORDERS * sizeof(GcOrder));
	HASH_SEQ_STATUS scan;
	GcOrder    *order;

	*n = 0;
	LWLockAcquire(lock, LW_SHARED);
	hash_seq_init(&scan, orders);
	while ((order = hash_seq_search(&scan)) != NULL)
	{
		if (order->key.dbid == MyDatabaseId)
			result[(*n)++] = *order;
	}
	LWLockRelease(lock);
	return result;
}

/* Forget all, as statistics are reset. */
void
gc_orders_reset(void)
{
	HASH_SEQ_STATUS scan;
	GcOrder    *order;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	hash_seq_init(&scan, orders);
	while ((order = hash_seq_search(&scan)) != NULL)
		hash_search(orders, &order->key, HASH_REMOVE, NULL);
	LWLockRelease(lock);
}
