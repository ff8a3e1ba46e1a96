/*-------------------------------------------------------------------------
 *
 * twostage.c
 *	  The two-stage policy: shared scans, batches, sizes.
 *
 * 1. Candidates over one table become members of a shared scan, fused or by selection.  They do
 *	  if the scan is predicted to take less time than their own kernels, co-resident (step 2)
 *	  where all can be.  New candidates wait for the table's active scans while a shared scan of all
 *	  that waits or is active there would gain.  Then many share the next one.
 * 2. On an idle device, the oldest other candidate becomes co-resident with candidates that scan
 *	  the same table and are bound by memory.  They do if they are predicted to be done sooner
 *	  that way (objective makespan, coresident.h).  All others wait for them.
 * 3. The batch model (Li, Tu, Zeng 2019, eqs. 16-30) puts the others into the fewest batches.  So
 *	  it says in which order they are launched.
 * 4. Each of these kernels keeps the block size that is best for it.  It gets as many blocks as
 *	  make its fair share of the warps next to active launches.  On an idle device that is all it can
 *	  use, or twice that where the multiprocessors bound it (start.c).  The rest of its batch then
 *	  follows as its blocks end.
 *
 * Kernels of one text over several tables are one launch if they start together (a gang, run/gang.h).  So
 * before all that, candidates wait for short active launches of their text.
 *
 * Most batches of our kernels should not be co-resident: each kernel would run in a few warps,
 * which stay few when the others end.  Policy kernel (objective threads) makes all batches
 * co-resident, and is slower on an H200.
 *
 * The device is never idle while something waits.  Candidates that come after a co-resident batch
 * wait until it is done.
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
 * A selection scan of this many requests need not wait for more.  Without this limit, the second scan
 * of 65 requests at once began when the first was over.  On an H200 they take 2.5 to 2.9 ms with it
 * instead of 3.3 to 3.8.  64 clients get scans of 25 requests instead of 28, at the same throughput.
 */
#define SCAN_ENOUGH		24

/*
 * On a device that is busy for a smaller part of the time, no further request is to be expected soon.
 * So requests do not wait for more of them.
 */
#define UTILISATION_TO_GATHER	0.3

/*
 * A launch of that text that takes longer is not worth waiting for: next to it, the time of a launch is little.  The
 * limit is a guess.
 */
#define GANG_LONGEST_US	250

typedef struct Stage
{
	const GcSchedule *s;
	GcDecideWork *work;
	GcDecision *d;
	bool		taken[GC_MAX_CANDIDATES];	/* started, or waits for the next shared scan */
} Stage;

/*-------------------------------------------------------------------------
 * Co-resident batches
 *-------------------------------------------------------------------------
 */

/* Time of these candidates in sequence, each with the whole device. */
static double
sequence_us(const Stage *st, const int *pick, int n)
{
	double		us = 0;

	for (int k = 0; k < n; k++)
		us += st->s->candidate[pick[k]].needs.alone_us;
	return us * gc_overlap_part(st->s->together, n);
}

/* Is a co-resident batch on the device?  A kernel that joined it would take it out of step. */
static bool
coresident_active(const Stage *st)
{
	for (int a = 0; a < st->s->nactive; a++)
	{
		if (st->s->active[a].coresident)
			return true;
	}
	return false;
}

/*
 * On an idle device: start the oldest of pick[] with the candidates that should be co-resident with
 * it.  All others wait until these are done.  Measured on an H200: a second set of four scans,
 * launched at once after the first, took 657 us where the first took 272.  A kernel of another type
 * next to three scans made all take 413 us instead of 258 in sequence.  The oldest candidate is
 * always in the batch, so that no candidate waits for ever.
 * least: smallest batch that is started; other_us: the prediction has to be less than this.
 */
