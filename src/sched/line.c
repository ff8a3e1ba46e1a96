/*-------------------------------------------------------------------------
 *
 * line.c
 *	  Kernels in the order of their launch, and the choice of their variants.
 *
 * The model is that of line.h.  A change of one item changes its wave and those behind
 * it, until a wave again begins where one began before: from there on all is as it was.  So
 * to try a change costs about as many steps as a wave or two have kernels.
 *
 *-------------------------------------------------------------------------
 */
#include "line.h"

#include <string.h>

/* A gain must be more than the noise of sums. */
#define LEAST_GAIN	1e-6

static double
wave_us(const GcWave *w, double beside)
{
	double		shared = w->sum_us * beside;

	if (w->n <= 1)
		return w->sum_us;
	return shared > w->longest_us ? shared : w->longest_us;
}

static bool
joins(const GcWave *w, const GcLineOption *o)
{
	return w->n == 0 || (o->need[GC_NEED_SHARED] <= w->left[GC_NEED_SHARED] && gc_needs_fit(o->need, w->left));
}

/* Close the wave: the next one is empty. */
static void
close_wave(const GcLine *line, GcWave *w)
{
	w->before_us += wave_us(w, line->beside);
	w->n = 0;
	w->longest_us = w->sum_us = 0;
	memcpy(w->left, line->limit, sizeof(w->left));
}

static void
join(GcWave *w, const GcLineOption *o)
{
	w->n++;
	w->sum_us += o->alone_us;
	if (o->alone_us > w->longest_us)
		w->longest_us = o->alone_us;
	for (int r = 0; r < GC_NEEDS; r++)
		w->left[r] -= o->need[r];
}

void
gc_line_begin(GcLine *line, const GcProfile *profile, double beside)
{
	memset(line, 0, sizeof(*line));
	gc_sm_limits(profile, line->limit);
	line->beside = beside;
	memcpy(line->wave.left, line->limit, sizeof(line->limit));
}

void
gc_line_option(const GcLine *line, const GcProfile *profile, int registers, int threads,
			   uint64_t shared_bytes, double alone_us, GcLineOption *option)
{
	option->alone_us = alone_us;
	if (!gc_block_needs(profile, registers, threads, (int64_t) shared_bytes, option->need))
		memcpy(option->need, line->limit, sizeof(option->need));
}

void
gc_line_add(GcLine *line, const GcLineOption *option)
{
	if (!joins(&line->wave, option))
		close_wave(line, &line->wave);
	join(&line->wave, option);
}

double
gc_line_us(const GcLine *line)
{
	return line->wave.before_us + wave_us(&line->wave, line->beside);
}

/*
 * Walk along the items in these variants, from one that was reached before (or the first),
 * and remember the way.
 */
static double
walk(const GcLine *line, const GcLineItem *item, int n, GcLineWork *work, const int *choice, int from)
{
	GcWave		w = from == 0 ? line->wave : work->reached[from];
	double		total;

	for (int i = from; i < n; i++)
	{
		const GcLineOption *o = &item[i].option[choice[i]];

		work->reached[i] = w;
		work->opens[i] = !joins(&w, o);
		if (work->opens[i])
			close_wave(line, &w);
		work->rest_us[i] = w.before_us;
		join(&w, o);
	}
	total = w.before_us + wave_us(&w, line->beside);
	for (int i = from; i < n; i++)
		work->rest_us[i] = total - work->rest_us[i];
	work->steps += n - from;
	return total;
}

/* Time of the line if item i had variant a, and the one behind it variant b. */
static double
try_change(const GcLine *line, const GcLineItem *item, int n, GcLineWork *work, const int *choice,
		   int i, int a, int b)
{
	GcWave		w = work->reached[i];

	for (int k = i; k < n; k++)
	{
		const GcLineOption *o = &item[k].option[k == i ? a : k == i + 1 ? b : choice[k]];

		work->steps++;
		if (!joins(&w, o))
		{
			close_wave(line, &w);
			if (k > i + 1 && work->opens[k])
				return w.before_us + work->rest_us[k];
		}
		join(&w, o);
	}
	return w.before_us + wave_us(&w, line->beside);
}

/* The best change of item i and the one behind it; false: none gains. */
static bool
improve_at(const GcLine *line, const GcLineItem *item, int n, GcLineWork *work, int *choice,
		   int i, double *total)
{
	double		best = *total - LEAST_GAIN;
	int			best_a = choice[i];
	int			best_b = i + 1 < n ? choice[i + 1] : 0;
	int			noptions = i + 1 < n ? item[i + 1].noptions : 1;

	for (int a = 0; a < item[i].noptions; a++)
	{
		for (int b = 0; b < noptions; b++)
		{
			double		us;

			/* The other one alone comes next. */
			if (a == choice[i])
				continue;
			us = try_change(line, item, n, work, choice, i, a, b);
			if (us >= best)
				continue;
			best = us;
			best_a = a;
			best_b = b;
		}
	}
	if (best_a == choice[i])
		return false;
	choice[i] = best_a;
	if (i + 1 < n)
		choice[i + 1] = best_b;
	/* Those before i come to no harm: nothing asks for their rest in this round. */
	*total = walk(line, item, n, work, choice, i);
	return true;
}

/* Change what gains until nothing does. */
static double
descend(const GcLine *line, const GcLineItem *item, int n, long steps, GcLineWork *work, int *choice)
{
	double		total;
	bool		any = true;
	long		last = work->steps + steps;

	total = walk(line, item, n, work, choice, 0);
	while (any && work->steps < last)
	{
		any = false;
		for (int i = 0; i < n && work->steps < last; i++)
			any = (item[i].noptions > 1 && improve_at(line, item, n, work, choice, i, &total)) || any;
		if (any)
			total = walk(line, item, n, work, choice, 0);
	}
	return total;
}

/* The variant of which one block takes the least shared memory. */
static int
leanest(const GcLineItem *item)
{
	int			best = 0;

	for (int v = 1; v < item->noptions; v++)
	{
		if (item->option[v].need[GC_NEED_SHARED] < item->option[best].need[GC_NEED_SHARED])
			best = v;
	}
	return best;
}

double
gc_line_choose(GcLine *line, const GcLineItem *item, int n, long steps, GcLineWork *work, int *choice)
{
	bool		any = false;
	double		us;

	memset(choice, 0, n * sizeof(int));
	for (int i = 0; i < n; i++)
	{
		work->lean[i] = leanest(&item[i]);
		any = any || item[i].noptions > 1;
	}
	work->steps = 0;
	if (any && line->beside < 1)
	{
		us = descend(line, item, n, steps / 2, work, choice);
		if (descend(line, item, n, steps - work->steps, work, work->lean) < us - LEAST_GAIN)
			memcpy(choice, work->lean, n * sizeof(int));
	}
	for (int i = 0; i < n; i++)
		gc_line_add(line, &item[i].option[choice[i]]);
	return gc_line_us(line);
}
