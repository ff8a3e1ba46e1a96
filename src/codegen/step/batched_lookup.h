/*-------------------------------------------------------------------------
 *
 * batched_lookup.h
 *	  Batched lookups: rows of builds that gathered rows look up together.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BATCHED_LOOKUP_H
#define GC_BATCHED_LOOKUP_H

#include "../expr/state.h"

#define MOST_BATCHED			32

/* Accesses of one row to builds, in the order in which they are made. */
typedef struct Batched
{
	int			n;
	struct
	{
		const GcPStep *step;
		u16			payload;	/* GC_NONE: the entry of the step's direct lookup table */
	}			what[MOST_BATCHED];
} Batched;

/*
 * Find the lookups of the n remaining steps and the sink that gathered rows can make together.  At most the first
 * MOST_BATCHED accesses are taken.
 */
extern void cg_find_batched(Cg *cg, const GcPStep **steps, int n, Batched *batched);

/* Emit the statements that look these up. */
extern void cg_look_up_batched(Cg *cg, const Batched *batched);

#endif							/* GC_BATCHED_LOOKUP_H */
