/*-------------------------------------------------------------------------
 *
 * kept_windows.c
 *	  Windows over kept rows: a query level's window functions as columns that a later pipeline scans.
 *
 * The rows of a subquery or of the node's own level, of groups or of a join, are kept with the keys and arguments of
 * its windows.  A function's values are one more output, which the worker writes once all rows are there
 * (worker/run/window_launch.c).  An expression with window functions is computed where the rows are scanned; what is in
 * it besides is an output.
 *
 * An average is a sum and a count, as over groups; a variance, these and a sum of squares.  Windows with the
 * same keys and the same frame are one.  A RANGE with offsets has its bounds' values as outputs, too.
 *
 * What is not known here is left to PostgreSQL's windows, or to the executor's (exec/window.c).
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "groups.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "aggregates.h"
#include "../base/builder.h"
#include "../base/builtins.h"
#include "../base/make.h"
#include "../base/quotient.h"
#include "../expr/expr.h"
#include "../../columns/store/numeric.h"
#include "../../compat.h"

/* Operators that are told apart by their number alone. */
#define NUMERIC_PLUS	1758
#define NUMERIC_MINUS	1759
#define TIMESTAMP_PLUS	2066
#define TIMESTAMP_MINUS	2068
#define TIMESTAMPTZ_PLUS	1327
#define TIMESTAMPTZ_MINUS	1329
#define FLOAT8_PLUS		591
#define FLOAT8_MINUS	592

/*-------------------------------------------------------------------------
 * Windows
 *-------------------------------------------------------------------------
 */

/* The number of an expression of the rows by which a window has them in order, or only together; -1, with a reason. */
static int
key_output(GcTranslation *tr, Expr *expr, bool ordered)
{
	GcGroups   *rows = tr->groups;
	int			n = gc_rows_output(tr, rows, expr);
	int			e = n < 0 ? -1 : list_nth_int(tr->group_keys[rows->pipeline], n);

	if (e < 0)
		return -1;
	if (tr->pexprs[e].kind == GC_NUMERIC && gc_scale_may_vary(tr, e))
		return gc_rows_output_of(tr, rows, gc_build_expr(tr, GC_OP_NUMBER, GC_NUMERIC, e, -1, -1, -1));
	if (gc_kinds[tr->pexprs[e].kind].opaque)
		return gc_refuse(tr, "equal values of a type that is a key of a window may differ in spelling");
	if (!ordered || !GC_KIND_IS_CODE(tr->pexprs[e].kind))
		return n;
	return gc_rows_output_of(tr, rows, gc_build_rank(tr, e, exprType((Node *) expr), exprCollation((Node *) expr)));
}

static bool
add_key(GcTranslation *tr, GcPWindow *w, const SortGroupClause *clause, bool ordered)
{
	Node	   *expr = get_sortgroupclause_expr(unconstify(SortGroupClause *, clause), tr->root->processed_tlist);
	Oid			family;
	Oid			input;
	GcDirection direction;
	int			n;

	if (w->nkeys == GC_MAX_KEYS)
		return gc_refuse(tr, "a window has too many columns") >= 0;
	if (!OidIsValid(clause->sortop) || !get_ordering_op_properties(clause->sortop, &family, &input, &direction) ||
		family != lookup_type_cache(exprType(expr), TYPECACHE_BTREE_OPFAMILY)->btree_opf)
		return gc_refuse(tr, "a window is not in the default order of a type") >= 0;
	n = key_output(tr, (Expr *) expr, ordered);
	if (n < 0)
		return false;
	w->descending |= (direction == GC_GREATER) << w->nkeys;
	w->nulls_first |= (clause->nulls_first ? 1 : 0) << w->nkeys;
	w->keys[w->nkeys++] = n;
	return true;
}

/* More rows than there can be. */
#define FAR		((int64) 1 << 40)