static bool
start_coresident(Stage *st, const int *pick, int n, int least, double other_us)
{
	int			set[GC_CORESIDENT_MAX];
	int			m;

	if (st->s->calibration == NULL || st->s->nactive > 0 || st->d->nstarts > 0)
		return false;
	m = gc_coresident_set(st->s, pick, n, set);
	return m >= least && gc_start_coresident(st->s, set, m, sequence_us(st, set, m), other_us, st->work, st->d);
}

/*-------------------------------------------------------------------------
 * Shared scans
 *-------------------------------------------------------------------------
 */

/*
 * Is a member of a shared scan predicted to take less time than the candidate's own kernel?  This is
 * known only once scans have run; the first assumption lets every signature try it once.
 */
static bool
gains_by_sharing(const Stage *st, int i)
{
	const GcCandidate *candidate = &st->s->candidate[i];

	return candidate->fused >= 0 && (st->s->force_shared || candidate->fused_us < candidate->needs.alone_us);
}

/* Requests that one scan by f can serve. */
static int
most_members(const GcFusedKernel *f)
{
	return f->most < GC_MAX_MEMBERS ? f->most : GC_MAX_MEMBERS;
}

/*
 * Candidates not taken yet that kernel f can serve, and that gain by sharing, oldest first.  Each gets a member of its
 * own; of a selection kernel, all members are alike.
 */
static int
collect_members(const Stage *st, int f, uint32_t scan, int *member, int *member_no)
{
	uint32_t	used = 0;
	int			n = 0;

	for (int i = 0; i < st->s->ncandidates && n < most_members(&st->s->fused[f]); i++)
	{
		const GcCandidate *candidate = &st->s->candidate[i];
		uint32_t	left = st->s->fused[f].selection ? UINT32_C(1) << n : candidate->member_mask & ~used;

		if (st->taken[i] || candidate->fused != f || candidate->scan != scan || left == 0 ||
			!gains_by_sharing(st, i))
			continue;
		member_no[n] = __builtin_ctz(left);
		used |= left & -left;
		member[n++] = i;
	}
	return n;
}

/*
 * Is it better for n requests to wait for active launches on this table?
 *
 * They wait for shared scans, since the next scan then serves more requests.  Once the bitmaps of a
 * selection scan are done, its requests' own kernels leave room for another selection kernel.  Then
 * n requests are enough if the active scan has no more members, or if they are SCAN_ENOUGH.
 *
 * They also wait for candidates' own kernels, unless these take longer than a shared scan of all
 * would, or SCAN_ENOUGH wait.  A kernel that starts next to a scan takes as long as the scan.  Where the device has
 * little to do, requests wait for fused scans and selection kernels only.
 */
static bool
better_wait(const Stage *st, uint32_t scan, int n, double all_us)
{
	int			enough = 0;

	for (int a = 0; a < st->s->nactive; a++)
	{
		const GcActive *active = &st->s->active[a];

		if (active->scan != scan)
			continue;
		if (active->selection)
			enough = active->members > enough ? active->members : enough;
		else if (active->fused)
			return true;
		else if (active->alone_us <= all_us)
			enough = SCAN_ENOUGH;
	}
	return st->s->utilisation >= UTILISATION_TO_GATHER && n < (enough < SCAN_ENOUGH ? enough : SCAN_ENOUGH);
}

/* Demands of several candidates, alone and in a shared scan. */
typedef struct Asked
{
	double		alone_us;		/* sum */
	double		added_us;		/* sum of each one's additional time in a shared scan */
	uint32_t	columns;		/* that it reads for them */
} Asked;

/* Times that n candidates take alone and add to a scan, together, and the columns that they read. */
static Asked
ask(const Stage *st, const int *member, int n)
{
	Asked		sum = {0, 0, 0};

	for (int m = 0; m < n; m++)
	{
		const GcCandidate *candidate = &st->s->candidate[member[m]];

		sum.alone_us += candidate->needs.alone_us;
		sum.added_us += candidate->fused_us;
		sum.columns |= candidate->columns;
	}
	return sum;
}

