/*-------------------------------------------------------------------------
 *
 * subquery.c
 *	  Aggregated subqueries in FROM, those whose rows are kept, and UNION ALL of joins and aggregates, as leaves of
 *	  the join tree.
 *
 * PostgreSQL has planned the subquery as a query level of its own.  Its join tree and
 * its aggregation become pipelines of the outer query's program, before the outer query's
 * own.  The leaf's own pipeline scans the groups, applies HAVING and the outer
 * query's conditions, and fills a build, or is streamed.
 *
 * A subquery may stand in the statement several times: PostgreSQL plans each mention of an inlined CTE anew.
 * Where its plan joins and filters the same, the groups are made once, and each leaf is an input of them.
 *
 * The rows of a subquery with window functions, of groups or of a join, are kept, and the functions' values are
 * columns of them (group/kept_windows.c).  So they are of the node's own level, where the device computes its
 * windows (cost/windows.c).
 *
 * Grouping sets are made of finer groups (group/agg.c).  A set without columns has a group of no row, which the device
 * does not make.  So where there is no group, the request is given back.
 *
 * A subquery that groups nothing is a part of the outer query's join mostly.  One with LIMIT ALL is not: its rows are
 * kept (group/groups.c), to be read as groups are.  So it is with CTEs that are computed once (rewrite/rewrite_cte.c).
 *
 * Outputs of the subquery's InitPlans are parameters of the program.  So these plans are attached to the
 * node's own query level, too (cost/node.c).
 *
 * PostgreSQL's plan of the subquery is in the node's fallback, so that permissions are
 * checked as always.  Its row sources are not: they would need plans of another level.
 *
 * UNION ALL: where all SELECTs read tables, it is an append input (base/append.c).  Else each is an *arm*.
 * Its joins are pipelines of the outer query's program, the last of which ends in the sink of the leaf's
 * pipeline.  That one is the first arm's, whose rows are the most.  What the outer query does with the rows
 * is done in each of them, by the same expressions.  A column of the union is that of the pipeline's own
 * arm (GC_OP_ARM).
 *
 * An arm that joins tables is translated as the query level that PostgreSQL planned it as.  Any other is
 * one relation of the level above: a table, an append input, an aggregated subquery, or a UNION ALL
 * again.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "pipelines.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "../base/builder.h"
#include "../base/display.h"
#include "../base/source.h"
#include "../expr/expr.h"
#include "../group/groups.h"
#include "../group/sets.h"
#include "../base/quotient.h"
#include "relinfo.h"
#include "tree.h"
#include "../../compat.h"
#include "../base/append.h"
#include "../expr/lookup.h"
#include "../../columns/encode/pgkinds.h"
#include "../../queue/queue.h"

/* bigint > integer; pg_operator.dat has no symbol for it */
#define INT84_GREATER	419

/* Rows that are kept are not expected to take more than this part of device memory, and those of all subqueries. */
#define KEPT_PART		4
#define KEPT_ALL_PART	2

/* Are the level's InitPlans no CTEs?  A CTE's plan is among them, and may be what another one reads. */
static bool
has_plain_init_plans(PlannerInfo *subroot)
{
	ListCell   *lc;

	foreach(lc, subroot->init_plans)
	{
		if (lfirst_node(SubPlan, lc)->subLinkType == CTE_SUBLINK)
			return false;
	}
	return true;
}

/* Does the query group rows?  As gc_is_plain_query() asks whether it does not. */
static bool
groups_rows(const Query *q)
{
	return q->hasAggs || q->groupClause != NIL || q->distinctClause != NIL;
}

/* Is the query one aggregation of a join, or has it window functions, and nothing else that changes its rows? */
static bool
is_aggregation(PlannerInfo *subroot)
{
	const Query *q = subroot->parse;

	return q->commandType == CMD_SELECT && (groups_rows(q) || q->hasWindowFuncs) &&
		!(q->distinctClause != NIL && (q->hasAggs || q->groupClause != NIL || q->hasWindowFuncs)) &&
		/* Without keys there is one group, also of no row. */
		!((q->hasWindowFuncs || q->groupingSets != NIL) && groups_rows(q) && q->groupClause == NIL) &&
		!q->hasDistinctOn && q->setOperations == NULL &&
		!gc_has_limit(q) && !q->hasTargetSRFs && q->rowMarks == NIL &&
		!q->hasModifyingCTE && has_plain_init_plans(subroot) && !bms_is_empty(subroot->all_baserels) &&
		/* PostgreSQL calls these for each group, read or not. */
		!contain_volatile_functions((Node *) subroot->processed_tlist);
}