/* The number of an output that is a bound's distance from the row; -1, with a reason, if that is not constant. */
static int
distance_output(GcTranslation *tr, const Node *offset, bool unbounded, bool before)
{
	const Const *c = (const Const *) offset;
	int64		rows = unbounded ? FAR : 0;

	if (offset && (!IsA(c, Const) || c->constisnull || DatumGetInt64(c->constvalue) < 0))
		return gc_refuse(tr, "the offset of a window's frame is not constant, or PostgreSQL raises an error for it");
	if (offset)
		rows = Min(DatumGetInt64(c->constvalue), FAR);
	return gc_rows_output(tr, tr->groups, gc_make_int8(before ? -rows : rows));
}

/* Types of which a frame may be a range: as what values are compared, and the operators that move them. */
typedef struct RangeType
{
	Oid			type;
	Oid			cast;			/* function, if they are of another type then */
	Oid			compared;
	Oid			plus;
	Oid			minus;
} RangeType;

static const RangeType range_types[] = {
	{INT2OID, F_NUMERIC_INT2, NUMERICOID, NUMERIC_PLUS, NUMERIC_MINUS},
	{INT4OID, F_NUMERIC_INT4, NUMERICOID, NUMERIC_PLUS, NUMERIC_MINUS},
	{INT8OID, F_NUMERIC_INT8, NUMERICOID, NUMERIC_PLUS, NUMERIC_MINUS},
	{NUMERICOID, InvalidOid, NUMERICOID, NUMERIC_PLUS, NUMERIC_MINUS},
	{DATEOID, F_TIMESTAMP_DATE, TIMESTAMPOID, TIMESTAMP_PLUS, TIMESTAMP_MINUS},
	{TIMESTAMPOID, InvalidOid, TIMESTAMPOID, TIMESTAMP_PLUS, TIMESTAMP_MINUS},
	{TIMESTAMPTZOID, InvalidOid, TIMESTAMPTZOID, TIMESTAMPTZ_PLUS, TIMESTAMPTZ_MINUS},
	{FLOAT4OID, F_FLOAT8_FLOAT4, FLOAT8OID, FLOAT8_PLUS, FLOAT8_MINUS},
	{FLOAT8OID, InvalidOid, FLOAT8OID, FLOAT8_PLUS, FLOAT8_MINUS},
};

/*
 * May an interval move a window's values?  A later value must not become an earlier one.  Times of day may, by months:
 * 23:00 on the 30th of January and 1:00 on the 31st.  Days and months of a timestamptz are a time zone's.
 */
static bool
moves_values(const Interval *interval, Oid type)
{
	return interval->month >= 0 && interval->day >= 0 && interval->time >= 0 &&
		(type == DATEOID || interval->month == 0) && (type != TIMESTAMPTZOID || interval->day == 0);
}

/*
 * The amount by which a constant offset moves values; NULL where it is none, or may be an error.  A number is rounded
 * to the values' scale: up where the frame leaves out what is nearer than it (up), else down.
 */
static Expr *
range_offset(Node *offset, Oid type, int scale, bool up)
{
	const Const *c = (const Const *) offset;
	Datum		number;
	Datum		rounded;

	if (!IsA(c, Const) || c->constisnull)
		return NULL;
	if (c->consttype == INTERVALOID)
		return moves_values(DatumGetIntervalP(c->constvalue), type) ? (Expr *) offset : NULL;
	if (c->consttype == FLOAT8OID)
		return DatumGetFloat8(c->constvalue) >= 0 && isfinite(DatumGetFloat8(c->constvalue)) ? (Expr *) offset : NULL;
	number = c->consttype == NUMERICOID ? c->constvalue :
		NumericGetDatum(int64_to_numeric(c->consttype == INT2OID ? DatumGetInt16(c->constvalue) :
										 c->consttype == INT4OID ? DatumGetInt32(c->constvalue) : DatumGetInt64(c->constvalue)));
	if (numeric_is_nan(DatumGetNumeric(number)) || numeric_is_inf(DatumGetNumeric(number)) ||
		DatumGetBool(DirectFunctionCall2(numeric_lt, number, NumericGetDatum(int64_to_numeric(0)))))
		return NULL;
	if (scale >= 0)
	{
		rounded = DirectFunctionCall2(numeric_trunc, number, Int32GetDatum(scale));
		number = up && DatumGetBool(DirectFunctionCall2(numeric_lt, rounded, number)) ?
			DirectFunctionCall2(numeric_add, rounded, gc_int128_to_numeric(1, scale)) : rounded;
	}
	return (Expr *) makeConst(NUMERICOID, -1, InvalidOid, -1, number, false, false);
}

