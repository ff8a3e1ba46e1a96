/*-------------------------------------------------------------------------
 *
 * rank.c
 *	  Rankings: of each value of a dictionary, its number in the order of a collation.
 *
 * Values are sorted by eight bytes at a time, as numbers.  Under collation C that is the order.  Under
 * others it is about the order, since letters of both cases are taken as one.  A merge sort by
 * PostgreSQL's comparison, which makes use of runs that are in order already, corrects that.  If the guess
 * is right, it makes one comparison per value.
 *
 * What a shared table has already is not sorted again: new values are put in between.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "compute.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/pg_locale.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"
#include "../columns/encode/pgkinds.h"
#include "../compat.h"

#define INTERRUPT_MASK	0x3ff

#define KEY_BYTES		8

/* Fewer items are sorted by insertion. */
#define RADIX_MIN		64
#define RADIX_BITS		8

/* How many items before its own turn a value's bytes are fetched, as values lie anywhere. */
#define FETCH_AHEAD		16

typedef struct RankItem
{
	uint64		key;
	const char *bytes;			/* the value */
	uint32		len;
	uint32		code;
} RankItem;

/* Items that are equal up to a byte. */
typedef struct Range
{
	uint32		first;
	uint32		count;
	uint32		depth;
} Range;

typedef struct Ranking
{
	const GcDictView *dict;
	bool		by_bytes;		/* the order is that of bytes */
	bool		zeros;			/* values may have bytes that are zero */
	const uint8 *weights;		/* of bytes; NULL: their own */
	SortSupportData ssup;
	GcKind		kind;			/* of the values */
	struct varlena *scratch[2];	/* of the values compared, so that comparisons take no memory */
	uint32		ncompared;
} Ranking;

/*-------------------------------------------------------------------------
 * Comparisons by PostgreSQL
 *-------------------------------------------------------------------------
 */
static Datum
value_datum(Ranking *r, int which, const char *bytes, uint32 len)
{
	struct varlena *t = r->scratch[which];

	/* An enum's takes no memory. */
	if (r->kind == GC_ENUM)
		return gc_bytes_datum(r->kind, bytes, len, 0);
	if (r->kind == GC_NAME)
	{
		memcpy(t, bytes, len);
		((char *) t)[len] = '\0';
		return PointerGetDatum(t);
	}
	SET_VARSIZE(t, VARHDRSZ + len);
	memcpy(VARDATA(t), bytes, len);
	return PointerGetDatum(t);
}

/* Compare two values by their bytes, or by PostgreSQL's comparison. */
static int
compare_bytes(Ranking *r, const char *x, uint32 nx, const char *y, uint32 ny)
{
	int			cmp;

	if (r->by_bytes)
	{
		cmp = memcmp(x, y, Min(nx, ny));
		return cmp != 0 ? cmp : nx < ny ? -1 : nx > ny;
	}
	return r->ssup.comparator(value_datum(r, 0, x, nx), value_datum(r, 1, y, ny), &r->ssup);
}

/* Compare the values of two codes; looks for interrupts now and then. */
static int
compare_codes(Ranking *r, uint32 x, uint32 y)
{
	uint32		nx;
	uint32		ny;
	const char *bx = gc_dict_get(r->dict, x, &nx);
	const char *by = gc_dict_get(r->dict, y, &ny);

	if ((++r->ncompared & INTERRUPT_MASK) == 0)
		CHECK_FOR_INTERRUPTS();
	return compare_bytes(r, bx, nx, by, ny);
}

/* Weights of bytes as many languages order them: signs, digits, letters of both cases, others. */
static const uint8 *
make_weights(void)
{
	uint8	   *weights = palloc(256);

	for (int c = 0; c < 256; c++)
	{
		if (c >= '0' && c <= '9')
			weights[c] = 100 + c - '0';
		else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
			weights[c] = 110 + (c | 0x20) - 'a';
		else if (c >= 0x80)
			weights[c] = c + (c < 0x90 ? 0x10 : 0);
		else
			weights[c] = Min(c + 1, 99);
	}
	return weights;
}

/* How values of this kind, type and collation are compared. */
static void
begin_ranking(Ranking *r, GcKind kind, const GcPlanLut *lut, const GcDictView *dict)
{
	Oid			base = gc_base_type(lut->argtype);
	TypeCacheEntry *type = lookup_type_cache(base, TYPECACHE_LT_OPR);
	bool		words = kind == GC_TEXT || kind == GC_NAME;

	*r = (Ranking) {.dict = dict,.kind = kind,.zeros = !words};
	r->by_bytes = words ? GC_COLLATE_IS_C(lut->collation) : base == BYTEAOID || base == UUIDOID;
	if (r->by_bytes)
		return;
	r->ssup.ssup_cxt = CurrentMemoryContext;
	r->ssup.ssup_collation = lut->collation;
	PrepareSortSupportFromOrderingOp(type->lt_opr, &r->ssup);
	for (int i = 0; i < 2; i++)
		r->scratch[i] = palloc(VARHDRSZ + GC_DICT_MAX_LENGTH);
	if (words && compare_bytes(r, "a", 1, "B", 1) < 0)
		r->weights = make_weights();
}

