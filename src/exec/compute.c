/*-------------------------------------------------------------------------
 *
 * compute.c
 *	  Computing the entries of lookup tables: expressions, and translations from one dictionary to
 *	  another; rankings are in rank.c.  The dictionaries that a request's texts are codes of.
 *
 * What a shared table has already is not computed again.  Codes are never used anew, so its
 * entries hold for every later state of its dictionary.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "compute.h"

#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "../columns/encode/pgkinds.h"

#define INTERRUPT_MASK	0x3ff

/* Entries that the session evaluates first; and milliseconds: workers evaluate the others if these take it longer. */
#define TRIED_ENTRIES	1024
#define WORKERS_MS		50

bool		gc_in_lookup = false;

/*-------------------------------------------------------------------------
 * Dictionaries
 *-------------------------------------------------------------------------
 */

GcDictView *
gc_space_dict(GcBinding *b, uint16 space)
{
	if (space == GC_SPACE_CONSTANTS)
		return b->constants;
	if (space >= GC_SPACE_LUT)
		return b->lookups[space - GC_SPACE_LUT]->dict;
	for (int i = 0; i < b->plan->ninputs; i++)
	{
		GcInputState *in = &b->node->inputs[i];

		if (space >= in->first && space < in->first + in->ncols)
			return in->dicts[space - in->first];
	}
	return NULL;
}

uint32
gc_space_values(GcBinding *b, uint16 space)
{
	const int	at = space < GC_SPACE_LUT ? space
		: space < GC_SPACE_CONSTANTS ? b->plan->ncolumns + space - GC_SPACE_LUT : b->plan->ncolumns + b->plan->nluts;

	if (b->space_values[at] == 0)
		b->space_values[at] = 1 + gc_dict_count(gc_space_dict(b, space));
	return b->space_values[at] - 1;
}

/* Blank-padded length, in characters, of a space's values; 0 if not padded. */
static int
space_padding(GcBinding *b, uint16 space)
{
	const GcPlanColumn *c;

	if (space == GC_SPACE_CONSTANTS)
		return 0;
	if (space >= GC_SPACE_LUT)
	{
		const GcPlanLut *lut = &b->plan->luts[space - GC_SPACE_LUT];

		if (lut->type == GC_LUT_UNIFY)
			return space_padding(b, lut->space);
		return lut->to_space != GC_SPACE_NONE ? space_padding(b, lut->to_space) : 0;
	}
	c = &b->plan->columns[space];
	return gc_columns(b->program)[space].rtrim ? c->typmod - VARHDRSZ : 0;
}

Datum
gc_text_value(GcBinding *b, GcKind kind, uint16 space, uint32 code)
{
	int			padded = space_padding(b, space);
	uint32		len;
	const char *bytes = gc_dict_get(gc_space_dict(b, space), code, &len);
	int			blanks = padded > 0 ? padded - pg_mbstrlen_with_len(bytes, len) : 0;

	return gc_bytes_datum(kind, bytes, len, Max(blanks, 0));
}

/*-------------------------------------------------------------------------
 * Tables
 *-------------------------------------------------------------------------
 */

/* An empty table, whose entries below `first` are those of t. */
static GcLookup *
new_lookup(const GcLookupWork *w, const GcSharedLookup *t, uint32 first)
{
	GcLookup   *l = palloc0(sizeof(GcLookup));
	Size		n = w->count - first;

	l->count = w->count;
	l->first = first;
	l->shared = first > 0 ? t : NULL;
	l->base = w->key.base;
	l->values = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(int64));
	l->nulls = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(bool));
	l->scale = t ? t->scale : -1;
	return l;
}

/*-------------------------------------------------------------------------
 * Expressions
 *-------------------------------------------------------------------------
 */

typedef struct FillArg
{
	const GcLookupWork *w;
	GcLookup   *lookup;
	ExprState  *expr;
	bool		failed;
	bool		workers;		/* they have computed entries */
	bool		anew;			/* it failed as it goes on from shared entries: without them, it may not */
} FillArg;

