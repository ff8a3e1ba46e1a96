/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  Steps, row by row: conditions of filters, inner probes of hash builds, and other joins' probes.
 *	  Lookups that gathered rows make together (batched_lookup.c).
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

/*
 * Make a step's inputs available.  Called for all steps of a stage before any of them is tested.
 */
extern void cg_require_step(Cg *cg, const GcPStep *step);

/* Emit the statements of the condition, and write the condition to buf. */
extern void cg_step_condition(Cg *cg, const GcPStep *step, char *buf, size_t size);

/*
 * Emit statements that take the current row through a left, semi or anti probe.  Semi and anti
 * drop the row or not.  Left declares xN, the match's row or GC_NO_MATCH; where there may be
 * several matches, a loop over them does.  Returns the number of loops opened.
 */
extern int	cg_match_probe(Cg *cg, const GcPStep *step);

#define MOST_BATCHED			32

/* Accesses of one row to builds, in the order in which they are made. */
typedef struct Batched
{
	int			n;
	struct
	{
		const GcPStep *step;
		u16			payload;	/* GC_NONE: the entry of the step's direct lookup table */
	}			what[MOST_BATCHED];
} Batched;

/*
 * Find the lookups of the n remaining steps and the sink that gathered rows can make together.  At most the first
 * MOST_BATCHED accesses are taken.
 */
extern void cg_find_batched(Cg *cg, const GcPStep **steps, int n, Batched *batched);

/* Emit the statements that look these up. */
extern void cg_look_up_batched(Cg *cg, const Batched *batched);

#endif							/* GC_PROBE_H */
