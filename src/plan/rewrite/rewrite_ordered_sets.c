/*-------------------------------------------------------------------------
 *
 * rewrite_ordered_sets.c
 *	  Percentiles and mode() as choices among groups of equal values.
 *
 * PostgreSQL sorts all rows for these aggregates.  A node of ours groups rows by the value as well, and windows sort
 * the groups on the device (group/kept_windows.c).  Where values repeat, there are few groups.  A group of a value has
 * c, the number of values up to it, and n, the number of all.
 *
 *   SELECT g, percentile_disc(f) WITHIN GROUP (ORDER BY x), sum(y) FROM t GROUP BY g		becomes
 *   SELECT g, min(x) FILTER (WHERE c >= ceil(f * n)), sum(s)
 *   FROM (SELECT g, x, sum(y) AS s, sum(count(x)) OVER (PARTITION BY g ORDER BY x) AS c,
 *			sum(count(x)) OVER (PARTITION BY g) AS n FROM t GROUP BY g, x) v
 *   GROUP BY g
 *
 * percentile_cont(f) lies between the values of places floor(f * (n - 1)) and ceil(f * (n - 1)), counted from 0.  It is
 * computed of them as PostgreSQL does it.  mode() is the value of the first row by count(x) DESC, x.  None of these
 * counts NULLs.  Aggregates beside them are made of the groups' own.
 *
 * PostgreSQL's percentile_cont() does not look for overflow and underflow, where an operator raises an error.  So its
 * values must be of a type that has neither.
 *
 * Planner, in backends.  Works on copies of the statement's query trees.
 *
 *-------------------------------------------------------------------------
 */
#include "rules.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_clause.h"
#include "parser/parse_func.h"
#include "parser/parse_oper.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "../../compat.h"

/* Operators; pg_operator.dat has no symbols for them. */
#define FLOAT8_PLUS		591
#define FLOAT8_MINUS	592
#define FLOAT8_TIMES	594
#define FLOAT8_EQUAL	670
#define FLOAT8_GREATER	674
#define FLOAT8_AT_LEAST	675
#define NUMERIC_DIVIDE	1761

/* A product of a fraction and a difference of numerics of so many digits does not underflow. */
#define MOST_DIGITS		100
#define LEAST_FRACTION	1e-100

/* A query that is turned. */
typedef struct Choosing
{
	Query	   *groups;			/* of equal values: the query, before it becomes the one above them */
	List	   *keys;			/* the query's group keys */
	Expr	   *value;			/* the expression that its aggregates sort by */
	bool		descending;
	Oid			compared;		/* a type that compares as its own... */
	Oid			extreme;		/* ...and has this min or max */
	AttrNumber	counted;		/* outputs of the groups: count(value) */
	AttrNumber	upto;			/* number of values up to the group's; 0: there is no such output yet */
	AttrNumber	all;			/* number of all */
	AttrNumber	place;			/* place by count(value) DESC, value; 0, too */
	bool		failed;
} Choosing;

/*-------------------------------------------------------------------------
 * Aggregates of a query
 *-------------------------------------------------------------------------
 */

/* Is it percentile_cont(), of one fraction or several? */
static bool
is_between(const Aggref *agg)
{
	return agg->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8 || agg->aggfnoid == F_PERCENTILE_CONT__FLOAT8_FLOAT8;
}

static bool
is_ordered_set(const Aggref *agg)
{
	return is_between(agg) || agg->aggfnoid == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT ||
		agg->aggfnoid == F_PERCENTILE_DISC__FLOAT8_ANYELEMENT || agg->aggfnoid == F_MODE;
}

/* Find one of the query's own; *context becomes it. */
static bool
find_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0 && is_ordered_set((Aggref *) node))
	{
		*(Aggref **) context = (Aggref *) node;
		return true;
	}
	return expression_tree_walker(node, find_walker, context);
}

