/*-------------------------------------------------------------------------
 *
 * share.c
 *	  Shared scans, as the schedule and the loop know them.
 *
 * This file joins fused scans and selection scans: it decides which kernel of a set serves a
 * request.  Kernels are offered by number, for one decision.  No set gives up an offered kernel
 * before that decision has started.
 *
 * A run's part is in its memory context.  A launch owns the merged sources, on host and device, and the memory of its
 * selection bitmaps.  It holds its kernel and key groups.  All but `computed` is given back once its last request has
 * its result.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "share.h"

#include "utils/memutils.h"

#include "../../columns/store/arena.h"
#include "../../force.h"
#include "../memory/device_memory.h"
#include "../memory/state.h"
#include "key_groups.h"
#include "fused.h"
#include "selection.h"
#include "scan_members.h"
#include "scan_set.h"
#include "share_launch.h"
#include "share_run.h"

/* Each set that a decision knows offers one kernel of each kind of members, and a selection kernel. */
#define MAX_OFFERED	(GC_MAX_CANDIDATES * (GC_MEMBER_KINDS + 1))

/* Number of the decision that is being made. */
static uint64 clock_now = 0;
static int	noffered = 0;
static GcFusedKernel offered[MAX_OFFERED];
static GcFused *offered_by[MAX_OFFERED];

/*-------------------------------------------------------------------------
 * A request's part in shared scans
 *-------------------------------------------------------------------------
 */

/* A GcRunHooks' begins: nothing is known yet of the run's shape. */
static GcShareRun *
create_share_run(const GcRun *run)
{
	return MemoryContextAllocZero(run->cxt, sizeof(GcShareRun));
}

/* A word of a predicate's bitmap, or of a direct lookup table. */
static u64
test_word(const GcShareRun *share, const GcArgWord *w)
{
	const GcPredicateBitmap *t = w->type == GC_ARG_DIRECT ? &share->direct_tables[w->index]
		: &share->predicates[w->index];

	switch (w->part)
	{
		case GC_PREDICATE_BITS:
			return t->bits;
		case GC_PREDICATE_BASE:
			return (u64) t->base;
		default:
			return t->range;
	}
}

/* A word of the bitmap by which a member's kernel finds its rows. */
static u64
selection_word(const GcShareRun *share, u8 part)
{
	switch (part)
	{
		case GC_SELECTION_DATA:
			return share->sel_bitmap;
		case GC_SELECTION_BYTES:
			return share->sel_bitmap_bytes;
		case GC_SELECTION_SUMMARY:
			return share->summary;
		default:
			return share->sel_bitmap_bit;
	}
}

/* A GcRunHooks' arg_word. */
static u64
run_word(const GcShareRun *share, const GcArgWord *w)
{
	return w->type == GC_ARG_SELECTION ? selection_word(share, w->part) : test_word(share, w);
}

/* A GcRunHooks' gives_back. */
static void
give_run_back(GcRun *run)
{
	gc_device_drop(&run->schedule.share->predicate_bits);
}

/*-------------------------------------------------------------------------
 * A shared scan's launch
 *-------------------------------------------------------------------------
 */

/* Shared memory of the launch; also as the worker exits. */
static void
give_staging_back(GcMainLaunch *launch)
{
	GcShareLaunch *s = launch->share;

	if (s->staging)
		gc_arena_free(s->staging, s->staging_size);
	s->staging = NULL;
}

/* A GcLaunchOps' strip: device memory, staging memory, the kernel and derived columns. */
static void
strip(GcMainLaunch *launch)
{
	GcShareLaunch *s = launch->share;

	gc_device_drop(&s->memory);
	gc_device_drop(&s->sel_bitmap);
	give_staging_back(launch);
	if (s->kernel)
		gc_fused_release(s->kernel);
	s->kernel = NULL;
	for (int k = 0; k < GC_MAX_PREDICATES; k++)
	{
		if (s->group_coded[k])
			gc_group_coded_release(s->group_coded[k]);
		s->group_coded[k] = NULL;
	}
}

/* A GcLaunchOps' free. */
static void
free_share(GcMainLaunch *launch)
{
	if (launch->share->computed)
		gc_worker.ops->event_put(gc_worker.dev, launch->share->computed);
	pfree(launch->share);
	launch->share = NULL;
}

/* The members of a fused scan have no kernels of their own. */
static void
member_ran(GcRun *run, float begin_us, float end_us)
{
	GcMainLaunch *launch = run->schedule.launch;

	if (!launch->selection)
		return;
	launch->share->begin_us[run->schedule.share->scan_member] = Max(launch->kernel_us, begin_us);
	launch->share->end_us[run->schedule.share->scan_member] = end_us;
}

