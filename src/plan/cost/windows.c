/*-------------------------------------------------------------------------
 *
 * windows.c
 *	  Paths of ours that compute window functions, too.
 *
 * The executor computes them of the rows that the device has returned and it has decoded (exec/window.c).  So the Sort
 * and the WindowAgg nodes above a node of ours are left out, whatever that node is of: rows, groups, or grouping sets.
 * All windows of a query level go along, or none.
 *
 * Or the device does, over rows that it keeps (group/kept_windows.c).  It knows fewer functions.  Where it knows all,
 * the sooner of the two is offered.
 *
 * The fallback is PostgreSQL's own path, with the node's fallback where the node was.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "paths.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "../base/builder.h"
#include "../base/builtins.h"
#include "../base/planning.h"
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"
#include "../../force.h"
#include "../../settings.h"
#include "costs.h"
#include "node.h"

/* Costs in operators: a comparison while rows are sorted, the columns of a row, a function, a numeric result. */
#define COMPARE_OPERATORS	0.2
#define ROW_OPERATORS		2
#define FUNCTION_OPERATORS	1
#define NUMERIC_OPERATORS	14

/* Windows of fewer rows are the session's. */
#define FEW_ROWS			1000

/*-------------------------------------------------------------------------
 * Expressions
 *-------------------------------------------------------------------------
 */

/* Is anything in the expression missing among the node's columns?  Walker. */
static bool
is_missing(Node *node, void *context)
{
	GcTranslation *tr = context;
	ListCell   *lc;

	if (node == NULL)
		return false;
	foreach(lc, tr->scan_tlist)
	{
		const GcPlanOutput *out = list_nth(tr->outputs, foreach_current_index(lc));

		if (out->type != GC_OUT_NONE && gc_equal(lfirst_node(TargetEntry, lc)->expr, node))
			return false;
	}
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, Aggref) || IsA(node, GroupingFunc) ||
		IsA(node, WindowFunc))
		return true;
	return expression_tree_walker(node, is_missing, context);
}

/* An InitPlan cannot be executed where windows are computed, since errors are caught there.  Walker. */
static bool
is_of_subquery(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		(IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC))
		return true;
	return expression_tree_walker(node, is_of_subquery, context);
}

/* The number of an expression that windows are computed of; -1, with a reason, if it cannot be. */
static int
expression(GcTranslation *tr, Node *expr)
{
	ListCell   *lc;

	foreach(lc, tr->window_exprs)
	{
		if (equal(lfirst(lc), expr))
			return foreach_current_index(lc);
	}
	if (contain_volatile_functions(expr))
		return gc_refuse(tr, "a volatile function is in a window");
	if (is_of_subquery(expr, NULL))
		return gc_refuse(tr, "a subquery, or a value of an outer query, is in a window");
	if (is_missing(expr, tr))
		return gc_refuse(tr, "a window is of what the node below does not return");
	tr->window_exprs = lappend(tr->window_exprs, expr);
	return list_length(tr->window_exprs) - 1;
}

/*-------------------------------------------------------------------------
 * Windows
 *-------------------------------------------------------------------------
 */

/*
 * The collation that rows of a partition are brought together by.  They need only be equal: where equal texts have
 * equal bytes, the order of bytes does.
 */
static Oid
partition_collation(Oid type, Oid collation)
{
	if ((type == TEXTOID || type == VARCHAROID || type == BPCHAROID) && OidIsValid(collation) &&
		get_collation_isdeterministic(collation))
		return C_COLLATION_OID;
	return collation;
}

/* One column by which rows are divided or ordered.  False: refused. */
static bool
add_key(GcTranslation *tr, GcPlanWindow *w, const SortGroupClause *clause, bool partition)
{
	Node	   *expr = get_sortgroupclause_expr(unconstify(SortGroupClause *, clause), tr->root->processed_tlist);
	const Oid	type = exprType(expr);
	GcPlanWindowKey *key = &w->keys[w->nkeys];
	Oid			family;
	Oid			input;
	GcDirection direction;
	int			e;

	if (w->nkeys == GC_MAX_ORDER)
		return gc_refuse(tr, "a window has too many columns") >= 0;
	if (!OidIsValid(clause->sortop) || !get_ordering_op_properties(clause->sortop, &family, &input, &direction))
		return gc_refuse(tr, "a window has a column without an order") >= 0;
	e = expression(tr, expr);
	if (e < 0)
		return false;
	key->expr = e;
	key->order.operator = clause->sortop;
	key->order.descending = direction == GC_GREATER;
	key->order.nulls_first = clause->nulls_first;
	key->order.collation = exprCollation(expr);
	if (partition)
		key->order.collation = partition_collation(type, key->order.collation);
	/* Words are in the default order of their type alone. */
	key->kind = family == lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf ? gc_type_kind(type)
		: GC_KIND_NONE;
	w->nkeys++;
	return true;
}

