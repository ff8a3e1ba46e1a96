/*-------------------------------------------------------------------------
 *
 * determined.h
 *	  Columns that the columns of GROUP BY determine; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_DETERMINED_H
#define GC_PLAN_DETERMINED_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Do the grouping columns, in every grouping set, have the primary key of this column's table among them? */
extern bool gc_groups_determine(PlannerInfo *root, List *group_exprs, Node *node);

#endif							/* GC_PLAN_DETERMINED_H */
