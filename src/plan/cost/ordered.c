/*-------------------------------------------------------------------------
 *
 * ordered.c
 *	  Paths of ours whose rows come in the order of ORDER BY, or of a window.
 *
 * The executor sorts decoded rows by machine words (exec/order.c), several times as fast
 * as a Sort node does.  Texts are sorted by their ranks in the collation, which are kept
 * with the dictionary.  The fallback is PostgreSQL's own path with a Sort above it.
 *
 * Where LIMIT takes the first few groups or rows, the device drops those that are not among them by the leading key
 * (group/choice.c).  Where the node cannot make the order, a Sort of the few that are left does.
 *
 * Rows are offered in the order of PostgreSQL's GroupAggregate, too.  Values such as string_agg() are made there, of
 * rows that the node has sorted.
 *
 * Groups are offered in the order of the first window that takes them, too.  The window may be of the
 * query level above, if that one reads nothing else: rank() over the rows of a rollup.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "paths.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "../base/builder.h"
#include "../expr/expr.h"
#include "../group/choice.h"
#include "../group/late.h"
#include "node.h"
#include "costs.h"
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"
#include "../../force.h"
#include "../base/planning.h"
#include "../group/sets.h"

/* More rows than this are not chosen on the device. */
#define MOST_WANTED		100000

/* Rows of more are left to a Sort, which may spill them to disk. */
#define MOST_SORTED		1000000

/* Columns are fetched late if rows or groups that are wanted are at most one in this number of the streamed rows. */
#define LATE_FACTOR		4

/* The operators that a comparison of machine words costs. */
#define COMPARE_OPERATORS	0.2

/*-------------------------------------------------------------------------
 * Order
 *-------------------------------------------------------------------------
 */

static bool
is_grouped(const GcTranslation *tr)
{
	return tr->pipelines[tr->main].sink == GC_SINK_AGGREGATE;
}

/* The expression behind an output that is a key or a value; GC_NO_EXPR for others. */
static int
value_expr(GcTranslation *tr, const GcPlanOutput *out)
{
	if (out->type != GC_OUT_VALUE)
		return GC_NO_EXPR;
	return list_nth_int(is_grouped(tr) ? tr->group_keys[tr->main] : tr->row_outputs, out->ref);
}

/* Have the ranks of a text output at hand, so that it can be sorted by; their expression. */
static int
rank_output(GcTranslation *tr, int output, Oid collation)
{
	GcPlanOutput *out = palloc(sizeof(GcPlanOutput));
	int			e;

	*out = *(GcPlanOutput *) list_nth(tr->outputs, output);
	e = value_expr(tr, out);
	e = e < 0 ? e : gc_build_rank(tr, e, out->typid, collation);
	if (e < 0)
		return GC_NO_EXPR;
	out->lut = tr->pexprs[e].ref;
	/* The copied list, whose members the path without an order shares. */
	list_nth_cell(tr->outputs, output)->ptr_value = out;
	return e;
}

/*
 * The operator family by which a type is sorted if nothing is said; from a cache, as a look at the catalog takes long.
 */
static Oid
default_family(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/* Note the whole order in the plan; false if the executor cannot make it. */
static bool
note_order(List *keys, GcTranslation *tr)
{
	ListCell   *lc;

	tr->plan->norder = 0;
	foreach(lc, keys)
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		Oid			type = InvalidOid;
		int			output = key->pk_eclass->ec_has_volatile ? -1 : gc_sorted_output(tr, key->pk_eclass, &type);
		Oid			operator;
		GcKind		kind;

		if (output < 0 || tr->plan->norder == GC_MAX_ORDER)
			return false;
		/*
		 * Words are in the default order of their own type alone: not in that of oid, or of character without its
		 * blanks.
		 */
		if (key->pk_opfamily != default_family(((GcPlanOutput *) list_nth(tr->outputs, output))->typid))
			return false;
		operator = GC_PATHKEY_OPERATOR(key, type);
		if (!OidIsValid(operator))
			return false;
		kind = gc_type_kind(((GcPlanOutput *) list_nth(tr->outputs, output))->typid);
		/* The words of a uuid are in its order. */
		if (GC_KIND_IS_CODE(kind) && kind != GC_UUID && rank_output(tr, output, key->pk_eclass->ec_collation) < 0)
			return false;
		tr->plan->order[tr->plan->norder++] = (GcPlanOrder) {
			.output = output,
			.descending = GC_IS_DESCENDING(key),
			.nulls_first = key->pk_nulls_first,
			.operator = operator,
			.collation = key->pk_eclass->ec_collation
		};
	}
	tr->plan->sorted = true;
	return true;
}

