/*-------------------------------------------------------------------------
 *
 * batchlog.c
 *	  The ring of finished batches and the table of kernel totals.
 *
 * In main shared memory, made once at server start and never freed.  batchlog.h says which
 * process writes, which processes read, and what the lock is for.
 *
 * Batches are stored in the order in which they finish, which need not be the order of
 * their ids.  A batch that ran so long that its slot in the ring was reused is dropped.
 * A separate array holds the ids, so that the newest batches are found without reading
 * the records.
 *
 * Kernels are found by hash.  When all GC_KERNELLOG_SIZE entries are taken, a new kernel
 * replaces the least recently launched one; a list keeps that order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "batchlog.h"

#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "../settings.h"
#include "../shmem.h"

/* The newest launch's share in a kernel's mean error. */
#define ERROR_WEIGHT	0.125

typedef struct GcBatchLog
{
	pg_atomic_uint64 last_id;	/* handed out; resets do not change it */
	dlist_head	launched;		/* KernelEntry, the newest launch first */
} GcBatchLog;

/* All 8-byte fields: hashed as bytes, so there may be no padding. */
typedef struct KernelKey
{
	GcHash		kernel;
	uint64		kind;			/* and the device */
} KernelKey;

typedef struct KernelEntry
{
	KernelKey	key;
	dlist_node	node;
	GcKernelLog log;
} KernelEntry;

/* A ring of copies over the link. */
typedef struct GcWaveLog
{
	uint64		last_id;
	uint64		first_id;		/* the oldest one to be shown; resets move it */
	GcWaveRecord ring[GC_WAVELOG_SIZE];
} GcWaveLog;

static GcBatchLog *shared = NULL;
static GcWaveLog *waves = NULL;
static uint64 *ids = NULL;		/* of the records; 0: nothing there yet */
static GcBatchRecord *ring = NULL;
static HTAB *kernels = NULL;
static LWLock *lock = NULL;
static LWLock *waves_lock = NULL;

/* Bytes before the ids, which stand right behind the header. */
static Size
header_size(void)
{
	return MAXALIGN(sizeof(GcBatchLog));
}

/* Bytes of header, ids and records: gpuconc.batch_log_size of each. */
static Size
ring_size(void)
{
	return add_size(header_size(),
					mul_size(gc_batch_log_size, sizeof(uint64) + sizeof(GcBatchRecord)));
}

/* Batches, copies over the link, and kernels' totals; none at first. */
void
gc_batchlog_shmem(void)
{
	bool		made;

	shared = gc_shmem("gpuconc batches", ring_size(), &made);
	if (shared)
	{
		ids = (uint64 *) ((char *) shared + header_size());
		ring = (GcBatchRecord *) (ids + gc_batch_log_size);
	}
	if (made)
	{
		pg_atomic_init_u64(&shared->last_id, 0);
		dlist_init(&shared->launched);
	}
	kernels = gc_shmem_hash("gpuconc kernel totals", GC_KERNELLOG_SIZE, sizeof(KernelKey), sizeof(KernelEntry));
	waves = gc_shmem("gpuconc waves", sizeof(GcWaveLog), &made);
	if (made)
		waves->first_id = 1;
	lock = gc_shmem_lock("gpuconc_batchlog", 0);
	waves_lock = gc_shmem_lock("gpuconc_batchlog", 1);
}

/*-------------------------------------------------------------------------
 * Worker
 *-------------------------------------------------------------------------
 */

uint64
gc_batchlog_next_id(void)
{
	return pg_atomic_add_fetch_u64(&shared->last_id, 1);
}

void
gc_batchlog_add(const GcBatchRecord *record)
{
	uint64		slot = record->id % gc_batch_log_size;
	int			nkept = Min(record->nkept, GC_BATCHLOG_KERNELS);

	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (ids[slot] < record->id)
	{
		memcpy(&ring[slot], record,
			   offsetof(GcBatchRecord, kernel) + nkept * sizeof(GcBatchKernel));
		ring[slot].nkept = nkept;
		ids[slot] = record->id;
	}
	LWLockRelease(lock);
}

/* The entry of a kernel, empty (launches 0) if it is new; NULL: no room.  Locked. */
static GcKernelLog *
kernel_entry(const GcKernelLog *launch)
{
	KernelKey	key = {.kernel = launch->kernel,.kind = (uint64) launch->device << 16 | launch->kind};
	KernelEntry *e = hash_search(kernels, &key, HASH_FIND, NULL);

	if (e)
	{
		dlist_move_head(&shared->launched, &e->node);
		return &e->log;
	}
	if (hash_get_num_entries(kernels) >= GC_KERNELLOG_SIZE)
	{
		KernelEntry *oldest = dlist_tail_element(KernelEntry, node, &shared->launched);

		dlist_delete(&oldest->node);
		hash_search(kernels, &oldest->key, HASH_REMOVE, NULL);
	}
	e = hash_search(kernels, &key, HASH_ENTER_NULL, NULL);
	if (e == NULL)
		return NULL;
	dlist_push_head(&shared->launched, &e->node);
	memset(&e->log, 0, sizeof(e->log));
	e->log.kernel = launch->kernel;
	e->log.kind = launch->kind;
	e->log.device = launch->device;
	e->log.error = -1;
	return &e->log;
}

