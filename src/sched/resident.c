/*-------------------------------------------------------------------------
 *
 * resident.c
 *	  The objective makespan: kernels resident together.
 *
 *-------------------------------------------------------------------------
 */
#include "resident.h"
#include "policy.h"

#include <math.h>
#include <string.h>

/* A kernel that takes longer than this for its bytes is not bound by reading them. */
#define MEMORY_BOUND	1.4

/*
 * Random lookups stay in L2 as long as all tables are smaller than this part of it: columns
 * stream through the rest (design.md, section 1: 25 of 60 MB; 40 at most).
 */
#define LOOKUP_PART		0.4

/* A lookup in memory instead of L2 takes longer by so many of these. */
#define LOOKUP_MISS		2.0

/*
 * A resident batch has to be predicted to take no more than this part of what its kernels
 * take one behind the other, which is known better.
 */
#define RESIDENT_GAINS	0.85

/*
 * Kernels of whose time more than this is issue gain little from being read to, and lose more
 * by having few warps than is predicted: they read their columns in stages, one after another
 * (three scans of a pool's kernel with 0.52 and one with groups: predicted 207 us, 467 measured,
 * 256 one behind the other; H200).
 */
#define RESIDENT_ISSUE	0.5

/* Each kernel beyond GC_RESIDENT_BEST makes all read so much more of their columns anew. */
#define DRIFT			0.26

/* Steps of the bisection for the least latency; each asks the kernel model once. */
#define BISECTIONS		8

static double
bytes_of(const GcItem *item)
{
	double		bytes = 0;

	for (int k = 0; k < item->nloads; k++)
		bytes += item->load[k].bytes;
	return bytes;
}

bool
gc_may_reside(const GcCalibration *c, const GcItem *item)
{
	const double bytes = bytes_of(item);

	return bytes > 0 && item->option[0].issue_part <= RESIDENT_ISSUE &&
		item->option[0].alone_us - c->launch_us < bytes / c->read_bandwidth * MEMORY_BOUND;
}

/* Has an earlier one of the picked items read this column? */
static bool
read_before(const GcSchedule *s, const int *pick, int k, uint32_t column)
{
	const uint32_t scan = s->item[pick[k]].scan;

	for (int e = 0; e < k && scan != 0; e++)
	{
		const GcItem *item = &s->item[pick[e]];

		for (int l = 0; l < item->nloads && item->scan == scan; l++)
		{
			if (item->load[l].column == column)
				return true;
		}
	}
	return false;
}

/* Longer by which lookups take since not all tables fit L2. */
static double
lookups_longer(const GcSchedule *s, const int *pick, int n)
{
	const double room = LOOKUP_PART * (double) s->profile->l2_bytes;
	double		bytes = 0;

	for (int k = 0; k < n; k++)
		bytes += s->item[pick[k]].lookup_bytes;
	return bytes > room ? 1 + LOOKUP_MISS * (1 - room / bytes) : 1;
}

GcResidentTimes
gc_resident_times(const GcSchedule *s, const int *pick, int n)
{
	const double longer = lookups_longer(s, pick, n);
	const double anew = n > GC_RESIDENT_BEST ? 1 + DRIFT * (n - GC_RESIDENT_BEST) : 1;
	GcResidentTimes t = {0, 0};

	for (int k = 0; k < n; k++)
	{
		const GcItem *item = &s->item[pick[k]];
		const GcOption *o = &item->option[0];

		t.issue_us += o->issue_part * o->alone_us * (item->lookup_bytes > 0 ? longer : 1);
		for (int l = 0; l < item->nloads; l++)
		{
			if (!read_before(s, pick, k, item->load[l].column))
				t.memory_us += item->load[l].bytes / s->calibration->read_bandwidth;
		}
	}
	t.memory_us = s->calibration->launch_us + t.memory_us * anew;
	return t;
}