/*-------------------------------------------------------------------------
 * The first few
 *-------------------------------------------------------------------------
 */

double
gc_limit_rows(const Query *query)
{
	const Node *parts[] = {query->limitCount, query->limitOffset};
	double		rows = 0;

	if (query->limitCount == NULL)
		return -1;
	for (int i = 0; i < lengthof(parts); i++)
	{
		const Const *c = (const Const *) parts[i];

		if (c == NULL)
			continue;
		if (!IsA(c, Const) || c->constisnull || DatumGetInt64(c->constvalue) < 0)
			return -1;
		rows += DatumGetInt64(c->constvalue);
	}
	return rows > 0 && rows < MOST_WANTED ? rows : -1;
}

/*-------------------------------------------------------------------------
 * Paths
 *-------------------------------------------------------------------------
 */

/* The path again, for another translation, which returns `rows` rows. */
static GcPath *
path_again(GcPath *path, GcTranslation *tr, double rows)
{
	const Path *old = &path->cpath.path;
	GcPath	   *again = gc_make_path(tr, old->parent, old->pathtarget);

	again->having = path->having;
	again->own = path->own;
	again->cpath.custom_paths = list_copy(path->cpath.custom_paths);
	again->cpath.path.rows = rows;
	again->costs = path->costs;
	gc_set_costs(&again->cpath.path, &again->costs, rows);
	tr->plan->ms = gc_costs_time(&again->costs, rows) * GC_UNIT_MS;
	/* A whole plan may have been made to cost less than it does (gc_prefer_whole()). */
	again->cpath.path.startup_cost = Min(again->cpath.path.startup_cost, old->startup_cost);
	again->cpath.path.total_cost = Min(again->cpath.path.total_cost, old->total_cost);
	return again;
}

/*
 * Each worker sorts, so that it need not hand on more rows than are wanted.  NULL where workers do not read the
 * relation.
 */
static Path *
sorted_by_workers(PlannerInfo *root, Path *path, List *keys, double limit)
{
	RelOptInfo *rel = path->parent;
	Path	   *partial = rel->partial_pathlist == NIL ? NULL : linitial(rel->partial_pathlist);
	double		rows = path->rows;

	if (partial == NULL || !enable_gathermerge || IS_UPPER_REL(rel) ||
		!equal(partial->pathtarget->exprs, path->pathtarget->exprs))
		return NULL;
	partial = (Path *) create_sort_path(root, rel, partial, keys, limit);
	return (Path *) create_gather_merge_path(root, rel, partial, path->pathtarget, keys, NULL, &rows);
}

/*
 * PostgreSQL's path in an order, of which `limit` rows are wanted; 0: all.  Parameters and row sources of the node
 * are in the path itself alone.
 */
static Path *
sorted_fallback(PlannerInfo *root, const GcPath *node, Path *path, List *keys, double limit)
{
	Path	   *sorted;
	Path	   *parallel;

	if (pathkeys_contained_in(keys, path->pathkeys))
		return path;
	sorted = (Path *) create_sort_path(root, path->parent, path, keys, limit > 0 ? limit : -1);
	if (limit <= 0 || list_length(node->cpath.custom_paths) > 1)
		return sorted;
	parallel = sorted_by_workers(root, path, keys, limit);
	/* Not all that workers have is read. */
	return parallel && parallel->startup_cost + (parallel->total_cost - parallel->startup_cost) * Min(limit / Max(parallel->rows, 1), 1) <
		sorted->startup_cost ? parallel : sorted;
}

