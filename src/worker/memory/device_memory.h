/*-------------------------------------------------------------------------
 *
 * device_memory.h
 *	  Memory of the device, copies from and to it, and what gives way when it is short.
 *
 * The worker's main thread.  The caller owns what it allocates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_MEMORY_H
#define GC_DEVICE_MEMORY_H

#include "postgres.h"

#include "../../device/device.h"

extern void gc_device_memory_init(void);

/* Device memory; drops what is least recently used and not in use.  0: none. */
extern GcAddr gc_device_alloc(u64 size);
/* Device memory out of what is free, of which some has to stay free; drops nothing.  0: none. */
extern GcAddr gc_device_alloc_spare(u64 size);
extern void gc_device_free(GcAddr addr);

/*
 * How a file drops data in device memory that has no users and can be made again.  Lives as long as
 * the worker.
 */
typedef struct GcEvictor
{
	/*
	 * The time of last use, by GcWorker's clock, of what drop() would drop; GC_NEVER_USED: there is
	 * nothing to drop.  NULL: the data is cheap to make again, and goes before all else.
	 */
	uint64		(*oldest) (void);
	bool		(*drop) (void); /* drop one piece; false: there was nothing */
	struct GcEvictor *next;
} GcEvictor;

#define GC_NEVER_USED	PG_UINT64_MAX

extern void gc_evictor_register(GcEvictor *evictor);

/* Copy between arena and device, asynchronously; page-locks the arena where it is copied first. */
extern GcCode gc_copy_in(GcStream *stream, GcAddr dst, const void *src, Size size, GcError *err);
extern GcCode gc_copy_out(GcStream *stream, void *dst, GcAddr src, Size size, GcError *err);

/* May kernels write to this range of the arena by themselves? */
extern bool gc_kernels_reach(const void *ptr, Size size);

#endif							/* GC_DEVICE_MEMORY_H */
