/*-------------------------------------------------------------------------
 *
 * choice.h
 *	  Which groups or rows of a node are returned: HAVING, and the first few in an order; near values
 *	  (near.c).  Private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CHOICE_H
#define GC_CHOICE_H

#include "../base/translate.h"
#include "../expr/raises.h"
#include "groups.h"

/* The conditions of HAVING in the order in which PostgreSQL tests them. */
extern List *gc_order_having(PlannerInfo *root, List *having);

/*
 * Have the device test those conditions of HAVING, which are in order, that it can on the main pipeline's groups.  The
 * node tests all of it once more where a part is not translated, or no device has chosen (GcRows.filtered).
 */
extern void gc_choose_having(GcTranslation *tr, List *having);

/*
 * Have the device choose the groups or rows that come first by the leading key of an order, `wanted` of them and more.
 * Behind a count, the next key decides, too.  Exprs are the expressions that the node computes of a group.  False if it
 * cannot.  Of rows, the caller knows that nothing raises an error that is computed of others.
 */
extern bool gc_choose_first(GcTranslation *tr, List *pathkeys, List *exprs, double wanted);

/* Have the device choose any `wanted` groups that pass HAVING.  False if it cannot. */
extern bool gc_choose_any(GcTranslation *tr, double wanted);

/* May a call itself raise an error, of whatever a node returns?  GC_RAISES_UNKNOWN: it is none, or not known. */
extern GcRaises gc_call_raises(const Node *node);

/* Is a class, which rows are sorted by, of that expression alone? */
extern bool gc_is_sorted_by(const EquivalenceClass *ec, const Node *expr);

/*
 * May an expression of a pipeline's groups raise an error?  PostgreSQL computes it of all groups, and we of the chosen
 * ones only.  order: what the device computes of each group, or NULL.
 */
extern bool gc_groups_may_raise(GcTranslation *tr, int pipeline, Node *node, EquivalenceClass *order);

/*
 * A condition that is true wherever a clause over the groups may be, and where it may raise an error.  GC_NO_EXPR, with
 * a reason, if there is none.
 */
extern int	gc_groups_maybe(GcTranslation *tr, GcGroups *groups, Expr *clause);

#endif							/* GC_CHOICE_H */
