/*-------------------------------------------------------------------------
 *
 * aggregates.c
 *	  SQL's aggregates: which can be computed, and of what.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "aggregates.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "builder.h"
#include "expr.h"
#include "../columns/pgkinds.h"

/* Do this numeric expression's values differ in display scale from row to row? */
bool
gc_scale_varies(GcTranslation *tr, int e)
{
	const GcExpr *x = &tr->pexprs[e];

	if (x->kind != GC_NUMERIC)
		return false;
	switch (x->op)
	{
		case GC_OP_IF:
			if (tr->pexprs[x->arg[1]].op == GC_OP_NULL)
				return gc_scale_varies(tr, x->arg[2]);
			if (tr->pexprs[x->arg[2]].op == GC_OP_NULL)
				return gc_scale_varies(tr, x->arg[1]);
			return true;
		case GC_OP_AVG:
		case GC_OP_COALESCE:
		case GC_OP_GREATEST:
		case GC_OP_LEAST:
			return true;
		case GC_OP_ADD:
		case GC_OP_SUB:
		case GC_OP_MUL:
			return gc_scale_varies(tr, x->arg[0]) || gc_scale_varies(tr, x->arg[1]);
		case GC_OP_NEG:
		case GC_OP_ABS:
		case GC_OP_OUTER:
			return gc_scale_varies(tr, x->arg[0]);
		case GC_OP_CAST:
			return !(x->flags & GC_CAST_SCALE) && gc_scale_varies(tr, x->arg[0]);
		default:
			return false;
	}
}

/* Argument of an aggregate, with its FILTER: NULL where that is not true. */
int
gc_agg_argument(GcTranslation *tr, Aggref *agg)
{
	int			arg = GC_NO_EXPR;

	if (agg->args != NIL)
	{
		arg = gc_translate_expr(tr, tr->streamed, linitial_node(TargetEntry, agg->args)->expr);
		if (arg < 0)
			return GC_NO_EXPR;
	}
	if (agg->aggfilter)
	{
		int			f = gc_translate_expr(tr, tr->streamed, agg->aggfilter);
		GcKind		kind;
		uint16		space;

		if (f < 0)
			return GC_NO_EXPR;
		if (arg < 0)
			arg = f;			/* count(*): anything that is not NULL */
		kind = tr->pexprs[arg].kind;
		space = tr->space[arg];
		arg = gc_build_expr(tr, GC_OP_IF, kind, f, arg, gc_build_null(tr, kind), -1);
		if (arg >= 0)
			tr->space[arg] = space;
	}
	return arg;
}

const GcSqlAggregate *
gc_sql_aggregate(const char *name)
{
	static const GcSqlAggregate known[] = {
		{"count", GC_AGGREGATE_COUNT},
		{"sum", GC_AGGREGATE_SUM},
		{"avg", GC_AGGREGATE_AVG},
		{"min", GC_AGGREGATE_MIN},
		{"max", GC_AGGREGATE_MAX},
		/* false is less than true */
		{"bool_and", GC_AGGREGATE_MIN},
		{"every", GC_AGGREGATE_MIN},
		{"bool_or", GC_AGGREGATE_MAX},
		{"bit_and", GC_AGGREGATE_BIT_AND},
		{"bit_or", GC_AGGREGATE_BIT_OR},
		{"var_pop", GC_AGGREGATE_VARIANCE, F_NUMERIC_VAR_POP},
		{"var_samp", GC_AGGREGATE_VARIANCE, F_NUMERIC_VAR_SAMP},
		{"variance", GC_AGGREGATE_VARIANCE, F_NUMERIC_VAR_SAMP},
		{"stddev_pop", GC_AGGREGATE_VARIANCE, F_NUMERIC_STDDEV_POP},
		{"stddev_samp", GC_AGGREGATE_VARIANCE, F_NUMERIC_STDDEV_SAMP},
		{"stddev", GC_AGGREGATE_VARIANCE, F_NUMERIC_STDDEV_SAMP},
	};

	for (int i = 0; i < lengthof(known); i++)
	{
		if (strcmp(name, known[i].name) == 0)
			return &known[i];
	}
	return NULL;
}

/* Is what an aggregate is of a type that it is computed for?  Others tell when they are translated. */
static bool
type_suits(const Aggref *agg, const GcSqlAggregate *sql)
{
	GcKind		kind;

	if (agg->args == NIL)
		return true;
	kind = gc_type_kind(exprType((Node *) linitial_node(TargetEntry, agg->args)->expr));
	switch (sql->how)
	{
		case GC_AGGREGATE_BIT_AND:
		case GC_AGGREGATE_BIT_OR:
			return GC_KIND_IS_INT(kind);
		case GC_AGGREGATE_VARIANCE:
			return GC_KIND_IS_INT(kind) || kind == GC_NUMERIC;
		default:
			return true;
	}
}

/* What is against an aggregate, whatever its arguments; NULL if nothing is. */
const char *
gc_aggregate_refusal(const Aggref *agg, const char *name)
{
	if (agg->aggfnoid >= FirstGenbkiObjectId)
		return psprintf("aggregate %s is not built in", name);
	if (agg->aggdistinct != NIL)
		return psprintf("aggregate %s with DISTINCT is not supported", name);
	if (agg->aggorder != NIL || agg->aggdirectargs != NIL || agg->aggvariadic)
		return psprintf("aggregate %s with an order is not supported", name);
	if (gc_sql_aggregate(name) == NULL)
		return psprintf("aggregate %s is not supported", name);
	if (agg->agglevelsup != 0 || agg->aggsplit != AGGSPLIT_SIMPLE || list_length(agg->args) > 1)
		return psprintf("aggregate %s is not supported in this form", name);
	if (!type_suits(agg, gc_sql_aggregate(name)))
		return psprintf("aggregate %s is not supported for this type", name);
	return NULL;
}
