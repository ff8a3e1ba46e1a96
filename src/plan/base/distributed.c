/*-------------------------------------------------------------------------
 *
 * distributed.c
 *	  Tables and functions that Citus has distributed, by its catalogs alone.
 *
 * Citus is not needed to build or run any of this.  A table of its catalog pg_dist_partition
 * is empty where the statement is planned, and Citus' own planner hook plans the statement.
 * Shards are not in that catalog: to the servers that have them they are ordinary tables.
 *
 * A statement that Citus sends may read rows that were computed for it before, from files
 * that nothing changes until its transaction ends.  Functions do that, which are declared
 * volatile so that no planner calls them.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "distributed.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* The catalog's key, and the index over it, in every version of Citus. */
#define DISTRIBUTED			"pg_dist_partition"
#define DISTRIBUTED_INDEX	"pg_dist_partition_logical_relid_index"
#define DISTRIBUTED_KEY		1

typedef struct Catalog
{
	Relation	relation;
	Oid			index;
} Catalog;

/* Has the extension's catalog an entry of this table? */
static bool
is_distributed(const Catalog *catalog, Oid relid)
{
	ScanKeyData key;
	SysScanDesc scan;
	bool		found;

	ScanKeyInit(&key, DISTRIBUTED_KEY, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog->relation, catalog->index, OidIsValid(catalog->index), NULL, 1, &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	return found;
}

/* Does any table below stand in the catalog? */
static bool
distributed_walker(Node *node, const Catalog *catalog)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		return rte->rtekind == RTE_RELATION && rte->relid >= FirstNormalObjectId &&
			is_distributed(catalog, rte->relid);
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, distributed_walker, (void *) catalog, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, distributed_walker, (void *) catalog);
}

/* Is it known that there is no such catalog?  Until a relation of any name is made. */
static bool known_absent = false;

/* A callback: something about schemas has changed, so the extension may have been created. */
static void
forget_absence(Datum arg, int cache, uint32 hash)
{
	known_absent = false;
}

void
gc_distributed_install(void)
{
	CacheRegisterSyscacheCallback(RELNAMENSP, forget_absence, (Datum) 0);
}

/* Ask the catalogs, where that is not known. */
static pg_noinline bool
look_for_distributed(Query *query)
{
	Oid			relid = get_relname_relid(DISTRIBUTED, PG_CATALOG_NAMESPACE);
	Catalog		catalog;
	bool		found;

	if (!OidIsValid(relid))
	{
		known_absent = true;
		return false;
	}
	catalog.index = get_relname_relid(DISTRIBUTED_INDEX, PG_CATALOG_NAMESPACE);
	catalog.relation = table_open(relid, AccessShareLock);
	found = distributed_walker((Node *) query, &catalog);
	table_close(catalog.relation, AccessShareLock);
	return found;
}

/* Each statement asks. */
bool
gc_reads_distributed(Query *query)
{
	return !known_absent && look_for_distributed(query);
}

/*
 * Functions of Citus that read results which were computed for the statement before.  Only superusers make functions
 * there.
 */
static bool
reads_result(Oid funcid)
{
	const char *name;

	if (funcid < FirstNormalObjectId || get_func_namespace(funcid) != PG_CATALOG_NAMESPACE)
		return false;
	name = get_func_name(funcid);
	return name && (strcmp(name, "read_intermediate_result") == 0 || strcmp(name, "read_intermediate_results") == 0);
}

/* Is the function volatile?  Results that Citus has computed before do not change while they are read. */
static bool
is_volatile(Oid funcid, void *context)
{
	return func_volatile(funcid) == PROVOLATILE_VOLATILE && !reads_result(funcid);
}

/* Does an expression or query call a volatile function? */
static bool
volatile_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		return volatile_walker((Node *) ((RestrictInfo *) node)->clause, context);
	if (IsA(node, NextValueExpr) || check_functions_in_node(node, is_volatile, context))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, volatile_walker, context, 0);
	return expression_tree_walker(node, volatile_walker, context);
}

bool
gc_contains_volatile(Node *node)
{
	/* PostgreSQL remembers its answer for restrictions, and nearly always it is no. */
	return contain_volatile_functions(node) && volatile_walker(node, NULL);
}
