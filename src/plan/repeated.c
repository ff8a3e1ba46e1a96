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
 * of open snapshots.  It does not keep to settings, and tables that have grown, which show in ordinary planning.  Settings
 * are in a statement's key (verdict.c), but for gpuconc.cold; that, and the tables, are looked at here.  Whatever else may
 * have changed (how much of a table was written, what the device takes) shows when a plan is made again, after a number of
 * uses or a while.
 *
 * The cache would analyse a text again whose plan is no longer valid.  Only the parser's result is known here, so it has a
 * statement that stands for the text.  Where that was analysed, what came of it is thrown away.
 *
 * A plan is kept once a statement comes for the second time.  PostgreSQL's own plans never are.
 *
 * Where statements differ by constants, the plan is one for all of them if it is sure to be the best for all
 * (best_for_all.c, constants.c).
 *
 * Planner, in backends; what is kept is a backend's own.
 *
 *-------------------------------------------------------------------------
 */
#include "repeated.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
#include "tcop/cmdtag.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"

#include "best_for_all.h"
#include "constants.h"
#include "../compat.h"
#include "../settings.h"

/* A plan is made again after this many uses, and after a while. */
#define MOST_USES			256
#define LONGEST_MS			60000

#define MOST_KEPT			128

/* Statements that came once, the last of them. */
#define MOST_SEEN			128

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
	uint64		shape;			/* key_of_shape(), of a plan for all constants; else 0 */
	int			cold;			/* gc_cold, which is not in the key */
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

/* Plans of this transaction whose statements are no longer kept, and their bytes.  Beyond plan_cache_size nothing is kept. */
static List *retired = NIL;
static Size retired_size = 0;

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
		retired_size += entry->size;
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

static inline Size
most_bytes(void)
{
	return (Size) gc_plan_cache_size_kb * 1024;
}

