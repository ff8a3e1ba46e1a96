/*-------------------------------------------------------------------------
 *
 * planning.c
 *	  State of the planner's run in progress: descriptions by relation, offers, refusals.
 *
 * Runs in backends.  The state hangs off a stack, since planning can nest.  A function called
 * while constants are folded may plan queries of its own.  hooks.c puts a run on it and takes it off; descriptions
 * point into the run's memory context.
 *
 *-------------------------------------------------------------------------
 */
#include "planning.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "source.h"

GcPlanning *gc_planning = NULL;

/*-------------------------------------------------------------------------
 * Descriptions
 *-------------------------------------------------------------------------
 */

/*
 * GEQO makes join relations for a trial and frees them, so the next one may have
 * the address of another.  If it joins the same relations, the description holds.
 */
GcRelDesc *
gc_desc_lookup(PlannerInfo *root, RelOptInfo *rel)
{
	GcRelDesc  *desc = gc_planning->descs ? hash_search(gc_planning->descs, &rel, HASH_FIND, NULL) : NULL;

	return desc && desc->root == root && bms_equal(desc->relids, rel->relids) ? desc : NULL;
}

bool
gc_geqo(void)
{
	return gc_planning->geqo;
}

MemoryContext
gc_desc_context(void)
{
	return gc_planning->context;
}

GcRelDesc *
gc_desc_enter(PlannerInfo *root, RelOptInfo *rel)
{
	MemoryContext old;
	GcRelDesc  *desc;

	if (gc_planning->descs == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(RelOptInfo *),.entrysize = sizeof(GcRelDesc),
		.hcxt = gc_planning->context};

		gc_planning->descs = hash_create("gpuconc relations", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	desc = hash_search(gc_planning->descs, &rel, HASH_ENTER, NULL);
	old = MemoryContextSwitchTo(gc_planning->context);
	desc->relids = bms_copy(rel->relids);
	MemoryContextSwitchTo(old);
	desc->root = root;
	desc->ok = false;
	desc->leaves = NIL;
	desc->clauses = NIL;
	desc->attached = NIL;
	desc->outer = desc->inner = NULL;
	desc->reason = "it is not a join of tables";
	return desc;
}

/*-------------------------------------------------------------------------
 * Refusals
 *-------------------------------------------------------------------------
 */

void
gc_note_refusal(const char *what, const char *reason)
{
	ereport(DEBUG1,
			(errmsg_internal("gpuconc does not offload %s: %s", what, reason)));
	/* The last one is about the largest part of the query. */
	if (gc_planning)
		snprintf(gc_planning->refusal, GC_REFUSAL_SIZE, "%s: %s", what, reason);
}

void
gc_note_offer(void)
{
	gc_planning->offered = true;
}

int
gc_from_depth(const PlannerInfo *root)
{
	int			depth = 0;

	while ((root = root->parent_root) != NULL && root->simple_rel_array != NULL)
		depth++;
	return depth;
}

bool
gc_storage_seen(PlannerInfo *root)
{
	if (gc_planning->storage_seen)
		return true;
	if (!gc_planning->users_calls || gc_planning->unseeing == root)
		return false;
	if (gc_level_looks_at_storage(root))
		return true;
	gc_planning->unseeing = root;
	return false;
}

bool
gc_planning_cursor(void)
{
	return gc_planning->cursor;
}
