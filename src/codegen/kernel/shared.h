/*-------------------------------------------------------------------------
 *
 * shared.h
 *	  What a pipeline's kernel has in shared memory: bitmaps of builds, and its groups.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SHARED_H
#define GC_SHARED_H

#include "../expr/state.h"

/*
 * Emit declarations that are computed from argument words alone, so that every scope can repeat
 * them. `top`: where the pipeline's part of the shared memory begins.
 */
extern void cg_scope(Cg *cg, Text *t, const char *top);

/* Fill the pipeline's part of the shared memory, after the declarations of cg_scope. */
extern void cg_fill_shared(Cg *cg, Text *t);

extern bool cg_uses_shared(const Cg *cg);

#endif							/* GC_SHARED_H */
