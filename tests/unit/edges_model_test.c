/*-------------------------------------------------------------------------
 *
 * edges_model_test.c
 *	  Tests of the model of pipelines that are cut: what it predicts, and what it chooses.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/sched/model/edges.h"

static const GcCalibration *const c = &gc_calibration_default;
static const GcProfile *gpu;

static uint64_t state = 88172645463325252ull;

static double
draw(double most)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return most * (double) (state >> 11) / (double) (1ull << 53);
}

/* A scan of so many rows, 1 in `one_in` of which comes to n probes of tables of so many bytes, each passing a part. */
static GcEdgePipeline
chain(double rows, double one_in, int n, double table_bytes, double pass)
{
	GcEdgePipeline p;

	memset(&p, 0, sizeof(p));
	p.rows = rows;
	p.scan_bytes = 4;
	p.left = 1 / one_in;
	p.vec = 16;
	p.warps = 32;
	p.nstages = n + 1;
	for (int i = 0; i <= n; i++)
		p.stage[i] = (GcEdgeStage) {.step = i + 1,.edge = true,.pass = i < n ? pass : 1,.accesses = i < n ? 3 : 1,
			.table_bytes = i < n ? table_bytes : 1000,.column_bytes = i < n ? 4 : 0,.columns = i < n,.packet_bytes = 4.0 * (i + 1)};
	return p;
}

static GcEdgePlan
choose(const GcEdgePipeline *p)
{
	return gc_edge_plan(gpu, c, p, GC_EDGE_AUTO, -1, 0);
}

static void
test_scan(void)
{
	GcEdgePipeline p = chain(1e9, 1e9, 0, 0, 1);
	const double wanted = c->launch_us + 4e9 / c->read_bandwidth;

	p.stage[0].accesses = 0;
	ok(fabs(gc_edge_us(gpu, c, &p, GC_EDGE_FUSE, 0, 0) / wanted - 1) < 1e-6, "a scan that leaves no row takes its bytes");
	p.rows = 0;
	ok(fabs(gc_edge_us(gpu, c, &p, GC_EDGE_FUSE, 0, 0) - c->launch_us) < 1e-9, "a scan of nothing takes a launch");
	for (int e = GC_EDGE_REFILL; e <= GC_EDGE_MATERIALIZE; e++)
		ok(isfinite(gc_edge_us(gpu, c, &p, (GcEdge) e, 0, 0)), "edge %d over no row: a number", e);
}

static void
test_choice(void)
{
	GcEdgePipeline deep = chain(6e8, 4, 6, 200e6, 0.1);
	GcEdgePipeline all = chain(6e8, 1, 6, 200e6, 1);
	GcEdgePipeline few = chain(1e5, 4, 6, 200e6, 0.1);
	GcEdgePlan	plan = choose(&deep);

	ok(plan.edge != GC_EDGE_FUSE && plan.us * GC_EDGE_LEAST_GAIN <= plan.fuse_us, "a deep, selective chain is cut: %.0f us instead of %.0f",
	   plan.us, plan.fuse_us);
	ok(plan.step > 1, "behind a step that drops rows: before step %d", plan.step);
	is(choose(&all).edge, GC_EDGE_FUSE, "where every row passes, lanes are full: fused");
	is(choose(&few).edge, GC_EDGE_FUSE, "few rows are fused");
	for (int i = 0; i < deep.nstages; i++)
		deep.stage[i].edge = false;
	is(choose(&deep).edge, GC_EDGE_FUSE, "what admits no edge is fused");
	is(gc_edge_plan(gpu, c, &deep, GC_EDGE_CHANNEL, -1, 0).edge, GC_EDGE_FUSE, "whatever is wanted");
}

static void
test_wanted(void)
{
	GcEdgePipeline p = chain(1e7, 8, 4, 1e6, 0.5);

	for (int e = GC_EDGE_FUSE; e <= GC_EDGE_MATERIALIZE; e++)
	{
		GcEdgePlan	plan = gc_edge_plan(gpu, c, &p, e, 3, 12345);

		ok((int) plan.edge == e, "edge %d, as it is wanted", e);
		if (e == GC_EDGE_FUSE)
			continue;
		is(plan.step, 3, "where it is wanted");
		ok(plan.us == gc_edge_us(gpu, c, &p, (GcEdge) e, 2, 12345), "predicted with the tile that is wanted");
	}
	is(gc_edge_plan(gpu, c, &p, GC_EDGE_REFILL, 77, 0).edge, GC_EDGE_FUSE, "not before a step that there is none of");
}

