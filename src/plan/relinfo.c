/*-------------------------------------------------------------------------
 *
 * relinfo.c
 *	  Descriptions of join relations, built bottom-up while the planner works.
 *
 * As postgres_fdw does: the join hook is called for a pair of relations with
 * the complete list of clauses for that pair, so the description of a join is
 * that of its two sides plus these clauses.  The first acceptable pair wins; all
 * pairs describe the same set of rows.
 *
 * An inner join puts the cores of both sides together.  A left, semi or anti join
 * attaches its inner side to the outer side's core.  Inner joins that come later
 * leave that as it is: (A left join B) join C is (A join C) left join B, with
 * clauses on B's columns applied last.  PostgreSQL's full join has no description,
 * nor has a semi join by a unique inner side (JOIN_UNIQUE_INNER), which another pair
 * offers as a semi join.  Such a relation may still be a leaf of a larger one, as a
 * row source.
 *
 * Descriptions live as long as the planner run that made them; hooks.c keeps a
 * table of them per run.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "relinfo.h"

#include "optimizer/restrictinfo.h"

/* A leaf: the relation itself, with its own restrictions. */
static GcRelDesc *
describe_leaf(PlannerInfo *root, RelOptInfo *rel)
{
	GcRelDesc  *desc = gc_desc_enter(root, rel);
	MemoryContext old = MemoryContextSwitchTo(gc_desc_context());

	desc->reason = NULL;
	if (!bms_is_empty(rel->lateral_relids))
		desc->reason = "a lateral reference is used";
	/* A description may outlive a join relation of GEQO's. */
	else if (gc_geqo() && !IS_SIMPLE_REL(rel))
		desc->reason = "the genetic query optimizer searches among outer joins";
	desc->ok = desc->reason == NULL;
	desc->leaves = list_make1(rel);
	desc->clauses = IS_SIMPLE_REL(rel) ? list_copy(rel->baserestrictinfo) : NIL;
	desc->attached = NIL;
	MemoryContextSwitchTo(old);
	return desc;
}

GcRelDesc *
gc_rel_desc(PlannerInfo *root, RelOptInfo *rel)
{
	GcRelDesc  *desc = gc_desc_lookup(root, rel);

	if (desc == NULL)
		desc = describe_leaf(root, rel);
	return desc;
}

/*
 * A placeholder that must be computed at a proper subset of the join would have to
 * be computed in the middle of a pipeline.
 */
static bool
placeholder_in_between(PlannerInfo *root, RelOptInfo *joinrel)
{
	ListCell   *lc;

	foreach(lc, root->placeholder_list)
	{
		PlaceHolderInfo *phinfo = lfirst_node(PlaceHolderInfo, lc);

		if (bms_is_subset(phinfo->ph_eval_at, joinrel->relids) &&
			bms_num_members(phinfo->ph_eval_at) > 1)
			return true;
	}
	return false;
}

/* Do kernels know this kind of join, with these sides? */
static bool
known_join(JoinType jointype, GcJoinKind *kind)
{
	switch (jointype)
	{
		case JOIN_INNER:
			*kind = GC_JOIN_INNER;
			return true;
		case JOIN_LEFT:
			*kind = GC_JOIN_LEFT;
			return true;
		case JOIN_SEMI:
			*kind = GC_JOIN_SEMI;
			return true;
		case JOIN_ANTI:
			*kind = GC_JOIN_ANTI;
			return true;
		default:
			return false;
	}
}

/*
 * Attach the inner side.  Of an outer join's clauses, those of its own ON say which rows
 * match, and those from above it filter the result.
 */
static void
attach(GcRelDesc *desc, RelOptInfo *joinrel, RelOptInfo *outer, const GcRelDesc *inner,
	   GcJoinKind kind, List *clauses)
{
	GcAttachedDesc *a = palloc0(sizeof(GcAttachedDesc));
	ListCell   *lc;

	a->join = kind;
	a->inner = *inner;
	a->share = kind == GC_JOIN_LEFT ? 1 : Min(joinrel->rows / Max(outer->rows, 1), 1);
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (kind != GC_JOIN_SEMI && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			desc->clauses = lappend(desc->clauses, rinfo);
		else
			a->clauses = lappend(a->clauses, rinfo);
	}
	desc->attached = lappend(desc->attached, a);
}

bool
gc_describe_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
				 RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	GcRelDesc  *desc = gc_desc_lookup(root, joinrel);
	GcRelDesc  *o,
			   *i;
	GcJoinKind	kind;
	MemoryContext old;

	/* GEQO's may be a new one at an old one's address. */
	if (desc && desc->ok)
		return gc_geqo();
	/* Any of several calls for this pair may be the one for a join that we know. */
	if (!known_join(jointype, &kind) || !bms_is_empty(joinrel->lateral_relids))
		return false;
	if (placeholder_in_between(root, joinrel))
		return false;
	o = gc_rel_desc(root, outer);
	i = gc_rel_desc(root, inner);
	if (!o->ok || !i->ok)
		return false;

	if (desc == NULL)
		desc = gc_desc_enter(root, joinrel);
	old = MemoryContextSwitchTo(gc_desc_context());
	desc->ok = true;
	desc->reason = NULL;
	if (kind == GC_JOIN_INNER)
	{
		desc->leaves = list_concat_copy(o->leaves, i->leaves);
		desc->clauses = list_concat_copy(list_concat_copy(o->clauses, i->clauses), extra->restrictlist);
		desc->attached = list_concat_copy(o->attached, i->attached);
	}
	else
	{
		desc->leaves = list_copy(o->leaves);
		desc->clauses = list_copy(o->clauses);
		desc->attached = list_copy(o->attached);
		attach(desc, joinrel, outer, i, kind, extra->restrictlist);
	}
	MemoryContextSwitchTo(old);
	return true;
}
