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
 * A pipeline that fills a split build runs once for each part of that.  It has passes of its own if its own builds are
 * split.
 *
 * What is split:
 *
 *	  builds			by the hash of their keys, or by ranges of the key if one is dense
 *	  groups that are scanned	by their keys' hash, as passes of the scan
 *	  main groups		by their keys' hash.  The result of each part is fetched, and then they are cleared
 *
 * Tables that are looked up, filled or grouped by the same keys of a row are split together.  Parts of two splits would
 * be as many passes as their product.  These are builds that a pipeline probes; the build that it fills; the groups
 * that it scans, if they have these keys; the main groups.
 *
 * A request goes through the parts of its own device alone of groups that several devices share
 * (GcRequest.split_groups).
 *
 * Full and right joins want all passes to have noted their matches before the rests run.  So a pipeline
 * with one has one split at most.
 *
 * The sizes in the request become those of a part; the bound ones are kept here.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "passes.h"

#include "../../device/memory.h"
#include "../memory/state.h"
#include "memory_demand.h"

/* A part has room for so many rows more. */
#define MORE_ROWS		256

/* After a failure to allocate memory, so much of the wanted memory is asked for. */
#define LESS(bytes)		((bytes) / 8 * 7)

/* Builds and groups that take less than this part of the pool are never split. */
#define SMALL_PART		64

/* Groups are split with a build that is filled from them if that takes more than this part of the pool. */
#define WITH_BUILD_PART	8

/* Room that a part has at first, in eighths of its room if all parts were equal. */
#define GC_FIRST_ROOM	10

#define GC_NOT_SPLIT		(-1)
#define GC_MOST_SPLITS		(GC_MAX_BUILDS + GC_MAX_PIPELINES)

typedef struct KeySplit
{
	u16			pipeline;		/* whose passes these are */
	u16			first_key;		/* the keys that its rows are split by: refs; GC_NONE: not by a probe's keys */
	u16			nkeys;
	bool		main_groups;
	bool		ranged;
	bool		closed;			/* more parts are of no use, or would be too many passes */
	i64			base;			/* ranged: of all builds */
	u64			range;
	u32			parts;
	u32			part;
	u32			devices;		/* each of which goes through as many of the parts */
} KeySplit;

struct GcPasses
{
	GcRequest  *r;
	const GcProgram *p;
	bool		gather;
	bool		choose;
	u64			limit;			/* bytes that it may take */
	GcBuildValue builds[GC_MAX_BUILDS];	/* as bound */
	GcSinkValue sinks[GC_MAX_PIPELINES];
	KeySplit	split[GC_MOST_SPLITS];
	int			nsplits;
	i8			of_build[GC_MAX_BUILDS];	/* number of its split, or GC_NOT_SPLIT */
	i8			of_groups[GC_MAX_PIPELINES];
	u8			groups_with[GC_MAX_PIPELINES];	/* as in GcSplits */
	u16			groups_key[GC_MAX_PIPELINES];
	u32			room_build[GC_MAX_BUILDS];
	u32			room_groups[GC_MAX_PIPELINES];
	u32			made_build[GC_MAX_BUILDS];	/* 1 + part in memory; 0: none */
	u32			made_groups[GC_MAX_PIPELINES];
};

bool
gc_passes_fit(const GcRequest *r, bool gather, bool choose)
{
	return gc_bytes_of_request(r, gather, choose) <= gc_pool_size(gc_worker.pool);
}

/*-------------------------------------------------------------------------
 * Builds and groups that can be split
 *-------------------------------------------------------------------------
 */

static bool
has_rest(const GcProgram *p, int pipeline)
{
	for (int n = 0; n < p->npipelines; n++)
	{
		if (gc_pipelines(p)[n].rest_of == pipeline + 1)
			return true;
	}
	return false;
}

/* Does the pipeline have passes, or takes part in those of another one? */
static bool
has_passes(const GcProgram *p, int pipeline)
{
	return !gc_pipelines(p)[pipeline].rest_of && gc_pipelines(p)[pipeline].sink != GC_SINK_SELECT;
}

