/*-------------------------------------------------------------------------
 *
 * node.c
 *	  Paths of ours, the plan nodes that are made of them, and PostgreSQL's own paths in their place.
 *
 * Planner, in backends.  How a node is executed is exec/'s, which registers it by name.
 *
 *-------------------------------------------------------------------------
 */
#include "node.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"

#include "../base/builder.h"
#include "../base/display.h"
#include "../../compat.h"
#include "../../force.h"
#include "../../settings.h"
#include "../base/permitted.h"
#include "../base/planning.h"
#include "../expr/lookup.h"
#include "../group/sets.h"

typedef enum GcNodeName
{
	GC_NODE_SCAN,
	GC_NODE_JOIN,
	GC_NODE_AGGREGATE,
	GC_NODE_WINDOW,
	GC_NODE_NAMES
} GcNodeName;

static const char *const node_names[GC_NODE_NAMES] = {
	[GC_NODE_SCAN] = GC_SCAN_NODE,
	[GC_NODE_JOIN] = GC_JOIN_NODE,
	[GC_NODE_AGGREGATE] = GC_AGGREGATE_NODE,
	[GC_NODE_WINDOW] = GC_WINDOW_NODE,
};

/* Bytes as a constant, which copying and writing a plan keeps. */
static Const *
bytes_const(const void *bytes, Size size)
{
	bytea	   *b = palloc(VARHDRSZ + size);

	SET_VARSIZE(b, VARHDRSZ + size);
	memcpy(VARDATA(b), bytes, size);
	return makeConst(BYTEAOID, -1, InvalidOid, -1, PointerGetDatum(b), false, false);
}

/* Whoever reads the constant makes the plan find its arrays. */
static Const *
plan_const(const GcPlan *plan)
{
	return bytes_const(plan, plan->size);
}

/* The node's window functions; their expressions become the last of the node's. */
static Const *
windows_const(const GcTranslation *tr, List **exprs)
{
	GcPlanWindows *windows;
	char	   *text;

	if (tr->windows == NULL)
		return NULL;
	windows = palloc(sizeof(GcPlanWindows));
	memcpy(windows, tr->windows, sizeof(GcPlanWindows));
	text = nodeToString(tr->window_exprs);
	windows->identity = gc_hash_bytes(tr->windows, sizeof(GcPlanWindows), 0);
	gc_hash_mix(&windows->identity, text, strlen(text));
	windows->parameterised = gc_contains_param((Node *) tr->window_exprs, NULL);
	windows->first_expr = list_length(*exprs);
	*exprs = list_concat(*exprs, tr->window_exprs);
	return bytes_const(windows, sizeof(GcPlanWindows));
}

/* A varchar is sorted as the text that it is relabelled as. */
static bool
sorts_as(Expr *sorted, Expr *output)
{
	return gc_equal(sorted, output) || (IsA(sorted, RelabelType) && gc_equal(((RelabelType *) sorted)->arg, output));
}

int
gc_sorted_output(const GcTranslation *tr, const EquivalenceClass *ec, Oid *type)
{
	ListCell   *lc,
			   *lt;

	foreach(lc, ec->ec_members)
	{
		EquivalenceMember *em = lfirst(lc);

		foreach(lt, tr->scan_tlist)
		{
			const GcPlanOutput *out = list_nth(tr->outputs, foreach_current_index(lt));

			if (em->em_is_child || em->em_is_const || out->type == GC_OUT_NONE ||
				!sorts_as(em->em_expr, lfirst_node(TargetEntry, lt)->expr))
				continue;
			*type = em->em_datatype;
			return foreach_current_index(lt);
		}
	}
	return -1;
}

/*
 * Note the keys that PostgreSQL will sort by above this node, as far as outputs tell.  Not where
 * a LIMIT makes it look for a few rows only, which is cheaper than sorting them all.
 */
