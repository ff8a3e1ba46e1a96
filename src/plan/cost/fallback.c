/*-------------------------------------------------------------------------
 *
 * fallback.c
 *	  PostgreSQL's own path for what a node computes, and the paths of its row
 *	  sources.
 *
 * A path becomes a plan only once.  Each plan that is made of a subquery changes what
 * the planner and setrefs.c keep of it: row marks, append relations, parameters.  And
 * two plans of each level would be two to the power of the depth.
 *
 * So the fallback's path tree is copied.  Where it has a row source, the copy has an
 * *input path*, which reads the row source's plan at execution.  Where it has a path of
 * ours, the copy has PostgreSQL's own.
 *
 * Workers of a Gather cannot read a row source.  Scans and joins of tables may be
 * planned twice without harm.  For any other the Gather is left out, and the fallback
 * runs in one process.
 *
 * Planner, in backends.  Paths are the planner's; copies live in its memory.
 *
 *-------------------------------------------------------------------------
 */
#include "fallback.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"

#include "node.h"
#include "../../compat.h"

typedef struct Rewrite
{
	GcTranslation *tr;
	Path	   *found[GC_MAX_INPUTS];	/* by input: the path of its row source */
	bool		in_gather;
	bool		drop_gather;	/* the innermost one cannot stay */
	bool		failed;
} Rewrite;

static Path *rewrite(Rewrite *w, Path *path);

/*-------------------------------------------------------------------------
 * Input paths
 *-------------------------------------------------------------------------
 */

static Plan *
plan_input_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
				List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	/* The row source has applied the clauses already. */
	scan->scan.plan.targetlist = tlist;
	scan->flags = best_path->flags;
	scan->custom_private = best_path->custom_private;
	scan->custom_scan_tlist = make_tlist_from_pathtarget(best_path->path.pathtarget);
	scan->methods = GetCustomScanMethods(GC_INPUT_NODE, false);
	return &scan->scan.plan;
}

static const CustomPathMethods input_path_methods = {
	.CustomName = GC_INPUT_NODE,
	.PlanCustomPath = plan_input_path,
};

static bool
is_input_path(const Path *path)
{
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &input_path_methods;
}

/* A path that delivers what the row source numbered `child` in custom_plans does. */
static Path *
make_input_path(Path *source, int child)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = *source;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.parallel_aware = false;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make1(makeInteger(child));
	path->methods = &input_path_methods;
	return &path->path;
}

/*-------------------------------------------------------------------------
 * Kinds of paths
 *-------------------------------------------------------------------------
 */

/* Size of a path node that can be below a scan, join or aggregate; 0: not known. */
static Size
path_size(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_Path:
			return sizeof(Path);
		case T_IndexPath:
			return sizeof(IndexPath);
		case T_BitmapHeapPath:
			return sizeof(BitmapHeapPath);
		case T_TidPath:
			return sizeof(TidPath);
		case T_TidRangePath:
			return sizeof(TidRangePath);
		case T_SubqueryScanPath:
			return sizeof(SubqueryScanPath);
		case T_ForeignPath:
			return sizeof(ForeignPath);
		case T_NestPath:
			return sizeof(NestPath);
		case T_MergePath:
			return sizeof(MergePath);
		case T_HashPath:
			return sizeof(HashPath);
		case T_AppendPath:
			return sizeof(AppendPath);
		case T_MergeAppendPath:
			return sizeof(MergeAppendPath);
		case T_GroupResultPath:
			return sizeof(GroupResultPath);
		case T_MaterialPath:
			return sizeof(MaterialPath);
		case T_MemoizePath:
			return sizeof(MemoizePath);
		case T_UniquePath:
			return sizeof(UniquePath);
		case T_GatherPath:
			return sizeof(GatherPath);
		case T_GatherMergePath:
			return sizeof(GatherMergePath);
		case T_ProjectionPath:
			return sizeof(ProjectionPath);
		case T_SortPath:
			return sizeof(SortPath);
		case T_IncrementalSortPath:
			return sizeof(IncrementalSortPath);
		case T_GroupPath:
			return sizeof(GroupPath);
		case T_UpperUniquePath:
			return sizeof(UpperUniquePath);
		case T_AggPath:
			return sizeof(AggPath);
		case T_GroupingSetsPath:
			return sizeof(GroupingSetsPath);
		case T_MinMaxAggPath:
			return sizeof(MinMaxAggPath);
		default:
			return 0;
	}
}

