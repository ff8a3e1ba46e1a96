/*-------------------------------------------------------------------------
 *
 * groups.c
 *	  Groups of an earlier pipeline as the input of another one: keys and accumulators as columns.  And rows of one: the
 *	  outputs, and the windows over them.
 *
 * A key has the range of the expression that it groups by, and an output that of its own.  A sum's range is that of its
 * argument times the rows that can come into the group.  Averages of numerics are
 * computed where they are used, from sum and count.  Their display scale differs from
 * group to group, so that only comparisons and arithmetic may see them.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "groups.h"
#include "tagged.h"

/* The earlier pipeline whose groups or rows the column is of. */
static const GcPPipeline *
source_of(const GcTyper *t, const GcPColumn *c, u16 *pipeline)
{
	*pipeline = gc_inputs(t->p)[c->input].groups_of - 1;
	return &gc_pipelines(t->p)[*pipeline];
}

/*
 * Sums and counts of groups below are bounded in sum as each alone is, since the groups part the rows.  So the bound is
 * not times as many groups, if each comes into a group once at most.  Joins may multiply them, and so may rounds.  Of
 * grouping sets, the groups of each set part the rows, so that all of them have a row once for each set.  Where sets
 * are of rows, the rows that come to the sink are counted so.
 */
u64
gc_added_up(const GcTyper *t, const GcPAgg *agg, u16 pipeline)
{
	const GcPPipeline *pl = &gc_pipelines(t->p)[pipeline];
	const GcExpr *e = &t->exprs[agg->arg];
	const GcPColumn *c = e->op == GC_OP_COLUMN ? &gc_columns(t->p)[e->ref] : NULL;
	const GcPPipeline *source;
	u16			below;
	u8			value;

	if (c == NULL || c->agg == GC_NONE || gc_inputs(t->p)[c->input].groups_of == 0 || pl->rounds > 0)
		return gc_typer_rows(t, pipeline);
	for (u16 s = 0; s < pl->nsteps; s++)
	{
		if (gc_steps(t->p)[pl->first_step + s].type == GC_STEP_PROBE)
			return gc_typer_rows(t, pipeline);
	}
	value = gc_accumulator_of(&gc_aggs(t->p)[c->agg])->value;
	if (value != GC_VALUE_SUM && value != GC_VALUE_COUNT)
		return gc_typer_rows(t, pipeline);
	source = source_of(t, c, &below);
	return source->sets > 1 && gc_inputs(t->p)[source->input].groups_of != 0 ? source->sets : 1;
}

/* The sum of up to `rows` values of a range, or of none. */
static bool
sum_range(const GcRange *arg, u64 rows, GcRange *r)
{
	i128		lo = arg->lo < 0 ? arg->lo : 0;
	i128		hi = arg->hi > 0 ? arg->hi : 0;

	return !__builtin_mul_overflow(lo, (i128) rows, &r->lo) && !__builtin_mul_overflow(hi, (i128) rows, &r->hi);
}

/* An accumulator of earlier groups as a column: its range is that of so many values together. */
static GcCode
type_accumulator(GcTyper *t, GcExpr *e, const GcPColumn *c, u16 pipeline, GcRange *r)
{
	const GcPAgg *agg = &gc_aggs(t->p)[c->agg];
	const GcExpr *arg = agg->arg == GC_NONE ? NULL : &t->exprs[agg->arg];
	const u64	rows = gc_typer_rows(t, pipeline);

	const u8	value = gc_accumulator_of(agg)->value;

	if (value == GC_VALUE_COUNT)
	{
		*r = (GcRange) {0, rows};
		return GC_OK;
	}
	/* NULL where no value went in: a group whose arguments are all NULL, or no row at all. */
	if (c->count != GC_NONE && ((arg->flags & GC_NULLABLE) || gc_pipelines(t->p)[pipeline].nkeys == 0))
		e->flags |= GC_NULLABLE;
	if (GC_KIND_IS_FLOAT(e->kind))
		return GC_OK;
	e->scale = arg->scale;
	e->min_scale = arg->min_scale;
	*r = t->ranges[agg->arg];
	if (value == GC_VALUE_BITS)
		(void) gc_kind_range(arg->kind, r);
	if (value != GC_VALUE_SUM)
		return GC_OK;
	return sum_range(&t->ranges[agg->arg], gc_added_up(t, agg, pipeline), r) ? GC_OK : gc_too_wide(t);
}

