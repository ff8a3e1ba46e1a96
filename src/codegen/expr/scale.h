/*-------------------------------------------------------------------------
 *
 * scale.h
 *	  Numerics whose display scale differs from row to row, and quotients, whose scale depends on their value.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_SCALE_H
#define GC_CODEGEN_SCALE_H

#include "state.h"

/* GC_OP_SCALE. */
extern Operand cg_scale(Cg *cg, u16 e);

/* GC_OP_TAG. */
extern Operand cg_tag(Cg *cg, u16 e);

/* Is it a column, payload or lookup whose values are tagged? */
extern bool cg_is_tagged(Cg *cg, u16 e);

/* The value of a leaf whose display scale varies: a column, payload or lookup. */
extern Operand cg_untagged(Cg *cg, u16 e);

/* Emit statements computing quotient i of numerics, of which these are the arguments. */
extern Operand cg_quotient(Cg *cg, u16 i, const Operand *a, const Operand *b);

/* Emit statements computing an average of numerics. */
extern Operand cg_avg(Cg *cg, u16 i, const Operand *sum, const Operand *count);

/* As cg_expr(), in the form in which the value is stored: tagged if its display scale varies. */
extern Operand cg_stored(Cg *cg, u16 e);

#endif							/* GC_CODEGEN_SCALE_H */
