/*-------------------------------------------------------------------------
 *
 * join_order.c
 *	  PostgreSQL's join orders, where a node of ours won by far.
 *
 * A node that takes all of a query level along has PostgreSQL's own plan as its fallback.  To find the best join order
 * for that takes most of the time of planning, though the plan is hardly ever executed.  So the order is remembered
 * for the query without its constants (plan_memory.c).  The next time, only the joins of that order are made.
 * PostgreSQL plans each in its ways, with the indexes and costs of that time.
 *
 * A subquery that stands in a statement several times is planned as often.  Its order is searched for once.
 *
 * The order is searched for again if other numbers of rows are joined than before, or the joins have become
 * much cheaper.  It is also searched for if a table was changed, and after a number of uses.  An order that
 * is not legal is none.
 *
 * The description of other joins than inner ones depends on the order in which they were met (relations/relinfo.c).  So
 * the joins that it was made of are made, too, before those of PostgreSQL's own path.
 *
 * Planner, in backends; the table is a backend's own.
 *
 *-------------------------------------------------------------------------
 */
#include "join_order.h"

#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/paths.h"
#include "optimizer/pathnode.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "../base/invalidation.h"
#include "node.h"
#include "../../compat.h"
#include "../base/query_summary.h"
#include "../base/planning.h"
#include "../relations/pipelines.h"
#include "../relations/relinfo.h"

/* By how much the rows of a relation, and the cost of the joins, may differ from what they were. */
#define ROWS_DRIFT		1.5
#define COST_DRIFT		1.5

#define MOST_USES		256
#define MOST_ORDERS		512

/* Two relations have hardly more than one order, but merge joins are costed by looks into indexes. */
#define FEWEST_RELS		2

typedef struct Order
{
	uint64		key;
	uint64		since;			/* as gc_invalidation_watch() */
	int			uses;
	GcJoinSearch search;
} Order;

static HTAB *orders = NULL;

/* The statement, and which of its relations are joined; 0: nothing is to be remembered. */
static uint64
search_key(PlannerInfo *root, List *initial_rels)
{
	uint64		key = gc_planning->key;
	Relids		all = NULL;
	ListCell   *lc;

	if (key == 0 || list_length(initial_rels) < FEWEST_RELS || list_length(initial_rels) > GC_JOIN_ORDER_RELS)
		return 0;
	key = gc_summary_mix(key, root->query_level);
	foreach(lc, initial_rels)
	{
		const RelOptInfo *rel = lfirst(lc);

		if (!IS_SIMPLE_REL(rel))
			return 0;
		key = gc_summary_mix(key, (uint64) rel->relid << 32 | root->simple_rte_array[rel->relid]->relid);
		all = bms_add_member(all, rel->relid);
	}
	/* A part of what the level joins is not made in the last order, so it is not worth remembering. */
	return bms_equal(all, root->all_baserels) ? key : 0;
}

/*-------------------------------------------------------------------------
 * Orders that a search found
 *-------------------------------------------------------------------------
 */

typedef struct FoundSteps
{
	GcJoinSearch *search;
	PlannerInfo *root;
	List	   *initial_rels;
	int			nsets;
	Relids		sets[GC_JOIN_ORDER_RELS + GC_JOIN_ORDER_STEPS]; /* relations of what steps join, and lead to */
	bool		failed;			/* it is not known how all is joined */
} FoundSteps;

/* The number of a set of relations; a new one where it is not known yet. */
static int
set_number(FoundSteps *found, Relids relids)
{
	int			i = 0;

	while (i < found->nsets && !bms_equal(found->sets[i], relids))
		i++;
	if (i == lengthof(found->sets))
	{
		found->failed = true;
		return 0;
	}
	if (i == found->nsets)
		found->sets[found->nsets++] = relids;
	return i;
}

