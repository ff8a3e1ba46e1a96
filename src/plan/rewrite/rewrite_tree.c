/*-------------------------------------------------------------------------
 *
 * rewrite_tree.c
 *	  Query trees before planning: levels, expressions behind Vars, conjuncts.
 *
 * Planner, in backends.  The trees are copies of the statement's own, which rewrite.c makes.
 *
 *-------------------------------------------------------------------------
 */
#include "rewrite_tree.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

/* An operator of bigint; pg_operator.dat has no symbol for it. */
#define INT8_EQUAL		410

/*-------------------------------------------------------------------------
 * Levels
 *-------------------------------------------------------------------------
 */

/* The level that is `up` above this one; NULL if there is none. */
static const GcQueryLevel *
level_above(const GcQueryLevel *level, int up)
{
	for (; up > 0 && level; up--)
		level = level->parent;
	return level;
}

CommonTableExpr *
gc_level_cte(const GcQueryLevel *level, const RangeTblEntry *rte, const GcQueryLevel **at)
{
	ListCell   *lc;

	*at = level_above(level, rte->ctelevelsup);
	foreach(lc, *at ? (*at)->query->cteList : NIL)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return cte;
	}
	return NULL;
}

/* Output `attno` of a query; NULL if it is not a single expression of that query. */
static Node *
query_output(Query *query, int attno)
{
	TargetEntry *tle;

	if (query->commandType != CMD_SELECT || query->setOperations)
		return NULL;
	tle = get_tle_by_resno(query->targetList, attno);
	return tle && !tle->resjunk ? (Node *) tle->expr : NULL;
}

Node *
gc_level_resolve(const GcQueryLevel *level, const Var *var, GcQueryLevel *room, const GcQueryLevel **inner)
{
	const GcQueryLevel *of = level_above(level, var->varlevelsup);
	RangeTblEntry *rte;
	CommonTableExpr *cte;

	if (of == NULL || var->varattno <= 0 || IS_SPECIAL_VARNO(var->varno))
		return NULL;
	rte = rt_fetch(var->varno, of->query->rtable);
	switch (rte->rtekind)
	{
		case RTE_JOIN:
			*inner = of;
			return var->varattno <= list_length(rte->joinaliasvars) ?
				list_nth(rte->joinaliasvars, var->varattno - 1) : NULL;
		case RTE_SUBQUERY:
			*room = (GcQueryLevel) {rte->subquery, of, NULL};
			*inner = room;
			return query_output(rte->subquery, var->varattno);
		case RTE_CTE:
			cte = gc_level_cte(of, rte, &of);
			if (cte == NULL || cte->cterecursive)
				return NULL;
			*room = (GcQueryLevel) {castNode(Query, cte->ctequery), of, NULL};
			*inner = room;
			return query_output(room->query, var->varattno);
		default:
			return NULL;
	}
}

Const *
gc_level_param(const GcQueryLevel *level, const Param *param)
{
	ParamExternData data;
	ParamExternData *value;
	ParamListInfo params;
	int16		len;
	bool		byval;

	while (level->parent)
		level = level->parent;
	params = level->params;
	if (params == NULL || param->paramkind != PARAM_EXTERN ||
		param->paramid <= 0 || param->paramid > params->numParams)
		return NULL;
	value = params->paramFetch ? params->paramFetch(params, param->paramid, true, &data) :
		&params->params[param->paramid - 1];
	if (!(value->pflags & PARAM_FLAG_CONST) || value->ptype != param->paramtype)
		return NULL;
	get_typlenbyval(param->paramtype, &len, &byval);
	return makeConst(param->paramtype, param->paramtypmod, param->paramcollid, len,
					 value->value, value->isnull, byval);
}

Bitmapset *
gc_relations_of(Node *node)
{
	Bitmapset  *relations = NULL;
	ListCell   *lc;

	foreach(lc, pull_vars_of_level(node, 0))
		relations = bms_add_member(relations, lfirst_node(Var, lc)->varno);
	return relations;
}