/* Larger tables, more rows, larger packets: nothing takes less for it. */
static void
test_more(void)
{
	int			wrong = 0;

	for (int n = 0; n < 2000; n++)
	{
		GcEdgePipeline p = chain(1e3 + draw(1e9), 1 + draw(100), 1 + (int) draw(8), draw(1e9), draw(1));
		const GcEdge e = (GcEdge) draw(4);
		const int	stage = (int) draw(p.nstages);
		const double us = gc_edge_us(gpu, c, &p, e, stage, 1e6);
		GcEdgePipeline more = p;

		more.rows *= 1.5;
		wrong += gc_edge_us(gpu, c, &more, e, stage, 1e6) < us * (1 - 1e-9);
		more = p;
		for (int i = 0; i < p.nstages; i++)
			more.stage[i].table_bytes *= 2;
		wrong += gc_edge_us(gpu, c, &more, e, stage, 1e6) < us * (1 - 1e-9);
	}
	is(wrong, 0, "more rows and larger tables never take less");
}

/* The choice is the best of all that can be predicted, or fuse where the gain is not clear. */
static void
test_best(void)
{
	int			wrong = 0;
	int			cut = 0;
	int			faster = 0;

	for (int n = 0; n < 500; n++)
	{
		GcEdgePipeline p = chain(1e4 + draw(1e9), 1 + draw(100), 1 + (int) draw(10), draw(1e9), draw(1));
		GcEdgePlan	plan;
		double		best;

		p.gathered = draw(2) > 1;
		for (int i = 0; i < p.nstages; i++)
			p.stage[i].edge = draw(3) > 1;
		plan = choose(&p);
		best = plan.fuse_us;
		for (int i = 0; i < p.nstages; i++)
		{
			for (int e = GC_EDGE_REFILL; e <= GC_EDGE_MATERIALIZE && p.stage[i].edge; e++)
			{
				for (double tile = 1 << 18; tile < 1 << 28; tile *= 2)
					faster += gc_edge_us(gpu, c, &p, (GcEdge) e, i, tile) < gc_edge_us(gpu, c, &p, (GcEdge) e, i, 0) * 0.99;
				best = fmin(best, gc_edge_us(gpu, c, &p, (GcEdge) e, i, 0));
			}
		}
		cut += plan.edge != GC_EDGE_FUSE;
		wrong += !isfinite(plan.us) || plan.us <= 0;
		wrong += plan.edge == GC_EDGE_FUSE ? best * GC_EDGE_LEAST_GAIN < plan.fuse_us && best + GC_EDGE_LEAST_US < plan.fuse_us
			: plan.us > best * (1 + 1e-9) || plan.us * GC_EDGE_LEAST_GAIN > plan.fuse_us || plan.us + GC_EDGE_LEAST_US > plan.fuse_us;
	}
	is(wrong, 0, "the best is chosen, or fuse if it gains little");
	is(faster, 0, "a tile of no size is faster than none");
	ok(cut > 0 && cut < 500, "%d of 500 random pipelines are cut", cut);
}

/* Where accesses to places far apart were measured, they count, but not those that the cache serves. */
static void
test_access_rate(void)
{
	const GcEdgePipeline far = chain(1e9, 2, 4, 1e9, 1);
	const GcEdgePipeline near = chain(1e9, 2, 4, 1e5, 1);
	GcCalibration slow = *c;
	const char *problem;

	ok(gc_calibration_parse("access_rate = 5000\n", &slow, &problem) && slow.access_rate == 5000, "a calibration may say their rate");
	ok(gc_edge_us(gpu, &slow, &far, GC_EDGE_FUSE, 0, 0) > 2 * gc_edge_us(gpu, c, &far, GC_EDGE_FUSE, 0, 0),
	   "few of them a microsecond: tables in memory take longer");
	ok(gc_edge_us(gpu, &slow, &near, GC_EDGE_FUSE, 0, 0) == gc_edge_us(gpu, c, &near, GC_EDGE_FUSE, 0, 0), "tables in the cache do not");
}

/*-------------------------------------------------------------------------
 * What was recorded
 *-------------------------------------------------------------------------
 */

/*
 * TPC-H at scale 10 on an H100 (bench/results/pipelines-h100.md): what the worker describes, by the planner's
 * estimates, and microseconds by edge before the first probe that admits one.  What is asserted of the model is that
 * it fits these five, no more: the constants were chosen with them in view.
 */
typedef struct Recorded
{
	const char *name;
	GcEdgePipeline pipeline;
	int			step;
	double		us[GC_EDGE_MATERIALIZE + 1];
	double		tiled_us[2];	/* materialize, in tiles of recorded_tiles[] rows; 0: it was in one */
} Recorded;

static const double recorded_tiles[2] = {848782, 3819519};

#define LINEITEM	.rows = 59986052,.vec = 16,.warps = 32

