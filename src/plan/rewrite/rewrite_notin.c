/*-------------------------------------------------------------------------
 *
 * rewrite_notin.c
 *	  NOT IN as NOT EXISTS, with conditions for NULLs.
 *
 * x NOT IN (SELECT y ...) is true if x = y is false for every row, and so without any row.  If
 * neither can be NULL, it is NOT EXISTS (SELECT ... WHERE x = y), of which PostgreSQL makes an
 * anti join. x <> ALL (SELECT y ...) is the same thing.
 *
 * Where NULL is as good as false, in WHERE below AND and OR, NULLs add conditions:
 *
 *	- a subquery that does not refer to the outer query: does it have rows, and is y NULL in
 *	  any?  One aggregate, an InitPlan, says that.
 *	- another one: NOT EXISTS of rows where y is NULL.  If x is NULL, NOT EXISTS of any.
 *	- several columns: rows match by the columns that are never NULL, or that tie the subquery
 *	  to the outer query; (x = y) IS NOT FALSE is a condition on the match.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "rewrite_tree.h"
#include "../base/builtins.h"
#include "../../compat.h"

/*-------------------------------------------------------------------------
 * Values that cannot be NULL
 *-------------------------------------------------------------------------
 */

/* The expression below relabelling. */
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

/* Is the column one of these arguments? */
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
		return gc_builtin(((Aggref *) node)->aggfnoid)->over == GC_OVER_COUNT;
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

/* The subquery of a NOT IN or <> ALL; NULL if the condition is neither. */
static SubLink *
not_in(Node *node)
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

/* One of the equalities: x of the outer query, y of the subquery. */
typedef struct Compared
{
	OpExpr	   *op;
	bool		outer_null;		/* x may be NULL */
	bool		inner_null;		/* y may be */
} Compared;

/* The equalities, and which of their sides may be NULL; NIL if one of them may fail. */
static List *
compared_of(List *equalities, Query *sub, const GcQueryLevel *level, List *conjuncts)
{
	GcQueryLevel mine = {sub, level, NULL};
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, equalities)
	{
		OpExpr	   *op = lfirst_node(OpExpr, lc);
		Param	   *param = (Param *) strip_relabel(lsecond(op->args));
		TargetEntry *tle = get_tle_by_resno(sub->targetList, param->paramid);
		Compared   *compared = palloc(sizeof(Compared));

		if (tle == NULL || tle->resjunk || !gc_cannot_raise((Node *) op, level))
			return NIL;
		compared->op = op;
		compared->outer_null = !is_never_null(linitial(op->args), level, conjuncts);
		compared->inner_null = !is_never_null((Node *) tle->expr, &mine, gc_list_conjuncts(sub));
		result = lappend(result, compared);
	}
	return result;
}

/* Can a condition on its outputs be one of its WHERE? */
static bool
is_simple(const Query *query)
{
	return !query->hasAggs && !query->groupClause && !query->havingQual && !query->cteList && !query->setOperations;
}

/* Put the subquery's outputs in the places of the parameters that stand for them. */
static Node *
output_mutator(Node *node, List *targets)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_SUBLINK)
		return copyObject((Node *) get_tle_by_resno(targets, ((Param *) node)->paramid)->expr);
	return expression_tree_mutator(node, output_mutator, targets);
}

/*
 * The subquery restricted to rows for which the conditions are true.  These name its outputs by
 * parameters, and columns of the outer query as that does.  NULL if that cannot be said.
 */
