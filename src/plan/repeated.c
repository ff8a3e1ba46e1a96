/*-------------------------------------------------------------------------
 *
 * repeated.c
 *	  Plans of statements that a session repeats.
 *
 * To plan a short query takes longer than to compute it.  An application that sends the same text again and again, as
 * dashboards do, need not have it planned each time: PostgreSQL's plan cache has the plan.  It is asked for the plan of a
 * statement that is the same in all, constants included, so that the plan is the one that would be made again.
 *
 * The plan cache knows what a plan depends on: tables, statistics, functions, types, policies, the search path, indexes
 * of open snapshots.  It does not keep to settings, and tables that have grown, which show in ordinary planning; so both
 * are looked at here.  Whatever else may have changed (how much of a table was written, what the device takes)
 * shows when a plan is made again, after a number of uses or a while.
 *
 * The cache would analyse a text again whose plan is no longer valid.  Only the parser's result is known here, so it has a
 * statement that stands for the text.  Where that was analysed, what came of it is thrown away.
 *
 * A plan is kept once a statement comes for the second time.  PostgreSQL's own plans never are.
 *
 * Where statements differ by constants, the plan is one for all of them if it is sure to be the best for all (constants.c):
 * one node does everything, and PostgreSQL would have to read a large table as a whole.
 *
 * Planner, in backends; what is kept is a backend's own.
 *
 *-------------------------------------------------------------------------
 */
#include "repeated.h"

#include "access/parallel.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/pg_index.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/geqo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "parser/parse_relation.h"
#include "storage/bufmgr.h"
#include "tcop/cmdtag.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "constants.h"
#include "whole.h"
#include "../compat.h"
#include "../settings.h"

/* A plan is made again after so many uses, and after a while. */
#define MOST_USES			256
#define LONGEST_MS			60000

#define MOST_KEPT			128

/* Statements that came once, the last of them. */
#define MOST_SEEN			128

/* A plan for all constants costs so many times less than PostgreSQL's would for any. */
#define FAR_BETTER			2.5

/* A table has changed in size if it has by that share of it, or by a few pages. */
#define GROWTH				4
#define PAGES				8

typedef struct Table
{
	Oid			relid;
	BlockNumber pages;
} Table;

typedef struct Kept
{
	uint64		key;			/* of the statement, with its constants or without */
	uint64		settings;		/* that no key is of, as settings_hash() */
	CachedPlanSource *source;
	CachedPlan *held;			/* by the transaction in progress */
	int			generation;		/* of source */
	int			uses;
	uint64		last_use;
	TimestampTz made_at;
	Size		size;			/* bytes */
	int			ntables;
	Table	   *tables;			/* in the source's memory */
} Kept;

static Kept kept[MOST_KEPT];
static int	nkept = 0;
static uint64 clock_hand = 0;

/* Plans of this transaction whose statements are no longer kept. */
static List *retired = NIL;

typedef struct Ring
{
	uint64		keys[MOST_SEEN];
	int			next;
} Ring;

static Ring seen;
static Ring refused;			/* shapes of which no plan is for all constants */

/* A statement is planned to be kept. */
static bool making = false;

/* What the planner says of the plan that was made last. */
static bool worth_keeping = false;

/* The statement that stands for the text was analysed. */
static bool analysed = false;

/*-------------------------------------------------------------------------
 * What a plan depends on beside what the plan cache knows of
 *-------------------------------------------------------------------------
 */

static uint64
mix_double(uint64 hash, double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	return gc_glance_mix(hash, bits);
}

/* Settings that plans depend on, and that gc_verdict_key() does not know. */
static uint64
settings_hash(void)
{
	uint64		hash = 0;

	hash = gc_glance_mix(hash, (uint64) min_parallel_table_scan_size << 32 | (uint32) min_parallel_index_scan_size);
	hash = gc_glance_mix(hash, (uint64) geqo_threshold << 32 | (uint32) Geqo_effort);
	hash = gc_glance_mix(hash, (uint64) Geqo_pool_size << 32 | (uint32) Geqo_generations);
	hash = mix_double(hash, Geqo_selection_bias);
	hash = mix_double(hash, Geqo_seed);
	hash = mix_double(hash, recursive_worktable_factor);
	hash = mix_double(hash, jit_above_cost);
	hash = mix_double(hash, jit_inline_above_cost);
	hash = mix_double(hash, jit_optimize_above_cost);
	hash = gc_glance_mix(hash, jit_enabled | jit_expressions << 1 | jit_tuple_deforming << 2 | enable_async_append << 3 |
						 parallel_leader_participation << 4 | gc_cold << 5);
#if PG_VERSION_NUM >= 160000
	hash = gc_glance_mix(hash, debug_parallel_query << 1 | enable_presorted_aggregate);
#else
	hash = gc_glance_mix(hash, force_parallel_mode);
#endif
#if PG_VERSION_NUM >= 170000
	hash = gc_glance_mix(hash, enable_group_by_reordering);
#endif
#if PG_VERSION_NUM >= 180000
	hash = gc_glance_mix(hash, enable_distinct_reordering << 1 | enable_self_join_elimination);
#endif
	return hash;
}