/* The rows of the path are in an order, and so are the rows of its fallback, and of PostgreSQL's own path. */
static void
claim_order(PlannerInfo *root, GcPath *path, List *keys)
{
	Path	   *fallback = linitial(path->cpath.custom_paths);
	Path	   *sorted = sorted_fallback(root, path, fallback, keys, path->tr->plan->limit);
	double		rows = Max(path->cpath.path.rows, 2);
	Cost		sorting = rows * log2(rows) * COMPARE_OPERATORS * cpu_operator_cost;

	linitial(path->cpath.custom_paths) = sorted;
	path->own = sorted_fallback(root, path, path->own, keys, path->tr->plan->limit);
	path->tr->plan->own_ms += gc_time_above(root, sorted, fallback) * GC_UNIT_MS;
	path->cpath.path.pathkeys = keys;
	path->costs.device += sorting;
	path->tr->plan->ms += sorting * GC_UNIT_MS;
	path->cpath.path.startup_cost += path->costs.scale * sorting;
	path->cpath.path.total_cost += path->costs.scale * sorting;
}

/*
 * Is it a value of a group that PostgreSQL makes without an error?  Sums of floats and intervals may be out of range.
 */
static bool
is_group_value(const Node *expr)
{
	const Oid	type = IsA(expr, Aggref) ? ((const Aggref *) expr)->aggtype : InvalidOid;

	return IsA(expr, GroupingFunc) ||
		(OidIsValid(type) && type != FLOAT4OID && type != FLOAT8OID && type != INTERVALOID && type != CASHOID);
}

typedef struct FewContext
{
	const GcTranslation *tr;
	const EquivalenceClass *order;
} FewContext;

/*
 * May an expression raise an error that PostgreSQL, which computes it of all rows, would have met?  Windows of the
 * device's, and what it groups below them, are of all rows, and so is what it finds the first ones by.
 */
static GcRaises
of_few_raises(Node *node, void *of)
{
	const FewContext *context = of;
	const bool	windowed = context->tr->groups && context->tr->groups->rows;

	if (is_group_value(node) || (windowed && (IsA(node, WindowFunc) || IsA(node, Aggref))) ||
		(!is_grouped(context->tr) && gc_is_sorted_by(context->order, node)))
		return GC_RAISES_NOTHING;
	return gc_call_raises(node);
}

/* May these expressions be computed of the first rows alone?  An error of another row is not raised then. */
static bool
may_be_few(const GcPath *path, List *exprs, const PathKey *leading)
{
	FewContext	context = {path->tr, leading->pk_eclass};

	return !gc_may_raise((Node *) exprs, of_few_raises, &context);
}

/*
 * The translation of a path of which the first few rows are returned; NULL where an error of another row may be lost.
 * The session divides in the first rows alone.  So the device computes what may raise an error, too, of all rows of its
 * windows.
 */
static GcTranslation *
for_few(const GcPath *path, const PathKey *leading)
{
	GcTranslation *tr = gc_builder_save(path->tr);
	ListCell   *lc;

	foreach(lc, path->cpath.path.pathtarget->exprs)
	{
		int			e;

		if (may_be_few(path, list_make1(lfirst(lc)), leading))
			continue;
		e = tr->groups && tr->groups->rows ? gc_translate_expr(tr, tr->streamed, lfirst(lc)) : GC_NO_EXPR;
		if (e < 0)
			return NULL;
		gc_build_always(tr, tr->main, e);
	}
	return tr->reason ? NULL : tr;
}

/*
 * A path of ours for an order, and LIMIT if it is known; NULL if it is no better than it was.  It has no order where
 * the node returns the first few, but cannot sort them.  A Sort above has expressions computed of all that the node
 * returns; else LIMIT takes the first rows before.
 */
