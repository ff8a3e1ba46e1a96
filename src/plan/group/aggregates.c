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
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "../base/builder.h"
#include "../base/builtins.h"
#include "../../columns/encode/pgkinds.h"
#include "../../columns/store/numeric.h"
#include "../../program/scales.h"
#include "../expr/instants.h"

#define UNKNOWN_SCALE	(-1)

/*
 * The variance of up to about 10,000 values, of which two differ, by 0.01 at least, has at most 24 digits behind the
 * point.
 */
#define FEW_DECIMALS	2

static int	known_scale(GcTranslation *tr, int e);

/* The scale that the types of an append input's tables say of its column; UNKNOWN_SCALE if they differ. */
static int
append_scale(const GcAppend *append, int attnum)
{
	int			scale = UNKNOWN_SCALE;
	ListCell   *lc;

	foreach(lc, append->parts)
	{
		const GcAppendPart *part = lfirst(lc);
		const int16 own = part->attnums[attnum - 1];
		Oid			type,
					collation;
		int32		typmod;

		/* Its rows have NULL there. */
		if (own <= 0)
			continue;
		get_atttypetypmodcoll(part->relid, own, &type, &typmod, &collation);
		if (gc_typmod_scale(typmod, UNKNOWN_SCALE) < 0 ||
			(scale >= 0 && scale != gc_typmod_scale(typmod, UNKNOWN_SCALE)))
			return UNKNOWN_SCALE;
		scale = gc_typmod_scale(typmod, UNKNOWN_SCALE);
	}
	return scale;
}

/* The scale that a column's type says. */
static int
column_scale(GcTranslation *tr, int column)
{
	const GcPColumn *c = &tr->columns[column];

	if (tr->groups_of[c->input])
	{
		const int	e = c->agg != GC_NONE ? tr->aggs[c->agg].arg :
			list_nth_int(tr->group_keys[tr->groups_of[c->input] - 1], c->attnum);

		return e == GC_NONE ? 0 : known_scale(tr, e);
	}
	if (tr->column_leaf[column]->append)
		return append_scale(tr->column_leaf[column]->append, c->attnum);
	return gc_typmod_scale(tr->plan->columns[column].typmod, UNKNOWN_SCALE);
}

/* The display scale of a constant; UNKNOWN_SCALE where that is known at execution only. */
static int
param_scale(GcTranslation *tr, int param)
{
	const Const *value = list_nth(tr->exprs, tr->plan->params[param].expr);

	if (!IsA(value, Const) || value->consttype != NUMERICOID || value->constisnull ||
		numeric_is_nan(DatumGetNumeric(value->constvalue)) || numeric_is_inf(DatumGetNumeric(value->constvalue)))
		return UNKNOWN_SCALE;
	return DatumGetInt32(DirectFunctionCall1(numeric_scale, value->constvalue));
}

/* The display scale of one of two values; a NULL constant has none. */
static int
choice_scale(GcTranslation *tr, int a, int b)
{
	const int	x = known_scale(tr, a);

	if (tr->pexprs[a].op == GC_OP_NULL)
		return known_scale(tr, b);
	return tr->pexprs[b].op == GC_OP_NULL || x == known_scale(tr, b) ? x : UNKNOWN_SCALE;
}

/* The display scale of all of a numeric expression's values, if the planner can know it. */
static int
known_scale(GcTranslation *tr, int e)
{
	const GcExpr *x = &tr->pexprs[e];
	const GcScaleRule rule = gc_scale_rule(x);
	int			a,
				b;

	if (GC_KIND_IS_INT(x->kind))
		return 0;
	switch (rule)
	{
		case GC_SCALE_GIVEN:
			return x->cast_scale;
		case GC_SCALE_ARGUMENT:
			return known_scale(tr, x->arg[0]);
		case GC_SCALE_LARGER:
		case GC_SCALE_SUM:
			a = known_scale(tr, x->arg[0]);
			b = known_scale(tr, x->arg[1]);
			return a < 0 || b < 0 ? UNKNOWN_SCALE : gc_scale_of(rule, a, b);
		case GC_SCALE_CHOSEN:
			return choice_scale(tr, x->arg[gc_first_choice(x)], x->arg[gc_first_choice(x) + 1]);
		default:
			return x->op == GC_OP_COLUMN ? column_scale(tr, x->ref) :
				x->op == GC_OP_PAYLOAD ? known_scale(tr, tr->payloads[x->ref].expr) :
				x->op == GC_OP_PARAM ? param_scale(tr, x->ref) : UNKNOWN_SCALE;
	}
}

