/*-------------------------------------------------------------------------
 *
 * result.c
 *	  From raw values to datums.
 *
 * Rows are sorted by what the device delivered, and then decoded in their order, some rows at a time
 * and column by column.
 *
 * Everything is decoded at once, into the node's memory, while the request slot
 * (and with it the dictionaries) is still held.  Aggregates are aggregates.c's.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "decoder.h"
#include "lookup.h"
#include "quotient.h"
#include "../columns/encode/pgkinds.h"
#include "../program/tagged.h"

/* The n-th expression that is referred to from `first` on. */
static const GcExpr *
decoder_expr(GcDecoder *d, u16 first, u16 n)
{
	return &d->exprs[d->refs[first + n]];
}

/* A raw value as SQL's value; out for a text alone. */
static Datum
raw_datum(GcDecoder *d, u8 kind, i128 raw, int16 scale, const GcPlanOutput *out)
{
	return GC_KIND_IS_CODE(kind) ? gc_text_datum(d, kind, out, (uint32) raw) : gc_raw_to_datum(kind, raw, scale);
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
		uint64		code = number;

		if (k->stride > 1)
			code /= k->stride;
		if (key > 0)			/* the rest is the first key's */
			code %= d->dims[key];
		*isnull = nullable && code == 0;
		raw = k->base + (int64) code - nullable;
	}
	else
	{
		const i64  *keys = d->result->keys + g * d->b->request->sinks[d->p->npipelines - 1].key_words;

		*isnull = nullable && (keys[d->pl->nkeys] >> key & 1);
		raw = keys[key];
	}
	return *isnull ? 0 : raw;
}

