/*-------------------------------------------------------------------------
 *
 * origin.c
 *	  Which column an expression's values come from, and what is known of that column's values.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "origin.h"

#include <math.h>

#include "datatype/timestamp.h"
#include "nodes/nodeFuncs.h"

#include "../base/builtins.h"

/* As gc_origin_column() will go on from a column of groups; GC_NO_EXPR: it will not. */
static int
group_origin(const GcTranslation *tr, const GcPColumn *c)
{
	if (c->agg == GC_NONE)
		return list_nth_int(tr->group_keys[tr->groups_of[c->input] - 1], c->attnum);
	if (gc_accumulator_of(&tr->aggs[c->agg])->value != GC_VALUE_ONE)
		return GC_NO_EXPR;
	return tr->aggs[c->agg].arg;
}

/* The column of a relation or a row source that an expression's values come from; GC_NO_EXPR: they are computed. */
static int
origin_of(const GcTranslation *tr, int e)
{
	while (e >= 0)
	{
		const GcExpr *x = &tr->pexprs[e];

		if (x->op == GC_OP_PAYLOAD)
			e = tr->payloads[x->ref].expr;
		else if (x->op != GC_OP_COLUMN)
			return GC_NO_EXPR;
		else if (tr->groups_of[tr->columns[x->ref].input] == 0)
			return x->ref;
		else
			e = group_origin(tr, &tr->columns[x->ref]);
	}
	return GC_NO_EXPR;
}

bool
gc_lookup_enumerable(const GcTranslation *tr, int arg)
{
	return GC_KIND_IS_CODE(tr->pexprs[arg].kind) || origin_of(tr, arg) >= 0;
}

bool
gc_is_in_rows(const GcTranslation *tr, int e)
{
	const GcExpr *x = e < 0 ? NULL : &tr->pexprs[e];

	switch (x ? x->op : GC_NOPS)
	{
		case GC_OP_NULL:
			return true;
		case GC_OP_COLUMN:
			return tr->groups_of[tr->columns[x->ref].input] == 0 ||
				gc_is_in_rows(tr, group_origin(tr, &tr->columns[x->ref]));
		case GC_OP_PAYLOAD:
			return gc_is_in_rows(tr, tr->payloads[x->ref].expr);
		case GC_OP_ARM:
			return gc_is_in_rows(tr, x->arg[0]) && gc_is_in_rows(tr, x->arg[1]);
		case GC_OP_CAST:
			return x->kind == GC_DATE && origin_of(tr, x->arg[0]) >= 0;
		case GC_OP_OUTER:
		case GC_OP_LUT:
			return gc_is_in_rows(tr, x->arg[0]);
		default:
			return false;
	}
}

bool
gc_seen(const GcTranslation *tr, int e, GcSeenColumn *seen)
{
	const int	c = origin_of(tr, e);

	return c >= 0 && tr->column_leaf[c] && OidIsValid(tr->column_leaf[c]->relid) && tr->columns[c].attnum > 0 &&
		gc_column_seen(tr->column_leaf[c]->relid, tr->columns[c].attnum, seen);
}

/* Is a column itself compared in a condition, or asked whether it is finite? */
static bool
compares(Node *node, void *var)
{
	List	   *args = NIL;

	if (node == NULL)
		return false;
	if (IsA(node, OpExpr) && ((OpExpr *) node)->opresulttype == BOOLOID)
		args = ((OpExpr *) node)->args;
	else if (IsA(node, FuncExpr) && gc_builtin(((FuncExpr *) node)->funcid)->how == GC_HOW_FINITE)
		args = ((FuncExpr *) node)->args;
	else if (IsA(node, ScalarArrayOpExpr))
		args = ((ScalarArrayOpExpr *) node)->args;
	return list_member(args, var) || expression_tree_walker(node, compares, var);
}

/* Is there a condition on a column in its own table's scan? */
static bool
is_filtered(const GcTranslation *tr, int c)
{
	const RelOptInfo *rel = tr->column_leaf[c]->rel;
	ListCell   *lc;

	foreach(lc, rel ? rel->baserestrictinfo : NIL)
	{
		if (compares((Node *) lfirst_node(RestrictInfo, lc)->clause, tr->column_nodes[c]))
			return true;
	}
	return false;
}

/* The expression that a date or timestamp was cast from, or that an offset or interval was added to. */
static int
behind_casts(const GcTranslation *tr, int e)
{
	while (e >= 0 && (tr->pexprs[e].op == GC_OP_CAST || (tr->pexprs[e].op == GC_OP_ADD && GC_KIND_IS_INSTANT(tr->pexprs[e].kind))))
		e = tr->pexprs[e].arg[0];
	return e;
}

bool
gc_has_infinite(GcKind kind, const GcSeenColumn *seen)
{
	if (kind == GC_DATE)
		return seen->any && (seen->min == PG_INT32_MIN || seen->max == PG_INT32_MAX);
	return GC_KIND_IS_INSTANT(kind) && seen->any && (seen->min == PG_INT64_MIN || seen->max == PG_INT64_MAX);
}

bool
gc_may_overflow(const GcTranslation *tr, int e)
{
	const int	c = origin_of(tr, e);
	GcSeenColumn seen;

	return gc_seen(tr, e, &seen) && seen.any &&
		Max(fabs((double) seen.min), fabs((double) seen.max)) *
		Max(tr->column_leaf[c]->tuples, 1) >= (double) PG_INT64_MAX;
}

bool
gc_may_be_infinite(const GcTranslation *tr, int e)
{
	const int	from = behind_casts(tr, e);
	GcSeenColumn seen;

	return from >= 0 && tr->choices == 0 && gc_seen(tr, from, &seen) && gc_has_infinite(tr->pexprs[from].kind, &seen) &&
		!is_filtered(tr, origin_of(tr, from));
}

bool
gc_is_too_wide(const GcTranslation *tr, int arg)
{
	GcSeenColumn seen;
	int64		unit = GC_KIND_IS_INSTANT(tr->pexprs[arg].kind) ? USECS_PER_DAY : 1;

	if (!gc_seen(tr, arg, &seen) || !seen.any)
		return false;
	return (unit > 1 && gc_has_infinite(tr->pexprs[arg].kind, &seen)) ||
		seen.max / unit - seen.min / unit >= GC_MAX_INTEGER_VALUES - 2;
}
