/*-------------------------------------------------------------------------
 *
 * rewrite_sublink.c
 *	  Correlated scalar subqueries, and EXISTS under OR, as joins.
 *
 *		x < (SELECT avg(y) FROM t WHERE t.k = o.k AND ...)
 *
 * becomes a join with (SELECT avg(y) AS value, k FROM t WHERE ... GROUP BY k) AS groups ON
 * groups.k = o.k, and x < groups.value (Kim 1982, with the outer join of Ganski and
 * Wong 1987).  There is one group for each key, so no row of the outer query is
 * duplicated.  An inner join is right where no group means no row: the value over no rows
 * is NULL, and the condition is strict in it.  Else it is a left join, and the value over
 * no rows is put in.
 *
 * A subquery that selects a row by its key needs no groups.
 *
 * PostgreSQL makes no semi join of EXISTS and IN under OR or CASE.  They become left joins with one row per key, which
 * say whether there is one.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "catalog/pg_proc.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_oper.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "../base/builtins.h"
#include "rewrite_tree.h"
#include "../../compat.h"

/* A subquery that was turned into a join, and the expression in its place. */
typedef struct Unnested
{
	SubLink    *sublink;		/* as it was */
	Node	   *value;
} Unnested;

typedef struct Unnest
{
	const GcQueryLevel *level;	/* of the outer query */
	List	   *conjuncts;		/* its conditions, before any was changed */
	List	   *joins;			/* conditions of inner joins that were added */
	List	   *unnested;		/* Unnested */
	bool		strict;			/* a NULL here makes the row fail */
	bool		like_false;		/* so does false, and nothing else depends on which it is */
} Unnest;

/* One condition of the subquery that ties it to the outer query. */
typedef struct Correlation
{
	OpExpr	   *op;				/* of the outer query's level but for its inner argument */
	int			inner;			/* which of its arguments that is */
	int			resno;			/* output of the grouped subquery */
} Correlation;

/* Does the subquery refer to columns of the level around it? */
static bool
is_correlated(const SubLink *sublink)
{
	return contain_vars_of_level(sublink->subselect, 1);
}

/* A correlated subquery of one value, without groups. */
static bool
is_scalar(const SubLink *sublink)
{
	const Query *query = (const Query *) sublink->subselect;

	return sublink->subLinkType == EXPR_SUBLINK && !query->groupClause && is_correlated(sublink);
}

/* IN, ANY, or a correlated EXISTS. */
static bool
is_membership(const SubLink *sublink)
{
	return sublink->subLinkType == ANY_SUBLINK ||
		(sublink->subLinkType == EXISTS_SUBLINK && is_correlated(sublink));
}

/* Is there a subquery that may become a join? */
static bool
candidate_walker(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return false;
	if (IsA(node, SubLink))
		return is_scalar((SubLink *) node) || is_membership((SubLink *) node);
	return expression_tree_walker(node, candidate_walker, context);
}

bool
gc_may_unnest(Node *condition)
{
	Node	   *node = is_notclause(condition) ? (Node *) get_notclausearg(condition) : condition;

	/* PostgreSQL makes a semi or anti join of a conjunct. */
	if (node && IsA(node, SubLink) && is_membership((SubLink *) node))
		return false;
	return candidate_walker(node, NULL);
}

/*-------------------------------------------------------------------------
 * The subquery's conditions
 *-------------------------------------------------------------------------
 */

/* Is it a column of that level, maybe relabelled? */
static bool
is_var_of(Node *node, int levelsup)
{
	if (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) && ((Var *) node)->varlevelsup == levelsup && ((Var *) node)->varattno > 0;
}

/* Is equality by this operator the same as that by which PostgreSQL groups such values? */
static bool
groups_alike(Oid opno, Oid collation, Node *inner)
{
	Oid			type = exprType(inner);
	Oid			sortop;
	Oid			eqop;
	bool		hashable;
	List	   *families;
	ListCell   *lc;

	get_sort_group_operators(type, false, false, false, &sortop, &eqop, NULL, &hashable);
	if (!OidIsValid(sortop) || !OidIsValid(eqop) || !hashable)
		return false;
	if (type_is_collatable(type) &&
		(!OidIsValid(collation) || !get_collation_isdeterministic(collation) ||
		 !OidIsValid(exprCollation(inner)) || !get_collation_isdeterministic(exprCollation(inner))))
		return false;
	families = get_mergejoin_opfamilies(eqop);
	foreach(lc, get_mergejoin_opfamilies(opno))
	{
		if (list_member_oid(families, lfirst_oid(lc)))
			return true;
	}
	return false;
}

