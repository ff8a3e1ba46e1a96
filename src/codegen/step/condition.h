/*-------------------------------------------------------------------------
 *
 * condition.h
 *	  The condition under which a row passes a step: a filter, or the probe of a dense build.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CONDITION_H
#define GC_CONDITION_H

#include "../expr/state.h"

/*
 * Make available what a step reads.  Called for all steps of a stage before any of them is tested.
 */
extern void cg_require_step(Cg *cg, const GcPStep *step);

/* Emit what computes the condition, and write the condition to buf. */
extern void cg_step_condition(Cg *cg, const GcPStep *step, char *buf, size_t size);

/* Of the probe of a dense build: has the row a match, and at which index? */
extern void cg_dense_match(Cg *cg, const GcPStep *step, char *cond, size_t cond_size, char *index, size_t index_size);

#endif							/* GC_CONDITION_H */
