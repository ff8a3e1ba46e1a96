/*-------------------------------------------------------------------------
 *
 * arithmetic.h
 *	  Arithmetic and comparisons of values that are there.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_ARITHMETIC_H
#define GC_ARITHMETIC_H

#include "state.h"

/* NULL flag of an operation that is NULL if any of its arguments is. */
extern void cg_either_null(char *buf, size_t size, const Operand *a, const Operand *b);

/* Emit statements computing expression i, of which these are the arguments: + - * and remainder, and / but of numerics. */
extern Operand cg_arith(Cg *cg, u16 i, const Operand *a, const Operand *b);

/* Emit statements computing - and abs(). */
extern Operand cg_neg_abs(Cg *cg, u16 i, const Operand *a);

/* Emit statements computing comparisons, IS DISTINCT FROM among them. */
extern Operand cg_compare(Cg *cg, u16 i, const Operand *a, const Operand *b);

#endif							/* GC_ARITHMETIC_H */
