/*-------------------------------------------------------------------------
 *
 * reserve.h
 *	  Room that sessions have been promised which load columns for a query.
 *
 * A query needs all of its columns at once, of several tables that are loaded one after the other.  So a session
 * reserves room for all that it lacks before its first load begins.  Another one whose columns do not fit beside that
 * does not begin.  Until the query has its columns, no process evicts columns that were used since it reserved: none
 * that it has loaded.
 *
 * Runs in backends and loader workers.  A process has one reservation at most.  It ends with the transaction, if not
 * before.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_RESERVE_H
#define GC_RESERVE_H

#include "postgres.h"

#include "datatype/timestamp.h"

extern void gc_reserve_shmem(void);

/*
 * Reserve `bytes` of `room` that was found to be free, or can be freed; false if others have reserved too much of it.
 * Columns that are used from now on stay.  A second call adds nothing and is true.
 */
extern bool gc_reserve(Size bytes, Size room);

/* The query has its columns, or gives up. */
extern void gc_reserve_end(void);

/* Bytes that others than this process have reserved and not taken yet. */
extern Size gc_reserved_by_others(void);

/* A process has taken bytes for the load of the process of this number; so much less is reserved.  Below 0: of none. */
extern void gc_reserve_taken(int procno, Size bytes);

/* Columns used at or after this time are not evicted, where they need not be used later than `since` for that. */
extern TimestampTz gc_reserve_horizon(TimestampTz since);

#endif							/* GC_RESERVE_H */
