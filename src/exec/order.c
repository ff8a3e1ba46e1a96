/*-------------------------------------------------------------------------
 *
 * order.c
 *	  Returning rows in the order in which PostgreSQL will sort them.
 *
 * The order is that of a few machine words per row, much quicker to compare than datums.
 * Values of fixed size are taken as they are, numeric as scaled integers.  Text is taken by
 * its rank in the collation if that is at hand, else by its first bytes.
 *
 * Where the plan says that rows are sorted, there is no Sort above the node.  If the words
 * are not quite in the types' order, PostgreSQL's comparisons decide here.  Else a Sort
 * stays and decides; it notices input that is sorted, and is then done after one
 * comparison a row.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "exec.h"

#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/uuid.h"

#include "../columns/encode/pgkinds.h"
#include "../columns/store/numeric.h"

#define SIGN_BIT				UINT64CONST(0x8000000000000000)

/* More rows are left to PostgreSQL, which may spill them to disk. */
#define MAX_ORDERED_ROWS		1000000

/* Digits behind the point with which numerics are compared. */
#define NUMERIC_DIGITS			20

#define MOST_DIGITS				10
static const int64 powers_of_10[MOST_DIGITS + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, INT64CONST(10000000000)
};

/* Words of a row's sort key for one column: NULL or not, then two of the value. */
#define WORDS					3

static uint64
order_int(int64 value)
{
	return (uint64) value ^ SIGN_BIT;
}

static uint64
order_float(double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits >> 63 ? ~bits : bits | SIGN_BIT;
}

static void
order_bytes(const char *bytes, Size len, uint64 *words)
{
	words[0] = words[1] = 0;
	memcpy(words, bytes, Min(len, 2 * sizeof(uint64)));
	words[0] = pg_ntoh64(words[0]);
	words[1] = pg_ntoh64(words[1]);
}

static void
order_text(Datum value, uint64 *words)
{
	text	   *t = DatumGetTextPP(value);

	order_bytes(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t), words);
}

/* False if the words cannot tell the value from others: it is too large, or has too many digits. */
static bool
order_numeric(Datum value, uint64 *words)
{
	i128		scaled = 0;
	int16		dscale = 0;

	words[0] = words[1] = 0;
	if (!gc_numeric_to_int128(value, &scaled, &dscale))
		return false;
	if (dscale > NUMERIC_DIGITS)
		return false;
	/* Two factors, each of 64 bits, make up any power of 10 that is needed. */
	for (int left = NUMERIC_DIGITS - dscale; left > 0; left -= MOST_DIGITS)
	{
		if (__builtin_mul_overflow(scaled, (i128) powers_of_10[Min(left, MOST_DIGITS)], &scaled))
			return false;
	}
	words[0] = order_int((int64) (scaled >> 64));
	words[1] = (uint64) scaled;
	return true;
}

/* False for types that are not worth it.  *exact: are the words in the type's order? */
static bool
order_words(GcKind kind, Datum value, uint64 *words, bool *exact)
{
	int64		raw;
	int16		scale;

	words[1] = 0;
	switch (kind)
	{
		case GC_KIND_NONE:
			return false;
		case GC_FLOAT4:
			words[0] = order_float(DatumGetFloat4(value));
			*exact = false;		/* two zeros, many NaNs */
			return true;
		case GC_FLOAT8:
			words[0] = order_float(DatumGetFloat8(value));
			*exact = false;
			return true;
		case GC_NUMERIC:
			*exact &= order_numeric(value, words);
			return true;
		case GC_UUID:
			memcpy(words, DatumGetUUIDP(value)->data, UUID_LEN);
			words[0] = pg_ntoh64(words[0]);
			words[1] = pg_ntoh64(words[1]);
			return true;
		case GC_ENUM:
			words[0] = DatumGetObjectId(value);
			*exact = false;		/* unless all labels were made together */
			return true;
		case GC_NAME:
			order_bytes(NameStr(*DatumGetName(value)), strlen(NameStr(*DatumGetName(value))), words);
			*exact = false;
			return true;
		case GC_TEXT:
		case GC_BYTES:
			order_text(value, words);
			*exact = false;
			return true;
		default:
			if (!gc_datum_to_raw(kind, value, &raw, &scale))
				return false;
			words[0] = order_int(raw);
			return true;
	}
}

