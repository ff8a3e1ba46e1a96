/*-------------------------------------------------------------------------
 *
 * rewrite_union.c
 *	  UNION as DISTINCT, and INTERSECT and EXCEPT as GROUP BY, over UNION ALL.
 *
 * PostgreSQL plans a UNION by putting the plans of its SELECTs together, and no hook can take them
 * apart again.  SELECT DISTINCT * FROM (... UNION ALL ...) is the same query, and its
 * UNION ALL is an input that a node of ours reads (relations/subquery.c, base/append.c).  A UNION below another one, or
 * a UNION ALL below one, is merged into it.  A UNION below UNION ALL becomes such a SELECT in its place.
 *
 * GROUP BY takes NULLs as equal, as set operations do.  So whether a row is in a result without duplicates is asked of
 * its group, by which of the SELECTs it came from:
 *
 *   SELECT x FROM a INTERSECT SELECT y FROM b EXCEPT SELECT z FROM c		becomes
 *   SELECT x FROM (SELECT x, 0 AS side FROM a UNION ALL SELECT y, 1 FROM b UNION ALL SELECT z, 2 FROM c) u
 *   GROUP BY x HAVING bool_or(side = 0) AND bool_or(side = 1) AND NOT bool_or(side = 2)
 *
 * A group has rows of all SELECTs.  Of equal values that do not look alike, as 1.0 and 1.00, it may show one
 * that PostgreSQL could not.  So set operations of such columns are grouped only if the result's rows can
 * come from any SELECT of the group.  PostgreSQL moves no condition below EXCEPT; OFFSET 0 keeps it from
 * moving one below these groups.
 *
 * INTERSECT ALL and EXCEPT ALL return a row several times.  That is as often as the fewer of the SELECTs have it, or by
 * how often the first has it more often.  So rows are counted for each side, and generate_series() above the groups
 * repeats them:
 *
 *   SELECT x FROM a EXCEPT ALL SELECT y FROM b		becomes
 *   SELECT x FROM (SELECT x, generate_series(1, n) FROM (SELECT x, n FROM ... GROUP BY x HAVING n > 0)), where n is
 *   greatest(count(*) FILTER (WHERE side = 0) - count(*) FILTER (WHERE side = 1), 0)
 *
 * A UNION ALL whose SELECTs differ in type, and that is not in FROM already, becomes SELECT * FROM
 * it.  PostgreSQL makes a relation only of a UNION ALL in FROM.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_clause.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* Operators of bigint; pg_operator.dat has no symbols for them. */
#define INT8_PLUS		684
#define INT8_MINUS		685
#define INT8_GREATER	413

/* SELECTs of one set operation, of which each is an aggregate of the groups. */
#define MAX_SELECTS		8

/*-------------------------------------------------------------------------
 * Set operations
 *-------------------------------------------------------------------------
 */

/* The node as a UNION or UNION ALL; NULL if it is something else. */
static SetOperationStmt *
as_union(Node *tree)
{
	if (tree == NULL || !IsA(tree, SetOperationStmt) || ((SetOperationStmt *) tree)->op != SETOP_UNION)
		return NULL;
	return (SetOperationStmt *) tree;
}

/* Is it a UNION ALL? */
static bool
is_all(Node *tree)
{
	return as_union(tree) && as_union(tree)->all;
}

/* Can all columns be compared? */
static bool
has_groups(const SetOperationStmt *op)
{
	return list_length(op->groupClauses) == list_length(op->colTypes) && op->groupClauses != NIL;
}

/* Is it a UNION of columns that can be compared? */
static bool
is_distinct(Node *tree)
{
	const SetOperationStmt *op = as_union(tree);

	return op && !op->all && has_groups(op);
}

/* Has `tree` the types, collations and operators of equality of op? */
static bool
compares_as(const SetOperationStmt *op, const SetOperationStmt *tree)
{
	ListCell   *lc,
			   *lo;

	if (!equal(tree->colTypes, op->colTypes) || !equal(tree->colCollations, op->colCollations))
		return false;
	forboth(lc, tree->groupClauses, lo, op->groupClauses)
	{
		if (lfirst_node(SortGroupClause, lc)->eqop != lfirst_node(SortGroupClause, lo)->eqop)
			return false;
	}
	return true;
}

