/*-------------------------------------------------------------------------
 *
 * window_launch.c
 *	  Windows over the rows that a pipeline keeps for others: launches of one kernel (cuda/gc_window.h).
 *
 * How many rows there are is known on the device alone.  So the launches are those for the room that rows have, and
 * those for more rows than there are end at once.  A launch is of so many places that other requests' kernels come
 * between.  Launches for scans of very many rows have a quarter of them.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "launch.h"

#include "../memory/state.h"
#include "stop.h"

/*
 * Places of one launch at most, but as many units in any case: with fewer, a device would be idle.  Threads of a block,
 * and blocks, at most; rows that one block takes alone.
 */
#define MOST_PLACES		((u64) 1 << 22)
#define LEAST_UNITS		1024
#define THREADS			256
#define MOST_BLOCKS		2048
#define FEW_ROWS		16384

/* A pipeline's windows while they are launched. */
typedef struct Windowing
{
	GcRun	   *run;
	const GcPPipeline *pl;
	const GcPipelineKernel *kernel;
	GcArgs		args;			/* with the steps that are not launched yet */
	u32			order;			/* which array has the row numbers in order */
} Windowing;

static GcCode
launch(Windowing *w, u64 units)
{
	GcRun	   *run = w->run;
	GcLaunch	l = {.threads = Min(THREADS, w->kernel->info.max_threads)};

	l.blocks = w->args.w[GC_WINDOW_CAP] <= FEW_ROWS ? 1 : Min((units + l.threads - 1) / l.threads, MOST_BLOCKS);
	gc_slot_run_info(run->slot)->kernels++;
	return gc_worker.ops->launch(run->memory.stream, w->kernel->kernel, &l, &w->args, GC_WINDOW_WORDS, &run->err);
}

static GcCode
launch_steps(Windowing *w)
{
	const GcCode code = w->args.w[GC_WINDOW_NSTEPS] > 0 ? launch(w, 1) : GC_OK;

	w->args.w[GC_WINDOW_NSTEPS] = 0;
	return code;
}

/* A step of units 0 .. n - 1, of so many places each: with others before it, where rows are few. */
static GcCode
step(Windowing *w, u32 phase, u64 width, u64 n, u64 places)
{
	const u64	most = Max(MOST_PLACES / places, LEAST_UNITS);
	u64		   *words = w->args.w + GC_WINDOW_STEPS + 2 * w->args.w[GC_WINDOW_NSTEPS];
	GcCode		code = GC_OK;

	words[0] = GC_WINDOW_STEP(phase, w->order, width);
	words[1] = n;
	w->args.w[GC_WINDOW_NSTEPS]++;
	if (w->args.w[GC_WINDOW_CAP] <= FEW_ROWS)
		return w->args.w[GC_WINDOW_NSTEPS] == GC_WINDOW_MOST_STEPS ? launch_steps(w) : GC_OK;
	for (u64 from = 0; from < n && code == GC_OK; from += most)
	{
		w->args.w[GC_WINDOW_FROM] = from;
		words[1] = Min(from + most, n);
		code = launch(w, words[1] - from);
	}
	w->args.w[GC_WINDOW_NSTEPS] = w->args.w[GC_WINDOW_FROM] = 0;
	return code;
}

/* Where the rows have an output. */
static u64
column_of(const Windowing *w, int output)
{
	const GcProgram *p = w->run->p;
	const GcExpr *e = &gc_exprs(p)[gc_refs(p)[w->pl->first_out + output]];

	return GC_WINDOW_COLUMN(output, gc_is_wide(e) ? gc_wide_word(p, w->pl, output) : GC_WINDOW_NO_WORD,
							e->flags & GC_NULLABLE ? w->pl->nouts + output / 64 : GC_WINDOW_NO_WORD, output % 64,
							e->reg == GC_F64 ? 1 : e->reg == GC_F32 ? 2 : 0);
}

static u64
bound_of(const Windowing *w, int output)
{
	return output == GC_NO_BOUND ? GC_WINDOW_NO_WORD : column_of(w, output);
}

/* The column of a function's argument; 0 if it has none. */
static u64
argument_of(const Windowing *w, u16 expr)
{
	return expr == GC_NONE ? 0 : column_of(w, gc_output_of(w->run->p, w->pl, expr));
}

