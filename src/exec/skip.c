/*-------------------------------------------------------------------------
 *
 * skip.c
 *	  Which served chunks no row of which can match, by the ranges of their values.
 *
 * A chunk is skipped where a filter of the pipeline that reads it can be true of none of its
 * rows.  What is known of these are the least and the greatest value of each column.  A skipped
 * chunk's rows count for nothing.
 *
 * Runs in backends, under the guard of the request slot, whose directories it reads.
 *
 *-------------------------------------------------------------------------
 */
#include "skip.h"

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