GcCode
gc_type_group_column(GcTyper *t, GcExpr *e, GcRange *r)
{
	GcPColumn  *c = &gc_columns(t->p)[e->ref];
	u16			pipeline;
	const GcPPipeline *pl = source_of(t, c, &pipeline);
	GcCode		code = GC_OK;

	if (c->agg == GC_NONE)
	{
		u16			key = gc_refs(t->p)[gc_first_read(pl) + c->attnum];

		*r = t->ranges[key];
		e->scale = t->exprs[key].scale;
		e->min_scale = t->exprs[key].min_scale;
		e->flags |= t->exprs[key].flags & GC_NULLABLE;
	}
	else
		code = type_accumulator(t, e, c, pipeline, r);
	c->width = 8;
	c->nullable = (e->flags & GC_NULLABLE) != 0;
	c->high_bit_free = 0;
	/* Groups have values at the largest scale, which are not tagged. */
	c->scale = e->scale;
	c->min_scale = pl->sink == GC_SINK_ROWS && gc_is_varying(e) ? e->min_scale : e->scale;
	c->reg = gc_stored_reg(e->kind, c->min_scale, c->scale, r);
	return code;
}

/* The values that an average is taken of, as an expression; GC_NONE if that is not known. */
static u16
averaged(const GcTyper *t, u16 sum)
{
	const GcExpr *e = &t->exprs[sum];
	const GcPColumn *c;

	while (e->op == GC_OP_PAYLOAD || e->op == GC_OP_CAST || e->op == GC_OP_OUTER)
	{
		sum = e->op == GC_OP_PAYLOAD ? gc_payloads(t->p)[e->ref].expr : e->arg[0];
		e = &t->exprs[sum];
	}
	if (e->op != GC_OP_COLUMN)
		return GC_NONE;
	c = &gc_columns(t->p)[e->ref];
	if (c->agg != GC_NONE)
		return gc_aggs(t->p)[c->agg].arg;
	if (gc_inputs(t->p)[c->input].groups_of == 0)
		return GC_NONE;
	e = &t->exprs[gc_group_origin(t->p, c, false)];
	return e->op == GC_OP_WINDOW ? e->arg[0] : GC_NONE;
}

/* Is a key of the window numerics of several display scales?  Tagged values are not in order. */
static bool
has_varying_key(const GcTyper *t, const GcPWindow *w)
{
	const GcPPipeline *pl = &gc_pipelines(t->p)[w->pipeline];

	for (int k = 0; k < w->nkeys; k++)
	{
		if (gc_is_varying(&t->exprs[gc_refs(t->p)[pl->first_out + w->keys[k]]]))
			return true;
	}
	return w->frame == GC_FRAME_RANGE && gc_is_varying(&t->exprs[gc_refs(t->p)[pl->first_out + w->by]]);
}

/* Has a bound of a window's range the scale of the expression that is compared with it? */
static bool
is_of_scale(const GcTyper *t, const GcPWindow *w, u8 bound)
{
	const u16  *outputs = gc_refs(t->p) + gc_pipelines(t->p)[w->pipeline].first_out;
	const GcExpr *e = bound == GC_NO_BOUND ? NULL : &t->exprs[outputs[bound]];

	return e == NULL || (e->scale == t->exprs[outputs[w->by]].scale && !gc_is_varying(e));
}

