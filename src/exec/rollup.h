/*-------------------------------------------------------------------------
 *
 * rollup.h
 *	  Groups of grouping sets, from the finest groups.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ROLLUP_H
#define GC_ROLLUP_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "../program/program.h"

/* The groups of one set. */
typedef struct GcSetGroups
{
	uint32		omitted;		/* what the set leaves out, as in GC_EMPTY_SET */
	uint64		count;
	uint64		room;			/* groups that the arrays are for */
	u64		   *words;			/* accumulators: count * group_words */
	i64		   *keys;			/* count * nkeys; 0 if NULL or left out */
	uint32	   *nulls;			/* bits of the keys that are NULL */
} GcSetGroups;

/* Add a group, whose words and keys are all zero. */
extern uint64 gc_set_add(GcSetGroups *set, const GcPPipeline *pl);

/*
 * Make the groups of each set of `sets` (integers: what it leaves out) in made[].  False if they
 * would take too much memory.
 */
extern bool gc_roll_up(const GcPPipeline *pl, const GcPAgg *aggs, const GcSetGroups *finest, List *sets,
					   GcSetGroups *made);

#endif							/* GC_ROLLUP_H */