/* Requests on the device that read this table. */
static int
active_members(const Stage *st, uint32_t scan)
{
	int			n = 0;

	for (int a = 0; a < st->s->nactive; a++)
	{
		const GcActive *active = &st->s->active[a];

		if (active->scan == scan)
			n += active->members;
	}
	return n;
}

/* Time that active selection scans of this table will still take. */
static double
leftover_us(const Stage *st, uint32_t scan)
{
	double		us = 0;

	for (int a = 0; a < st->s->nactive; a++)
	{
		if (st->s->active[a].scan == scan)
			us += st->s->active[a].residual_us;
	}
	return us;
}

/* Is the shared scan faster than its members' own kernels? */
static bool
pays(const Stage *st, const GcFusedKernel *f, int n, double scan_us, double own_us)
{
	const GcSharing sharing = {.n = n,.selection = f->selection,.scan_us = scan_us,.own_us = own_us,
	.host_pressure = st->s->host_pressure};

	return gc_sharing_pays(&sharing);
}

/*
 * Would all requests that wait, and all that are active on this table, take less time in shared scans
 * than side by side?  If so, new requests wait for the active ones, so that many share the next scan.
 * *all_us: time that the shared scans would take.
 */
static bool
worth_gathering(const Stage *st, const GcFusedKernel *f, uint32_t scan, const Asked *asked, int n,
				double *all_us)
{
	int			all = n + active_members(st, scan);
	uint32_t	columns = asked->columns;

	/* Active requests read columns too; take it that they read all. */
	if (all > n)
		columns = (1u << GC_MAX_SHARED_COLUMNS) - 1;
	if (all > most_members(f))
		all = most_members(f);
	*all_us = gc_scan_us(f->times, columns) + asked->added_us / n * all;
	return pays(st, f, all, *all_us, asked->alone_us / n * all * gc_overlap_part(st->s->together, all));
}

/* Start a fused or selection scan for these candidates, on the whole device. */
static void
start_scan(Stage *st, int f, const int *member, const int *member_no, int n, double own_us, double residual_us)
{
	const GcKernelNeeds *o = &st->s->fused[f].needs;
	GcStart    *start = &st->d->start[st->d->nstarts++];

	start->ncandidates = n;
	memcpy(start->candidate, member, n * sizeof(int));
	memcpy(start->member_no, member_no, n * sizeof(int));
	start->fused = f;
	start->whole_shared = false;
	start->issue_share = 0;
	start->grid = gc_sched_full(st->s->profile, o->threads, o->occupancy,
								 st->s->candidate[member[0]].tiles);
	start->residual_us = residual_us;
	start->predicted_us = own_us + residual_us * st->s->residual_part;
	if (start->predicted_us > st->d->predicted_us)
		st->d->predicted_us = start->predicted_us;
}

/*
 * Start the candidates of a shared scan that would take shared_us co-resident instead, if all of them
 * are done sooner that way.  A few kernels that are bound by memory share reads in any case, and write no bitmaps.
 * They also take less of the launching thread's time.
 */
static bool
start_members_coresident(Stage *st, const int *member, int n, double shared_us)
{
	return n > 1 && n <= GC_CORESIDENT_MAX && !st->s->force_shared && start_coresident(st, member, n, n, shared_us);
}

/*
 * Start a shared scan of the table that candidate i reads, with all candidates that can take part.  A
 * scan may have one member.  Where testing by predicate bitmaps takes less time, a selection scan of
 * one is the fastest way to run a request alone.
 */
