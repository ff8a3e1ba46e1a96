/*-------------------------------------------------------------------------
 *
 * sets.c
 *	  Grouping sets: GROUPING SETS, ROLLUP, CUBE.
 *
 * The planner has expanded the sets by now: each is a list of tleSortGroupRefs.  The device computes the finest groups,
 * by all expressions that any set has.  Each of these comes to a second level of groups once for each set.  The set's
 * number is a key there, like what the set has; what it leaves out is NULL.
 *
 * Aggregates with DISTINCT cannot be made of finer groups.  For them, it is rows that come once for each set.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "sets.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "../base/builder.h"
#include "../base/display.h"
#include "../expr/expr.h"
#include "groups.h"
#include "../../compat.h"

/* The number of the key that a tleSortGroupRef stands for; -1 with a reason if it has none. */
static int
key_of(GcTranslation *tr, Index ref)
{
	return gc_group_key(tr, get_sortgroupclause_expr(get_sortgroupref_clause(ref, tr->root->parse->groupClause),
													 tr->root->processed_tlist));
}

/* PostgreSQL sorts for what stands between the groups and ORDER BY, by its own keys. */
static bool
merges_keys_above(PlannerInfo *root)
{
	const Query *query = root->parse;
	ListCell   *lc;

	foreach(lc, query->windowClause)
	{
		WindowClause *window = lfirst_node(WindowClause, lc);

		if (gc_keys_are_merged(root, window->partitionClause, root->processed_tlist) ||
			gc_keys_are_merged(root, window->orderClause, root->processed_tlist))
			return true;
	}
	if (gc_keys_are_merged(root, query->distinctClause, root->processed_tlist))
		return true;
	return (query->hasWindowFuncs || query->distinctClause != NIL) &&
		gc_keys_are_merged(root, query->sortClause, root->processed_tlist);
}

/*
 * An expression twice is two columns, one of which may be left out alone.  One without Vars is no key, and must be NULL
 * for some sets, which projection does not know.
 */
const char *
gc_sets_refusal(PlannerInfo *root)
{
	List	   *exprs;
	ListCell   *lc;

	if (root->parse->groupingSets == NIL)
		return NULL;
	exprs = get_sortgrouplist_exprs(root->parse->groupClause, root->processed_tlist);
	foreach(lc, exprs)
	{
		if (!contain_var_clause(lfirst(lc)))
			return "a grouping set has an expression without columns";
		for (int i = 0; i < foreach_current_index(lc); i++)
		{
			if (equal(list_nth(exprs, i), lfirst(lc)))
				return "grouping sets have an expression twice";
		}
	}
	if (merges_keys_above(root))
		return "columns that are equal below grouping sets are sorted by above them, for a window or DISTINCT";
	return NULL;
}

/*
 * An expression where the row comes for a set that has it, and NULL where the set leaves it out.  Of sets in a row that
 * agree in this, the first alone is asked for: those of ROLLUP come by their number of columns.
 */
static int
kept_value(GcTranslation *tr, int e, Index ref)
{
	const List *sets = tr->root->parse->groupingSets;
	bool		kept = list_member_int(linitial(sets), ref);
	int			null = gc_build_null(tr, tr->pexprs[e].kind);
	int			value = kept ? e : null;
	ListCell   *lc;

	foreach(lc, sets)
	{
		if (list_member_int(lfirst(lc), ref) == kept)
			continue;
		kept = !kept;
		if (tr->reason == NULL)
			value = gc_build_expr(tr, GC_OP_IF, tr->pexprs[e].kind,
								  gc_build_expr(tr, GC_OP_SET, GC_BOOL, -1, -1, -1, foreach_current_index(lc)),
								  value, kept ? e : null, -1);
	}
	if (tr->reason)
		return GC_NO_EXPR;
	tr->space[value] = tr->space[e];
	return value;
}

