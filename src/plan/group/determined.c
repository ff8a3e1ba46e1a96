/*-------------------------------------------------------------------------
 *
 * determined.c
 *	  Columns that the columns of GROUP BY determine, since a primary key is among these.
 *
 *	SELECT id, name, count(*) FROM customer JOIN orders ON id = customer GROUP BY id
 *
 * has one name in each group.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "groups.h"

#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

#include "../../compat.h"

/* Grouping expressions that every set has: a primary key that a set leaves out determines nothing in it. */
static List *
in_every_set(PlannerInfo *root, List *group_exprs)
{
	const List *sets = root->parse->groupingSets;
	List	   *refs;
	List	   *common = NIL;
	ListCell   *lc;

	if (sets == NIL)
		return group_exprs;
	refs = list_copy(linitial(sets));
	foreach(lc, sets)
		refs = list_intersection_int(refs, lfirst(lc));
	foreach(lc, refs)
		common = lappend(common, get_sortgroupref_tle(lfirst_int(lc), root->processed_tlist)->expr);
	return list_intersection(group_exprs, common);
}

/*
 * Is a column a part of an expression that grouping sets may make NULL?  18 marks the column as such there, and not
 * where it stands by itself.  But a column is one thing in the result of a node.
 */
static bool
is_nulled_in_part(PlannerInfo *root, List *group_exprs, const Var *var)
{
#if PG_VERSION_NUM >= 180000
	ListCell   *lc,
			   *lv;

	foreach(lc, root->parse->groupingSets ? group_exprs : NIL)
	{
		foreach(lv, IsA(lfirst(lc), Var) ? NIL : pull_var_clause(lfirst(lc), PVC_RECURSE_PLACEHOLDERS))
		{
			const Var  *part = lfirst_node(Var, lv);

			if (part->varno == var->varno && part->varattno == var->varattno)
				return true;
		}
	}
#endif
	return false;
}

bool
gc_groups_determine(PlannerInfo *root, List *group_exprs, Node *node)
{
	Var		   *var = (Var *) node;
	RangeTblEntry *rte;
	List	   *deps = NIL;

	if (!IsA(node, Var) || var->varlevelsup > 0)
		return false;
	rte = planner_rt_fetch(var->varno, root);
	/* A primary key says nothing of the rows of tables that inherit. */
	return rte->rtekind == RTE_RELATION && (!rte->inh || rte->relkind == RELKIND_PARTITIONED_TABLE) &&
		!is_nulled_in_part(root, group_exprs, var) &&
		check_functional_grouping(rte->relid, var->varno, 0, in_every_set(root, group_exprs), &deps);
}