/* Is it known how often a row is in `tree` by how often its SELECTs have the row?  op: the uppermost of it. */
static bool
is_of_groups(const SetOperationStmt *op, Node *tree, int *selects)
{
	const SetOperationStmt *set = (const SetOperationStmt *) tree;

	check_stack_depth();
	if (IsA(tree, RangeTblRef))
		return ++*selects <= MAX_SELECTS;
	return compares_as(op, set) && is_of_groups(op, set->larg, selects) && is_of_groups(op, set->rarg, selects);
}

static bool
has_except_all(Node *tree)
{
	const SetOperationStmt *op = (const SetOperationStmt *) tree;

	return !IsA(tree, RangeTblRef) &&
		((op->op == SETOP_EXCEPT && op->all) || has_except_all(op->larg) || has_except_all(op->rarg));
}

/* Does it matter how often a SELECT has a row, or only whether it does? */
static bool
counts_rows(const SetOperationStmt *op)
{
	return op->all || has_except_all((Node *) op);
}

/* Is there an INTERSECT or EXCEPT? */
static bool
has_other_than_union(Node *tree)
{
	const SetOperationStmt *op = as_union(tree);

	return !IsA(tree, RangeTblRef) && (op == NULL || has_other_than_union(op->larg) || has_other_than_union(op->rarg));
}

/* Are equal values of all columns the same bytes? */
static bool
look_alike(const SetOperationStmt *op)
{
	ListCell   *lt,
			   *lc;

	forboth(lt, op->colTypes, lc, op->colCollations)
	{
		switch (lfirst_oid(lt))
		{
			case BOOLOID:
			case INT2OID:
			case INT4OID:
			case INT8OID:
			case OIDOID:
			case CHAROID:
			case DATEOID:
			case TIMEOID:
			case TIMESTAMPOID:
			case TIMESTAMPTZOID:
			case UUIDOID:
				break;
			case TEXTOID:
			case VARCHAROID:
				if (!OidIsValid(lfirst_oid(lc)) || !get_collation_isdeterministic(lfirst_oid(lc)))
					return false;
				break;
			default:
				if (!type_is_enum(lfirst_oid(lt)))
					return false;
		}
	}
	return true;
}

/*
 * Is it INTERSECT of SELECTs, or one that others are taken from by EXCEPT?  Then all rows of a group can be the
 * result's.  Not so by EXCEPT ALL: of 1.0 twice, less 1.00, it is 1.0 that is left.
 */
static bool
is_flat(const SetOperationStmt *op)
{
	const SetOperationStmt *left = (const SetOperationStmt *) op->larg;

	return (op->op == SETOP_INTERSECT || (op->op == SETOP_EXCEPT && !op->all)) && IsA(op->rarg, RangeTblRef) &&
		(IsA(left, RangeTblRef) || (left->op == op->op && is_flat(left)));
}

static bool
has_operation(Node *tree, SetOperation which)
{
	const SetOperationStmt *op = (const SetOperationStmt *) tree;

	return !IsA(tree, RangeTblRef) &&
		(op->op == which || has_operation(op->larg, which) || has_operation(op->rarg, which));
}

/* Is it a set operation with INTERSECT or EXCEPT that becomes GROUP BY? */
static bool
is_set(Node *tree)
{
	const SetOperationStmt *op = (const SetOperationStmt *) tree;
	int			selects = 0;

	return tree && IsA(tree, SetOperationStmt) && !is_all(tree) && has_groups(op) && has_other_than_union(tree) &&
		is_of_groups(op, tree, &selects) && (look_alike(op) || is_flat(op));
}

/* Does it become DISTINCT or GROUP BY, or does something below nothing but UNION ALL? */
static bool
has_distinct(Node *tree)
{
	SetOperationStmt *op = as_union(tree);

	check_stack_depth();
	if (is_set(tree))
		return true;
	return op && (is_distinct(tree) || (op->all && (has_distinct(op->larg) || has_distinct(op->rarg))));
}

/* Is it UNION ALL of SELECTs throughout? */
static bool
is_union_all(Node *tree)
{
	SetOperationStmt *op = as_union(tree);

	if (IsA(tree, RangeTblRef))
		return true;
	return op && op->all && is_union_all(op->larg) && is_union_all(op->rarg);
}

