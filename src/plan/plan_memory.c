/*-------------------------------------------------------------------------
 *
 * plan_memory.c
 *	  What planning a query of a shape led to, so that the next one of it is less work.
 *
 * A query of which nothing is offloaded is planned by PostgreSQL, and what that plan cost is remembered for the
 * query without its constants (base/query_summary.c).  The next time our hooks do nothing for
 * relations that cost no more.
 *
 * A query that can be rewritten is planned twice, and the cheaper plan is taken (hooks.c).  The other one is not
 * planned the next time, if numbers of rows and costs changed no more than the lead allows.
 *
 * Other constants may select other rows, and tables may grow.  The costs of the plan that is made show both.  If
 * they changed more, all is looked at, the next time at the latest.  For a while nothing is remembered of the
 * query.  So it is after a number of uses, too.  What invalidates a table (DDL, VACUUM, ANALYZE) has its queries
 * forgotten.  Nothing of it can make an answer wrong: it says only what not to try.
 *
 * Planner, in backends; the table is a backend's own.
 *
 *-------------------------------------------------------------------------
 */
#include "plan_memory.h"

#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "pgtime.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "base/invalidation.h"
#include "finished_plan.h"
#include "../columns/store/store.h"
#include "../queue/compiling.h"
#include "../queue/queue.h"
#include "../queue/reasons.h"
#include "../settings.h"

/* A plan that was not chosen must have cost this many times as much. */
#define MARGIN			2.5

/* By how much costs may differ from what they were: of what won by far, and of what may have won narrowly. */
#define DRIFT			1.5
#define NARROW_DRIFT	1.25

/* An entry is looked at again after this many uses, and not noted so many times after it was wrong, at most. */
#define MOST_USES		256
#define MOST_DOUBTS		1024

#define MOST_MEMORIES	512

typedef enum KnownRewriting
{
	REWRITING_UNKNOWN,
	REWRITING_LOST,
	REWRITING_COMPARED			/* it was no worse, and perhaps better by far */
} KnownRewriting;

typedef struct PlanMemory
{
	uint64		key;
	uint64		since;			/* as gc_invalidation_watch() */
	int			uses;
	int			doubts;			/* how often nothing is to be noted */
	int			last_doubts;
	int			ntables;
	Oid			tables[GC_SUMMARY_TABLES];
	bool		whole;			/* all of it was offloaded, and cheaper by far */
	int			depth;			/* in how many subqueries of FROM its nodes stood, at most */
	bool		left;			/* to PostgreSQL */
	Cost		ceiling;		/* up to this cost */
	char		refusal[GC_REFUSAL_SIZE];
	GcReasonPlace counts[GC_SUMMARY_TABLES]; /* of that, by table */
	KnownRewriting	rewriting;
	Cost		rewritten;
	Cost		fallback;		/* PostgreSQL's own plans of the rewritten query's parts */
	Cost		original;
	double		lead;			/* how many times as long the original takes */
	GcRowsSeen	seen;			/* that the rewritten query reads */
	double		drift;			/* of the original, where rewriting lost */
	uint64		warm_as_of;		/* gc_store_losses() when no column was lacking, + 1; 0: not known */
} PlanMemory;

static HTAB *memories = NULL;

/* Entries that were found lately, by their keys: each statement asks several times.  None leaves the table alone. */
#define MOST_RECENT		MOST_MEMORIES
static PlanMemory *recent[MOST_RECENT];

/* Has one of its tables changed?  There may be more than were counted. */
static bool
is_stale(PlanMemory *memory)
{
	if (memory->ntables == GC_SUMMARY_TABLES)
		return gc_any_invalidated_since(memory->since);
	return gc_invalidated_since(&memory->since, memory->tables, memory->ntables);
}

/*
 * Settings that decide which plans there are, and what they cost.  What others do shows in costs and rows, which what
 * is remembered is compared with.  It has no holes, so that its words are hashed.
 */
typedef struct Settings
{
	double		costs[13];
	int			numbers[8];
	bool		flags[24];
} Settings;

/* A time zone's changes decide on what is offloaded (expr/instants.c). */
static uint64
hash_of_settings(void)
{
	const Settings settings = {
		.costs = {
			seq_page_cost, random_page_cost, cpu_tuple_cost, cpu_index_tuple_cost, cpu_operator_cost,
			parallel_tuple_cost, parallel_setup_cost, hash_mem_multiplier, cursor_tuple_fraction,
			gc_offload_cost, gc_debug_tuple_cost, gc_debug_build_cost, gc_debug_pair_cost
		},
		.numbers = {
			effective_cache_size, work_mem, max_parallel_workers_per_gather, min_parallel_table_scan_size,
			from_collapse_limit, join_collapse_limit, constraint_exclusion, gc_debug_rewrite
		},
		.flags = {
			enable_seqscan, enable_indexscan, enable_indexonlyscan, enable_bitmapscan, enable_tidscan, enable_sort,
			enable_incremental_sort, enable_hashagg, enable_nestloop, enable_material, enable_memoize,
			enable_mergejoin, enable_hashjoin, enable_gathermerge, enable_parallel_append, enable_parallel_hash,
			enable_async_append, enable_partition_pruning, enable_partitionwise_join,
			enable_partitionwise_aggregate, enable_geqo, gc_enable_float_aggs, gc_debug_versioned_pages
		}
	};
	uint64		words[sizeof(Settings) / sizeof(uint64)];
	uint64		hash = (uintptr_t) session_timezone;

	StaticAssertStmt(sizeof(Settings) == 13 * sizeof(double) + 8 * sizeof(int) + 24 * sizeof(bool) &&
					 sizeof(Settings) == sizeof(words), "settings have holes");
	memcpy(words, &settings, sizeof(words));
	for (int i = 0; i < lengthof(words); i++)
		hash = gc_summary_mix(hash, words[i]);
	return hash;
}

