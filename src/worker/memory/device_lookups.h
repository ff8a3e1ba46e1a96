/*-------------------------------------------------------------------------
 *
 * device_lookups.h
 *	  Dictionaries and lookup tables on the device.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_LOOKUPS_H
#define GC_DEVICE_LOOKUPS_H

#include "postgres.h"

#include "../../columns/store/dict.h"
#include "../../columns/store/lookups.h"
#include "../../device/device.h"
#include "../../program/hash.h"
#include "device_memory.h"

typedef struct GcDeviceDict GcDeviceDict;

/*
 * Have the first `count` values of a shared dictionary readable by kernels that are queued to the
 * stream from now on.  In use until it is released.  NULL: no device memory, or the device has failed.
 */
extern GcDeviceDict *gc_device_dict_use(const GcDict *dict, u32 count, GcStream *stream, GcCopies *copies, u64 *copied,
										GcError *err);
extern void gc_device_dict_release(GcDeviceDict *dict);

/* Bytes of the values, and u64 where each starts. */
extern GcAddr gc_device_dict_bytes(const GcDeviceDict *dict);
extern GcAddr gc_device_dict_starts(const GcDeviceDict *dict);

typedef struct GcDeviceLookup GcDeviceLookup;

/*
 * Have a shared table readable by kernels that are queued to the stream from now on; copied to the
 * device if it is not there.  Counts as a use, until it is released.  NULL: no device memory, or
 * the device has failed.
 */
extern GcDeviceLookup *gc_device_lookup_use(const GcSharedLookup *table, GcStream *stream, GcCopies *copies,
											u64 *copied, GcError *err);
/*
 * A table, of `width` bytes an entry, that a kernel computes of the first `count` values of a dictionary, NULL of
 * NULL.  *filled: of how many values it has been computed; the caller queues the kernel for the rest,
 * and then calls gc_device_lookup_filled().
 */
extern GcDeviceLookup *gc_device_lookup_computed(u64 dict, GcHash function, u32 count, u32 width, u32 *filled,
												 GcStream *stream, GcError *err);
extern GcCode gc_device_lookup_filled(GcDeviceLookup *lookup, u32 count, GcStream *stream, GcError *err);
extern void gc_device_lookup_release(GcDeviceLookup *lookup);

/* Is it a computed table, and is a kernel still to fill some of it? */
extern bool gc_device_lookup_pending(const GcDeviceLookup *lookup);

/* The table's contents are worth nothing: requests find it no longer. */
extern void gc_device_lookup_spoil(GcDeviceLookup *lookup);

extern GcAddr gc_device_lookup_data(const GcDeviceLookup *lookup);
extern GcAddr gc_device_lookup_nulls(const GcDeviceLookup *lookup);

extern void gc_device_lookups_init(void);

#endif							/* GC_DEVICE_LOOKUPS_H */