GcCode
gc_type_window(GcTyper *t, GcExpr *e, GcRange *r)
{
	const GcPWindow *w = &gc_windows(t->p)[e->ref];
	const GcPAgg sum = {.arg = e->arg[0]};

	if (has_varying_key(t, w) || (e->arg[0] != GC_NONE && gc_is_varying(&t->exprs[e->arg[0]])))
		return gc_fail(t->err, GC_UNSUPPORTED, "Numeric values of varying scale are in a window.");
	if (w->frame == GC_FRAME_RANGE && !(is_of_scale(t, w, w->start) && is_of_scale(t, w, w->end)))
		return gc_fail(t->err, GC_UNSUPPORTED, "The offset of a range of numeric values has more digits than these.");
	if (e->cast_scale <= GC_OVER_COUNT)
	{
		*r = (GcRange) {0, gc_typer_rows(t, w->pipeline)};
		return GC_OK;
	}
	/* A frame between two bounds, or without some rows, may have no row. */
	if (gc_over_has_second(e->cast_scale) || ((w->frame >= GC_FRAME_BETWEEN || w->exclude) && e->cast_scale != GC_OVER_NTILE))
		e->flags |= GC_NULLABLE;
	if (e->cast_scale == GC_OVER_SUM)
		return sum_range(&t->ranges[e->arg[0]], gc_added_up(t, &sum, w->pipeline), r) ? GC_OK : gc_too_wide(t);
	/* Until it is written, and where it is NULL, it is 0. */
	*r = t->ranges[e->arg[0]];
	r->lo = r->lo < 0 ? r->lo : 0;
	r->hi = r->hi > 0 ? r->hi : 0;
	return GC_OK;
}

GcCode
gc_type_avg(GcTyper *t, GcExpr *e, GcRange *r)
{
	u16			values = averaged(t, e->arg[0]);

	if (values == GC_NONE)
		return gc_fail(t->err, GC_UNSUPPORTED, "The average of unknown values is needed.");
	if (gc_is_varying(&t->exprs[e->arg[0]]))
		return gc_fail(t->err, GC_UNSUPPORTED, "The average of numeric values of varying scale is needed.");
	*r = t->ranges[values];
	/* Its display scale is any up to GC_AVG_SCALE. */
	e->min_scale = 0;
	e->flags |= GC_CHECKED;
	return t->exprs[e->arg[0]].scale <= GC_AVG_SCALE &&
		gc_range_scale_up(r, GC_AVG_SCALE - t->exprs[e->arg[0]].scale) ? GC_OK : gc_too_wide(t);
}

/* A standard deviation is the distance between two values at most, a variance the square of that. */
GcCode
gc_type_stddev(GcTyper *t, GcExpr *e, GcRange *r)
{
	const u16	values = averaged(t, e->arg[0]);
	const bool	root = (e->ref & GC_VARIANCE_ROOT) != 0;
	const int	scale = t->exprs[e->arg[0]].scale;
	GcRange		most = {0, 0};

	if (values == GC_NONE || gc_is_varying(&t->exprs[e->arg[0]]))
		return gc_fail(t->err, GC_UNSUPPORTED, "The variance of numeric values of varying scale is needed.");
	e->min_scale = 0;
	e->flags |= e->ref & GC_VARIANCE_OF_SAMPLE ? GC_CHECKED | GC_NULLABLE : GC_CHECKED;
	*r = (GcRange) {0, 1};
	(void) gc_range_scale_up(r, GC_QUOTIENT_DIGITS);
	if (!__builtin_sub_overflow(t->ranges[values].hi, t->ranges[values].lo, &most.hi) &&
		(root || !__builtin_mul_overflow(most.hi, most.hi, &most.hi)) &&
		gc_range_scale_up(&most, GC_AVG_SCALE - (root ? scale : 2 * scale)) && most.hi < r->hi)
		r->hi = most.hi;
	return GC_OK;
}