static void
note_order(PlannerInfo *root, const GcTranslation *tr, GcPlan *plan)
{
	ListCell   *lc;

	if (plan->sorted)
		return;
	plan->norder = 0;
	if (root->limit_tuples >= 0)
		return;
	foreach(lc, gc_sort_keys(root))
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		Oid			type;
		int			output = gc_sorted_output(tr, key->pk_eclass, &type);

		if (output < 0 || output >= plan->noutputs || plan->norder == GC_MAX_ORDER)
			break;
		plan->order[plan->norder++] = (GcPlanOrder) {
			.output = output,
			.descending = GC_IS_DESCENDING(key),
			.nulls_first = key->pk_nulls_first
		};
	}
}

/* The name under which EXPLAIN shows the node. */
static GcNodeName
node_name(const GcPlan *plan, RelOptInfo *rel)
{
	const GcProgram *p = GC_PLAN_PROGRAM(plan);

	/* No other rows than windows' are of a relation above joins. */
	if (plan->windowed || (gc_pipelines(p)[p->npipelines - 1].sink == GC_SINK_ROWS && IS_UPPER_REL(rel)))
		return GC_NODE_WINDOW;
	if (gc_pipelines(p)[p->npipelines - 1].sink == GC_SINK_AGGREGATE || IS_UPPER_REL(rel))
		return GC_NODE_AGGREGATE;
	return plan->ninputs > 1 ? GC_NODE_JOIN : GC_NODE_SCAN;
}

/*
 * InitPlans of embedded subqueries are attached where these are scanned, which is below the node.  A plan
 * may use only outputs of InitPlans at or above it.  So they are attached to the top of the node's level,
 * too; whatever asks first for an output has the plan executed, once.
 */
static void
raise_init_plans(PlannerInfo *root, const GcTranslation *tr)
{
	root->init_plans = list_concat_unique_ptr(root->init_plans, tr->init_plans);
}

/* PostgreSQL's own path must have cost this many times as much. */
#define MARGIN			2

/* Note the levels that became a part of a node's program. */
static void
note_levels(List *leaves)
{
	ListCell   *lc,
			   *la;

	foreach(lc, leaves)
	{
		const GcLeaf *leaf = lfirst(lc);

		if (leaf->groups)
		{
			gc_planning->won = lappend(gc_planning->won, leaf->groups->root);
			/* Its groups may be another subquery's. */
			if (leaf->rel && leaf->rel->subroot)
				gc_planning->won = lappend(gc_planning->won, leaf->rel->subroot);
			note_levels(leaf->groups->leaves);
		}
		if (leaf->arms == NULL)
			continue;
		gc_planning->won = list_concat(gc_planning->won, leaf->arms->empty);
		foreach(la, leaf->arms->arms)
		{
			const GcArm *arm = lfirst(la);

			gc_planning->won = lappend(gc_planning->won, arm->root);
			note_levels(arm->leaves);
		}
	}
}

/* Note the levels that a path of ours takes along, which has become a part of the plan. */
static void
note_path_taken(PlannerInfo *root, RelOptInfo *rel, GcPath *path)
{
	const Path *own = path->own;
	/* If only the first few rows are wanted, PostgreSQL's own path may make no others. */
	const Cost	cost = (root->tuple_fraction > 0 ? own->startup_cost : own->total_cost) + gc_saved_cost(path->own);

	if (gc_planning == NULL)
		return;
	if (cost < MARGIN * path->cpath.path.total_cost)
	{
		gc_planning->narrow = true;
		return;
	}
	if (IS_UPPER_REL(rel) || bms_equal(rel->relids, GC_ALL_RELIDS(root)))
		gc_planning->won = lappend(gc_planning->won, root);
	else
		gc_planning->narrow = true;
	note_levels(path->tr->leaves);
}