/* One more set of keys by which rows are split; returns its number. */
static int
add_split(GcPasses *ps, int pipeline, u16 first_key, u16 nkeys)
{
	ps->split[ps->nsplits] = (KeySplit) {.pipeline = pipeline,.first_key = first_key,.nkeys = nkeys,.parts = 1,
		.devices = 1};
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
		if ((x.arg[i] == GC_NONE) != (y.arg[i] == GC_NONE) ||
			(x.arg[i] != GC_NONE && !same_value(p, x.arg[i], y.arg[i])))
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

	if (has_rest(ps->p, pipeline))
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

/* How many pipelines scan the groups of a pipeline (groups_of: as GcPInput's)? */
static int
count_readers(const GcProgram *p, int groups_of)
{
	int			n = 0;

	for (int i = 0; i < p->npipelines; i++)
		n += gc_inputs(p)[gc_pipelines(p)[i].input].groups_of == groups_of;
	return n;
}

/* How many pipelines probe a build? */
static int
count_users(const GcProgram *p, int build)
{
	int			n = 0;

	for (int i = 0; i < p->npipelines; i++)
	{
		const GcPPipeline *pl = &gc_pipelines(p)[i];

		if (!has_passes(p, i))
			continue;
		for (int s = 0; s < pl->nsteps; s++)
		{
			const GcPStep *step = &gc_steps(p)[pl->first_step + s];

			n += step->type == GC_STEP_PROBE && step->build == build;
		}
	}
	return n;
}

/* Is splitting it not worth a pass? */
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

		if (e->op != GC_OP_COLUMN || gc_columns(p)[e->ref].input != gc_pipelines(p)[n].input ||
			gc_columns(p)[e->ref].agg != GC_NONE)
			return false;
	}
	return nkeys > 0;
}

/* Groups that are split as the build is, since its keys are among theirs. */
static void
split_groups_with(GcPasses *ps, int from, int build, u16 first_key)
{
	ps->of_groups[from] = ps->of_build[build];
	ps->groups_with[from] = build + 1;
	ps->groups_key[from] = first_key;
}

