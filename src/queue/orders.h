/*-------------------------------------------------------------------------
 *
 * orders.h
 *	  Bytes that requests read of tables, and those that they would not have read were the table sorted by a column.
 *
 * Written and read by backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ORDERS_H
#define GC_ORDERS_H

#include "postgres.h"

#include "access/attnum.h"
#include "port/atomics.h"

/* Columns that are counted; those that come when all places are taken are not. */
#define GC_ORDERS			1024

typedef struct GcOrderKey
{
	Oid			dbid;
	Oid			relid;
	int32		attnum;			/* all of it is hashed as bytes: no padding */
} GcOrderKey;

typedef struct GcOrder
{
	GcOrderKey	key;
	pg_atomic_uint64 read;		/* bytes that requests with a condition on the column read of the table */
	pg_atomic_uint64 spared;	/* of these, bytes that a table sorted by it would spare */
} GcOrder;

/* Count a request with a condition on a column of this database. */
extern void gc_order_count(Oid relid, AttrNumber attnum, uint64 read, uint64 spared);

/* A palloc'd copy of this database's. */
extern GcOrder *gc_orders_read(int *n);

extern void gc_orders_reset(void);

extern void gc_orders_shmem(void);

#endif							/* GC_ORDERS_H */