/* A copy of a path node of known size, with the same children. */
static Path *
copy_path(const Path *path)
{
	Path	   *copy = palloc(path_size(path));

	memcpy(copy, path, path_size(path));
	return copy;
}

Path	  **
gc_single_child(Path *path)
{
	switch (nodeTag(path))
	{
		case T_MaterialPath:
			return &((MaterialPath *) path)->subpath;
		case T_MemoizePath:
			return &((MemoizePath *) path)->subpath;
		case T_UniquePath:
			return &((UniquePath *) path)->subpath;
		case T_GatherPath:
			return &((GatherPath *) path)->subpath;
		case T_GatherMergePath:
			return &((GatherMergePath *) path)->subpath;
		case T_ProjectionPath:
			return &((ProjectionPath *) path)->subpath;
		case T_SortPath:
			return &((SortPath *) path)->subpath;
		case T_IncrementalSortPath:
			return &((IncrementalSortPath *) path)->spath.subpath;
		case T_GroupPath:
			return &((GroupPath *) path)->subpath;
		case T_UpperUniquePath:
			return &((UpperUniquePath *) path)->subpath;
		case T_AggPath:
			return &((AggPath *) path)->subpath;
		case T_GroupingSetsPath:
			return &((GroupingSetsPath *) path)->subpath;
		default:
			return NULL;
	}
}

List	  **
gc_child_list(Path *path)
{
	if (IsA(path, AppendPath))
		return &((AppendPath *) path)->subpaths;
	if (IsA(path, MergeAppendPath))
		return &((MergeAppendPath *) path)->subpaths;
	return NULL;
}

static bool
is_join(const Path *path)
{
	return IsA(path, NestPath) || IsA(path, MergePath) || IsA(path, HashPath);
}

/*-------------------------------------------------------------------------
 * Paths for one process
 *-------------------------------------------------------------------------
 */

static Path *serial_path(Path *path);

/* The children of a copy become serial copies; false if one cannot. */
static bool
serialise_children(Path *copy)
{
	Path	  **child = IsA(copy, SubqueryScanPath) ? &((SubqueryScanPath *) copy)->subpath : gc_single_child(copy);
	List	  **children = gc_child_list(copy);
	ListCell   *lc;

	if (is_join(copy))
	{
		JoinPath   *join = (JoinPath *) copy;

		join->outerjoinpath = serial_path(join->outerjoinpath);
		join->innerjoinpath = serial_path(join->innerjoinpath);
		return join->outerjoinpath && join->innerjoinpath;
	}
	if (children)
	{
		*children = list_copy(*children);
		foreach(lc, *children)
		{
			lfirst(lc) = serial_path(lfirst(lc));
			if (lfirst(lc) == NULL)
				return false;
		}
	}
	return child == NULL || (*child = serial_path(*child)) != NULL;
}

/*
 * A copy of a partial path for one process: only below a Gather may a plan be marked as
 * parallel.  NULL where a node is not known.
 */
static Path *
serial_path(Path *path)
{
	Path	   *copy;

	if (is_input_path(path))
		return path;
	if (path_size(path) == 0)
		return NULL;
	copy = copy_path(path);
	copy->parallel_aware = false;
	return serialise_children(copy) ? copy : NULL;
}

/*
 * May two plans be made of this path?  Its nodes must keep no state of the planner's,
 * and its scans be of tables, functions or values.
 */
static bool
plannable_twice(Path *path)
{
	Path	  **child = gc_single_child(path);
	List	  **children = gc_child_list(path);
	ListCell   *lc;

	if (IsA(path, SubqueryScanPath) || IsA(path, ForeignPath) || IsA(path, MinMaxAggPath) ||
		IsA(path, GroupingSetsPath) || path_size(path) == 0)
		return false;
	if (is_join(path))
		return plannable_twice(((JoinPath *) path)->outerjoinpath) &&
			plannable_twice(((JoinPath *) path)->innerjoinpath);
	foreach(lc, children ? *children : NIL)
	{
		if (!plannable_twice(lfirst(lc)))
			return false;
	}
	return child == NULL || plannable_twice(*child);
}

