/*-------------------------------------------------------------------------
 *
 * verdict.c
 *	  Which rewritten queries need not be compared with the original again.
 *
 * A query that can be rewritten is planned twice, and the cheaper plan is taken (hooks.c).  Where the
 * rewritten one won by far, this is remembered for the query without its constants.  The next time the
 * original is not planned.
 *
 * Other constants may select fewer rows, and tables may grow.  PostgreSQL's own plan of the rewritten
 * query, the node's fallback, has seen both: if it has become much cheaper, or the node dearer, the two
 * are compared again.  What invalidates a relation (DDL, VACUUM, ANALYZE) has everything forgotten.
 *
 * Planner, in backends; the table is a backend's own.
 *
 *-------------------------------------------------------------------------
 */
#include "verdict.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "whole.h"
#include "../compat.h"

/* The original must have cost this many times as much. */
#define MARGIN		10

/* By how much costs may differ from what they were. */
#define DRIFT		2

#define MOST_VERDICTS	256

typedef struct Verdict
{
	uint64		key;
	Cost		rewritten;
	Cost		fallback;		/* PostgreSQL's own plans of the rewritten query's parts */
	Cost		original;
} Verdict;

static HTAB *verdicts = NULL;
static bool stale = false;

static void
forget(Datum arg, Oid relid)
{
	stale = true;
}

void
gc_verdict_install(void)
{
	CacheRegisterRelcacheCallback(forget, (Datum) 0);
}

/* The settings that costs depend on. */
static uint64
settings_hash(uint64 seed)
{
	const double costs[] = {seq_page_cost, random_page_cost, cpu_tuple_cost, cpu_index_tuple_cost, cpu_operator_cost,
		parallel_tuple_cost, parallel_setup_cost, cursor_tuple_fraction, hash_mem_multiplier};
	const int	numbers[] = {effective_cache_size, work_mem, max_parallel_workers_per_gather, from_collapse_limit,
		join_collapse_limit, geqo_threshold, constraint_exclusion};
	const bool	enabled[] = {enable_seqscan, enable_indexscan, enable_indexonlyscan, enable_bitmapscan, enable_tidscan,
		enable_sort, enable_incremental_sort, enable_hashagg, enable_nestloop, enable_material, enable_memoize,
		enable_mergejoin, enable_hashjoin, enable_gathermerge, enable_parallel_append, enable_parallel_hash,
		enable_partition_pruning, enable_partitionwise_join, enable_partitionwise_aggregate, enable_geqo};

	seed = hash_bytes_extended((const unsigned char *) costs, sizeof(costs), seed);
	seed = hash_bytes_extended((const unsigned char *) numbers, sizeof(numbers), seed);
	return hash_bytes_extended((const unsigned char *) enabled, sizeof(enabled), seed);
}

uint64
gc_verdict_key(Query *query, const char *text)
{
	const uint64 id = query->queryId;
	const int	compute = compute_query_id;
	uint64		key;

	/* It insists on the setting. */
	PG_TRY();
	{
		compute_query_id = COMPUTE_QUERY_ID_ON;
		if (id == 0)
			(void) GC_JUMBLE_QUERY(query, text);
	}
	PG_FINALLY();
	{
		compute_query_id = compute;
	}
	PG_END_TRY();
	key = settings_hash(query->queryId);
	query->queryId = id;
	return key;
}

static Verdict *
find(uint64 key, bool enter)
{
	HASHCTL		ctl = {.keysize = sizeof(uint64),.entrysize = sizeof(Verdict),.hcxt = TopMemoryContext};

	if (verdicts && (stale || hash_get_num_entries(verdicts) >= MOST_VERDICTS))
	{
		hash_destroy(verdicts);
		verdicts = NULL;
	}
	stale = false;
	if (verdicts == NULL && !enter)
		return NULL;
	if (verdicts == NULL)
		verdicts = hash_create("gpuconc verdicts", 32, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return hash_search(verdicts, &key, enter ? HASH_ENTER : HASH_FIND, NULL);
}

bool
gc_verdict_is_known(uint64 key, PlannedStmt *rewritten)
{
	const Verdict *verdict = find(key, false);
	const Cost	cost = rewritten->planTree->total_cost;

	if (verdict == NULL || verdict->original < MARGIN * cost || cost > DRIFT * verdict->rewritten ||
		gc_fallback_cost(rewritten) * DRIFT < verdict->fallback)
		return false;
	ereport(DEBUG1,
			(errmsg_internal("gpuconc takes the plan of a rewritten query that was compared before")));
	return true;
}

void
gc_verdict_note(uint64 key, PlannedStmt *rewritten, PlannedStmt *original)
{
	Verdict    *verdict = find(key, true);

	verdict->rewritten = rewritten->planTree->total_cost;
	verdict->fallback = gc_fallback_cost(rewritten);
	verdict->original = original->planTree->total_cost;
}
