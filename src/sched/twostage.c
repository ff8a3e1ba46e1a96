/*-------------------------------------------------------------------------
 *
 * twostage.c
 *	  The two-stage policy: shared scans, batches, sizes.
 *
 * 1. Kernels over the same table that one fused kernel has bodies for become the
 *	  members of a shared scan, if that is predicted to take less time than running
 *	  them side by side.
 * 2. Of the others, the batch model (papers 000 and 001, eqs. 16-30) says which run
 *	  together, in the fewest batches; the batch with the oldest kernel starts.
 * 3. The kernel model (eqs. 9-15) sizes its kernels' blocks.
 *
 * Nothing waits for an idle device.  While it is busy, kernels wait that would gain by
 * it: while a scan of their table is about to end, after which they all share the next.
 *
 *-------------------------------------------------------------------------
 */
#include "policy.h"

#include <string.h>

typedef struct Stage
{
	const GcSchedule *s;
	GcDecideWork *work;
	GcDecision *d;
	bool		taken[GC_MAX_ITEMS];	/* started, or waits for the next shared scan */
} Stage;

/*-------------------------------------------------------------------------
 * Shared scans
 *-------------------------------------------------------------------------
 */

/*
 * Untaken items with bodies in fused kernel f, oldest first, and a body for each, all
 * different.
 */
static int
collect_members(const Stage *st, int f, uint32_t scan, int *member, int *body)
{
	uint32_t	used = 0;
	int			n = 0;

	for (int i = 0; i < st->s->nitems && n < GC_MAX_MEMBERS; i++)
	{
		const GcItem *item = &st->s->item[i];
		uint32_t	left = item->bodies & ~used;

		if (st->taken[i] || item->fused != f || item->scan != scan || left == 0)
			continue;
		body[n] = __builtin_ctz(left);
		used |= left & -left;
		member[n++] = i;
	}
	return n;
}

/*
 * Time until the scans of this table that are active end; 0: none, or one so long that
 * it is better to start beside it, at its position.
 */
static double
wait_for_scan(const Stage *st, uint32_t scan, double own_us)
{
	double		wait = 0;

	for (int a = 0; a < st->s->nactive; a++)
	{
		const GcActive *active = &st->s->active[a];

		if (active->scan == scan && active->remaining_us > wait)
			wait = active->remaining_us;
		/* Predicted to be over, but not seen to be: any moment now. */
		if (active->scan == scan && wait == 0)
			wait = 1;
	}
	return wait <= own_us ? wait : 0;
}

static void
start_scan(Stage *st, int f, const int *member, const int *body, int n, double predicted_us)
{
	const GcOption *o = &st->s->fused[f].option;
	GcStart    *start = &st->d->start[st->d->nstarts++];

	start->nitems = n;
	memcpy(start->item, member, n * sizeof(int));
	memcpy(start->body, body, n * sizeof(int));
	start->fused = f;
	start->option = 0;
	start->shape = gc_sched_full(st->s->profile, o->threads, o->occupancy,
								 st->s->item[member[0]].tiles);
	start->predicted_us = predicted_us;
	if (predicted_us > st->d->predicted_us)
		st->d->predicted_us = predicted_us;
}

/* Shared scan of the table that item i reads, with everybody who can take part. */
static void
share_scan(Stage *st, int i)
{
	const GcItem *item = &st->s->item[i];
	const GcFusedKernel *f = &st->s->fused[item->fused];
	int			member[GC_MAX_MEMBERS];
	int			body[GC_MAX_MEMBERS];
	int			n = collect_members(st, item->fused, item->scan, member, body);
	double		shared = f->scan_us;

	for (int m = 0; m < n; m++)
		shared += st->s->item[member[m]].fused_us;
	if (wait_for_scan(st, item->scan, shared) > 0)
	{
		/* Whoever comes until then takes part in the next one. */
		for (int k = 0; k < st->s->nitems; k++)
			st->taken[k] = st->taken[k] || (st->s->item[k].fused >= 0 && st->s->item[k].scan == item->scan);
		return;
	}
	if (n < 2 || (shared >= gc_predict_beside(st->s, member, n) && !st->s->force_shared))
		return;
	start_scan(st, item->fused, member, body, n, shared);
	for (int k = 0; k < st->s->nitems; k++)
		st->taken[k] = st->taken[k] || (st->s->item[k].fused >= 0 && st->s->item[k].scan == item->scan);
}

