/*-------------------------------------------------------------------------
 *
 * choice.c
 *	  Which groups or rows of a node are returned: HAVING, and the first few in an order.
 *
 * Decoding a group costs PostgreSQL's side a microsecond, a scan of groups on the device a thousandth of that.  So a
 * last pipeline over the main one's groups tests HAVING, and finds those that come first by the leading sort key.
 * Behind a count, which many groups share, it looks at the next key, too.  It takes all ties and some more groups: the
 * Sort and the Limit above the node decide.  Without an order, any groups will do.  The main pipeline leaves out rows
 * that come behind enough others, whether the node returns what they are sorted by or not.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "choice.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "utils/typcache.h"

#include "../base/builder.h"
#include "groups.h"
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"
#include "../expr/expr.h"

/* The pipeline that chooses, opened if need be; -1 if there is no room for it. */
static int
choice_pipeline(GcTranslation *tr)
{
	GcGroups   *groups = tr->chosen;
	GcPPipeline *pl;

	if (tr->choice > 0)
		return tr->choice - 1;
	if (groups == NULL)
		groups = tr->chosen = gc_groups_open(tr);
	if (groups == NULL || tr->npipelines == GC_MAX_PIPELINES)
		return -1;
	pl = &tr->pipelines[tr->npipelines];
	memset(pl, 0, sizeof(*pl));
	pl->input = groups->input;
	pl->build = GC_NONE;
	pl->sink = GC_SINK_SELECT;
	tr->choice = ++tr->npipelines;
	return tr->choice - 1;
}

/* Test what a clause is translated to, or leave the translation as it was. */
static bool
try_clause(GcTranslation *tr, Expr *clause, int (*translate) (GcTranslation *tr, GcGroups *groups, Expr *expr))
{
	GcTranslation *before = gc_builder_save(tr);
	int			pipeline = choice_pipeline(tr);
	int			e = pipeline < 0 ? GC_NO_EXPR : translate(tr, tr->chosen, clause);

	if (e < 0)
	{
		gc_builder_restore(tr, before);
		return false;
	}
	gc_build_filter(tr, pipeline, e, 0.5);
	return true;
}

/*
 * A sort key's expression over the groups, in whose order texts' codes are not; -1 if there is none.  Of booleans
 * there are too many ties.
 */
static int
group_order(GcTranslation *tr, const PathKey *key, Expr *expr)
{
	const GcKind kind = gc_type_kind(exprType((Node *) expr));

	return GC_KIND_IS_CODE(kind) || kind == GC_BOOL || choice_pipeline(tr) < 0 ? GC_NO_EXPR
		: gc_groups_expr(tr, tr->chosen, expr);
}

/*
 * Likewise over rows; of a text its rank.  Of floats, no range is known that says how near a row is to the first one.
 */
static int
row_order(GcTranslation *tr, const PathKey *key, Expr *expr)
{
	const Oid	type = exprType((Node *) expr);
	const GcKind kind = gc_type_kind(type);
	int			e;

	if (GC_KIND_IS_FLOAT(kind) || gc_kinds[kind].opaque || kind == GC_UUID ||
		key->pk_opfamily != lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf)
		return GC_NO_EXPR;
	e = gc_translate_expr(tr, tr->streamed, expr);
	return e >= 0 && GC_KIND_IS_CODE(kind) ? gc_build_rank(tr, e, type, key->pk_eclass->ec_collation) : e;
}

/* A sort key's expression; GC_NO_EXPR if it has none that the device orders. */
static int
order_expr(GcTranslation *tr, const PathKey *key)
{
	const bool	grouped = tr->pipelines[tr->main].sink == GC_SINK_AGGREGATE;
	ListCell   *lc;

	if (key->pk_eclass->ec_has_volatile || key->pk_opfamily >= FirstGenbkiObjectId)
		return GC_NO_EXPR;
	foreach(lc, key->pk_eclass->ec_members)
	{
		EquivalenceMember *em = lfirst_node(EquivalenceMember, lc);
		GcTranslation *before;
		int			e;

		if (em->em_is_child || em->em_is_const || gc_type_kind(exprType((Node *) em->em_expr)) == GC_KIND_NONE)
			continue;
		before = gc_builder_save(tr);
		e = grouped ? group_order(tr, key, em->em_expr) : row_order(tr, key, em->em_expr);
		if (e >= 0)
			return e;
		gc_builder_restore(tr, before);
	}
	return GC_NO_EXPR;
}

