/*-------------------------------------------------------------------------
 *
 * best_for_all.c
 *	  Is a plan with parameters the best one whatever their values are?
 *
 * It is if one node of ours is the whole of it, and there is a large table that PostgreSQL would have to read as a whole.
 * It would not with an index that fits, nor where CHECK constraints exclude the table.  Rows that are returned one by one
 * cost about the same in both, so that a value which most rows have makes PostgreSQL's plan the better one.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "best_for_all.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_index.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "parser/parse_relation.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "plan.h"
#include "whole.h"
#include "../compat.h"

/* It costs this many times less than PostgreSQL's would for any. */
#define FAR_BETTER		2.5

/*
 * May an index be of use to conditions on these columns?  Some kinds are searched by any of their columns.  Of expressions
 * it is not known which conditions they are in; a predicate may follow from some constants alone.
 */
static bool
may_help(Oid index, const Bitmapset *columns)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	bool		helps;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	helps = !heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	for (int i = 0; i < form->indnkeyatts && !helps; i++)
		helps = form->indkey.values[i] == 0 ||
			bms_is_member(form->indkey.values[i] - FirstLowInvalidHeapAttributeNumber, columns);
	ReleaseSysCache(tuple);
	return helps;
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
		if (may_help(lfirst_oid(lc), columns))
			cost = 0;
	}
	RelationClose(rel);
	return cost / (1 + max_parallel_workers_per_gather);
}

/* Are there groups, or one, and no rows?  As many rows as some constants choose would take as long as they take PostgreSQL. */
static bool
returns_groups(PlannedStmt *stmt)
{
	const GcPlan *plan = linitial(gc_nodes_of(stmt));
	const GcProgram *program = GC_PLAN_PROGRAM(plan);

	return gc_pipelines(program)[program->npipelines - 1].sink != GC_SINK_ROWS;
}

bool
gc_is_best_for_all(PlannedStmt *stmt)
{
	Cost		own = 0;
	ListCell   *lc;

	if (!gc_is_whole(stmt) || gc_only_node(stmt) == NULL || !returns_groups(stmt) ||
		constraint_exclusion == CONSTRAINT_EXCLUSION_ON)
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