static const Recorded recorded[] = {
	{"Q5", {LINEITEM,.scan_bytes = 8,.left = 1 / 16.0,.nstages = 3,.stage = {
		{.step = 2,.edge = true,.pass = 1 / 16.0,.packet_bytes = 4},
		{.step = 3,.edge = true,.pass = 1 / 16.0,.packet_bytes = 4},
		{.step = 4,.edge = true,.pass = 1,.accesses = 1,.table_bytes = 400,.column_bytes = 5,.columns = 2,.packet_bytes = 4}}},
	2, {187, 343, 306, 313}, {5137, 1078}},
	{"Q7", {LINEITEM,.scan_bytes = 10,.left = 1 / 128.0,.nstages = 2,.stage = {
		{.step = 3,.edge = true,.pass = 1,.packet_bytes = 4},
		{.step = 4,.edge = true,.pass = 1,.accesses = 1,.table_bytes = 70000,.column_bytes = 5,.columns = 2,.packet_bytes = 4}}},
	3, {185, 207, 285, 217}, {4466, 689}},
	{"Q8", {LINEITEM,.scan_bytes = 8,.left = 1 / 2048.0,.gathered = true,.nstages = 2,.stage = {
		{.step = 2,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 112500,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
		{.step = 3,.edge = true,.pass = 1,.accesses = 1,.table_bytes = 224,.column_bytes = 5,.columns = 2,.packet_bytes = 4}}},
	2, {533, 527, 604, 472}, {4325, 880}},
	{"Q9", {LINEITEM,.scan_bytes = 4,.left = 1 / 16.0,.gathered = true,.nstages = 4,.stage = {
		{.step = 1,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 112500,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
		{.step = 2,.edge = true,.pass = 1,.accesses = 5.5,.table_bytes = 3.42e8,.packet_bytes = 4},
		{.step = 3,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 1.275e8,.column_bytes = 4,.columns = 1,.packet_bytes = 8},
		{.step = 4,.edge = true,.pass = 1,.accesses = 1,.table_bytes = 2800,.column_bytes = 7,.columns = 3,.packet_bytes = 8}}},
	1, {7518, 6217, 6693, 6343}, {26775, 9971}},
	{"Q14", {LINEITEM,.scan_bytes = 2,.left = 1 / 64.0,.nstages = 2,.stage = {
		{.step = 1,.edge = true,.pass = 1,.accesses = 2,.table_bytes = 2.25e6,.column_bytes = 4,.columns = 1,.packet_bytes = 4},
		{.step = 2,.edge = true,.pass = 1,.column_bytes = 5,.columns = 2,.packet_bytes = 4}}},
	1, {99, 127, 221, 143}},
};

#define NRECORDED	((int) (sizeof(recorded) / sizeof(recorded[0])))

static int
compare(const void *a, const void *b)
{
	return (*(const double *) a > *(const double *) b) - (*(const double *) a < *(const double *) b);
}

static double
predicted(const Recorded *r)
{
	const GcCalibration h100 = gc_calibration_of("NVIDIA H100 80GB HBM3");

	return gc_edge_us(gpu, &h100, &r->pipeline, GC_EDGE_FUSE, 0, 0);
}

/* Of the rest, Q8's tests of a bitmap that lies in no multiprocessor's shared memory are not in the model; Q9 is not explained. */
static void
test_errors(void)
{
	double		errors[NRECORDED];

	for (int i = 0; i < NRECORDED; i++)
	{
		errors[i] = fabs(predicted(&recorded[i]) / recorded[i].us[GC_EDGE_FUSE] - 1);
		tap_note("%s: predicted %.0f us, took %.0f", recorded[i].name, predicted(&recorded[i]), recorded[i].us[GC_EDGE_FUSE]);
	}
	qsort(errors, NRECORDED, sizeof(errors[0]), compare);
	ok(errors[NRECORDED / 2] < 0.25, "half of the recorded fused kernels are predicted to 25 %%: median error %.0f %%", 100 * errors[NRECORDED / 2]);
	ok(gc_calibration_of("NVIDIA H200").read_bandwidth > 1.4 * gc_calibration_of("NVIDIA H100 80GB HBM3").read_bandwidth,
	   "an H100's memory is slower than an H200's");
}

/* What tiles cost was measured of TPC-H as well.  Q9's take five times as long as the others', which is not explained. */
static void
test_tiles(void)
{
	const GcCalibration h100 = gc_calibration_of("NVIDIA H100 80GB HBM3");

	for (int i = 0; i < NRECORDED; i++)
	{
		const Recorded *r = &recorded[i];
		int			stage = 0;

		while (r->pipeline.stage[stage].step != r->step)
			stage++;
		for (int t = 0; t < 2 && r->tiled_us[t] > 0; t++)
		{
			const double more = gc_edge_us(gpu, &h100, &r->pipeline, GC_EDGE_MATERIALIZE, stage, recorded_tiles[t]) -
				gc_edge_us(gpu, &h100, &r->pipeline, GC_EDGE_MATERIALIZE, stage, 0);
			const double took = r->tiled_us[t] - r->us[GC_EDGE_MATERIALIZE];

			if (strcmp(r->name, "Q9") == 0)
				tap_note("Q9: tiles of %.0f rows are predicted to take %.0f us more, took %.0f", recorded_tiles[t], more, took);
			else
				ok(more > took / 2 && more < took * 2, "%s: tiles of %.0f rows are predicted to take %.0f us more, took %.0f", r->name,
				   recorded_tiles[t], more, took);
		}
	}
}

/* Launch what is said, until the same edge has come often: its time. */
static double
settle(const Recorded *r, double us, int *launches)
{
	GcEdgeTried tried[GC_EDGE_MATERIALIZE + 1] = {{false}};
	GcEdge		next = GC_EDGE_FUSE;

	*launches = 0;
	for (int e = GC_EDGE_REFILL; e <= GC_EDGE_MATERIALIZE; e++)
		tried[e].possible = true;
	for (int n = 0; n < 40; n++)
	{
		GcEdge		compile;

		next = gc_edge_explore(us, r->us[GC_EDGE_FUSE], tried, &compile);
		*launches += next != GC_EDGE_FUSE && tried[next].us == 0;
		tried[next].trials++;
		/* Alone on the device at the second launch only. */
		if (tried[next].trials == 2)
			tried[next].us = r->us[next];
		if (compile != GC_EDGE_FUSE && n % 3 == 2)
			tried[compile].compiled = true;
	}
	return r->us[next];
}

static void
test_explore(void)
{
	for (int i = 0; i < NRECORDED; i++)
	{
		const Recorded *r = &recorded[i];
		double		best = r->us[0];
		int			launches;
		double		us = settle(r, predicted(r), &launches);

		for (int e = 0; e <= GC_EDGE_MATERIALIZE; e++)
			best = fmin(best, r->us[e]);
		ok(us <= 1.1 * best, "%s: what it settles on is within 10 %% of the best, after %d launches", r->name, launches);
		us = settle(r, r->us[0], &launches);
		ok(us == r->us[0] && launches == 0, "%s: as predicted, no edge is tried", r->name);
		us = settle(r, 0, &launches);
		ok(us == r->us[0] && launches == 0, "%s: without a prediction neither", r->name);
	}
}

static void
test_explore_ends(void)
{
	GcEdgeTried tried[GC_EDGE_MATERIALIZE + 1] = {{false}};
	GcEdge		compile;

	is(gc_edge_explore(100, 1000, tried, &compile), GC_EDGE_FUSE, "no edge is possible: fuse");
	is(compile, GC_EDGE_FUSE, "and nothing is compiled");
	tried[GC_EDGE_CHANNEL] = (GcEdgeTried) {.possible = true};
	is(gc_edge_explore(100, 1000, tried, &compile), GC_EDGE_FUSE, "fuse until a kernel is compiled");
	is(compile, GC_EDGE_CHANNEL, "that of the edge that is possible");
	tried[GC_EDGE_CHANNEL] = (GcEdgeTried) {.possible = true,.compiled = true,.trials = GC_EDGE_TRIALS};
	is(gc_edge_explore(100, 1000, tried, &compile), GC_EDGE_FUSE, "an edge that was never measured is given up");
	tried[GC_EDGE_CHANNEL].us = 960;
	is(gc_edge_explore(100, 1000, tried, &compile), GC_EDGE_FUSE, "a gain that may be chance is none");
	tried[GC_EDGE_CHANNEL].us = 900;
	is(gc_edge_explore(100, 1000, tried, &compile), GC_EDGE_CHANNEL, "a clear one is");
	is(gc_edge_explore(10, 150, tried, &compile), GC_EDGE_FUSE, "short kernels are left alone");
}

static void
note_time(void)
{
	GcEdgePipeline p = chain(1e9, 3, GC_EDGE_STAGES - 1, 1e8, 0.9);
	const clock_t began = clock();

	for (int n = 0; n < 20; n++)
		(void) choose(&p);
	tap_note("the largest choice takes %.0f us", (double) (clock() - began) / CLOCKS_PER_SEC * 1e6 / 20);
}

int
main(void)
{
	tap_start();
	gpu = gc_profile_known("H100");
	if (gpu == NULL)
		tap_bail("no profile of an H100");
	test_scan();
	test_choice();
	test_wanted();
	test_more();
	test_best();
	ok(gc_edge_keeps(10, 9) && !gc_edge_keeps(9, 10) && !gc_edge_keeps(9, 9), "of two that were measured the faster one is kept");
	test_access_rate();
	test_errors();
	test_tiles();
	test_explore();
	test_explore_ends();
	note_time();
	return tap_done();
}