/*-------------------------------------------------------------------------
 * Sorting by keys
 *-------------------------------------------------------------------------
 */

/* The value's bytes from `depth` on, as a number, with zeros behind its end. */
static uint64
key_at(const Ranking *r, const RankItem *item, uint32 depth)
{
	uint64		key = 0;

	if (depth >= item->len)
		return 0;
	memcpy(&key, item->bytes + depth, Min(item->len - depth, KEY_BYTES));
	key = pg_ntoh64(key);
	if (r->weights)
	{
		uint64		weighed = 0;

		for (int shift = 0; shift < 64; shift += 8)
		{
			if ((key >> shift & 0xff) != 0)
				weighed |= (uint64) r->weights[key >> shift & 0xff] << shift;
		}
		key = weighed;
	}
	return key;
}

/* For few items; equal keys keep their order. */
static void
insertion_sort(RankItem *items, uint32 n)
{
	for (uint32 i = 1; i < n; i++)
	{
		RankItem		x = items[i];
		uint32		k = i;

		for (; k > 0 && items[k - 1].key > x.key; k--)
			items[k] = items[k - 1];
		items[k] = x;
	}
}

/* By the digits in which the keys differ, the last one first. */
static void
radix_sort(RankItem *items, RankItem *other, uint32 n)
{
	const RankItem *sorted = items;
	uint64		differ = 0;

	for (uint32 i = 1; i < n; i++)
		differ |= items[i].key ^ items[0].key;
	for (int shift = 0; shift < 64; shift += RADIX_BITS)
	{
		uint32		place[1 << RADIX_BITS] = {0};
		uint32		sum = 0;
		RankItem	   *to = sorted == items ? other : items;

		if ((differ >> shift & ((1 << RADIX_BITS) - 1)) == 0)
			continue;
		for (uint32 i = 0; i < n; i++)
			place[sorted[i].key >> shift & ((1 << RADIX_BITS) - 1)]++;
		for (int d = 0; d < 1 << RADIX_BITS; d++)
		{
			uint32		count = place[d];

			place[d] = sum;
			sum += count;
		}
		for (uint32 i = 0; i < n; i++)
			to[place[sorted[i].key >> shift & ((1 << RADIX_BITS) - 1)]++] = sorted[i];
		sorted = to;
	}
	if (sorted != items)
		memcpy(items, sorted, n * sizeof(RankItem));
}

/*
 * Ranges whose keys are equal are to be sorted by what follows, unless the values end there.  Of values
 * that have zeros themselves, the end cannot be told from these: a merge sort corrects their order.
 */
static void
sort_range(const Ranking *r, RankItem *items, RankItem *other, const Range *range, Range **todo, uint32 *ntodo, uint32 *room)
{
	uint32		n = range->count;
	uint32		first = 0;

	for (uint32 i = 0; i < n; i++)
	{
		__builtin_prefetch(items[Min(i + FETCH_AHEAD, n - 1)].bytes + range->depth);
		items[i].key = key_at(r, &items[i], range->depth);
	}
	if (n < RADIX_MIN)
		insertion_sort(items, n);
	else
		radix_sort(items, other, n);
	for (uint32 i = 1; i <= n; i++)
	{
		if (i < n && items[i].key == items[first].key)
			continue;
		if (i - first > 1 && (items[first].key & 0xff) != 0)
		{
			if (*ntodo == *room)
			{
				*room *= 2;
				*todo = repalloc_huge(*todo, *room * sizeof(Range));
			}
			(*todo)[(*ntodo)++] = (Range) {range->first + first, i - first, range->depth + KEY_BYTES};
		}
		first = i;
	}
}

/* Sort codes by eight bytes of their values at a time; ranges of equal bytes are sorted by the next ones. */
static void
sort_by_keys(Ranking *r, uint32 *order, uint32 n)
{
	RankItem	   *items = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) n + 1) * sizeof(RankItem));
	RankItem	   *other = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) n + 1) * sizeof(RankItem));
	uint32		ntodo = 1;
	uint32		room = 1024;
	Range	   *todo = palloc(room * sizeof(Range));

	todo[0] = (Range) {0, n, 0};
	for (uint32 i = 0; i < n; i++)
	{
		items[i].code = order[i];
		items[i].bytes = gc_dict_get(r->dict, order[i], &items[i].len);
	}
	while (ntodo > 0)
	{
		Range		range = todo[--ntodo];

		CHECK_FOR_INTERRUPTS();
		sort_range(r, items + range.first, other, &range, &todo, &ntodo, &room);
	}
	for (uint32 i = 0; i < n; i++)
		order[i] = items[i].code;
	pfree(items);
	pfree(other);
	pfree(todo);
}