/* Has each SELECT, and each UNION ALL within, columns of these types? */
static bool
is_of_types(const Query *query, Node *tree, List *types)
{
	SetOperationStmt *op = as_union(tree);

	if (IsA(tree, RangeTblRef))
		return tlist_same_datatypes(rt_fetch(((RangeTblRef *) tree)->rtindex, query->rtable)->subquery->targetList,
									types, true);
	return equal(op->colTypes, types) && is_of_types(query, op->larg, types) && is_of_types(query, op->rarg, types);
}

/* Does PostgreSQL keep UNION ALL as a set operation? */
static bool
is_mixed(const Query *query)
{
	return is_union_all(query->setOperations) &&
		!is_of_types(query, query->setOperations, as_union(query->setOperations)->colTypes);
}

/* Has the query itself grouping sets with a constant that is put out? */
static bool
groups_by_constant(const Query *query)
{
	ListCell   *lc;

	/* From 18 on it is an output of the grouping, which has an entry in the range table. */
	foreach(lc, query->groupingSets && PG_VERSION_NUM < 180000 ? query->groupClause : NIL)
	{
		const TargetEntry *tle = get_sortgroupclause_tle(lfirst(lc), query->targetList);
		Node	   *expr = (Node *) tle->expr;

		if (!tle->resjunk && !contain_vars_of_level(expr, 0) && !contain_volatile_functions(expr) &&
			!contain_subplans(expr))
			return true;
	}
	return false;
}

/* PostgreSQL takes a constant in the target list of a SELECT for its value in all rows. */
bool
gc_shows_constant_sets(const Query *query)
{
	ListCell   *lc;

	if (query->setOperations == NULL || (is_union_all(query->setOperations) && !is_mixed(query)))
		return false;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY && groups_by_constant(rte->subquery))
			return true;
	}
	return false;
}

bool
gc_shows_constants_by_plan(const Query *query)
{
	return gc_shows_constant_sets(query) && has_operation(query->setOperations, SETOP_UNION);
}

/* Does it refer to the recursive CTE that it is? */
static bool
recursion_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_CTE && ((RangeTblEntry *) node)->self_reference;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, recursion_walker, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, recursion_walker, context);
}

/* Is it sorted by the equality by which it drops duplicates?  ORDER BY USING may have another. */
static bool
sorts_by_same(const Query *query)
{
	const SetOperationStmt *op = (const SetOperationStmt *) query->setOperations;
	ListCell   *lc,
			   *lg;

	forboth(lc, query->targetList, lg, op->groupClauses)
	{
		const TargetEntry *tle = lfirst_node(TargetEntry, lc);
		const SortGroupClause *sorted = tle->ressortgroupref == 0 ? NULL :
			get_sortgroupref_clause_noerr(tle->ressortgroupref, query->sortClause);

		if (sorted && sorted->eqop != lfirst_node(SortGroupClause, lg)->eqop)
			return false;
	}
	return true;
}

bool
gc_has_union(const Query *query, bool within)
{
	return query->setOperations != NULL && (has_distinct(query->setOperations) || (!within && is_mixed(query))) &&
		sorts_by_same(query) && !recursion_walker((Node *) query, NULL);
}

/*-------------------------------------------------------------------------
 * UNION ALL in FROM
 *-------------------------------------------------------------------------
 */

/*
 * The SELECTs and set operations below become those of another query.  UNION becomes UNION ALL if the query above it
 * drops duplicates.
 */
static Node *
move_tree(const Query *from, Query *to, Node *tree, bool merge, int deeper)
{
	SetOperationStmt *op;
	RangeTblRef *ref;
	RangeTblEntry *rte;

	check_stack_depth();
	if (IsA(tree, RangeTblRef))
	{
		rte = copyObject(rt_fetch(((RangeTblRef *) tree)->rtindex, from->rtable));
		IncrementVarSublevelsUp((Node *) rte->subquery, deeper, 1);
		to->rtable = lappend(to->rtable, rte);
		ref = makeNode(RangeTblRef);
		ref->rtindex = list_length(to->rtable);
		return (Node *) ref;
	}
	op = copyObject((SetOperationStmt *) tree);
	merge = merge && op->op == SETOP_UNION;
	if (merge)
	{
		op->all = true;
		op->groupClauses = NIL;
	}
	op->larg = move_tree(from, to, op->larg, merge, deeper);
	op->rarg = move_tree(from, to, op->rarg, merge, deeper);
	return (Node *) op;
}

