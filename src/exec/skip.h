/*-------------------------------------------------------------------------
 *
 * skip.h
 *	  Which served chunks no row of which can match; private to exec/.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_SKIP_H
#define GC_SKIP_H

#include "exec.h"

/* Mark the served chunks that cannot contribute to the pipeline reading them; wants the parameters' facts. */
extern void gc_skip_chunks(GcBinding *b);

/* Mark chunks that have no key of a build that rows must match, where its keys are known; wants the builds' hashes. */
extern void gc_skip_by_builds(GcBinding *b);

/* Rows of all that an input is read from, without those of skipped chunks. */
extern uint64 gc_input_rows(const GcInputState *in);

#endif							/* GC_SKIP_H */
