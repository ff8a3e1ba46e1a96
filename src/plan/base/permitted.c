/*-------------------------------------------------------------------------
 *
 * permitted.c
 *	  Functions that the user must be permitted to call, as the device computes them.
 *
 * PostgreSQL asks whether the user may call a function when it initialises expressions, of the user that it is then.
 * A kernel calls none, so the planner notes them, and the node asks when it begins (exec/scan.c).  Where the answer is
 * not plain, PostgreSQL's own plan has the last word.  So more functions than are called do no harm.
 *
 * A query that is rewritten calls others than the original: percentile_disc() becomes min() and row_number().  It is
 * rewritten only where everybody may call those that it loses, and planned anew once that changes.  Another extension's
 * hook is told which functions are called; where there is one, a query that would call others stays as it is.
 *
 * Runs in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "permitted.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "../../columns/store/store.h"
#include "../../compat.h"

/*-------------------------------------------------------------------------
 * Which are called
 *-------------------------------------------------------------------------
 */

/* For check_functions_in_node(): note the function, and go on. */
static bool
note_function(Oid function, void *context)
{
	List	  **functions = context;

	*functions = list_append_unique_oid(*functions, function);
	return false;
}

/* Note all functions that a query or expression calls, also those by which rows are told apart. */
static bool
note_functions(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, note_functions, context, QTW_EXAMINE_SORTGROUP);
	(void) check_functions_in_node(node, note_function, context);
	/* Rows are told apart by it. */
	if (IsA(node, SortGroupClause) && OidIsValid(((SortGroupClause *) node)->eqop))
		(void) note_function(get_opcode(((SortGroupClause *) node)->eqop), context);
	return expression_tree_walker(node, note_functions, context);
}

/* Subqueries were planned as copies. */
static void
note_level(PlannerInfo *root, List **functions)
{
	check_stack_depth();
	(void) query_tree_walker(root->parse, note_functions, functions,
							 QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES | QTW_EXAMINE_SORTGROUP);
	/* The lists that arms of UNION ALL select were pulled up to there. */
	(void) note_functions((Node *) root->append_rel_list, functions);
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		if (root->simple_rel_array[i] && root->simple_rel_array[i]->subroot)
			note_level(root->simple_rel_array[i]->subroot, functions);
	}
}

List *
gc_functions_called(PlannerInfo *root)
{
	List	   *functions = NIL;

	note_level(root, &functions);
	return functions;
}

/*-------------------------------------------------------------------------
 * Who may call them
 *-------------------------------------------------------------------------
 */

/* An aggregate's owner must be permitted to call the functions that it is made of. */
static bool
is_permitted(Oid function, Oid user)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc proc;
	bool		everybody;
	bool		made_of_others;

	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	/* The default is EXECUTE for PUBLIC. */
	everybody = heap_attisnull(tuple, Anum_pg_proc_proacl, NULL);
	made_of_others = proc->prokind == PROKIND_AGGREGATE && proc->proowner != BOOTSTRAP_SUPERUSERID;
	ReleaseSysCache(tuple);
	return !made_of_others && (everybody || GC_MAY_CALL(function, user));
}

bool
gc_are_permitted(const List *functions)
{
	const Oid	user = GetUserId();
	ListCell   *lc;

	foreach(lc, functions)
	{
		if (!is_permitted(lfirst_oid(lc), user))
			return false;
	}
	return true;
}

bool
gc_rewriting_is_permitted(Query *query, Query *rewritten, List **lost)
{
	List	   *before = NIL;
	List	   *functions = NIL;
	ListCell   *lc;

	(void) note_functions((Node *) query, &before);
	(void) note_functions((Node *) rewritten, &functions);
	*lost = list_difference_oid(before, functions);
	if (gc_others_watch_objects() && (*lost || list_difference_oid(functions, before)))
		return false;
	foreach(lc, *lost)
	{
		if (!GC_MAY_CALL(lfirst_oid(lc), ACL_ID_PUBLIC))
			return false;
	}
	return gc_are_permitted(functions);
}

List *
gc_rewriting_depends_on(const List *lost)
{
	List	   *items = NIL;
	ListCell   *lc;

	foreach(lc, lost)
	{
		PlanInvalItem *item = makeNode(PlanInvalItem);

		item->cacheId = PROCOID;
		item->hashValue = GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(lfirst_oid(lc)));
		items = lappend(items, item);
	}
	return items;
}