/* A query of these set operations alone, `deeper` levels below the one that has them. */
static Query *
query_of(const Query *query, SetOperationStmt *op, int deeper)
{
	Query	   *all = makeNode(Query);
	ListCell   *lc,
			   *lt,
			   *lm,
			   *ll;

	all->commandType = CMD_SELECT;
	all->canSetTag = true;
	all->jointree = makeFromExpr(NIL, NULL);
	all->setOperations = move_tree(query, all, (Node *) op, true, deeper);
	forfour(lc, query->targetList, lt, op->colTypes, lm, op->colTypmods, ll, op->colCollations)
	{
		const TargetEntry *tle = lfirst_node(TargetEntry, lc);
		/* As in PostgreSQL's own: a column of the first SELECT, of the type that all have. */
		Var		   *var = makeVar(1, tle->resno, lfirst_oid(lt), lfirst_int(lm), lfirst_oid(ll), 0);

		all->targetList = lappend(all->targetList, makeTargetEntry((Expr *) var, tle->resno, tle->resname, false));
	}
	return all;
}

/* A query with no more than the columns of these set operations. */
static Query *
columns_of(const Query *query, SetOperationStmt *op)
{
	Query	   *select = makeNode(Query);

	select->commandType = CMD_SELECT;
	select->canSetTag = true;
	select->targetList = copyObject(query_of(query, op, 0)->targetList);
	return select;
}

/* The SELECTs below stand elsewhere by now. */
static void
forget_selects(Query *query, Node *tree)
{
	RangeTblEntry *rte;

	if (!IsA(tree, RangeTblRef))
	{
		forget_selects(query, ((SetOperationStmt *) tree)->larg);
		forget_selects(query, ((SetOperationStmt *) tree)->rarg);
		return;
	}
	rte = makeNode(RangeTblEntry);
	rte->rtekind = RTE_RESULT;
	rte->eref = makeAlias("*RESULT*", NIL);
	lfirst(list_nth_cell(query->rtable, ((RangeTblRef *) tree)->rtindex - 1)) = rte;
}

/*
 * Have the query read that one alone.  Other entries of its range table stay: up to 15, those of a view have
 * its permissions.
 */
static void
read_from(Query *query, Query *all)
{
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell   *lc;

	if (query->setOperations)
		forget_selects(query, query->setOperations);
	query->setOperations = NULL;
	ref->rtindex = gc_add_subquery(query, all, "union");
	query->jointree = makeFromExpr(list_make1(ref), NULL);
	foreach(lc, query->targetList)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);

		tle->expr = (Expr *) gc_output_var(query, ref->rtindex, tle->resno);
	}
}

/* Have it drop duplicates.  The columns that it is sorted by come first, as in SELECT DISTINCT. */
static void
add_distinct(Query *query, const SetOperationStmt *op)
{
	ListCell   *lc,
			   *lg;

	query->distinctClause = copyObject(query->sortClause);
	forboth(lc, query->targetList, lg, op->groupClauses)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);
		SortGroupClause *clause = copyObject(lfirst_node(SortGroupClause, lg));

		if (targetIsInSortList(tle, InvalidOid, query->distinctClause))
			continue;
		clause->tleSortGroupRef = assignSortGroupRef(tle, query->targetList);
		query->distinctClause = lappend(query->distinctClause, clause);
	}
}

/*-------------------------------------------------------------------------
 * INTERSECT and EXCEPT
 *-------------------------------------------------------------------------
 */

/* Can a column be added to a SELECT where it is?  Its columns for ORDER BY alone come last. */
static bool
takes_column(const Query *select)
{
	ListCell   *lc;

	foreach(lc, select->targetList)
	{
		if (lfirst_node(TargetEntry, lc)->resjunk)
			return false;
	}
	return select->setOperations == NULL && select->distinctClause == NIL;
}

