/*-------------------------------------------------------------------------
 *
 * compute.c
 *	  Computing the entries of lookup tables: expressions, translations from one dictionary to
 *	  another, and rankings.
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
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "ahead.h"
#include "like.h"
#include "lookup.h"
#include "../columns/pgkinds.h"

#define INTERRUPT_MASK	0x3ff

bool		gc_in_lookup = false;

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
} FillArg;

/* The value that entry i is computed for, as a datum in per-tuple memory. */
static Datum
argument_datum(FillArg *a, uint32 i)
{
	if (a->w->argkind == GC_TEXT)
		return gc_text_value(a->w->b, a->w->lut->space, i - 1);
	return gc_raw_to_datum(a->w->argkind, a->lookup->base + i - 1, 0);
}

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
	if (a->w->kind == GC_TEXT)
	{
		text	   *t = DatumGetTextPP(value);

		*to = gc_dict_intern(l->dict, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
		a->failed = a->failed || *to < 0;
		return;
	}
	if (!gc_datum_to_raw(a->w->kind, value, to, &scale))
		a->failed = true;
	if (a->w->kind == GC_NUMERIC)
	{
		/* one scale for all entries, as for a column */
		if (l->scale >= 0 && l->scale != scale)
			a->failed = true;
		l->scale = scale;
	}
}

static void
fill_callback(void *arg)
{
	FillArg    *a = arg;
	GcScanState *node = a->w->b->node;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;
	int			attno = a->w->lut->attno - 1;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	for (uint32 i = a->lookup->first; i < a->lookup->count && !a->failed; i++)
	{
		MemoryContext old;
		Datum		value;
		bool		isnull;

		if ((i & INTERRUPT_MASK) == 0)
			CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		slot->tts_isnull[attno] = i == 0;
		slot->tts_values[attno] = i == 0 ? (Datum) 0 : argument_datum(a, i);
		value = ExecEvalExpr(a->expr, econtext, &isnull);
		MemoryContextSwitchTo(old);
		store_result(a, i, value, isnull);
	}
	ExecClearTuple(slot);
}

static GcCode
compute_expression(GcLookupWork *w, const GcSharedLookup *t, GcLookup **result)
{
	FillArg		arg = {.w = w,.expr = w->b->node->exprs[w->lut->expr]};
	GcLike		like;
	bool		ok;

	arg.lookup = new_lookup(w, t, t ? Min(t->count, w->count - w->own) : 0);
	if (w->kind == GC_TEXT)
		arg.lookup->dict = gc_dict_frozen_view(t ? t->dict : NULL);
	if (gc_like_compile(w, &like))
	{
		gc_like_fill(w, &like, arg.lookup);
		*result = arg.lookup;
		return GC_OK;
	}
	/* A function that runs queries must not offload them under our guard. */
	gc_in_lookup = true;
	ok = gc_guarded(fill_callback, &arg, &w->b->err);
	gc_in_lookup = false;
	if (!ok)
		return GC_DATA;
	if (arg.failed)
		return gc_fail(&w->b->err, GC_UNSUPPORTED,
					   "Results of an expression differ in scale or do not fit 64 bits.");
	*result = arg.lookup;
	return GC_OK;
}

/*-------------------------------------------------------------------------
 * Translations
 *-------------------------------------------------------------------------
 */

/* What the other dictionary lacked when t was made, it may have by now: that is looked up again. */
static GcLookup *
compute_translation(GcLookupWork *w, const GcSharedLookup *t)
{
	GcLookup   *l = new_lookup(w, NULL, 0);
	uint32		known = t && t->to_count <= w->to_count ? Min(t->count, w->count - w->own) : 0;

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
		l->values[i] = gc_dict_lookup(w->to, bytes, len);
	}
	l->dict = w->to;
	return l;
}

/* A translation that adds what it does not find to this request's view of the other dictionary. */
static GcCode
compute_addition(GcLookupWork *w, GcLookup **result)
{
	GcLookup   *l = new_lookup(w, NULL, 0);

	l->nulls[0] = true;
	l->values[0] = 0;
	for (uint32 i = 1; i < l->count; i++)
	{
		uint32		len;
		const char *bytes = gc_dict_get(w->from, i - 1, &len);

		if ((i & INTERRUPT_MASK) == 0)
			CHECK_FOR_INTERRUPTS();
		l->nulls[i] = false;
		l->values[i] = gc_dict_intern(w->to, bytes, len);
		if (l->values[i] < 0)
			return gc_fail(&w->b->err, GC_UNSUPPORTED, "The texts of several columns are too many.");
	}
	l->dict = w->to;
	*result = l;
	return GC_OK;
}