static void
find_group_split(GcPasses *ps, int n)
{
	const GcProgram *p = ps->p;
	const GcPPipeline *pl = &gc_pipelines(p)[n];
	const int	from = gc_inputs(p)[pl->input].groups_of - 1;
	const bool	alone = !has_rest(p, n);

	if (from >= 0 && (u32) from + 1 == ps->r->split_groups)
	{
		ps->of_groups[from] = add_split(ps, n, GC_NONE, 0);
		ps->split[ps->of_groups[from]].devices = ps->split[ps->of_groups[from]].parts = ps->r->nparts;
		return;
	}
	/* Each part is there in the passes of one pipeline. */
	if (from < 0 || count_readers(p, from + 1) != 1 || gc_pipelines(p)[from].group_mode != GC_GROUP_HASH ||
		ps->of_groups[from] != GC_NOT_SPLIT || is_small(gc_bytes_of_sink(ps->r, from, false, false)))
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

static void
find_build_splits(GcPasses *ps, int n)
{
	const GcProgram *p = ps->p;
	const GcPPipeline *pl = &gc_pipelines(p)[n];

	for (int i = 0; i < pl->nsteps; i++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + i];
		const GcPBuild *build = &gc_builds(p)[step->build];

		if (step->type != GC_STEP_PROBE || build->nkeys == 0 || count_users(p, step->build) != 1 ||
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
 * The main groups: with builds that are probed by keys of theirs, since the rows of a group then come in one pass.
 * With grouping sets a key may be left out.
 */
static void
find_main_split(GcPasses *ps)
{
	const int	main = ps->p->npipelines - 1;
	const GcPPipeline *pl = &gc_pipelines(ps->p)[main];
	int			found = GC_NOT_SPLIT;

	if (pl->sink != GC_SINK_AGGREGATE || pl->group_mode != GC_GROUP_HASH ||
		is_small(gc_bytes_of_sink(ps->r, main, false, false)))
		return;
	for (int i = 0; i < ps->nsplits && !has_rest(ps->p, main) && gc_sink_visits(pl) <= 1; i++)
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
	/* A build belongs to a later pipeline than the one that fills it. */
	for (int n = p->npipelines - 1; n >= 0; n--)
	{
		if (!has_passes(p, n))
			continue;
		find_build_splits(ps, n);
		if (n == p->npipelines - 1)
			find_main_split(ps);
		find_group_split(ps, n);
	}
	return ps;
}

/*-------------------------------------------------------------------------
 * How many parts
 *-------------------------------------------------------------------------
 */

/* The split with that number, or NULL where there is only one part. */
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

/* Slots of a hash table: a power of 2, half full at most. */
static u64
slots_for(u64 rows)
{
	u64			slots = 1;

	while (slots < 2 * rows)
		slots <<= 1;
	return slots;
}

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

/* Passes of a split: its parts, or those of this device.  They begin with this part. */
static u32
count_passes(const KeySplit *s)
{
	return s->parts / s->devices;
}

static u32
first_part(const GcPasses *ps, const KeySplit *s)
{
	return s->devices > 1 ? ps->r->part * count_passes(s) : 0;
}

/* Is the split's part the last of its passes? */
static bool
is_last(const GcPasses *ps, const KeySplit *s)
{
	return s->part + 1 >= first_part(ps, s) + count_passes(s);
}

static double
count_launches(const GcPasses *ps, int pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(ps->p)[pipeline];
	const KeySplit *s = NULL;
	double		launches = 1;

	for (int i = 0; i < ps->nsplits; i++)
		launches *= ps->split[i].pipeline == pipeline ? count_passes(&ps->split[i]) : 1;
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
		most = has_passes(ps->p, n) ? Max(most, count_launches(ps, n)) : most;
	return (u32) most;
}

/* Does the pipeline of split i need its rests to wait for another split's passes? */
static bool
disturbs_rest(const GcPasses *ps, int i)
{
	const KeySplit *s = &ps->split[i];

	if (s->main_groups || !has_rest(ps->p, s->pipeline))
		return false;
	for (int k = 0; k < ps->nsplits; k++)
	{
		if (k != i && ps->split[k].pipeline == s->pipeline && !ps->split[k].main_groups &&
			count_passes(&ps->split[k]) > 1)
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
	s->parts += Max(count_passes(s) / 4, 1) * s->devices;
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

/* Note for the generator that a build has parts, and whether by ranges of its key. */
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
	GcSplits	splits = {0};
	const GcPPipeline *pl = &gc_pipelines(ps->p)[pipeline];
	const int	owner = gc_sink_owner(ps->p, pipeline);

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
	const KeySplit *s = &ps->split[w->index < GC_SPLIT_GROUPS ? ps->of_build[w->index]
								   : ps->of_groups[w->index - GC_SPLIT_GROUPS]];

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
		ps->split[i].part = first_part(ps, &ps->split[i]);
}

bool
gc_passes_first(const GcPasses *ps, int pipeline)
{
	for (int i = 0; ps && i < ps->nsplits; i++)
	{
		if (ps->split[i].pipeline == pipeline && !ps->split[i].main_groups &&
			ps->split[i].part > first_part(ps, &ps->split[i]))
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

		if (s->pipeline == pipeline && !s->main_groups && !is_last(ps, s))
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
		if (!is_last(ps, s))
		{
			s->part++;
			return true;
		}
		s->part = first_part(ps, s);
	}
	return false;
}

bool
gc_passes_last_groups(const GcPasses *ps)
{
	const KeySplit *s = ps ? split_of(ps, ps->of_groups[ps->p->npipelines - 1]) : NULL;

	return s == NULL || is_last(ps, s);
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

		if (s->pipeline == pipeline && !s->main_groups && !is_last(ps, s) && !takes_part(ps, rest, i))
			return false;
	}
	return true;
}
