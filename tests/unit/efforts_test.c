/*-------------------------------------------------------------------------
 *
 * efforts_test.c
 *	  Which of two kernels of one text is launched, by pretended times.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "../../src/sched/model/efforts.h"

#define TILES	1000

/* Launch what the trial says, n times: full and quick are microseconds of each. */
static void
launch(GcEffortTrial *t, int n, double full, double quick)
{
	for (int i = 0; i < n; i++)
	{
		const GcEffort effort = gc_effort_next(t);

		gc_effort_ran(t, effort, effort == GC_EFFORT_FULL ? full : quick, TILES);
	}
}

/* Launches with quick kernels before the full one is ready. */
static void
launch_quick(GcEffortTrial *t, int n, double us, uint32_t tiles)
{
	for (int i = 0; i < n; i++)
		gc_effort_ran(t, GC_EFFORT_QUICK, us, tiles);
}

static void
stays_full(int nquick, double full, double quick, const char *what)
{
	GcEffortTrial t = {0};

	launch_quick(&t, nquick, quick, TILES);
	ok(gc_effort_next(&t) == GC_EFFORT_FULL, "%s: full at first", what);
	launch(&t, GC_EFFORT_RUNS, full, quick);
	ok(!gc_effort_open(&t), "%s: no trial is open", what);
	ok(gc_effort_next(&t) == GC_EFFORT_FULL, "%s: it stays full", what);
}

static void
test_full(void)
{
	stays_full(3, 500, 1000, "twice as fast");
	stays_full(1, 500, 2000, "four times as fast");
	stays_full(5, 1000, 1000, "as fast");
	stays_full(3, 1000, 950, "not clearly slower");
	stays_full(3, 30, 15, "short: nothing to be gained");
	stays_full(0, 20, 0, "so short that nothing can be gained");
}

/* TPC-H's Q9 on an H100, as was recorded. */
static void
test_quick(void)
{
	GcEffortTrial t = {0};

	launch_quick(&t, 2, 1870, TILES);
	ok(gc_effort_open(&t), "once a quick kernel ran, the choice is open");
	launch(&t, GC_EFFORT_RUNS - 1, 7518, 1870);
	is(gc_effort_next(&t), GC_EFFORT_FULL, "the full one is launched until it was measured well enough");
	launch(&t, 1, 7518, 1870);
	is(gc_effort_next(&t), GC_EFFORT_QUICK, "then the quick one again");
	ok(gc_effort_open(&t), "on trial");
	launch(&t, GC_EFFORT_RUNS, 7518, 1870);
	ok(!gc_effort_open(&t), "that ends");
	is(gc_effort_next(&t), GC_EFFORT_QUICK, "and the quick one stays");
	launch(&t, 10, 7518, 1000000);
	is(gc_effort_next(&t), GC_EFFORT_QUICK, "whatever comes then");
}

/* TPC-H's Q5 on an H100: the quick kernel ran once, with cold caches, or not at all, before the full one was ready. */
static void
test_cold(void)
{
	for (int nquick = 0; nquick < GC_EFFORT_RUNS; nquick++)
	{
		GcEffortTrial t = {0};

		launch_quick(&t, nquick, 508, TILES);
		launch(&t, GC_EFFORT_RUNS, 243, 188);
		ok(gc_effort_next(&t) == GC_EFFORT_QUICK, "%d launches: the quick one on trial", nquick);
		ok(gc_effort_open(&t), "%d launches: open", nquick);
		launch(&t, GC_EFFORT_RUNS, 243, 188);
		ok(gc_effort_next(&t) == GC_EFFORT_QUICK, "%d launches: it stays", nquick);
		ok(!gc_effort_open(&t), "%d launches: decided", nquick);
		t = (GcEffortTrial) {0};
		launch_quick(&t, nquick, 508, TILES);
		launch(&t, 2 * GC_EFFORT_RUNS, 243, 300);
		ok(gc_effort_next(&t) == GC_EFFORT_FULL, "%d launches: full, if it was no better", nquick);
		ok(!gc_effort_open(&t), "%d launches: decided, too", nquick);
	}
}

/* Beside others, no launch is measured. */
static void
test_never_alone(void)
{
	GcEffortTrial t = {0};
	int			quick = 0;

	launch_quick(&t, 1, 508, TILES);
	launch(&t, GC_EFFORT_RUNS, 243, 188);
	for (int i = 0; i < GC_EFFORT_ASKED; i++)
		quick += gc_effort_next(&t) == GC_EFFORT_QUICK;
	is(quick, GC_EFFORT_ASKED, "many requests take the quick one on trial");
	is(gc_effort_next(&t), GC_EFFORT_FULL, "a trial ends though nothing is measured");
	ok(!gc_effort_open(&t), "for good");
}

/* A kernel that looked fast before served another request, or had luck. */
static void
test_not_again(void)
{
	GcEffortTrial t = {0};

	launch_quick(&t, 4, 100, TILES);
	launch(&t, GC_EFFORT_RUNS, 1000, 0);
	is(gc_effort_next(&t), GC_EFFORT_QUICK, "on trial");
	launch(&t, 1, 1000, 3000);
	is(gc_effort_next(&t), GC_EFFORT_QUICK, "one slow launch may be chance");
	launch(&t, GC_EFFORT_RUNS - 1, 1000, 1200);
	is(gc_effort_next(&t), GC_EFFORT_FULL, "three are not: full again");
	ok(!gc_effort_open(&t), "for good");
}

/* Requests of one signature may scan more or less. */
static void
test_tiles(void)
{
	GcEffortTrial t = {0};

	launch_quick(&t, 3, 100, TILES / 10);
	launch(&t, GC_EFFORT_RUNS, 600, 0);
	is(gc_effort_next(&t), GC_EFFORT_FULL, "a tenth of the tiles in a sixth of the time is slower");
	t = (GcEffortTrial) {0};
	launch_quick(&t, 3, 100, 0);
	launch_quick(&t, 3, 0, TILES);
	ok(!gc_effort_open(&t), "nothing is learned of a scan without tiles, or without a time");
}

int
main(void)
{
	test_full();
	test_quick();
	test_cold();
	test_never_alone();
	test_not_again();
	test_tiles();
	return tap_done();
}
