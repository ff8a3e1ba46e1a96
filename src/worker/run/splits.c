/*-------------------------------------------------------------------------
 *
 * splits.c
 *	  What of a request can be split into parts, and what memory it takes.
 *
 * What is looked up, filled or grouped by the same keys of a row is split together.  Parts of two
 * splits would be as many passes as their product.  These are builds that a pipeline probes; the build
 * that it fills; the groups that it scans, if they have these keys; the main groups.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "splits.h"

#include "../../device/memory.h"
#include "../memory/builds.h"
#include "../memory/state.h"
#include "../waves/waves.h"
#include "sinks.h"

/* What takes less than this part of the pool is never split. */
#define SMALL_PART		64

/* Groups are split with a build that is filled from them if that takes more than this part of the pool. */
#define WITH_BUILD_PART	8

/*-------------------------------------------------------------------------
 * Sizes
 *-------------------------------------------------------------------------
 */

/* Are matches of the build's rows noted? */
static bool
is_kept(const GcProgram *p, int b)
{
	return gc_builds(p)[b].keeps;
}

u64
gc_bytes_of_build(const GcRequest *r, int b)
{
	return gc_build_bytes(r, b) + (is_kept(r->program, b) ? r->builds[b].cap : 0);
}

/* Of the sink of a pipeline that does not fill a build. */
u64
gc_bytes_of_sink(const GcRequest *r, int pipeline, bool gather, bool choose)
{
	GcSinkMemory sketch;
	u64			bytes = gc_sink_align(gc_lay_out_sink(r, pipeline, 0, &sketch));

	if (pipeline == r->program->npipelines - 1)
	{
		const GcChosenMemory chosen = gc_chosen_memory(r, gather, choose);

		bytes += chosen.top + chosen.words + chosen.keys;
	}
	return bytes;
}

/* Does the pipeline have a sink of its own, other than a build? */
static bool
has_sink(const GcProgram *p, int pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];

	return !pl->rest_of && (pl->sink == GC_SINK_AGGREGATE || pl->sink == GC_SINK_ROWS);
}

u64
gc_bytes_of_request(const GcRequest *r, bool gather, bool choose)
{
	u64			bytes = r->nvisible > 0 ? r->bitmap_bytes : 0;

	if (!gc_worker.dev->info.host_memory)
		bytes += r->device_bytes;
	for (int b = 0; b < r->program->nbuilds; b++)
		bytes += gc_bytes_of_build(r, b);
	for (int n = 0; n < r->program->npipelines; n++)
		bytes += has_sink(r->program, n) ? gc_bytes_of_sink(r, n, gather, choose) : 0;
	return bytes;
}

/* Of the columns that are read, NULL bitmaps included. */
u64
gc_bytes_of_columns(const GcRequest *r)
{
	const GcProgram *p = r->program;
	u64			bytes = 0;

	if (gc_worker.dev->info.host_memory)
		return 0;
	for (int c = 0; c < p->ncolumns; c++)
	{
		const GcPColumn *column = &gc_columns(p)[c];

		if (r->columns[c].dir_column >= 0 && r->inputs[column->input].dir)
			bytes += r->inputs[column->input].rows * (column->width > 0 ? column->width : 8) +
				(column->nullable ? r->inputs[column->input].rows / 8 : 0);
	}
	return bytes;
}

/* Memory to scan each input's columns in waves, or all of them at once if that takes less. */
u64
gc_bytes_of_waves(const GcRequest *r)
{
	const GcProgram *p = r->program;
	u64			bytes = 0;

	for (int i = 0; i < p->ninputs && !gc_worker.dev->info.host_memory; i++)
	{
		const GcInputValue *in = &r->inputs[i];
		const u64	rows = ((u64) in->max_rows + GC_PAD_ROWS - 1) / GC_PAD_ROWS * GC_PAD_ROWS;
		u64			whole = 0,
					chunk = 0;
		int			n = 0;

		for (int c = 0; c < p->ncolumns && in->dir; c++)
		{
			const GcPColumn *column = &gc_columns(p)[c];
			const u64	width = column->width > 0 ? column->width : 8;

			if (column->input != i || r->columns[c].dir_column < 0)
				continue;
			whole += in->rows * width + (column->nullable ? in->rows / 8 : 0);
			chunk += rows * width + (column->nullable ? rows / 8 : 0);
			n++;
		}
		bytes += Min(whole, gc_wave_bytes(chunk, n));
	}
	return bytes;
}

bool
gc_passes_fit(const GcRequest *r, bool gather, bool choose)
{
	return gc_bytes_of_request(r, gather, choose) <= gc_pool_size(gc_worker.pool);
}

/*-------------------------------------------------------------------------
 * What can be split
 *-------------------------------------------------------------------------
 */

bool
gc_has_rest(const GcProgram *p, int pipeline)
{
	for (int n = 0; n < p->npipelines; n++)
	{
		if (gc_pipelines(p)[n].rest_of == pipeline + 1)
			return true;
	}
	return false;
}

