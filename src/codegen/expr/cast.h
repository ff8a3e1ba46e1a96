/*-------------------------------------------------------------------------
 *
 * cast.h
 *	  Casts: a value of another kind.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CAST_H
#define GC_CAST_H

#include "state.h"

/* Emit statements computing cast e of the value a. */
extern Operand cg_cast(Cg *cg, u16 e, const Operand *a);

#endif							/* GC_CAST_H */
