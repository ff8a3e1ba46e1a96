/*-------------------------------------------------------------------------
 *
 * share.c
 *	  Shared scans, as the schedule and the loop know them.
 *
 * Brings the two kinds together: which kernel of a set serves a request is decided here.
 * Kernels are offered by number, for one decision; no set gives one up before that has started.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "share.h"

#include "../../force.h"
#include "../../settings.h"
#include "../memory/state.h"
#include "classes.h"
#include "fused.h"
#include "marked.h"
#include "marked_scan.h"
#include "scan_set.h"
#include "share_launch.h"
#include "shared_scan.h"

/* Of each set one of each kind of bodies, and a marker. */
#define MAX_OFFERED	(GC_MAX_SCAN_SETS * (GC_BODY_KINDS + 1))

/* Of the decision that is being made. */
static uint64 clock_now = 0;
static int	noffered = 0;
static GcFusedKernel offered[MAX_OFFERED];
static GcFused *offered_by[MAX_OFFERED];

void
gc_share_init(GcRunHooks *hooks, GcMarksPay pays)
{
	hooks->begins = gc_share_run_create;
	hooks->waits = gc_predicates_test;
	hooks->arg_word = gc_share_run_word;
	hooks->gives_back = gc_share_run_give_back;
	gc_predicates_init(pays);
	gc_scan_sets_init();
}

void
gc_share_abandon(void)
{
	gc_scan_sets_abandon();
}

bool
gc_share_poll(void)
{
	bool		any = false;

	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (set == NULL)
			continue;
		any = gc_fused_poll(set) || any;
		if (set->marks_asked)
			any = gc_marked_poll(set) || any;
	}
	return any;
}

bool
gc_share_working(void)
{
	return gc_classes_refining();
}

/*-------------------------------------------------------------------------
 * A decision
 *-------------------------------------------------------------------------
 */

void
gc_share_begin(void)
{
	clock_now++;
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		for (int k = 0; set && k < set->nshapes; k++)
			set->shape[k]->counting = 0;
	}
}

void
gc_share_describe(GcRun *run, bool company)
{
	GcScanShape *s;

	if (!company && run->share->test_bits == 0)
		return;
	s = gc_scan_shape_of(run);
	if (s == NULL)
		return;
	s->set->last_used = clock_now;
	if (++s->counting > s->wanted)
	{
		s->wanted = s->counting;
		gc_scan_shape_news(s);
	}
}

/* Does the newest decision know runs of the set? */
static bool
is_described(const GcScanSet *set)
{
	return set != NULL && set->last_used == clock_now;
}

void
gc_share_improve(void)
{
	if (!gc_scan_sets_on())
		return;
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (!is_described(set))
			continue;
		gc_marked_improve(set);
		if (!gc_marks_forced())
			gc_fused_improve(set);
	}
}

bool
gc_share_pending(const GcRun *run)
{
	const GcScanShape *s = run->share->scan_shape;

	return gc_scan_sets_on() && s != NULL && (gc_fused_pending(s->set) || gc_marked_pending(s->set));
}

/*
 * A run that marks can serve, too: does a fused scan by f of all that are there of its shape
 * take less time for each than a marked scan would?
 */
static bool
bodies_pay(const GcRun *run, const GcFused *f)
{
	const GcScanShape *s = run->share->scan_shape;
	int			here = s->counting;
	int			members = Min(here, gc_fused_bodies_of(f, s));

	if (members < 2 || gc_marks_forced())
		return false;
	/* A fused scan that was asked for does not depend on times. */
	if (gc_sharing_forced())
		return true;
	return s->set->bodies[f->kind].times.scan_us / members + s->marginal_us <
		gc_scan_us(&s->set->marker->times, gc_marked_columns(run)) / here + gc_marked_adds(s);
}

/*
 * Which kernel of the set serves the run, with which bodies, at what cost.  Only once no
 * kernel of the set can be exchanged any more before the decision: bodies and columns are
 * numbered by kernel.
 */
static void
offer_kernel(GcRun *run, GcItem *item)
{
	GcScanShape *s = run->share->scan_shape;
	const GcFused *f = gc_scan_shape_bodies(s) != GC_NO_BODIES ? s->set->bodies[gc_scan_shape_bodies(s)].ready : NULL;

	if (s->marginal_us == 0)
		s->marginal_us = gc_fused_first_us(s, item->option.alone_us);
	if (s->marked_us == 0 && gc_marked_can(run))
		s->marked_us = item->option.alone_us * GC_MARKED_PART;
	if (gc_marked_can(run) && !bodies_pay(run, f))
	{
		item->fused_us = gc_marked_adds(s);
		item->columns = gc_marked_columns(run);
		item->fused = s->set->marker->number;
		return;
	}
	item->fused_us = s->marginal_us;
	for (int m = 0; f && m < f->n; m++)
	{
		if (f->shape[m] == s)
			item->bodies |= 1u << m;
	}
	if (item->bodies)
		item->fused = f->number;
}

