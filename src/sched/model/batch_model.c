/*-------------------------------------------------------------------------
 *
 * batch_model.c
 *	  The batch-level model: column generation, then rounding with repair.
 *
 * The steps are, as long as the plan at hand is not known to be the best:
 * - first-fit decreasing;
 * - column generation (Li, Tu, Zeng 2019, algorithm 2), until no pattern prices out or the
 *	 bound, rounded up, cannot change any more;
 * - rounding down the patterns of the LP, and packing anew the items that they leave.
 *
 * All steps take their effort from one account, so that a call ends in a bounded time.  If
 * the effort ends before a plan is known to be the best, `proven` is false.
 *
 * Pure functions; the work space is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "batch_model.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define EPS_COST		1e-7	/* reduced cost below -this: worth a column */
#define EPS_BATCH		1e-5	/* bounds this little above a whole number are that number */
#define PATIENCE		10		/* steps to improve a pattern that prices out */
#define FILL_STEPS		60		/* steps to fill one batch in rounding */

/* Least whole number of batches that a bound allows. */
static int
whole(double bound)
{
	double		n = ceil(bound - EPS_BATCH);

	return n < 1 ? 1 : (int) n;
}

/* A lower bound was proven. */
static void
raise_bound(GcBatchWork *work, double bound)
{
	if (bound > work->bound)
		work->bound = bound;
	if (whole(work->bound) > work->target)
		work->target = whole(work->bound);
}

/*
 * Trials
 */

/* No batch is planned yet, and all items are left. */
static void
trial_start(const GcBatchWork *work, GcBatchTrial *trial)
{
	trial->npatterns = 0;
	trial->batches = 0;
	trial->types_left = work->n;
	memcpy(trial->left, work->demand, sizeof(int) * (size_t) work->n);
}

/* How many whole times a pattern, which is not empty, can be used for the items left. */
static int
trial_times(const GcBatchWork *work, const GcBatchTrial *trial, const uint16_t *count)
{
	int			times = INT32_MAX;

	for (int i = 0; i < work->n; i++)
	{
		/* a division is slow, and most patterns are used once or twice */
		if (count[i] > 0 && (times >= UINT16_MAX || trial->left[i] < count[i] * times))
			times = trial->left[i] / count[i];
	}
	return times;
}

/*
 * Use a pattern.  False, and nothing done, where the table would then have too few entries for the
 * rest.  The rest is packed one type at a time, in two patterns each.
 */
static bool
trial_push(const GcBatchWork *work, GcBatchTrial *trial, const uint16_t *count, int times)
{
	int			types_left = 0;

	for (int i = 0; i < work->n; i++)
		types_left += trial->left[i] > count[i] * times;
	if (trial->npatterns + 1 + 2 * types_left > GC_BATCH_MAX_PATTERNS)
		return false;
	for (int i = 0; i < work->n; i++)
		trial->left[i] -= count[i] * times;
	memcpy(trial->count[trial->npatterns], count, sizeof(uint16_t) * (size_t) work->n);
	trial->times[trial->npatterns++] = times;
	trial->batches += times;
	trial->types_left = types_left;
	return true;
}

/* Pack the items that are left one type at a time: always possible, rarely good. */
static void
trial_singles(const GcBatchWork *work, GcBatchTrial *trial)
{
	uint16_t	count[GC_BATCH_MAX_TYPES] = {0};

	for (int i = 0; i < work->n; i++)
	{
		int			fit = work->knapsack.fit[i];
		int			full = trial->left[i] / fit;

		count[i] = (uint16_t) fit;
		if (full > 0)
			trial_push(work, trial, count, full);
		count[i] = (uint16_t) trial->left[i];
		if (count[i] > 0)
			trial_push(work, trial, count, 1);
		count[i] = 0;
	}
}

/*
 * Pack the items that are left by first-fit decreasing, batch by batch: of each type in work->order, as many as
 * fit.  A pattern is used as often as the items left allow.
 */
