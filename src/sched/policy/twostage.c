/*-------------------------------------------------------------------------
 *
 * twostage.c
 *	  The two-stage policy: shared scans, batches, sizes.
 *
 * 1. Kernels over the same table that a shared scan can serve (fused or marked) become
 *	  its members, if that is predicted to take less time than running them side by
 *	  side, resident together (2.) where all of them can be.  Where it would for all who are
 *	  here and on the device, who comes waits for the table's scans to end, so that there are
 *	  many to share the next.
 * 2. On an idle device, the oldest of the others and those that are bound by memory and scan its
 *	  table are sized to be resident together on every multiprocessor, as far as they are
 *	  predicted to be done sooner so (objective makespan, coresident.h).  All others wait for that.
 * 3. Of the others, the batch model (papers 000 and 001, eqs. 16-30) says which run
 *	  together, in the fewest batches, and so in which order they are launched.
 * 4. Each of them keeps the block size that is best for it, and gets as many blocks as make
 *	  its fair share of the warps beside what is active: all it can use on an idle device,
 *	  where its batch's others then follow as its blocks end, and twice that where it is bound by
 *	  what a multiprocessor does (start.c).
 *
 * Most batches of kernels like ours are not resident: each kernel would run in a few warps,
 * which stay few when the others end.  Policy kernel (objective threads) does that to all,
 * and loses on an H200 (docs/measurements.md).
 *
 * The device is never idle while something waits.  What waits for it to be: who comes behind a
 * resident batch.
 *
 *-------------------------------------------------------------------------
 */
#include "twostage.h"
#include "coresident.h"
#include "start.h"
#include "work.h"

#include <math.h>
#include <string.h>

/*
 * A marked scan of so many requests need not wait for more.  (An H200: of groups of 65, 27 are left
 * for the second scan, which began when the first was over; with that they take 2.5 to 2.9 ms instead of
 * 3.3 to 3.8.  64 clients get scans of 25 requests instead of 28, and as much done.)
 */
#define SCAN_ENOUGH		24

/*
 * On a device that has something to do for less of the time, nobody is about to come back:
 * requests wait for no more of them.
 */
#define LOAD_TO_GATHER	0.3

/* Steps of the kernel model in one decision: fewer than policy kernel has, as the batch model is asked too. */
#define GC_RESIDENT_STEPS	1500

typedef struct Stage
{
	const GcSchedule *s;
	GcDecideWork *work;
	GcDecision *d;
	bool		taken[GC_MAX_ITEMS];	/* started, or waits for the next shared scan */
} Stage;

/*-------------------------------------------------------------------------
 * Residents
 *-------------------------------------------------------------------------
 */

/* Time of these items one behind the other, each with the whole device. */
static double
line_us(const Stage *st, const int *pick, int n)
{
	double		us = 0;

	for (int k = 0; k < n; k++)
		us += st->s->item[pick[k]].option.alone_us;
	return us * gc_beside_each_other(st->s->together, n);
}

/* Is a resident batch on the device?  Whoever joined it would take it out of step. */
static bool
resident_active(const Stage *st)
{
	for (int a = 0; a < st->s->nactive; a++)
	{
		if (st->s->active[a].resident)
			return true;
	}
	return false;
}

/*
 * On an idle device: start the oldest of pick[] with those that had better be resident with it.
 * All others wait until these are done.  (Measured on an H200: launched behind them at once, a
 * second set of four scans took 657 us where the first took 272, and a kernel of another kind
 * beside three scans made all take 413 us instead of 258 one behind the other.)  The oldest is
 * always among them, so that nobody waits for ever.
 * least: they must be so many, and other_us: predicted to take less than that.
 */
static bool
start_resident(Stage *st, const int *pick, int n, int least, double other_us)
{
	int			set[GC_RESIDENT_MAX];
	int			m;

	if (st->s->calibration == NULL || st->s->nactive > 0 || st->d->nstarts > 0)
		return false;
	m = gc_resident_set(st->s, pick, n, set);
	return m >= least && gc_start_resident(st->s, set, m, line_us(st, set, m), other_us, st->work, st->d);
}

/*-------------------------------------------------------------------------
 * Shared scans
 *-------------------------------------------------------------------------
 */

/*
 * Is a body in a shared scan predicted to take less time than the item's own kernel?
 * Known only once scans have run: what is assumed before lets every shape try it once.
 */
static bool
gains_by_sharing(const Stage *st, int i)
{
	const GcItem *item = &st->s->item[i];

	return item->fused >= 0 && (st->s->force_shared || item->fused_us < item->option.alone_us);
}

/* Requests that one scan by f can serve. */
static int
most_members(const GcFusedKernel *f)
{
	return f->most < GC_MAX_MEMBERS ? f->most : GC_MAX_MEMBERS;
}

/* What item i would take longer by its own kernel. */
static double
gain_us(const Stage *st, int i)
{
	return st->s->item[i].option.alone_us - st->s->item[i].fused_us;
}

