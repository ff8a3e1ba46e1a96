/*-------------------------------------------------------------------------
 *
 * line.h
 *	  Kernels in the order of their launch: which run side by side, how long all of
 *	  them take, and in which variants that is least.
 *
 * The hardware starts blocks in the order of the launches, as room appears (paper 003's
 * second discipline; design.md, section 7).  So the kernels of a line fall into waves: a
 * kernel joins the wave before it if one block of it fits a multiprocessor beside one of
 * each of that wave's kernels, else it opens the next one.
 *
 *	  of a wave of one kernel: its time alone
 *	  of a wave of several: max(longest of them alone, beside * sum of them alone)
 *	  of the line: the sum over its waves
 *
 * beside is what the device gains by running kernels side by side, learned by the server;
 * where it gains nothing (1 or more) the fastest variants are the best.  A variant with its
 * dimension filters in L2 takes up to three times as long (design.md, section 1) and leaves
 * others room: it is the better one where the wave that it then fits gains more than that.
 *
 * Times are in microseconds.  What a block takes of a multiprocessor is in the terms of
 * gc_sm_limits() (occupancy.h; paper 003, eqs. 1-13).  Pure functions; the caller brings
 * the memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LINE_H
#define GC_LINE_H

#include "occupancy.h"
#include "sched.h"

/* One variant of a kernel. */
typedef struct GcLineOption
{
	int			need[GC_NEEDS]; /* of one block; gc_line_option */
	double		alone_us;
} GcLineOption;

typedef struct GcLineItem
{
	int			noptions;		/* 1 or more; [0] is the fastest alone */
	GcLineOption option[GC_MAX_OPTIONS];
} GcLineItem;

/* A wave that may still be joined, and the time of those before it. */
typedef struct GcWave
{
	int			n;				/* kernels in it */
	int			left[GC_NEEDS];
	double		longest_us;
	double		sum_us;
	double		before_us;
} GcWave;

typedef struct GcLine
{
	int			limit[GC_NEEDS];
	double		beside;
	GcWave		wave;			/* the last one */
} GcLine;

/* What gc_line_choose works in. */
typedef struct GcLineWork
{
	GcLineItem	item[GC_MAX_ITEMS]; /* for the caller, who may put his items here */
	GcWave		reached[GC_MAX_ITEMS];	/* when item i comes, by the choice so far */
	bool		opens[GC_MAX_ITEMS];	/* item i opens a wave */
	double		rest_us[GC_MAX_ITEMS];	/* if so: from that wave on */
	int			lean[GC_MAX_ITEMS]; /* the other choice to begin with */
	long		steps;			/* taken by the last search */
} GcLineWork;

/* An empty line. */
extern void gc_line_begin(GcLine *line, const GcProfile *profile, double beside);

/* A variant; one of which the device can hold no block is taken to need all there is. */
extern void gc_line_option(const GcLine *line, const GcProfile *profile, int registers, int threads,
						   uint64_t shared_bytes, double alone_us, GcLineOption *option);

/* Put one kernel at the end. */
extern void gc_line_add(GcLine *line, const GcLineOption *option);

/* Time until all of them are done. */
extern double gc_line_us(const GcLine *line);

/*
 * Put n items (up to GC_MAX_ITEMS) at the end, each in the variant choice[i], so that the
 * line takes the least time that a search finds; never more than with the fastest
 * variants.  The search changes one item or two neighbours at a time, as long as that
 * gains, from the fastest and from the leanest variants on.  It ends after about so many
 * steps (kernels looked at, 6 ns each), for the decision that it is part of has 100
 * microseconds.  Returns gc_line_us.
 */
extern double gc_line_choose(GcLine *line, const GcLineItem *item, int n, long steps, GcLineWork *work,
							 int *choice);

#endif							/* GC_LINE_H */
