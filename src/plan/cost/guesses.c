/*-------------------------------------------------------------------------
 *
 * guesses.c
 *	  What of PostgreSQL's estimates is guessed, as values of parameters are not known.
 *
 * A generic plan is for all values of its parameters.  PostgreSQL guesses how many rows conditions on them leave, as
 * one in 200 of a range.  So an index scan seems cheap that reads most of the table once the values are known.  Neither
 * path is the better one for all values.  Therefore a node is made that decides when it is executed (exec/judge.c).  It
 * costs less than PostgreSQL's own path, so that the plan has it.
 *
 * PostgreSQL's time is taken to consist of three parts.  What does not depend on the guesses stays as it is.  An index
 * scan whose conditions were guessed takes as many times as long as there are more rows.  So does all above of it, for
 * the rows of all scans that were guessed.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "costs.h"

#include "access/htup.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "node.h"
#include "../../compat.h"
#include "../../force.h"
#include "../base/planning.h"

/* PostgreSQL must be slower than the device by so much for some values; the decision takes time at each execution. */
#define CLEARLY			4

/* Elements that an array is guessed to have whose value is not known (selfuncs.c). */
#define ARRAY_ELEMENTS	10

/* Conditions of a relation whose selectivity is guessed. */
typedef struct Guess
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* that has the statistics */
	List	   *clauses;		/* RestrictInfo */
	double		share;			/* of the rows, as guessed */
	double		most;			/* of the rows, at most */
	bool		rows;			/* they are all of the relation's: the rows above depend on them */
	Cost		time;			/* of index scans by them */
} Guess;

/* A path of PostgreSQL's. */
typedef struct Parts
{
	int			n;
	Guess		guesses[GC_MAX_GUESSES];
	bool		too_many;
	Cost		fixed;
	Cost		above;
} Parts;

/* Is a parameter of the statement below? */
static bool
param_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXTERN;
	return expression_tree_walker(node, param_walker, context);
}

/* Nodes that only the planner's run that made them knows how to estimate. */
static bool
of_run_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, PlaceHolderVar) || IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	return expression_tree_walker(node, of_run_walker, context);
}

/* Are there parameters whose values are not known?  Those that are known for good are constants by now. */
static bool
has_unknown(PlannerInfo *root)
{
	return gc_planning->parameters && root->glob->boundParams == NULL && !gc_offload_forced();
}

/*
 * Conditions with parameters, and those that are estimated with them: a range may have one bound that is known.  NIL
 * where there are no parameters.
 */
static List *
guessed_clauses(List *restrictions)
{
	List	   *found = NIL;
	bool		guessed = false;
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant || of_run_walker((Node *) rinfo->clause, NULL))
			continue;
		found = lappend(found, rinfo);
		guessed |= param_walker((Node *) rinfo->clause, NULL);
	}
	return guessed ? found : NIL;
}

/* The relation whose statistics are of all of an inheritance tree or partitioned table. */
static RelOptInfo *
whole_table(PlannerInfo *root, RelOptInfo *rel)
{
	while (root->append_rel_array && root->append_rel_array[rel->relid])
	{
		const Index parent = root->append_rel_array[rel->relid]->parent_relid;

		if (planner_rt_fetch(parent, root)->rtekind != RTE_RELATION)
			break;
		rel = root->simple_rel_array[parent];
	}
	return rel;
}

/*-------------------------------------------------------------------------
 * The largest part of the rows
 *-------------------------------------------------------------------------
 */

/* The part that one value of a column may have. */
static double
most_of_one_value(PlannerInfo *root, List *args, int relid)
{
	VariableStatData var;
	Node	   *other;
	bool		on_left;
	AttStatsSlot slot;
	double		most = 1;

	if (!get_restriction_variable(root, args, relid, &var, &other, &on_left))
		return 1;
	if (var.isunique)
		most = var.rel->tuples >= 1 ? 1 / var.rel->tuples : 1;
	else if (HeapTupleIsValid(var.statsTuple))
	{
		bool		is_default;

		most = 1 / Max(get_variable_numdistinct(&var, &is_default), 1);
		if (get_attstatsslot(&slot, var.statsTuple, STATISTIC_KIND_MCV, InvalidOid, ATTSTATSSLOT_NUMBERS))
		{
			if (slot.nnumbers > 0)
				most = Max(most, slot.numbers[0]);
			free_attstatsslot(&slot);
		}
	}
	ReleaseVariableStats(var);
	return most;
}

/* The largest share of rows that a condition may leave, whatever its parameters are. */
static double
most_of_clause(PlannerInfo *root, Node *clause, int relid)
{
	if (!param_walker(clause, NULL))
		return clause_selectivity(root, clause, relid, JOIN_INNER, NULL);
	if (IsA(clause, OpExpr) && get_oprrest(((OpExpr *) clause)->opno) == F_EQSEL)
		return most_of_one_value(root, ((OpExpr *) clause)->args, relid);
	if (IsA(clause, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *) clause)->useOr &&
		get_oprrest(((ScalarArrayOpExpr *) clause)->opno) == F_EQSEL)
		return Min(ARRAY_ELEMENTS * most_of_one_value(root, ((ScalarArrayOpExpr *) clause)->args, relid), 1);
	return 1;
}

