/*-------------------------------------------------------------------------
 *
 * sort_keys.c
 *	  What rows are sorted by, above grouping sets.
 *
 * PostgreSQL has one key for all columns that are equal, and none for one that equals a constant.  Grouping sets
 * make a column NULL apart from those that it equals below them.  Up to 17, PostgreSQL does not tell the two
 * apart, and may sort by too little.  There, each clause gets a key of its own, of a class that no other
 * expression is in, and that PostgreSQL does not know.
 *
 * Outer joins need nothing like it: PostgreSQL makes no class of columns that are not NULL together.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "sort_keys.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

#include "../../compat.h"

static Node *
without_labels(Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

/* Is there another expression, or a constant, in the class of this one? */
static bool
is_merged(PlannerInfo *root, Node *expr)
{
	ListCell   *lc;
	ListCell   *lm;

	foreach(lc, root->eq_classes)
	{
		const EquivalenceClass *ec = lfirst_node(EquivalenceClass, lc);
		bool		found = false;
		int			n = 0;

		foreach(lm, ec->ec_members)
		{
			const EquivalenceMember *em = lfirst_node(EquivalenceMember, lm);

			if (em->em_is_child)
				continue;
			n++;
			found |= equal(without_labels((Node *) em->em_expr), without_labels(expr));
		}
		if (found && n > 1)
			return true;
	}
	return false;
}

bool
gc_keys_are_merged(PlannerInfo *root, List *clauses, List *tlist)
{
	ListCell   *lc;

	foreach(lc, root->parse->groupingSets ? clauses : NIL)
	{
		if (is_merged(root, get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), tlist)))
			return true;
	}
	return false;
}

/* As PostgreSQL makes them, but of a class of its own. */
static PathKey *
key_apart(PlannerInfo *root, const SortGroupClause *clause, Expr *expr)
{
	EquivalenceClass *ec = makeNode(EquivalenceClass);
	EquivalenceMember *em = makeNode(EquivalenceMember);
	Oid			family;
	Oid			type;
	GcDirection direction;

	if (!get_ordering_op_properties(clause->sortop, &family, &type, &direction))
		elog(ERROR, "operator %u is not an ordering operator", clause->sortop);
	ec->ec_collation = exprCollation((Node *) expr);
	ec->ec_opfamilies = get_mergejoin_opfamilies(clause->eqop);
	em->em_expr = canonicalize_ec_expression(expr, type, ec->ec_collation);
	em->em_relids = pull_varnos(root, (Node *) em->em_expr);
	em->em_datatype = type;
	ec->ec_members = list_make1(em);
	ec->ec_relids = em->em_relids;
	ec->ec_has_volatile = contain_volatile_functions((Node *) expr);
	ec->ec_sortref = clause->tleSortGroupRef;
	return make_canonical_pathkey(root, ec, family, direction, clause->nulls_first);
}

List *
gc_keys_of_clauses(PlannerInfo *root, List *clauses, List *tlist)
{
	List	   *keys = NIL;
	ListCell   *lc;

	if (!gc_keys_are_merged(root, clauses, tlist))
		return make_pathkeys_for_sortclauses(root, clauses, tlist);
	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Expr	   *expr = (Expr *) get_sortgroupclause_expr(clause, tlist);

		keys = lappend(keys, key_apart(root, clause, expr));
	}
	return keys;
}

List *
gc_sort_keys(PlannerInfo *root)
{
	List	   *clauses = root->parse->sortClause;

	return gc_keys_are_merged(root, clauses, root->processed_tlist) ?
		gc_keys_of_clauses(root, clauses, root->processed_tlist) : root->sort_pathkeys;
}
