/*-------------------------------------------------------------------------
 *
 * batch_model_test.c
 *	  The batch-level model against exact enumeration, and its LP against itself.
 *
 * With the argument `lps` it prints linear programs instead, with what our solver makes
 * of them, for lp_check.py to compare with another solver.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>

#include "../../src/sched/model/batch_model.h"

#define MAX_ITEMS		11		/* of exact enumeration */
#define MAX_FULL		1500	/* maximal patterns of a full LP */
#define GREAT_EFFORT	10000000

static GcBatchWork work;
static GcBatchPlan plan;
static GcLp lp;
static GcItemType types[GC_BATCH_MAX_TYPES];

static uint64_t random_state = 88172645463325252ULL;

static int
random_below(int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (int) ((random_state >> 32) % (uint64_t) n);
}

static int
whole(double bound)
{
	return (int) ceil(bound - 1e-5);
}

static bool
pattern_fits(const GcBatchProblem *problem, const uint16_t *count)
{
	long		items = 0;

	for (int r = 0; r < GC_NEEDS; r++)
	{
		long		need = 0;

		for (int i = 0; i < problem->ntypes; i++)
			need += (long) count[i] * problem->types[i].need[r];
		if (need > problem->capacity[r])
			return false;
	}
	for (int i = 0; i < problem->ntypes; i++)
		items += count[i];
	return items > 0 && items <= (problem->max_items > 0 ? problem->max_items : GC_BATCH_MAX_ITEMS);
}

/* NULL, or what is wrong with the plan. */
static const char *
plan_problem(const GcBatchProblem *problem)
{
	int			batches = 0;

	if (plan.npatterns < 0 || plan.npatterns > GC_BATCH_MAX_PATTERNS)
		return "number of patterns";
	for (int j = 0; j < plan.npatterns; j++)
	{
		if (plan.pattern[j].times < 1)
			return "a pattern is not used";
		if (!pattern_fits(problem, plan.pattern[j].count))
			return "a pattern does not fit";
		for (int k = 0; k < j; k++)
		{
			if (memcmp(plan.pattern[j].count, plan.pattern[k].count,
					   sizeof(uint16_t) * (size_t) problem->ntypes) == 0)
				return "a pattern is there twice";
		}
		batches += plan.pattern[j].times;
	}
	for (int i = 0; i < problem->ntypes; i++)
	{
		long		covered = 0;

		for (int j = 0; j < plan.npatterns; j++)
			covered += (long) plan.pattern[j].times * plan.pattern[j].count[i];
		if (covered != problem->types[i].demand)
			return "a demand is not met exactly";
	}
	if (batches != plan.batches)
		return "batches are not the sum of times";
	if (plan.batches < plan.lp_bound - 1e-6)
		return "fewer batches than the bound";
	if (plan.proven != (whole(plan.lp_bound) >= plan.batches))
		return "proven, and the bound says otherwise";
	return NULL;
}

/*
 * The fewest batches, over all partitions of the items (at most MAX_ITEMS of them):
 * best[set] is the least over the subsets that fit and hold the set's first item.
 */
static int
exact(const GcBatchProblem *problem)
{
	static uint8_t best[1 << MAX_ITEMS];
	static bool fits[1 << MAX_ITEMS];
	int			item[MAX_ITEMS];
	int			n = 0;

	for (int i = 0; i < problem->ntypes; i++)
	{
		for (int k = 0; k < problem->types[i].demand; k++)
			item[n++] = i;
	}
	best[0] = 0;
	for (int set = 1; set < 1 << n; set++)
	{
		uint16_t	count[GC_BATCH_MAX_TYPES] = {0};
		int			rest = set & (set - 1);

		for (int k = 0; k < n; k++)
			count[item[k]] = (uint16_t) (count[item[k]] + (set >> k & 1));
		fits[set] = pattern_fits(problem, count);
		best[set] = UINT8_MAX;
		for (int sub = rest;; sub = (sub - 1) & rest)
		{
			int			first = sub | (set ^ rest);

			if (fits[first] && best[set ^ first] + 1 < best[set])
				best[set] = (uint8_t) (best[set ^ first] + 1);
			if (sub == 0)
				break;
		}
	}
	return best[(1 << n) - 1];
}

