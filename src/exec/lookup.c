/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Lookup tables: PostgreSQL computes an expression once for each value that
 *	  its Var can have, and kernels look the results up.
 *
 * The values are the entries of a dictionary (some of which may not occur in the
 * rows that the query sees) or the integers between a column's minimum and
 * maximum (likewise).  So the expression must not be able to show that it was
 * evaluated: it is immutable, under row security leakproof, and any error is
 * caught and means "fall back".
 *
 * Tables of cacheable expressions are kept in this backend, keyed by expression
 * and by the identity of the values, for as long as there is room.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "lookup.h"

#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "ahead.h"
#include "../columns/pgkinds.h"

/* Integer and date columns may span at most this many values. */
#define MAX_INTEGER_VALUES	(1 << 17)

/* The most tables that are kept, and the most entries of one kept table. */
#define NCACHED			64
#define MAX_CACHED_COUNT	(1 << 20)

typedef struct LookupKey
{
	GcHash		expr;
	uint64		dict;
	uint64		to_dict;
	int64		base;
	uint32		count;
	uint32		to_count;
} LookupKey;

typedef struct CachedLookup
{
	LookupKey	key;
	GcLookup   *lookup;
	MemoryContext cxt;
} CachedLookup;

bool		gc_in_lookup = false;

static CachedLookup cached[NCACHED];
static int	next_cached = 0;

GcDictView *
gc_space_dict(GcBinding *b, uint16 space)
{
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

/* Blank-padded length, in characters, of a space's values; 0 if not padded. */
static int
space_padding(GcBinding *b, uint16 space)
{
	const GcPlanColumn *c;

	if (space >= GC_SPACE_LUT)
		return b->plan->luts[space - GC_SPACE_LUT].type == GC_LUT_TRANSLATE
			? space_padding(b, b->plan->luts[space - GC_SPACE_LUT].to_space) : 0;
	c = &b->plan->columns[space];
	return gc_columns(b->program)[space].rtrim ? c->typmod - VARHDRSZ : 0;
}

Datum
gc_text_value(GcBinding *b, uint16 space, uint32 code)
{
	int			padded = space_padding(b, space);
	uint32		len;
	const char *bytes = gc_dict_get(gc_space_dict(b, space), code, &len);
	int			blanks = padded > 0 ? padded - pg_mbstrlen_with_len(bytes, len) : 0;
	text	   *t;

	blanks = Max(blanks, 0);
	t = palloc(VARHDRSZ + len + blanks);
	SET_VARSIZE(t, VARHDRSZ + len + blanks);
	memcpy(VARDATA(t), bytes, len);
	memset(VARDATA(t) + len, ' ', blanks);
	return PointerGetDatum(t);
}

static GcLookup *
new_lookup(uint32 count)
{
	GcLookup   *l = palloc0(sizeof(GcLookup));

	l->count = count;
	l->values = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(int64));
	l->nulls = MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(bool));
	l->min = 1;
	l->max = 0;
	l->scale = -1;
	return l;
}

/* Range and hash, once all entries are there. */
static void
finish_lookup(GcLookup *l)
{
	for (uint32 i = 0; i < l->count; i++)
	{
		if (l->nulls[i])
		{
			l->values[i] = 0;
			l->any_null = l->any_null || i > 0;
			continue;
		}
		if (l->min > l->max)
			l->min = l->max = l->values[i];
		l->min = Min(l->min, l->values[i]);
		l->max = Max(l->max, l->values[i]);
	}
	l->hash = gc_hash_bytes(l->values, l->count * sizeof(int64), l->base);
	l->hash.h[0] ^= gc_hash_bytes(l->nulls, l->count * sizeof(bool), l->scale).h[1];
}

/*-------------------------------------------------------------------------
 * Expressions
 *-------------------------------------------------------------------------
 */

typedef struct FillArg
{
	GcBinding  *b;
	const GcPlanLut *lut;
	GcLookup   *lookup;
	ExprState  *expr;
	GcKind		argkind;
	GcKind		kind;
	bool		failed;
} FillArg;

/* The value that entry i is computed for, as a datum in per-tuple memory. */
static Datum
argument_datum(FillArg *a, uint32 i)
{
	int64		v = a->lookup->base + i - 1;

	if (a->argkind == GC_TEXT)
		return gc_text_value(a->b, a->lut->space, i - 1);
	return gc_raw_to_datum(a->argkind, v, 0);
}

