/*-------------------------------------------------------------------------
 *
 * values.h
 *	  How values are brought to a kernel's statements: columns, parameters, payloads, groups (group_scan.c).
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

/* Make all keys of a probe available. */
extern void cg_require_keys(Cg *cg, const GcPStep *step);

/*
 * Declare xN, the index of the current row's match in a build.  A hash build must be unique and
 * looked up directly (GcVariant.direct), and the selection bitmap must ensure the match.
 */
extern void cg_require_index(Cg *cg, u16 build);

/*
 * Index of key operand k into a dense build, as an expression.  Where the key is known to be in
 * range and has 32 bits, the arithmetic has 32 bits, too.
 */
extern void cg_dense_index(Cg *cg, const GcPStep *step, u16 key, const Operand *k, char *buf, size_t size);

/*
 * For a build that is looked up directly: the entry of the current row's key, as an expression.
 */
extern void cg_direct_entry(Cg *cg, const GcPStep *step, char *buf, size_t size);

/*
 * Declare rN, the entry's row + 1 or 0, with GC_DIRECT_MORE if there are more; and eN, the whole
 * entry.
 */
extern void cg_find_place(Cg *cg, const GcPStep *step);

/* Statement that loads the vector cK of a column, as `how`: GC_LOAD or GC_LATE. */
extern void cg_load(Text *t, const char *how, u8 width, u8 reg, int k);

/* Declaration of a column's words wK, and the statement that loads them under a condition. */
extern void cg_load_words(Text *t, u8 width, int k, const char *condition);

/* Make a column available for the vector phase. */
extern void cg_require_vector(Cg *cg, u16 column);

/* Make a column available for the row phase. */
extern void cg_require_scalar(Cg *cg, u16 column);

/* Is the build that the step probes looked up directly? */
extern bool cg_is_direct(const Cg *cg, const GcPStep *step);

/* Lowest bit of a payload's code in the entries of its build. */
extern int	cg_payload_shift(const GcProgram *p, u16 payload);

/* Declare vK, and vnK if it may be NULL: the value of column `column` (local number k) for this group. */
extern void cg_group_column(Cg *cg, u16 column, int k);

/* Declare, at the kernel's scope, where the groups are. */
extern void cg_declare_groups(Cg *cg);

/* Emit the loop over groups around the kernel's body. */
extern void cg_emit_group_scan(Cg *cg, Text *t);

#endif							/* GC_CODEGEN_VALUES_H */