static void
share_scan(Stage *st, int i)
{
	const GcCandidate *candidate = &st->s->candidate[i];
	const GcFusedKernel *f = &st->s->fused[candidate->fused];
	int			member[GC_MAX_MEMBERS];
	int			member_no[GC_MAX_MEMBERS];
	int			n = collect_members(st, candidate->fused, candidate->scan, member, member_no);
	Asked		asked;
	double		shared;
	double		all_us = 0;
	bool		worth;

	if (n == 0)
		return;
	asked = ask(st, member, n);
	shared = gc_scan_us(f->times, asked.columns) + asked.added_us;
	if (n == 1)
		shared += GC_SCAN_OF_ONE_US;
	if (n == 1 && active_members(st, candidate->scan) == 0)
		worth = asked.columns != 0 &&
			(st->s->force_shared ? st->s->ncandidates == 1 : !st->s->profile->scalar && shared < asked.alone_us);
	else
		worth = worth_gathering(st, f, candidate->scan, &asked, n, &all_us) || st->s->force_shared;
	if (!worth)
		return;
	if (!better_wait(st, candidate->scan, n, all_us))
	{
		if (!st->s->force_shared && !pays(st, f, n, shared, asked.alone_us))
			return;
		if (start_members_coresident(st, member, n, shared))
		{
			/* all others wait for the co-resident batch */
			memset(st->taken, true, sizeof(st->taken));
			return;
		}
		start_scan(st, candidate->fused, member, member_no, n, shared, leftover_us(st, candidate->scan));
	}
	/* Candidates that are left, or come until the scan ends, take part in the next one. */
	for (int k = 0; k < st->s->ncandidates; k++)
		st->taken[k] = st->taken[k] || (gains_by_sharing(st, k) && st->s->candidate[k].scan == candidate->scan);
}

/*-------------------------------------------------------------------------
 * Batches
 *-------------------------------------------------------------------------
 */

/*
 * Find the types of the picked candidates, of[k] for each.  A candidate that fits no multiprocessor,
 * or is of one type too many, has -1.  Returns the number of types.
 */
static int
find_types(Stage *st, const int *pick, int n, const int room[GC_NEEDS], int *of)
{
	GcItemType *type = st->work->type;
	uint32_t	known[GC_BATCH_MAX_TYPES];
	int			ntypes = 0;

	for (int k = 0; k < n; k++)
	{
		int			t = 0;
		GcKernelItem candidate;

		while (t < ntypes && known[t] != st->s->candidate[pick[k]].type)
			t++;
		of[k] = t;
		if (t < ntypes)
		{
			type[t].demand++;
			continue;
		}
		gc_least_share(st->s, pick[k], &candidate);
		if (ntypes == GC_BATCH_MAX_TYPES ||
			!gc_kernel_fits(st->s->profile, room, &candidate, NULL, type[t].need))
		{
			of[k] = -1;
			continue;
		}
		known[t] = st->s->candidate[pick[k]].type;
		type[t].demand = 1;
		ntypes++;
	}
	return ntypes;
}

/* A pattern of the plan that is not used up and has the type, or NULL. */
static GcBatchPattern *
pattern_with(GcBatchPlan *plan, int type)
{
	for (int p = 0; p < plan->npatterns; p++)
	{
		if (plan->pattern[p].times > 0 && plan->pattern[p].count[type] > 0)
			return &plan->pattern[p];
	}
	return NULL;
}

/* Take the oldest candidates of each type in the pattern out of pick[]; of[] is then -1 for them. */
static int
take_batch(const GcBatchPattern *pattern, const int *pick, int n, int *of, int *batch)
{
	uint16_t	left[GC_BATCH_MAX_TYPES];
	int			m = 0;

	memcpy(left, pattern->count, sizeof(left));
	for (int k = 0; k < n; k++)
	{
		if (of[k] < 0 || left[of[k]] == 0)
			continue;
		left[of[k]]--;
		of[k] = -1;
		batch[m++] = pick[k];
	}
	return m;
}

/*
 * Start all of pick[], batch after batch, the batch of the oldest candidate first.  The hardware
 * starts blocks as soon as there is room, in the order of launches (Li, Yu, Kumar, Tu 2014, second
 * and third discipline).  So the next batch fills room that the last one leaves, and no multiprocessor waits for a
 * whole batch to end.
 */
