/*-------------------------------------------------------------------------
 *
 * choice.c
 *	  Which groups or rows of a node are returned: HAVING, and the first few in an order.
 *
 * Decoding a group costs PostgreSQL's side a microsecond, a scan of groups on the device
 * a thousandth of that.  So a last pipeline over the main one's groups tests HAVING, and
 * finds the groups that come first by the leading sort key.  It takes all ties and some
 * more groups: the Sort and the Limit above the node decide.  Of rows, the main pipeline leaves out those that
 * come behind enough others, whether the node returns what they are sorted by or not.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "choice.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "../base/builder.h"
#include "groups.h"
#include "../../columns/encode/pgkinds.h"
#include "../../compat.h"
#include "../expr/expr.h"
#include "../expr/operators.h"
#include "../expr/raises.h"

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

/* Test a clause, or leave the translation as it was. */
static bool
try_clause(GcTranslation *tr, Expr *clause)
{
	GcTranslation *before = gc_builder_save(tr);
	int			pipeline = choice_pipeline(tr);
	int			e = pipeline < 0 ? GC_NO_EXPR : gc_groups_expr(tr, tr->chosen, clause);

	if (e < 0)
	{
		gc_builder_restore(tr, before);
		return false;
	}
	gc_build_filter(tr, pipeline, e, 0.5);
	return true;
}

void
gc_choose_having(GcTranslation *tr, List *having)
{
	ListCell   *lc;

	/* Without keys there is one group. */
	if (tr->group_keys[tr->main] == NIL)
		return;
	foreach(lc, having)
		tr->having_left |= !try_clause(tr, lfirst(lc));
}

/*
 * A sort key's expression over the groups, in whose order texts' codes are not; -1 if there is none.  Of booleans there are too
 * many ties.
 */
static int
group_order(GcTranslation *tr, const PathKey *key, Expr *expr)
{
	const GcKind kind = gc_type_kind(exprType((Node *) expr));

	return GC_KIND_IS_CODE(kind) || kind == GC_BOOL || choice_pipeline(tr) < 0 ? GC_NO_EXPR : gc_groups_expr(tr, tr->chosen, expr);
}

/* Likewise over rows; of a text its rank.  Of floats, no range is known that says how near a row is to the first one. */
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

/* Can the operator raise no error, whatever its arguments are? */
static bool
is_harmless(const OpExpr *op)
{
	const char *name = get_opname(op->opno);

	if (op->opno >= FirstGenbkiObjectId || gc_type_kind(exprType(linitial(op->args))) == GC_KIND_NONE)
		return false;
	return gc_comparison_op(name) != 0 ||
		(op->opresulttype == NUMERICOID && (strcmp(name, "+") == 0 || strcmp(name, "-") == 0 || strcmp(name, "*") == 0));
}

GcRaises
gc_call_raises(const Node *node)
{
	List	   *args;
	const GcBuiltin *b = gc_builtin_called(node, &args);

	return ((b->flags & GC_SAFE_OF_GROUPS) && gc_are_harmless(b, args)) || (IsA(node, OpExpr) && is_harmless((const OpExpr *) node)) ?
		GC_RAISES_BELOW : GC_RAISES_UNKNOWN;
}

bool
gc_is_sorted_by(const EquivalenceClass *ec, const Node *expr)
{
	return list_length(ec->ec_members) == 1 && equal(linitial_node(EquivalenceMember, ec->ec_members)->em_expr, expr);
}

typedef struct GroupsContext
{
	List	   *keys;			/* what the main pipeline groups by */
	EquivalenceClass *order;	/* what the device computes of each group */
} GroupsContext;

/*
 * May an expression of groups raise an error?  PostgreSQL computes it of all groups, and we of the
 * chosen ones only.  What keys and arguments of aggregates are made of, the device has computed.
 */
static GcRaises
of_groups_raises(Node *node, void *of)
{
	const GroupsContext *context = of;

	if (IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, PlaceHolderVar) || IsA(node, Param) ||
		list_member(context->keys, node) || gc_is_sorted_by(context->order, node))
		return GC_RAISES_NOTHING;
	return gc_call_raises(node);
}

/* The first few of all groups are not the first few of what HAVING leaves. */
static bool
may_choose_groups(GcTranslation *tr, const PathKey *key, List *exprs)
{
	GroupsContext context = {tr->key_nodes[tr->main], key->pk_eclass};

	return tr->group_keys[tr->main] != NIL && !tr->having_left && !gc_may_raise((Node *) exprs, of_groups_raises, &context);
}

bool
gc_choose_first(GcTranslation *tr, List *pathkeys, List *exprs, double wanted)
{
	const PathKey *key = linitial_node(PathKey, pathkeys);
	const bool	grouped = tr->pipelines[tr->main].sink == GC_SINK_AGGREGATE;
	GcPPipeline *pl;
	int			e;

	if ((grouped && !may_choose_groups(tr, key, exprs)) || (e = order_expr(tr, key)) < 0)
		return false;
	pl = &tr->pipelines[grouped ? tr->choice - 1 : tr->main];
	pl->descending = GC_IS_DESCENDING(key);
	pl->nulls_first = key->pk_nulls_first;
	tr->choice_keys = list_make1_int(e);
	tr->plan->wanted = wanted;
	return true;
}
