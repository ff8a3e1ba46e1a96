/*-------------------------------------------------------------------------
 *
 * skip.c
 *	  Which served chunks no row of which can match, by the ranges of their values.
 *
 * A chunk is skipped where a filter of the pipeline that reads it can be true of none of its
 * rows.  What is known of these are the least and the greatest value of each column.  A skipped
 * chunk's rows count for nothing.  So it is where no row has a match in a build: the least and the
 * greatest key of a build are known once it was made.  An example: the orders of 1995 are in a few
 * chunks of a table that is sorted by date, and joined with the days of 1995.
 *
 * Runs in backends, under the guard of the request slot, whose directories it reads.
 *
 *-------------------------------------------------------------------------
 */
#include "skip.h"

#include "../queue/build_keys.h"

/* One side of a comparison: a column's range in each chunk, or one for all. */
typedef struct SkipSide
{
	const GcCellRange *cells;	/* by chunk; NULL: fixed */
	GcCellRange fixed;
} SkipSide;

/* False where nothing is known of a range, or it is more than 64 bits hold. */
static bool
skip_side(GcBinding *b, GcInputState *in, u16 e, SkipSide *side)
{
	const GcExpr *x = &gc_exprs(b->program)[e];

	if (x->op == GC_OP_PARAM)
	{
		const GcRange *r = &b->param_facts[x->ref].range;

		if (r->lo < PG_INT64_MIN || r->hi > PG_INT64_MAX)
			return false;
		side->cells = NULL;
		side->fixed = (GcCellRange) {(int64) r->lo, (int64) r->hi};
		return true;
	}
	/* Rows that are not in the directory may have a larger scale, or digits. */
	if (x->op != GC_OP_COLUMN || GC_KIND_IS_FLOAT(x->kind) || x->reg == GC_I128 ||
		(x->kind == GC_NUMERIC && x->scale != Max(in->dir->columns[in->dir_column[x->ref - in->first]].span.dscale, 0)))
		return false;
	side->cells = GC_COLUMN_RANGES(in->dir, in->dir_column[x->ref - in->first]);
	return true;
}

static inline bool
ranges_may_match(u8 op, const GcCellRange *l, const GcCellRange *r)
{
	if (l->min > l->max || r->min > r->max)
		return false;			/* only NULLs */
	switch (op)
	{
		case GC_OP_EQ:
			return l->min <= r->max && r->min <= l->max;
		case GC_OP_LT:
			return l->min < r->max;
		case GC_OP_LE:
			return l->min <= r->max;
		case GC_OP_GT:
			return l->max > r->min;
		default:
			return l->max >= r->min;
	}
}

/* Which served chunks can have no row for which a condition is true? */
static void
skip_by(GcBinding *b, GcInputState *in, u16 e, bool *skipped)
{
	const GcExpr *x = &gc_exprs(b->program)[e];
	uint32		n = in->served.nchunks;
	SkipSide	l,
				r;

	switch (x->op)
	{
		case GC_OP_AND:
			skip_by(b, in, x->arg[0], skipped);
			skip_by(b, in, x->arg[1], skipped);
			return;
		case GC_OP_OR:
			{
				bool	   *first = palloc0(2 * n * sizeof(bool));

				skip_by(b, in, x->arg[0], first);
				skip_by(b, in, x->arg[1], first + n);
				for (uint32 k = 0; k < n; k++)
					skipped[k] |= first[k] && first[n + k];
				pfree(first);
				return;
			}
		case GC_OP_EQ:
		case GC_OP_LT:
		case GC_OP_LE:
		case GC_OP_GT:
		case GC_OP_GE:
			break;
		default:
			return;
	}
	if (x->rescale[0] || x->rescale[1] || !skip_side(b, in, x->arg[0], &l) ||
		!skip_side(b, in, x->arg[1], &r))
		return;
	for (uint32 k = 0; k < n; k++)
	{
		uint32		chunk = in->served.chunks[k].chunk;

		skipped[k] |= !ranges_may_match(x->op, l.cells ? &l.cells[chunk] : &l.fixed,
										r.cells ? &r.cells[chunk] : &r.fixed);
	}
}

void
gc_skip_chunks(GcBinding *b)
{
	GcProgram  *p = b->program;

	b->node->stats.chunks = b->node->stats.chunks_skipped = 0;
	for (int n = 0; n < p->npipelines; n++)
	{
		const GcPPipeline *pl = &gc_pipelines(p)[n];
		GcInputState *in = &b->node->inputs[pl->input];

		if (in->dir == NULL || in->served.nchunks == 0)
			continue;
		in->skipped = palloc0(in->served.nchunks * sizeof(bool));
		for (int s = 0; s < pl->nsteps; s++)
		{
			const GcPStep *step = &gc_steps(p)[pl->first_step + s];

			if (step->type == GC_STEP_FILTER)
				skip_by(b, in, step->expr, in->skipped);
		}
		b->node->stats.chunks += in->served.nchunks;
		for (uint32 k = 0; k < in->served.nchunks; k++)
			b->node->stats.chunks_skipped += in->skipped[k];
	}
}

/* A step without whose match a row goes no further, and that compares one column's values as they are. */
static bool
must_match(const GcBinding *b, const GcPStep *step)
{
	return step->type == GC_STEP_PROBE && (step->join == GC_JOIN_INNER || step->join == GC_JOIN_SEMI) &&
		gc_builds(b->program)[step->build].mode == GC_BUILD_DENSE;
}

static void
skip_by_build(GcBinding *b, GcInputState *in, const GcPStep *step)
{
	const u16	key = gc_refs(b->program)[step->first_key];
	const int64 base = (int64) b->builds[step->build].base;
	GcBuildKeys keys;
	SkipSide	side;

	if (gc_exprs(b->program)[key].op != GC_OP_COLUMN || GC_KIND_IS_CODE(gc_exprs(b->program)[key].kind) ||
		!skip_side(b, in, key, &side) || !gc_build_keys_known(b->builds[step->build].share, &keys))
		return;
	for (uint32 k = 0; k < in->served.nchunks; k++)
	{
		const GcCellRange *cell = &side.cells[in->served.chunks[k].chunk];

		if (!in->skipped[k] && (keys.least > keys.greatest || cell->max < base + keys.least || cell->min > base + keys.greatest))
		{
			in->skipped[k] = true;
			b->node->stats.chunks_skipped++;
		}
	}
}

void
gc_skip_by_builds(GcBinding *b)
{
	for (int n = 0; n < b->program->npipelines; n++)
	{
		const GcPPipeline *pl = &gc_pipelines(b->program)[n];
		GcInputState *in = &b->node->inputs[pl->input];

		for (int s = 0; s < pl->nsteps && in->dir && in->served.nchunks > 0; s++)
		{
			const GcPStep *step = &gc_steps(b->program)[pl->first_step + s];

			if (must_match(b, step))
				skip_by_build(b, in, step);
		}
	}
}

uint64
gc_input_rows(const GcInputState *in)
{
	uint64		rows = in->private_rows;

	for (uint32 k = 0; in->dir && k < in->served.nchunks; k++)
	{
		if (in->skipped == NULL || !in->skipped[k])
			rows += in->served.chunks[k].nrows;
	}
	return rows;
}
