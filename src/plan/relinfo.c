/*-------------------------------------------------------------------------
 *
 * relinfo.c
 *	  Descriptions of join relations, built bottom-up while the planner works.
 *
 * As postgres_fdw does: the join hook is called for a pair of relations with
 * the complete list of clauses for that pair, so the description of a join is
 * that of its two sides plus these clauses.  The first acceptable pair wins; all
 * pairs of an inner join describe the same set of rows.  A relation that is not
 * an inner join of base relations (an outer join, say) has no description of its
 * own, but may still be a leaf of a larger one, as a row source.
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

bool
gc_describe_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
				 RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	GcRelDesc  *desc = gc_desc_lookup(root, joinrel);
	GcRelDesc  *o,
			   *i;
	MemoryContext old;

	/* GEQO's may be a new one at an old one's address. */
	if (desc && desc->ok)
		return gc_geqo();
	/* Any of several calls for this pair may be the one for the inner join. */
	if (jointype != JOIN_INNER || !bms_is_empty(joinrel->lateral_relids))
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
	desc->leaves = list_concat_copy(o->leaves, i->leaves);
	desc->clauses = list_concat_copy(list_concat_copy(o->clauses, i->clauses), extra->restrictlist);
	MemoryContextSwitchTo(old);
	return true;
}