/* The offset of a frame; *e is -1 where there is none. */
static bool
add_offset(GcTranslation *tr, Node *offset, int16 *e)
{
	*e = -1;
	if (offset == NULL)
		return true;
	*e = expression(tr, offset);
	return *e >= 0;
}

/* Fill in a window; false, with a reason, if it is none of ours. */
static bool
describe_window(GcTranslation *tr, const WindowClause *clause, GcPlanWindow *w)
{
	ListCell   *lc;

	foreach(lc, clause->partitionClause)
	{
		if (!add_key(tr, w, lfirst_node(SortGroupClause, lc), true))
			return false;
	}
	w->npartition = w->nkeys;
	foreach(lc, clause->orderClause)
	{
		if (!add_key(tr, w, lfirst_node(SortGroupClause, lc), false))
			return false;
	}
	w->frame = clause->frameOptions;
	w->start_in_range = clause->startInRangeFunc;
	w->end_in_range = clause->endInRangeFunc;
	w->in_range_collation = clause->inRangeColl;
	w->in_range_ascending = clause->inRangeAsc;
	w->in_range_nulls_first = clause->inRangeNullsFirst;
	return add_offset(tr, clause->startOffset, &w->start_offset) && add_offset(tr, clause->endOffset, &w->end_offset);
}

/* Are rows that are sorted for one window in the order of another one? */
static bool
is_sorted_for(const GcPlanWindow *sorted, const GcPlanWindow *w)
{
	return w->nkeys <= sorted->nkeys && memcmp(sorted->keys, w->keys, w->nkeys * sizeof(GcPlanWindowKey)) == 0;
}

/*
 * Put windows in the order in which they are computed: that with the most columns, then those whose order its rows are
 * in, and so on.  *sorts: so many times are rows sorted.
 */
static void
arrange_windows(GcPlanWindows *windows, uint8 *place, int *sorts)
{
	GcPlanWindow *old = palloc(sizeof(windows->windows));
	bool		done[GC_MAX_WINDOWS] = {0};
	int			n = 0;

	memcpy(old, windows->windows, sizeof(windows->windows));
	*sorts = 0;
	while (n < windows->nwindows)
	{
		int			most = -1;

		for (int i = 0; i < windows->nwindows; i++)
		{
			if (!done[i] && (most < 0 || old[i].nkeys > old[most].nkeys))
				most = i;
		}
		for (int i = 0; i < windows->nwindows; i++)
		{
			const int	w = i == 0 ? most : i <= most ? i - 1 : i;

			if (done[w] || !is_sorted_for(&old[most], &old[w]))
				continue;
			done[w] = true;
			place[w] = n;
			windows->windows[n] = old[w];
			windows->windows[n++].sort = w == most && old[w].nkeys > 0;
		}
		*sorts += old[most].nkeys > 0;
	}
}

/*-------------------------------------------------------------------------
 * Functions
 *-------------------------------------------------------------------------
 */

/* The length of a type whose values are copied; 0: they are passed by value. */
static int16
copied_length(Oid type)
{
	int16		length;
	bool		by_value;

	get_typlenbyval(type, &length, &by_value);
	return by_value ? 0 : length;
}

/* The state before any value, as a constant. */
static Node *
initial_state(HeapTuple aggregate, Oid state)
{
	bool		isnull;
	const Datum value = SysCacheGetAttr(AGGFNOID, aggregate, Anum_pg_aggregate_agginitval, &isnull);
	Oid			input;
	Oid			param;
	int16		length;
	bool		by_value;

	get_typlenbyval(state, &length, &by_value);
	if (isnull)
		return (Node *) makeNullConst(state, -1, InvalidOid);
	getTypeInputInfo(state, &input, &param);
	return (Node *) makeConst(state, -1, InvalidOid, length,
							  OidInputFunctionCall(input, TextDatumGetCString(value), param, -1), false, by_value);
}