/* Does anything refer to a level above the one at *depth? */
static bool
refers_above_walker(Node *node, int *depth)
{
	bool		found;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup > *depth;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup > *depth)
		return true;
	if (IsA(node, GroupingFunc) && ((GroupingFunc *) node)->agglevelsup > *depth)
		return true;
	if (!IsA(node, Query))
		return expression_tree_walker(node, refers_above_walker, depth);
	(*depth)++;
	found = query_tree_walker((Query *) node, refers_above_walker, depth, 0);
	(*depth)--;
	return found;
}

bool
gc_refers_above(Node *node)
{
	int			depth = 0;

	return refers_above_walker(node, &depth);
}

bool
gc_query_refers_above(Query *query)
{
	int			depth = 0;

	return query_tree_walker(query, refers_above_walker, &depth, 0);
}

/* Is a CTE read that is of a level above? */
static bool
outer_cte_walker(Node *node, int *depth)
{
	bool		found;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_CTE && ((RangeTblEntry *) node)->ctelevelsup > *depth;
	if (!IsA(node, Query))
		return expression_tree_walker(node, outer_cte_walker, depth);
	(*depth)++;
	found = query_tree_walker((Query *) node, outer_cte_walker, depth, QTW_EXAMINE_RTES_BEFORE);
	(*depth)--;
	return found;
}

bool
gc_reads_outer_cte(Query *query)
{
	int			depth = 0;

	return query_tree_walker(query, outer_cte_walker, &depth, QTW_EXAMINE_RTES_BEFORE);
}

/*-------------------------------------------------------------------------
 * Conjuncts
 *-------------------------------------------------------------------------
 */

List *
gc_conjuncts(Node *quals)
{
	List	   *conjuncts = NIL;
	ListCell   *lc;

	if (quals == NULL)
		return NIL;
	if (IsA(quals, List))
	{
		foreach(lc, (List *) quals)
			conjuncts = list_concat(conjuncts, gc_conjuncts(lfirst(lc)));
		return conjuncts;
	}
	if (is_andclause(quals))
		return gc_conjuncts((Node *) ((BoolExpr *) quals)->args);
	return list_make1(quals);
}

Node *
gc_quals(List *conjuncts)
{
	return conjuncts ? (Node *) make_ands_explicit(conjuncts) : NULL;
}

/* Conditions of a join tree, without those of outer joins or with them; taken out of it, or not. */
static List *
collect_conjuncts(Node *jtnode, bool outer, bool take)
{
	List	   *conjuncts = NIL;
	ListCell   *lc;

	if (IsA(jtnode, FromExpr))
	{
		FromExpr   *from = (FromExpr *) jtnode;

		foreach(lc, from->fromlist)
			conjuncts = list_concat(conjuncts, collect_conjuncts(lfirst(lc), outer, take));
		conjuncts = list_concat(conjuncts, gc_conjuncts(from->quals));
		if (take)
			from->quals = NULL;
	}
	else if (IsA(jtnode, JoinExpr) && (outer || ((JoinExpr *) jtnode)->jointype == JOIN_INNER))
	{
		JoinExpr   *join = (JoinExpr *) jtnode;

		conjuncts = list_concat(collect_conjuncts(join->larg, outer, take),
								collect_conjuncts(join->rarg, outer, take));
		conjuncts = list_concat(conjuncts, gc_conjuncts(join->quals));
		if (take)
			join->quals = NULL;
	}
	return conjuncts;
}

List *
gc_take_conjuncts(Query *query)
{
	return collect_conjuncts((Node *) query->jointree, false, true);
}

List *
gc_list_conjuncts(Query *query)
{
	return collect_conjuncts((Node *) query->jointree, false, false);
}

List *
gc_list_conditions(Query *query)
{
	return collect_conjuncts((Node *) query->jointree, true, false);
}

/* Does no join put NULLs in the place of the relation's rows? */
static bool
is_inner(Node *jtnode, int rti)
{
	ListCell   *lc;

	if (IsA(jtnode, RangeTblRef))
		return ((RangeTblRef *) jtnode)->rtindex == rti;
	if (IsA(jtnode, FromExpr))
	{
		foreach(lc, ((FromExpr *) jtnode)->fromlist)
		{
			if (is_inner(lfirst(lc), rti))
				return true;
		}
		return false;
	}
	else
	{
		JoinExpr   *join = castNode(JoinExpr, jtnode);

		return ((join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT) && is_inner(join->larg, rti)) ||
			((join->jointype == JOIN_INNER || join->jointype == JOIN_RIGHT) && is_inner(join->rarg, rti));
	}
}

