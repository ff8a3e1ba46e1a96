/*-------------------------------------------------------------------------
 *
 * relinfo.c
 *	  Descriptions of join relations, built bottom-up while the planner works.
 *
 * As postgres_fdw does: the join hook is called for a pair of relations with
 * the complete list of clauses for that pair.  So the description of a join is
 * that of its two sides plus these clauses.  The first acceptable pair wins; all
 * pairs describe the same set of rows.
 *
 * An inner join puts the cores of both sides together.  A left, semi or anti join attaches its inner side to the outer
 * side's core.  Inner joins that come later leave that as it is.  (A left join B) join C is (A join C) left join B,
 * with clauses on B's columns applied last.  A full join is attached, too, with the larger table on the outer side.
 * But what comes after it stays behind it, and inner joins cannot: there, the full join is a leaf, as a row source.
 *
 * A left join with a far larger inner side streams that, as a right join, if nothing is joined
 * to it any more.
 *
 * A semi join by a unique inner side (JOIN_UNIQUE_INNER) has no description; another pair
 * offers it as a semi join.
 *
 * Where a query level only inner-joins, nothing is built while the planner works.  The order says nothing, and the
 * description of the whole is made when it is asked for.
 *
 * Descriptions live as long as the planner run that made them; hooks.c keeps a
 * table of them per run.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "relinfo.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "../../compat.h"
#include "../base/equalities.h"
#include "../base/leaf.h"

/* A left join streams its inner side if that is larger by this factor: a build of it costs more than a scan. */
#define SWAP_FACTOR		4

/* A leaf: the relation itself, with its own restrictions. */
static GcRelDesc *
describe_leaf(PlannerInfo *root, RelOptInfo *rel)
{
	GcRelDesc  *desc = gc_desc_enter(root, rel);
	MemoryContext old = MemoryContextSwitchTo(gc_desc_context());

	desc->reason = NULL;
	if (!bms_is_empty(rel->lateral_relids))
		desc->reason = "a lateral reference is used";
	else if (gc_planning->ceiling > 0 && !IS_SIMPLE_REL(rel))
		desc->reason = "it was PostgreSQL's before";
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

bool
gc_joins_plainly(PlannerInfo *root)
{
	return root->join_info_list == NIL && root->placeholder_list == NIL && !root->hasLateralRTEs;
}

/* The clauses that join a relation to others: those of equivalence classes, and those that are neither. */
static List *
joining_clauses(PlannerInfo *root, Relids others, RelOptInfo *rel)
{
	Relids		joined = bms_union(others, rel->relids);
	List	   *clauses = GC_IMPLIED_EQUALITIES(root, joined, others, rel);
	ListCell   *lc;

	foreach(lc, rel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_is_subset(rinfo->required_relids, joined))
			clauses = list_append_unique_ptr(clauses, rinfo);
	}
	return clauses;
}

/* An inner join: its relations, and all that joins them. */
static GcRelDesc *
describe_plain_join(PlannerInfo *root, RelOptInfo *joinrel)
{
	GcRelDesc  *desc = gc_desc_enter(root, joinrel);
	MemoryContext old = MemoryContextSwitchTo(gc_desc_context());
	Relids		before = NULL;
	int			relid = -1;

	while ((relid = bms_next_member(joinrel->relids, relid)) >= 0)
	{
		RelOptInfo *rel = find_base_rel(root, relid);

		desc->leaves = lappend(desc->leaves, rel);
		desc->clauses = list_concat(desc->clauses, rel->baserestrictinfo);
		if (before)
			desc->clauses = list_concat(desc->clauses, joining_clauses(root, before, rel));
		before = bms_add_member(before, relid);
	}
	desc->ok = true;
	desc->reason = NULL;
	MemoryContextSwitchTo(old);
	return desc;
}

GcRelDesc *
gc_rel_desc(PlannerInfo *root, RelOptInfo *rel)
{
	GcRelDesc  *desc = gc_desc_lookup(root, rel);

	if (desc == NULL && rel->reloptkind == RELOPT_JOINREL && gc_joins_plainly(root))
		return describe_plain_join(root, rel);
	return desc ? desc : describe_leaf(root, rel);
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
		case JOIN_FULL:
			*kind = GC_JOIN_FULL;
			return true;
		default:
			return false;
	}
}

/* The last full join that is attached to the core itself; NULL: there is none. */
static GcAttachedDesc *
last_full_join(const GcRelDesc *desc)
{
	for (int i = list_length(desc->attached) - 1; i >= 0; i--)
	{
		GcAttachedDesc *a = list_nth(desc->attached, i);

		if (gc_join_keeps(a->join))
			return a;
	}
	return NULL;
}

/* Filter the rows that have been joined so far. */
static void
add_clause(GcRelDesc *desc, RestrictInfo *rinfo)
{
	GcAttachedDesc *full = last_full_join(desc);

	if (full)
		full->above = lappend(full->above, rinfo);
	else
		desc->clauses = lappend(desc->clauses, rinfo);
}