/* The value that entry i is computed for, as a datum in per-tuple memory. */
static Datum
argument_datum(FillArg *a, uint32 i)
{
	Datum		value;

	if (GC_KIND_IS_CODE(a->w->argkind))
		return gc_text_value(a->w->b, a->w->argkind, a->w->lut->space, i - 1);
	value = gc_raw_to_datum(a->w->argkind, a->lookup->base + i - 1, 0);
	/* Any timestamp of the day will do. */
	if (a->w->argkind == GC_DATE && gc_type_kind(a->w->lut->argtype) == GC_TIMESTAMP)
		return DirectFunctionCall1(date_timestamp, value);
	if (a->w->argkind == GC_DATE && gc_type_kind(a->w->lut->argtype) == GC_TIMESTAMPTZ)
		return DirectFunctionCall1(date_timestamptz, value);
	return value;
}

/* Give a column of the scan's tuple a value. */
static void
set_argument(TupleTableSlot *slot, int attno, bool isnull, Datum value)
{
	slot->tts_isnull[attno - 1] = isnull;
	slot->tts_values[attno - 1] = value;
}

/* A pair of texts has, in the place of a NULL, one more than the last code. */
static void
set_text(const GcLookupWork *w, TupleTableSlot *slot, int attno, int k, uint32 code, uint32 null)
{
	set_argument(slot, attno, code == null, code == null ? (Datum) 0 :
				 gc_text_value(w->b, w->lut->kinds[k], k == 0 ? w->lut->space : w->lut->second, code));
}

/* The value of entry i, in the slot. */
static void
set_arguments(FillArg *a, uint32 i, TupleTableSlot *slot)
{
	const GcLookupWork *w = a->w;

	if (i == 0 || w->second == NULL)
		set_argument(slot, w->lut->attno, i == 0, i == 0 ? (Datum) 0 : argument_datum(a, i));
	else
	{
		set_text(w, slot, w->lut->attno, 0, (i - 1) / w->seconds, (w->count - 1) / w->seconds - 1);
		set_text(w, slot, w->lut->second_attno, 1, (i - 1) % w->seconds, w->seconds - 1);
	}
}

/* Tags a numeric; false if it is too large for that. */
static bool
tag_entry(int64 *value, int16 scale)
{
	const bool	fits = *value > -GC_TAG_LIMIT && *value < GC_TAG_LIMIT && scale < GC_TAG_SCALES;

	*value = GC_TAGGED(*value, scale);
	return fits;
}

/*
 * Entry i, *to, is a numeric of that scale.  Where entries differ in scale, all of them are
 * tagged, as a column's values.
 */
static void
store_scale(FillArg *a, uint32 i, int16 scale, int64 *to)
{
	GcLookup   *l = a->lookup;

	if (l->scale == scale || l->scale == -1)
	{
		l->scale = scale;
		return;
	}
	if (l->scale != GC_SCALE_TAGGED)
	{
		/* Shared entries cannot be changed. */
		a->anew = a->failed = l->first > 0;
		for (uint32 k = l->first; k < i && !a->failed; k++)
			a->failed = !l->nulls[k - l->first] && !tag_entry(&l->values[k - l->first], l->scale);
		l->scale = GC_SCALE_TAGGED;
	}
	a->failed = a->failed || !tag_entry(to, scale);
}

/* Store entry i of the table; texts go into its dictionary. */
static void
store_result(FillArg *a, uint32 i, Datum value, bool isnull)
{
	GcLookup   *l = a->lookup;
	int64	   *to = &l->values[i - l->first];
	int16		scale = 0;

	l->nulls[i - l->first] = isnull;
	*to = 0;
	if (isnull)
		return;
	if (GC_KIND_IS_CODE(a->w->kind))
	{
		GcValueBytes b;

		gc_datum_bytes(a->w->kind, value, &b);
		*to = gc_dict_intern(l->dict, b.bytes, b.len);
		a->failed = a->failed || *to < 0;
		return;
	}
	if (!gc_datum_to_raw(a->w->kind, value, to, &scale))
		a->failed = true;
	else if (a->w->kind == GC_NUMERIC)
		store_scale(a, i, scale, to);
}