/* One code for each text of several dictionaries, in one of the request's own. */
static GcCode
compute_unification(GcLookupWork *w, GcLookup **result)
{
	w->to = gc_dict_view(NULL, false);
	return compute_addition(w, result);
}

/*-------------------------------------------------------------------------
 * Rankings
 *-------------------------------------------------------------------------
 */

typedef struct RankContext
{
	FmgrInfo   *cmp;
	Oid			collation;
	uint32		ncompared;
	Datum	   *values;
} RankContext;

static int
compare_ranked(const void *x, const void *y, void *arg)
{
	RankContext *r = arg;

	if ((++r->ncompared & INTERRUPT_MASK) == 0)
		CHECK_FOR_INTERRUPTS();
	return DatumGetInt32(FunctionCall2Coll(r->cmp, r->collation,
										   r->values[*(const uint32 *) x],
										   r->values[*(const uint32 *) y]));
}

static FmgrInfo *
rank_function(const GcPlanLut *lut)
{
	return &lookup_type_cache(getBaseType(lut->argtype), TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
}

Oid
gc_rank_function(const GcPlanLut *lut)
{
	return rank_function(lut)->fn_oid;
}

/* All values of a dictionary as datums, in one piece of memory. */
static Datum *
dictionary_datums(const GcDictView *dict)
{
	uint32		n = gc_dict_count(dict);
	Datum	   *values = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(Datum));
	Size		size = 0;
	uint32		len;
	char	   *p;

	for (uint32 i = 0; i < n; i++)
	{
		(void) gc_dict_get(dict, i, &len);
		size += MAXALIGN(VARHDRSZ + len);
	}
	p = MemoryContextAllocHuge(CurrentMemoryContext, size + 1);
	for (uint32 i = 0; i < n; i++)
	{
		const char *bytes = gc_dict_get(dict, i, &len);

		SET_VARSIZE(p, VARHDRSZ + len);
		memcpy(VARDATA(p), bytes, len);
		values[i] = PointerGetDatum(p);
		p += MAXALIGN(VARHDRSZ + len);
	}
	return values;
}

/* Merge two sorted runs of codes, order[0 .. mid) and order[mid .. n). */
static uint32 *
merge_order(RankContext *r, const uint32 *order, uint32 mid, uint32 n)
{
	uint32	   *merged = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(uint32));
	uint32		i = 0,
				k = mid;

	for (uint32 at = 0; at < n; at++)
	{
		if (k == n || (i < mid && compare_ranked(&order[i], &order[k], r) <= 0))
			merged[at] = order[i++];
		else
			merged[at] = order[k++];
	}
	return merged;
}

/* Entry -> rank of its value in the collation's order.  Only new values are sorted. */
static GcLookup *
compute_rank(GcLookupWork *w, const GcSharedLookup *t)
{
	uint32		n = w->count - 1;
	uint32		known = t ? Min(t->count, w->count - w->own) - 1 : 0;
	GcLookup   *l = new_lookup(w, NULL, 0);
	RankContext context = {.cmp = rank_function(w->lut),.collation = w->lut->collation};

	/* A table with more values than ours ranks some that we do not have. */
	if (t && known < t->count - 1)
		known = 0;
	l->order = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(uint32));
	if (known > 0)
		memcpy(l->order, t->order, known * sizeof(uint32));
	for (uint32 i = known; i < n; i++)
		l->order[i] = i;
	context.values = dictionary_datums(w->from);
	qsort_arg(l->order + known, n - known, sizeof(uint32), compare_ranked, &context);
	if (known > 0 && known < n)
		l->order = merge_order(&context, l->order, known, n);
	l->nulls[0] = true;
	l->values[0] = 0;
	for (uint32 i = 0; i < n; i++)
	{
		l->values[l->order[i] + 1] = i;
		l->nulls[l->order[i] + 1] = false;
	}
	l->dict = w->from;
	return l;
}

GcCode
gc_compute_lookup(GcLookupWork *w, const GcSharedLookup *t, GcLookup **result)
{
	switch (w->lut->type)
	{
		case GC_LUT_TRANSLATE:
			*result = compute_translation(w, t);
			return GC_OK;
		case GC_LUT_ADD:
			return compute_addition(w, result);
		case GC_LUT_UNIFY:
			return compute_unification(w, result);
		case GC_LUT_RANK:
			*result = compute_rank(w, t);
			return GC_OK;
		default:
			return compute_expression(w, t, result);
	}
}
