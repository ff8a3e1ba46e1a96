/*-------------------------------------------------------------------------
 *
 * candidate.c
 *	  Facts of one ready kernel, without looking at others.
 *
 * Pure functions.
 *
 *-------------------------------------------------------------------------
 */
#include "candidate.h"

/* A kernel that takes this many times the time for its bytes is not bound by reading them. */
#define MEMORY_BOUND	1.4

double
gc_item_bytes(const GcCandidate *candidate)
{
	double		bytes = 0;

	for (int k = 0; k < candidate->nloads; k++)
		bytes += candidate->load[k].bytes;
	return bytes;
}

bool
gc_memory_bound(const GcCalibration *c, const GcCandidate *candidate, const GcKernelNeeds *o)
{
	const double bytes = gc_item_bytes(candidate);

	return bytes > 0 && o->alone_us - c->launch_us < bytes / c->read_bandwidth * MEMORY_BOUND;
}

int
gc_full_warps(const GcProfile *profile, const GcKernelNeeds *o)
{
	int			per_block = (o->threads + profile->warp_size - 1) / profile->warp_size;

	return per_block * (o->occupancy > 0 ? o->occupancy : 1);
}
