/*-------------------------------------------------------------------------
 *
 * device_choice.c
 *	  Which of several devices a request goes to.
 *
 * Pure functions.
 *
 *-------------------------------------------------------------------------
 */
#include "device_choice.h"

/*
 * A device's cost by the policy: requests, bytes that are not there, or microseconds until the request could be done.
 */
static double
cost_of(const GcDeviceOffer *offer, GcRoute policy)
{
	switch (policy)
	{
		case GC_ROUTE_REQUESTS:
			return offer->requests;
		case GC_ROUTE_AFFINITY:
			return offer->missing;
		default:
			return offer->backlog + offer->missing / offer->link;
	}
}

/*
 * Is device a better than b?  Of those with equally much to copy, one that is not short of memory.  Of equal ones,
 * fewer requests decide, or else less in memory.
 */
static bool
is_better(const GcDeviceOffer *a, const GcDeviceOffer *b, GcRoute policy)
{
	const double x = cost_of(a, policy);
	const double y = cost_of(b, policy);

	if (x != y)
		return x < y;
	if (policy == GC_ROUTE_AFFINITY && a->is_short != b->is_short)
		return b->is_short;
	if (a->requests != b->requests)
		return a->requests < b->requests;
	return a->memory_used < b->memory_used;
}

/*
 * The candidate that costs least.  home may be short of memory, others only if they copy for at most `us` microseconds.
 * -1: any may.
 */
static int
best_of(const GcDeviceOffer *offers, int n, GcRoute policy, int home, double us)
{
	int			best = -1;

	for (int d = 0; d < n; d++)
	{
		const bool	may_be_short = home < 0 || d == home || offers[d].missing / offers[d].link <= us;

		if (!offers[d].candidate || (offers[d].is_short && !may_be_short))
			continue;
		if (best < 0 || is_better(&offers[d], &offers[best], policy))
			best = d;
	}
	return best;
}

/* The candidate whose turn it is. */
static int
in_turn(const GcDeviceOffer *offers, int n, uint32_t turn)
{
	int			candidates = 0;

	for (int d = 0; d < n; d++)
		candidates += offers[d].candidate;
	if (candidates == 0)
		return -1;
	turn %= candidates;
	for (int d = 0;; d++)
	{
		if (offers[d].candidate && turn-- == 0)
			return d;
	}
}

int
gc_choose_device(const GcDeviceOffer *offers, int n, double us, uint32_t turn, GcRoute policy)
{
	int			home;

	if (policy == GC_ROUTE_ROUND_ROBIN)
		return in_turn(offers, n, turn);
	if (policy != GC_ROUTE_PREDICTED)
		return best_of(offers, n, policy, -1, us);
	home = best_of(offers, n, GC_ROUTE_AFFINITY, -1, us);
	return home < 0 || offers[home].backlog <= us ? home : best_of(offers, n, GC_ROUTE_PREDICTED, home, us);
}

bool
gc_parts_are_sooner(const double *backlogs, int n, double us, double merge_us)
{
	double		least = backlogs[0];
	double		most = backlogs[0];

	for (int d = 1; d < n; d++)
	{
		least = backlogs[d] < least ? backlogs[d] : least;
		most = backlogs[d] > most ? backlogs[d] : most;
	}
	return most + us / n + merge_us < least + us;
}
