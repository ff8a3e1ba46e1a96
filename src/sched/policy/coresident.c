/*-------------------------------------------------------------------------
 *
 * coresident.c
 *	  The objective makespan: co-resident kernels.
 *
 * Pure functions; the decision's work space is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "coresident.h"
#include "start.h"
#include "policy.h"

#include <math.h>
#include <string.h>

/*
 * Random lookups stay in L2 as long as all tables are smaller than this part of it: columns
 * stream through the rest.  Measured on an H200, whose L2 has 60 MB: 25 MB stay, 40 do not.
 */
#define LOOKUP_PART		0.4

/* How many more times a lookup takes in memory than in L2. */
#define LOOKUP_MISS		2.0

/*
 * A co-resident batch has to be predicted to take at most this part of its kernels' time in
 * sequence, because that time is known better.
 */
#define CORESIDENT_GAINS	0.85

/*
 * A forced co-resident batch may take this many times as much, so that even few warps are enough.  Also as much as it
 * takes with all warps.  On a busy host, the learned time of that may be many times the kernels' time in sequence.
 */
#define FORCED_GAINS	100

/* A block with at most this much shared memory, in bytes, has no tables there. */
#define SMALL_SHARED	1024

/* Types among which the one that gains most is added to a set; further types are not looked at. */
#define CORESIDENT_TYPES	8

/* Each kernel beyond DRIFT_FROM makes all read another DRIFT of their columns again. */
#define DRIFT_FROM		4
#define DRIFT			0.26

/* Steps of the bisection for the issue part: to a thousandth. */
#define ISSUE_STEPS		10

/* Steps of the bisection for the least latency; each asks the kernel model once. */
#define BISECTIONS		8

/*
 * The largest part of its columns that a candidate can read in its time alone.  Filters may let it
 * skip the rest.
 */
static double
part_read(const GcCalibration *c, const GcCandidate *candidate)
{
	const double bytes = gc_item_bytes(candidate);
	const double most = (candidate->needs.alone_us - c->launch_us) * c->read_bandwidth;

	return most > 0 && most < bytes ? most / bytes : 1;
}

static bool
read_before(const GcSchedule *s, const int *pick, int k, uint32_t column)
{
	const uint32_t scan = s->candidate[pick[k]].scan;

	for (int e = 0; e < k && scan != 0; e++)
	{
		const GcCandidate *candidate = &s->candidate[pick[e]];

		for (int l = 0; l < candidate->nloads && candidate->scan == scan; l++)
		{
			if (candidate->load[l].column == column)
				return true;
		}
	}
	return false;
}

/* How much longer the candidates' lookups take because not all tables fit L2. */
static double
lookups_longer(const GcSchedule *s, const int *pick, int n)
{
	const double room = LOOKUP_PART * (double) s->profile->l2_bytes;
	double		bytes = 0;

	for (int k = 0; k < n; k++)
		bytes += s->candidate[pick[k]].lookup_bytes;
	return bytes > room ? 1 + LOOKUP_MISS * (1 - room / bytes) : 1;
}

/* Time by issue slots and by memory of these candidates together; a column is read from memory once. */
GcCoresidentTimes
gc_coresident_times(const GcSchedule *s, const int *pick, int n)
{
	const double longer = lookups_longer(s, pick, n);
	const double anew = n > DRIFT_FROM ? 1 + DRIFT * (n - DRIFT_FROM) : 1;
	GcCoresidentTimes t = {0, 0};

	for (int k = 0; k < n; k++)
	{
		const GcCandidate *candidate = &s->candidate[pick[k]];
		const GcKernelNeeds *o = &candidate->needs;
		const double part = part_read(s->calibration, candidate);

		t.issue_us += o->issue_part * o->alone_us * (candidate->lookup_bytes > 0 ? longer : 1);
		for (int l = 0; l < candidate->nloads; l++)
		{
			if (!read_before(s, pick, k, candidate->load[l].column))
				t.memory_us += part * candidate->load[l].bytes / s->calibration->read_bandwidth;
		}
	}
	t.memory_us = s->calibration->launch_us + t.memory_us * anew;
	return t;
}

/* Warps per multiprocessor whose bytes in flight use up the bandwidth. */
static double
flight_warps(const GcCalibration *c, const GcKernelNeeds *o, double issue_part)
{
	return c->flight_bytes / o->warp_flight * (1 + issue_part);
}