/* Number a kernel that is ready, for this decision. */
static void
add_kernel(GcFused *f, int most, const GcScanTimes *times)
{
	int			threads = Min(f->marker ? GC_MARKER_THREADS : f->threads, f->info.max_threads);

	f->number = noffered;
	offered_by[noffered] = f;
	offered[noffered++] = (GcFusedKernel) {
		.option = {.registers = f->info.registers,.max_threads = threads,.threads = threads,
		.shared_bytes = f->shared_bytes,.occupancy = 1},
		.most = most,.marked = f->marker,.times = times
	};
}

int
gc_share_offer(GcRun *const *runs, GcItem *items, int nitems, const GcFusedKernel **kernels)
{
	noffered = 0;
	*kernels = offered;
	if (!gc_scan_sets_on())
		return 0;
	for (int i = 0; i < GC_MAX_SCAN_SETS; i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (!is_described(set))
			continue;
		for (int k = 0; k < GC_BODY_KINDS; k++)
		{
			GcBodies   *b = &set->bodies[k];

			/* Of sums there will be more bodies once more are wanted; of groups there is room for these. */
			if (b->ready)
				add_kernel(b->ready, k == GC_GROUP_BODIES ? b->ready->n : GC_MAX_FUSED, &b->times);
		}
		if (set->marker)
			add_kernel(set->marker, gc_marked_most(set), &set->marker->times);
	}
	for (int i = 0; i < nitems; i++)
	{
		const GcScanShape *s = runs[i]->share->scan_shape;

		if (s && is_described(s->set))
			offer_kernel(runs[i], &items[i]);
	}
	return noffered;
}

void
gc_share_start(GcMainLaunch *launch, const GcStart *start, GcRun *const *runs)
{
	GcFused    *f = offered_by[start->fused];

	gc_share_launch_attach(launch);
	if (f->marker)
		gc_marked_start(launch, f, start, runs);
	else
		gc_fused_start(launch, f, start, runs);
}

/*-------------------------------------------------------------------------
 * How it goes
 *-------------------------------------------------------------------------
 */

GcHash
gc_share_hash(const GcMainLaunch *launch)
{
	return launch->share->kernel->hash;
}

bool
gc_share_marks_done(GcMainLaunch *launch)
{
	bool		done = false;
	GcError		err;

	if (launch->share->computed == NULL)
		return false;
	/* Of an error, the requests hear when they ask for their own marks. */
	if (gc_worker.ops->mark_done(launch->share->computed, &done, &err) != GC_OK)
		done = true;
	launch->marks_done = done;
	if (done)
		INSTR_TIME_SET_CURRENT(launch->share->marks_seen);
	return done;
}

double
gc_share_left_us(const GcMainLaunch *launch)
{
	double		us = 0;

	if (!launch->marks_done)
		return 0;
	for (int m = 0; m < launch->members; m++)
		us += launch->share->shapes[m]->marked_us;
	return Max(us - gc_us_since(launch->share->marks_seen), 0);
}

void
gc_share_learn(GcMainLaunch *launch, double time_us)
{
	if (launch->marked)
		gc_marked_learn(launch, launch->kernel_us);
	else
		gc_fused_learn(launch, time_us);
}

/* Of those in a marked scan, some might have been in a fused one: once for each shape. */
static void
note_unfused(const GcStart *start, GcRun *const *runs, const GcItem *items)
{
	for (int m = 0; m < start->nitems; m++)
	{
		const GcRun *run = runs[start->item[m]];
		int			k = 0;

		while (runs[start->item[k]]->share->scan_shape != run->share->scan_shape)
			k++;
		if (k == m)
			gc_fused_refused(run, items[start->item[m]].option.alone_us);
	}
}

void
gc_share_refused(const GcDecision *d, GcRun *const *runs, const GcItem *items)
{
	GcRun	   *refused[GC_MAX_ITEMS];
	int			n = 0;

	for (int i = 0; i < d->nstarts; i++)
	{
		GcRun	   *run = runs[d->start[i].item[0]];

		if (d->start[i].fused >= 0)
		{
			if (offered_by[d->start[i].fused]->marker)
				note_unfused(&d->start[i], runs, items);
			continue;
		}
		gc_fused_refused(run, items[d->start[i].item[0]].option.alone_us);
		if (gc_marked_can(run))
			refused[n++] = run;
	}
	if (n > 0)
		gc_marked_refused(refused, n);
}

void
gc_share_forget(GcRun *run)
{
	gc_scan_shape_leave(run);
}
