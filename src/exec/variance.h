/*-------------------------------------------------------------------------
 *
 * variance.h
 *	  Variances and standard deviations, from count, sum and sum of squares.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_VARIANCE_H
#define GC_VARIANCE_H

#include "postgres.h"

#include "nodes/execnodes.h"

/* What computing many of them has in common; all zero at first. */
typedef struct GcVariances
{
	MemoryContext scratch;
	AggState   *caller;
	FmgrInfo	deserialize;
	FmgrInfo	finish;			/* the final function called last */
} GcVariances;

/*
 * What a final function of PostgreSQL's for numeric makes of `count` values with a sum and a sum
 * of squares, both numeric.  The result is in the current memory context.
 */
extern Datum gc_variance(GcVariances *v, Oid finalfn, int64 count, Datum sum, Datum squares, bool *isnull);

extern void gc_variances_end(GcVariances *v);

#endif							/* GC_VARIANCE_H */
