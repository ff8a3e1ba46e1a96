/*-------------------------------------------------------------------------
 *
 * rewrite.h
 *	  Queries rewritten before planning, so that more of them can be offloaded.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_H
#define GC_REWRITE_H

#include "postgres.h"

#include "nodes/params.h"
#include "nodes/parsenodes.h"

/* CTEs that may be inlined, or stay CTEs with no other rows than their readers ask for. */
typedef struct GcCteChoice
{
	bool		narrow;			/* let them stay */
	bool		narrowable;		/* returned: there are such CTEs */
} GcCteChoice;

/*
 * A rewritten copy of the statement, which returns the same rows; NULL if there is
 * nothing to rewrite.  The statement itself stays as it is.  `cursor`: it is a cursor's.
 * ctes->narrow is read, ctes->narrowable set where it is so.
 */
extern Query *gc_rewrite(Query *parse, bool cursor, ParamListInfo params, GcCteChoice *ctes);

/*
 * Is it a UNION that shows a constant of grouping sets as NULL, or not, by whether PostgreSQL's plan of it might be
 * parallel?  Then no node may stand below it.
 */
extern bool gc_shows_constants_by_plan(const Query *query);

#endif							/* GC_REWRITE_H */