/*
 * Of these n, oldest first, a marked scan serves `most`; returns how many that are.  Where those who are left are
 * too few for another, and so mostly take their own kernels: leave those of the younger half who lose least by it.
 * Whoever is in the older half is served now, so nobody is left again and again.  (An H200: of 65, one
 * is left, and its own kernel ends last.)
 */
static int
leave_least(const Stage *st, int *member, int n, int most)
{
	if (n - most >= SCAN_ENOUGH)
		return most;
	for (; n > most; n--)
	{
		int			least = most / 2;

		for (int m = least; m < n; m++)
		{
			if (gain_us(st, member[m]) < gain_us(st, member[least]))
				least = m;
		}
		memmove(&member[least], &member[least + 1], (n - least - 1) * sizeof(int));
	}
	return n;
}

/* Untaken items that marked kernel f can serve, and that gain by sharing. */
static int
collect_marked(const Stage *st, int f, uint32_t scan, int *member, int *body)
{
	const int	most = most_members(&st->s->fused[f]);
	int			all[GC_MAX_ITEMS];
	int			n = 0;

	for (int i = 0; i < st->s->nitems; i++)
	{
		if (!st->taken[i] && st->s->item[i].fused == f && st->s->item[i].scan == scan && gains_by_sharing(st, i))
			all[n++] = i;
	}
	n = leave_least(st, all, n, most);
	for (int m = 0; m < n; m++)
	{
		member[m] = all[m];
		body[m] = m;
	}
	return n;
}

/*
 * Untaken items with bodies in fused kernel f that gain by sharing, oldest first, and a
 * body for each, all different.
 */
static int
collect_members(const Stage *st, int f, uint32_t scan, int *member, int *body)
{
	uint32_t	used = 0;
	int			n = 0;

	if (st->s->fused[f].marked)
		return collect_marked(st, f, scan, member, body);
	for (int i = 0; i < st->s->nitems && n < most_members(&st->s->fused[f]); i++)
	{
		const GcItem *item = &st->s->item[i];
		uint32_t	left = item->bodies & ~used;

		if (st->taken[i] || item->fused != f || item->scan != scan || left == 0 ||
			!gains_by_sharing(st, i))
			continue;
		body[n] = __builtin_ctz(left);
		used |= left & -left;
		member[n++] = i;
	}
	return n;
}

/*
 * Is it better for n requests to wait for what is active on this table?  For shared scans:
 * the next one serves more requests.  But once the marks of a marked scan are done, its
 * requests' own kernels leave room for another's marker, and so many who wait as it has
 * are no fewer than it will give back, while SCAN_ENOUGH share a scan well in any case.  For
 * kernels of their own too, unless they take longer than a shared scan of all would, or
 * SCAN_ENOUGH wait: what began beside a scan takes as long as all of it.  Where the device has
 * little to do, only marks are waited for.
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
		if (active->marked)
			enough = active->members > enough ? active->members : enough;
		else if (active->fused)
			return true;
		else if (active->alone_us <= all_us)
			enough = SCAN_ENOUGH;
	}
	return st->s->load >= LOAD_TO_GATHER && n < (enough < SCAN_ENOUGH ? enough : SCAN_ENOUGH);
}

/* What a number of items ask for, alone and in a shared scan. */
typedef struct Asked
{
	double		alone_us;		/* sum */
	double		added_us;		/* sum of what each adds to a shared scan */
	uint32_t	columns;		/* that it reads for them */
} Asked;