/* A CustomPath's hook: the plan node of a path that has won. */
static Plan *
plan_gc_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
			 List *tlist, List *clauses, List *custom_plans)
{
	GcPath	   *path = (GcPath *) best_path;
	GcTranslation *tr = path->tr;
	CustomScan *scan = makeNode(CustomScan);
	List	   *exprs = list_concat_copy(tr->exprs, tr->display);
	Const	   *windows = windows_const(tr, &exprs);
	List	   *tags;
	GcPlan	   *plan = gc_builder_finish(tr, &tags);

	note_path_taken(root, rel, path);
	if (gc_planning)
	{
		gc_planning->nodes = lappend(gc_planning->nodes, scan);
		gc_planning->depths = lappend_int(gc_planning->depths, path->depth);
	}
	plan->key = gc_planning ? gc_planning->key : 0;
	note_order(root, tr, plan);
	plan->chooses_all = path->having != NIL && path->having == tr->having_tested;
	raise_init_plans(root, tr);
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = path->having;
	scan->scan.scanrelid = 0;
	scan->flags = best_path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = tr->scan_tlist;
	scan->custom_exprs = gc_settle_nulling(&scan->custom_scan_tlist, exprs);
	scan->custom_private = list_make5(plan_const(plan), linitial(tags), tr->sets, tr->groupings, lsecond(tags));
	scan->custom_private = lappend(scan->custom_private, tr->guessed);
	scan->custom_private = lappend(scan->custom_private, gc_functions_called(root));
	scan->custom_private = lappend(scan->custom_private, windows);
	scan->methods = GetCustomScanMethods(node_names[node_name(plan, rel)], false);
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "Gpuconc",
	.PlanCustomPath = plan_gc_path,
};

GcPath *
gc_make_path(GcTranslation *tr, RelOptInfo *rel, PathTarget *target)
{
	GcPath	   *path = palloc0(sizeof(GcPath));

	path->tr = tr;
	path->depth = gc_from_depth(tr->root);
	path->cpath.path.type = T_CustomPath;
	path->cpath.path.pathtype = T_CustomScan;
	path->cpath.path.parent = rel;
	path->cpath.path.pathtarget = target;
	path->cpath.methods = &path_methods;
	path->cpath.flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	return path;
}

/* Is it a path of this module that is offloaded? */
bool
gc_is_path(const Path *path)
{
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &path_methods;
}

Path *
gc_own_path(Path *path)
{
	while (gc_is_path(path))
		path = ((GcPath *) path)->own;
	return path;
}

bool
gc_is_node(const Plan *plan)
{
	if (!IsA(plan, CustomScan))
		return false;
	for (int i = 0; i < GC_NODE_NAMES; i++)
	{
		if (strcmp(((const CustomScan *) plan)->methods->CustomName, node_names[i]) == 0)
			return true;
	}
	return false;
}

/* With settings that are huge, what is infinite would be compared with what is infinite. */
static Cost
within_range(Cost cost)
{
	return isfinite(cost) ? Min(cost, 1e100) : 1e100;
}

Cost
gc_costs_time(const GcCosts *costs, double rows)
{
	return within_range(costs->device + rows * (costs->row + 0.5 * cpu_tuple_cost));
}

void
gc_set_costs(Path *path, const GcCosts *costs, double rows)
{
	path->startup_cost = within_range(costs->scale * (costs->device + rows * costs->row));
	path->total_cost = within_range(path->startup_cost + costs->scale * rows * 0.5 * cpu_tuple_cost);
	/* The path has no rivals, but conditions are evaluated, and subplans chosen, by what they cost. */
	if (gc_offload_forced())
		path->startup_cost = path->total_cost = gc_offload_cost;
}

/*-------------------------------------------------------------------------
 * PostgreSQL's own path for what a node computes, and the paths of its row sources
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
 *-------------------------------------------------------------------------
 */

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

/* A CustomPath's hook: the scan that stands for a row source within the fallback. */
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

/* Does the path stand for a row source? */
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

