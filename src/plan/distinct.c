/*-------------------------------------------------------------------------
 *
 * distinct.c
 *	  Aggregates with DISTINCT, by two levels of groups.
 *
 * The first level groups by the argument, too.  So each of its groups has one value, and
 * the second level takes each value once.  Aggregates without DISTINCT are computed in
 * parts by the first level: the second adds up sums and counts, and takes the least of
 * minima.
 *
 * All aggregates with DISTINCT must be of the same expression.  Others would want a first
 * level each.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "distinct.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "builder.h"
#include "display.h"
#include "groups.h"

typedef struct Search
{
	Node	   *argument;
	const char *refusal;
} Search;

static bool
search_walker(Node *node, Search *search)
{
	Aggref	   *agg = (Aggref *) node;
	Node	   *argument;

	if (node == NULL)
		return false;
	if (!IsA(node, Aggref) || agg->aggdistinct == NIL)
		return expression_tree_walker(node, search_walker, search);
	argument = list_length(agg->args) == 1 ? (Node *) linitial_node(TargetEntry, agg->args)->expr : NULL;
	if (argument == NULL || agg->aggfilter)
		search->refusal = "an aggregate with DISTINCT and FILTER, or of several values, is not supported";
	else if (search->argument && !equal(search->argument, argument))
		search->refusal = "aggregates with DISTINCT of several expressions are not supported";
	else if (!contain_var_clause(argument))
		search->refusal = "an aggregate with DISTINCT of a constant is not supported";
	else
		search->argument = argument;
	return search->refusal != NULL;
}

Node *
gc_distinct_argument(PlannerInfo *root, const char **refusal)
{
	Search		search = {NULL, NULL};

	(void) (search_walker((Node *) root->processed_tlist, &search) ||
			search_walker(root->parse->havingQual, &search));
	*refusal = search.refusal;
	return search.argument;
}

bool
gc_distinct_open(GcTranslation *tr, List *group_exprs, Node *argument)
{
	List	   *exprs = lappend(list_copy(group_exprs), argument);
	double		rows = tr->streamed->tuples * tr->streamed->share;
	GcLeaf	   *leaf = palloc0(sizeof(GcLeaf));
	GcGroups   *groups;
	GcPPipeline *pl;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!contain_var_clause(lfirst(lc)))
			continue;
		if (gc_group_key(tr, lfirst(lc)) < 0)
			return false;
		gc_build_display(tr, tr->streamed->pipeline, GC_DISPLAY_GROUP_KEY, lfirst(lc));
	}
	groups = gc_groups_open(tr);
	if (groups == NULL || tr->npipelines == GC_MAX_PIPELINES)
		return gc_refuse(tr, "too many relations are joined") >= 0;
	tr->plan->groups[groups->pipeline] = estimate_num_groups(tr->root, exprs, clamp_row_est(rows), NULL, NULL);
	leaf->groups = groups;
	leaf->input = groups->input;
	leaf->tuples = tr->plan->groups[groups->pipeline];
	leaf->share = 1;
	leaf->build = -1;
	leaf->pipeline = tr->main = tr->npipelines++;
	pl = &tr->pipelines[leaf->pipeline];
	memset(pl, 0, sizeof(*pl));
	pl->input = groups->input;
	pl->build = GC_NONE;
	tr->streamed = leaf;
	tr->groups = groups;
	tr->two_levels = true;
	return true;
}