/* Has PostgreSQL planned the SELECT as a query level that joins tables, and does nothing else with their rows? */
static bool
is_join_select(PlannerInfo *subroot)
{
	return gc_is_plain_query(subroot) && has_plain_init_plans(subroot) && subroot->parse->setOperations == NULL &&
		!bms_is_empty(subroot->all_baserels) && !contain_volatile_functions((Node *) subroot->processed_tlist);
}

/* Are the rows of such a query to be kept, with LIMIT ALL? */
static bool
is_kept(PlannerInfo *subroot)
{
	return subroot->parse->limitCount != NULL && is_join_select(subroot);
}

/* The relation of all that a query level joins; NULL if that has none. */
static RelOptInfo *
joined_rel(PlannerInfo *subroot)
{
	int			relid;

	if (bms_get_singleton_member(subroot->all_baserels, &relid))
		return find_base_rel(subroot, relid);
	return find_join_rel(subroot, GC_ALL_RELIDS(subroot));
}

/* Expressions by which a query level's rows are grouped; DISTINCT groups by its columns, but above windows. */
static List *
group_exprs(PlannerInfo *subroot)
{
	const Query *q = subroot->parse;
	const bool	distinct = q->distinctClause != NIL && !q->hasWindowFuncs;

	return get_sortgrouplist_exprs(distinct ? q->distinctClause : q->groupClause, subroot->processed_tlist);
}

/* PostgreSQL's estimate; without keys there is one group. */
static double
number_of_groups(PlannerInfo *subroot, RelOptInfo *rel, List *exprs)
{
	if (exprs == NIL)
		return 1;
	return estimate_num_groups(subroot, exprs, clamp_row_est(rel->rows), NULL, NULL);
}

/* count(*) > 0 */
static Expr *
has_rows(void)
{
	Aggref	   *count = makeNode(Aggref);
	OpExpr	   *op;

	count->aggfnoid = F_COUNT_;
	count->aggtype = count->aggtranstype = INT8OID;
	count->aggstar = true;
	count->aggkind = AGGKIND_NORMAL;
	count->aggsplit = AGGSPLIT_SIMPLE;
	count->aggno = count->aggtransno = -1;
	count->location = -1;
	op = (OpExpr *) make_opclause(INT84_GREATER, BOOLOID, false, (Expr *) count,
								  (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false,
													 true),
								  InvalidOid, InvalidOid);
	op->opfuncid = F_INT84GT;
	return (Expr *) op;
}

/* Translate what the level below the leaf joins; false, with a reason, if that cannot be. */
static bool
translate_join(GcTranslation *tr, PlannerInfo *subroot, RelOptInfo *rel)
{
	GcRelDesc  *desc = gc_rel_desc(subroot, rel);
	ListCell   *lc;

	if (!desc->ok)
		return gc_refuse(tr, "%s", desc->reason) >= 0;
	if (!gc_translate_tree(tr, desc))
		return false;
	foreach(lc, tr->leaves)
	{
		if (gc_leaf_is_source(lfirst(lc)))
			return gc_refuse(tr, "a subquery reads something other than tables") >= 0;
	}
	return gc_translate_steps(tr);
}

/* May this number of the level's rows be kept in device memory?  Else there is a reason. */
static bool
may_be_kept(GcTranslation *tr, PlannerInfo *subroot, double rows)
{
	const double words = list_length(subroot->processed_tlist) + 1;
	const double bytes = rows *
		(words * sizeof(u64) + (subroot->parse->hasWindowFuncs ? GC_WINDOW_BYTES(1) - GC_WINDOW_BYTES(0) : 0));
	const u64	memory = gc_device_status()->info.memory_bytes;

	tr->kept_bytes += bytes;
	return (bytes <= memory / KEPT_PART && tr->kept_bytes <= memory / KEPT_ALL_PART) ||
		gc_refuse(tr, "too many rows are expected to be kept in device memory") >= 0;
}

/* Translate the level below the leaf, whose rows are kept.  NULL, with a reason, if they cannot be. */
static GcGroups *
translate_kept(GcTranslation *tr, PlannerInfo *subroot, RelOptInfo *rel)
{
	GcGroups   *rows;

	if (!may_be_kept(tr, subroot, rel->rows) || !translate_join(tr, subroot, rel))
		return NULL;
	rows = subroot->parse->hasWindowFuncs ? gc_windowed_open(tr) : gc_rows_open(tr);
	if (rows)
		tr->plan->groups[rows->pipeline] = Max(rel->rows, 1);
	return rows;
}