int
gc_resident_warps(const GcSchedule *s, int i, double latency_us)
{
	const GcItem *item = &s->item[i];
	const GcOption *o = &item->option[0];
	const int	full = gc_full_warps(s, o);
	double		enough = full;	/* as fast as alone */
	double		warps;

	if (o->warp_flight > 0 && s->calibration->flight_bytes / o->warp_flight < full)
		enough = s->calibration->flight_bytes / o->warp_flight;
	warps = enough * o->alone_us / latency_us;
	if (warps > full)
		return full;
	return warps > GC_LEAST_WARPS ? (int) (warps + 0.999) : GC_LEAST_WARPS;
}

static double
cube(double x)
{
	return x * x * x;
}

double
gc_resident_us(const GcResidentTimes *t, double latency_us)
{
	return cbrt(cube(t->memory_us) + cube(t->issue_us) + cube(latency_us));
}

double
gc_resident_issue(double time_us, double shared_us)
{
	const double least = time_us / 16;
	const double issue = time_us > shared_us ? cbrt(cube(time_us) - cube(shared_us)) : 0;

	return issue > least ? issue : least;
}

void
gc_resident_learn(GcLearned *const *issue_part, const double *share, int n, double time_us, double shared_us)
{
	const double issue_us = gc_resident_issue(time_us, shared_us);

	for (int k = 0; k < n; k++)
		gc_learn(issue_part[k], issue_us * share[k]);
}

/*
 * Can the items be resident with the warps with which their latency is so long?  If so, how
 * is in work->choice; else that is as it was.
 */
static bool
fit_within(const GcSchedule *s, const int *pick, int n, double latency_us, GcDecideWork *work)
{
	for (int k = 0; k < n; k++)
	{
		gc_describe_item(s, pick[k], gc_resident_warps(s, pick[k], latency_us), &work->kitem[k]);
		work->kitem[k].nvariants = 1;	/* only of the first is known how it shares */
	}
	if (gc_kernel_plan_within(s->profile, NULL, work->kitem, n, &work->steps, &work->kernel, work->trial,
							  NULL) > GC_KERNEL_FEASIBLE)
		return false;
	memcpy(work->choice, work->trial, n * sizeof(GcKernelChoice));
	return true;
}

/* The least latency with which they fit, and their sizes in work->choice; 0: more than the most. */
static double
least_latency(const GcSchedule *s, const int *pick, int n, double most_us, GcDecideWork *work)
{
	double		low = 0;
	double		high = most_us;

	if (!fit_within(s, pick, n, most_us, work))
		return 0;
	for (int step = 0; step < BISECTIONS; step++)
	{
		const double middle = (low + high) / 2;

		if (fit_within(s, pick, n, middle, work))
			high = middle;
		else
			low = middle;
	}
	return high;
}

bool
gc_start_resident(const GcSchedule *s, const int *pick, int n, double line_us, GcDecideWork *work, GcDecision *d)
{
	const double most_us = line_us * RESIDENT_GAINS;
	GcResidentTimes t;
	double		latency_us;
	double		us;

	if (n < 2 || n > GC_RESIDENT_MAX)
		return false;
	t = gc_resident_times(s, pick, n);
	if (gc_resident_us(&t, 0) >= most_us)
		return false;
	latency_us = least_latency(s, pick, n, most_us, work);
	us = gc_resident_us(&t, latency_us);
	if (latency_us == 0 || us >= most_us)
		return false;
	for (int k = 0; k < n; k++)
	{
		const GcItem *item = &s->item[pick[k]];
		const GcOption *o = &item->option[0];
		GcStart    *start;

		gc_add_start(d, pick[k], 0, gc_sched_full(s->profile, work->choice[k].warps * s->profile->warp_size,
												  work->choice[k].blocks, item->tiles), us);
		start = &d->start[d->nstarts - 1];
		start->issue_share = o->issue_part * o->alone_us / t.issue_us;
		start->shared_us = cbrt(cube(us) - cube(t.issue_us));
	}
	return true;
}