/* The keys that a group's grouping set leaves out. */
static uint32
omitted_keys(GcDecoder *d, uint64 g)
{
	bool		isnull;

	if (d->of_none)
		return (uint32) list_nth_int(d->of_none, (int) g);
	return d->b->node->sets ? (uint32) list_nth_int(d->b->node->sets, (int) raw_key(d, g, 0, &isnull)) : 0;
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

/* An output of the row as it is returned. */
static i128
row_value(GcDecoder *d, uint64 row, u16 ref)
{
	const u64  *words = d->result->words + row;
	const u64	low = words[ref * d->result->stride];

	if (gc_is_wide(decoder_expr(d, d->pl->first_out, ref)))
		return (i128) ((u128) words[gc_wide_word(d->p, d->pl, ref) * d->result->stride] << 64 | low);
	return (int64) low;
}

/* The expression that an output is a value of: a group key, or a row's output. */
static const GcExpr *
value_expr(GcDecoder *d, const GcPlanOutput *out)
{
	return decoder_expr(d, d->pl->sink == GC_SINK_AGGREGATE ? d->pl->first_key : d->pl->first_out, out->ref);
}

/* A key of group n, or a value of row n, as the device delivered it. */
static i128
raw_value(GcDecoder *d, uint64 n, const GcPlanOutput *out, bool *isnull)
{
	if (d->of_none)
	{
		*isnull = true;
		return 0;
	}
	if (d->pl->sink == GC_SINK_AGGREGATE)
		return raw_key(d, n, out->ref, isnull);
	*isnull = is_row_null(d, n, out->ref);
	return *isnull ? 0 : row_value(d, n, out->ref);
}

static const u64 *
accumulators(const GcDecoder *d, uint64 n)
{
	return d->of_none ? d->nothing : d->result->words + n * d->pl->group_words;
}

/* A group key, or a row's output, as PostgreSQL has it. */
static Datum
value_datum(GcDecoder *d, uint64 n, const GcPlanOutput *out, bool *isnull)
{
	const GcExpr *e = value_expr(d, out);
	const i128	raw = raw_value(d, n, out, isnull);

	if (*isnull)
		return (Datum) 0;
	if (d->pl->sink == GC_SINK_ROWS)
		return raw_datum(d, e->kind, raw, stored_scale(e), out);
	return gc_is_varying(e) ? gc_varying_key(d, accumulators(d, n), raw, e->scale, out)
		: raw_datum(d, e->kind, raw, e->scale, out);
}

/* A column that was left where it is, of the row whose id came along; NULL without such a row. */
static Datum
fetched_datum(GcDecoder *d, uint64 n, const GcPlanOutput *out, bool *isnull)
{
	const GcFact *fact = &d->b->column_facts[out->ref2];
	int64		id;
	i128		raw = 0;

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
	return raw_datum(d, gc_columns(d->p)[out->ref2].kind, raw, fact->scale_spread > 0 ? GC_SCALE_TAGGED : fact->scale,
					 out);
}

/* A row output that is numeric, as an integer and its scale. */
static i128
numeric_output(GcDecoder *d, uint64 row, u16 ref, int16 *scale)
{
	const GcExpr *e = decoder_expr(d, d->pl->first_out, ref);
	const i128	raw = row_value(d, row, ref);

	*scale = gc_is_varying(e) ? GC_TAG_SCALE(raw) : e->scale;
	return gc_is_varying(e) ? GC_TAG_DIGITS(raw) : raw;
}

static Datum
quotient_datum(GcDecoder *d, uint64 row, const GcPlanOutput *out, bool *isnull)
{
	int16		dividend_scale;
	int16		divisor_scale;
	i128		dividend;
	i128		divisor;

	*isnull = is_row_null(d, row, out->ref) || is_row_null(d, row, out->ref2);
	if (*isnull)
		return (Datum) 0;
	dividend = numeric_output(d, row, out->ref, &dividend_scale);
	divisor = numeric_output(d, row, out->ref2, &divisor_scale);
	if (divisor == 0)
	{
		d->code = gc_fail(&d->b->err, GC_DATA, "A numeric is divided by zero.");
		return (Datum) 0;
	}
	return gc_quotient(dividend, dividend_scale, divisor, divisor_scale);
}

/*-------------------------------------------------------------------------
 * Rows
 *-------------------------------------------------------------------------
 */

/* An output of a group or row, by its type. */
static Datum
output_datum(GcDecoder *d, uint64 n, const GcPlanOutput *out, bool *isnull)
{
	*isnull = false;
	switch (out->type)
	{
		case GC_OUT_NONE:
		case GC_OUT_WINDOW:
			*isnull = true;
			return (Datum) 0;
		case GC_OUT_VALUE:
			return value_datum(d, n, out, isnull);
		case GC_OUT_FETCHED:
			return fetched_datum(d, n, out, isnull);
		case GC_OUT_QUOTIENT:
			return quotient_datum(d, n, out, isnull);
		case GC_OUT_GROUPING:
			return grouping_datum(d, n, out);
		default:
			return gc_agg_datum(d, accumulators(d, n), out, isnull);
	}
}

/* A group exists if any row fell into it; without GROUP BY, always. */
static bool
row_exists(const GcDecoder *d, uint64 n)
{
	return d->pl->sink == GC_SINK_ROWS || !d->b->plan->grouped ||
		d->result->words[n * d->pl->group_words] != 0;
}

/* Rows of the result; a group without rows is none. */
static uint64
count_rows(const GcDecoder *d)
{
	uint64		count = 0;

	for (uint64 n = 0; n < d->result->count; n++)
		count += row_exists(d, n);
	return count;
}

/* The places of all rows; NULL if each row of the result is one. */
static uint64 *
list_places(const GcDecoder *d)
{
	uint64	   *places;
	uint64		count = 0;

	if (d->of_none || d->nrows == d->result->count)
		return NULL;
	places = MemoryContextAllocHuge(d->scratch, (d->nrows + 1) * sizeof(uint64));
	for (uint64 n = 0; n < d->result->count; n++)
	{
		if (row_exists(d, n))
			places[count++] = n;
	}
	return places;
}

/* The number of a row that is decoded next. */
static uint64
go_to(GcDecoder *d, const uint64 *places, uint64 at)
{
	if ((at & 0xffff) == 0)
		CHECK_FOR_INTERRUPTS();
	return places ? places[at] : at;
}

/* If there is no row, each grouping set without keys has a group all the same. */
static void
find_groups_of_none(GcDecoder *d)
{
	MemoryContext old = MemoryContextSwitchTo(d->scratch);
	ListCell   *lc;

	d->nothing = palloc0(d->pl->group_words * sizeof(u64));
	foreach(lc, d->b->node->sets)
	{
		if ((uint32) lfirst_int(lc) & GC_EMPTY_SET)
			d->of_none = lappend_int(d->of_none, lfirst_int(lc));
	}
	d->nrows = list_length(d->of_none);
	MemoryContextSwitchTo(old);
}

/*-------------------------------------------------------------------------
 * Sort keys
 *-------------------------------------------------------------------------
 */

/* Is a value in the order of the integers that the device delivers? */
static bool
is_integer(GcDecoder *d, const GcPlanOutput *out)
{
	const GcExpr *e;

	if (out->type != GC_OUT_VALUE)
		return gc_agg_is_integer(out);
	if (out->lut != GC_NONE)
		return true;
	e = value_expr(d, out);
	if (e->kind != gc_type_kind(out->typid) || GC_KIND_IS_FLOAT(e->kind) || gc_is_varying(e))
		return false;
	switch (gc_kinds[e->kind].form)
	{
		case GC_FORM_BOOL:
		case GC_FORM_INT16:
		case GC_FORM_INT32:
		case GC_FORM_INT64:
		case GC_FORM_NUMERIC:
			return true;
		default:
			return false;
	}
}

/* That integer; of a text that has a table of ranks, its rank. */
static i128
integer_of(GcDecoder *d, uint64 n, const GcPlanOutput *out, bool *isnull)
{
	i128		raw;

	if (out->type != GC_OUT_VALUE)
		return gc_agg_integer(d, accumulators(d, n), out, isnull);
	raw = raw_value(d, n, out, isnull);
	return out->lut == GC_NONE || *isnull ? raw : (uint32) gc_lookup_value(d->b->lookups[out->lut], (uint32) raw + 1);
}

/*
 * The first few of many rows, if all that they are sorted by are integers: those of a heap, whose first one is the last
 * of them.  Of most rows, no more than a column is looked at.
 */
typedef struct FirstRow
{
	uint64		place;
	bool		late[GC_MAX_ORDER]; /* it comes behind those that are not, whatever the words */
	GcOrderWord words[GC_MAX_ORDER];
} FirstRow;

/* Compare two rows by one column; late values come behind all others. */
static int
compare_column(const FirstRow *a, const FirstRow *b, int i)
{
	if (a->late[i] != b->late[i])
		return a->late[i] ? 1 : -1;
	return gc_compare_words(a->words[i], b->words[i]);
}

/* Order for a binary heap: by all columns. */
static int
compare_first_rows(Datum a, Datum b, void *norder)
{
	int			cmp = 0;

	for (int i = 0; i < *(const int *) norder && cmp == 0; i++)
		cmp = compare_column((const FirstRow *) DatumGetPointer(a), (const FirstRow *) DatumGetPointer(b), i);
	return cmp;
}

/* Set what row n is sorted by.  False if it comes behind the last one, or is like that; NULL: there is none yet. */
static bool
comes_before(GcDecoder *d, uint64 n, FirstRow *row, const FirstRow *last)
{
	bool		before = last == NULL;

	for (int i = 0; i < d->b->plan->norder; i++)
	{
		const GcPlanOrder *o = &d->b->plan->order[i];
		bool		isnull;
		const GcOrderWord word = gc_order_integer(integer_of(d, n, &d->b->plan->outputs[o->output], &isnull));
		int			cmp;

		row->late[i] = isnull != o->nulls_first;
		row->words[i] = isnull ? (GcOrderWord) {0, 0} : o->descending ? (GcOrderWord) {~word.high, ~word.low} : word;
		cmp = before ? -1 : compare_column(row, last, i);
		if (cmp > 0)
			return false;
		before = cmp < 0;
	}
	return before;
}

/* Are all columns integers by which rows are ordered? */
static bool
are_integers(GcDecoder *d)
{
	for (int i = 0; i < d->b->plan->norder; i++)
	{
		if (!is_integer(d, &d->b->plan->outputs[d->b->plan->order[i].output]))
			return false;
	}
	return true;
}

/* The places of the first rows, in any order. */
static uint64 *
first_places(GcDecoder *d, const uint64 *places, uint64 wanted)
{
	FirstRow   *rows = MemoryContextAllocHuge(d->scratch, (wanted + 1) * sizeof(FirstRow));
	FirstRow   *next = rows;	/* where there is room for one */
	binaryheap *heap = binaryheap_allocate(wanted, compare_first_rows, (void *) &d->b->plan->norder);
	uint64	   *first = MemoryContextAllocHuge(d->scratch, wanted * sizeof(uint64));

	for (uint64 at = 0; at < d->nrows; at++)
	{
		const uint64 n = go_to(d, places, at);
		FirstRow   *last = heap->bh_size < wanted ? NULL : (FirstRow *) DatumGetPointer(binaryheap_first(heap));

		if (!comes_before(d, n, next, last))
			continue;
		next->place = places ? places[at] : at;
		if (last)
			binaryheap_replace_first(heap, PointerGetDatum(next));
		else
			binaryheap_add(heap, PointerGetDatum(next));
		next = last ? last : next + 1;
	}
	for (uint64 i = 0; i < wanted; i++)
		first[i] = ((FirstRow *) DatumGetPointer(heap->bh_nodes[i]))->place;
	binaryheap_free(heap);
	return first;
}

/* Make the words by which rows are ordered by this column. */
static void
fill_order_column(GcDecoder *d, const uint64 *places, GcOrderColumn *column)
{
	const GcPlanOutput *out = &d->b->plan->outputs[column->order->output];
	const GcKind kind = gc_type_kind(out->typid);

	column->exact = true;
	if (is_integer(d, out))
	{
		for (uint64 at = 0; at < d->nrows; at++)
			column->words[at] = gc_order_integer(integer_of(d, go_to(d, places, at), out, &column->isnull[at]));
		return;
	}
	column->values = MemoryContextAllocHuge(d->scratch, d->nrows * sizeof(Datum));
	/* A row that could not be decoded has no value to sort by. */
	for (uint64 at = 0; at < d->nrows && d->code == GC_OK; at++)
	{
		column->values[at] = output_datum(d, go_to(d, places, at), out, &column->isnull[at]);
		if (d->code == GC_OK)
			gc_order_value(column, kind, at);
	}
	d->ordered[column->order->output] = column;
}

/* The order of the rows; NULL: as they are.  Window functions come first. */
static uint32 *
find_order(GcDecoder *d, const uint64 *places)
{
	const GcPlan *plan = d->b->plan;
	GcOrderColumn *columns = MemoryContextAllocZero(d->scratch, GC_MAX_ORDER * sizeof(GcOrderColumn));
	GcOrdering	o = {.cxt = d->scratch,.count = d->nrows,.exact = true};
	bool		integers;
	MemoryContext old;
	uint32	   *order;

	d->ordered = MemoryContextAllocZero(d->scratch, (plan->noutputs + 1) * sizeof(GcOrderColumn *));
	if (plan->windowed || !gc_are_ordered(plan, d->nrows))
		return NULL;
	integers = are_integers(d);
	for (int i = 0; i < plan->norder && d->code == GC_OK; i++)
	{
		/* Integers are looked at no more once they are packed.  So those of the next column take their memory. */
		const bool	again = integers && i > 0;
		GcOrderColumn *column = &columns[i];

		column->order = &plan->order[i];
		column->words = again ? columns[0].words : MemoryContextAllocHuge(d->scratch, d->nrows * sizeof(GcOrderWord));
		column->isnull = again ? columns[0].isnull : MemoryContextAllocHuge(d->scratch, d->nrows * sizeof(bool));
		fill_order_column(d, places, column);
		if (d->code == GC_OK)
			gc_order_add(&o, column);
	}
	if (d->code != GC_OK)
		return NULL;
	if (integers)
		pfree(columns[0].words);
	old = MemoryContextSwitchTo(d->scratch);
	order = gc_order_finish(&o, columns, plan->norder, plan->sorted);
	MemoryContextSwitchTo(old);
	return order;
}

/*-------------------------------------------------------------------------
 * All of it
 *-------------------------------------------------------------------------
 */

/*
 * The first rows are kept in a heap, and only these are sorted: as many at most, of that many times as many at least.
 */
#define MOST_FIRST		10000
#define FEW_ROWS		4

/* So many rows are decoded together, column by column. */
#define BLOCK_ROWS		64

/* A column of the next nrows rows, which are at these places; the first value, of each row that many columns on. */
static void
decode_column(GcDecoder *d, int c, const uint64 *places, const uint32 *at, int nrows, Datum *values, bool *isnull)
{
	const int	ncols = d->b->plan->noutputs;
	const GcPlanOutput *out = &d->b->plan->outputs[c];

	for (int i = 0; i < nrows; i++)
		values[i * ncols] = output_datum(d, go_to(d, places, at[i]), out, &isnull[i * ncols]);
}

/* A column of texts of the next nrows rows. */
static void
decode_texts(GcDecoder *d, int c, const uint64 *places, const uint32 *at, int nrows, Datum *values, bool *isnull)
{
	const int	ncols = d->b->plan->noutputs;
	const GcPlanOutput *out = &d->b->plan->outputs[c];
	const GcKind kind = value_expr(d, out)->kind;
	int64		codes[BLOCK_ROWS];
	int			ncodes = 0;

	for (int i = 0; i < nrows; i++)
	{
		const int64 code = raw_value(d, go_to(d, places, at[i]), out, &isnull[i * ncols]);

		if (!isnull[i * ncols])
			codes[ncodes++] = code;
	}
	/* A column that is always NULL has no dictionary: one of an anti-joined table. */
	if (ncodes > 0)
		gc_dict_prefetch(gc_space_dict(d->b, out->space), codes, ncodes);
	ncodes = 0;
	for (int i = 0; i < nrows; i++)
		values[i * ncols] = isnull[i * ncols] ? (Datum) 0 : gc_text_datum(d, kind, out, (uint32) codes[ncodes++]);
}

/* Sorted rows lie anywhere in the result.  Have the cache misses of the next ones overlap. */
static void
fetch_rows(const GcDecoder *d, const uint64 *places, const uint32 *at, int nrows)
{
	const bool	grouped = d->pl->sink == GC_SINK_AGGREGATE;
	const uint64 stride = grouped ? 1 : d->result->stride;
	const uint32 words = grouped ? 1 : gc_row_words(d->p, d->pl);
	const uint32 key_words = d->b->request->sinks[d->p->npipelines - 1].key_words;

	for (int i = 0; i < nrows; i++)
	{
		const uint64 n = places ? places[at[i]] : at[i];

		for (uint32 w = 0; w < words; w++)
			__builtin_prefetch(d->result->words + w * stride + (grouped ? n * d->pl->group_words : n));
		if (grouped && d->result->keys)
			__builtin_prefetch(d->result->keys + n * key_words);
	}
}

/* Decode some rows column by column, so that each output's type is asked for once. */
static void
decode_block(GcDecoder *d, const uint64 *places, const uint32 *at, int nrows, GcRows *rows)
{
	for (int c = 0; c < rows->ncols; c++)
	{
		const GcPlanOutput *out = &d->b->plan->outputs[c];
		Datum	   *values = rows->values + rows->count * rows->ncols + c;
		bool	   *isnull = rows->isnull + rows->count * rows->ncols + c;
		const GcOrderColumn *column = d->ordered[c];

		if (column)
		{
			for (int i = 0; i < nrows; i++)
			{
				values[i * rows->ncols] = column->values[at[i]];
				isnull[i * rows->ncols] = column->isnull[at[i]];
			}
		}
		else if (out->type == GC_OUT_VALUE && GC_KIND_IS_CODE(value_expr(d, out)->kind))
			decode_texts(d, c, places, at, nrows, values, isnull);
		else
			decode_column(d, c, places, at, nrows, values, isnull);
	}
	rows->count += nrows;
}

/* Rows are decoded in their order, so that they lie in memory in the order in which they are read. */
static void
decode_rows(GcDecoder *d, GcRows *rows)
{
	const GcPlan *plan = d->b->plan;
	const uint64 *places;
	const uint32 *order;
	uint64		wanted;

	d->nrows = count_rows(d);
	if (d->nrows == 0 && d->b->node->sets != NIL)
		find_groups_of_none(d);
	places = list_places(d);
	wanted = plan->sorted && plan->limit > 0 ? Min(plan->limit, d->nrows) : d->nrows;
	if (wanted < d->nrows / FEW_ROWS && wanted <= MOST_FIRST && are_integers(d))
	{
		places = first_places(d, places, wanted);
		d->nrows = wanted;
	}
	order = find_order(d, places);
	rows->ncols = plan->noutputs;
	rows->count = 0;
	rows->filtered = plan->chooses_all && d->result->chosen;
	rows->values = MemoryContextAllocHuge(d->b->node->cxt, (wanted * rows->ncols + 1) * sizeof(Datum));
	rows->isnull = MemoryContextAllocHuge(d->b->node->cxt, (wanted * rows->ncols + 1) * sizeof(bool));
	while (rows->count < wanted && d->code == GC_OK)
	{
		uint32		at[BLOCK_ROWS];
		const int	nrows = Min(wanted - rows->count, BLOCK_ROWS);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < nrows; i++)
			at[i] = order ? order[rows->count + i] : rows->count + i;
		if (order)
			fetch_rows(d, places, at, nrows);
		decode_block(d, places, at, nrows, rows);
	}
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
	d.scratch = AllocSetContextCreate(CurrentMemoryContext, "gpuconc decoding", ALLOCSET_DEFAULT_SIZES);
	d.texts = MemoryContextAllocZero(d.scratch, (b->plan->noutputs + 1) * sizeof(Datum *));
	decode_rows(&d, rows);
	gc_variances_end(&d.variances);
	MemoryContextDelete(d.scratch);
	return d.code;
}
