/*-------------------------------------------------------------------------
 *
 * lp.c
 *	  The restricted master of column generation, by the revised simplex method.
 *
 * The inverse of the basis is kept whole, by column.  So a pivot is one pass of
 * multiply-and-add over it, and a sparse pattern is translated by adding up few of its
 * columns.  Prices and objective are brought up to date by the same pivot.  Masters
 * here have tens of rows and small whole coefficients, and live for tens of pivots.  There
 * is nothing for a factorisation to save, nor time for errors to grow.  A caller that uses
 * the prices as a bound must price with them, and not trust the objective alone.
 *
 * Pure functions; the caller owns the GcLp.
 *
 *-------------------------------------------------------------------------
 */
#include "lp.h"

#include <math.h>
#include <string.h>

#define EPS_PRICE	1e-9		/* a reduced cost below -this is worth a pivot */
#define EPS_PIVOT	1e-9		/* smaller elements are taken for zero */
#define EPS_GAIN	1e-10		/* an objective that falls by less has stalled */

void
gc_lp_start(GcLp *lp, int rows, const int *demand, const uint16_t *single)
{
	lp->rows = rows;
	lp->ncolumns = rows;
	lp->pivots = 0;
	lp->stalled = 0;
	lp->added = -1;
	lp->objective = 0;
	memset(lp->inverse, 0, sizeof(double) * (size_t) rows * (size_t) rows);
	memset(lp->step, 0, sizeof(lp->step));
	memset(lp->x, 0, sizeof(lp->x));
	for (int i = 0; i < rows; i++)
	{
		lp->column[i].nentries = 1;
		lp->column[i].basic = true;
		lp->column[i].entry[0].row = (uint16_t) i;
		lp->column[i].entry[0].count = single[i];
		lp->demand[i] = demand[i];
		lp->basic[i] = i;
		lp->x[i] = (double) demand[i] / single[i];
		lp->price[i] = 1.0 / single[i];
		lp->inverse[i * lp->rows + i] = 1.0 / single[i];
		lp->objective += lp->x[i];
	}
}

/* Value of a pattern at the present prices: its reduced cost is 1 less this. */
static double
value_of(const GcLp *lp, int column)
{
	const GcLpColumn *c = &lp->column[column];
	double		value = 0;

	for (int k = 0; k < c->nentries; k++)
		value += lp->price[c->entry[k].row] * c->entry[k].count;
	return value;
}

int
gc_lp_add(GcLp *lp, const uint16_t *count)
{
	int			where = lp->ncolumns;
	GcLpColumn *column;

	if (where < GC_LP_MAX_COLUMNS)
		lp->ncolumns++;
	else
	{
		double		least = INFINITY;

		for (int j = 0; j < GC_LP_MAX_COLUMNS; j++)
		{
			double		value = lp->column[j].basic ? INFINITY : value_of(lp, j);

			if (value < least)
			{
				least = value;
				where = j;
			}
		}
	}
	column = &lp->column[where];
	column->basic = false;
	lp->added = where;
	column->nentries = 0;
	for (int i = 0; i < lp->rows; i++)
	{
		if (count[i] > 0)
		{
			column->entry[column->nentries].row = (uint16_t) i;
			column->entry[column->nentries++].count = count[i];
		}
	}
	return where;
}

/*
 * The column to enter, as in `basic`, and its reduced cost; 0 where none gains.  Takes
 * the steepest, but the first one (Bland's rule, which cannot cycle) once the objective
 * has not moved for a while.
 */
static int
entering(GcLp *lp, double *reduced)
{
	bool		first = lp->stalled > 2 * lp->rows + 16;
	int			enter = 0;

	/* A column was just added in order to enter: the others need not be looked at. */
	if (lp->added >= 0 && !first)
	{
		enter = lp->added;
		lp->added = -1;
		*reduced = 1.0 - value_of(lp, enter);
		if (*reduced < -EPS_PRICE)
			return enter;
	}
	*reduced = -EPS_PRICE;
	/* in the order of their numbers, as leaving() sees them */
	for (int i = lp->rows - 1; i >= 0; i--)
	{
		if (lp->price[i] < *reduced)
		{
			*reduced = lp->price[i];
			enter = -1 - i;
			if (first)
				return enter;
		}
	}
	for (int j = 0; j < lp->ncolumns; j++)
	{
		double		cost;

		if (lp->column[j].basic)
			continue;
		cost = 1.0 - value_of(lp, j);
		if (cost < *reduced)
		{
			*reduced = cost;
			enter = j;
			if (first)
				return enter;
		}
	}
	return enter;
}