/*-------------------------------------------------------------------------
 * Merging
 *-------------------------------------------------------------------------
 */

/* Where the value x belongs in order[lo .. n), which is near lo: behind values that are not larger. */
static uint32
find_place(Ranking *r, const uint32 *order, uint32 lo, uint32 n, uint32 x)
{
	uint32		step = 1;
	uint32		hi = lo;

	while (hi < n && compare_codes(r, order[hi], x) <= 0)
	{
		lo = hi + 1;
		hi = n - lo > step ? lo + step : n;
		step *= 2;
	}
	while (lo < hi)
	{
		uint32		mid = lo + (hi - lo) / 2;

		if (compare_codes(r, order[mid], x) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Merge order[0 .. mid) and order[mid .. n) into `to`. */
static void
merge(Ranking *r, const uint32 *order, uint32 mid, uint32 n, uint32 *to)
{
	uint32		i = 0;

	for (uint32 k = mid; k < n; k++)
	{
		uint32		place = find_place(r, order, i, mid, order[k]);

		memcpy(to, order + i, (place - i) * sizeof(uint32));
		to += place - i;
		*to++ = order[k];
		i = place;
	}
	memcpy(to, order + i, (mid - i) * sizeof(uint32));
}

/* Where runs begin that are in order; the last begin is n. */
static uint32
find_runs(Ranking *r, const uint32 *order, uint32 n, uint32 *begin)
{
	uint32		nruns = 0;

	for (uint32 i = 0; i < n; i++)
	{
		if (i == 0 || compare_codes(r, order[i - 1], order[i]) > 0)
			begin[nruns++] = i;
	}
	begin[nruns] = n;
	return nruns;
}

/* Sort numbers that are nearly in order, two neighbouring runs at a time. */
static void
merge_sort(Ranking *r, uint32 *order, uint32 n)
{
	Size		bytes = ((Size) n + 1) * sizeof(uint32);
	uint32	   *begin = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	uint32	   *other = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	uint32		nruns = find_runs(r, order, n, begin);

	while (nruns > 1)
	{
		uint32		merged = 0;

		for (uint32 k = 0; k < nruns; k += 2)
		{
			uint32		from = begin[k];
			uint32		end = begin[Min(k + 2, nruns)];

			if (k + 1 < nruns)
			{
				merge(r, order + from, begin[k + 1] - from, end - from, other + from);
				memcpy(order + from, other + from, (end - from) * sizeof(uint32));
			}
			begin[merged++] = from;
		}
		begin[merged] = n;
		nruns = merged;
	}
	pfree(begin);
	pfree(other);
}

/*-------------------------------------------------------------------------
 * Rankings
 *-------------------------------------------------------------------------
 */

/* The first n values that a shared table has sorted; how many. */
static uint32
known_order(const GcSharedLookup *t, uint32 n, uint32 *order)
{
	uint32		known = 0;

	for (uint32 i = 0; t && i + 1 < t->count; i++)
	{
		if (t->order[i] < n)
			order[known++] = t->order[i];
	}
	return known;
}

Oid
gc_rank_function(const GcPlanLut *lut)
{
	return lookup_type_cache(gc_base_type(lut->argtype), TYPECACHE_CMP_PROC)->cmp_proc;
}

void
gc_compute_rank(const GcLookupWork *w, const GcSharedLookup *t, GcLookup *l)
{
	uint32		n = w->count - 1;
	Size		bytes = ((Size) n + 1) * sizeof(uint32);
	uint32	   *order = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	uint32		known = known_order(t, n - w->own, order);
	Ranking		r;

	begin_ranking(&r, w->argkind, w->lut, w->from);
	for (uint32 i = known; i < n; i++)
		order[i] = i;
	sort_by_keys(&r, order + known, n - known);
	if (!r.by_bytes || r.zeros)
		merge_sort(&r, order + known, n - known);
	l->order = order;
	if (known > 0 && known < n)
	{
		l->order = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
		merge(&r, order, known, n, l->order);
	}
	l->nulls[0] = true;
	l->values[0] = 0;
	for (uint32 i = 0; i < n; i++)
	{
		l->values[l->order[i] + 1] = i;
		l->nulls[l->order[i] + 1] = false;
	}
	l->dict = w->from;
}