static Path *
ordered_path(PlannerInfo *root, GcPath *path, List *keys, double wanted)
{
	GcTranslation *first = wanted > 0 && path->having == NIL ? for_few(path, linitial(keys)) : NULL;
	const bool	few = first != NULL;
	GcTranslation *tr = few ? first : gc_builder_save(path->tr);
	const bool	chosen = wanted > 0 && (few || is_grouped(tr)) &&
		gc_choose_first(tr, keys, path->cpath.path.pathtarget->exprs, wanted);
	const double rows = chosen ? Min(wanted, path->cpath.path.rows) : path->cpath.path.rows;
	GcTranslation *unsorted = chosen ? gc_builder_save(tr) : NULL;
	const bool	sorted = rows <= MOST_SORTED && note_order(keys, tr);
	GcPath	   *again;

	if (!sorted && !(chosen && (is_grouped(path->tr) || may_be_few(path, root->upper_targets[UPPERREL_ORDERED]->exprs, linitial(keys)))))
		return NULL;
	if (!sorted)
		tr = unsorted;
	if (chosen)
		tr->plan->rows_out = 2 * wanted;
	/* HAVING may drop rows, ties be wanted of the last, and expressions fail for rows behind it. */
	if (sorted && wanted > 0 && path->having == NIL && (chosen || few) &&
		root->parse->limitOption != LIMIT_OPTION_WITH_TIES)
		tr->plan->limit = wanted;
	/* A set's groups are made of the finest ones, and have no rows of their own. */
	if (wanted > 0 && root->parse->groupingSets == NIL && (chosen || tr->plan->limit > 0) &&
		wanted * LATE_FACTOR <= tr->streamed->tuples)
		tr = gc_fetch_late(tr);
	if (rows < path->cpath.path.rows)
		tr->plan->rows_ms = 0;
	again = path_again(path, tr, rows);
	if (sorted)
		claim_order(root, again, keys);
	return &again->cpath.path;
}

/* Nodes of ours are left out of what PostgreSQL sorted. */
static void
drop_sorted_nodes(RelOptInfo *output)
{
	ListCell   *lc;

	foreach(lc, output->pathlist)
	{
		Path	   *path = lfirst(lc);

		while (IsA(path, ProjectionPath) || IsA(path, SortPath) || IsA(path, IncrementalSortPath))
			path = IsA(path, ProjectionPath) ? ((ProjectionPath *) path)->subpath : ((SortPath *) path)->subpath;
		if (gc_is_path(path))
			output->pathlist = foreach_delete_current(output->pathlist, lc);
	}
}

/*
 * The order that a query level wants of its rows, and within groups that of the first aggregate that sorts its input.
 */
static List *
order_of_aggregates(PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->parse->hasAggs ? root->agginfos : NIL)
	{
		const Aggref *agg = GC_AGGREGATE_OF((AggInfo *) lfirst(lc));
		List	   *clauses = agg->aggdistinct ? agg->aggdistinct : agg->aggorder;

		if (clauses != NIL && grouping_is_sortable(clauses))
			return list_concat_unique_ptr(list_copy(root->query_pathkeys),
										  make_pathkeys_for_sortclauses(root, clauses, agg->args));
	}
	return root->query_pathkeys;
}

void
gc_add_sorted_path(PlannerInfo *root, RelOptInfo *rel, GcPath *path)
{
	List	   *keys = order_of_aggregates(root);
	Path	   *sorted = ordered_path(root, path, keys, -1);

	if (sorted == NULL && keys != root->query_pathkeys)
		sorted = ordered_path(root, path, root->query_pathkeys, -1);
	if (sorted)
		add_path(rel, sorted);
}