static Aggref *
find_ordered_set(const Query *query)
{
	Aggref	   *found = NULL;

	if (query->hasAggs && !find_walker((Node *) query->targetList, &found))
		(void) find_walker(query->havingQual, &found);
	return found;
}

bool
gc_has_ordered_sets(const Query *query)
{
	return find_ordered_set(query) != NULL;
}

/* Does no difference of such numerics overflow a float, and no part of one underflow it? */
static bool
is_moderate(int32 typmod)
{
	const int	digits = (typmod - VARHDRSZ) >> 16 & 0xffff;
	const int	scale = (typmod - VARHDRSZ) & 0x7ff;

	return typmod >= (int32) VARHDRSZ && digits <= MOST_DIGITS && scale <= MOST_DIGITS;
}

/* The value that an aggregate sorts by: of percentile_cont(), before it became a float.  NULL: the aggregate stays. */
static Expr *
value_of(const Aggref *agg)
{
	Expr	   *arg = linitial_node(TargetEntry, agg->args)->expr;
	Node	   *inner;

	if (!is_between(agg))
		return arg;
	if (!IsA(arg, FuncExpr) || list_length(((FuncExpr *) arg)->args) != 1)
		return NULL;
	inner = linitial(((FuncExpr *) arg)->args);
	switch (((FuncExpr *) arg)->funcid)
	{
		case F_FLOAT8_INT2:
		case F_FLOAT8_INT4:
		case F_FLOAT8_INT8:
		case F_FLOAT8_FLOAT4:
			return (Expr *) inner;
		case F_FLOAT8_NUMERIC:
			return is_moderate(exprTypmod(inner)) ? (Expr *) inner : NULL;
	}
	return NULL;
}

/* Is its order a type's own, and which way?  -1: it is another one. */
static int
direction_of(const Aggref *agg)
{
	Oid			less;
	Oid			greater;
	const Oid	sortop = linitial_node(SortGroupClause, agg->aggorder)->sortop;

	get_sort_group_operators(exprType((Node *) linitial_node(TargetEntry, agg->args)->expr), false, false, false,
							 &less, NULL, &greater, NULL);
	return sortop == less ? 0 : sortop == greater ? 1 : -1;
}

/*-------------------------------------------------------------------------
 * The groups of equal values
 *-------------------------------------------------------------------------
 */

/* The number of an output of the groups, which is added if it is none. */
static AttrNumber
output_of(Choosing *t, Expr *expr)
{
	TargetEntry *tle;
	ListCell   *lc;

	foreach(lc, t->groups->targetList)
	{
		tle = lfirst_node(TargetEntry, lc);
		if (equal(tle->expr, expr))
			return tle->resno;
	}
	tle = makeTargetEntry(expr, list_length(t->groups->targetList) + 1, NULL, false);
	t->groups->targetList = lappend(t->groups->targetList, tle);
	return tle->resno;
}

/* An output of the groups, as the query above has it. */
static Expr *
output(const Choosing *t, AttrNumber resno)
{
	return (Expr *) makeVarFromTargetEntry(1, list_nth_node(TargetEntry, t->groups->targetList, resno - 1));
}

/* A clause to group or sort by an output, NULLs last. */
static SortGroupClause *
clause_of(Choosing *t, AttrNumber resno, bool descending)
{
	TargetEntry *tle = list_nth_node(TargetEntry, t->groups->targetList, resno - 1);
	SortGroupClause *clause = makeNode(SortGroupClause);
	Oid			less;
	Oid			greater;

	get_sort_group_operators(exprType((Node *) tle->expr), true, true, true,
							 &less, &clause->eqop, &greater, &clause->hashable);
	clause->sortop = descending ? greater : less;
	GC_SET_DESCENDING(clause, descending);
	clause->tleSortGroupRef = assignSortGroupRef(tle, t->groups->targetList);
	return clause;
}

