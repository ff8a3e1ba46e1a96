/*-------------------------------------------------------------------------
 *
 * load.h
 *	  How columns are loaded: as vectors, as words of packed codes, as one row's values.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_LOAD_H
#define GC_CODEGEN_LOAD_H

#include "state.h"

/* Statement that loads the vector cK of a column, as `how`: GC_LOAD or GC_LATE. */
extern void cg_load(Text *t, const char *how, u8 width, u8 reg, int k);

/* Declaration of a column's words wK, and the statement that loads them under a condition. */
extern void cg_load_words(Text *t, u8 width, int k, const char *condition);

/* Make a column available for the vector phase. */
extern void cg_require_vector(Cg *cg, u16 column);

/* Make a column available for the row phase. */
extern void cg_require_scalar(Cg *cg, u16 column);

#endif							/* GC_CODEGEN_LOAD_H */