/*
 * A random problem with at most max_items items.  Kinds: small whole numbers; shares of
 * an H200; one resource; few items to a batch.
 */
static GcBatchProblem
random_problem(int max_types, int items)
{
	static const int h200[GC_NEEDS] = {64, 65536, 233472, 32};
	GcBatchProblem problem = {.ntypes = 1 + random_below(max_types),.types = types};
	int			kind = random_below(4);

	for (int r = 0; r < GC_NEEDS; r++)
		problem.capacity[r] = kind == 0 ? 5 + random_below(20) : h200[r];
	for (int i = 0; i < problem.ntypes; i++)
	{
		int			size = 2 + random_below(kind == 3 ? 20 : 5);

		for (int r = 0; r < GC_NEEDS; r++)
		{
			int			need = random_below(problem.capacity[r]);
			bool		large = random_below(GC_NEEDS) == r;

			types[i].need[r] = kind == 2 && r != GC_NEED_SHARED ? 0 : 1 + need / (large ? 1 : size);
		}
		types[i].demand = 0;
	}
	for (int k = 0; k < items; k++)
		types[random_below(problem.ntypes)].demand++;
	if (kind == 3)
		problem.max_items = 1 + random_below(5);
	return problem;
}

/* (a) Small problems against the exact optimum. */
static void
exact_test(int instances)
{
	int			malformed = 0;
	int			impossible = 0;
	int			far = 0;
	int			optimal = 0;
	int			false_proofs = 0;
	int			proven = 0;
	const char *first = NULL;

	for (int n = 0; n < instances; n++)
	{
		int			items = 2 + random_below(MAX_ITEMS - 1);
		GcBatchProblem problem = random_problem(9, items);
		const char *wrong;
		int			least;

		if (gc_batch_plan(&problem, &work, &plan) != GC_BATCH_OK)
		{
			malformed++;
			continue;
		}
		wrong = plan_problem(&problem);
		if (wrong != NULL)
		{
			malformed++;
			first = first == NULL ? wrong : first;
		}
		least = exact(&problem);
		impossible += plan.batches < least || plan.lp_bound > least + 1e-6;
		far += plan.batches > least + 1;
		optimal += plan.batches == least;
		proven += plan.proven;
		false_proofs += plan.proven && plan.batches != least;
	}
	is(malformed, 0, "plans fit and meet every demand exactly");
	if (first != NULL)
		tap_note("the first: %s", first);
	is(impossible, 0, "no plan is better than the optimum, no bound is above it");
	is(far, 0, "no plan is more than one batch above the optimum");
	is(false_proofs, 0, "what is called proven is the optimum");
	tap_note("%d of %d plans have the fewest batches (%.2f%%); %d are proven", optimal, instances,
			 100.0 * optimal / instances, proven);
	ok(optimal * 1000.0 >= instances * 999.0, "99.9%% of the plans have the fewest batches");
}

/* Every maximal pattern, by depth-first search; too many: -1. */
static int	nfull;
static uint16_t full[MAX_FULL][GC_BATCH_MAX_TYPES];

static void
enumerate(const GcBatchProblem *problem, uint16_t *count, int i)
{
	if (nfull < 0)
		return;
	if (i < problem->ntypes)
	{
		for (count[i] = 0; count[i] <= problem->types[i].demand; count[i]++)
		{
			bool		empty = true;

			for (int k = 0; k <= i; k++)
				empty = empty && count[k] == 0;
			if (!empty && !pattern_fits(problem, count))
				break;
			enumerate(problem, count, i + 1);
		}
		count[i] = 0;
		return;
	}
	for (int k = 0; k < problem->ntypes; k++)
	{
		bool		more;

		if (count[k] == problem->types[k].demand)
			continue;
		count[k]++;
		more = pattern_fits(problem, count);
		count[k]--;
		if (more)
			return;
	}
	if (nfull == MAX_FULL)
		nfull = -1;
	else
		memcpy(full[nfull++], count, sizeof(full[0]));
}

