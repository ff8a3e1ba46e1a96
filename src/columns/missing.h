/*-------------------------------------------------------------------------
 *
 * missing.h
 *	  How long it takes to load columns that are not in the cache, and whether they fit beside what is in use.
 *
 * Runs in backends, in the planner and at execution.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MISSING_H
#define GC_MISSING_H

#include "postgres.h"

#include "utils/relcache.h"

#include "columns.h"

/* Estimates are rough: a wait for a load must pay by this factor. */
#define GC_WAIT_FACTOR	1.3

typedef struct GcMissing
{
	double		ms;				/* to load what is missing */
	double		bytes;			/* that it takes then */
} GcMissing;

/* Add what a table lacks of these columns; true if it lacks any, or all that the cache keeps of it.  With a guard. */
extern bool gc_missing_add(Relation rel, int ncols, const GcColSpec *specs, GcMissing *missing);

/* Distinct values of a column, by what ANALYZE found; 0: nothing. */
extern double gc_analyzed_values(Relation rel, AttrNumber attnum, double rows);

/*
 * Would a load push out columns that other queries use?  It would be pushed out by their next load itself.  The size is
 * an estimate: whether the columns fit at all is for a load to find out, and is remembered.
 */
extern bool gc_missing_would_thrash(const GcMissing *missing);

#endif							/* GC_MISSING_H */