bool
gc_has_passes(const GcProgram *p, int pipeline)
{
	return !gc_pipelines(p)[pipeline].rest_of && gc_pipelines(p)[pipeline].sink != GC_SINK_SELECT;
}

static int
add_split(GcPasses *ps, int pipeline, u16 first_key, u16 nkeys)
{
	ps->split[ps->nsplits] = (KeySplit) {.pipeline = pipeline,.first_key = first_key,.nkeys = nkeys,.parts = 1};
	return ps->nsplits++;
}

/* Do two expressions of a pipeline have the same value for each row? */
static bool
same_value(const GcProgram *p, u16 a, u16 b)
{
	GcExpr		x = gc_exprs(p)[a];
	GcExpr		y = gc_exprs(p)[b];

	if (a == b)
		return true;
	for (int i = 0; i < 3; i++)
	{
		if ((x.arg[i] == GC_NONE) != (y.arg[i] == GC_NONE) || (x.arg[i] != GC_NONE && !same_value(p, x.arg[i], y.arg[i])))
			return false;
		x.arg[i] = y.arg[i] = GC_NONE;
	}
	return memcmp(&x, &y, sizeof(x)) == 0;
}

/* Are these keys of a row, of two lists, the same? */
static bool
same_keys(const GcProgram *p, u16 a, u16 b, u16 nkeys)
{
	for (int k = 0; k < nkeys; k++)
	{
		if (!same_value(p, gc_refs(p)[a + k], gc_refs(p)[b + k]))
			return false;
	}
	return true;
}

/*
 * The split of the pipeline by these keys, or a new one.  Where it fills a split build, by the same keys,
 * it has only rows of the build's part.
 */
static int
split_by(GcPasses *ps, int pipeline, u16 first_key, u16 nkeys)
{
	const GcPPipeline *pl = &gc_pipelines(ps->p)[pipeline];

	if (gc_has_rest(ps->p, pipeline))
		return add_split(ps, pipeline, first_key, nkeys);
	if (pl->sink == GC_SINK_BUILD && ps->of_build[pl->build] != GC_NOT_SPLIT &&
		gc_builds(ps->p)[pl->build].nkeys == nkeys &&
		same_keys(ps->p, gc_builds(ps->p)[pl->build].first_key, first_key, nkeys))
		return ps->of_build[pl->build];
	for (int i = 0; i < ps->nsplits; i++)
	{
		const KeySplit *s = &ps->split[i];

		if (s->pipeline == pipeline && s->first_key != GC_NONE && s->nkeys == nkeys &&
			same_keys(ps->p, s->first_key, first_key, nkeys))
			return i;
	}
	return add_split(ps, pipeline, first_key, nkeys);
}

/* A dense build makes its split one by ranges. */
static void
split_range(KeySplit *s, const GcBuildValue *v)
{
	const i64	end = Max(v->base + (i64) v->range, s->ranged ? s->base + (i64) s->range : PG_INT64_MIN);

	s->base = s->ranged ? Min(s->base, v->base) : v->base;
	s->range = (u64) (end - s->base);
	s->ranged = true;
}

/* How many pipelines probe a build, or scan the groups of one (groups_of as in GcPInput)? */
static int
count_users(const GcProgram *p, int build, int groups_of)
{
	int			n = 0;

	for (int i = 0; i < p->npipelines; i++)
	{
		const GcPPipeline *pl = &gc_pipelines(p)[i];

		if (!gc_has_passes(p, i))
			continue;
		n += groups_of > 0 && gc_inputs(p)[pl->input].groups_of == groups_of;
		for (int s = 0; s < pl->nsteps; s++)
		{
			const GcPStep *step = &gc_steps(p)[pl->first_step + s];

			n += step->type == GC_STEP_PROBE && step->build == build;
		}
	}
	return n;
}

static bool
is_small(u64 bytes)
{
	return bytes < gc_pool_size(gc_worker.pool) / SMALL_PART;
}

/* Are these keys of pipeline n, which scans groups, keys of the groups? */
static bool
are_group_keys(const GcProgram *p, int n, u16 first_key, u16 nkeys)
{
	for (int k = 0; k < nkeys; k++)
	{
		const GcExpr *e = &gc_exprs(p)[gc_refs(p)[first_key + k]];

		if (e->op != GC_OP_COLUMN || gc_columns(p)[e->ref].input != gc_pipelines(p)[n].input || gc_columns(p)[e->ref].agg != GC_NONE)
			return false;
	}
	return nkeys > 0;
}

static void
split_groups_with(GcPasses *ps, int from, int build, u16 first_key)
{
	ps->of_groups[from] = ps->of_build[build];
	ps->groups_with[from] = build + 1;
	ps->groups_key[from] = first_key;
}

