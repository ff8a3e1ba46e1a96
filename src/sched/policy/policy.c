/*-------------------------------------------------------------------------
 *
 * policy.c
 *	  The scheduling policies: from ready kernels to launches.
 *
 * GPU engines today schedule as sequential or streams does.  Li, Tu, Zeng 2019 compare with random (CR);
 * kernel is their kernel model without their batch model (CO); twostage (twostage.c) is both
 * (BO).
 *
 * Pure functions, apart from the random state, which the caller owns.
 *
 *-------------------------------------------------------------------------
 */
#include "policy.h"
#include "../model/occupancy.h"
#include "start.h"

#include <string.h>

size_t
gc_decide_work_size(void)
{
	return sizeof(GcDecideWork);
}

/* Resources that the active launches leave of a multiprocessor. */
static void
free_room(const GcSchedule *s, int room[GC_NEEDS])
{
	gc_sm_limits(s->profile, room);
	for (int a = 0; a < s->nactive; a++)
	{
		const GcActive *active = &s->active[a];
		int			per_sm = ((int) active->grid.blocks + s->profile->sms - 1) / s->profile->sms;
		int			need[GC_NEEDS];

		if (!gc_blocks_need(s->profile, active->registers, (int) active->grid.threads,
							active->shared_bytes, per_sm, need))
			continue;
		for (int r = 0; r < GC_NEEDS; r++)
			room[r] = room[r] > need[r] ? room[r] - need[r] : 0;
	}
}

/* Take a launch's share of a multiprocessor out of room; false: it does not fit. */
static bool
take_room(const GcSchedule *s, const GcKernelNeeds *o, int blocks, int threads, int room[GC_NEEDS])
{
	int			need[GC_NEEDS];

	if (!gc_blocks_need(s->profile, o->registers, threads, o->shared_bytes, blocks, need) ||
		!gc_needs_fit(need, room))
		return false;
	for (int r = 0; r < GC_NEEDS; r++)
		room[r] -= need[r];
	return true;
}

/*-------------------------------------------------------------------------
 * Random
 *-------------------------------------------------------------------------
 */

/* splitmix64 (Steele, Lea, Flood 2014): any state will do. */
static uint64_t
draw(uint64_t *state, uint64_t below)
{
	uint64_t	z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % below;
}

/*
 * Start one candidate in a random size.  Its blocks have 1 to max_threads / 32 warps, and it has
 * from 1 block to as many as fit an empty multiprocessor.  False: there is no room for that now.
 */
static bool
start_random(const GcSchedule *s, int i, int room[GC_NEEDS], GcDecision *d)
{
	const GcCandidate *candidate = &s->candidate[i];
	const GcKernelNeeds *o = &candidate->needs;
	int			warps = 1 + (int) draw(s->random_state, o->max_threads / s->profile->warp_size);
	int			threads = warps * s->profile->warp_size;
	int			most = gc_occupancy(s->profile, o->registers, threads, o->shared_bytes);
	int			blocks = most > 0 ? 1 + (int) draw(s->random_state, most) : 1;

	if (!take_room(s, o, blocks, threads, room) && (s->nactive > 0 || d->nstarts > 0))
		return false;
	gc_add_start(d, i, gc_sched_full(s->profile, threads, blocks, candidate->tiles), o->alone_us);
	return true;
}

