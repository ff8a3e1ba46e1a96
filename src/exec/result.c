/*-------------------------------------------------------------------------
 *
 * result.c
 *	  From raw values to datums, row by row.
 *
 * Everything is decoded at once, into the node's memory, while the request slot
 * (and with it the dictionaries) is still held.  Aggregates are aggregates.c's.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "decoder.h"
#include "fetch.h"
#include "lookup.h"
#include "../columns/encode/pgkinds.h"
#include "../columns/store/numeric.h"
#include "../program/tagged.h"

static const GcExpr *
decoder_expr(GcDecoder *d, u16 first, u16 n)
{
	return &d->exprs[d->refs[first + n]];
}

/* The text of a code.  Rows with the same one share it, where codes are few. */
static Datum
text_datum(GcDecoder *d, GcKind kind, const GcPlanOutput *out, uint32 code)
{
	int			c = out - d->b->plan->outputs;
	uint32		ncodes = gc_dict_count(gc_space_dict(d->b, out->space));

	if (ncodes > d->nrows)
		return gc_text_value(d->b, kind, out->space, code);
	if (d->texts == NULL)
		d->texts = palloc0(d->b->plan->noutputs * sizeof(Datum *));
	if (d->texts[c] == NULL)
		d->texts[c] = palloc_extended(ncodes * sizeof(Datum), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	if (d->texts[c][code] == (Datum) 0)
		d->texts[c][code] = gc_text_value(d->b, kind, out->space, code);
	return d->texts[c][code];
}

/* A raw value as SQL's value; out for a text alone. */
static Datum
raw_datum(GcDecoder *d, u8 kind, int64 raw, int16 scale, const GcPlanOutput *out)
{
	return GC_KIND_IS_CODE(kind) ? text_datum(d, kind, out, (uint32) raw) : gc_raw_to_datum(kind, raw, scale);
}

/*-------------------------------------------------------------------------
 * Keys and plain outputs
 *-------------------------------------------------------------------------
 */

/* Key number `key` of a group, as the device delivered it; 0 if it is NULL. */
static int64
raw_key(GcDecoder *d, uint64 g, int key, bool *isnull)
{
	bool		nullable = (decoder_expr(d, d->pl->first_key, key)->flags & GC_NULLABLE) != 0;
	int64		raw;

	if (d->pl->group_mode == GC_GROUP_DENSE)
	{
		const GcGroupKeyValue *k = &d->keys[key];
		uint64		number = d->result->gathered ? (uint64) d->result->keys[g] : g;
		int64		code = (number / k->stride) % d->dims[key];

		*isnull = nullable && code == 0;
		raw = k->base + code - nullable;
	}
	else
	{
		const i64  *keys = d->result->keys + g * d->b->request->sinks[d->p->npipelines - 1].key_words;

		*isnull = nullable && (keys[d->pl->nkeys] >> key & 1);
		raw = keys[key];
	}
	return *isnull ? 0 : raw;
}

/* The key of a grouping set's group; NULL if the set leaves the key out. */
static int64
set_key(const GcDecoder *d, uint64 g, int key, bool *isnull)
{
	*isnull = (d->set->omitted | d->set->nulls[g]) >> key & 1;
	return d->set->keys[g * d->pl->nkeys + key];
}

static Datum
key_datum(GcDecoder *d, uint64 g, const u64 *words, const GcPlanOutput *out, bool *isnull)
{
	const GcExpr *e = decoder_expr(d, d->pl->first_key, out->ref);
	int64		raw = d->set ? set_key(d, g, out->ref, isnull) : raw_key(d, g, out->ref, isnull);

	d->raw = raw;
	if (*isnull)
		return (Datum) 0;
	return gc_is_varying(e) ? gc_varying_key(d, words, raw, e->scale, out) : raw_datum(d, e->kind, raw, e->scale, out);
}

/* The keys that a group's grouping set leaves out. */
static uint32
omitted_keys(GcDecoder *d, uint64 g)
{
	bool		isnull;

	if (d->set)
		return d->set->omitted;
	return d->b->plan->numbered_sets ? (uint32) list_nth_int(d->b->node->sets, (int) raw_key(d, g, 0, &isnull)) : 0;
}

/* GROUPING(): a bit for each argument, set if the grouping set leaves it out. */
static Datum
grouping_datum(GcDecoder *d, uint64 g, const GcPlanOutput *out)
{
	uint32		omitted = omitted_keys(d, g);
	uint32		bits = 0;
	ListCell   *lc;

	foreach(lc, (List *) list_nth(d->b->node->groupings, out->ref))
		bits = bits << 1 | (omitted >> lfirst_int(lc) & 1);
	return Int32GetDatum((int32) bits);
}

/* The scale of an output of rows, as it is returned. */
static int16
stored_scale(const GcExpr *e)
{
	return gc_is_varying(e) ? GC_SCALE_TAGGED : e->kind == GC_NUMERIC ? e->scale : 0;
}

/* Whether an output of the row is NULL. */
static bool
is_row_null(GcDecoder *d, uint64 row, u16 ref)
{
	return (decoder_expr(d, d->pl->first_out, ref)->flags & GC_NULLABLE) &&
		(d->result->words[(d->pl->nouts + ref / 64) * d->result->stride + row] >> ref % 64 & 1);
}

static Datum
row_datum(GcDecoder *d, uint64 row, const GcPlanOutput *out, bool *isnull)
{
	const GcExpr *e = decoder_expr(d, d->pl->first_out, out->ref);

	*isnull = is_row_null(d, row, out->ref);
	if (*isnull)
		return (Datum) 0;
	d->raw = (int64) d->result->words[out->ref * d->result->stride + row];
	return raw_datum(d, e->kind, d->raw, stored_scale(e), out);
}

/* A column that was left where it is, of the row whose id came along; NULL without such a row. */
static Datum
fetched_datum(GcDecoder *d, uint64 n, const GcPlanOutput *out, bool *isnull)
{
	const GcFact *fact = &d->b->column_facts[out->ref2];
	int64		id;
	int64		raw = 0;

	if (d->pl->sink == GC_SINK_AGGREGATE)
		id = raw_key(d, n, out->ref, isnull);
	else
	{
		*isnull = is_row_null(d, n, out->ref);
		id = (int64) d->result->words[out->ref * d->result->stride + n];
	}
	*isnull = *isnull || !gc_fetch_value(d->b, out->ref2, id, &raw);
	if (*isnull)
		return (Datum) 0;
	return raw_datum(d, gc_columns(d->p)[out->ref2].kind, raw, fact->scale_spread > 0 ? GC_SCALE_TAGGED : fact->scale, out);
}

/* A row output as a numeric; NULL if it is. */
static Datum
numeric_output(GcDecoder *d, uint64 row, u16 ref, bool *isnull)
{
	const GcExpr *e = decoder_expr(d, d->pl->first_out, ref);
	const u64  *words = d->result->words;

	*isnull |= is_row_null(d, row, ref);
	return *isnull ? (Datum) 0 : gc_raw_to_datum(GC_NUMERIC, (int64) words[ref * d->result->stride + row], stored_scale(e));
}

static bool
is_zero_output(GcDecoder *d, uint64 row, u16 ref)
{
	const int64 raw = (int64) d->result->words[ref * d->result->stride + row];

	return (gc_is_varying(decoder_expr(d, d->pl->first_out, ref)) ? GC_TAG_DIGITS(raw) : raw) == 0;
}

/* A quotient of two outputs of the row. */
static Datum
quotient_datum(GcDecoder *d, uint64 row, const GcPlanOutput *out, bool *isnull)
{
	Datum		dividend;
	Datum		divisor;

	*isnull = false;
	dividend = numeric_output(d, row, out->ref, isnull);
	divisor = numeric_output(d, row, out->ref2, isnull);
	if (*isnull)
		return (Datum) 0;
	if (is_zero_output(d, row, out->ref2))
	{
		d->code = gc_fail(&d->b->err, GC_DATA, "A numeric is divided by zero.");
		return (Datum) 0;
	}
	return DirectFunctionCall2(numeric_div, dividend, divisor);
}

/*-------------------------------------------------------------------------
 * All rows
 *-------------------------------------------------------------------------
 */

/* Decode group or row n of the result as `row`; only the columns in d->columns, if that is set. */
static void
decode_row(GcDecoder *d, uint64 n, GcRows *rows, uint64 row)
{
	Datum	   *values = rows->values + row * rows->ncols;
	bool	   *isnull = rows->isnull + row * rows->ncols;
	bool		grouped = d->pl->sink == GC_SINK_AGGREGATE;
	const u64  *g = (d->set ? d->set->words : d->result->words) + n * d->pl->group_words;

	for (int c = 0; c < d->b->plan->noutputs; c++)
	{
		const GcPlanOutput *out = &d->b->plan->outputs[c];

		if (d->columns && !d->columns[c])
			continue;
		switch (out->type)
		{
			case GC_OUT_NONE:
				values[c] = (Datum) 0;
				isnull[c] = true;
				break;
			case GC_OUT_VALUE:
				values[c] = grouped ? key_datum(d, n, g, out, &isnull[c]) : row_datum(d, n, out, &isnull[c]);
				if (rows->ranks[c] && !isnull[c])
					rows->ranks[c][row] = (uint32) gc_lookup_value(d->b->lookups[out->lut], (uint32) d->raw + 1);
				break;
			case GC_OUT_FETCHED:
				values[c] = fetched_datum(d, n, out, &isnull[c]);
				break;
			case GC_OUT_QUOTIENT:
				values[c] = quotient_datum(d, n, out, &isnull[c]);
				break;
			case GC_OUT_GROUPING:
				values[c] = grouping_datum(d, n, out);
				isnull[c] = false;
				break;
			default:
				values[c] = gc_agg_datum(d, g, out, &isnull[c]);
				break;
		}
	}
}

/* A group exists if any row fell into it; without GROUP BY, always. */
static bool
row_exists(GcDecoder *d, uint64 n)
{
	return d->pl->sink == GC_SINK_ROWS || !d->b->plan->grouped ||
		d->result->words[n * d->pl->group_words] != 0;
}

/* Room for so many rows. */
static void
open_rows(GcDecoder *d, uint64 count, GcRows *rows)
{
	int			ncols = d->b->plan->noutputs;

	d->nrows = count;
	rows->ncols = ncols;
	rows->count = 0;
	rows->values = MemoryContextAllocHuge(d->b->node->cxt, (count * ncols + 1) * sizeof(Datum));
	rows->isnull = MemoryContextAllocHuge(d->b->node->cxt, (count * ncols + 1) * sizeof(bool));
	rows->ranks = palloc0((rows->ncols + 1) * sizeof(uint32 *));
	for (int c = 0; c < rows->ncols; c++)
	{
		if (d->b->plan->outputs[c].type == GC_OUT_VALUE && d->b->plan->outputs[c].lut != GC_NONE)
			rows->ranks[c] = MemoryContextAllocHuge(d->b->node->cxt, (count + 1) * sizeof(uint32));
	}
}

static void
add_row(GcDecoder *d, uint64 n, GcRows *rows)
{
	if ((n & 0xffff) == 0)
		CHECK_FOR_INTERRUPTS();
	decode_row(d, n, rows, rows->count);
	rows->count++;
}

/*
 * Decode the first rows in the plan's order alone.  What they are sorted by is decoded of all rows,
 * the other columns of the returned rows.
 */
static void
decode_first(GcDecoder *d, uint64 limit, GcRows *rows)
{
	const GcPlan *plan = d->b->plan;
	bool	   *columns = palloc0((plan->noutputs + 1) * sizeof(bool));
	uint64	   *from = palloc_extended((d->nrows + 1) * sizeof(uint64), MCXT_ALLOC_HUGE);

	for (int i = 0; i < plan->norder; i++)
		columns[plan->order[i].output] = true;
	d->columns = columns;
	for (uint64 n = 0; n < d->result->count && d->code == GC_OK; n++)
	{
		if (!row_exists(d, n))
			continue;
		from[rows->count] = n;
		add_row(d, n, rows);
	}
	if (d->code != GC_OK)
		return;
	gc_order_rows(plan, rows);
	for (int c = 0; c < plan->noutputs; c++)
		columns[c] = !columns[c];
	rows->count = Min(limit, rows->count);
	for (uint64 i = 0; i < rows->count && d->code == GC_OK; i++)
		decode_row(d, from[rows->order[i]], rows, rows->order[i]);
	d->columns = NULL;
}

static void
decode_result(GcDecoder *d, GcRows *rows)
{
	const GcPlan *plan = d->b->plan;
	uint64		count = 0;

	for (uint64 n = 0; n < d->result->count; n++)
		count += row_exists(d, n);
	open_rows(d, count, rows);
	if (plan->sorted && plan->limit > 0 && plan->limit < count / 2)
	{
		decode_first(d, plan->limit, rows);
		return;
	}
	for (uint64 n = 0; n < d->result->count && d->code == GC_OK; n++)
	{
		if (row_exists(d, n))
			add_row(d, n, rows);
	}
	/* A row that could not be decoded has no value to sort by. */
	if (d->code == GC_OK)
		gc_order_rows(plan, rows);
}

/*-------------------------------------------------------------------------
 * Grouping sets
 *-------------------------------------------------------------------------
 */

/* The groups that the device delivered, in the form of a set's. */
static void
finest_groups(GcDecoder *d, GcSetGroups *finest)
{
	const GcPPipeline *pl = d->pl;

	for (uint64 n = 0; n < d->result->count; n++)
	{
		uint64		g;
		bool		isnull;

		if ((n & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
		if (!row_exists(d, n))
			continue;
		g = gc_set_add(finest, pl);
		memcpy(finest->words + g * pl->group_words, d->result->words + n * pl->group_words,
			   pl->group_words * sizeof(u64));
		for (int k = 0; k < pl->nkeys; k++)
		{
			finest->keys[g * pl->nkeys + k] = raw_key(d, n, k, &isnull);
			finest->nulls[g] |= (uint32) isnull << k;
		}
	}
}

/* The set without keys has a group even if there is no row. */
static void
add_group_of_none(GcDecoder *d, GcSetGroups *set)
{
	if (set->count == 0 && set->omitted & GC_EMPTY_SET)
		(void) gc_set_add(set, d->pl);
}

/* All sets' groups, in memory of their own. */
static GcSetGroups *
make_sets(GcDecoder *d, List *sets, uint64 *count)
{
	GcSetGroups finest = {0};
	GcSetGroups *made = palloc0(list_length(sets) * sizeof(GcSetGroups));

	*count = 0;
	finest_groups(d, &finest);
	if (!gc_roll_up(d->pl, d->aggs, &finest, sets, made))
	{
		d->code = gc_fail(&d->b->err, GC_UNSUPPORTED, "Grouping sets have too many groups.");
		return made;
	}
	for (int i = 0; i < list_length(sets); i++)
	{
		add_group_of_none(d, &made[i]);
		*count += made[i].count;
	}
	return made;
}

static void
decode_sets(GcDecoder *d, GcRows *rows)
{
	List	   *sets = d->b->node->sets;
	MemoryContext groups = AllocSetContextCreate(d->b->node->cxt, "gpuconc grouping sets", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(groups);
	uint64		count;
	GcSetGroups *made = make_sets(d, sets, &count);

	MemoryContextSwitchTo(old);
	if (d->code == GC_OK)
		open_rows(d, count, rows);
	for (int i = 0; i < list_length(sets) && d->code == GC_OK; i++)
	{
		d->set = &made[i];
		for (uint64 g = 0; g < made[i].count && d->code == GC_OK; g++)
			add_row(d, g, rows);
	}
	MemoryContextDelete(groups);
	if (d->code == GC_OK)
		gc_order_rows(d->b->plan, rows);
}

/*
 * Groups that have the number of their set among their keys.  If there is no row, sets without
 * other keys have a group each.
 */
static void
decode_numbered_sets(GcDecoder *d, GcRows *rows)
{
	ListCell   *lc;

	decode_result(d, rows);
	if (rows->count > 0 || d->code != GC_OK)
		return;
	open_rows(d, list_length(d->b->node->sets), rows);
	foreach(lc, d->b->node->sets)
	{
		GcSetGroups set = {.omitted = (uint32) lfirst_int(lc)};

		if ((set.omitted & GC_EMPTY_SET) == 0)
			continue;
		(void) gc_set_add(&set, d->pl);
		d->set = &set;
		add_row(d, 0, rows);
	}
	d->set = NULL;
	gc_order_rows(d->b->plan, rows);
}

GcCode
gc_decode(GcBinding *b, const GcResult *result, GcRows *rows)
{
	GcDecoder	d = {.b = b,.p = b->program,.result = result,.code = GC_OK};

	d.exprs = gc_exprs(d.p);
	d.aggs = gc_aggs(d.p);
	d.refs = gc_refs(d.p);
	d.pl = &gc_pipelines(d.p)[d.p->npipelines - 1];
	d.keys = &b->group_keys[GC_GROUP_KEY_INDEX(d.p->npipelines - 1, 0)];
	for (int k = 0; d.pl->group_mode == GC_GROUP_DENSE && k < d.pl->nkeys; k++)
		d.dims[k] = (k == 0 ? b->sinks[d.p->npipelines - 1].ngroups : d.keys[k - 1].stride) / d.keys[k].stride;
	if (b->plan->numbered_sets)
		decode_numbered_sets(&d, rows);
	else if (b->node->sets != NIL)
		decode_sets(&d, rows);
	else
		decode_result(&d, rows);
	gc_variances_end(&d.variances);
	return d.code;
}
