/*-------------------------------------------------------------------------
 *
 * cannot_raise.h
 *	  Which expressions and queries cannot raise an error; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CANNOT_RAISE_H
#define GC_CANNOT_RAISE_H

#include "rewrite_tree.h"

/*
 * Can this expression of a query level be evaluated over any rows, in any order and any
 * number of times, without an error?  False: this is not known.
 */
extern bool gc_cannot_raise(Node *node, const GcQueryLevel *level);

/* Can a query that stands in that level raise none, if its rows repeat, too? */
extern bool gc_query_cannot_raise(Query *query, const GcQueryLevel *parent);

/* Can those conditions of a level raise none that other joins may cause to be evaluated for more rows? */
extern bool gc_joins_cannot_raise(List *conjuncts, const GcQueryLevel *level);

#endif							/* GC_CANNOT_RAISE_H */
