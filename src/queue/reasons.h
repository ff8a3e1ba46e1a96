/*-------------------------------------------------------------------------
 *
 * reasons.h
 *	  Counts by table, for gpuconc_advise(): why queries were PostgreSQL's, and which order of rows would pay.
 *
 * Written and read by backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REASONS_H
#define GC_REASONS_H

#include "postgres.h"

#include "access/attnum.h"
#include "port/atomics.h"

/* Counts that are kept; reasons that come when all places are taken are not counted. */
#define GC_REASONS			2048

/* Longer reasons are cut. */
#define GC_REASON_LENGTH	108

/* All of it is hashed as bytes: no padding, and zeros behind the text. */
typedef struct GcReasonKey
{
	Oid			dbid;
	Oid			relid;
	uint32		executed;		/* 1: PostgreSQL's in execution; 0: in planning */
	char		text[GC_REASON_LENGTH];
} GcReasonKey;

typedef struct GcReason
{
	GcReasonKey key;
	pg_atomic_uint64 count;
} GcReason;

/* Where a reason is counted, as long as counts are not reset; all zeros: nowhere. */
typedef struct GcReasonPlace
{
	GcReason   *reason;
	uint64		resets;
} GcReasonPlace;

/* Count a reason for a table of this database.  Readers of other reasons are not kept waiting. */
extern GcReasonPlace gc_reason_count(Oid relid, bool executed, const char *text);

/* Count it once more without looking for it; false if it has to be looked for. */
extern bool gc_reason_count_again(const GcReasonPlace *place);

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

/* Palloc'd copies of this database's. */
extern GcReason *gc_reasons_read(int *n);
extern GcOrder *gc_orders_read(int *n);

/* Forget all. */
extern void gc_reasons_reset(void);

extern void gc_reasons_shmem(void);

#endif							/* GC_REASONS_H */