/*-------------------------------------------------------------------------
 * The fallback
 *-------------------------------------------------------------------------
 */

/* The row source that this path delivers the rows of, all of them and no others. */
static GcLeaf *
source_of(Rewrite *w, const Path *path)
{
	ListCell   *lc;

	/* These do not only hand rows on: they stay, and the path below is looked at. */
	if (IsA(path, MaterialPath) || IsA(path, MemoizePath) || IsA(path, UniquePath))
		return NULL;
	foreach(lc, w->tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (gc_leaf_is_source(leaf) && leaf->rel == path->parent)
			return leaf;
	}
	return NULL;
}

/* What stands in the fallback for a row source. */
static Path *
replace_source(Rewrite *w, GcLeaf *leaf, Path *path)
{
	if (path->param_info || w->in_gather)
	{
		if (plannable_twice(path))
			return path;
		if (path->param_info)
		{
			w->failed = true;
			return path;
		}
		w->drop_gather = true;
		path = serial_path(path);
		if (path == NULL)
		{
			w->failed = true;
			return NULL;
		}
	}
	/* The row source's columns are numbered by its path's target. */
	if (w->found[leaf->input] || !equal(path->pathtarget->exprs, leaf->path->pathtarget->exprs))
		w->failed = true;
	w->found[leaf->input] = path;
	return make_input_path(path, w->tr->plan->inputs[leaf->input].child);
}

static Path *
rewrite_gather(Rewrite *w, Path *copy)
{
	Path	  **child = gc_single_child(copy);
	bool		in_gather = w->in_gather;
	bool		drop = w->drop_gather;
	Path	   *result = copy;

	w->in_gather = true;
	w->drop_gather = false;
	*child = rewrite(w, *child);
	if (w->drop_gather && !w->failed)
	{
		result = serial_path(*child);
		if (result == NULL)
		{
			w->failed = true;
			return copy;
		}
		if (!equal(result->pathtarget->exprs, copy->pathtarget->exprs))
			result = (Path *) create_projection_path(w->tr->root, copy->parent, result, copy->pathtarget);
	}
	w->in_gather = in_gather;
	w->drop_gather = drop;
	return result;
}

/* The inner side that the planner knew could go back to a mark; an input path cannot. */
static void
keep_markable(MergePath *merge)
{
	if (!merge->skip_mark_restore && merge->innersortkeys == NIL &&
		!ExecSupportsMarkRestore(merge->jpath.innerjoinpath))
		merge->materialize_inner = true;
}

/* A copy of a path tree, with input paths for row sources and without paths of ours. */
static Path *
rewrite(Rewrite *w, Path *path)
{
	GcLeaf	   *leaf;
	Path	   *copy;
	Path	  **child;
	List	  **children;

	path = gc_own_path(path);
	leaf = source_of(w, path);
	if (leaf)
		return replace_source(w, leaf, path);
	if (path_size(path) == 0)
	{
		w->failed = true;
		return path;
	}
	copy = copy_path(path);
	child = gc_single_child(copy);
	children = gc_child_list(copy);
	if (w->failed)
		return copy;
	if (IsA(copy, GatherPath) || IsA(copy, GatherMergePath))
		return rewrite_gather(w, copy);
	if (is_join(copy))
	{
		JoinPath   *join = (JoinPath *) copy;

		join->outerjoinpath = rewrite(w, join->outerjoinpath);
		join->innerjoinpath = rewrite(w, join->innerjoinpath);
		if (IsA(copy, MergePath) && !w->failed)
			keep_markable((MergePath *) copy);
	}
	else if (children)
	{
		ListCell   *lc;

		*children = list_copy(*children);
		foreach(lc, *children)
			lfirst(lc) = rewrite(w, lfirst(lc));
	}
	else if (child)
		*child = rewrite(w, *child);
	return copy;
}

/* Did every row source get a plan of its own, or may it have two? */
static bool
sources_settled(Rewrite *w)
{
	ListCell   *lc;

	foreach(lc, w->tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (gc_leaf_is_source(leaf) && w->found[leaf->input] == NULL && !plannable_twice(leaf->path))
			return false;
	}
	return true;
}

