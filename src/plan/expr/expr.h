/*-------------------------------------------------------------------------
 *
 * expr.h
 *	  Scalar expressions, and kinds of them that have files of their own: comparisons.c, cases.c, parameters.c;
 *	  private to plan/.
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

extern int	gc_translate_case(GcTranslation *tr, GcLeaf *leaf, CaseExpr *c);

/* CASE with an operand as CASE with conditions: the operand in the place of each CaseTestExpr. */
extern CaseExpr *gc_case_by_conditions(CaseExpr *c);

/* GREATEST or LEAST of texts. */
extern int	gc_translate_text_extreme(GcTranslation *tr, GcLeaf *leaf, MinMaxExpr *m);

/* COALESCE, or GREATEST or LEAST of anything else: the operator that is applied to two of the arguments. */
extern int	gc_translate_choice(GcTranslation *tr, GcLeaf *leaf, Expr *expr, List *args, GcOp op);

/* Which of two arms' dictionaries is to have the values of both. */
extern uint16 gc_common_space(uint16 a, uint16 b);

/* Is an expression of rows or groups?  Aggregates stand for values of groups. */
extern bool gc_has_vars(Node *node);

/* An expression without Vars.  space: where a text value will be looked up, or GC_SPACE_NONE. */
extern int	gc_translate_param(GcTranslation *tr, Expr *expr, uint16 space);

#endif							/* GC_EXPR_H */