/* Translate the level below the leaf.  Its groups, or NULL with a reason. */
static GcGroups *
translate_level(GcTranslation *tr, PlannerInfo *subroot, RelOptInfo *rel)
{
	List	   *exprs = group_exprs(subroot);
	GcGroups   *groups;
	double		n;
	ListCell   *lc;

	if (!translate_join(tr, subroot, rel) || !gc_open_finer_groups(tr, exprs))
		return NULL;
	n = subroot->parse->groupingSets ? gc_sets_groups(subroot, NIL, rel->rows) : number_of_groups(subroot, rel, exprs);
	foreach(lc, exprs)
	{
		/* A key without Vars splits nothing. */
		if (!contain_var_clause(lfirst(lc)))
			continue;
		if (gc_group_key(tr, lfirst(lc)) < 0)
			return NULL;
		if (subroot->parse->groupingSets == NIL)
			gc_build_display(tr, tr->streamed->pipeline, GC_DISPLAY_GROUP_KEY, lfirst(lc));
	}
	groups = gc_groups_open(tr);
	if (groups == NULL)
		return NULL;
	groups->by = exprs;
	tr->pipelines[groups->pipeline].needs_group = list_member(subroot->parse->groupingSets, NIL);
	tr->plan->groups[groups->pipeline] = subroot->parse->groupingSets ? n
		: Min(n, gc_most_groups(tr, groups->pipeline));
	return groups;
}

/* Test conditions where groups or rows are streamed. */
static bool
test_streamed(GcTranslation *tr, List *conditions)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		int			e = gc_translate_expr(tr, tr->streamed, lfirst(lc));

		if (e < 0)
			return false;
		gc_build_filter(tr, tr->streamed->pipeline, e, 0.5);
		gc_build_display(tr, tr->streamed->pipeline, GC_DISPLAY_FILTER, lfirst(lc));
	}
	return true;
}

/* Translate a level whose rows are kept, with windows over them.  NULL, with a reason, if that cannot be. */
static GcGroups *
translate_windowed(GcTranslation *tr, PlannerInfo *subroot, RelOptInfo *rel)
{
	GcGroups   *groups;
	GcGroups   *rows;

	if (subroot->parse->groupClause == NIL && !subroot->parse->hasAggs)
		return translate_kept(tr, subroot, rel);
	groups = translate_level(tr, subroot, rel);
	if (groups == NULL)
		return NULL;
	if (tr->group_keys[groups->pipeline] == NIL)
	{
		gc_refuse(tr, "windows are over the only group");
		return NULL;
	}
	if (!may_be_kept(tr, subroot, tr->plan->groups[groups->pipeline]) || !gc_groups_stream(tr, groups) ||
		!test_streamed(tr, (List *) tr->root->parse->havingQual) || (rows = gc_windowed_open(tr)) == NULL)
		return NULL;
	tr->plan->groups[rows->pipeline] = tr->plan->groups[groups->pipeline];
	return rows;
}

/*
 * Translate a subquery with windows.  NULL, with a reason, if that cannot be: then it is PostgreSQL's,
 * and not all that reads it.
 */
static GcGroups *
translate_windows(GcTranslation *tr, PlannerInfo *subroot, RelOptInfo *rel, const Query *query)
{
	GcGroups   *rows = translate_windowed(tr, subroot, rel);
	ListCell   *lc;

	if (rows)
		rows->query = query;
	foreach(lc, rows ? subroot->processed_tlist : NIL)
	{
		if (contain_window_function((Node *) lfirst_node(TargetEntry, lc)->expr) &&
			gc_groups_expr(tr, rows, lfirst_node(TargetEntry, lc)->expr) < 0)
			return NULL;
	}
	return rows;
}

bool
gc_windows_stream(GcTranslation *tr, List *conditions)
{
	PlannerInfo *root = tr->root;
	RelOptInfo *rel = joined_rel(root);
	GcGroups   *rows;

	if (rel == NULL || IS_DUMMY_REL(rel))
		return gc_refuse(tr, "its condition is always false") >= 0;
	if (contain_volatile_functions((Node *) root->processed_tlist))
		return gc_refuse(tr, "a volatile function is above a window") >= 0;
	rows = translate_windowed(tr, root, rel);
	if (rows == NULL || !gc_groups_stream(tr, rows) || !test_streamed(tr, conditions))
		return false;
	tr->main = tr->streamed->pipeline;
	return true;
}

static bool
is_division(const GcExpr *e)
{
	return e->op == GC_OP_DIV && gc_is_quotient(e);
}