/*
 * A problem whose LP was solved by column generation, with all maximal patterns, at most
 * `most`, in full[].  Types without demand are made to have some.
 */
static GcBatchProblem
full_problem(int most)
{
	for (;;)
	{
		uint16_t	count[GC_BATCH_MAX_TYPES] = {0};
		GcBatchProblem problem = random_problem(7, 5 + random_below(25));

		for (int i = 0; i < problem.ntypes; i++)
			types[i].demand += types[i].demand == 0;
		problem.full_lp = true;
		problem.effort = GREAT_EFFORT;
		if (gc_batch_plan(&problem, &work, &plan) != GC_BATCH_OK)
			continue;
		nfull = 0;
		enumerate(&problem, count, 0);
		if (nfull > 0 && nfull <= most)
			return problem;
	}
}

/* (c) The bound of column generation is the optimum over all patterns. */
static void
full_lp_test(int instances)
{
	int			wrong = 0;
	int			unsolved = 0;
	int			malformed = 0;

	for (int n = 0; n < instances; n++)
	{
		GcBatchProblem problem = full_problem(GC_LP_MAX_COLUMNS - 7);
		int			demand[GC_BATCH_MAX_TYPES];
		uint16_t	single[GC_BATCH_MAX_TYPES];

		for (int i = 0; i < problem.ntypes; i++)
		{
			demand[i] = types[i].demand;
			single[i] = 1;
		}
		gc_lp_start(&lp, problem.ntypes, demand, single);
		for (int j = 0; j < nfull; j++)
			gc_lp_add(&lp, full[j]);
		if (gc_lp_solve(&lp, 100000) != GC_LP_OPTIMAL || !plan.lp_solved)
			unsolved++;
		else if (fabs(lp.objective - plan.lp_bound) > 1e-6 * (1 + lp.objective))
			wrong++;
		malformed += plan_problem(&problem) != NULL;
	}
	is(unsolved, 0, "LPs are solved to their end");
	is(wrong, 0, "the bound is the LP's optimum over all maximal patterns");
	is(malformed, 0, "their plans are well-formed");
}

/* Whatever the effort, there is a plan, and what it says of itself is true. */
static void
effort_test(int instances)
{
	int			malformed = 0;
	int			lower = 0;
	long		batches[3] = {0};

	for (int n = 0; n < instances; n++)
	{
		GcBatchProblem problem = random_problem(40, 20 + random_below(200));
		static const int effort[] = {1, 300, 20000};
		double		best_bound = 0;
		int			fewest = INT32_MAX;

		for (int e = 0; e < 3; e++)
		{
			problem.effort = effort[e];
			if (gc_batch_plan(&problem, &work, &plan) != GC_BATCH_OK ||
				plan_problem(&problem) != NULL)
				malformed++;
			batches[e] += plan.batches;
			fewest = plan.batches < fewest ? plan.batches : fewest;
			best_bound = fmax(best_bound, plan.lp_bound);
		}
		lower += fewest < best_bound - 1e-6;
	}
	is(malformed, 0, "plans of any effort are well-formed");
	is(lower, 0, "a bound of one effort holds for the plans of the others");
	ok(batches[2] <= batches[1] && batches[1] <= batches[0] && batches[2] < batches[0],
	   "more effort, fewer batches (%ld, %ld, %ld)", batches[0], batches[1], batches[2]);
}

/* A problem of one resource: what bin-packing literature calls cutting stock. */
static GcBatchProblem
cutting(int length, int n, const int *item, const int *demand)
{
	GcBatchProblem problem = {.capacity = {0, 0, length, 0},.ntypes = n,.types = types};

	memset(types, 0, sizeof(types));
	for (int i = 0; i < n; i++)
	{
		types[i].need[GC_NEED_SHARED] = item[i];
		types[i].demand = demand[i];
	}
	return problem;
}