static void
start_batches(Stage *st, const int *pick, int n)
{
	GcBatchPlan *plan = &st->work->plan;
	GcBatchProblem problem = {.types = st->work->type,.max_items = GC_KERNEL_MAX};
	int			room[GC_NEEDS];
	int			of[GC_MAX_CANDIDATES];
	int			batch[GC_MAX_CANDIDATES];
	int			m;

	gc_sm_limits(st->s->profile, room);
	memcpy(problem.capacity, room, sizeof(problem.capacity));
	problem.ntypes = find_types(st, pick, n, room, of);
	if (gc_batch_plan(&problem, &st->work->batch, plan) != GC_BATCH_OK)
		plan->npatterns = plan->batches = 0;
	st->d->patterns = plan->npatterns;
	st->d->planned = plan->batches;
	for (int k = 0; k < n; k++)
	{
		GcBatchPattern *pattern = of[k] < 0 ? NULL : pattern_with(plan, of[k]);

		if (pattern == NULL)
			continue;
		pattern->times--;
		m = take_batch(pattern, pick, n, of, batch);
		gc_start_fair(st->s, batch, m, st->d);
	}
}

/* Start those that share no scan: co-resident with each other, in batches, or alone. */
static void
start_others(Stage *st)
{
	int			pick[GC_MAX_CANDIDATES];
	int			n = 0;

	for (int i = 0; i < st->s->ncandidates; i++)
	{
		if (!st->taken[i])
			pick[n++] = i;
	}
	if (n == 0)
		return;
	if (st->s->profile->serial_blocks || (n == 1 && st->s->nactive == 0 && st->d->nstarts == 0))
	{
		for (int k = 0; k < n; k++)
			gc_start_alone(st->s, pick[k], st->d);
		return;
	}
	if (start_coresident(st, pick, n, 2, HUGE_VAL))
		return;
	start_batches(st, pick, n);
}

/*-------------------------------------------------------------------------
 * Gangs
 *-------------------------------------------------------------------------
 */

/* Do kernels of candidate i's text scan several tables now? */
static bool
of_several_tables(const Stage *st, const GcCandidate *candidate)
{
	for (int k = 0; k < st->s->ncandidates; k++)
	{
		if (st->s->candidate[k].gang == candidate->gang && st->s->candidate[k].scan != candidate->scan)
			return true;
	}
	for (int a = 0; a < st->s->nactive; a++)
	{
		if (st->s->active[a].gang == candidate->gang && st->s->active[a].scan != candidate->scan)
			return true;
	}
	return false;
}

/*
 * Should candidate i wait for active launches of its text, to start together with all that come until then?  Then all
 * of that text wait, so it takes no longer than the active ones do.  Requests over one table are left to shared scans.
 */
static bool
waits_for_gang(const Stage *st, int i)
{
	const GcCandidate *candidate = &st->s->candidate[i];
	bool		active = false;

	if (candidate->gang == 0 ||
		(!st->s->force_gang && (st->s->utilisation < UTILISATION_TO_GATHER || st->s->profile->serial_blocks)))
		return false;
	for (int a = 0; a < st->s->nactive; a++)
		active = active || (st->s->active[a].gang == candidate->gang &&
							(st->s->force_gang || st->s->active[a].alone_us <= GANG_LONGEST_US));
	return active && of_several_tables(st, candidate);
}

/* A co-resident batch is left alone until its end.  Then come shared scans, and then all others. */
void
gc_decide_twostage(const GcSchedule *s, GcDecideWork *work, GcDecision *d)
{
	Stage		st = {.s = s,.work = work,.d = d};

	if (coresident_active(&st))
		return;
	for (int i = 0; i < s->ncandidates; i++)
		st.taken[i] = waits_for_gang(&st, i);
	for (int i = 0; i < s->ncandidates; i++)
	{
		if (!st.taken[i] && gains_by_sharing(&st, i))
			share_scan(&st, i);
	}
	start_others(&st);
}