static int
subquery_column(GcTranslation *tr, GcLeaf *leaf, Var *var)
{
	TargetEntry *tle = get_tle_by_resno(leaf->groups->tlist, var->varattno);
	int			e;

	if (tle == NULL)
		return gc_refuse(tr, "a whole-row reference is used");
	if (leaf->groups->rows && !leaf->groups->root->parse->hasWindowFuncs)
		return gc_rows_column(tr, leaf->groups, tle->expr);
	e = gc_groups_expr(tr, leaf->groups, tle->expr);

	/*
	 * Quotients of a build are computed where they are used, of the groups that joins leave (base/leaf.c).  But
	 * PostgreSQL divides in all groups, and 0 is an error.
	 */
	if (e >= 0 && leaf->build >= 0 && gc_any_part(tr, e, is_division))
		gc_build_always(tr, leaf->pipeline, e);
	return e;
}

/*-------------------------------------------------------------------------
 * A subquery that is read several times
 *-------------------------------------------------------------------------
 */

/* An expression without the planner's numbers of aggregates, which depend on the columns that are read. */
static Node *
unnumbered(Node *node, void *context)
{
	Aggref	   *agg;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, unnumbered, context);
	agg = copyObject((Aggref *) node);
	agg->aggno = agg->aggtransno = -1;
	return (Node *) agg;
}

/* Are both equal, whatever their relations' numbers are? */
static bool
equal_unnumbered(Node *a, Node *b)
{
	return equal(unnumbered(a, NULL), unnumbered(b, NULL));
}

/* Does a query level join tables only, and all that another one of the same query joins? */
static bool
joins_as_much(PlannerInfo *root, PlannerInfo *other)
{
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		if (root->simple_rel_array[i] && root->simple_rel_array[i]->subroot)
			return false;
	}
	return bms_equal(root->all_baserels, other->all_baserels);
}

/*
 * Can the columns of a subquery be had of the groups of another one, whose query is the same?  PostgreSQL has put NULL
 * in place of columns that are not read.  What below it was left out with them is lost.
 */
static bool
has_columns(const GcGroups *groups, PlannerInfo *subroot)
{
	ListCell   *lc,
			   *ln;

	if (list_length(groups->tlist) != list_length(subroot->processed_tlist))
		return false;
	forboth(lc, groups->tlist, ln, subroot->processed_tlist)
	{
		Node	   *had = (Node *) lfirst_node(TargetEntry, lc)->expr;
		Node	   *wanted = (Node *) lfirst_node(TargetEntry, ln)->expr;

		if (equal_unnumbered(had, wanted) || (IsA(wanted, Const) && ((Const *) wanted)->constisnull))
			continue;
		if (!IsA(had, Const) || !((Const *) had)->constisnull || subroot->numOrderedAggs > 0 ||
			!joins_as_much(groups->root, subroot))
			return false;
	}
	return true;
}

/* Are the windows' frames equal?  From 16 on, PostgreSQL changes them by the functions that are read. */
static bool
same_frames(const Query *a, const Query *b)
{
	ListCell   *la,
			   *lb;

	forboth(la, a->windowClause, lb, b->windowClause)
	{
		if (lfirst_node(WindowClause, la)->frameOptions != lfirst_node(WindowClause, lb)->frameOptions)
			return false;
	}
	return list_length(a->windowClause) == list_length(b->windowClause);
}

/*
 * Groups of a subquery with the same rows, or NULL.  The conditions of its reader that PostgreSQL
 * pushed down are the same, too.
 */
static GcGroups *
find_same(const GcTranslation *tr, PlannerInfo *subroot, const Query *query)
{
	ListCell   *lc;

	foreach(lc, tr->subqueries)
	{
		GcGroups   *groups = lfirst(lc);
		const Query *parse = groups->root->parse;

		if (equal(groups->query, query) && equal(parse->jointree, subroot->parse->jointree) &&
			equal_unnumbered(parse->havingQual, subroot->parse->havingQual) && same_frames(parse, subroot->parse) &&
			has_columns(groups, subroot))
			return groups;
	}
	return NULL;
}

/*
 * The subquery's groups or rows: those of the same subquery elsewhere in the statement, or its
 * own.  NULL with a reason.
 */