/* As the planner asks; the caller has the table locked. */
static BlockNumber
pages_of(Oid relid)
{
	Relation	rel = RelationIdGetRelation(relid);
	BlockNumber pages = 0;

	if (RelationIsValid(rel))
	{
		pages = RelationGetNumberOfBlocks(rel);
		RelationClose(rel);
	}
	return pages;
}

static bool
has_grown(const Table *table)
{
	const BlockNumber pages = pages_of(table->relid);
	const BlockNumber least = Min(pages, table->pages);

	return Max(pages, table->pages) - least > table->pages / GROWTH + PAGES;
}

/* Sets the tables' sizes; they are allocated in the source's memory. */
static void
note_tables(Kept *entry, const PlannedStmt *stmt)
{
	ListCell   *lc;

	entry->tables = MemoryContextAlloc(entry->source->context, (list_length(stmt->rtable) + 1) * sizeof(Table));
	entry->ntables = 0;
	foreach(lc, stmt->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION && (rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW))
			entry->tables[entry->ntables++] = (Table) {.relid = rte->relid,.pages = pages_of(rte->relid)};
	}
}

/* The plan cache analyses what stands for the statement's text. */
static void
note_analysis(struct ParseState *pstate, void *arg)
{
	analysed = true;
}

/*-------------------------------------------------------------------------
 * What is kept
 *-------------------------------------------------------------------------
 */

static void
drop(Kept *entry)
{
	if (entry->held)
	{
		MemoryContext oldcontext = MemoryContextSwitchTo(TopTransactionContext);

		retired = lappend(retired, entry->held);
		MemoryContextSwitchTo(oldcontext);
	}
	DropCachedPlan(entry->source);
	*entry = kept[--nkept];
}

static Kept *
find(uint64 key)
{
	for (int i = 0; i < nkept; i++)
	{
		if (kept[i].key == key)
			return &kept[i];
	}
	return NULL;
}

/* Room for one more of this size: those go that were not used for longest. */
static void
make_room(Size size)
{
	Size		sum = size;

	for (int i = 0; i < nkept; i++)
		sum += kept[i].size;
	while (nkept > 0 && (nkept == MOST_KEPT || sum > (Size) gc_plan_cache_size_kb * 1024))
	{
		Kept	   *oldest = &kept[0];

		for (int i = 1; i < nkept; i++)
		{
			if (kept[i].last_use < oldest->last_use)
				oldest = &kept[i];
		}
		sum -= oldest->size;
		drop(oldest);
	}
}

/* The plans of a transaction are in use until it ends. */
static void
release_plans(XactEvent event, void *arg)
{
	ListCell   *lc;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	for (int i = 0; i < nkept; i++)
	{
		if (kept[i].held)
			ReleaseCachedPlan(kept[i].held, NULL);
		kept[i].held = NULL;
	}
	foreach(lc, retired)
		ReleaseCachedPlan(lfirst(lc), NULL);
	retired = NIL;
}

/* The statement itself differs from the kept one in what a plan takes over from it. */
static PlannedStmt *
plan_for(const PlannedStmt *stmt, const Query *query)
{
	PlannedStmt *mine = palloc(sizeof(PlannedStmt));

	*mine = *stmt;
	mine->queryId = query->queryId;
	mine->stmt_location = query->stmt_location;
	mine->stmt_len = query->stmt_len;
	return mine;
}

/* Lengths of texts tell of blanks at their ends. */
static bool
is_same(const Kept *entry, Query *query)
{
	const Query *other = linitial_node(Query, entry->source->query_list);
	const int	len = query->stmt_len;
	bool		same;

	query->stmt_len = other->stmt_len;
	same = equal(query, other);
	query->stmt_len = len;
	return same;
}

/* May the entry's plan be used once more, as far as is known before it is locked? */
static bool
is_usable(const Kept *entry)
{
	const CachedPlanSource *source = entry->source;

	return source->is_valid && source->gplan && source->gplan->is_valid && entry->uses < MOST_USES &&
		entry->settings == settings_hash() &&
		!TimestampDifferenceExceeds(entry->made_at, GetCurrentStatementStartTimestamp(), LONGEST_MS);
}

