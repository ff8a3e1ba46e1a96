/*-------------------------------------------------------------------------
 *
 * values.h
 *	  How values are brought to a kernel's statements: columns, parameters, payloads.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_VALUES_H
#define GC_CODEGEN_VALUES_H

#include "state.h"

/*
 * Make everything that expression e reads available in the current phase:
 * vectors in the vector phase, scalars in the row phase.
 */
extern void cg_require(Cg *cg, u16 e);

/* The same of all keys of a probe. */
extern void cg_require_keys(Cg *cg, const GcPStep *step);

/* The step of this pipeline that probes `build`. */
extern const GcPStep *cg_probe_of(Cg *cg, u16 build);

/*
 * Declare xN, where the current row's match is in a build; a hash build must be unique, and marks say
 * that there is a match (GcVariant.placed).
 */
extern void cg_require_index(Cg *cg, u16 build);

/*
 * Index of key operand k into a dense build, as an expression; when the key is
 * known to be in range and 32 bits wide, in 32-bit arithmetic.
 */
extern void cg_dense_index(Cg *cg, const GcPStep *step, u16 key, const Operand *k, char *buf, size_t size);

/* Of a build that is looked up directly: the entry of the current row's key, as an expression. */
extern void cg_direct_entry(Cg *cg, const GcPStep *step, char *buf, size_t size);

/*
 * Declare rN, the row that it names + 1 or 0, with GC_DIRECT_MORE if there are more; and eN, the whole
 * entry.
 */
extern void cg_find_place(Cg *cg, const GcPStep *step);

#endif							/* GC_CODEGEN_VALUES_H */
