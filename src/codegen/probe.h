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

#include "state.h"

/*
 * Statements that probe a hash build for the current row: the row is dropped, or
 * xN is declared, by a loop over the matches where there may be several.  Returns the
 * number of loops opened.
 */
extern int	cg_hash_probe(Cg *cg, const GcPStep *step);

/* Statements that declare rN alone, the first match + 1 or 0, for a value of the one column that the keys read. */
extern void cg_hash_find(Cg *cg, const GcPStep *step);

/* Of a predicate kernel: write the entry of the current value, which is number `at`. */
extern void cg_direct_write(Cg *cg, const GcPStep *step, const char *at);

#endif							/* GC_PROBE_H */
