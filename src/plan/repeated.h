/*-------------------------------------------------------------------------
 *
 * repeated.h
 *	  Plans of statements that a session repeats; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REPEATED_H
#define GC_REPEATED_H

#include "postgres.h"

#include "nodes/plannodes.h"

#include "glance.h"

/* A statement whose plan may be kept. */
typedef struct GcRepeatable
{
	uint64		key;			/* gc_verdict_key(), which is not 0 */
	const GcGlance *glance;
	const char *query_string;
	int			options;
	bool		for_constants;	/* set with a plan: it is one for all constants */
	bool		other_constants;	/* a plan for all constants will do, if it is sure to be the best for all */
} GcRepeatable;

/*
 * The plan that the session made of this statement before, or of one with other constants, if nothing that it was made from
 * has changed; NULL: there is none.  It may lack columns or kernels by now.  The plan is the caller's until the transaction
 * ends, and must not be changed.
 */
extern PlannedStmt *gc_repeated_plan(GcRepeatable *what, Query *query);

/*
 * Plans a statement that the session repeats; NULL: it is not known to.  The plan is kept if gc_repeated_judge()
 * says so; it is the caller's as above.  query: is not changed.  Reports the planner's errors.
 */
extern PlannedStmt *gc_repeated_make(const GcRepeatable *what, Query *query);

/* Is the plan that was just made one to keep? */
extern void gc_repeated_judge(bool worth);

extern void gc_repeated_install(void);

#endif							/* GC_REPEATED_H */
