/*-------------------------------------------------------------------------
 *
 * edges.c
 *	  The analytic model of pipelines that are cut (Paul, He, He 2016, section 4).
 *
 * Pure functions; no state.
 *
 *-------------------------------------------------------------------------
 */
#include "edges.h"

#include <math.h>

/* Instructions of a row's round through a stage, besides accesses; of each access; of a vector's row in the scan. */
#define STAGE_INSTRUCTIONS		30.0
#define ACCESS_INSTRUCTIONS		25.0
#define SCAN_INSTRUCTIONS		6.0

/* Warp instructions that a multiprocessor issues in a microsecond: four each cycle, at 1.7 GHz. */
#define ISSUE_RATE				(4 * 1700.0)

/* Bytes that come from memory or the L2 cache for an access, however few are wanted. */
#define SECTOR					32.0

/* Part of the L2 cache that a table may have. */
#define L2_PART					0.5

/*
 * Microseconds that a kernel over one of several tiles takes besides its launch and its work: few blocks go through their
 * rows one after another, and the next kernel waits for the last of them.  A GPU's (docs/results.md); processors have none.
 */
#define TILE_US					22.0

/* Rows of the scan from which a block fills a slot, at most: two tiles. */
#define SLOT_ROWS				32768.0

/* What some part of a pipeline needs, in microseconds of the whole device. */
typedef struct Needs
{
	double		memory;
	double		l2;
	double		issue;
	double		latency;
} Needs;

static double
longest(const Needs *n)
{
	return fmax(fmax(n->memory, n->l2), n->issue) + n->latency;
}

/* Does it compute row by row, without warps? */
static double
lanes_of(const GcProfile *profile)
{
	return profile->scalar ? 1 : profile->warp_size;
}

/*
 * Rounds that the warps take the rows of the first stage in.  Each lane has its vector's rows, and the lane
 * with the most decides: about the mean, and as many standard deviations as 32 draws reach.
 */
static double
first_rounds(const GcProfile *profile, const GcEdgePipeline *p)
{
	const double lanes = lanes_of(profile);
	const double mean = p->vec * p->left;
	double		most;

	if (p->gathered || lanes <= 1)
		return p->rows * p->left / lanes;
	most = mean + 2.1 * sqrt(mean * (1 - p->left));
	/* Where rows are few, a round is needed if any lane has one. */
	most = fmin(fmax(most, 1 - exp(-mean * lanes)), p->vec);
	if (mean * lanes < 1)
		most = 1 - exp(-mean * lanes);
	return p->rows / (p->vec * lanes) * most;
}

/* Rounds in which some lane is left, of `rounds` in which `before` of them were full and `now` rows are left in all. */
static double
rounds_left(double rounds, double now, double lanes)
{
	const double each = rounds > 0 ? now / rounds : 0;

	if (lanes <= 1)
		return now;
	return rounds * (1 - exp(-each));
}

/* Part of the accesses to a table of so many bytes that the L2 cache serves (the paper's cr). */
static double
hit_ratio(const GcProfile *profile, double bytes)
{
	const double room = (profile->l2_bytes > 0 ? (double) profile->l2_bytes : 4e6) * L2_PART;

	return bytes <= room ? 1 : room / bytes;
}

/* Add what a stage needs for `rows`, in so many rounds of a warp: equations 4 and 5. */
static void
add_stage(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, const GcEdgeStage *s,
		  double rows, double rounds)
{
	const double hit = hit_ratio(profile, s->table_bytes);
	const double warps = fmax(p->warps, 1) * profile->sms;
	const double wait = s->accesses * (hit * c->l2_latency_us + (1 - hit) * c->memory_latency_us) +
		(s->column_bytes > 0 ? c->memory_latency_us : 0);
	const double bytes = rows * s->accesses * SECTOR;
	const double own = rows * fmax(s->columns * SECTOR, s->column_bytes);

	/* Rows that lie near each other share sectors, so a scan's whole column is the most that is read. */
	n->memory += c->access_rate > 0 ? rows * s->accesses * (1 - hit) / c->access_rate : bytes * (1 - hit) / c->read_bandwidth;
	n->memory += fmin(own, p->rows * s->column_bytes) / c->read_bandwidth;
	n->l2 += (bytes + own) / c->l2_bandwidth;
	n->issue += rounds * (STAGE_INSTRUCTIONS + ACCESS_INSTRUCTIONS * s->accesses) / (ISSUE_RATE * profile->sms);
	n->latency += rounds * wait / warps;
}

static void
add_scan(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p)
{
	n->memory += p->rows * p->scan_bytes / c->read_bandwidth;
	n->issue += p->rows / lanes_of(profile) * SCAN_INSTRUCTIONS / (ISSUE_RATE * profile->sms);
}

/*
 * Add stages first .. last - 1.  *rows come to the first of them, in *rounds of a warp; both are then those of the
 * stage behind the last.
 */
static void
add_stages(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, int first, int last,
		   double *rows, double *rounds)
{
	for (int i = first; i < last; i++)
	{
		add_stage(n, profile, c, p, &p->stage[i], *rows, *rounds);
		*rows *= p->stage[i].pass;
		*rounds = rounds_left(*rounds, *rows, lanes_of(profile));
	}
}

/* Gamma (equation 1): bytes per microsecond of packets, of which so many bytes are in flight. */
static double
packet_rate(const GcCalibration *c, double in_flight)
{
	const double rate = c->channel_bandwidth * in_flight / (in_flight + c->channel_half);
	const double memory = c->read_bandwidth / 2;

	return in_flight <= c->channel_bytes ? rate : fmin(rate, memory);
}

/* Blocks that are on the device at the same time: equation 2, for kernels that are one. */
static double
resident_blocks(const GcProfile *profile, const GcEdgePipeline *p)
{
	return profile->sms * fmax(p->warps * lanes_of(profile) / 256, 1);
}