static GcGroups *
have_groups(GcTranslation *tr, PlannerInfo *subroot, RelOptInfo *rel, const Query *query)
{
	GcGroups   *same = find_same(tr, subroot, query);
	GcGroups   *groups;
	GcLevel		level;

	if (same)
		groups = gc_groups_again(tr, same);
	else
	{
		level = gc_level_enter(tr, subroot, NIL, NULL, NULL);
		groups = is_kept(subroot) ? translate_kept(tr, subroot, rel) : subroot->parse->hasWindowFuncs ?
			translate_windows(tr, subroot, rel, query) : translate_level(tr, subroot, rel);
		gc_level_leave(tr, &level);
	}
	if (groups == NULL)
		return NULL;
	groups->query = query;
	groups->tlist = subroot->processed_tlist;
	groups->column = subquery_column;
	if (!same)
		tr->subqueries = lappend(tr->subqueries, groups);
	return groups;
}

bool
gc_subquery_embed(GcTranslation *tr, GcLeaf *leaf)
{
	PlannerInfo *subroot = leaf->rel->subroot;
	RelOptInfo *rel;
	GcTranslation *before;
	GcGroups   *groups;
	double		fewer;

	if (tr->reason || !IS_SIMPLE_REL(leaf->rel) || leaf->rel->rtekind != RTE_SUBQUERY || subroot == NULL ||
		leaf->rel->subplan_params != NIL || !(is_aggregation(subroot) || is_kept(subroot)))
		return false;
	rel = joined_rel(subroot);
	if (rel == NULL || IS_DUMMY_REL(rel))
		return false;
	before = gc_builder_save(tr);
	groups = have_groups(tr, subroot, rel, planner_rt_fetch(leaf->rel->relid, tr->root)->subquery);
	if (groups == NULL)
	{
		ereport(DEBUG1,
				(errmsg_internal("gpuconc leaves a subquery to PostgreSQL: %s", tr->reason)));
		gc_builder_restore(tr, before);
		return false;
	}
	tr->init_plans = list_concat(tr->init_plans, list_copy(subroot->init_plans));
	leaf->groups = groups;
	leaf->input = groups->input;
	leaf->having = groups->rows ? gc_run_conditions(subroot) : (List *) subroot->parse->havingQual;
	/* A pipeline without keys has a group always. */
	if (!groups->rows && groups->by != NIL && tr->group_keys[groups->pipeline] == NIL)
		leaf->having = lappend(list_copy(leaf->having), has_rows());
	leaf->tuples = Max(tr->plan->groups[groups->pipeline], 1);
	fewer = Min(leaf->tuples / Max(leaf->rel->tuples, 1), 1);
	leaf->rows = Max(leaf->rel->rows * fewer, 1);
	tr->fewer = before->fewer * fewer;
	return true;
}

/*-------------------------------------------------------------------------
 * Arms
 *-------------------------------------------------------------------------
 */

/* The arms of a UNION ALL while they are found. */
typedef struct ArmWalk
{
	List	   *arms;			/* GcArm */
	List	   *empty;			/* as GcUnion's */
	bool		filtered;		/* as GcUnion's */
	const char *reason;
} ArmWalk;

/* Note the reason; returns false for the caller to return. */
static bool
refuse(ArmWalk *w, const char *reason)
{
	w->reason = reason;
	return false;
}

/* The expressions that placeholders stand for. */
static Node *
strip_placeholders(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, PlaceHolderVar))
		return strip_placeholders((Node *) ((PlaceHolderVar *) node)->phexpr, context);
	return expression_tree_mutator(node, strip_placeholders, context);
}

bool
gc_is_false(const Query *query)
{
	ListCell   *lc;

	foreach(lc, castNode(List, query->jointree->quals))
	{
		const Const *con = lfirst(lc);

		if (IsA(con, Const) && (con->constisnull || !DatumGetBool(con->constvalue)))
			return true;
	}
	return false;
}

/* Does a subquery group no rows, so that it has none? */
static bool
is_empty_grouping(PlannerInfo *subroot)
{
	RelOptInfo *rel = subroot->parse->setOperations ? NULL : joined_rel(subroot);

	return rel && (IS_DUMMY_REL(rel) || gc_is_false(subroot->parse)) && subroot->parse->groupingSets == NIL &&
		(subroot->parse->groupClause != NIL || subroot->parse->distinctClause != NIL);
}

/* A subquery whose columns are looked at. */
typedef struct Subquery
{
	Index		relid;
	List	   *tlist;
} Subquery;

/* Columns that are constants, as these. */
static Node *
constants_mutator(Node *node, void *context)
{
	const Subquery *s = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == s->relid)
	{
		TargetEntry *tle = get_tle_by_resno(s->tlist, ((Var *) node)->varattno);

		return (Node *) copyObject(tle && IsA(tle->expr, Const) ? (Node *) tle->expr : node);
	}
	return expression_tree_mutator(node, constants_mutator, context);
}

