/*-------------------------------------------------------------------------
 *
 * device_memory.h
 *	  Memory of the device, and copies from and to it.
 *
 * The worker's main thread.  The caller owns the memory that it allocates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_MEMORY_H
#define GC_DEVICE_MEMORY_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "../../device/device.h"
#include "../../queue/queue.h"

extern void gc_device_memory_init(void);

/* Device memory; drops data that is not in use (eviction.h).  0: none. */
extern GcAddr gc_device_alloc(u64 size);
/* Memory that outlives requests: it lies with column chunks, and so not in between requests' own. */
extern GcAddr gc_device_alloc_to_stay(u64 size);
/* Memory for data that may be dropped again, which leaves the reserve free: operator state goes first. */
extern GcAddr gc_device_alloc_cached(u64 size);
/* Memory in place of data that is worth less: the reserve is not taken for it. */
extern GcAddr gc_device_alloc_displacing(u64 size);

/* Device memory out of the free part; drops nothing.  0: none. */
extern GcAddr gc_device_alloc_free(u64 size);

/*
 * Free memory less a reserve, which is the most that requests lately took beside column chunks.  `stays`: it is taken
 * for as long as column chunks are, not only for a request.
 */
extern GcAddr gc_device_alloc_spare(u64 size, bool stays);
extern u64	gc_device_spare_room(void);	/* what it leaves free */

/* Say the purpose of memory; else it is GC_MEMORY_OTHER.  0 is ignored. */
extern void gc_device_label(GcAddr addr, GcMemoryKind kind);

/* Column chunks take this many bytes more of allocated memory; negative: less. */
extern void gc_device_count_cached(int64 bytes);
extern void gc_device_free(GcAddr addr);

/* Free memory, if there is any, and note that there is none. */
static inline void
gc_device_drop(GcAddr *addr)
{
	if (*addr)
		gc_device_free(*addr);
	*addr = 0;
}

/*
 * Copy between arena and device, asynchronously; page-locks the arena where it is copied first.  Bytes that are copied
 * in are counted in gpuconc_stat, unless they only measure.
 */
extern GcCode gc_copy_in(GcStream *stream, GcAddr dst, const void *src, Size size, GcError *err);
extern GcCode gc_copy_in_uncounted(GcStream *stream, GcAddr dst, const void *src, Size size, GcError *err);

/*
 * Let the stream wait for the event behind a copy that another one makes, if it has not come.  Once it has come it is
 * of no more use, and NULL.  Directories that follow each other closely have regions in common, so copies need not be
 * done.
 */
extern bool gc_await_copy(GcEvent **ready, GcStream *stream, GcError *err);
extern GcCode gc_copy_out(GcStream *stream, void *dst, GcAddr src, Size size, GcError *err);

/* Copies of a stream that was idle, as they are told on the timeline. */
typedef struct GcCopies
{
	GcEvent    *began;			/* before the first one; NULL: there was none */
	TimestampTz at;				/* about when that was */
} GcCopies;

/* A copy comes next; copies may be NULL.  An event that cannot be had is none. */
extern void gc_copies_begin(GcCopies *copies, GcStream *stream);

/* May kernels write to this range of the arena by themselves? */
extern bool gc_kernels_reach(const void *ptr, Size size);

#endif							/* GC_DEVICE_MEMORY_H */