/* Room for one more of this size: statements go that were not used for longest. */
static void
make_room(Size size)
{
	Size		sum = size;

	for (int i = 0; i < nkept; i++)
		sum += kept[i].size;
	while (nkept > 0 && (nkept == MOST_KEPT || sum > most_bytes()))
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
	retired_size = 0;
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

	return source->is_valid && source->gplan && source->gplan->is_valid && entry->uses < MOST_USES && entry->cold == gc_cold &&
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

/* The key of a statement whose constants were taken out; *others: it has some more. */
static uint64
key_without(const GcRepeatable *what, Query *query, bool *others)
{
	GcGlance	glance;

	gc_glance(query, &glance);
	*others = glance.constants != 0;
	return gc_glance_mix(gc_glance_mix(what->key, glance.shape), glance.constants) & ~UINT64CONST(1);
}

/* Is there a plan for all constants of a statement of this shape?  Constants that were not taken out may be others. */
static bool
has_shape(uint64 shape)
{
	for (int i = 0; i < nkept; i++)
	{
		if (kept[i].shape == shape)
			return true;
	}
	return false;
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
use_for_constants(GcRepeatable *what, Query *query)
{
	GcConstants taken = {0};
	PlannedStmt *stmt = NULL;
	Kept	   *entry;
	bool		others;

	gc_constants_take(query, &taken);
	entry = find(key_without(what, query, &others));
	if (entry && !is_same(entry, query))
		entry = NULL;
	gc_constants_put_back(&taken);
	if (entry)
		stmt = use(entry, query);
	if (stmt)
		gc_constants_give(stmt, &taken);
	what->for_constants = stmt != NULL;
	return stmt;
}

PlannedStmt *
gc_repeated_plan(GcRepeatable *what, Query *query)
{
	Kept	   *entry;

	if (nkept == 0 || making)
		return NULL;
	/* The setting may be another than when they were kept. */
	if (gc_plan_cache_size_kb == 0)
	{
		make_room(0);
		return NULL;
	}
	entry = find(key_of(what));
	if (entry && is_same(entry, query))
		return use(entry, query);
	return what->other_constants && has_shape(key_of_shape(what)) ? use_for_constants(what, query) : NULL;
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
may_keep(const GcRepeatable *what, const Query *query)
{
	return query->commandType == CMD_SELECT && query->rowMarks == NIL && !query->hasModifyingCTE && !query->utilityStmt &&
		!what->glance->handed_over;
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

static Size
size_of(const CachedPlanSource *source, const CachedPlan *plan)
{
	return MemoryContextMemAllocated(source->context, true) + MemoryContextMemAllocated(plan->context, true);
}

/* Is a plan that was just made one to keep? */
static bool
is_worth_keeping(Kept *entry, CachedPlan *plan)
{
	PlannedStmt *stmt = linitial_node(PlannedStmt, plan->stmt_list);

	if (!worth_keeping || (entry->shape != 0 && !gc_is_best_for_all(stmt)))
		return false;
	note_tables(entry, stmt);
	entry->size = size_of(entry->source, plan);
	return entry->size <= most_bytes();
}

/* A new source's plan, which the transaction uses. */
static void
keep(Kept *entry, CachedPlan *plan)
{
	Kept	   *other = find(entry->key);

	/* Long constants may have one key. */
	if (other)
		drop(other);
	entry->held = plan;
	entry->generation = entry->source->generation;
	entry->last_use = ++clock_hand;
	entry->made_at = GetCurrentStatementStartTimestamp();
	entry->cold = gc_cold;
	make_room(entry->size);
	kept[nkept++] = *entry;
}

/*
 * Plans a statement, and keeps the plan if it is worth it: *is_kept.  NULL: what it was made from has changed meanwhile.
 * entry: the keys.
 */
static PlannedStmt *
make(const GcRepeatable *what, Query *query, const GcConstants *taken, Kept *entry, bool *is_kept)
{
	CachedPlan *volatile plan = NULL;
	PlannedStmt *volatile stmt = NULL;

	worth_keeping = *is_kept = false;
	entry->source = make_source(what, query, taken);
	PG_TRY();
	{
		plan = get_plan(entry);
		*is_kept = plan && is_worth_keeping(entry, plan);
		if (plan)
			stmt = plan_for(linitial_node(PlannedStmt, plan->stmt_list), query);
		/* Nothing is to be held until the transaction ends for a plan that goes. */
		if (plan && !*is_kept)
			stmt = copyObject(stmt);
	}
	PG_CATCH();
	{
		if (plan)
			ReleaseCachedPlan(plan, NULL);
		DropCachedPlan(entry->source);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (*is_kept)
	{
		keep(entry, plan);
		return stmt;
	}
	if (plan)
		ReleaseCachedPlan(plan, NULL);
	DropCachedPlan(entry->source);
	return stmt;
}

/* A plan for all constants, if there is one; NULL: there is none. */
static PlannedStmt *
make_for_constants(const GcRepeatable *what, Query *query)
{
	Kept		entry = {.shape = key_of_shape(what)};
	GcConstants taken = {0};
	PlannedStmt *stmt = NULL;
	bool		is_kept = false;
	bool		others;

	gc_constants_take(query, &taken);
	entry.key = key_without(what, query, &others);
	/* What is not taken out must be repeated. */
	if (others && !came_before(entry.key))
	{
		gc_constants_put_back(&taken);
		return NULL;
	}
	if (taken.values != NIL)
		stmt = make(what, query, &taken, &entry, &is_kept);
	gc_constants_put_back(&taken);
	if (is_kept)
	{
		gc_constants_give(stmt, &taken);
		return stmt;
	}
	enter(&refused, entry.shape);
	return NULL;
}

PlannedStmt *
gc_repeated_make(const GcRepeatable *what, Query *query)
{
	const GcConstants none = {0};
	Kept		entry = {.key = key_of(what)};
	bool		shape_came;
	bool		is_kept;

	if (making || gc_plan_cache_size_kb == 0 || retired_size > most_bytes() || IsParallelWorker() || !may_keep(what, query))
		return NULL;
	if (came_before(entry.key))
		return make(what, query, &none, &entry, &is_kept);
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
