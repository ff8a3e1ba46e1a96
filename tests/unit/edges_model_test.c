/*-------------------------------------------------------------------------
 *
 * edges_model_test.c
 *	  Tests of the model of pipelines that are cut: what it predicts, and what it chooses.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include <math.h>
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
			.table_bytes = i < n ? table_bytes : 1000,.column_bytes = i < n ? 4 : 0,.packet_bytes = 4.0 * (i + 1)};
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
		ok(e == GC_EDGE_REFILL || plan.tile_rows == 12345, "with the tile that is wanted");
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
					best = fmin(best, gc_edge_us(gpu, c, &p, (GcEdge) e, i, e == GC_EDGE_REFILL ? 0 : tile));
			}
		}
		cut += plan.edge != GC_EDGE_FUSE;
		wrong += !isfinite(plan.us) || plan.us <= 0;
		wrong += plan.edge == GC_EDGE_FUSE ? best * GC_EDGE_LEAST_GAIN < plan.fuse_us && best + GC_EDGE_LEAST_US < plan.fuse_us
			: plan.us > best * (1 + 1e-9) || plan.us * GC_EDGE_LEAST_GAIN > plan.fuse_us || plan.us + GC_EDGE_LEAST_US > plan.fuse_us;
	}
	is(wrong, 0, "the best is chosen, or fuse if it gains little");
	ok(cut > 0 && cut < 500, "%d of 500 random pipelines are cut", cut);
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
	note_time();
	return tap_done();
}
