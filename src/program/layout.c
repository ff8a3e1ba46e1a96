/*-------------------------------------------------------------------------
 *
 * layout.c
 *	  How a bound program holds values: columns, payloads, accumulators, outputs.
 *
 * Pure C; runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "typer.h"
#include "groups.h"
#include "tagged.h"

/*
 * Do codes of `width` bytes leave the high bit free?  Each chunk's base is one of its values, so no
 * code is larger than the span of all values.
 */
static bool
leaves_bit(const GcRange *range, u8 width)
{
	return (width == 1 || width == 2) && (u128) range->hi - (u128) range->lo < (u128) 1 << (8 * width - 1);
}

u8
gc_lut_width(u8 kind, const GcRange *range)
{
	GcReg		reg = gc_kind_reg(kind, range->lo <= range->hi ? range : &gc_empty_as_zero);

	if (kind == GC_BOOL)
		return 1;
	return reg == GC_I32 || reg == GC_F32 ? 4 : 8;
}

void
gc_lay_out_values(GcTyper *t)
{
	GcProgram  *p = t->p;

	for (u16 i = 0; i < p->ncolumns; i++)
	{
		GcPColumn  *c = &gc_columns(p)[i];
		const GcFact *f = &t->facts->columns[i];
		GcRange		r = f->range.lo <= f->range.hi ? f->range : gc_empty_as_zero;

		/* Columns of groups are known when the expressions behind them are (groups.c). */
		if (gc_inputs(p)[c->input].groups_of)
			continue;
		c->width = f->width;
		c->nullable = f->nullable;
		c->scale = c->kind == GC_NUMERIC ? f->scale : 0;
		c->min_scale = c->kind == GC_NUMERIC ? f->scale - f->scale_spread : 0;
		c->reg = gc_stored_reg(c->kind, c->min_scale, c->scale, &r);
		c->high_bit_free = leaves_bit(&r, f->width);
	}
	for (u16 i = 0; i < p->nparams; i++)
	{
		GcPParam   *c = &gc_params(p)[i];
		const GcFact *f = &t->facts->params[i];

		c->reg = gc_kind_reg(c->kind, f->nullable ? &gc_empty_as_zero : &f->range);
		c->scale = c->kind == GC_NUMERIC ? f->scale : 0;
	}
	for (u16 i = 0; i < p->nluts; i++)
	{
		GcPLut	   *l = &gc_luts(p)[i];
		const GcFact *f = &t->facts->luts[i];
		GcRange		r = f->range.lo <= f->range.hi ? f->range : gc_empty_as_zero;

		l->nullable = f->nullable;
		l->scale = l->kind == GC_NUMERIC ? f->scale : 0;
		l->min_scale = l->kind == GC_NUMERIC ? f->scale - f->scale_spread : 0;
		l->reg = l->min_scale < l->scale ? GC_I64 : gc_kind_reg(l->kind, &r);
		l->width = l->min_scale < l->scale ? 8 : gc_lut_width(l->kind, &f->range);
	}
}

GcCode
gc_lay_out_payloads(GcTyper *t)
{
	for (u16 i = 0; i < t->p->npayloads; i++)
	{
		GcPPayload *pay = &gc_payloads(t->p)[i];
		const GcExpr *e = &t->exprs[pay->expr];

		const bool	tagged = gc_is_varying(e);
		const GcRange stored = gc_stored_range(e, &t->ranges[pay->expr]);

		pay->reg = gc_is_wide(e) ? GC_I128 : tagged ? GC_I64 : e->reg;
		/* A row without a match has code 0, too. */
		pay->nullable = ((e->flags & GC_NULLABLE) != 0 && !pay->greatest) || gc_build_is_optional(t->p, pay->build);
		pay->scale = e->scale;
		pay->min_scale = tagged ? e->min_scale : e->scale;
		if (e->reg == GC_F32 || e->reg == GC_F64)
			pay->width = e->reg == GC_F32 ? 4 : 8;
		else
			pay->width = gc_is_wide(e) ? 16 : gc_range_width(&stored, pay->nullable);
		/* Atomic operations have 32 or 64 bits. */
		if (pay->greatest && pay->width > 0 && pay->width < 4)
			pay->width = 4;
		if (pay->width == 0)
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "A value needed from a joined table does not fit in 64 bits.");
		if ((tagged || gc_is_wide(e)) && (pay->greatest || !gc_storable(e, &t->ranges[pay->expr])))
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "A numeric value needed from a joined table varies in scale, or has too many digits.");
	}
	return GC_OK;
}

