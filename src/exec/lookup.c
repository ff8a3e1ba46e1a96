/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Lookup tables: PostgreSQL computes an expression once for each value that
 *	  its Var can have, and kernels look the results up.
 *
 * The values are the entries of a dictionary, or the integers between a column's minimum
 * and maximum.  Some of them may not occur in the rows that the query sees.  So the
 * expression must not be able to show that it was evaluated.  It is immutable, under row
 * security leakproof, and any error is caught.  Functions that are neither built in nor
 * leakproof may show it all the same: they are called only for values that occur.  So are
 * others once they have failed for all values.  What fails then means "fall back".
 *
 * What is computed of a cached dictionary or of integers is kept in shared memory for all
 * sessions (columns/store/lookups.c), if the expression is cacheable.  So are computations with a time zone.
 * A session reaches it through its own plan alone, which was permission-checked.  One session at a time computes what
 * is missing.  Values that only this request has, in its delta, are computed for it alone.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "lookup.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/float.h"
#include "utils/xml.h"

#include "compute.h"
#include "../columns/encode/pgkinds.h"
#include "../columns/store/store.h"

/*-------------------------------------------------------------------------
 * Which values of a column occur in the rows that a statement sees
 *
 * A dictionary has texts of rows that were deleted or never committed.  A range of integers has some that no row ever
 * had.  A function that may show its arguments must not see those.  So the rows that the request is bound to are gone
 * through here.  They are those of the chunks that are served, but for their holes, and the private ones.  PostgreSQL
 * might call the function for any of these rows.
 *-------------------------------------------------------------------------
 */

typedef struct Occurring
{
	bool	   *entries;		/* as those of the table */
	uint32		count;
	int64		base;			/* entry 1 */
	bool		days;			/* values are timestamps, entries are of dates */
} Occurring;

/* A value occurs; where days are wanted, its day does. */
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

/* Mark the values of a chunk's rows. */
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

/* Are there no entries left to be marked? */
static bool
all_marked(const Occurring *o, bool nullable)
{
	return (o->entries[0] || !nullable) && memchr(o->entries + 1, false, o->count - 1) == NULL;
}