/*
 * Describe an aggregate whose values PostgreSQL's functions add to a state, one after another.  False: the session
 * cannot do that.  Each call leaves behind its state alone, which is of a fixed length or made of floats.  An aggregate
 * that has an inverse is PostgreSQL's in a moving frame, which it need not add up anew.
 */
static bool
describe_state(GcTranslation *tr, const WindowFunc *func, HeapTuple tuple, GcPlanWindowFn *fn)
{
	const Form_pg_aggregate agg = (Form_pg_aggregate) GETSTRUCT(tuple);
	const WindowClause *clause = list_nth_node(WindowClause, tr->root->parse->windowClause, func->winref - 1);
	const bool	moving = (clause->frameOptions & FRAMEOPTION_START_UNBOUNDED_PRECEDING) == 0;
	const Oid	state = agg->aggtranstype;
	const bool	floats = state == FLOAT4OID || state == FLOAT8OID || state == FLOAT8ARRAYOID;

	if (state == INTERNALOID || IsPolymorphicType(state) || (get_typlen(state) < 0 && !floats) ||
		(moving && OidIsValid(agg->aggminvtransfn)) || !func_strict(agg->aggtransfn) ||
		(OidIsValid(agg->aggfinalfn) && !func_strict(agg->aggfinalfn)))
		return false;
	fn->transition = agg->aggtransfn;
	fn->final = agg->aggfinalfn;
	fn->initial = expression(tr, initial_state(tuple, state));
	fn->state_length = copied_length(state);
	fn->result_length = copied_length(func->wintype);
	tr->float_aggs |= floats;
	return true;
}

/* Is it a built-in min() or max() or one of their like, whose result comes first by an operator, or has it a state? */
static bool
classify_aggregate(GcTranslation *tr, const WindowFunc *func, GcPlanWindowFn *fn)
{
	HeapTuple	tuple = func->winfnoid < FirstUnpinnedObjectId && list_length(func->args) == 1
		? SearchSysCache1(AGGFNOID, ObjectIdGetDatum(func->winfnoid)) : NULL;
	bool		known;

	if (!HeapTupleIsValid(tuple))
		return false;
	fn->operator = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop;
	known = OidIsValid(fn->operator) || describe_state(tr, func, tuple, fn);
	ReleaseSysCache(tuple);
	return known;
}

/* Find out which function it is; false if it is none of ours. */
static bool
classify(GcTranslation *tr, const WindowFunc *func, GcPlanWindowFn *fn)
{
	fn->over = gc_window_over(tr->root->parse, func);
	fn->flags = gc_builtin(func->winfnoid)->flags & GC_MADE_OF_SUMS;
	if (fn->over != GC_OVER_NONE && fn->over != GC_OVER_MIN && fn->over != GC_OVER_MAX)
		return true;
	fn->over = GC_OVER_NONE;
	return func->winagg && classify_aggregate(tr, func, fn);
}

/* One window function as the session computes it.  False: refused. */
static bool
describe_function(GcTranslation *tr, WindowFunc *func, GcPlanWindowFn *fn)
{
	GcPlanOutput *out;
	ListCell   *lc;
	int			attno;
	int			e;

	*fn = (GcPlanWindowFn) {.args = {-1, -1, -1},.filter = -1};
	if (!classify(tr, func, fn) || list_length(func->args) > GC_WINDOW_FN_ARGS)
		return gc_refuse(tr, "window function %s() is not known", get_func_name(func->winfnoid)) >= 0;
	if (tr->float_aggs && !gc_enable_float_aggs)
		return gc_refuse(tr, "float aggregates are disabled by gpuconc.enable_float_aggs") >= 0;
	if (GC_IGNORES_NULLS(func))
		return gc_refuse(tr, "window function %s() says what becomes of NULLs", get_func_name(func->winfnoid)) >= 0;
	fn->collation = func->inputcollid;
	foreach(lc, func->args)
	{
		e = expression(tr, lfirst(lc));
		if (e < 0)
			return false;
		fn->args[foreach_current_index(lc)] = e;
	}
	if (func->args != NIL)
		fn->argtype = exprType(linitial(func->args));
	if (func->aggfilter)
	{
		e = expression(tr, (Node *) func->aggfilter);
		if (e < 0)
			return false;
		fn->filter = e;
	}
	attno = gc_scan_attno(tr, (Node *) func);
	out = list_nth(tr->outputs, attno - 1);
	out->type = GC_OUT_WINDOW;
	out->ref = out->ref2 = out->scale_ref = out->square_ref = out->lut = GC_NONE;
	out->space = GC_SPACE_NONE;
	fn->output = attno - 1;
	return true;
}