/*
 * Counts, time and error are added to the kernel's totals; the other fields replace the old ones.  An
 * error that is negative (or not a number) says that nothing was predicted.
 */
void
gc_kernellog_add(const GcKernelLog *launch)
{
	TimestampTz when = launch->last_launch ? launch->last_launch : GetCurrentTimestamp();
	float		best = launch->best_us > 0 ? launch->best_us : launch->time_us;
	GcKernelLog *k;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	k = kernel_entry(launch);
	if (k)
	{
		k->best_us = k->launches == 0 ? best : Min(k->best_us, best);
		k->launches += launch->launches;
		k->requests += launch->requests;
		k->time_us += launch->time_us;
		if (launch->error >= 0)
			k->error = k->error < 0 ? launch->error :
				k->error + ERROR_WEIGHT * (launch->error - k->error);
		k->alone_us = launch->alone_us;
		k->registers = launch->registers;
		k->shared_bytes = launch->shared_bytes;
		k->threads = launch->threads;
		k->max_blocks = launch->max_blocks;
		k->last_launch = when;
	}
	LWLockRelease(lock);
}

/*-------------------------------------------------------------------------
 * Backends
 *-------------------------------------------------------------------------
 */

/* Order for qsort(): the oldest batch first. */
static int
compare_ids(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/*
 * The lock is taken for each record anew, so that the worker does not wait for the copying of the
 * whole ring.  Records that are overwritten between are left out.
 */
GcBatchRecord *
gc_batchlog_read(int limit, int *n)
{
	uint64	   *wanted = palloc(gc_batch_log_size * sizeof(uint64));
	GcBatchRecord *result;
	int			nwanted = 0;
	int			first;

	LWLockAcquire(lock, LW_SHARED);
	memcpy(wanted, ids, gc_batch_log_size * sizeof(uint64));
	LWLockRelease(lock);
	for (int i = 0; i < gc_batch_log_size; i++)
	{
		if (wanted[i] != 0)
			wanted[nwanted++] = wanted[i];
	}
	qsort(wanted, nwanted, sizeof(uint64), compare_ids);

	*n = 0;
	first = limit > 0 ? Max(nwanted - limit, 0) : 0;
	result = palloc(Max(nwanted - first, 1) * sizeof(GcBatchRecord));
	for (int i = first; i < nwanted; i++)
	{
		uint64		slot = wanted[i] % gc_batch_log_size;

		CHECK_FOR_INTERRUPTS();
		LWLockAcquire(lock, LW_SHARED);
		if (ids[slot] == wanted[i])
			memcpy(&result[(*n)++], &ring[slot], sizeof(GcBatchRecord));
		LWLockRelease(lock);
	}
	pfree(wanted);
	return result;
}

GcKernelLog *
gc_kernellog_read(int *n)
{
	GcKernelLog *result = palloc(GC_KERNELLOG_SIZE * sizeof(GcKernelLog));
	dlist_iter	iter;

	*n = 0;
	LWLockAcquire(lock, LW_SHARED);
	dlist_foreach(iter, &shared->launched)
		result[(*n)++] = dlist_container(KernelEntry, node, iter.cur)->log;
	LWLockRelease(lock);
	return result;
}

/* Batches that still run are added to the emptied ring when they are done. */
void
gc_batchlog_reset(void)
{
	LWLockAcquire(lock, LW_EXCLUSIVE);
	memset(ids, 0, gc_batch_log_size * sizeof(uint64));
	while (!dlist_is_empty(&shared->launched))
	{
		KernelEntry *e = dlist_container(KernelEntry, node, dlist_pop_head_node(&shared->launched));

		hash_search(kernels, &e->key, HASH_REMOVE, NULL);
	}
	LWLockRelease(lock);
	LWLockAcquire(waves_lock, LW_EXCLUSIVE);
	waves->first_id = waves->last_id + 1;
	LWLockRelease(waves_lock);
}

/*-------------------------------------------------------------------------
 * Copies over the link
 *-------------------------------------------------------------------------
 */

void
gc_wavelog_add(const GcWaveRecord *wave)
{
	GcWaveRecord *to;

	LWLockAcquire(waves_lock, LW_EXCLUSIVE);
	to = &waves->ring[++waves->last_id % GC_WAVELOG_SIZE];
	*to = *wave;
	to->id = waves->last_id;
	LWLockRelease(waves_lock);
}

GcWaveRecord *
gc_wavelog_read(int *n)
{
	GcWaveRecord *result = palloc(GC_WAVELOG_SIZE * sizeof(GcWaveRecord));
	uint64		first;

	*n = 0;
	LWLockAcquire(waves_lock, LW_SHARED);
	first = waves->last_id >= GC_WAVELOG_SIZE ? waves->last_id - GC_WAVELOG_SIZE + 1 : 1;
	for (uint64 id = Max(first, waves->first_id); id <= waves->last_id; id++)
		result[(*n)++] = waves->ring[id % GC_WAVELOG_SIZE];
	LWLockRelease(waves_lock);
	return result;
}
