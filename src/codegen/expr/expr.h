/*-------------------------------------------------------------------------
 *
 * expr.h
 *	  Expressions: from GcExpr trees to statements.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_EXPR_H
#define GC_CODEGEN_EXPR_H

#include "state.h"

/* Emit statements computing e; its inputs have been required (values.h). */
extern Operand cg_expr(Cg *cg, u16 e);

/* As cg_expr(), in the form in which the value is stored: tagged if its display scale varies. */
extern Operand cg_stored(Cg *cg, u16 e);

/* NULL flag of an operation that is NULL if any of its arguments is. */
extern void cg_either_null(char *buf, size_t size, const Operand *a, const Operand *b);

/*
 * Emit statements computing expression i, of which these are the arguments: + - * and remainder, and / but of numerics.
 */
extern Operand cg_arith(Cg *cg, u16 i, const Operand *a, const Operand *b);

/* Emit statements computing - and abs(). */
extern Operand cg_neg_abs(Cg *cg, u16 i, const Operand *a);

/* Emit statements computing comparisons, IS DISTINCT FROM among them. */
extern Operand cg_compare(Cg *cg, u16 i, const Operand *a, const Operand *b);

#endif							/* GC_CODEGEN_EXPR_H */