/* Put a step behind those that join as many relations. */
static void
add_step(FoundSteps *found, Relids outer, Relids inner, Relids result)
{
	GcJoinSearch *search = found->search;
	GcJoinStep	step = {.outer = set_number(found, outer),.inner = set_number(found, inner),
	.result = set_number(found, result),.nrels = bms_num_members(result)};
	int			at;

	for (int i = 0; i < search->nsteps; i++)
	{
		if (memcmp(&search->steps[i], &step, sizeof(step)) == 0)
			return;
	}
	if (found->failed || search->nsteps == GC_JOIN_ORDER_STEPS)
	{
		found->failed = true;
		return;
	}
	for (at = search->nsteps++; at > 0 && search->steps[at - 1].nrels > step.nrels; at--)
		search->steps[at] = search->steps[at - 1];
	search->steps[at] = step;
}

/* Is it a relation that joins begin with? */
static bool
is_initial(const FoundSteps *found, Relids relids)
{
	for (int i = 0; i < found->search->nrels; i++)
	{
		if (bms_equal(found->sets[i], relids))
			return true;
	}
	return false;
}

/* The joins that a path is made of. */
static void
add_path_steps(FoundSteps *found, Path *path)
{
	JoinPath   *join;
	Path	  **child;

	path = gc_own_path(path);
	if (is_initial(found, path->parent->relids))
		return;
	if (!IsA(path, NestPath) && !IsA(path, MergePath) && !IsA(path, HashPath))
	{
		if ((child = gc_single_child(path)) == NULL)
			found->failed = true;
		else
			add_path_steps(found, *child);
		return;
	}
	join = (JoinPath *) path;
	found->search->merges |= IsA(path, MergePath);
	add_path_steps(found, join->outerjoinpath);
	add_path_steps(found, join->innerjoinpath);
	add_step(found, join->outerjoinpath->parent->relids, join->innerjoinpath->parent->relids, path->parent->relids);
}

/* The joins that a description is made of. */
static void
add_described_steps(FoundSteps *found, RelOptInfo *rel)
{
	const GcRelDesc *desc;

	if (is_initial(found, rel->relids))
		return;
	desc = gc_desc_lookup(found->root, rel);
	if (desc == NULL || desc->outer == NULL)
	{
		found->failed = true;
		return;
	}
	add_described_steps(found, desc->outer);
	add_described_steps(found, desc->inner);
	add_step(found, desc->outer->relids, desc->inner->relids, rel->relids);
}

/* Is each result there before it is joined? */
static bool
is_complete(const GcJoinSearch *search)
{
	bool		there[GC_JOIN_ORDER_RELS + GC_JOIN_ORDER_STEPS] = {false};

	for (int i = 0; i < search->nrels; i++)
		there[i] = true;
	for (int i = 0; i < search->nsteps; i++)
	{
		if (!there[search->steps[i].outer] || !there[search->steps[i].inner])
			return false;
		there[search->steps[i].result] = true;
	}
	return search->nsteps > 0;
}

/* Note a search for the order of joins, in the planning's context. */
static GcJoinSearch *
add_search(PlannerInfo *root, uint64 key)
{
	MemoryContext old = MemoryContextSwitchTo(gc_planning->context);
	GcJoinSearch *search = palloc0(sizeof(GcJoinSearch));

	search->root = root;
	search->key = key;
	gc_planning->searches = lappend(gc_planning->searches, search);
	MemoryContextSwitchTo(old);
	return search;
}

void
gc_join_order_found(PlannerInfo *root, List *initial_rels, RelOptInfo *rel)
{
	const uint64 key = search_key(root, initial_rels);
	Path	   *own = key != 0 ? gc_cheapest_own_path(rel) : NULL;
	GcJoinSearch search = {.root = root,.key = key,.nrels = list_length(initial_rels)};
	FoundSteps	found = {.search = &search,.root = root,.initial_rels = initial_rels};
	ListCell   *lc;

	if (own == NULL)
		return;
	foreach(lc, initial_rels)
	{
		const RelOptInfo *from = lfirst(lc);

		search.rows[foreach_current_index(lc)] = from->rows;
		search.tables[foreach_current_index(lc)] = root->simple_rte_array[from->relid]->relid;
		(void) set_number(&found, from->relids);
	}
	/* These come first: of several joins that lead to the same, the first is described. */
	if (!gc_joins_plainly(root))
		add_described_steps(&found, rel);
	add_path_steps(&found, own);
	search.own = own->total_cost;
	if (!found.failed && is_complete(&search))
		*add_search(root, key) = search;
}

