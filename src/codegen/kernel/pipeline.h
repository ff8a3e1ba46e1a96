/*-------------------------------------------------------------------------
 *
 * pipeline.h
 *	  The body of a pipeline's kernel: one vector of rows, shared memory, rows that nothing matched.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PIPELINE_H
#define GC_PIPELINE_H

#include "../expr/state.h"

/*
 * Fill cg->decls, cg->descs and cg->body.  With an edge, the text before it is in cg->producer, and the text behind it
 * in descs and body.
 */
extern void cg_pipeline(Cg *cg);

/*
 * Emit declarations that are computed from argument words alone, so that every scope can repeat
 * them.  `top`: where the pipeline's part of the shared memory begins.
 */
extern void cg_scope(Cg *cg, Text *t, const char *top);

/* Fill the pipeline's part of the shared memory, after the declarations of cg_scope. */
extern void cg_fill_shared(Cg *cg, Text *t);

extern bool cg_uses_shared(const Cg *cg);

/* Emit the loop over its rows without a match around the kernel's body. */
extern void cg_emit_unmatched_scan(Cg *cg, Text *t);

/* How many rows a scan's threads gather: */

/* Registers of a row's values above which a thread gathers fewer rows at a time. */
#define MANY_GATHERED		7

/* Rows that a thread gathers at a time, by the registers that each row takes. */
static inline int
cg_lane_rows(const Cg *cg)
{
	return !cg->gather || cg->gathered > 4 * MANY_GATHERED ? 1 : cg->filtered || cg->gathered > MANY_GATHERED ? 2 : 4;
}

/*
 * Rounds of a vector phase whose loads are in flight together: the fewer bytes of a row it reads,
 * the more.
 */
static inline int
cg_filtered_rounds(const Cg *cg)
{
	return cg->loaded_bytes <= 2 ? 4 : cg->loaded_bytes <= 4 ? 2 : 1;
}

#endif							/* GC_PIPELINE_H */
