/*-------------------------------------------------------------------------
 *
 * own_time.c
 *	  How long PostgreSQL's own path takes.
 *
 * PostgreSQL's costs compare its own paths, and are no times.  A page counts as one that
 * is read from disk, though a table that is asked often is in memory.  A group counts as a
 * few operators, though it takes a microsecond.  A node that is compared by such costs takes the place of an
 * index scan that is ten times faster, and leaves groups to an aggregate that is ten times slower.
 *
 * So the path's tree is walked, and what its nodes count for is corrected.  A node's own part
 * is its cost less that of its children.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "own_time.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "fallback.h"
#include "node.h"

/*
 * Of what PostgreSQL counts for a page, the time that it takes if it is in memory: one of a
 * sequential scan, one that an index leads to (four times the cost), and one of a bitmap.
 */
#define SCANNED_PAGE	0.15
#define FETCHED_PAGE	0.05
#define BITMAP_PAGE		0.2

/* What an aggregate takes for each row and for each group, beyond what it costs, in operators. */
#define ROW_OPERATORS		8
#define GROUP_OPERATORS		56

/* The rows that pages are read for cost this, and the rest is pages. */
static Cost
scan_time(const Path *path, double tuples, Cost per_tuple, double page)
{
	Cost		cpu = path->startup_cost + tuples * (per_tuple + path->parent->baserestrictcost.per_tuple);

	return Min(cpu, path->total_cost) + page * Max(path->total_cost - cpu, 0);
}

static Cost
leaf_time(const Path *path)
{
	const RelOptInfo *rel = path->parent;

	switch (path->pathtype)
	{
		case T_SeqScan:
			return path->total_cost - (1 - SCANNED_PAGE) * Min(rel->pages * seq_page_cost, path->total_cost);
		case T_IndexScan:
		case T_IndexOnlyScan:
			return scan_time(path, ((const IndexPath *) path)->indexselectivity * rel->tuples,
							 cpu_tuple_cost + cpu_index_tuple_cost + cpu_operator_cost, FETCHED_PAGE);
		case T_BitmapHeapScan:
			return scan_time(path, path->rows, cpu_tuple_cost + cpu_operator_cost, BITMAP_PAGE);
		default:
			return path->total_cost;
	}
}

/* Of the units that a path counts for, the part that is time. */
static double
time_share(Path *path)
{
	return path->total_cost > 0 ? gc_own_time(path) / path->total_cost : 1;
}

/* The inner side is executed for each outer row. */
static Cost
nested_loop_time(const JoinPath *join)
{
	const Cost	total = join->path.total_cost;
	const Cost	outer = Min(join->outerjoinpath->total_cost, total);
	const Cost	inner = Min(join->outerjoinpath->rows * join->innerjoinpath->total_cost, total - outer);

	return outer * time_share(join->outerjoinpath) + inner * time_share(join->innerjoinpath) + (total - outer - inner);
}

/* Children whose costs add up to `below`, and whose times to `time`; not all of them need be read to the end. */
static Cost
above_children(const Path *path, Cost below, Cost time)
{
	Cost		read = Min(below, path->total_cost);

	return (below > 0 ? read * (time / below) : 0) + (path->total_cost - read);
}

static Cost
list_time(const Path *path, List *children)
{
	Cost		below = 0;
	Cost		time = 0;
	ListCell   *lc;

	foreach(lc, children)
	{
		below += ((Path *) lfirst(lc))->total_cost;
		time += gc_own_time(lfirst(lc));
	}
	return above_children(path, below, time);
}

/* What aggregation takes beyond its cost; `sets` times, for grouping sets. */
static Cost
groups_time(const Path *child, double groups, int sets)
{
	if (groups <= 1)
		return 0;
	return (child->rows * ROW_OPERATORS * sets + groups * GROUP_OPERATORS) * cpu_operator_cost;
}

static Cost
upper_time(Path *path, Path *child)
{
	Cost		time = above_children(path, child->total_cost, gc_own_time(child));

	if (IsA(path, AggPath))
		time += groups_time(child, ((AggPath *) path)->numGroups, 1);
	else if (IsA(path, GroupingSetsPath))
		time += groups_time(child, path->rows, list_length(((GroupingSetsPath *) path)->rollups));
	return time;
}

Cost
gc_own_time(Path *path)
{
	Path	  **child;
	List	  **children;

	check_stack_depth();
	if (gc_is_path(path) || path->total_cost >= disable_cost)
		return path->total_cost;
	if (IsA(path, NestPath))
		return nested_loop_time((JoinPath *) path);
	if (IsA(path, MergePath) || IsA(path, HashPath))
		return list_time(path, list_make2(((JoinPath *) path)->outerjoinpath, ((JoinPath *) path)->innerjoinpath));
	if (IsA(path, SubqueryScanPath))
		return list_time(path, list_make1(((SubqueryScanPath *) path)->subpath));
	child = gc_single_child(path);
	children = gc_child_list(path);
	if (children)
		return list_time(path, *children);
	return child ? upper_time(path, *child) : leaf_time(path);
}
