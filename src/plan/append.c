/*-------------------------------------------------------------------------
 *
 * append.c
 *	  Partitioned tables, inheritance trees and UNION ALL of tables as leaves.
 *
 * PostgreSQL reads such a relation by an Append over its children.  Here it is one
 * leaf, whose input is the chunks of all children put together (exec/append.c).  So
 * a pipeline has one kernel and one launch, whatever the number of children.
 *
 * PostgreSQL has pruned the children already, and translated each of the relation's
 * columns to the child's.  All of these must be columns of tables that are read
 * through the column cache.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "append.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "../columns/spec.h"

/* Each is opened, loaded and judged at every execution. */
#define MAX_PARTS	512

typedef struct Walk
{
	PlannerInfo *root;
	List	   *parts;
	const char *reason;
} Walk;

static bool
refuse(Walk *w, const char *reason)
{
	w->reason = reason;
	return false;
}

/* The columns of the topmost relation as those of a child's child. */
static List *
translate_columns(PlannerInfo *root, List *exprs, AppendRelInfo *appinfo)
{
	List	   *result = NIL;
	ListCell   *lc;

	if (exprs == NIL)
		return appinfo->translated_vars;
	foreach(lc, exprs)
		result = lappend(result, lfirst(lc) == NULL ? NULL :
						 adjust_appendrel_attrs(root, lfirst(lc), 1, &appinfo));
	return result;
}

/* Add a table. */
static bool
add_part(Walk *w, RelOptInfo *rel, List *exprs)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, w->root);
	GcAppendPart *part;
	Relation	relation;
	const char *reason;
	bool		ok;

	if (rte->rtekind != RTE_RELATION || rte->tablesample || rte->securityQuals != NIL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
		return refuse(w, "a child of it is not a table");
	if (list_length(w->parts) == MAX_PARTS)
		return refuse(w, "it has too many children");
	relation = table_open(rte->relid, NoLock);
	ok = gc_rel_plannable(relation, &reason);
	table_close(relation, NoLock);
	if (!ok)
		return refuse(w, psprintf("of a child of it, %s", reason));
	part = palloc0(sizeof(GcAppendPart));
	part->rel = rel;
	part->relid = rte->relid;
	part->exprs = exprs;
	w->parts = lappend(w->parts, part);
	return true;
}

/* Add the children of a relation; exprs: the topmost relation's columns as its. */
static bool
add_children(Walk *w, Index parent, List *exprs)
{
	ListCell   *lc;

	foreach(lc, w->root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child;
		List	   *translated;

		if (appinfo->parent_relid != parent)
			continue;
		child = w->root->simple_rel_array[appinfo->child_relid];
		if (child == NULL || IS_DUMMY_REL(child))
			continue;
		translated = translate_columns(w->root, exprs, appinfo);
		if (planner_rt_fetch(child->relid, w->root)->inh ? !add_children(w, child->relid, translated)
			: !add_part(w, child, translated))
			return false;
	}
	return true;
}

/* May the tables' columns be read as one column of the relation? */
static bool
column_ok(Walk *w, Var *var)
{
	ListCell   *lc;

	if (var->varattno <= 0)
		return refuse(w, "a system column or whole-row reference is used");
	foreach(lc, w->parts)
	{
		GcAppendPart *part = lfirst(lc);
		Var		   *child = (Var *) list_nth(part->exprs, var->varattno - 1);

		if (child == NULL || !IsA(child, Var) || child->varno != part->rel->relid || child->varattno <= 0)
			return refuse(w, "a column of it is not a column of every child");
		if (child->vartype != var->vartype || child->varcollid != var->varcollid ||
			(getBaseType(var->vartype) == BPCHAROID && child->vartypmod != var->vartypmod))
			return refuse(w, "a column of it differs in type between its children");
	}
	return true;
}

/* The relation's columns that the query level reads, here or further up. */
static List *
columns_read(RelOptInfo *rel)
{
	List	   *vars = pull_var_clause((Node *) rel->reltarget->exprs, PVC_RECURSE_PLACEHOLDERS);
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		vars = list_concat(vars, pull_var_clause((Node *) lfirst_node(RestrictInfo, lc)->clause,
												 PVC_RECURSE_PLACEHOLDERS));
	return vars;
}

List *
gc_append_parts(PlannerInfo *root, RelOptInfo *rel, const char **reason)
{
	Walk		w = {.root = root};
	ListCell   *lc;

	*reason = "it is not a table";
	if (!IS_SIMPLE_REL(rel) || !planner_rt_fetch(rel->relid, root)->inh ||
		planner_rt_fetch(rel->relid, root)->tablesample || !add_children(&w, rel->relid, NIL))
	{
		*reason = w.reason ? w.reason : *reason;
		return NIL;
	}
	foreach(lc, columns_read(rel))
	{
		Var		   *var = lfirst(lc);

		/* Placeholders may be of other relations, too. */
		if (IsA(var, Var) && var->varno == rel->relid && var->varlevelsup == 0 && !column_ok(&w, var))
		{
			*reason = w.reason;
			return NIL;
		}
	}
	return w.parts;
}

int
gc_append_natts(const List *parts)
{
	return list_length(((GcAppendPart *) linitial(parts))->exprs);
}

int16
gc_append_attnum(const GcAppendPart *part, AttrNumber attno)
{
	Var		   *var = (Var *) list_nth(part->exprs, attno - 1);

	return var && IsA(var, Var) && var->varno == part->rel->relid && var->varattno > 0 ? var->varattno : 0;
}
