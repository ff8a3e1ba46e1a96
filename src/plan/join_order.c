/*-------------------------------------------------------------------------
 *
 * join_order.c
 *	  PostgreSQL's join orders, where a node of ours won by far.
 *
 * A node that takes all of a query level along has PostgreSQL's own plan as its fallback.  To find the best join
 * order for that takes most of the time of planning, though the plan is hardly ever executed.  So the order is
 * remembered for the query without its constants (verdict.c).  The next time, only the joins of that order are made,
 * each in the ways that PostgreSQL knows, with the indexes and costs of that time.
 *
 * The order is searched for again if other numbers of rows are joined than before, if the joins have become
 * much cheaper, if a table was changed, and after a number of uses.  An order that is not legal is none.
 *
 * Only inner joins are replayed: the description of others depends on the order in which they were met (relinfo.c).
 *
 * Planner, in backends; the table is a backend's own.
 *
 *-------------------------------------------------------------------------
 */
#include "join_order.h"

#include "access/transam.h"
#include "nodes/pathnodes.h"
#include "optimizer/paths.h"
#include "optimizer/pathnode.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "fallback.h"
#include "planning.h"
#include "relinfo.h"
#include "../compat.h"

/* PostgreSQL's own path must have cost this many times as much. */
#define MARGIN			5

/* By how much the rows of a relation, and the cost of the joins, may differ from what they were. */
#define ROWS_DRIFT		3
#define COST_DRIFT		2

#define MOST_USES		64
#define MOST_ORDERS		512

/* A smaller number of relations has hardly more than one order. */
#define FEWEST_RELS		3

typedef struct Order
{
	uint64		key;
	uint64		changes;		/* of tables, when it was noted */
	int			uses;
	GcJoinSearch search;
} Order;

static HTAB *orders = NULL;

/* Tables that were changed so far. */
static uint64 changes = 0;

static void
forget(Datum arg, Oid relid)
{
	if (!OidIsValid(relid) || relid >= FirstNormalObjectId)
		changes++;
}

void
gc_join_order_install(void)
{
	CacheRegisterRelcacheCallback(forget, (Datum) 0);
}