/* Make a launch one of a shared scan. */
static void
attach_share(GcMainLaunch *launch)
{
	static const GcLaunchOps ops = {
		.strip = strip,.free = free_share,.forget = give_staging_back,.member_ran = member_ran,
	};

	launch->share = MemoryContextAllocZero(TopMemoryContext, sizeof(GcShareLaunch));
	launch->ops = &ops;
}

/*-------------------------------------------------------------------------
 * Start, end and polls
 *-------------------------------------------------------------------------
 */

void
gc_share_init(GcRunHooks *hooks, GcSelectionPays pays)
{
	hooks->begins = create_share_run;
	hooks->waits = gc_predicates_test;
	hooks->arg_word = run_word;
	hooks->gives_back = give_run_back;
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

	for (int i = 0; i < gc_scan_set_places(); i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (set == NULL)
			continue;
		any = gc_fused_poll(set) || any;
		if (set->selection_asked)
			any = gc_selection_poll(set) || any;
	}
	return any;
}

bool
gc_share_working(void)
{
	return gc_key_groups_refining();
}

/*-------------------------------------------------------------------------
 * A decision
 *-------------------------------------------------------------------------
 */

/* Does the newest decision know runs of the set? */
static bool
is_described(const GcScanSet *set)
{
	return set != NULL && set->described;
}

void
gc_share_begin(void)
{
	clock_now++;
	for (int i = 0; i < gc_scan_set_places(); i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (!is_described(set))
			continue;
		set->described = false;
		for (int k = 0; k < set->nshapes; k++)
			set->shape[k]->counting = 0;
	}
}

void
gc_share_describe(GcRun *run, bool has_peers)
{
	GcScanShape *s;

	if (!has_peers && run->schedule.share->predicate_bits == 0)
		return;
	s = gc_scan_shape_of(run);
	if (s == NULL)
		return;
	s->set->described = true;
	s->set->last_used = clock_now;
	if (++s->counting > s->wanted)
	{
		s->wanted = s->counting;
		gc_scan_shape_dirty(s);
	}
}

void
gc_share_improve(void)
{
	if (!gc_scan_sets_on())
		return;
	for (int i = 0; i < gc_scan_set_places(); i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (!is_described(set))
			continue;
		gc_selection_improve(set);
		if (!gc_selection_forced())
			gc_fused_improve(set);
	}
}

bool
gc_share_pending(const GcRun *run)
{
	const GcScanShape *s = run->schedule.share->scan_shape;

	return gc_scan_sets_on() && s != NULL && (gc_fused_pending(s->set) || gc_selection_pending(s->set));
}

/*
 * Which scan serves a run that could be in either?  True: a fused scan by f of all ready requests
 * of its scan shape takes less time for each than a selection scan.
 */
static bool
members_pay(const GcRun *run, const GcFused *f)
{
	const GcScanShape *s = run->schedule.share->scan_shape;
	int			here = s->counting;
	int			members = Min(here, gc_fused_bodies_of(f, s));

	if (members < 2 || gc_selection_forced())
		return false;
	/* A fused scan that a setting forces does not depend on times. */
	if (gc_sharing_forced())
		return true;
	return s->set->by_kind[f->kind].times.scan_us / members + s->marginal_us <
		gc_scan_us(&s->set->selector->times, gc_selection_columns(run)) / here + gc_selection_adds(s);
}

/*
 * Which kernel of the set serves the run, with which members, at which cost.  Members and columns are numbered by
 * kernel, so no kernel of the set may be exchanged between this and the decision.
 */
static void
offer_kernel(GcRun *run, GcCandidate *candidate)
{
	GcScanShape *s = run->schedule.share->scan_shape;
	const GcFused *f = gc_scan_shape_bodies(s) != GC_NO_MEMBERS ? s->set->by_kind[gc_scan_shape_bodies(s)].ready : NULL;

	if (s->marginal_us == 0)
		s->marginal_us = gc_fused_first_us(s, candidate->needs.alone_us);
	if (s->selection_us == 0 && gc_selection_can(run))
		s->selection_us = candidate->needs.alone_us * GC_SELECTION_PART;
	if (gc_selection_can(run) && !members_pay(run, f))
	{
		candidate->fused_us = gc_selection_adds(s);
		candidate->columns = gc_selection_columns(run);
		candidate->fused = s->set->selector->number;
		return;
	}
	candidate->fused_us = s->marginal_us;
	for (int m = 0; f && m < f->n; m++)
	{
		if (f->shape[m] == s)
			candidate->member_mask |= 1u << m;
	}
	if (candidate->member_mask)
		candidate->fused = f->number;
}

