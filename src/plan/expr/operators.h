/*-------------------------------------------------------------------------
 *
 * operators.h
 *	  Which comparisons, operators and casts kernels know, and of which kinds; private to plan/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_OPERATORS_H
#define GC_OPERATORS_H

#include "../base/translate.h"

/* The operator of this name; 0: none that kernels know. */
extern GcOp gc_comparison_op(const char *name);
extern GcOp gc_arith_op(const char *name);

/* Arithmetic of two translated expressions, or of one: its result's type, and the operator or its name. */
extern int	gc_translate_arith(GcTranslation *tr, Oid type, GcOp what, int a, int b);
extern int	gc_translate_unary(GcTranslation *tr, Oid type, const char *name, int a);

/* Two translated expressions are to be compared: aligned in kind and dictionary. */
extern bool gc_align_kinds(GcTranslation *tr, int *a, int *b);

/* text and bpchar under a deterministic collation, for = and <>. */
extern bool gc_text_equality_ok(OpExpr *op, GcOp cmp);

/* Casts that kernels do: from one kind to another. */
extern bool gc_cast_supported(GcKind from, GcKind to);

/* Is this call what a cast between its argument's and its result's type does? */
extern bool gc_is_cast_call(FuncExpr *f);

#endif							/* GC_OPERATORS_H */
