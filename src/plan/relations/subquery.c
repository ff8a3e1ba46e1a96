/*-------------------------------------------------------------------------
 *
 * subquery.c
 *	  Aggregated subqueries in FROM, as leaves of the join tree.
 *
 * PostgreSQL has planned the subquery as a query level of its own.  Its join tree and
 * its aggregation become pipelines of the outer query's program, before the outer query's
 * own.  The leaf's own pipeline scans the groups, applies HAVING and the outer
 * query's conditions, and fills a build, or is streamed.
 *
 * Outputs of the subquery's InitPlans are parameters of the program.  So these plans are attached to the
 * node's own query level, too (cost/node.c).
 *
 * PostgreSQL's plan of the subquery is in the node's fallback, so that permissions are
 * checked as always.  Its row sources are not: they would need plans of another level.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "subquery.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"

#include "../base/builder.h"
#include "../base/display.h"
#include "../base/leaf.h"
#include "../expr/expr.h"
#include "../group/few_values.h"
#include "../group/groups.h"
#include "pipelines.h"
#include "../base/quotient.h"
#include "relinfo.h"
#include "tree.h"
#include "../../compat.h"

/* bigint > integer; pg_operator.dat has no symbol for it */
#define INT84_GREATER	419

/* A CTE's plan is among the InitPlans of its level, and may be what another one reads. */
bool
gc_has_plain_init_plans(PlannerInfo *subroot)
{
	ListCell   *lc;

	foreach(lc, subroot->init_plans)
	{
		if (lfirst_node(SubPlan, lc)->subLinkType == CTE_SUBLINK)
			return false;
	}
	return true;
}

/* Is the query one aggregation of a join, and nothing else that changes its rows? */
static bool
is_aggregation(PlannerInfo *subroot)
{
	const Query *q = subroot->parse;

	return q->commandType == CMD_SELECT && (q->hasAggs || q->groupClause != NIL || q->distinctClause != NIL) &&
		!(q->distinctClause != NIL && (q->hasAggs || q->groupClause != NIL)) &&
		q->groupingSets == NIL && !q->hasWindowFuncs && !q->hasDistinctOn && q->setOperations == NULL &&
		q->limitCount == NULL && q->limitOffset == NULL && !q->hasTargetSRFs && q->rowMarks == NIL &&
		!q->hasModifyingCTE && gc_has_plain_init_plans(subroot) && !bms_is_empty(subroot->all_baserels) &&
		/* PostgreSQL calls these for each group, read or not. */
		!contain_volatile_functions((Node *) subroot->processed_tlist);
}

RelOptInfo *
gc_joined_rel(PlannerInfo *subroot)
{
	int			relid;

	if (bms_get_singleton_member(subroot->all_baserels, &relid))
		return find_base_rel(subroot, relid);
	return find_join_rel(subroot, GC_ALL_RELIDS(subroot));
}

static List *
group_exprs(PlannerInfo *subroot)
{
	const Query *q = subroot->parse;

	return get_sortgrouplist_exprs(q->distinctClause ? q->distinctClause : q->groupClause, subroot->processed_tlist);
}

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
								  (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true),
								  InvalidOid, InvalidOid);
	op->opfuncid = F_INT84GT;
	return (Expr *) op;
}

/*
 * Translate the level below the leaf.  Its groups, or NULL with a reason.  *constant: it groups by nothing
 * but constants.
 */
static GcGroups *
translate_level(GcTranslation *tr, PlannerInfo *subroot, RelOptInfo *rel, bool *constant)
{
	GcRelDesc  *desc = gc_rel_desc(subroot, rel);
	List	   *exprs = group_exprs(subroot);
	const char *refusal;
	List	   *distinct = gc_distinct_values(subroot, &refusal);
	GcGroups   *groups;
	ListCell   *lc;

	if (!desc->ok || refusal)
	{
		gc_refuse(tr, "%s", refusal ? refusal : desc->reason);
		return NULL;
	}
	if (!gc_translate_tree(tr, desc))
		return NULL;
	foreach(lc, tr->leaves)
	{
		if (gc_leaf_is_source(lfirst(lc)))
		{
			gc_refuse(tr, "a subquery reads something other than tables");
			return NULL;
		}
	}
	if (!gc_translate_steps(tr) || (distinct != NIL && !gc_distinct_open(tr, exprs, distinct)))
		return NULL;
	foreach(lc, exprs)
	{
		/* A key without Vars splits nothing. */
		if (!contain_var_clause(lfirst(lc)))
			continue;
		if (gc_group_key(tr, lfirst(lc)) < 0)
			return NULL;
		gc_build_display(tr, tr->streamed->pipeline, GC_DISPLAY_GROUP_KEY, lfirst(lc));
	}
	*constant = exprs != NIL && tr->group_keys[tr->streamed->pipeline] == NIL;
	groups = gc_groups_open(tr);
	if (groups)
		tr->plan->groups[groups->pipeline] = Min(number_of_groups(subroot, rel, exprs), gc_most_groups(tr, groups->pipeline));
	return groups;
}

