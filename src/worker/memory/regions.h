/*-------------------------------------------------------------------------
 *
 * regions.h
 *	  Regions: device copies of single column chunks.
 *
 * The worker's main thread.  Device tables refer to regions, and waves do.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REGIONS_H
#define GC_REGIONS_H

#include "postgres.h"

#include "lib/pairingheap.h"

#include "../../columns/store/columns.h"
#include "../../device/device.h"
#include "device_memory.h"

/* A region: the device copy of one column of one chunk. */
typedef struct GcRegion
{
	u64			id;				/* key */
	GcAddr		addr;
	u64			bytes;
	u32			tables;			/* that refer to it, and waves */
	bool		dropped;		/* the host copy is gone */
	GcEvent	   *ready;			/* follows its upload; NULL: that is known to be done */
	struct OrphanPlace *place;	/* in whose heap it is (regions.c), or NULL */
	u64			use_key;		/* of its place (eviction.h) */
	u64			column;			/* key of its column; 0: not known */
	u32			chunk;			/* in the directory that had it last, and how many there were */
	u32			nchunks;
	pairingheap_node orphan;	/* in the heap of its place */
} GcRegion;

/* Bytes of a chunk's column: values and NULL bitmap. */
static inline u64
gc_cell_bytes(const GcChunkColumn *cell)
{
	return cell->data_bytes + cell->null_bytes;
}

/*
 * Regions by themselves, for waves.  gc_region_find: the region of a cell, or NULL.  gc_region_take: use it.
 * gc_region_keep: a new one, if memory is to spare or (displace) others can go; its copy is queued on the stream.
 * Kernels that are queued on the stream from now on may read it.  It is in use until gc_region_put, and cached from
 * then on.
 */
extern GcRegion *gc_region_find(const GcChunkColumn *cell);
extern GcCode gc_region_take(GcRegion *region, GcStream *stream, GcError *err);
extern GcCode gc_region_keep(const GcDirectory *dir, int col, u32 chunk, bool displace, GcStream *stream,
							 GcRegion **region, GcError *err);
extern GcAddr gc_region_addr(const GcRegion *region);
extern void gc_region_put(GcRegion *region);

/*
 * For device tables.  The region of a chunk's column, made now if there is none; *copied grows by the bytes copied, and
 * copies as gc_table_use's.  NULL: err set.  gc_region_unref: the table needs it no longer; keep: another may.
 */
extern GcRegion *gc_region_get(const GcDirectory *dir, int col, u32 chunk, GcStream *stream, GcCopies *copies,
							   u64 *copied, GcError *err);
extern void gc_region_unref(GcRegion *region, bool keep);

/* Bytes of a column's regions, of all its directories. */
extern u64	gc_column_device_bytes(const GcDirectory *dir, int col);

/* Bytes of regions that nothing refers to. */
extern u64	gc_orphan_bytes(void);
extern u64	gc_region_bytes(void);	/* of all regions */

/* As gc_table_want, for regions that nothing refers to. */
extern void gc_orphans_want(const GcDirectory *dir, int col, float requests);

/* Offer orphans for eviction, by place; drop some of a place that was offered. */
extern void gc_offer_orphans(void);
extern u64	gc_drop_orphans(u64 use_key, u64 need);

/* The host copy of a region is gone.  True if something still refers to the region.  gc_free_orphans: all may have. */
extern bool gc_region_dropped(u64 id);
extern void gc_free_orphans(void);

extern void gc_regions_init(void);

#endif							/* GC_REGIONS_H */