/* The correlation that a condition of the subquery is; NULL if it is none. */
static Correlation *
correlation_of(Node *conjunct)
{
	OpExpr	   *op = (OpExpr *) conjunct;
	Correlation *correlation;
	int			inner;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return NULL;
	inner = is_var_of(linitial(op->args), 0) ? 0 : 1;
	if (!is_var_of(list_nth(op->args, inner), 0) || !is_var_of(list_nth(op->args, 1 - inner), 1))
		return NULL;
	if (!op_mergejoinable(op->opno, exprType(linitial(op->args))) ||
		!op_hashjoinable(op->opno, exprType(linitial(op->args))) ||
		func_volatile(get_opcode(op->opno)) != PROVOLATILE_IMMUTABLE ||
		!groups_alike(op->opno, op->inputcollid, list_nth(op->args, inner)))
		return NULL;
	correlation = palloc0(sizeof(Correlation));
	correlation->op = op;
	correlation->inner = inner;
	return correlation;
}

/*
 * The conditions of a subquery, taken out of it.  A condition that all sides of an OR have is one of them, as in
 * PostgreSQL's planner.
 */
static List *
take_conditions(Query *sub)
{
	List	   *conditions = NIL;
	ListCell   *lc;

	foreach(lc, gc_take_conjuncts(sub))
		conditions = list_concat(conditions, !is_orclause(lfirst(lc)) ? list_make1(lfirst(lc)) :
								 gc_conjuncts((Node *) canonicalize_qual(lfirst(lc), false)));
	return conditions;
}

/* Take the correlations out of a subquery; other references to the outer query stay. */
static List *
take_correlations(Query *sub, const GcQueryLevel *level)
{
	GcQueryLevel mine = {sub, level, NULL};
	List	   *correlations = NIL;
	List	   *rest = NIL;
	ListCell   *lc;

	foreach(lc, take_conditions(sub))
	{
		Correlation *correlation = gc_cannot_raise(lfirst(lc), &mine) ? correlation_of(lfirst(lc)) : NULL;

		if (correlation)
			correlations = lappend(correlations, correlation);
		else
			rest = lappend(rest, lfirst(lc));
	}
	sub->jointree->quals = gc_quals(rest);
	return correlations;
}

/*-------------------------------------------------------------------------
 * The grouped subquery
 *-------------------------------------------------------------------------
 */

/* A join, or an aggregate of all its rows, and nothing else? */
static bool
is_plain(const Query *query)
{
	return query->commandType == CMD_SELECT && !query->groupClause &&
		!query->groupingSets && !query->havingQual && !query->distinctClause && !query->sortClause &&
		!query->limitCount && !query->limitOffset && !query->setOperations && !query->hasWindowFuncs &&
		!query->hasTargetSRFs && !query->rowMarks && !query->hasModifyingCTE && !query->hasRecursive &&
		query->jointree->fromlist != NIL;
}

/* The output that is this key, made if there is none yet. */
static int
key_output(Query *sub, Node *inner, bool grouped)
{
	ListCell   *lc;
	TargetEntry *tle;
	SortGroupClause *clause;

	foreach(lc, sub->targetList)
	{
		tle = lfirst_node(TargetEntry, lc);
		if (tle->resno > 1 && equal(tle->expr, inner))
			return tle->resno;
	}
	tle = makeTargetEntry((Expr *) copyObject(inner), list_length(sub->targetList) + 1,
						  psprintf("key%d", list_length(sub->targetList)), false);
	sub->targetList = lappend(sub->targetList, tle);
	if (!grouped)
		return tle->resno;
	tle->ressortgroupref = tle->resno;
	clause = makeNode(SortGroupClause);
	clause->tleSortGroupRef = tle->ressortgroupref;
	get_sort_group_operators(exprType(inner), true, true, false,
							 &clause->sortop, &clause->eqop, NULL, &clause->hashable);
	sub->groupClause = lappend(sub->groupClause, clause);
	return tle->resno;
}

