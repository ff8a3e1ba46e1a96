/*-------------------------------------------------------------------------
 *
 * wavelog.c
 *	  The log of copies over the link: a ring.
 *
 * In main shared memory, made once at server start and never freed.  wavelog.h says which
 * process writes, which processes read, and what the lock is for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "wavelog.h"

#include "storage/lwlock.h"
#include "storage/shmem.h"

typedef struct GcWaveLog
{
	uint64		last_id;
	uint64		first_id;		/* the oldest one to be shown; resets move it */
	GcWaveRecord ring[GC_WAVELOG_SIZE];
} GcWaveLog;

static GcWaveLog *shared = NULL;
static LWLock *lock = NULL;

Size
gc_wavelog_shmem_size(void)
{
	return MAXALIGN(sizeof(GcWaveLog));
}

void
gc_wavelog_shmem_init(void)
{
	bool		found;

	shared = ShmemInitStruct("gpuconc waves", sizeof(GcWaveLog), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(GcWaveLog));
		shared->first_id = 1;
	}
	lock = &GetNamedLWLockTranche("gpuconc_batchlog")[1].lock;
}

void
gc_wavelog_add(const GcWaveRecord *wave)
{
	GcWaveRecord *to;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	to = &shared->ring[++shared->last_id % GC_WAVELOG_SIZE];
	*to = *wave;
	to->id = shared->last_id;
	LWLockRelease(lock);
}

GcWaveRecord *
gc_wavelog_read(int *n)
{
	GcWaveRecord *result = palloc(GC_WAVELOG_SIZE * sizeof(GcWaveRecord));
	uint64		first;

	*n = 0;
	LWLockAcquire(lock, LW_SHARED);
	first = shared->last_id >= GC_WAVELOG_SIZE ? shared->last_id - GC_WAVELOG_SIZE + 1 : 1;
	for (uint64 id = Max(first, shared->first_id); id <= shared->last_id; id++)
		result[(*n)++] = shared->ring[id % GC_WAVELOG_SIZE];
	LWLockRelease(lock);
	return result;
}

void
gc_wavelog_reset(void)
{
	LWLockAcquire(lock, LW_EXCLUSIVE);
	shared->first_id = shared->last_id + 1;
	LWLockRelease(lock);
}
