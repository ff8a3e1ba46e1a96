/*-------------------------------------------------------------------------
 *
 * unique_key.c
 *	  Queries that select a row by its key.
 *
 * Planner, in backends.  The table is locked already, by the parser or the plan cache.
 *
 *-------------------------------------------------------------------------
 */
#include "rewrite_tree.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

/* Does a comparison tell values apart that are equal in the index?  One by bytes does so in any index. */
static bool
compares_alike(Oid collation, Oid index_collation)
{
	return collation == index_collation || !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

/* Is this index's column compared by one of the comparisons, in the index's own sense of equality? */
static bool
is_compared(Relation index, int column, List *attnos, List *ops)
{
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, attnos, lc2, ops)
	{
		const OpExpr *op = lfirst_node(OpExpr, lc2);

		if (lfirst_int(lc) == index->rd_index->indkey.values[column] &&
			list_member_oid(get_mergejoin_opfamilies(op->opno), index->rd_opfamily[column]) &&
			compares_alike(op->inputcollid, index->rd_indcollation[column]))
			return true;
	}
	return false;
}

/* Does the index ensure, without delay, that rows differ in these columns by these comparisons? */
static bool
is_unique_index(Relation index, List *attnos, List *ops)
{
	const FormData_pg_index *form = index->rd_index;

	if (!form->indisunique || !form->indimmediate || !form->indisvalid || !form->indislive ||
		RelationGetIndexPredicate(index) != NIL || RelationGetIndexExpressions(index) != NIL)
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		if (!is_compared(index, i, attnos, ops))
			return false;
	}
	return true;
}

/* Do these columns, by these comparisons, cover a unique index of the table? */
static bool
cover_unique_index(const RangeTblEntry *rte, List *attnos, List *ops)
{
	Relation	relation;
	List	   *indexes;
	ListCell   *lc;
	bool		result = false;

	if (rte->rtekind != RTE_RELATION || rte->tablesample ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) ||
		(rte->inh && has_subclass(rte->relid)))
		return false;
	relation = table_open(rte->relid, NoLock);
	indexes = RelationGetIndexList(relation);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		result |= is_unique_index(index, attnos, ops);
		index_close(index, NoLock);
	}
	table_close(relation, NoLock);
	return result;
}

/* The column of the query's table that a condition gives one value; 0 if there is none. */
static AttrNumber
column_given(Node *condition)
{
	OpExpr	   *op = (OpExpr *) condition;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 ||
		!op_mergejoinable(op->opno, exprType(linitial(op->args))))
		return 0;
	for (int i = 0; i < 2; i++)
	{
		Node	   *column = list_nth(op->args, i);

		if (IsA(column, RelabelType))
			column = (Node *) ((RelabelType *) column)->arg;
		if (IsA(column, Var) && ((Var *) column)->varlevelsup == 0 &&
			gc_relations_of(list_nth(op->args, 1 - i)) == NULL)
			return ((Var *) column)->varattno;
	}
	return 0;
}

bool
gc_returns_one_row(Query *query)
{
	List	   *attnos = NIL;
	List	   *ops = NIL;
	List	   *from = query->jointree->fromlist;
	ListCell   *lc;

	if (query->hasAggs || query->groupClause || query->hasTargetSRFs || query->setOperations ||
		list_length(from) != 1 || !IsA(linitial(from), RangeTblRef))
		return false;
	foreach(lc, gc_list_conjuncts(query))
	{
		AttrNumber	attno = column_given(lfirst(lc));

		if (attno > 0)
		{
			attnos = lappend_int(attnos, attno);
			ops = lappend(ops, lfirst(lc));
		}
	}
	return attnos && cover_unique_index(rt_fetch(((RangeTblRef *) linitial(from))->rtindex, query->rtable),
										attnos, ops);
}
