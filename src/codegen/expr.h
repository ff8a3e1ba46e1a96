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

/* Emit statements computing e; what it reads has been required (values.h). */
extern Operand cg_expr(Cg *cg, u16 e);

/* The same of a lookup, as its table has it. */
extern Operand cg_lookup(Cg *cg, u16 e);

#endif							/* GC_CODEGEN_EXPR_H */