static Query *
restrict_rows(Query *sub, List *conditions)
{
	List	   *quals;
	ListCell   *lc;

	if (!is_simple(sub))
	{
		if (gc_query_refers_above(sub))
			return NULL;
		sub = gc_select_all(sub, "excluded");
	}
	quals = gc_conjuncts(sub->jointree->quals);
	foreach(lc, conditions)
	{
		Node	   *condition = copyObject(lfirst(lc));

		IncrementVarSublevelsUp(condition, 1, 0);
		quals = lappend(quals, output_mutator(condition, sub->targetList));
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

/*-------------------------------------------------------------------------
 * Conditions for NULLs
 *-------------------------------------------------------------------------
 */

/* NOT EXISTS of the subquery's rows for which the conditions are true; NULL if that cannot be said. */
static Node *
not_exists(Query *sub, List *conditions)
{
	SubLink    *exists = makeNode(SubLink);

	exists->subLinkType = EXISTS_SUBLINK;
	exists->subselect = (Node *) restrict_rows(copyObject(sub), conditions);
	exists->location = -1;
	return exists->subselect ? (Node *) make_notclause((Expr *) exists) : NULL;
}

/* arg IS NULL. */
static Node *
is_null(Node *arg)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) copyObject(arg);
	test->nulltesttype = IS_NULL;
	test->location = -1;
	return (Node *) test;
}

static Node *
is_not_false(Node *arg)
{
	BooleanTest *test = makeNode(BooleanTest);

	test->arg = (Expr *) copyObject(arg);
	test->booltesttype = IS_NOT_FALSE;
	test->location = -1;
	return (Node *) test;
}

/* count(*), or count(arg). */
static Expr *
count_of(Node *arg)
{
	return (Expr *) gc_make_aggregate(arg ? F_COUNT_ANY : F_COUNT_, INT8OID, arg);
}

/* A comparison by the operator's name. */
static Node *
compare_int8(const char *name, Expr *left, Expr *right)
{
	return (Node *) make_op(NULL, list_make1(makeString(pstrdup(name))), (Node *) left, (Node *) right, NULL, -1);
}

/*
 * For which x NOT IN is true by the subquery's rows.  The value is 2 for all, as it has none; 1 if x is not NULL; 0
 * for none, as y is NULL somewhere.
 */
static Expr *
admitted(Query *sub, const Compared *compared)
{
	SubLink    *sublink = makeNode(SubLink);
	Query	   *facts = gc_select_all(copyObject(sub), "excluded");
	Param	   *param = (Param *) strip_relabel(lsecond(compared->op->args));
	Expr	   *unless_empty = gc_make_int8(1);

	if (compared->inner_null)
		unless_empty = gc_make_case((Expr *) compare_int8("=", count_of(NULL),
														  count_of((Node *) gc_output_var(facts, 1, param->paramid))),
							  unless_empty, gc_make_int8(0));
	facts->targetList = list_make1(makeTargetEntry(gc_make_case((Expr *) compare_int8("=", count_of(NULL), gc_make_int8(0)), gc_make_int8(2), unless_empty),
												   1, "admitted", false));
	facts->hasAggs = true;
	sublink->subLinkType = EXPR_SUBLINK;
	sublink->subselect = (Node *) facts;
	sublink->location = -1;
	return (Expr *) sublink;
}

/* NOT IN by one column, of a subquery that does not refer to the outer query. */
static List *
turn_independent(Query *sub, const Compared *compared)
{
	Node	   *differs = not_exists(sub, list_make1(compared->op));
	Expr	   *needed = gc_make_int8(1);

	if (differs == NULL || gc_reads_outer_cte(sub))
		return NIL;
	if (compared->outer_null)
		needed = gc_make_case((Expr *) is_null(linitial(compared->op->args)), gc_make_int8(2), needed);
	return list_make2(differs, compare_int8(">=", admitted(sub, compared), needed));
}

/* NOT IN by one column, of a subquery that refers to the outer query. */
static List *
turn_dependent(Query *sub, const Compared *compared)
{
	List	   *result = list_make1(not_exists(sub, list_make1(compared->op)));

	if (compared->inner_null)
		result = lappend(result, not_exists(sub, list_make1(is_null(lsecond(compared->op->args)))));
	if (compared->outer_null)
		result = lappend(result, not_exists(sub, list_make1(is_null(linitial(compared->op->args)))));
	return list_member_ptr(result, NULL) ? NIL : result;
}