/*-------------------------------------------------------------------------
 * The order once more
 *-------------------------------------------------------------------------
 */

/* Are as many rows joined as before?  Where no row is, as a condition is false, all orders are alike. */
static bool
fits(const GcJoinSearch *search, const Query *query, List *initial_rels)
{
	ListCell   *lc;

	if (search->nrels != list_length(initial_rels))
		return false;
	if (gc_is_false(query))
		return true;
	foreach(lc, initial_rels)
	{
		const double rows = ((RelOptInfo *) lfirst(lc))->rows;
		const double before = search->rows[foreach_current_index(lc)];

		if (rows > before * ROWS_DRIFT || rows * ROWS_DRIFT < before)
			return false;
	}
	return true;
}

/* An order that was noted and still holds, a limited number of times.  NULL: it must be searched for. */
static Order *
find_order(uint64 key)
{
	Order	   *order = orders && key != 0 ? hash_search(orders, &key, HASH_FIND, NULL) : NULL;

	if (order == NULL || gc_invalidated_since(&order->since, order->search.tables, order->search.nrels))
		return NULL;
	return order->uses++ < MOST_USES ? order : NULL;
}

/* Is this the level that was searched, or another mention of its subquery in the statement? */
static bool
is_same_level(const GcJoinSearch *search, PlannerInfo *root, uint64 key)
{
	return search->key == key && (search->root == root || equal(search->root->parse->jointree, root->parse->jointree));
}

/* The run that found the order: an earlier one of the planner, or of this subquery.  NULL: nothing is known. */
static const GcJoinSearch *
find_search(PlannerInfo *root, uint64 key)
{
	const Order *order = find_order(key);
	ListCell   *lc;

	if (order)
		return &order->search;
	foreach(lc, key != 0 ? gc_planning->searches : NIL)
	{
		if (is_same_level(lfirst(lc), root, key))
			return lfirst(lc);
	}
	return NULL;
}

/* A join relation has all of its paths. */
static void
finish_rel(PlannerInfo *root, RelOptInfo *rel)
{
	generate_partitionwise_join_paths(root, rel);
	if (!bms_equal(rel->relids, GC_ALL_RELIDS(root)))
		generate_useful_gather_paths(root, rel, false);
	set_cheapest(rel);
}

/* Make the joins of an order, as merge_clump() of GEQO does; NULL where one cannot be. */
static RelOptInfo *
join_in_order(PlannerInfo *root, List *initial_rels, const GcJoinSearch *search)
{
	RelOptInfo *rels[GC_JOIN_ORDER_RELS + GC_JOIN_ORDER_STEPS] = {NULL};
	List	   *unfinished = NIL;
	RelOptInfo *joined = NULL;
	ListCell   *lc;

	foreach(lc, initial_rels)
		rels[foreach_current_index(lc)] = lfirst(lc);
	for (int i = 0; i < search->nsteps; i++)
	{
		const GcJoinStep *step = &search->steps[i];

		joined = make_join_rel(root, rels[step->outer], rels[step->inner]);
		if (joined == NULL || bms_num_members(joined->relids) != step->nrels)
			return NULL;
		rels[step->result] = joined;
		unfinished = list_append_unique_ptr(unfinished, joined);
		if (i + 1 < search->nsteps && search->steps[i + 1].nrels == step->nrels)
			continue;
		foreach(lc, unfinished)
			finish_rel(root, lfirst(lc));
		unfinished = NIL;
	}
	return joined && bms_equal(joined->relids, GC_ALL_RELIDS(root)) ? joined : NULL;
}