/*
 * Pack the words of each row, in place, into as few as hold the bits in which rows
 * differ; returns how many.  Often one is enough.
 */
static int
pack_words(uint64 *words, uint64 count, int nwords)
{
	uint64		min[GC_MAX_ORDER * WORDS];
	uint64		differ[GC_MAX_ORDER * WORDS];
	int			npacked = 0;
	int			left = 0;
	int			width[GC_MAX_ORDER * WORDS];
	int			low[GC_MAX_ORDER * WORDS];

	for (int w = 0; w < nwords; w++)
	{
		min[w] = PG_UINT64_MAX;
		differ[w] = 0;
		for (uint64 n = 0; n < count; n++)
			min[w] = Min(min[w], words[n * nwords + w]);
		for (uint64 n = 0; n < count; n++)
			differ[w] |= words[n * nwords + w] - min[w];
		low[w] = differ[w] ? pg_rightmost_one_pos64(differ[w]) : 0;
		width[w] = differ[w] ? pg_leftmost_one_pos64(differ[w]) - low[w] + 1 : 0;
		if (width[w] == 0)
			continue;
		if (width[w] > left)
		{
			npacked++;
			left = 64;
		}
		left -= width[w];
	}
	for (uint64 n = 0; n < count; n++)
	{
		const uint64 *from = words + n * nwords;
		uint64	   *to = words + n * npacked;
		uint64		packed = 0;

		/* A packed word is complete, and written, only after its parts were read. */
		left = 64;
		for (int w = 0; w < nwords; w++)
		{
			if (width[w] > left)
			{
				*to++ = packed;
				packed = 0;
				left = 64;
			}
			left -= width[w];
			if (width[w] > 0)
				packed |= ((from[w] - min[w]) >> low[w]) << left;
		}
		if (npacked > 0)
			*to = packed;
	}
	return npacked;
}

typedef struct KeyedRow
{
	uint64		key;
	uint32		row;
} KeyedRow;

#define ST_SORT sort_keyed_rows
#define ST_ELEMENT_TYPE KeyedRow
#define ST_COMPARE(a, b) ((a)->key < (b)->key ? -1 : (a)->key > (b)->key)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Rows by a key of one word, which is sorted together with them. */
static void
order_by_word(const uint64 *words, uint32 *order, uint64 count)
{
	KeyedRow   *rows = palloc_extended(count * sizeof(KeyedRow), MCXT_ALLOC_HUGE);

	for (uint64 n = 0; n < count; n++)
		rows[n] = (KeyedRow) {words[n], n};
	sort_keyed_rows(rows, count);
	for (uint64 n = 0; n < count; n++)
		order[n] = rows[n].row;
	pfree(rows);
}

typedef struct OrderKeys
{
	const uint64 *words;
	int			nwords;			/* per row */
} OrderKeys;

static int
compare_rows(const void *a, const void *b, void *arg)
{
	const OrderKeys *keys = arg;
	const uint64 *l = keys->words + (Size) *(const uint32 *) a * keys->nwords;
	const uint64 *r = keys->words + (Size) *(const uint32 *) b * keys->nwords;

	for (int i = 0; i < keys->nwords; i++)
	{
		if (l[i] != r[i])
			return l[i] < r[i] ? -1 : 1;
	}
	return 0;
}

/* The words of one column of all rows; false if its type has none. */
static bool
fill_column(const GcPlanOrder *o, GcKind kind, const GcRows *rows, uint64 *words, int nwords, bool *exact)
{
	const uint32 *ranks = rows->ranks[o->output];

	for (uint64 n = 0; n < rows->count; n++, words += nwords)
	{
		bool		isnull = rows->isnull[n * rows->ncols + o->output];

		words[0] = isnull != o->nulls_first;
		words[1] = words[2] = 0;
		if (isnull)
			continue;
		if (ranks)
			words[1] = ranks[n];
		else if (!order_words(kind, rows->values[n * rows->ncols + o->output], words + 1, exact))
			return false;
		if (o->descending)
		{
			words[1] = ~words[1];
			words[2] = ~words[2];
		}
	}
	return true;
}