bool
gc_is_inner(Query *query, int rti)
{
	return is_inner((Node *) query->jointree, rti);
}

/*-------------------------------------------------------------------------
 * Range table
 *-------------------------------------------------------------------------
 */

int
gc_add_subquery(Query *query, Query *subquery, const char *name)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	ListCell   *lc;

	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = subquery;
	rte->alias = makeAlias(name, NIL);
	rte->eref = makeAlias(name, NIL);
	rte->inFromCl = true;
	foreach(lc, subquery->targetList)
	{
		const TargetEntry *tle = lfirst_node(TargetEntry, lc);

		if (!tle->resjunk)
			rte->eref->colnames = lappend(rte->eref->colnames, makeString(pstrdup(tle->resname)));
	}
	query->rtable = lappend(query->rtable, rte);
	return list_length(query->rtable);
}

int
gc_add_left_join(Query *query)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_JOIN;
	rte->jointype = JOIN_LEFT;
	rte->eref = makeAlias("unnamed_join", NIL);
	rte->inFromCl = true;
	query->rtable = lappend(query->rtable, rte);
	return list_length(query->rtable);
}

Var *
gc_output_var(Query *query, int rti, int resno)
{
	TargetEntry *tle = list_nth_node(TargetEntry, rt_fetch(rti, query->rtable)->subquery->targetList, resno - 1);

	return makeVarFromTargetEntry(rti, tle);
}

Query *
gc_select_all(Query *query, const char *name)
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
	IncrementVarSublevelsUp((Node *) query, 1, 1);
	rti = gc_add_subquery(outer, query, name);
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

bool
gc_may_become(const Query *query)
{
	return !query->hasTargetSRFs && !contain_volatile_functions((Node *) query->targetList) &&
		!contain_volatile_functions(query->havingQual) && !contain_subplans(query->limitCount) &&
		!contain_subplans(query->limitOffset);
}

void
gc_become(Query *query, Query *above)
{
	above->queryId = query->queryId;
	above->canSetTag = query->canSetTag;
	above->stmt_location = query->stmt_location;
	above->stmt_len = query->stmt_len;
	above->sortClause = query->sortClause;
	above->limitCount = query->limitCount;
	above->limitOffset = query->limitOffset;
	above->limitOption = query->limitOption;
	*query = *above;
}

Aggref *
gc_make_aggregate(Oid function, Oid type, Node *arg)
{
	Aggref	   *agg = makeNode(Aggref);

	agg->aggfnoid = function;
	agg->aggtype = type;
	if (arg)
	{
		agg->aggargtypes = list_make1_oid(exprType(arg));
		agg->args = list_make1(makeTargetEntry((Expr *) arg, 1, NULL, false));
	}
	agg->aggstar = arg == NULL;
	agg->aggkind = AGGKIND_NORMAL;
	agg->aggsplit = AGGSPLIT_SIMPLE;
	agg->aggno = agg->aggtransno = -1;
	agg->location = -1;
	return agg;
}

/*-------------------------------------------------------------------------
 * Windows
 *-------------------------------------------------------------------------
 */

WindowClause *
gc_make_window(const Query *query, List *partition, List *order)
{
	WindowClause *window = makeNode(WindowClause);

	window->partitionClause = partition;
	window->orderClause = order;
	window->frameOptions = FRAMEOPTION_DEFAULTS;
	window->winref = list_length(query->windowClause) + 1;
	return window;
}

WindowFunc *
gc_make_window_function(const WindowClause *window, Oid function, Oid type, Expr *arg)
{
	WindowFunc *func = makeNode(WindowFunc);

	func->winfnoid = function;
	func->wintype = type;
	func->args = arg ? list_make1(arg) : NIL;
	func->winref = window->winref;
	func->winagg = arg != NULL;
	func->location = -1;
	return func;
}

Expr *
gc_make_is_one(Expr *number)
{
	return gc_make_operation(INT8_EQUAL, BOOLOID, number, gc_make_int8(1));
}
