/*-------------------------------------------------------------------------
 *
 * scales.h
 *	  How many digits a numeric shows behind the point: the rules of numeric.c, by which an expression's display
 *	  scale comes from its arguments'.
 *
 * Here they are said once.  The planner asks for scales by types (plan/group/aggregates.c), typing for those that may
 * occur (GcExpr.min_scale to scale), and kernels compute a row's (codegen/expr/expr.c).  The scale of a quotient
 * depends on its value, too: cuda/gc_numeric.h has that rule.  An expression without a rule has a scale of its own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SCALES_H
#define GC_SCALES_H

#include "program.h"

typedef enum GcScaleRule
{
	GC_SCALE_OWN = 0,			/* a stored value, a parameter */
	GC_SCALE_GIVEN,				/* cast_scale */
	GC_SCALE_ARGUMENT,			/* that of the argument; an integer's is 0 */
	GC_SCALE_LARGER,			/* of two arguments */
	GC_SCALE_SUM,
	GC_SCALE_QUOTIENT,			/* of two: the larger or more, up to GC_AVG_SCALE */
	GC_SCALE_CHOSEN				/* that of one of two, of which a NULL constant has none */
} GcScaleRule;

/* The rule of a numeric expression. */
extern GcScaleRule gc_scale_rule(const GcExpr *e);

/* GC_SCALE_LARGER, GC_SCALE_SUM: the scale, of those of two arguments. */
static inline int
gc_scale_of(GcScaleRule rule, int a, int b)
{
	return rule == GC_SCALE_SUM ? a + b : a > b ? a : b;
}

/* GC_SCALE_CHOSEN: number of the first of the two arguments. */
static inline int
gc_first_choice(const GcExpr *e)
{
	return e->op == GC_OP_IF ? 1 : 0;
}

#endif							/* GC_SCALES_H */
