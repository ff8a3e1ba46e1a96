/*-------------------------------------------------------------------------
 *
 * split.h
 *	  Passes: which rows belong to the part of a build or of groups that a pass has.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SPLIT_H
#define GC_SPLIT_H

#include "../expr/state.h"

/* Is the build split, so that a pass has one part of its rows? */
static inline bool
cg_is_split(const Cg *cg, u16 build)
{
	return (cg->variant->splits.builds >> build & 1) != 0;
}

/* Emit the statements of the keys of a probe's row; buf: a condition, true if the row is of this pass. */
extern void cg_probed_part(Cg *cg, const GcPStep *step, char *buf, size_t size);

/* Skip a row of another pass, whose keys for the build that the pipeline fills are in gc_k. */
extern void cg_skip_built(Cg *cg);

/* Skip a row of another pass, whose group keys are in gc_k, with hash gc_h. */
extern void cg_skip_grouped(Cg *cg);

#endif							/* GC_SPLIT_H */