/* exprs: the union's columns, as expressions of a relation. */
static bool
add_arm(ArmWalk *w, PlannerInfo *root, Index relid, List *exprs)
{
	RelOptInfo *rel = root->simple_rel_array[relid];
	RangeTblEntry *rte = planner_rt_fetch(relid, root);
	GcArm	   *arm;

	if (rel == NULL || IS_DUMMY_REL(rel))
		return true;
	if (rel->subplan_params != NIL || rte->securityQuals != NIL || !bms_is_empty(rel->lateral_relids))
		return refuse(w, "a SELECT of it depends on other relations");
	arm = palloc0(sizeof(GcArm));
	arm->root = root;
	arm->rel = rel;
	arm->exprs = (List *) strip_placeholders((Node *) exprs, NULL);
	if (rte->rtekind == RTE_SUBQUERY && !rte->inh && rel->subroot && is_join_select(rel->subroot) &&
		!is_kept(rel->subroot))
	{
		/* Conditions that PostgreSQL did not push down are applied above. */
		w->filtered &= rel->baserestrictinfo == NIL;
		arm->root = rel->subroot;
		arm->rel = joined_rel(rel->subroot);
		arm->exprs = gc_inline_columns(arm->exprs, relid, rel->subroot->processed_tlist);
		if (arm->rel && IS_DUMMY_REL(arm->rel))
			return true;
	}
	else if (rte->rtekind == RTE_SUBQUERY && !rte->inh && rel->subroot)
	{
		Subquery	s = {relid, rel->subroot->processed_tlist};

		if (is_empty_grouping(rel->subroot))
		{
			w->empty = lappend(w->empty, rel->subroot);
			return true;
		}
		arm->exprs = (List *) constants_mutator((Node *) arm->exprs, &s);
	}
	if (arm->rel == NULL)
		return refuse(w, "a SELECT of it has no plan of its own");
	w->arms = lappend(w->arms, arm);
	return true;
}

/* The SELECTs are children of the relation. */
static bool
add_children(ArmWalk *w, PlannerInfo *root, Index relid)
{
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);

		if (appinfo->parent_relid == relid && !add_arm(w, root, appinfo->child_relid, appinfo->translated_vars))
			return false;
	}
	return true;
}

/* Columns of an inner UNION ALL in the types of the one that it is in. */
static List *
coerced(List *exprs, const SetOperationStmt *types)
{
	List	   *result = NIL;
	ListCell   *lc,
			   *lt;

	forboth(lc, exprs, lt, types->colTypes)
		result = lappend(result, exprType(lfirst(lc)) == lfirst_oid(lt) ? lfirst(lc) :
						 coerce_to_common_type(NULL, lfirst(lc), lfirst_oid(lt), "UNION"));
	return result;
}

/*
 * The SELECTs are in a query level of their own, as they differ in type.  around: SetOperationStmt, the
 * innermost first, that the tree is in.
 */
static bool
add_selects(ArmWalk *w, PlannerInfo *subroot, Node *tree, List *around)
{
	Index		relid;
	List	   *exprs;
	ListCell   *lc;

	if (IsA(tree, SetOperationStmt))
	{
		SetOperationStmt *op = (SetOperationStmt *) tree;

		if (op->op != SETOP_UNION || !op->all)
			return refuse(w, "it is another set operation than UNION ALL");
		around = lcons(op, list_copy(around));
		return add_selects(w, subroot, op->larg, around) && add_selects(w, subroot, op->rarg, around);
	}
	relid = ((RangeTblRef *) tree)->rtindex;
	if (subroot->simple_rel_array[relid] == NULL || subroot->simple_rel_array[relid]->subroot == NULL)
		return refuse(w, "a SELECT of it has no plan of its own");
	exprs = gc_union_columns(subroot, relid, linitial(around));
	if (exprs == NIL)
		return refuse(w, "a SELECT of it has other columns");
	for_each_from(lc, around, 1)
		exprs = coerced(exprs, lfirst(lc));
	return add_arm(w, subroot, relid, exprs);
}

/*-------------------------------------------------------------------------
 * Columns
 *-------------------------------------------------------------------------
 */