/* The kept plan, its tables locked; NULL: it is not valid any more. */
static CachedPlan *
get_plan(Kept *entry)
{
	CachedPlan *plan;

	analysed = false;
	making = true;
	PG_TRY();
	{
		plan = GetCachedPlan(entry->source, NULL, NULL, NULL);
	}
	PG_FINALLY();
	{
		making = false;
	}
	PG_END_TRY();
	if (!analysed && list_length(plan->stmt_list) == 1)
		return plan;
	ReleaseCachedPlan(plan, NULL);
	return NULL;
}

/* A reference, which the transaction holds from now on. */
static void
hold(Kept *entry, CachedPlan *plan)
{
	if (entry->held)
		ReleaseCachedPlan(plan, NULL);
	else
		entry->held = plan;
}

static uint64
key_of(const GcRepeatable *what)
{
	return gc_glance_mix(what->key, what->glance->constants) | 1;
}

static uint64
key_of_shape(const GcRepeatable *what)
{
	return gc_glance_mix(what->key, UINT64CONST(0x7368617065)) & ~UINT64CONST(1);
}

/* The entry's plan for this statement; NULL: it holds no more, and the entry is gone. */
static PlannedStmt *
use(Kept *entry, const Query *query)
{
	CachedPlan *plan = is_usable(entry) ? get_plan(entry) : NULL;

	if (plan && entry->source->generation != entry->generation)
	{
		ReleaseCachedPlan(plan, NULL);
		plan = NULL;
	}
	for (int i = 0; plan && i < entry->ntables; i++)
	{
		if (has_grown(&entry->tables[i]))
		{
			ReleaseCachedPlan(plan, NULL);
			plan = NULL;
		}
	}
	if (plan == NULL)
	{
		drop(entry);
		return NULL;
	}
	hold(entry, plan);
	entry->uses++;
	entry->last_use = ++clock_hand;
	return plan_for(linitial_node(PlannedStmt, plan->stmt_list), query);
}

/* The same of an entry without constants. */
static PlannedStmt *
use_for_constants(Kept *entry, Query *query)
{
	GcConstants taken = {0};
	PlannedStmt *stmt = NULL;
	bool		same;

	gc_constants_take(query, &taken);
	same = is_same(entry, query);
	gc_constants_put_back(&taken);
	if (same)
		stmt = use(entry, query);
	if (stmt)
		gc_constants_give(stmt, &taken);
	return stmt;
}

PlannedStmt *
gc_repeated_plan(GcRepeatable *what, Query *query)
{
	Kept	   *entry;

	if (nkept == 0 || making)
		return NULL;
	entry = find(key_of(what));
	if (entry && is_same(entry, query))
		return use(entry, query);
	entry = what->other_constants ? find(key_of_shape(what)) : NULL;
	what->for_constants = entry != NULL;
	return entry ? use_for_constants(entry, query) : NULL;
}

/*-------------------------------------------------------------------------
 * Keeping a plan
 *-------------------------------------------------------------------------
 */

static bool
is_in(const Ring *ring, uint64 key)
{
	for (int i = 0; i < MOST_SEEN; i++)
	{
		if (ring->keys[i] == key)
			return true;
	}
	return false;
}

static void
enter(Ring *ring, uint64 key)
{
	ring->keys[ring->next] = key;
	ring->next = (ring->next + 1) % MOST_SEEN;
}

/* Has it come before, of late?  Now it has. */
static bool
came_before(uint64 key)
{
	const bool	came = is_in(&seen, key);

	if (!came)
		enter(&seen, key);
	return came;
}

/* May a plan of it be made for later?  Rows that a trigger hands over are gone by then. */
static bool
may_keep(const Query *query)
{
	ListCell   *lc;

	if (query->commandType != CMD_SELECT || query->rowMarks != NIL || query->hasModifyingCTE || query->utilityStmt)
		return false;
	foreach(lc, query->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->rtekind == RTE_NAMEDTUPLESTORE)
			return false;
	}
	return true;
}

static CachedPlanSource *
make_source(const GcRepeatable *what, Query *query, const GcConstants *taken)
{
	RawStmt    *stands_for_it = makeNode(RawStmt);
	CachedPlanSource *source;

	stands_for_it->stmt = (Node *) makeNode(SelectStmt);
	source = CreateCachedPlan(stands_for_it, what->query_string ? what->query_string : "", CMDTAG_SELECT);
	CompleteCachedPlan(source, list_make1(query), NULL, gc_constants_types(taken), list_length(taken->values),
					   note_analysis, NULL, what->options, false);
	SaveCachedPlan(source);
	return source;
}

