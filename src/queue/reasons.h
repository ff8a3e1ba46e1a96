/*-------------------------------------------------------------------------
 *
 * reasons.h
 *	  Why queries of a table were PostgreSQL's: counts by table and reason.
 *
 * Written and read by backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REASONS_H
#define GC_REASONS_H

#include "postgres.h"

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

/* A palloc'd copy of this database's. */
extern GcReason *gc_reasons_read(int *n);

extern void gc_reasons_reset(void);

extern void gc_reasons_shmem(void);

#endif							/* GC_REASONS_H */
