/*-------------------------------------------------------------------------
 *
 * choice.h
 *	  Which groups or rows of a node are returned: HAVING, and the first few in an order;
 *	  private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CHOICE_H
#define GC_CHOICE_H

#include "../base/translate.h"
#include "../expr/raises.h"

/*
 * Have the device test those conditions of HAVING that it can on the main pipeline's groups.  The node tests all
 * of it once more, so that what cannot be translated is no failure.
 */
extern void gc_choose_having(GcTranslation *tr, List *having);

/*
 * Have the device choose the groups or rows that come first by the leading key of an order, `wanted` of them and more.
 * Exprs are the expressions that the node computes of a group.  False if it cannot.  Of rows, the caller knows that
 * nothing raises an error that is computed of others.
 */
extern bool gc_choose_first(GcTranslation *tr, List *pathkeys, List *exprs, double wanted);

/* May a call itself raise an error, of whatever a node returns?  GC_RAISES_UNKNOWN: it is none, or not known. */
extern GcRaises gc_call_raises(const Node *node);

/* Is a class, which rows are sorted by, of that expression alone? */
extern bool gc_is_sorted_by(const EquivalenceClass *ec, const Node *expr);

#endif							/* GC_CHOICE_H */