/* A column of the union in one arm's pipelines. */
static int
arm_column(GcTranslation *tr, GcArm *arm, Expr *expr)
{
	const GcKind kind = gc_type_kind(exprType((Node *) expr));
	GcLevel		level;
	int			e;

	level = gc_level_enter(tr, arm->root, arm->leaves, arm->streamed, NULL);
	if (!GC_KIND_IS_CODE(kind) || contain_var_clause((Node *) expr))
		e = gc_translate_expr(tr, arm->streamed, expr);
	else if (IsA(expr, Const) && ((Const *) expr)->constisnull)
		e = gc_build_null(tr, kind);
	/* A constant belongs to the constants' dictionary. */
	else if (gc_base_type(exprType((Node *) expr)) == BPCHAROID)
		e = gc_refuse(tr, "a constant of type character is a column of UNION ALL");
	else if (contain_volatile_functions((Node *) expr) || contain_subplans((Node *) expr))
		e = gc_refuse(tr, "a volatile function or a subplan is a column of UNION ALL");
	else
		e = gc_build_param(tr, expr, kind, GC_SPACE_CONSTANTS);
	gc_level_leave(tr, &level);
	return e;
}

/* Is a text padded with blanks alike, whichever of the two columns its code is of? */
static bool
padded_alike(const GcTranslation *tr, uint16 a, uint16 b)
{
	return a < GC_SPACE_LUT && b < GC_SPACE_LUT && tr->plan->columns[a].typmod == tr->plan->columns[b].typmod;
}

/* Give texts of two arms codes of one dictionary. */
static bool
join_texts(GcTranslation *tr, int *a, int *b, Oid type)
{
	const uint16 x = tr->space[*a];
	const uint16 y = tr->space[*b];

	if (x == y || tr->pexprs[*a].op == GC_OP_NULL || tr->pexprs[*b].op == GC_OP_NULL)
		return true;
	if (x == GC_SPACE_NONE || y == GC_SPACE_NONE || (gc_base_type(type) == BPCHAROID && !padded_alike(tr, x, y)))
	{
		gc_refuse(tr, "texts of a column of UNION ALL have no common dictionary");
		return false;
	}
	*a = gc_add_to_space(tr, *a, x == GC_SPACE_CONSTANTS ? y : x);
	*b = *a < 0 ? GC_NO_EXPR : gc_add_to_space(tr, *b, tr->space[*a]);
	return *b >= 0;
}

/* `e` in an arm's pipelines, and what it was so far in others. */
static int
choose_arm(GcTranslation *tr, const GcArm *arm, int e, int others)
{
	ListCell   *lc;
	int			result = others;

	if (e == others)
		return e;
	foreach(lc, arm->pipelines)
	{
		result = gc_build_expr(tr, GC_OP_ARM, tr->pexprs[e].kind, e, result, -1, lfirst_int(lc));
		if (result < 0)
			return result;
		tr->space[result] = tr->space[tr->pexprs[e].op == GC_OP_NULL ? others : e];
	}
	return result;
}

static int
union_column(GcTranslation *tr, GcLeaf *leaf, Var *var)
{
	int			result = GC_NO_EXPR;
	ListCell   *lc;

	foreach(lc, leaf->arms->arms)
	{
		GcArm	   *arm = lfirst(lc);
		Expr	   *expr;
		int			e;

		if (!IsA(var, Var) || var->varattno <= 0 || var->varattno > list_length(arm->exprs))
			return gc_refuse(tr, "a whole-row reference is used");
		expr = list_nth(arm->exprs, var->varattno - 1);
		e = expr ? arm_column(tr, arm, expr) : gc_refuse(tr, "a column of UNION ALL is none of a SELECT");
		if (e < 0)
			return e;
		if (result >= 0 && tr->pexprs[e].kind != tr->pexprs[result].kind)
			return gc_refuse(tr, "a column of UNION ALL differs in type");
		if (result >= 0 && GC_KIND_IS_CODE(tr->pexprs[e].kind) && !join_texts(tr, &e, &result, var->vartype))
			return GC_NO_EXPR;
		result = result < 0 ? e : choose_arm(tr, arm, e, result);
		if (result < 0)
			return result;
	}
	return result;
}

/*-------------------------------------------------------------------------
 * The union
 *-------------------------------------------------------------------------
 */

/* Translate what an arm joins; false, with a reason, if that cannot be. */
static bool
translate_arm(GcTranslation *tr, GcArm *arm)
{
	GcLevel		level = gc_level_enter(tr, arm->root, NIL, NULL, NULL);
	GcRelDesc  *desc = gc_rel_desc(arm->root, arm->rel);
	const int	first = tr->npipelines;
	ListCell   *lc;

	if (!desc->ok)
		gc_refuse(tr, "%s", desc->reason);
	else if (gc_translate_tree(tr, desc))
	{
		foreach(lc, tr->leaves)
		{
			if (gc_leaf_is_source(lfirst(lc)))
				gc_refuse(tr, "something other than tables is read");
		}
		if (tr->reason == NULL)
			(void) gc_translate_steps(tr);
	}
	arm->leaves = tr->leaves;
	arm->streamed = tr->streamed;
	gc_level_leave(tr, &level);
	for (int n = first; n < tr->npipelines && tr->reason == NULL; n++)
	{
		if (gc_sink_pipeline(tr, n) == arm->streamed->pipeline)
			arm->pipelines = lappend_int(arm->pipelines, n);
	}
	return tr->reason == NULL;
}