/* Put in the values of aggregates over no rows: 0 for counts, and else NULL. */
static Node *
over_no_rows_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		Aggref	   *agg = (Aggref *) node;

		if (gc_builtin(agg->aggfnoid)->over == GC_OVER_COUNT)
			return (Node *) gc_make_int8(0);
		return (Node *) makeNullConst(agg->aggtype, -1, agg->aggcollid);
	}
	return expression_tree_mutator(node, over_no_rows_mutator, context);
}

/* The value of a subquery without rows; NULL if it is no constant. */
static Const *
over_no_rows(Node *output, bool has_aggregates)
{
	Node	   *value;

	if (!has_aggregates)
		return makeNullConst(exprType(output), exprTypmod(output), exprCollation(output));
	value = eval_const_expressions(NULL, over_no_rows_mutator(output, NULL));
	return IsA(value, Const) ? (Const *) value : NULL;
}

/* Is the output known not to be NULL over any rows? */
static bool
is_never_null(Node *output)
{
	if (IsA(output, Aggref))
		return gc_builtin(((Aggref *) output)->aggfnoid)->over == GC_OVER_COUNT;
	if (IsA(output, CoalesceExpr))
	{
		Node	   *last = llast(((CoalesceExpr *) output)->args);

		return IsA(last, Const) && !((Const *) last)->constisnull;
	}
	return false;
}

/* The group's value or, if there is no group, that over no rows. */
static Node *
value_or(Var *value, Var *key, Const *otherwise, bool never_null)
{
	if (otherwise->constisnull)
		return (Node *) value;
	if (never_null)
	{
		CoalesceExpr *coalesce = makeNode(CoalesceExpr);

		coalesce->coalescetype = value->vartype;
		coalesce->coalescecollid = value->varcollid;
		coalesce->args = list_make2(value, otherwise);
		coalesce->location = -1;
		return (Node *) coalesce;
	}
	else
	{
		CaseExpr   *expr = makeNode(CaseExpr);
		CaseWhen   *when = makeNode(CaseWhen);
		NullTest   *test = makeNode(NullTest);

		test->arg = (Expr *) key;
		test->nulltesttype = IS_NULL;
		test->location = -1;
		when->expr = (Expr *) test;
		when->result = (Expr *) otherwise;
		when->location = -1;
		expr->casetype = value->vartype;
		expr->casecollid = value->varcollid;
		expr->args = list_make1(when);
		expr->defresult = (Expr *) value;
		expr->location = -1;
		return (Node *) expr;
	}
}

/*-------------------------------------------------------------------------
 * The join
 *-------------------------------------------------------------------------
 */

/* The conditions under which a group belongs to a row of the outer query. */
static List *
join_conditions(Query *query, int rti, List *correlations)
{
	List	   *conditions = NIL;
	ListCell   *lc;

	foreach(lc, correlations)
	{
		Correlation *correlation = lfirst(lc);

		lfirst(list_nth_cell(correlation->op->args, correlation->inner)) =
			gc_output_var(query, rti, correlation->resno);
		conditions = lappend(conditions, correlation->op);
	}
	return conditions;
}

/* Join the groups of a subquery to the level: in FROM, or with an outer join. */
static void
join_groups(Unnest *u, int rti, List *conditions, bool inner)
{
	FromExpr   *from = u->level->query->jointree;
	RangeTblRef *ref = makeNode(RangeTblRef);
	JoinExpr   *join;

	ref->rtindex = rti;
	if (inner)
	{
		from->fromlist = lappend(from->fromlist, ref);
		u->joins = list_concat(u->joins, conditions);
		return;
	}
	join = makeNode(JoinExpr);
	join->jointype = JOIN_LEFT;
	join->larg = list_length(from->fromlist) == 1 ? linitial(from->fromlist) :
		(Node *) makeFromExpr(from->fromlist, NULL);
	join->rarg = (Node *) ref;
	join->quals = gc_quals(conditions);
	join->rtindex = gc_add_left_join(u->level->query);
	from->fromlist = list_make1(join);
}

