/*-------------------------------------------------------------------------
 *
 * merge_time.c
 *	  How much of its two sides a merge join reads.
 *
 * A merge join ends where one side has no more rows.  PostgreSQL estimates that by the least and the greatest value
 * of both columns in their tables, without the conditions of the query.  So for a.i = b.i AND a.i < 10 it counts that
 * all of b is read, if a has values as large as b's.  Here the condition is applied to the other side's column, too.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "merge_time.h"

#include "access/stratnum.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"

#include "../../compat.h"

/* May this side be left before its end, as the join has no use for rows without a partner? */
static bool
may_be_left(JoinType jointype, bool inner)
{
	switch (jointype)
	{
		case JOIN_INNER:
		case JOIN_SEMI:
			return true;
		case JOIN_LEFT:
		case JOIN_ANTI:
			return inner;
		case JOIN_RIGHT:
			return !inner;
		default:
			return false;
	}
}

static Expr *
without_relabeling(Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return (Expr *) node;
}

/* The side's key, a column of a table of this query level; else NULL. */
static Var *
key_of(PlannerInfo *root, const RelOptInfo *rel, const RestrictInfo *clause)
{
	const bool	left = bms_is_subset(clause->left_relids, rel->relids);
	Expr	   *key = without_relabeling(left ? get_leftop(clause->clause) : get_rightop(clause->clause));
	const Var  *var = (const Var *) key;

	if (key == NULL || !IsA(key, Var) || var->varlevelsup > 0 || !IS_SIMPLE_REL(rel) || (Index) var->varno != rel->relid ||
		(int) rel->relid >= root->simple_rel_array_size || root->simple_rel_array[rel->relid] != rel)
		return NULL;
	return (Var *) key;
}

/* The constant that a condition compares the key with, and by which of the family's strategies; else NULL. */
static Const *
bound_of(const RestrictInfo *rinfo, const Var *key, Oid family, int *strategy)
{
	const OpExpr *op = (const OpExpr *) rinfo->clause;
	Node	   *left;
	Node	   *right;
	Oid			opno;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return NULL;
	left = (Node *) without_relabeling(linitial(op->args));
	right = lsecond(op->args);
	opno = op->opno;
	if (IsA(left, Const))
	{
		left = (Node *) without_relabeling(right);
		right = linitial(op->args);
		opno = get_commutator(opno);
	}
	if (!OidIsValid(opno) || !equal(left, key) || !IsA(right, Const) || ((const Const *) right)->constisnull)
		return NULL;
	*strategy = get_op_opfamily_strategy(opno, family);
	return (Const *) right;
}

/* The part of the rows of a table whose key is as near to the beginning as a condition wants the other side's to be. */
static double
share_within(PlannerInfo *root, Var *key, const Const *bound, int strategy, Oid family, Oid collation)
{
	Oid			opno = get_opfamily_member(family, key->vartype, bound->consttype, strategy);

	if (!OidIsValid(opno))
		return 1;
	return restriction_selectivity(root, opno, list_make2(key, (void *) bound), collation, 0);
}

double
gc_merge_share(PlannerInfo *root, const MergePath *join, bool inner)
{
	const Path *mine = inner ? join->jpath.innerjoinpath : join->jpath.outerjoinpath;
	const Path *other = inner ? join->jpath.outerjoinpath : join->jpath.innerjoinpath;
	const RestrictInfo *clause = join->path_mergeclauses ? linitial(join->path_mergeclauses) : NULL;
	const PathKey *order = mine->pathkeys ? linitial(mine->pathkeys) : NULL;
	double		share = 1;
	Var		   *my_key;
	Var		   *other_key;
	ListCell   *lc;

	/* A side that is sorted is read to its end. */
	if ((mine->pathtype != T_IndexScan && mine->pathtype != T_IndexOnlyScan) || clause == NULL || order == NULL ||
		(inner ? join->innersortkeys : join->outersortkeys) != NIL || !may_be_left(join->jpath.jointype, inner))
		return 1;
	my_key = key_of(root, mine->parent, clause);
	other_key = key_of(root, other->parent, clause);
	if (my_key == NULL || other_key == NULL)
		return 1;
	foreach(lc, other->parent->baserestrictinfo)
	{
		int			strategy = 0;
		const Const *bound = bound_of(lfirst_node(RestrictInfo, lc), other_key, order->pk_opfamily, &strategy);
		const bool	below = strategy == BTLessStrategyNumber || strategy == BTLessEqualStrategyNumber;
		const bool	above = strategy == BTGreaterStrategyNumber || strategy == BTGreaterEqualStrategyNumber;

		if (bound && (GC_IS_DESCENDING(order) ? above : below))
			share = Min(share, share_within(root, my_key, bound, strategy, order->pk_opfamily, order->pk_eclass->ec_collation));
	}
	return share;
}
