/*-------------------------------------------------------------------------
 *
 * passes.c
 *	  Passes of a request whose builds or groups do not fit into device memory.
 *
 * Each pass goes through the same rows with another part of the builds.  Kernels drop rows of other parts
 * (codegen/step/split.c), so that each row is taken on in one pass, in which it meets all of its matches.
 * The sink keeps its state from pass to pass.  A part is filled in the same memory, for this request alone:
 * the next pass would find nothing of it in a cache.
 *
 * Passes belong to the pipeline that probes (or scans groups), and other pipelines do not know of them.
 * What fills a split build runs once for each part of that.  It has passes of its own if its own
 * builds are split.
 *
 * What is split:
 *
 *	  builds			by the hash of their keys, or by ranges of the key if one is dense
 *	  groups that are scanned	by their keys' hash, as passes of the scan
 *	  main groups		by their keys' hash.  The result of each part is fetched, and then they are cleared
 *
 * What has the same keys is split together (splits.c).
 *
 * Full and right joins want all passes to have noted their matches before the rests run.  So a pipeline
 * with one has one split at most.
 *
 * The sizes in the request become those of a part; what was bound is kept here.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "passes.h"

#include "../../device/memory.h"
#include "../memory/state.h"
#include "splits.h"

/* A part has room for so many rows more. */
#define MORE_ROWS		256

/* After a failure to allocate memory, so much of what was wanted is asked for. */
#define LESS(bytes)		((bytes) / 8 * 7)

/*-------------------------------------------------------------------------
 * How many parts
 *-------------------------------------------------------------------------
 */

static const KeySplit *
split_of(const GcPasses *ps, i8 number)
{
	return number == GC_NOT_SPLIT || ps->split[number].parts == 1 ? NULL : &ps->split[number];
}

/* Rows or groups that a part has room for. */
static u64
part_rows(u64 rows, const KeySplit *s, u32 room)
{
	return Min(rows, rows / s->parts * room / 8 + MORE_ROWS);
}

static u64
slots_for(u64 rows)
{
	u64			slots = 1;

	while (slots < 2 * rows)
		slots <<= 1;
	return slots;
}

/* Keys of each part of a split by ranges. */
static u64
part_range(const KeySplit *s)
{
	return (s->range + s->parts - 1) / s->parts;
}

/* Give the request the sizes of parts. */
static void
resize(GcPasses *ps)
{
	for (int b = 0; b < ps->p->nbuilds; b++)
	{
		const KeySplit *s = split_of(ps, ps->of_build[b]);
		GcBuildValue *v = &ps->r->builds[b];

		*v = ps->builds[b];
		if (s == NULL)
			continue;
		memset(&v->share, 0, sizeof(v->share));
		if (gc_builds(ps->p)[b].mode == GC_BUILD_DENSE)
			v->range = Min(v->range, part_range(s));
		else
		{
			v->cap = part_rows(v->cap, s, ps->room_build[b]);
			v->slots = slots_for(v->cap);
		}
	}
	for (int n = 0; n < ps->p->npipelines; n++)
	{
		const int	owner = gc_sink_owner(ps->p, n);
		const KeySplit *s = split_of(ps, ps->of_groups[owner]);
		GcSinkValue *v = &ps->r->sinks[n];
		const i32	key_words = v->key_words;

		*v = ps->sinks[n];
		v->key_words = key_words;
		if (s == NULL)
			continue;
		v->ngroups = part_rows(v->ngroups, s, ps->room_groups[owner]);
		v->group_slots = slots_for(v->ngroups);
	}
}

/* Launches of the kernel of a pipeline. */
static double
count_launches(const GcPasses *ps, int pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(ps->p)[pipeline];
	const KeySplit *s = NULL;
	double		launches = 1;

	for (int i = 0; i < ps->nsplits; i++)
		launches *= ps->split[i].pipeline == pipeline ? ps->split[i].parts : 1;
	if (pl->sink == GC_SINK_BUILD)
		s = split_of(ps, ps->of_build[pl->build]);
	else if (pl->sink == GC_SINK_AGGREGATE && pipeline != ps->p->npipelines - 1)
		s = split_of(ps, ps->of_groups[pipeline]);
	return s ? launches * count_launches(ps, s->pipeline) : launches;
}

u32
gc_passes_count(const GcPasses *ps)
{
	double		most = 1;

	for (int n = 0; ps && n < ps->p->npipelines; n++)
		most = gc_has_passes(ps->p, n) ? Max(most, count_launches(ps, n)) : most;
	return (u32) most;
}

/* Does the pipeline of split i need its rests to wait for another split's passes? */
static bool
disturbs_rest(const GcPasses *ps, int i)
{
	const KeySplit *s = &ps->split[i];

	if (s->main_groups || !gc_has_rest(ps->p, s->pipeline))
		return false;
	for (int k = 0; k < ps->nsplits; k++)
	{
		if (k != i && ps->split[k].pipeline == s->pipeline && !ps->split[k].main_groups && ps->split[k].parts > 1)
			return true;
	}
	return false;
}