/* A Var of the grouped subquery, above the join. */
static Var *
joined_var(Query *query, int rti, int resno, bool inner)
{
	Var		   *var = gc_output_var(query, rti, resno);

	/* The join's entry follows the subquery's. */
	if (!inner)
		GC_SET_NULLED_BY(var, bms_make_singleton(rti + 1));
	return var;
}

/*
 * Take the correlations out of a copy of a subquery, and return its side of them as keys;
 * if `grouped`, with one row for each.  Returns the correlations; NIL if it cannot be done.
 */
static List *
take_keys(Unnest *u, Query *sub, bool grouped)
{
	List	   *correlations = take_correlations(sub, u->level);
	ListCell   *lc;

	foreach(lc, correlations)
	{
		Correlation *correlation = lfirst(lc);

		correlation->resno = key_output(sub, list_nth(correlation->op->args, correlation->inner), grouped);
	}
	if (correlations == NIL || gc_query_refers_above(sub) || !gc_query_cannot_raise(sub, u->level))
		return NIL;
	foreach(lc, correlations)
	{
		Correlation *correlation = lfirst(lc);
		Node	   *outer = list_nth(correlation->op->args, 1 - correlation->inner);

		IncrementVarSublevelsUp(outer, -1, 1);
		if (grouped)
			gc_restrict_key(sub, list_nth(correlation->op->args, correlation->inner), outer, correlation->op,
							u->level, u->conjuncts);
	}
	return correlations;
}

/* Join a grouped subquery; returns its entry in the range table. */
static int
add_groups(Unnest *u, Query *sub, List *correlations, bool inner)
{
	int			rti;

	linitial_node(TargetEntry, sub->targetList)->resname = "value";
	rti = gc_add_subquery(u->level->query, sub, "groups");
	join_groups(u, rti, join_conditions(u->level->query, rti, correlations), inner);
	return rti;
}

/* The expression in the place of a scalar subquery, which becomes a join; NULL if it must stay. */
static Node *
unnest_scalar(Unnest *u, SubLink *sublink)
{
	Query	   *query = u->level->query;
	Query	   *sub = (Query *) sublink->subselect;
	List	   *correlations;
	Node	   *output;
	Const	   *otherwise;
	bool		inner;
	int			rti;

	if (!is_scalar(sublink) || !is_plain(sub) || list_length(sub->targetList) != 1 ||
		(!sub->hasAggs && !gc_returns_one_row(sub)))
		return NULL;
	sub = copyObject(sub);
	output = (Node *) linitial_node(TargetEntry, sub->targetList)->expr;
	correlations = take_keys(u, sub, sub->hasAggs);
	if (correlations == NIL || (otherwise = over_no_rows(output, sub->hasAggs)) == NULL)
		return NULL;
	inner = u->strict && otherwise->constisnull;
	rti = add_groups(u, sub, correlations, inner);
	return value_or(joined_var(query, rti, 1, inner),
					joined_var(query, rti, ((Correlation *) linitial(correlations))->resno, inner),
					otherwise, is_never_null(output));
}

/* The expression in the place of EXISTS and, where NULL is as good as false, of IN. */
static Node *
unnest_membership(Unnest *u, SubLink *sublink)
{
	Query	   *sub = (Query *) sublink->subselect;
	List	   *correlations;
	NullTest   *test;
	int			rti;

	if (!is_membership(sublink) || (sublink->subLinkType == ANY_SUBLINK && !u->like_false) ||
		!gc_query_cannot_raise(sub, u->level))
		return NULL;
	sub = sublink->subLinkType == ANY_SUBLINK ? gc_rows_of_in(sublink) : copyObject(sub);
	if (sub == NULL)
		return NULL;
	/* The output, its order and its repetition do not matter. */
	sub->distinctClause = sub->sortClause = NIL;
	if (!is_plain(sub) || sub->hasAggs)
		return NULL;
	sub->targetList = list_make1(makeTargetEntry((Expr *) makeBoolConst(true, false), 1, "value", false));
	correlations = take_keys(u, sub, true);
	if (correlations == NIL)
		return NULL;
	rti = add_groups(u, sub, correlations, false);
	test = makeNode(NullTest);
	test->arg = (Expr *) joined_var(u->level->query, rti, ((Correlation *) linitial(correlations))->resno, false);
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return (Node *) test;
}