static inline uint64
mix(uint64 hash, uint64 value)
{
	hash = (hash ^ value) * UINT64CONST(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

/* The statement, and which of its relations are joined; 0: nothing is to be remembered. */
static uint64
search_key(PlannerInfo *root, List *initial_rels)
{
	uint64		key = gc_planning->key;
	ListCell   *lc;

	if (key == 0 || list_length(initial_rels) < FEWEST_RELS || list_length(initial_rels) > GC_JOIN_ORDER_RELS)
		return 0;
	key = mix(key, root->query_level);
	foreach(lc, initial_rels)
	{
		const RelOptInfo *rel = lfirst(lc);

		if (!IS_SIMPLE_REL(rel))
			return 0;
		key = mix(key, (uint64) rel->relid << 32 | root->simple_rte_array[rel->relid]->relid);
	}
	return key;
}

/*-------------------------------------------------------------------------
 * What a search found
 *-------------------------------------------------------------------------
 */

/* The number of what a path joins, after the steps that lead to it; -1: it is not known how it is made. */
static int
add_steps(GcJoinSearch *search, int *nsteps, Path *path, List *initial_rels)
{
	ListCell   *lc;
	Path	  **child;
	int			outer,
				inner;

	path = gc_own_path(path);
	foreach(lc, initial_rels)
	{
		if (bms_equal(((RelOptInfo *) lfirst(lc))->relids, path->parent->relids))
			return foreach_current_index(lc);
	}
	if (!IsA(path, NestPath) && !IsA(path, MergePath) && !IsA(path, HashPath))
	{
		child = gc_single_child(path);
		return child ? add_steps(search, nsteps, *child, initial_rels) : -1;
	}
	outer = add_steps(search, nsteps, ((JoinPath *) path)->outerjoinpath, initial_rels);
	inner = add_steps(search, nsteps, ((JoinPath *) path)->innerjoinpath, initial_rels);
	if (outer < 0 || inner < 0 || *nsteps == search->nrels - 1)
		return -1;
	search->steps[*nsteps][0] = outer;
	search->steps[*nsteps][1] = inner;
	return search->nrels + (*nsteps)++;
}

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
	ListCell   *lc;
	int			nsteps = 0;

	if (own == NULL || add_steps(&search, &nsteps, own, initial_rels) < 0 || nsteps != search.nrels - 1)
		return;
	search.own = own->total_cost;
	foreach(lc, initial_rels)
		search.rows[foreach_current_index(lc)] = ((RelOptInfo *) lfirst(lc))->rows;
	*add_search(root, key) = search;
}

/*-------------------------------------------------------------------------
 * The order once more
 *-------------------------------------------------------------------------
 */

/* Are as many rows joined as before? */
static bool
fits(const GcJoinSearch *search, List *initial_rels)
{
	ListCell   *lc;

	if (search->nrels != list_length(initial_rels))
		return false;
	foreach(lc, initial_rels)
	{
		const double rows = ((RelOptInfo *) lfirst(lc))->rows;
		const double before = search->rows[foreach_current_index(lc)];

		if (rows > before * ROWS_DRIFT || rows * ROWS_DRIFT < before)
			return false;
	}
	return true;
}

static Order *
find_order(uint64 key)
{
	Order	   *order = orders && key != 0 ? hash_search(orders, &key, HASH_FIND, NULL) : NULL;

	return order && order->changes == changes && order->uses++ < MOST_USES ? order : NULL;
}

/* Make the joins of an order, as merge_clump() of GEQO does; NULL where one cannot be. */
static RelOptInfo *
join_in_order(PlannerInfo *root, List *initial_rels, const GcJoinSearch *search)
{
	RelOptInfo *rels[2 * GC_JOIN_ORDER_RELS];
	RelOptInfo *joined = NULL;
	ListCell   *lc;

	foreach(lc, initial_rels)
		rels[foreach_current_index(lc)] = lfirst(lc);
	for (int i = 0; i < search->nrels - 1; i++)
	{
		joined = make_join_rel(root, rels[search->steps[i][0]], rels[search->steps[i][1]]);
		if (joined == NULL)
			return NULL;
		generate_partitionwise_join_paths(root, joined);
		if (!bms_equal(joined->relids, GC_ALL_RELIDS(root)))
			generate_useful_gather_paths(root, joined, false);
		set_cheapest(joined);
		rels[search->nrels + i] = joined;
	}
	return joined;
}

RelOptInfo *
gc_join_order_replay(PlannerInfo *root, List *initial_rels)
{
	const uint64 key = search_key(root, initial_rels);
	Order	   *order = find_order(key);
	const int	njoinrels = list_length(root->join_rel_list);
	struct HTAB *hash = root->join_rel_hash;
	GcJoinSearch search;
	RelOptInfo *rel;
	Path	   *own;

	if (order == NULL || !fits(&order->search, initial_rels))
		return NULL;
	/* The order may be removed while functions are called that plan queries. */
	search = order->search;
	root->join_rel_hash = NULL;
	rel = join_in_order(root, initial_rels, &search);
	own = rel ? gc_cheapest_own_path(rel) : NULL;
	if (own == NULL || own->total_cost * COST_DRIFT < search.own)
	{
		/* As if nothing had been tried. */
		root->join_rel_list = list_truncate(root->join_rel_list, njoinrels);
		root->join_rel_hash = hash;
		return NULL;
	}
	search.root = root;
	search.replayed = true;
	search.won = false;
	*add_search(root, key) = search;
	return rel;
}

/*-------------------------------------------------------------------------
 * Does the order matter?
 *-------------------------------------------------------------------------
 */

static void
mark_level(const PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, gc_planning->searches)
	{
		GcJoinSearch *search = lfirst(lc);

		search->won |= search->root == root;
	}
}

/* The levels that became a part of a node's program. */
static void
mark_leaves(List *leaves)
{
	ListCell   *lc,
			   *la;

	foreach(lc, leaves)
	{
		const GcLeaf *leaf = lfirst(lc);

		if (leaf->groups)
		{
			mark_level(leaf->groups->root);
			mark_leaves(leaf->groups->leaves);
		}
		foreach(la, leaf->arms ? leaf->arms->arms : NIL)
		{
			const GcArm *arm = lfirst(la);

			mark_level(arm->root);
			mark_leaves(arm->leaves);
		}
	}
}

void
gc_join_order_path_taken(PlannerInfo *root, RelOptInfo *rel, GcPath *path)
{
	const Path *own = path->own;
	/* Of the first few rows, PostgreSQL's own path may make no others. */
	const Cost	cost = root->tuple_fraction > 0 ? own->startup_cost : own->total_cost;

	if (gc_planning == NULL || gc_planning->searches == NIL || cost < MARGIN * path->cpath.path.total_cost)
		return;
	if (IS_UPPER_REL(rel) || bms_equal(rel->relids, GC_ALL_RELIDS(root)))
		mark_level(root);
	mark_leaves(path->tr->leaves);
}

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
	order->changes = changes;
	order->uses = 0;
	order->search = *search;
}

void
gc_join_order_note(void)
{
	ListCell   *lc;

	foreach(lc, gc_planning->searches)
	{
		const GcJoinSearch *search = lfirst(lc);

		if (search->won && !search->replayed)
			note(search);
		else if (!search->won && orders)
			hash_search(orders, &search->key, HASH_REMOVE, NULL);
	}
}
