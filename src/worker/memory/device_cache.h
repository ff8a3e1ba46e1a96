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

#include "../../columns/store/columns.h"
#include "../../device/device.h"
#include "device_memory.h"
#include "replacement.h"

/* A device table: the GcCols of one cached column of one directory. */
typedef struct GcTable GcTable;

/*
 * The table of column `col` of dir, with every chunk of sources[] on the device.  Sources are of cached chunks alone,
 * each once, as in all of this file.  Copies that are needed are queued on stream, and other users of the table wait
 * for them.  *copied grows by their bytes, and copies, if not NULL, tells when they began.  The table is in use until
 * gc_table_release.  spared: as gc_column_used's.  NULL: no device memory (err set).
 */
extern GcTable *gc_table_use(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources, float spared,
							 GcStream *stream, GcCopies *copies, u64 *copied, GcError *err);

/* Have these chunks, too, in a table of dir that is in use. */
extern GcCode gc_table_complete(GcTable *table, const GcDirectory *dir, const GcSource *sources, uint32 nsources,
								GcStream *stream, GcCopies *copies, u64 *copied, GcError *err);
extern GcAddr gc_table_array(const GcTable *table);

/*
 * Is there room for all of these columns, and for so many bytes besides, if unused regions are dropped?  Then
 * gc_table_use mostly succeeds.  unused: bytes that others can drop.
 */
extern bool gc_tables_fit(const GcDirectory *dir, const int *columns, int ncolumns, const GcSource *sources,
						  uint32 nsources, u64 besides, u64 unused);

extern void gc_table_release(GcTable *table);

/*
 * About how many bytes of a column's chunks are not in device memory.  Chunks of former directories count
 * as well.  None on a device that reads host memory.  in_use, unless NULL: does a request use the column?
 */
extern u64	gc_table_missing(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources, bool *in_use);

/* A request reads the column in waves: count that as a use.  Returns its uses so far. */
extern GcUses gc_table_read_in_waves(const GcDirectory *dir, int col, const GcSource *sources, uint32 nsources,
									 float spared);

/* Before a decision (eviction.h): a request will have read all of this column after so many more requests. */
extern void gc_table_want(const GcDirectory *dir, int col, float requests);

/* Drop device copies of chunks whose host copies are gone. */
extern void gc_drop_regions(void);

/* Have it told of each id that is dropped; 0: any may have been. */
extern void gc_regions_watch(void (*watcher) (u64 id));
extern void gc_device_cache_init(void);

/* A worker begins without any table: columns' states no longer tell of bytes that the one before it had. */
extern void gc_device_cache_restart(void);

#endif							/* GC_DEVICE_CACHE_H */
