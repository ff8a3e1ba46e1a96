/*-------------------------------------------------------------------------
 *
 * sets.c
 *	  Grouping sets: GROUPING SETS, ROLLUP, CUBE.
 *
 * The device computes the finest groups, by all expressions that any set has.  Those of each set
 * are made of them when results are decoded (exec/rollup.c).  The planner has expanded the sets by
 * now: each is a list of tleSortGroupRefs.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "sets.h"

#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "builder.h"
#include "groups.h"

/* The key that a tleSortGroupRef stands for; -1 with a reason if it has none. */
static int
key_of(GcTranslation *tr, Index ref)
{
	SortGroupClause *clause = get_sortgroupref_clause(ref, tr->root->parse->groupClause);
	Node	   *expr = get_sortgroupclause_expr(clause, tr->root->processed_tlist);

	return gc_group_key(tr, expr);
}

/* An expression twice is two columns, one of which may be left out alone; one without Vars is no key. */
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
			return "a grouping set has a constant";
		for (int i = 0; i < foreach_current_index(lc); i++)
		{
			if (equal(list_nth(exprs, i), lfirst(lc)))
				return "grouping sets have an expression twice";
		}
	}
	return NULL;
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

		foreach(lc2, lfirst_node(List, lc))
			omitted &= ~(1 << key_of(tr, lfirst_int(lc2)));
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