/* Note all window functions, each once. */
static bool
functions_walker(Node *node, void *context)
{
	List	  **found = context;

	if (node == NULL)
		return false;
	if (!IsA(node, WindowFunc))
		return expression_tree_walker(node, functions_walker, context);
	if (!list_member(*found, node))
		*found = lappend(*found, node);
	return false;
}

/* The number of a function's window, which is described if it was not yet; -1, with a reason, if it cannot be. */
static int
window_of(GcTranslation *tr, GcPlanWindows *windows, const WindowFunc *func, int *winref)
{
	for (int i = 0; i < windows->nwindows; i++)
	{
		if (winref[i] == func->winref)
			return i;
	}
	if (windows->nwindows == GC_MAX_WINDOWS)
		return gc_refuse(tr, "there are too many windows");
	winref[windows->nwindows] = func->winref;
	if (!describe_window(tr, list_nth_node(WindowClause, tr->root->parse->windowClause, func->winref - 1),
						 &windows->windows[windows->nwindows]))
		return -1;
	return windows->nwindows++;
}

/* Add the window functions of a target to a translation.  *sorts: so many times are rows sorted. */
static bool
translate_windows(GcTranslation *tr, PathTarget *target, List *having, List *quals, int *sorts)
{
	GcPlanWindows *windows = palloc0(sizeof(GcPlanWindows));
	uint8		place[GC_MAX_WINDOWS] = {0};
	int			winref[GC_MAX_WINDOWS];
	List	   *functions = NIL;
	ListCell   *lc;

	(void) functions_walker((Node *) target->exprs, &functions);
	if (functions == NIL || list_length(functions) > GC_MAX_WINDOW_FNS)
		return gc_refuse(tr, "there are too many window functions") >= 0;
	windows->having = having == NIL ? -1 : expression(tr, (Node *) make_ands_explicit(having));
	foreach(lc, functions)
	{
		WindowFunc *func = lfirst_node(WindowFunc, lc);
		GcPlanWindowFn *fn = &windows->fns[windows->nfns];
		int			w;

		if (tr->reason || !describe_function(tr, func, fn) || (w = window_of(tr, windows, func, winref)) < 0)
			return false;
		fn->window = w;
		windows->nfns++;
	}
	arrange_windows(windows, place, sorts);
	for (int i = 0; i < windows->nfns; i++)
		windows->fns[i].window = place[windows->fns[i].window];
	if (is_missing((Node *) target->exprs, tr) || is_missing((Node *) quals, tr))
		return gc_refuse(tr, "what is above a window needs columns that the node below does not return") >= 0;
	windows->nexprs = list_length(tr->window_exprs);
	tr->windows = windows;
	return true;
}

/*-------------------------------------------------------------------------
 * Paths
 *-------------------------------------------------------------------------
 */

/* May a path stand between window functions and a node? */
static bool
goes_along(const Path *path)
{
	return IsA(path, WindowAggPath) || IsA(path, SortPath) || IsA(path, IncrementalSortPath) ||
		IsA(path, ProjectionPath);
}

/* The node of ours below PostgreSQL's window functions; NULL if there is none. */
static GcPath *
node_below(Path *path)
{
	while (goes_along(path))
		path = *gc_single_child(path);
	return gc_is_path(path) ? (GcPath *) path : NULL;
}

/* A copy of what is above a node, with another path where that was. */
static Path *
copy_above(Path *path, const GcPath *node, Path *instead)
{
	Path	  **child;

	if (path == &node->cpath.path)
		return instead;
	path = gc_copy_path(path);
	child = gc_single_child(path);
	*child = copy_above(*child, node, instead);
	return path;
}

