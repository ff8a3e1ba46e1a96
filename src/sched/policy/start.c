/*-------------------------------------------------------------------------
 *
 * start.c
 *	  Launches of candidates' own kernels: alone, with fair shares, or as the kernel model
 *	  places them.
 *
 * Pure functions.
 *
 *-------------------------------------------------------------------------
 */
#include "start.h"
#include "../model/occupancy.h"
#include "launch_order.h"

/*
 * Fewest warps per multiprocessor that keep enough loads in flight.  Measured on an H200 with
 * 16 clients of SSB queries: 3,150 queries a second with 4, 3,650 with 8, 3,720 with 16.
 */
#define FAIR_LEAST	8

/*
 * Cost of a second block in the place of one, in microseconds.  That is a constant, and
 * a part for each byte of shared memory that its blocks fill and empty on a multiprocessor.  Measured
 * with a pool's kernels on an H200: one to three without shared memory, nine with 150 kB, twelve with
 * 50 kB of groups.
 */
#define WAVE_US			3
#define WAVE_BYTE_US	1e-4
#define WAVE_PART		0.025	/* the most that it may be of the kernel's time */

void
gc_add_start(GcDecision *d, int i, GcGrid grid, double predicted_us)
{
	GcStart    *start = &d->start[d->nstarts++];

	start->ncandidates = 1;
	start->candidate[0] = i;
	start->fused = -1;
	start->grid = grid;
	start->whole_shared = false;
	start->predicted_us = predicted_us;
	start->issue_share = 0;
	if (predicted_us > d->predicted_us)
		d->predicted_us = predicted_us;
}

void
gc_start_alone(const GcSchedule *s, int i, GcDecision *d)
{
	const GcKernelNeeds *o = &s->candidate[i].needs;

	gc_add_start(d, i, gc_sched_full(s->profile, o->threads, o->occupancy, s->candidate[i].tiles), o->alone_us);
}

void
gc_describe_candidate(const GcSchedule *s, int i, int warps, GcKernelItem *k)
{
	const GcKernelNeeds *o = &s->candidate[i].needs;

	*k = (GcKernelItem) {.registers = o->registers,.max_threads = o->max_threads,
	.shared_fixed = (int) o->shared_bytes,.warps = warps};
}

void
gc_least_share(const GcSchedule *s, int i, GcKernelItem *k)
{
	gc_describe_candidate(s, i, GC_LEAST_WARPS, k);
}

int
gc_fair_warps(const GcSchedule *s, const GcKernelNeeds *o, int beside)
{
	int			full = gc_full_warps(s->profile, o);
	int			warps = s->profile->max_warps / (beside + 1);
	int			by_shared = s->profile->shared_per_sm > 0
		? (int) ((int64_t) s->profile->max_warps * o->shared_bytes / s->profile->shared_per_sm) : 0;

	if (warps < by_shared)
		warps = by_shared;
	if (warps < FAIR_LEAST)
		warps = FAIR_LEAST;
	return warps < full ? warps : full;
}

/*
 * Time of the picked candidate number `first` next to active launches and the other n - 1 picked ones.  The device is
 * shared evenly, so each other kernel delays it by the shorter of the two kernels' times.
 */
static double
predict_one(const GcSchedule *s, int first, const int *pick, int n)
{
	double		own = s->candidate[pick[first]].needs.alone_us;
	double		sum = own;
	const double factor = s->nactive > 0 ? s->busy_overlap : s->idle_overlap;

	for (int k = 0; k < n; k++)
	{
		double		other = s->candidate[pick[k]].needs.alone_us;

		if (k != first)
			sum += other < own ? other : own;
	}
	for (int a = 0; a < s->nactive; a++)
		sum += s->active[a].alone_us < own ? s->active[a].alone_us : own;
	return sum * factor > own ? sum * factor : own;
}

/* Time of a kernel that follows all earlier starts, with a grid for the whole device. */
static double
predict_in_sequence(const GcSchedule *s, const GcKernelNeeds *o, const GcDecision *d)
{
	double		own = o->alone_us;
	double		sum = own;

	for (int k = 0; k < d->nstarts; k++)
	{
		const GcStart *start = &d->start[k];

		for (int m = 0; m < start->ncandidates; m++)
			sum += start->fused >= 0 ? s->candidate[start->candidate[m]].fused_us
				: s->candidate[start->candidate[m]].needs.alone_us;
	}
	return sum * s->idle_overlap > own ? sum * s->idle_overlap : own;
}

/*
 * Blocks for each place that a multiprocessor has for one.  Blocks that follow other kernels go where
 * these end first.  So half of the multiprocessors may get most blocks of a grid that just fills the
 * device.  Kernels bound by memory do not suffer from this, but kernels bound by the multiprocessors
 * do.  An example is a kernel of random lookups behind some others of a pool's kernels, on an H200.  It
 * took 1.5 times as long with one block for each place, and as long as alone with two.  The bound of a kernel is not
 * known where its columns are not; it gets one block.
 */
static int
waves(const GcSchedule *s, const GcCandidate *candidate, const GcKernelNeeds *o)
{
	const double cost = WAVE_US + WAVE_BYTE_US * o->occupancy * o->shared_bytes;

	if (s->calibration == NULL || candidate->nloads == 0 || gc_memory_bound(s->calibration, candidate, o))
		return 1;
	return cost <= WAVE_PART * o->alone_us ? 2 : 1;
}

void
gc_start_fair(const GcSchedule *s, const int *pick, int n, GcDecision *d)
{
	for (int k = 0; k < n; k++)
	{
		const GcCandidate *candidate = &s->candidate[pick[k]];
		const GcKernelNeeds *o = &candidate->needs;
		int			per_block = (o->threads + s->profile->warp_size - 1) / s->profile->warp_size;
		int			blocks = (gc_fair_warps(s, o, s->nactive) + per_block / 2) / per_block;

		if (blocks < 1)
			blocks = 1;
		if (s->nactive == 0)
			blocks *= waves(s, candidate, o);
		gc_add_start(d, pick[k], gc_sched_full(s->profile, o->threads, blocks, candidate->tiles),
					 s->nactive > 0 ? predict_one(s, k, pick, n) : predict_in_sequence(s, o, d));
	}
}

GcStart *
gc_start_placed(const GcSchedule *s, const int *pick, int n, const GcKernelChoice *choice, double predicted_us,
				GcDecision *d)
{
	GcPlaced	placed[GC_KERNEL_MAX];
	int			order[GC_KERNEL_MAX];
	GcStart    *first = &d->start[d->nstarts];
	bool		whole;

	if (n < 1)
		return first;
	for (int k = 0; k < n; k++)
	{
		const GcKernelNeeds *o = &s->candidate[pick[k]].needs;

		placed[k] = (GcPlaced) {.registers = o->registers,.threads = choice[k].warps * s->profile->warp_size,
		.blocks = choice[k].blocks,.shared_bytes = o->shared_bytes};
	}
	whole = gc_launch_order(s->profile, placed, n, order);
	for (int m = 0; m < n; m++)
	{
		const int	k = order[m];

		gc_add_start(d, pick[k],
					 gc_sched_full(s->profile, placed[k].threads, placed[k].blocks, s->candidate[pick[k]].tiles),
					 predicted_us > 0 ? predicted_us : predict_one(s, k, pick, n));
		first[m].whole_shared = whole;
	}
	return first;
}