/* The cheapest of PostgreSQL's own unparameterised paths that was not tried yet; NULL if there is none. */
static Path *
cheapest_own_path(RelOptInfo *rel, List *tried)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = gc_own_path(lfirst(lc));

		if (path->param_info == NULL && !list_member_ptr(tried, path) &&
			(best == NULL || path->total_cost < best->total_cost))
			best = path;
	}
	return best;
}

Path *
gc_cheapest_own_path(RelOptInfo *rel)
{
	return cheapest_own_path(rel, NIL);
}

/* Make one of PostgreSQL's paths the fallback.  NULL where that cannot be. */
static Path *
try_fallback(GcTranslation *tr, Path *path)
{
	Rewrite		w = {.tr = tr};
	Path	   *fallback = rewrite(&w, path);
	ListCell   *lc;

	if (w.failed || !sources_settled(&w))
		return NULL;
	foreach(lc, tr->leaves)
	{
		GcLeaf	   *leaf = lfirst(lc);

		if (gc_leaf_is_source(leaf) && w.found[leaf->input])
			leaf->path = w.found[leaf->input];
	}
	return fallback;
}

/*
 * The partial path of a query level's whole scan or join, gathered: the planner makes such paths only after
 * nodes are offered.  NULL: another path is cheaper.
 */
static Path *
gathered_path(GcTranslation *tr, RelOptInfo *rel)
{
	Path	   *best = cheapest_own_path(rel, NIL);
	Path	   *gathered;

	if (IS_UPPER_REL(rel) || rel->partial_pathlist == NIL || !bms_equal(rel->relids, GC_ALL_RELIDS(tr->root)))
		return NULL;
	gathered = (Path *) create_gather_path(tr->root, rel, linitial(rel->partial_pathlist), rel->reltarget, NULL, NULL);
	return best && best->total_cost <= gathered->total_cost ? NULL : gathered;
}

Path *
gc_fallback_path(GcTranslation *tr, RelOptInfo *rel, Path **own)
{
	List	   *tried = NIL;
	Path	   *path;
	Path	   *gathered = gathered_path(tr, rel);

	if (gathered)
	{
		Path	   *fallback = try_fallback(tr, gathered);

		if (fallback)
		{
			*own = copy_path(gathered);
			return fallback;
		}
	}
	while ((path = cheapest_own_path(rel, tried)) != NULL)
	{
		Path	   *fallback = try_fallback(tr, path);

		if (fallback)
		{
			*own = copy_path(path);
			return fallback;
		}
		tried = lappend(tried, path);
	}
	return NULL;
}

bool
gc_path_has_ours(Path *path)
{
	Path	  **child;
	List	  **children;
	ListCell   *lc;

	if (path == NULL || gc_is_path(path))
		return path != NULL;
	if (is_join(path))
		return gc_path_has_ours(((JoinPath *) path)->outerjoinpath) ||
			gc_path_has_ours(((JoinPath *) path)->innerjoinpath);
	child = IsA(path, SubqueryScanPath) ? &((SubqueryScanPath *) path)->subpath : gc_single_child(path);
	children = gc_child_list(path);
	foreach(lc, children ? *children : NIL)
	{
		if (gc_path_has_ours(lfirst(lc)))
			return true;
	}
	return child && gc_path_has_ours(*child);
}

Cost
gc_saved_cost(Path *path)
{
	Path	  **child;
	List	  **children;
	Cost		saved = 0;
	ListCell   *lc;

	if (gc_is_path(path))
		return ((GcPath *) path)->own->total_cost - path->total_cost + gc_saved_cost(((GcPath *) path)->own);
	if (is_join(path))
		return gc_saved_cost(((JoinPath *) path)->outerjoinpath) + gc_saved_cost(((JoinPath *) path)->innerjoinpath);
	child = IsA(path, SubqueryScanPath) ? &((SubqueryScanPath *) path)->subpath : gc_single_child(path);
	children = gc_child_list(path);
	foreach(lc, children ? *children : NIL)
		saved += gc_saved_cost(lfirst(lc));
	return child ? gc_saved_cost(*child) : saved;
}