/* Conditions that PostgreSQL tests within its window functions, since no later row of a partition meets them. */
static List *
run_conditions(Path *path)
{
	List	   *quals = NIL;

	for (; goes_along(path); path = *gc_single_child(path))
	{
		if (IsA(path, WindowAggPath))
			quals = list_concat(quals, list_copy(GC_RUN_CONDITION((WindowAggPath *) path)));
	}
	return quals;
}

/* The cost of windows of so many rows. */
static Cost
windows_cost(const GcTranslation *tr, double rows, int sorts)
{
	double		operators = ROW_OPERATORS * tr->windows->nwindows + sorts * log2(Max(rows, 2)) * COMPARE_OPERATORS;

	for (int i = 0; i < tr->windows->nfns; i++)
	{
		const GcPlanOutput *out = list_nth(tr->outputs, tr->windows->fns[i].output);
		const GcPlanWindow *w = &tr->windows->windows[tr->windows->fns[i].window];

		/* Without an order, rows of a partition share their result. */
		operators += FUNCTION_OPERATORS +
			(out->typid == NUMERICOID && w->nkeys > w->npartition ? NUMERIC_OPERATORS : 0);
	}
	return rows * operators * cpu_operator_cost;
}

/*
 * Give a node with window functions PostgreSQL's path for them, as its own and as its fallback; false if there is none.
 */
static bool
take_fallback(PlannerInfo *root, GcPath *path, GcPath *node, Path *above)
{
	Path	   *fallback = linitial(node->cpath.custom_paths);

	path->cpath.custom_paths = list_copy(node->cpath.custom_paths);
	if (node_below(above) == node)
	{
		path->own = copy_above(above, node, node->own);
		linitial(path->cpath.custom_paths) = copy_above(above, node, fallback);
		return true;
	}
	/* Paths of row sources are the node's, of which this is another one. */
	if (list_length(path->cpath.custom_paths) > 1)
		return false;
	linitial(path->cpath.custom_paths) = gc_fallback_path(path->tr, path->cpath.path.parent, &path->own);
	return linitial(path->cpath.custom_paths) != NULL;
}

/* A path of a translation with windows, in place of PostgreSQL's; NULL, with a reason, if it has none. */
static GcPath *
windowed_path(PlannerInfo *root, RelOptInfo *output, GcPath *node, Path *above, GcTranslation *tr)
{
	GcPath	   *path = tr->reason ? NULL : gc_make_path(tr, output, root->upper_targets[UPPERREL_WINDOW]);

	if (path && !take_fallback(root, path, node, above))
	{
		gc_refuse(tr, "PostgreSQL has no independent plan for it");
		return NULL;
	}
	if (path)
		path->cpath.path.rows = above->rows;
	return path;
}

/*
 * The node with the window functions that PostgreSQL computes in a path, computed by the session; NULL, with a reason.
 */
static GcPath *
by_session(PlannerInfo *root, RelOptInfo *output, GcPath *node, Path *above, GcTranslation *tr, List *quals)
{
	Path	   *fallback = linitial(node->cpath.custom_paths);
	GcPath	   *path;
	int			sorts = 0;
	Cost		cost;
	Cost		own_time;

	if (translate_windows(tr, root->upper_targets[UPPERREL_WINDOW], node->having, quals, &sorts) &&
		!gc_windows_fit(tr->windows, list_length(tr->outputs), node->cpath.path.rows))
		gc_refuse(tr, "windows of so many rows would take more memory than hash tables may");
	path = windowed_path(root, output, node, above, tr);
	if (path == NULL)
		return NULL;
	cost = windows_cost(tr, node->cpath.path.rows, sorts);
	path->having = quals;
	path->costs = node->costs;
	path->costs.device += cost;
	own_time = gc_execution_time(root, path->own);
	if (own_time > 0 && path->own->total_cost > 0)
		path->costs.scale = path->own->total_cost / own_time;
	gc_set_costs(&path->cpath.path, &path->costs, node->cpath.path.rows);
	tr->plan->sorted = false;
	tr->plan->norder = 0;
	tr->plan->ms += cost * GC_UNIT_MS;
	tr->plan->own_ms += gc_time_above(root, linitial(path->cpath.custom_paths), fallback) * GC_UNIT_MS;
	return path;
}

