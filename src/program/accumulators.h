/*-------------------------------------------------------------------------
 *
 * accumulators.h
 *	  The accumulators that aggregates are made of: the table of them.
 *
 * To add one: an entry in GcAggFn, and its line in the table.  A new way to merge needs its line in
 * codegen/sink/aggregates.c, and its macros in cuda/gc_agg.h.  Which aggregate of SQL is one of these,
 * plan/group/aggregates.c says.
 *
 * Any accumulator may be in a shared scan, and is merged over blocks.  So zero means
 * "nothing yet" in all words, and the order of rows makes no difference, but for floats.
 *
 * Pure C; all rooms.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ACCUMULATORS_H
#define GC_ACCUMULATORS_H

#include "../../cuda/gc_abi.h"

#include <stdbool.h>

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

/* An accumulator's value, which says by which image a value goes into its words. */
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
	GC_MERGE_ADD,				/* 64 bits; gc_merge_of() makes one of these of it, by the bound register: */
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
	u8			parts;			/* GcAggFn that puts together accumulators of parts of the rows */
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

#endif							/* GC_ACCUMULATORS_H */