/* The cost of testing a clause, as PostgreSQL expects it. */
static Cost
clause_cost(PlannerInfo *root, Node *clause)
{
	QualCost	cost;

	cost_qual_eval_node(&cost, clause, root);
	return cost.per_tuple;
}

/* As order_qual_clauses() has it. */
List *
gc_order_having(PlannerInfo *root, List *having)
{
	List	   *ordered = NIL;
	ListCell   *lc;

	foreach(lc, having)
	{
		int			at = list_length(ordered);

		while (at > 0 && clause_cost(root, list_nth(ordered, at - 1)) > clause_cost(root, lfirst(lc)))
			at--;
		ordered = list_insert_nth(ordered, at, lfirst(lc));
	}
	return ordered;
}

/*
 * A group that a clause drops is not tested by those behind it.  So none is tested here behind one that
 * may raise an error there.
 */
void
gc_choose_having(GcTranslation *tr, List *having)
{
	ListCell   *lc;

	/* Without keys there is one group. */
	if (tr->group_keys[tr->main] == NIL)
		return;
	foreach(lc, having)
	{
		if (try_clause(tr, lfirst(lc), gc_groups_expr))
			continue;
		(void) try_clause(tr, lfirst(lc), gc_groups_maybe);
		tr->having_left = true;
		if (gc_groups_may_raise(tr, tr->main, lfirst(lc), NULL))
			break;
	}
	tr->having_tested = tr->having_left ? NIL : having;
}

/* Is it a count of each group's rows?  Most groups may have as few rows. */
static bool
is_count(const GcTranslation *tr, int e)
{
	const GcPColumn *c = tr->pexprs[e].op == GC_OP_COLUMN ? &tr->columns[tr->pexprs[e].ref] : NULL;

	return c && c->agg != GC_NONE && gc_accumulator_of(&tr->aggs[c->agg])->value == GC_VALUE_COUNT;
}

bool
gc_choose_first(GcTranslation *tr, List *pathkeys, List *exprs, double wanted)
{
	PathKey    *key = linitial_node(PathKey, pathkeys);
	const bool	grouped = tr->pipelines[tr->main].sink == GC_SINK_AGGREGATE;
	GcPPipeline *pl;
	int			e;

	/* The first few of all groups are not the first few of what HAVING leaves. */
	if (grouped &&
		(tr->group_keys[tr->main] == NIL || tr->having_left ||
		 gc_groups_may_raise(tr, tr->main, (Node *) exprs, key->pk_eclass)))
		return false;
	if ((e = order_expr(tr, key)) < 0)
		return false;
	pl = &tr->pipelines[grouped ? tr->choice - 1 : tr->main];
	pl->descending = GC_IS_DESCENDING(key);
	pl->nulls_first = key->pk_nulls_first;
	tr->choice_keys = list_make1_int(e);
	tr->plan->wanted = wanted;
	if (grouped && list_length(pathkeys) > 1 && is_count(tr, e) &&
		(e = order_expr(tr, lsecond_node(PathKey, pathkeys))) >= 0)
	{
		key = lsecond_node(PathKey, pathkeys);
		pl = &tr->pipelines[tr->choice - 1];
		pl->descending |= GC_IS_DESCENDING(key) << 1;
		pl->nulls_first |= (key->pk_nulls_first ? 1 : 0) << 1;
		tr->choice_keys = lappend_int(tr->choice_keys, e);
	}
	return true;
}

bool
gc_choose_any(GcTranslation *tr, double wanted)
{
	if (tr->group_keys[tr->main] == NIL || tr->having_left || choice_pipeline(tr) < 0)
		return false;
	tr->plan->wanted = wanted;
	return true;
}