static void
trial_first_fit(const GcBatchWork *work, GcBatchTrial *trial)
{
	while (trial->types_left > 0)
	{
		uint16_t	count[GC_BATCH_MAX_TYPES] = {0};

		gc_knapsack_fill(&work->knapsack, work->order, work->n, trial->left, count);
		if (!trial_push(work, trial, count, trial_times(work, trial, count)))
		{
			trial_singles(work, trial);
			return;
		}
	}
}

/* Pack the items that are left, each batch with the pattern worth most at work->value. */
static void
trial_by_value(GcBatchWork *work, GcBatchTrial *trial)
{
	while (trial->types_left > 0 && work->effort > 0 && trial->batches < work->best.batches)
	{
		uint16_t   *count = work->found.count;

		gc_knapsack_search(&work->knapsack, work->value, trial->left, 0, FILL_STEPS,
						   FILL_STEPS, &work->found);
		work->effort -= work->found.steps + work->n;
		if (!work->found.found)
			break;
		gc_knapsack_fill(&work->knapsack, work->order, work->n, trial->left, count);
		if (!trial_push(work, trial, count, trial_times(work, trial, count)))
			break;
	}
	trial_first_fit(work, trial);
}

/*
 * Use a pattern `times` times, as far as its items are left.  Surplus is cut off, and other items get
 * the room that this leaves.
 */
static bool
trial_trimmed(const GcBatchWork *work, GcBatchTrial *trial, const GcLpColumn *column, int times)
{
	while (times > 0)
	{
		uint16_t	count[GC_BATCH_MAX_TYPES] = {0};
		int			n = 0;
		int			use;

		for (int k = 0; k < column->nentries; k++)
		{
			int			i = column->entry[k].row;
			int			c = column->entry[k].count;

			count[i] = (uint16_t) (c < trial->left[i] ? c : trial->left[i]);
			n += count[i];
		}
		if (n == 0)
			return true;
		gc_knapsack_fill(&work->knapsack, work->order, work->n, trial->left, count);
		use = trial_times(work, trial, count);
		if (use > times)
			use = times;
		if (!trial_push(work, trial, count, use))
			return false;
		times -= use;
	}
	return true;
}

/* Keep the trial if it is the best plan so far.  Returns whether the best plan is proven. */
static bool
keep(GcBatchWork *work)
{
	const GcBatchTrial *trial = &work->trial;
	GcBatchTrial *best = &work->best;

	if (trial->batches < best->batches)
	{
		best->npatterns = trial->npatterns;
		best->batches = trial->batches;
		memcpy(best->times, trial->times, sizeof(int) * (size_t) trial->npatterns);
		for (int j = 0; j < trial->npatterns; j++)
			memcpy(best->count[j], trial->count[j], sizeof(uint16_t) * (size_t) work->n);
	}
	return best->batches <= work->target;
}

/*
 * First-fit decreasing and the bound of single resources
 */

/* First-fit decreasing, by the types' weights. */
static bool
first_fit(GcBatchWork *work)
{
	const double *weight = work->knapsack.weight;

	for (int i = 0; i < work->n; i++)
	{
		int			at = i;

		for (; at > 0 && weight[work->order[at - 1]] < weight[i]; at--)
			work->order[at] = work->order[at - 1];
		work->order[at] = i;
	}
	trial_start(work, &work->trial);
	trial_first_fit(work, &work->trial);
	return keep(work);
}

/* The bound that follows from the need of all items together for each resource. */
static void
volume_bound(GcBatchWork *work)
{
	for (int r = 0; r < GC_NROOM; r++)
	{
		double		use = 0;

		for (int i = 0; i < work->n; i++)
			use += work->knapsack.share[i][r] * work->demand[i];
		raise_bound(work, use * (1.0 - 1e-12));
	}
}

/*
 * Column generation
 */