/* Bytes of all that split i has parts of. */
static u64
split_bytes(const GcPasses *ps, int i)
{
	u64			bytes = 0;

	for (int b = 0; b < ps->p->nbuilds; b++)
		bytes += ps->of_build[b] == i ? gc_bytes_of_build(ps->r, b) : 0;
	for (int n = 0; n < ps->p->npipelines; n++)
		bytes += ps->of_groups[n] == i ? gc_bytes_of_sink(ps->r, n, false, false) : 0;
	return bytes;
}

/* More parts for the split with the largest; false: there is none that helps. */
static bool
split_more(GcPasses *ps)
{
	KeySplit   *s = NULL;
	u64			most = 0;
	u32			before;

	for (int i = 0; i < ps->nsplits; i++)
	{
		const u64	bytes = ps->split[i].closed || disturbs_rest(ps, i) ? 0 : split_bytes(ps, i);

		if (bytes > most)
		{
			most = bytes;
			s = &ps->split[i];
		}
	}
	if (s == NULL)
		return false;
	before = s->parts;
	s->parts += Max(s->parts / 4, 1);
	if (gc_passes_count(ps) > GC_MOST_PASSES)
	{
		s->parts = before;
		s->closed = true;
	}
	resize(ps);
	return true;
}

bool
gc_passes_plan(GcPasses *ps, bool columns, bool less)
{
	const u64	others = columns ? gc_bytes_of_waves(ps->r) : 0;

	if (less)
		ps->limit = Min(ps->limit, LESS(gc_bytes_of_request(ps->r, ps->gather, ps->choose)));
	if (others >= gc_pool_size(gc_worker.pool))
		return false;
	ps->limit = Min(ps->limit, gc_pool_size(gc_worker.pool) - others);
	for (int i = 0; i < ps->nsplits; i++)
		ps->split[i].closed = false;
	resize(ps);
	while (gc_bytes_of_request(ps->r, ps->gather, ps->choose) > ps->limit)
	{
		if (!split_more(ps))
			return false;
	}
	return true;
}

bool
gc_passes_grow(GcPasses *ps, GcCode code, u64 number)
{
	const KeySplit *s;

	if (ps == NULL)
		return false;
	if (code == GC_RETRY_BUILD_FULL && number < ps->p->nbuilds)
	{
		s = split_of(ps, ps->of_build[number]);
		if (s == NULL || ps->r->builds[number].cap >= ps->builds[number].cap)
			return false;
		ps->room_build[number] *= 2;
	}
	else if (code == GC_RETRY_GROUPS && number < ps->p->npipelines)
	{
		number = gc_sink_owner(ps->p, number);
		s = split_of(ps, ps->of_groups[number]);
		if (s == NULL || ps->r->sinks[number].ngroups >= ps->sinks[number].ngroups)
			return false;
		ps->room_groups[number] *= 2;
	}
	else
		return false;
	return true;
}

/*-------------------------------------------------------------------------
 * Kernels
 *-------------------------------------------------------------------------
 */

static void
add_build_split(const GcPasses *ps, GcSplits *splits, int b)
{
	const KeySplit *s = split_of(ps, ps->of_build[b]);

	if (s == NULL)
		return;
	splits->builds |= 1u << b;
	if (s->ranged)
		splits->ranged |= 1u << b;
}

GcSplits
gc_passes_splits(const GcPasses *ps, int pipeline)
{
	GcSplits	splits;
	const GcPPipeline *pl;
	const int	owner = ps ? gc_sink_owner(ps->p, pipeline) : 0;

	memset(&splits, 0, sizeof(splits));
	if (ps == NULL)
		return splits;
	pl = &gc_pipelines(ps->p)[pipeline];
	for (int i = 0; i < pl->nsteps; i++)
	{
		const GcPStep *step = &gc_steps(ps->p)[pl->first_step + i];

		if (step->type == GC_STEP_PROBE)
			add_build_split(ps, &splits, step->build);
	}
	if (pl->sink == GC_SINK_BUILD)
		add_build_split(ps, &splits, pl->build);
	else if (pl->sink == GC_SINK_AGGREGATE && split_of(ps, ps->of_groups[owner]))
	{
		const KeySplit *s = split_of(ps, ps->of_groups[owner]);

		/* Rows of other parts do not come to main groups that are split with a build. */
		splits.groups = !(s->main_groups && s->first_key != GC_NONE);
		splits.groups_with = ps->groups_with[owner];
		if (splits.groups_with && s->ranged)
			splits.ranged |= 1u << (splits.groups_with - 1);
		if (splits.groups_with)
		{
			splits.first_key = ps->groups_key[owner];
			splits.nkeys = gc_builds(ps->p)[splits.groups_with - 1].nkeys;
		}
	}
	return splits;
}

u64
gc_passes_word(const GcPasses *ps, const GcArgWord *w)
{
	const KeySplit *s = &ps->split[w->index < GC_SPLIT_GROUPS ? ps->of_build[w->index] : ps->of_groups[w->index - GC_SPLIT_GROUPS]];

	if (!s->ranged)
		return w->part == GC_SPLIT_PARTS ? s->parts : s->part;
	if (w->part == GC_SPLIT_LO)
		return s->part == 0 ? (u64) PG_INT64_MIN : (u64) s->base + s->part * part_range(s);
	return s->part == s->parts - 1 ? PG_INT64_MAX : (u64) s->base + (s->part + 1) * part_range(s) - 1;
}

