/*-------------------------------------------------------------------------
 *
 * device_memory.h
 *	  Memory of the device, copies from and to it, and what gives way when it is short.
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
/* The same out of what is free, of which it leaves some: nothing is dropped for it. */
extern GcAddr gc_device_alloc_spare(u64 size);
extern void gc_device_free(GcAddr addr);

/*
 * Something that keeps data in device memory which nobody uses now, and that can be made
 * again.  It lives as long as the worker.
 */
typedef struct GcEvictor
{
	/*
	 * When what it would drop next was last used, by GcWorker's clock; GC_NEVER_USED: it has
	 * nothing to drop.  NULL: what it has is cheap to make again, and goes before all else.
	 */
	uint64		(*oldest) (void);
	bool		(*drop) (void); /* drop that; false: there was nothing */
	struct GcEvictor *next;
} GcEvictor;

#define GC_NEVER_USED	PG_UINT64_MAX

extern void gc_evictor_register(GcEvictor *evictor);

/*
 * Copy between the arena, page-locked as far as it is used for that, and the
 * device.  Asynchronous.
 */
extern GcCode gc_copy_in(GcStream *stream, GcAddr dst, const void *src, Size size, GcError *err);
extern GcCode gc_copy_out(GcStream *stream, void *dst, GcAddr src, Size size, GcError *err);

/* May kernels write to this range of the arena by themselves? */
extern bool gc_kernels_reach(const void *ptr, Size size);

#endif							/* GC_DEVICE_MEMORY_H */
