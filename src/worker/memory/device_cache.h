/*-------------------------------------------------------------------------
 *
 * device_cache.h
 *	  The column chunks that are in device memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_CACHE_H
#define GC_DEVICE_CACHE_H

#include "postgres.h"

#include "../../columns/columns.h"
#include "../../device/device.h"

/* One cached column of one directory: its GcCols, on the device. */
typedef struct GcTable GcTable;

/*
 * The table of column `col` of dir, with every chunk of sources[] resident; copies
 * that are needed are queued on stream, *copied grows by their bytes, and before the
 * first of them comes a mark, *began, if began is not NULL and *began is.  The table
 * is in use until gc_table_release.  NULL: no device memory (err set).
 */
extern GcTable *gc_table_use(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources,
							 GcStream *stream, GcEvent **began, u64 *copied, GcError *err);
extern GcAddr gc_table_array(const GcTable *table);

/* After the copies were queued: others that use the table wait for this mark. */
extern void gc_table_uploaded(GcTable *table, GcStream *stream);
extern void gc_table_release(GcTable *table);

/* Drop device copies of chunks whose host copies are gone. */
extern void gc_drop_regions(void);
extern void gc_device_cache_init(void);

#endif							/* GC_DEVICE_CACHE_H */
