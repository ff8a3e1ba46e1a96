/*-------------------------------------------------------------------------
 *
 * steps.c
 *	  In which order a pipeline filters and probes.
 *
 * Kernels read a step's columns for a vector of rows at a time (cuda/gc_tile.h), and only where some row of the vector
 * is still live.  So an order's cost is the bytes that it reads.  For each step that is those of its columns, times the
 * share of vectors that the steps before left a row of.  Of few steps all orders are compared; many are sorted by what
 * each drops per byte.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#include "pipelines.h"

#include <float.h>

#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "../expr/lookup.h"

/* Rows of a vector, a power of two. */
#define VECTOR_ROWS		16

/* Bytes of a filter's column, whose encoding the planner does not know. */
#define FILTER_BYTES	2.0

/* The cost of looking up a key, in bytes that could be read in the same time. */
#define PROBE_BYTES		3.0

/* The cost of trying a row of a list, which is put behind all else. */
#define LIST_BYTES		1000.0

/* A range between two parameters is taken to have this many values of its column. */
#define RANGE_VALUES	2

/* Another order than the one at hand must cost less than this part of it. */
#define WORTH_ANOTHER	0.99

/* Up to this many steps are tried in every order. */
#define MAX_TRIED		6

/* Is it a comparison (<, <=, >, >=)? */
static bool
is_inequality(Node *clause)
{
	RegProcedure estimator;

	if (!IsA(clause, OpExpr))
		return false;
	estimator = get_oprrest(((OpExpr *) clause)->opno);
	return estimator == F_SCALARLTSEL || estimator == F_SCALARLESEL || estimator == F_SCALARGTSEL ||
		estimator == F_SCALARGESEL;
}

/* RANGE_VALUES as a part of the values that are compared with a parameter; 1 if those are not known. */
static double
values_share(GcTranslation *tr, Node *clause)
{
	ListCell   *lc;
	double		share = 1;

	foreach(lc, ((OpExpr *) clause)->args)
	{
		VariableStatData vardata;
		bool		guessed;
		double		distinct;

		if (gc_contains_param(lfirst(lc), NULL))
			continue;
		examine_variable(tr->root, lfirst(lc), 0, &vardata);
		distinct = get_variable_numdistinct(&vardata, &guessed);
		ReleaseVariableStats(vardata);
		if (!guessed && distinct > RANGE_VALUES)
			share = RANGE_VALUES / distinct;
	}
	return share;
}

/*
 * A range with a parameter at one end is 1 row in 200 to clauselist_selectivity()
 * (DEFAULT_RANGE_INEQ_SEL), whatever it knows of the other end.  That may be enough for costs.  But a
 * kernel that is made for few surviving rows takes up to five times as long when many survive
 * (bench/two_stage/alone.py: date ranges of Q3.1 to Q3.3).  So the ends are taken as independent
 * conditions here.  A range between two parameters need not be wide: for a column with many values
 * (the brands of Q2.2) it remains 1 row in 200.
 */
double
gc_clauses_share(GcTranslation *tr, List *clauses)
{
	double		theirs = clauselist_selectivity(tr->root, clauses, 0, JOIN_INNER, NULL);
	double		share = 1;
	Node	   *unknown = NULL;
	bool		known = false;
	int			inequalities = 0;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;

		if (!is_inequality(clause))
			continue;
		inequalities++;
		if (gc_contains_param(clause, NULL))
			unknown = clause;
		else
			known = true;
	}
	if (inequalities < 2 || unknown == NULL)
		return theirs;
	foreach(lc, clauses)
		share *= clause_selectivity(tr->root, lfirst(lc), 0, JOIN_INNER, NULL);
	return known ? share : Max(theirs, Min(share, values_share(tr, unknown)));
}

/* One step for all filters on the same columns. */
static List *
make_filter_steps(GcTranslation *tr, GcLeaf *leaf)
{
	List	   *steps = NIL;
	ListCell   *lc,
			   *ls;

	foreach(lc, leaf->filters)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *vars = pull_var_clause((Node *) rinfo->clause, PVC_RECURSE_PLACEHOLDERS);
		GcStepPlan *s = NULL;

		foreach(ls, steps)
		{
			GcStepPlan *other = lfirst(ls);

			if (list_difference(vars, other->vars) == NIL && list_difference(other->vars, vars) == NIL)
				s = other;
		}
		if (s == NULL)
		{
			s = palloc0(sizeof(GcStepPlan));
			s->vars = vars;
			steps = lappend(steps, s);
		}
		s->filters = lappend(s->filters, rinfo);
	}
	foreach(ls, steps)
	{
		GcStepPlan *s = lfirst(ls);

		s->share = gc_clauses_share(tr, s->filters);
		s->bytes = FILTER_BYTES * list_length(s->vars);
	}
	return steps;
}

