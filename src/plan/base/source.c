/*-------------------------------------------------------------------------
 *
 * source.c
 *	  Which relations may be row sources: read by PostgreSQL ahead of the request.
 *
 * A row source is executed before the node knows whether the device can answer, and
 * again if the fallback plan runs.  So it must not show how often it was executed:
 * volatile functions, row locks and data-modifying CTEs exclude it, at any depth.
 * The same holds for an InitPlan whose output is a parameter of the program.  Also here:
 * which functions see that a node's values are not the table's own bytes.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "source.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "builtins.h"
#include "distributed.h"
#include "../../compat.h"

typedef struct SourceContext
{
	PlannerInfo *root;			/* of the query level that the relation belongs to */
	int			depth;			/* of the subquery in it that is being looked at */
	List	   *ctes;			/* CommonTableExpr that were, or are being, looked at */
	const char *reason;
} SourceContext;

/* The CTE that a range table entry names, of the query level that is `up` above *root; that becomes *root. */
static CommonTableExpr *
outer_cte(PlannerInfo **root, int up, const RangeTblEntry *rte)
{
	ListCell   *lc;

	for (; up > 0 && *root; up--)
		*root = (*root)->parent_root;
	foreach(lc, *root ? (*root)->parse->cteList : NIL)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return cte;
	}
	return NULL;
}

static bool query_refused(Query *query, SourceContext *context);

/*-------------------------------------------------------------------------
 * Rows that depend on more than the snapshot
 *-------------------------------------------------------------------------
 */

