/*-------------------------------------------------------------------------
 *
 * costs.c
 *	  What paths of ours cost.
 *
 * Costs are times, in units of cost that the CPU takes.  A request has a fixed cost, and a cost per tuple scanned and
 * per row probed or built on the device.  Each row of the result costs something to decode.  Tuples that each execution
 * reads as delta, row sources, and entries of lookup tables have PostgreSQL's own costs.  Constants of
 * devices are settings (gpuconc.*_cost), with defaults per device.
 *
 * PostgreSQL compares paths by costs that are no times.  What it is told of ours is in the proportion to its own path
 * that the times are in (execution_time.c).
 *
 * The whole result is decoded before the first row is returned, so that all of that is start-up.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "costs.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "../../columns/encode/pgkinds.h"
#include "../../force.h"
#include "../../queue/queue.h"
#include "../../settings.h"
#include "../../columns/load/missing.h"

/*-------------------------------------------------------------------------
 * Costs of a translation's lookup tables
 *
 * Tables that are kept for later, and for all sessions, cost a request a small part of what it takes to make them.
 * Others are made for each request: those of expressions with parameters, and those that bring texts of several columns
 * into one dictionary.  These take about a microsecond for each value, as long as PostgreSQL takes for a few rows.
 *-------------------------------------------------------------------------
 */

/* Calls of an operator that an entry costs, of a table that is kept: spread over its uses. */
#define KEPT_OPERATORS		0.2

/*
 * An entry of a table that is made for each request: evaluated; put into a dictionary; put in order; copied.  Measured.
 */
#define EVALUATED_OPERATORS	15
#define ADDED_OPERATORS		40
#define RANKED_OPERATORS	40
#define COPIED_OPERATORS	0.5

/* Values of a table's or an append input's text column. */
static double
column_values(const GcTranslation *tr, int c)
{
	const GcLeaf *leaf = tr->column_leaf[c];
	const int	attnum = tr->columns[c].attnum;
	GcSeenColumn seen;
	double		n = 0;
	ListCell   *lc;

	if (leaf == NULL || attnum <= 0)
		return 0;
	if (OidIsValid(leaf->relid))
	{
		(void) gc_column_seen(leaf->relid, attnum, &seen);
		return seen.values;
	}
	foreach(lc, leaf->append ? leaf->append->parts : NIL)
	{
		const GcAppendPart *part = lfirst(lc);

		if (part->attnums == NULL || part->attnums[attnum - 1] <= 0)
			continue;
		(void) gc_column_seen(part->relid, part->attnums[attnum - 1], &seen);
		n += seen.values;
	}
	return n;
}

/* Values of a dictionary before a table adds others; added_values(): the values that tables add. */
static double
own_values(const GcTranslation *tr, uint16 space)
{
	const GcPlanLut *lut;

	if (space == GC_SPACE_NONE || space == GC_SPACE_CONSTANTS)
		return 0;
	if (space < GC_SPACE_LUT)
		return column_values(tr, space);
	lut = &tr->plan->luts[space - GC_SPACE_LUT];
	return lut->type == GC_LUT_UNIFY ? own_values(tr, lut->space) : tr->lut_values[space - GC_SPACE_LUT];
}

/* Values that other columns' dictionaries add to this one. */
static double
added_values(const GcTranslation *tr, uint16 space)
{
	double		n = 0;

	for (int i = 0; i < tr->nluts; i++)
	{
		const GcPlanLut *lut = &tr->plan->luts[i];

		if (lut->type == GC_LUT_ADD && lut->to_space == space)
			n += own_values(tr, lut->space);
	}
	return n;
}

/* Operators that a lookup table takes, in the number of its values. */
static double
operators(const GcTranslation *tr, int i)
{
	const GcPlanLut *lut = &tr->plan->luts[i];
	double		added;

	switch (lut->type)
	{
		case GC_LUT_EXPR:
			return tr->lut_values[i] *
				(lut->cacheable ? KEPT_OPERATORS : Max(tr->lut_operators[i], EVALUATED_OPERATORS));
		case GC_LUT_ADD:
		case GC_LUT_UNIFY:
			return own_values(tr, lut->space) * ADDED_OPERATORS;
		case GC_LUT_RANK:
			added = added_values(tr, lut->space);
			return added > 0 ? (own_values(tr, lut->space) + added) * RANKED_OPERATORS : 0;
		case GC_LUT_RANKED:
			return (own_values(tr, lut->space) + added_values(tr, lut->space)) * COPIED_OPERATORS;
		default:
			return own_values(tr, lut->space) * KEPT_OPERATORS;
	}
}

/* A request's work for all of them, in calls of an operator. */
static double
lookup_operators(const GcTranslation *tr)
{
	double		n = 0;

	for (int i = 0; i < tr->nluts; i++)
		n += operators(tr, i);
	return n;
}

/*-------------------------------------------------------------------------
 * Costs of a node
 *-------------------------------------------------------------------------
 */

/* To encode a value of a row source, in operators. */
#define ENCODE_OPERATORS	4

