/*-------------------------------------------------------------------------
 *
 * batched_lookup.h
 *	  Look up at once what gathered rows want of builds.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_BATCHED_LOOKUP_H
#define GC_BATCHED_LOOKUP_H

#include "state.h"

#define MOST_BATCHED			32

/* Accesses of one row to builds, in the order in which they are made. */
typedef struct Batched
{
	int			n;
	struct
	{
		const GcPStep *step;
		u16			payload;	/* GC_NONE: the place that the step finds */
	}			what[MOST_BATCHED];
} Batched;

/*
 * What the n steps that are left, and the sink, want of builds and gathered rows can look up at once; of
 * more than MOST_BATCHED accesses the first.
 */
extern void cg_find_batched(Cg *cg, const GcPStep **steps, int n, Batched *batched);

/* Statements that do. */
extern void cg_look_up_batched(Cg *cg, const Batched *batched);

#endif							/* GC_BATCHED_LOOKUP_H */