bool
gc_sets_group(GcTranslation *tr)
{
	const Query *parse = tr->root->parse;
	const int	n = list_length(parse->groupingSets);
	const char *refusal = n > GC_MAX_SETS ? "there are too many grouping sets" : gc_sets_refusal(tr->root);
	int			number = refusal ? gc_refuse(tr, "%s", refusal) : gc_build_expr(tr, GC_OP_SET, GC_INT4, -1, -1, -1, n);
	ListCell   *lc;

	if (number < 0 || gc_group_key_expr(tr, number, NULL) < 0)
		return false;
	foreach(lc, parse->groupClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause, tr->root->processed_tlist);
		int			e;

		/* Over groups, it is a key of theirs. */
		e = gc_translate_expr(tr, tr->streamed, (Expr *) (tr->groups ? expr : GC_BELOW_GROUPING(tr->root, expr)));
		if (e < 0 || (e = kept_value(tr, e, clause->tleSortGroupRef)) < 0 || gc_group_key_expr(tr, e, expr) < 0)
			return false;
		gc_build_display(tr, tr->streamed->pipeline, GC_DISPLAY_GROUP_KEY, (Expr *) expr);
	}
	tr->pipelines[tr->streamed->pipeline].sets = n;
	return true;
}

double
gc_sets_groups(PlannerInfo *root, List *more, double rows)
{
	double		n = 0;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, root->parse->groupingSets)
	{
		List	   *exprs = list_copy(more);

		foreach(lc2, (List *) lfirst(lc))
		{
			SortGroupClause *clause = get_sortgroupref_clause(lfirst_int(lc2), root->parse->groupClause);

			exprs = lappend(exprs, get_sortgroupclause_expr(clause, root->processed_tlist));
		}
		n += exprs == NIL ? 1 : estimate_num_groups(root, exprs, clamp_row_est(rows), NULL, NULL);
	}
	return n;
}

bool
gc_translate_sets(GcTranslation *tr)
{
	const Query *parse = tr->root->parse;
	const char *refusal = gc_sets_refusal(tr->root);
	int			all = 0;
	ListCell   *lc;
	ListCell   *lc2;

	if (refusal)
	{
		gc_refuse(tr, "%s", refusal);
		return false;
	}
	foreach(lc, parse->groupClause)
	{
		int			key = key_of(tr, lfirst_node(SortGroupClause, lc)->tleSortGroupRef);

		if (key < 0)
			return false;
		all |= 1 << key;
	}
	foreach(lc, parse->groupingSets)
	{
		int			omitted = all;

		foreach(lc2, (List *) lfirst(lc))
			omitted &= ~(1 << key_of(tr, lfirst_int(lc2)));
		if (lfirst(lc) == NIL)
			omitted |= (int) GC_EMPTY_SET;
		tr->sets = lappend_int(tr->sets, omitted);
	}
	tr->plan->grouped = true;
	return true;
}

int
gc_translate_grouping(GcTranslation *tr, GroupingFunc *grouping)
{
	List	   *keys = NIL;
	ListCell   *lc;

	if (grouping->agglevelsup > 0)
		return gc_refuse(tr, "GROUPING of an outer query is used");
	/* Without grouping sets, no key is ever left out. */
	foreach(lc, tr->root->parse->groupingSets == NIL ? NIL : grouping->refs)
	{
		int			key = key_of(tr, lfirst_int(lc));

		if (key < 0)
			return key;
		keys = lappend_int(keys, key);
	}
	tr->groupings = lappend(tr->groupings, keys);
	return list_length(tr->groupings) - 1;
}

/*-------------------------------------------------------------------------
 * Sort keys above grouping sets
 *
 * PostgreSQL has one key for all columns that are equal, and none for one that equals a constant.  Grouping sets
 * make a column NULL apart from those that it equals below them.  Up to 17, PostgreSQL does not tell the two
 * apart, and may sort by too little.  There, each clause gets a key of its own, of a class that no other
 * expression is in, and that PostgreSQL does not know.
 *
 * Outer joins need nothing like it: PostgreSQL makes no class of columns that are not NULL together.
 *-------------------------------------------------------------------------
 */

/* The expression below relabelling, which changes no value. */
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