/*-------------------------------------------------------------------------
 * Going through the passes
 *-------------------------------------------------------------------------
 */

void
gc_passes_begin(GcPasses *ps)
{
	if (ps == NULL)
		return;
	memset(ps->made_build, 0, sizeof(ps->made_build));
	memset(ps->made_groups, 0, sizeof(ps->made_groups));
	for (int i = 0; i < ps->nsplits; i++)
		ps->split[i].part = 0;
}

bool
gc_passes_first(const GcPasses *ps, int pipeline)
{
	for (int i = 0; ps && i < ps->nsplits; i++)
	{
		if (ps->split[i].pipeline == pipeline && !ps->split[i].main_groups && ps->split[i].part > 0)
			return false;
	}
	return true;
}

bool
gc_passes_last(const GcPasses *ps, int pipeline)
{
	for (int i = 0; ps && i < ps->nsplits; i++)
	{
		const KeySplit *s = &ps->split[i];

		if (s->pipeline == pipeline && !s->main_groups && s->part < s->parts - 1)
			return false;
	}
	return true;
}

bool
gc_passes_next(GcPasses *ps, int pipeline)
{
	for (int i = ps ? ps->nsplits - 1 : -1; i >= 0; i--)
	{
		KeySplit   *s = &ps->split[i];

		if (s->pipeline != pipeline || s->main_groups)
			continue;
		if (++s->part < s->parts)
			return true;
		s->part = 0;
	}
	return false;
}

bool
gc_passes_last_groups(const GcPasses *ps)
{
	const KeySplit *s = ps ? split_of(ps, ps->of_groups[ps->p->npipelines - 1]) : NULL;

	return s == NULL || s->part == s->parts - 1;
}

void
gc_passes_next_groups(GcPasses *ps)
{
	ps->split[ps->of_groups[ps->p->npipelines - 1]].part++;
}

bool
gc_passes_split_build(const GcPasses *ps, int b)
{
	return ps && split_of(ps, ps->of_build[b]);
}

/* Note that a part of split s is being made. */
static bool
is_due(const KeySplit *s, u32 *made)
{
	if (s == NULL || *made == s->part + 1)
		return false;
	*made = s->part + 1;
	return true;
}

void
gc_passes_room(GcPasses *ps, int b)
{
	const KeySplit *s = ps ? split_of(ps, ps->of_build[b]) : NULL;

	if (s && gc_builds(ps->p)[b].mode == GC_BUILD_DENSE)
		ps->r->builds[b].range = Min(ps->builds[b].range, part_range(s));
}

bool
gc_passes_due_build(GcPasses *ps, int b)
{
	const KeySplit *s = ps ? split_of(ps, ps->of_build[b]) : NULL;
	GcBuildValue *v;
	i64			lo,
				end;

	if (s == NULL || !is_due(s, &ps->made_build[b]))
		return false;
	if (gc_builds(ps->p)[b].mode != GC_BUILD_DENSE)
		return true;
	v = &ps->r->builds[b];
	lo = Max(ps->builds[b].base, s->base + (i64) (s->part * part_range(s)));
	end = Min(ps->builds[b].base + (i64) ps->builds[b].range, s->base + (i64) ((s->part + 1) * part_range(s)));
	v->base = lo;
	v->range = end > lo ? (u64) (end - lo) : 0;
	return true;
}

bool
gc_passes_due_groups(GcPasses *ps, int pipeline)
{
	return ps && is_due(split_of(ps, ps->of_groups[pipeline]), &ps->made_groups[pipeline]);
}

/* Does a pipeline probe builds of a split, or scan the rows of one? */
static bool
takes_part(const GcPasses *ps, int pipeline, int split)
{
	const GcPPipeline *pl = &gc_pipelines(ps->p)[pipeline];
	const int	unmatched = gc_inputs(ps->p)[pl->input].unmatched_of - 1;

	if (unmatched >= 0 && ps->of_build[unmatched] == split)
		return true;
	for (int i = 0; i < pl->nsteps; i++)
	{
		const GcPStep *step = &gc_steps(ps->p)[pl->first_step + i];

		if (step->type == GC_STEP_PROBE && ps->of_build[step->build] == split)
			return true;
	}
	return false;
}

bool
gc_passes_due_rest(const GcPasses *ps, int rest)
{
	const int	pipeline = ps ? gc_pipelines(ps->p)[rest].rest_of - 1 : 0;

	/* Where it takes no part in the passes, it waits for the last, which may note matches, too. */
	for (int i = 0; ps && i < ps->nsplits; i++)
	{
		const KeySplit *s = &ps->split[i];

		if (s->pipeline == pipeline && !s->main_groups && s->part < s->parts - 1 && !takes_part(ps, rest, i))
			return false;
	}
	return true;
}