/* Entries that no row looks up: as another one, they do not widen the range of results, and add no NULL. */
static void
fill_unwanted(GcLookup *l, const bool *wanted)
{
	uint32		like = 1;

	while (like < l->count && l->nulls[like])
		like++;
	for (uint32 i = 1; i < l->count && like < l->count; i++)
	{
		if (wanted[i])
			continue;
		l->values[i] = l->values[like];
		l->nulls[i] = false;
	}
}

/* Evaluate the expression for some entries. */
static bool
fill_entries(void *arg, uint32 from, uint32 end)
{
	FillArg    *a = arg;
	GcScanState *node = a->w->b->node;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;

	for (uint32 i = from; i < end && !a->failed; i++)
	{
		MemoryContext old;
		Datum		value;
		bool		isnull;

		if (a->w->wanted && !a->w->wanted[i])
		{
			store_result(a, i, (Datum) 0, true);
			continue;
		}
		/* One call may take long. */
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		set_arguments(a, i, slot);
		value = ExecEvalExpr(a->expr, econtext, &isnull);
		MemoryContextSwitchTo(old);
		store_result(a, i, value, isnull);
	}
	return !a->failed;
}

/* A worker's result. */
static bool
take_entry(void *arg, uint32 i, Datum value, bool isnull)
{
	FillArg    *a = arg;

	store_result(a, i, value, isnull);
	return !a->failed;
}

/* Within a subtransaction: have the entries that are not there yet, by workers once it shows that they take long. */
static void
fill_callback(void *arg)
{
	FillArg    *a = arg;
	GcScanState *node = a->w->b->node;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	const uint32 first = a->lookup->first;
	const uint32 count = a->lookup->count;
	const uint32 tried = Min(first + TRIED_ENTRIES, count);
	instr_time	start,
				taken;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	node->css.ss.ps.ps_ExprContext->ecxt_scantuple = slot;
	INSTR_TIME_SET_CURRENT(start);
	(void) fill_entries(a, first, tried);
	INSTR_TIME_SET_CURRENT(taken);
	INSTR_TIME_SUBTRACT(taken, start);
	if (INSTR_TIME_GET_MILLISEC(taken) / TRIED_ENTRIES * (count - tried) > WORKERS_MS && !a->failed &&
		gc_may_use_workers(a->w))
		a->workers = gc_compute_by_workers(a->w, tried, count, &(GcEntries) {fill_entries, take_entry, a,
			space_padding(a->w->b, a->w->lut->space)});
	else
		(void) fill_entries(a, tried, count);
	ExecClearTuple(slot);
}

/* Compute a lookup table by a program of texts if there is one, and else by PostgreSQL's executor. */
static GcCode
compute_expression(GcLookupWork *w, const GcSharedLookup *t, GcLookup **result)
{
	FillArg		arg = {.w = w,.expr = w->b->node->exprs[w->lut->expr]};
	GcTextProgram program;
	bool		ok;

	arg.lookup = new_lookup(w, t, t ? Min(t->count, w->count - w->own) : 0);
	if (GC_KIND_IS_CODE(w->kind))
		arg.lookup->dict = t ? gc_lookups_texts(t, arg.lookup->first) : gc_dict_view(NULL, false);
	if (gc_text_compile(w, &program))
	{
		w->b->node->stats.lookups[GC_LOOKUP_COMPUTED]++;
		*result = arg.lookup;
		return gc_text_fill(w, &program, arg.lookup) ? GC_OK :
			gc_fail(&w->b->err, GC_UNSUPPORTED, "Results of an expression are too long, or too many.");
	}
	/* A function that runs queries must not offload them under our guard. */
	gc_in_lookup = true;
	ok = gc_guarded(fill_callback, &arg, &w->b->err);
	gc_in_lookup = false;
	w->b->node->stats.lookups[arg.workers ? GC_LOOKUP_WORKERS : GC_LOOKUP_EVALUATED]++;
	/* The error's message may name a value that the user must not see. */
	if (!ok)
		return w->wanted ? GC_DATA
			: gc_fail(&w->b->err, GC_DATA, "An expression raised an error for a value that no row need have.");
	if (arg.anew)
		return compute_expression(w, NULL, result);
	if (arg.failed)
		return gc_fail(&w->b->err, GC_UNSUPPORTED, "Results of an expression do not fit 64 bits.");
	if (w->wanted)
		fill_unwanted(arg.lookup, w->wanted);
	*result = arg.lookup;
	return GC_OK;
}

