/*-------------------------------------------------------------------------
 *
 * rewrite_notin.c
 *	  NOT IN as NOT EXISTS, where no NULL can come in.
 *
 * x NOT IN (SELECT y ...) is NULL where neither equals and one is NULL.  If none of them
 * can be NULL, it is NOT EXISTS (SELECT ... WHERE x = y), of which PostgreSQL makes an anti
 * join.  x <> ALL (SELECT y ...) is the same thing.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rewrite_notin.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "nodes/makefuncs.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "cannot_raise.h"
#include "../compat.h"

/*-------------------------------------------------------------------------
 * What cannot be NULL
 *-------------------------------------------------------------------------
 */

static Node *
strip_relabel(Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

/* Is this column of a table declared NOT NULL, for all rows that a scan of it returns? */
static bool
is_declared_not_null(const RangeTblEntry *rte, AttrNumber attno)
{
	Relation	relation;
	bool		result;

	if (attno <= 0 || (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE))
		return false;
	/* Partitions must declare it, too; other children need not. */
	if (rte->relkind == RELKIND_RELATION && rte->inh && has_subclass(rte->relid))
		return false;
	relation = table_open(rte->relid, NoLock);
	result = GC_IS_NOT_NULL(RelationGetDescr(relation), attno);
	table_close(relation, NoLock);
	return result;
}

static bool
is_among(const Node *var, List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		if (equal(strip_relabel(lfirst(lc)), var))
			return true;
	}
	return false;
}

/* Is one of these conditions never true where the Var is NULL? */
static bool
is_tested(const Var *var, List *conjuncts)
{
	ListCell   *lc;

	foreach(lc, conjuncts)
	{
		Node	   *node = lfirst(lc);

		if (IsA(node, NullTest) && ((NullTest *) node)->nulltesttype == IS_NOT_NULL &&
			equal(strip_relabel((Node *) ((NullTest *) node)->arg), var))
			return true;
		if (IsA(node, OpExpr) && op_strict(((OpExpr *) node)->opno) &&
			is_among((const Node *) var, ((OpExpr *) node)->args))
			return true;
	}
	return false;
}

/* Is this expression of a level, or of a query whose rows are there, never NULL? */
static bool
is_never_null(Node *node, const GcQueryLevel *level, List *conjuncts)
{
	GcQueryLevel room;
	const GcQueryLevel *inner;
	RangeTblEntry *rte;
	Var		   *var;
	Node	   *behind;

	check_stack_depth();
	node = strip_relabel(node);
	if (IsA(node, Const))
		return !((Const *) node)->constisnull;
	if (IsA(node, Aggref))
		return ((Aggref *) node)->aggfnoid == F_COUNT_ || ((Aggref *) node)->aggfnoid == F_COUNT_ANY;
	if (!IsA(node, Var) || ((Var *) node)->varlevelsup > 0 || level->query->groupingSets)
		return false;
	var = (Var *) node;
	if (is_tested(var, conjuncts))
		return true;
	rte = rt_fetch(var->varno, level->query->rtable);
	if (rte->rtekind != RTE_JOIN && !gc_is_inner(level->query, var->varno))
		return false;
	if (rte->rtekind == RTE_RELATION)
		return is_declared_not_null(rte, var->varattno);
	behind = gc_level_resolve(level, var, &room, &inner);
	if (behind == NULL)
		return false;
	return is_never_null(behind, inner, inner == level ? conjuncts : gc_list_conjuncts(inner->query));
}

/*-------------------------------------------------------------------------
 * NOT IN
 *-------------------------------------------------------------------------
 */

SubLink *
gc_not_in(Node *node)
{
	if (IsA(node, SubLink) && ((SubLink *) node)->subLinkType == ALL_SUBLINK)
		return (SubLink *) node;
	if (is_notclause(node))
	{
		SubLink    *sublink = (SubLink *) get_notclausearg(node);

		if (IsA(sublink, SubLink) && sublink->subLinkType == ANY_SUBLINK)
			return sublink;
	}
	return NULL;
}

/* The equalities that NOT IN tests, or NIL; of <> ALL, those that its operators negate. */
static List *
equalities_of(const SubLink *sublink)
{
	bool		all = sublink->subLinkType == ALL_SUBLINK;
	List	   *equalities = all ? list_make1(sublink->testexpr) : gc_conjuncts(sublink->testexpr);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, equalities)
	{
		OpExpr	   *op = lfirst(lc);
		Param	   *param;

		if (!IsA(op, OpExpr) || list_length(op->args) != 2)
			return NIL;
		op = copyObject(op);
		if (all)
			op->opno = get_negator(op->opno);
		op->opfuncid = OidIsValid(op->opno) ? get_opcode(op->opno) : InvalidOid;
		param = (Param *) strip_relabel(lsecond(op->args));
		if (!OidIsValid(op->opno) || !op_mergejoinable(op->opno, exprType(linitial(op->args))) ||
			!op_strict(op->opno) || !IsA(param, Param) || param->paramkind != PARAM_SUBLINK)
			return NIL;
		result = lappend(result, op);
	}
	return result;
}