/* The rows of windows that the device finds for ORDER BY and LIMIT, so that no others are decoded; else all of them. */
static double
rows_wanted(const PlannerInfo *root, double rows)
{
	const double limit = root->sort_pathkeys == NIL || root->parse->distinctClause != NIL ? -1
		: gc_limit_rows(root->parse);

	return limit > 0 ? Min(limit, rows) : rows;
}

/*
 * The node with the window functions computed by the device, which keeps rows of tables alone.  Few rows are the
 * session's: no plan is worth looking for.
 */
static GcPath *
by_device(PlannerInfo *root, RelOptInfo *output, GcPath *node, Path *above, List *quals)
{
	const double rows = node->cpath.path.rows;
	const bool	few = rows_wanted(root, rows) < rows;
	GcTranslation *tr;
	GcPath	   *path;

	if ((rows < FEW_ROWS && !few && !gc_offload_forced()) || list_length(node->cpath.custom_paths) > 1)
		return NULL;
	tr = gc_translate_with_windows(root, root->upper_targets[UPPERREL_WINDOW], quals, few);
	path = windowed_path(root, output, node, above, tr);
	if (path == NULL)
	{
		ereport(DEBUG1,
				(errmsg_internal("gpuconc leaves windows to the session: %s", tr->reason)));
		return NULL;
	}
	tr->plan->rows_out = above->rows;
	path->costs = gc_costs(tr, path->own);
	gc_set_costs(&path->cpath.path, &path->costs, above->rows);
	tr->plan->ms = gc_costs_time(&path->costs, rows_wanted(root, above->rows)) * GC_UNIT_MS;
	return path;
}

/* The one that takes less time; either may be NULL. */
static GcPath *
sooner(GcPath *session, GcPath *device)
{
	if (session == NULL || device == NULL)
		return session ? session : device;
	return device->tr->plan->ms < session->tr->plan->ms ? device : session;
}

/* The cheapest of PostgreSQL's paths, if possible one above a node of ours. */
static Path *
best_path(const RelOptInfo *output)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, output->pathlist)
	{
		Path	   *path = lfirst(lc);
		const bool	better = best && (node_below(path) != NULL) != (node_below(best) != NULL) ? node_below(path) != NULL
			: best == NULL || path->total_cost < best->total_cost;

		if (better && path->param_info == NULL)
			best = path;
	}
	return best;
}

/* A node of ours for what windows are of, which was too dear without them; NULL if there is none. */
static GcPath *
spare_node(const RelOptInfo *input)
{
	ListCell   *lc;

	foreach(lc, gc_planning->spare)
	{
		GcPath	   *path = lfirst(lc);

		if (path->cpath.path.parent == input)
			return path;
	}
	return NULL;
}

void
gc_add_window_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output)
{
	Path	   *above = best_path(output);
	GcPath	   *node = above ? node_below(above) : NULL;
	GcPath	   *session;
	GcPath	   *device;
	GcPath	   *path;
	GcTranslation *tr;
	List	   *quals;
	bool		aside;

	if (above && node == NULL)
		node = spare_node(input);
	if (node == NULL)
		return;
	quals = run_conditions(above);
	tr = gc_builder_save(node->tr);
	session = by_session(root, output, node, above, tr, quals);
	device = by_device(root, output, node, above, quals);
	/* Most of its cost may be to return what LIMIT drops: ordered.c knows. */
	aside = device && !gc_offload_forced() && rows_wanted(root, above->rows) < above->rows &&
		above->total_cost <= device->cpath.path.total_cost;
	if (aside)
	{
		gc_prefer_whole(&device->cpath.path, above);
		gc_planning->spare = lappend(gc_planning->spare, device);
	}
	path = aside ? session : sooner(session, device);
	if (path == NULL)
	{
		gc_note_refusal("window", tr->reason);
		return;
	}
	if (above->total_cost <= path->cpath.path.total_cost && !gc_offload_forced())
		gc_note_refusal("window", GC_CHEAPER);
	gc_note_offer();
	if (gc_offload_forced())
		output->pathlist = output->partial_pathlist = NIL;
	add_path(output, &path->cpath.path);
}