/*
 * By several columns.  Some equality must be left to join by: of columns that are never NULL, or of
 * those that tie the subquery to the outer query.
 */
static List *
turn_several(Query *sub, List *all, bool dependent)
{
	List	   *conditions = NIL;
	bool		keyed = dependent;
	Node	   *result;
	ListCell   *lc;

	foreach(lc, all)
	{
		Compared   *compared = lfirst(lc);
		bool		nullable = compared->outer_null || compared->inner_null;

		keyed |= !nullable;
		conditions = lappend(conditions, nullable ? is_not_false((Node *) compared->op) : (Node *) compared->op);
	}
	if (!keyed || (result = not_exists(sub, conditions)) == NULL)
		return NIL;
	return list_make1(result);
}

/*-------------------------------------------------------------------------
 * The outer query's conditions
 *-------------------------------------------------------------------------
 */

/* Conditions that are true where NOT IN is true; NIL if it must stay. */
static List *
turn(Node *node, const GcQueryLevel *level, List *conjuncts)
{
	SubLink    *sublink = not_in(node);
	List	   *equalities = sublink ? equalities_of(sublink) : NIL;
	Query	   *sub;
	List	   *all;
	Compared   *first;
	bool		dependent;

	if (equalities == NIL)
		return NIL;
	sub = (Query *) sublink->subselect;
	if (!gc_query_cannot_raise(sub, level) || (all = compared_of(equalities, sub, level, conjuncts)) == NIL)
		return NIL;
	dependent = gc_query_refers_above(sub);
	first = linitial(all);
	if (list_length(all) > 1 || (!first->outer_null && !first->inner_null))
		return turn_several(sub, all, dependent);
	return dependent ? turn_dependent(sub, first) : turn_independent(sub, first);
}

typedef struct Turning
{
	const GcQueryLevel *level;
	List	   *conjuncts;
	bool		changed;
} Turning;

/* The condition with NOT IN turned, where NULL is as good as false. */
static Node *
turn_below(Node *node, Turning *turning)
{
	BoolExpr   *bool_expr = (BoolExpr *) node;
	List	   *turned;
	List	   *args = NIL;
	ListCell   *lc;

	check_stack_depth();
	if (!is_andclause(node) && !is_orclause(node))
	{
		turned = turn(node, turning->level, turning->conjuncts);
		turning->changed |= turned != NIL;
		return turned ? gc_quals(turned) : node;
	}
	foreach(lc, bool_expr->args)
		args = lappend(args, turn_below(lfirst(lc), turning));
	return (Node *) makeBoolExpr(bool_expr->boolop, args, -1);
}

bool
gc_has_not_in(Node *node)
{
	ListCell   *lc;

	check_stack_depth();
	if (!is_andclause(node) && !is_orclause(node))
		return not_in(node) != NULL;
	foreach(lc, ((BoolExpr *) node)->args)
	{
		if (gc_has_not_in(lfirst(lc)))
			return true;
	}
	return false;
}

List *
gc_turn_not_in(const GcQueryLevel *level, List *conjuncts, bool *changed)
{
	Turning		turning = {.level = level,.conjuncts = conjuncts};
	List	   *result = NIL;
	ListCell   *lc;
	int			candidates = 0;

	foreach(lc, conjuncts)
		candidates += gc_has_not_in(lfirst(lc));
	if (candidates == 0 || !gc_joins_cannot_raise(conjuncts, level))
		return conjuncts;
	foreach(lc, conjuncts)
	{
		Node	   *conjunct = lfirst(lc);

		if (gc_has_not_in(conjunct))
			conjunct = turn_below(conjunct, &turning);
		result = list_concat(result, gc_conjuncts(conjunct));
	}
	*changed |= turning.changed;
	return result;
}