/* to += factor * from, over n numbers. */
static inline void
add_multiple(double *restrict to, double factor, const double *restrict from, int n)
{
	for (int r = 0; r < n; r++)
		to[r] += factor * from[r];
}

/* step = inverse of the basis times the entering column. */
static void
translate(GcLp *lp, int enter)
{
	double	   *step = lp->step;
	int			n = lp->rows;

	memset(step, 0, sizeof(double) * (size_t) n);
	if (enter < 0)
	{
		add_multiple(step, -1.0, &lp->inverse[(-1 - enter) * n], n);
		return;
	}
	for (int k = 0; k < lp->column[enter].nentries; k++)
	{
		const GcLpEntry *e = &lp->column[enter].entry[k];

		add_multiple(step, e->count, &lp->inverse[e->row * n], n);
	}
}

/* The row whose basic variable reaches zero first; -1: none. */
static int
leaving(const GcLp *lp)
{
	bool		first = lp->stalled > 2 * lp->rows + 16;
	double		least = INFINITY;
	int			row = -1;

	for (int r = 0; r < lp->rows; r++)
	{
		double		ratio;

		if (lp->step[r] <= EPS_PIVOT)
			continue;
		ratio = lp->x[r] / lp->step[r];
		if (ratio < least - EPS_GAIN)
		{
			least = ratio;
			row = r;
		}
		else if (ratio <= least + EPS_GAIN &&
				 (first ? lp->basic[r] < lp->basic[row] : lp->step[r] > lp->step[row]))
		{
			/* a tie: Bland's choice, or the pivot that rounds least */
			least = ratio < least ? ratio : least;
			row = r;
		}
	}
	return row;
}

/* Bring in the column that lp->step describes, in place of the basic column of `row`. */
static void
pivot(GcLp *lp, int enter, int row, double reduced)
{
	double	   *step = lp->step;
	int			n = lp->rows;
	double		element = step[row];
	double		theta = lp->x[row] / element;

	theta = theta > 0 ? theta : 0;
	for (int r = 0; r < lp->rows; r++)
	{
		double		left = lp->x[r] - theta * step[r];

		lp->x[r] = left > 0 ? left : 0;
	}
	lp->x[row] = theta;

	/* With this, the loop below also leaves the pivot row as it should be. */
	step[row] = element - 1.0;
	for (int i = 0; i < lp->rows; i++)
	{
		double	   *column = &lp->inverse[i * n];
		double		t = column[row];

		if (t == 0)
			continue;
		t /= element;
		add_multiple(column, -t, step, n);
		lp->price[i] += reduced * t;
	}
	if (lp->basic[row] >= 0)
		lp->column[lp->basic[row]].basic = false;
	if (enter >= 0)
		lp->column[enter].basic = true;
	lp->basic[row] = enter;
	lp->stalled = theta * -reduced > EPS_GAIN ? 0 : lp->stalled + 1;
	lp->pivots++;
}

/* Compute the objective from x; false if the prices give another one. */
static bool
settle(GcLp *lp)
{
	double		dual = 0;

	lp->objective = 0;
	for (int r = 0; r < lp->rows; r++)
	{
		if (lp->basic[r] >= 0)
			lp->objective += lp->x[r];
		dual += lp->price[r] * lp->demand[r];
	}
	return fabs(lp->objective - dual) <= 1e-6 * (1.0 + lp->objective);
}

GcLpStatus
gc_lp_solve(GcLp *lp, int max_pivots)
{
	for (int n = 0;; n++)
	{
		double		reduced;
		int			enter = entering(lp, &reduced);
		int			row;

		if (reduced >= -EPS_PRICE)
			return settle(lp) ? GC_LP_OPTIMAL : GC_LP_UNSTABLE;
		if (n >= max_pivots)
			return settle(lp) ? GC_LP_LIMIT : GC_LP_UNSTABLE;
		translate(lp, enter);
		row = leaving(lp);
		if (row < 0)
		{
			settle(lp);
			return GC_LP_UNSTABLE;
		}
		pivot(lp, enter, row, reduced);
	}
}
