/*-------------------------------------------------------------------------
 *
 * device_cache.h
 *	  The device cache: the column chunks that are in device memory.
 *
 * The worker's main thread.  Requests hold the tables that they use.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DEVICE_CACHE_H
#define GC_DEVICE_CACHE_H

#include "postgres.h"

#include "../../columns/columns.h"
#include "../../device/device.h"

/* A device table: the GcCols of one cached column of one directory. */
typedef struct GcTable GcTable;

/*
 * The table of column `col` of dir, with every chunk of sources[] cached on the device.  Copies that
 * are needed are queued on stream; *copied grows by their bytes.  If began is not NULL and *began is
 * NULL, *began becomes an event before the first copy.  The table is in use until gc_table_release.
 * NULL: no device memory (err set).
 */
extern GcTable *gc_table_use(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources,
							 GcStream *stream, GcEvent **began, u64 *copied, GcError *err);

/* Have these chunks, too, in a table of dir that is in use. */
extern GcCode gc_table_complete(GcTable *table, const GcDirectory *dir, const GcSource *sources, uint32 nsources,
								GcStream *stream, GcEvent **began, u64 *copied, GcError *err);
extern GcAddr gc_table_array(const GcTable *table);

/* To be called after the copies were queued: other requests that use the table wait for them. */
extern void gc_table_uploaded(GcTable *table, GcStream *stream);
extern void gc_table_release(GcTable *table);

/* Does a request use the table of this column? */
extern bool gc_table_in_use(const GcDirectory *dir, int col);

/* Before a decision (eviction.h): a request will have read all of this column after so many more requests. */
extern void gc_table_want(const GcDirectory *dir, int col, float requests);

/* Drop device copies of chunks whose host copies are gone. */
extern void gc_drop_regions(void);

/* Have it told of each id that is dropped; 0: any may have been. */
extern void gc_regions_watch(void (*watcher) (u64 id));
extern void gc_device_cache_init(void);

#endif							/* GC_DEVICE_CACHE_H */