/*-------------------------------------------------------------------------
 * Batches
 *-------------------------------------------------------------------------
 */

/*
 * The batch that the oldest of pick[] is in, by the batch model, moved to the front of
 * pick[]; returns its size.  0: the model could not tell.
 */
static int
first_batch(Stage *st, int *pick, int n, const int room[GC_NEEDS])
{
	GcDecideWork *w = st->work;
	GcBatchProblem problem = {.types = w->type,.max_items = GC_KERNEL_MAX,.max_group = 1};
	uint32_t	types[GC_BATCH_MAX_TYPES];
	int			of[GC_MAX_ITEMS];
	int			ntypes = 0;
	int			taken = 0;
	uint16_t	left[GC_BATCH_MAX_TYPES];
	const GcBatchPattern *first = NULL;

	for (int k = 0; k < n; k++)
	{
		int			t = 0;
		GcKernelItem item;

		while (t < ntypes && types[t] != st->s->item[pick[k]].type)
			t++;
		of[k] = t;
		if (t < ntypes)
		{
			w->type[t].demand += w->type[t].demand > 0;
			continue;
		}
		if (ntypes == GC_BATCH_MAX_TYPES)
		{
			n = k;				/* the others wait */
			break;
		}
		gc_least_share(st->s, pick[k], &item);
		w->type[t].demand = 1;
		if (!gc_kernel_fits(st->s->profile, room, &item, NULL, w->type[t].need))
		{
			if (k == 0)
				return 0;		/* it waits for room; nobody overtakes it */
			memset(&w->type[t], 0, sizeof(w->type[t]));
		}
		types[t] = st->s->item[pick[k]].type;
		ntypes++;
	}
	memcpy(problem.capacity, room, sizeof(problem.capacity));
	problem.ntypes = ntypes;
	if (gc_batch_plan(&problem, &w->batch, &w->plan) != GC_BATCH_OK)
		return 0;
	for (int p = 0; p < w->plan.npatterns && first == NULL; p++)
	{
		if (w->plan.pattern[p].count[of[0]] > 0)
			first = &w->plan.pattern[p];
	}
	if (first == NULL)
		return 0;
	st->d->patterns = w->plan.npatterns;
	st->d->planned = w->plan.batches;
	memcpy(left, first->count, sizeof(left));
	for (int k = 0; k < n; k++)
	{
		int			i = pick[k];
		int			t = of[k];

		if (left[t] == 0)
			continue;
		left[t]--;
		memmove(pick + taken + 1, pick + taken, (k - taken) * sizeof(int));
		memmove(of + taken + 1, of + taken, (k - taken) * sizeof(int));
		pick[taken] = i;
		of[taken++] = t;
	}
	return taken;
}

static void
start_batch(Stage *st)
{
	int			room[GC_NEEDS];
	int			pick[GC_MAX_ITEMS];
	int			n = 0;
	int			batch;

	for (int i = 0; i < st->s->nitems; i++)
	{
		if (!st->taken[i])
			pick[n++] = i;
	}
	if (n == 0)
		return;
	if (st->s->profile->host || (n == 1 && st->s->nactive == 0 && st->d->nstarts == 0))
	{
		for (int k = 0; k < n; k++)
			gc_start_alone(st->s, pick[k], st->d);
		return;
	}
	gc_free_room(st->s, room);
	/* Sizes are for good: a batch that began in a corner would stay in it. */
	if (st->s->nactive > 0 && room[GC_NEED_WARPS] * 2 < st->s->profile->max_warps)
		return;
	batch = first_batch(st, pick, n, room);
	if (batch > 0)
		(void) gc_start_together(st->s, pick, batch, room, st->work, st->d);
}

void
gc_decide_twostage(const GcSchedule *s, GcDecideWork *work, GcDecision *d)
{
	Stage		st = {.s = s,.work = work,.d = d};

	for (int i = 0; i < s->nitems; i++)
	{
		if (!st.taken[i] && s->item[i].fused >= 0)
			share_scan(&st, i);
	}
	start_batch(&st);
}
