/*-------------------------------------------------------------------------
 *
 * pipeline.h
 *	  What a kernel does with one vector of rows.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PIPELINE_H
#define GC_PIPELINE_H

#include "../expr/state.h"

/*
 * Fill cg->decls, cg->descs and cg->body.  With an edge, what is before it is in cg->producer, and what is behind
 * it in descs and body.
 */
extern void cg_pipeline(Cg *cg);

#endif							/* GC_PIPELINE_H */