/*-------------------------------------------------------------------------
 * Translations
 *-------------------------------------------------------------------------
 */

/*
 * Codes of one dictionary as those of another.  Values that the other one lacked when t was made may be there by now:
 * they are looked up again.  A table for all sessions has no codes of values that only this request's view has.  add:
 * what is not there is added to that view.
 */
static GcCode
compute_translation(GcLookupWork *w, const GcSharedLookup *t, bool add, GcLookup **result)
{
	GcLookup   *l = new_lookup(w, NULL, 0);
	uint32		known = !add && t && t->to_count <= w->to_count ? Min(t->count, w->count - w->own) : 0;

	l->nulls[0] = true;
	l->values[0] = 0;
	for (uint32 i = 1; i < l->count; i++)
	{
		uint32		len;
		const char *bytes;

		if ((i & INTERRUPT_MASK) == 0)
			CHECK_FOR_INTERRUPTS();
		l->nulls[i] = false;
		l->values[i] = i < known ? ((const int32 *) t->data)[i] : -1;
		if (l->values[i] >= 0)
			continue;
		bytes = gc_dict_get(w->from, i - 1, &len);
		l->values[i] = add ? gc_dict_intern(w->to, bytes, len) : gc_dict_lookup(w->to, bytes, len);
		if (add && l->values[i] < 0)
			return gc_fail(&w->b->err, GC_UNSUPPORTED, "The texts of several columns are too many.");
		if (!add && l->values[i] >= (int64) w->to_count + w->to_own)
			l->values[i] = -1;
	}
	l->dict = w->to;
	*result = l;
	return GC_OK;
}

/*
 * One code for each text of several dictionaries, in one of the request's own, which is asked for
 * what theirs are asked for.
 */
static GcCode
compute_unification(GcLookupWork *w, GcLookup **result)
{
	w->to = gc_dict_view(NULL, gc_columns(w->b->program)[w->lut->space].rtrim);
	return compute_translation(w, NULL, true, result);
}

/*
 * Rank -> entry: what a ranking has sorted.  Of shared rankings, it may be texts that the
 * dictionary does not have here.
 */
static GcLookup *
compute_ranked(GcLookupWork *w)
{
	const GcLookup *rank = w->b->lookups[w->lut->rank];
	const uint32 *order = rank->order ? rank->order : rank->shared->order;
	const uint32 ntexts = gc_dict_count(gc_space_dict(w->b, w->lut->space));
	GcLookup   *l = new_lookup(w, NULL, 0);

	l->nulls[0] = true;
	l->values[0] = 0;
	for (uint32 i = 1; i < w->count; i++)
	{
		l->values[i] = order[i - 1] < ntexts ? order[i - 1] : 0;
		l->nulls[i] = false;
	}
	return l;
}

GcCode
gc_compute_lookup(GcLookupWork *w, const GcSharedLookup *t, GcLookup **result)
{
	if (w->lut->type != GC_LUT_EXPR)
		w->b->node->stats.lookups[GC_LOOKUP_COMPUTED]++;
	switch (w->lut->type)
	{
		case GC_LUT_TRANSLATE:
			return compute_translation(w, t, false, result);
		case GC_LUT_ADD:
			return compute_translation(w, NULL, true, result);
		case GC_LUT_UNIFY:
			return compute_unification(w, result);
		case GC_LUT_RANK:
			*result = new_lookup(w, NULL, 0);
			gc_compute_rank(w, t, *result);
			return GC_OK;
		case GC_LUT_RANKED:
			*result = compute_ranked(w);
			return GC_OK;
		case GC_LUT_ZONE:
			*result = new_lookup(w, t, t ? Min(t->count, w->count) : 0);
			return gc_compute_zone(w, *result);
		default:
			return compute_expression(w, t, result);
	}
}
