/*-------------------------------------------------------------------------
 *
 * region_index.h
 *	  Regions by their ids.
 *
 * Waves ask for each column of each chunk whether there is a region of it, so that is a few instructions, inline.
 *
 * No PostgreSQL; unit tests link it.  The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REGION_INDEX_H
#define GC_REGION_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct GcIndexedRegion
{
	uint64_t	id;				/* 0: none is here */
	struct GcRegion *region;
} GcIndexedRegion;

/* All zero: empty.  Entries lie at the place that their ids say, or behind it. */
typedef struct GcRegionIndex
{
	GcIndexedRegion *entry;
	uint64_t	mask;			/* entries, less 1 */
	int			shift;			/* of a product of 64 bits, to a place */
	uint64_t	n;				/* regions */
} GcRegionIndex;

/* The place where a search for the id begins: the upper bits of a product, since ids are consecutive. */
static inline uint64_t
gc_region_index_place(const GcRegionIndex *index, uint64_t id)
{
	return id * UINT64_C(0x9e3779b97f4a7c15) >> index->shift;
}

/* The region that has this id, or NULL. */
static inline struct GcRegion *
gc_region_index_find(const GcRegionIndex *index, uint64_t id)
{
	if (index->entry == NULL)
		return NULL;
	for (uint64_t i = gc_region_index_place(index, id); index->entry[i].id != 0; i = (i + 1) & index->mask)
	{
		if (index->entry[i].id == id)
			return index->entry[i].region;
	}
	return NULL;
}

/* Add a region.  Its id is not 0, and not in the index.  False: no memory. */
extern bool gc_region_index_add(GcRegionIndex *index, uint64_t id, struct GcRegion *region);

/* Take the region out that has this id. */
extern void gc_region_index_remove(GcRegionIndex *index, uint64_t id);

#endif							/* GC_REGION_INDEX_H */
