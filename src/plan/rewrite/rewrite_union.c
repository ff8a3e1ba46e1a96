/*-------------------------------------------------------------------------
 *
 * rewrite_union.c
 *	  UNION as DISTINCT over UNION ALL.
 *
 * PostgreSQL plans a UNION by putting the plans of its SELECTs together, and no hook can take them
 * apart again.  SELECT DISTINCT * FROM (... UNION ALL ...) is the same query, and its
 * UNION ALL is an input that a node of ours reads (relations/union.c, base/append.c).  A UNION below another one, or a
 * UNION ALL below one, is merged into it.  A UNION below UNION ALL becomes such a SELECT in its place.
 *
 * UNION ALL whose SELECTs differ in type, and that is not in FROM already, becomes SELECT * FROM it,
 * since PostgreSQL makes a relation only of what is in FROM.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rewrite_union.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_clause.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

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

/* Is it a UNION of columns that can be compared? */
static bool
is_distinct(Node *tree)
{
	const SetOperationStmt *op = as_union(tree);

	return op && !op->all && list_length(op->groupClauses) == list_length(op->colTypes) && op->groupClauses != NIL;
}

/* Is it a UNION, or has it one below nothing but UNION ALL? */
static bool
has_distinct(Node *tree)
{
	SetOperationStmt *op = as_union(tree);

	check_stack_depth();
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
		return tlist_same_datatypes(rt_fetch(((RangeTblRef *) tree)->rtindex, query->rtable)->subquery->targetList, types, true);
	return equal(op->colTypes, types) && is_of_types(query, op->larg, types) && is_of_types(query, op->rarg, types);
}

/* Does PostgreSQL keep UNION ALL as a set operation? */
static bool
is_mixed(const Query *query)
{
	return is_union_all(query->setOperations) &&
		!is_of_types(query, query->setOperations, as_union(query->setOperations)->colTypes);
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
	const SetOperationStmt *op = as_union(query->setOperations);
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
 * The SELECTs and set operations below become those of another query.  UNION becomes UNION ALL if what
 * is above it drops duplicates.
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
 * UNION below UNION ALL
 *-------------------------------------------------------------------------
 */

static RangeTblRef *
leftmost(Node *tree)
{
	while (!IsA(tree, RangeTblRef))
		tree = ((SetOperationStmt *) tree)->larg;
	return (RangeTblRef *) tree;
}

/* Make a SELECT of each UNION below, in the place of its first SELECT: the target list refers to that. */
static Node *
turn_lower(Query *query, Node *tree)
{
	SetOperationStmt *op = as_union(tree);
	RangeTblRef *ref;
	Query	   *distinct;

	if (op == NULL || (!op->all && !is_distinct(tree)))
		return tree;
	if (op->all)
	{
		op->larg = turn_lower(query, op->larg);
		op->rarg = turn_lower(query, op->rarg);
		return tree;
	}
	ref = leftmost(tree);
	distinct = makeNode(Query);
	distinct->commandType = CMD_SELECT;
	distinct->canSetTag = true;
	distinct->targetList = copyObject(query_of(query, op, 0)->targetList);
	read_from(distinct, query_of(query, op, 2));
	add_distinct(distinct, op);
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
	SetOperationStmt *op = as_union(query->setOperations);

	if (!gc_has_union(query, level->parent != NULL))
		return;
	*changed = true;
	if (!op->all)
	{
		read_from(query, query_of(query, op, 1));
		add_distinct(query, op);
		return;
	}
	(void) turn_lower(query, query->setOperations);
	if (level->parent == NULL && is_mixed(query))
		read_from(query, query_of(query, op, 1));
}
