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

#define MOST_EARLY			32

/* Accesses of one row to builds, in the order in which they are made. */
typedef struct Early
{
	int			n;
	struct
	{
		const GcPStep *step;
		u16			payload;	/* GC_NONE: the place that the step finds */
	}			what[MOST_EARLY];
} Early;

/*
 * What the n steps that are left, and the sink, want of builds and gathered rows can look up at once; of
 * more than MOST_EARLY accesses the first.
 */
extern void cg_find_early(Cg *cg, const GcPStep **steps, int n, Early *early);

/* Statements that do. */
extern void cg_look_up_early(Cg *cg, const Early *early);

#endif							/* GC_BATCHED_LOOKUP_H */
