/*-------------------------------------------------------------------------
 *
 * rewrite.h
 *	  Queries rewritten before planning, so that more of them can be offloaded.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_REWRITE_H
#define GC_REWRITE_H

#include "postgres.h"

#include "nodes/params.h"
#include "nodes/parsenodes.h"

/*
 * A rewritten copy of the statement, which returns the same rows; NULL if there is
 * nothing to rewrite.  The statement itself stays as it is.  `cursor`: it is a cursor's.
 */
extern Query *gc_rewrite(Query *parse, bool cursor, ParamListInfo params);

#endif							/* GC_REWRITE_H */
