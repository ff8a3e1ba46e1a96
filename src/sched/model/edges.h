/*-------------------------------------------------------------------------
 *
 * edges.h
 *	  The analytic model of pipelines that are cut (Paul, He, He 2016, section 4).
 *
 * A pipeline is a scan and stages behind it: steps row by row, and the sink.  The model predicts its time if it is
 * fused, or has an edge before one of its stages, and chooses.
 *
 * As in the paper, a part of a pipeline has costs of computation (equation 4) and of accesses to memory (equation 5).
 * Packets by a channel cost as well (1 and 6).  Parts of unlike speed delay each other (equations 8 and 9).  Unlike
 * there, work that a GPU of today does at the same time is not added up.  A part takes as long as the resource that it
 * needs longest, of device memory, the caches, issue of instructions and atomics on one address.  Latency is added:
 * warps mostly wait for the accesses of their few rows while no other warp scans for them.
 *
 * The gain of a cut is full warps.  Fused, a warp goes through all stages with the lanes that are left; and its rounds
 * are those of the lane with the most rows.  Behind an edge each lane has a row.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCHED_EDGES_H
#define GC_SCHED_EDGES_H

#include "../../program/edge.h"
#include "cost.h"
#include "profile.h"

#define GC_EDGE_STAGES	64

/* A step that is tested on whole vectors, or on gathered rows: it comes before any edge. */
typedef struct GcEdgeVectorStep
{
	double		pass;			/* rows that come out of it, as a part of those that come in */
	double		column_bytes;	/* of the row's columns that it is the first to read */
	int			columns;		/* how many these are */
	double		table_bytes;	/* of the table in which it looks each row up; 0: none */
	bool		shared;			/* that lies in the block's own memory */
	bool		ordered;		/* rows look there one behind the other, as their keys are in order */
	bool		gathered;
} GcEdgeVectorStep;

/* A step row by row, or the sink. */
typedef struct GcEdgeStage
{
	int			step;			/* its number in the pipeline; of the sink, the number of steps */
	bool		edge;			/* may an edge lie before it? */
	double		pass;			/* rows that come out of it, as a part of those that come in */
	double		accesses;		/* to a table, of each row */
	double		chain;			/* of these, one behind the other */
	double		atomics;		/* accesses that add to memory */
	double		table_bytes;	/* of that table */
	double		new_groups;		/* groups that are not there yet */
	double		column_bytes;	/* of the row's own columns that only this stage reads */
	int			columns;		/* how many these are */
	double		packet_bytes;	/* of a packet, with an edge before it */
} GcEdgeStage;

typedef struct GcEdgePipeline
{
	double		rows;			/* of the scan */
	int			vec;			/* rows of a thread's vector */
	bool		gathered;		/* warps gather the rows that come to the first stage */
	double		warps;			/* on a multiprocessor at the same time */
	int			nvector;
	GcEdgeVectorStep vector[GC_EDGE_STAGES];	/* those on gathered rows come last */
	int			nstages;
	GcEdgeStage stage[GC_EDGE_STAGES];
} GcEdgePipeline;

/*
 * Part of the rows that passes a step, by the planner's estimate in halvings (GcPStep.selectivity).  That is rounded
 * down, and this is the middle of its range.  No halvings mostly say that all rows pass.
 */
extern double gc_edge_pass(int halvings);

typedef struct GcEdgePlan
{
	GcEdge		edge;
	int			step;			/* before which it lies */
	double		us;				/* prediction */
	double		fuse_us;		/* prediction for fuse */
} GcEdgePlan;

/*
 * Gain that a plan other than fuse must be predicted to have, to be chosen: a factor, and microseconds.  A plan that is
 * chosen is only tried, and measured times decide.  So little is enough.
 */
#define GC_EDGE_LEAST_GAIN	1.1
#define GC_EDGE_LEAST_US	20

/*
 * Prediction for one edge before stage number `stage`.  tile_rows: channel, materialize: rows of which packets are in
 * memory at a time, by the setting; 0: all at once, or as many as a channel's slots hold.  No tile is ever chosen here:
 * tiles cost more than packets gain that stay in the L2 cache (docs/rejected.md).
 */
extern double gc_edge_us(const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, GcEdge edge,
						 int stage, double tile_rows);

/*
 * Choose.  edge: a GcEdge that is wanted, or GC_EDGE_AUTO; step: where it is wanted, or -1; tile_rows: 0, or the number
 * that is wanted.  Where the pipeline admits no such edge, it is fused.
 */
extern GcEdgePlan gc_edge_plan(const GcProfile *profile, const GcCalibration *c, const GcEdgePipeline *p, int edge,
							   int step, double tile_rows);

/* An edge that may be tried beside the fused kernel, and its measured time. */
typedef struct GcEdgeTried
{
	bool		possible;
	bool		compiled;
	double		predicted_us;
	double		us;				/* measured; 0: not yet */
	int			trials;			/* launches of it */
} GcEdgeTried;

/* Launches with an edge, as long as none was measured. */
#define GC_EDGE_TRIALS		4

/*
 * The model chose fuse, but its prediction was wrong by this factor, of a kernel that takes this many microseconds.  So
 * it says nothing of the other edges either, and they are measured.
 */
#define GC_EDGE_WRONG		2.0
#define GC_EDGE_WRONG_US	200

/*
 * Or the edge is predicted to take no more than this factor of fuse.  That is less than the model's own error, so
 * either may be the faster one.  A kernel is only compiled for it where fuse took so long, and so much time in all.
 */
#define GC_EDGE_NEAR		1.05
#define GC_EDGE_NEAR_US		30
#define GC_EDGE_SPENT_US	2000

/* Edges that were measured: the part of fuse's time that one must take at most. */
#define GC_EDGE_WINS		0.95

/*
 * The next launch where the model chose fuse: that, or one of the edges (tried[e] of GcEdge e).  spent_us: in all
 * launches of fuse.  *compile: an edge whose kernel is to be compiled meanwhile, or GC_EDGE_FUSE.  One after another,
 * so that at most one is compiled.
 */
extern GcEdge gc_edge_explore(double predicted_us, double fuse_us, double spent_us,
							  const GcEdgeTried tried[GC_EDGE_MATERIALIZE + 1], GcEdge *compile);

/* Which of two kernels that were measured to take; a plan that was predicted to be faster need not be. */
extern bool gc_edge_keeps(double fuse_us, double edge_us);

#endif							/* GC_SCHED_EDGES_H */
