/*-------------------------------------------------------------------------
 *
 * lock.h
 *	  LWLocks of columns/: one named tranche, requested in shmem_request.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LOCK_H
#define GC_LOCK_H

#include "postgres.h"

#include "storage/lwlock.h"

typedef enum GcColumnsLock
{
	GC_LOCK_STORE,				/* relation table, publishing directories */
	GC_LOCK_JOBS,				/* load jobs */
	GC_LOCK_LOOKUPS,			/* shared lookup tables */
	GC_LOCK_RETIRE,
	GC_LOCK_ARENA,
	GC_LOCK_WAL,				/* reading the WAL (serve/wal_changes.c); no other is taken with it */
	GC_LOCK_COLD_PLANS,			/* plans whose kernels loaders compile; no other is taken with it */
	GC_LOCK_DICT_FIRST,			/* 16 partitions by GcColState address */
	GC_LOCK_DICT_LAST = GC_LOCK_DICT_FIRST + 15,
	GC_NLOCKS
} GcColumnsLock;

extern LWLock *gc_lock(GcColumnsLock which);

#endif							/* GC_LOCK_H */