/* Start candidates in a random order, until one does not fit into the rest. */
static void
decide_random(const GcSchedule *s, GcDecision *d)
{
	int			room[GC_NEEDS];
	int			order[GC_MAX_CANDIDATES];

	free_room(s, room);
	for (int i = 0; i < s->ncandidates; i++)
	{
		int			j = (int) draw(s->random_state, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (int k = 0; k < s->ncandidates; k++)
	{
		if (!start_random(s, order[k], room, d))
			break;
	}
}

/*-------------------------------------------------------------------------
 * Kernel model
 *-------------------------------------------------------------------------
 */

/*
 * Parts of their fair shares with which candidates are tried.  A candidate that fits with one part
 * also fits with a smaller one.
 */
static const double parts[] = {1, 0.85, 0.7, 0.55};

#define LEAST_PART	((int) (sizeof(parts) / sizeof(parts[0])) - 1)

/*
 * Place the candidates pick[0 .. n - 1] together in `room` with this part of their fair shares, in
 * work->choice.  False, and work->choice is unchanged: the kernel model found no plan.
 */
static bool
place(const GcSchedule *s, const int *pick, int n, int part, const int room[GC_NEEDS],
	  GcDecideWork *work)
{
	for (int k = 0; k < n; k++)
	{
		const GcKernelNeeds *o = &s->candidate[pick[k]].needs;
		int			warps = (int) (gc_fair_warps(s, o, s->nactive + n - 1) * parts[part]);

		gc_describe_candidate(s, pick[k], warps > GC_LEAST_WARPS ? warps : GC_LEAST_WARPS, &work->kitem[k]);
	}
	if (gc_kernel_plan(s->profile, room, work->kitem, n, &work->kernel, work->trial) != GC_KERNEL_OPTIMAL)
		return false;
	memcpy(work->choice, work->trial, n * sizeof(GcKernelChoice));
	return true;
}

/*
 * Place the candidates with the largest part for which there is room.  The least part comes first:
 * without room for it there is none for the others.  So most sets that do not fit cost one try.
 */
static bool
place_together(const GcSchedule *s, const int *pick, int n, const int room[GC_NEEDS],
			   GcDecideWork *work)
{
	if (!place(s, pick, n, LEAST_PART, room, work))
		return false;
	for (int part = 0; part < LEAST_PART && !place(s, pick, n, part, room, work); part++)
		;
	return true;
}

/*
 * Start as many of the picked candidates, from the first on, as the kernel model can place.  No
 * bisection: fewer candidates want more warps each, so that they may fit worse.  To see that a
 * number cannot fit mostly takes less than a microsecond.
 */
static void
start_fitting(const GcSchedule *s, const int *pick, int n, const int room[GC_NEEDS],
			  GcDecideWork *work, GcDecision *d)
{
	for (int m = n; m > 0; m--)
	{
		if (place_together(s, pick, m, room, work))
		{
			(void) gc_start_placed(s, pick, m, work->choice, 0, d);
			return;
		}
	}
}

/* Start candidates in order of arrival, as many as fit with their least shares. */
static void
decide_kernel(const GcSchedule *s, GcDecideWork *work, GcDecision *d)
{
	int			room[GC_NEEDS];
	int			left[GC_NEEDS];
	int			pick[GC_KERNEL_MAX];
	int			n = 0;

	free_room(s, room);
	memcpy(left, room, sizeof(left));
	while (n < s->ncandidates && n < GC_KERNEL_MAX)
	{
		GcKernelItem k;
		int			need[GC_NEEDS];

		gc_least_share(s, n, &k);
		if (!gc_kernel_fits(s->profile, left, &k, NULL, need))
			break;
		for (int r = 0; r < GC_NEEDS; r++)
			left[r] -= need[r];
		pick[n] = n;
		n++;
	}
	if (n == 1 && s->nactive == 0)
		gc_start_alone(s, 0, d);
	else
		start_fitting(s, pick, n, room, work, d);
}

void
gc_decide(const GcSchedule *s, GcDecideWork *work, GcDecision *d)
{
	d->nstarts = d->patterns = d->planned = 0;
	d->predicted_us = 0;
	if (s->ncandidates == 0)
		return;
	/* On the host a block is one turn of a thread: everything starts, and takes turns. */
	if (s->policy == GC_POLICY_STREAMS || (s->profile->serial_blocks && s->policy != GC_POLICY_SEQUENTIAL &&
										   s->policy != GC_POLICY_TWOSTAGE))
	{
		for (int i = 0; i < s->ncandidates; i++)
			gc_start_alone(s, i, d);
		return;
	}
	if (s->policy == GC_POLICY_RANDOM)
		decide_random(s, d);
	else if (s->policy == GC_POLICY_KERNEL)
		decide_kernel(s, work, d);
	else if (s->policy == GC_POLICY_TWOSTAGE)
		gc_decide_twostage(s, work, d);
	if (d->nstarts == 0 && s->nactive == 0)
		gc_start_alone(s, 0, d);
}
