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

/*
 * Constants that no program measures were fitted by hand to recorded times of TPC-H and of the Star Schema Benchmark on
 * an H100 (tests/unit/edges_model_test.c).  So neither tells how well other queries are predicted.
 */

/* Instructions of a row's round through a stage, besides accesses; of each access and atomic. */
#define STAGE_INSTRUCTIONS		15.0
#define ACCESS_INSTRUCTIONS		5.0
#define ATOMIC_INSTRUCTIONS		2.0

/* Instructions for a vector's row: to read a column, and to test it. */
#define SCAN_INSTRUCTIONS		2.0
#define TEST_INSTRUCTIONS		2.0

/* Warp instructions that a multiprocessor issues in a microsecond: four each cycle, at 1.7 GHz. */
#define CYCLES					1700.0
#define ISSUE_RATE				(4 * CYCLES)

/*
 * Cycles in which the L1 cache serves a line, and shared memory the lanes of a warp that look at places of their own.
 */
#define LINE_CYCLES				0.87
#define SHARED_CYCLES			1.5

/* Bytes of a line of the L1 cache; and that come from the L2 cache, or from memory, however few are wanted. */
#define LINE					128.0
#define SECTOR					32.0
#define GRANULE					64.0

/* Part of the L2 cache that a table may have. */
#define L2_PART					0.5

/* Bytes of the L1 cache that a table has, next to the columns; and next to the queues of gathered rows. */
#define L1_BYTES				192e3
#define L1_BYTES_GATHERED		60e3

/* New groups in a microsecond, as one counter numbers them; and how long one's warp waits until it is published. */
#define NEW_GROUPS_RATE			2800.0
#define NEW_GROUP_US			10.0

/* Until the first blocks have begun and the last have ended, besides the launch; and where rows are gathered. */
#define BEGIN_US				2.2
#define GATHER_US				14.0

/* Part of the latency in which no other warp has work. */
#define LATENCY_PART			0.85

/* Rows that a lane gathers before it goes on, about. */
#define LANE_ROWS				2.5

/* Rows of a tile, which one block takes; and warps of a block. */
#define TILE_ROWS				16384.0
#define BLOCK_WARPS				8.0

/*
 * Microseconds that a kernel over one of several tiles takes besides its launch and its work.  Few blocks go through
 * their rows one after another, and the next kernel waits for the last of them.  A GPU's (docs/results.md); processors
 * have none.
 */
#define TILE_US					22.0

/* Rows of the scan from which a block fills a slot, at most: two tiles. */
#define SLOT_ROWS				32768.0

/* Needs of some part of a pipeline, in microseconds of the whole device. */
typedef struct Needs
{
	double		memory;
	double		cache;
	double		issue;
	double		serial;
	double		latency;
} Needs;

/* Rows on their way through the stages. */
typedef struct Flow
{
	double		rows;
	double		rounds;			/* of a warp, in which it takes them */
	bool		spread;			/* each lane has a row, wherever that lies */
} Flow;

double
gc_edge_pass(int halvings)
{
	return halvings <= 0 ? 1 : pow(2, -0.5 - fmin(halvings, 60));
}

/* Lanes of a warp; 1 where rows are computed one by one. */
static double
lanes_of(const GcProfile *profile)
{
	return profile->scalar ? 1 : profile->warp_size;
}

/* Warps that are on the device at the same time: no more than the tiles have. */
static double
warps_of(const GcProfile *profile, const GcEdgePipeline *p)
{
	const double most = fmax(p->warps, 1) * profile->sms;

	return profile->scalar ? most : fmin(most, fmax(ceil(p->rows / TILE_ROWS), 1) * BLOCK_WARPS);
}

/* Blocks have whole tiles, and those that have one more end later. */
static double
imbalance(const GcProfile *profile, const GcEdgePipeline *p)
{
	const double tiles = fmax(ceil(p->rows / TILE_ROWS) * BLOCK_WARPS / warps_of(profile, p), 1);

	return profile->scalar ? 1 : ceil(tiles) / tiles;
}