/* Start the linear program with a pattern of each type alone, and those of the best plan so far. */
static void
start_master(GcBatchWork *work)
{
	uint16_t	single[GC_BATCH_MAX_TYPES];

	for (int i = 0; i < work->n; i++)
	{
		int			fit = work->knapsack.fit[i];

		single[i] = (uint16_t) (fit < work->demand[i] ? fit : work->demand[i]);
	}
	gc_lp_start(&work->lp, work->n, work->demand, single);
	for (int j = 0; j < work->best.npatterns; j++)
		gc_lp_add(&work->lp, work->best.count[j]);
}

/*
 * How much a pattern must be worth to be of interest.  If no pattern is worth more than this,
 * Farley's bound exceeds the objective's last whole number.  Then the bound, rounded up, is known
 * without a solved LP.
 */
static double
enough(double objective, double worth)
{
	int			below = whole(objective) - 1;
	double		threshold = 1.0 + EPS_COST;

	if (below > 0)
		threshold = fmax(threshold, worth / (below + 2 * EPS_BATCH));
	return threshold;
}

/*
 * Column generation (Li, Tu, Zeng 2019, algorithm 2).  Any prices, divided by the value of the best
 * pattern, are feasible duals.  So every pricing that is not cut short proves a bound (Farley's).
 * Returns whether the LP was solved to its end; work->value then has its prices.
 */
static bool
generate(GcBatchWork *work, bool full)
{
	GcLp	   *lp = &work->lp;
	GcKnapsackResult *found = &work->found;
	int			pivot_effort = 2 + work->n * work->n / 32;

	start_master(work);
	for (;;)
	{
		int			before = lp->pivots;
		double		worth = 0;
		double		threshold;
		GcLpStatus	status;

		status = gc_lp_solve(lp, 1 + work->effort / pivot_effort);
		work->effort -= (lp->pivots - before) * pivot_effort;
		for (int i = 0; i < work->n; i++)
		{
			work->value[i] = lp->price[i] > 0 ? lp->price[i] : 0;
			worth += work->value[i] * work->demand[i];
		}
		if (status != GC_LP_OPTIMAL || work->effort <= 0)
			return false;
		if (!full && (whole(lp->objective) <= work->target || work->best.batches <= work->target))
			return false;
		threshold = full ? 1.0 + EPS_COST : enough(lp->objective, worth);
		gc_knapsack_search(&work->knapsack, work->value, work->demand, threshold,
						   PATIENCE, work->effort, found);
		work->effort -= found->steps + work->n;
		raise_bound(work, worth / found->upper);
		if (!found->found)
			return found->complete && threshold <= 1.0 + EPS_COST;
		gc_knapsack_fill(&work->knapsack, work->order, work->n, work->demand, found->count);
		gc_lp_add(lp, found->count);
	}
}

/*
 * Rounding
 */

/* Use the LP's patterns, each as many whole times as the LP does. */
static void
trial_floors(GcBatchWork *work, GcBatchTrial *trial)
{
	for (int r = 0; r < work->lp.rows; r++)
	{
		int			j = work->lp.basic[r];
		int			times = (int) floor(work->lp.x[r] + EPS_BATCH);

		if (j >= 0 && times > 0 && !trial_trimmed(work, trial, &work->lp.column[j], times))
			return;
	}
}

/* Make whole batches of the linear program's solution. */
static void
round_master(GcBatchWork *work)
{
	trial_start(work, &work->trial);
	trial_floors(work, &work->trial);
	trial_by_value(work, &work->trial);
	(void) keep(work);
}

/*
 * The problem, checked
 */

