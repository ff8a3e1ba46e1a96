/*-------------------------------------------------------------------------
 *
 * guessed_joins.c
 *	  Joins of CTEs and subqueries, without nested loops.
 *
 * PostgreSQL has no statistics about the columns of a CTE, or of a subquery that is planned apart.  How many rows its
 * conditions and joins leave is a guess, which may be wrong by a factor of a thousand.  A nested loop takes that many
 * times longer, or as much by the square.  A hash join takes about as long as before, and hardly longer for a few rows.
 *
 * Nodes of ours are what makes such inputs sooner than PostgreSQL's loops over them.  So where nodes are offered,
 * joins of nothing but such inputs are searched for without nested loops.  If some can be joined by a loop only,
 * PostgreSQL searches as usual.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "join_order.h"

#include "optimizer/cost.h"
#include "utils/guc.h"

#include "node.h"
#include "../../compat.h"
#include "../base/planning.h"

/* Are all inputs without statistics, and is each joined by a condition? */
static bool
are_guessed(List *initial_rels)
{
	ListCell   *lc;

	foreach(lc, initial_rels)
	{
		const RelOptInfo *rel = lfirst(lc);

		if (!IS_SIMPLE_REL(rel) || (rel->rtekind != RTE_SUBQUERY && rel->rtekind != RTE_CTE) ||
			!bms_is_empty(rel->lateral_relids) || (!rel->has_eclass_joins && rel->joininfo == NIL))
			return false;
	}
	return true;
}

RelOptInfo *
gc_join_guessed(PlannerInfo *root, List *initial_rels, GcJoinSearcher search)
{
	const int	njoinrels = list_length(root->join_rel_list);
	struct HTAB *hash = root->join_rel_hash;
	RelOptInfo *rel;
	Path	   *own;
	int			level;

	if (!gc_planning->offered || !enable_nestloop || !are_guessed(initial_rels))
		return NULL;
	/* Functions that are called meanwhile may set the setting, too.  An error takes it back, as it does theirs. */
	level = NewGUCNestLevel();
	(void) set_config_option("enable_nestloop", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	root->join_rel_hash = NULL;
	rel = search(root, initial_rels);
	AtEOXact_GUC(true, level);
	own = gc_cheapest_own_path(rel);
	if (own && !GC_IS_DISABLED(own))
		return rel;
	/* As if nothing had been tried. */
	root->join_rel_list = list_truncate(root->join_rel_list, njoinrels);
	root->join_rel_hash = hash;
	return NULL;
}