/* The accumulator's register and words; refused where a sum might not fit. */
static GcCode
type_agg(GcTyper *t, GcPAgg *agg, u16 pipeline)
{
	const GcAccumulator *a = gc_accumulator_of(agg);
	GcExpr	   *e;
	GcRange		r;
	i128		m,
				sum;

	agg->acc = a->merge == GC_MERGE_PRECISE ? GC_F64X2 : GC_I64;
	if (a->value == GC_VALUE_COUNT || a->merge == GC_MERGE_PRECISE)
		return GC_OK;
	e = &t->exprs[agg->arg];
	if (e->reg == GC_F32 || e->reg == GC_F64)
	{
		agg->acc = GC_F64;
		return GC_OK;
	}
	r = t->ranges[agg->arg];
	e->small = gc_range_within(&r, INT32_MIN / GC_PART_ROWS, INT32_MAX / GC_PART_ROWS);
	if (a->value != GC_VALUE_SUM)
	{
		if (e->reg == GC_I128)
			return gc_fail(t->err, GC_UNSUPPORTED,
						   "The minimum or maximum of a numeric does not fit in 64 bits.");
		return GC_OK;
	}
	/* Exact as long as no partial sum can leave the accumulator. */
	m = r.hi > -r.lo ? r.hi : -r.lo;
	if (r.lo == I128_MIN || __builtin_mul_overflow(m, (i128) gc_added_up(t, agg, pipeline), &sum))
		return gc_too_wide(t);
	if (sum > INT64_MAX)
	{
		/* PostgreSQL's sum depends on the order of rows then: it wraps, or since 18 is an error. */
		if (e->kind == GC_MONEY)
			return gc_fail(t->err, GC_UNSUPPORTED, "A sum of money may be out of range.");
		agg->acc = GC_I128;
	}
	return GC_OK;
}

/* Is the accumulator the count of the group's rows, or of scales where all values have one? */
static bool
is_known(const GcTyper *t, const GcPAgg *agg)
{
	if (gc_accumulator_of(agg)->value == GC_VALUE_COUNT)
		return agg->arg == GC_NONE || !(t->exprs[agg->arg].flags & GC_NULLABLE);
	return (t->exprs[agg->arg].op == GC_OP_SCALE || t->exprs[agg->arg].op == GC_OP_TAG) &&
		!gc_is_varying(&t->exprs[t->exprs[agg->arg].arg[0]]);
}

/* The words of a group, and where each accumulator has its own. */
static GcCode
lay_out_group(GcTyper *t, u16 pipeline)
{
	GcPPipeline *pl = &gc_pipelines(t->p)[pipeline];
	GcPAgg	   *aggs = gc_aggs(t->p) + pl->first_agg;
	u16			word = 1;
	GcCode		code;

	/* Word 0 counts the group's rows, or says that it has any. */
	for (u16 i = 0; i < pl->naggs; i++)
	{
		if ((code = type_agg(t, &aggs[i], pipeline)) != GC_OK)
			return code;
		aggs[i].nwords = gc_merge_width(gc_merge_of(&aggs[i]));
		if (is_known(t, &aggs[i]))
			aggs[i].word = 0;
		else
		{
			aggs[i].word = word;
			word += aggs[i].nwords;
		}
	}
	pl->group_words = word;
	return GC_OK;
}

GcCode
gc_lay_out_aggs(GcTyper *t)
{
	GcCode		code = GC_OK;

	for (u16 n = 0; n < t->p->npipelines && code == GC_OK; n++)
	{
		if (gc_pipelines(t->p)[n].sink == GC_SINK_AGGREGATE && gc_pipelines(t->p)[n].rest_of == 0)
			code = lay_out_group(t, n);
	}
	gc_bind_rests(t->p);
	return code;
}

/* Refuse keys and rows' outputs that have no place in 64-bit words. */
static GcCode
check_outputs(GcTyper *t, const GcPPipeline *pl)
{
	for (u16 i = 0; pl->sink == GC_SINK_AGGREGATE && i < pl->nkeys; i++)
	{
		u16			ref = gc_refs(t->p)[pl->first_key + i];
		const GcExpr *e = &t->exprs[ref];

		if (e->reg == GC_I128)
			return gc_fail(t->err, GC_UNSUPPORTED, "A group key does not fit in 64 bits.");
	}
	for (u16 i = 0; pl->sink == GC_SINK_ROWS && i < pl->nouts; i++)
	{
		const GcExpr *e = &t->exprs[gc_refs(t->p)[pl->first_out + i]];

		if ((e->reg == GC_I128 && !gc_is_wide(e)) || !gc_storable(e, &t->ranges[gc_refs(t->p)[pl->first_out + i]]))
			return gc_fail(t->err, GC_UNSUPPORTED, "A numeric output has too many digits.");
	}
	return GC_OK;
}

GcCode
gc_check_outputs(GcTyper *t)
{
	GcCode		code = GC_OK;

	for (u16 n = 0; n < t->p->npipelines && code == GC_OK; n++)
		code = check_outputs(t, &gc_pipelines(t->p)[n]);
	return code;
}