/*
 * The number of an output that is a bound's value; GC_NO_BOUND if there is none; -1, with a reason, if it cannot be.
 * type: of the column, which the key may be cast from.
 */
static int
bound_output(GcTranslation *tr, Expr *key, Oid type, Node *offset, bool unbounded, Oid operator, bool up)
{
	Expr	   *moved_by;

	if (unbounded)
		return GC_NO_BOUND;
	if (offset == NULL)
		return gc_rows_output(tr, tr->groups, key);
	moved_by = range_offset(offset, type, gc_typmod_scale(exprTypmod((Node *) key), -1), up);
	if (moved_by == NULL)
		return gc_refuse(tr, "the offset of a window's range is no constant that the device can add");
	return gc_rows_output(tr, tr->groups, gc_make_operation(operator, exprType((Node *) key), key, moved_by));
}

/* Describe a frame that is a range of values around the row's. */
static bool
describe_range(GcTranslation *tr, const WindowClause *clause, GcPWindow *w)
{
	const int	frame = clause->frameOptions;
	Expr	   *key = (Expr *) get_sortgroupclause_expr(linitial(clause->orderClause), tr->root->processed_tlist);
	const RangeType *t = NULL;
	int			by;
	int			start;
	int			end;

	for (int i = 0; i < lengthof(range_types) && t == NULL; i++)
		t = range_types[i].type == exprType((Node *) key) ? &range_types[i] : NULL;
	if (t == NULL)
		return gc_refuse(tr, "a window's frame is a range of type %s", format_type_be(exprType((Node *) key))) >= 0;
	if (OidIsValid(t->cast))
		key = (Expr *) makeFuncExpr(t->cast, t->compared, list_make1(key), InvalidOid, InvalidOid,
									COERCE_EXPLICIT_CAST);
	by = gc_rows_output(tr, tr->groups, key);
	start = by < 0 ? -1
		: bound_output(tr, key, t->type, clause->startOffset, (frame & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0,
					   ((frame & FRAMEOPTION_START_OFFSET_PRECEDING) != 0) == clause->inRangeAsc ? t->minus : t->plus,
					   (frame & FRAMEOPTION_START_OFFSET_FOLLOWING) != 0);
	end = start < 0 ? -1
		: bound_output(tr, key, t->type, clause->endOffset, (frame & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) != 0,
					   ((frame & FRAMEOPTION_END_OFFSET_PRECEDING) != 0) == clause->inRangeAsc ? t->minus : t->plus,
					   (frame & FRAMEOPTION_END_OFFSET_PRECEDING) != 0);
	w->frame = GC_FRAME_RANGE;
	w->by = by;
	w->start = start;
	w->end = end;
	return end >= 0;
}

/* Describe the frame of a window; false, with a reason, if it is none of ours. */
static bool
describe_frame(GcTranslation *tr, const WindowClause *clause, GcPWindow *w)
{
	const int	frame = clause->frameOptions;
	const bool	from_first = (frame & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0;
	const bool	to_last = (frame & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) != 0;
	int			start;
	int			end;

	w->exclude = frame & FRAMEOPTION_EXCLUDE_CURRENT_ROW ? GC_EXCLUDE_ROW
		: frame & FRAMEOPTION_EXCLUDE_GROUP ? GC_EXCLUDE_PEERS :
		frame & FRAMEOPTION_EXCLUDE_TIES ? GC_EXCLUDE_TIES : GC_EXCLUDE_NONE;
	if (from_first && (to_last || (frame & FRAMEOPTION_END_CURRENT_ROW)))
	{
		w->frame = to_last ? GC_FRAME_PARTITION : frame & FRAMEOPTION_ROWS ? GC_FRAME_ROWS :
			clause->orderClause == NIL ? GC_FRAME_PARTITION : GC_FRAME_PEERS;
		return true;
	}
	if ((frame & FRAMEOPTION_RANGE) && (clause->startOffset || clause->endOffset))
		return describe_range(tr, clause, w);
	/* Where a RANGE has no offset, it is of peers. */
	w->frame = frame & FRAMEOPTION_ROWS ? GC_FRAME_BETWEEN : GC_FRAME_GROUPS;
	start = distance_output(tr, clause->startOffset, from_first,
							from_first || (frame & FRAMEOPTION_START_OFFSET_PRECEDING));
	end = start < 0 ? -1
		: distance_output(tr, clause->endOffset, to_last, (frame & FRAMEOPTION_END_OFFSET_PRECEDING) != 0);
	w->start = start;
	w->end = end;
	return end >= 0;
}

/* The number of a window, which is added if there was none like it; -1, with a reason, if it cannot be. */
static int
window_of(GcTranslation *tr, const WindowFunc *func)
{
	const WindowClause *clause = list_nth_node(WindowClause, tr->root->parse->windowClause, func->winref - 1);
	GcPWindow	w = {.pipeline = tr->groups->pipeline};
	ListCell   *lc;

	if (!describe_frame(tr, clause, &w))
		return -1;
	foreach(lc, clause->partitionClause)
	{
		if (!add_key(tr, &w, lfirst_node(SortGroupClause, lc), false))
			return -1;
	}
	w.npartition = w.nkeys;
	foreach(lc, clause->orderClause)
	{
		if (!add_key(tr, &w, lfirst_node(SortGroupClause, lc), true))
			return -1;
	}
	for (int i = 0; i < tr->nkept_windows; i++)
	{
		if (memcmp(&tr->kept_windows[i], &w, sizeof(w)) == 0)
			return i;
	}
	if (tr->nkept_windows == GC_MAX_WINDOWS_KEPT)
		return gc_refuse(tr, "there are too many windows");
	tr->kept_windows[tr->nkept_windows] = w;
	return tr->nkept_windows++;
}

/*-------------------------------------------------------------------------
 * Functions
 *-------------------------------------------------------------------------
 */

/*
 * PostgreSQL raises an error for a number of buckets, or of a frame's row, that is not positive.  It looks at the
 * number of buckets for the first row of a partition alone.
 */
static bool
is_positive(const Node *arg)
{
	const Const *c = (const Const *) arg;

	return IsA(c, Const) && !c->constisnull && DatumGetInt32(c->constvalue) > 0;
}

/* How a window function's values come about; GC_OVER_NONE: it is not known. */
static GcOver
classify(const GcTranslation *tr, const WindowFunc *func)
{
	const GcOver over = gc_window_over(tr->root->parse, func);

	if ((over == GC_OVER_NTILE || over == GC_OVER_NTH) && !is_positive(llast(func->args)))
		return GC_OVER_NONE;
	return over == GC_OVER_COUNT && func->args == NIL && func->aggfilter == NULL ? GC_OVER_ROWS : over;
}

/* An aggregate's input of a row: its argument, or true of count(*); NULL where FILTER leaves the row out. */
static Expr *
taken(const WindowFunc *func)
{
	Expr	   *arg = func->args ? linitial(func->args) : (Expr *) makeBoolConst(true, false);

	return func->aggfilter ? gc_make_case(func->aggfilter, arg, NULL) : arg;
}

/*
 * The argument, as an expression of the rows' pipeline that is an output; GC_NO_EXPR, with a reason, if it cannot be.
 */
static int
argument(GcTranslation *tr, const WindowFunc *func, GcOver over)
{
	GcGroups   *rows = tr->groups;
	int			n = gc_rows_output(tr, rows, taken(func));
	int			e = n < 0 ? GC_NO_EXPR : list_nth_int(tr->group_keys[rows->pipeline], n);

	if (e < 0 || over == GC_OVER_COUNT)
		return e;
	if (GC_KIND_IS_CODE(tr->pexprs[e].kind))
		return gc_refuse(tr, "a window function is of a text");
	if (!gc_no_quotient(tr, e, "in a window"))
		return GC_NO_EXPR;
	if (tr->pexprs[e].kind == GC_NUMERIC && gc_scale_may_vary(tr, e))
		return gc_refuse(tr, "numerics of different scales are in a window");
	return e;
}

/* A function's values, as a column of the rows. */
static int
value_column(GcTranslation *tr, GcOver over, GcKind kind, int arg, int second, int window)
{
	GcExpr		e = {.op = GC_OP_WINDOW,.kind = kind,
	.arg = {arg < 0 ? GC_NONE : arg, second < 0 ? GC_NONE : second, GC_NONE},
	.ref = window,.cast_scale = over};
	int			n = gc_rows_output_of(tr, tr->groups, gc_build_copy(tr, &e));

	return n < 0 ? GC_NO_EXPR : gc_groups_key(tr, n);
}

/* The distance or number that a function has beside its argument: the number of its expression. */
static int
second_argument(GcTranslation *tr, const WindowFunc *func)
{
	Expr	   *second = list_length(func->args) > 1 ? lsecond(func->args) : gc_make_int8(1);
	int			n = gc_rows_output(tr, tr->groups, second);

	return n < 0 ? GC_NO_EXPR : list_nth_int(tr->group_keys[tr->groups->pipeline], n);
}

/* lag() and lead() with a default, which stands where a constant finds no row. */
static int
with_default(GcTranslation *tr, const WindowFunc *func)
{
	WindowFunc *value = copyObject(unconstify(WindowFunc *, func));
	WindowFunc *there = copyObject(unconstify(WindowFunc *, func));
	NullTest   *missing = makeNode(NullTest);

	if (!IsA(lsecond(func->args), Const) || ((Const *) lsecond(func->args))->constisnull)
		return gc_refuse(tr, "%s() has a default, and a distance that is not constant", get_func_name(func->winfnoid));
	value->args = list_make2(linitial(func->args), lsecond(func->args));
	there->args = list_make2(gc_make_int8(1), lsecond(func->args));
	there->wintype = INT8OID;
	missing->arg = (Expr *) there;
	missing->nulltesttype = IS_NULL;
	missing->location = -1;
	return gc_translate_expr(tr, NULL, gc_make_case((Expr *) missing, lthird(func->args), (Expr *) value));
}

/* A variance of a subquery's window, or its root, as that of its groups.  Others are not computed here. */
static int
stddev_column(GcTranslation *tr, int flags, int arg, int sum, int window)
{
	const int	number = gc_build_cast(tr, arg, GC_NUMERIC);
	int			squares;
	int			n;

	if (tr->groups->query == NULL || !gc_has_few_decimals(tr, arg))
		return gc_refuse(tr, "a variance that is returned, or of many decimals, is of a window");
	squares = number < 0 ? number : gc_build_expr(tr, GC_OP_MUL, GC_NUMERIC, number, number, -1, -1);
	n = gc_rows_output_of(tr, tr->groups, squares);
	if (n < 0)
		return GC_NO_EXPR;
	squares = value_column(tr, GC_OVER_SUM, GC_NUMERIC, squares, -1, window);
	return gc_build_expr(tr, GC_OP_STDDEV, GC_NUMERIC, sum, squares,
						 value_column(tr, GC_OVER_COUNT, GC_INT8, arg, -1, window),
						 (flags & GC_IS_OF_SAMPLE ? GC_VARIANCE_OF_SAMPLE : 0) |
						 (flags & GC_IS_ROOT ? GC_VARIANCE_ROOT : 0));
}

static int
function_column(GcTranslation *tr, const WindowFunc *func)
{
	const GcOver over = classify(tr, func);
	const int	flags = gc_builtin(func->winfnoid)->flags & GC_MADE_OF_SUMS;
	int			arg = GC_NO_EXPR;
	int			second = GC_NO_EXPR;
	int			window;
	int			sum;
	GcKind		kind;

	if (over == GC_OVER_NONE || GC_IGNORES_NULLS(func))
		return gc_refuse(tr, "window function %s() is not computed before a join", get_func_name(func->winfnoid));
	if (list_length(func->args) == 3)
		return with_default(tr, func);
	if ((over >= GC_OVER_COUNT && (arg = argument(tr, func, over)) < 0) ||
		(gc_over_has_second(over) && (second = second_argument(tr, func)) < 0) || (window = window_of(tr, func)) < 0)
		return GC_NO_EXPR;
	kind = over == GC_OVER_PERCENT_RANK || over == GC_OVER_CUME_DIST ? GC_FLOAT8 : over <= GC_OVER_COUNT ? GC_INT8
		: tr->pexprs[arg].kind;
	if (over != GC_OVER_SUM)
		return value_column(tr, over, kind, arg, second, window);
	/* sum(int8) is numeric, and so is an average's dividend. */
	sum = value_column(tr, over, flags || kind == GC_INT8 || !GC_KIND_IS_INT(kind) ? GC_NUMERIC : GC_INT8, arg, -1,
					   window);
	if (sum < 0 || flags == 0)
		return sum;
	if (flags & GC_IS_VARIANCE)
		return stddev_column(tr, flags, arg, sum, window);
	return gc_build_expr(tr, GC_OP_AVG, GC_NUMERIC, sum, value_column(tr, GC_OVER_COUNT, GC_INT8, arg, -1, window), -1,
						 -1);
}

/* While an expression over the rows is translated (GcGroups.part). */
static bool
windowed_part(GcTranslation *tr, Expr *expr, int *e)
{
	if (IsA(expr, WindowFunc))
		*e = function_column(tr, (WindowFunc *) expr);
	else if (contain_window_function((Node *) expr) ||
			 (!contain_var_clause((Node *) expr) && !contain_agg_clause((Node *) expr)))
		return false;
	else
		*e = gc_rows_column(tr, tr->groups, expr);
	return true;
}

GcGroups *
gc_windowed_open(GcTranslation *tr)
{
	GcGroups   *rows = gc_rows_open(tr);

	if (rows)
		rows->part = windowed_part;
	return rows;
}

/*-------------------------------------------------------------------------
 * Conditions within windows
 *-------------------------------------------------------------------------
 */

typedef struct RunWalk
{
	const Query *query;
	List	   *conditions;
} RunWalk;

static bool
run_walker(Node *node, RunWalk *walk)
{
	WindowFunc *func = (WindowFunc *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, WindowFunc))
		return expression_tree_walker(node, run_walker, walk);
	foreach(lc, GC_RUN_CONDITIONS(list_nth_node(WindowClause, walk->query->windowClause, func->winref - 1), func))
		walk->conditions = list_append_unique(walk->conditions, GC_RUN_CLAUSE(lfirst(lc), func));
	return false;
}

List *
gc_run_conditions(PlannerInfo *root)
{
	RunWalk		walk = {root->parse, NIL};

	(void) run_walker((Node *) root->processed_tlist, &walk);
	fix_opfuncids((Node *) walk.conditions);
	return walk.conditions;
}
