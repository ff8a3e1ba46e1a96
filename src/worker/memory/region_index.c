/*-------------------------------------------------------------------------
 *
 * region_index.c
 *	  Regions by their ids: a hash table with linear probing, at most half full.
 *
 * No PostgreSQL.  The worker's main thread.  It lives as long as the worker.
 *
 *-------------------------------------------------------------------------
 */
#include "region_index.h"

#include <stdlib.h>

#define LEAST_BITS	10

/* Put an entry into the first free place from its own on.  There is one, as half of them are free. */
static void
put(GcRegionIndex *index, uint64_t id, struct GcRegion *region)
{
	uint64_t	i = gc_region_index_place(index, id);

	while (index->entry[i].id != 0)
		i = (i + 1) & index->mask;
	index->entry[i] = (GcIndexedRegion) {.id = id,.region = region};
}

/* Twice as many places, or the first ones.  False: no memory, and the index is as it was. */
static bool
grow(GcRegionIndex *index)
{
	const int	bits = index->entry ? 64 - index->shift + 1 : LEAST_BITS;
	GcRegionIndex larger = {.mask = (UINT64_C(1) << bits) - 1,.shift = 64 - bits,.n = index->n};

	larger.entry = calloc(larger.mask + 1, sizeof(GcIndexedRegion));
	if (larger.entry == NULL)
		return false;
	for (uint64_t i = 0; index->entry && i <= index->mask; i++)
	{
		if (index->entry[i].id != 0)
			put(&larger, index->entry[i].id, index->entry[i].region);
	}
	free(index->entry);
	*index = larger;
	return true;
}

bool
gc_region_index_add(GcRegionIndex *index, uint64_t id, struct GcRegion *region)
{
	if ((index->entry == NULL || 2 * (index->n + 1) > index->mask) && !grow(index))
		return false;
	put(index, id, region);
	index->n++;
	return true;
}

/* Entries behind it move up, where they are found from their own places on. */
void
gc_region_index_remove(GcRegionIndex *index, uint64_t id)
{
	uint64_t	hole;

	if (index->entry == NULL)
		return;
	hole = gc_region_index_place(index, id);
	while (index->entry[hole].id != id)
	{
		if (index->entry[hole].id == 0)
			return;
		hole = (hole + 1) & index->mask;
	}
	for (uint64_t i = (hole + 1) & index->mask; index->entry[i].id != 0; i = (i + 1) & index->mask)
	{
		const uint64_t from = gc_region_index_place(index, index->entry[i].id);

		/* How far each is behind its place: the one at i may go to the hole if that is not before its place. */
		if (((i - from) & index->mask) < ((i - hole) & index->mask))
			continue;
		index->entry[hole] = index->entry[i];
		hole = i;
	}
	index->entry[hole] = (GcIndexedRegion) {0};
	index->n--;
}