/* Have each SELECT of the set operations say which one it is, in one more column. */
static void
add_sides(Query *query, Node *tree, bool counts, int *selects)
{
	SetOperationStmt *op = (SetOperationStmt *) tree;
	RangeTblEntry *rte;
	Query	   *select;
	Expr	   *side;

	if (!IsA(tree, RangeTblRef))
	{
		op->op = SETOP_UNION;
		op->all = true;
		op->groupClauses = NIL;
		op->colTypes = lappend_oid(op->colTypes, INT4OID);
		op->colTypmods = lappend_int(op->colTypmods, -1);
		op->colCollations = lappend_oid(op->colCollations, InvalidOid);
		add_sides(query, op->larg, counts, selects);
		add_sides(query, op->rarg, counts, selects);
		return;
	}
	rte = rt_fetch(((RangeTblRef *) tree)->rtindex, query->rtable);
	select = rte->subquery;
	/* Duplicates matter where they are counted, and for LIMIT. */
	if (!counts && !select->hasDistinctOn && select->limitCount == NULL && select->limitOffset == NULL)
		select->distinctClause = NIL;
	if (!takes_column(select))
		select = rte->subquery = gc_select_all(select, "select");
	side = (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum((*selects)++), false, true);
	select->targetList = lappend(select->targetList,
								 makeTargetEntry(side, list_length(select->targetList) + 1, "side", false));
	rte->eref->colnames = lappend(rte->eref->colnames, makeString("side"));
}

/* side = select */
static Expr *
is_side(Var *side, int select)
{
	OpExpr	   *op = (OpExpr *) make_opclause(Int4EqualOperator, BOOLOID, false, (Expr *) copyObject(side),
											  (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
																 Int32GetDatum(select), false, true),
											  InvalidOid, InvalidOid);

	op->opfuncid = F_INT4EQ;
	return (Expr *) op;
}

/* Is a group's row in the result of these set operations? */
static Expr *
membership(Node *tree, Var *side, int *selects)
{
	const SetOperationStmt *op = (const SetOperationStmt *) tree;
	Expr	   *left,
			   *right;

	if (IsA(tree, RangeTblRef))
		return (Expr *) gc_make_aggregate(F_BOOL_OR, BOOLOID, (Node *) is_side(side, (*selects)++));
	left = membership(op->larg, side, selects);
	right = membership(op->rarg, side, selects);
	if (op->op == SETOP_UNION)
		return make_orclause(list_make2(left, right));
	return make_andclause(list_make2(left, op->op == SETOP_EXCEPT ? make_notclause(right) : right));
}

/* LEAST() or GREATEST() of two values of type int8. */
static Expr *
extreme(MinMaxOp which, Expr *left, Expr *right)
{
	MinMaxExpr *expr = makeNode(MinMaxExpr);

	expr->minmaxtype = INT8OID;
	expr->op = which;
	expr->args = list_make2(left, right);
	expr->location = -1;
	return (Expr *) expr;
}

/* The number of times that a group's row is in the result of these set operations. */
static Expr *
multiplicity(Node *tree, Var *side, int *selects)
{
	const SetOperationStmt *op = (const SetOperationStmt *) tree;
	Expr	   *left,
			   *right,
			   *rows;

	if (IsA(tree, RangeTblRef))
	{
		Aggref	   *count = gc_make_aggregate(F_COUNT_, INT8OID, NULL);

		count->aggfilter = is_side(side, (*selects)++);
		return (Expr *) count;
	}
	left = multiplicity(op->larg, side, selects);
	right = multiplicity(op->rarg, side, selects);
	if (op->op == SETOP_EXCEPT)
	{
		rows = op->all ? left : extreme(IS_LEAST, left, gc_make_int8(1));
		return extreme(IS_GREATEST, gc_make_operation(INT8_MINUS, INT8OID, rows, right), gc_make_int8(0));
	}
	rows = op->op == SETOP_UNION ? gc_make_operation(INT8_PLUS, INT8OID, left, right) : extreme(IS_LEAST, left, right);
	return op->all ? rows : extreme(IS_LEAST, rows, gc_make_int8(1));
}

/*
 * Have the query, whose columns are those of these set operations, be SELECT ... GROUP BY ... HAVING.  deeper: as
 * query_of()'s.
 */
static void
group_by_sides(Query *query, Query *from, SetOperationStmt *op, int deeper)
{
	const bool	counts = counts_rows(op);
	Query	   *all = query_of(from, op, deeper);
	int			columns = list_length(all->targetList);
	int			selects = 0;
	Var		   *side;
	ListCell   *lc,
			   *lg;

	add_sides(all, all->setOperations, counts, &selects);
	all->targetList = lappend(all->targetList, makeTargetEntry((Expr *) makeVar(1, columns + 1, INT4OID, -1, InvalidOid, 0), columns + 1, "side", false));
	read_from(query, all);
	forboth(lc, query->targetList, lg, op->groupClauses)
	{
		SortGroupClause *clause = copyObject(lfirst_node(SortGroupClause, lg));

		clause->tleSortGroupRef = assignSortGroupRef(lfirst_node(TargetEntry, lc), query->targetList);
		query->groupClause = lappend(query->groupClause, clause);
	}
	selects = 0;
	side = gc_output_var(query, list_length(query->rtable), columns + 1);
	query->havingQual = (Node *) (counts ? gc_make_operation(INT8_GREATER, BOOLOID, multiplicity((Node *) op, side, &selects), gc_make_int8(0)) :
								  membership((Node *) op, side, &selects));
	query->hasAggs = true;
}