/* Pack the rows' keys, and sort the words and the rows' numbers. */
static GcCode
sort_rows(Windowing *w)
{
	const u64	cap = w->args.w[GC_WINDOW_CAP];
	const u64	units = (cap + GC_WINDOW_RUN - 1) / GC_WINDOW_RUN;
	GcCode		code;

	w->order = 1;
	if ((code = step(w, GC_WINDOW_CLEAR, 0, 1, 1)) != GC_OK ||
		(code = step(w, GC_WINDOW_RANGES, 0, (cap + GC_WINDOW_PLACES - 1) / GC_WINDOW_PLACES,
					 GC_WINDOW_PLACES)) != GC_OK ||
		(code = step(w, GC_WINDOW_PACK, 0, cap, 1)) != GC_OK)
		return code;
	code = step(w, GC_WINDOW_SORT, 0, units, GC_WINDOW_RUN);
	w->order = 0;
	for (u64 width = GC_WINDOW_RUN; width < cap && code == GC_OK; width *= 2)
	{
		code = step(w, GC_WINDOW_MERGE, width, units, GC_WINDOW_RUN);
		w->order ^= 1;
	}
	return code;
}

/* Have the state at each place for the function that the arguments name. */
static GcCode
scan(Windowing *w)
{
	const u64	cap = w->args.w[GC_WINDOW_CAP];
	const u64	places = Max(GC_WINDOW_PLACES, (cap + GC_WINDOW_CHUNKS - 1) / GC_WINDOW_CHUNKS);
	const u64	chunks = (cap + places - 1) / places;
	GcCode		code;

	if ((code = step(w, GC_WINDOW_TOTALS, places, chunks, places)) != GC_OK ||
		(code = step(w, GC_WINDOW_CARRY, chunks, 1, 1)) != GC_OK)
		return code;
	return step(w, GC_WINDOW_STATES, places, chunks, places);
}

/* Have the tree of the function that the arguments name. */
static GcCode
build_tree(Windowing *w)
{
	const u64	cap = w->args.w[GC_WINDOW_CAP];
	GcCode		code = GC_OK;

	for (u64 width = 1; width <= cap && code == GC_OK; width *= 2)
		code = step(w, GC_WINDOW_TREE, width, cap / width, 1);
	return code;
}

/* Compute one function for all rows. */
static GcCode
compute(Windowing *w, const GcExpr *e, int output)
{
	GcCode		code = launch_steps(w);

	w->args.w[GC_WINDOW_FN] = e->cast_scale;
	w->args.w[GC_WINDOW_ARG] = argument_of(w, e->arg[0]);
	w->args.w[GC_WINDOW_SECOND] = argument_of(w, e->arg[1]);
	w->args.w[GC_WINDOW_RESULT] = column_of(w, output);
	if (e->cast_scale == GC_OVER_COUNT && GC_WINDOW_NULL_WORD(w->args.w[GC_WINDOW_ARG]) == GC_WINDOW_NO_WORD)
		w->args.w[GC_WINDOW_FN] = GC_OVER_ROWS;
	else if (code == GC_OK && e->cast_scale >= GC_OVER_COUNT && e->cast_scale <= GC_OVER_MAX)
		code = GC_WINDOW_HAS_TREE(e->cast_scale, w->args.w[GC_WINDOW_FRAME], w->args.w[GC_WINDOW_EXCLUDE]) ?
			build_tree(w) : scan(w);
	return code == GC_OK ? step(w, GC_WINDOW_VALUES, 0, w->args.w[GC_WINDOW_CAP], 1) : code;
}

/* Are rows that are sorted by the one's keys in the order of the other one? */
static bool
sorts_alike(const GcPWindow *sorted, const GcPWindow *window)
{
	const u16	keys = (u16) ((1u << window->nkeys) - 1);

	return window->nkeys <= sorted->nkeys && memcmp(sorted->keys, window->keys, window->nkeys) == 0 &&
		((sorted->descending ^ window->descending) & keys) == 0 &&
		((sorted->nulls_first ^ window->nulls_first) & keys) == 0;
}