/* Number a kernel that is ready, for this decision. */
static void
add_kernel(GcFused *f, int most, const GcScanTimes *times)
{
	int			threads = Min(f->selector ? GC_SELECTOR_THREADS : f->threads, f->info.max_threads);

	f->number = noffered;
	offered_by[noffered] = f;
	offered[noffered++] = (GcFusedKernel) {
		.needs = {.registers = f->info.registers,.max_threads = threads,.threads = threads,
		.shared_bytes = f->shared_bytes,.occupancy = 1},
		.most = most,.selection = f->selector,.times = times
	};
}

int
gc_share_offer(GcRun *const *runs, GcCandidate *candidates, int ncandidates, const GcFusedKernel **kernels)
{
	noffered = 0;
	*kernels = offered;
	if (!gc_scan_sets_on())
		return 0;
	for (int i = 0; i < gc_scan_set_places(); i++)
	{
		GcScanSet  *set = gc_scan_set(i);

		if (!is_described(set))
			continue;
		for (int k = 0; k < GC_MEMBER_KINDS; k++)
		{
			GcFusedKind   *b = &set->by_kind[k];

			/*
			 * A kernel with more ungrouped members is made once they are wanted, so a decision may
			 * plan with them.  Grouped members are limited by the room for their groups.
			 */
			if (b->ready)
				add_kernel(b->ready, k == GC_GROUPED_MEMBERS ? b->ready->n : GC_MAX_FUSED, &b->times);
		}
		if (set->selector)
			add_kernel(set->selector, gc_selection_most(set), &set->selector->times);
	}
	for (int i = 0; i < ncandidates; i++)
	{
		const GcScanShape *s = runs[i]->schedule.share->scan_shape;

		if (s && is_described(s->set))
			offer_kernel(runs[i], &candidates[i]);
	}
	return noffered;
}

void
gc_share_start(GcMainLaunch *launch, const GcStart *start, GcRun *const *runs)
{
	GcFused    *f = offered_by[start->fused];

	attach_share(launch);
	if (f->selector)
		gc_selection_start(launch, f, start, runs);
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
gc_share_selection_done(GcMainLaunch *launch)
{
	bool		done = false;
	GcError		err;

	if (launch->share->computed == NULL)
		return false;
	/* On an error, the requests find it when they ask for their own events. */
	if (gc_worker.ops->event_done(launch->share->computed, &done, &err) != GC_OK)
		done = true;
	launch->select_done = done;
	if (done)
		INSTR_TIME_SET_CURRENT(launch->share->select_seen);
	return done;
}

double
gc_share_left_us(const GcMainLaunch *launch)
{
	double		us = 0;

	if (!launch->select_done)
		return 0;
	for (int m = 0; m < launch->members; m++)
		us += launch->share->shapes[m]->selection_us;
	return Max(us - gc_us_since(launch->share->select_seen), 0);
}

void
gc_share_learn(GcMainLaunch *launch, double time_us)
{
	if (launch->selection)
		gc_selection_learn(launch, launch->kernel_us);
	else
		gc_fused_learn(launch, time_us);
}

/* Tell the scan shapes in a selection scan which could have had a fused scan, once for each. */
static void
note_unfused(const GcStart *start, GcRun *const *runs, const GcCandidate *candidates)
{
	for (int m = 0; m < start->ncandidates; m++)
	{
		const GcRun *run = runs[start->candidate[m]];
		int			k = 0;

		while (runs[start->candidate[k]]->schedule.share->scan_shape != run->schedule.share->scan_shape)
			k++;
		if (k == m)
			gc_fused_refused(run, candidates[start->candidate[m]].needs.alone_us);
	}
}

void
gc_share_refused(const GcDecision *d, GcRun *const *runs, const GcCandidate *candidates)
{
	GcRun	   *refused[GC_MAX_CANDIDATES];
	int			n = 0;

	for (int i = 0; i < d->nstarts; i++)
	{
		GcRun	   *run = runs[d->start[i].candidate[0]];

		if (d->start[i].fused >= 0)
		{
			if (offered_by[d->start[i].fused]->selector)
				note_unfused(&d->start[i], runs, candidates);
			continue;
		}
		gc_fused_refused(run, candidates[d->start[i].candidate[0]].needs.alone_us);
		if (gc_selection_can(run))
			refused[n++] = run;
	}
	if (n > 0)
		gc_selection_refused(refused, n);
}

void
gc_share_forget(GcRun *run)
{
	gc_scan_shape_leave(run);
}