static bool
is_one_of(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

bool
gc_is_orderless(Oid funcid, Oid type)
{
	static const char *const names[] = {"count", "min", "max", "bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor",
	"rank", "dense_rank", "percent_rank", "cume_dist"};
	/* These add values up, which is exact but for floats. */
	static const char *const sums[] = {"sum", "avg", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"};
	const char *name = funcid < FirstGenbkiObjectId ? get_func_name(funcid) : NULL;

	return name && (is_one_of(name, names, lengthof(names)) ||
					(type != FLOAT4OID && type != FLOAT8OID && is_one_of(name, sums, lengthof(sums))));
}

bool
gc_has_limit(const Query *query)
{
	const Const *count = (const Const *) query->limitCount;
	const Const *offset = (const Const *) query->limitOffset;

	return (count != NULL && !(IsA(count, Const) && count->constisnull)) ||
		(offset != NULL && !(IsA(offset, Const) && (offset->constisnull || DatumGetInt64(offset->constvalue) == 0)));
}

/*
 * May this query return other rows when it is executed once more under the same
 * snapshot?  So may a sample, a LIMIT, and a function that takes rows in the order in which they come.
 */
static bool
repeats_differ(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		ListCell   *lc;

		foreach(lc, query->windowClause)
		{
			if (lfirst_node(WindowClause, lc)->frameOptions & FRAMEOPTION_ROWS)
				return true;
		}
		return gc_has_limit(query) || query->hasDistinctOn ||
			query_tree_walker(query, repeats_differ, context, QTW_EXAMINE_RTES_BEFORE);
	}
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->tablesample != NULL;
	if (IsA(node, Aggref) && !gc_is_orderless(((Aggref *) node)->aggfnoid, ((Aggref *) node)->aggtype))
		return true;
	if (IsA(node, WindowFunc) && !gc_is_orderless(((WindowFunc *) node)->winfnoid, ((WindowFunc *) node)->wintype))
		return true;
	return expression_tree_walker(node, repeats_differ, context);
}

bool
gc_repeats_differ(Node *node)
{
	return repeats_differ(node, NULL);
}

/* A CTE that several parts of the statement read must have the same rows for all. */
static bool
must_run_once(const CommonTableExpr *cte)
{
	return cte->cterefcount > 1 && repeats_differ(cte->ctequery, NULL);
}

/* Does a CTE outside of the relation keep it from being read ahead? */
static void
check_cte(SourceContext *context, const RangeTblEntry *rte)
{
	PlannerInfo *outer = context->root;
	PlannerInfo *root = outer;
	int			depth = context->depth;
	int			up = (int) rte->ctelevelsup - depth;
	CommonTableExpr *cte;

	if (up < 0)
		return;					/* the relation's own */
	cte = outer_cte(&root, up, rte);
	if (cte && list_member_ptr(context->ctes, cte))
		return;
	if (rte->self_reference || cte == NULL || !IsA(cte->ctequery, Query))
		context->reason = "a recursive query reads its own result";
	else if (((Query *) cte->ctequery)->commandType != CMD_SELECT)
		context->reason = "a data-modifying CTE is used";
	else if (gc_contains_volatile(cte->ctequery))
		context->reason = "a volatile function is called";
	else if (must_run_once(cte))
		context->reason = "a CTE that is read more than once need not repeat its rows";
	if (context->reason)
		return;
	/* A CTE may read others, which are not part of its query. */
	context->ctes = lappend(context->ctes, cte);
	context->root = root;
	context->depth = 0;
	(void) query_refused((Query *) cte->ctequery, context);
	context->root = outer;
	context->depth = depth;
}

/* Stops at the first reason. */
static bool
source_walker(Node *node, SourceContext *context)
{
	if (node == NULL || context->reason)
		return context->reason != NULL;
	if (IsA(node, Query))
		return query_refused((Query *) node, context);
	if (IsA(node, RangeTblEntry))
	{
		if (((RangeTblEntry *) node)->rtekind == RTE_CTE)
			check_cte(context, (RangeTblEntry *) node);
		return context->reason != NULL;
	}
	return expression_tree_walker(node, source_walker, context);
}

/* A subquery of the relation. */
static bool
query_refused(Query *query, SourceContext *context)
{
	if (query->rowMarks != NIL)
		context->reason = "rows are locked";
	if (context->reason)
		return true;
	context->depth++;
	(void) query_tree_walker(query, source_walker, context, QTW_EXAMINE_RTES_BEFORE);
	context->depth--;
	return context->reason != NULL;
}

/* One of the things that a relation is computed from: an expression, or a list. */
static void
check_part(PlannerInfo *root, Node *part, SourceContext *context)
{
	if (part == NULL || context->reason)
		return;
	if (gc_contains_volatile(part))
		context->reason = "a volatile function is called";
	else
		context->reason = gc_subplans_refusal(root, part);
}

/*
 * Tables that one base relation reads, and the conditions that PostgreSQL applies to it.  Only the fields of its
 * entry's kind are read.  Another planner hook may keep numbers of its own in the others, as Citus does in
 * values_lists.
 */
static void
check_base_rel(PlannerInfo *root, RelOptInfo *rel, SourceContext *context)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rte->rtekind == RTE_FUNCTION)
		check_part(root, (Node *) rte->functions, context);
	else if (rte->rtekind == RTE_TABLEFUNC)
		check_part(root, (Node *) rte->tablefunc, context);
	else if (rte->rtekind == RTE_VALUES)
		check_part(root, (Node *) rte->values_lists, context);
	else if (rte->rtekind == RTE_RELATION)
		check_part(root, (Node *) rte->tablesample, context);
	check_part(root, (Node *) rel->baserestrictinfo, context);
	check_part(root, (Node *) rel->joininfo, context);
	check_part(root, (Node *) rel->reltarget->exprs, context);
	if (context->reason)
		return;
	if (rte->rtekind == RTE_CTE)
		check_cte(context, rte);
	else if (rte->rtekind == RTE_SUBQUERY && rte->subquery)
	{
		if (gc_contains_volatile((Node *) rte->subquery))
			context->reason = "a volatile function is called";
		else
			(void) query_refused(rte->subquery, context);
	}
}