/* Does an arm read more rows than the others before it?  A table's, if one can be had. */
static bool
is_larger(const GcArm *arm, const GcArm *than)
{
	const bool	groups = arm->streamed->groups != NULL;

	if (groups != (than->streamed->groups != NULL))
		return !groups;
	return arm->streamed->tuples > than->streamed->tuples;
}

/* All arms end in the sink of the largest one, which comes first. */
static void
join_arms(GcTranslation *tr, GcUnion *u)
{
	GcArm	   *first = linitial(u->arms);
	ListCell   *lc;

	foreach(lc, u->arms)
	{
		if (is_larger(lfirst(lc), first))
			first = lfirst(lc);
	}
	u->arms = lcons(first, list_delete_ptr(u->arms, first));
	for_each_from(lc, u->arms, 1)
	{
		const int	n = ((GcArm *) lfirst(lc))->streamed->pipeline;

		tr->rest_of[n] = 1 + first->streamed->pipeline;
		tr->rest_steps[n] = list_length(tr->steps[first->streamed->pipeline]);
	}
}

/* Why an arm cannot be had: of its only relation, say. */
static const char *
arm_refusal(const char *reason)
{
	const int	n = strlen(GC_NONE_CACHED);

	return strncmp(reason, GC_NONE_CACHED, n) == 0 ? reason + n : reason;
}

/* Translate the arms, and see whether all columns that are read can be computed. */
static bool
translate_union(GcTranslation *tr, GcLeaf *leaf)
{
	GcUnion    *u = leaf->arms;
	ListCell   *lc;

	foreach(lc, u->arms)
	{
		if (!translate_arm(tr, lfirst(lc)))
		{
			leaf->refusal = psprintf("UNION ALL, SELECT %d: %s", foreach_current_index(lc) + 1,
									 arm_refusal(tr->reason));
			return false;
		}
	}
	join_arms(tr, u);
	foreach(lc, gc_columns_read(leaf->rel))
	{
		if (union_column(tr, leaf, lfirst(lc)) < 0)
		{
			leaf->refusal = psprintf("UNION ALL: %s", tr->reason);
			return false;
		}
	}
	foreach(lc, u->arms)
	{
		GcArm	   *arm = lfirst(lc);

		leaf->tuples += Max(arm->rel->rows, 1);
		if (arm->root != tr->root)
			tr->init_plans = list_concat(tr->init_plans, list_copy(arm->root->init_plans));
	}
	leaf->input = ((GcArm *) linitial(u->arms))->streamed->input;
	leaf->rows = Max(leaf->rel->rows, 1);
	return true;
}

bool
gc_union_embed(GcTranslation *tr, GcLeaf *leaf)
{
	RelOptInfo *rel = leaf->rel;
	ArmWalk		w = {.filtered = true};
	GcTranslation *before;
	bool		found;

	if (tr->reason || !IS_SIMPLE_REL(rel) || rel->rtekind != RTE_SUBQUERY)
		return false;
	if (gc_is_union(rel))
	{
		/* PostgreSQL has pushed down some conditions, and the relation's own conditions are the others. */
		w.filtered = false;
		found = add_selects(&w, rel->subroot, rel->subroot->parse->setOperations, NIL);
	}
	else if (planner_rt_fetch(rel->relid, tr->root)->inh)
		found = add_children(&w, tr->root, rel->relid);
	else
		return false;
	if (!found || w.arms == NIL)
	{
		leaf->refusal = w.reason ? w.reason : "it has no rows";
		return false;
	}
	before = gc_builder_save(tr);
	leaf->arms = palloc0(sizeof(GcUnion));
	*leaf->arms = (GcUnion) {w.arms, w.empty, w.filtered, union_column};
	leaf->tuples = 0;
	if (translate_union(tr, leaf))
		return true;
	ereport(DEBUG1,
			(errmsg_internal("gpuconc leaves a UNION ALL to PostgreSQL: %s", leaf->refusal)));
	leaf->arms = NULL;
	gc_builder_restore(tr, before);
	return false;
}