static bool varies(GcTranslation *tr, int e, bool stored);

/* One of two values, of which either may be a NULL constant. */
static bool
choice_varies(GcTranslation *tr, int e, int a, int b, bool stored)
{
	if (tr->pexprs[a].op == GC_OP_NULL)
		return varies(tr, b, stored);
	if (tr->pexprs[b].op == GC_OP_NULL)
		return varies(tr, a, stored);
	return known_scale(tr, e) == UNKNOWN_SCALE;
}

/* stored: columns and lookup tables may have values of several scales, unless their type says otherwise. */
static bool
varies(GcTranslation *tr, int e, bool stored)
{
	const GcExpr *x = &tr->pexprs[e];

	if (x->kind != GC_NUMERIC)
		return false;
	switch (gc_scale_rule(x))
	{
		case GC_SCALE_GIVEN:
			return false;
		case GC_SCALE_ARGUMENT:
			return varies(tr, x->arg[0], stored);
		case GC_SCALE_LARGER:
		case GC_SCALE_SUM:
			return varies(tr, x->arg[0], stored) || varies(tr, x->arg[1], stored);
		case GC_SCALE_QUOTIENT:
			return true;
		case GC_SCALE_CHOSEN:
			return choice_varies(tr, e, x->arg[gc_first_choice(x)], x->arg[gc_first_choice(x) + 1], stored);
		default:
			if (x->op == GC_OP_PAYLOAD)
				return stored && varies(tr, tr->payloads[x->ref].expr, stored);
			return stored && (x->op == GC_OP_COLUMN || x->op == GC_OP_LUT) && known_scale(tr, e) == UNKNOWN_SCALE;
	}
}

bool
gc_scale_varies(GcTranslation *tr, int e)
{
	return varies(tr, e, false);
}

bool
gc_scale_may_vary(GcTranslation *tr, int e)
{
	return varies(tr, e, true);
}

bool
gc_has_few_decimals(GcTranslation *tr, int e)
{
	const int	scale = known_scale(tr, e);

	return scale >= 0 && scale <= FEW_DECIMALS;
}

bool
gc_scales_differ(GcTranslation *tr, int e)
{
	const GcExpr *x = &tr->pexprs[e];

	if (x->kind == GC_NUMERIC && x->op == GC_OP_ARM)
	{
		const int	a = known_scale(tr, x->arg[0]);
		const int	b = known_scale(tr, x->arg[1]);

		return (a >= 0 && b >= 0 && a != b) || gc_scales_differ(tr, x->arg[0]) || gc_scales_differ(tr, x->arg[1]);
	}
	for (int i = 0; i < 3; i++)
	{
		if (x->arg[i] != GC_NONE && gc_scales_differ(tr, x->arg[i]))
			return x->kind == GC_NUMERIC && gc_scale_rule(x) != GC_SCALE_GIVEN;
	}
	return false;
}

GcPlanLut
gc_rank_table(GcTranslation *tr, const Aggref *agg, int arg)
{
	GcPlanLut	rank = {.type = GC_LUT_RANK,.space = tr->space[arg],.to_space = GC_SPACE_NONE,.expr = -1,
	.collation = agg->inputcollid,.argtype = exprType((Node *) linitial_node(TargetEntry, agg->args)->expr)};

	/* PostgreSQL keeps one of them by arrival, a ranking another. */
	if (gc_kinds[tr->pexprs[arg].kind].opaque)
		gc_refuse(tr, "equal values of a type that has its minimum or maximum taken may differ in spelling");
	else if (rank.space == GC_SPACE_NONE)
		gc_refuse(tr, "the minimum or maximum of a constant of type %s is not supported", format_type_be(rank.argtype));
	return rank;
}