/* Time by the resource that limits, and the latency that nothing hides. */
static double
longest(const GcProfile *profile, const GcEdgePipeline *p, const Needs *n)
{
	return fmax(fmax(n->memory, n->cache), fmax(n->issue, n->serial)) +
		n->latency * (profile->scalar ? 1 : LATENCY_PART) * imbalance(profile, p);
}

/* Probability that any of n rows side by side is left, of which each is with this one. */
static double
any_of(double left, double n)
{
	return left >= 1 ? 1 : 1 - pow(1 - left, fmax(n, 1));
}

/* Rows of the lane that has the most, of `lanes`: each has n rows, of which each is left with this probability. */
static double
most_rows(double n, double left, double lanes)
{
	const int	whole = (int) fmax(round(n), 1);
	double		exactly = pow(1 - left, whole);
	double		up_to = exactly;
	double		most = 0;

	if (left >= 1)
		return whole;
	for (int k = 0; k < whole; k++)
	{
		most += 1 - pow(up_to, lanes);
		exactly *= (double) (whole - k) / (k + 1) * left / (1 - left);
		up_to = fmin(up_to + exactly, 1);
	}
	return most;
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

/* Part of the accesses to a table of `bytes` that the L2 cache serves (the paper's cr). */
static double
hit_ratio(const GcProfile *profile, double bytes)
{
	const double room = (profile->l2_bytes > 0 ? (double) profile->l2_bytes : 4e6) * L2_PART;

	return bytes <= room ? 1 : room / bytes;
}

/* So many accesses to places far apart in memory. */
static double
far_us(const GcCalibration *c, double accesses)
{
	return c->access_rate > 0 ? accesses / c->access_rate : accesses * SECTOR / c->read_bandwidth;
}

/* Time of so many cache lines through L2. */
static double
lines_us(const GcProfile *profile, double lines)
{
	return profile->scalar ? 0 : lines * LINE_CYCLES / (CYCLES * profile->sms);
}

/* Time to issue so many instructions on the whole device. */
static double
issue_us(const GcProfile *profile, double instructions)
{
	return instructions / (ISSUE_RATE * profile->sms);
}

/*
 * Bytes of `columns` columns that are read where the part `left` of the rows wants them, at least a granule at a time.
 */
static double
column_bytes(const GcEdgePipeline *p, double left, double bytes, int columns, double least_rows)
{
	const double width = bytes / fmax(columns, 1);

	return p->rows * bytes * any_of(left, fmax(least_rows, GRANULE / fmax(width, 1)));
}

/* A step on whole vectors, to which the part `left` of the rows comes. */
static void
add_vector_step(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p,
				const GcEdgeVectorStep *s, double left, bool first)
{
	const double lanes = lanes_of(profile);
	const double warp = any_of(left, p->vec * lanes) * p->rows;	/* rows of warps that take part */
	const double rounds = warp / (p->vec * lanes) / warps_of(profile, p);
	const double l1 = fmin(1, (p->gathered ? L1_BYTES_GATHERED : L1_BYTES) / fmax(s->table_bytes, 1));

	n->memory += column_bytes(p, left, s->column_bytes, s->columns, p->vec) / c->read_bandwidth;
	n->issue += issue_us(profile, warp / lanes * (s->columns * SCAN_INSTRUCTIONS + TEST_INSTRUCTIONS));
	n->cache += lines_us(profile, warp * s->column_bytes / LINE);
	/* The first one's columns are read ahead. */
	n->latency += first ? 0 : rounds * c->memory_latency_us;
	if (s->table_bytes <= 0)
		return;
	if (s->shared)
		n->cache += lines_us(profile, p->rows * left / lanes * SHARED_CYCLES);
	else if (s->ordered)
	{
		n->cache += lines_us(profile, warp / lanes * 2);
		n->memory += fmin(s->table_bytes, p->rows * left * SECTOR) / c->read_bandwidth;
		n->latency += rounds * c->memory_latency_us;
	}
	else
	{
		n->cache += lines_us(profile, p->rows * left) + p->rows * left * (1 - l1) * SECTOR / c->l2_bandwidth;
		n->memory += far_us(c, p->rows * left * (1 - hit_ratio(profile, s->table_bytes)));
		n->latency += rounds * c->l2_latency_us;
	}
}

/* A step on gathered rows, whose lanes are full; each has several rows. */
static void
add_gathered_step(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p,
				  const GcEdgeVectorStep *s, double left)
{
	const double rows = p->rows * left;
	const double rounds = rows / lanes_of(profile);
	const bool	far = s->table_bytes > 0 && !s->shared;
	const double hit = hit_ratio(profile, s->table_bytes);

	n->memory += column_bytes(p, left, s->column_bytes, s->columns, 1) / c->read_bandwidth;
	n->cache += lines_us(profile, rows * s->columns + (far ? rows : rounds * SHARED_CYCLES)) +
		(far ? rows * SECTOR / c->l2_bandwidth : 0);
	n->memory += far ? far_us(c, rows * (1 - hit)) : 0;
	n->issue += issue_us(profile, rounds * STAGE_INSTRUCTIONS);
	n->latency += rounds / LANE_ROWS * (c->memory_latency_us + (far ? c->l2_latency_us : 0)) / warps_of(profile, p);
}

/* Add the steps before the first stage; returns the rows that come to that, and how. */
static Flow
add_scan(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p)
{
	const double lanes = lanes_of(profile);
	Flow		f = {.rows = 0,.spread = p->gathered};
	double		left = 1;
	double		thinned = 1;	/* part of the gathered rows that is left */

	for (int i = 0; i < p->nvector; i++)
	{
		const GcEdgeVectorStep *s = &p->vector[i];

		if (s->gathered)
			add_gathered_step(n, profile, c, p, s, left);
		else
			add_vector_step(n, profile, c, p, s, left, i == 0);
		left *= s->pass;
		thinned *= s->gathered ? s->pass : 1;
	}
	f.rows = p->rows * left;
	if (lanes <= 1)
		f.rounds = f.rows;
	else if (p->gathered)
		f.rounds = f.rows / thinned / (lanes * LANE_ROWS) * most_rows(LANE_ROWS, thinned, lanes);
	else
		f.rounds = p->rows / (p->vec * lanes) * most_rows(p->vec, left, lanes);
	return f;
}

/* Accesses of the stage's rows to its table; returns how long a round waits for them. */
static double
add_accesses(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgeStage *s, const Flow *f)
{
	const double hit = hit_ratio(profile, s->table_bytes);
	const double chain = s->chain > 0 ? s->chain : fmin(s->accesses, 2);

	n->issue += issue_us(profile, f->rounds * (ACCESS_INSTRUCTIONS * s->accesses + (s->table_bytes > 0 ? 0 : ATOMIC_INSTRUCTIONS * s->atomics)));
	if (s->table_bytes <= 0)
		return 0;
	n->cache += lines_us(profile, f->rows * s->accesses);
	n->cache += f->rows * (s->accesses + s->atomics) * SECTOR / c->l2_bandwidth;
	n->memory += far_us(c, f->rows * (s->accesses + s->atomics / 2) * (1 - hit));
	return chain * (hit * c->l2_latency_us + (1 - hit) * c->memory_latency_us);
}

/*
 * Add a stage's needs for the rows that come to it, and take them through: equations 4 and 5.
 */
static void
add_stage(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, const GcEdgeStage *s,
		  Flow *f)
{
	const double lanes = lanes_of(profile);
	const double left = p->rows > 0 ? f->rows / p->rows : 0;
	const double width = s->column_bytes / fmax(s->columns, 1);
	double		wait = add_accesses(n, profile, c, s, f);

	if (s->columns > 0 && left > 0)
	{
		/* The next row of a lane's vector lies in the same sector, mostly. */
		const double sectors = f->spread ? 1
			: fmin(1, width / SECTOR * any_of(left, SECTOR / fmax(width, 1)) / left);
		const double lines = f->spread ? f->rows * s->columns :
			fmin(f->rows * s->columns, f->rounds * p->vec * lanes * s->column_bytes / LINE);

		n->memory += column_bytes(p, left, s->column_bytes, s->columns, 1) / c->read_bandwidth;
		n->cache += lines_us(profile, lines);
		wait += c->memory_latency_us * sectors;
	}
	if (s->new_groups > 0 && lanes > 1)
	{
		n->serial += s->new_groups / NEW_GROUPS_RATE;
		wait += NEW_GROUP_US * fmin(1, s->new_groups / fmax(f->rounds, 1));
	}
	n->issue += issue_us(profile, f->rounds * STAGE_INSTRUCTIONS);
	n->latency += f->rounds * wait / warps_of(profile, p);
	f->rows *= s->pass;
	f->rounds = rounds_left(f->rounds, f->rows, lanes);
}

/* Add stages first .. last - 1; *f is then the flow to the stage behind the last. */
static void
add_stages(Needs *n, const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, int first, int last,
		   Flow *f)
{
	for (int i = first; i < last; i++)
		add_stage(n, profile, c, p, &p->stage[i], f);
}

/* Gamma (equation 1): bytes per microsecond of packets, of which in_flight bytes are under way. */
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

/* Needs of a pipeline that is cut before a stage, whatever the edge is. */
typedef struct Cut
{
	Needs		both;
	double		both_us;
	double		producer_us;
	double		consumer_us;
	double		packets;		/* bytes */
} Cut;

/* Needs of two sides together. */
static Needs
sum_of(const Needs *a, const Needs *b)
{
	return (Needs) {a->memory + b->memory, a->cache + b->cache, a->issue + b->issue, a->serial + b->serial,
		a->latency + b->latency};
}

/* Times of both sides with an edge before this stage. */
static Cut
cut_before(const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, int stage)
{
	const double begin_us = profile->scalar ? 0 : BEGIN_US + (p->gathered ? GATHER_US : 0);
	Needs		producer = {0};
	Needs		consumer = {0};
	Flow		f;
	Cut			cut = {0};

	f = add_scan(&producer, profile, c, p);
	add_stages(&producer, profile, c, p, 0, stage, &f);
	cut.packets = f.rows * (stage < p->nstages ? p->stage[stage].packet_bytes : 0);
	f.rounds = f.rows / lanes_of(profile);
	f.spread = true;
	add_stages(&consumer, profile, c, p, stage, p->nstages, &f);
	cut.producer_us = begin_us + longest(profile, p, &producer);
	cut.consumer_us = longest(profile, p, &consumer);
	cut.both = sum_of(&producer, &consumer);
	cut.both_us = begin_us + longest(profile, p, &cut.both);
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
		return c->launch_us + cut->both_us + 2 * cut->packets / c->l2_bandwidth + c->turn_us * slots;
	/*
	 * Delay (equation 8): the time that one part waits for the other when the last slots are filled and emptied.  Of
	 * the slower part all, not the difference: else more work of the faster one would seem to take less time.
	 */
	return c->launch_us + cut->both_us + passing + c->turn_us * slots +
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
gc_edge_plan(const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, int edge, int step,
			 double tile_rows)
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
gc_edge_explore(double predicted_us, double fuse_us, double spent_us, const GcEdgeTried tried[GC_EDGE_MATERIALIZE + 1],
				GcEdge *compile)
{
	const bool	wrong = fuse_us >= GC_EDGE_WRONG_US && fuse_us >= predicted_us * GC_EDGE_WRONG;
	const bool	often = fuse_us >= GC_EDGE_NEAR_US && spent_us >= GC_EDGE_SPENT_US;
	GcEdge		best = GC_EDGE_FUSE;
	double		best_us = fuse_us * GC_EDGE_WINS;

	*compile = GC_EDGE_FUSE;
	if (predicted_us <= 0 || (!wrong && !often))
		return GC_EDGE_FUSE;
	for (int e = GC_EDGE_REFILL; e <= GC_EDGE_MATERIALIZE; e++)
	{
		const GcEdgeTried *t = &tried[e];

		if (!t->possible || (!wrong && t->predicted_us > predicted_us * GC_EDGE_NEAR))
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
