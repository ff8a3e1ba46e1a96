/*-------------------------------------------------------------------------
 *
 * pairs.h
 *	  Probes of lists: builds without keys, of which each row is tried.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_CODEGEN_PAIRS_H
#define GC_CODEGEN_PAIRS_H

#include "../expr/state.h"

/* The first of the words that describe the launch's units (GC_ARG_PAIRS). */
extern int	cg_pair_words(Cg *cg);

/* Open the loop of an inner probe over a list, in which xN is declared; returns the loops opened. */
extern int	cg_list_probe(Cg *cg, const GcPStep *step);

/* Declare, for a unit of the scan, sliceN of each list that is cut: the first row of its slice. */
extern void cg_emit_slices(Cg *cg, Text *t);

/*
 * Declare listN, and sliceN and slice_endN: the rows of the current unit's slice, or all where the scan has no units.
 */
extern void cg_slice_of_list(Cg *cg, const GcPStep *step);

/* Text that begins a turn of a loop over that slice. */
extern const char *cg_turn_of_list(const Cg *cg);

/* Declare listN, the number of a list's rows. */
extern void cg_count_list(Cg *cg, const GcPStep *step);

#endif							/* GC_CODEGEN_PAIRS_H */