/* Is there a division of numerics in an expression? */
static bool
divides(const GcTranslation *tr, int e)
{
	const GcExpr *x = &tr->pexprs[e];

	if (x->op == GC_OP_DIV && gc_is_quotient(x))
		return true;
	for (int i = 0; i < 3; i++)
	{
		if (x->arg[i] != GC_NONE && divides(tr, x->arg[i]))
			return true;
	}
	return false;
}

/*
 * Quotients of a build are computed where they are used, of the groups that joins leave (base/leaf.c).  But
 * PostgreSQL divides in all groups, and 0 is an error.  So a condition looks at each quotient, and is
 * always true.
 */
static void
divide_always(GcTranslation *tr, const GcLeaf *leaf, int e)
{
	int			known = gc_build_expr(tr, GC_OP_OR, GC_BOOL, gc_build_expr(tr, GC_OP_ISNULL, GC_BOOL, e, -1, -1, -1),
									  gc_build_expr(tr, GC_OP_NOTNULL, GC_BOOL, e, -1, -1, -1), -1, -1);
	ListCell   *lc;

	foreach(lc, tr->steps[leaf->pipeline])
	{
		if (((GcPStep *) lfirst(lc))->type == GC_STEP_FILTER && ((GcPStep *) lfirst(lc))->expr == known)
			return;
	}
	if (known >= 0)
		gc_build_filter(tr, leaf->pipeline, known, 1);
}

/* A column of the subquery, in the pipeline of its leaf. */
static int
subquery_column(GcTranslation *tr, GcLeaf *leaf, Var *var)
{
	TargetEntry *tle = get_tle_by_resno(leaf->groups->root->processed_tlist, var->varattno);
	int			e;

	if (tle == NULL)
		return gc_refuse(tr, "a whole-row reference is used");
	e = gc_groups_expr(tr, leaf->groups, tle->expr);
	if (e >= 0 && leaf->build >= 0 && divides(tr, e))
		divide_always(tr, leaf, e);
	return e;
}

bool
gc_subquery_embed(GcTranslation *tr, GcLeaf *leaf)
{
	PlannerInfo *subroot = leaf->rel->subroot;
	RelOptInfo *rel;
	GcTranslation *before;
	GcGroups   *groups;
	GcLevel		level;
	bool		constant;
	double		fewer;

	if (tr->reason || !IS_SIMPLE_REL(leaf->rel) || leaf->rel->rtekind != RTE_SUBQUERY || subroot == NULL ||
		leaf->rel->subplan_params != NIL || !is_aggregation(subroot))
		return false;
	rel = gc_joined_rel(subroot);
	if (rel == NULL || IS_DUMMY_REL(rel))
		return false;
	before = gc_builder_save(tr);
	level = gc_level_enter(tr, subroot, NIL, NULL, NULL);
	groups = translate_level(tr, subroot, rel, &constant);
	gc_level_leave(tr, &level);
	if (groups == NULL)
	{
		ereport(DEBUG1,
				(errmsg_internal("gpuconc leaves a subquery to PostgreSQL: %s", tr->reason)));
		gc_builder_restore(tr, before);
		return false;
	}
	tr->init_plans = list_concat(tr->init_plans, list_copy(subroot->init_plans));
	groups->by = group_exprs(subroot);
	groups->column = subquery_column;
	leaf->groups = groups;
	leaf->input = groups->input;
	leaf->having = (List *) subroot->parse->havingQual;
	/* A pipeline without keys has a group always. */
	if (constant)
		leaf->having = lappend(list_copy(leaf->having), has_rows());
	leaf->tuples = Max(tr->plan->groups[groups->pipeline], 1);
	fewer = Min(leaf->tuples / Max(leaf->rel->tuples, 1), 1);
	leaf->rows = Max(leaf->rel->rows * fewer, 1);
	tr->fewer = before->fewer * fewer;
	return true;
}
