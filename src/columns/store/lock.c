/*-------------------------------------------------------------------------
 *
 * lock.c
 *	  The LWLocks of columns/, for every process that is attached to shared memory.
 *
 * Lock order, outermost first: GC_LOCK_JOBS, GC_LOCK_STORE, GC_LOCK_DICT_*,
 * GC_LOCK_LOOKUPS, GC_LOCK_RETIRE, GC_LOCK_ARENA.  GC_LOCK_WAL and GC_LOCK_COLD_PLANS are
 * taken with none of them held, and none with them.
 *
 *-------------------------------------------------------------------------
 */
#include "lock.h"

/* The lock's order among the others is in this file's head. */
LWLock *
gc_lock(GcColumnsLock which)
{
	static LWLockPadded *locks = NULL;

	if (locks == NULL)
		locks = GetNamedLWLockTranche("gpuconc_columns");
	return &locks[which].lock;
}