uint64
gc_plan_memory_key(const GcQuerySummary *query, int options, bool params)
{
	const char *reason;
	const bool	writes = TransactionIdIsValid(GetTopTransactionIdIfAny());	/* cost/costs.c */
	uint64		key = gc_summary_mix(query->shape, hash_of_settings());

	key = gc_summary_mix(key, (uint64) GetUserId() << 32 | (uint32) options);
	key = gc_summary_mix(key, (uint64) gc_worker_state(&reason) << 3 | writes << 2 |
						gc_device_status()->info.own_processors << 1 | params);
	return key != 0 ? key : 1;
}

/* One that was not found lately; NULL: there is none. */
static pg_noinline PlanMemory *
find_in_table(uint64 key)
{
	PlanMemory *memory = memories && key != 0 ? hash_search(memories, &key, HASH_FIND, NULL) : NULL;

	if (memory)
		recent[key % MOST_RECENT] = memory;
	return memory;
}

/* The entry as it was noted; NULL: none. */
static inline PlanMemory *
find_noted(uint64 key)
{
	PlanMemory *memory = recent[key % MOST_RECENT];

	return memory && memory->key == key ? memory : find_in_table(key);
}

/* The entry, if it still holds; else NULL. */
static inline PlanMemory *
find(uint64 key)
{
	PlanMemory *memory = find_noted(key);

	return memory && !is_stale(memory) ? memory : NULL;
}

