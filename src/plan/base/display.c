/*-------------------------------------------------------------------------
 *
 * display.c
 *	  Clauses that EXPLAIN prints.
 *
 * Clauses of the node's own query level are among custom_exprs, so that setrefs.c makes them refer to
 * the node's scan tuple.  It does not know the tables of levels below.  So clauses of those go along as
 * they are, with the names of their level's range table.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "display.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "builder.h"
#include "../../compat.h"

/* A clause of a level below the node's. */
typedef struct LowerClause
{
	PlannerInfo *root;
	int			pipeline;
	int			what;
	Expr	   *expr;
} LowerClause;

void
gc_build_display_of(GcTranslation *tr, PlannerInfo *root, int pipeline, int what, Expr *expr)
{
	List	   *vars;
	ListCell   *lc;

	if (root != tr->top)
	{
		LowerClause *clause = palloc(sizeof(LowerClause));

		*clause = (LowerClause) {root, pipeline, what, expr};
		tr->lower_display = lappend(tr->lower_display, clause);
		return;
	}
	vars = pull_var_clause((Node *) expr, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	/* setrefs.c wants every Var of custom_exprs in custom_scan_tlist. */
	foreach(lc, vars)
		(void) gc_scan_attno(tr, lfirst(lc));
	tr->display = lappend(tr->display, expr);
	tr->display_tags = lappend_int(tr->display_tags, GC_DISPLAY_TAG(pipeline, what));
}

void
gc_build_display(GcTranslation *tr, int pipeline, int what, Expr *expr)
{
	gc_build_display_of(tr, tr->root, pipeline, what, expr);
}

/*-------------------------------------------------------------------------
 * Joins that may have made a Var NULL
 *
 * setrefs.c insists that a Var in custom_scan_tlist, and each reference to it, name the same outer joins that may make
 * it NULL.  But clauses of different places in the join tree say so differently, and results most.  Before 16, Vars say
 * nothing of it.
 *-------------------------------------------------------------------------
 */

#if PG_VERSION_NUM >= 160000
/* The first entry of custom_scan_tlist for the same column, as setrefs.c finds it, or NULL. */
static Var *
scan_var(List *scan_tlist, const Var *var)
{
	ListCell   *lc;

	foreach(lc, scan_tlist)
	{
		Var		   *other = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (IsA(other, Var) && other->varno == var->varno && other->varattno == var->varattno)
			return other;
	}
	return NULL;
}

/* Give Vars the nulling relations that they have in the scan's target list. */
static Node *
settle_expr(Node *node, void *context)
{
	List	   *scan_tlist = context;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *first = scan_var(scan_tlist, (Var *) node);
		Var		   *copy = copyObject((Var *) node);

		if (first != NULL)
			GC_SET_NULLED_BY(copy, bms_copy(GC_NULLED_BY(first)));
		return (Node *) copy;
	}
	/* An expression that is an entry is found as one. */
	foreach(lc, scan_tlist)
	{
		if (equal(lfirst_node(TargetEntry, lc)->expr, node))
			return node;
	}
	return expression_tree_mutator(node, settle_expr, context);
}

List *
gc_settle_nulling(List **scan_tlist, List *exprs)
{
	ListCell   *lc;

	*scan_tlist = copyObject(*scan_tlist);
	foreach(lc, *scan_tlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;
		Var		   *first = IsA(var, Var) ? scan_var(*scan_tlist, var) : NULL;

		if (first != NULL)
			GC_SET_NULLED_BY(first, bms_union(GC_NULLED_BY(first), GC_NULLED_BY(var)));
	}
	return (List *) settle_expr((Node *) exprs, *scan_tlist);
}
#else
List *
gc_settle_nulling(List **scan_tlist, List *exprs)
{
	return exprs;
}
#endif

/* A tree mutator: the expression without the nodes that EXPLAIN cannot print. */
static Node *
printable(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, PlaceHolderVar))
		return printable((Node *) ((PlaceHolderVar *) node)->phexpr, context);
	if (IsA(node, RestrictInfo))
		return printable((Node *) ((RestrictInfo *) node)->clause, context);
#if PG_VERSION_NUM >= 180000
	if (IsA(node, WindowFunc))
	{
		const WindowFunc *func = (const WindowFunc *) node;

		return (Node *) makeFuncExpr(func->winfnoid, func->wintype, (List *) printable((Node *) func->args, context),
									 func->wincollid, func->inputcollid, COERCE_EXPLICIT_CALL);
	}
#endif
	return expression_tree_mutator(node, printable, context);
}

Node *
gc_printable(Node *expr)
{
	return printable(expr, NULL);
}

/* A level's range table with no more than names in it. */
static List *
names_of(PlannerInfo *root)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, root->parse->rtable)
	{
		const RangeTblEntry *from = lfirst_node(RangeTblEntry, lc);
		RangeTblEntry *rte = makeNode(RangeTblEntry);
		const bool	table = from->rtekind == RTE_RELATION;

		rte->rtekind = table || GC_IS_GROUPING(from) ? from->rtekind : RTE_SUBQUERY;
		rte->relid = table ? from->relid : InvalidOid;
		rte->relkind = table ? from->relkind : 0;
		rte->rellockmode = table ? from->rellockmode : 0;
		rte->alias = copyObject(from->alias);
		rte->eref = copyObject(from->eref);
		names = lappend(names, rte);
	}
	return names;
}

List *
gc_lower_display(const GcTranslation *tr, const int *pipelines)
{
	List	   *roots = NIL;
	List	   *names = NIL;
	List	   *tags = NIL;
	List	   *levels = NIL;
	List	   *exprs = NIL;
	ListCell   *lc;

	foreach(lc, tr->lower_display)
	{
		const LowerClause *clause = lfirst(lc);
		int			level = 0;

		while (level < list_length(roots) && list_nth(roots, level) != clause->root)
			level++;
		if (level == list_length(roots))
		{
			roots = lappend(roots, clause->root);
			names = lappend(names, names_of(clause->root));
		}
		tags = lappend_int(tags, GC_DISPLAY_TAG(pipelines[clause->pipeline], clause->what));
		levels = lappend_int(levels, level);
		exprs = lappend(exprs, gc_printable((Node *) clause->expr));
	}
	return list_make4(tags, levels, exprs, names);
}
