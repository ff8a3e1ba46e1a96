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

/* As cg_expr(), in the form in which the value is stored: tagged if its display scale varies. */
extern Operand cg_stored(Cg *cg, u16 e);

#endif							/* GC_CODEGEN_EXPR_H */