/* As group_by_sides(), but with as many rows of a group as the set operations return. */
static void
repeat_groups(Query *query, Query *from, SetOperationStmt *op, int deeper)
{
	Query	   *groups = columns_of(from, op);
	Query	   *copies = columns_of(from, op);
	const int	next = list_length(groups->targetList) + 1;
	int			selects = 0;
	Expr	   *rows;
	FuncExpr   *series;

	group_by_sides(groups, from, op, deeper + 2);
	rows = multiplicity((Node *) op, gc_output_var(groups, list_length(groups->rtable), next), &selects);
	groups->targetList = lappend(groups->targetList, makeTargetEntry(rows, next, "rows", false));
	read_from(copies, groups);
	series = makeFuncExpr(F_GENERATE_SERIES_INT8_INT8, INT8OID,
						  list_make2(gc_make_int8(1), gc_output_var(copies, list_length(copies->rtable), next)),
						  InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	series->funcretset = true;
	copies->targetList = lappend(copies->targetList, makeTargetEntry((Expr *) series, next, "*copy*", false));
	copies->hasTargetSRFs = true;
	read_from(query, copies);
}

/* Have the query be a SELECT over groups.  within: another query reads it. */
static void
select_groups(Query *query, Query *from, SetOperationStmt *op, int deeper, bool within)
{
	if (op->all)
		repeat_groups(query, from, op, deeper);
	else
		group_by_sides(query, from, op, deeper);
	if (within && has_operation((Node *) op, SETOP_EXCEPT) && query->limitOffset == NULL)
		query->limitOffset = (Node *) gc_make_int8(0);
}

/*-------------------------------------------------------------------------
 * Set operations below UNION ALL
 *-------------------------------------------------------------------------
 */

/* The first arm of a tree of set operations, which names the columns. */
static RangeTblRef *
leftmost(Node *tree)
{
	while (!IsA(tree, RangeTblRef))
		tree = ((SetOperationStmt *) tree)->larg;
	return (RangeTblRef *) tree;
}

/* Have the query, whose columns are theirs, be a SELECT over the UNION ALL of these set operations. */
static void
select_from(Query *query, Query *from, SetOperationStmt *op, int deeper, bool within)
{
	if (is_set((Node *) op))
		select_groups(query, from, op, deeper, within);
	else
	{
		read_from(query, query_of(from, op, deeper));
		add_distinct(query, op);
	}
}

/* Make a SELECT of each set operation below, in the place of its first SELECT: the target list refers to that. */
static Node *
turn_lower(Query *query, Node *tree)
{
	SetOperationStmt *op = (SetOperationStmt *) tree;
	RangeTblRef *ref;
	Query	   *distinct;

	if (!has_distinct(tree))
		return tree;
	if (is_all(tree))
	{
		op->larg = turn_lower(query, op->larg);
		op->rarg = turn_lower(query, op->rarg);
		return tree;
	}
	ref = leftmost(tree);
	distinct = columns_of(query, op);
	select_from(distinct, query, op, 2, true);
	forget_selects(query, tree);
	(void) gc_add_subquery(query, distinct, "union");
	lfirst(list_nth_cell(query->rtable, ref->rtindex - 1)) = llast(query->rtable);
	query->rtable = list_delete_last(query->rtable);
	return (Node *) ref;
}

void
gc_turn_unions(const GcQueryLevel *level, bool *changed)
{
	Query	   *query = level->query;
	SetOperationStmt *op = (SetOperationStmt *) query->setOperations;

	if (!gc_has_union(query, level->parent != NULL))
		return;
	*changed = true;
	if (!is_all(query->setOperations))
	{
		select_from(query, query, op, 1, level->parent != NULL);
		return;
	}
	(void) turn_lower(query, query->setOperations);
	if (level->parent == NULL && is_mixed(query))
		read_from(query, query_of(query, op, 1));
}
