/*-------------------------------------------------------------------------
 *
 * row_compare.h
 *	  Comparisons of rows as comparisons of their values; private to plan/.
 *
 * Planner, in backends.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ROW_COMPARE_H
#define GC_ROW_COMPARE_H

#include "postgres.h"

#include "nodes/primnodes.h"

/*
 * (a, b) < (x, y) as a < x OR (a = x AND b < y), which is NULL where that is; NULL if an operator is not known.
 */
extern Expr *gc_row_comparison(RowCompareExpr *row);

#endif							/* GC_ROW_COMPARE_H */
