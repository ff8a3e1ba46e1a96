/*-------------------------------------------------------------------------
 *
 * memory.h
 *	  Sub-allocator of a device's memory pool.
 *
 * Address space only: it never touches the memory it hands out, so it serves
 * device memory and is tested without a device.  Main thread of the worker
 * only; no locks.  Bookkeeping is malloc'd at gc_pool_create, and grows by
 * realloc; an allocation on the query path costs no system call.  Freeing
 * needs no memory and cannot fail.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MEMORY_H
#define GC_MEMORY_H

#include "device.h"

#define GC_POOL_ALIGN	512		/* every block's alignment and granule, bytes */

typedef struct GcPool GcPool;

/*
 * Manage [base, base + size), less bytes for alignment at its ends and, as 0 means none, address 0.  NULL when out of
 * memory, or when no granule is left.
 */
extern GcPool *gc_pool_create(GcAddr base, u64 size);
extern void gc_pool_destroy(GcPool *pool);

/*
 * The begin of the lowest free block that has room.  For memory that stays taken for long: the highest block of just
 * this size, else the end of the highest that has room.  O(log n).  So such memory lies at the pool's end, where pieces
 * of few sizes take each other's places.  Large pieces find room at its begin.  Both return 0 when nothing
 * fits (or no memory for bookkeeping); size > 0.
 */
extern GcAddr gc_pool_alloc(GcPool *pool, u64 size);
extern GcAddr gc_pool_alloc_to_stay(GcPool *pool, u64 size);

/*
 * Give back a block by the address that was returned for it; coalesces.  An
 * address that is not that of a block in use is ignored.
 */
extern void gc_pool_free(GcPool *pool, GcAddr addr);

/* A block's purpose, below GC_POOL_KINDS; 0 until it is said.  Another address is ignored. */
#define GC_POOL_KINDS		8

extern void gc_pool_label(GcPool *pool, GcAddr addr, u32 kind);

/* Bytes in use and managed, in whole granules; the largest block to be had. */
extern u64	gc_pool_used(const GcPool *pool);
extern u64	gc_pool_used_for(const GcPool *pool, u32 kind);
extern u64	gc_pool_size(const GcPool *pool);
extern u64	gc_pool_largest_free(const GcPool *pool);

#endif							/* GC_MEMORY_H */
