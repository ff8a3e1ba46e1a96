/*-------------------------------------------------------------------------
 *
 * launch_order.c
 *	  The order in which kernels that are to be co-resident are launched.
 *
 * Pure functions.
 *
 *-------------------------------------------------------------------------
 */
#include "launch_order.h"
#include "../model/occupancy.h"

bool
gc_launch_order(const GcProfile *profile, const GcPlaced *placed, int n, int *order)
{
	const GcPlaced *first;
	int64_t		all = 0;

	for (int k = 0; k < n; k++)
	{
		int			to = k;

		for (; to > 0 && placed[order[to - 1]].shared_bytes < placed[k].shared_bytes; to--)
			order[to] = order[to - 1];
		order[to] = k;
		all += (int64_t) placed[k].blocks * gc_block_shared(profile, placed[k].shared_bytes);
	}
	if (n < 2)
		return false;
	first = &placed[order[0]];
	return all > (int64_t) gc_occupancy(profile, first->registers, first->threads, first->shared_bytes) *
		gc_block_shared(profile, first->shared_bytes);
}
