/*-------------------------------------------------------------------------
 *
 * seen.h
 *	  The range of a column's cached values, and the size of its dictionary, for the planner.
 *
 * It may have changed when the plan is executed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SEEN_H
#define GC_SEEN_H

#include "postgres.h"

typedef struct GcSeenColumn
{
	bool		any;			/* it is cached and has values, so that the range holds */
	int64		min;			/* raw values; of texts, codes */
	int64		max;
	double		values;			/* texts: entries of the dictionary; by ANALYZE if it is not cached */
} GcSeenColumn;

/* Is a column cached, of a table that is locked by this statement?  Takes a guard. */
extern bool gc_column_seen(Oid relid, int16 attnum, GcSeenColumn *seen);

#endif							/* GC_SEEN_H */
