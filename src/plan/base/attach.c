/*-------------------------------------------------------------------------
 *
 * attach.c
 *	  Cores that left, semi, anti and full joins, and inner joins above full ones, attach to a core.
 *
 * A core is a set of inner-joined leaves with a streamed one (relations/tree.c).  Attached to it are
 * cores again.  An attached core's streamed leaf fills a build, which is probed by the
 * equalities in the join's clauses.  The other clauses are a condition on the match.  Without
 * equalities the build is a list, of which each row is tried.
 *
 * The probe is made in the pipeline of the one leaf whose columns the clauses use.  So a
 * semi join on a dimension filters the dimension.  Where they use several leaves, or
 * something that was attached before, it is made in the streamed pipeline.
 *
 * A full join is probed in the streamed pipeline, behind all that comes before it in SQL.  Joins that come after it in
 * SQL are probed behind it, inner joins, too.  The rest of the pipeline takes rows without a match through that
 * (relations/pipelines.c), where all that came before the join is NULL.
 *
 * Above a left join the inner side's columns may be NULL, which typing knows of its build.
 * Above an anti join they are NULL.  Above a semi join PostgreSQL may use an inner column in
 * the place of the outer one that it is equal to.  The outer one is read then.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "leaf.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"

#include "builder.h"
#include "equalities.h"

/*-------------------------------------------------------------------------
 * Cores
 *-------------------------------------------------------------------------
 */

/*
 * Is this clause an equality of an expression of the attached core and one of the core above?  Then it is a key.
 */
static GcJoinKey *
join_key(GcTranslation *tr, GcCore *attached, RestrictInfo *rinfo)
{
	Relids		left = gc_base_relids(tr, rinfo->left_relids);
	Relids		right = gc_base_relids(tr, rinfo->right_relids);
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	bool		swapped;
	GcJoinKey  *key;

	if (!gc_is_hash_equality(rinfo))
		return NULL;
	swapped = bms_is_subset(left, attached->relids);
	if (!bms_is_subset(swapped ? left : right, attached->relids) ||
		bms_overlap(swapped ? right : left, attached->relids))
		return NULL;
	key = palloc0(sizeof(GcJoinKey));
	key->build_side = swapped ? linitial(op->args) : lsecond(op->args);
	key->probe_side = swapped ? lsecond(op->args) : linitial(op->args);
	return key;
}

/* A core of its own, whose clauses are keys as far as there is room, and else conditions. */
static GcCore *
attached_core(GcTranslation *tr, const GcAttachedDesc *desc)
{
	GcCore	   *core = gc_core_make(tr, &desc->inner);
	ListCell   *lc;

	core->is_attached = true;
	core->join = desc->join;
	core->share = desc->share;
	tr->has_optional |= desc->join == GC_JOIN_LEFT || desc->join == GC_JOIN_ANTI || gc_join_keeps(desc->join);
	foreach(lc, desc->clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		GcJoinKey  *key = join_key(tr, core, rinfo);

		if (key && list_length(core->keys) < GC_MAX_KEYS)
			core->keys = lappend(core->keys, key);
		else
			core->conditions = lappend(core->conditions, rinfo);
	}
	return core;
}

GcCore *
gc_core_make(GcTranslation *tr, const GcRelDesc *desc)
{
	GcCore	   *core = palloc0(sizeof(GcCore));
	ListCell   *lc;

	check_stack_depth();
	core->clauses = desc->clauses;
	foreach(lc, desc->leaves)
	{
		GcLeaf	   *leaf = gc_leaf_make(tr, lfirst(lc));

		core->leaves = lappend(core->leaves, leaf);
		core->relids = bms_add_members(core->relids, leaf->relids);
		tr->leaves = lappend(tr->leaves, leaf);
	}
	foreach(lc, desc->attached)
	{
		GcCore	   *attached = attached_core(tr, lfirst(lc));

		core->attached = lappend(core->attached, attached);
		core->above = list_concat(core->above, ((GcAttachedDesc *) lfirst(lc))->above);
		if (attached->join == GC_JOIN_INNER)
		{
			core->above = list_concat(core->above, attached->conditions);
			attached->conditions = NIL;
		}
		core->relids = bms_add_members(core->relids, attached->relids);
	}
	return core;
}

/*-------------------------------------------------------------------------
 * Semi joins' columns in clauses above
 *-------------------------------------------------------------------------
 */