/* What a pipeline that is cut before a stage needs, whatever the edge is. */
typedef struct Cut
{
	Needs		both;
	double		producer_us;
	double		consumer_us;
	double		packets;		/* bytes */
} Cut;

static Cut
cut_before(const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, int stage)
{
	Needs		producer = {0};
	Needs		consumer = {0};
	double		rows = p->rows * p->left;
	double		rounds = first_rounds(profile, p);
	Cut			cut = {0};

	add_scan(&producer, profile, c, p);
	add_stages(&producer, profile, c, p, 0, stage, &rows, &rounds);
	cut.packets = rows * (stage < p->nstages ? p->stage[stage].packet_bytes : 0);
	rounds = rows / lanes_of(profile);
	add_stages(&consumer, profile, c, p, stage, p->nstages, &rows, &rounds);
	cut.producer_us = longest(&producer);
	cut.consumer_us = longest(&consumer);
	cut.both = (Needs) {producer.memory + consumer.memory, producer.l2 + consumer.l2, producer.issue + consumer.issue,
		producer.latency + consumer.latency};
	return cut;
}

/* Equation 9: of an edge that is not fused. */
static double
cut_us(const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, const Cut *cut, GcEdge edge,
	   double tile_rows)
{
	const double turns = tile_rows > 0 && tile_rows < p->rows ? ceil(p->rows / tile_rows) : 1;
	const double blocks = resident_blocks(profile, p);
	const double slots = p->rows / (blocks * SLOT_ROWS);
	const double parts = edge == GC_EDGE_CHANNEL ? fmax(turns, slots) : turns;
	const double passing = cut->packets / packet_rate(c, fmax(cut->packets / parts, 1));

	/* The producer's kernel, then the consumer's, for each tile. */
	if (edge == GC_EDGE_MATERIALIZE)
		return turns * 2 * c->launch_us + (turns - 1) * 2 * (profile->scalar ? 0 : TILE_US) + cut->producer_us +
			cut->consumer_us + passing;
	/* A block's packets stay near it; it fills and empties in turns, while other blocks do the other. */
	if (edge == GC_EDGE_REFILL)
		return c->launch_us + longest(&cut->both) + 2 * cut->packets / c->l2_bandwidth + c->turn_us * slots;
	/*
	 * Delay (equation 8): what one part waits for the other when the last slots are filled and emptied.  Of the slower
	 * part all, not the difference: else more work of the faster one would seem to take less time.
	 */
	return c->launch_us + longest(&cut->both) + passing + c->turn_us * slots +
		fmax(cut->producer_us, cut->consumer_us) / fmax(slots, 1);
}

double
gc_edge_us(const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, GcEdge edge, int stage,
		   double tile_rows)
{
	const Cut	cut = cut_before(profile, c, p, edge == GC_EDGE_FUSE ? p->nstages : stage);

	return edge == GC_EDGE_FUSE ? c->launch_us + cut.producer_us : cut_us(profile, c, p, &cut, edge, tile_rows);
}

GcEdgePlan
gc_edge_plan(const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, int edge, int step, double tile_rows)
{
	GcEdgePlan	fuse = {.edge = GC_EDGE_FUSE};
	GcEdgePlan	best = {.edge = GC_EDGE_FUSE,.us = INFINITY};
	Cut			cut;

	fuse.us = fuse.fuse_us = gc_edge_us(profile, c, p, GC_EDGE_FUSE, 0, 0);
	for (int i = 0; i < p->nstages && edge != GC_EDGE_FUSE; i++)
	{
		double		us;

		if (!p->stage[i].edge || (step >= 0 && p->stage[i].step != step))
			continue;
		cut = cut_before(profile, c, p, i);
		for (int e = GC_EDGE_REFILL; e <= GC_EDGE_MATERIALIZE; e++)
		{
			if (edge != GC_EDGE_AUTO && edge != e)
				continue;
			us = cut_us(profile, c, p, &cut, (GcEdge) e, tile_rows);
			if (us < best.us)
				best = (GcEdgePlan) {.edge = (GcEdge) e,.step = p->stage[i].step,.us = us};
		}
	}
	best.fuse_us = fuse.us;
	if (best.edge == GC_EDGE_FUSE ||
		(edge == GC_EDGE_AUTO && (best.us * GC_EDGE_LEAST_GAIN > fuse.us || best.us + GC_EDGE_LEAST_US > fuse.us)))
		return fuse;
	return best;
}

GcEdge
gc_edge_explore(double predicted_us, double fuse_us, const GcEdgeTried tried[GC_EDGE_MATERIALIZE + 1], GcEdge *compile)
{
	GcEdge		best = GC_EDGE_FUSE;
	double		best_us = fuse_us * GC_EDGE_WINS;

	*compile = GC_EDGE_FUSE;
	if (predicted_us <= 0 || fuse_us < GC_EDGE_WRONG_US || fuse_us < predicted_us * GC_EDGE_WRONG)
		return GC_EDGE_FUSE;
	for (int e = GC_EDGE_REFILL; e <= GC_EDGE_MATERIALIZE; e++)
	{
		const GcEdgeTried *t = &tried[e];

		if (!t->possible)
			continue;
		if (!t->compiled)
		{
			*compile = (GcEdge) e;
			break;
		}
		if (t->us <= 0 && t->trials < GC_EDGE_TRIALS)
			return (GcEdge) e;
		if (t->us > 0 && t->us < best_us)
		{
			best_us = t->us;
			best = (GcEdge) e;
		}
	}
	return best;
}

bool
gc_edge_keeps(double fuse_us, double edge_us)
{
	return edge_us < fuse_us;
}
