/*-------------------------------------------------------------------------
 *
 * order.c
 *	  Returning rows in the order in which PostgreSQL will sort them.
 *
 * Rows are sorted before they are decoded, so that they are decoded in the order in which they are
 * returned.  Rows of window functions are decoded first, and sorted then.  The order is that of a few machine
 * words per row.  Values of fixed size are taken as they are, numeric as scaled integers.  Text is
 * taken by its rank in the collation if that is at hand, else by its first bytes.
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
#include "order.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"
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

/*-------------------------------------------------------------------------
 * Words of values
 *-------------------------------------------------------------------------
 */

/* PostgreSQL takes both zeros for the same, and all NaNs, which come last. */
static GcOrderWord
order_float(double value)
{
	uint64		bits;

	if (isnan(value))
		return (GcOrderWord) {.low = PG_UINT64_MAX};
	value += 0.0;
	memcpy(&bits, &value, sizeof(bits));
	return (GcOrderWord) {.low = bits >> 63 ? ~bits : bits | SIGN_BIT};
}

/* The first 16 bytes as a number of the same order. */
static GcOrderWord
order_bytes(const char *bytes, Size len)
{
	uint64		words[2] = {0, 0};

	memcpy(words, bytes, Min(len, sizeof(words)));
	return (GcOrderWord) {pg_ntoh64(words[0]), pg_ntoh64(words[1])};
}