/*-------------------------------------------------------------------------
 * A path's parts
 *-------------------------------------------------------------------------
 */

/* The guess for these conditions; NULL where there are too many. */
static Guess *
find_guess(PlannerInfo *root, Parts *parts, RelOptInfo *rel, List *clauses, bool rows)
{
	Guess	   *guess;
	ListCell   *lc;

	for (int i = 0; i < parts->n; i++)
	{
		guess = &parts->guesses[i];
		if (guess->rel == rel && equal(guess->clauses, clauses))
		{
			guess->rows |= rows;
			return guess;
		}
	}
	if (parts->n == GC_MAX_GUESSES)
	{
		parts->too_many = true;
		return NULL;
	}
	guess = &parts->guesses[parts->n++];
	*guess = (Guess) {.root = root,.rel = rel,.clauses = clauses,.rows = rows,.most = 1};
	/* As the executor will estimate them: each by itself, but for ranges. */
	guess->share = Max(clauselist_selectivity(root, get_actual_clauses(clauses), rel->relid, JOIN_INNER, NULL), 1e-10);
	foreach(lc, clauses)
		guess->most = Min(guess->most,
						  most_of_clause(root, (Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid));
	guess->most = Max(guess->most, guess->share);
	return guess;
}

/* Conditions that an index is searched by. */
static List *
searched_by(Path *path)
{
	List	   *found = NIL;
	List	   *children = NIL;
	ListCell   *lc;

	if (IsA(path, IndexPath))
	{
		foreach(lc, ((IndexPath *) path)->indexclauses)
			found = lappend(found, lfirst_node(IndexClause, lc)->rinfo);
		return found;
	}
	if (IsA(path, BitmapHeapPath))
		return searched_by(((BitmapHeapPath *) path)->bitmapqual);
	if (IsA(path, BitmapAndPath))
		children = ((BitmapAndPath *) path)->bitmapquals;
	else if (IsA(path, BitmapOrPath))
		children = ((BitmapOrPath *) path)->bitmapquals;
	foreach(lc, children)
		found = list_concat(found, searched_by(lfirst(lc)));
	return found;
}

/* Children of a path; NIL: it scans a relation, or it is not looked into. */
static List *
children_of(Path *path)
{
	Path	  **child = gc_single_child(path);
	List	  **children = gc_child_list(path);

	if (IsA(path, NestPath) || IsA(path, MergePath) || IsA(path, HashPath))
		return list_make2(((JoinPath *) path)->outerjoinpath, ((JoinPath *) path)->innerjoinpath);
	if (IsA(path, SubqueryScanPath))
		return list_make1(((SubqueryScanPath *) path)->subpath);
	if (children)
		return *children;
	return child ? list_make1(*child) : NIL;
}

/* The planner's state for the paths below: a subquery has its own. */
static PlannerInfo *
root_below(PlannerInfo *root, const Path *path)
{
	return IsA(path, SubqueryScanPath) && path->parent->subroot ? path->parent->subroot : root;
}

static bool
scans_table(const Path *path)
{
	return IS_SIMPLE_REL(path->parent) && path->parent->rtekind == RTE_RELATION && !gc_is_path(path);
}

/* Does anything in it depend on a guess? */
static bool
is_guessed(PlannerInfo *root, Path *path)
{
	List	   *children;
	ListCell   *lc;

	check_stack_depth();
	if (gc_is_path(path))
		return false;
	children = children_of(path);
	if (children == NIL)
		return scans_table(path) && guessed_clauses(path->parent->baserestrictinfo) != NIL;
	foreach(lc, children)
	{
		if (is_guessed(root_below(root, path), lfirst(lc)))
			return true;
	}
	return false;
}

/* A scan that an index of guessed conditions leads to takes time by the rows that these leave; any other is fixed. */
static void
add_scan(PlannerInfo *root, Path *path, Parts *parts)
{
	RelOptInfo *rel = whole_table(root, path->parent);
	List	   *all = guessed_clauses(rel->baserestrictinfo);
	List	   *searched = guessed_clauses(searched_by(path));
	Guess	   *guess;

	/* Conditions of a partition, or parts of one, are no RestrictInfos of the table. */
	if (searched == NIL || list_difference_ptr(searched, all) == NIL)
		all = searched;
	guess = all == NIL ? NULL : find_guess(root, parts, rel, all, false);
	if (guess)
		guess->time += gc_execution_time(root, path);
	else
		parts->fixed += gc_execution_time(root, path);
}

/* The inner side of a nested loop is executed for each outer row, unless its rows are kept. */
static Path *
executed_once(Path *inner)
{
	return IsA(inner, MaterialPath) ? ((MaterialPath *) inner)->subpath : NULL;
}

/* Divide a path's time into what hangs on guesses, and what does not. */
static void
add_parts(PlannerInfo *root, Path *path, Parts *parts)
{
	List	   *children = children_of(path);
	ListCell   *lc;

	if (!is_guessed(root, path))
	{
		parts->fixed += gc_execution_time(root, path);
		return;
	}
	if (children == NIL)
	{
		add_scan(root, path, parts);
		return;
	}
	foreach(lc, children)
	{
		Path	   *child = lfirst(lc);

		if (IsA(path, NestPath) && child == ((JoinPath *) path)->innerjoinpath)
			child = executed_once(child);
		if (child)
			add_parts(root_below(root, path), child, parts);
	}
}

/* The guesses that rows depend on. */
static void
add_guesses(PlannerInfo *root, Path *path, Parts *parts)
{
	List	   *children = gc_is_path(path) ? NIL : children_of(path);
	ListCell   *lc;

	if (children == NIL && scans_table(path))
	{
		RelOptInfo *rel = whole_table(root, path->parent);
		List	   *clauses = guessed_clauses(rel->baserestrictinfo);

		if (clauses != NIL)
			(void) find_guess(root, parts, rel, clauses, true);
	}
	foreach(lc, children)
		add_guesses(root_below(root, path), lfirst(lc), parts);
}

/* False where nothing is guessed, or too much is. */
static bool
path_parts(PlannerInfo *root, Path *path, Parts *parts)
{
	memset(parts, 0, sizeof(*parts));
	if (!has_unknown(root) || !is_guessed(root, path))
		return false;
	add_guesses(root, path, parts);
	add_parts(root, path, parts);
	parts->above = gc_execution_time(root, path) - parts->fixed;
	for (int i = 0; i < parts->n; i++)
		parts->above -= parts->guesses[i].time;
	parts->above = Max(parts->above, 0);
	return parts->n > 0 && !parts->too_many;
}

/*-------------------------------------------------------------------------
 * Decisions by it
 *-------------------------------------------------------------------------
 */

/* As many times the rows as were guessed, at most. */
static double
most_rows(const Parts *parts)
{
	double		times = 1;

	for (int i = 0; i < parts->n; i++)
	{
		if (parts->guesses[i].rows)
			times *= parts->guesses[i].most / parts->guesses[i].share;
	}
	return times;
}

/* The most time that it takes, whatever the parameters are. */
static Cost
most_time(const Parts *parts)
{
	Cost		time = parts->fixed + parts->above * most_rows(parts);

	for (int i = 0; i < parts->n; i++)
		time += parts->guesses[i].time * parts->guesses[i].most / parts->guesses[i].share;
	return time;
}

bool
gc_may_take_longer(PlannerInfo *root, Path *path, Cost least)
{
	Parts		parts;

	return path_parts(root, path, &parts) && most_time(&parts) >= CLEARLY * least;
}

/* Conditions that the executor is to estimate anew, once it has values. */
static void
note_guesses(GcTranslation *tr, const Parts *parts)
{
	GcPlan	   *plan = tr->plan;

	plan->nguesses = parts->n;
	plan->above_ms = parts->above * GC_UNIT_MS;
	tr->guessed = NIL;
	for (int i = 0; i < parts->n; i++)
	{
		const Guess *guess = &parts->guesses[i];
		const RangeTblEntry *rte = planner_rt_fetch(guess->rel->relid, guess->root);
		List	   *clauses = copyObject(get_actual_clauses(guess->clauses));

		ChangeVarNodes((Node *) clauses, guess->rel->relid, 1, 0);
		tr->guessed = lappend(tr->guessed, clauses);
		plan->guesses[i] = (GcPlanGuess) {
			.relid = rte->relid,
			.user = GC_REL_USER(guess->rel, rte),
			.relkind = rte->relkind,
			.inherits = rte->inh,
			.secured = rte->securityQuals != NIL,
			.rows = guess->rows,
			.share = guess->share,
			.ms = guess->time * GC_UNIT_MS
		};
	}
}

bool
gc_decided_by_values(GcTranslation *tr, Path *own, const GcCosts *costs, double rows)
{
	const Cost	device = gc_costs_time(costs, rows);
	/* Rows cost the device something, too; groups are about as many, however many rows there are. */
	const Cost	decoding = tr->pipelines[tr->main].sink == GC_SINK_AGGREGATE ? 0 : device - gc_costs_time(costs, 0);
	Parts		parts;

	if (!path_parts(tr->top, own, &parts) || parts.fixed >= device ||
		most_time(&parts) < CLEARLY * (device + decoding * (most_rows(&parts) - 1)))
		return false;
	note_guesses(tr, &parts);
	tr->plan->rows_ms = decoding * GC_UNIT_MS;
	return true;
}
