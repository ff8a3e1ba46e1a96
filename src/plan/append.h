/*-------------------------------------------------------------------------
 *
 * append.h
 *	  Partitioned tables, inheritance trees and UNION ALL of tables as leaves; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_APPEND_H
#define GC_APPEND_H

#include "translate.h"

/*
 * The tables (GcAppendPart) whose rows together are the relation's, if each is read through the
 * column cache; NIL, with a reason, if it is something else.
 */
extern List *gc_append_parts(PlannerInfo *root, RelOptInfo *rel, const char **reason);

/* Number of columns that the relation has. */
extern int	gc_append_natts(const List *parts);

/* The attribute of a part's table that is a column of the relation; 0 if there is none. */
extern int16 gc_append_attnum(const GcAppendPart *part, AttrNumber attno);

#endif							/* GC_APPEND_H */