/* (e) Cases that are hard on rounding. */
static void
classic_test(void)
{
	GcBatchProblem problem;
	int			item[GC_BATCH_MAX_TYPES];
	int			demand[GC_BATCH_MAX_TYPES];
	int			exactly = 0;
	int			above = 0;
	int			malformed = 0;

	/*
	 * The papers' LP, of patterns that may hold more items than there are, needs 259/132
	 * rolls; 23/11 are needed where they may not, and three if rolls are whole.
	 */
	problem = cutting(132, 3, (int[]) {44, 33, 12}, (int[]) {2, 3, 6});
	problem.full_lp = true;
	gc_batch_plan(&problem, &work, &plan);
	is(exact(&problem), 3, "three rolls are needed");
	is(plan.batches, 3, "and three planned");
	ok(fabs(plan.lp_bound - 23.0 / 11) < 1e-6 && plan.lp_solved, "the bound is 23/11 (%.6f)",
	   plan.lp_bound);
	ok(plan.proven && plan_problem(&problem) == NULL, "so that this is proven");

	/* No round-up property: the LP needs 4 batches, whole ones are 5. */
	problem = (GcBatchProblem){.capacity = {128, 131072, 466944, 64},.ntypes = 5,.types = types,
	.full_lp = true};
	types[0] = (GcItemType){{21, 22905, 409430, 3}, 2};
	types[1] = (GcItemType){{14, 17356, 16697, 4}, 4};
	types[2] = (GcItemType){{15, 101503, 35429, 3}, 2};
	types[3] = (GcItemType){{75, 17142, 3684, 3}, 1};
	types[4] = (GcItemType){{57, 62007, 87749, 20}, 2};
	gc_batch_plan(&problem, &work, &plan);
	is(exact(&problem), 5, "an instance without the round-up property needs 5");
	is(plan.batches, 5, "and gets 5");
	ok(fabs(plan.lp_bound - 4.0) < 1e-5 && plan.lp_solved, "its LP bound is 4 (%.6f)", plan.lp_bound);
	ok(!plan.proven && plan_problem(&problem) == NULL, "nothing is called proven there");

	problem = cutting(100, 1, (int[]) {14}, (int[]) {500});
	gc_batch_plan(&problem, &work, &plan);
	ok(plan.batches == 72 && plan.proven && plan_problem(&problem) == NULL,
	   "500 equal items, 7 to a batch: 72 batches");

	problem = cutting(100, 1, (int[]) {51}, (int[]) {GC_BATCH_MAX_DEMAND});
	gc_batch_plan(&problem, &work, &plan);
	ok(plan.batches == GC_BATCH_MAX_DEMAND && plan.npatterns == 1, "one to a batch");

	problem = cutting(10, 2, (int[]) {5, 5}, (int[]) {33, 44});
	gc_batch_plan(&problem, &work, &plan);
	ok(plan.batches == 39 && plan.proven && plan_problem(&problem) == NULL,
	   "equal types given twice are no trouble");

	/* Three items fill each batch exactly; first-fit decreasing goes wrong. */
	for (int n = 0; n < 200; n++)
	{
		int			triples = 4 + random_below(16);

		for (int k = 0; k < triples; k++)
		{
			int			a = 260 + random_below(120);
			int			b = 260 + random_below(120);

			item[3 * k] = a;
			item[3 * k + 1] = b;
			item[3 * k + 2] = 1000 - a - b;
			for (int i = 0; i < 3; i++)
				demand[3 * k + i] = 1;
		}
		problem = cutting(1000, 3 * triples, item, demand);
		problem.effort = 20 * GC_BATCH_EFFORT * triples;
		gc_batch_plan(&problem, &work, &plan);
		malformed += plan_problem(&problem) != NULL;
		exactly += plan.batches == triples;
		above += plan.batches > triples + 1;
	}
	is(malformed, 0, "triples that fill batches exactly: plans are well-formed");
	is(above, 0, "and at most one batch above the optimum");
	tap_note("%d of 200 are the optimum", exactly);
	ok(exactly >= 150, "most are the optimum");

	/* Pairs and triples of four resources, with demands. */
	exactly = 0;
	for (int n = 0; n < 200; n++)
	{
		int			pairs = 2 + random_below(7);
		int			times = 1 + random_below(6);

		problem = (GcBatchProblem){.capacity = {64, 65536, 233472, 32},.types = types,.ntypes = 2 * pairs};
		for (int k = 0; k < pairs; k++)
		{
			for (int r = 0; r < GC_NEEDS; r++)
			{
				types[2 * k].need[r] = 1 + random_below(problem.capacity[r] - 1);
				types[2 * k + 1].need[r] = problem.capacity[r] - types[2 * k].need[r];
			}
			types[2 * k].demand = types[2 * k + 1].demand = times;
		}
		gc_batch_plan(&problem, &work, &plan);
		exactly += plan.batches == pairs * times && plan.proven && plan_problem(&problem) == NULL;
	}
	is(exactly, 200, "pairs that fill all of four resources are found again");
}