/*
 * The part of a build's time that a request takes where the build is of a whole table that nobody writes to.  Such a
 * build is kept, and another request has mostly made it.
 */
#define KEPT_BUILD			0.2

/* A window over kept rows: its functions, in doublings of the rows; its launches. */
#define WINDOW_DOUBLINGS	7
#define WINDOW_COST			40

/*
 * To decode a value, in operators.  It is a machine word; a numeric, which is made of digits; or a text
 * that few rows, or else many, have in common.  Measured.
 */
#define WORD_OPERATORS		1
#define NUMERIC_OPERATORS	14
#define TEXT_OPERATORS		3
#define OWN_TEXT_OPERATORS	14

/* The processor's caches hold no dictionary of more values than this. */
#define MANY_VALUES			50000

/*
 * Cost of a tuple scanned, one entered into a hash table, a row that a step of a window's sort moves, and a pair tried.
 * The defaults are the measured times over PostgreSQL's own.
 */
typedef struct DeviceCosts
{
	double		tuple;
	double		build;
	double		window;
	double		pair;
} DeviceCosts;

/* Costs of the device by the settings, or by what kind of device it is. */
static DeviceCosts
device_costs(void)
{
	bool		fast = gc_device_status()->info.own_processors;

	return (DeviceCosts) {
		.tuple = gc_debug_tuple_cost >= 0 ? gc_debug_tuple_cost : fast ? 0.000001 : 0.0003,
		.build = gc_debug_build_cost >= 0 ? gc_debug_build_cost : fast ? 0.00001 : 0.002,
		.window = gc_debug_build_cost >= 0 ? gc_debug_build_cost : fast ? 0.00001 : 0.0009,
		.pair = gc_debug_pair_cost >= 0 ? gc_debug_pair_cost : fast ? 0.0000005 : 0.0001};
}

/* The time of all pairs that a leaf's rows make with the rows of lists. */
static Cost
pairs_cost(const GcLeaf *leaf, double pair_cost)
{
	double		rows = Max(leaf->tuples * leaf->share, 1);
	Cost		cost = 0;
	ListCell   *lc;

	foreach(lc, leaf->children)
	{
		const GcLeaf *child = lfirst(lc);
		double		pairs = rows * Max(child->tuples * child->share, 1);

		if (!gc_leaf_is_list(child))
			continue;
		cost += pairs * pair_cost;
		if (child->join == GC_JOIN_INNER || child->join == GC_JOIN_LEFT)
			rows = pairs;
	}
	return cost;
}

/*
 * Does each execution read pages not all-visible itself?  Mostly they are read once, for all sessions, and served
 * until they change (columns/serve/versions.h).  But pages without an LSN may not be, nor are pages that this
 * transaction has changed.
 */
static bool
reads_stale_pages(void)
{
	return !gc_debug_versioned_pages || TransactionIdIsValid(GetTopTransactionIdIfAny()) || !XLogIsNeeded();
}

/* Pages not all-visible are looked at, or their tuples are read by the backend itself. */
static Cost
delta_cost(const RelOptInfo *rel, double tuples)
{
	double		stale = 1 - Min(rel->allvisfrac, 1);

	if (stale > 0 && !reads_stale_pages())
		return stale * rel->pages * cpu_tuple_cost;
	return stale * rel->pages * seq_page_cost + 2 * tuples * stale * cpu_tuple_cost;
}

/* To encode a row of a row source. */
static Cost
encoding_cost(const GcLeaf *leaf)
{
	return cpu_tuple_cost + ENCODE_OPERATORS * list_length(leaf->path->pathtarget->exprs) * cpu_operator_cost;
}

/*
 * To enter each row into a group table at most, or to keep it.  If there are windows: to make the groups that
 * they are over, to sort the rows and to scan them.  A sort has a step for each doubling of the rows; the
 * functions take as long as a few.
 */
static Cost
kept_cost(const GcTranslation *tr, const GcGroups *groups, const DeviceCosts *costs)
{
	const double n = Max(tr->plan->groups[groups->pipeline], 2);
	Cost		cost = groups->streamed->tuples * groups->streamed->share * costs->build;

	if (groups->rows && groups->over)
		cost += groups->over->streamed->tuples * groups->over->streamed->share * costs->build;
	for (int i = 0; i < tr->nkept_windows; i++)
	{
		if (tr->kept_windows[i].pipeline == groups->pipeline)
			cost += n * (log2(n) + WINDOW_DOUBLINGS) * costs->window + WINDOW_COST;
	}
	return cost;
}

/* Does a leaf's build mostly stay the same from one statement to another? */
static bool
has_kept_build(const GcLeaf *leaf)
{
	ListCell   *lc;

	if (leaf->build < 0 || !OidIsValid(leaf->relid) || leaf->filters != NIL || leaf->rel->allvisfrac < 1)
		return false;
	foreach(lc, leaf->children)
	{
		if (!has_kept_build(lfirst(lc)))
			return false;
	}
	return true;
}

static Cost leaf_cost(GcTranslation *tr, GcLeaf *leaf, const DeviceCosts *costs);

