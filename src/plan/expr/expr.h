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

#endif							/* GC_EXPR_H */
