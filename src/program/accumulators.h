/*-------------------------------------------------------------------------
 *
 * accumulators.h
 *	  The accumulators that aggregates are made of: the table of them.
 *
 * To add one: an entry in GcAggFn, and its line in the table.  A new way to merge needs its case in
 * gc_merge(), its line in codegen/sink/aggregates.c, and its macros in cuda/gc_agg.h.  Which aggregate
 * of SQL is one of these, plan/group/aggregates.c says.
 *
 * Any accumulator may be in a shared scan, is merged over blocks, and over groups of grouping sets.  So zero
 * means "nothing yet" in all words, and the order of rows makes no difference, but for floats.
 *
 * Pure C; all rooms.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ACCUMULATORS_H
#define GC_ACCUMULATORS_H

#include "../../cuda/gc_abi.h"

#include <stdbool.h>
#include <string.h>

typedef enum GcAggFn
{
	GC_AGG_COUNT = 1,			/* of rows (arg GC_NONE), or of non-NULL values */
	GC_AGG_SUM,
	GC_AGG_MIN,
	GC_AGG_MAX,
	GC_AGG_BIT_AND,				/* of integers */
	GC_AGG_BIT_OR,
	GC_AGG_BIT_XOR,
	GC_AGG_PRECISE_SUM,			/* of floats, or of their products with `factor`: with about twice
								 * the digits of a double */
	GC_NAGG_FNS
} GcAggFn;

/* An accumulator's value, which says by what image a value goes into its words. */
typedef enum GcAggValue
{
	GC_VALUE_COUNT,				/* the number of values: each is 1 */
	GC_VALUE_SUM,				/* their sum: the value itself */
	GC_VALUE_ONE,				/* one of them: an image of the same order, of 64 bits */
	GC_VALUE_BITS				/* any of their type, an integer: its bits */
} GcAggValue;

/* How words of an accumulator, or a value's image and these, become one. */
typedef enum GcMerge
{
	GC_MERGE_ADD,				/* 64 bits; of what table entries say is added, bound ones may have: */
	GC_MERGE_ADD128,			/* two words, the lower first */
	GC_MERGE_ADDF,				/* a double */
	GC_MERGE_PRECISE,			/* two doubles, which together are the sum */
	GC_MERGE_MAX,				/* the larger */
	GC_MERGE_OR,
	GC_MERGE_XOR
} GcMerge;

typedef struct GcAccumulator
{
	u8			value;			/* GcAggValue */
	u8			merge;			/* GcMerge */
	bool		reversed;		/* images are complemented: the least, or bits that any value lacks */
	u8			parts;			/* GcAggFn of what puts together accumulators of parts of the rows */
} GcAccumulator;

static const GcAccumulator gc_accumulators[GC_NAGG_FNS] = {
	[GC_AGG_COUNT] = {GC_VALUE_COUNT, GC_MERGE_ADD, false, GC_AGG_SUM},
	[GC_AGG_SUM] = {GC_VALUE_SUM, GC_MERGE_ADD, false, GC_AGG_SUM},
	[GC_AGG_MIN] = {GC_VALUE_ONE, GC_MERGE_MAX, true, GC_AGG_MIN},
	[GC_AGG_MAX] = {GC_VALUE_ONE, GC_MERGE_MAX, false, GC_AGG_MAX},
	[GC_AGG_BIT_AND] = {GC_VALUE_BITS, GC_MERGE_OR, true, GC_AGG_BIT_AND},
	[GC_AGG_BIT_OR] = {GC_VALUE_BITS, GC_MERGE_OR, false, GC_AGG_BIT_OR},
	[GC_AGG_BIT_XOR] = {GC_VALUE_BITS, GC_MERGE_XOR, false, GC_AGG_BIT_XOR},
	[GC_AGG_PRECISE_SUM] = {GC_VALUE_SUM, GC_MERGE_PRECISE, false, GC_AGG_PRECISE_SUM},
};

/* May a value come twice?  Then DISTINCT makes no difference. */
static inline bool
gc_takes_twice(GcAggFn fn)
{
	return gc_accumulators[fn].merge == GC_MERGE_MAX || gc_accumulators[fn].merge == GC_MERGE_OR;
}

/* 64-bit words that are merged at a time. */
static inline u8
gc_merge_width(GcMerge merge)
{
	return merge == GC_MERGE_ADD128 || merge == GC_MERGE_PRECISE ? 2 : 1;
}

/* As gc_f64x2_add() in cuda/gc_agg.h; n = 1: plain doubles. */
static inline void
gc_merge_doubles(u64 *to, const u64 *from, int n)
{
	double		a[2] = {0},
				b[2] = {0},
				sum,
				c;

	memcpy(a, to, n * sizeof(u64));
	memcpy(b, from, n * sizeof(u64));
	sum = a[0] + b[0];
	c = sum - a[0];
	a[1] += b[1] + ((a[0] - (sum - c)) + (b[0] - c));
	a[0] = sum;
	memcpy(to, a, n * sizeof(u64));
}

/* Merge words of two accumulators, as kernels do (cuda/gc_agg.h). */
static inline void
gc_merge(GcMerge merge, u64 *to, const u64 *from)
{
	switch (merge)
	{
		case GC_MERGE_ADD:
			*to += *from;
			break;
		case GC_MERGE_ADD128:
			to[0] += from[0];
			to[1] += from[1] + (to[0] < from[0]);
			break;
		case GC_MERGE_ADDF:
		case GC_MERGE_PRECISE:
			gc_merge_doubles(to, from, gc_merge_width(merge));
			break;
		case GC_MERGE_MAX:
			*to = *to > *from ? *to : *from;
			break;
		case GC_MERGE_OR:
			*to |= *from;
			break;
		case GC_MERGE_XOR:
			*to ^= *from;
			break;
	}
}

#endif							/* GC_ACCUMULATORS_H */
