/*-------------------------------------------------------------------------
 *
 * rewrite_keys.c
 *	  Restrict a grouped subquery to the keys that its outer query asks for.
 *
 * A grouped subquery that took the place of a correlated one computes all groups.  If the outer
 * query asks for few, `key IN (SELECT ...)` keeps the rest out.  It is the magic set of Mumick
 * and others 1990, of one relation.  It is taken from conditions that hold for every row of the
 * outer query's result, so that the groups left out are never missed.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "rewrite_tree.h"
#include "../../compat.h"

/* Conjuncts that speak of this relation alone, and can be evaluated elsewhere. */
static List *
filters_of(int rti, const GcQueryLevel *level, List *conjuncts)
{
	List	   *filters = NIL;
	ListCell   *lc;

	foreach(lc, conjuncts)
	{
		Node	   *conjunct = lfirst(lc);
		Bitmapset  *relids;

		if (checkExprHasSubLink(conjunct) || gc_refers_above(conjunct))
			continue;
		relids = gc_relations_of(conjunct);
		if (bms_membership(relids) == BMS_SINGLETON && bms_is_member(rti, relids) &&
			gc_cannot_raise(conjunct, level))
			filters = lappend(filters, conjunct);
	}
	return filters;
}

static Query *
select_keys(Query *query, Var *column, List *filters)
{
	Query	   *keys = makeNode(Query);
	RangeTblEntry *rte = rt_fetch(column->varno, query->rtable);
	RangeTblEntry *copy = copyObject(rte);
	RangeTblRef *ref = makeNode(RangeTblRef);
	Var		   *output = copyObject(column);
	Node	   *quals = copyObject(gc_quals(filters));

	GC_COPY_PERMISSIONS(keys, copy, query, rte);
	ChangeVarNodes((Node *) output, column->varno, 1, 0);
	ChangeVarNodes(quals, column->varno, 1, 0);
	ref->rtindex = 1;
	keys->commandType = CMD_SELECT;
	keys->querySource = QSRC_ORIGINAL;
	keys->canSetTag = true;
	keys->rtable = list_make1(copy);
	keys->jointree = makeFromExpr(list_make1(ref), quals);
	keys->targetList = list_make1(makeTargetEntry((Expr *) output, 1, "key", false));
	return keys;
}

static void
add_condition(Query *sub, Node *condition)
{
	sub->jointree->quals = gc_quals(lappend(gc_conjuncts(sub->jointree->quals), condition));
	sub->hasSubLinks = true;
}

/* `inner` op ANY (query), with the operator's arguments in this order. */
static SubLink *
key_in(Node *inner, OpExpr *op, Oid opno, Query *keys)
{
	TargetEntry *key = linitial_node(TargetEntry, keys->targetList);
	SubLink    *sublink = makeNode(SubLink);
	Param	   *param = makeNode(Param);
	OpExpr	   *test = makeNode(OpExpr);

	param->paramkind = PARAM_SUBLINK;
	param->paramid = 1;
	param->paramtype = exprType((Node *) key->expr);
	param->paramtypmod = exprTypmod((Node *) key->expr);
	param->paramcollid = exprCollation((Node *) key->expr);
	param->location = -1;
	test->opno = opno;
	test->opfuncid = get_opcode(opno);
	test->opresulttype = BOOLOID;
	test->inputcollid = op->inputcollid;
	test->args = list_make2(copyObject(inner), param);
	test->location = -1;
	sublink->subLinkType = ANY_SUBLINK;
	sublink->testexpr = (Node *) test;
	sublink->operName = list_make1(makeString(get_opname(opno)));
	sublink->subselect = (Node *) keys;
	sublink->location = -1;
	return sublink;
}

/* If a relation is a table with filters of its own, its column's values are the keys. */
static bool
restrict_by_table(Query *sub, Node *inner, Node *outer, OpExpr *op, Oid opno,
				  const GcQueryLevel *level, List *conjuncts)
{
	Var		   *column = (Var *) outer;
	RangeTblEntry *rte;
	List	   *filters;

	if (!IsA(column, Var) || column->varlevelsup > 0 || column->varattno <= 0)
		return false;
	rte = rt_fetch(column->varno, level->query->rtable);
	if (rte->rtekind != RTE_RELATION || rte->tablesample || rte->securityQuals ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		!gc_is_inner(level->query, column->varno))
		return false;
	filters = filters_of(column->varno, level, conjuncts);
	if (filters == NIL)
		return false;
	add_condition(sub, (Node *) key_in(inner, op, opno, select_keys(level->query, column, filters)));
	return true;
}

/* Other expressions that the outer query's conditions equate with its key by that operator. */
static List *
equated_with(Node *outer, OpExpr *op, List *conjuncts)
{
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, conjuncts)
	{
		OpExpr	   *equality = lfirst(lc);

		if (!IsA(equality, OpExpr) || equality->opno != op->opno || equality->inputcollid != op->inputcollid)
			continue;
		if (equal(linitial(equality->args), outer))
			others = lappend(others, lsecond(equality->args));
		else if (equal(lsecond(equality->args), outer))
			others = lappend(others, linitial(equality->args));
	}
	return others;
}

/* If the outer query's key is itself IN a subquery, the inner one is, too. */
static bool
restrict_by_subqueries(Query *sub, Node *inner, Node *outer, Oid opno,
					   const GcQueryLevel *level, List *conjuncts)
{
	bool		restricted = false;
	ListCell   *lc;

	foreach(lc, conjuncts)
	{
		SubLink    *sublink = lfirst(lc);
		OpExpr	   *test;

		if (!IsA(sublink, SubLink) || sublink->subLinkType != ANY_SUBLINK)
			continue;
		test = (OpExpr *) sublink->testexpr;
		if (!IsA(test, OpExpr) || test->opno != opno || !equal(linitial(test->args), outer) ||
			gc_query_refers_above((Query *) sublink->subselect) ||
			gc_reads_outer_cte((Query *) sublink->subselect) ||
			!gc_query_cannot_raise((Query *) sublink->subselect, level))
			continue;
		sublink = copyObject(sublink);
		linitial(((OpExpr *) sublink->testexpr)->args) = copyObject(inner);
		add_condition(sub, (Node *) sublink);
		restricted = true;
	}
	return restricted;
}

void
gc_restrict_key(Query *sub, Node *inner, Node *outer, OpExpr *op, const GcQueryLevel *level, List *conjuncts)
{
	Oid			opno = equal(linitial(op->args), inner) ? op->opno : get_commutator(op->opno);
	Oid			left;
	Oid			right;
	ListCell   *lc;

	/* An equality of one type is transitive, whichever way it is written. */
	op_input_types(op->opno, &left, &right);
	if (!OidIsValid(opno) || left != right)
		return;
	if (restrict_by_subqueries(sub, inner, outer, opno, level, conjuncts) ||
		restrict_by_table(sub, inner, outer, op, opno, level, conjuncts))
		return;
	foreach(lc, equated_with(outer, op, conjuncts))
	{
		if (restrict_by_table(sub, inner, lfirst(lc), op, opno, level, conjuncts))
			return;
	}
}