const GcSqlAggregate *
gc_sql_aggregate(const char *name)
{
	static const GcSqlAggregate known[] = {
		{"count", GC_AGGREGATE_COUNT},
		{"sum", GC_AGGREGATE_SUM},
		{"avg", GC_AGGREGATE_AVG},
		{"min", GC_AGGREGATE_PLAIN, GC_AGG_MIN},
		{"max", GC_AGGREGATE_PLAIN, GC_AGG_MAX},
		/* false is less than true */
		{"bool_and", GC_AGGREGATE_PLAIN, GC_AGG_MIN},
		{"every", GC_AGGREGATE_PLAIN, GC_AGG_MIN},
		{"bool_or", GC_AGGREGATE_PLAIN, GC_AGG_MAX},
		{"bit_and", GC_AGGREGATE_PLAIN, GC_AGG_BIT_AND},
		{"bit_or", GC_AGGREGATE_PLAIN, GC_AGG_BIT_OR},
		{"bit_xor", GC_AGGREGATE_PLAIN, GC_AGG_BIT_XOR},
		{"var_pop", GC_AGGREGATE_VARIANCE, 0, F_NUMERIC_VAR_POP, F_FLOAT8_VAR_POP},
		{"var_samp", GC_AGGREGATE_VARIANCE, 0, F_NUMERIC_VAR_SAMP, F_FLOAT8_VAR_SAMP},
		{"variance", GC_AGGREGATE_VARIANCE, 0, F_NUMERIC_VAR_SAMP, F_FLOAT8_VAR_SAMP},
		{"stddev_pop", GC_AGGREGATE_VARIANCE, 0, F_NUMERIC_STDDEV_POP, F_FLOAT8_STDDEV_POP},
		{"stddev_samp", GC_AGGREGATE_VARIANCE, 0, F_NUMERIC_STDDEV_SAMP, F_FLOAT8_STDDEV_SAMP},
		{"stddev", GC_AGGREGATE_VARIANCE, 0, F_NUMERIC_STDDEV_SAMP, F_FLOAT8_STDDEV_SAMP},
		{"regr_count", GC_AGGREGATE_PAIRS},
		{"covar_pop", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_COVAR_POP},
		{"covar_samp", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_COVAR_SAMP},
		{"corr", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_CORR},
		{"regr_sxx", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_REGR_SXX},
		{"regr_syy", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_REGR_SYY},
		{"regr_sxy", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_REGR_SXY},
		{"regr_avgx", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_REGR_AVGX},
		{"regr_avgy", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_REGR_AVGY},
		{"regr_r2", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_REGR_R2},
		{"regr_slope", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_REGR_SLOPE},
		{"regr_intercept", GC_AGGREGATE_REGRESSION, 0, InvalidOid, F_FLOAT8_REGR_INTERCEPT},
	};

	for (int i = 0; i < lengthof(known); i++)
	{
		if (strcmp(name, known[i].name) == 0)
			return &known[i];
	}
	return NULL;
}

bool
gc_distinct_matters(const Aggref *agg)
{
	const GcSqlAggregate *sql;

	if (agg->aggdistinct == NIL)
		return false;
	sql = gc_sql_aggregate(get_func_name(agg->aggfnoid));
	return sql == NULL || sql->how != GC_AGGREGATE_PLAIN || !gc_takes_twice(sql->fn);
}

bool
gc_agg_in_parts(const GcTranslation *tr, const Aggref *agg)
{
	return tr->groups != NULL && !gc_distinct_matters(agg);
}

/*
 * Does an expression make intervals whose form kernels do not know, by age(), say?  Then scans
 * are offloaded without it.
 */
static bool
makes_other_intervals(Node *node, void *context)
{
	GcScaledInterval days;
	List	   *args;

	if (node == NULL)
		return false;
	if ((IsA(node, OpExpr) || IsA(node, FuncExpr)) && exprType(node) == INTERVALOID &&
		gc_builtin_called(node, &args)->how != GC_HOW_DIFFERENCE && !gc_scales_days((Expr *) node, &days))
		return true;
	return expression_tree_walker(node, makes_other_intervals, context);
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
		case GC_AGGREGATE_PLAIN:
			return gc_accumulators[sql->fn].value != GC_VALUE_BITS || GC_KIND_IS_INT(kind);
		case GC_AGGREGATE_VARIANCE:
			return GC_KIND_IS_INT(kind) || GC_KIND_IS_FLOAT(kind) || kind == GC_NUMERIC;
		case GC_AGGREGATE_SUM:
		case GC_AGGREGATE_AVG:
			return kind != GC_INTERVAL || !makes_other_intervals((Node *) agg->args, NULL);
		default:
			return true;
	}
}

/* The reason against an aggregate, whatever its arguments; NULL if there is none. */
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
	if (agg->agglevelsup != 0 || agg->aggsplit != AGGSPLIT_SIMPLE ||
		list_length(agg->args) > (gc_aggregates_pairs(gc_sql_aggregate(name)) ? 2 : 1))
		return psprintf("aggregate %s is not supported in this form", name);
	if (!type_suits(agg, gc_sql_aggregate(name)))
		return psprintf("aggregate %s is not supported for this type", name);
	return NULL;
}
