/*-------------------------------------------------------------------------
 *
 * device_dicts.h
 *	  Dictionaries on the device.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_DICTS_H
#define GC_DEVICE_DICTS_H

#include "postgres.h"

#include "../../columns/store/dict.h"
#include "../../device/device.h"
#include "device_memory.h"

typedef struct GcDeviceDict GcDeviceDict;

/*
 * Have the first `count` values of a shared dictionary readable by kernels that are queued to the
 * stream from now on.  In use until it is released.  NULL: no device memory, or the device has failed.
 */
extern GcDeviceDict *gc_device_dict_use(const GcDict *dict, u32 count, GcStream *stream, GcCopies *copies, u64 *copied, GcError *err);
extern void gc_device_dict_release(GcDeviceDict *dict);

/* Bytes of the values, and u64 where each starts. */
extern GcAddr gc_device_dict_bytes(const GcDeviceDict *dict);
extern GcAddr gc_device_dict_starts(const GcDeviceDict *dict);

/* The dictionary with this identity has left the column cache; 0: any may have. */
extern void gc_device_dict_dropped(u64 id);
extern void gc_device_dicts_init(void);

#endif							/* GC_DEVICE_DICTS_H */