void
gc_add_ordered_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output)
{
	const Query *query = root->parse;
	PathTarget *target = root->upper_targets[UPPERREL_ORDERED];
	List	   *keys = gc_sort_keys(root);
	const bool	apart = keys != root->sort_pathkeys;
	double		wanted = gc_limit_rows(query);
	ListCell   *lc;

	if (keys == NIL || query->rowMarks != NIL || query->hasTargetSRFs)
		return;
	/* Joined rows have been offered in this order (gc_add_sorted_path()). */
	if (!IS_UPPER_REL(input) && wanted <= 0)
		return;
	foreach(lc, list_concat_copy(input->pathlist, gc_planning->spare))
	{
		Path	   *path = lfirst(lc);
		PathTarget *sorted_target = path->pathtarget;
		Path	   *sorted;
		bool		above;

		/* The target may be computed above it. */
		if (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		if (!gc_is_path(path) || (foreach_current_index(lc) >= list_length(input->pathlist) && path->parent != input))
			continue;
		/* No row may be missing that windows, other nodes or DISTINCT are still to take. */
		above = ((GcPath *) path)->tr->windows != NULL || (query->distinctClause != NIL && path->parent != input);
		sorted = ordered_path(root, (GcPath *) path, keys, above ? -1 : wanted);
		if (sorted == NULL && !apart)
			continue;
		path = sorted ? sorted : path;
		/* Fewer rows come from the device, however many are estimated. */
		if (apart || ((GcPath *) path)->tr->plan->wanted > 0)
			drop_sorted_nodes(output);
		if (path->pathkeys == NIL)
			path = (Path *) create_sort_path(root, output, apply_projection_to_path(root, output, path, sorted_target),
											 keys, wanted);
		if (path->pathtarget != target)
			path = apply_projection_to_path(root, output, path, target);
		if (gc_offload_forced())
			output->pathlist = output->partial_pathlist = NIL;
		add_path(output, path);
		return;
	}
}

/*-------------------------------------------------------------------------
 * Window functions
 *-------------------------------------------------------------------------
 */

/* The column that a subquery's reader knows by this key, and the type as which it is sorted; NULL if there is none. */
static TargetEntry *
column_of_key(PlannerInfo *root, const PathKey *key, int rti, Oid *type)
{
	ListCell   *lc;

	foreach(lc, key->pk_eclass->ec_members)
	{
		const EquivalenceMember *em = lfirst_node(EquivalenceMember, lc);
		const Var  *var = (Var *) em->em_expr;

		/* A varchar is sorted as the text that it is relabelled as.  COLLATE is a label, too. */
		if (IsA(var, RelabelType) && exprCollation((Node *) ((RelabelType *) var)->arg) == key->pk_eclass->ec_collation)
			var = (Var *) ((RelabelType *) var)->arg;
		*type = em->em_datatype;
		if (IsA(var, Var) && var->varno == rti && var->varlevelsup == 0)
			return get_tle_by_resno(root->processed_tlist, var->varattno);
	}
	return NULL;
}

/* The order of the level above, which reads nothing but this one, in terms of this one. */
static List *
order_from_above(PlannerInfo *root, List *keys, int rti)
{
	List	   *clauses = NIL;
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		Oid			type = InvalidOid;
		TargetEntry *column = key->pk_eclass->ec_has_volatile ? NULL : column_of_key(root, key, rti, &type);
		SortGroupClause *clause = makeNode(SortGroupClause);

		if (column == NULL)
			return NIL;
		column = flatCopyTargetEntry(column);
		column->ressortgroupref = clause->tleSortGroupRef = foreach_current_index(lc) + 1;
		columns = lappend(columns, column);
		clause->sortop = GC_PATHKEY_OPERATOR(key, type);
		clause->eqop = get_opfamily_member(key->pk_opfamily, type, type, BTEqualStrategyNumber);
		clause->nulls_first = key->pk_nulls_first;
		GC_SET_DESCENDING(clause, GC_IS_DESCENDING(key));
		if (!OidIsValid(clause->sortop) || !OidIsValid(clause->eqop))
			return NIL;
		clauses = lappend(clauses, clause);
	}
	return gc_keys_of_clauses(root, clauses, columns);
}

/* The order in which window functions of this level, or of one that reads nothing else, take its groups. */
static List *
window_order(PlannerInfo *root)
{
	const Query *query = root->parse;
	const PlannerInfo *above = root->parent_root;
	int			rti;

	if (query->hasWindowFuncs)
		return root->window_pathkeys;
	if (above == NULL || above->window_pathkeys == NIL || query->sortClause != NIL || query->distinctClause != NIL ||
		query->limitCount != NULL || query->limitOffset != NULL || query->setOperations != NULL ||
		!bms_get_singleton_member(above->all_baserels, &rti) || planner_rt_fetch(rti, above)->rtekind != RTE_SUBQUERY)
		return NIL;
	return order_from_above(root, above->window_pathkeys, rti);
}

void
gc_add_window_order(PlannerInfo *root, RelOptInfo *output)
{
	List	   *keys = window_order(root);
	ListCell   *lc;

	if (keys == NIL || root->parse->rowMarks != NIL || root->parse->hasTargetSRFs)
		return;
	foreach(lc, output->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (!gc_is_path(path))
			continue;
		path = ordered_path(root, (GcPath *) path, keys, -1);
		if (path)
			add_path(output, path);
		return;
	}
}
