/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  Scans that try pairs, and their launch in pieces.
 *
 * A join without equalities may try pairs for hours.  So its kernel is launched for a piece of the
 * scan at a time, of about PIECE_US.  Between pieces the request ends if no session waits for it any
 * more, and other requests get their turn.
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
 * Rows of a slice of a list.  They are enough that the row of the table need not be read for few pairs.
 * They are not so many that a unit for each warp takes long, since nothing ends before that.
 */
#define SLICE_MIN		32
#define SLICE_MAX		256

/* Warps that a multiprocessor of a GPU should have. */
#define WARPS			64

/* Units that are tried at once where a launch fills the device. */
static u64
workers(void)
{
	return (u64) gc_worker.profile.sms * (gc_worker.dev->info.own_processors ? WARPS : 1);
}

/* Pairs that a unit tries: rows of the table with rows of lists. */
static double
unit_pairs(const GcRequest *r, int pipeline, const GcPairs *whole)
{
	const GcProgram *p = r->program;
	const GcPPipeline *pl = &gc_pipelines(p)[pipeline];
	double		rows = GC_PAIR_ROWS;
	double		pairs = 0;

	for (int s = gc_first_list_probe(p, pl); s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(p)[pl->first_step + s];
		double		n;

		if (step->type != GC_STEP_PROBE || gc_builds(p)[step->build].nkeys > 0)
			continue;
		n = pairs == 0 ? whole->slice_rows : r->builds[step->build].cap;
		pairs += rows * n;
		if (step->join == GC_JOIN_INNER || step->join == GC_JOIN_LEFT)
			rows *= n;
	}
	return pairs;
}

double
gc_pairs_total(const GcRequest *r, int pipeline, double *unit)
{
	const GcPairs pairs = gc_pairs_of(r, pipeline);

	*unit = pairs.slices == 0 ? 0 : unit_pairs(r, pipeline, &pairs);
	return pairs.count * *unit;
}

GcPairs
gc_pairs_of(const GcRequest *r, int pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(r->program)[pipeline];
	const GcInputValue *in = &r->inputs[pl->input];
	GcPairs		pairs = {0};
	bool		sliced;
	u64			rows,
				parts;

	if (!gc_tries_pairs(r->program, pipeline, &sliced))
		return pairs;
	rows = r->builds[gc_steps(r->program)[pl->first_step + gc_first_list_probe(r->program, pl)].build].cap;
	pairs.parts = Max((in->max_rows + GC_PAIR_ROWS - 1) / GC_PAIR_ROWS, 1);
	parts = pairs.parts * in->nsources;
	pairs.slice_rows = sliced ? Max(Min(Min(parts * rows / (2 * workers()), SLICE_MAX), rows), SLICE_MIN) : rows;
	pairs.slices = (rows + pairs.slice_rows - 1) / pairs.slice_rows;
	pairs.count = parts * pairs.slices;
	return pairs;
}

GcPairs
gc_pairs_piece(const GcRequest *r, int pipeline, const GcPairs *whole, u64 from, double wanted)
{
	GcPairs		piece = *whole;
	double		units = Max(wanted / unit_pairs(r, pipeline, whole), workers());

	piece.from = from;
	piece.count = (u64) Min(units, (double) (whole->count - from));
	return piece;
}

double
gc_pairs_first(void)
{
	return gc_worker.dev->info.own_processors ? FIRST_PAIRS : FIRST_PAIRS_HOST;
}

double
gc_pairs_next(const GcRequest *r, int pipeline, const GcPairs *piece, double us)
{
	double		factor = PIECE_US / Max(us, 1);

	factor = Max(Min(factor, GC_PIECE_FACTOR), 1.0 / GC_PIECE_FACTOR);
	return piece->count * unit_pairs(r, pipeline, piece) * factor;
}

u32
gc_pairs_blocks(u64 units, int threads)
{
	const int	per_block = gc_worker.dev->info.own_processors ? Max(threads / gc_worker.profile.warp_size, 1) : 1;

	return (u32) Min((units + per_block - 1) / per_block, PG_INT32_MAX);
}
