/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  Scans that try pairs, and their launch in pieces.
 *
 * A join without equalities may try pairs for hours.  So its kernel is launched for a piece of the
 * scan at a time, of about PIECE_US.  Between pieces the request ends if no session waits for it any
 * more, and other requests get their turn.
 *
 * A piece is whole units.  A unit is GC_PAIR_ROWS rows of the table with one slice of each list of an inner
 * or left join.  The time of such a unit depends on the data.  Where an outer list's condition is true for few, most of
 * the inner lists' rows are never tried.  So slices have levels.  From one level to the next a unit has GROWTH times
 * the rows of lists.  They are first those of the innermost list, until it is whole, then those of the one around it.
 * After each piece the next one's level is chosen by the time that a unit took.
 *
 * The worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#include "pairs.h"

#include "../../codegen/codegen.h"
#include "../memory/state.h"

/* Time of a piece, in microseconds. */
#define PIECE_US		20000

/* Pairs of a first piece: a GPU tries more than 10^11 in a second, a processor 10^9. */
#define FIRST_PAIRS		((double) ((u64) 1 << 30))
#define FIRST_PAIRS_HOST	((double) (1 << 24))

/*
 * Rows of lists of a unit, at first.  They are enough that the row of the table need not be read for few pairs.
 * They are not so many that a unit for each warp takes long, since nothing ends before that.
 */
#define SLICE_MIN		32
#define SLICE_MAX		256

/* Rows of searched lists that make larger slices of the other lists worth while. */
#define SEARCHED_MAX	(1 << 16)

/* Rows of lists of a unit, from one level to the next; levels up to where all lists are whole. */
#define GROWTH			4
#define LEVELS			256

/* A unit takes about so long: a multiprocessor of a GPU works on those of many warps at a time. */
#define UNIT_US			4000
#define UNIT_US_HOST	500

/* A scan has no more units, so that they can be counted. */
#define MOST_UNITS		((double) ((u64) 1 << 60))

/* Warps that a multiprocessor of a GPU should have. */
#define WARPS			64

/* Units that are tried at once where a launch fills the device. */
static u64
workers(void)
{
	return (u64) gc_worker.profile.sms * (gc_worker.dev->info.own_processors ? WARPS : 1);
}

static const GcPPipeline *
pipeline_of(const GcRequest *r, int pipeline)
{
	return &gc_pipelines(r->program)[pipeline];
}

static const GcPStep *
step_of(const GcRequest *r, const GcPPipeline *pl, int s)
{
	return &gc_steps(r->program)[pl->first_step + s];
}

/* Does the step try all rows of a build without keys? */
static bool
probes_list(const GcRequest *r, const GcPStep *step)
{
	return step->type == GC_STEP_PROBE && gc_builds(r->program)[step->build].nkeys == 0;
}

/* Pairs that a unit tries: rows of the table with rows of lists. */
static double
unit_pairs(const GcRequest *r, int pipeline, const GcPairs *pairs)
{
	const GcPPipeline *pl = pipeline_of(r, pipeline);
	double		rows = GC_PAIR_ROWS;
	double		tried = 0;

	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = step_of(r, pl, s);

		if (!probes_list(r, step))
			continue;
		if (!gc_is_sliced(r->program, step))
		{
			tried += rows * r->builds[step->build].cap;
			continue;
		}
		rows *= pairs->list_rows[step->build];
		tried += rows;
	}
	return tried;
}

/*
 * Rows of lists that are searched for a match, whatever the slices of other lists: they are searched again for
 * each of these.
 */
static double
searched_rows(const GcRequest *r, const GcPPipeline *pl)
{
	double		searched = 0;
	double		left = 0;

	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = step_of(r, pl, s);

		if (!probes_list(r, step))
			continue;
		searched += left;
		left = step->join == GC_JOIN_LEFT ? r->builds[step->build].cap : 0;
		searched += gc_is_sliced(r->program, step) ? 0 : r->builds[step->build].cap;
	}
	return searched;
}

/* Cut the lists as it is at a level.  Returns the rows of lists of a unit. */
static double
cut_lists(const GcRequest *r, int pipeline, int level, u64 sources, GcPairs *pairs)
{
	const GcPPipeline *pl = pipeline_of(r, pipeline);
	double		units = (double) pairs->parts * sources;
	double		all = 1;
	u64			first = SLICE_MIN;

	pairs->level = level;
	pairs->slices = 1;
	for (int s = pl->nsteps - 1; s >= 0; s--)
	{
		const GcPStep *step = step_of(r, pl, s);
		u64			list;
		u64			rows = first;

		if (!gc_is_sliced(r->program, step))
			continue;
		list = r->builds[step->build].cap;
		for (; rows < list && level > 0; level--)
			rows *= GROWTH;
		rows = Min(rows, list);
		first = 1;
		pairs->list_rows[step->build] = rows;
		pairs->list_slices[step->build] = (list + rows - 1) / rows;
		pairs->slices *= pairs->list_slices[step->build];
		all *= rows;
		units *= pairs->list_slices[step->build];
		if (units > MOST_UNITS)
			return 0;
	}
	pairs->count = pairs->parts * sources * pairs->slices;
	return all;
}