/* The cost of all of a node's leaves. */
static Cost
leaves_cost(GcTranslation *tr, List *leaves, const DeviceCosts *costs)
{
	Cost		cost = 0;
	ListCell   *lc;

	foreach(lc, leaves)
		cost += leaf_cost(tr, lfirst(lc), costs);
	return cost;
}

/* The time of a leaf and, if it is a subquery, all that this reads. */
static Cost
leaf_cost(GcTranslation *tr, GcLeaf *leaf, const DeviceCosts *costs)
{
	Cost		cost = leaf->tuples * costs->tuple * (1 + 0.5 * list_length(leaf->children));
	ListCell   *lc;

	cost += pairs_cost(leaf, costs->pair);
	if (leaf->build >= 0)
		cost += leaf->tuples * leaf->share * costs->build;
	if (has_kept_build(leaf))
		cost *= KEPT_BUILD;
	if (gc_leaf_is_source(leaf))
		cost += gc_execution_time(tr->top, leaf->path) + leaf->rows * encoding_cost(leaf);
	else if (leaf->arms)
	{
		foreach(lc, leaf->arms->arms)
			cost += leaves_cost(tr, ((GcArm *) lfirst(lc))->leaves, costs);
	}
	else if (leaf->groups && !leaf->groups->shared)
	{
		cost += leaves_cost(tr, leaf->groups->leaves, costs);
		cost += kept_cost(tr, leaf->groups, costs);
	}
	else if (leaf->groups == NULL)
	{
		/* Priced as the sequential scan that it is. */
		if (!enable_seqscan)
			cost += disable_cost;
		if (leaf->append == NULL)
			cost += delta_cost(leaf->rel, leaf->tuples);
		foreach(lc, leaf->append ? leaf->append->parts : NIL)
		{
			const RelOptInfo *part = ((GcAppendPart *) lfirst(lc))->rel;

			cost += delta_cost(part, part->tuples);
		}
	}
	return cost;
}

/* Each finest group, or each row, is entered into groups for each set. */
static Cost
sets_cost(const GcTranslation *tr, const DeviceCosts *costs)
{
	const GcLeaf *from = tr->groups && tr->groups->distinct != NIL ? tr->groups->streamed : tr->streamed;
	const int	rounds = tr->groups ? list_length(tr->groups->distinct) : 0;

	return from->tuples * from->share * list_length(tr->sets) * Max(rounds, 1) * costs->build;
}

/* Has a text column so many values that each row leads to another place in memory? */
static bool
has_many_values(GcTranslation *tr, const Expr *expr)
{
	const Var  *var = (const Var *) expr;
	VariableStatData stats;
	bool		isdefault;
	double		n;

	if (!IsA(var, Var) || var->varlevelsup > 0 || var->varno <= 0 || var->varno >= tr->top->simple_rel_array_size ||
		tr->top->simple_rel_array[var->varno] == NULL)
		return false;
	examine_variable(tr->top, (Node *) var, 0, &stats);
	n = get_variable_numdistinct(&stats, &isdefault);
	ReleaseVariableStats(stats);
	return n > MANY_VALUES;
}

/* To decode one value of an output, in operators. */
static double
output_operators(GcTranslation *tr, const GcPlanOutput *out, const Expr *expr)
{
	const GcKind kind = gc_type_kind(out->typid);

	if (out->type == GC_OUT_NONE)
		return 0;
	if (out->typid == NUMERICOID)
		return NUMERIC_OPERATORS;
	if (kind != GC_KIND_NONE && GC_KIND_IS_CODE(kind))
		return has_many_values(tr, expr) ? OWN_TEXT_OPERATORS : TEXT_OPERATORS;
	return WORD_OPERATORS;
}

/* The cost to decode one row, in PostgreSQL's units. */
static Cost
row_cost(GcTranslation *tr)
{
	double		operators = 0;
	ListCell   *lo,
			   *lt;

	forboth(lo, tr->outputs, lt, tr->scan_tlist)
		operators += output_operators(tr, lfirst(lo), lfirst_node(TargetEntry, lt)->expr);
	return 0.5 * cpu_tuple_cost + operators * cpu_operator_cost;
}

GcCosts
gc_costs(GcTranslation *tr, Path *own)
{
	GcCosts		costs = {.device = gc_offload_cost,.row = row_cost(tr),.scale = 1};
	const DeviceCosts constants = device_costs();
	Cost		own_time = gc_execution_time(tr->top, own);
	ListCell   *lc;

	foreach(lc, tr->leaves)
		costs.device += leaf_cost(tr, lfirst(lc), &constants);
	if (tr->groups && tr->groups->rows)
		costs.device += kept_cost(tr, tr->groups, &constants) + tr->streamed->tuples * constants.tuple;
	costs.device += lookup_operators(tr) * cpu_operator_cost;
	costs.device += sets_cost(tr, &constants);
	own_time -= gc_groups_excess(own, tr->fewer);
	if (own_time > 0 && own->total_cost > 0)
		costs.scale = own->total_cost / own_time;
	tr->plan->own_ms = own_time * GC_UNIT_MS;
	return costs;
}