/* What it takes PostgreSQL to read a table, at least, if it cannot but read all of it. */
static Cost
least_scan_cost(const RangeTblEntry *rte, const Bitmapset *columns)
{
	Relation	rel = RelationIdGetRelation(rte->relid);
	Cost		cost;
	ListCell   *lc;

	if (!RelationIsValid(rel))
		return 0;
	cost = RelationGetNumberOfBlocks(rel) * Min(seq_page_cost, cpu_tuple_cost) + Max(rel->rd_rel->reltuples, 0) * cpu_tuple_cost;
	foreach(lc, RelationGetIndexList(rel))
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(lc)));
		AttrNumber	leading = HeapTupleIsValid(tuple) ? ((Form_pg_index) GETSTRUCT(tuple))->indkey.values[0] : 0;

		/* Of an expression's index it is not known which conditions it is good for. */
		if (leading == 0 || bms_is_member(leading - FirstLowInvalidHeapAttributeNumber, columns))
			cost = 0;
		if (HeapTupleIsValid(tuple))
			ReleaseSysCache(tuple);
	}
	RelationClose(rel);
	return cost / (1 + max_parallel_workers_per_gather);
}

/*
 * Is a plan that one node of ours is the whole of the best for all constants?  It is if there is a large table that
 * PostgreSQL would have to read as a whole, whatever they are.
 */
static bool
is_best_for_all(PlannedStmt *stmt)
{
	Cost		own = 0;
	ListCell   *lc;

	if (!gc_is_whole(stmt) || gc_only_node(stmt) == NULL)
		return false;
	foreach(lc, stmt->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind != RTE_RELATION)
			continue;
		/* Which of the children are read may depend on constants. */
		if (rte->inh || rte->tablesample)
			return false;
		if (rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW)
			own = Max(own, least_scan_cost(rte, GC_SELECTED_COLUMNS(stmt, rte)));
	}
	return own > FAR_BETTER * stmt->planTree->total_cost;
}

static Size
size_of(const CachedPlanSource *source, const CachedPlan *plan)
{
	return MemoryContextMemAllocated(source->context, true) + MemoryContextMemAllocated(plan->context, true);
}

/* A new source's plan, which the transaction uses, is kept if it is worth it. */
static void
keep(Kept *entry, CachedPlan *plan)
{
	entry->size = size_of(entry->source, plan);
	entry->held = plan;
	entry->generation = entry->source->generation;
	entry->last_use = ++clock_hand;
	entry->made_at = GetCurrentStatementStartTimestamp();
	entry->settings = settings_hash();
	if (worth_keeping)
		note_tables(entry, linitial_node(PlannedStmt, plan->stmt_list));
	if (entry->size > (Size) gc_plan_cache_size_kb * 1024)
		worth_keeping = false;
	make_room(worth_keeping ? entry->size : 0);
	kept[nkept++] = *entry;
	if (!worth_keeping)
		drop(&kept[nkept - 1]);
}

/* NULL: what it was made from has changed meanwhile. */
static PlannedStmt *
make(const GcRepeatable *what, Query *query, const GcConstants *taken, uint64 key)
{
	Kept		entry = {.key = key};
	CachedPlan *volatile plan = NULL;
	PlannedStmt *stmt;

	worth_keeping = false;
	entry.source = make_source(what, query, taken);
	PG_TRY();
	{
		plan = get_plan(&entry);
	}
	PG_CATCH();
	{
		DropCachedPlan(entry.source);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (plan == NULL)
	{
		DropCachedPlan(entry.source);
		return NULL;
	}
	stmt = linitial_node(PlannedStmt, plan->stmt_list);
	if (taken->values != NIL && worth_keeping)
		worth_keeping = is_best_for_all(stmt);
	keep(&entry, plan);
	return plan_for(stmt, query);
}

/* A plan for all constants, if there is one; NULL: there is none. */
static PlannedStmt *
make_for_constants(const GcRepeatable *what, Query *query)
{
	Query	   *copy = copyObject(query);
	GcConstants taken = {0};
	PlannedStmt *stmt = NULL;

	gc_constants_take(copy, &taken);
	if (taken.values != NIL)
		stmt = make(what, copy, &taken, key_of_shape(what));
	if (stmt && worth_keeping)
	{
		gc_constants_give(stmt, &taken);
		return stmt;
	}
	enter(&refused, key_of_shape(what));
	return NULL;
}

PlannedStmt *
gc_repeated_make(const GcRepeatable *what, Query *query)
{
	const GcConstants none = {0};
	bool		shape_came;

	if (making || gc_plan_cache_size_kb == 0 || IsParallelWorker() || !may_keep(query))
		return NULL;
	if (came_before(key_of(what)))
		return make(what, query, &none, key_of(what));
	shape_came = came_before(key_of_shape(what));
	if (what->other_constants && shape_came && !is_in(&refused, key_of_shape(what)))
		return make_for_constants(what, query);
	return NULL;
}

void
gc_repeated_judge(bool worth)
{
	worth_keeping = worth;
}

void
gc_repeated_install(void)
{
	RegisterXactCallback(release_plans, NULL);
}