/*
 * Join them without merge joins if there were none: they are costed by looks into indexes.  Functions that are called
 * meanwhile may set the setting, too, so it is set as they do it.  An error takes it back, as it does theirs.
 */
static RelOptInfo *
join_as_before(PlannerInfo *root, List *initial_rels, const GcJoinSearch *search)
{
	const bool	without = enable_mergejoin && !search->merges;
	const int	level = without ? NewGUCNestLevel() : 0;
	RelOptInfo *rel;

	if (without)
		(void) set_config_option("enable_mergejoin", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
	gc_planning->replaying = true;
	rel = join_in_order(root, initial_rels, search);
	gc_planning->replaying = false;
	if (without)
		AtEOXact_GUC(true, level);
	return rel;
}

/* Is what was joined as it was before? */
static bool
is_as_before(PlannerInfo *root, RelOptInfo *rel, const GcJoinSearch *search)
{
	const Path *own = rel ? gc_cheapest_own_path(rel) : NULL;

	return own != NULL && (IS_DUMMY_REL(rel) || own->total_cost * COST_DRIFT >= search->own) &&
		(gc_joins_plainly(root) || gc_rel_desc(root, rel)->ok);
}

RelOptInfo *
gc_join_order_replay(PlannerInfo *root, List *initial_rels)
{
	const uint64 key = search_key(root, initial_rels);
	const GcJoinSearch *known = find_search(root, key);
	const int	njoinrels = list_length(root->join_rel_list);
	struct HTAB *hash = root->join_rel_hash;
	GcJoinSearch search;
	RelOptInfo *rel;

	if (known == NULL || !fits(known, root->parse, initial_rels))
		return NULL;
	/* The entry may be removed while functions are called that plan queries. */
	search = *known;
	root->join_rel_hash = NULL;
	rel = join_as_before(root, initial_rels, &search);
	if (!is_as_before(root, rel, &search))
	{
		/* As if nothing had been tried. */
		root->join_rel_list = list_truncate(root->join_rel_list, njoinrels);
		root->join_rel_hash = hash;
		return NULL;
	}
	ereport(DEBUG2,
			(errmsg_internal("gpuconc has %d relations joined in PostgreSQL's last order", search.nrels)));
	search.root = root;
	search.replayed = true;
	*add_search(root, key) = search;
	return rel;
}

/*-------------------------------------------------------------------------
 * Does the order matter?
 *-------------------------------------------------------------------------
 */

/* Note the order that was found.  Where there are too many, all are forgotten. */
static void
note(const GcJoinSearch *search)
{
	HASHCTL		ctl = {.keysize = sizeof(uint64),.entrysize = sizeof(Order),.hcxt = TopMemoryContext};
	Order	   *order;

	if (orders && hash_get_num_entries(orders) >= MOST_ORDERS)
	{
		hash_destroy(orders);
		orders = NULL;
	}
	if (orders == NULL)
		orders = hash_create("gpuconc join orders", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	order = hash_search(orders, &search->key, HASH_ENTER, NULL);
	order->since = gc_invalidation_watch(search->tables, search->nrels);
	order->uses = 0;
	order->search = *search;
}

/* Does a node take along this level, or the same subquery elsewhere in the statement? */
static bool
has_won(const GcJoinSearch *search)
{
	ListCell   *lc;

	foreach(lc, gc_planning->searches)
	{
		const GcJoinSearch *other = lfirst(lc);

		if (list_member_ptr(gc_planning->won, other->root) && is_same_level(other, search->root, search->key))
			return true;
	}
	return false;
}

void
gc_join_order_note(void)
{
	ListCell   *lc;

	foreach(lc, gc_planning->searches)
	{
		const GcJoinSearch *search = lfirst(lc);
		const bool	won = has_won(search);

		if (won && !search->replayed)
			note(search);
		else if (!won && orders)
			hash_search(orders, &search->key, HASH_REMOVE, NULL);
	}
}