/* Warps per multiprocessor with which the candidate is as fast as alone. */
static double
enough_warps(const GcSchedule *s, const GcCandidate *candidate)
{
	const GcKernelNeeds *o = &candidate->needs;
	const double full = gc_full_warps(s->profile, o);
	const double enough = o->warp_flight > 0 ? flight_warps(s->calibration, o, o->issue_part) : full;

	return enough < full ? enough : full;
}

/*
 * Numbers of warps, and the warps of one block, with which the vectors of a tile make whole rounds.
 * With other numbers a part of a block is idle in the last round (31 warps are no faster than 22).
 * Several blocks are only for kernels that have no tables in shared memory, or that cannot have one
 * block of that size.
 */
static const struct
{
	int			warps;
	int			block;
}			sizes[] = {
	{GC_LEAST_WARPS, 4}, {8, 8}, {16, 16}, {24, 8}, {32, 32}, {48, 16}, {64, 32}
};

#define NSIZES	((int) (sizeof(sizes) / sizeof(sizes[0])))

int
gc_coresident_warps(const GcSchedule *s, int i, double latency_us, int *block)
{
	const GcCandidate *candidate = &s->candidate[i];
	const GcKernelNeeds *o = &candidate->needs;
	const int	full = gc_full_warps(s->profile, o);
	const int	most = o->max_threads / s->profile->warp_size;
	const double warps = enough_warps(s, candidate) * o->alone_us / latency_us;

	for (int z = 0; z < NSIZES && sizes[z].warps < full; z++)
	{
		if (sizes[z].warps < warps || (sizes[z].warps > sizes[z].block && o->shared_bytes > SMALL_SHARED))
			continue;
		*block = sizes[z].block;
		while (*block > most)
			*block /= 2;
		return sizes[z].warps;
	}
	*block = full / (o->occupancy > 0 ? o->occupancy : 1);
	return full;
}

static double
cube(double x)
{
	return x * x * x;
}

double
gc_coresident_us(const GcCoresidentTimes *t, double latency_us)
{
	return cbrt(cube(t->memory_us) + cube(t->issue_us) + cube(latency_us));
}

double
gc_coresident_issue(double time_us, double shared_us)
{
	const double least = time_us / 16;
	const double issue = time_us > shared_us ? cbrt(cube(time_us) - cube(shared_us)) : 0;

	return issue > least ? issue : least;
}

double
gc_coresident_issue_part(const GcCalibration *c, const GcKernelNeeds *o, int n, int warps, double memory_us,
						 double time_us)
{
	double		low = 0;
	double		high = 1;

	/* A larger issue part makes the latency longer, too: hence the bisection. */
	for (int step = 0; step < ISSUE_STEPS; step++)
	{
		const double part = (low + high) / 2;
		const GcCoresidentTimes t = {memory_us, n * part * o->alone_us};
		const double latency_us = o->warp_flight > 0 ? flight_warps(c, o, part) * o->alone_us / warps : 0;

		if (gc_coresident_us(&t, latency_us) < time_us)
			low = part;
		else
			high = part;
	}
	return high;
}

void
gc_coresident_learn(GcLearned *const *issue_part, const double *share, int n, double time_us, double shared_us)
{
	const double issue_us = gc_coresident_issue(time_us, shared_us);

	for (int k = 0; k < n; k++)
		gc_learn(issue_part[k], issue_us * share[k]);
}

/* An estimate of the candidates' least latency, from their warps alone. */
static double
likely_latency(const GcSchedule *s, const int *pick, int n)
{
	double		warps_us = 0;
	int			full = 0;

	for (int k = 0; k < n; k++)
	{
		const GcCandidate *candidate = &s->candidate[pick[k]];

		warps_us += enough_warps(s, candidate) * candidate->needs.alone_us;
		full += gc_full_warps(s->profile, &candidate->needs);
	}
	return full > s->profile->max_warps ? warps_us / s->profile->max_warps : 0;
}

/* An estimate of the time in sequence that the candidates save when they are co-resident. */
static double
likely_saving(const GcSchedule *s, const int *pick, int n)
{
	const GcCoresidentTimes t = gc_coresident_times(s, pick, n);
	double		sequence_us = 0;

	for (int k = 0; k < n; k++)
		sequence_us += s->candidate[pick[k]].needs.alone_us;
	return sequence_us - gc_coresident_us(&t, likely_latency(s, pick, n));
}

static bool
among(const int *pick, int n, int i)
{
	for (int k = 0; k < n; k++)
	{
		if (pick[k] == i)
			return true;
	}
	return false;
}

/*
 * Append to set[] the one of suitable[] that saves the largest part of its time next to the set's m
 * candidates.  *saving: the time that all of them then save.  False: none saves as much as a co-resident batch has to,
 * unless that is forced.
 */
