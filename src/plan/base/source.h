/*-------------------------------------------------------------------------
 *
 * source.h
 *	  Plans below a node that must not be computed ahead of the request; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SOURCE_H
#define GC_SOURCE_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Why rows, or outputs of subqueries, must not be computed ahead; NULL if nothing is against it. */
extern const char *gc_source_refusal(PlannerInfo *root, RelOptInfo *rel);
extern const char *gc_subplans_refusal(PlannerInfo *root, Node *expr);

/* May LIMIT or OFFSET leave rows of a query out?  LIMIT ALL and, once constants are folded, OFFSET 0 leave none. */
extern bool gc_has_limit(const Query *query);

/* May a query return other rows when it is executed once more?  Does it lock rows? */
extern bool gc_repeats_differ(Node *node);
extern bool gc_locks_rows(Node *node);

/* Does the result of an aggregate or window function, of this type, not depend on the order of rows? */
extern bool gc_is_orderless(Oid funcid, Oid type);

/* Does an expression, or a query level, look at how values are stored?  Is this a function that does? */
extern bool gc_is_storage_function(Oid function);
extern bool gc_looks_at_storage(Node *node);
extern bool gc_level_looks_at_storage(PlannerInfo *root);

#endif							/* GC_SOURCE_H */