/*-------------------------------------------------------------------------
 * By PostgreSQL's own comparisons
 *-------------------------------------------------------------------------
 */

typedef struct Comparisons
{
	const GcPlan *plan;
	const GcRows *rows;
	SortSupportData keys[GC_MAX_ORDER];
} Comparisons;

static int
compare_values(const void *a, const void *b, void *arg)
{
	Comparisons *c = arg;
	const uint32 l = *(const uint32 *) a;
	const uint32 r = *(const uint32 *) b;

	for (int i = 0; i < c->plan->norder; i++)
	{
		const Size	x = (Size) l * c->rows->ncols + c->plan->order[i].output;
		const Size	y = (Size) r * c->rows->ncols + c->plan->order[i].output;
		int			cmp = ApplySortComparator(c->rows->values[x], c->rows->isnull[x],
											  c->rows->values[y], c->rows->isnull[y], &c->keys[i]);

		if (cmp != 0)
			return cmp;
	}
	return 0;
}

/* Put the rows, which may be in about the right order, in exactly that. */
static void
order_exactly(const GcPlan *plan, GcRows *rows)
{
	Comparisons *c = palloc0(sizeof(Comparisons));
	bool		sorted = true;

	c->plan = plan;
	c->rows = rows;
	for (int i = 0; i < plan->norder; i++)
	{
		c->keys[i].ssup_cxt = CurrentMemoryContext;
		c->keys[i].ssup_collation = plan->order[i].collation;
		c->keys[i].ssup_nulls_first = plan->order[i].nulls_first;
		PrepareSortSupportFromOrderingOp(plan->order[i].operator, &c->keys[i]);
	}
	for (uint64 n = 1; n < rows->count && sorted; n++)
		sorted = compare_values(&rows->order[n - 1], &rows->order[n], c) <= 0;
	if (!sorted)
		qsort_arg(rows->order, rows->count, sizeof(uint32), compare_values, c);
}

/*-------------------------------------------------------------------------
 * All of it
 *-------------------------------------------------------------------------
 */

/* The order by words; false if there are none for a column. */
static bool
order_by_words(const GcPlan *plan, GcRows *rows, bool *exact)
{
	OrderKeys	keys = {.nwords = plan->norder * WORDS};
	uint64	   *words = palloc_extended(rows->count * keys.nwords * sizeof(uint64), MCXT_ALLOC_HUGE);
	bool		filled = true;

	keys.words = words;
	for (int i = 0; i < plan->norder && filled; i++)
	{
		const GcPlanOrder *o = &plan->order[i];

		filled = fill_column(o, gc_type_kind(plan->outputs[o->output].typid), rows, words + i * WORDS, keys.nwords,
							 exact);
	}
	if (filled)
	{
		keys.nwords = pack_words(words, rows->count, keys.nwords);
		if (keys.nwords == 1)
			order_by_word(words, rows->order, rows->count);
		else
			qsort_arg(rows->order, rows->count, sizeof(uint32), compare_rows, &keys);
	}
	pfree(words);
	return filled;
}

/* Set rows->order; in the memory context of the caller. */
void
gc_order_rows(const GcPlan *plan, GcRows *rows)
{
	bool		exact = true;
	bool		ordered = false;

	rows->order = NULL;
	if (plan->norder == 0 || rows->count < 2 || (rows->count > MAX_ORDERED_ROWS && !plan->sorted))
		return;
	rows->order = palloc_extended(rows->count * sizeof(uint32), MCXT_ALLOC_HUGE);
	for (uint64 n = 0; n < rows->count; n++)
		rows->order[n] = n;
	if (rows->count <= MAX_ORDERED_ROWS)
		ordered = order_by_words(plan, rows, &exact);
	if (plan->sorted && !(ordered && exact))
		order_exactly(plan, rows);
	else if (!ordered)
	{
		pfree(rows->order);
		rows->order = NULL;
	}
}