static bool
add_best(const GcSchedule *s, const int *suitable, int n, int *set, int m, double *saving)
{
	uint32_t	seen[CORESIDENT_TYPES];
	int			nseen = 0;
	int			best = -1;
	double		best_part = s->force_coresident ? -INFINITY : 1 - CORESIDENT_GAINS;
	double		best_saving = 0;

	for (int k = 0; k < n && nseen < CORESIDENT_TYPES; k++)
	{
		const uint32_t type = s->candidate[suitable[k]].type;
		bool		known = among(set, m, suitable[k]);
		double		with;
		double		part;

		for (int e = 0; e < nseen && !known; e++)
			known = seen[e] == type;
		if (known)
			continue;
		seen[nseen++] = type;
		set[m] = suitable[k];
		with = likely_saving(s, set, m + 1);
		part = (with - *saving) / s->candidate[suitable[k]].needs.alone_us;
		if (part > best_part)
		{
			best_part = part;
			best_saving = with;
			best = suitable[k];
		}
	}
	if (best < 0)
		return false;
	set[m] = best;
	*saving = best_saving;
	return true;
}

int
gc_coresident_set(const GcSchedule *s, const int *pick, int n, int set[GC_CORESIDENT_MAX])
{
	const GcCandidate *first = &s->candidate[pick[0]];
	int			suitable[GC_MAX_CANDIDATES];
	int			nsuitable = 0;
	int			sets;
	int			most;
	int			m = 1;
	double		saving = 0;

	for (int k = 0; k < n; k++)
	{
		const GcCandidate *candidate = &s->candidate[pick[k]];

		if (candidate->scan == first->scan &&
			(s->force_coresident || gc_memory_bound(s->calibration, candidate, &candidate->needs)))
			suitable[nsuitable++] = pick[k];
	}
	if (first->scan == 0 || nsuitable == 0 || suitable[0] != pick[0])
		return 0;
	sets = (nsuitable + GC_CORESIDENT_MAX - 1) / GC_CORESIDENT_MAX;
	most = (nsuitable + sets - 1) / sets;
	set[0] = pick[0];
	while (m < most && add_best(s, suitable, nsuitable, set, m, &saving))
		m++;
	return m;
}

/*
 * Can the candidates be co-resident with the warps that give them this latency?  If so, their sizes
 * are in work->choice, which is otherwise unchanged.
 */
static bool
fit_within(const GcSchedule *s, const int *pick, int n, double latency_us, GcDecideWork *work)
{
	for (int k = 0; k < n; k++)
	{
		int			block;
		int			warps = gc_coresident_warps(s, pick[k], latency_us, &block);

		gc_describe_candidate(s, pick[k], warps, &work->kitem[k]);
		work->kitem[k].max_threads = block * s->profile->warp_size;
	}
	if (gc_kernel_plan(s->profile, NULL, work->kitem, n, &work->kernel, work->trial) != GC_KERNEL_OPTIMAL)
		return false;
	memcpy(work->choice, work->trial, n * sizeof(GcKernelChoice));
	return true;
}

/* The least latency with which the candidates fit, sizes in work->choice; 0: it would exceed most_us. */
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
gc_start_coresident(const GcSchedule *s, const int *pick, int n, double sequence_us, double other_us,
				  GcDecideWork *work, GcDecision *d)
{
	GcCoresidentTimes t;
	GcStart    *start;
	double		least_us;
	double		most_us;
	double		latency_us;
	double		us;

	if (n < 2 || n > GC_CORESIDENT_MAX)
		return false;
	t = gc_coresident_times(s, pick, n);
	least_us = gc_coresident_us(&t, 0);
	most_us = s->force_coresident ? FORCED_GAINS * fmax(sequence_us, least_us)
		: fmin(CORESIDENT_GAINS * sequence_us, other_us);
	if (least_us >= most_us)
		return false;
	latency_us = least_latency(s, pick, n, most_us, work);
	us = gc_coresident_us(&t, latency_us);
	if (latency_us == 0 || us >= most_us)
		return false;
	start = gc_start_placed(s, pick, n, work->choice, us, d);
	for (int k = 0; k < n; k++)
	{
		const GcKernelNeeds *o = &s->candidate[start[k].candidate[0]].needs;

		start[k].issue_share = o->issue_part * o->alone_us / t.issue_us;
		start[k].shared_us = cbrt(cube(us) - cube(t.issue_us));
	}
	return true;
}