/* A kind of path nodes that can be below a scan, join or aggregate. */
typedef struct PathKind
{
	NodeTag		tag;
	Size		size;
	Size		child;			/* where its only child is; 0: it has none, or several */
} PathKind;

static const PathKind path_kinds[] = {
	{T_Path, sizeof(Path)},
	{T_IndexPath, sizeof(IndexPath)},
	{T_BitmapHeapPath, sizeof(BitmapHeapPath)},
	{T_TidPath, sizeof(TidPath)},
	{T_TidRangePath, sizeof(TidRangePath)},
	{T_SubqueryScanPath, sizeof(SubqueryScanPath)},
	{T_ForeignPath, sizeof(ForeignPath)},
	{T_NestPath, sizeof(NestPath)},
	{T_MergePath, sizeof(MergePath)},
	{T_HashPath, sizeof(HashPath)},
	{T_AppendPath, sizeof(AppendPath)},
	{T_MergeAppendPath, sizeof(MergeAppendPath)},
	{T_GroupResultPath, sizeof(GroupResultPath)},
	{T_MaterialPath, sizeof(MaterialPath), offsetof(MaterialPath, subpath)},
	{T_MemoizePath, sizeof(MemoizePath), offsetof(MemoizePath, subpath)},
	{T_UniquePath, sizeof(UniquePath), offsetof(UniquePath, subpath)},
	{T_GatherPath, sizeof(GatherPath), offsetof(GatherPath, subpath)},
	{T_GatherMergePath, sizeof(GatherMergePath), offsetof(GatherMergePath, subpath)},
	{T_ProjectionPath, sizeof(ProjectionPath), offsetof(ProjectionPath, subpath)},
	{T_SortPath, sizeof(SortPath), offsetof(SortPath, subpath)},
	{T_IncrementalSortPath, sizeof(IncrementalSortPath), offsetof(IncrementalSortPath, spath.subpath)},
	{T_GroupPath, sizeof(GroupPath), offsetof(GroupPath, subpath)},
	{T_UpperUniquePath, sizeof(UpperUniquePath), offsetof(UpperUniquePath, subpath)},
	{T_AggPath, sizeof(AggPath), offsetof(AggPath, subpath)},
	{T_GroupingSetsPath, sizeof(GroupingSetsPath), offsetof(GroupingSetsPath, subpath)},
	{T_MinMaxAggPath, sizeof(MinMaxAggPath)},
	{T_WindowAggPath, sizeof(WindowAggPath), offsetof(WindowAggPath, subpath)},
};

/* The kind of a path node; NULL: none of these. */
static const PathKind *
kind_of(const Path *path)
{
	for (int i = 0; i < lengthof(path_kinds); i++)
	{
		if (path_kinds[i].tag == nodeTag(path))
			return &path_kinds[i];
	}
	return NULL;
}

Path *
gc_copy_path(const Path *path)
{
	const Size	size = kind_of(path)->size;

	return memcpy(palloc(size), path, size);
}

Path	  **
gc_single_child(Path *path)
{
	const PathKind *kind = kind_of(path);

	return kind && kind->child > 0 ? (Path **) ((char *) path + kind->child) : NULL;
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

/* Is it any of PostgreSQL's joins? */
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
	if (kind_of(path) == NULL)
		return NULL;
	copy = gc_copy_path(path);
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
		IsA(path, GroupingSetsPath) || kind_of(path) == NULL)
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

/* Stands in the fallback for a row source. */
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

/* A Gather goes, and its paths become serial ones, where what is below asks for that. */
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
	if (kind_of(path) == NULL)
	{
		w->failed = true;
		return path;
	}
	copy = gc_copy_path(path);
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
			*own = gc_copy_path(gathered);
			return fallback;
		}
	}
	while ((path = cheapest_own_path(rel, tried)) != NULL)
	{
		Path	   *fallback = try_fallback(tr, path);

		if (fallback)
		{
			*own = gc_copy_path(path);
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
