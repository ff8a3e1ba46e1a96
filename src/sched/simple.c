/*-------------------------------------------------------------------------
 *
 * simple.c
 *	  The simple policy: everything starts at once, grids shrink as more run.
 *
 * Measured on an H200 (docs/architecture.md): a scan that probes dimension bitmaps in
 * shared memory is up to three times as fast as one that probes them in L2, so
 * they go there while they fit; and scans that run together gain only if their
 * blocks are resident together, so each takes its share of the multiprocessors'
 * warps rather than a full grid.
 *
 * Pure functions; no state.
 *
 *-------------------------------------------------------------------------
 */
#include "sched.h"

/* Copying bitmaps into every block pays off only for scans of so many rows. */
#define SHARED_MIN_ROWS		2000000

/* A group table per block costs its merging; beyond this it goes to L2. */
#define LOCAL_GROUP_BYTES_CUDA	(48 * 1024)
#define LOCAL_GROUP_BYTES_HOST	(256 * 1024)

/* Fewest warps per multiprocessor that still keep enough loads in flight. */
#define MIN_WARPS			8

int
gc_sched_variant(const GcProfile *profile, const uint64_t *bitmap_bytes, int nbitmaps,
				 uint64_t group_bytes, uint64_t rows, uint32_t *use, bool *group)
{
	uint64_t	room = profile->shared_per_block - 1024;
	uint64_t	total = 0;

	*use = 0;
	if (profile->host)
	{
		*group = group_bytes > 0 && group_bytes <= LOCAL_GROUP_BYTES_HOST;
		return 1;
	}
	*group = group_bytes > 0 && group_bytes <= LOCAL_GROUP_BYTES_CUDA;
	if (*group)
		total += group_bytes;
	for (int i = 0; i < nbitmaps && rows >= SHARED_MIN_ROWS; i++)
	{
		if (total + bitmap_bytes[i] <= room)
		{
			*use |= 1u << i;
			total += bitmap_bytes[i];
		}
	}
	/* Where few blocks fit, they have to be large. */
	return total > (uint64_t) profile->shared_per_sm / 8 ? 1024 : 256;
}

GcShape
gc_sched_shape(const GcProfile *profile, const GcDemand *demand,
			   int threads, int occupancy, int running)
{
	GcShape		shape = {1, (uint32_t) threads};
	uint64_t	blocks;
	int			per_sm = occupancy > 0 ? occupancy : 1;

	if (profile->host)
	{
		/* Several blocks per thread, so that requests take turns. */
		blocks = (uint64_t) profile->sms * 4;
	}
	else
	{
		int			warps = (threads + profile->warp_size - 1) / profile->warp_size;
		int			share = profile->max_warps / (running + 1);

		if (share < MIN_WARPS)
			share = MIN_WARPS;
		if (running > 0 && per_sm * warps > share)
			per_sm = share / warps > 0 ? share / warps : 1;
		blocks = (uint64_t) profile->sms * per_sm;
	}
	if (blocks > demand->tiles)
		blocks = demand->tiles;
	shape.blocks = blocks > 0 ? (uint32_t) blocks : 1;
	return shape;
}