/* The entry to be noted in, or NULL where none is to be. */
static PlanMemory *
enter(uint64 key, const GcQuerySummary *query)
{
	HASHCTL		ctl = {.keysize = sizeof(uint64),.entrysize = sizeof(PlanMemory),.hcxt = TopMemoryContext};
	PlanMemory *memory;
	bool		found;

	if (key == 0)
		return NULL;
	if (memories && hash_get_num_entries(memories) >= MOST_MEMORIES && find(key) == NULL)
	{
		hash_destroy(memories);
		memories = NULL;
		memset(recent, 0, sizeof(recent));
	}
	if (memories == NULL)
		memories = hash_create("gpuconc plan memory", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	memory = hash_search(memories, &key, HASH_ENTER, &found);
	if (!found || is_stale(memory))
	{
		memset(memory, 0, sizeof(*memory));
		memory->key = key;
		memory->since = gc_invalidation_watch(query->tables, query->ntables);
		memory->ntables = query->ntables;
		memcpy(memory->tables, query->tables, sizeof(memory->tables));
	}
	if (memory->doubts > 0)
	{
		memory->doubts--;
		return NULL;
	}
	return memory;
}

/* May an entry be used once more? */
static bool
usable(PlanMemory *memory)
{
	return memory && memory->doubts == 0 && memory->uses++ < MOST_USES;
}

void
gc_plan_memory_unsettle(uint64 key)
{
	PlanMemory *memory = find(key);

	if (memory == NULL)
		return;
	memory->left = memory->whole = false;
	memory->rewriting = REWRITING_UNKNOWN;
	memory->doubts = memory->last_doubts = Min(2 * memory->last_doubts + 4, MOST_DOUBTS);
}

/*-------------------------------------------------------------------------
 * Nothing is offloaded
 *-------------------------------------------------------------------------
 */

bool
gc_plan_memory_leaves(uint64 key, Cost *ceiling)
{
	PlanMemory *memory = find(key);

	if (memory == NULL || !memory->left || !usable(memory))
		return false;
	*ceiling = memory->ceiling;
	return true;
}

const char *
gc_plan_memory_count(uint64 key, const GcQuerySummary *query)
{
	PlanMemory *memory = find_noted(key);

	if (memory == NULL)
		return "";
	for (int i = 0; i < query->ntables && memory->refusal[0] != '\0'; i++)
	{
		if (memory->tables[i] != query->tables[i])
			(void) gc_reason_count(query->tables[i], false, memory->refusal);
		else if (!gc_reason_count_again(&memory->counts[i]))
			memory->counts[i] = gc_reason_count(query->tables[i], false, memory->refusal);
	}
	return memory->refusal;
}

void
gc_plan_memory_note_left(uint64 key, const GcQuerySummary *query, Cost cost, const char *refusal)
{
	PlanMemory *memory = enter(key, query);

	if (memory == NULL)
		return;
	memory->left = true;
	memory->uses = 0;
	/* Whatever is offloaded costs that much. */
	memory->ceiling = Max(cost * NARROW_DRIFT, gc_offload_cost);
	if (strcmp(memory->refusal, refusal) != 0)
		memset(memory->counts, 0, sizeof(memory->counts));
	strlcpy(memory->refusal, refusal, sizeof(memory->refusal));
}

/*-------------------------------------------------------------------------
 * All of it is offloaded
 *-------------------------------------------------------------------------
 */

bool
gc_plan_memory_is_whole(uint64 key)
{
	PlanMemory *memory = find(key);

	return memory && memory->whole && usable(memory);
}

int
gc_plan_memory_depth(uint64 key)
{
	const PlanMemory *memory = find(key);

	return memory ? memory->depth : INT_MAX;
}

void
gc_plan_memory_note_whole(uint64 key, const GcQuerySummary *query, int depth)
{
	PlanMemory *memory = enter(key, query);

	if (memory == NULL)
		return;
	memory->whole = true;
	memory->depth = depth;
	memory->uses = 0;
}

/*-------------------------------------------------------------------------
 * Rewritten queries
 *-------------------------------------------------------------------------
 */

bool
gc_plan_memory_rewriting_lost(uint64 key)
{
	PlanMemory *memory = find(key);

	return memory && memory->rewriting == REWRITING_LOST && usable(memory);
}

void
gc_plan_memory_check_original(uint64 key, PlannedStmt *original)
{
	const PlanMemory *memory = find(key);

	if (memory && memory->rewriting == REWRITING_LOST &&
		original->planTree->total_cost > Max(memory->original * memory->drift, gc_offload_cost))
		gc_plan_memory_unsettle(key);
}

/* Are as many rows read as before?  The cost of another plan depends on each of them. */
static bool
as_many(const GcRowsSeen *seen, const GcRowsSeen *before, double drift)
{
	if (seen->n != before->n || seen->n == GC_ROWS_SEEN)
		return false;
	for (int i = 0; i < seen->n; i++)
	{
		if (seen->rows[i] > before->rows[i] * drift || seen->rows[i] * drift < before->rows[i])
			return false;
	}
	return true;
}

/*
 * The factor by which rows and costs may differ for a plan that took so much less to be the better one still.  One plan
 * may take more by that factor, and the other one less.  Below 1: not at all.
 */
static double
drift_of_lead(double lead)
{
	return Min(DRIFT, DRIFT * sqrt(lead / MARGIN));
}

bool
gc_plan_memory_rewriting_won(uint64 key, PlannedStmt *rewritten, const GcRowsSeen *seen)
{
	PlanMemory *memory = find(key);
	const Cost	cost = rewritten->planTree->total_cost;
	double		drift;

	if (memory == NULL || memory->rewriting != REWRITING_COMPARED)
		return false;
	drift = drift_of_lead(memory->lead);
	if (drift < 1 || cost > drift * memory->rewritten || gc_fallback_cost(rewritten) * drift < memory->fallback ||
		!as_many(seen, &memory->seen, drift) || !usable(memory))
		return false;
	ereport(DEBUG1,
			(errmsg_internal("gpuconc takes the plan of a rewritten query that was compared before")));
	return true;
}

void
gc_plan_memory_note_rewriting(uint64 key, const GcQuerySummary *query, PlannedStmt *rewritten, const GcRowsSeen *seen,
						  PlannedStmt *original, double lead)
{
	PlanMemory *memory = enter(key, query);

	if (memory == NULL)
		return;
	memory->uses = 0;
	memory->original = original->planTree->total_cost;
	memory->lead = lead;
	if (lead <= 1)
	{
		memory->rewriting = REWRITING_LOST;
		memory->drift = lead * MARGIN < 1 ? DRIFT : NARROW_DRIFT;
		return;
	}
	memory->rewriting = REWRITING_COMPARED;
	memory->rewritten = rewritten->planTree->total_cost;
	memory->fallback = gc_fallback_cost(rewritten);
	memory->seen = *seen;
}

/*-------------------------------------------------------------------------
 * Columns and kernels that are there
 *-------------------------------------------------------------------------
 */

bool
gc_plan_memory_is_warm(uint64 key)
{
	const PlanMemory *memory = find(key);

	return memory && memory->warm_as_of == gc_store_losses() + 1 && gc_compiling_nothing();
}

/* Does it read children of a table?  Which of them may depend on constants. */
static bool
reads_children(PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION && rte->inh)
			return true;
	}
	return false;
}

void
gc_plan_memory_note_warm(uint64 key, const GcQuerySummary *query, PlannedStmt *stmt, uint64 losses)
{
	PlanMemory *memory = find(key);

	if (reads_children(stmt))
		return;
	if (memory == NULL)
		memory = enter(key, query);
	if (memory)
		memory->warm_as_of = losses + 1;
}
