/*-------------------------------------------------------------------------
 *
 * lp.h
 *	  The restricted master of column generation: a covering LP over known patterns.
 *
 * Li, Tu, Zeng 2019, eqs. 23-25:
 *
 *		minimise sum_j x_j   subject to   sum_j P_ij x_j >= d_i,   x_j >= 0
 *
 * with one row per item type (d_i items wanted) and one column per pattern (P_ij items
 * of type i in one batch).  A revised primal simplex keeps the basis between calls, so
 * that a column added later starts from the last solution.
 *
 * Pure C, like all of sched/.  Everything is in the caller's GcLp; one call at a time may
 * use it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_LP_H
#define GC_LP_H

#include <stdbool.h>
#include <stdint.h>

#define GC_LP_MAX_ROWS		64
#define GC_LP_MAX_COLUMNS	192

/* One type's part of a column. */
typedef struct GcLpEntry
{
	uint16_t	row;
	uint16_t	count;
} GcLpEntry;

typedef struct GcLpColumn
{
	int			nentries;
	bool		basic;
	GcLpEntry	entry[GC_LP_MAX_ROWS];
} GcLpColumn;

typedef enum GcLpStatus
{
	GC_LP_OPTIMAL,
	GC_LP_LIMIT,				/* out of pivots: feasible, perhaps not optimal */
	GC_LP_UNSTABLE				/* no usable pivot, or the figures drifted apart */
} GcLpStatus;

typedef struct GcLp
{
	int			rows;
	int			ncolumns;
	int			pivots;			/* made since gc_lp_start */
	int			stalled;		/* of them, the last ones that gained nothing */
	int			added;			/* the last column added, not yet priced; or -1 */
	double		objective;		/* sum of x over the basic patterns */
	int			demand[GC_LP_MAX_ROWS];
	int			basic[GC_LP_MAX_ROWS];	/* pattern j, or -1 - i: surplus of row i */
	double		x[GC_LP_MAX_ROWS];	/* value of basic[r] */
	double		price[GC_LP_MAX_ROWS];	/* dual value pi_i of row i */
	/* entering column in terms of the basis */
	double		step[GC_LP_MAX_ROWS];
	/* inverse of the basis, by column */
	double		inverse[GC_LP_MAX_ROWS * GC_LP_MAX_ROWS];
	GcLpColumn	column[GC_LP_MAX_COLUMNS];
} GcLp;

/*
 * Begin with one pattern per row, `single[i]` > 0 items of type i alone: a feasible
 * basis.  rows <= GC_LP_MAX_ROWS; demand[i] > 0.
 */
extern void gc_lp_start(GcLp *lp, int rows, const int *demand, const uint16_t *single);

/*
 * Add the pattern count[0 .. rows - 1].  Where the table is full, it replaces the pattern outside
 * the basis that is worth least at the present prices.  So a column's number does not stay valid.
 * Returns the column's number.
 */
extern int	gc_lp_add(GcLp *lp, const uint16_t *count);

/*
 * Solve over the known columns, from the last basis.  Sets x, basic, price, objective.
 * Prices are not negative (but for rounding) when the status is GC_LP_OPTIMAL.
 */
extern GcLpStatus gc_lp_solve(GcLp *lp, int max_pivots);

#endif							/* GC_LP_H */
