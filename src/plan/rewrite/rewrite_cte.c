/*-------------------------------------------------------------------------
 *
 * rewrite_cte.c
 *	  CTEs that are read more than once, in the place of each reference.
 *
 * PostgreSQL materializes such a CTE, and what reads it is a scan of the CTE.  Inlined, it
 * is part of the join or aggregate that is offloaded.  Its rows must repeat exactly, and
 * conditions of its readers must not fail where they are applied to more rows than before.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "../base/source.h"
#include "cannot_raise.h"

typedef struct Readers
{
	const char *name;			/* of the CTE */
	const GcQueryLevel *level;	/* of the query that is looked at */
	int			depth;			/* of that query below the one that defines the CTE */
	ParamListInfo params;		/* of the statement, if no level is above */
	bool		grouped;		/* the CTE is a planning unit of its own */
	bool		may_raise;
} Readers;

bool
gc_may_inline(const CommonTableExpr *cte)
{
	return cte->ctematerialized == CTEMaterializeDefault && cte->cterefcount > 1 && !cte->cterecursive &&
		((Query *) cte->ctequery)->commandType == CMD_SELECT;
}

/* Is there an ordinary table below, and nothing that is not one? */
static bool
reads_tables(const Query *query)
{
	ListCell   *lc;
	bool		found = false;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		switch (rte->rtekind)
		{
			case RTE_RELATION:
				if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW &&
					rte->relkind != RELKIND_PARTITIONED_TABLE && rte->relkind != RELKIND_VIEW)
					return false;
				found |= rte->relid >= FirstNormalObjectId;
				break;
			case RTE_SUBQUERY:
				found |= reads_tables(rte->subquery);
				break;
			case RTE_JOIN:
			case RTE_RESULT:
				break;
			case RTE_CTE:
				if (rte->self_reference)
					return false;
				found = true;
				break;
			default:
				return false;
		}
	}
	return found;
}

/* Does PostgreSQL plan this subquery apart from its reader? */
static bool
is_grouped(const Query *query)
{
	return query->hasAggs || query->groupClause || query->groupingSets || query->distinctClause ||
		query->hasWindowFuncs || query->setOperations;
}

/* A query that reads the CTE: may one of its conditions fail once that is inlined? */
static bool
conditions_may_raise(const Readers *readers)
{
	ListCell   *lc;

	foreach(lc, gc_list_conditions(readers->level->query))
	{
		/* Only a condition of one relation moves into a grouped subquery. */
		if (readers->grouped && bms_membership(gc_relations_of(lfirst(lc))) == BMS_MULTIPLE)
			continue;
		if (!gc_cannot_raise(lfirst(lc), readers->level))
			return true;
	}
	return false;
}

static bool
readers_walker(Node *node, Readers *readers)
{
	const GcQueryLevel *outer = readers->level;
	GcQueryLevel level;
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL || readers->may_raise)
		return readers->may_raise;
	if (!IsA(node, Query))
		return expression_tree_walker(node, readers_walker, readers);
	level = (GcQueryLevel) {query, outer, outer ? NULL : readers->params};
	readers->level = &level;
	readers->depth++;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_CTE && rte->ctelevelsup == readers->depth &&
			strcmp(rte->ctename, readers->name) == 0)
			readers->may_raise |= conditions_may_raise(readers);
	}
	(void) query_tree_walker(query, readers_walker, readers, 0);
	readers->depth--;
	readers->level = outer;
	return readers->may_raise;
}

/* Is what the CTE returns, and what its readers do with it, the same if it is inlined? */
static bool
is_repeatable(const CommonTableExpr *cte, const GcQueryLevel *level)
{
	Query	   *query = (Query *) cte->ctequery;
	Readers		readers = {.name = cte->ctename,.level = level->parent,.depth = -1,.params = level->params,
	.grouped = is_grouped(query)};

	return reads_tables(query) && !gc_locks_rows((Node *) query) && !gc_repeats_differ((Node *) query) &&
		!contain_volatile_functions((Node *) query) &&
		(readers.grouped || gc_query_cannot_raise(query, level)) &&
		!readers_walker((Node *) level->query, &readers);
}

void
gc_inline_ctes(const GcQueryLevel *level, bool *changed)
{
	ListCell   *lc;

	foreach(lc, level->query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (gc_may_inline(cte) && is_repeatable(cte, level))
		{
			cte->ctematerialized = CTEMaterializeNever;
			*changed = true;
		}
	}
}
