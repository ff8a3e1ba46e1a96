/*-------------------------------------------------------------------------
 *
 * occurring.c
 *	  Which values of a column occur in the rows that a statement sees.
 *
 * A dictionary has texts of rows that were deleted, or that were never committed, and a range of integers has some that
 * no row ever had.  A function that may show its arguments must not see those.  So the rows that the request is bound to
 * are gone through here: those of the chunks that are served, but for their holes, and the private ones.  PostgreSQL might
 * call the function for any of these rows.
 *
 * Runs in backends, under the guard of the request slot.
 *
 *-------------------------------------------------------------------------
 */
#include "occurring.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "lookup.h"

typedef struct Occurring
{
	bool	   *entries;		/* as those of the table */
	uint32		count;
	int64		base;			/* entry 1 */
	bool		days;			/* values are timestamps, entries are of dates */
} Occurring;

static inline void
mark(Occurring *o, int64 value)
{
	uint64		k;

	if (o->days)
		value = value / USECS_PER_DAY - (value % USECS_PER_DAY < 0);
	k = (uint64) value - (uint64) o->base;
	if (k < o->count - 1)
		o->entries[k + 1] = true;
}

/* Rows from .. to - 1 of a cell whose codes have that type. */
#define MARK_ROWS(type) \
	for (uint32 row = from; row < to; row++) \
	{ \
		if (nulls && nulls[row >> 3] >> (row & 7) & 1) \
			o->entries[0] = true; \
		else \
			mark(o, (int64) (((const type *) col->data)[row] + (uint64) col->base)); \
	}

static void
mark_rows(Occurring *o, const GcCol *col, uint32 from, uint32 to)
{
	const uint8 *nulls = (const uint8 *) col->nulls;

	switch (col->width)
	{
		case 1:
			MARK_ROWS(uint8);
			break;
		case 2:
			MARK_ROWS(uint16);
			break;
		case 4:
			MARK_ROWS(uint32);
			break;
		default:
			MARK_ROWS(uint64);
			break;
	}
}

/* The rows of a chunk between its holes. */
static void
mark_chunk(Occurring *o, const GcCol *col, const GcServedChunk *chunk)
{
	GcHole	   *holes = palloc((chunk->nholes + 1) * sizeof(GcHole));
	uint32		from = 0;

	if (chunk->nholes > 0)
		gc_put_holes(chunk, holes);
	for (uint32 k = 0; k < chunk->nholes; k++)
	{
		mark_rows(o, col, from, holes[k].from);
		from = holes[k].to;
	}
	mark_rows(o, col, from, chunk->nrows);
	pfree(holes);
}

static bool
all_marked(const Occurring *o, bool nullable)
{
	return (o->entries[0] || !nullable) && memchr(o->entries + 1, false, o->count - 1) == NULL;
}

static void
mark_column(Occurring *o, const GcBinding *b, u16 column)
{
	const GcInputState *in = &b->node->inputs[gc_columns(b->program)[column].input];
	const int	c = column - in->first;
	const bool	nullable = b->column_facts[column].nullable;
	int64		value;

	for (uint32 row = 0; row < in->private_rows; row++)
	{
		if (gc_encoder_value(in->private, c, row, &value))
			mark(o, value);
		else
			o->entries[0] = true;
	}
	for (uint32 k = 0; in->dir && k < in->served.nchunks && !all_marked(o, nullable); k++)
	{
		CHECK_FOR_INTERRUPTS();
		mark_chunk(o, &GC_CELL(in->dir, in->served.chunks[k].chunk, in->dir_column[c])->desc, &in->served.chunks[k]);
	}
}

/*-------------------------------------------------------------------------
 * Expressions whose values are a column's
 *-------------------------------------------------------------------------
 */

static bool *entries_of(const GcBinding *b, u16 arg, uint32 count, int64 base);

/* Results of a table before this one, of the values that occur: other codes of texts, say. */
static bool
mark_results(Occurring *o, const GcBinding *b, const GcExpr *x)
{
	const GcLookup *l = b->lookups[x->ref];
	const bool *args = l->program ? NULL : entries_of(b, x->arg[0], l->count, l->base);

	for (uint32 k = 0; args && k < l->count; k++)
	{
		if (!args[k])
			continue;
		if (gc_lookup_is_null(l, k))
			o->entries[0] = true;
		else
			mark(o, gc_lookup_value(l, k));
	}
	return args != NULL;
}

/*
 * False where the values are not known.  There is a NULL besides where rows may lack a partner, or groups a value, no
 * matter whether one does.  The planner knows what is known here (plan/expr/lookup.c).
 */
static bool
mark_values(Occurring *o, const GcBinding *b, u16 e)
{
	const GcProgram *p = b->program;
	const GcExpr *x = &gc_exprs(p)[e];
	const GcPColumn *c;

	switch (x->op)
	{
		case GC_OP_PAYLOAD:
			o->entries[0] |= gc_build_is_optional(p, gc_payloads(p)[x->ref].build);
			return mark_values(o, b, gc_payloads(p)[x->ref].expr);
		case GC_OP_OUTER:
			o->entries[0] = true;
			return mark_values(o, b, x->arg[0]);
		case GC_OP_NULL:
			o->entries[0] = true;
			return true;
		case GC_OP_ARM:
			return mark_values(o, b, x->arg[0]) && mark_values(o, b, x->arg[1]);
		case GC_OP_LUT:
			return mark_results(o, b, x);
		case GC_OP_COLUMN:
			c = &gc_columns(p)[x->ref];
			if (gc_inputs(p)[c->input].groups_of == 0)
			{
				mark_column(o, b, x->ref);
				return true;
			}
			o->entries[0] |= c->agg != GC_NONE;
			e = gc_group_origin(p, c, false);
			return e != GC_NONE && mark_values(o, b, e);
		default:
			return false;
	}
}

static bool *
entries_of(const GcBinding *b, u16 arg, uint32 count, int64 base)
{
	const GcExpr *x = &gc_exprs(b->program)[arg];
	Occurring	o = {.count = count,.base = base,.days = x->op == GC_OP_CAST && x->kind == GC_DATE};

	o.entries = MemoryContextAllocExtended(CurrentMemoryContext, count * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return mark_values(&o, b, o.days ? x->arg[0] : arg) ? o.entries : NULL;
}

const bool *
gc_occurring_entries(const GcLookupWork *w)
{
	return entries_of(w->b, w->lut->arg, w->count, w->key.base);
}