/* Filters of a leaf as steps, made once. */
static List *
filter_steps(GcTranslation *tr, GcLeaf *leaf)
{
	if (leaf->filter_steps == NIL)
		leaf->filter_steps = make_filter_steps(tr, leaf);
	return leaf->filter_steps;
}

/* Share of rows that pass the leaf's filters: PostgreSQL's estimate, with gc_clauses_share()'s for ranges. */
double
gc_filters_share(GcTranslation *tr, GcLeaf *leaf)
{
	double		share = clamp_row_est(leaf->rows) / leaf->tuples;
	ListCell   *lc;

	foreach(lc, filter_steps(tr, leaf))
	{
		GcStepPlan *s = lfirst(lc);
		double		theirs = clauselist_selectivity(tr->root, s->filters, 0, JOIN_INNER, NULL);

		if (theirs > 0)
			share *= s->share / theirs;
	}
	return share;
}

/* Bytes of a key's column: it has one code for each row of the build side, or more. */
static double
key_bytes(const GcLeaf *build)
{
	return build->tuples <= 250 ? 1 : build->tuples <= 65000 ? 2 : build->tuples <= 4e9 ? 4 : 8;
}

/* Order for list_sort(): the steps first that drop the most rows for each byte that they read. */
static int
compare_steps(const ListCell *a, const ListCell *b)
{
	const GcStepPlan *x = lfirst(a);
	const GcStepPlan *y = lfirst(b);
	double		l = (x->share - 1) / x->bytes;
	double		r = (y->share - 1) / y->bytes;

	return l < r ? -1 : l > r;
}

typedef struct StepSearch
{
	GcStepPlan *steps[MAX_TRIED];	/* the first `depth` of them: the order being tried */
	GcStepPlan *best[MAX_TRIED];
	double		best_cost;
	int			n;
} StepSearch;

/* The share of vectors of which a row is left, if this is the share of rows. */
static double
vectors_left(double share)
{
	double		none = 1 - share;

	for (int rows = 1; rows < VECTOR_ROWS; rows *= 2)
		none *= none;
	return 1 - none;
}

/* Try all orders of the steps from `depth` on; cost: of those before, which leave `share`. */
static void
search(StepSearch *s, int depth, double cost, double share)
{
	double		active;

	/* Costs of the same steps differ in their last digits, and each order is a kernel of its own. */
	if (cost >= s->best_cost * WORTH_ANOTHER)
		return;
	if (depth == s->n)
	{
		s->best_cost = cost;
		memcpy(s->best, s->steps, sizeof(s->best));
		return;
	}
	active = vectors_left(share);
	for (int i = depth; i < s->n; i++)
	{
		GcStepPlan *step = s->steps[i];

		s->steps[i] = s->steps[depth];
		s->steps[depth] = step;
		search(s, depth + 1, cost + active * step->bytes, share * step->share);
		s->steps[depth] = s->steps[i];
		s->steps[i] = step;
	}
}

/* All steps by their cost; every order is tried where there are few. */
static List *
cheapest_order(GcTranslation *tr, GcLeaf *leaf)
{
	List	   *steps = list_copy(filter_steps(tr, leaf));
	StepSearch	s = {.best_cost = DBL_MAX};
	ListCell   *lc;

	foreach(lc, leaf->children)
	{
		GcStepPlan *step = palloc0(sizeof(GcStepPlan));

		step->probe = lfirst(lc);
		step->share = step->probe->outer_share;
		step->bytes = gc_leaf_is_list(step->probe) ? LIST_BYTES * Max(step->probe->tuples * step->probe->share, 1)
			: key_bytes(step->probe) + PROBE_BYTES;
		steps = lappend(steps, step);
	}
	list_sort(steps, compare_steps);
	if (list_length(steps) < 2 || list_length(steps) > MAX_TRIED)
		return steps;

	foreach(lc, steps)
	{
		GcStepPlan *step = lfirst(lc);

		step->share = Min(Max(step->share, 0), 1);
		s.steps[s.n++] = step;
	}
	search(&s, 0, 0, 1);
	steps = NIL;
	for (int i = 0; i < s.n; i++)
		steps = lappend(steps, s.best[i]);
	return steps;
}

/* The phase in which a step may come; filters come in the first. */
static int
phase_of(const GcStepPlan *step)
{
	return step->probe ? step->probe->phase : 0;
}

/* A step that stands behind a full join in SQL must come behind it. */
List *
gc_order_steps(GcTranslation *tr, GcLeaf *leaf)
{
	List	   *steps = cheapest_order(tr, leaf);
	List	   *result = NIL;
	int			last = 0;
	ListCell   *lc;

	foreach(lc, steps)
		last = Max(last, phase_of(lfirst(lc)));
	for (int phase = 0; phase <= last; phase++)
	{
		foreach(lc, steps)
		{
			if (phase_of(lfirst(lc)) == phase)
				result = lappend(result, lfirst(lc));
		}
	}
	return result;
}
