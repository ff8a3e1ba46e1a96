/*-------------------------------------------------------------------------
 *
 * order.h
 *	  Columns by which the rows of a result, or of a window, are sorted; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ORDER_H
#define GC_ORDER_H

#include "exec.h"

#include "utils/sortsupport.h"

/* 128 bits, unsigned, in memory that is aligned for 64. */
typedef struct GcOrderWord
{
	uint64		high;
	uint64		low;
} GcOrderWord;

/* One column of an order, of all rows. */
typedef struct GcOrderColumn
{
	const GcPlanOrder *order;
	GcOrderWord *words;			/* in the order of the type, or in about that */
	bool	   *isnull;
	Datum	   *values;			/* NULL: words are in the order of the type */
	bool		exact;			/* they are, of those values that were added */
} GcOrderColumn;

/* The word of an integer. */
static inline GcOrderWord
gc_order_integer(i128 value)
{
	return (GcOrderWord) {(uint64) (value >> 64) ^ UINT64CONST(0x8000000000000000), (uint64) value};
}

/* Below 0, 0 or above 0, as in memcmp(). */
static inline int
gc_compare_words(GcOrderWord a, GcOrderWord b)
{
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	return a.low < b.low ? -1 : a.low > b.low;
}

/* The word of row n's value, whose kind is that of the column. */
extern void gc_order_value(GcOrderColumn *column, GcKind kind, uint64 n);

/*
 * Rows that are being ordered: their columns' differing bits, packed together.  It begins with {.cxt, .count,
 * .exact = true}.
 */
typedef struct GcOrdering
{
	MemoryContext cxt;			/* of these */
	uint64		count;
	int			nwords;			/* of each row; of a column three at most */
	int			left;			/* bits of the last one */
	uint64	   *words[3 * GC_MAX_ORDER];
	bool		exact;			/* so are the words of all columns */
} GcOrdering;

/* Add the next column.  Its words are needed for comparisons alone from here on. */
extern void gc_order_add(GcOrdering *o, const GcOrderColumn *column);

/*
 * The order in which the rows are to be returned, in the memory context of the caller.  exactly: where words are not
 * exact, PostgreSQL's comparisons decide.
 */
extern uint32 *gc_order_finish(const GcOrdering *o, const GcOrderColumn *columns, int ncolumns, bool exactly);

/* The order of rows whose columns are all filled in, likewise. */
extern uint32 *gc_order_rows(const GcOrderColumn *columns, int ncolumns, uint64 count, bool exactly);

/* The comparisons of these columns. */
extern SortSupport gc_order_comparisons(const GcOrderColumn *columns, int ncolumns);

/* The first column in which two rows differ; ncolumns if they do not. */
extern int	gc_first_difference(const GcOrderColumn *columns, SortSupport keys, int ncolumns, uint32 a, uint32 b);

/* Are `count` rows to be sorted here? */
extern bool gc_are_ordered(const GcPlan *plan, uint64 count);

#endif							/* GC_ORDER_H */