/* Tuples of the largest table; 0: it has none that is read through the column cache. */
static double
largest_table(PlannerInfo *root, const GcRelDesc *desc)
{
	double		most = 0;
	ListCell   *lc;

	foreach(lc, desc->leaves)
	{
		RelOptInfo *rel = lfirst(lc);
		const char *reason;
		Oid			relid;

		if (gc_cacheable_table(root, rel, &relid, &reason))
			most = Max(most, Max(rel->tuples, 1));
	}
	return most;
}

/* Is one of the outer join's own clauses an equality, so that matches are found by a key? */
static bool
has_equality(const RelOptInfo *joinrel, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids) && rinfo->can_join && gc_is_hash_equality(rinfo))
			return true;
	}
	return false;
}

/*
 * Should the inner side be streamed, and the outer one be a build that knows its matches?  Of a left
 * join, only where nothing comes behind it that would have to be put before.
 */
static bool
better_swapped(PlannerInfo *root, const RelOptInfo *joinrel, const GcRelDesc *o, const GcRelDesc *i, GcJoinKind kind,
			   List *clauses)
{
	if (kind == GC_JOIN_FULL)
		return largest_table(root, i) > largest_table(root, o);
	return kind == GC_JOIN_LEFT && bms_equal(joinrel->relids, GC_ALL_RELIDS(root)) && has_equality(joinrel, clauses) &&
		largest_table(root, i) > SWAP_FACTOR * largest_table(root, o);
}

/* A relation as a leaf of a join. */
static GcRelDesc *
as_leaf(RelOptInfo *rel)
{
	GcRelDesc  *leaf = palloc0(sizeof(GcRelDesc));

	leaf->ok = true;
	leaf->leaves = list_make1(rel);
	return leaf;
}

/* The streamed side of a full join: what filters an earlier full join's rows would come behind this one. */
static GcRelDesc *
full_joined(GcRelDesc *desc, RelOptInfo *rel)
{
	const GcAttachedDesc *full = last_full_join(desc);

	return full == NULL || full->above == NIL ? desc : as_leaf(rel);
}

/* A copy of the joins attached so far; those that are put behind its full joins may change. */
static List *
copy_attached(const GcRelDesc *desc)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, desc->attached)
	{
		GcAttachedDesc *a = palloc(sizeof(GcAttachedDesc));

		*a = *(GcAttachedDesc *) lfirst(lc);
		a->above = list_copy(a->above);
		result = lappend(result, a);
	}
	return result;
}

/*
 * Attach the inner side.  Of an outer join's clauses, those of its own ON say which rows
 * match, and those from above it filter the result.  An inner join has no such difference.
 */
static void
attach(GcRelDesc *desc, RelOptInfo *joinrel, RelOptInfo *outer, const GcRelDesc *inner,
	   GcJoinKind kind, List *clauses)
{
	GcAttachedDesc *a = palloc0(sizeof(GcAttachedDesc));
	List	   *above = NIL;
	ListCell   *lc;

	a->join = kind;
	a->inner = *inner;
	a->share = kind == GC_JOIN_LEFT || gc_join_keeps(kind) ? 1 : Min(joinrel->rows / Max(outer->rows, 1), 1);
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (kind != GC_JOIN_SEMI && kind != GC_JOIN_INNER && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			above = lappend(above, rinfo);
		else
			a->clauses = lappend(a->clauses, rinfo);
	}
	desc->attached = lappend(desc->attached, a);
	foreach(lc, above)
		add_clause(desc, lfirst(lc));
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
	desc->outer = outer;
	desc->inner = inner;
	if (kind == GC_JOIN_INNER && last_full_join(o) == NULL && last_full_join(i) == NULL)
	{
		desc->leaves = list_concat_copy(o->leaves, i->leaves);
		desc->clauses = list_concat_copy(list_concat_copy(o->clauses, i->clauses), extra->restrictlist);
		desc->attached = list_concat_copy(o->attached, i->attached);
	}
	else if (kind == GC_JOIN_INNER)
	{
		/* Behind a full join, relations that are joined are another core. */
		const bool	swapped = last_full_join(o) == NULL;
		const GcRelDesc *full = swapped ? i : o;

		desc->leaves = list_copy(full->leaves);
		desc->clauses = list_copy(full->clauses);
		desc->attached = copy_attached(full);
		attach(desc, joinrel, swapped ? inner : outer, swapped ? o : i, kind, extra->restrictlist);
	}
	else
	{
		const bool	swapped = better_swapped(root, joinrel, o, i, kind, extra->restrictlist);

		if (swapped)
		{
			GcRelDesc  *larger = i;

			i = o;
			o = larger;
			kind = kind == GC_JOIN_FULL ? GC_JOIN_FULL : GC_JOIN_RIGHT;
		}
		if (gc_join_keeps(kind))
			o = full_joined(o, swapped ? inner : outer);
		desc->leaves = list_copy(o->leaves);
		desc->clauses = list_copy(o->clauses);
		desc->attached = copy_attached(o);
		attach(desc, joinrel, outer, i, kind, extra->restrictlist);
	}
	MemoryContextSwitchTo(old);
	return true;
}