/* (d) What no caller should ask. */
static void
bad_input_test(void)
{
	GcItemType	many[GC_BATCH_MAX_TYPES + 1];
	const GcItemType good = {{8, 8192, 4096, 1}, 3};
	GcBatchProblem problem = {.capacity = {64, 65536, 233472, 32},.types = many};

	for (int i = 0; i <= GC_BATCH_MAX_TYPES; i++)
		many[i] = good;
	memset(&plan, 0x55, sizeof(plan));
	ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_OK && plan.npatterns == 0 &&
	   plan.batches == 0 && plan.proven, "no types: an empty plan");
	problem.ntypes = GC_BATCH_MAX_TYPES + 1;
	is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_BAD_PROBLEM, "too many types");
	problem.ntypes = -1;
	is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_BAD_PROBLEM, "fewer than none");
	problem.ntypes = 2;
	many[0].demand = many[1].demand = 0;
	ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_OK && plan.batches == 0,
	   "no demand: an empty plan");
	many[1].demand = 3;
	ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_OK && plan.batches == 1 &&
	   plan.npatterns == 1 && plan.pattern[0].count[0] == 0 && plan.pattern[0].count[1] == 3,
	   "a type without demand is in no pattern");

	problem.ntypes = 5;
	many[0] = good;
	for (int r = 0; r < GC_NEEDS; r++)
	{
		many[3] = good;
		many[3].need[r] = problem.capacity[r] + 1;
		ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_TOO_LARGE && plan.offender == 3 &&
		   plan.npatterns == 0, "type 3 does not fit, by resource %d", r);
		many[3].demand = 0;
		ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_OK, "what is not wanted need not fit");
		many[3] = good;
		many[3].need[r] = problem.capacity[r];
		ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_OK && plan_problem(&problem) == NULL, "one that just fits");
		many[3] = good;
		many[3].need[r] = -1;
		ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_BAD_TYPE && plan.offender == 3,
		   "a need below 0");
	}
	many[3] = (GcItemType){{0, 0, 0, 0}, 1};
	is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_BAD_TYPE, "an item that needs nothing");
	many[3] = good;
	many[3].demand = -1;
	is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_BAD_TYPE, "a demand below 0");
	many[3].demand = INT32_MAX;
	is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_BAD_TYPE, "a demand beyond measure");
	many[3] = good;
	for (int r = 0; r < GC_NEEDS; r++)
	{
		int			keep = problem.capacity[r];

		problem.capacity[r] = -1;
		is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_BAD_PROBLEM, "a capacity below 0");
		problem.capacity[r] = INT32_MAX;
		ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_OK && plan_problem(&problem) == NULL, "a capacity beyond measure");
		problem.capacity[r] = 0;
		is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_TOO_LARGE, "a capacity of 0");
		problem.capacity[r] = keep;
	}
	problem.max_items = -1;
	is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_BAD_PROBLEM, "fewer than no items");
	problem.max_items = 0;
	problem.effort = -1;
	is(gc_batch_plan(&problem, &work, &plan), GC_BATCH_BAD_PROBLEM, "an effort below 0");
	problem.effort = 0;

	/* As much as can be asked: every type, every demand, items of almost no size. */
	problem.ntypes = GC_BATCH_MAX_TYPES;
	for (int i = 0; i < problem.ntypes; i++)
		many[i] = (GcItemType){{0, 1, 0, 0}, GC_BATCH_MAX_DEMAND};
	ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_OK && plan_problem(&problem) == NULL,
	   "tiny items without number (%d batches)", plan.batches);
	for (int i = 0; i < problem.ntypes; i++)
	{
		for (int r = 0; r < GC_NEEDS; r++)
		{
			int			need = random_below(problem.capacity[r]);

			many[i].need[r] = 1 + need / (1 + random_below(9));
		}
		many[i].demand = random_below(2) == 0 ? 500 : 1 + random_below(GC_BATCH_MAX_DEMAND);
	}
	problem.effort = GREAT_EFFORT;
	ok(gc_batch_plan(&problem, &work, &plan) == GC_BATCH_OK && plan_problem(&problem) == NULL,
	   "64 types with large demands (%d patterns)", plan.npatterns);
	ok(plan.batches <= plan.lp_bound * 1.1 + 1, "are planned well (%d batches, bound %.1f)",
	   plan.batches, plan.lp_bound);
}