/* A window function over the groups that have the query's keys, in the order of two outputs; 0: of none. */
static AttrNumber
window_output(Choosing *t, Oid function, Oid type, AttrNumber first, AttrNumber second)
{
	Query	   *groups = t->groups;
	List	   *keys = list_truncate(copyObject(groups->groupClause), list_length(t->keys));
	WindowClause *window = gc_make_window(groups, keys, NIL);
	Expr	   *counted = list_nth_node(TargetEntry, groups->targetList, t->counted - 1)->expr;

	if (first)
		window->orderClause = lappend(window->orderClause, clause_of(t, first, first == t->counted || t->descending));
	if (second)
		window->orderClause = lappend(window->orderClause, clause_of(t, second, t->descending));
	groups->windowClause = lappend(groups->windowClause, window);
	return output_of(t, (Expr *) gc_make_window_function(window, function, type,
														 function == F_ROW_NUMBER ? NULL : counted));
}

/* Have each group say how many values there are in the groups up to it, and in all groups. */
static void
add_counts(Choosing *t)
{
	const AttrNumber value = list_length(t->keys) + 1;

	if (t->upto)
		return;
	t->upto = window_output(t, F_SUM_INT8, NUMERICOID, value, 0);
	t->all = window_output(t, F_SUM_INT8, NUMERICOID, 0, 0);
}

/* Have the groups say which comes first by the number of its values. */
static void
add_place(Choosing *t)
{
	if (t->place == 0)
		t->place = window_output(t, F_ROW_NUMBER, INT8OID, t->counted, list_length(t->keys) + 1);
}

/* Begin with the groups: keys, the value, and how often it is there. */
static void
start_groups(Choosing *t, const Query *query)
{
	Query	   *groups = t->groups = makeNode(Query);
	AttrNumber	value;
	ListCell   *lc;

	*groups = *query;
	groups->targetList = groups->groupClause = NIL;
	groups->havingQual = groups->limitCount = groups->limitOffset = NULL;
	groups->distinctClause = groups->sortClause = NIL;
	groups->hasDistinctOn = false;
	groups->hasWindowFuncs = true;
	foreach(lc, query->groupClause)
	{
		SortGroupClause *clause = copyObject(lfirst_node(SortGroupClause, lc));
		TargetEntry *tle = makeTargetEntry((Expr *) get_sortgroupclause_expr(clause, query->targetList),
										   list_length(groups->targetList) + 1, NULL, false);

		t->keys = lappend(t->keys, tle->expr);
		groups->targetList = lappend(groups->targetList, tle);
		tle->ressortgroupref = clause->tleSortGroupRef = tle->resno;
		groups->groupClause = lappend(groups->groupClause, clause);
	}
	value = list_length(t->keys) + 1;
	groups->targetList = lappend(groups->targetList, makeTargetEntry(t->value, value, NULL, false));
	groups->groupClause = lappend(groups->groupClause, clause_of(t, value, false));
	t->counted = output_of(t, (Expr *) gc_make_aggregate(F_COUNT_ANY, INT8OID, (Node *) t->value));
}

/*-------------------------------------------------------------------------
 * Expressions
 *-------------------------------------------------------------------------
 */