/* The first 16 bytes of a text, for collation C. */
static GcOrderWord
order_text(Datum value)
{
	text	   *t = DatumGetTextPP(value);

	return order_bytes(VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
}

/* False if the word cannot tell the value from others: it is too large, or has too many digits. */
static bool
order_numeric(Datum value, GcOrderWord *word)
{
	i128		scaled = 0;
	int16		dscale = 0;

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
	*word = gc_order_integer(scaled);
	return true;
}

void
gc_order_value(GcOrderColumn *column, GcKind kind, uint64 n)
{
	const Datum value = column->values[n];
	GcOrderWord *word = &column->words[n];
	int64		raw;
	int16		scale;

	*word = (GcOrderWord) {0, 0};
	if (column->isnull[n])
		return;
	switch (kind)
	{
		case GC_KIND_NONE:
			column->exact = false;
			break;
		case GC_FLOAT4:
			*word = order_float(DatumGetFloat4(value));
			break;
		case GC_FLOAT8:
			*word = order_float(DatumGetFloat8(value));
			break;
		case GC_NUMERIC:
			column->exact &= order_numeric(value, word);
			break;
		case GC_UUID:
			*word = order_bytes((const char *) DatumGetUUIDP(value)->data, UUID_LEN);
			break;
		case GC_ENUM:
			*word = gc_order_integer(DatumGetObjectId(value));
			column->exact = false;	/* unless all labels were made together */
			break;
		case GC_NAME:
			*word = order_bytes(NameStr(*DatumGetName(value)), strlen(NameStr(*DatumGetName(value))));
			column->exact = false;
			break;
		case GC_TEXT:
		case GC_BYTES:
			*word = order_text(value);
			column->exact = false;
			break;
		default:
			if (gc_datum_to_raw(kind, value, &raw, &scale))
				*word = gc_order_integer(raw);
			else
				column->exact = false;
			break;
	}
}

/*-------------------------------------------------------------------------
 * Rows by all columns' words
 *-------------------------------------------------------------------------
 */

/* A place of bits in the packed words of rows. */
typedef struct Place
{
	uint64	   *words;			/* of each row */
	int			shift;
} Place;

/* The bits in which a column's words differ, and where they go. */
typedef struct Bits
{
	u128		base;			/* smallest word; of a descending column the largest */
	int			low;			/* of what is the distance to it */
	int			width;
	bool		has_null;
	Place		null;
	Place		upper;			/* beyond 64 bits */
	Place		lower;
} Bits;

/* A row's word as one number. */
static u128
word_of(const GcOrderColumn *column, uint64 n)
{
	return (u128) column->words[n].high << 64 | column->words[n].low;
}

/* How far a row's word is from the base, in the column's direction. */
static u128
distance(u128 base, const GcOrderColumn *column, uint64 n)
{
	return column->order->descending ? base - word_of(column, n) : word_of(column, n) - base;
}

/* How many bits the column's words differ in, and whether some are NULL. */
static Bits
find_bits(const GcOrderColumn *column, uint64 count)
{
	u128		least = ~(u128) 0;
	u128		most = 0;
	u128		differ = 0;
	Bits		bits = {.has_null = false};

	for (uint64 n = 0; n < count; n++)
	{
		const u128	word = word_of(column, n);

		bits.has_null |= column->isnull[n];
		if (column->isnull[n])
			continue;
		least = Min(least, word);
		most = Max(most, word);
	}
	bits.base = column->order->descending ? most : least;
	for (uint64 n = 0; n < count; n++)
	{
		if (!column->isnull[n])
			differ |= distance(bits.base, column, n);
	}
	if (differ != 0)
	{
		const uint64 high = (uint64) (differ >> 64);
		const uint64 low = (uint64) differ;

		bits.low = low ? pg_rightmost_one_pos64(low) : 64 + pg_rightmost_one_pos64(high);
		bits.width = (high ? 64 + pg_leftmost_one_pos64(high) : pg_leftmost_one_pos64(low)) - bits.low + 1;
	}
	return bits;
}

/* The place of the next bits; in another word if they do not fit in the last one. */
static Place
next_place(GcOrdering *o, int width)
{
	if (width > o->left)
	{
		o->words[o->nwords++] = MemoryContextAllocExtended(o->cxt, o->count * sizeof(uint64),
														   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		o->left = 64;
	}
	o->left -= width;
	return (Place) {o->words[o->nwords - 1], o->left};
}

/* Add a column's bits to the words of all rows. */
static void
pack_column(const Bits *bits, const GcOrderColumn *column, uint64 count)
{
	const bool	nulls_first = column->order->nulls_first;
	const bool	descending = column->order->descending;

	for (uint64 n = 0; n < count && bits->has_null; n++)
		bits->null.words[n] |= (uint64) (column->isnull[n] != nulls_first) << bits->null.shift;
	for (uint64 n = 0; n < count && bits->width > 64; n++)
	{
		if (!column->isnull[n])
			bits->upper.words[n] |= (uint64) (distance(bits->base, column, n) >> bits->low >> 64) << bits->upper.shift;
	}
	/* For distances below 2^64, the lower halves are enough. */
	for (uint64 n = 0; n < count && bits->width > 0; n++)
	{
		const uint64 base = (uint64) bits->base;
		const uint64 word = column->words[n].low;
		const uint64 value = bits->low + bits->width > 64 ? (uint64) (distance(bits->base, column, n) >> bits->low) :
			(descending ? base - word : word - base) >> bits->low;

		if (!column->isnull[n])
			bits->lower.words[n] |= value << bits->lower.shift;
	}
}

void
gc_order_add(GcOrdering *o, const GcOrderColumn *column)
{
	Bits		bits = find_bits(column, o->count);

	if (bits.has_null)
		bits.null = next_place(o, 1);
	if (bits.width > 64)
		bits.upper = next_place(o, bits.width - 64);
	if (bits.width > 0)
		bits.lower = next_place(o, Min(bits.width, 64));
	pack_column(&bits, column, o->count);
	o->exact &= column->exact;
}

typedef struct KeyedRow
{
	uint64		key;
	uint32		row;
} KeyedRow;

#define DIGIT_BITS		8
#define DIGITS			(64 / DIGIT_BITS)
#define DIGIT_VALUES	(1 << DIGIT_BITS)

/*
 * Sort by the key, digit by digit from the lowest; equal keys stay as they are.  Returns which of
 * the arrays has the rows.
 */
static KeyedRow *
sort_by_key(KeyedRow *rows, KeyedRow *spare, uint64 count)
{
	uint32		counts[DIGITS][DIGIT_VALUES] = {0};

	for (uint64 n = 0; n < count; n++)
	{
		for (int digit = 0; digit < DIGITS; digit++)
			counts[digit][rows[n].key >> (digit * DIGIT_BITS) & (DIGIT_VALUES - 1)]++;
	}
	for (int digit = 0; digit < DIGITS; digit++)
	{
		const int	shift = digit * DIGIT_BITS;
		uint32	   *next = counts[digit];
		uint32		sum = 0;
		KeyedRow   *sorted = spare;

		if (next[rows[0].key >> shift & (DIGIT_VALUES - 1)] == count)
			continue;
		CHECK_FOR_INTERRUPTS();
		for (int v = 0; v < DIGIT_VALUES; v++)
		{
			const uint32 here = next[v];

			next[v] = sum;
			sum += here;
		}
		for (uint64 n = 0; n < count; n++)
			sorted[next[rows[n].key >> shift & (DIGIT_VALUES - 1)]++] = rows[n];
		spare = rows;
		rows = sorted;
	}
	return rows;
}

/* Sort rows by all words, the last one first. */
static void
order_by_words(const GcOrdering *o, uint32 *order)
{
	KeyedRow   *rows = palloc_extended(o->count * sizeof(KeyedRow), MCXT_ALLOC_HUGE);
	KeyedRow   *spare = palloc_extended(o->count * sizeof(KeyedRow), MCXT_ALLOC_HUGE);

	for (int w = o->nwords - 1; w >= 0; w--)
	{
		KeyedRow   *sorted;

		for (uint64 n = 0; n < o->count; n++)
			rows[n] = (KeyedRow) {o->words[w][order[n]], order[n]};
		sorted = sort_by_key(rows, spare, o->count);
		for (uint64 n = 0; n < o->count; n++)
			order[n] = sorted[n].row;
	}
	pfree(rows);
	pfree(spare);
}

/*-------------------------------------------------------------------------
 * By PostgreSQL's own comparisons
 *-------------------------------------------------------------------------
 */

typedef struct Comparisons
{
	const GcOrderColumn *columns;
	int			ncolumns;
	SortSupport keys;
} Comparisons;

/* Two words, as values whose comparison is that of these. */
static int
compare_words(Datum x, Datum y, SortSupport ssup)
{
	return gc_compare_words(*(const GcOrderWord *) DatumGetPointer(x), *(const GcOrderWord *) DatumGetPointer(y));
}

/* A row's value, as PostgreSQL's comparison is given it. */
static Datum
compared(const GcOrderColumn *column, uint32 n)
{
	return column->values ? column->values[n] : PointerGetDatum(&column->words[n]);
}

/* Order for qsort_arg(): by PostgreSQL's comparisons. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	Comparisons *c = arg;
	const uint32 l = *(const uint32 *) a;
	const uint32 r = *(const uint32 *) b;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < c->ncolumns; i++)
	{
		const GcOrderColumn *column = &c->columns[i];
		int			cmp = ApplySortComparator(compared(column, l), column->isnull[l],
											  compared(column, r), column->isnull[r], &c->keys[i]);

		if (cmp != 0)
			return cmp;
	}
	return 0;
}

SortSupport
gc_order_comparisons(const GcOrderColumn *columns, int ncolumns)
{
	SortSupport keys = palloc0((ncolumns + 1) * sizeof(SortSupportData));

	for (int i = 0; i < ncolumns; i++)
	{
		keys[i].ssup_cxt = CurrentMemoryContext;
		keys[i].ssup_collation = columns[i].order->collation;
		keys[i].ssup_nulls_first = columns[i].order->nulls_first;
		if (columns[i].values)
			PrepareSortSupportFromOrderingOp(columns[i].order->operator, &keys[i]);
		else
		{
			keys[i].ssup_reverse = columns[i].order->descending;
			keys[i].comparator = compare_words;
		}
	}
	return keys;
}

int
gc_first_difference(const GcOrderColumn *columns, SortSupport keys, int ncolumns, uint32 a, uint32 b)
{
	for (int i = 0; i < ncolumns; i++)
	{
		if (ApplySortComparator(compared(&columns[i], a), columns[i].isnull[a],
								compared(&columns[i], b), columns[i].isnull[b], &keys[i]) != 0)
			return i;
	}
	return ncolumns;
}

/* Put the rows, which may be in about the right order, in exactly that. */
static void
order_exactly(const GcOrderColumn *columns, int ncolumns, uint32 *order, uint64 count)
{
	Comparisons c = {columns, ncolumns, gc_order_comparisons(columns, ncolumns)};
	bool		sorted = true;

	for (uint64 n = 1; n < count && sorted; n++)
		sorted = compare_rows(&order[n - 1], &order[n], &c) <= 0;
	if (!sorted)
		qsort_arg(order, count, sizeof(uint32), compare_rows, &c);
}

/*-------------------------------------------------------------------------
 * All of it
 *-------------------------------------------------------------------------
 */

bool
gc_are_ordered(const GcPlan *plan, uint64 count)
{
	return plan->norder > 0 && count > 1 && (count <= MAX_ORDERED_ROWS || plan->sorted);
}

uint32 *
gc_order_finish(const GcOrdering *o, const GcOrderColumn *columns, int ncolumns, bool exactly)
{
	uint32	   *order = palloc_extended((o->count + 1) * sizeof(uint32), MCXT_ALLOC_HUGE);

	for (uint64 n = 0; n < o->count; n++)
		order[n] = n;
	order_by_words(o, order);
	for (int w = 0; w < o->nwords; w++)
		pfree(o->words[w]);
	if (exactly && !o->exact)
		order_exactly(columns, ncolumns, order, o->count);
	return order;
}

uint32 *
gc_order_rows(const GcOrderColumn *columns, int ncolumns, uint64 count, bool exactly)
{
	GcOrdering	o = {.cxt = CurrentMemoryContext,.count = count,.exact = true};

	for (int i = 0; i < ncolumns; i++)
		gc_order_add(&o, &columns[i]);
	return gc_order_finish(&o, columns, ncolumns, exactly);
}