/* Mark values of a column: in rows of the session, and in chunks that are served. */
static void
mark_column(Occurring *o, const GcBinding *b, u16 column)
{
	const GcInputState *in = &b->node->inputs[gc_columns(b->program)[column].input];
	const int	c = column - in->first;
	const bool	nullable = b->column_facts[column].nullable;
	i128		value;

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

/* May a group have no row, so that its extremes are NULL? */
static bool
may_be_empty(const GcProgram *p, const GcPColumn *c)
{
	const GcPPipeline *pl = &gc_pipelines(p)[gc_inputs(p)[c->input].groups_of - 1];

	return pl->nkeys == 0 || pl->sets > 0;
}

/*
 * False where the values are not known.  There is a NULL besides where rows may lack a partner, or a group rows, no
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
			o->entries[0] |= c->agg != GC_NONE && may_be_empty(p, c);
			e = gc_group_origin(p, c, false);
			return e != GC_NONE && mark_values(o, b, e);
		default:
			return false;
	}
}

/* Which entries of a lookup table occur in rows of the statement.  NULL: that cannot be told. */
static bool *
entries_of(const GcBinding *b, u16 arg, uint32 count, int64 base)
{
	const GcExpr *x = &gc_exprs(b->program)[arg];
	Occurring	o = {.count = count,.base = base,.days = x->op == GC_OP_CAST && x->kind == GC_DATE};

	o.entries = MemoryContextAllocExtended(CurrentMemoryContext, count * sizeof(bool),
										   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return mark_values(&o, b, o.days ? x->arg[0] : arg) ? o.entries : NULL;
}

/*
 * Which entries of a lookup table are of values that occur, palloc'd; entry 0 also where an outer join may make a NULL.
 * NULL: that is not known, since the argument is neither the value of a column in each row, nor the date of one.
 */
static const bool *
occurring_entries(const GcLookupWork *w)
{
	return entries_of(w->b, w->lut->arg, w->count, w->key.base);
}

/* By how many days the offset of a time zone, and rounding, may move the range of dates. */
#define DAYS_ASIDE		2

/*
 * From this number of values on the device executes text programs, if they take at most this part of
 * its memory.  Numbers have a narrower range if they are computed here.
 */
#define DEVICE_MIN_COUNT	(1 << 14)
#define DEVICE_MIN_NUMBERS	(1 << 16)
#define DEVICE_SHARE		4

/* Nothing ends a search once it has begun.  One for 64 bytes in a text of 64 kB takes some 20 ms. */
#define DEVICE_MOST_PATTERN	64

/*-------------------------------------------------------------------------
 * Integers
 *-------------------------------------------------------------------------
 */

/* Is the argument the date of a timestamp, which the table has midnight for? */
static bool
is_day(const GcBinding *b, const GcPlanLut *lut)
{
	return gc_exprs(b->program)[lut->arg].op == GC_OP_CAST && gc_exprs(b->program)[lut->arg].kind == GC_DATE;
}

/* The timestamp, without the offset of a time zone. */
static u16
origin_of_day(const GcBinding *b, u16 arg)
{
	const GcExpr *e = &gc_exprs(b->program)[gc_exprs(b->program)[arg].arg[0]];

	return e->op == GC_OP_ADD ? e->arg[0] : gc_exprs(b->program)[arg].arg[0];
}

/*
 * The integers that the lookup's argument can be: the values of the column that it comes from, or their dates.
 */
static GcCode
integer_domain(GcBinding *b, const GcPlanLut *lut, int64 *base, uint32 *count)
{
	const bool	day = is_day(b, lut);
	const u16	column = gc_origin_column(b->program, day ? origin_of_day(b, lut->arg) : lut->arg, false);
	const GcFact *fact;
	int64		lo,
				hi;

	if (column == GC_NONE)
		return gc_fail(&b->err, GC_UNSUPPORTED, "An expression would have to be tabulated for unknown values.");
	fact = &b->column_facts[column];
	if (fact->range.lo > fact->range.hi)
	{
		*base = 0;
		*count = 2;				/* f(NULL), f(0): never looked up */
		return GC_OK;
	}
	lo = (int64) fact->range.lo;
	hi = (int64) fact->range.hi;
	if (day)
	{
		lo = lo / USECS_PER_DAY - DAYS_ASIDE;
		hi = hi / USECS_PER_DAY + DAYS_ASIDE;
	}
	if ((i128) hi - lo >= GC_MAX_INTEGER_VALUES)
		return gc_fail(&b->err, GC_UNSUPPORTED,
					   "An expression would have to be tabulated for too many values.");
	*base = lo;
	*count = (uint32) (hi - lo) + 2;
	return GC_OK;
}

/*-------------------------------------------------------------------------
 * Entries
 *-------------------------------------------------------------------------
 */

int64
gc_lookup_value(const GcLookup *l, uint32 k)
{
	return k < l->first ? gc_lookups_value(l->shared, k) : l->values[k - l->first];
}

bool
gc_lookup_is_null(const GcLookup *l, uint32 k)
{
	return k < l->first ? l->shared->nulls[k] : l->nulls[k - l->first];
}

/* Take entries [k, end) into the range of all; false if they differ in scale, and are too large for that. */
static bool
widen(GcLookup *l, uint32 k, uint32 end)
{
	for (; k < end; k++)
	{
		const int64 value = gc_lookup_value(l, k);

		if (gc_lookup_is_null(l, k))
		{
			l->any_null = l->any_null || k > 0;
			continue;
		}
		if (!gc_span_join(&l->span, l->scale == GC_SCALE_TAGGED ?
						  (GcSpan) {GC_TAG_DIGITS(value), GC_TAG_DIGITS(value), GC_TAG_SCALE(value), GC_TAG_SCALE(value)} :
						  (GcSpan) {value, value, l->scale, l->scale}) || !gc_span_is_narrow(&l->span))
			return false;
	}
	return true;
}

/* Widen a range by the shared entries.  Entries behind `first` are of values that this request does not have. */
static void
widen_by_shared(GcLookup *l)
{
	GcLookupPart part = {.span = GC_NO_SPAN};

	if (l->first > 0)
		part = gc_lookups_part(l->shared, l->first);
	l->span = part.span;
	l->any_null = l->any_null || part.any_null;
}

/* Range and hash, once all entries are there. */
static GcCode
finish_lookup(GcBinding *b, GcLookup *l)
{
	uint32		n = l->count - l->first;
	uint64		seed = l->first > 0 ? l->shared->obj.region_id : 0;

	for (uint32 k = 0; k < n; k++)
	{
		if (l->nulls[k])
			l->values[k] = 0;
	}
	widen_by_shared(l);
	if (!widen(l, l->first, l->count))
		return gc_fail(&b->err, GC_UNSUPPORTED, "Results of an expression differ in scale and have too many digits.");
	l->null_of_null = gc_lookup_is_null(l, 0);
	l->hash = gc_hash_bytes(l->values, n * sizeof(int64), l->base ^ seed);
	l->hash.h[0] ^= gc_hash_bytes(l->nulls, n * sizeof(bool), l->scale).h[1];
	l->hash.h[1] += seed;
	return GC_OK;
}

/* Bytes of an entry, by the span of values. */
static uint8
entry_width(const GcLookupWork *w, const GcLookup *l)
{
	GcRange		range = {l->span.min, l->span.max};

	return l->scale == GC_SCALE_TAGGED ? sizeof(int64) : gc_lut_width(w->kind, &range);
}

/*
 * A table that is complete in shared memory, or what this request needs of it.  A ranking is used as a whole.  Results
 * stay as wide as the table has them: it would have to be copied.
 */
static GcLookup *
use_shared(const GcLookupWork *w, const GcSharedLookup *t)
{
	GcLookup   *l = palloc0(sizeof(GcLookup));

	l->count = l->first = w->lut->type == GC_LUT_RANK ? t->count : w->count - w->own;
	l->base = t->key.base;
	l->shared = t;
	l->null_of_null = t->nulls[0];
	l->scale = t->scale;
	widen_by_shared(l);
	if (entry_width(w, l) != t->width)
		l->span = t->span;
	l->hash = (GcHash) {{t->obj.region_id, 0x7368}};
	l->dict = t->dict ? gc_lookups_texts(t, l->count) : w->to;
	return l;
}

/*-------------------------------------------------------------------------
 * Shared tables
 *-------------------------------------------------------------------------
 */

/* Settings that results of immutable functions may depend on all the same, as a hash. */
static GcHash
session_hash(void)
{
	int			state[] = {quote_all_identifiers, bytea_output, IntervalStyle, extra_float_digits,
	DateStyle, DateOrder, xmlbinary, xmloption};

	return gc_hash_bytes(state, sizeof(state), 0);
}

/* False: it is for this request alone. */
static bool
describe_function(const GcBinding *b, const GcPlanLut *lut, GcLookupKey *key)
{
	GcHash		session;
	GcHash		zone = {{0, 0}};

	if ((lut->type == GC_LUT_ZONE || lut->zoned) && !gc_zone_hash(b, lut, &zone))
		return false;
	switch (lut->type)
	{
		case GC_LUT_ADD:
			return false;
		case GC_LUT_TRANSLATE:
			key->function[0] = GC_LUT_TRANSLATE;
			break;
		case GC_LUT_RANK:
			key->function[0] = GC_LUT_RANK;
			key->function[1] = (uint64) gc_rank_function(lut) << 32 | lut->collation;
			break;
		case GC_LUT_ZONE:
			key->function[0] = zone.h[0] ^ (lut->rank + 1);
			key->function[1] = zone.h[1];
			break;
		default:
			session = session_hash();
			key->function[0] = lut->hash.h[0] ^ session.h[0] ^ zone.h[0];
			key->function[1] = lut->hash.h[1] ^ session.h[1] ^ zone.h[1];
			break;
	}
	return lut->type != GC_LUT_EXPR || lut->cacheable;
}

/*
 * A table of two texts.  Where a dictionary has grown, it is another one: its entries have other places.  With texts
 * that only this request has, all of it is the request's.
 */
static GcCode
describe_pair(GcBinding *b, const GcPlanLut *lut, GcLookupWork *w)
{
	const uint64 firsts = (uint64) gc_space_values(b, lut->space) + 1;
	const uint64 seconds = (uint64) gc_space_values(b, lut->second) + 1;
	const uint64 shape[] = {firsts, seconds};
	const GcHash shaped = gc_hash_bytes(shape, sizeof(shape), GC_LUT_EXPR);

	if (firsts * seconds > GC_MAX_PAIRS)
		return gc_fail(&b->err, GC_UNSUPPORTED,
					   "An expression would have to be tabulated for too many pairs of texts.");
	w->from = gc_space_dict(b, lut->space);
	w->second = gc_space_dict(b, lut->second);
	w->seconds = (uint32) seconds;
	w->count = (uint32) (firsts * seconds) + 1;
	w->key.function[0] ^= shaped.h[0];
	w->key.function[1] ^= shaped.h[1];
	w->key.dict = gc_dict_shared_id(w->from);
	w->key.to_dict = gc_dict_shared_id(w->second);
	w->shareable = w->shareable && w->key.dict != 0 && w->key.to_dict != 0 &&
		gc_dict_shared_count(w->from) + 1 == firsts && gc_dict_shared_count(w->second) + 1 == seconds;
	return GC_OK;
}

/* Find out what table i is about; w->shareable if all sessions can use it. */
static GcCode
describe(GcBinding *b, int i, GcLookupWork *w)
{
	const GcPlanLut *lut = &b->plan->luts[i];
	GcLookupKey *key = &w->key;

	memset(w, 0, sizeof(*w));
	w->b = b;
	w->lut = lut;
	w->kind = gc_luts(b->program)[i].kind;
	w->argkind = gc_exprs(b->program)[lut->arg].kind;
	key->dbid = MyDatabaseId;
	key->kind = w->kind;
	if (lut->type == GC_LUT_RANKED)
	{
		/* The table is as large as the ranking, and made of that at once. */
		w->count = b->lookups[lut->rank]->count;
		return GC_OK;
	}
	w->shareable = describe_function(b, lut, key);
	if (GC_LUT_IS_PAIR(lut))
		return describe_pair(b, lut, w);
	if (!GC_KIND_IS_CODE(w->argkind))
		return integer_domain(b, lut, &key->base, &w->count);

	w->from = gc_space_dict(b, lut->space);
	w->count = gc_dict_count(w->from) + 1;
	w->own = w->count - gc_dict_shared_count(w->from) - 1;
	key->dict = gc_dict_shared_id(w->from);
	w->shareable = w->shareable && key->dict != 0;
	if (lut->to_space != GC_SPACE_NONE)
	{
		w->to = gc_space_dict(b, lut->to_space);
		key->to_dict = gc_dict_shared_id(w->to);
		w->to_count = gc_dict_shared_count(w->to);
		w->to_own = gc_dict_count(w->to) - w->to_count;
		/* Other requests have other parts of that dictionary. */
		if (gc_dict_is_part(w->to))
			key->function[1] = w->to_count + 1;
		w->shareable = w->shareable && key->to_dict != 0;
	}
	return GC_OK;
}

/* Does a table have all that the shared values need? */
static bool
suffices(const GcLookupWork *w, const GcSharedLookup *t)
{
	return t && t->count >= w->count - w->own && t->to_count == w->to_count;
}

/*-------------------------------------------------------------------------
 * Making shared tables
 *-------------------------------------------------------------------------
 */

static void
write_entries(GcSharedLookup *t, const GcLookup *l)
{
	uint32		k = 0;

	if (l->first > 0 && l->shared->width == t->width)
	{
		memcpy(t->data, l->shared->data, (Size) l->first * t->width);
		memcpy(t->nulls, l->shared->nulls, l->first);
		k = l->first;
	}
	for (; k < l->count; k++)
	{
		int64		v = gc_lookup_value(l, k);

		if (t->width == 1)
			((uint8 *) t->data)[k] = v;
		else if (t->width == 4)
			((int32 *) t->data)[k] = v;
		else
			((int64 *) t->data)[k] = v;
		t->nulls[k] = gc_lookup_is_null(l, k);
	}
	if (t->order && l->count > 1)
		memcpy(t->order, l->order, (l->count - 1) * sizeof(uint32));
}

/* Put a computed table into shared memory.  NULL: there is no room. */
static const GcSharedLookup *
publish(const GcLookupWork *w, const GcLookup *l)
{
	GcLookupShape shape = {.count = l->count,.width = entry_width(w, l),
	.ranked = w->lut->type == GC_LUT_RANK,.dict = GC_KIND_IS_CODE(w->kind) && w->to == NULL ? l->dict : NULL};
	void	   *memory = gc_store_alloc_now(gc_lookups_size(&shape));
	GcSharedLookup *t;

	/* Nothing from here to the publication can raise an error. */
	if (memory == NULL)
		return NULL;
	t = gc_lookups_init(memory, &w->key, &shape);
	t->to_count = w->to_count;
	t->any_null = l->any_null;
	t->scale = l->scale;
	t->span = l->span;
	write_entries(t, l);
	return gc_lookups_publish(t, w->from, w->second ? w->second : w->to);
}

/* May a shared table find room, or at least could not be helped to it? */
static bool
room_or_hopeless(const GcLookupWork *w)
{
	GcScanState *node = w->b->node;
	Size		bytes = (Size) w->count * ((w->kind == GC_BOOL ? 1 : 4) + 1);

	bytes += w->lut->type == GC_LUT_RANK ? (Size) w->count * sizeof(uint32) : 0;
	if (node->made_lookup_room || gc_store_available() >= bytes || bytes > gc_store_capacity() / 4)
		return true;
	node->lookup_room = bytes;
	return false;
}

bool
gc_make_lookup_room(GcScanState *node)
{
	if (node->lookup_room == 0)
		return false;
	(void) gc_store_make_room(node->lookup_room, GetCurrentStatementStartTimestamp());
	node->lookup_room = 0;
	node->made_lookup_room = true;
	return true;
}

/* Entries with which an expression's table is published first.  It is again whenever their number has doubled. */
#define FIRST_ENTRIES	(1 << 16)

/*
 * Compute what a table lacks, and publish it; *l is the result in either case.  Where an expression takes long, a
 * session that is cancelled leaves what it has computed to the next one.
 */
static GcCode
extend(GcLookupWork *w, GcLookup **l)
{
	const GcSharedLookup *t = gc_lookups_find(&w->key);
	GcLookupWork shared = *w;
	const uint32 count = w->count - w->own;
	bool		in_parts = w->lut->type == GC_LUT_EXPR;
	uint32		origins[GC_LOOKUP_ORIGINS];
	GcCode		code;

	if (suffices(w, t))
	{
		*l = use_shared(w, t);
		return GC_OK;
	}
	/* without the values that no other session knows */
	shared.count = count;
	shared.own = shared.to_own = 0;
	if (!room_or_hopeless(&shared))
		return gc_fail(&w->b->err, GC_RETRY_LOAD, "Room is to be made for a lookup table.");
	memcpy(origins, w->b->node->stats.lookups, sizeof(origins));
	for (;;)
	{
		const GcSharedLookup *published;

		/* The parts are one table. */
		memcpy(w->b->node->stats.lookups, origins, sizeof(origins));
		if (in_parts)
			shared.count = Min(Max(t ? t->count * UINT64CONST(2) : 0, FIRST_ENTRIES), count);
		if ((code = gc_compute_lookup(&shared, t, l)) != GC_OK || (code = finish_lookup(w->b, *l)) != GC_OK)
			return code;
		pg_atomic_fetch_add_u64(&gc_stats()->lookups_made, 1);
		published = publish(&shared, *l);
		if (published == NULL && shared.count == count)
			return GC_OK;
		in_parts = published != NULL;
		t = published ? published : t;
		if (t && t->count >= count)
			break;
		pfree((*l)->values);
		pfree((*l)->nulls);
		shared.count = count;
	}
	*l = use_shared(w, t);
	return GC_OK;
}

/* Other sessions wait for this one's table no more. */
static void
end_making(int code, Datum key)
{
	gc_lookups_end((const GcLookupKey *) DatumGetPointer(key));
}

/* Have a table in shared memory; where there is no room, for this request. */
static GcCode
have_shared(GcLookupWork *w, GcLookup **l)
{
	volatile GcCode code = GC_OK;

	for (;;)
	{
		const GcSharedLookup *t = gc_lookups_find(&w->key);

		if (suffices(w, t))
		{
			*l = use_shared(w, t);
			w->b->node->stats.lookups[GC_LOOKUP_SHARED]++;
			pg_atomic_fetch_add_u64(&gc_stats()->lookups_shared, 1);
			return GC_OK;
		}
		if (gc_lookups_begin(&w->key))
			break;
	}
	PG_ENSURE_ERROR_CLEANUP(end_making, PointerGetDatum(&w->key));
	{
		code = extend(w, l);
	}
	PG_END_ENSURE_ERROR_CLEANUP(end_making, PointerGetDatum(&w->key));
	gc_lookups_end(&w->key);
	return code;
}

/*-------------------------------------------------------------------------
 * Tables that the device computes
 *-------------------------------------------------------------------------
 */

/* Has the device memory to spare for a copy of the dictionary, and for tables? */
static bool
device_has_room(const GcLookupWork *w)
{
	GcDictContents c = gc_dict_contents(gc_dict_shared(w->from));

	return c.start[w->count - 1] + (uint64) w->count * sizeof(uint64) <
		gc_device_status()->info.memory_bytes / DEVICE_SHARE;
}

/*
 * A text program over a large dictionary is left to the device, unless it makes texts.  All that must
 * be known here is its range, and that it is NULL of NULL alone.
 */
static GcLookup *
left_to_device(GcLookupWork *w)
{
	GcTextProgram program;
	GcLookup   *l;

	if (!w->shareable || w->own > 0 || GC_KIND_IS_CODE(w->kind) ||
		w->count < (w->kind == GC_BOOL ? DEVICE_MIN_COUNT : DEVICE_MIN_NUMBERS) ||
		!gc_text_compile(w, &program) || program.pattern > DEVICE_MOST_PATTERN || !device_has_room(w))
		return NULL;
	w->b->node->stats.lookups[GC_LOOKUP_DEVICE]++;
	l = palloc0(sizeof(GcLookup));
	l->program = memcpy(palloc(sizeof(GcTextProgram)), &program, sizeof(GcTextProgram));
	l->program_from = w->from;
	l->function = (GcHash) {{w->key.function[0], w->key.function[1]}};
	l->count = w->count;
	l->null_of_null = true;
	l->scale = -1;
	l->span = (GcSpan) {.max = w->kind == GC_BOOL ? 1 : program.most,.dscale = -1,.min_dscale = -1};
	l->hash = l->function;
	l->hash.h[0] ^= w->key.dict;
	return l;
}

/*-------------------------------------------------------------------------
 * All of them
 *-------------------------------------------------------------------------
 */

/* Have the entries that are wanted: from all sessions' table, as far as it goes. */
static GcCode
have_entries(GcLookupWork *w, GcLookup **l)
{
	const GcSharedLookup *t;
	GcCode		code = GC_OK;

	*l = left_to_device(w);
	if (*l == NULL && w->shareable)
		code = have_shared(w, l);
	if (code != GC_OK || (*l && w->own == 0 && w->to_own == 0))
		return code;
	t = *l && (*l)->first == (*l)->count ? (*l)->shared : NULL;
	code = gc_compute_lookup(w, t, l);
	return code == GC_OK ? finish_lookup(w->b, *l) : code;
}

/* Want only the entries of values that occur, for this request alone; false: it is not known which those are. */
static bool
want_occurring(GcLookupWork *w)
{
	w->shareable = false;
	w->wanted = occurring_entries(w);
	return w->wanted != NULL;
}

/* Have a lookup table: found, extended, made by this session, or left to the device. */
static GcCode
make_lookup(GcBinding *b, int i)
{
	const GcPlanLut *lut = &b->plan->luts[i];
	GcLookupWork w;
	GcLookup   *l = NULL;
	GcCode		code = describe(b, i, &w);

	if (code != GC_OK)
		return code;
	code = lut->of_rows ? gc_fail(&b->err, GC_UNSUPPORTED, "A function would see values that no row need have.") :
		have_entries(&w, &l);
	/* An expression may have failed for a value that no row has. */
	if (lut->type == GC_LUT_EXPR && (code == GC_DATA || code == GC_UNSUPPORTED) && want_occurring(&w))
		code = have_entries(&w, &l);
	if (code != GC_OK)
		return code;
	b->lookups[i] = l;
	b->lut_facts[i] = (GcFact) {.range = {l->span.min, l->span.max},.nullable = l->any_null,
	.null_of_null = l->null_of_null,.scale = Max(l->span.dscale, 0),
	.scale_spread = l->span.dscale - l->span.min_dscale};
	return GC_OK;
}

/* Give the text constants that are results their codes, before anything is computed of these. */
static GcCode
add_constants(GcBinding *b)
{
	b->constants = gc_dict_view(NULL, false);
	for (int i = 0; i < b->plan->nparams; i++)
	{
		int			e = b->plan->params[i].expr;
		GcValueBytes v;

		if (b->plan->params[i].space != GC_SPACE_CONSTANTS || e < 0 || b->node->isnull[e])
			continue;
		gc_datum_bytes(gc_params(b->program)[i].kind, b->node->values[e], &v);
		if (gc_dict_intern(b->constants, v.bytes, v.len) < 0)
			return gc_fail(&b->err, GC_UNSUPPORTED, "A text constant is too long.");
	}
	return GC_OK;
}

GcCode
gc_make_lookups(GcBinding *b)
{
	GcCode		code = add_constants(b);

	memset(b->node->stats.lookups, 0, sizeof(b->node->stats.lookups));
	for (int i = 0; i < b->plan->nluts && code == GC_OK; i++)
		code = make_lookup(b, i);
	return code;
}

/* A text of a pair that came to its dictionary later would be taken for another pair. */
static bool
is_pair_within(GcBinding *b, const GcPlanLut *lut)
{
	const GcExpr *sum = &gc_exprs(b->program)[lut->arg];

	return !GC_LUT_IS_PAIR(lut) || b->ranges[sum->arg[1]].hi <= gc_space_values(b, lut->second);
}

/* Dictionaries know all of their codes. */
GcCode
gc_check_lookups(GcBinding *b)
{
	for (int i = 0; i < b->program->nexprs; i++)
	{
		const GcExpr *e = &gc_exprs(b->program)[i];
		const GcExpr *arg = e->op == GC_OP_LUT ? &gc_exprs(b->program)[e->arg[0]] : NULL;
		const GcRange *values = arg ? &b->ranges[e->arg[0]] : NULL;
		const GcLookup *l = arg ? b->lookups[e->ref] : NULL;

		if (arg && arg->op != GC_OP_NULL && !GC_KIND_IS_CODE(arg->kind) &&
			(values->lo < l->base || values->hi > l->base + (i128) l->count - 2 || !is_pair_within(b, &b->plan->luts[e->ref])))
			return gc_fail(&b->err, GC_UNSUPPORTED, "A lookup table lacks values that may be looked up.");
	}
	return GC_OK;
}
