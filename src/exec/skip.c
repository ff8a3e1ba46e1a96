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
#include "exec.h"

#include <math.h>

#include "../queue/build_keys.h"
#include "../queue/reasons.h"

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

/* Can any two values of these ranges meet the comparison? */
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

/* Does it compare values as they are? */
static bool
compares(const GcExpr *x)
{
	return (x->op == GC_OP_EQ || x->op == GC_OP_LT || x->op == GC_OP_LE || x->op == GC_OP_GT || x->op == GC_OP_GE) &&
		!x->rescale[0] && !x->rescale[1];
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
		default:
			break;
	}
	if (!compares(x) || !skip_side(b, in, x->arg[0], &l) ||
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

/* The column of the directory that a dense build is probed with; -1: its values in chunks are not known as numbers. */
static int
key_column(GcBinding *b, GcInputState *in, const GcPStep *step)
{
	const u16	key = gc_refs(b->program)[step->first_key];
	SkipSide	side;

	if (gc_exprs(b->program)[key].op != GC_OP_COLUMN || GC_KIND_IS_CODE(gc_exprs(b->program)[key].kind) ||
		!skip_side(b, in, key, &side))
		return -1;
	return in->dir_column[gc_exprs(b->program)[key].ref - in->first];
}

/* Leave out chunks in which no row has a match in a build whose keys are known. */
static void
skip_by_build(GcBinding *b, GcInputState *in, const GcPStep *step)
{
	const int64 base = (int64) b->builds[step->build].base;
	const int	column = key_column(b, in, step);
	GcBuildKeys keys;

	if (column < 0 || !gc_build_keys_known(b->builds[step->build].share, &keys))
		return;
	for (uint32 k = 0; k < in->served.nchunks; k++)
	{
		const GcCellRange *cell = &GC_COLUMN_RANGES(in->dir, column)[in->served.chunks[k].chunk];

		if (!in->skipped[k] &&
			(keys.least > keys.greatest || cell->max < base + keys.least || cell->min > base + keys.greatest))
		{
			in->skipped[k] = true;
			b->node->stats.chunks_skipped++;
		}
	}
}

/*-------------------------------------------------------------------------
 * Chunks that an order of the table would spare
 *-------------------------------------------------------------------------
 */

/* Tables of fewer chunks are read in no time. */
#define LEAST_CHUNKS	4

/* The share of a column's values that is outside of a range. */
static double
outside(const GcSpan *span, double least, double greatest)
{
	const double values = (double) span->max - (double) span->min + 1;
	const double inside = Min(greatest, (double) span->max) - Max(least, (double) span->min) + 1;

	return inside <= 0 ? 1 : inside >= values ? 0 : 1 - inside / values;
}

/*
 * Add up by column of the directory the values that filters exclude.  Two comparisons of a
 * column exclude different ones.
 */
static void
outside_filter(GcBinding *b, GcInputState *in, u16 e, double *excluded)
{
	const GcExpr *x = &gc_exprs(b->program)[e];
	SkipSide	sides[2];
	const SkipSide *fixed;
	bool		turned,
				least,			/* does it say so of the column's values? */
				greatest;
	int			column;

	if (x->op == GC_OP_AND)
	{
		outside_filter(b, in, x->arg[0], excluded);
		outside_filter(b, in, x->arg[1], excluded);
		return;
	}
	if (!compares(x) || !skip_side(b, in, x->arg[0], &sides[0]) || !skip_side(b, in, x->arg[1], &sides[1]) ||
		(sides[0].cells == NULL) == (sides[1].cells == NULL))
		return;
	turned = sides[0].cells == NULL;
	fixed = &sides[turned ? 0 : 1];
	column = in->dir_column[gc_exprs(b->program)[x->arg[turned ? 1 : 0]].ref - in->first];
	least = x->op == GC_OP_EQ || (x->op == GC_OP_GT || x->op == GC_OP_GE) != turned;
	greatest = x->op == GC_OP_EQ || (x->op == GC_OP_LT || x->op == GC_OP_LE) != turned;
	excluded[column] += outside(&in->dir->columns[column].span, least ? (double) fixed->fixed.min : -INFINITY,
								greatest ? (double) fixed->fixed.max : INFINITY);
}

/*
 * Count for each column with a condition the rows that are read, and those that would not be in a table sorted by it.
 */
static void
count_orders(GcBinding *b, const GcPPipeline *pl, GcInputState *in)
{
	double	   *excluded = palloc0(in->dir->ncolumns * sizeof(double));
	uint32		skipped = 0;
	Size		bytes = 0;

	for (int s = 0; s < pl->nsteps; s++)
	{
		const GcPStep *step = &gc_steps(b->program)[pl->first_step + s];
		GcBuildKeys keys;
		int			column;

		if (step->type == GC_STEP_FILTER)
			outside_filter(b, in, step->expr, excluded);
		else if (must_match(b, step) && (column = key_column(b, in, step)) >= 0 &&
				 gc_build_keys_known(b->builds[step->build].share, &keys) && keys.least <= keys.greatest)
			excluded[column] += outside(&in->dir->columns[column].span,
										(double) b->builds[step->build].base + keys.least,
										(double) b->builds[step->build].base + keys.greatest);
	}
	for (uint32 k = 0; k < in->served.nchunks; k++)
		skipped += in->skipped[k];
	for (int k = 0; k < in->ncols; k++)
		bytes += b->plan->columns[in->first + k].late ? 0 : in->dir->columns[in->dir_column[k]].bytes;
	for (uint32 c = 0; c < in->dir->ncolumns; c++)
	{
		const double n = in->served.nchunks;
		/* Sorted values would begin and end within chunks. */
		const double sorted = Min(ceil(Max(1 - excluded[c], 0) * n) + 1, n - skipped);

		if (excluded[c] > 0)
			gc_order_count(RelationGetRelid(in->rel), in->dir->columns[c].spec.attnum,
						   (uint64) (bytes * ((n - skipped) / n)), (uint64) (bytes * ((n - skipped - sorted) / n)));
	}
	pfree(excluded);
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
		if (!b->node->only_compiles && in->rel && in->nparts == 0 && in->dir && in->served.nchunks >= LEAST_CHUNKS)
			count_orders(b, pl, in);
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
