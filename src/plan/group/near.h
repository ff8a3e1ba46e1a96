/*-------------------------------------------------------------------------
 *
 * near.h
 *	  Conditions on groups by near values of numerics; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PLAN_NEAR_H
#define GC_PLAN_NEAR_H

#include "groups.h"
#include "../expr/raises.h"

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

#endif							/* GC_PLAN_NEAR_H */