static Asked
ask(const Stage *st, const int *member, int n)
{
	Asked		sum = {0, 0, 0};

	for (int m = 0; m < n; m++)
	{
		const GcItem *item = &st->s->item[member[m]];

		sum.alone_us += item->option.alone_us;
		sum.added_us += item->fused_us;
		sum.columns |= item->columns;
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

/* What marked scans of this table will still take. */
static double
leftover_us(const Stage *st, uint32_t scan)
{
	double		us = 0;

	for (int a = 0; a < st->s->nactive; a++)
	{
		if (st->s->active[a].scan == scan)
			us += st->s->active[a].left_us;
	}
	return us;
}

static bool
pays(const Stage *st, const GcFusedKernel *f, int n, double scan_us, double own_us)
{
	const GcSharing sharing = {.n = n,.marked = f->marked,.scan_us = scan_us,.own_us = own_us,.pressure = st->s->pressure};

	return gc_sharing_pays(&sharing);
}

/*
 * Would all who are here, and all who are active on this table, take less time together
 * in shared scans than side by side?  While that is so, who comes waits for the active
 * ones, so that there are many to share the next scan.  *all_us: what that would take.
 */
static bool
worth_gathering(const Stage *st, const GcFusedKernel *f, uint32_t scan, const Asked *asked, int n,
				double *all_us)
{
	int			all = n + active_members(st, scan);
	uint32_t	columns = asked->columns;

	/* Those who are active read columns too: all that there are. */
	if (all > n)
		columns = (1u << GC_MAX_SHARED_COLUMNS) - 1;
	if (all > most_members(f))
		all = most_members(f);
	*all_us = gc_scan_us(f->times, columns) + asked->added_us / n * all;
	return pays(st, f, all, *all_us, asked->alone_us / n * all * gc_beside_each_other(st->s->together, all));
}

static void
start_scan(Stage *st, int f, const int *member, const int *body, int n, double own_us, double left_us)
{
	const GcOption *o = &st->s->fused[f].option;
	GcStart    *start = &st->d->start[st->d->nstarts++];

	start->nitems = n;
	memcpy(start->item, member, n * sizeof(int));
	memcpy(start->body, body, n * sizeof(int));
	start->fused = f;
	start->whole_shared = false;
	start->issue_share = 0;
	start->shape = gc_sched_full(st->s->profile, o->threads, o->occupancy,
								 st->s->item[member[0]].tiles);
	start->left_us = left_us;
	start->predicted_us = own_us + left_us * st->s->left;
	if (start->predicted_us > st->d->predicted_us)
		st->d->predicted_us = start->predicted_us;
}

/*
 * Those whom a shared scan would serve in shared_us, all of them resident instead, if they are done sooner so:
 * a few that memory bounds share what they read in any case, and write no marks.  (The thread has less to do for
 * them, too.)
 */
static bool
start_members_resident(Stage *st, const int *member, int n, double shared_us)
{
	return n > 1 && n <= GC_RESIDENT_MAX && !st->s->force_shared && start_resident(st, member, n, n, shared_us);
}

/*
 * Shared scan of the table that item i reads, with everybody who can take part.  Who is
 * alone shares with nobody, but its tests may take less time as marks: then it is a variant
 * of its kernel that is the fastest alone.
 */
static void
share_scan(Stage *st, int i)
{
	const GcItem *item = &st->s->item[i];
	const GcFusedKernel *f = &st->s->fused[item->fused];
	int			member[GC_MAX_MEMBERS];
	int			body[GC_MAX_MEMBERS];
	int			n = collect_members(st, item->fused, item->scan, member, body);
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
	if (n == 1 && active_members(st, item->scan) == 0)
		worth = asked.columns != 0 &&
			(st->s->force_shared ? st->s->nitems == 1 : !st->s->profile->scalar && shared < asked.alone_us);
	else
		worth = worth_gathering(st, f, item->scan, &asked, n, &all_us) || st->s->force_shared;
	if (!worth)
		return;
	if (!better_wait(st, item->scan, n, all_us))
	{
		if (!st->s->force_shared && !pays(st, f, n, shared, asked.alone_us))
			return;
		if (start_members_resident(st, member, n, shared))
		{
			/* whom all others wait for */
			memset(st->taken, true, sizeof(st->taken));
			return;
		}
		start_scan(st, item->fused, member, body, n, shared, leftover_us(st, item->scan));
	}
	/* Whoever is left, or comes until the scan ends, takes part in the next one. */
	for (int k = 0; k < st->s->nitems; k++)
		st->taken[k] = st->taken[k] || (gains_by_sharing(st, k) && st->s->item[k].scan == item->scan);
}

/*-------------------------------------------------------------------------
 * Batches
 *-------------------------------------------------------------------------
 */

/*
 * Types of the picked items, of[k] for each; an item that fits no multiprocessor, or is
 * of one type too many, has -1.  Returns their number.
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
		GcKernelItem item;

		while (t < ntypes && known[t] != st->s->item[pick[k]].type)
			t++;
		of[k] = t;
		if (t < ntypes)
		{
			type[t].demand++;
			continue;
		}
		gc_least_share(st->s, pick[k], &item);
		if (ntypes == GC_BATCH_MAX_TYPES ||
			!gc_kernel_fits(st->s->profile, room, &item, NULL, type[t].need))
		{
			of[k] = -1;
			continue;
		}
		known[t] = st->s->item[pick[k]].type;
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

/* The oldest items of each type that the pattern has, out of pick[] (which then have -1). */
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
 * All of pick[], batch after batch, that of the oldest first.  Launches are in that
 * order: the hardware starts blocks as soon as there is room for them, those of earlier
 * launches first (paper 003's second and third discipline), so the next batch fills
 * what the last one leaves, and no multiprocessor waits for a whole batch to end.
 */
static void
start_batches(Stage *st, const int *pick, int n)
{
	GcBatchPlan *plan = &st->work->plan;
	GcBatchProblem problem = {.types = st->work->type,.max_items = GC_KERNEL_MAX,.max_group = 1};
	int			room[GC_NEEDS];
	int			of[GC_MAX_ITEMS];
	int			batch[GC_MAX_ITEMS];
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

static void
start_others(Stage *st)
{
	int			pick[GC_MAX_ITEMS];
	int			n = 0;

	for (int i = 0; i < st->s->nitems; i++)
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
	if (start_resident(st, pick, n, 2, HUGE_VAL))
		return;
	start_batches(st, pick, n);
}

void
gc_decide_twostage(const GcSchedule *s, GcDecideWork *work, GcDecision *d)
{
	Stage		st = {.s = s,.work = work,.d = d};

	work->steps = GC_RESIDENT_STEPS;
	if (resident_active(&st))
		return;
	for (int i = 0; i < s->nitems; i++)
	{
		if (!st.taken[i] && gains_by_sharing(&st, i))
			share_scan(&st, i);
	}
	start_others(&st);
}