/* Can neither side of any of the equalities be NULL, or fail? */
static bool
are_proven(List *equalities, Query *sub, const GcQueryLevel *level, List *conjuncts)
{
	GcQueryLevel mine = {sub, level, NULL};
	ListCell   *lc;

	foreach(lc, equalities)
	{
		OpExpr	   *op = lfirst_node(OpExpr, lc);
		Param	   *param = (Param *) strip_relabel(lsecond(op->args));
		TargetEntry *tle = get_tle_by_resno(sub->targetList, param->paramid);

		if (tle == NULL || tle->resjunk || !gc_cannot_raise((Node *) op, level) ||
			!is_never_null(linitial(op->args), level, conjuncts) ||
			!is_never_null((Node *) tle->expr, &mine, gc_list_conjuncts(sub)))
			return false;
	}
	return true;
}

/* Can a condition on its outputs be one of its WHERE? */
static bool
is_simple(const Query *query)
{
	return !query->hasAggs && !query->groupClause && !query->havingQual && !query->cteList;
}

/* SELECT * FROM (query), with it one level further down. */
static Query *
wrap(Query *query)
{
	Query	   *outer = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell   *lc;
	int			rti;

	foreach(lc, query->targetList)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);

		if (tle->resname == NULL)
			tle->resname = psprintf("value%d", tle->resno);
	}
	/* Only CTEs are named from outside. */
	IncrementVarSublevelsUp((Node *) query, 1, 1);
	rti = gc_add_subquery(outer, query, "excluded");
	ref->rtindex = rti;
	outer->commandType = CMD_SELECT;
	outer->querySource = QSRC_ORIGINAL;
	outer->canSetTag = true;
	outer->jointree = makeFromExpr(list_make1(ref), NULL);
	foreach(lc, query->targetList)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);

		if (!tle->resjunk)
			outer->targetList = lappend(outer->targetList,
										makeTargetEntry((Expr *) gc_output_var(outer, rti, tle->resno),
														tle->resno, tle->resname, false));
	}
	return outer;
}

static Node *
output_mutator(Node *node, List *targets)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_SUBLINK)
		return copyObject((Node *) get_tle_by_resno(targets, ((Param *) node)->paramid)->expr);
	return expression_tree_mutator(node, output_mutator, targets);
}

/* The subquery restricted to rows that fulfil the equalities; NULL if that cannot be said. */
static Query *
restrict_rows(Query *sub, List *equalities)
{
	List	   *quals;
	ListCell   *lc;

	if (!is_simple(sub))
	{
		if (gc_query_refers_above(sub))
			return NULL;
		sub = wrap(sub);
	}
	quals = gc_conjuncts(sub->jointree->quals);
	foreach(lc, equalities)
	{
		OpExpr	   *op = lfirst_node(OpExpr, lc);

		IncrementVarSublevelsUp(linitial(op->args), 1, 0);
		quals = lappend(quals, output_mutator((Node *) op, sub->targetList));
	}
	sub->jointree->quals = gc_quals(quals);
	return sub;
}

Query *
gc_rows_of_in(const SubLink *sublink)
{
	List	   *equalities = equalities_of(sublink);

	return equalities ? restrict_rows(copyObject((Query *) sublink->subselect), equalities) : NULL;
}

/* NOT EXISTS of what NOT IN says; NULL if it must stay. */
static Node *
turn(Node *node, const GcQueryLevel *level, List *conjuncts)
{
	SubLink    *sublink = gc_not_in(node);
	SubLink    *exists;
	List	   *equalities;
	Query	   *sub;

	if (sublink == NULL || (equalities = equalities_of(sublink)) == NIL)
		return NULL;
	sub = copyObject((Query *) sublink->subselect);
	if (!gc_query_cannot_raise(sub, level) || !are_proven(equalities, sub, level, conjuncts))
		return NULL;
	sub = restrict_rows(sub, equalities);
	if (sub == NULL)
		return NULL;
	exists = makeNode(SubLink);
	exists->subLinkType = EXISTS_SUBLINK;
	exists->subselect = (Node *) sub;
	exists->location = -1;
	return (Node *) make_notclause((Expr *) exists);
}

List *
gc_turn_not_in(const GcQueryLevel *level, List *conjuncts, bool *changed)
{
	List	   *result = NIL;
	ListCell   *lc;
	int			candidates = 0;

	foreach(lc, conjuncts)
		candidates += gc_not_in(lfirst(lc)) != NULL;
	if (candidates == 0 || !gc_joins_cannot_raise(conjuncts, level))
		return conjuncts;
	foreach(lc, conjuncts)
	{
		Node	   *turned = turn(lfirst(lc), level, conjuncts);

		*changed |= turned != NULL;
		result = lappend(result, turned ? turned : lfirst(lc));
	}
	return result;
}
