/*-------------------------------------------------------------------------
 *
 * rank.h
 *	  Rankings of a dictionary's values; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXEC_RANK_H
#define GC_EXEC_RANK_H

#include "compute.h"

/* Fill an empty table with ranks.  t: a table that has ranked the first values, or NULL. */
extern void gc_compute_rank(const GcLookupWork *w, const GcSharedLookup *t, GcLookup *l);

/* The function by which a ranking compares values. */
extern Oid	gc_rank_function(const GcPlanLut *lut);

#endif							/* GC_EXEC_RANK_H */