/* As cut_lists, the whole scan; 0: it has too many units. */
static double
cut(const GcRequest *r, int pipeline, int level, GcPairs *pairs)
{
	const GcInputValue *in = &r->inputs[pipeline_of(r, pipeline)->input];

	memset(pairs, 0, sizeof(*pairs));
	pairs->parts = Max((in->max_rows + GC_PAIR_ROWS - 1) / GC_PAIR_ROWS, 1);
	return cut_lists(r, pipeline, level, in->nsources, pairs);
}

/* The least level, which has enough units for the device, if that is possible. */
static int
least_level(const GcRequest *r, int pipeline)
{
	const double least = Min(searched_rows(r, pipeline_of(r, pipeline)), SEARCHED_MAX);

	for (int level = 0; level < LEVELS; level++)
	{
		GcPairs		pairs;
		GcPairs		next;
		const double all = cut(r, pipeline, level, &pairs);
		const double more = cut(r, pipeline, level + 1, &next);

		if (all > 0 && (more == all || (all >= least && (more > SLICE_MAX || next.count < 2 * workers()))))
			return level;
	}
	return LEVELS;
}

GcPairs
gc_pairs_of(const GcRequest *r, int pipeline)
{
	GcPairs		pairs = {0};

	if (gc_tries_pairs(r->program, pipeline))
		(void) cut(r, pipeline, least_level(r, pipeline), &pairs);
	return pairs;
}

double
gc_pairs_total(const GcRequest *r, int pipeline, double *unit)
{
	const GcPairs pairs = gc_pairs_of(r, pipeline);

	*unit = pairs.slices == 0 ? 0 : unit_pairs(r, pipeline, &pairs);
	return pairs.count * *unit;
}

/*
 * Which unit of a scan at another level begins where a unit begins at this one; false: none does.
 */
static bool
same_place(const GcRequest *r, int pipeline, const GcPairs *from, u64 unit, const GcPairs *to, u64 *place)
{
	const GcPPipeline *pl = pipeline_of(r, pipeline);
	u64			scale = 1;

	*place = 0;
	for (int s = pl->nsteps - 1; s >= 0; s--)
	{
		const GcPStep *step = step_of(r, pl, s);
		u64			row;

		if (!gc_is_sliced(r->program, step))
			continue;
		row = unit % from->list_slices[step->build] * from->list_rows[step->build];
		unit /= from->list_slices[step->build];
		if (row % to->list_rows[step->build] != 0)
			return false;
		*place += row / to->list_rows[step->build] * scale;
		scale *= to->list_slices[step->build];
	}
	*place += unit * scale;
	return true;
}

GcPairs
gc_pairs_piece(const GcRequest *r, int pipeline, const GcPairs *whole, u64 from, double wanted)
{
	GcPairs		piece = *whole;
	GcPairs		next;
	double		units = Max(wanted / unit_pairs(r, pipeline, whole), workers());
	u64			place;

	piece.from = from;
	piece.count = (u64) Min(units, (double) (whole->count - from));
	/* A piece ends where the next level has an end of a unit, too, so that the piece behind it may have that level. */
	if (piece.count <= GROWTH || cut(r, pipeline, whole->level + 1, &next) == 0)
		return piece;
	for (u64 fewer = 0; fewer < GROWTH; fewer++)
	{
		if (same_place(r, pipeline, whole, from + piece.count - fewer, &next, &place))
		{
			piece.count -= fewer;
			break;
		}
	}
	return piece;
}

double
gc_pairs_first(void)
{
	return gc_worker.dev->info.own_processors ? FIRST_PAIRS : FIRST_PAIRS_HOST;
}

/* The level of the next piece, where a unit of this one took so long. */
static int
next_level(const GcRequest *r, int pipeline, const GcPairs *whole, double us)
{
	const double wanted = gc_worker.dev->info.own_processors ? UNIT_US : UNIT_US_HOST;
	GcPairs		next;

	if (us > wanted * GROWTH)
		return Max(whole->level - 1, least_level(r, pipeline));
	if (us * GROWTH < wanted && cut(r, pipeline, whole->level + 1, &next) > 0 &&
		unit_pairs(r, pipeline, &next) <= GC_UNIT_PAIRS && next.count >= 2 * workers())
		return whole->level + 1;
	return whole->level;
}

double
gc_pairs_next(const GcRequest *r, int pipeline, GcPairs *whole, GcPairs *piece, double us)
{
	const double factor = Max(Min(PIECE_US / Max(us, 1), GC_PIECE_FACTOR), 1.0 / GC_PIECE_FACTOR);
	const double wanted = piece->count * unit_pairs(r, pipeline, piece) * factor;
	const int	level = next_level(r, pipeline, whole, us / ((piece->count + workers() - 1) / workers()));
	GcPairs		next;
	u64			place;

	if (level != whole->level && cut(r, pipeline, level, &next) > 0 &&
		same_place(r, pipeline, whole, piece->from + piece->count, &next, &place))
	{
		*whole = *piece = next;
		piece->from = place;
		piece->count = 0;
	}
	return wanted;
}

u32
gc_pairs_blocks(u64 units, int threads)
{
	const int	per_block = gc_worker.dev->info.own_processors ? Max(threads / gc_worker.profile.warp_size, 1) : 1;

	return (u32) Min((units + per_block - 1) / per_block, PG_INT32_MAX);
}