/*
 * Why PostgreSQL must not read this base or join relation ahead, or NULL.  The text is
 * a constant.
 */
const char *
gc_source_refusal(PlannerInfo *root, RelOptInfo *rel)
{
	SourceContext context = {.root = root};
	int			relid = -1;

	/* Its plan is part of every executor state of the statement. */
	for (PlannerInfo *r = root; r; r = r->parent_root)
	{
		if (r->parse->hasModifyingCTE)
			return "a data-modifying CTE is used";
	}

	while ((relid = bms_next_member(rel->relids, relid)) >= 0 && context.reason == NULL)
	{
		/* From 16 on relids have outer joins among them, which are no relations. */
		if (root->simple_rel_array[relid])
			check_base_rel(root, root->simple_rel_array[relid], &context);
	}
	return context.reason;
}

bool
gc_is_storage_function(Oid function)
{
	return (gc_builtin(function)->flags & GC_SEES_STORAGE) != 0;
}

/* As check_functions_in_node() wants it. */
static bool
is_storage_function(Oid function, void *context)
{
	return gc_is_storage_function(function);
}

/* Does it call a function that shows how rows are stored, such as pg_column_size()? */
static bool
storage_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, storage_walker, context, 0);
	return check_functions_in_node(node, is_storage_function, NULL) ||
		expression_tree_walker(node, storage_walker, context);
}

/*
 * Is there a call of a function that tells how its argument is stored?  Values that a
 * node of ours returns are equal to the table's, but neither toasted nor packed.
 */
bool
gc_looks_at_storage(Node *node)
{
	return storage_walker(node, NULL);
}

/*
 * Ask that of a query level and those above it, once they are prepared for planning.  An SQL function that was inlined
 * may have brought such a call along.
 */
bool
gc_level_looks_at_storage(PlannerInfo *root)
{
	for (PlannerInfo *r = root; r; r = r->parent_root)
	{
		if (gc_looks_at_storage((Node *) r->processed_tlist) ||
			gc_looks_at_storage(r->parse->havingQual) ||
			gc_looks_at_storage((Node *) r->parse->jointree))
			return true;
	}
	return false;
}

/* Does an expression, or a list of restrictions, use a subquery's output? */
static bool
uses_subplan(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		return uses_subplan((Node *) ((RestrictInfo *) node)->clause, context);
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		(IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC))
		return true;
	return expression_tree_walker(node, uses_subplan, context);
}

/* Does a query lock rows, at any depth? */
static bool
locks_rows(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return ((Query *) node)->rowMarks != NIL ||
			query_tree_walker((Query *) node, locks_rows, context, 0);
	return expression_tree_walker(node, locks_rows, context);
}

bool
gc_locks_rows(Node *node)
{
	return locks_rows(node, NULL);
}

/*
 * Why the outputs of subqueries that an expression uses must not be computed ahead, or
 * NULL.  All that were planned for the statement so far are looked at, since plans do
 * not say which one uses which.
 */
const char *
gc_subplans_refusal(PlannerInfo *root, Node *expr)
{
	ListCell   *lc;

	if (!uses_subplan(expr, NULL))
		return NULL;

	for (PlannerInfo *r = root; r; r = r->parent_root)
	{
		if (r->parse->hasModifyingCTE)
			return "a data-modifying CTE is used";
	}
	foreach(lc, root->glob->subroots)
	{
		Query	   *parse = lfirst_node(PlannerInfo, lc)->parse;

		if (locks_rows((Node *) parse, NULL))
			return "rows are locked";
		if (gc_contains_volatile((Node *) parse))
			return "a volatile function is called in a subquery";
	}
	for (PlannerInfo *r = root; r; r = r->parent_root)
	{
		foreach(lc, r->parse->cteList)
		{
			if (must_run_once(lfirst_node(CommonTableExpr, lc)))
				return "a CTE that is read more than once need not repeat its rows";
		}
	}
	return NULL;
}