static Expr *
call(Oid function, Oid type, Expr *arg)
{
	return (Expr *) makeFuncExpr(function, type, list_make1(arg), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Expr *
float_constant(float8 value)
{
	return (Expr *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(value), false, FLOAT8PASSBYVAL);
}

/* The first value of a group, in the query's order, that meets a condition. */
static Expr *
first_value(Choosing *t, Expr *condition)
{
	Expr	   *value = output(t, list_length(t->keys) + 1);
	const Oid	type = exprType((Node *) value);
	const Oid	collation = exprCollation((Node *) value);
	Aggref	   *agg;

	if (t->compared != type)
		value = (Expr *) makeRelabelType(value, t->compared, -1, collation, COERCE_IMPLICIT_CAST);
	agg = gc_make_aggregate(t->extreme, exprType((Node *) value), (Node *) value);
	agg->aggcollid = agg->inputcollid = collation;
	agg->aggfilter = condition;
	if (agg->aggtype == type)
		return (Expr *) agg;
	return (Expr *) makeRelabelType((Expr *) agg, type, -1, collation, COERCE_IMPLICIT_CAST);
}

/*-------------------------------------------------------------------------
 * Aggregates of the groups
 *-------------------------------------------------------------------------
 */

/* A number of rows, or a sum of such, as a float. */
static Expr *
as_float(Expr *number)
{
	return call(F_FLOAT8_NUMERIC, FLOAT8OID, number);
}

/* percentile_disc(fraction) */
static Expr *
value_at_fraction(Choosing *t, float8 fraction)
{
	Expr	   *rows = gc_make_operation(FLOAT8_TIMES, FLOAT8OID, float_constant(fraction),
										 as_float(output(t, t->all)));
	Expr	   *least = call(F_CEIL_FLOAT8, FLOAT8OID, rows);

	return first_value(t, gc_make_operation(FLOAT8_AT_LEAST, BOOLOID, as_float(output(t, t->upto)), least));
}

/* fraction * (all - 1) */
static Expr *
position_of(float8 fraction, Expr *all)
{
	return gc_make_operation(FLOAT8_TIMES, FLOAT8OID, float_constant(fraction),
					 gc_make_operation(FLOAT8_MINUS, FLOAT8OID, as_float(all), float_constant(1)));
}

/* The value of the place, counted from 0, which `round` makes of a position, as a float. */
static Expr *
value_near(Choosing *t, const Aggref *agg, float8 fraction, Oid round)
{
	const FuncExpr *cast = (FuncExpr *) linitial_node(TargetEntry, agg->args)->expr;
	Expr	   *place = call(round, FLOAT8OID, position_of(fraction, output(t, t->all)));
	Expr	   *above = gc_make_operation(FLOAT8_GREATER, BOOLOID, as_float(output(t, t->upto)), place);

	return call(cast->funcid, FLOAT8OID, first_value(t, above));
}

/* The number of values in a group of the query's. */
static Expr *
all_values(const Choosing *t)
{
	return (Expr *) gc_make_aggregate(F_MAX_NUMERIC, NUMERICOID, (Node *) output(t, t->all));
}

/* percentile_cont(fraction): the lower value, plus a part of the difference to the upper one. */
static Expr *
value_between(Choosing *t, const Aggref *agg, float8 fraction)
{
	Expr	   *lower = value_near(t, agg, fraction, F_FLOOR_FLOAT8);
	Expr	   *upper = value_near(t, agg, fraction, F_CEIL_FLOAT8);
	Expr	   *position = position_of(fraction, all_values(t));
	Expr	   *floor = call(F_FLOOR_FLOAT8, FLOAT8OID, position);
	Expr	   *part = gc_make_operation(FLOAT8_TIMES, FLOAT8OID,
										 gc_make_operation(FLOAT8_MINUS, FLOAT8OID, position, floor),
								 gc_make_operation(FLOAT8_MINUS, FLOAT8OID, upper, lower));

	return gc_make_case(gc_make_operation(FLOAT8_EQUAL, BOOLOID, position, floor), lower,
				  gc_make_operation(FLOAT8_PLUS, FLOAT8OID, lower, part));
}

static Expr *
percentile(Choosing *t, const Aggref *agg, Datum datum)
{
	const float8 fraction = DatumGetFloat8(datum);

	if (!(fraction == 0 || (fraction >= LEAST_FRACTION && fraction <= 1)))
		t->failed = true;
	return is_between(agg) ? value_between(t, agg, fraction) : value_at_fraction(t, fraction);
}

/* Percentiles of an array of fractions, as an array; NULL where there are no values. */
static Expr *
percentiles(Choosing *t, const Aggref *agg, ArrayType *fractions)
{
	ArrayExpr  *array = makeNode(ArrayExpr);
	Datum	   *values;
	bool	   *nulls;
	int			n;

	if (ARR_NDIM(fractions) != 1 || ARR_LBOUND(fractions)[0] != 1 || array_contains_nulls(fractions))
	{
		t->failed = true;
		return NULL;
	}
	array->array_typeid = agg->aggtype;
	array->array_collid = agg->aggcollid;
	array->element_typeid = get_element_type(agg->aggtype);
	array->location = -1;
	deconstruct_array(fractions, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		array->elements = lappend(array->elements, percentile(t, agg, values[i]));
	return gc_make_case(gc_make_operation(FLOAT8_GREATER, BOOLOID, as_float(all_values(t)), float_constant(0)),
						(Expr *) array, NULL);
}

/* One of the aggregates that this is about. */
static Expr *
turn_ordered_set(Choosing *t, const Aggref *agg)
{
	const Const *direct;

	if (agg->aggfilter || !equal(value_of(agg), t->value) || direction_of(agg) != t->descending)
	{
		t->failed = true;
		return NULL;
	}
	if (agg->aggfnoid == F_MODE)
	{
		add_place(t);
		return first_value(t, gc_make_is_one(output(t, t->place)));
	}
	direct = (Const *) eval_const_expressions(NULL, linitial(agg->aggdirectargs));
	if (!IsA(direct, Const) || direct->constisnull)
	{
		t->failed = true;
		return NULL;
	}
	add_counts(t);
	return direct->consttype == FLOAT8OID ? percentile(t, agg, direct->constvalue) :
		percentiles(t, agg, DatumGetArrayTypeP(direct->constvalue));
}

/* An aggregate of the groups' own aggregates: `inner` of the arguments of `agg`, and `outer` of that. */
static Expr *
regrouped(Choosing *t, const Aggref *agg, Oid inner, Oid inner_type, Oid outer, Oid type)
{
	Aggref	   *own = copyObject((Aggref *) agg);
	Aggref	   *result;

	own->aggfnoid = inner;
	own->aggtype = inner_type;
	result = gc_make_aggregate(outer, type, (Node *) output(t, output_of(t, (Expr *) own)));
	result->aggcollid = agg->aggcollid;
	result->inputcollid = agg->inputcollid;
	return (Expr *) result;
}

/* Is it min(), max() or the like: the first value of an order? */
static bool
is_extreme(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = OidIsValid(((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop);
	ReleaseSysCache(tuple);
	return result;
}

/* The sum that an average has as its dividend. */
static Oid
dividend_of(Oid average)
{
	switch (average)
	{
		case F_AVG_INT2:
			return F_SUM_INT2;
		case F_AVG_INT4:
			return F_SUM_INT4;
		case F_AVG_INT8:
			return F_SUM_INT8;
		case F_AVG_NUMERIC:
			return F_SUM_NUMERIC;
	}
	return InvalidOid;
}

/* sum(), count() and avg() of the groups' sums and counts. */
static Expr *
turn_sum(Choosing *t, const Aggref *agg, Oid sum)
{
	/* These are bigints, others numerics. */
	if (sum == F_SUM_INT2 || sum == F_SUM_INT4)
		return regrouped(t, agg, sum, INT8OID, F_SUM_INT8, NUMERICOID);
	return regrouped(t, agg, sum, NUMERICOID, F_SUM_NUMERIC, NUMERICOID);
}

static Expr *
turn_count(Choosing *t, const Aggref *agg)
{
	CoalesceExpr *expr = makeNode(CoalesceExpr);
	Expr	   *sum = regrouped(t, agg, agg->aggfnoid, INT8OID, F_SUM_INT8, NUMERICOID);

	expr->coalescetype = INT8OID;
	expr->location = -1;
	expr->args = list_make2(call(F_INT8_NUMERIC, INT8OID, sum), gc_make_int8(0));
	return (Expr *) expr;
}

static Expr *
turn_average(Choosing *t, const Aggref *agg)
{
	return gc_make_operation(NUMERIC_DIVIDE, NUMERICOID, turn_sum(t, agg, dividend_of(agg->aggfnoid)),
					 regrouped(t, agg, F_COUNT_ANY, INT8OID, F_SUM_INT8, NUMERICOID));
}

static Expr *
turn_aggregate(Choosing *t, const Aggref *agg)
{
	if (is_ordered_set(agg))
		return turn_ordered_set(t, agg);
	if (agg->aggdistinct || agg->aggorder)
	{
		t->failed = true;
		return NULL;
	}
	switch (agg->aggfnoid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
			return turn_count(t, agg);
		case F_SUM_INT2:
		case F_SUM_INT4:
			return call(F_INT8_NUMERIC, INT8OID, turn_sum(t, agg, agg->aggfnoid));
		case F_SUM_INT8:
		case F_SUM_NUMERIC:
			return turn_sum(t, agg, agg->aggfnoid);
	}
	if (OidIsValid(dividend_of(agg->aggfnoid)))
		return turn_average(t, agg);
	if (is_extreme(agg->aggfnoid))
		return regrouped(t, agg, agg->aggfnoid, agg->aggtype, agg->aggfnoid, agg->aggtype);
	t->failed = true;
	return NULL;
}

/* Expressions of the query, as they stand above the groups. */
static Node *
turn_mutator(Node *node, void *context)
{
	Choosing    *t = context;
	AttrNumber	resno = 1;
	ListCell   *lc;

	if (node == NULL || t->failed)
		return node;
	foreach(lc, t->keys)
	{
		if (equal(node, lfirst(lc)))
			return (Node *) output(t, resno);
		resno++;
	}
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup == 0)
		return (Node *) turn_aggregate(t, (Aggref *) node);
	if ((IsA(node, Var) && ((Var *) node)->varlevelsup == 0) || IsA(node, SubLink))
		t->failed = true;
	return expression_tree_mutator(node, turn_mutator, context);
}

/* Is it a query to turn, by the first such aggregate that is found? */
static bool
start_turning(Choosing *t, const Query *query, const Aggref *agg)
{
	const int	direction = direction_of(agg);
	String	   *extreme = makeString(direction == 1 ? "max" : "min");
	Oid			type;

	t->value = value_of(agg);
	if (t->value == NULL || direction < 0 || query->groupingSets || query->hasWindowFuncs ||
		!grouping_is_sortable(query->groupClause) || !gc_may_become(query) || contain_subplans((Node *) t->value))
		return false;
	t->descending = direction == 1;
	type = getBaseType(exprType((Node *) t->value));
	t->compared = type == VARCHAROID ? TEXTOID : type;
	type = type_is_enum(type) ? ANYENUMOID : t->compared;
	t->extreme = LookupFuncName(list_make2(makeString("pg_catalog"), extreme), 1, &type, true);
	return OidIsValid(t->extreme);
}

void
gc_turn_ordered_sets(Query *query, bool *changed)
{
	const Aggref *agg = find_ordered_set(query);
	Choosing		t = {0};
	List	   *target;
	Node	   *having;
	Query	   *above;

	if (agg == NULL || !start_turning(&t, query, agg))
		return;
	start_groups(&t, query);
	target = (List *) turn_mutator((Node *) query->targetList, &t);
	having = turn_mutator(query->havingQual, &t);
	if (t.failed)
		return;
	/* Their parts have parts in common, and the planner changes the tree that it is given. */
	t.groups->targetList = copyObject(t.groups->targetList);
	above = gc_select_all(t.groups, "groups");
	above->targetList = copyObject(target);
	above->havingQual = copyObject(having);
	above->groupClause = query->groupClause;
	above->distinctClause = query->distinctClause;
	above->hasDistinctOn = query->hasDistinctOn;
	above->hasAggs = true;
	gc_become(query, above);
	*changed = true;
}
