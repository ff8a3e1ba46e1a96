/*-------------------------------------------------------------------------
 *
 * efforts.c
 *	  Two kernels of one text, compiled quickly and with full effort: which one to launch.
 *
 * Pure functions; no state.
 *
 *-------------------------------------------------------------------------
 */
#include "efforts.h"

/* The trial is over. */
static void
decide(GcEffortTrial *t, GcEffort keep)
{
	t->decided = true;
	t->keep = keep;
}

/* Is the quick kernel clearly faster, in a scan of this many tiles? */
static bool
quick_wins(const GcEffortTrial *t, double tiles)
{
	const double full = t->best_us[GC_EFFORT_FULL];
	const double quick = t->best_us[GC_EFFORT_QUICK];

	return quick < full * GC_EFFORT_PART && (full - quick) * tiles > GC_EFFORT_LEAST_US;
}

/*
 * May it be, by the known times?  Its first launches met cold caches, if it was measured at all before the full kernel
 * came.
 */
static bool
worth_trying(const GcEffortTrial *t, double tiles)
{
	const double full = t->best_us[GC_EFFORT_FULL];

	if (full * tiles <= GC_EFFORT_LEAST_US)
		return false;
	if (t->runs[GC_EFFORT_QUICK] >= GC_EFFORT_RUNS)
		return quick_wins(t, tiles);
	return t->runs[GC_EFFORT_QUICK] == 0 || t->best_us[GC_EFFORT_QUICK] < full * GC_EFFORT_COLD;
}

void
gc_effort_ran(GcEffortTrial *t, GcEffort effort, double us, uint32_t tiles)
{
	const double tile_us = tiles > 0 ? us / tiles : 0;

	if (t->decided || tile_us <= 0)
		return;
	if (t->runs[effort] == 0 || tile_us < t->best_us[effort])
		t->best_us[effort] = tile_us;
	t->runs[effort]++;
	if (t->runs[GC_EFFORT_FULL] < GC_EFFORT_RUNS || (t->repeated && t->runs[GC_EFFORT_QUICK] < GC_EFFORT_RUNS))
		return;
	if (t->repeated)
		decide(t, quick_wins(t, tiles) ? GC_EFFORT_QUICK : GC_EFFORT_FULL);
	else if (worth_trying(t, tiles))
	{
		/* Its launches before were requests that may have been others. */
		t->repeated = true;
		t->runs[GC_EFFORT_QUICK] = 0;
	}
	else
		decide(t, GC_EFFORT_FULL);
}

GcEffort
gc_effort_next(GcEffortTrial *t)
{
	if (t->repeated && !t->decided && t->asked++ >= GC_EFFORT_ASKED)
		decide(t, GC_EFFORT_FULL);
	if (t->decided)
		return t->keep;
	return t->repeated ? GC_EFFORT_QUICK : GC_EFFORT_FULL;
}

bool
gc_effort_open(const GcEffortTrial *t)
{
	return !t->decided && (t->runs[GC_EFFORT_QUICK] > 0 || t->repeated);
}