/* Compute window number n; rows are in its order. */
static GcCode
do_window(Windowing *w, int n)
{
	const GcProgram *p = w->run->p;
	GcCode		code = launch_steps(w);

	w->args.w[GC_WINDOW_NPARTITION] = gc_windows(p)[n].npartition;
	w->args.w[GC_WINDOW_NKEYS] = gc_windows(p)[n].nkeys;
	w->args.w[GC_WINDOW_FRAME] = gc_windows(p)[n].frame;
	w->args.w[GC_WINDOW_EXCLUDE] = gc_windows(p)[n].exclude;
	if (gc_windows(p)[n].frame >= GC_FRAME_BETWEEN)
	{
		w->args.w[GC_WINDOW_START] = bound_of(w, gc_windows(p)[n].start);
		w->args.w[GC_WINDOW_END] = bound_of(w, gc_windows(p)[n].end);
	}
	if (gc_windows(p)[n].frame == GC_FRAME_RANGE)
		w->args.w[GC_WINDOW_BY] = column_of(w, gc_windows(p)[n].by);
	w->args.w[GC_WINDOW_FN] = GC_OVER_NONE;
	if (code != GC_OK || (code = step(w, GC_WINDOW_MARK, 0, w->args.w[GC_WINDOW_CAP], 1)) != GC_OK ||
		(code = scan(w)) != GC_OK)
		return code;
	code = step(w, GC_WINDOW_NUMBER, 0, w->args.w[GC_WINDOW_CAP], 1);
	for (u16 i = 0; i < w->pl->nouts && code == GC_OK; i++)
	{
		const GcExpr *e = &gc_exprs(p)[gc_refs(p)[w->pl->first_out + i]];

		if (e->op == GC_OP_WINDOW && e->ref == n)
			code = compute(w, e, i);
	}
	return code;
}

/* Sort the rows for a window, and compute it and all others whose order that is. */
static GcCode
sort_and_compute(Windowing *w, const GcPWindow *sorted, u32 *todo)
{
	GcCode		code = launch_steps(w);

	w->args.w[GC_WINDOW_NKEYS] = sorted->nkeys;
	for (int k = 0; k < sorted->nkeys; k++)
		w->args.w[GC_WINDOW_KEYS + k] = column_of(w, sorted->keys[k]) |
			(sorted->descending >> k & 1 ? GC_WINDOW_DESCENDING : 0) |
			(sorted->nulls_first >> k & 1 ? GC_WINDOW_NULLS_FIRST : 0);
	if (code == GC_OK)
		code = sort_rows(w);
	for (int n = 0; n < w->run->p->nwindows && code == GC_OK; n++)
	{
		if (!(*todo >> n & 1) || !sorts_alike(sorted, &gc_windows(w->run->p)[n]))
			continue;
		*todo &= ~(1u << n);
		code = do_window(w, n);
	}
	return code;
}

GcCode
gc_run_windows(GcRun *run, int pipeline)
{
	const GcSinkMemory *sink = &run->memory.sinks[pipeline];
	const GcPWindow *windows = gc_windows(run->p);
	Windowing	w = {.run = run,.pl = &gc_pipelines(run->p)[pipeline]};
	u32			todo = 0;
	bool		failed;
	GcCode		code = GC_OK;

	for (int n = 0; n < run->p->nwindows; n++)
		todo |= (u32) (windows[n].pipeline == pipeline) << n;
	if (todo == 0)
		return GC_OK;
	w.kernel = gc_fixed_kernel(GC_FIXED_WINDOW, &run->err, &failed);
	gc_stop_with_run(run, &w.args.scan);
	w.args.w[GC_WINDOW_ROWS] = sink->rows;
	w.args.w[GC_WINDOW_CAP] = run->request->sinks[pipeline].rows_cap;
	w.args.w[GC_WINDOW_FLAGS] = sink->memory;
	w.args.w[GC_WINDOW_SCRATCH] = sink->windows;
	while (todo != 0 && code == GC_OK)
	{
		int			most = -1;

		for (int n = 0; n < run->p->nwindows; n++)
		{
			if ((todo >> n & 1) && (most < 0 || windows[n].nkeys > windows[most].nkeys))
				most = n;
		}
		code = sort_and_compute(&w, &windows[most], &todo);
	}
	return code == GC_OK ? launch_steps(&w) : code;
}
