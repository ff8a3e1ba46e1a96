/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  Probes of hash builds: by hashing the keys, or by direct lookup.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_PROBE_H
#define GC_PROBE_H

#include "../expr/state.h"

/*
 * Emit statements that probe a hash build for the current row: the row is dropped, or xN is
 * declared.  Where there may be several matches, a loop over them declares xN.  Returns the number
 * of loops opened.
 */
extern int	cg_hash_probe(Cg *cg, const GcPStep *step);

/*
 * Emit statements that declare only rN, the first match + 1 or 0, for a value of the one column
 * that the keys read.
 */
extern void cg_hash_find(Cg *cg, const GcPStep *step);

/*
 * In a predicate kernel: write the direct lookup entry of the current value, which is number
 * `at`.
 */
extern void cg_direct_write(Cg *cg, const GcPStep *step, const char *at);

#endif							/* GC_PROBE_H */