static void
store_result(FillArg *a, uint32 i, Datum value, bool isnull)
{
	GcLookup   *l = a->lookup;
	int16		scale = 0;

	l->nulls[i] = isnull;
	l->values[i] = 0;
	if (isnull)
		return;
	if (a->kind == GC_TEXT)
	{
		text	   *t = DatumGetTextPP(value);

		l->values[i] = gc_dict_intern(l->dict, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
		a->failed = a->failed || l->values[i] < 0;
		return;
	}
	if (!gc_datum_to_raw(a->kind, value, &l->values[i], &scale))
		a->failed = true;
	if (a->kind == GC_NUMERIC)
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
	ExprContext *econtext = a->b->node->css.ss.ps.ps_ExprContext;
	TupleTableSlot *slot = a->b->node->css.ss.ss_ScanTupleSlot;
	int			attno = a->lut->attno - 1;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	econtext->ecxt_scantuple = slot;
	for (uint32 i = 0; i < a->lookup->count && !a->failed; i++)
	{
		MemoryContext old;
		Datum		value;
		bool		isnull;

		if ((i & 0x3ff) == 0)
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

/* The integers that the lookup's argument, a column or its payload, can be. */
static GcCode
integer_domain(GcBinding *b, const GcPlanLut *lut, int64 *base, uint32 *count)
{
	const GcExpr *x = &gc_exprs(b->program)[lut->arg];
	const GcFact *fact;

	while (x->op == GC_OP_PAYLOAD)
		x = &gc_exprs(b->program)[gc_payloads(b->program)[x->ref].expr];
	Assert(x->op == GC_OP_COLUMN);
	fact = &b->column_facts[x->ref];
	if (fact->range.lo > fact->range.hi)
	{
		*base = 0;
		*count = 2;				/* f(NULL), f(0): never looked up */
		return GC_OK;
	}
	if (fact->range.hi - fact->range.lo >= MAX_INTEGER_VALUES)
		return gc_fail(&b->err, GC_UNSUPPORTED,
					   "An expression would have to be tabulated for too many values.");
	*base = (int64) fact->range.lo;
	*count = (uint32) (fact->range.hi - fact->range.lo) + 2;
	return GC_OK;
}

static GcCode
make_expr_lookup(GcBinding *b, int i, LookupKey *key, GcLookup **result)
{
	const GcPlanLut *lut = &b->plan->luts[i];
	FillArg		arg = {.b = b,.lut = lut,.expr = b->node->exprs[lut->expr],
		.kind = gc_luts(b->program)[i].kind,
	.argkind = gc_exprs(b->program)[lut->arg].kind};
	bool		ok;

	arg.lookup = new_lookup(key->count);
	arg.lookup->base = key->base;
	if (arg.kind == GC_TEXT)
		arg.lookup->dict = gc_dict_view(NULL, false);
	/* A function that runs queries must not offload them under our guard. */
	gc_in_lookup = true;
	ok = gc_guarded(fill_callback, &arg, &b->err);
	gc_in_lookup = false;
	if (!ok)
		return GC_DATA;
	if (arg.failed)
		return gc_fail(&b->err, GC_UNSUPPORTED,
					   "Results of an expression differ in scale or do not fit 64 bits.");
	*result = arg.lookup;
	return GC_OK;
}

/*-------------------------------------------------------------------------
 * Translations and ranks
 *-------------------------------------------------------------------------
 */

static GcLookup *
make_translation(GcBinding *b, const GcPlanLut *lut)
{
	GcDictView *from = gc_space_dict(b, lut->space);
	GcDictView *to = gc_space_dict(b, lut->to_space);
	GcLookup   *l = new_lookup(gc_dict_count(from) + 1);

	l->nulls[0] = true;
	for (uint32 i = 1; i < l->count; i++)
	{
		uint32		len;
		const char *bytes = gc_dict_get(from, i - 1, &len);

		l->values[i] = gc_dict_lookup(to, bytes, len);
		l->nulls[i] = false;
	}
	l->dict = to;
	return l;
}

typedef struct RankContext
{
	FmgrInfo   *cmp;
	Oid			collation;
	Datum	   *values;
} RankContext;

static int
compare_ranked(const void *x, const void *y, void *arg)
{
	RankContext *r = arg;

	return DatumGetInt32(FunctionCall2Coll(r->cmp, r->collation,
										   r->values[*(const uint32 *) x],
										   r->values[*(const uint32 *) y]));
}

/* Entry -> rank of its value in the collation's order. */
static GcLookup *
make_rank(GcBinding *b, const GcPlanLut *lut)
{
	GcDictView *from = gc_space_dict(b, lut->space);
	uint32		n = gc_dict_count(from);
	GcLookup   *l = new_lookup(n + 1);
	TypeCacheEntry *type = lookup_type_cache(getBaseType(lut->argtype), TYPECACHE_CMP_PROC_FINFO);
	RankContext context = {&type->cmp_proc_finfo, lut->collation};
	uint32	   *order = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(uint32));

	context.values = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(Datum));
	for (uint32 i = 0; i < n; i++)
	{
		uint32		len;
		const char *bytes = gc_dict_get(from, i, &len);

		order[i] = i;
		context.values[i] = PointerGetDatum(cstring_to_text_with_len(bytes, len));
	}
	qsort_arg(order, n, sizeof(uint32), compare_ranked, &context);
	l->nulls[0] = true;
	for (uint32 i = 0; i < n; i++)
	{
		l->values[order[i] + 1] = i;
		l->nulls[order[i] + 1] = false;
	}
	l->dict = from;
	return l;
}

/*-------------------------------------------------------------------------
 * All of them
 *-------------------------------------------------------------------------
 */

static GcCode
lookup_key(GcBinding *b, int i, LookupKey *key)
{
	const GcPlanLut *lut = &b->plan->luts[i];

	memset(key, 0, sizeof(*key));
	key->expr = lut->hash;
	if (gc_exprs(b->program)[lut->arg].kind == GC_TEXT)
	{
		GcDictView *from = gc_space_dict(b, lut->space);

		key->dict = gc_dict_id(from);
		key->count = gc_dict_count(from) + 1;
		return GC_OK;
	}
	return integer_domain(b, lut, &key->base, &key->count);
}

static GcLookup *
find_cached(const LookupKey *key)
{
	for (int i = 0; i < NCACHED; i++)
	{
		if (cached[i].lookup && memcmp(&cached[i].key, key, sizeof(*key)) == 0)
			return cached[i].lookup;
	}
	return NULL;
}

/* Make an expression's table in memory that outlives the query, and keep it. */
static GcCode
make_cached(GcBinding *b, int i, LookupKey *key, GcLookup **result)
{
	CachedLookup *c = &cached[next_cached++ % NCACHED];
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "gpuconc lookup",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	GcCode		code = make_expr_lookup(b, i, key, result);

	MemoryContextSwitchTo(old);
	if (code != GC_OK)
		return code;
	finish_lookup(*result);
	if (c->lookup)
		MemoryContextDelete(c->cxt);
	MemoryContextSetParent(cxt, CacheMemoryContext);
	*c = (CachedLookup) {*key, *result, cxt};
	return GC_OK;
}

GcCode
gc_make_lookups(GcBinding *b)
{
	for (int i = 0; i < b->plan->nluts; i++)
	{
		const GcPlanLut *lut = &b->plan->luts[i];
		LookupKey	key;
		GcLookup   *l = NULL;
		GcFact	   *fact = &b->lut_facts[i];
		GcCode		code = GC_OK;

		if (lut->type == GC_LUT_TRANSLATE)
			finish_lookup(l = make_translation(b, lut));
		else if (lut->type == GC_LUT_RANK)
			finish_lookup(l = make_rank(b, lut));
		else
		{
			code = lookup_key(b, i, &key);
			if (code == GC_OK && lut->cacheable && key.count <= MAX_CACHED_COUNT)
			{
				l = find_cached(&key);
				if (l == NULL)
					code = make_cached(b, i, &key, &l);
			}
			else if (code == GC_OK && (code = make_expr_lookup(b, i, &key, &l)) == GC_OK)
				finish_lookup(l);
		}
		if (code != GC_OK)
			return code;
		b->lookups[i] = l;
		fact->range = (GcRange) {l->min, l->max};
		fact->nullable = l->any_null;
		fact->null_of_null = l->nulls[0];
		fact->scale = Max(l->scale, 0);
	}
	return GC_OK;
}