/* The groups that pipeline n scans. */
static void
find_group_split(GcPasses *ps, int n)
{
	const GcProgram *p = ps->p;
	const GcPPipeline *pl = &gc_pipelines(p)[n];
	const int	from = gc_inputs(p)[pl->input].groups_of - 1;
	const bool	alone = from >= 0 && !gc_has_rest(p, n) && count_users(p, GC_NONE, from + 1) == 1;

	if (from < 0 || gc_pipelines(p)[from].group_mode != GC_GROUP_HASH || ps->of_groups[from] != GC_NOT_SPLIT ||
		is_small(gc_bytes_of_sink(ps->r, from, false, false)))
		return;
	if (alone && pl->sink == GC_SINK_BUILD && ps->of_build[pl->build] != GC_NOT_SPLIT &&
		gc_bytes_of_build(ps->r, pl->build) >= gc_pool_size(gc_worker.pool) / WITH_BUILD_PART &&
		are_group_keys(p, n, gc_builds(p)[pl->build].first_key, gc_builds(p)[pl->build].nkeys))
	{
		split_groups_with(ps, from, pl->build, gc_builds(p)[pl->build].first_key);
		return;
	}
	for (int i = 0; alone && i < pl->nsteps; i++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + i];

		if (step->type == GC_STEP_PROBE && ps->of_build[step->build] != GC_NOT_SPLIT &&
			are_group_keys(p, n, step->first_key, gc_builds(p)[step->build].nkeys))
		{
			split_groups_with(ps, from, step->build, step->first_key);
			return;
		}
	}
	ps->of_groups[from] = add_split(ps, n, GC_NONE, 0);
}

/* The builds that pipeline n probes. */
static void
find_build_splits(GcPasses *ps, int n)
{
	const GcProgram *p = ps->p;
	const GcPPipeline *pl = &gc_pipelines(p)[n];

	for (int i = 0; i < pl->nsteps; i++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + i];
		const GcPBuild *build = &gc_builds(p)[step->build];

		if (step->type != GC_STEP_PROBE || build->nkeys == 0 || count_users(p, step->build, 0) != 1 ||
			is_small(gc_bytes_of_build(ps->r, step->build)))
			continue;
		ps->of_build[step->build] = split_by(ps, n, step->first_key, build->nkeys);
		if (build->mode == GC_BUILD_DENSE)
			split_range(&ps->split[ps->of_build[step->build]], &ps->builds[step->build]);
	}
}

/* Is the expression a key of the pipeline's groups? */
static bool
is_group_key(const GcProgram *p, const GcPPipeline *pl, u16 e)
{
	for (int k = 0; k < pl->nkeys; k++)
	{
		if (same_value(p, gc_refs(p)[pl->first_key + k], e))
			return true;
	}
	return false;
}

/*
 * The main groups: with what is probed by keys of theirs, since the rows of a group then come in one pass.
 * With grouping sets a key may be left out.
 */
static void
find_main_split(GcPasses *ps)
{
	const int	main = ps->p->npipelines - 1;
	const GcPPipeline *pl = &gc_pipelines(ps->p)[main];
	int			found = GC_NOT_SPLIT;

	if (pl->sink != GC_SINK_AGGREGATE || pl->group_mode != GC_GROUP_HASH || is_small(gc_bytes_of_sink(ps->r, main, false, false)))
		return;
	for (int i = 0; i < ps->nsplits && !gc_has_rest(ps->p, main) && gc_sink_visits(pl) <= 1; i++)
	{
		const KeySplit *s = &ps->split[i];
		bool		keys = s->pipeline == main && s->first_key != GC_NONE;

		for (int k = 0; k < s->nkeys && keys; k++)
			keys = is_group_key(ps->p, pl, gc_refs(ps->p)[s->first_key + k]);
		if (keys)
			found = i;
	}
	ps->of_groups[main] = found != GC_NOT_SPLIT ? found : add_split(ps, main, GC_NONE, 0);
	ps->split[ps->of_groups[main]].main_groups = true;
}

GcPasses *
gc_passes_make(GcRequest *r, bool gather, bool choose, MemoryContext cxt)
{
	GcPasses   *ps = MemoryContextAllocZero(cxt, sizeof(GcPasses));
	const GcProgram *p = r->program;

	ps->r = r;
	ps->p = p;
	ps->gather = gather;
	ps->choose = choose;
	ps->limit = gc_pool_size(gc_worker.pool);
	memcpy(ps->builds, r->builds, p->nbuilds * sizeof(GcBuildValue));
	memcpy(ps->sinks, r->sinks, p->npipelines * sizeof(GcSinkValue));
	memset(ps->of_build, GC_NOT_SPLIT, sizeof(ps->of_build));
	memset(ps->of_groups, GC_NOT_SPLIT, sizeof(ps->of_groups));
	for (int i = 0; i < GC_MAX_BUILDS; i++)
		ps->room_build[i] = GC_FIRST_ROOM;
	for (int i = 0; i < GC_MAX_PIPELINES; i++)
		ps->room_groups[i] = GC_FIRST_ROOM;
	/* What a pipeline fills belongs to a later one. */
	for (int n = p->npipelines - 1; n >= 0; n--)
	{
		if (!gc_has_passes(p, n))
			continue;
		find_build_splits(ps, n);
		if (n == p->npipelines - 1)
			find_main_split(ps);
		find_group_split(ps, n);
	}
	return ps;
}
