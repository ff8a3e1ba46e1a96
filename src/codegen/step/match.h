/*-------------------------------------------------------------------------
 *
 * match.h
 *	  Probes of left, semi and anti joins, row by row.
 *
 * Private to codegen/, called on the worker's main thread.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GC_MATCH_H
#define GC_MATCH_H

#include "../expr/state.h"

/*
 * Emit statements that take the current row through a left, semi or anti probe.  Semi and anti
 * drop the row or not.  Left declares xN, the match's row or GC_NO_MATCH; where there may be
 * several matches, a loop over them does.  Returns the number of loops opened.
 */
extern int	cg_match_probe(Cg *cg, const GcPStep *step);

#endif							/* GC_MATCH_H */
