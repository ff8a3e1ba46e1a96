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

/*
 * Emit statements reading a column, payload or lookup as it is stored: if it is tagged (scale.h), this is not its
 * value.
 */
extern Operand cg_stored_leaf(Cg *cg, u16 e);

#endif							/* GC_CODEGEN_EXPR_H */