/*-------------------------------------------------------------------------
 * The outer query's expressions
 *-------------------------------------------------------------------------
 */

/* Is the expression NULL whenever one of its arguments is? */
static bool
is_strict(Node *node)
{
	switch (nodeTag(node))
	{
		case T_OpExpr:
			return op_strict(((OpExpr *) node)->opno);
		case T_FuncExpr:
			return func_strict(((FuncExpr *) node)->funcid);
		case T_RelabelType:
			return true;
		case T_BoolExpr:
			return ((BoolExpr *) node)->boolop == NOT_EXPR;
		default:
			return false;
	}
}

/* Put columns of joined groups in the places of subqueries that may become joins. */
static Node *
unnest_mutator(Node *node, Unnest *u)
{
	bool		strict = u->strict;
	bool		like_false = u->like_false;
	Node	   *result;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	if (IsA(node, SubLink))
	{
		Unnested   *unnested;

		foreach(lc, u->unnested)
		{
			unnested = lfirst(lc);
			if (equal(unnested->sublink, node) && !gc_reads_outer_cte((Query *) unnested->sublink->subselect))
				return copyObject(unnested->value);
		}
		result = is_membership((SubLink *) node) ? unnest_membership(u, (SubLink *) node) :
			unnest_scalar(u, (SubLink *) node);
		if (result == NULL)
			return node;
		unnested = palloc(sizeof(Unnested));
		unnested->sublink = (SubLink *) node;
		unnested->value = result;
		u->unnested = lappend(u->unnested, unnested);
		return copyObject(result);
	}
	if (IsA(node, Query) || IsA(node, Aggref) || IsA(node, WindowFunc))
		return node;
	u->strict = strict && is_strict(node);
	u->like_false = like_false && (is_andclause(node) || is_orclause(node) || IsA(node, List));
	result = expression_tree_mutator(node, unnest_mutator, u);
	u->strict = strict;
	u->like_false = like_false;
	return result;
}

/* May subqueries in the target list be joined below the query's other steps? */
static bool
has_plain_targets(const Query *query)
{
	return !query->hasAggs && !query->groupClause && !query->groupingSets && !query->hasTargetSRFs &&
		!query->setOperations;
}

/* May joins be added to this query at all? */
static bool
may_join(const GcQueryLevel *level, List *conjuncts)
{
	ListCell   *lc;

	if (level->query->jointree->fromlist == NIL)
		return false;
	foreach(lc, level->query->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->securityQuals)
			return false;
	}
	return gc_joins_cannot_raise(conjuncts, level);
}

/* Does any condition have a subquery that may become a join? */
static bool
has_candidate(List *conjuncts)
{
	ListCell   *lc;

	foreach(lc, conjuncts)
	{
		if (gc_may_unnest(lfirst(lc)))
			return true;
	}
	return false;
}

List *
gc_unnest_sublinks(const GcQueryLevel *level, List *conjuncts, bool *changed)
{
	Unnest		u = {.level = level,.conjuncts = conjuncts};
	Query	   *query = level->query;
	bool		targets = has_plain_targets(query) && gc_may_unnest((Node *) query->targetList);
	List	   *result = NIL;
	ListCell   *lc;

	if ((!targets && !has_candidate(conjuncts)) || !may_join(level, conjuncts))
		return conjuncts;
	foreach(lc, conjuncts)
	{
		Node	   *conjunct = lfirst(lc);

		u.strict = u.like_false = true;
		/* Joined, it may be evaluated for groups and rows that do not belong together. */
		if (gc_may_unnest(conjunct) && gc_cannot_raise(conjunct, level))
			conjunct = unnest_mutator(conjunct, &u);
		result = lappend(result, conjunct);
	}
	u.strict = u.like_false = false;
	if (targets)
		query->targetList = (List *) expression_tree_mutator((Node *) query->targetList, unnest_mutator, &u);
	*changed |= u.unnested != NIL;
	return list_concat(result, u.joins);
}
