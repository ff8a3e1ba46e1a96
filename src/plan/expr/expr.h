/*-------------------------------------------------------------------------
 *
 * expr.h
 *	  Scalar expressions; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_EXPR_H
#define GC_EXPR_H

#include "../base/translate.h"

/*
 * Translate a scalar expression in the pipeline of `leaf`.  Returns the number of a
 * program expression, or GC_NO_EXPR with tr->reason set.
 */
extern int	gc_translate_expr(GcTranslation *tr, GcLeaf *leaf, Expr *expr);

/* Translate an expression that is returned as it is, also of kinds that are good for nothing else (GC_AGE). */
extern int	gc_translate_output(GcTranslation *tr, GcLeaf *leaf, Expr *expr);

/* Two arguments are compared by an operator that kernels know. */
extern int	gc_translate_comparison(GcTranslation *tr, GcLeaf *leaf, OpExpr *op, GcOp cmp);

extern int	gc_translate_nullif(GcTranslation *tr, GcLeaf *leaf, NullIfExpr *n);

/* = ANY and <> ALL of an array that is constant while the query runs. */
extern int	gc_translate_in(GcTranslation *tr, GcLeaf *leaf, ScalarArrayOpExpr *s);

/* age() of two timestamps, of the kind that it alone has. */
extern int	gc_age_of_times(GcTranslation *tr, GcLeaf *leaf, const FuncExpr *f);

/*
 * (a, b) < (x, y) as a < x OR (a = x AND b < y), which is NULL where that is.  NULL if an operator is not known.
 */
extern Expr *gc_row_comparison(RowCompareExpr *row);

#endif							/* GC_EXPR_H */