/*
 * (b) Programs for lp_check.py
 */

static void
print_program(const char *name, int rows, const int *demand, double objective, const double *price)
{
	printf("lp %s\ndemand", name);
	for (int i = 0; i < rows; i++)
		printf(" %d", demand[i]);
	for (int j = 0; j < nfull; j++)
	{
		printf("\npattern");
		for (int i = 0; i < rows; i++)
			printf(" %d", full[j][i]);
	}
	printf("\nobjective %.12g\nprices", objective);
	for (int i = 0; i < rows; i++)
		printf(" %.12g", price[i]);
	printf("\n");
}

/* Columns come in groups, with a solution in between, as in column generation. */
static int
print_restricted(void)
{
	int			rows = 1 + random_below(20);
	int			demand[GC_BATCH_MAX_TYPES];
	uint16_t	single[GC_BATCH_MAX_TYPES];
	GcLpStatus	status = GC_LP_OPTIMAL;

	nfull = 0;
	memset(full, 0, sizeof(full));
	for (int i = 0; i < rows; i++)
	{
		demand[i] = 1 + random_below(random_below(2) == 0 ? 5 : 100);
		single[i] = (uint16_t) (1 + random_below(4));
		full[nfull++][i] = single[i];
	}
	gc_lp_start(&lp, rows, demand, single);
	for (int j = random_below(60); j > 0 && status == GC_LP_OPTIMAL; j--)
	{
		for (int k = 1 + random_below(5); k > 0; k--)
			full[nfull][random_below(rows)] = (uint16_t) random_below(5);
		gc_lp_add(&lp, full[nfull++]);
		if (random_below(4) == 0)
			status = gc_lp_solve(&lp, 10000);
	}
	if (status == GC_LP_OPTIMAL)
		status = gc_lp_solve(&lp, 10000);
	if (status != GC_LP_OPTIMAL)
		return 1;
	print_program("restricted", rows, demand, lp.objective, lp.price);
	return 0;
}

static int
print_programs(void)
{
	for (int n = 0; n < 400; n++)
	{
		if (print_restricted() != 0)
			return 1;
	}
	for (int n = 0; n < 200; n++)
	{
		GcBatchProblem problem = full_problem(MAX_FULL);

		print_program("full", problem.ntypes, work.demand, plan.lp_bound, work.lp.price);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	tap_start();
	if (argc > 1 && strcmp(argv[1], "lps") == 0)
		return print_programs();
	exact_test(4000);
	full_lp_test(1000);
	effort_test(200);
	classic_test();
	bad_input_test();
	return tap_done();
}
