/*-------------------------------------------------------------------------
 *
 * orders.c
 *	  What requests read of tables, and what of it they would not have read were the table sorted by a column.
 *
 * Process and threads: backends.  A hash table in main shared memory, made at server start and never freed.  Lock: its
 * own LWLock, held for a look-up, and exclusively only for a column that is new, and for a reset.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "orders.h"

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/hsearch.h"

static HTAB *orders = NULL;
static LWLock *lock = NULL;

/* The postmaster's: bytes of shared memory. */
Size
gc_orders_shmem_size(void)
{
	return hash_estimate_size(GC_ORDERS, sizeof(GcOrder));
}

/* Attach to the orders, in every process. */
void
gc_orders_shmem_init(void)
{
	HASHCTL		ctl = {.keysize = sizeof(GcOrderKey),.entrysize = sizeof(GcOrder)};

	orders = ShmemInitHash("gpuconc orders", GC_ORDERS, GC_ORDERS, &ctl, HASH_ELEM | HASH_BLOBS | HASH_FIXED_SIZE);
	lock = &GetNamedLWLockTranche("gpuconc_orders")->lock;
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
