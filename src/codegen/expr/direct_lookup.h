/*-------------------------------------------------------------------------
 *
 * direct_lookup.h
 *	  What an entry of a direct lookup table holds.
 *
 * Other rooms ask for the size of an entry, too: gc_direct_bytes (selection.h).
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_DIRECT_LOOKUP_H
#define GC_DIRECT_LOOKUP_H

#include "state.h"

/* Is the build that the step probes looked up directly? */
extern bool cg_is_direct(const Cg *cg, const GcPStep *step);

/* Lowest bit of a payload's code in the entries of its build. */
extern int	cg_payload_shift(const GcProgram *p, u16 payload);

#endif							/* GC_DIRECT_LOOKUP_H */