/* Put the probe's side of keys in the places of the build's, where both have one type. */
static Node *
outer_instead(Node *node, List *keys)
{
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	foreach(lc, keys)
	{
		GcJoinKey  *key = lfirst(lc);

		if (gc_equal(node, key->build_side) &&
			exprType((Node *) key->build_side) == exprType((Node *) key->probe_side))
			return (Node *) key->probe_side;
	}
	return expression_tree_mutator(node, outer_instead, keys);
}

List *
gc_core_clauses(GcTranslation *tr, GcCore *core)
{
	List	   *clauses = NIL;
	ListCell   *lc,
			   *la;

	foreach(lc, core->clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		foreach(la, core->attached)
		{
			GcCore	   *attached = lfirst(la);

			if (attached->join == GC_JOIN_SEMI && bms_overlap(rinfo->clause_relids, attached->relids))
				rinfo = make_simple_restrictinfo(tr->root,
												 (Expr *) outer_instead((Node *) rinfo->clause, attached->keys));
		}
		clauses = lappend(clauses, rinfo);
	}
	return clauses;
}

/*-------------------------------------------------------------------------
 * Attaching
 *-------------------------------------------------------------------------
 */

/* All relations outside of the attached core that its keys and conditions use. */
static Relids
outer_relids(GcTranslation *tr, GcCore *attached)
{
	Relids		relids = NULL;
	ListCell   *lc;

	foreach(lc, attached->keys)
		relids = bms_join(relids,
						  gc_base_relids(tr, pull_varnos(tr->root, (Node *) ((GcJoinKey *) lfirst(lc))->probe_side)));
	foreach(lc, attached->conditions)
		relids = bms_add_members(relids, gc_base_relids(tr, lfirst_node(RestrictInfo, lc)->clause_relids));
	return bms_difference(relids, attached->relids);
}

/* Where the probe's pipeline has a column of its own that is equal to a key, it need not wait for another's. */
static void
use_own_columns(GcCore *attached, const GcEqSet *eqs, const GcLeaf *parent)
{
	ListCell   *lc;

	foreach(lc, attached->keys)
	{
		GcJoinKey  *key = lfirst(lc);

		key->probe_side = gc_equal_in(eqs, key->probe_side, parent);
	}
}

bool
gc_core_attach(GcTranslation *tr, GcCore *core, GcCore *attached, const GcEqSet *eqs)
{
	GcLeaf	   *leaf = attached->streamed;
	GcLeaf	   *parent;
	GcJoinKey  *key;
	Relids		outer;

	if (gc_join_keeps(attached->join))
		core->phase++;
	/* For an outer join, PostgreSQL keeps the clause. */
	if (attached->keys == NIL && attached->join == GC_JOIN_SEMI && core->phase == 0 &&
		(key = gc_constant_key(tr, attached, core)) != NULL)
		attached->keys = list_make1(key);
	outer = outer_relids(tr, attached);
	parent = bms_is_empty(outer) ? NULL : gc_leaf_among(core->leaves, outer);
	if (parent == NULL || core->phase > 0)
		parent = core->streamed;
	use_own_columns(attached, eqs, parent);
	if (attached->keys == NIL && gc_covers_groups(leaf, NIL))
		attached->keys = list_make1(gc_only_key());
	if (attached->keys == NIL && gc_join_keeps(attached->join))
	{
		gc_refuse(tr, "a full join has no equality condition");
		return false;
	}
	leaf->join = attached->join;
	leaf->outer_share = attached->share;
	leaf->keys = attached->keys;
	leaf->conditions = attached->conditions;
	leaf->unique = gc_covers_unique_index(leaf, attached->keys) || gc_covers_groups(leaf, attached->keys);
	leaf->phase = core->phase;
	if (gc_join_keeps(attached->join))
		core->phase++;
	leaf->parent = parent;
	leaf->parent->children = lappend(leaf->parent->children, leaf);
	return true;
}

GcLeaf *
gc_hiding_leaf(GcTranslation *tr, GcLeaf *at, GcLeaf *from)
{
	for (GcLeaf *l = from; l && l != at; l = l->parent)
	{
		if ((l->join == GC_JOIN_SEMI || l->join == GC_JOIN_ANTI) && l != tr->matching)
			return l;
	}
	return NULL;
}