/* Is the problem within the limits that tables and arithmetic are made for? */
static GcBatchStatus
check(const GcBatchProblem *problem, GcBatchPlan *plan)
{
	if (problem->ntypes < 0 || problem->ntypes > GC_BATCH_MAX_TYPES ||
		problem->max_items < 0 || problem->effort < 0)
		return GC_BATCH_BAD_PROBLEM;
	for (int r = 0; r < GC_NEEDS; r++)
	{
		if (problem->capacity[r] < 0)
			return GC_BATCH_BAD_PROBLEM;
	}
	for (int i = 0; i < problem->ntypes; i++)
	{
		const GcItemType *type = &problem->types[i];
		bool		some = false;

		plan->offender = i;
		if (type->demand < 0 || type->demand > GC_BATCH_MAX_DEMAND)
			return GC_BATCH_BAD_TYPE;
		for (int r = 0; r < GC_NEEDS; r++)
		{
			if (type->need[r] < 0)
				return GC_BATCH_BAD_TYPE;
			some = some || type->need[r] > 0;
		}
		if (!some && type->demand > 0)
			return GC_BATCH_BAD_TYPE;
	}
	for (int i = 0; i < problem->ntypes; i++)
	{
		plan->offender = i;
		if (problem->types[i].demand > 0 && !gc_needs_fit(problem->types[i].need, problem->capacity))
			return GC_BATCH_TOO_LARGE;
	}
	plan->offender = -1;
	return GC_BATCH_OK;
}

/* Set up the types with demand. */
static void
set_up(const GcBatchProblem *problem, GcBatchWork *work)
{
	int			capacity[GC_NROOM];
	int			need[GC_BATCH_MAX_TYPES][GC_NROOM];

	for (int r = 0; r < GC_NEEDS; r++)
		capacity[r] = problem->capacity[r];
	capacity[GC_ROOM_ITEMS] = problem->max_items > 0 && problem->max_items < GC_BATCH_MAX_ITEMS ?
		problem->max_items : GC_BATCH_MAX_ITEMS;
	work->n = 0;
	for (int i = 0; i < problem->ntypes; i++)
	{
		if (problem->types[i].demand == 0)
			continue;
		for (int r = 0; r < GC_NEEDS; r++)
			need[work->n][r] = problem->types[i].need[r];
		need[work->n][GC_ROOM_ITEMS] = 1;
		work->demand[work->n] = problem->types[i].demand;
		work->type[work->n++] = i;
	}
	gc_knapsack_start(&work->knapsack, work->n, need, capacity, work->demand);
	work->effort = problem->effort > 0 ? problem->effort : GC_BATCH_EFFORT;
	work->target = 1;
	work->bound = 0;
	work->best.batches = INT32_MAX;
	work->best.npatterns = 0;
}

/* Write the best trial as the plan, in the problem's types; equal patterns become one. */
static void
emit(const GcBatchProblem *problem, const GcBatchWork *work, GcBatchPlan *plan)
{
	const GcBatchTrial *best = &work->best;
	int			from[GC_BATCH_MAX_PATTERNS];	/* for each pattern of the plan, its number in the trial */

	for (int j = 0; j < best->npatterns; j++)
	{
		GcBatchPattern *pattern;
		int			same = 0;

		while (same < plan->npatterns &&
			   memcmp(best->count[from[same]], best->count[j],
					  sizeof(uint16_t) * (size_t) work->n) != 0)
			same++;
		pattern = &plan->pattern[same];
		if (same == plan->npatterns)
		{
			from[plan->npatterns++] = j;
			pattern->times = 0;
			memset(pattern->count, 0, sizeof(uint16_t) * (size_t) problem->ntypes);
			for (int i = 0; i < work->n; i++)
				pattern->count[work->type[i]] = best->count[j][i];
		}
		pattern->times += best->times[j];
	}
	plan->batches = best->batches;
}

GcBatchStatus
gc_batch_plan(const GcBatchProblem *problem, GcBatchWork *work, GcBatchPlan *plan)
{
	GcBatchStatus status;

	memset(plan, 0, offsetof(GcBatchPlan, pattern));
	plan->offender = -1;
	status = check(problem, plan);
	if (status != GC_BATCH_OK)
		return status;
	set_up(problem, work);
	if (work->n == 0)
	{
		plan->proven = true;
		plan->lp_solved = true;
		return GC_BATCH_OK;
	}
	volume_bound(work);
	if (!first_fit(work) || problem->full_lp)
	{
		plan->lp_solved = generate(work, problem->full_lp);
		if (work->best.batches > work->target)
			round_master(work);
	}
	plan->lp_bound = work->bound;
	plan->proven = work->best.batches <= work->target;
	emit(problem, work, plan);
	return GC_BATCH_OK;
}
